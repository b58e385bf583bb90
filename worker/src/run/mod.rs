//! Runs jobs on the search threads: a rayon pool of their own, on which no async task ever runs.
//!
//! One file a way of running: jobs over boards are cut into shards ([`shards`]), those over jams into seeds ([`seeds`]).

pub mod gauge;
pub mod seeds;
pub mod shards;

use std::sync::{Arc, Mutex, PoisonError};

use board::cluster::Explorer;
use thiserror::Error;
use tokio::sync::mpsc;

use gauge::Gauge;

/// Outcomes that may wait for the holder of a job; then the search waits for it.
const MAX_WAITING_OUTCOMES: usize = 4;

/// The threads that search, and the explorers whose buffers they take turns with.
#[derive(Debug)]
pub struct SearchPool {
    threads: rayon::ThreadPool,
    explorers: Mutex<Vec<Explorer>>,
}

/// Why there are no search threads.
#[derive(Debug, Error)]
#[error("cannot start {n_threads} search threads")]
pub struct SearchPoolError {
    n_threads: usize,
    source: rayon::ThreadPoolBuildError,
}

impl SearchPool {
    /// Starts this many threads; they end when the pool is dropped.
    ///
    /// # Errors
    /// When the system refuses the threads.
    pub fn start(n_threads: usize) -> Result<SearchPool, SearchPoolError> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .thread_name(|idx| format!("search-{idx}"))
            .build()
            .map_err(|source| SearchPoolError { n_threads, source })?;
        Ok(SearchPool {
            threads,
            explorers: Mutex::new(Vec::new()),
        })
    }

    /// How many threads there are.
    pub fn n_threads(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Lends an explorer for the length of a call. There are never more of them than threads.
    fn with_explorer<T>(&self, search: impl FnOnce(&mut Explorer) -> T) -> T {
        // A search that panicked took its explorer with it, so a poisoned list is whole all the same.
        let lent = self
            .explorers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut explorer = lent.unwrap_or_default();
        let outcome = search(&mut explorer);
        self.explorers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(explorer);
        outcome
    }
}

/// Puts all parts of a job before the pool, which takes them in order, behind those of earlier jobs.
///
/// `begun` is let go of when the last part has begun (or was passed over): whoever waits for that may bring the next job,
/// for threads that are idle while the last parts run. The receiver ends when the last part has ended. A stopped job's
/// parts still waiting send nothing. Dropping the receiver stops the job.
fn spread<B: Send + Sync + 'static, N: Send + 'static>(
    pool: &Arc<SearchPool>,
    n_parts: u32,
    gauge: &Arc<Gauge>,
    begun: B,
    run: impl Fn(&SearchPool, u32, &Gauge) -> N + Send + Sync + 'static,
) -> mpsc::Receiver<N> {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_OUTCOMES);
    let (begun, run) = (Arc::new(begun), Arc::new(run));
    for part in 0..n_parts {
        let (lent, run, gauge, sender) = (pool.clone(), run.clone(), gauge.clone(), sender.clone());
        let begun = Arc::clone(&begun);
        pool.threads.spawn_fifo(move || {
            drop(begun);
            if gauge.is_stopped() {
                return;
            }
            let news = run(&lent, part, &gauge);
            // Blocks this search thread while the holder cannot take more: that is the back-pressure.
            if sender.blocking_send(news).is_err() {
                gauge.stop();
            }
        });
    }
    receiver
}

/// What a panic said.
fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic without a message".to_owned())
}
