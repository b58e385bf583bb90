//! Jobs and their attempts.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// What a list of jobs is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobSort {
    /// The newest first.
    #[default]
    Newest,
    /// The oldest first.
    Oldest,
}

/// Which jobs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// Of one hunt.
    pub hunt_id: Option<i64>,
    /// In one state.
    pub state: Option<String>,
    /// Of one kind; `audit`: audits, of whatever kind.
    pub kind: Option<String>,
    /// In which order.
    pub sort: JobSort,
    /// Those beyond this one, in the order.
    pub after: Option<i64>,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct JobLine {
    /// Its number.
    pub id: i64,
    /// Its hunt.
    pub hunt_id: i64,
    /// The hunt's label.
    pub hunt: String,
    /// Place in the hunt.
    pub number: i64,
    /// As the database spells it.
    pub kind: String,
    /// The job that it runs again; `None`: it is no audit.
    pub audit_of: Option<i64>,
    /// As the database spells it.
    pub state: String,
    /// Who holds it.
    pub worker_id: Option<i64>,
    /// The holder's label.
    pub worker: Option<String>,
    /// Iterations done.
    pub work_done: i64,
    /// Iterations asked for.
    pub n_work: i64,
    /// Positions a second.
    pub rate: f64,
    /// Attempts that failed.
    pub n_failures: i32,
    /// Attempts.
    pub n_attempts: i64,
    /// Boards new.
    pub n_new: i64,
    /// Boards known.
    pub n_known: i64,
    /// Largest par.
    pub best_par: Option<i16>,
    /// When it was planned.
    pub created_at: OffsetDateTime,
    /// When it was over.
    pub ended_at: Option<OffsetDateTime>,
}

/// An attempt at a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptLine {
    /// The job.
    pub job_id: i64,
    /// Fencing token.
    pub token: i64,
    /// Who.
    pub worker_id: i64,
    /// Who, by label.
    pub worker: String,
    /// When it was granted.
    pub started_at: OffsetDateTime,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
    /// As the database spells it.
    pub outcome: String,
    /// What the worker said.
    pub detail: Option<String>,
}

/// Jobs on one page of a list.
pub const JOBS_A_PAGE: usize = 100;

impl Store {
    /// A page of jobs: one more than is shown, if there are more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn job_lines(&self, query: &JobQuery) -> Result<Vec<JobLine>, StoreError> {
        let is_oldest_first = query.sort == JobSort::Oldest;
        // The inner query looks at a bounded number of jobs; a rare kind may end a page early, and the page says so.
        Ok(sqlx::query_as!(
            JobLine,
            r#"
            SELECT j.id AS "id!", j.hunt_id AS "hunt_id!", h.name AS "hunt!", j.number AS "number!", j.kind AS "kind!", j.audit_of,
                j.state AS "state!", j.worker_id, w.name AS "worker?", j.work_done AS "work_done!", j.n_work AS "n_work!",
                j.rate AS "rate!", j.n_failures AS "n_failures!", (SELECT count(*) FROM job_attempts a WHERE a.job_id = j.id) AS "n_attempts!",
                j.n_new AS "n_new!", j.n_known AS "n_known!", j.best_par, j.created_at AS "created_at!", j.ended_at
            FROM (
                (SELECT * FROM jobs WHERE NOT $5 AND ($1::bigint IS NULL OR hunt_id = $1) AND ($2::text IS NULL OR state = $2)
                    AND ($3::text IS NULL OR CASE $3 WHEN 'audit' THEN audit_of IS NOT NULL ELSE kind = $3 END) AND id < coalesce($4, 9223372036854775807) ORDER BY id DESC LIMIT $6)
                UNION ALL
                (SELECT * FROM jobs WHERE $5 AND ($1::bigint IS NULL OR hunt_id = $1) AND ($2::text IS NULL OR state = $2)
                    AND ($3::text IS NULL OR CASE $3 WHEN 'audit' THEN audit_of IS NOT NULL ELSE kind = $3 END) AND id > coalesce($4, 0) ORDER BY id LIMIT $6)
            ) j
            JOIN hunts h ON h.id = j.hunt_id
            LEFT JOIN workers w ON w.id = j.worker_id
            ORDER BY CASE WHEN $5 THEN j.id ELSE -j.id END
            "#,
            query.hunt_id,
            query.state,
            query.kind,
            query.after,
            is_oldest_first,
            i64::try_from(JOBS_A_PAGE + 1).expect("a hundred and one"),
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// Attempts at a job, the newest first; at most 200.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn attempt_lines(&self, job_id: i64) -> Result<Vec<AttemptLine>, StoreError> {
        Ok(sqlx::query_as!(
            AttemptLine,
            r#"
            SELECT a.job_id AS "job_id!", a.token AS "token!", a.worker_id AS "worker_id!", w.name AS "worker!",
                a.started_at AS "started_at!", a.ended_at, a.outcome AS "outcome!", a.detail
            FROM job_attempts a JOIN workers w ON w.id = a.worker_id
            WHERE a.job_id = $1 ORDER BY a.token DESC LIMIT 200
            "#,
            job_id,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// A worker's attempts, the newest first; at most 50.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn attempts_of(&self, worker_id: i64) -> Result<Vec<AttemptLine>, StoreError> {
        Ok(sqlx::query_as!(
            AttemptLine,
            r#"
            SELECT a.job_id AS "job_id!", a.token AS "token!", a.worker_id AS "worker_id!", w.name AS "worker!",
                a.started_at AS "started_at!", a.ended_at, a.outcome AS "outcome!", a.detail
            FROM job_attempts a JOIN workers w ON w.id = a.worker_id
            WHERE a.worker_id = $1 ORDER BY a.started_at DESC LIMIT 50
            "#,
            worker_id,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// The hardest boards that a job brought first; at most 12 of its last batches.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn boards_of_job(&self, job_id: i64, best_par: i16) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"
            SELECT b.canonical AS "canonical!" FROM (
                SELECT canonical, batch_id FROM boards b
                WHERE par = $2 AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
                ORDER BY canonical LIMIT 4000
            ) b
            JOIN batches t ON t.id = b.batch_id WHERE t.job_id = $1 LIMIT 12
            "#,
            job_id,
            best_par,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
