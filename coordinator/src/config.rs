//! What a coordinator is told at its start. Where that comes from (flags, environment, file) is not known here.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use board::StateLimit;
use time::OffsetDateTime;

use crate::doors::DoorRules;
use crate::fitness::Version;
use crate::web::access::AccessRules;

/// What a coordinator is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where gRPC listens; port 0: any free one.
    pub listen: SocketAddr,
    /// Where pages, health and metrics listen; `None`: nowhere.
    pub web: Option<SocketAddr>,
    /// Who may look at the pages and act through them.
    pub access: AccessRules,
    /// How the doors are shut.
    pub doors: DoorRules,
    /// How long a lease lasts from each renewal.
    pub lease_ttl: Duration,
    /// How often workers are told to beat.
    pub beat_interval: Duration,
    /// How often expired leases and spent hunts are looked for.
    pub reap_interval: Duration,
    /// An attempt more than this many failed, and the job is parked.
    pub max_failures: u32,
    /// With so many wrong batches a worker is quarantined.
    pub max_strikes: u32,
    /// A lease whose work stood still for so many beats is asked for a checkpoint, and taken away [`STALL_GRACE_BEATS`]
    /// later.
    pub stall_beats: u32,
    /// How jobs are cut.
    pub sizing: Sizing,
    /// How boards are proved.
    pub proving: Proving,
    /// How claims are checked by running jobs again.
    pub auditing: Auditing,
    /// Which programs may search.
    pub versions: Demands,
    /// Batches that may be on their way to the database at once; more are sent away to come again.
    pub max_submits: usize,
}

/// Beats that a stalled lease has after it was asked for a checkpoint.
pub const STALL_GRACE_BEATS: u32 = 2;

/// How claims are checked: which share of the jobs done is run again by another worker, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Auditing {
    /// Of workers that are known. Of ranges of a census none for this: what share of them is counted twice is the
    /// census' own affair.
    pub share: f64,
    /// Of workers that have done fewer than `n_new` jobs.
    pub new_share: f64,
    /// So many jobs make a worker known.
    pub n_new: u32,
    /// Of workers that anything is held against.
    pub suspect_share: f64,
}

/// Which program versions may search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Nothing is leased below this version.
    pub minimum: Option<Version>,
    /// What will be the minimum, and when.
    pub next: Option<(Version, OffsetDateTime)>,
}

/// How jobs are cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// How long a job should take its worker.
    pub target: Duration,
    /// Shards of a job; what a worker spreads over its threads.
    pub n_shards: u32,
    /// Clusters of more positions than this are given up.
    pub max_states: u64,
}

/// How boards are proved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proving {
    /// What share of the boards that may be new is proved again, from 0 to 1. Records always are.
    pub share: f64,
    /// Threads that prove.
    pub n_threads: usize,
    /// Batches of one credential (where none is asked for: of one worker) that may be waiting for proof, and a quarter of what
    /// may in all; more are sent away to come again.
    pub max_batches: usize,
    /// A board of a larger cluster than this is refused, since it cannot be proved.
    pub limit: StateLimit,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7400)),
            web: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 7401))),
            access: AccessRules::default(),
            doors: DoorRules::default(),
            lease_ttl: Duration::from_mins(1),
            beat_interval: Duration::from_secs(15),
            reap_interval: Duration::from_secs(5),
            max_failures: 5,
            max_strikes: 3,
            stall_beats: 40,
            sizing: Sizing::default(),
            proving: Proving::default(),
            auditing: Auditing::default(),
            versions: Demands::default(),
            max_submits: 64,
        }
    }
}

impl Default for Auditing {
    fn default() -> Auditing {
        Auditing {
            share: 0.05,
            new_share: 0.5,
            n_new: 10,
            suspect_share: 1.0,
        }
    }
}

impl Default for Sizing {
    fn default() -> Sizing {
        Sizing {
            target: Duration::from_mins(3),
            n_shards: 64,
            max_states: 300_000,
        }
    }
}

impl Default for Proving {
    fn default() -> Proving {
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get);
        Proving {
            share: 1.0,
            n_threads,
            // Half of what may be on its way to the database: no credential takes all of that.
            max_batches: (4 * n_threads).min(32),
            limit: StateLimit::new(20_000_000),
        }
    }
}

impl Config {
    /// For a coordinator inside a program that hunts on one machine: any free port, beats and jobs short enough that
    /// a person sees progress, a small share proved again, since the worker is the same program.
    pub fn embedded() -> Config {
        Config {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            web: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            beat_interval: Duration::from_secs(2),
            lease_ttl: Duration::from_secs(20),
            reap_interval: Duration::from_secs(1),
            // As long as the usual forty beats of fifteen seconds.
            stall_beats: 300,
            sizing: Sizing {
                target: Duration::from_secs(20),
                ..Sizing::default()
            },
            proving: Proving {
                share: 0.05,
                ..Proving::default()
            },
            ..Config::default()
        }
    }
}
