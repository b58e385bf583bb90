//! How long to wait before the next attempt: full jitter between nothing and a ceiling that doubles from 1 to 60 s.
//!
//! Full jitter, because a thousand workers that lost their coordinator at the same moment must not come back at the same
//! moment.

use std::time::Duration;

use board::stream::Stream;
use uuid::Uuid;

/// The ceiling of the first delay.
pub const FIRST_CEILING: Duration = Duration::from_secs(1);

/// The ceiling of all later delays.
pub const LAST_CEILING: Duration = Duration::from_mins(1);

/// The delays between attempts of one thing.
#[derive(Debug)]
pub struct Backoff {
    stream: Stream,
    ceiling: Duration,
}

impl Backoff {
    /// Delays drawn from this process's incarnation, so that no two workers draw the same; `purpose` tells the
    /// backoffs of one worker apart.
    pub fn new(incarnation: Uuid, purpose: u32) -> Backoff {
        let (high, low) = incarnation.as_u64_pair();
        Backoff {
            stream: Stream::new("backoff", high ^ low, purpose),
            ceiling: FIRST_CEILING,
        }
    }

    /// The next delay: at least what the server asked for, else anything up to the ceiling, which then doubles.
    pub fn next(&mut self, asked: Option<Duration>) -> Duration {
        let ceiling_ms = u32::try_from(self.ceiling.as_millis()).expect("at most LAST_CEILING");
        let jitter = Duration::from_millis(u64::from(self.stream.below(ceiling_ms + 1)));
        self.ceiling = (self.ceiling * 2).min(LAST_CEILING);
        match asked {
            Some(asked) => asked.min(LAST_CEILING) + jitter / 4,
            None => jitter,
        }
    }

    /// Forgets past failures.
    pub fn reset(&mut self) {
        self.ceiling = FIRST_CEILING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_stay_below_a_ceiling_that_doubles_to_a_minute() {
        let mut backoff = Backoff::new(Uuid::from_u128(7), 0);
        for ceiling_s in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert!(backoff.next(None) <= Duration::from_secs(ceiling_s));
        }
        backoff.reset();
        assert!(backoff.next(None) <= FIRST_CEILING);
    }

    #[test]
    fn a_delay_that_the_server_asks_for_is_kept() {
        let mut backoff = Backoff::new(Uuid::from_u128(7), 0);
        assert!(backoff.next(Some(Duration::from_secs(5))) >= Duration::from_secs(5));
    }

    #[test]
    fn two_workers_do_not_wait_equally_long() {
        let delays = |n| Backoff::new(Uuid::from_u128(n), 0).next(None);
        assert_ne!(delays(1), delays(2));
    }
}
