//! Jobs: the seeds of a level, tried anywhere, and how what they give becomes one result.
//!
//! A job's result is a function of its template, its seeds and [`ENGINE`]. Each seed is a shard of its own; they may run in
//! any order on any number of machines, and the result and its digest do not know the order.

use crate::ENGINE;
use crate::generate::template::Template;
use crate::generate::{Candidate, GoOn, MAX_ATTEMPTS, Tally, TemplateError, candidate_while};
use crate::proof::StatedJam;

/// The most seeds of a job.
pub const MAX_SEEDS: usize = 64;

/// Seeds to try for a level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JamJob {
    template: Template,
    seeds: Vec<u64>,
}

/// Why a job was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JamJobError {
    /// No level can answer its template.
    #[error("template: {0}")]
    Template(#[from] TemplateError),
    /// Too few or too many seeds.
    #[error("{0} seeds, expected 1 to {MAX_SEEDS}")]
    Seeds(usize),
    /// A seed stands there twice.
    #[error("seed {0} stands there twice")]
    SeedTwice(u64),
}

impl JamJob {
    /// A job.
    ///
    /// # Errors
    /// [`JamJobError`], naming what makes no sense.
    pub fn new(template: Template, seeds: Vec<u64>) -> Result<Self, JamJobError> {
        template.check()?;
        if !(1..=MAX_SEEDS).contains(&seeds.len()) {
            return Err(JamJobError::Seeds(seeds.len()));
        }
        if let Some((_, seed)) = seeds
            .iter()
            .enumerate()
            .find(|(at, seed)| seeds[..*at].contains(seed))
        {
            return Err(JamJobError::SeedTwice(*seed));
        }
        Ok(Self { template, seeds })
    }

    /// What the levels are asked to be.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// The seeds, all different.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The most attempts that all seeds together take; most end earlier.
    pub fn max_attempts(&self) -> u64 {
        self.seeds.len() as u64 * u64::from(MAX_ATTEMPTS)
    }

    /// Tries one seed for as long as `go_on` says so.
    ///
    /// # Panics
    /// If there is no seed of this index.
    pub fn try_seed(&self, idx: usize, go_on: GoOn<'_>) -> SeedEnd {
        let seed = self.seeds[idx];
        let (candidate, tally, is_complete) =
            candidate_while(&self.template, seed, go_on).expect("the template was checked with the job");
        if is_complete {
            SeedEnd::Complete(Box::new(SeedOutcome {
                seed,
                candidate,
                tally,
            }))
        } else {
            SeedEnd::Stopped(tally)
        }
    }

    /// Tries all seeds on this thread.
    pub fn run(&self) -> JamResult {
        let mut tally = JamTally::default();
        let mut found = Vec::new();
        for idx in 0..self.seeds.len() {
            match self.try_seed(idx, &mut |_| true) {
                SeedEnd::Complete(outcome) => found.extend(tally.absorb(&outcome)),
                SeedEnd::Stopped(_) => unreachable!("nobody stopped it"),
            }
        }
        JamResult { found, tally }
    }
}

/// How the trial of a seed ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeedEnd {
    /// With all that it can give.
    Complete(Box<SeedOutcome>),
    /// It was stopped; what it found so far need not be what the seed gives, and is thrown away.
    Stopped(Tally),
}

/// What a seed gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedOutcome {
    /// The seed.
    pub seed: u64,
    /// Its best level; `None`: it gives none.
    pub candidate: Option<Candidate>,
    /// What became of its attempts.
    pub tally: Tally,
}

/// What a whole job gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JamResult {
    /// What is handed in, in the order of the seeds.
    pub found: Vec<StatedJam>,
    /// What was done, and the digest.
    pub tally: JamTally,
}

/// A job's result, as far as it is known, growing seed by seed in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JamTally {
    sum: u128,
    n_found: u64,
    attempts: Tally,
}

impl JamTally {
    /// A tally put together from what was handed in and what is said of the attempts: what its digest must be.
    pub fn claimed<'a>(found: impl IntoIterator<Item = (u64, &'a str)>, attempts: Tally) -> Self {
        let mut tally = Self {
            attempts,
            ..Self::default()
        };
        for (seed, level) in found {
            tally.add(seed, level);
        }
        tally
    }

    /// Adds what a seed gave, and hands back what is to be handed in of it.
    pub fn absorb(&mut self, outcome: &SeedOutcome) -> Option<StatedJam> {
        self.attempts += outcome.tally;
        let stated = StatedJam::new(outcome.seed, outcome.candidate.as_ref()?);
        self.add(stated.seed, &stated.level);
        Some(stated)
    }

    fn add(&mut self, seed: u64, level: &str) {
        let hash = fnv1a_128(FNV_OFFSET, &seed.to_le_bytes());
        self.sum = self.sum.wrapping_add(spread(fnv1a_128(hash, level.as_bytes())));
        self.n_found += 1;
    }

    /// Levels found: at most one a seed.
    pub fn n_found(&self) -> u64 {
        self.n_found
    }

    /// What became of the attempts.
    pub fn attempts(&self) -> Tally {
        self.attempts
    }

    /// The digest of engine, attempts and levels with their seeds: what a replay must match.
    ///
    /// Sums of 128-bit FNV-1a hashes, as `board::tally` makes them: the same everywhere and in any order. No cryptographic
    /// hash, and need not be one: every level is judged by itself.
    pub fn digest(&self) -> [u8; 16] {
        let Tally {
            attempts,
            stuck,
            rejected,
            survived,
            in_range,
        } = self.attempts;
        let mut hash = fnv1a_128(FNV_OFFSET, ENGINE.as_bytes());
        hash = fnv1a_128(hash, &self.sum.to_le_bytes());
        for word in [attempts, stuck, rejected, survived, in_range] {
            hash = fnv1a_128(hash, &word.to_le_bytes());
        }
        hash = fnv1a_128(hash, &self.n_found.to_le_bytes());
        spread(hash).to_be_bytes()
    }
}

const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn fnv1a_128(start: u128, bytes: &[u8]) -> u128 {
    bytes.iter().fold(start, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// Spreads FNV's weak high bits over the word, so that sums of hashes do not cancel.
fn spread(hash: u128) -> u128 {
    let mixed = (hash ^ (hash >> 67)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    mixed ^ (mixed >> 61)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, SHIPPED_PLAN};

    fn job() -> JamJob {
        let level = Plan::parse(SHIPPED_PLAN).unwrap().levels().remove(0);
        JamJob::new(level.template, level.seeds[..3].to_vec()).unwrap()
    }

    fn outcome(job: &JamJob, idx: usize) -> SeedOutcome {
        match job.try_seed(idx, &mut |_| true) {
            SeedEnd::Complete(outcome) => *outcome,
            SeedEnd::Stopped(_) => panic!("nobody stopped it"),
        }
    }

    #[test]
    fn the_order_of_seeds_changes_nothing() {
        let job = job();
        let result = job.run();
        assert_eq!(result.found.len(), 3);
        let mut tally = JamTally::default();
        for idx in [2, 0, 1] {
            tally.absorb(&outcome(&job, idx));
        }
        assert_eq!(tally, result.tally);
        assert_eq!(tally.digest(), result.tally.digest());
    }

    #[test]
    fn a_level_more_another_seed_or_another_count_is_another_digest() {
        let result = job().run();
        let of = |found: &[StatedJam], attempts: Tally| {
            let found = found.iter().map(|stated| (stated.seed, stated.level.as_str()));
            JamTally::claimed(found, attempts).digest()
        };
        let attempts = result.tally.attempts();
        let digest = result.tally.digest();
        assert_eq!(of(&result.found, attempts), digest);
        assert_ne!(of(&result.found[1..], attempts), digest);
        let mut found = result.found.clone();
        found[0].seed += 1;
        assert_ne!(of(&found, attempts), digest);
        let mut more = attempts;
        more.stuck += 1;
        assert_ne!(of(&result.found, more), digest);
    }

    #[test]
    fn a_seed_that_is_stopped_hands_in_nothing() {
        let mut left = 2;
        let end = job().try_seed(0, &mut |_| {
            left -= 1;
            left >= 0
        });
        assert!(
            matches!(end, SeedEnd::Stopped(Tally { attempts: 2, .. })),
            "{end:?}"
        );
    }

    #[test]
    fn jobs_that_make_no_sense_are_refused_with_the_value() {
        let job = job();
        let refused = |template: &Template, seeds: &[u64]| {
            JamJob::new(template.clone(), seeds.to_vec())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(refused(job.template(), &[]), "0 seeds, expected 1 to 64");
        assert_eq!(refused(job.template(), &[7, 8, 7]), "seed 7 stands there twice");
        let mut template = job.template().clone();
        template.exits = 0;
        assert_eq!(
            refused(&template, &[1]),
            "template: exits is 0, expected 1 or more"
        );
    }
}
