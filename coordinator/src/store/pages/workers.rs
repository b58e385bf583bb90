//! Workers, idle or busy.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// What a list of workers is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkerSort {
    /// By label.
    #[default]
    Name,
    /// The fastest a core first.
    Rate,
    /// The slowest against what is expected of it first.
    Slow,
    /// The most strikes first.
    Strikes,
    /// Whoever was not heard of for the longest first.
    Seen,
}

/// Which workers are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerQuery {
    /// One of `live`, `stalled`, `draining`, `quarantined`, `gone`; none: all that are there.
    pub state: Option<String>,
    /// A part of the label.
    pub name: Option<String>,
    /// In which order.
    pub sort: WorkerSort,
    /// So many are left out.
    pub skip: i64,
    /// One alone.
    pub id: Option<i64>,
}

/// A worker in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerLine {
    /// Its number.
    pub id: i64,
    /// Its label.
    pub name: String,
    /// This start of its process.
    pub incarnation: sqlx::types::Uuid,
    /// live, stalled, draining, quarantined, gone.
    pub state: String,
    /// Engine version.
    pub engine: String,
    /// Program version.
    pub program_version: String,
    /// Jobs at once.
    pub n_slots: i32,
    /// Threads.
    pub n_threads: i32,
    /// The processor.
    pub cpu: String,
    /// What it is told.
    pub directive: String,
    /// First call.
    pub first_seen: OffsetDateTime,
    /// Last beat.
    pub last_seen: OffsetDateTime,
    /// When it left.
    pub gone_at: Option<OffsetDateTime>,
    /// What is held against it.
    pub strikes: i32,
    /// Leases taken from it because their work stood still.
    pub n_stalls: i32,
    /// Why it gets nothing.
    pub quarantine_reason: Option<String>,
    /// Leases held.
    pub n_leases: i64,
    /// Positions a second.
    pub rate: f64,
    /// The middle rate a thread of busy workers with this processor; `None`: none is busy.
    pub expected_per_thread: Option<f64>,
    /// Jobs it holds, at most 5.
    pub jobs: Vec<i64>,
    /// When it last handed boards in.
    pub last_batch_at: Option<OffsetDateTime>,
    /// How many of them were new.
    pub last_batch_new: Option<i32>,
    /// Its last job done.
    pub last_done: Option<i64>,
    /// When that was.
    pub last_done_at: Option<OffsetDateTime>,
}

/// Workers on one page of a list.
pub const WORKERS_A_PAGE: usize = 100;

impl Store {
    /// A page of workers: one more than is shown, if there are more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn worker_lines(&self, query: &WorkerQuery) -> Result<Vec<WorkerLine>, StoreError> {
        let sort = match query.sort {
            WorkerSort::Name => "name",
            WorkerSort::Rate => "rate",
            WorkerSort::Slow => "slow",
            WorkerSort::Strikes => "strikes",
            WorkerSort::Seen => "seen",
        };
        Ok(sqlx::query_as!(
            WorkerLine,
            r#"
            WITH held AS (
                SELECT worker_id, count(*) AS n_leases, sum(rate) AS rate, (array_agg(id ORDER BY id))[1:5] AS jobs
                FROM jobs WHERE state = 'leased' GROUP BY worker_id
            ), usual AS (
                SELECT cpu, percentile_cont(0.5) WITHIN GROUP (ORDER BY held.rate / n_threads) AS per_thread
                FROM workers JOIN held ON held.worker_id = workers.id WHERE held.rate > 0 GROUP BY cpu
            ), page AS (
                SELECT w.*, coalesce(held.n_leases, 0) AS n_leases, coalesce(held.rate, 0) AS rate,
                    coalesce(held.jobs, '{}') AS jobs, usual.per_thread,
                    CASE WHEN gone_at IS NOT NULL THEN 'gone' WHEN quarantined_at IS NOT NULL THEN 'quarantined'
                        WHEN directive <> 'run' THEN 'draining'
                        WHEN last_seen <= now() - interval '1 minute' THEN 'stalled' ELSE 'live' END AS state
                FROM workers w
                LEFT JOIN held ON held.worker_id = w.id
                LEFT JOIN usual ON usual.cpu = w.cpu
                WHERE ($5::bigint IS NOT NULL AND w.id = $5) OR ($5 IS NULL AND (w.gone_at IS NULL) = ($1::text IS DISTINCT FROM 'gone'))
            ), cut AS (
                SELECT * FROM page
                WHERE ($1::text IS NULL OR state = $1 OR $5 IS NOT NULL) AND ($2::text IS NULL OR position(lower($2) IN lower(name)) > 0)
                ORDER BY CASE WHEN $3 = 'rate' THEN -rate / n_threads WHEN $3 = 'slow' THEN rate / n_threads / nullif(per_thread, 0)
                    WHEN $3 = 'strikes' THEN -strikes WHEN $3 = 'seen' THEN extract(epoch FROM last_seen)::float8 END NULLS LAST,
                    name, id
                LIMIT $6 OFFSET $4
            )
            SELECT cut.id AS "id!", name AS "name!", incarnation AS "incarnation!", state AS "state!", engine AS "engine!",
                program_version AS "program_version!", n_slots AS "n_slots!", n_threads AS "n_threads!", cpu AS "cpu!",
                directive AS "directive!", first_seen AS "first_seen!", last_seen AS "last_seen!", gone_at, strikes AS "strikes!", n_stalls AS "n_stalls!",
                quarantine_reason, n_leases AS "n_leases!", rate AS "rate!", per_thread AS expected_per_thread, jobs AS "jobs!",
                b.stored_at AS "last_batch_at?", b.n_inserted AS "last_batch_new?", d.job_id AS "last_done?", d.ended_at AS "last_done_at?"
            FROM cut
            -- Pairs rather than an equality, so that only the index by worker has this order: by id alone, a worker that
            -- handed in nothing costs a walk through every batch there is.
            LEFT JOIN LATERAL (
                SELECT worker_id, stored_at, n_inserted FROM batches
                WHERE worker_id IS NOT NULL AND (worker_id, id) <= (cut.id, 9223372036854775807)
                ORDER BY worker_id DESC, id DESC LIMIT 1
            ) b ON b.worker_id = cut.id
            LEFT JOIN LATERAL (
                SELECT job_id, ended_at FROM (SELECT job_id, ended_at, outcome FROM job_attempts a
                    WHERE a.worker_id = cut.id ORDER BY started_at DESC LIMIT 20) a
                WHERE outcome = 'done' ORDER BY ended_at DESC LIMIT 1
            ) d ON true
            ORDER BY CASE WHEN $3 = 'rate' THEN -rate / n_threads WHEN $3 = 'slow' THEN rate / n_threads / nullif(per_thread, 0)
                WHEN $3 = 'strikes' THEN -strikes WHEN $3 = 'seen' THEN extract(epoch FROM last_seen)::float8 END NULLS LAST,
                name, cut.id
            "#,
            query.state,
            query.name,
            sort,
            query.skip,
            query.id,
            i64::try_from(WORKERS_A_PAGE + 1).expect("a hundred and one"),
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
