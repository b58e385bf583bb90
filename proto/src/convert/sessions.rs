//! How a worker says hello, and what it hears.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{
    Directive, MAX_DETAIL_CHARS, MAX_LABEL_CHARS, MAX_LEASES, MAX_THREADS, WireError, cut, duration, label,
    list, millis, within,
};
use crate::ids::{Incarnation, Session};
use crate::v1;

/// A worker's first words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Label for people.
    pub worker_name: String,
    /// This start of the process.
    pub incarnation: Incarnation,
    /// Protocol versions it speaks.
    pub protocol: RangeInclusive<u32>,
    /// Its engine version.
    pub engine: String,
    /// Its program version.
    pub program_version: String,
    /// Jobs it runs at once.
    pub n_slots: u32,
    /// Threads it searches on, over all slots.
    pub n_threads: u32,
    /// The processor's name.
    pub cpu: String,
    /// Digest of the self-test; empty: not run.
    pub self_test: Vec<u8>,
}

impl From<Hello> for v1::HelloRequest {
    fn from(hello: Hello) -> v1::HelloRequest {
        v1::HelloRequest {
            worker_name: hello.worker_name,
            incarnation: hello.incarnation.to_string(),
            protocol_first: *hello.protocol.start(),
            protocol_last: *hello.protocol.end(),
            engine: hello.engine,
            program_version: hello.program_version,
            n_slots: hello.n_slots,
            n_threads: hello.n_threads,
            cpu: hello.cpu,
            self_test_digest: hello.self_test,
        }
    }
}

impl TryFrom<v1::HelloRequest> for Hello {
    type Error = WireError;

    fn try_from(wire: v1::HelloRequest) -> Result<Hello, WireError> {
        Ok(Hello {
            worker_name: label("worker_name", wire.worker_name, 1)?,
            incarnation: Incarnation::parse(&wire.incarnation)?,
            protocol: wire.protocol_first..=wire.protocol_last,
            engine: label("engine", wire.engine, 1)?,
            program_version: label("program_version", wire.program_version, 0)?,
            n_slots: within("n_slots", wire.n_slots, 1, MAX_LEASES)?,
            n_threads: within("n_threads", wire.n_threads, 1, MAX_THREADS)?,
            cpu: label("cpu", wire.cpu, 0)?,
            self_test: list("self_test_digest", wire.self_test_digest, 64)?,
        })
    }
}

/// The coordinator's answer to [`Hello`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// What to show with every call.
    pub session: Session,
    /// The protocol version to speak.
    pub protocol: u32,
    /// How long a lease lasts from each renewal.
    pub lease_ttl: Duration,
    /// How often to beat.
    pub beat_interval: Duration,
    /// The most boards in one batch.
    pub max_boards_per_batch: usize,
    /// Which program versions the farm takes.
    pub versions: Versions,
    /// What the worker is to do.
    pub directive: Directive,
    /// Why nothing is leased to this program, and what to run; `None`: it may acquire.
    pub refusal: Option<String>,
    /// Whether known boards may be handed in by their hashes.
    pub takes_hashes: bool,
}

/// Which program versions a farm takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// Below this nothing is leased; empty: no demand.
    pub minimum: String,
    /// What will be the minimum; empty: nothing is announced.
    pub next: String,
    /// When that will be, from when the answer was made; `None`: no date.
    pub deadline: Option<Duration>,
}

impl From<Welcome> for v1::HelloResponse {
    fn from(welcome: Welcome) -> v1::HelloResponse {
        v1::HelloResponse {
            session: welcome.session.to_string(),
            protocol: welcome.protocol,
            lease_ttl_ms: millis(welcome.lease_ttl),
            beat_interval_ms: millis(welcome.beat_interval),
            max_boards_per_batch: u32::try_from(welcome.max_boards_per_batch).unwrap_or(u32::MAX),
            versions: Some(v1::Versions {
                minimum: welcome.versions.minimum,
                next: welcome.versions.next,
                deadline_s: welcome.versions.deadline.map_or(0, |left| left.as_secs().max(1)),
            }),
            directive: welcome.directive.to_wire(),
            refusal: welcome.refusal.unwrap_or_default(),
            takes_hashes: welcome.takes_hashes,
        }
    }
}

impl TryFrom<v1::HelloResponse> for Welcome {
    type Error = WireError;

    fn try_from(wire: v1::HelloResponse) -> Result<Welcome, WireError> {
        Ok(Welcome {
            session: Session::parse(&wire.session)?,
            protocol: wire.protocol,
            lease_ttl: duration(within("lease_ttl_ms", wire.lease_ttl_ms, 1, u32::MAX)?),
            beat_interval: duration(within("beat_interval_ms", wire.beat_interval_ms, 1, u32::MAX)?),
            max_boards_per_batch: within("max_boards_per_batch", wire.max_boards_per_batch, 1, u32::MAX)?
                as usize,
            versions: Versions::from(wire.versions.unwrap_or_default()),
            directive: Directive::from_wire(wire.directive)?,
            refusal: Some(cut(&wire.refusal, MAX_DETAIL_CHARS)).filter(|refusal| !refusal.is_empty()),
            takes_hashes: wire.takes_hashes,
        })
    }
}

impl From<v1::Versions> for Versions {
    fn from(wire: v1::Versions) -> Versions {
        Versions {
            minimum: cut(&wire.minimum, MAX_LABEL_CHARS),
            next: cut(&wire.next, MAX_LABEL_CHARS),
            deadline: (wire.deadline_s > 0).then(|| Duration::from_secs(wire.deadline_s)),
        }
    }
}
