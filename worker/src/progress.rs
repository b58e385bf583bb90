//! What a worker has done since it started, for whoever watches it: totals, never differences.

use std::sync::Arc;

use board::Par;
use board::canonical::Canonical;
use board::cluster::Found;
use board::job::Counters;
use proto::convert::Ack;
use tokio::sync::watch;

/// Totals since the worker started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether the coordinator has ever taken this worker.
    pub is_welcome: bool,
    /// Jobs completed.
    pub jobs_completed: u64,
    /// Jobs given back.
    pub jobs_released: u64,
    /// Jobs whose lease was lost.
    pub jobs_lost: u64,
    /// What the shards that ended did.
    pub counters: Counters,
    /// Boards that were stored for the first time.
    pub boards_inserted: u64,
    /// Boards that were known to the coordinator.
    pub boards_duplicate: u64,
    /// Of these, boards that were named by their hashes.
    pub boards_by_hash: u64,
    /// Boards that the coordinator refused.
    pub boards_rejected: u64,
    /// The hardest board found.
    pub hardest: Option<(Par, Canonical)>,
}

/// Where a worker's parts report to. Clones report to the same place.
#[derive(Clone, Debug)]
pub struct Reporter(Arc<watch::Sender<Progress>>);

impl Reporter {
    /// A reporter to whoever holds the sender's receivers.
    pub fn new(sender: watch::Sender<Progress>) -> Reporter {
        Reporter(Arc::new(sender))
    }

    /// What there is now.
    pub(crate) fn totals(&self) -> Progress {
        self.0.borrow().clone()
    }

    pub(crate) fn welcomed(&self) {
        self.0.send_modify(|progress| progress.is_welcome = true);
    }

    pub(crate) fn shard_ended(&self, counters: &Counters, hardest: Option<&Found>) {
        self.0.send_modify(|progress| {
            progress.counters += *counters;
            let best = progress.hardest.as_ref().map(|&(par, _)| par);
            if let Some(found) = hardest.filter(|found| Some(found.par) > best) {
                progress.hardest = Some((found.par, found.canonical.clone()));
            }
        });
    }

    pub(crate) fn completed(&self) {
        self.0.send_modify(|progress| progress.jobs_completed += 1);
    }

    pub(crate) fn released(&self) {
        self.0.send_modify(|progress| progress.jobs_released += 1);
    }

    pub(crate) fn lost(&self) {
        self.0.send_modify(|progress| progress.jobs_lost += 1);
    }

    pub(crate) fn acknowledged(&self, ack: &Ack) {
        self.0.send_modify(|progress| {
            progress.boards_inserted += u64::from(ack.n_inserted);
            progress.boards_duplicate += u64::from(ack.n_duplicate);
            progress.boards_rejected += ack.rejected.len() as u64;
        });
    }

    pub(crate) fn named_by_hash(&self, n_boards: usize) {
        self.0
            .send_modify(|progress| progress.boards_by_hash += n_boards as u64);
    }

    pub(crate) fn refused(&self, n_boards: usize) {
        self.0
            .send_modify(|progress| progress.boards_rejected += n_boards as u64);
    }
}
