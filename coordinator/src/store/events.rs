//! Events: who did what and when.

use proto::ids::{HuntId, JobId};

use super::{Store, StoreError, Tx, text};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A hunt was asked for.
    HuntCreated,
    /// A hunt was asked for again.
    HuntExtended,
    /// A hunt was paused.
    HuntPaused,
    /// A hunt was resumed.
    HuntResumed,
    /// A hunt's budget is spent.
    HuntDone,
    /// A hunt was cancelled.
    HuntCancelled,
    /// A hunt got another priority.
    HuntPriority,
    /// A lease ran out.
    JobExpired,
    /// An attempt failed.
    JobFailed,
    /// A job failed too often.
    JobParked,
    /// A parked job was put back on the queue.
    JobRequeued,
    /// A worker said hello.
    WorkerJoined,
    /// A worker took its leave or was given up.
    WorkerLeft,
    /// A worker sent a board that was wrong.
    WorkerStruck,
    /// A worker gets no more leases.
    WorkerQuarantined,
    /// A worker is trusted again.
    WorkerTrusted,
    /// A worker was told to run, drain or stop.
    WorkerDirected,
    /// A board of a new largest par for its lot was stored.
    RecordFound,
    /// The default partition of boards is in use.
    BoardsBeyond,
    /// Boards were imported.
    BoardsImported,
    /// A lease was taken away: its work stood still.
    JobStalled,
    /// Two runs of a job differ.
    ClaimDisputed,
    /// A run of a job is wrong.
    ClaimDisproved,
    /// Boards that were believed turned out wrong.
    BoardsRetracted,
    /// Somebody may come in.
    TokenCreated,
    /// Somebody may not come in any more.
    TokenRevoked,
}

impl EventKind {
    /// All of them.
    pub const ALL: [EventKind; 26] = [
        EventKind::HuntCreated,
        EventKind::HuntExtended,
        EventKind::HuntPaused,
        EventKind::HuntResumed,
        EventKind::HuntDone,
        EventKind::HuntCancelled,
        EventKind::HuntPriority,
        EventKind::JobExpired,
        EventKind::JobFailed,
        EventKind::JobParked,
        EventKind::JobRequeued,
        EventKind::WorkerJoined,
        EventKind::WorkerLeft,
        EventKind::WorkerStruck,
        EventKind::WorkerQuarantined,
        EventKind::WorkerTrusted,
        EventKind::WorkerDirected,
        EventKind::RecordFound,
        EventKind::BoardsBeyond,
        EventKind::BoardsImported,
        EventKind::JobStalled,
        EventKind::ClaimDisputed,
        EventKind::ClaimDisproved,
        EventKind::BoardsRetracted,
        EventKind::TokenCreated,
        EventKind::TokenRevoked,
    ];

    /// As the database spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::HuntCreated => "hunt_created",
            EventKind::HuntExtended => "hunt_extended",
            EventKind::HuntPaused => "hunt_paused",
            EventKind::HuntResumed => "hunt_resumed",
            EventKind::HuntDone => "hunt_done",
            EventKind::HuntCancelled => "hunt_cancelled",
            EventKind::HuntPriority => "hunt_priority",
            EventKind::JobExpired => "job_expired",
            EventKind::JobFailed => "job_failed",
            EventKind::JobParked => "job_parked",
            EventKind::JobRequeued => "job_requeued",
            EventKind::WorkerJoined => "worker_joined",
            EventKind::WorkerLeft => "worker_left",
            EventKind::WorkerStruck => "worker_struck",
            EventKind::WorkerQuarantined => "worker_quarantined",
            EventKind::WorkerTrusted => "worker_trusted",
            EventKind::WorkerDirected => "worker_directed",
            EventKind::RecordFound => "record_found",
            EventKind::BoardsBeyond => "boards_beyond",
            EventKind::BoardsImported => "boards_imported",
            EventKind::JobStalled => "job_stalled",
            EventKind::ClaimDisputed => "claim_disputed",
            EventKind::ClaimDisproved => "claim_disproved",
            EventKind::BoardsRetracted => "boards_retracted",
            EventKind::TokenCreated => "token_created",
            EventKind::TokenRevoked => "token_revoked",
        }
    }
}

/// One event, to be written.
#[derive(Clone, Debug)]
pub struct EventToWrite<'a> {
    /// Who: `coordinator`, `operator`, or a worker's name.
    pub actor: &'a str,
    /// What.
    pub kind: EventKind,
    /// Which hunt, if one is concerned.
    pub hunt: Option<HuntId>,
    /// Which job, if one is concerned.
    pub job: Option<JobId>,
    /// Which worker (`workers.id`), if one is concerned.
    pub worker_id: Option<i64>,
    /// In a sentence.
    pub detail: &'a str,
}

impl<'a> EventToWrite<'a> {
    /// An event that concerns nobody yet.
    pub fn new(actor: &'a str, kind: EventKind, detail: &'a str) -> EventToWrite<'a> {
        EventToWrite {
            actor,
            kind,
            hunt: None,
            job: None,
            worker_id: None,
            detail,
        }
    }
}

impl Tx {
    /// Writes an event with the other statements.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn write_event(&mut self, event: &EventToWrite<'_>) -> Result<(), StoreError> {
        sqlx::query!(
            "INSERT INTO events (actor, kind, hunt_id, job_id, worker_id, detail) VALUES ($1, $2, $3, $4, $5, $6)",
            text(event.actor, 120),
            event.kind.as_str(),
            event.hunt.map(HuntId::get),
            event.job.map(JobId::get),
            event.worker_id,
            text(event.detail, 1_000),
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}

impl Store {
    /// Writes one event.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn write_event(&self, event: &EventToWrite<'_>) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        tx.write_event(event).await?;
        tx.commit().await
    }
}
