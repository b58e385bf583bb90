//! The tally of a job: its shards' outcomes merged in any order, and the digest of the whole.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::census::RangeOutcome;
use crate::cluster::Found;
use crate::difficulty::job::Measured;
use crate::job::{Counters, JobResult, ShardOutcome};
use crate::{ENGINE, Par};

/// A job's result, as far as it is known, growing shard by shard in any order.
///
/// It keeps 16 bytes a board, not the boards, so that they can be sent on and forgotten.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    known: FxHashSet<u128>,
    sum: u128,
    counters: Counters,
    census: Option<RangeOutcome>,
    measured: Vec<Measured>,
    best_par: Option<Par>,
}

impl Tally {
    /// Adds a shard's outcome and hands back the boards that no earlier shard had found, in order.
    pub fn absorb(&mut self, outcome: ShardOutcome) -> Vec<Found> {
        self.counters += outcome.counters;
        if let Some(counts) = &outcome.census {
            self.census.get_or_insert_default().add_counts(counts);
        }
        self.measured.extend(outcome.measured);
        let mut fresh = outcome.found;
        let n_found = fresh.len();
        fresh.retain(|found| {
            let hash = hash_found(found);
            let is_new = self.known.insert(hash);
            if is_new {
                self.sum = self.sum.wrapping_add(hash);
            }
            is_new
        });
        let n_known = (n_found - fresh.len()) as u64;
        self.counters.duplicates += n_known;
        self.counters.found -= n_known;
        self.best_par = self.best_par.max(fresh.iter().map(|found| found.par).max());
        fresh
    }

    /// The result of a job all of whose shards were absorbed, with the boards that `absorb` handed back.
    pub fn into_result(self, mut found: Vec<Found>) -> JobResult {
        found.sort_unstable_by(|a, b| (a.par, &a.canonical).cmp(&(b.par, &b.canonical)));
        let (counters, digest) = (self.counters(), self.digest());
        let mut measured = self.measured;
        measured.sort_unstable_by_key(|measured| measured.board_idx);
        JobResult {
            found,
            counters,
            digest,
            census: self.census,
            measured,
        }
    }

    /// What was done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What a census counted so far, without units and boards; `None`: another kind of job, or nothing yet.
    pub fn census(&self) -> Option<&RangeOutcome> {
        self.census.as_ref()
    }

    /// What was measured so far, in no order; empty: another kind of job, or nothing yet.
    pub fn measured(&self) -> &[Measured] {
        &self.measured
    }

    /// The largest par found so far.
    pub fn best_par(&self) -> Option<Par> {
        self.best_par
    }

    /// The digest of what was absorbed so far; the job's when all its shards were.
    pub fn digest(&self) -> JobDigest {
        let mut hash = hash_claim(self.sum, &self.counters, self.census.as_ref());
        if !self.measured.is_empty() {
            let sum = self
                .measured
                .iter()
                .map(hash_measured)
                .fold(0, u128::wrapping_add);
            hash = fnv1a_128(hash, &sum.to_le_bytes());
        }
        JobDigest(finalise_128(hash))
    }
}

/// The digest of a job's result: of the engine version, the counters and the set of distinct (par, canonical
/// spelling), whatever the order in which they were found. Printed as 32 hexadecimal digits.
///
/// The set goes in as the sum of the boards' 128-bit FNV-1a hashes. That is no cryptographic hash, and need not
/// be one: a digest is only ever compared with that of an honest re-run, and whoever could forge it must know
/// the boards, each of which is proved on its own. What counts is that it is the same everywhere and costs
/// nothing beside the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobDigest(u128);

impl JobDigest {
    /// The digest of a job that found boards of this sum (see [`hash_board`]; it wraps) and counted so.
    pub fn of(board_sum: u128, counters: &Counters, census: Option<&RangeOutcome>) -> JobDigest {
        JobDigest(finalise_128(hash_claim(board_sum, counters, census)))
    }

    /// The 16 bytes, big-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The digest of these 16 bytes, big-endian.
    pub fn from_bytes(bytes: [u8; 16]) -> JobDigest {
        JobDigest(u128::from_be_bytes(bytes))
    }
}

impl fmt::Display for JobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Why a text is no job digest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("job digest {0:?}, expected 32 hexadecimal digits")]
pub struct JobDigestError(String);

impl FromStr for JobDigest {
    type Err = JobDigestError;

    fn from_str(text: &str) -> Result<JobDigest, JobDigestError> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u128::from_str_radix(text, 16) {
            Ok(value) if is_hex => Ok(JobDigest(value)),
            _ => Err(JobDigestError(text.to_owned())),
        }
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
fn finalise_128(hash: u128) -> u128 {
    let mixed = (hash ^ (hash >> 67)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    mixed ^ (mixed >> 61)
}

fn hash_claim(board_sum: u128, counters: &Counters, census: Option<&RangeOutcome>) -> u128 {
    let mut hash = fnv1a_128(FNV_OFFSET, ENGINE.as_bytes());
    hash = fnv1a_128(hash, &board_sum.to_le_bytes());
    for word in counters.words() {
        hash = fnv1a_128(hash, &word.to_le_bytes());
    }
    for word in census.into_iter().flat_map(RangeOutcome::words) {
        hash = fnv1a_128(hash, &word.to_le_bytes());
    }
    hash
}

/// What a board adds to the sum that a job's digest covers.
pub fn hash_board(par: Par, canonical: &str) -> u128 {
    let hash = fnv1a_128(FNV_OFFSET, &par.get().to_le_bytes());
    finalise_128(fnv1a_128(hash, canonical.as_bytes()))
}

pub(crate) fn hash_found(found: &Found) -> u128 {
    hash_board(found.par, found.canonical.as_str())
}

fn hash_measured(measured: &Measured) -> u128 {
    let word = |hash, word: u64| fnv1a_128(hash, &word.to_le_bytes());
    finalise_128(measured.words().into_iter().fold(FNV_OFFSET, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Canonical;

    fn outcome(spellings: &[&str]) -> ShardOutcome {
        let found = |&spelling: &&str| Found {
            par: Par::new(3),
            canonical: Canonical::parse(spelling).unwrap(),
            states: 9,
            minimal: None,
            n_vehicles: 2,
            n_walls: 0,
        };
        let counters = Counters {
            found: spellings.len() as u64,
            ..Counters::default()
        };
        ShardOutcome {
            found: spellings.iter().map(found).collect(),
            counters,
            census: None,
            measured: Vec::new(),
        }
    }

    const ONE: &str = "ooooAABoooBooooo";
    const TWO: &str = "ooBoAABooooooooo";
    const THREE: &str = "oooBAAoBoooooooo";

    #[test]
    fn the_order_of_shards_changes_nothing() {
        let (mut forth, mut back) = (Tally::default(), Tally::default());
        let fresh = forth.absorb(outcome(&[ONE, TWO]));
        assert_eq!(fresh.len(), 2);
        let fresh = forth.absorb(outcome(&[TWO, THREE]));
        assert_eq!(fresh.len(), 1);
        back.absorb(outcome(&[TWO, THREE]));
        back.absorb(outcome(&[ONE, TWO]));
        assert_eq!(forth.digest(), back.digest());
        assert_eq!(forth.counters().found, 3);
        assert_eq!(forth.counters().duplicates, 1);
    }

    #[test]
    fn a_board_more_or_a_counter_off_by_one_is_another_digest() {
        let digest = |spellings: &[&str]| {
            let mut tally = Tally::default();
            tally.absorb(outcome(spellings));
            tally.digest()
        };
        assert_ne!(digest(&[ONE]), digest(&[ONE, TWO]));
        assert_ne!(digest(&[ONE]), digest(&[TWO]));
        let mut tally = Tally::default();
        let mut off = outcome(&[ONE]);
        off.counters.iterations += 1;
        tally.absorb(off);
        assert_ne!(tally.digest(), digest(&[ONE]));
    }

    #[test]
    fn digests_are_read_back_as_they_are_printed() {
        let digest = Tally::default().digest();
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(JobDigest::from_bytes(digest.to_bytes()), digest);
        assert!("+123456789012345678901234567890a".parse::<JobDigest>().is_err());
        assert!("12".parse::<JobDigest>().is_err());
    }
}
