//! The worker: takes jobs from a coordinator, searches on every core, and reports what it finds.
//!
//! The way of a job: [`driver`] acquires a lease; a [`holder`] puts the job's shards before the search threads
//! ([`run`](mod@run)), and hands what each finds to the [`uploads`], which keep it in the [`spool`] until the coordinator has
//! stored it; when all is stored the holder claims the job. Beside it the [`heartbeat`] renews the [`leases`] and hears
//! orders, and each lease's fence gives it up if no renewal came in time.
//!
//! This crate knows gRPC and the search; it knows no SQL, reads no environment, handles no signal and keeps nothing
//! global, so that a worker runs as well inside another program:
//!
//! ```no_run
//! # async fn example() -> Result<(), worker::WorkerError> {
//! let config = worker::Config::new("http://127.0.0.1:7400", "this-machine");
//! let shutdown = worker::Shutdown::default();
//! let (progress, _watcher) = tokio::sync::watch::channel(worker::Progress::default());
//! worker::run(config, shutdown, progress).await?;
//! # Ok(())
//! # }
//! ```

pub mod backoff;
pub mod client;
pub mod clock;
pub mod config;
pub mod door;
pub mod driver;
pub mod heartbeat;
pub mod holder;
pub mod leases;
pub mod link;
pub mod progress;
pub mod run;
pub mod self_test;
pub mod spool;
pub mod uploads;

pub use config::Config;
pub use driver::{Departure, Shutdown, WorkerError, run};
pub use progress::Progress;
pub use run::{seeds, shards::replay};
