//! Grants: who gets which of the waiting jobs.
//!
//! Two rules, about jobs that are rare among those that wait, are functions of the database (`may_compare`,
//! `may_try_again`, migration 0210): planned once a session, they cost a grant nothing that meets no such job.

use std::time::Duration;

use proto::convert::{Acquire, Lease};

use super::leases::{decode_spec, job_id, token};
use super::{HuntOrder, Store, StoreError, Tx, narrow};

/// Who was not heard of for so many lease times is not waited for.
const SILENT_LEASES: u32 = 2;

/// A job that is to be run by others than before waits for them no longer than so: they may have no slot free, or may not
/// be able to do it, which nobody here knows.
const PATIENCE: Duration = Duration::from_mins(20);

impl Store {
    /// Grants waiting jobs to a worker; again with the same request, the leases of it that are still held.
    /// `None`: this request was answered before and none of its leases is left.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn grant(&self, wish: &Acquire, lease_ttl: Duration) -> Result<Option<Vec<Lease>>, StoreError> {
        let order = self.hunt_order().await?;
        let mut tx = self.begin().await?;
        // Two calls with one request id (the first lost its connection and still waits here) must not both be granted.
        tx.lock_request(wish).await?;
        if tx.was_answered(wish).await? {
            let held = tx.leases_of_request(wish).await?;
            tx.commit().await?;
            return Ok((!held.is_empty()).then_some(held));
        }
        let granted = tx.grant_queued(wish, lease_ttl, &order).await?;
        tx.commit().await?;
        self.shares.granted(&granted);
        Ok(Some(granted))
    }
}

impl Tx {
    async fn lock_request(&mut self, wish: &Acquire) -> Result<(), StoreError> {
        sqlx::query!(
            r#"SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) AS "locked!: ()""#,
            wish.request.to_string(),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(())
    }

    async fn was_answered(&mut self, wish: &Acquire) -> Result<bool, StoreError> {
        let row = sqlx::query!(
            r#"SELECT EXISTS (SELECT FROM job_attempts WHERE request_id = $1) AS "was_answered!""#,
            wish.request.get(),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(row.was_answered)
    }

    async fn leases_of_request(&mut self, wish: &Acquire) -> Result<Vec<Lease>, StoreError> {
        let rows = sqlx::query_as!(
            LeaseRow,
            r#"
            SELECT j.id, j.hunt_id, j.token, j.n_failures, j.spec,
                CASE WHEN j.checkpoint_by = w.identity THEN j.checkpoint END AS checkpoint,
                extract(epoch FROM greatest(j.expires_at - clock_timestamp(), interval '0'))::double precision
                    AS "expires_in_s!"
            FROM job_attempts a
            JOIN jobs j ON j.id = a.job_id AND j.token = a.token AND j.state = 'leased'
            JOIN workers w ON w.id = j.worker_id AND w.session = $2
            WHERE a.request_id = $1
            ORDER BY j.id
            "#,
            wish.request.get(),
            wish.session.get(),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter().map(Lease::try_from).collect()
    }

    /// The grant: one statement that takes waiting jobs which nobody else is taking and raises their tokens.
    async fn grant_queued(
        &mut self,
        wish: &Acquire,
        lease_ttl: Duration,
        order: &HuntOrder,
    ) -> Result<Vec<Lease>, StoreError> {
        let kinds: Vec<String> = wish.kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
        let rows = sqlx::query_as!(
            LeaseRow,
            r#"
            WITH me AS (
                SELECT id, identity, engine FROM workers
                WHERE session = $1 AND gone_at IS NULL AND quarantined_at IS NULL AND directive = 'run'
            ), picked AS (
                SELECT j.id, me.id AS worker_id, me.identity
                FROM me
                CROSS JOIN jobs j
                JOIN hunts h ON h.id = j.hunt_id
                LEFT JOIN unnest($6::bigint[], $7::integer[]) AS s (hunt_id, place) ON s.hunt_id = h.id
                LEFT JOIN jobs audited ON audited.id = j.audit_of
                LEFT JOIN census_ranges r ON r.job_id = coalesce(j.audit_of, j.id)
                WHERE j.state = 'queued' AND j.kind = ANY ($2)
                    AND (h.state = 'running' AND (h.ends_at IS NULL OR h.ends_at > clock_timestamp())
                        -- What a hunt that is done has claimed is checked all the same.
                        OR j.audit_of IS NOT NULL AND h.state IN ('running', 'done'))
                    -- An audit goes to the engine that it checks.
                    AND (j.audit_of IS NULL OR (audited.state = 'done' AND audited.engine = me.engine))
                    -- A census goes on with the engine that numbered it.
                    AND (r.job_id IS NULL OR (SELECT c.engine FROM censuses c WHERE c.hunt_id = r.hunt_id) = me.engine)
                    -- What is run to be compared goes to another party than ran it, if there is one.
                    AND CASE WHEN j.audit_of IS NOT NULL OR r.repeat_of IS NOT NULL
                            OR r.job_id IS NOT NULL AND EXISTS (SELECT FROM census_ranges twin WHERE twin.repeat_of = j.id)
                        THEN may_compare(j.id, me.id, make_interval(secs => $8), make_interval(secs => $9)) ELSE true END
                    -- What failed is tried by others first.
                    AND CASE WHEN j.n_failures > 0
                        THEN may_try_again(j.id, me.id, make_interval(secs => $8), make_interval(secs => $9)) ELSE true END
                -- A hunt that has just begun comes first, one that is over last.
                ORDER BY coalesce(s.place, CASE WHEN h.state = 'running' THEN -1 ELSE 2000000000 END), h.priority DESC,
                    -- What failed here is better tried elsewhere.
                    (j.n_failures > 0 AND EXISTS (
                        SELECT FROM job_attempts a JOIN workers who ON who.id = a.worker_id
                        WHERE a.job_id = j.id AND a.token = j.token AND who.identity = me.identity
                            AND a.outcome IN ('failed', 'unsupported', 'expired', 'stalled'))),
                    j.id
                -- Twice its slots: what it lost the answer of runs out by itself, and must not keep it idle until then.
                LIMIT least($3, greatest(0, 2 * (SELECT n_slots FROM workers WHERE session = $1)
                    - (SELECT count(*) FROM jobs held JOIN workers w ON w.id = held.worker_id
                        WHERE held.state = 'leased' AND w.session = $1)))
                FOR UPDATE OF j SKIP LOCKED
            ), granted AS (
                UPDATE jobs SET state = 'leased', token = jobs.token + 1, worker_id = picked.worker_id,
                    expires_at = clock_timestamp() + make_interval(secs => $4), work_done = 0, rate = 0, flat_beats = 0,
                    -- A checkpoint cannot be proved: it is good for nobody but who made it.
                    checkpoint = CASE WHEN jobs.checkpoint_by = picked.identity THEN jobs.checkpoint END,
                    checkpoint_by = CASE WHEN jobs.checkpoint_by = picked.identity THEN jobs.checkpoint_by END
                FROM picked
                WHERE jobs.id = picked.id
                RETURNING jobs.id, jobs.hunt_id, jobs.token, jobs.n_failures, jobs.spec, jobs.checkpoint, jobs.worker_id
            ), noted AS (
                INSERT INTO job_attempts (job_id, token, worker_id, request_id)
                SELECT id, token, worker_id, $5 FROM granted
            )
            SELECT id, hunt_id, token, n_failures, spec, checkpoint, $4::double precision AS "expires_in_s!"
            FROM granted
            ORDER BY id
            "#,
            wish.session.get(),
            &kinds,
            i64::from(wish.n_free_slots),
            lease_ttl.as_secs_f64(),
            wish.request.get(),
            &order.hunts,
            &order.places,
            (lease_ttl * SILENT_LEASES).as_secs_f64(),
            PATIENCE.as_secs_f64(),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter().map(Lease::try_from).collect()
    }
}

struct LeaseRow {
    id: i64,
    hunt_id: i64,
    token: i64,
    n_failures: i32,
    spec: Vec<u8>,
    checkpoint: Option<Vec<u8>>,
    expires_in_s: f64,
}

impl TryFrom<LeaseRow> for Lease {
    type Error = StoreError;

    fn try_from(row: LeaseRow) -> Result<Lease, StoreError> {
        Ok(Lease {
            job: job_id(row.id),
            hunt: super::hunt_record::hunt_id(row.hunt_id),
            token: token(row.token),
            expires_in: Duration::try_from_secs_f64(row.expires_in_s).unwrap_or(Duration::ZERO),
            attempt: narrow::<u32>("jobs", row.id, "n_failures", row.n_failures.into())?.saturating_add(1),
            spec: decode_spec(row.id, &row.spec)?,
            checkpoint: row.checkpoint,
        })
    }
}
