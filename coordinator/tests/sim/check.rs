//! The invariants of the database, looked at after each operation.

use std::collections::{BTreeMap, BTreeSet};

use board::census::RangeOutcome;
use sqlx::PgPool;

use crate::book::{Book, Broken, Truth, ensure};
use crate::ops::N_HONEST;
use crate::worker::name;

/// The database as it was at the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) jobs: BTreeMap<i64, Job>,
    /// Their states.
    pub(crate) hunts: BTreeMap<i64, String>,
    /// Every board, by par and spelling.
    boards: BTreeSet<(i16, String)>,
    last_batch: i64,
}

/// A job as it was.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) hunt: i64,
    pub(crate) token: i64,
    pub(crate) state: String,
    /// Whether it runs again what another worker claimed.
    pub(crate) is_audit: bool,
    digest: Option<Vec<u8>>,
    n_iterations: i64,
    n_found: i64,
    counts: Option<String>,
}

/// Sums that must agree, and sets that must be empty.
#[derive(Debug, sqlx::FromRow)]
struct Sums {
    boards: i64,
    counted: i64,
    inserted: i64,
    inserted_by_jobs: i64,
    new_by_jobs: i64,
    known_by_batches: i64,
    known_by_jobs: i64,
    last_batch: i64,
    leased_without_attempt: i64,
    running_without_lease: i64,
    gaps_in_tokens: i64,
    done_twice: i64,
    done_without_attempt: i64,
    units_twice: i64,
    counted_not_done: i64,
    honest_struck: i64,
    unreadable: i64,
}

/// (At a restore tokens go on from a mark: a number of milliseconds.)
const SUMS: &str = "
    SELECT (SELECT count(*) FROM boards) AS boards,
        (SELECT coalesce(sum(n_boards), 0)::bigint FROM board_counts) AS counted,
        b.inserted, b.inserted_by_jobs, j.new_by_jobs, b.known_by_batches, j.known_by_jobs, b.last_batch,
        (SELECT count(*) FROM jobs WHERE state = 'leased' AND NOT EXISTS (
            SELECT FROM job_attempts a WHERE a.job_id = jobs.id AND a.token = jobs.token
                AND a.worker_id = jobs.worker_id AND a.outcome = 'running')) AS leased_without_attempt,
        (SELECT count(*) FROM job_attempts a JOIN jobs ON jobs.id = a.job_id WHERE a.outcome = 'running'
            AND (jobs.state <> 'leased' OR jobs.token <> a.token)) AS running_without_lease,
        (SELECT count(*) FROM (
            SELECT token, token - lag(token, 1, 0::bigint) OVER (PARTITION BY id ORDER BY token) AS step FROM (
                SELECT id, token FROM jobs WHERE token > 0 UNION SELECT job_id, token FROM job_attempts) t) x
            WHERE step > 1 AND token <> ALL ($1) AND token - 1 <> ALL ($1))
            + (SELECT count(*) FROM job_attempts a JOIN jobs ON jobs.id = a.job_id WHERE a.token > jobs.token) AS gaps_in_tokens,
        (SELECT count(*) FROM (SELECT job_id FROM job_attempts WHERE outcome = 'done'
            GROUP BY job_id HAVING count(*) > 1) x) AS done_twice,
        (SELECT count(*) FROM jobs WHERE state = 'done' AND NOT EXISTS (
            SELECT FROM job_attempts a WHERE a.job_id = jobs.id AND a.token = jobs.token AND a.outcome = 'done'))
            AS done_without_attempt,
        (SELECT coalesce(sum(n_overlapping), 0)::bigint FROM census_coverage) AS units_twice,
        (SELECT count(*) FROM census_ranges r JOIN jobs ON jobs.id = r.job_id
            WHERE (r.counted_at IS NOT NULL) <> (jobs.state = 'done')) AS counted_not_done,
        (SELECT count(*) FROM workers WHERE name LIKE 'honest%' AND (strikes > 0 OR quarantined_at IS NOT NULL))
            AS honest_struck,
        (SELECT count(*) FROM hunt_progress WHERE positions_per_s = 'infinity') AS unreadable
    FROM (SELECT coalesce(sum(n_inserted), 0)::bigint AS inserted,
            coalesce(sum(n_inserted) FILTER (WHERE job_id IS NOT NULL), 0)::bigint AS inserted_by_jobs,
            coalesce(sum(n_duplicate) FILTER (WHERE job_id IS NOT NULL), 0)::bigint AS known_by_batches,
            coalesce(max(id), 0) AS last_batch FROM batches) b,
        (SELECT coalesce(sum(n_new), 0)::bigint AS new_by_jobs, coalesce(sum(n_known), 0)::bigint AS known_by_jobs
            FROM jobs) j";

const JOBS: &str = "
    SELECT id, hunt_id AS hunt, token, state, audit_of IS NOT NULL AS is_audit, digest, n_iterations, n_found,
        (SELECT string_agg(c::text, ' ' ORDER BY par) FROM census_counts c WHERE c.job_id = jobs.id) AS counts
    FROM jobs ORDER BY id";

const NEW_BOARDS: &str = "
    SELECT b.par, b.canonical, b.n_states, b.minimal FROM boards b WHERE b.batch_id > $1";

impl Book {
    /// Looks at the database and says what is broken.
    pub(crate) async fn check(&mut self, pool: &PgPool, truth: &mut Truth) -> Result<(), Broken> {
        let sums: Sums = sqlx::query_as(SUMS)
            .bind(&self.marks)
            .fetch_one(pool)
            .await
            .map_err(|error| error.to_string())?;
        check_sums(&sums)?;
        self.check_boards(pool, &sums, truth).await?;
        self.check_jobs(pool).await?;
        let hunts: Vec<(i64, String)> = sqlx::query_as("SELECT id, state FROM hunts")
            .fetch_all(pool)
            .await
            .expect("a look");
        self.seen.hunts = hunts.into_iter().collect();
        Ok(())
    }

    /// Every new board proves; none that was there has gone, since all are counted.
    async fn check_boards(&mut self, pool: &PgPool, sums: &Sums, truth: &mut Truth) -> Result<(), Broken> {
        let seen = &mut self.seen;
        if sums.last_batch > seen.last_batch {
            let rows: Vec<(i16, String, i64, Option<bool>)> = sqlx::query_as(NEW_BOARDS)
                .bind(seen.last_batch)
                .fetch_all(pool)
                .await
                .expect("a look");
            for (par, canonical, states, minimal) in rows {
                let found = truth.check(u32::from(par.unsigned_abs()), &canonical)?;
                ensure(
                    i64::try_from(found.states) == Ok(states)
                        && (minimal.is_none() || minimal == found.minimal),
                    &format!("board {canonical} was stored with {states} positions, minimal {minimal:?}"),
                )?;
                ensure(seen.boards.insert((par, canonical)), "a board was stored twice")?;
            }
            seen.last_batch = sums.last_batch;
        }
        let n_seen = i64::try_from(seen.boards.len()).expect("few boards");
        ensure(
            n_seen == sums.boards,
            &format!("{n_seen} boards were stored, {} are there", sums.boards),
        )?;
        // Those looked at before are among the boards seen, of which none has gone.
        for (par, spelling) in self.acknowledged.drain(..) {
            let board = (i16::try_from(par).unwrap_or(-1), spelling);
            ensure(
                seen.boards.contains(&board),
                &format!("{board:?} was acknowledged and is not there"),
            )?;
        }
        Ok(())
    }

    /// Tokens only grow, and what is done stays as it is.
    async fn check_jobs(&mut self, pool: &PgPool) -> Result<(), Broken> {
        let jobs: Vec<Job> = sqlx::query_as(JOBS).fetch_all(pool).await.expect("a look");
        for job in &jobs {
            if let Some(before) = self.seen.jobs.get(&job.id) {
                ensure(
                    before.token <= job.token,
                    &format!("the token of job {} fell", job.id),
                )?;
                ensure(
                    before.state != "done" || before == job,
                    &format!("job {} was done and changed: {before:?} {job:?}", job.id),
                )?;
            }
            let is_as_claimed = match self.claimed.get(&job.id) {
                None => true,
                Some((token, digest)) => {
                    job.state == "done" && job.token == *token && job.digest.as_ref() == Some(digest)
                }
            };
            ensure(
                is_as_claimed,
                &format!("the claim of job {} was accepted and is not kept", job.id),
            )?;
        }
        let n_before = self.seen.jobs.len();
        self.seen.jobs = jobs.into_iter().map(|job| (job.id, job)).collect();
        ensure(self.seen.jobs.len() >= n_before, "a job is gone")
    }

    /// What must hold when everything is over: nothing left to do, every census whole.
    pub(crate) async fn check_end(
        &self,
        pool: &PgPool,
        truth: &mut Truth,
        whole: &RangeOutcome,
    ) -> Result<(), Broken> {
        let open: Vec<(String, String)> =
            sqlx::query_as("SELECT name, state FROM hunts WHERE state IN ('running', 'paused')")
                .fetch_all(pool)
                .await
                .expect("a look");
        ensure(open.is_empty(), &format!("hunts never ended: {open:?}"))?;
        self.check_all_boards(pool, truth).await?;
        let gaps: Vec<(i64, String)> = sqlx::query_as(
            "SELECT c.hunt_id, c.missing FROM census_coverage c JOIN hunts h ON h.id = c.hunt_id
            WHERE h.state = 'done' AND c.missing <> '{}'",
        )
        .fetch_all(pool)
        .await
        .expect("a look");
        ensure(
            gaps.is_empty(),
            &format!("censuses are done and have gaps: {gaps:?}"),
        )?;
        if self.is_census_spoiled {
            return Ok(());
        }
        let wrong: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT t.hunt_id, sum(t.solvable)::bigint, sum(t.minimal)::bigint
            FROM census_totals t JOIN hunts h ON h.id = t.hunt_id WHERE h.state = 'done'
            GROUP BY t.hunt_id HAVING (sum(t.solvable), sum(t.minimal)) <> ($1, $2)",
        )
        .bind(i64::try_from(whole.solvable()).expect("few"))
        .bind(i64::try_from(whole.minimal()).expect("few"))
        .fetch_all(pool)
        .await
        .expect("a look");
        ensure(
            wrong.is_empty(),
            &format!("censuses are done and count wrong: {wrong:?}"),
        )
    }

    /// Every board is as it was stored, and proves.
    pub(crate) async fn check_all_boards(&self, pool: &PgPool, truth: &mut Truth) -> Result<(), Broken> {
        let boards: Vec<(i16, String)> = sqlx::query_as("SELECT par, canonical FROM boards")
            .fetch_all(pool)
            .await
            .expect("a look");
        for (par, canonical) in &boards {
            truth.check(u32::from(par.unsigned_abs()), canonical)?;
        }
        ensure(
            boards.into_iter().collect::<BTreeSet<_>>() == self.seen.boards,
            "boards are not what they were",
        )
    }

    /// Whether this worker could have been given something. What it or its token did before may be kept for others, so that
    /// it must not be.
    pub(crate) async fn is_work_left(
        &self,
        pool: &PgPool,
        worker: usize,
        token: Option<&str>,
        kinds: &[&str],
    ) -> bool {
        assert!(worker < N_HONEST, "liars may be quarantined");
        sqlx::query_scalar(
            "WITH mine AS (
                SELECT a.* FROM job_attempts a JOIN workers w ON w.id = a.worker_id WHERE w.name = $2 OR w.credential = $3
            )
            SELECT EXISTS (
                SELECT FROM jobs j JOIN hunts h ON h.id = j.hunt_id
                WHERE j.state = 'queued' AND j.kind = ANY ($1) AND h.state = 'running'
                    AND (h.ends_at IS NULL OR h.ends_at > clock_timestamp())
                    AND NOT (j.n_failures > 0 AND EXISTS (SELECT FROM mine WHERE mine.job_id = j.id
                        AND mine.outcome IN ('failed', 'unsupported', 'expired', 'stalled')))
                    -- A range that is counted twice is for who has not counted it, the first time first.
                    AND NOT EXISTS (
                        SELECT FROM census_ranges r
                        WHERE r.repeat_of IS NOT NULL AND (r.job_id = j.id
                                AND (EXISTS (SELECT FROM mine WHERE mine.job_id = r.repeat_of)
                                    OR EXISTS (SELECT FROM jobs f WHERE f.id = r.repeat_of AND f.state = 'queued'))
                            OR r.repeat_of = j.id AND EXISTS (SELECT FROM mine WHERE mine.job_id = r.job_id)))
                    -- An audit is for who made none of the runs that it compares, and only while its claim stands.
                    AND (j.audit_of IS NULL OR EXISTS (SELECT FROM jobs claim WHERE claim.id = j.audit_of AND claim.state = 'done')
                        AND NOT EXISTS (
                            SELECT FROM jobs run
                            JOIN mine a ON a.job_id = run.id AND a.outcome = 'done'
                            WHERE j.audit_of IN (run.id, run.audit_of)
                                OR EXISTS (SELECT FROM census_ranges r WHERE (r.job_id, r.repeat_of) IN ((j.audit_of, run.id), (run.id, j.audit_of)))))
            ) OR EXISTS (
                SELECT FROM hunts h LEFT JOIN censuses c ON c.hunt_id = h.id
                WHERE h.state = 'running' AND (h.ends_at IS NULL OR h.ends_at > clock_timestamp())
                    AND (h.end_number IS NULL OR h.next_number < h.end_number)
                    AND CASE WHEN c.hunt_id IS NULL THEN 'scatter' = ANY ($1)
                        ELSE 'census' = ANY ($1) AND c.next_unit < c.n_units END)",
        )
        .bind(kinds)
        .bind(name(worker))
        .bind(token)
        .fetch_one(pool)
        .await
        .expect("a look")
    }
}

fn check_sums(sums: &Sums) -> Result<(), Broken> {
    let equal = [
        (sums.boards, sums.counted, "boards and their kept counts"),
        (sums.boards, sums.inserted, "boards and the acknowledgements"),
        (
            sums.inserted_by_jobs,
            sums.new_by_jobs,
            "new boards by batches and by jobs",
        ),
        (
            sums.known_by_batches,
            sums.known_by_jobs,
            "known boards by batches and by jobs",
        ),
    ];
    for (left, right, what) in equal {
        ensure(left == right, &format!("{what} differ: {left} and {right}"))?;
    }
    let none = [
        (
            sums.leased_without_attempt,
            "leased jobs have no running attempt of their holder",
        ),
        (sums.running_without_lease, "running attempts have no lease"),
        (
            sums.gaps_in_tokens,
            "jobs have tokens that were not granted one by one",
        ),
        (sums.done_twice, "jobs were done twice"),
        (
            sums.done_without_attempt,
            "jobs are done, but not by the attempt that holds their token",
        ),
        (sums.units_twice, "units of a census stand in two ranges"),
        (
            sums.counted_not_done,
            "ranges are counted and not done, or done and not counted",
        ),
        (sums.honest_struck, "honest workers were struck"),
        (sums.unreadable, "hunts have senseless rates"),
    ];
    for (n, what) in none {
        ensure(n == 0, &format!("{n} {what}"))?;
    }
    Ok(())
}
