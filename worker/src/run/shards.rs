//! Jobs cut into seeded shards: each shard a task of the search pool, its outcome sent to whoever holds the job.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use board::Par;
use board::job::{Counters, JobResult, JobSpec, ShardEnd, Tally};
use tokio::sync::mpsc;

use super::{SearchPool, SearchPoolError};

/// Outcomes that may wait for the holder of a job; then the search waits for it.
const MAX_WAITING_OUTCOMES: usize = 4;

/// The word to stop, and how far a job is: shared between its search threads, its holder and the heartbeat.
#[derive(Debug, Default)]
pub struct Gauge {
    is_stopped: AtomicBool,
    iterations: AtomicU64,
    positions: AtomicU64,
    clusters: AtomicU64,
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

    fn advance(&self, before: &Counters, now: &Counters) {
        self.iterations
            .fetch_add(now.iterations - before.iterations, Ordering::Relaxed);
        self.positions
            .fetch_add(now.positions - before.positions, Ordering::Relaxed);
        self.clusters
            .fetch_add(now.clusters - before.clusters, Ordering::Relaxed);
    }
}

/// What becomes of a shard.
#[derive(Debug)]
pub enum ShardNews {
    /// It ran, to its end or until it was stopped.
    Ended(ShardEnd),
    /// It cannot be carried out, for this reason: it says so itself, or it panicked, which is a bug in the engine.
    Failed(String),
}

/// Puts all shards of a job before the pool, which takes them in order, behind those of earlier jobs.
///
/// `begun` is let go of when the last shard has begun (or was passed over): whoever waits for that may bring the next job,
/// for threads that are idle while the last shards run. The receiver ends when the last shard has ended. A stopped job's shards still waiting send nothing. Dropping the
/// receiver stops the job.
pub fn start<T: Send + Sync + 'static>(
    pool: &Arc<SearchPool>,
    spec: &Arc<JobSpec>,
    gauge: &Arc<Gauge>,
    begun: T,
) -> mpsc::Receiver<ShardNews> {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_OUTCOMES);
    let begun = Arc::new(begun);
    for shard in 0..spec.n_shards() {
        let (lent, spec, gauge, sender) = (pool.clone(), spec.clone(), gauge.clone(), sender.clone());
        let begun = Arc::clone(&begun);
        pool.threads.spawn_fifo(move || {
            drop(begun);
            if gauge.is_stopped() {
                return;
            }
            let news = run_shard(&lent, &spec, shard, &gauge);
            // Blocks this search thread while the holder cannot take more: that is the back-pressure.
            if sender.blocking_send(news).is_err() {
                gauge.stop();
            }
        });
    }
    receiver
}

fn run_shard(pool: &SearchPool, spec: &JobSpec, shard: u32, gauge: &Gauge) -> ShardNews {
    let mut before = Counters::default();
    let mut go_on = |now: &Counters| {
        gauge.advance(&before, now);
        before = *now;
        !gauge.is_stopped()
    };
    let search = || pool.with_explorer(|explorer| spec.run_shard_while(shard, explorer, &mut go_on));
    match catch_unwind(AssertUnwindSafe(search)) {
        Ok(ShardEnd::Failed(reason)) => ShardNews::Failed(reason),
        Ok(end @ (ShardEnd::Complete(_) | ShardEnd::Stopped(_))) => {
            let (ShardEnd::Complete(outcome) | ShardEnd::Stopped(outcome)) = &end else {
                unreachable!("the arm above takes failures")
            };
            gauge.advance(&before, &outcome.counters);
            if let Some(hardest) = outcome.found.last() {
                gauge.note_par(hardest.par);
            }
            ShardNews::Ended(end)
        }
        Err(panic) => ShardNews::Failed(message_of(panic.as_ref())),
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic without a message".to_owned())
}

/// Runs a whole job on so many threads and waits for it: a replay.
///
/// # Errors
/// When the system refuses the threads.
///
/// # Panics
/// If a shard panics, or when called from an async task: it blocks.
pub fn replay(spec: &JobSpec, n_threads: usize) -> Result<JobResult, SearchPoolError> {
    let pool = Arc::new(SearchPool::start(n_threads)?);
    let mut news = start(&pool, &Arc::new(spec.clone()), &Arc::new(Gauge::default()), ());
    let mut tally = Tally::default();
    let mut found = Vec::new();
    while let Some(news) = news.blocking_recv() {
        match news {
            ShardNews::Ended(ShardEnd::Complete(outcome)) => found.extend(tally.absorb(outcome)),
            ShardNews::Ended(ShardEnd::Stopped(_) | ShardEnd::Failed(_)) => {
                unreachable!("nobody stops a replay, and failures are told apart")
            }
            ShardNews::Failed(message) => panic!("shard of a replay failed: {message}"),
        }
    }
    Ok(tally.into_result(found))
}
