//! A census as a job: a range of units, cut into shards of adjoining units.
//!
//! Nothing in it is drawn by chance, so it has no seed. Its shards are ranges of the same census; their counts add up
//! to those of the job whatever the order, and what they find are boards like any other job's.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::census::{Census, CensusSpec, RangeOutcome, run_range};
use crate::cluster::Explorer;
use crate::job::{Counters, Frame, GoOn, MAX_SHARDS, ShardEnd, ShardOutcome, SpecError};

/// A range of the units of a census, as a job.
#[derive(Clone, Debug)]
pub struct CensusJob {
    census: Arc<Census>,
    units: Range<u64>,
    n_shards: u32,
}

impl CensusJob {
    /// A job that counts these units, in at most so many shards of about equal numbers of units: no more than there
    /// are units.
    ///
    /// # Errors
    /// [`SpecError::Units`] if the range is empty or reaches past the census, [`SpecError::Shards`] if the number of
    /// shards is out of bounds.
    pub fn new(census: Arc<Census>, units: Range<u64>, n_shards: u32) -> Result<CensusJob, SpecError> {
        if units.is_empty() || units.end > census.n_units() {
            return Err(SpecError::Units {
                first: units.start,
                end: units.end,
                n_units: census.n_units(),
            });
        }
        if !(1..=MAX_SHARDS).contains(&n_shards) {
            return Err(SpecError::Shards(n_shards));
        }
        let n_units = u32::try_from(units.end - units.start).unwrap_or(u32::MAX);
        Ok(CensusJob {
            census,
            units,
            n_shards: n_shards.min(n_units),
        })
    }

    /// What is counted.
    pub fn spec(&self) -> &CensusSpec {
        self.census.spec()
    }

    /// The units to count.
    pub fn units(&self) -> Range<u64> {
        self.units.clone()
    }

    /// The parts that all kinds of job have. There is no seed; a shard's iterations are its units.
    pub fn frame(&self) -> Frame {
        Frame {
            seed: 0,
            n_shards: self.n_shards,
            iterations_per_shard: 0,
            max_states: self.spec().limit.get(),
        }
    }

    /// The units of one shard: about equally many, but units with the same rows stay together, so that some shards may
    /// be empty.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn shard_units(&self, shard: u32) -> Range<u64> {
        assert!(shard < self.n_shards, "shard {shard} of {}", self.n_shards);
        let n_units = u128::from(self.units.end - self.units.start);
        let cut = |at: u32| {
            let n_before = n_units * u128::from(at) / u128::from(self.n_shards);
            let even = self.units.start + u64::try_from(n_before).expect("a part of a 64-bit number");
            if even == self.units.end {
                return even;
            }
            // Never below the job's own start: it may lie within units alike.
            self.census.first_unit_alike(even).max(self.units.start)
        };
        cut(shard)..cut(shard + 1)
    }
}

/// Two jobs are equal if they count the same units of the same census in the same shards.
impl PartialEq for CensusJob {
    fn eq(&self, other: &CensusJob) -> bool {
        (self.spec(), &self.units, self.n_shards) == (other.spec(), &other.units, other.n_shards)
    }
}

impl Eq for CensusJob {}

impl Hash for CensusJob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.spec(), &self.units, self.n_shards).hash(state);
    }
}

/// Counts the units of one shard; see [`JobSpec::run_shard_while`](crate::job::JobSpec::run_shard_while).
pub fn run_shard_while(job: &CensusJob, shard: u32, explorer: &mut Explorer, go_on: GoOn<'_>) -> ShardEnd {
    let units = job.shard_units(shard);
    let counted = run_range(&job.census, units.clone(), explorer, &mut |so_far| {
        go_on(&counters_of(so_far))
    });
    match counted {
        Ok(outcome) if outcome.units == units => ShardEnd::Complete(into_shard_outcome(outcome)),
        Ok(outcome) => ShardEnd::Stopped(into_shard_outcome(outcome)),
        Err(too_large) => ShardEnd::Failed(format!("units {} to {}: {too_large}", units.start, units.end)),
    }
}

fn into_shard_outcome(mut outcome: RangeOutcome) -> ShardOutcome {
    let mut found = std::mem::take(&mut outcome.boards);
    let n_counted = found.len();
    // The mirror image of a cluster is counted apart, but is the same board.
    found.dedup();
    let mut counters = counters_of(&outcome);
    counters.duplicates = (n_counted - found.len()) as u64;
    counters.found = found.len() as u64;
    ShardOutcome {
        found,
        counters,
        census: Some(outcome),
        measured: Vec::new(),
    }
}

fn counters_of(outcome: &RangeOutcome) -> Counters {
    Counters {
        iterations: outcome.units.end - outcome.units.start,
        legal: outcome.layouts,
        clusters: outcome.clusters(),
        solvable: outcome.solvable(),
        positions: outcome.positions() + outcome.unsolvable_positions,
        ..Counters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Lot;
    use crate::job::{JobSpec, Tally};

    fn census() -> Arc<Census> {
        let lot = Lot::new(4, 4).expect("a small lot");
        Arc::new(Census::new(CensusSpec::standard(lot, 0..=1)).expect("a small census"))
    }

    fn job(units: Range<u64>, n_shards: u32) -> JobSpec {
        JobSpec::Census(CensusJob::new(census(), units, n_shards).expect("within the census"))
    }

    #[test]
    fn shards_cut_the_units_without_gap_or_overlap() {
        let job = CensusJob::new(census(), 3..200, 5).unwrap();
        let shards: Vec<_> = (0..5).map(|shard| job.shard_units(shard)).collect();
        assert_eq!(shards[0].start, 3);
        assert_eq!(shards[4].end, 200);
        assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(shards.iter().filter(|shard| !shard.is_empty()).count() > 1);
        assert!(
            shards[1..]
                .iter()
                .all(|shard| census().first_unit_alike(shard.start) == shard.start)
        );
    }

    #[test]
    fn a_census_job_is_the_same_in_any_number_of_shards() {
        let all = census().all_units();
        let whole = job(all.clone(), 1).run(&mut Explorer::new());
        let cut = job(all.clone(), 7).run(&mut Explorer::new());
        assert_eq!(whole.found, cut.found);
        assert_eq!(whole.census, cut.census);
        assert_eq!(whole.digest, cut.digest);
        let counts = whole.census.expect("a census job has counts");
        // 32 rows in the published output of the reference enumeration: none with a wall is minimal.
        assert_eq!((counts.minimal(), whole.found.len()), (32, 32));
        assert_eq!(counts.solvable(), 4_087);
    }

    #[test]
    fn a_digest_tells_counts_apart_where_boards_and_counters_are_equal() {
        let digest_of = |layouts| {
            let mut tally = Tally::default();
            tally.absorb(ShardOutcome {
                found: Vec::new(),
                counters: Counters::default(),
                census: Some(RangeOutcome {
                    layouts,
                    ..RangeOutcome::default()
                }),
                measured: Vec::new(),
            });
            tally.digest()
        };
        assert_eq!(digest_of(1), digest_of(1));
        assert_ne!(digest_of(1), digest_of(2));
    }

    #[test]
    fn ranges_outside_the_census_are_refused() {
        let n_units = census().n_units();
        for units in [0..n_units + 1, 5..5] {
            let refused = CensusJob::new(census(), units.clone(), 1);
            assert!(matches!(refused, Err(SpecError::Units { .. })), "{units:?}");
        }
        assert!(CensusJob::new(census(), 0..1, 0).is_err());
    }

    #[test]
    fn a_stopped_shard_makes_no_claim() {
        let all = census().all_units();
        let JobSpec::Census(job) = job(all, 1) else {
            unreachable!()
        };
        let mut n_asked = 0;
        let end = run_shard_while(&job, 0, &mut Explorer::new(), &mut |_| {
            n_asked += 1;
            n_asked < 3
        });
        assert!(matches!(end, ShardEnd::Stopped(outcome) if outcome.counters.iterations == 3));
    }
}
