//! Answers who asks for jobs: with leases at once, or when there is work, or with none when the wait is over.

use proto::convert::{Acquire, Lease};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::jobs::plan::top_up;
use crate::jobs::waiting::Waiting;
use crate::store::{Store, StoreError};

/// Grants leases, planning jobs for them if none wait. Empty: there was nothing to do, or the same request was answered
/// before with leases that have ended since.
///
/// # Errors
/// [`StoreError`].
pub async fn acquire(
    store: &Store,
    config: &Config,
    waiting: &Waiting,
    shutdown: &CancellationToken,
    wish: &Acquire,
) -> Result<Vec<Lease>, StoreError> {
    let leases = waiting
        .look(wish.wait, shutdown, async || {
            look(store, config, wish, waiting.n_calls()).await
        })
        .await?;
    Ok(leases.unwrap_or_default())
}

/// `None`: there is nothing now. Empty: there will be nothing for this request.
async fn look(
    store: &Store,
    config: &Config,
    wish: &Acquire,
    n_calls: usize,
) -> Result<Option<Vec<Lease>>, StoreError> {
    match store.grant(wish, config.lease_ttl).await? {
        Some(leases) if leases.is_empty() => {}
        answer => return Ok(Some(answer.unwrap_or_default())),
    }
    // Others that wait will want one too: a job for each is planned at once, not each by its own call.
    let n_wanted = wish.n_free_slots.max(u32::try_from(n_calls).unwrap_or(u32::MAX));
    if top_up(store, &config.sizing, &wish.kinds, n_wanted).await? == 0 {
        return Ok(None);
    }
    let leases = store.grant(wish, config.lease_ttl).await?;
    Ok(leases.filter(|leases| !leases.is_empty()))
}
