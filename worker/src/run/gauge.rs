//! How far a job is, and the word to stop it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use board::Par;
use board::job::Counters;

/// The word to stop, and how far a job is: shared between its search threads, its holder and the heartbeat.
#[derive(Debug, Default)]
pub struct Gauge {
    is_stopped: AtomicBool,
    iterations: AtomicU64,
    positions: AtomicU64,
    clusters: AtomicU64,
    cpu_micros: AtomicU64,
    /// The largest par plus one; 0: none.
    best_par: AtomicU32,
}

impl Gauge {
    /// Tells the search to stop at its next iteration. For good.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Iterations done so far, in all shards.
    pub fn iterations(&self) -> u64 {
        self.iterations.load(Ordering::Relaxed)
    }

    /// Positions explored so far, in all shards.
    pub fn positions(&self) -> u64 {
        self.positions.load(Ordering::Relaxed)
    }

    /// Clusters explored so far, in all shards.
    pub fn clusters(&self) -> u64 {
        self.clusters.load(Ordering::Relaxed)
    }

    /// Processor time of the shards that have ended.
    pub fn cpu(&self) -> Duration {
        Duration::from_micros(self.cpu_micros.load(Ordering::Relaxed))
    }

    /// Notes the processor time of a shard.
    pub(super) fn note_cpu(&self, cpu: Duration) {
        let micros = u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX);
        self.cpu_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The largest par of the shards that have ended.
    pub fn best_par(&self) -> Option<Par> {
        let stored = self.best_par.load(Ordering::Relaxed);
        stored
            .checked_sub(1)
            .map(|slides| Par::new(u16::try_from(slides).expect("stored from a par")))
    }

    /// Notes the largest par of a shard.
    pub fn note_par(&self, par: Par) {
        self.best_par
            .fetch_max(u32::from(par.get()) + 1, Ordering::Relaxed);
    }

    /// Notes what a part of the job did since it was noted last.
    pub(super) fn advance(&self, before: &Counters, now: &Counters) {
        self.iterations
            .fetch_add(now.iterations - before.iterations, Ordering::Relaxed);
        self.positions
            .fetch_add(now.positions - before.positions, Ordering::Relaxed);
        self.clusters
            .fetch_add(now.clusters - before.clusters, Ordering::Relaxed);
    }
}
