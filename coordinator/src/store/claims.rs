//! Claims: what a worker says at the end of a job, held against what it handed in, and taken once.

use board::ENGINE;
use board::canonical::Canonical;
use board::difficulty::Difficulty;
use board::job::{Counters, JobDigest};
use proto::convert::{Completion, LeaseOutcome, Release, ReleaseReason};

use super::leases::outcome;
use super::{EventKind, EventToWrite, Sampling, Store, StoreError, to_sql};

impl Store {
    /// Ends a job that was carried out. Said again after it was accepted, it is accepted again.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn complete(&self, claim: &Completion) -> Result<LeaseOutcome, StoreError> {
        self.complete_sampled(claim, &[], None).await
    }

    /// The same with all that follows from it, in one transaction: whether the job is run again by another worker is drawn
    /// (`sampling`), and of a job that measured boards the measures are stored, which [`crate::measures`] let through.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn complete_sampled(
        &self,
        claim: &Completion,
        measured: &[(Canonical, Difficulty)],
        sampling: Option<&Sampling<'_>>,
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
                RETURNING jobs.id, jobs.token, jobs.hunt_id, jobs.kind, jobs.number, jobs.audit_of, jobs.n_work, jobs.n_failures,
                    jobs.ended_at, workers.id AS worker_id, workers.n_lone_failures, coalesce(workers.credential, '') AS party
            ), noted AS (
                UPDATE job_attempts SET ended_at = ended.ended_at, outcome = 'done'
                FROM ended
                WHERE job_attempts.job_id = ended.id AND job_attempts.token = ended.token
                RETURNING job_attempts.started_at
            ), measured AS (
                INSERT INTO job_paces (hunt_id, kind, party, place, job_id, worker_id, n_work, seconds, ended_at)
                SELECT hunt_id, kind, party, number % 8, id, worker_id, n_work,
                    greatest(extract(epoch FROM ended_at - started_at), 0), ended_at
                FROM ended, noted
                WHERE audit_of IS NULL
                ON CONFLICT (hunt_id, kind, party, place) DO UPDATE SET job_id = EXCLUDED.job_id,
                    worker_id = EXCLUDED.worker_id, n_work = EXCLUDED.n_work, seconds = EXCLUDED.seconds,
                    ended_at = EXCLUDED.ended_at
            )
            SELECT ended.id IS NOT NULL AS "is_new!", coalesce(ended.n_failures, 0) > 0 AS "failed_before!",
                coalesce(ended.n_lone_failures, 0) > 0 AS "has_failed!", ended.worker_id AS "worker_id?",
                ended.id IS NOT NULL OR EXISTS (
                    SELECT FROM jobs
                    JOIN job_attempts a ON a.job_id = jobs.id AND a.token = jobs.token
                    JOIN workers w ON w.id = a.worker_id
                    WHERE jobs.id = $2 AND jobs.token = $3 AND jobs.state = 'done' AND jobs.digest = $4 AND w.session = $1
                ) AS "is_accepted!"
            FROM (VALUES (true)) AS told
            LEFT JOIN ended ON true
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
        // Said again, all of this was done the first time.
        if let (true, Some(worker_id)) = (row.is_new, row.worker_id) {
            if row.has_failed {
                tx.forget_lone_failures(worker_id).await?;
            }
            if row.failed_before {
                tx.note_lone_failures(claim.job, worker_id).await?;
            }
            if let Some(sampling) = sampling {
                tx.sample_audit(claim.job, sampling).await?;
            }
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
            WHERE j.id = $1 AND j.token = $2 AND j.state = 'leased' AND j.kind IN ('scatter', 'anneal', 'sweep', 'census')
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

/// The counters as claimed.
pub(super) struct SqlCounters {
    pub(super) iterations: i64,
    pub(super) legal: i64,
    pub(super) clusters: i64,
    pub(super) solvable: i64,
    pub(super) too_large: i64,
    pub(super) positions: i64,
    pub(super) accepted: i64,
    pub(super) duplicates: i64,
    pub(super) found: i64,
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
