//! Neighbourhood sweeps: every one-piece change of the boards given, each tried once.
//!
//! A hard board's neighbours are the likeliest place for another one, and there are few of them: some two hundred on a
//! 6x6 lot. So they are all tried, in order, and nothing is drawn by lot: a sweep of a board says all there is to say
//! about its neighbourhood, and need never be repeated. Which boards deserve it is the coordinator's affair.
//!
//! A board here is a position, not a cluster: from another position of the same cluster the same change leads elsewhere,
//! since the other vehicles stand elsewhere. Some hard boards are no one-piece change of any other's representative, and
//! are found from other [`position`]s alone.

use std::collections::HashSet;

use crate::ENGINE;
use crate::anneal::MAX_STARTS;
use crate::canonical::Canonical;
use crate::cluster::Explorer;
use crate::finds::Finds;
use crate::hopeless::is_hopeless;
use crate::job::{Frame, GoOn, MAX_CLUSTER_LIMIT, MAX_SHARDS, ShardEnd, SpecError};
use crate::mutate::Mutator;
use crate::space::BoardSpace;
use crate::stream::Stream;

/// A sweep job: the neighbours of some boards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SweepSpec {
    space: BoardSpace,
    starts: Vec<Canonical>,
    n_shards: u32,
    max_states: u64,
}

impl SweepSpec {
    /// A job that tries every change of each start board within the space. Shard `i` takes boards `i`,
    /// `i + n_shards` ..; clusters of more than `max_states` positions are given up.
    ///
    /// # Errors
    /// A [`SpecError`] if a number is out of bounds, there is no start board or one stands twice, or one lies outside
    /// the space's lot or exit row.
    pub fn new(
        space: BoardSpace,
        starts: Vec<Canonical>,
        n_shards: u32,
        max_states: u64,
    ) -> Result<SweepSpec, SpecError> {
        if !(1..=MAX_SHARDS).contains(&n_shards) {
            return Err(SpecError::Shards(n_shards));
        }
        if !(1..=MAX_CLUSTER_LIMIT).contains(&max_states) {
            return Err(SpecError::Positions(max_states));
        }
        if starts.is_empty() || starts.len() > MAX_STARTS {
            return Err(SpecError::Starts(starts.len()));
        }
        space.check_starts(&starts)?;
        let mut seen = HashSet::new();
        if let Some(idx) = starts.iter().position(|start| !seen.insert(start)) {
            return Err(SpecError::StartTwice {
                idx,
                board: starts[idx].to_string(),
            });
        }
        Ok(SweepSpec {
            space,
            starts,
            n_shards,
            max_states,
        })
    }

    /// Which boards a change may lead to.
    pub fn space(&self) -> &BoardSpace {
        &self.space
    }

    /// The boards whose neighbours are tried.
    pub fn starts(&self) -> &[Canonical] {
        &self.starts
    }

    /// The parts that all kinds of job have. There is no seed; a shard's iterations are the changes of its boards.
    pub fn frame(&self) -> Frame {
        Frame {
            seed: 0,
            n_shards: self.n_shards,
            iterations_per_shard: 0,
            max_states: self.max_states,
        }
    }

    /// How many changes there are to try.
    pub fn n_changes(&self) -> u64 {
        let mutator = Mutator::new(&self.space);
        let changes = self
            .starts
            .iter()
            .map(|start| mutator.all(&start.board()).len() as u64);
        changes.sum()
    }
}

/// Slides that lead from a representative to another of its cluster's positions.
const WALK_SLIDES: u32 = 100;

/// A position of a board's cluster, reached by slides drawn by lot: for the same board, pass and seed always the same. Pass 0
/// is the board itself.
pub fn position(board: &Canonical, pass: u32, seed: u64) -> Canonical {
    if pass == 0 {
        return board.clone();
    }
    let mut position = board.board();
    let spelled = board.as_str().bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut stream = Stream::new(ENGINE, spelled, pass);
    for _ in 0..WALK_SLIDES {
        let slides = position.slides();
        if slides.is_empty() {
            break;
        }
        let slide = slides[stream.index(slides.len())];
        position = position
            .apply(slide)
            .expect("the slide was made for this position");
    }
    position.canonical()
}

/// Tries the changes of one shard's boards; see [`JobSpec::run_shard_while`](crate::job::JobSpec::run_shard_while).
pub fn run_shard_while(spec: &SweepSpec, shard: u32, explorer: &mut Explorer, go_on: GoOn<'_>) -> ShardEnd {
    let mutator = Mutator::new(&spec.space);
    let mut finds = Finds::new(explorer, spec.max_states);
    let starts = spec
        .starts
        .iter()
        .skip(shard as usize)
        .step_by(spec.n_shards as usize);
    for start in starts {
        let board = start.board();
        for change in mutator.all(&board) {
            if !go_on(&finds.counters) {
                return ShardEnd::Stopped(finds.into_outcome());
            }
            finds.counters.iterations += 1;
            finds.counters.legal += 1;
            let changed = change.apply(&board).expect("the change was made for this board");
            if !is_hopeless(&changed) {
                finds.prove(&changed);
            }
        }
    }
    ShardEnd::Complete(finds.into_outcome())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateLimit;

    #[test]
    fn positions_are_of_the_boards_cluster_and_the_same_every_time() {
        let mut explorer = Explorer::new();
        let board = Canonical::parse("BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo").unwrap();
        let representative = |position: &Canonical| {
            let found = explorer.entry(&position.board(), StateLimit::DEFAULT).unwrap();
            found.expect("solvable").canonical
        };
        assert_eq!(position(&board, 0, 7), board);
        let mut positions: Vec<Canonical> = (0..8).map(|pass| position(&board, pass, 7)).collect();
        assert_eq!(position(&board, 3, 7), positions[3]);
        assert_ne!(position(&board, 3, 8), positions[3]);
        let representatives: HashSet<Canonical> = positions.iter().map(representative).collect();
        assert_eq!(representatives, HashSet::from([board]));
        positions.sort();
        positions.dedup();
        assert_eq!(positions.len(), 8, "of 4,780 positions, eight that differ");
    }

    #[test]
    fn from_another_position_the_same_changes_lead_elsewhere() {
        // A hard board, and one that no change of a hard board's representative leads to.
        let space = BoardSpace::usual("6x6".parse().unwrap()).unwrap();
        let board = Canonical::parse("BBBCooooDCEEAADooFGoDHHFGIIIJKLLMMJK").unwrap();
        let island = "ooBCCCooBDEEAABDoFGoHHIFGJJJIKLLMMMK";
        let finds = |pass| {
            let starts = vec![position(&board, pass, 1)];
            let spec = SweepSpec::new(space.clone(), starts, 1, 20_000).unwrap();
            let result = crate::job::JobSpec::Sweep(spec).run(&mut Explorer::new());
            result
                .found
                .iter()
                .any(|found| found.canonical.as_str() == island)
        };
        assert!(!finds(0));
        assert!((1..=16).any(finds));
    }
}
