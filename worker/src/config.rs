//! What a worker is told: whom it works for, with how many threads, and its limits.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::door::Door;

/// The most threads a worker may search on.
pub const MAX_THREADS: usize = 1_024;

/// The most jobs a worker may hold at once.
pub const MAX_SLOTS: u32 = 64;

/// The longest worker name, in characters: the contract's limit.
pub const MAX_NAME_CHARS: usize = 100;

/// The settings of a worker; [`check`](Config::check) is called by [`run`](crate::run()).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The coordinator's address, such as `https://coordinator.example:7400`.
    pub coordinator: String,
    /// What it shows at the coordinator's door.
    pub door: Door,
    /// A label, need not be unique; 1 to [`MAX_NAME_CHARS`] characters.
    pub name: String,
    /// Threads to search on; 0 stands for one for each processor.
    pub n_threads: usize,
    /// Jobs to hold at once, 1 to [`MAX_SLOTS`]. With two or more, the threads that the last shards of a job leave idle
    /// begin the next job, and a job whose boards are not acknowledged yet holds nothing up.
    pub n_slots: u32,
    /// Where boards are kept until they are acknowledged; `None` keeps them in memory, so that they die with the
    /// process.
    pub spool_dir: Option<PathBuf>,
    /// The most bytes in the spool; a full one stops the search until the coordinator takes boards again.
    pub max_spool_bytes: u64,
    /// How long a worker that was told to leave may take to hand in what it has.
    pub drain_grace: Duration,
    /// Where beats run.
    pub beats: Beats,
}

/// Where beats run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beats {
    /// On a thread, a runtime and a connection of their own, which nothing else can hold up.
    #[default]
    OwnThread,
    /// With everything else: for a worker inside a simulation, whose clock and network are the runtime's.
    Shared,
}

impl Config {
    /// The usual settings for a coordinator at this address.
    pub fn new(coordinator: impl Into<String>, name: impl Into<String>) -> Config {
        Config {
            coordinator: coordinator.into(),
            door: Door::default(),
            name: name.into(),
            n_threads: 0,
            n_slots: 2,
            spool_dir: None,
            max_spool_bytes: 1024 * 1024 * 1024,
            drain_grace: Duration::from_secs(30),
            beats: Beats::default(),
        }
    }

    /// Refuses settings that make no worker.
    ///
    /// # Errors
    /// A [`ConfigError`] naming the first of them.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=MAX_NAME_CHARS).contains(&self.name.chars().count()) {
            return Err(ConfigError::Name(self.name.clone()));
        }
        if self.n_threads > MAX_THREADS {
            return Err(ConfigError::Threads(self.n_threads));
        }
        if !(1..=MAX_SLOTS).contains(&self.n_slots) {
            return Err(ConfigError::Slots(self.n_slots));
        }
        Ok(())
    }

    /// The number of threads, 1 or more.
    pub fn threads(&self) -> usize {
        match self.n_threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n_threads => n_threads,
        }
    }
}

/// Why settings were refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The name is empty or too long.
    #[error("worker name {0:?}, expected 1 to {MAX_NAME_CHARS} characters")]
    Name(String),
    /// Too many threads.
    #[error("{0} threads, expected at most {MAX_THREADS}")]
    Threads(usize),
    /// No slots, or too many.
    #[error("{0} slots, expected 1 to {MAX_SLOTS}")]
    Slots(u32),
}
