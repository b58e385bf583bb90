//! Leases: who may run which job, until when. Grant, renew, complete, release, expire.
//!
//! The race that all of this is about: a worker that was taken for dead comes back after its job went to another.
//! Its token is smaller than the job's, so every statement here finds no row for it, and it is told that it lost.

use std::time::Duration;

use board::ENGINE;
use board::canonical::Canonical;
use board::difficulty::Difficulty;
use board::job::{Counters, JobDigest};
use prost::Message;
use proto::convert::{
    Acquire, Beat, Completion, Lease, LeaseAction, LeaseOrder, LeaseOutcome, Release, ReleaseReason,
};
use proto::ids::{FencingToken, HuntId, JobId, Session};
use proto::v1;

use super::{EventKind, EventToWrite, Store, StoreError, Tx, narrow, to_sql};

/// What a beat was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeatOutcome {
    /// One order for each lease of the beat, in its order.
    pub orders: Vec<LeaseOrder>,
}

/// A lease that ran out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expired {
    /// The job.
    pub job: JobId,
    /// Its hunt.
    pub hunt: HuntId,
    /// The lease.
    pub token: FencingToken,
    /// The job failed too often and is parked.
    pub is_parked: bool,
    /// It did not run out: its work stood still.
    pub is_stall: bool,
}

impl Store {
    /// Grants waiting jobs to a worker; again with the same request, the leases of it that are still held.
    /// `None`: this request was answered before and none of its leases is left.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn grant(&self, wish: &Acquire, lease_ttl: Duration) -> Result<Option<Vec<Lease>>, StoreError> {
        let mut tx = self.begin().await?;
        // Two calls with one request id (the first lost its connection and still waits here) must not both be granted.
        tx.lock_request(wish).await?;
        if tx.was_answered(wish).await? {
            let held = tx.leases_of_request(wish).await?;
            tx.commit().await?;
            return Ok((!held.is_empty()).then_some(held));
        }
        let granted = tx.grant_queued(wish, lease_ttl).await?;
        tx.commit().await?;
        Ok(Some(granted))
    }

    /// Renews the leases of a beat and says what to do with each. A beat that is not newer than one already heard (it
    /// was sent again, or overtaken) renews nothing, and is told how things stand.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn beat(&self, beat: &Beat, lease_ttl: Duration) -> Result<BeatOutcome, StoreError> {
        self.beat_watched(beat, lease_ttl, u32::MAX).await
    }

    /// The same; a lease whose work stood still for `stall_beats` beats is asked for a checkpoint.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn beat_watched(
        &self,
        beat: &Beat,
        lease_ttl: Duration,
        stall_beats: u32,
    ) -> Result<BeatOutcome, StoreError> {
        let mut jobs = Vec::with_capacity(beat.leases.len());
        let mut tokens = Vec::with_capacity(beat.leases.len());
        let mut work_done = Vec::with_capacity(beat.leases.len());
        let mut rates = Vec::with_capacity(beat.leases.len());
        let mut checkpoints: Vec<Option<Vec<u8>>> = Vec::with_capacity(beat.leases.len());
        for lease in &beat.leases {
            jobs.push(lease.job.get());
            tokens.push(lease.token.get());
            work_done.push(to_sql(lease.work_done));
            rates.push(lease.rate);
            checkpoints.push(lease.checkpoint.clone());
        }
        let renewed = sqlx::query!(
            r#"
            WITH beater AS (
                UPDATE workers SET last_seen = clock_timestamp(), last_seq = greatest(workers.last_seq, $2), gone_at = NULL
                FROM (SELECT id, last_seq FROM workers WHERE session = $1 FOR NO KEY UPDATE) former
                WHERE workers.id = former.id
                RETURNING workers.id, workers.identity, former.last_seq < $2 AS is_newest
            )
            UPDATE jobs SET
                expires_at = CASE WHEN beater.is_newest THEN clock_timestamp() + make_interval(secs => $3)
                    ELSE jobs.expires_at END,
                work_done = greatest(jobs.work_done, b.work_done),
                -- Liveness is progress: iterations done or, where one takes long, positions explored.
                flat_beats = CASE WHEN NOT beater.is_newest THEN jobs.flat_beats
                    WHEN b.work_done > jobs.work_done OR b.rate > 0 THEN 0 ELSE jobs.flat_beats + 1 END,
                rate = CASE WHEN beater.is_newest THEN b.rate ELSE jobs.rate END,
                checkpoint = CASE WHEN beater.is_newest THEN coalesce(b.checkpoint, jobs.checkpoint)
                    ELSE jobs.checkpoint END,
                checkpoint_by = CASE WHEN beater.is_newest AND b.checkpoint IS NOT NULL THEN beater.identity
                    ELSE jobs.checkpoint_by END
            FROM beater, hunts, unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::double precision[], $8::bytea[])
                AS b (job_id, token, work_done, rate, checkpoint)
            WHERE jobs.id = b.job_id AND jobs.token = b.token AND jobs.state = 'leased'
                AND jobs.worker_id = beater.id AND hunts.id = jobs.hunt_id
            RETURNING jobs.id, jobs.token,
                extract(epoch FROM greatest(jobs.expires_at - clock_timestamp(), interval '0'))::double precision
                    AS "expires_in_s!",
                CASE WHEN hunts.state = 'cancelled' THEN 'cancel'
                    -- What a hunt that is done has claimed is checked all the same.
                    WHEN jobs.audit_of IS NULL AND (hunts.state = 'done' OR hunts.ends_at <= now()) THEN 'cancel'
                    WHEN hunts.state = 'paused' THEN 'pause'
                    WHEN jobs.flat_beats >= $9 THEN 'checkpoint' ELSE 'continue' END AS "action!"
            "#,
            beat.session.get(),
            to_sql(beat.seq),
            lease_ttl.as_secs_f64(),
            &jobs,
            &tokens,
            &work_done,
            &rates,
            &checkpoints as &[Option<Vec<u8>>],
            i32::try_from(stall_beats).unwrap_or(i32::MAX),
        )
        .fetch_all(&self.reserve)
        .await?;
        let orders = beat
            .leases
            .iter()
            .map(|lease| {
                let row = renewed
                    .iter()
                    .find(|row| row.id == lease.job.get() && row.token == lease.token.get());
                let (action, expires_in_s) = row
                    .and_then(|row| Some((LeaseAction::parse(&row.action)?, row.expires_in_s)))
                    .unwrap_or((LeaseAction::Lost, 0.0));
                let expires_in = Duration::try_from_secs_f64(expires_in_s).unwrap_or(Duration::ZERO);
                LeaseOrder {
                    job: lease.job,
                    token: lease.token,
                    action,
                    expires_in,
                }
            })
            .collect();
        Ok(BeatOutcome { orders })
    }

    /// Ends a job that was carried out. Said again after it was accepted, it is accepted again.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn complete(&self, claim: &Completion) -> Result<LeaseOutcome, StoreError> {
        self.complete_measured(claim, &[]).await
    }

    /// The same for a job that measured boards: stores its measures, which [`crate::measures`] let through, in the same
    /// transaction.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn complete_measured(
        &self,
        claim: &Completion,
        measured: &[(Canonical, Difficulty)],
    ) -> Result<LeaseOutcome, StoreError> {
        let mut tx = self.begin().await?;
        let counters = SqlCounters::from(&claim.counters);
        let digest = claim.digest.to_bytes();
        let row = sqlx::query!(
            r#"
            WITH ended AS (
                UPDATE jobs SET state = 'done', worker_id = NULL, expires_at = NULL, checkpoint = NULL, rate = 0,
                    ended_at = clock_timestamp(), work_done = $5, digest = $4, engine = workers.engine,
                    n_iterations = $5, n_legal = $6, n_clusters = $7, n_solvable = $8, n_too_large = $9,
                    n_positions = $10, n_accepted = $11, n_duplicates = $12, n_found = $13, cpu_ms = $16
                FROM workers
                WHERE jobs.id = $2 AND jobs.token = $3 AND jobs.state = 'leased'
                    AND jobs.worker_id = workers.id AND workers.session = $1
                    AND (jobs.kind = 'census') = $14 AND (jobs.kind = 'difficulty') = $15
                RETURNING jobs.id, jobs.token
            ), noted AS (
                UPDATE job_attempts SET ended_at = clock_timestamp(), outcome = 'done'
                FROM ended
                WHERE job_attempts.job_id = ended.id AND job_attempts.token = ended.token
            )
            SELECT EXISTS (SELECT FROM ended) OR EXISTS (
                SELECT FROM jobs
                JOIN job_attempts a ON a.job_id = jobs.id AND a.token = jobs.token
                JOIN workers w ON w.id = a.worker_id
                WHERE jobs.id = $2 AND jobs.token = $3 AND jobs.state = 'done' AND jobs.digest = $4 AND w.session = $1
            ) AS "is_accepted!"
            "#,
            claim.session.get(),
            claim.job.get(),
            claim.token.get(),
            digest.as_slice(),
            counters.iterations,
            counters.legal,
            counters.clusters,
            counters.solvable,
            counters.too_large,
            counters.positions,
            counters.accepted,
            counters.duplicates,
            counters.found,
            claim.census.is_some(),
            claim.measures.is_some(),
            i64::try_from(claim.cpu.as_millis()).unwrap_or(i64::MAX),
        )
        .fetch_one(&mut *tx.tx)
        .await?;
        if row.is_accepted
            && let Some(counts) = &claim.census
            && tx.count_range(claim.job, counts).await?
        {
            let event = EventToWrite {
                job: Some(claim.job),
                ..EventToWrite::new(
                    "coordinator",
                    EventKind::JobFailed,
                    "counted twice with different results",
                )
            };
            tx.write_event(&event).await?;
        }
        if row.is_accepted {
            tx.store_difficulty(measured).await?;
        }
        tx.commit().await?;
        Ok(outcome(row.is_accepted))
    }

    /// Takes a job back whose claim is not true, as failed, and holds it against the worker. Nothing happens if the lease
    /// is no longer the worker's: then the claim would not have been taken either.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn refuse_claim(
        &self,
        claim: &Completion,
        reason: &str,
        max_failures: u32,
        max_strikes: u32,
    ) -> Result<(), StoreError> {
        let Some(lease) = self.lease_origin(claim.session, claim.job, claim.token).await? else {
            return Ok(());
        };
        let release = Release {
            session: claim.session,
            job: claim.job,
            token: claim.token,
            reason: ReleaseReason::Error,
            detail: format!("claim refused: {reason}"),
            checkpoint: None,
            counters: claim.counters,
        };
        if self.release(&release, max_failures).await? == LeaseOutcome::Accepted {
            let mut tx = self.begin().await?;
            tx.note_strike(&lease, reason, max_strikes).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Takes a job back: to the queue, or parks it if it failed too often, or cancels it if its hunt is over.
    /// Said again after it was accepted, it is accepted again.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn release(&self, release: &Release, max_failures: u32) -> Result<LeaseOutcome, StoreError> {
        let counters = SqlCounters::from(&release.counters);
        let (attempt_outcome, is_failure) = match release.reason {
            ReleaseReason::Drain => ("drained", false),
            ReleaseReason::Paused => ("paused", false),
            ReleaseReason::Cancelled => ("cancelled", false),
            ReleaseReason::Error => ("failed", true),
            ReleaseReason::Unsupported => ("unsupported", true),
        };
        let row = sqlx::query!(
            r#"
            WITH ended AS (
                UPDATE jobs SET
                    state = CASE WHEN hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL) THEN 'cancelled'
                        WHEN jobs.n_failures + $4 >= $5 THEN 'parked' ELSE 'queued' END,
                    ended_at = CASE WHEN hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL)
                        OR jobs.n_failures + $4 >= $5 THEN clock_timestamp() END,
                    n_failures = jobs.n_failures + $4, worker_id = NULL, expires_at = NULL, rate = 0,
                    -- What led to a failure is not gone on with.
                    checkpoint = CASE WHEN $4 > 0 THEN NULL ELSE coalesce($8, jobs.checkpoint) END,
                    checkpoint_by = CASE WHEN $4 > 0 THEN NULL WHEN $8 IS NOT NULL THEN workers.identity
                        ELSE jobs.checkpoint_by END,
                    n_iterations = $9, n_legal = $10, n_clusters = $11, n_solvable = $12, n_too_large = $13,
                    n_positions = $14, n_accepted = $15, n_duplicates = $16, n_found = $17
                FROM workers, hunts
                WHERE jobs.id = $2 AND jobs.token = $3 AND jobs.state = 'leased'
                    AND jobs.worker_id = workers.id AND workers.session = $1 AND hunts.id = jobs.hunt_id
                RETURNING jobs.id, jobs.token, jobs.hunt_id, jobs.state, workers.id AS worker_id, workers.name
            ), noted AS (
                UPDATE job_attempts SET ended_at = clock_timestamp(), outcome = $6, detail = nullif($7, '')
                FROM ended
                WHERE job_attempts.job_id = ended.id AND job_attempts.token = ended.token
            ), told AS (
                INSERT INTO events (actor, kind, hunt_id, job_id, worker_id, detail)
                SELECT name, CASE WHEN state = 'parked' THEN 'job_parked' ELSE 'job_failed' END, hunt_id, id, worker_id, $7
                FROM ended
                WHERE $4 > 0
            )
            SELECT EXISTS (SELECT FROM ended) OR EXISTS (
                SELECT FROM job_attempts a
                JOIN workers w ON w.id = a.worker_id
                WHERE a.job_id = $2 AND a.token = $3 AND a.outcome = $6 AND w.session = $1
            ) AS "is_accepted!"
            "#,
            release.session.get(),
            release.job.get(),
            release.token.get(),
            i32::from(is_failure),
            i32::try_from(max_failures).unwrap_or(i32::MAX),
            attempt_outcome,
            super::text(&release.detail, 1_000),
            release.checkpoint.as_deref(),
            counters.iterations,
            counters.legal,
            counters.clusters,
            counters.solvable,
            counters.too_large,
            counters.positions,
            counters.accepted,
            counters.duplicates,
            counters.found,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(outcome(row.is_accepted))
    }

    /// Takes back every job that a worker holds, as drained; how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn release_all(&self, session: Session) -> Result<u64, StoreError> {
        let row = sqlx::query!(
            r#"
            WITH ended AS (
                UPDATE jobs SET
                    state = CASE WHEN hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL)
                        THEN 'cancelled' ELSE 'queued' END,
                    ended_at = CASE WHEN hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL)
                        THEN clock_timestamp() END,
                    worker_id = NULL, expires_at = NULL, rate = 0
                FROM workers, hunts
                WHERE jobs.state = 'leased' AND jobs.worker_id = workers.id AND workers.session = $1
                    AND hunts.id = jobs.hunt_id
                RETURNING jobs.id, jobs.token
            ), noted AS (
                UPDATE job_attempts SET ended_at = clock_timestamp(), outcome = 'drained'
                FROM ended
                WHERE job_attempts.job_id = ended.id AND job_attempts.token = ended.token
            )
            SELECT count(*) AS "n!" FROM ended
            "#,
            session.get(),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(super::from_sql(row.n))
    }

    /// Takes back every job whose lease ran out: to the queue, or parks it if it failed too often, or cancels it if its
    /// hunt is over. Coordinators that do so at once do not meet (SKIP LOCKED).
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn expire(&self, max_failures: u32) -> Result<Vec<Expired>, StoreError> {
        self.expire_and_revoke(max_failures, u32::MAX).await
    }

    /// The same, and every job whose work stood still for so many beats, asked for a checkpoint in between: that counts
    /// against its worker.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn expire_and_revoke(
        &self,
        max_failures: u32,
        revoke_beats: u32,
    ) -> Result<Vec<Expired>, StoreError> {
        let rows = sqlx::query!(
            r#"
            WITH late AS (
                SELECT jobs.id, jobs.worker_id,
                    hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL) AS is_over,
                    CASE WHEN jobs.expires_at < clock_timestamp() THEN 'expired' ELSE 'stalled' END AS outcome
                FROM jobs
                JOIN hunts ON hunts.id = jobs.hunt_id
                WHERE jobs.state = 'leased' AND (jobs.expires_at < clock_timestamp() OR jobs.flat_beats >= $2)
                ORDER BY jobs.id
                LIMIT 10000
                FOR UPDATE OF jobs SKIP LOCKED
            ), ended AS (
                UPDATE jobs SET
                    state = CASE WHEN late.is_over THEN 'cancelled'
                        WHEN jobs.n_failures + 1 >= $1 THEN 'parked' ELSE 'queued' END,
                    ended_at = CASE WHEN late.is_over OR jobs.n_failures + 1 >= $1 THEN clock_timestamp() END,
                    n_failures = jobs.n_failures + 1, worker_id = NULL, expires_at = NULL, rate = 0, flat_beats = 0
                FROM late
                WHERE jobs.id = late.id
                RETURNING jobs.id, jobs.token, jobs.hunt_id, jobs.state, late.worker_id, late.outcome
            ), noted AS (
                UPDATE job_attempts SET ended_at = clock_timestamp(), outcome = ended.outcome
                FROM ended
                WHERE job_attempts.job_id = ended.id AND job_attempts.token = ended.token
            ), counted AS (
                UPDATE workers SET n_stalls = n_stalls + stalled.n
                FROM (SELECT worker_id, count(*)::int AS n FROM ended WHERE outcome = 'stalled' GROUP BY worker_id) stalled
                WHERE workers.id = stalled.worker_id
            ), told AS (
                INSERT INTO events (actor, kind, hunt_id, job_id, worker_id, detail)
                SELECT 'coordinator', CASE WHEN state = 'parked' THEN 'job_parked' ELSE 'job_' || outcome END,
                    hunt_id, id, worker_id,
                    'lease ' || token || CASE WHEN outcome = 'stalled' THEN ': its work stood still' ELSE ' ran out' END
                FROM ended
            )
            SELECT id, token, hunt_id, state = 'parked' AS "is_parked!", outcome = 'stalled' AS "is_stall!" FROM ended ORDER BY id
            "#,
            i32::try_from(max_failures).unwrap_or(i32::MAX),
            i32::try_from(revoke_beats).unwrap_or(i32::MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| Expired {
                job: job_id(row.id),
                hunt: super::hunts::hunt_id(row.hunt_id),
                token: token(row.token),
                is_parked: row.is_parked,
                is_stall: row.is_stall,
            })
            .collect())
    }

    /// What is wrong with a claim that can be seen without running the job again: a job stops on its number of iterations,
    /// hands in every board that it found before it claims, and its digest is that of these boards and of what it says it
    /// counted. So an honest digest fits nothing but the whole of an honest result. `None`: nothing, or there is no such
    /// lease any more, or not all of it was handed in to this version.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn fault_of_claim(&self, claim: &Completion) -> Result<Option<String>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT j.n_work, b.n_boards AS "n_boards!", b.board_sum AS "board_sum!"
            FROM jobs j
            JOIN workers w ON w.id = j.worker_id AND w.session = $3 AND w.engine = $4
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(b.n_inserted + b.n_duplicate
                        + (SELECT count(*) FROM rejections r WHERE r.batch_id = b.id)), 0)::bigint AS n_boards,
                    mod(coalesce(sum(b.board_sum), 0), 340282366920938463463374607431768211456)::text AS board_sum,
                    coalesce(bool_and(b.board_sum IS NOT NULL), true) AS are_summed
                FROM batches b WHERE b.job_id = j.id AND b.token = j.token
            ) b
            WHERE j.id = $1 AND j.token = $2 AND j.state = 'leased' AND j.kind IN ('scatter', 'anneal', 'census')
                AND b.are_summed
            "#,
            claim.job.get(),
            claim.token.get(),
            claim.session.get(),
            ENGINE,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let counters = &claim.counters;
        if to_sql(counters.iterations) != row.n_work {
            let told = format!("claims {} iterations of {}", counters.iterations, row.n_work);
            return Ok(Some(told));
        }
        if to_sql(counters.found) != row.n_boards {
            let told = format!("claims {} boards, handed in {}", counters.found, row.n_boards);
            return Ok(Some(told));
        }
        let board_sum = row.board_sum.parse().expect("a number below 2^128");
        let digest = JobDigest::of(board_sum, counters, claim.census.as_ref());
        Ok((digest != claim.digest).then(|| {
            format!(
                "claims digest {}, that of what it handed in and counted is {digest}",
                claim.digest
            )
        }))
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
    async fn grant_queued(&mut self, wish: &Acquire, lease_ttl: Duration) -> Result<Vec<Lease>, StoreError> {
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
                LEFT JOIN hunt_shares s ON s.hunt_id = h.id
                LEFT JOIN jobs audited ON audited.id = j.audit_of
                LEFT JOIN census_ranges r ON r.job_id = coalesce(j.audit_of, j.id)
                WHERE j.state = 'queued' AND j.kind = ANY ($2)
                    AND (h.state = 'running' AND (h.ends_at IS NULL OR h.ends_at > clock_timestamp())
                        -- What a hunt that is done has claimed is checked all the same.
                        OR j.audit_of IS NOT NULL AND h.state IN ('running', 'done'))
                    -- An audit goes to the engine that it checks, and never to who made one of the runs.
                    AND (j.audit_of IS NULL OR (audited.state = 'done' AND audited.engine = me.engine AND NOT EXISTS (
                        SELECT FROM jobs run
                        JOIN job_attempts a ON a.job_id = run.id AND a.token = run.token AND a.outcome = 'done'
                        JOIN workers who ON who.id = a.worker_id
                        WHERE who.identity = me.identity AND (run.id IN (j.audit_of, r.repeat_of) OR run.audit_of = j.audit_of
                            OR run.id IN (SELECT twin.job_id FROM census_ranges twin WHERE twin.repeat_of = j.audit_of)))))
                    -- A census goes on with the engine that numbered it.
                    AND (r.job_id IS NULL OR (SELECT c.engine FROM censuses c WHERE c.hunt_id = r.hunt_id) = me.engine)
                    -- A second count goes to another worker, if there is one.
                    AND (r.repeat_of IS NULL OR j.audit_of IS NOT NULL OR NOT EXISTS (
                        SELECT FROM job_attempts a
                        JOIN workers who ON who.id = a.worker_id
                        WHERE a.job_id = r.repeat_of AND a.outcome IN ('running', 'done') AND who.identity = me.identity AND EXISTS (
                            SELECT FROM workers other
                            WHERE other.identity <> me.identity AND other.gone_at IS NULL AND other.quarantined_at IS NULL
                                AND other.directive = 'run')))
                ORDER BY s.is_owed_its_first DESC NULLS LAST, h.priority DESC, s.step NULLS LAST,
                    -- What failed here is better tried elsewhere.
                    (j.n_failures > 0 AND EXISTS (
                        SELECT FROM job_attempts a JOIN workers who ON who.id = a.worker_id
                        WHERE a.job_id = j.id AND a.token = j.token AND who.identity = me.identity
                            AND a.outcome IN ('failed', 'unsupported', 'expired', 'stalled'))),
                    j.id
                LIMIT $3
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
            hunt: super::hunts::hunt_id(row.hunt_id),
            token: token(row.token),
            expires_in: Duration::try_from_secs_f64(row.expires_in_s).unwrap_or(Duration::ZERO),
            attempt: narrow::<u32>("jobs", row.id, "n_failures", row.n_failures.into())?.saturating_add(1),
            spec: decode_spec(row.id, &row.spec)?,
            checkpoint: row.checkpoint,
        })
    }
}

/// The counters as claimed.
struct SqlCounters {
    iterations: i64,
    legal: i64,
    clusters: i64,
    solvable: i64,
    too_large: i64,
    positions: i64,
    accepted: i64,
    duplicates: i64,
    found: i64,
}

impl From<&Counters> for SqlCounters {
    fn from(counters: &Counters) -> SqlCounters {
        SqlCounters {
            iterations: to_sql(counters.iterations),
            legal: to_sql(counters.legal),
            clusters: to_sql(counters.clusters),
            solvable: to_sql(counters.solvable),
            too_large: to_sql(counters.too_large),
            positions: to_sql(counters.positions),
            accepted: to_sql(counters.accepted),
            duplicates: to_sql(counters.duplicates),
            found: to_sql(counters.found),
        }
    }
}

pub(super) fn decode_spec(id: i64, bytes: &[u8]) -> Result<proto::convert::Work, StoreError> {
    let unreadable = |reason: String| StoreError::Unreadable {
        table: "jobs",
        id,
        reason,
    };
    let wire = v1::JobSpec::decode(bytes).map_err(|error| unreadable(error.to_string()))?;
    wire.try_into()
        .map_err(|error: proto::convert::WireError| unreadable(error.to_string()))
}

pub(super) fn job_id(id: i64) -> JobId {
    JobId::new(id).expect("identities start at 1")
}

fn token(token: i64) -> FencingToken {
    FencingToken::new(token).expect("a granted job's token is 1 or more")
}

fn outcome(is_accepted: bool) -> LeaseOutcome {
    if is_accepted {
        LeaseOutcome::Accepted
    } else {
        LeaseOutcome::Lost
    }
}
