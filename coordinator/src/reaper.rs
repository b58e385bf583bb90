//! Looks, every few seconds, for what nobody will report: leases that ran out or stand still, hunts that are spent, workers
//! that fell silent, runs that were not compared. One coordinator does so at a time; and every step is one statement that
//! finds nothing when another was faster.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::config::{Config, STALL_GRACE_BEATS};
use crate::jobs::census;
use crate::jobs::waiting::Waiting;
use crate::store::{EventKind, EventToWrite, Lead, Store, StoreError};

/// A worker that holds nothing is given up after so many lease times of silence.
const SILENT_LEASES: u32 = 5;

/// Between two looks of whichever coordinator lie so many intervals at most. Longer, and something was down or stopped: a
/// coordinator that does not look does not hear beats either.
const GAP_ROUNDS: u32 = 4;

/// Reaps until the shutdown.
pub async fn run(store: Store, config: Config, work: &Waiting, shutdown: CancellationToken) {
    let mut ticks = interval(config.reap_interval.max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_beyond_told = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        // Another coordinator that reaps now will have done what there is to do.
        let lead = match store.lead(Lead::Reaper).await {
            Ok(Some(lead)) => lead,
            Ok(None) => continue,
            Err(error) => {
                error!(%error, "reaping failed, goes on at the next tick");
                continue;
            }
        };
        if let Err(error) = reap(&store, &config, work).await {
            error!(%error, "reaping failed, goes on at the next tick");
        }
        drop(lead);
        match store.has_boards_beyond().await {
            Ok(true) if !is_beyond_told => {
                is_beyond_told = true;
                warn!("boards lie in the default partition: a par beyond the last partition was found");
                let event = EventToWrite::new("coordinator", EventKind::BoardsBeyond, "add partitions");
                if let Err(error) = store.write_event(&event).await {
                    error!(%error, "the event was not written");
                }
            }
            Ok(_) => {}
            Err(error) => error!(%error, "the default partition was not looked at"),
        }
    }
}

/// One look.
///
/// # Errors
/// [`StoreError`]; what was done before it stays done.
pub async fn reap(store: &Store, config: &Config, work: &Waiting) -> Result<(), StoreError> {
    let revoke_beats = config.stall_beats.saturating_add(STALL_GRACE_BEATS);
    let watch = store
        .watch(config.reap_interval * GAP_ROUNDS, config.lease_ttl)
        .await?;
    let expired = store
        .expire_and_revoke(config.max_failures, revoke_beats, Some(&watch))
        .await?;
    for lease in &expired {
        info!(
            hunt.id = lease.hunt.get(),
            job.id = lease.job.get(),
            lease.token = lease.token.get(),
            is_parked = lease.is_parked,
            is_stall = lease.is_stall,
            is_outage = lease.is_outage,
            "lease taken back"
        );
    }
    if !expired.is_empty() {
        work.tell();
    }
    for range in store.ranges_to_split().await? {
        if census::split(store, range, &config.sizing).await? {
            info!(
                job.id = range.job.get(),
                "a range that failed twice was cut in two"
            );
            work.tell();
        }
    }
    for (hunt, reason) in store.end_spent_hunts().await? {
        info!(hunt.id = hunt.get(), reason, "hunt is done");
        let event = EventToWrite {
            hunt: Some(hunt),
            ..EventToWrite::new("coordinator", EventKind::HuntDone, &reason)
        };
        store.write_event(&event).await?;
    }
    store.cancel_jobs_of_ended_hunts().await?;
    for job in store.unsettled().await? {
        let settled = store.settle(job, config.max_strikes).await?;
        info!(job.id = job.get(), ?settled, "runs of a job were compared");
    }
    store.give_up_audits().await?;
    let silence = config.lease_ttl * SILENT_LEASES;
    store.give_up_silent_workers(silence.as_secs_f64()).await?;
    Ok(())
}
