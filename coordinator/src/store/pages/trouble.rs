//! What went wrong: jobs parked, grouped by what they failed with, and boards refused, with samples.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// Parked jobs of one hunt that failed alike last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedGroup {
    /// The hunt.
    pub hunt_id: i64,
    /// Its label.
    pub hunt: String,
    /// Whether the hunt may go on, so that its jobs can be requeued.
    pub may_go_on: bool,
    /// How the last attempts ended.
    pub outcome: String,
    /// What was said, numbers left out.
    pub error: String,
    /// How many jobs.
    pub n_jobs: i64,
    /// On how many workers.
    pub n_workers: i64,
    /// The newest of them, at most 8.
    pub jobs: Vec<i64>,
    /// What one worker said in full.
    pub sample: String,
    /// When the last one was parked.
    pub last_at: OffsetDateTime,
}

/// Boards that were refused for one reason from one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedGroup {
    /// Why, as the database spells it.
    pub code: String,
    /// From whom; `None`: an import.
    pub worker_id: Option<i64>,
    /// The label.
    pub worker: Option<String>,
    /// How many boards, of the last 5,000 refused.
    pub n_boards: i64,
    /// When the last came.
    pub last_at: OffsetDateTime,
}

/// A refused board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedLine {
    /// Why.
    pub code: String,
    /// The spelling as sent.
    pub canonical: String,
    /// The par as sent.
    pub stated_par: i32,
    /// What was found instead.
    pub detail: String,
    /// From whom.
    pub worker: Option<String>,
    /// For which job.
    pub job_id: Option<i64>,
    /// When.
    pub stored_at: OffsetDateTime,
}

impl Store {
    /// Parked jobs, grouped; of the newest 5,000, the 100 largest groups.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn parked_groups(&self) -> Result<Vec<ParkedGroup>, StoreError> {
        Ok(sqlx::query_as!(
            ParkedGroup,
            r#"
            SELECT h.id AS "hunt_id!", h.name AS "hunt!", h.state IN ('running', 'paused') AS "may_go_on!",
                a.outcome AS "outcome!", a.error AS "error!", count(*) AS "n_jobs!", count(DISTINCT a.worker_id) AS "n_workers!",
                (array_agg(j.id ORDER BY j.id DESC))[1:8] AS "jobs!", coalesce(min(a.detail), '') AS "sample!",
                max(j.ended_at) AS "last_at!"
            FROM (SELECT id, hunt_id, ended_at FROM jobs WHERE state = 'parked' ORDER BY hunt_id, id DESC LIMIT 5000) j
            JOIN hunts h ON h.id = j.hunt_id
            JOIN LATERAL (
                SELECT outcome, detail, worker_id, left(regexp_replace(coalesce(detail, ''), '\d+', '#', 'g'), 200) AS error
                FROM job_attempts WHERE job_id = j.id ORDER BY token DESC LIMIT 1
            ) a ON true
            GROUP BY h.id, a.outcome, a.error
            ORDER BY count(*) DESC, h.id LIMIT 100
            "#,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// Refused boards, grouped; of the newest 5,000, the 50 largest groups.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn rejected_groups(&self) -> Result<Vec<RejectedGroup>, StoreError> {
        Ok(sqlx::query_as!(
            RejectedGroup,
            r#"
            SELECT r.code AS "code!", t.worker_id, w.name AS "worker?", count(*) AS "n_boards!", max(t.stored_at) AS "last_at!"
            FROM (SELECT code, batch_id FROM rejections ORDER BY batch_id DESC LIMIT 5000) r
            JOIN batches t ON t.id = r.batch_id
            LEFT JOIN workers w ON w.id = t.worker_id
            GROUP BY r.code, t.worker_id, w.name
            ORDER BY count(*) DESC LIMIT 50
            "#,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// The newest refused boards, of one worker or of all; at most 30.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn rejected_lines(&self, worker_id: Option<i64>) -> Result<Vec<RejectedLine>, StoreError> {
        Ok(sqlx::query_as!(
            RejectedLine,
            r#"
            SELECT r.code AS "code!", r.canonical AS "canonical!", r.stated_par AS "stated_par!", r.detail AS "detail!",
                w.name AS "worker?", t.job_id, t.stored_at AS "stored_at!"
            FROM (SELECT * FROM rejections ORDER BY batch_id DESC, board_idx LIMIT 5000) r
            JOIN batches t ON t.id = r.batch_id
            LEFT JOIN workers w ON w.id = t.worker_id
            WHERE $1::bigint IS NULL OR t.worker_id = $1
            ORDER BY r.batch_id DESC, r.board_idx LIMIT 30
            "#,
            worker_id,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
