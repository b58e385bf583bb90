//! Runs jobs on the search threads: a rayon pool of their own, on which no async task ever runs.
//!
//! One file a way of running. Scatter and anneal jobs are both cut into seeded shards ([`shards`]).

pub mod shards;

use std::sync::{Mutex, PoisonError};

use board::cluster::Explorer;
use thiserror::Error;

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
