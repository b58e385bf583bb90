//! Audits: which jobs were run again by others, and what came of it.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// How audits came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditCounts {
    /// Bit for bit as claimed.
    pub n_agree: i64,
    /// They differ from the claim, and nobody knows yet who is right.
    pub n_disputed: i64,
    /// It was the audit that was wrong.
    pub n_differ: i64,
    /// Not done yet.
    pub n_waiting: i64,
    /// Given up: nobody was there to make them.
    pub n_given_up: i64,
}

/// An audit in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    /// The audit, a job itself.
    pub job_id: i64,
    /// The job that it runs again.
    pub audit_of: i64,
    /// Its hunt.
    pub hunt_id: i64,
    /// The hunt's label.
    pub hunt: String,
    /// Why it was asked for, as the database spells it.
    pub reason: String,
    /// When it was asked for.
    pub asked_at: OffsetDateTime,
    /// As the database spells it; `None`: not compared yet.
    pub verdict: Option<String>,
    /// When it was compared.
    pub judged_at: Option<OffsetDateTime>,
    /// The audit's state as a job.
    pub state: String,
    /// Whose claim is checked; `None`: it was taken back meanwhile.
    pub claimed_by: Option<String>,
    /// That worker.
    pub claimed_by_id: Option<i64>,
    /// Who runs it again; `None`: nobody yet.
    pub audited_by: Option<String>,
    /// That worker.
    pub audited_by_id: Option<i64>,
}

/// Which audits are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditQuery {
    /// The newest that differ from what was claimed, or wait.
    Open,
    /// Those that this job is, or is checked by.
    OfJob(i64),
}

impl Store {
    /// How the newest 5,000 audits came out.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn audit_counts(&self) -> Result<AuditCounts, StoreError> {
        Ok(sqlx::query_as!(
            AuditCounts,
            r#"
            SELECT count(*) FILTER (WHERE a.verdict = 'agrees') AS "n_agree!",
                count(*) FILTER (WHERE a.verdict = 'disputed') AS "n_disputed!",
                count(*) FILTER (WHERE a.verdict = 'differs') AS "n_differ!",
                count(*) FILTER (WHERE a.verdict IS NULL AND j.state <> 'cancelled') AS "n_waiting!",
                count(*) FILTER (WHERE a.verdict IS NULL AND j.state = 'cancelled') AS "n_given_up!"
            FROM (SELECT * FROM audits ORDER BY job_id DESC LIMIT 5000) a
            JOIN jobs j ON j.id = a.job_id
            "#,
        )
        .fetch_one(&self.pool)
        .await?)
    }

    /// Audits, the newest first, at most 30; open ones among the newest 5,000.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn audit_lines(&self, query: AuditQuery) -> Result<Vec<AuditLine>, StoreError> {
        let of_job = match query {
            AuditQuery::Open => None,
            AuditQuery::OfJob(id) => Some(id),
        };
        Ok(sqlx::query_as!(
            AuditLine,
            r#"
            SELECT a.job_id AS "job_id!", j.audit_of AS "audit_of!", j.hunt_id AS "hunt_id!", h.name AS "hunt!",
                a.reason AS "reason!", a.asked_at AS "asked_at!", a.verdict, a.judged_at, j.state AS "state!",
                claimed.name AS "claimed_by?", claimed.id AS "claimed_by_id?",
                audited.name AS "audited_by?", audited.id AS "audited_by_id?"
            FROM (
                (SELECT * FROM audits WHERE $1::bigint IS NULL ORDER BY job_id DESC LIMIT 5000)
                UNION ALL
                (SELECT audits.* FROM audits JOIN jobs mine ON mine.id = audits.job_id
                    WHERE mine.audit_of = $1 OR mine.id = $1)
            ) a
            JOIN jobs j ON j.id = a.job_id
            JOIN hunts h ON h.id = j.hunt_id
            LEFT JOIN LATERAL (
                SELECT w.id, w.name FROM job_attempts t JOIN workers w ON w.id = t.worker_id
                WHERE t.job_id = j.audit_of AND t.outcome IN ('done', 'disproved') ORDER BY t.token DESC LIMIT 1
            ) claimed ON true
            LEFT JOIN LATERAL (
                SELECT w.id, w.name FROM job_attempts t JOIN workers w ON w.id = t.worker_id
                WHERE t.job_id = j.id AND t.outcome IN ('done', 'running') ORDER BY t.token DESC LIMIT 1
            ) audited ON true
            WHERE $1 IS NOT NULL OR a.verdict IN ('disputed', 'differs') OR (a.verdict IS NULL AND j.state <> 'cancelled')
            ORDER BY a.job_id DESC
            LIMIT 30
            "#,
            of_job,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
