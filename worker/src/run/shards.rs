//! Jobs cut into seeded shards: each shard a task of the search pool, its outcome sent to whoever holds the job.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use board::job::{Counters, JobResult, JobSpec, ShardEnd, Tally};
use tokio::sync::mpsc;

use super::gauge::Gauge;
use super::{SearchPool, SearchPoolError, message_of, spread};
use crate::clock;

/// What becomes of a shard.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one for each shard, taken apart where it arrives; failures are the rare ones"
)]
pub enum ShardNews {
    /// It ran, to its end or until it was stopped.
    Ended(ShardEnd),
    /// It cannot be carried out, for this reason: it says so itself, or it panicked, which is a bug in the engine.
    Failed(String),
}

/// Puts all shards of a job before the pool. `begun` is let go of when the last shard has begun; the receiver ends when
/// the last has ended; dropping it stops the job.
pub fn start<T: Send + Sync + 'static>(
    pool: &Arc<SearchPool>,
    spec: &Arc<JobSpec>,
    gauge: &Arc<Gauge>,
    begun: T,
) -> mpsc::Receiver<ShardNews> {
    let spec = Arc::clone(spec);
    spread(pool, spec.n_shards(), gauge, begun, move |pool, shard, gauge| {
        run_shard(pool, &spec, shard, gauge)
    })
}

fn run_shard(pool: &SearchPool, spec: &JobSpec, shard: u32, gauge: &Gauge) -> ShardNews {
    let mut before = Counters::default();
    let mut go_on = |now: &Counters| {
        gauge.advance(&before, now);
        before = *now;
        !gauge.is_stopped()
    };
    let search = || pool.with_explorer(|explorer| spec.run_shard_while(shard, explorer, &mut go_on));
    let begun = clock::thread_cpu();
    let ended = catch_unwind(AssertUnwindSafe(search));
    gauge.note_cpu(clock::thread_cpu().saturating_sub(begun));
    match ended {
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
