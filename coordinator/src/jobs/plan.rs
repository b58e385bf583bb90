//! Cuts hunts into jobs, no sooner than somebody asks for one: what an annealing job starts from should be the
//! hardest there is at that moment.

use board::anneal::{AnnealSpec, Temperatures};
use board::job::{Frame, JobSpec};
use board::scatter::ScatterSpec;
use proto::convert::{JobKind, Strategy};

use crate::config::Sizing;
use crate::jobs::size::iterations_per_shard;
use crate::jobs::{campaign, census, difficulty};
use crate::store::{HuntToPlan, JobToInsert, StartsQuery, Store, StoreError, Tx};

/// The most jobs planned at once.
pub(super) const MAX_PLANNED: u64 = 64;

/// From how many of the hardest boards starts are drawn: by turns from the very top and from a wide pool, since a
/// summit's neighbours have been seen by the jobs before.
const POOLS: [u64; 4] = [100, 1_000, 10_000, 50_000];

/// Puts jobs of the hunt that comes next on the queue, until so many wait there; how many were added.
///
/// # Errors
/// [`StoreError`]; then nothing was planned.
pub async fn top_up(
    store: &Store,
    sizing: &Sizing,
    kinds: &[JobKind],
    n_wanted: u32,
) -> Result<u64, StoreError> {
    let mut tx = store.begin().await?;
    let Some(hunt) = tx.next_hunt_to_plan(kinds).await? else {
        return Ok(0);
    };
    if hunt.strategy == Strategy::Census {
        let n_jobs = census::plan(&mut tx, &hunt, sizing, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    if hunt.strategy == Strategy::Siren {
        let n_jobs = campaign::plan(&mut tx, &hunt, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    if hunt.strategy == Strategy::Difficulty {
        let n_jobs = difficulty::plan(&mut tx, &hunt, sizing, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    let n_left = hunt
        .end_number
        .map_or(u64::MAX, |end| end.saturating_sub(hunt.next_number));
    let n_jobs = u64::from(n_wanted)
        .min(MAX_PLANNED)
        .saturating_sub(hunt.n_queued)
        .min(n_left);
    let mut jobs = Vec::new();
    for number in hunt.next_number..hunt.next_number + n_jobs {
        let Some(kind) = kind_of(hunt.strategy, number, kinds) else {
            return Ok(0);
        };
        jobs.push(JobToInsert {
            number,
            spec: plan_one(&mut tx, &hunt, number, kind, sizing).await?.into(),
        });
    }
    tx.insert_jobs(hunt.hunt, &jobs).await?;
    tx.commit().await?;
    Ok(n_jobs)
}

async fn plan_one(
    tx: &mut Tx,
    hunt: &HuntToPlan,
    number: u64,
    kind: JobKind,
    sizing: &Sizing,
) -> Result<JobSpec, StoreError> {
    let measured = tx.measured(hunt.hunt, kind).await?;
    let frame = Frame {
        seed: job_seed(hunt.seed, number),
        n_shards: sizing.n_shards,
        iterations_per_shard: iterations_per_shard(measured, sizing.target, sizing.n_shards),
        max_states: sizing.max_states,
    };
    let refused =
        "the frame is within bounds by its configuration, and starts are of the hunt's lot and exit row";
    let space = hunt.space.as_ref().expect("only a campaign has no space");
    if kind == JobKind::Scatter {
        return Ok(JobSpec::Scatter(
            ScatterSpec::new(space.clone(), frame).expect(refused),
        ));
    }
    let query = StartsQuery {
        space,
        n_pool: POOLS[usize::try_from(number / 2 % POOLS.len() as u64).expect("a small number")],
        n_starts: sizing.n_shards,
        seed: frame.seed,
    };
    let starts = tx.starts(&query).await?;
    let spec = AnnealSpec::new(space.clone(), frame, starts, Temperatures::default());
    Ok(JobSpec::Anneal(spec.expect(refused)))
}

/// Which kind a hunt's job is; `None`: the strategy has none that is asked for.
fn kind_of(strategy: Strategy, number: u64, kinds: &[JobKind]) -> Option<JobKind> {
    let wanted: &[JobKind] = match strategy {
        Strategy::Scatter => &[JobKind::Scatter],
        Strategy::Anneal => &[JobKind::Anneal],
        Strategy::Census => &[JobKind::Census],
        Strategy::Siren => &[JobKind::Siren],
        Strategy::Difficulty => &[JobKind::Difficulty],
        // Scatter comes first: it finds what annealing starts from.
        Strategy::Mixed if number.is_multiple_of(2) => &[JobKind::Scatter, JobKind::Anneal],
        Strategy::Mixed => &[JobKind::Anneal, JobKind::Scatter],
    };
    wanted.iter().copied().find(|kind| kinds.contains(kind))
}

/// The seed of a hunt's job. Different for every number of a hunt, since each step is a permutation of the 64-bit
/// numbers (`SplitMix64`: Steele, Lea and Flood 2014).
pub(super) fn job_seed(hunt_seed: u64, number: u64) -> u64 {
    let mut z = hunt_seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_jobs_of_a_hunt_share_a_seed() {
        let seeds: HashSet<u64> = (0..100_000).map(|number| job_seed(7, number)).collect();
        assert_eq!(seeds.len(), 100_000);
        assert_ne!(job_seed(7, 0), job_seed(8, 0));
    }

    #[test]
    fn mixed_hunts_scatter_first_and_then_take_turns() {
        let both = [JobKind::Scatter, JobKind::Anneal];
        let kinds: Vec<_> = (0..4)
            .map(|number| kind_of(Strategy::Mixed, number, &both).unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                JobKind::Scatter,
                JobKind::Anneal,
                JobKind::Scatter,
                JobKind::Anneal
            ]
        );
    }

    #[test]
    fn a_worker_gets_only_kinds_that_it_can_run() {
        assert_eq!(
            kind_of(Strategy::Mixed, 1, &[JobKind::Scatter]),
            Some(JobKind::Scatter)
        );
        assert_eq!(kind_of(Strategy::Anneal, 1, &[JobKind::Scatter]), None);
    }
}
