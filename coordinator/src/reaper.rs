//! Looks, every few seconds, for what nobody will report: leases that ran out, hunts that are spent, workers that fell
//! silent. Every step is one statement that finds nothing when another coordinator was faster.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use crate::config::Config;
use crate::jobs::census;
use crate::store::{EventKind, EventToWrite, Store, StoreError};

/// A worker that holds nothing is given up after so many lease times of silence.
const SILENT_LEASES: u32 = 5;

/// Reaps until the shutdown.
pub async fn run(store: Store, config: Config, work: &Notify, shutdown: CancellationToken) {
    let mut ticks = interval(config.reap_interval.max(Duration::from_millis(10)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_beyond_told = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = reap(&store, &config, work).await {
            error!(%error, "reaping failed, goes on at the next tick");
        }
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
pub async fn reap(store: &Store, config: &Config, work: &Notify) -> Result<(), StoreError> {
    let expired = store.expire(config.max_failures).await?;
    for lease in &expired {
        info!(
            hunt.id = lease.hunt.get(),
            job.id = lease.job.get(),
            lease.token = lease.token.get(),
            is_parked = lease.is_parked,
            "lease ran out"
        );
    }
    if !expired.is_empty() {
        work.notify_waiters();
    }
    for range in store.ranges_to_split().await? {
        if census::split(store, range, &config.sizing).await? {
            info!(
                job.id = range.job.get(),
                "a range that failed twice was cut in two"
            );
            work.notify_waiters();
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
    let silence = config.lease_ttl * SILENT_LEASES;
    store.give_up_silent_workers(silence.as_secs_f64()).await?;
    Ok(())
}
