//! Which hunt comes next, as far as that is a matter of who has how much of the farm.
//!
//! The view `hunt_shares` says it exactly, and looks at every lease and every worker for it. Of a farm of ten thousand that
//! costs more than all else about a grant, so a large farm is looked at once a second; what is granted here in between is
//! added to what was seen. What other coordinators grant within the second is not seen: shares are good to a quarter anyway.

use std::cmp::Reverse;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use proto::convert::Lease;
use tokio::time::Instant;

use super::{Store, StoreError};

/// A farm of so many leases and workers or fewer is looked at each time.
const SMALL: i64 = 256;

/// How old the look at a larger one may be.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Hunts whose cores for their weight lie within this factor are level.
const STEP: f64 = 1.25;

/// The last look.
#[derive(Debug, Default)]
pub(super) struct Shares {
    seen: Mutex<Option<Seen>>,
}

#[derive(Debug)]
struct Seen {
    at: Instant,
    is_small: bool,
    hunts: Vec<HuntShare>,
}

/// What a running hunt has.
#[derive(Clone, Debug)]
struct HuntShare {
    hunt: i64,
    priority: i32,
    weight: f64,
    n_leased: f64,
    n_cores: f64,
    /// It had nothing, in a farm that is large enough for everybody to have something.
    is_owed_its_first: bool,
}

/// Running hunts with their places: the lower one comes first, and hunts on one place are level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HuntOrder {
    pub(super) hunts: Vec<i64>,
    pub(super) places: Vec<i32>,
}

impl Seen {
    fn order(&self) -> HuntOrder {
        let mut hunts: Vec<&HuntShare> = self.hunts.iter().collect();
        hunts.sort_by_key(|hunt| (hunt.key(), hunt.hunt));
        let mut order = HuntOrder::default();
        let mut last = None;
        for hunt in hunts {
            if last.replace(hunt.key()).is_some_and(|last| last != hunt.key()) || order.places.is_empty() {
                order
                    .places
                    .push(order.places.last().map_or(0, |place| place + 1));
            } else {
                order.places.extend(order.places.last().copied());
            }
            order.hunts.push(hunt.hunt);
        }
        order
    }

    /// Adds a lease that was granted since. False: its hunt is not known yet.
    fn add(&mut self, hunt: i64) -> bool {
        let n_leased: f64 = self.hunts.iter().map(|hunt| hunt.n_leased).sum();
        let n_cores: f64 = self.hunts.iter().map(|hunt| hunt.n_cores).sum();
        let cores_a_lease = if n_leased > 0.0 { n_cores / n_leased } else { 1.0 };
        let Some(share) = self.hunts.iter_mut().find(|share| share.hunt == hunt) else {
            return false;
        };
        share.n_leased += 1.0;
        share.n_cores += cores_a_lease;
        share.is_owed_its_first = false;
        true
    }
}

impl HuntShare {
    /// Hunts that have nothing though they should come first, then higher priorities, then fewer cores for their weight.
    fn key(&self) -> (bool, Reverse<i32>, i32) {
        (!self.is_owed_its_first, Reverse(self.priority), self.step())
    }

    fn step(&self) -> i32 {
        if self.n_cores <= 0.0 {
            return -1_000;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a logarithm")]
        let step = ((self.n_cores / self.weight).ln() / STEP.ln()).floor() as i32;
        step.max(-1_000)
    }
}

impl Shares {
    /// The order by a look that is young enough; `None`: somebody must look. Whoever is told so is alone for a while.
    fn young(&self) -> Option<HuntOrder> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.as_mut().filter(|seen| !seen.is_small)?;
        if seen.at.elapsed() > MAX_AGE {
            // The others go by the former look until this one's is there.
            seen.at = Instant::now();
            return None;
        }
        Some(seen.order())
    }

    /// Leases were granted.
    pub(super) fn granted(&self, leases: &[Lease]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = leases
            .iter()
            .all(|lease| seen.as_mut().is_some_and(|seen| seen.add(lease.hunt.get())));
        if !is_known {
            *seen = None;
        }
    }
}

impl Store {
    /// In which order hunts come.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_order(&self) -> Result<HuntOrder, StoreError> {
        if let Some(order) = self.shares.young() {
            return Ok(order);
        }
        let at = Instant::now();
        let rows = sqlx::query!(
            r#"
            SELECT s.hunt_id AS "hunt!", s.priority AS "priority!", s.weight AS "weight!", s.n_leased AS "n_leased!",
                s.n_cores AS "n_cores!", s.is_owed_its_first AS "is_owed_its_first!",
                (SELECT count(*) FROM workers WHERE gone_at IS NULL) AS "n_workers!"
            FROM hunt_shares s
            "#
        )
        .fetch_all(&self.pool)
        .await?;
        let n_leased: i64 = rows.iter().map(|row| row.n_leased).sum();
        let n_workers = rows.first().map_or(0, |row| row.n_workers);
        #[expect(clippy::cast_precision_loss, reason = "leases of one farm")]
        let hunts = rows.into_iter().map(|row| HuntShare {
            hunt: row.hunt,
            priority: row.priority,
            weight: row.weight.into(),
            n_leased: row.n_leased as f64,
            n_cores: row.n_cores,
            is_owed_its_first: row.is_owed_its_first,
        });
        let seen = Seen {
            at,
            is_small: n_leased + n_workers <= SMALL,
            hunts: hunts.collect(),
        };
        let order = seen.order();
        *self.shares.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hunt: i64, priority: i32, weight: f64, n_cores: f64) -> HuntShare {
        HuntShare {
            hunt,
            priority,
            weight,
            n_leased: n_cores,
            n_cores,
            is_owed_its_first: false,
        }
    }

    fn seen(hunts: Vec<HuntShare>) -> Seen {
        Seen {
            at: Instant::now(),
            is_small: false,
            hunts,
        }
    }

    fn order(seen: &Seen) -> Vec<(i64, i32)> {
        let order = seen.order();
        order.hunts.into_iter().zip(order.places).collect()
    }

    #[test]
    fn the_class_comes_before_the_cores_and_level_hunts_share_a_place() {
        let hunts = vec![
            share(1, 0, 1.0, 100.0),
            share(2, 0, 3.0, 300.0),
            share(3, 5, 1.0, 900.0),
            share(4, 0, 1.0, 10.0),
        ];
        assert_eq!(order(&seen(hunts)), [(3, 0), (4, 1), (1, 2), (2, 2)]);
    }

    #[test]
    fn who_has_nothing_and_should_have_something_comes_before_every_class() {
        let mut hunts = vec![share(1, 0, 1.0, 0.0), share(2, 9, 1.0, 50.0)];
        hunts[0].is_owed_its_first = true;
        let mut seen = seen(hunts);
        assert_eq!(order(&seen), [(1, 0), (2, 1)]);
        assert!(seen.add(1));
        assert_eq!(order(&seen), [(2, 0), (1, 1)]);
    }

    #[test]
    fn grants_between_two_looks_are_shared_as_if_each_were_looked_at() {
        let mut seen = seen(vec![share(1, 0, 1.0, 1_000.0), share(2, 0, 3.0, 0.0)]);
        seen.hunts[0].n_leased = 1_000.0;
        for _ in 0..4_000 {
            let first = seen.order().hunts[0];
            assert!(seen.add(first));
        }
        let per_weight = |idx: usize| seen.hunts[idx].n_cores / seen.hunts[idx].weight;
        let ratio = per_weight(0) / per_weight(1);
        assert!((0.79..=1.26).contains(&ratio), "{ratio}");
        assert!(!seen.add(7), "a hunt that was asked for since");
    }
}
