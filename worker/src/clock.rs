//! The only place of this crate that reads a clock: the monotonic one, and the processor time of a thread.
//!
//! The first is tokio's clock, so that tests can stop and advance it. The second says what a search costs, whatever else
//! the machine does; nothing that is found depends on it.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// A moment on the monotonic clock.
pub type Moment = Instant;

/// The present moment.
pub fn now() -> Moment {
    Instant::now()
}

/// Processor time that the calling thread has used since it began; zero where the system does not tell.
pub fn thread_cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Waits until this moment.
pub async fn sleep_until(moment: Moment) {
    tokio::time::sleep_until(moment).await;
}

/// Waits this long.
pub async fn sleep(duration: Duration) {
    tokio::time::sleep(duration).await;
}
