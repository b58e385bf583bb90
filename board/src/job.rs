//! Jobs: what is to be searched, cut into shards, and how the shards' outcomes become one result.
//!
//! A job's result is a function of its specification and [`ENGINE`] alone. Each shard draws from its own
//! [`Stream`], so shards may run in any order, on any number of threads and machines; merging them is
//! commutative, so the result and its digest do not know the order either. Who holds a job, and until when, is
//! not known here.

use std::ops::AddAssign;

use thiserror::Error;

use crate::ENGINE;
use crate::anneal::{self, AnnealSpec};
use crate::census::{self, CensusJob, RangeOutcome};
use crate::cluster::{Explorer, Found};
use crate::difficulty::job::{self as difficulty, DifficultyJob, Measured};
use crate::scatter::{self, ScatterSpec};
use crate::stream::Stream;
use crate::sweep::{self, SweepSpec};

pub use crate::tally::{JobDigest, JobDigestError, Tally};

/// The most shards a job may be cut into.
pub const MAX_SHARDS: u32 = 65_536;

/// The most iterations (boards tried or changes proposed) that one shard may have, so that a
/// shard ends in minutes and what it found fits in memory.
pub const MAX_ITERATIONS_PER_SHARD: u32 = 1_000_000;

/// The most positions that a cluster may have to be explored in a job.
pub const MAX_CLUSTER_LIMIT: u64 = 100_000_000;

/// What a job searches: its kind with everything its result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JobSpec {
    /// Random boards.
    Scatter(ScatterSpec),
    /// Changes to hard boards.
    Anneal(AnnealSpec),
    /// A range of an exhaustive enumeration.
    Census(CensusJob),
    /// Measures of difficulty.
    Difficulty(DifficultyJob),
    /// All changes of hard boards.
    Sweep(SweepSpec),
}

impl JobSpec {
    /// The kind's name, as the database and the command line spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            JobSpec::Scatter(_) => "scatter",
            JobSpec::Anneal(_) => "anneal",
            JobSpec::Census(_) => "census",
            JobSpec::Difficulty(_) => "difficulty",
            JobSpec::Sweep(_) => "sweep",
        }
    }

    /// The parts that all kinds have.
    pub fn frame(&self) -> Frame {
        match self {
            JobSpec::Scatter(spec) => spec.frame(),
            JobSpec::Anneal(spec) => spec.frame(),
            JobSpec::Census(job) => job.frame(),
            JobSpec::Difficulty(job) => job.frame(),
            JobSpec::Sweep(spec) => spec.frame(),
        }
    }

    /// How many shards the job is cut into, 1 or more.
    pub fn n_shards(&self) -> u32 {
        self.frame().n_shards
    }

    /// How many iterations all shards together take: what `iterations` counts up to.
    pub fn n_iterations(&self) -> u64 {
        let frame = self.frame();
        match self {
            JobSpec::Census(job) => job.units().end - job.units().start,
            JobSpec::Difficulty(job) => job.boards().len() as u64,
            JobSpec::Sweep(spec) => spec.n_changes(),
            _ => u64::from(frame.n_shards) * u64::from(frame.iterations_per_shard),
        }
    }

    /// Runs one shard to its end. The explorer lends its buffers, and keeps nothing of what it saw.
    ///
    /// # Panics
    /// If `shard` is not below [`n_shards`](Self::n_shards), or the shard cannot be carried out.
    pub fn run_shard(&self, shard: u32, explorer: &mut Explorer) -> ShardOutcome {
        match self.run_shard_while(shard, explorer, &mut |_| true) {
            ShardEnd::Complete(outcome) => outcome,
            ShardEnd::Stopped(_) => unreachable!("nobody stopped the shard"),
            ShardEnd::Failed(reason) => panic!("{reason}"),
        }
    }

    /// Runs one shard for as long as `go_on`, which is asked before each iteration with the counters so far, says so.
    ///
    /// # Panics
    /// If `shard` is not below [`n_shards`](Self::n_shards).
    pub fn run_shard_while(&self, shard: u32, explorer: &mut Explorer, go_on: GoOn<'_>) -> ShardEnd {
        assert!(
            shard < self.n_shards(),
            "shard {shard} of a job of {} shards",
            self.n_shards()
        );
        match self {
            JobSpec::Scatter(spec) => scatter::run_shard_while(spec, shard, explorer, go_on),
            JobSpec::Anneal(spec) => anneal::run_shard_while(spec, shard, explorer, go_on),
            JobSpec::Census(job) => census::job::run_shard_while(job, shard, explorer, go_on),
            JobSpec::Difficulty(job) => difficulty::run_shard_while(job, shard, go_on),
            JobSpec::Sweep(spec) => sweep::run_shard_while(spec, shard, explorer, go_on),
        }
    }

    /// Runs the whole job on this thread.
    pub fn run(&self, explorer: &mut Explorer) -> JobResult {
        let mut tally = Tally::default();
        let mut found = Vec::new();
        for shard in 0..self.n_shards() {
            found.extend(tally.absorb(self.run_shard(shard, explorer)));
        }
        tally.into_result(found)
    }
}

/// The parts of a specification that all kinds of job have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where the job's random numbers start.
    pub seed: u64,
    /// How many shards the job is cut into, 1 to [`MAX_SHARDS`].
    pub n_shards: u32,
    /// Boards tried or changes proposed by each shard, 1 to [`MAX_ITERATIONS_PER_SHARD`].
    pub iterations_per_shard: u32,
    /// Clusters of more positions than this are given up, 1 to [`MAX_CLUSTER_LIMIT`].
    pub max_states: u64,
}

impl Frame {
    /// Refuses numbers out of bounds.
    ///
    /// # Errors
    /// A [`SpecError`] naming the first number out of bounds.
    pub fn check(&self) -> Result<(), SpecError> {
        if !(1..=MAX_SHARDS).contains(&self.n_shards) {
            return Err(SpecError::Shards(self.n_shards));
        }
        if !(1..=MAX_ITERATIONS_PER_SHARD).contains(&self.iterations_per_shard) {
            return Err(SpecError::Iterations(self.iterations_per_shard));
        }
        if !(1..=MAX_CLUSTER_LIMIT).contains(&self.max_states) {
            return Err(SpecError::Positions(self.max_states));
        }
        Ok(())
    }

    /// The random numbers of one shard.
    pub(crate) fn stream(&self, shard: u32) -> Stream {
        Stream::new(ENGINE, self.seed, shard)
    }
}

/// Why a job's specification was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The number of shards is out of bounds.
    #[error("{0} shards, expected 1 to {MAX_SHARDS}")]
    Shards(u32),
    /// The number of iterations is out of bounds.
    #[error("{0} iterations a shard, expected 1 to {MAX_ITERATIONS_PER_SHARD}")]
    Iterations(u32),
    /// The limit on positions is out of bounds.
    #[error("a limit of {0} positions a cluster, expected 1 to {MAX_CLUSTER_LIMIT}")]
    Positions(u64),
    /// There are more start boards than a job may carry, or none where the kind needs one.
    #[error("{0} start boards, expected at most {max}, and one at least for a sweep", max = anneal::MAX_STARTS)]
    Starts(usize),
    /// A start board stands twice.
    #[error("start board {idx} ({board}) stood in the list before")]
    StartTwice {
        /// The index in the list of start boards.
        idx: usize,
        /// Its canonical spelling.
        board: String,
    },
    /// A start board has another lot or exit row than the job's space.
    #[error("start board {idx} ({board}) has another lot or exit row than the job's space")]
    Start {
        /// The index in the list of start boards.
        idx: usize,
        /// Its canonical spelling.
        board: String,
    },
    /// A list of boards to measure is empty or too long.
    #[error("{0} boards to measure, expected 1 to {max}", max = difficulty::MAX_BOARDS)]
    Boards(usize),
    /// A range of units is empty or none of the census'.
    #[error("units {first} to {end} of a census of {n_units} units")]
    Units {
        /// The first unit asked for.
        first: u64,
        /// The unit after the last.
        end: u64,
        /// How many units the census has.
        n_units: u64,
    },
    /// A temperature is out of bounds.
    #[error("temperature {0} thousandths of a slide, expected at most {max}", max = anneal::MAX_TEMPERATURE)]
    Temperature(u32),
}

/// Asked before each iteration of a shard, with what the shard did so far: whether to go on.
pub type GoOn<'a> = &'a mut dyn FnMut(&Counters) -> bool;

/// How a shard ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardEnd {
    /// All its iterations were done.
    Complete(ShardOutcome),
    /// It was stopped. Its boards are facts all the same; its counters are good for nothing but progress.
    Stopped(ShardOutcome),
    /// It cannot be carried out, for this reason; whoever tries again will fail again.
    Failed(String),
}

/// What one shard found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardOutcome {
    /// The distinct boards, sorted by (par, canonical spelling).
    pub found: Vec<Found>,
    /// What was done, of this shard alone.
    pub counters: Counters,
    /// What a census counted, without its boards; `None`: another kind of job.
    pub census: Option<RangeOutcome>,
    /// What was measured of the boards of a difficulty job; empty: another kind of job.
    pub measured: Vec<Measured>,
}

/// What a whole job found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobResult {
    /// The distinct boards, sorted by (par, canonical spelling).
    pub found: Vec<Found>,
    /// What was done, by all shards.
    pub counters: Counters,
    /// What a census counted, without its boards; `None`: another kind of job.
    pub census: Option<RangeOutcome>,
    /// What was measured, in the order of the job's list; empty: another kind of job.
    pub measured: Vec<Measured>,
    /// What a replay must match.
    pub digest: JobDigest,
}

/// What was done: sums over shards, each a function of the specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Boards drawn or changes tried.
    pub iterations: u64,
    /// Of these, legal boards; the rest did not fit on the lot.
    pub legal: u64,
    /// Clusters explored to their end; the rest were known, hopeless at sight or too large.
    pub clusters: u64,
    /// Of these, solvable ones.
    pub solvable: u64,
    /// Clusters given up as too large.
    pub too_large: u64,
    /// Positions of all solvable clusters explored to their end.
    pub positions: u64,
    /// Changes taken (annealing).
    pub accepted: u64,
    /// Solvable clusters that the shard, or another shard of the job, had found already.
    pub duplicates: u64,
    /// Distinct boards found.
    pub found: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.iterations += other.iterations;
        self.legal += other.legal;
        self.clusters += other.clusters;
        self.solvable += other.solvable;
        self.too_large += other.too_large;
        self.positions += other.positions;
        self.accepted += other.accepted;
        self.duplicates += other.duplicates;
        self.found += other.found;
    }
}

impl Counters {
    pub(crate) fn words(&self) -> [u64; 9] {
        [
            self.iterations,
            self.legal,
            self.clusters,
            self.solvable,
            self.too_large,
            self.positions,
            self.accepted,
            self.duplicates,
            self.found,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        seed: 1,
        n_shards: 2,
        iterations_per_shard: 3,
        max_states: 4,
    };

    #[test]
    fn frames_out_of_bounds_are_refused_with_the_number() {
        assert_eq!(FRAME.check(), Ok(()));
        let cases = [
            (Frame { n_shards: 0, ..FRAME }, "0 shards, expected 1 to 65536"),
            (
                Frame {
                    iterations_per_shard: 1_000_001,
                    ..FRAME
                },
                "1000001 iterations a shard, expected 1 to 1000000",
            ),
            (
                Frame {
                    max_states: 0,
                    ..FRAME
                },
                "a limit of 0 positions a cluster, expected 1 to 100000000",
            ),
        ];
        for (frame, message) in cases {
            assert_eq!(frame.check().unwrap_err().to_string(), message);
        }
    }
}
