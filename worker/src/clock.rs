//! The only place of this crate that reads a clock, and it reads only the monotonic one.
//!
//! It is tokio's clock, so that tests can stop and advance it.

use std::time::Duration;

use tokio::time::Instant;

/// A moment on the monotonic clock.
pub type Moment = Instant;

/// The present moment.
pub fn now() -> Moment {
    Instant::now()
}

/// Waits until this moment.
pub async fn sleep_until(moment: Moment) {
    tokio::time::sleep_until(moment).await;
}

/// Waits this long.
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}
