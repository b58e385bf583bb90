//! The leases this worker holds, and what was decided about each: go on, or leave off, and why.
//!
//! Three parties meet here: the holder of a job (who runs and reports it), the heartbeat (who renews leases and hears
//! orders), and the fence (who gives up a lease that was not renewed in time). None of them waits for another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::convert::Lease;
use proto::ids::{FencingToken, JobId};
use tokio::sync::watch;
use tracing::warn;

use crate::clock::{self, Moment};
use crate::run::gauge::Gauge;

/// The part of a lease's length that is left unused, because this clock may run slower than the coordinator's.
const CLOCK_ALLOWANCE_DIVISOR: u32 = 20;

/// What was decided about a lease. Later words only make it harder: see [`Held::decree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Search on.
    GoOn,
    /// The worker leaves: stop, hand in, release.
    Leave,
    /// The hunt pauses: stop, hand in, release.
    Pause,
    /// The hunt was cancelled: stop, hand in, release.
    Cancel,
    /// The search failed: stop, hand in, release.
    Fail,
    /// The lease is another's, or may be: stop, hand in, claim nothing.
    Lost,
}

/// One lease held.
#[derive(Debug)]
pub struct Held {
    job: JobId,
    token: FencingToken,
    gauge: Arc<Gauge>,
    expires_at: watch::Sender<Moment>,
    verdict: watch::Sender<Verdict>,
}

impl Held {
    /// A lease granted by a call that was sent at `asked_at`: counted from then, since the answer was made later.
    pub fn new(lease: &Lease, asked_at: Moment) -> Held {
        Held {
            job: lease.job,
            token: lease.token,
            gauge: Arc::default(),
            expires_at: watch::Sender::new(expiry(asked_at, lease.expires_in)),
            verdict: watch::Sender::new(Verdict::GoOn),
        }
    }

    /// The job.
    pub fn job(&self) -> JobId {
        self.job
    }

    /// The lease's token.
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// How far the search is.
    pub fn gauge(&self) -> &Arc<Gauge> {
        &self.gauge
    }

    /// What was decided so far.
    pub fn verdict(&self) -> Verdict {
        *self.verdict.borrow()
    }

    /// Decides; anything but [`Verdict::GoOn`] stops the search at its next iteration. A milder word than the last
    /// changes nothing: a lease that is lost stays lost, whatever else arrives.
    pub fn decree(&self, verdict: Verdict) {
        self.verdict.send_if_modified(|decided| {
            let is_harder = verdict > *decided;
            if is_harder {
                *decided = verdict;
            }
            is_harder
        });
        if verdict != Verdict::GoOn {
            self.gauge.stop();
        }
    }

    /// Renews the lease by a call that was sent at `asked_at`. An answer that arrives late never shortens it.
    pub fn renew(&self, asked_at: Moment, expires_in: Duration) {
        let renewed = expiry(asked_at, expires_in);
        self.expires_at.send_if_modified(|expires_at| {
            let is_later = renewed > *expires_at;
            if is_later {
                *expires_at = renewed;
            }
            is_later
        });
    }

    /// Waits until the lease expires without having been renewed, then gives it up. Ends only then.
    pub async fn fence(&self) {
        let mut expires_at = self.expires_at.subscribe();
        loop {
            let moment = *expires_at.borrow_and_update();
            clock::sleep_until(moment).await;
            if *expires_at.borrow() <= clock::now() {
                warn!(job.id = %self.job, lease.token = %self.token, "lease not renewed in time, giving it up");
                self.decree(Verdict::Lost);
                return;
            }
        }
    }
}

fn expiry(asked_at: Moment, expires_in: Duration) -> Moment {
    asked_at + expires_in - expires_in / CLOCK_ALLOWANCE_DIVISOR
}

/// All leases held.
#[derive(Debug, Default)]
pub struct Roster {
    held: Mutex<BTreeMap<(JobId, FencingToken), Arc<Held>>>,
}

impl Roster {
    /// Adds a lease; `None` if it is held already (a repeated acquire brought it twice).
    pub fn add(&self, held: Held) -> Option<Arc<Held>> {
        let held = Arc::new(held);
        let mut all = self.lock();
        match all.entry((held.job, held.token)) {
            std::collections::btree_map::Entry::Occupied(_) => None,
            std::collections::btree_map::Entry::Vacant(place) => Some(Arc::clone(place.insert(held))),
        }
    }

    /// Takes a lease away that was completed, released or lost.
    pub fn remove(&self, held: &Held) {
        self.lock().remove(&(held.job, held.token));
    }

    /// The lease of this job and token.
    pub fn get(&self, job: JobId, token: FencingToken) -> Option<Arc<Held>> {
        self.lock().get(&(job, token)).cloned()
    }

    /// Every lease, by job and token.
    pub fn all(&self) -> Vec<Arc<Held>> {
        self.lock().values().cloned().collect()
    }

    /// Decides about all leases at once.
    pub fn decree(&self, verdict: Verdict) {
        for held in self.all() {
            held.decree(verdict);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<(JobId, FencingToken), Arc<Held>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use board::Lot;
    use board::job::{Frame, JobSpec};
    use board::scatter::ScatterSpec;
    use board::space::BoardSpace;
    use proto::ids::HuntId;

    use super::*;

    fn held(expires_in: Duration) -> Held {
        let frame = Frame {
            seed: 1,
            n_shards: 1,
            iterations_per_shard: 1,
            max_states: 1,
        };
        let space = BoardSpace::usual(Lot::ORDINARY).unwrap();
        let lease = Lease {
            job: JobId::new(1).unwrap(),
            hunt: HuntId::new(1).unwrap(),
            token: FencingToken::new(1).unwrap(),
            expires_in,
            attempt: 1,
            spec: JobSpec::Scatter(ScatterSpec::new(space, frame).unwrap()).into(),
            checkpoint: None,
        };
        Held::new(&lease, clock::now())
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_not_renewed_is_given_up_before_it_expires() {
        let held = held(Duration::from_mins(1));
        let start = clock::now();
        held.fence().await;
        assert_eq!(held.verdict(), Verdict::Lost);
        assert!(held.gauge().is_stopped());
        let waited = clock::now() - start;
        assert!(
            waited < Duration::from_mins(1) && waited >= Duration::from_secs(57),
            "{waited:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewed_lease_lives_on_and_a_late_answer_does_not_shorten_it() {
        let held = held(Duration::from_mins(1));
        let start = clock::now();
        held.renew(start + Duration::from_secs(15), Duration::from_mins(1));
        held.renew(start, Duration::from_mins(1));
        held.fence().await;
        assert!(clock::now() - start >= Duration::from_secs(15 + 57));
    }

    #[tokio::test]
    async fn a_lost_lease_stays_lost() {
        let held = held(Duration::from_mins(1));
        held.decree(Verdict::Lost);
        held.decree(Verdict::Leave);
        held.decree(Verdict::GoOn);
        assert_eq!(held.verdict(), Verdict::Lost);
    }
}
