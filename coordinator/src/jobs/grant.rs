//! Answers who asks for jobs: with leases at once, or when there is work, or with none when the wait is over.

use std::time::Duration;

use proto::convert::{Acquire, Lease};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::jobs::plan::top_up;
use crate::store::{Store, StoreError};

/// How often a waiting call looks again by itself: word of new work may not have come (`jobs::word`).
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Grants leases, planning jobs for them if none wait. Empty: there was nothing to do, or the same request was answered
/// before with leases that have ended since.
///
/// # Errors
/// [`StoreError`].
pub async fn acquire(
    store: &Store,
    config: &Config,
    work: &Notify,
    shutdown: &CancellationToken,
    wish: &Acquire,
) -> Result<Vec<Lease>, StoreError> {
    let give_up_at = Instant::now() + wish.wait;
    loop {
        // Listening starts before the look, so that work that appears in between is not slept through.
        let appeared = work.notified();
        match store.grant(wish, config.lease_ttl).await? {
            None => return Ok(Vec::new()),
            Some(leases) if !leases.is_empty() => return Ok(leases),
            Some(_) => {}
        }
        if top_up(store, &config.sizing, &wish.kinds, wish.n_free_slots).await? > 0
            && let Some(leases) = store.grant(wish, config.lease_ttl).await?
            && !leases.is_empty()
        {
            return Ok(leases);
        }
        let left = give_up_at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Vec::new());
        }
        tokio::select! {
            () = appeared => {}
            () = sleep(left.min(POLL_INTERVAL)) => {}
            () = shutdown.cancelled() => return Ok(Vec::new()),
        }
    }
}
