//! What is held against workers: strikes, quarantine, and what follows from it.
//!
//! All of it follows the worker (its label and token), not the start of its process; and the token, when it is too much.

use proto::ids::{FencingToken, JobId, Session};

use super::{EventKind, EventToWrite, Store, StoreError, Tx, text, to_sql};

/// Of the claims of a worker that is put into quarantine, so many of the latest are run again; ranges of a census all
/// are, since others rely on them.
const CLAIMS_LOOKED_AT: i64 = 50;

/// With so many of its workers in quarantine at one time, a token is: one bad machine of many does not stop the others.
const MAX_QUARANTINED: i64 = 3;

/// With so many jobs failed in a row that others then carried out, a worker is quarantined.
const MAX_LONE_FAILURES: i32 = 5;

impl Store {
    /// Holds something against the worker that shows this session; false: nobody does, or it is in quarantine already.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn strike_session(
        &self,
        session: Session,
        reason: &str,
        max_strikes: u32,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let row = sqlx::query!(
            "SELECT id FROM workers WHERE session = $1 AND quarantined_at IS NULL",
            session.get()
        )
        .fetch_optional(&mut *tx.tx)
        .await?;
        let Some(row) = row else { return Ok(false) };
        tx.strike(row.id, None, reason, max_strikes).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Name of the token that a session was opened with. `None`: there is no such session, or it was opened without.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn credential(&self, session: Session) -> Result<Option<String>, StoreError> {
        let row = sqlx::query_scalar!("SELECT credential FROM workers WHERE session = $1", session.get())
            .fetch_optional(&self.pool)
            .await?;
        Ok(row.flatten())
    }

    /// Whether this lease was granted to another worker than the one that shows this session. Not so if it was granted to
    /// nobody: a database that was set back to a backup has forgotten leases that honest workers hold.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn is_anothers_lease(
        &self,
        session: Session,
        job: JobId,
        token: FencingToken,
    ) -> Result<bool, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT EXISTS (
                SELECT FROM job_attempts a
                JOIN workers holder ON holder.id = a.worker_id
                JOIN workers me ON me.session = $1
                WHERE a.job_id = $2 AND a.token = $3 AND holder.identity <> me.identity
            ) AS "is_so!"
            "#,
            session.get(),
            job.get(),
            token.get(),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(row.is_so)
    }

    /// Workers in quarantine some of whose boards were believed without proof; at most 100.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn workers_to_prove(&self) -> Result<Vec<i64>, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"
            SELECT w.id
            FROM workers w
            WHERE w.quarantined_at IS NOT NULL
                AND EXISTS (SELECT FROM batches b WHERE b.worker_id = w.id AND b.n_believed > 0)
            ORDER BY w.id
            LIMIT 100
            "#,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}

impl Tx {
    /// Holds something against a worker, and quarantines it when it was one too many: this start of its process and every
    /// other that is there. What it claimed is then put on the queue to be run again. True: it was one too many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn strike(
        &mut self,
        worker_id: i64,
        job: Option<JobId>,
        reason: &str,
        max_strikes: u32,
    ) -> Result<bool, StoreError> {
        let row = sqlx::query!(
            r#"
            UPDATE workers SET strikes = strikes + 1
            WHERE id = $1
            RETURNING (strikes >= $2 AND quarantined_at IS NULL) AS "is_one_too_many!"
            "#,
            worker_id,
            i32::try_from(to_sql(max_strikes.into())).unwrap_or(i32::MAX),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        let about = |kind| EventToWrite {
            job,
            worker_id: Some(worker_id),
            ..EventToWrite::new("coordinator", kind, reason)
        };
        self.write_event(&about(EventKind::WorkerStruck)).await?;
        if row.is_one_too_many {
            self.quarantine(worker_id, reason).await?;
            self.write_event(&about(EventKind::WorkerQuarantined)).await?;
        }
        Ok(row.is_one_too_many)
    }

    /// Gives a worker nothing more, for this reason, and has its claims run again by others. When it is one of too many of
    /// its token, all of them are treated so.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn quarantine(&mut self, worker_id: i64, reason: &str) -> Result<(), StoreError> {
        // Two workers of one token at once must not both count the other as trusted.
        sqlx::query!(
            r#"
            SELECT pg_advisory_xact_lock(hashtextextended('token ' || credential, 0)) AS "locked!: ()"
            FROM workers WHERE id = $1 AND credential IS NOT NULL
            "#,
            worker_id,
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        sqlx::query!(
            r#"
            UPDATE workers SET quarantined_at = coalesce(workers.quarantined_at, now()),
                quarantine_reason = coalesce(workers.quarantine_reason, $2)
            FROM workers me
            WHERE me.id = $1 AND workers.identity = me.identity AND (workers.gone_at IS NULL OR workers.id = me.id)
            "#,
            worker_id,
            text(reason, 1_000),
        )
        .execute(&mut *self.tx)
        .await?;
        self.audit_worker(worker_id, false, CLAIMS_LOOKED_AT).await?;
        self.quarantine_token(worker_id).await
    }

    /// Quarantines the token of a worker with all who show it, if enough of its workers are in quarantine: whoever holds it
    /// may come back under another name as often as it likes. Without tokens there is nobody to name.
    async fn quarantine_token(&mut self, worker_id: i64) -> Result<(), StoreError> {
        let row = sqlx::query!(
            r#"
            WITH caught AS (
                SELECT w.credential, w.name
                FROM workers me
                JOIN workers w ON w.credential = me.credential AND w.quarantined_at IS NOT NULL
                WHERE me.id = $1 AND NOT EXISTS (SELECT FROM token_quarantines t WHERE t.credential = me.credential)
                GROUP BY w.credential, w.name
            ), token AS (
                INSERT INTO token_quarantines (credential, reason)
                SELECT credential, left('token ' || credential || ': ' || count(*) || ' of its workers are in quarantine ('
                    || string_agg(name, ', ' ORDER BY name) || ')', 1000)
                FROM caught
                GROUP BY credential
                HAVING count(*) >= $2
                ON CONFLICT DO NOTHING
                RETURNING credential, reason
            ), others AS (
                UPDATE workers SET quarantined_at = now(), quarantine_reason = token.reason
                FROM token
                WHERE workers.credential = token.credential AND workers.quarantined_at IS NULL
            )
            SELECT reason FROM token
            "#,
            worker_id,
            MAX_QUARANTINED,
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let Some(row) = row else { return Ok(()) };
        self.audit_worker(worker_id, true, CLAIMS_LOOKED_AT).await?;
        self.write_event(&EventToWrite {
            worker_id: Some(worker_id),
            ..EventToWrite::new("coordinator", EventKind::WorkerQuarantined, &row.reason)
        })
        .await
    }

    /// Trusts a worker again: this start of its process and every other, its strikes forgotten; and its token, with all who
    /// were in quarantine for nothing else.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn trust(&mut self, worker_id: i64) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            WITH token AS (
                DELETE FROM token_quarantines USING workers me
                WHERE me.id = $1 AND token_quarantines.credential = me.credential
                RETURNING token_quarantines.credential, token_quarantines.reason
            )
            UPDATE workers SET quarantined_at = NULL, quarantine_reason = NULL, n_lone_failures = 0,
                strikes = CASE WHEN workers.identity = me.identity THEN 0 ELSE workers.strikes END,
                n_stalls = CASE WHEN workers.identity = me.identity THEN 0 ELSE workers.n_stalls END
            FROM workers me LEFT JOIN token ON true
            WHERE me.id = $1 AND (workers.identity = me.identity
                OR workers.credential = token.credential AND workers.quarantine_reason = token.reason)
            "#,
            worker_id,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// A worker carried out a job: what it failed before is forgotten.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn forget_lone_failures(&mut self, worker_id: i64) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            UPDATE workers SET n_lone_failures = 0
            FROM workers me
            WHERE me.id = $1 AND workers.identity = me.identity AND workers.n_lone_failures > 0
            "#,
            worker_id,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// A job that others had failed was carried out: it was not the job's fault. Who does so again and again, and carries out
    /// nothing, is quarantined.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn note_lone_failures(
        &mut self,
        job: JobId,
        carried_out_by: i64,
    ) -> Result<(), StoreError> {
        let rows = sqlx::query!(
            r#"
            WITH failed AS (
                SELECT DISTINCT ON (w.identity) w.identity, a.started_at, a.ended_at, a.outcome, a.detail
                FROM job_attempts a
                JOIN workers w ON w.id = a.worker_id
                JOIN workers me ON me.id = $2
                WHERE a.job_id = $1 AND a.outcome IN ('failed', 'unsupported', 'expired', 'stalled') AND w.identity <> me.identity
                ORDER BY w.identity, a.token DESC
            )
            UPDATE workers SET n_lone_failures = workers.n_lone_failures + 1, lone_failure_at = failed.ended_at
            FROM failed
            -- The newest start of it: the next one begins with what is held against this one.
            WHERE workers.id = (SELECT max(id) FROM workers w WHERE w.identity = failed.identity)
                AND workers.quarantined_at IS NULL
                -- What it held all at once and lost all at once is one failure.
                AND (workers.lone_failure_at IS NULL OR failed.started_at >= workers.lone_failure_at)
            RETURNING workers.id, workers.n_lone_failures >= $3 AS "is_one_too_many!", failed.outcome AS "outcome!", failed.detail
            "#,
            job.get(),
            carried_out_by,
            MAX_LONE_FAILURES,
        )
        .fetch_all(&mut *self.tx)
        .await?;
        for row in rows.into_iter().filter(|row| row.is_one_too_many) {
            let reason = format!(
                "it failed {MAX_LONE_FAILURES} jobs in a row that others carried out; the last: {} {}",
                row.outcome,
                row.detail.unwrap_or_default()
            );
            self.quarantine(row.id, &reason).await?;
            self.write_event(&EventToWrite {
                job: Some(job),
                worker_id: Some(row.id),
                ..EventToWrite::new("coordinator", EventKind::WorkerQuarantined, &reason)
            })
            .await?;
        }
        Ok(())
    }
}
