//! What is held against workers: strikes, quarantine, and what follows from it.
//!
//! All of it follows the worker (its label and token), not the start of its process.

use proto::ids::{FencingToken, JobId, Session};

use super::{EventKind, EventToWrite, Store, StoreError, Tx, text, to_sql};

/// Of the claims of a worker that is put into quarantine, so many of the latest are run again; ranges of a census all
/// are, since others rely on them.
const CLAIMS_LOOKED_AT: i64 = 50;

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

    /// Gives a worker nothing more, for this reason, and has its claims run again by others.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn quarantine(&mut self, worker_id: i64, reason: &str) -> Result<(), StoreError> {
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
        self.audit_worker(worker_id, CLAIMS_LOOKED_AT).await
    }

    /// Trusts a worker again: this start of its process and every other, its strikes forgotten.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub(super) async fn trust(&mut self, worker_id: i64) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            UPDATE workers SET quarantined_at = NULL, quarantine_reason = NULL, strikes = 0, n_stalls = 0
            FROM workers me
            WHERE me.id = $1 AND workers.identity = me.identity
            "#,
            worker_id,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}
