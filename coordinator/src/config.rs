//! What a coordinator is told at its start. Where that comes from (flags, environment, file) is not known here.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::thread;
use std::time::Duration;

use board::StateLimit;

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
    /// How jobs are cut.
    pub sizing: Sizing,
    /// How boards are proved.
    pub proving: Proving,
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
    /// Batches that may be waiting for proof; more are sent away to come again.
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
            lease_ttl: Duration::from_mins(1),
            beat_interval: Duration::from_secs(15),
            reap_interval: Duration::from_secs(5),
            max_failures: 5,
            max_strikes: 3,
            sizing: Sizing::default(),
            proving: Proving::default(),
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
            max_batches: 4 * n_threads,
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
