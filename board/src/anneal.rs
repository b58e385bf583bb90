//! Simulated annealing: from hard boards, one change at a time, to harder ones.
//!
//! Each shard is a chain of its own. It stands on a representative, changes one piece, jumps to the hardest position of
//! the new board's cluster, and stays there if the depth did not fall, or now and then when it did. Every cluster on
//! the way is a find, taken or not. A chain is cut into rounds, each cooling from the first temperature to the last, so
//! that what a chain is worth does not depend on how long its job is; a round starts from a start board, from one of
//! the hardest boards that the chain has found, or from random ones. Chains know nothing of each other: what one of
//! them finds reaches another only through the start boards of a later job.

use rustc_hash::FxHashMap;

use crate::canonical::Canonical;
use crate::cluster::Explorer;
use crate::finds::{FindIdx, Finds};
use crate::hopeless::is_hopeless;
use crate::job::{Frame, GoOn, ShardEnd, SpecError};
use crate::mutate::Mutator;
use crate::scatter::Scatterer;
use crate::space::BoardSpace;
use crate::stream::Stream;
use crate::{Board, Squares};

/// The most start boards that a job may carry.
pub const MAX_STARTS: usize = 10_000;

/// The highest temperature, in thousandths of a slide.
pub const MAX_TEMPERATURE: u32 = 100_000;

/// Of a round without a start board, iterations spent on random boards to choose the hardest as start.
const N_DRAWS: u32 = 100;

/// The least limit on the positions of a chain's clusters; see [`Finds`]. Hard boards have small clusters: of the 25
/// hardest 6x6 boards known, with up to two walls, none has more than 14,385 positions.
const LEAST_LIMIT: u64 = 8_000;

/// Iterations of a round: a shard that has fewer never cools down.
pub const ROUND_ITERATIONS: u32 = 2_500;

/// How many of its hardest boards a chain remembers, to start rounds from.
const N_ELITE: usize = 8;

/// An annealing job: chains of changes within a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnnealSpec {
    space: BoardSpace,
    frame: Frame,
    starts: Vec<Canonical>,
    temperatures: Temperatures,
}

/// The temperature of a chain, in thousandths of a slide: at `t` thousandths, a fall by `d` slides is taken with
/// probability `exp(-1000 d / t)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Temperatures {
    /// At the first iteration of a round.
    pub first: u32,
    /// After its last iteration; in between it moves evenly.
    pub last: u32,
}

impl Default for Temperatures {
    /// What was found to climb best on 6x6.
    fn default() -> Temperatures {
        Temperatures {
            first: 2_000,
            last: 400,
        }
    }
}

impl AnnealSpec {
    /// A job of one chain a shard. The first round of shard `i` starts from board `i` modulo their number, or, if there
    /// are none, from the hardest of some random boards.
    ///
    /// # Errors
    /// A [`SpecError`] if a number is out of bounds, or a start board lies outside the space's lot or exit row.
    pub fn new(
        space: BoardSpace,
        frame: Frame,
        starts: Vec<Canonical>,
        temperatures: Temperatures,
    ) -> Result<AnnealSpec, SpecError> {
        frame.check()?;
        if starts.len() > MAX_STARTS {
            return Err(SpecError::Starts(starts.len()));
        }
        for temperature in [temperatures.first, temperatures.last] {
            if temperature > MAX_TEMPERATURE {
                return Err(SpecError::Temperature(temperature));
            }
        }
        space.check_starts(&starts)?;
        Ok(AnnealSpec {
            space,
            frame,
            starts,
            temperatures,
        })
    }

    /// Which boards a change may lead to.
    pub fn space(&self) -> &BoardSpace {
        &self.space
    }

    /// Seed, shards, iterations and limits.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The boards that rounds start from; empty: random ones.
    pub fn starts(&self) -> &[Canonical] {
        &self.starts
    }

    /// How readily a fall in depth is taken.
    pub fn temperatures(&self) -> Temperatures {
        self.temperatures
    }
}

/// Runs the chain of one shard; see [`JobSpec::run_shard_while`](crate::job::JobSpec::run_shard_while).
pub fn run_shard_while(spec: &AnnealSpec, shard: u32, explorer: &mut Explorer, go_on: GoOn<'_>) -> ShardEnd {
    let mut chain = Chain {
        spec,
        stream: spec.frame.stream(shard),
        mutator: Mutator::new(&spec.space),
        scatterer: Scatterer::new(&spec.space),
        finds: Finds::new(explorer, spec.frame.max_states),
        seen: FxHashMap::default(),
        elite: Vec::new(),
    };
    let start = match spec.starts.len() {
        0 => None,
        n_starts => Some(spec.starts[shard as usize % n_starts].board()),
    };
    let is_complete = chain.run(start, go_on);
    let outcome = chain.finds.into_outcome();
    if is_complete {
        ShardEnd::Complete(outcome)
    } else {
        ShardEnd::Stopped(outcome)
    }
}

struct Chain<'a> {
    spec: &'a AnnealSpec,
    stream: Stream,
    mutator: Mutator,
    scatterer: Scatterer<'a>,
    finds: Finds<'a>,
    /// What became of each position proved so far: a chain on a summit proposes the same changes over and over.
    seen: FxHashMap<PositionKey, Option<FindIdx>>,
    /// The hardest boards, hardest first.
    elite: Vec<FindIdx>,
}

/// Where a chain stands.
struct Stand {
    board: Board,
    depth: u16,
}

impl Chain<'_> {
    /// Runs the chain; false if it was stopped.
    fn run(&mut self, start: Option<Board>, go_on: GoOn<'_>) -> bool {
        let n_iterations = self.spec.frame.iterations_per_shard;
        let mut stand = None;
        let mut iteration_of_round = 0;
        let mut next_start = start;
        for _ in 0..n_iterations {
            if !go_on(&self.finds.counters) {
                return false;
            }
            if iteration_of_round == 0 {
                self.finds.draw_limit(LEAST_LIMIT, &mut self.stream);
                stand = next_start.take().and_then(|board| self.explore(&board));
                iteration_of_round = if stand.is_some() { N_DRAWS } else { 0 };
            }
            self.finds.counters.iterations += 1;
            match &stand {
                Some(current) if iteration_of_round >= N_DRAWS => {
                    if let Some(next) = self.advance(current, iteration_of_round) {
                        stand = Some(next);
                    }
                }
                _ => {
                    let drawn = self.draw();
                    stand = harder(stand, drawn);
                }
            }
            iteration_of_round += 1;
            if iteration_of_round == ROUND_ITERATIONS {
                iteration_of_round = 0;
                next_start = self.choose_start();
            }
        }
        true
    }

    /// Where the next round starts: `None` for random boards.
    fn choose_start(&mut self) -> Option<Board> {
        match self.stream.below(3) {
            0 => None,
            1 if !self.spec.starts.is_empty() => {
                let idx = self.stream.index(self.spec.starts.len());
                Some(self.spec.starts[idx].board())
            }
            _ if self.elite.is_empty() => None,
            _ => {
                let idx = self.stream.index(self.elite.len());
                Some(self.finds.get(self.elite[idx]).canonical.board())
            }
        }
    }

    /// Remembers a board among the hardest.
    fn remember(&mut self, idx: FindIdx) {
        if self.elite.contains(&idx) {
            return;
        }
        let par = self.finds.get(idx).par;
        let place = self
            .elite
            .iter()
            .position(|&other| self.finds.get(other).par <= par);
        self.elite.insert(place.unwrap_or(self.elite.len()), idx);
        self.elite.truncate(N_ELITE);
    }

    /// One change: where the chain stands afterwards, `None` if it stays.
    fn advance(&mut self, current: &Stand, iteration: u32) -> Option<Stand> {
        let change = self.mutator.draw(&current.board, &mut self.stream)?;
        let board = change
            .apply(&current.board)
            .expect("the change was made for this board");
        self.finds.counters.legal += 1;
        let next = self.explore(&board)?;
        let fall = u32::from(current.depth.saturating_sub(next.depth));
        let is_taken = fall == 0 || self.stream.halvings(self.fall_in_eighths(fall, iteration));
        if is_taken {
            self.finds.counters.accepted += 1;
        }
        is_taken.then_some(next)
    }

    fn draw(&mut self) -> Option<Stand> {
        let board = self.scatterer.draw(&mut self.stream)?;
        self.finds.counters.legal += 1;
        self.explore(&board)
    }

    fn explore(&mut self, board: &Board) -> Option<Stand> {
        if is_hopeless(board) {
            return None;
        }
        let finds = &mut self.finds;
        let idx = (*self
            .seen
            .entry(PositionKey::of(board))
            .or_insert_with(|| finds.prove(board)))?;
        self.remember(idx);
        let found = self.finds.get(idx);
        Some(Stand {
            board: found.canonical.board(),
            depth: found.par.get(),
        })
    }

    /// The exponent of the chance to take a fall, in eighths of a halving; see [`Stream::halvings`].
    fn fall_in_eighths(&self, fall: u32, iteration: u32) -> u64 {
        let Temperatures { first, last } = self.spec.temperatures;
        let n_iterations = u64::from(ROUND_ITERATIONS);
        let done = u64::from(iteration);
        let weighted = u64::from(first) * (n_iterations - done) + u64::from(last) * done;
        let temperature = (weighted / n_iterations).max(1);
        // exp(-1000 fall / t) = 2^-(1000 fall / (t ln 2)); 8 * 1000 / ln 2 = 11,541.56.
        u64::from(fall) * 11_542 / temperature
    }
}

fn harder(one: Option<Stand>, other: Option<Stand>) -> Option<Stand> {
    match (one, other) {
        (Some(one), Some(other)) if other.depth > one.depth => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

/// What tells two positions of one space apart, whatever the order of their vehicles.
///
/// Walls, squares of horizontal and of vertical vehicles, and first squares of all. The hero needs no mark of its own:
/// it is the right-most vehicle of its row, since boards with another to its right are hopeless and come not here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PositionKey([u64; 4]);

impl PositionKey {
    fn of(board: &Board) -> PositionKey {
        let lot = board.lot();
        let (horizontal, vertical) = board.masks();
        let firsts: Squares = board
            .vehicles()
            .iter()
            .map(|vehicle| vehicle.first_square(lot))
            .collect();
        // Lots of a space have at most 64 squares: see MAX_HUNT_SIDE.
        PositionKey([board.walls(), horizontal, vertical, firsts].map(|squares| squares.words()[0]))
    }
}
