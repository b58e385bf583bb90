//! Measuring as a job: a list of boards, cut into shards of adjoining ones.
//!
//! Nothing in it is drawn by chance, so it has no seed. What it brings are measures, not boards: each names its board by
//! the place in the job's list.

use std::ops::Range;
use std::sync::Arc;

use super::{Difficulty, measure};
use crate::StateLimit;
use crate::canonical::Canonical;
use crate::job::{Counters, Frame, GoOn, MAX_CLUSTER_LIMIT, MAX_SHARDS, ShardEnd, ShardOutcome, SpecError};

/// The most boards a job may measure, so that its specification and its claim are a message each.
pub const MAX_BOARDS: usize = 20_000;

/// Boards to measure, as a job.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DifficultyJob {
    boards: Arc<[Canonical]>,
    n_shards: u32,
    max_states: u64,
}

/// Measures of a job's board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Measured {
    /// Its place in the job's list, from 0.
    pub board_idx: u32,
    /// Its measures.
    pub difficulty: Difficulty,
}

impl DifficultyJob {
    /// A job that measures these boards, in at most so many shards. Clusters of more than `max_states` positions are
    /// left out.
    ///
    /// # Errors
    /// [`SpecError::Boards`] if there are none or more than [`MAX_BOARDS`], [`SpecError::Shards`] or
    /// [`SpecError::Positions`] if a number is out of bounds.
    pub fn new(boards: Vec<Canonical>, n_shards: u32, max_states: u64) -> Result<DifficultyJob, SpecError> {
        if !(1..=MAX_BOARDS).contains(&boards.len()) {
            return Err(SpecError::Boards(boards.len()));
        }
        if !(1..=MAX_SHARDS).contains(&n_shards) {
            return Err(SpecError::Shards(n_shards));
        }
        if !(1..=MAX_CLUSTER_LIMIT).contains(&max_states) {
            return Err(SpecError::Positions(max_states));
        }
        let n_boards = u32::try_from(boards.len()).expect("checked above");
        Ok(DifficultyJob {
            boards: boards.into(),
            n_shards: n_shards.min(n_boards),
            max_states,
        })
    }

    /// The boards, in the order that [`Measured::board_idx`] counts.
    pub fn boards(&self) -> &[Canonical] {
        &self.boards
    }

    /// The parts that all kinds of job have. There is no seed; a shard's iterations are its boards.
    pub fn frame(&self) -> Frame {
        Frame {
            seed: 0,
            n_shards: self.n_shards,
            iterations_per_shard: 0,
            max_states: self.max_states,
        }
    }

    fn shard_boards(&self, shard: u32) -> Range<usize> {
        let cut = |at: u32| {
            let n_before = self.boards.len() as u64 * u64::from(at) / u64::from(self.n_shards);
            usize::try_from(n_before).expect("a part of the list's length")
        };
        cut(shard)..cut(shard + 1)
    }
}

impl Measured {
    /// All that was measured, as whole numbers, for digests.
    pub(crate) fn words(&self) -> [u64; 13] {
        let d = &self.difficulty;
        [
            self.board_idx.into(),
            d.par.get().into(),
            d.n_states,
            d.n_solutions,
            d.n_way_positions,
            d.n_way_slides,
            d.n_right_slides,
            d.n_against.into(),
            d.n_movers.into(),
            d.n_repeat_movers.into(),
            d.n_dead_ends,
            d.n_unsolved,
            d.luck_tenths.into(),
        ]
    }
}

/// Measures the boards of one shard; see [`JobSpec::run_shard_while`](crate::job::JobSpec::run_shard_while).
pub fn run_shard_while(job: &DifficultyJob, shard: u32, go_on: GoOn<'_>) -> ShardEnd {
    let limit = StateLimit::new(job.max_states);
    let mut measured = Vec::new();
    let mut counters = Counters::default();
    for idx in job.shard_boards(shard) {
        if !go_on(&counters) {
            return ShardEnd::Stopped(outcome(measured, counters));
        }
        counters.iterations += 1;
        counters.legal += 1;
        match measure(&job.boards[idx].board(), limit) {
            Err(_) => counters.too_large += 1,
            // A stored board is solvable; one that is not has nothing to measure.
            Ok(None) => counters.clusters += 1,
            Ok(Some(difficulty)) => {
                counters.clusters += 1;
                counters.solvable += 1;
                counters.positions += difficulty.n_states;
                let board_idx = u32::try_from(idx).expect("a list is short");
                measured.push(Measured {
                    board_idx,
                    difficulty,
                });
            }
        }
    }
    ShardEnd::Complete(outcome(measured, counters))
}

fn outcome(measured: Vec<Measured>, counters: Counters) -> ShardOutcome {
    ShardOutcome {
        found: Vec::new(),
        counters,
        census: None,
        measured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Explorer;
    use crate::job::{JobSpec, Tally};

    fn boards() -> Vec<Canonical> {
        let spellings = [
            "ooooAABoooBooooo",
            "ooBoAABooooooooo",
            "oooBAAoBoooooooo",
            "BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE",
        ];
        let canonical = |spelling: &&str| spelling.parse::<crate::Board>().expect("legal").canonical();
        spellings.iter().map(canonical).collect()
    }

    #[test]
    fn a_job_measures_each_of_its_boards_once_whatever_its_shards() {
        let measured = |n_shards| {
            let spec =
                JobSpec::Difficulty(DifficultyJob::new(boards(), n_shards, 1_000_000).expect("in bounds"));
            spec.run(&mut Explorer::new())
        };
        let alone = measured(1);
        assert_eq!(alone.measured.len(), 4);
        assert_eq!(alone.counters.iterations, 4);
        for (measured, board) in alone.measured.iter().zip(boards()) {
            let expected = measure(&board.board(), StateLimit::DEFAULT);
            assert_eq!(Ok(Some(measured.difficulty)), expected);
        }
        // More shards than boards are no more than the boards.
        for n_shards in [2, 3, 64] {
            assert_eq!(measured(n_shards).digest, alone.digest);
            assert_eq!(measured(n_shards).measured, alone.measured);
        }
    }

    #[test]
    fn another_measure_is_another_digest() {
        let spec = JobSpec::Difficulty(DifficultyJob::new(boards(), 1, 1_000_000).expect("in bounds"));
        let digest = |spoil: fn(&mut Measured)| {
            let mut outcome = spec.run_shard(0, &mut Explorer::new());
            spoil(&mut outcome.measured[2]);
            let mut tally = Tally::default();
            tally.absorb(outcome);
            tally.digest()
        };
        let honest = digest(|_| ());
        assert_eq!(honest, spec.run(&mut Explorer::new()).digest);
        assert_ne!(digest(|measured| measured.difficulty.n_solutions += 1), honest);
        assert_ne!(digest(|measured| measured.difficulty.luck_tenths += 1), honest);
        assert_ne!(digest(|measured| measured.board_idx += 1), honest);
    }

    #[test]
    fn clusters_that_are_too_large_are_counted_and_left_out() {
        let spec = JobSpec::Difficulty(DifficultyJob::new(boards(), 2, 100).expect("in bounds"));
        let result = spec.run(&mut Explorer::new());
        assert_eq!(result.measured.len(), 3);
        assert_eq!((result.counters.too_large, result.counters.clusters), (1, 3));
    }

    #[test]
    fn lists_out_of_bounds_are_refused() {
        assert_eq!(DifficultyJob::new(Vec::new(), 1, 1), Err(SpecError::Boards(0)));
        assert_eq!(DifficultyJob::new(boards(), 0, 1), Err(SpecError::Shards(0)));
        assert_eq!(DifficultyJob::new(boards(), 1, 0), Err(SpecError::Positions(0)));
        let many = vec![boards().remove(0); MAX_BOARDS + 1];
        assert_eq!(
            DifficultyJob::new(many, 1, 1),
            Err(SpecError::Boards(MAX_BOARDS + 1))
        );
    }
}
