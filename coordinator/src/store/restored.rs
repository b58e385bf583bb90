//! After a backup was put back: what was promised since it was made must not be promised to others under the same numbers.
//!
//! Numbers go on from the milliseconds since 2020: above all that a farm gave out before, and above what it gave out after an
//! earlier restore of the same backup.

use super::{EventKind, EventToWrite, Store, StoreError, from_sql};

impl Store {
    /// Takes back every lease of the backup, and lets tokens, jobs and hunts go on from far above. A worker that holds a
    /// lease which this database has forgotten is told that it lost it, and takes nobody else's for its own. Coordinators that
    /// run forget what they remember of boards. How many leases were taken back.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn begin_after_restore(&self) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query!(
            r#"
            UPDATE job_attempts SET ended_at = clock_timestamp(), outcome = 'outage', detail = 'the database was restored'
            WHERE outcome = 'running'
            "#
        )
        .execute(&mut *tx.tx)
        .await?;
        let taken_back = sqlx::query!(
            r#"
            UPDATE jobs SET state = 'queued', worker_id = NULL, expires_at = NULL, rate = 0, flat_beats = 0
            WHERE state = 'leased'
            "#
        )
        .execute(&mut *tx.tx)
        .await?
        .rows_affected();
        let now = sqlx::query!(
            r#"
            SELECT (extract(epoch FROM clock_timestamp() - timestamptz '2020-01-01 00:00:00+00') * 1000)::bigint AS "ms!"
            "#
        )
        .fetch_one(&mut *tx.tx)
        .await?;
        sqlx::query!(
            "UPDATE jobs SET token = greatest(token, $1) WHERE state IN ('queued', 'parked')",
            now.ms
        )
        .execute(&mut *tx.tx)
        .await?;
        let numbers = sqlx::query!(
            r#"
            SELECT setval(jobs, greatest(nextval(jobs), $1)) AS "job!",
                setval(hunts, greatest(nextval(hunts), $1)) AS "hunt!"
            FROM (SELECT pg_get_serial_sequence('jobs', 'id')::regclass AS jobs,
                pg_get_serial_sequence('hunts', 'id')::regclass AS hunts) s
            "#,
            now.ms
        )
        .fetch_one(&mut *tx.tx)
        .await?;
        sqlx::query!("UPDATE farm_epoch SET epoch = gen_random_uuid()")
            .execute(&mut *tx.tx)
            .await?;
        let detail = format!(
            "the database was restored: {taken_back} leases taken back, jobs go on above {}, hunts above {}",
            from_sql(numbers.job),
            from_sql(numbers.hunt)
        );
        tx.write_event(&EventToWrite::new(&self.actor, EventKind::JobRequeued, &detail))
            .await?;
        tx.commit().await?;
        Ok(taken_back)
    }
}
