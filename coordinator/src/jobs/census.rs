//! Cuts censuses into ranges, one after the other and without a gap; some are counted twice.

use std::ops::Range;
use std::sync::Arc;

use board::census::{Census, CensusJob};
use board::job::JobSpec;
use board::space::BoardSpace;
use board::{ENGINE, StateLimit};
use proto::convert::JobKind;
use tracing::warn;

use crate::config::Sizing;
use crate::jobs::plan::{MAX_PLANNED, job_seed};
use crate::jobs::size::{Measured, n_iterations};
use crate::store::{CensusToPlan, HuntToPlan, JobToInsert, RangeToSplit, Store, StoreError, Tx};

/// A census' first range is this part of all units, but not more than so many units: seconds of work on most lots, so
/// that the next can be sized.
const FIRST_PART: u64 = 500;
const MAX_FIRST: u64 = 64;

/// No range is larger than this part of all units, so that the end of a census is shared by its workers.
const LARGEST_PART: u64 = 50;

/// Puts ranges of a census on the queue until so many jobs wait there; how many were added.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(tx: &mut Tx, hunt: &HuntToPlan, sizing: &Sizing, n_wanted: u32) -> Result<u64, StoreError> {
    let Some(census) = tx
        .census_to_plan(hunt.hunt, space(hunt), StateLimit::DEFAULT)
        .await?
    else {
        warn!(hunt.id = hunt.hunt.get(), "a census without terms");
        return Ok(0);
    };
    if census.engine != ENGINE {
        warn!(
            hunt.id = hunt.hunt.get(),
            engine = census.engine,
            "this census was numbered by another engine: {ENGINE} cannot go on with it"
        );
        return Ok(0);
    }
    let n_jobs = u64::from(n_wanted).min(MAX_PLANNED).saturating_sub(hunt.n_queued);
    let measured = tx.measured(hunt.hunt, JobKind::Census).await?;
    let numbered = numbered(&census);
    let mut at = census.next_unit;
    let mut number = hunt.next_number;
    let (mut n_first, mut n_repeated) = tx.n_census_ranges(hunt.hunt).await?;
    for _ in 0..n_jobs {
        if at == census.n_units {
            break;
        }
        let size = n_units(measured, &census, sizing);
        let units = at..end_of_range(&numbered, at, size);
        at = units.end;
        let job = insert(tx, hunt, number, &numbered, &units, sizing).await?;
        let first = tx.insert_range(hunt.hunt, job, &units).await?;
        number += 1;
        // A census of few ranges has its last one counted twice, if no other was drawn.
        let is_due = census.repeats_per_mille > 0 && n_repeated == 0 && at == census.n_units;
        if is_due || is_repeated(hunt.seed, n_first, census.repeats_per_mille) {
            n_repeated += 1;
            let job = insert(tx, hunt, number, &numbered, &units, sizing).await?;
            tx.insert_other_range(hunt.hunt, job, &units, Some(first)).await?;
            number += 1;
        }
        n_first += 1;
    }
    if at == census.n_units {
        tx.close_planning(hunt.hunt).await?;
    }
    Ok(number - hunt.next_number)
}

/// Replaces a range that failed twice by its halves: what is too much for a worker in one piece may not be in two.
/// True: it was still waiting.
///
/// # Errors
/// [`StoreError`]; then the range is as it was.
pub async fn split(store: &Store, range: RangeToSplit, sizing: &Sizing) -> Result<bool, StoreError> {
    let mut tx = store.begin().await?;
    let Some(hunt) = tx.hunt_to_plan(range.hunt).await? else {
        return Ok(false);
    };
    let Some(census) = tx
        .census_to_plan(hunt.hunt, space(&hunt), StateLimit::DEFAULT)
        .await?
    else {
        return Ok(false);
    };
    let Some(units) = tx.retire_range(range).await? else {
        return Ok(false);
    };
    let numbered = numbered(&census);
    let middle = units.start + (units.end - units.start) / 2;
    let halves = [units.start..middle, middle..units.end];
    for (number, half) in (hunt.next_number..).zip(halves) {
        let job = insert(&mut tx, &hunt, number, &numbered, &half, sizing).await?;
        tx.insert_other_range(hunt.hunt, job, &half, None).await?;
    }
    if census.next_unit == census.n_units {
        tx.close_planning(hunt.hunt).await?;
    }
    tx.commit().await?;
    Ok(true)
}

fn space(hunt: &HuntToPlan) -> &BoardSpace {
    hunt.space.as_ref().expect("only a campaign has no space")
}

/// Where a range of about so many units ends: between units that are alike, see [`Census::first_unit_alike`].
fn end_of_range(census: &Census, first: u64, size: u64) -> u64 {
    let end = first.saturating_add(size);
    if end >= census.n_units() {
        return census.n_units();
    }
    let before = census.first_unit_alike(end);
    if before > first {
        return before;
    }
    // All of them are alike: as many more as there are.
    let mut end = end;
    while end < census.n_units() && census.first_unit_alike(end) <= first {
        end += 1;
    }
    end
}

fn numbered(census: &CensusToPlan) -> Arc<Census> {
    Arc::new(Census::new(census.spec.clone()).expect("it was numbered when the hunt was created"))
}

async fn insert(
    tx: &mut Tx,
    hunt: &HuntToPlan,
    number: u64,
    census: &Arc<Census>,
    units: &Range<u64>,
    sizing: &Sizing,
) -> Result<u64, StoreError> {
    let job = CensusJob::new(Arc::clone(census), units.clone(), sizing.n_shards)
        .expect("the range was cut from the census, and the configuration is within bounds");
    let job = JobToInsert {
        number,
        spec: JobSpec::Census(job).into(),
        arm: None,
    };
    tx.insert_jobs(hunt.hunt, &[job]).await?;
    Ok(number)
}

/// Units of the next range, so that it takes about as long as jobs should.
fn n_units(measured: Option<Measured>, census: &CensusToPlan, sizing: &Sizing) -> u64 {
    let first = census.n_units.div_ceil(FIRST_PART).clamp(1, MAX_FIRST);
    let largest = census.n_units.div_ceil(LARGEST_PART).max(1);
    n_iterations(measured, sizing.target, first).clamp(1, largest)
}

/// Whether the `n`th range of a census is counted twice. One is drawn from every so many, by the hunt's seed: a worker
/// cannot tell which, and of few ranges too the stated share is counted twice, give or take one.
fn is_repeated(seed: u64, n: u64, per_mille: u16) -> bool {
    let stated = u64::from(per_mille);
    if stated == 0 {
        return false;
    }
    let stretch = n * stated / 1_000;
    let first = |stretch: u64| (stretch * 1_000).div_ceil(stated);
    let (start, end) = (first(stretch), first(stretch + 1));
    n == start + job_seed(seed, stretch) % (end - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_share_is_counted_twice_of_few_ranges_too() {
        for per_mille in [0_u16, 1, 50, 333, 700, 1_000] {
            for n_ranges in [1_u64, 76, 1_000, 100_000] {
                let n_repeated = (0..n_ranges).filter(|&n| is_repeated(7, n, per_mille)).count() as u64;
                let stated = n_ranges * u64::from(per_mille) / 1_000;
                assert!(
                    n_repeated.abs_diff(stated) <= 1,
                    "{n_repeated} of {n_ranges} at {per_mille} per mille"
                );
            }
        }
        assert!((0..1_000).all(|n| is_repeated(7, n, 1_000)));
    }

    #[test]
    fn which_ranges_are_counted_twice_depends_on_the_seed() {
        let drawn = |seed| {
            (0..1_000)
                .filter(|&n| is_repeated(seed, n, 50))
                .collect::<Vec<_>>()
        };
        assert_ne!(drawn(7), drawn(8));
    }
}
