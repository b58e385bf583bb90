//! Cuts campaigns into jobs, one a level, and puts the levels together from what the seeds gave.

use proto::convert::NewCampaign;
use proto::ids::HuntId;
use siren::campaign::{Entry, NoLevel, assemble};
use siren::generate::Candidate;
use siren::job::JamJob;
use siren::level::Level;
use siren::plan::LevelSpec;
use thiserror::Error;
use tracing::warn;

use crate::jobs::plan::MAX_PLANNED;
use crate::store::{
    CampaignProgress, CreateHuntError, HuntRecord, HuntToPlan, JobToInsert, LevelToInsert, Store, StoreError,
    Tx,
};

/// Creates a campaign, or lets the one of this name and plan go on.
///
/// # Errors
/// [`CreateHuntError`].
pub async fn create(store: &Store, wish: &NewCampaign) -> Result<HuntRecord, CreateHuntError> {
    let n_levels = wish.plan.levels().len();
    if n_levels == 0 {
        return Err(CreateHuntError::NoLevels);
    }
    let levels: Vec<LevelToInsert> = scattered(n_levels)
        .zip(0..)
        .map(|(place, number)| LevelToInsert { number, place })
        .collect();
    store.create_campaign(wish, &levels).await
}

/// The levels of a plan in an order in which easy and hard ones take turns, so that what is left to do is like what is
/// done, and an estimate of the rest is an honest one: always a stride further on, of about the golden section.
fn scattered(n_levels: usize) -> impl Iterator<Item = usize> {
    let wanted = (n_levels * 618 / 1000).max(1);
    let stride = (1..=wanted)
        .rev()
        .find(|&stride| gcd(stride, n_levels) == 1)
        .unwrap_or(1);
    (0..n_levels).map(move |number| number * stride % n_levels)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Puts levels of a campaign on the queue until so many jobs wait there; how many were added.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(tx: &mut Tx, hunt: &HuntToPlan, n_wanted: u32) -> Result<u64, StoreError> {
    let Some(campaign) = tx.campaign(hunt.hunt).await? else {
        warn!(hunt.id = hunt.hunt.get(), "a campaign without a plan");
        return Ok(0);
    };
    if campaign.engine != siren::ENGINE {
        warn!(
            hunt.id = hunt.hunt.get(),
            engine = campaign.engine,
            "this campaign was begun by another engine: {} cannot go on with it",
            siren::ENGINE
        );
        return Ok(0);
    }
    let levels = campaign.plan.levels();
    let n_left = (levels.len() as u64).saturating_sub(hunt.next_number);
    let n_jobs = u64::from(n_wanted)
        .min(MAX_PLANNED)
        .saturating_sub(hunt.n_queued)
        .min(n_left);
    let mut jobs = Vec::new();
    for number in hunt.next_number..hunt.next_number + n_jobs {
        let place = tx.level_place(hunt.hunt, number).await?;
        let level = place.and_then(|place| levels.get(place));
        let level = level.expect("a campaign has a level for each of its jobs, written with its plan");
        let job = JamJob::new(level.template.clone(), level.seeds.to_vec()).expect(
            "the plan was checked when it was read, and its seeds are derived from different numbers",
        );
        jobs.push(JobToInsert {
            number,
            spec: job.into(),
            arm: None,
        });
    }
    tx.insert_jobs(hunt.hunt, &jobs).await?;
    Ok(n_jobs)
}

/// Why a campaign has no levels yet.
#[derive(Debug, Error)]
pub enum AssembleError {
    /// It is none.
    #[error("hunt {0} is no campaign")]
    NoCampaign(i64),
    /// Not all seeds were tried.
    #[error(
        "{n_done} of {n_levels} levels are done, {n_parked} failed too often (`parforce jobs --state parked`)"
    )]
    Unfinished {
        /// Levels all of whose seeds were tried.
        n_done: u64,
        /// Levels of the plan.
        n_levels: u64,
        /// Levels whose jobs failed too often.
        n_parked: u64,
    },
    /// A level that none of its seeds gave.
    #[error(transparent)]
    NoLevel(#[from] NoLevel),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The levels of a campaign all of whose seeds were tried: a function of its plan alone, whoever tried them.
///
/// # Errors
/// [`AssembleError`].
pub async fn levels_of(store: &Store, hunt: HuntId) -> Result<Vec<(LevelSpec, Level)>, AssembleError> {
    let none = || AssembleError::NoCampaign(hunt.get());
    let CampaignProgress {
        n_levels,
        n_done,
        n_parked,
        ..
    } = store.campaign_progress(hunt).await?.ok_or_else(none)?;
    if n_done < n_levels {
        return Err(AssembleError::Unfinished {
            n_done,
            n_levels,
            n_parked,
        });
    }
    let specs = store.campaign(hunt).await?.ok_or_else(none)?.plan.levels();
    let mut entries = Vec::new();
    for find in store.campaign_finds(hunt).await? {
        let unreadable = |reason: String| StoreError::Unreadable {
            table: "jam_finds",
            id: hunt.get(),
            reason: format!("level {} of the plan, seed {}: {reason}", find.place, find.seed),
        };
        let jam = Level::parse(&find.level)
            .map_err(|error| unreadable(error.to_string()))?
            .jam;
        let spec = specs
            .get(find.place)
            .ok_or_else(|| unreadable(String::from("no such level")))?;
        let candidate = Candidate::new(&spec.template, jam);
        entries.push(Entry {
            level: find.place,
            seed: find.seed,
            candidate: candidate.ok_or_else(|| unreadable(String::from("not solvable")))?,
        });
    }
    let levels = assemble(&specs, &entries)?;
    let seeds: Vec<u64> = levels
        .iter()
        .map(|level| level.campaign.as_ref().expect("levels of a campaign say so").seed)
        .collect();
    store.note_chosen(hunt, &seeds).await?;
    Ok(specs.into_iter().zip(levels).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_its_turn_and_neighbours_are_far_apart() {
        for n_levels in 1..200 {
            let mut order: Vec<usize> = scattered(n_levels).collect();
            if n_levels >= 20 {
                assert!(
                    order
                        .windows(2)
                        .all(|pair| pair[0].abs_diff(pair[1]) > n_levels / 5),
                    "{order:?}"
                );
            }
            order.sort_unstable();
            assert_eq!(order, (0..n_levels).collect::<Vec<_>>());
        }
    }
}
