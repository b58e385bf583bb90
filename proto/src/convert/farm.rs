//! What workers say and hear.

use std::ops::RangeInclusive;
use std::time::Duration;

use board::Par;
use board::cluster::Found;
use board::job::{Counters, JobDigest, JobSpec};

use super::{
    MAX_DETAIL_CHARS, MAX_LEASES, MAX_SPELLING_BYTES, WireError, checkpoint, cut, label, list, small, within,
};
use crate::ids::{BatchId, FencingToken, HuntId, Incarnation, JobId, RequestId, Session};
use crate::{MAX_ACQUIRE_WAIT_MS, MAX_BOARDS_PER_BATCH, v1};

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident = $wire:path, $field:literal { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// As the database and the command line spell it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// The value of this spelling.
            pub fn parse(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }

            /// As the wire numbers it.
            pub fn to_wire(self) -> i32 {
                match self {
                    $($name::$variant => <$wire>::$variant.into(),)+
                }
            }

            /// The value of this number.
            ///
            /// # Errors
            /// [`WireError`] if the number is 0 or unknown.
            pub fn from_wire(value: i32) -> Result<$name, WireError> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|known| known.to_wire() == value)
                    .ok_or(WireError::UnknownValue { field: $field, value })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

wire_enum!(
    /// Kinds of job.
    JobKind = v1::JobKind, "kind" {
        /// Random boards.
        Scatter = "scatter",
        /// Simulated annealing.
        Anneal = "anneal",
        /// Exhaustive.
        Census = "census",
        /// Proves again.
        Audit = "audit",
    }
);
wire_enum!(
    /// What a whole worker is to do.
    Directive = v1::Directive, "directive" {
        /// Go on.
        Run = "run",
        /// Finish what is running, take nothing more.
        Drain = "drain",
        /// Release everything and leave.
        Stop = "stop",
        /// As stop; a newer program is needed.
        Upgrade = "upgrade",
    }
);
wire_enum!(
    /// What the holder of a lease is to do.
    LeaseAction = v1::LeaseAction, "action" {
        /// Go on; the lease is renewed.
        Continue = "continue",
        /// Send a checkpoint with the next beat.
        Checkpoint = "checkpoint",
        /// Checkpoint and release.
        Pause = "pause",
        /// Stop and release.
        Cancel = "cancel",
        /// The lease is another's: stop and claim nothing.
        Lost = "lost",
    }
);
wire_enum!(
    /// What became of a write under a lease.
    LeaseOutcome = v1::LeaseOutcome, "outcome" {
        /// It was done.
        Accepted = "accepted",
        /// The lease was another's; nothing changed.
        Lost = "lost",
    }
);
wire_enum!(
    /// Why a worker gives a job back.
    ReleaseReason = v1::ReleaseReason, "reason" {
        /// It leaves.
        Drain = "drain",
        /// It was told to pause.
        Paused = "paused",
        /// It was told to cancel.
        Cancelled = "cancelled",
        /// The job failed.
        Error = "error",
        /// It cannot run the specification.
        Unsupported = "unsupported",
    }
);
wire_enum!(
    /// Why a board was refused.
    RejectCode = v1::RejectCode, "code" {
        /// It is not a legal board.
        NotABoard = "not_a_board",
        /// It is spelled another way.
        NotCanonical = "not_canonical",
        /// It does not stand for its cluster.
        NotRepresentative = "not_representative",
        /// Its par is another.
        WrongPar = "wrong_par",
        /// It has no solution.
        Unsolvable = "unsolvable",
        /// Its cluster is too large to prove.
        TooLarge = "too_large",
        /// Its cluster's size or its minimality is another.
        WrongCluster = "wrong_cluster",
        /// It does not lie in the job's space.
        OutsideJob = "outside_job",
    }
);

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
            n_threads: within("n_threads", wire.n_threads, 1, 65_536)?,
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
    /// What the worker is to do.
    pub directive: Directive,
}

impl From<Welcome> for v1::HelloResponse {
    fn from(welcome: Welcome) -> v1::HelloResponse {
        v1::HelloResponse {
            session: welcome.session.to_string(),
            protocol: welcome.protocol,
            lease_ttl_ms: millis(welcome.lease_ttl),
            beat_interval_ms: millis(welcome.beat_interval),
            max_boards_per_batch: u32::try_from(welcome.max_boards_per_batch).unwrap_or(u32::MAX),
            versions: Some(v1::Versions::default()),
            directive: welcome.directive.to_wire(),
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
            directive: Directive::from_wire(wire.directive)?,
        })
    }
}

/// A wish for jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquire {
    /// Repeated, it is answered alike.
    pub request: RequestId,
    /// Who asks.
    pub session: Session,
    /// The most leases wanted.
    pub n_free_slots: u32,
    /// Kinds it can run; never empty.
    pub kinds: Vec<JobKind>,
    /// How long the server may wait for work.
    pub wait: Duration,
}

impl From<Acquire> for v1::AcquireRequest {
    fn from(acquire: Acquire) -> v1::AcquireRequest {
        v1::AcquireRequest {
            request_id: acquire.request.to_string(),
            session: acquire.session.to_string(),
            free_slots: acquire.n_free_slots,
            kinds: acquire.kinds.into_iter().map(JobKind::to_wire).collect(),
            wait_ms: millis(acquire.wait),
        }
    }
}

impl TryFrom<v1::AcquireRequest> for Acquire {
    type Error = WireError;

    fn try_from(wire: v1::AcquireRequest) -> Result<Acquire, WireError> {
        let kinds = list("kinds", wire.kinds, 16)?;
        let kinds = if kinds.is_empty() {
            vec![JobKind::Scatter, JobKind::Anneal]
        } else {
            // A kind that only a newer worker knows is none that this coordinator hands out.
            kinds
                .into_iter()
                .filter_map(|kind| JobKind::from_wire(kind).ok())
                .collect()
        };
        Ok(Acquire {
            request: RequestId::parse(&wire.request_id)?,
            session: Session::parse(&wire.session)?,
            n_free_slots: within("free_slots", wire.free_slots, 1, MAX_LEASES)?,
            kinds,
            wait: duration(wire.wait_ms.min(MAX_ACQUIRE_WAIT_MS)),
        })
    }
}

/// The right to run a job until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Its hunt.
    pub hunt: HuntId,
    /// Names this lease among all of the job.
    pub token: FencingToken,
    /// From when the answer was made.
    pub expires_in: Duration,
    /// 1 at the first.
    pub attempt: u32,
    /// What to search.
    pub spec: JobSpec,
    /// Where an earlier attempt left off; `None`: from the start.
    pub checkpoint: Option<Vec<u8>>,
}

impl From<Lease> for v1::Lease {
    fn from(lease: Lease) -> v1::Lease {
        v1::Lease {
            job_id: lease.job.get(),
            hunt_id: lease.hunt.get(),
            token: lease.token.get(),
            expires_in_ms: millis(lease.expires_in),
            attempt: lease.attempt,
            spec: Some((&lease.spec).into()),
            checkpoint: lease.checkpoint,
        }
    }
}

impl TryFrom<v1::Lease> for Lease {
    type Error = WireError;

    fn try_from(wire: v1::Lease) -> Result<Lease, WireError> {
        Ok(Lease {
            job: JobId::new(wire.job_id)?,
            hunt: HuntId::new(wire.hunt_id)?,
            token: FencingToken::new(wire.token)?,
            expires_in: duration(wire.expires_in_ms),
            attempt: wire.attempt,
            spec: wire.spec.ok_or(WireError::Missing("spec"))?.try_into()?,
            checkpoint: checkpoint(wire.checkpoint)?,
        })
    }
}

/// A sign of life, with what each lease has done.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// Whose.
    pub session: Session,
    /// Grows with every beat.
    pub seq: u64,
    /// Every lease held.
    pub leases: Vec<LeaseBeat>,
}

/// What one lease has done.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseBeat {
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Iterations so far.
    pub work_done: u64,
    /// Positions explored a second since the last beat.
    pub rate: f64,
    /// The largest par so far.
    pub best_par: Option<Par>,
    /// Where a later attempt could go on.
    pub checkpoint: Option<Vec<u8>>,
}

impl From<Beat> for v1::HeartbeatRequest {
    fn from(beat: Beat) -> v1::HeartbeatRequest {
        v1::HeartbeatRequest {
            session: beat.session.to_string(),
            seq: beat.seq,
            leases: beat
                .leases
                .into_iter()
                .map(|lease| v1::LeaseBeat {
                    job_id: lease.job.get(),
                    token: lease.token.get(),
                    work_done: lease.work_done,
                    rate: lease.rate,
                    best_par: lease.best_par.map(|par| par.get().into()),
                    checkpoint: lease.checkpoint,
                })
                .collect(),
        }
    }
}

impl TryFrom<v1::HeartbeatRequest> for Beat {
    type Error = WireError;

    fn try_from(wire: v1::HeartbeatRequest) -> Result<Beat, WireError> {
        let leases = list("leases", wire.leases, MAX_LEASES as usize)?
            .into_iter()
            .map(LeaseBeat::try_from);
        Ok(Beat {
            session: Session::parse(&wire.session)?,
            seq: wire.seq,
            leases: leases.collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<v1::LeaseBeat> for LeaseBeat {
    type Error = WireError;

    fn try_from(wire: v1::LeaseBeat) -> Result<LeaseBeat, WireError> {
        Ok(LeaseBeat {
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            work_done: wire.work_done,
            // Not a number, endless or negative: a rate for people is not worth refusing a beat for.
            rate: if wire.rate.is_finite() {
                wire.rate.max(0.0)
            } else {
                0.0
            },
            best_par: wire
                .best_par
                .map(|par| small("best_par", par).map(Par::new))
                .transpose()?,
            checkpoint: checkpoint(wire.checkpoint)?,
        })
    }
}

/// What the holder of a lease is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseOrder {
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// What to do.
    pub action: LeaseAction,
    /// From when the answer was made; zero if lost.
    pub expires_in: Duration,
}

impl From<LeaseOrder> for v1::LeaseOrder {
    fn from(order: LeaseOrder) -> v1::LeaseOrder {
        v1::LeaseOrder {
            job_id: order.job.get(),
            token: order.token.get(),
            action: order.action.to_wire(),
            expires_in_ms: millis(order.expires_in),
        }
    }
}

impl TryFrom<v1::LeaseOrder> for LeaseOrder {
    type Error = WireError;

    fn try_from(wire: v1::LeaseOrder) -> Result<LeaseOrder, WireError> {
        Ok(LeaseOrder {
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            action: LeaseAction::from_wire(wire.action)?,
            expires_in: duration(wire.expires_in_ms),
        })
    }
}

/// A board and what somebody says about it: evidence, to be proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatedBoard {
    /// The stated par, in slides.
    pub par: u32,
    /// The stated canonical spelling of the representative; at most [`MAX_SPELLING_BYTES`] bytes.
    pub canonical: String,
    /// The stated number of positions in the cluster.
    pub states: u64,
    /// The stated minimality; `None`: not examined.
    pub minimal: Option<bool>,
}

impl From<&Found> for StatedBoard {
    fn from(found: &Found) -> StatedBoard {
        StatedBoard {
            par: found.par.get().into(),
            canonical: found.canonical.as_str().to_owned(),
            states: found.states,
            minimal: found.minimal,
        }
    }
}

impl From<StatedBoard> for v1::FoundBoard {
    fn from(board: StatedBoard) -> v1::FoundBoard {
        v1::FoundBoard {
            par: board.par,
            canonical: board.canonical,
            states: board.states,
            minimal: board.minimal,
        }
    }
}

impl TryFrom<v1::FoundBoard> for StatedBoard {
    type Error = WireError;

    fn try_from(wire: v1::FoundBoard) -> Result<StatedBoard, WireError> {
        let len = wire.canonical.len();
        if len > MAX_SPELLING_BYTES {
            return Err(WireError::Length {
                field: "canonical",
                len,
                unit: "bytes",
                low: 0,
                high: MAX_SPELLING_BYTES,
            });
        }
        Ok(StatedBoard {
            par: wire.par,
            canonical: wire.canonical,
            states: wire.states,
            minimal: wire.minimal,
        })
    }
}

/// Boards handed in together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Who hands them in.
    pub session: Session,
    /// Repeated, it is answered alike.
    pub id: BatchId,
    /// The job that found them.
    pub job: JobId,
    /// The lease that they were found under; it may have been lost since.
    pub token: FencingToken,
    /// At most [`MAX_BOARDS_PER_BATCH`].
    pub boards: Vec<StatedBoard>,
}

impl From<Batch> for v1::SubmitBoardsRequest {
    fn from(batch: Batch) -> v1::SubmitBoardsRequest {
        v1::SubmitBoardsRequest {
            session: batch.session.to_string(),
            batch_id: batch.id.to_string(),
            job_id: batch.job.get(),
            token: batch.token.get(),
            boards: batch.boards.into_iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::SubmitBoardsRequest> for Batch {
    type Error = WireError;

    fn try_from(wire: v1::SubmitBoardsRequest) -> Result<Batch, WireError> {
        let boards = list("boards", wire.boards, MAX_BOARDS_PER_BATCH)?
            .into_iter()
            .map(StatedBoard::try_from);
        Ok(Batch {
            session: Session::parse(&wire.session)?,
            id: BatchId::parse(&wire.batch_id)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            boards: boards.collect::<Result<_, _>>()?,
        })
    }
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Boards that nobody had found before.
    pub n_inserted: u32,
    /// Boards that were known.
    pub n_duplicate: u32,
    /// Boards that were refused, by place in the batch.
    pub rejected: Vec<Rejection>,
}

/// A board that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Its place in the batch.
    pub board_idx: u32,
    /// Why.
    pub code: RejectCode,
    /// What was found instead, for people.
    pub detail: String,
}

impl From<Ack> for v1::SubmitBoardsResponse {
    fn from(ack: Ack) -> v1::SubmitBoardsResponse {
        v1::SubmitBoardsResponse {
            inserted: ack.n_inserted,
            duplicate: ack.n_duplicate,
            rejected: ack
                .rejected
                .into_iter()
                .map(|rejection| v1::RejectedBoard {
                    index: rejection.board_idx,
                    code: rejection.code.to_wire(),
                    detail: rejection.detail,
                })
                .collect(),
        }
    }
}

impl TryFrom<v1::SubmitBoardsResponse> for Ack {
    type Error = WireError;

    fn try_from(wire: v1::SubmitBoardsResponse) -> Result<Ack, WireError> {
        let rejected = wire.rejected.into_iter().map(|rejection| {
            Ok(Rejection {
                board_idx: rejection.index,
                code: RejectCode::from_wire(rejection.code)?,
                detail: rejection.detail,
            })
        });
        Ok(Ack {
            n_inserted: wire.inserted,
            n_duplicate: wire.duplicate,
            rejected: rejected.collect::<Result<_, WireError>>()?,
        })
    }
}

/// A job carried out to its end: a claim, taken only from the holder of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Who claims.
    pub session: Session,
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Totals of the whole job.
    pub counters: Counters,
    /// What a replay must match.
    pub digest: JobDigest,
}

impl From<Completion> for v1::CompleteJobRequest {
    fn from(completion: Completion) -> v1::CompleteJobRequest {
        v1::CompleteJobRequest {
            session: completion.session.to_string(),
            job_id: completion.job.get(),
            token: completion.token.get(),
            counters: Some((&completion.counters).into()),
            digest: completion.digest.to_bytes().to_vec(),
        }
    }
}

impl TryFrom<v1::CompleteJobRequest> for Completion {
    type Error = WireError;

    fn try_from(wire: v1::CompleteJobRequest) -> Result<Completion, WireError> {
        let digest = <[u8; 16]>::try_from(wire.digest.as_slice()).map_err(|_| WireError::Length {
            field: "digest",
            len: wire.digest.len(),
            unit: "bytes",
            low: 16,
            high: 16,
        })?;
        Ok(Completion {
            session: Session::parse(&wire.session)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            counters: wire.counters.ok_or(WireError::Missing("counters"))?.into(),
            digest: JobDigest::from_bytes(digest),
        })
    }
}

/// A job given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Who gives it back.
    pub session: Session,
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Why.
    pub reason: ReleaseReason,
    /// For people; at most [`MAX_DETAIL_CHARS`] characters.
    pub detail: String,
    /// Where a later attempt could go on.
    pub checkpoint: Option<Vec<u8>>,
    /// Totals of the attempt.
    pub counters: Counters,
}

impl From<Release> for v1::ReleaseJobRequest {
    fn from(release: Release) -> v1::ReleaseJobRequest {
        v1::ReleaseJobRequest {
            session: release.session.to_string(),
            job_id: release.job.get(),
            token: release.token.get(),
            reason: release.reason.to_wire(),
            detail: release.detail,
            checkpoint: release.checkpoint,
            counters: Some((&release.counters).into()),
        }
    }
}

impl TryFrom<v1::ReleaseJobRequest> for Release {
    type Error = WireError;

    fn try_from(wire: v1::ReleaseJobRequest) -> Result<Release, WireError> {
        Ok(Release {
            session: Session::parse(&wire.session)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            reason: ReleaseReason::from_wire(wire.reason)?,
            detail: cut(&wire.detail, MAX_DETAIL_CHARS),
            checkpoint: checkpoint(wire.checkpoint)?,
            counters: wire.counters.unwrap_or_default().into(),
        })
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn duration(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(canonical: &str) -> v1::FoundBoard {
        v1::FoundBoard {
            par: 3,
            canonical: canonical.to_owned(),
            states: 10,
            minimal: None,
        }
    }

    fn submit(n_boards: usize) -> v1::SubmitBoardsRequest {
        v1::SubmitBoardsRequest {
            session: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            batch_id: "67e55044-10b1-426f-9247-bb680e5fe0c9".to_owned(),
            job_id: 7,
            token: 1,
            boards: vec![stated("AA"); n_boards],
        }
    }

    #[test]
    fn batches_survive_the_wire() {
        let batch = Batch::try_from(submit(3)).unwrap();
        assert_eq!(
            Batch::try_from(v1::SubmitBoardsRequest::from(batch.clone())),
            Ok(batch)
        );
    }

    #[test]
    fn batches_out_of_bounds_are_refused() {
        assert!(Batch::try_from(submit(MAX_BOARDS_PER_BATCH)).is_ok());
        assert!(Batch::try_from(submit(MAX_BOARDS_PER_BATCH + 1)).is_err());
        let long = "o".repeat(MAX_SPELLING_BYTES + 1);
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                boards: vec![stated(&long)],
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                job_id: 0,
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                token: -1,
                ..submit(0)
            })
            .is_err()
        );
        assert!(
            Batch::try_from(v1::SubmitBoardsRequest {
                session: "me".to_owned(),
                ..submit(0)
            })
            .is_err()
        );
    }

    #[test]
    fn a_completion_needs_sixteen_bytes_of_digest() {
        let wire = |len| v1::CompleteJobRequest {
            session: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            job_id: 1,
            token: 1,
            counters: Some(v1::JobCounters::default()),
            digest: vec![0; len],
        };
        assert!(Completion::try_from(wire(16)).is_ok());
        assert!(Completion::try_from(wire(15)).is_err());
    }

    #[test]
    fn spellings_of_enumerations_are_read_back() {
        for &code in RejectCode::ALL {
            assert_eq!(RejectCode::parse(code.as_str()), Some(code));
            assert_eq!(RejectCode::from_wire(code.to_wire()), Ok(code));
        }
        assert!(LeaseAction::from_wire(0).is_err());
    }

    #[test]
    fn a_beat_with_a_senseless_rate_is_taken() {
        let wire = v1::LeaseBeat {
            job_id: 1,
            token: 1,
            rate: f64::NAN,
            ..v1::LeaseBeat::default()
        };
        assert_eq!(
            LeaseBeat::try_from(wire).unwrap().rate.to_bits(),
            0.0_f64.to_bits()
        );
    }
}
