//! Keeps the samples coming that charts are drawn from.

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::store::{SAMPLE_EVERY, Store};

/// Takes samples until the shutdown. Any number of coordinators may do so: a sample is taken once.
pub(crate) async fn keep_samples(store: Store, shutdown: CancellationToken) {
    let mut ticks = interval(SAMPLE_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut was_away = false;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        match store.sample().await {
            Ok(()) => was_away = false,
            Err(error) if !was_away => {
                was_away = true;
                tracing::warn!(%error, "no sample could be taken; charts will have a gap");
            }
            Err(_) => {}
        }
    }
}
