//! Leases: who may run which job, until when. Renew, release, expire; granting is in `grants`, completing in `claims`.
//!
//! The race that all of this is about: a worker that was taken for dead comes back after its job went to another.
//! Its token is smaller than the job's, so every statement here finds no row for it, and it is told that it lost.

use std::time::Duration;

use proto::convert::{Beat, LeaseAction, LeaseBeat, LeaseOrder, LeaseOutcome, Release, ReleaseReason};
use proto::ids::{FencingToken, HuntId, JobId, Session};
use time::OffsetDateTime;

use super::claims::SqlCounters;
use super::{Store, StoreError, WorkerStanding, to_sql, workers};

/// So long a worker in quarantine may keep what it has: an honest one is done with it by then.
const LAST_WORDS: Duration = Duration::from_mins(10);

/// So many outages weigh as much as one failure: some jobs take down who runs them.
pub const OUTAGES_PER_FAILURE: u32 = 4;

/// What a beat was answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeatOutcome {
    /// One order for each lease of the beat, in its order.
    pub orders: Vec<LeaseOrder>,
    /// Who beat, as it stands after the beat; `None`: nobody that we know.
    pub standing: Option<WorkerStanding>,
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
    /// Nobody could hear its beats: it is no failure.
    pub is_outage: bool,
}

/// Since when beats could be heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// From then on a coordinator was up, and the database too.
    pub since: OffsetDateTime,
    /// How long a lease lasts from each renewal.
    pub lease_ttl: Duration,
}

impl Store {
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
        // One statement for all of it: of what a farm asks of its database, nothing is asked as often.
        let rows = sqlx::query_as!(
            BeatRow,
            r#"
            WITH beater AS (
                UPDATE workers SET last_seen = clock_timestamp(), last_seq = greatest(workers.last_seq, $2), gone_at = NULL
                FROM (SELECT id, last_seq FROM workers WHERE session = $1 FOR NO KEY UPDATE) former
                WHERE workers.id = former.id
                RETURNING workers.id, workers.identity, former.last_seq < $2 AS is_newest, workers.name, workers.engine,
                    workers.program_version, workers.self_test, workers.directive, workers.quarantined_at
            ), renewed AS (
                UPDATE jobs SET
                    -- Who was told to stop, or is in quarantine for long, keeps nothing by beating: what it has runs out.
                    expires_at = CASE WHEN beater.is_newest AND beater.directive <> 'stop'
                            AND (beater.quarantined_at IS NULL OR beater.quarantined_at > clock_timestamp() - make_interval(secs => $10))
                        THEN clock_timestamp() + make_interval(secs => $3) ELSE jobs.expires_at END,
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
                        AS expires_in_s,
                    CASE WHEN hunts.state = 'cancelled' THEN 'cancel'
                        -- What a hunt that is done has claimed is checked all the same.
                        WHEN jobs.audit_of IS NULL AND (hunts.state = 'done' OR hunts.ends_at <= now()) THEN 'cancel'
                        WHEN hunts.state = 'paused' THEN 'pause'
                        WHEN jobs.flat_beats >= $9 THEN 'checkpoint' ELSE 'continue' END AS action
            )
            SELECT beater.id AS "worker_id!", beater.name AS "name!", beater.engine AS "engine!",
                beater.program_version AS "program_version!", beater.self_test, beater.directive AS "directive!",
                beater.quarantined_at IS NOT NULL AS "is_quarantined!",
                renewed.id AS "job_id?", renewed.token AS "token?", renewed.expires_in_s AS "expires_in_s?",
                renewed.action AS "action?"
            FROM beater LEFT JOIN renewed ON true
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
            LAST_WORDS.as_secs_f64(),
        )
        .fetch_all(&self.reserve)
        .await?;
        let order = |lease: &LeaseBeat| {
            let row = rows
                .iter()
                .find(|row| (row.job_id, row.token) == (Some(lease.job.get()), Some(lease.token.get())));
            let (action, expires_in_s) = row
                .and_then(|row| Some((LeaseAction::parse(row.action.as_deref()?)?, row.expires_in_s?)))
                .unwrap_or((LeaseAction::Lost, 0.0));
            LeaseOrder {
                job: lease.job,
                token: lease.token,
                action,
                expires_in: Duration::try_from_secs_f64(expires_in_s).unwrap_or(Duration::ZERO),
            }
        };
        Ok(BeatOutcome {
            orders: beat.leases.iter().map(order).collect(),
            standing: rows
                .into_iter()
                .next()
                .map(|row| row.standing(beat.session))
                .transpose()?,
        })
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

    /// Notes a look for lost leases, and says since when there was no gap between two looks longer than `max_gap`. What
    /// counts is the farm: another coordinator's looks fill the gaps of this one.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn watch(&self, max_gap: Duration, lease_ttl: Duration) -> Result<Watch, StoreError> {
        let row = sqlx::query!(
            r#"
            UPDATE farm_watch SET last_round = clock_timestamp(),
                -- A clock that was set back or forward is a gap too: leases were measured by it.
                since = CASE WHEN last_round BETWEEN clock_timestamp() - make_interval(secs => $1) AND clock_timestamp()
                    THEN since ELSE clock_timestamp() END
            RETURNING since
            "#,
            max_gap.as_secs_f64(),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Watch {
            since: row.since,
            lease_ttl,
        })
    }

    /// Takes back every job whose lease ran out: to the queue, or parks it if it failed too often, or cancels it if its
    /// hunt is over. Coordinators that do so at once do not meet (SKIP LOCKED).
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn expire(&self, max_failures: u32) -> Result<Vec<Expired>, StoreError> {
        self.expire_and_revoke(max_failures, u32::MAX, None).await
    }

    /// The same, and every job whose work stood still for so many beats, asked for a checkpoint in between: that counts
    /// against its worker. With a `watch`, a lease counts as failed only if beats could be heard all the time from its last
    /// renewal on. Else it is an outage of the farm; but a job with [`OUTAGES_PER_FAILURE`] times as many of those as it may
    /// fail is parked too: it may be what takes the coordinator down.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn expire_and_revoke(
        &self,
        max_failures: u32,
        revoke_beats: u32,
        watch: Option<&Watch>,
    ) -> Result<Vec<Expired>, StoreError> {
        let rows = sqlx::query!(
            r#"
            WITH late AS (
                SELECT jobs.id, jobs.worker_id, jobs.n_failures, jobs.n_outages,
                    hunts.state = 'cancelled' OR (hunts.state = 'done' AND jobs.audit_of IS NULL) AS is_over,
                    CASE WHEN jobs.expires_at >= clock_timestamp() THEN 'stalled'
                        WHEN jobs.expires_at - make_interval(secs => $4) < $3::timestamptz THEN 'outage' ELSE 'expired' END AS outcome
                FROM jobs
                JOIN hunts ON hunts.id = jobs.hunt_id
                WHERE jobs.state = 'leased' AND (jobs.expires_at < clock_timestamp() OR jobs.flat_beats >= $2)
                ORDER BY jobs.id
                LIMIT 10000
                FOR UPDATE OF jobs SKIP LOCKED
            ), counted_up AS (
                SELECT id, worker_id, outcome, is_over, n_failures + (outcome <> 'outage')::integer AS n_failures,
                    n_outages + (outcome = 'outage')::integer AS n_outages
                FROM late
            ), ended AS (
                UPDATE jobs SET
                    state = CASE WHEN up.is_over THEN 'cancelled'
                        WHEN up.n_failures >= $1 OR up.n_outages >= $5 THEN 'parked' ELSE 'queued' END,
                    ended_at = CASE WHEN up.is_over OR up.n_failures >= $1 OR up.n_outages >= $5 THEN clock_timestamp() END,
                    n_failures = up.n_failures, n_outages = up.n_outages, worker_id = NULL, expires_at = NULL, rate = 0, flat_beats = 0
                FROM counted_up up
                WHERE jobs.id = up.id
                RETURNING jobs.id, jobs.token, jobs.hunt_id, jobs.state, up.worker_id, up.outcome
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
                SELECT 'coordinator', CASE WHEN state = 'parked' THEN 'job_parked' WHEN outcome = 'stalled' THEN 'job_stalled' ELSE 'job_expired' END,
                    hunt_id, id, worker_id,
                    'lease ' || token || CASE outcome WHEN 'stalled' THEN ': its work stood still'
                        WHEN 'outage' THEN ' ran out while no coordinator could hear its beats, which is no failure' ELSE ' ran out' END
                FROM ended
            )
            SELECT id, token, hunt_id, state = 'parked' AS "is_parked!", outcome = 'stalled' AS "is_stall!",
                outcome = 'outage' AS "is_outage!"
            FROM ended ORDER BY id
            "#,
            i32::try_from(max_failures).unwrap_or(i32::MAX),
            i32::try_from(revoke_beats).unwrap_or(i32::MAX),
            watch.map(|watch| watch.since),
            watch.map_or(0.0, |watch| watch.lease_ttl.as_secs_f64()),
            i32::try_from(max_failures.saturating_mul(OUTAGES_PER_FAILURE)).unwrap_or(i32::MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| Expired {
                job: job_id(row.id),
                hunt: super::hunt_record::hunt_id(row.hunt_id),
                token: token(row.token),
                is_parked: row.is_parked,
                is_stall: row.is_stall,
                is_outage: row.is_outage,
            })
            .collect())
    }
}

/// A lease renewed by a beat, beside who beat; without one if it renewed none.
struct BeatRow {
    worker_id: i64,
    name: String,
    engine: String,
    program_version: String,
    self_test: Option<Vec<u8>>,
    directive: String,
    is_quarantined: bool,
    job_id: Option<i64>,
    token: Option<i64>,
    expires_in_s: Option<f64>,
    action: Option<String>,
}

impl BeatRow {
    fn standing(self, session: Session) -> Result<WorkerStanding, StoreError> {
        Ok(WorkerStanding {
            id: self.worker_id,
            directive: workers::directive(self.worker_id, &self.directive)?,
            name: self.name,
            session,
            engine: self.engine,
            program_version: self.program_version,
            self_test: self.self_test.unwrap_or_default(),
            is_quarantined: self.is_quarantined,
            // Who beats is there.
            is_gone: false,
        })
    }
}

pub(super) fn decode_spec(id: i64, bytes: &[u8]) -> Result<proto::convert::Work, StoreError> {
    proto::convert::Work::from_bytes(bytes).map_err(|error| StoreError::Unreadable {
        table: "jobs",
        id,
        reason: error.to_string(),
    })
}

pub(super) fn job_id(id: i64) -> JobId {
    JobId::new(id).expect("identities start at 1")
}

pub(super) fn token(token: i64) -> FencingToken {
    FencingToken::new(token).expect("a granted job's token is 1 or more")
}

pub(super) fn outcome(is_accepted: bool) -> LeaseOutcome {
    if is_accepted {
        LeaseOutcome::Accepted
    } else {
        LeaseOutcome::Lost
    }
}
