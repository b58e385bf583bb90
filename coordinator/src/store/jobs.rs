//! Jobs, as operators see them.

use board::Par;
use board::job::{Counters, JobDigest};
use proto::convert::Work;
use proto::ids::{HuntId, JobId};
use time::OffsetDateTime;

use super::{Store, StoreError, from_sql, leases::decode_spec, narrow, to_sql};

/// The most jobs in one list.
const MAX_LISTED: u32 = 1_000;

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobState {
    /// To be leased.
    Queued,
    /// A worker holds it.
    Leased,
    /// Carried out.
    Done,
    /// Failed too often.
    Parked,
    /// Its hunt is over.
    Cancelled,
}

impl JobState {
    /// Every state.
    pub const ALL: [JobState; 5] = [
        JobState::Queued,
        JobState::Leased,
        JobState::Done,
        JobState::Parked,
        JobState::Cancelled,
    ];

    /// As the database and the command line spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Leased => "leased",
            JobState::Done => "done",
            JobState::Parked => "parked",
            JobState::Cancelled => "cancelled",
        }
    }

    /// The state of this spelling.
    pub fn parse(text: &str) -> Option<JobState> {
        JobState::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRecord {
    /// Its number.
    pub id: JobId,
    /// Its hunt.
    pub hunt: HuntId,
    /// Its place in the hunt, from 0.
    pub number: u64,
    /// Where it is.
    pub state: JobState,
    /// What it searches: what a replay needs.
    pub spec: Work,
    /// The engine version that carried it out; `None`: not done.
    pub engine: Option<String>,
    /// What a replay must match; `None`: not done.
    pub digest: Option<JobDigest>,
    /// What was claimed at the end of the last attempt.
    pub counters: Counters,
    /// Attempts that failed or expired.
    pub n_failures: u32,
    /// Boards it found first.
    pub n_new: u64,
    /// The largest par it handed in.
    pub best_par: Option<Par>,
    /// When it was planned.
    pub created_at: OffsetDateTime,
    /// When it was over; `None`: it is not.
    pub ended_at: Option<OffsetDateTime>,
}

/// An attempt at a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The lease's token.
    pub token: i64,
    /// Who held it.
    pub worker_name: String,
    /// When it was granted.
    pub started_at: OffsetDateTime,
    /// When it ended; `None`: it is running.
    pub ended_at: Option<OffsetDateTime>,
    /// How, as the database spells it.
    pub outcome: String,
    /// What the worker said.
    pub detail: Option<String>,
}

/// Which jobs to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Of this hunt; `None`: of all.
    pub hunt: Option<HuntId>,
    /// In this state; `None`: in any.
    pub state: Option<JobState>,
    /// With a smaller number than this; `None`: from the newest.
    pub before: Option<JobId>,
    /// At most so many, and at most 1,000.
    pub limit: u32,
}

impl Store {
    /// A job; `None`: there is none of this number.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn job(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        let row = sqlx::query_as!(
            JobRow,
            r#"
            SELECT id, hunt_id, number, state, spec, engine, digest, n_failures, n_new, best_par, created_at, ended_at,
                n_iterations, n_legal, n_clusters, n_solvable, n_too_large, n_positions, n_accepted, n_duplicates, n_found
            FROM jobs
            WHERE id = $1
            "#,
            id.get(),
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(JobRecord::try_from).transpose()
    }

    /// Jobs, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list_jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>, StoreError> {
        let rows = sqlx::query_as!(
            JobRow,
            r#"
            SELECT id, hunt_id, number, state, spec, engine, digest, n_failures, n_new, best_par, created_at, ended_at,
                n_iterations, n_legal, n_clusters, n_solvable, n_too_large, n_positions, n_accepted, n_duplicates, n_found
            FROM jobs
            WHERE ($1::bigint IS NULL OR hunt_id = $1) AND ($2::text IS NULL OR state = $2)
                AND ($3::bigint IS NULL OR id < $3)
            ORDER BY id DESC
            LIMIT $4
            "#,
            filter.hunt.map(HuntId::get),
            filter.state.map(JobState::as_str),
            filter.before.map(JobId::get),
            i64::from(filter.limit.min(MAX_LISTED)),
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(JobRecord::try_from).collect()
    }

    /// The attempts at a job, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(sqlx::query_as!(
            AttemptRecord,
            r#"
            SELECT a.token, w.name AS worker_name, a.started_at, a.ended_at, a.outcome, a.detail
            FROM job_attempts a
            JOIN workers w ON w.id = a.worker_id
            WHERE a.job_id = $1
            ORDER BY a.token
            LIMIT 1000
            "#,
            id.get(),
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// Puts a parked job back on the queue, its failures forgotten. False: it was not parked, or its hunt is over.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn requeue(&self, id: JobId) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE jobs SET state = 'queued', n_failures = 0, n_outages = 0, ended_at = NULL
            FROM hunts
            WHERE jobs.id = $1 AND jobs.state = 'parked' AND hunts.id = jobs.hunt_id
                AND hunts.state IN ('running', 'paused')
            "#,
            id.get(),
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Adds to what the coordinator itself counts of a job: boards new and known, and the largest par, proved.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn count_boards(
        tx: &mut super::Tx,
        job: JobId,
        n_new: u64,
        n_known: u64,
        best_par: Option<Par>,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            UPDATE jobs SET n_new = n_new + $2, n_known = n_known + $3, best_par = greatest(best_par, $4)
            WHERE id = $1
            "#,
            job.get(),
            to_sql(n_new),
            to_sql(n_known),
            best_par.map(|par| i16::try_from(par.get()).unwrap_or(i16::MAX)),
        )
        .execute(&mut *tx.tx)
        .await?;
        Ok(())
    }
}

struct JobRow {
    id: i64,
    hunt_id: i64,
    number: i64,
    state: String,
    spec: Vec<u8>,
    engine: Option<String>,
    digest: Option<Vec<u8>>,
    n_failures: i32,
    n_new: i64,
    best_par: Option<i16>,
    created_at: OffsetDateTime,
    ended_at: Option<OffsetDateTime>,
    n_iterations: i64,
    n_legal: i64,
    n_clusters: i64,
    n_solvable: i64,
    n_too_large: i64,
    n_positions: i64,
    n_accepted: i64,
    n_duplicates: i64,
    n_found: i64,
}

impl TryFrom<JobRow> for JobRecord {
    type Error = StoreError;

    fn try_from(row: JobRow) -> Result<JobRecord, StoreError> {
        let unreadable = |reason| StoreError::Unreadable {
            table: "jobs",
            id: row.id,
            reason,
        };
        let digest = row
            .digest
            .map(|bytes| <[u8; 16]>::try_from(bytes).map_err(|bytes| unreadable(format!("digest {bytes:?}"))))
            .transpose()?;
        Ok(JobRecord {
            id: super::leases::job_id(row.id),
            hunt: super::hunt_record::hunt_id(row.hunt_id),
            number: from_sql(row.number),
            state: JobState::parse(&row.state).ok_or_else(|| unreadable(format!("state {:?}", row.state)))?,
            spec: decode_spec(row.id, &row.spec)?,
            engine: row.engine,
            digest: digest.map(JobDigest::from_bytes),
            counters: Counters {
                iterations: from_sql(row.n_iterations),
                legal: from_sql(row.n_legal),
                clusters: from_sql(row.n_clusters),
                solvable: from_sql(row.n_solvable),
                too_large: from_sql(row.n_too_large),
                positions: from_sql(row.n_positions),
                accepted: from_sql(row.n_accepted),
                duplicates: from_sql(row.n_duplicates),
                found: from_sql(row.n_found),
            },
            n_failures: narrow("jobs", row.id, "n_failures", row.n_failures.into())?,
            n_new: from_sql(row.n_new),
            best_par: row
                .best_par
                .map(|par| narrow("jobs", row.id, "best_par", par.into()).map(Par::new))
                .transpose()?,
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}
