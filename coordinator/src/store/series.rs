//! Samples: what the charts are drawn from. Taken every ten seconds and, coarser, every ten minutes, at instants that
//! all coordinators agree on, so that any number of them may try and one row comes of it.

use std::time::Duration;

use sqlx::postgres::types::PgInterval;
use time::OffsetDateTime;

use super::{Store, StoreError};

/// Seconds between fine samples.
const FINE_S: i32 = 10;
/// Seconds between coarse samples.
const COARSE_S: i32 = 600;
/// Seconds between samples of a single worker.
const WORKER_S: i32 = 300;

/// How far back a chart looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// An hour.
    Hour,
    /// Six hours.
    SixHours,
    /// A day.
    Day,
    /// A week.
    Week,
    /// As far as there is anything, a year at most.
    All,
}

impl Window {
    /// All, shortest first.
    pub const ALL: [Window; 5] = [
        Window::Hour,
        Window::SixHours,
        Window::Day,
        Window::Week,
        Window::All,
    ];

    /// As addresses of pages spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Window::Hour => "1h",
            Window::SixHours => "6h",
            Window::Day => "24h",
            Window::Week => "7d",
            Window::All => "all",
        }
    }

    /// In words, after "over".
    pub fn in_words(self) -> &'static str {
        match self {
            Window::Hour => "the last hour",
            Window::SixHours => "the last 6 hours",
            Window::Day => "the last 24 hours",
            Window::Week => "the last 7 days",
            Window::All => "all time",
        }
    }

    /// The window of this spelling.
    pub fn parse(text: &str) -> Option<Window> {
        Window::ALL.into_iter().find(|window| window.as_str() == text)
    }

    /// How far back it goes, and how long the stretches of time are that jobs are counted by, in seconds.
    pub(super) fn steps(self) -> (f64, f64) {
        let (_, length_s, step_s) = self.plan();
        (length_s, step_s.max(60.0))
    }

    /// Which samples, how far back, and how many seconds each point stands for: some 200 points at most.
    fn plan(self) -> (i32, f64, f64) {
        match self {
            Window::Hour => (FINE_S, 3_600.0, 20.0),
            Window::SixHours => (FINE_S, 21_600.0, 120.0),
            Window::Day => (FINE_S, 86_400.0, 480.0),
            Window::Week => (COARSE_S, 604_800.0, 3_600.0),
            Window::All => (COARSE_S, 366.0 * 86_400.0, 43_200.0),
        }
    }
}

/// The farm at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct FarmPoint {
    /// When.
    pub at: OffsetDateTime,
    /// Workers live.
    pub n_live: i32,
    /// Workers not heard of.
    pub n_stalled: i32,
    /// Threads of all workers.
    pub n_cores: i32,
    /// Threads at work.
    pub n_busy_cores: f64,
    /// Jobs waiting.
    pub n_queued: i64,
    /// Jobs parked.
    pub n_parked: i64,
    /// Boards in the database.
    pub n_boards: i64,
    /// Attempts that failed or expired within the point's length of time.
    pub n_failures: i64,
    /// Positions explored a second.
    pub positions_per_s: f64,
}

/// A hunt at an instant: totals since it began.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntPoint {
    /// The hunt.
    pub hunt_id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Jobs done.
    pub n_done: i64,
    /// Boards new.
    pub n_new: i64,
    /// Boards known.
    pub n_known: i64,
    /// Changes tried.
    pub n_changes: i64,
    /// Changes taken.
    pub n_accepted: i64,
    /// Threads at work for it.
    pub n_cores: f64,
    /// Positions explored a second.
    pub positions_per_s: f64,
    /// Largest par.
    pub best_par: Option<i16>,
}

/// A worker at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerPoint {
    /// When.
    pub at: OffsetDateTime,
    /// Positions explored a second.
    pub positions_per_s: f64,
    /// Leases held.
    pub n_leases: i32,
}

impl Store {
    /// Takes every sample that is due, and deletes those that are older than is kept.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn sample(&self) -> Result<(), StoreError> {
        for grain_s in [FINE_S, COARSE_S] {
            if self.sample_farm(grain_s).await? {
                self.sample_hunts(grain_s).await?;
                if grain_s == COARSE_S {
                    self.forget_samples().await?;
                }
            }
        }
        self.sample_workers().await
    }

    /// True: it was due and nobody else had taken it.
    async fn sample_farm(&self, grain_s: i32) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            INSERT INTO farm_samples (grain_s, at, n_live, n_stalled, n_draining, n_quarantined, n_cores, n_busy_cores,
                n_queued, n_parked, n_boards, n_failures, positions_per_s)
            SELECT $1, slot.at, w.n_live, w.n_stalled, w.n_draining, w.n_quarantined, w.n_cores, l.n_busy_cores,
                (SELECT count(*) FROM jobs WHERE state = 'queued'), (SELECT count(*) FROM jobs WHERE state = 'parked'),
                (SELECT coalesce(sum(n_boards), 0)::bigint FROM board_counts),
                (SELECT count(*) FROM job_attempts WHERE outcome IN ('failed', 'expired', 'stalled')
                    AND ended_at > slot.at - make_interval(secs => $1::int::float8) AND ended_at <= slot.at),
                l.positions_per_s
            FROM (SELECT date_bin(make_interval(secs => $1::int::float8), now(), 'epoch'::timestamptz) AS at) slot
            CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE quarantined_at IS NULL AND directive = 'run'
                        AND last_seen > now() - interval '1 minute')::int AS n_live,
                    count(*) FILTER (WHERE quarantined_at IS NULL AND directive = 'run'
                        AND last_seen <= now() - interval '1 minute')::int AS n_stalled,
                    count(*) FILTER (WHERE quarantined_at IS NULL AND directive <> 'run')::int AS n_draining,
                    count(*) FILTER (WHERE quarantined_at IS NOT NULL)::int AS n_quarantined,
                    coalesce(sum(n_threads), 0)::int AS n_cores
                FROM workers WHERE gone_at IS NULL
            ) w
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(v.n_threads::float8 / v.n_slots), 0) AS n_busy_cores,
                    coalesce(sum(j.rate), 0) AS positions_per_s
                FROM jobs j JOIN workers v ON v.id = j.worker_id WHERE j.state = 'leased'
            ) l
            WHERE NOT EXISTS (SELECT FROM farm_samples f WHERE f.grain_s = $1 AND f.at = slot.at)
            ON CONFLICT DO NOTHING
            "#,
            grain_s,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Hunts that something may have changed of since their last sample.
    async fn sample_hunts(&self, grain_s: i32) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO hunt_samples (hunt_id, grain_s, at, n_done, n_leased, n_queued, n_parked, n_new, n_known,
                n_iterations, n_changes, n_accepted, n_clusters, n_positions, n_cores, positions_per_s, best_par)
            SELECT h.id, $1, date_bin(make_interval(secs => $1::int::float8), now(), 'epoch'::timestamptz), j.*, c.*, j2.best_par
            FROM hunts h
            CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'leased'),
                    count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'parked'),
                    coalesce(sum(n_new), 0)::bigint, coalesce(sum(n_known), 0)::bigint,
                    coalesce(sum(n_iterations), 0)::bigint,
                    coalesce(sum(n_iterations) FILTER (WHERE kind = 'anneal'), 0)::bigint,
                    coalesce(sum(n_accepted), 0)::bigint, coalesce(sum(n_clusters), 0)::bigint,
                    coalesce(sum(n_positions), 0)
                FROM jobs WHERE jobs.hunt_id = h.id AND jobs.audit_of IS NULL
            ) j
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(w.n_threads::float8 / w.n_slots), 0), coalesce(sum(l.rate), 0)
                FROM jobs l JOIN workers w ON w.id = l.worker_id WHERE l.hunt_id = h.id AND l.state = 'leased'
            ) c
            CROSS JOIN LATERAL (SELECT max(best_par) AS best_par FROM jobs WHERE jobs.hunt_id = h.id) j2
            CROSS JOIN (
                -- Since then something may have come for hunts that are over: then, too, when no coordinator ran meanwhile.
                SELECT coalesce(max(at), '-infinity') AS at FROM farm_samples
                WHERE grain_s = $1 AND at < date_bin(make_interval(secs => $1::int::float8), now(), 'epoch'::timestamptz)
            ) last
            WHERE h.state = 'running' OR h.ended_at >= last.at
                OR h.id IN (SELECT l.hunt_id FROM batches t JOIN jobs l ON l.id = t.job_id WHERE t.stored_at >= last.at)
                OR EXISTS (SELECT FROM jobs WHERE jobs.hunt_id = h.id AND jobs.state = 'leased')
                OR NOT EXISTS (SELECT FROM hunt_samples s WHERE s.hunt_id = h.id AND s.grain_s = $1)
            ON CONFLICT DO NOTHING
            "#,
            grain_s,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    async fn sample_workers(&self) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO worker_samples (worker_id, at, positions_per_s, n_leases)
            SELECT w.id, slot.at, coalesce(sum(j.rate), 0), count(j.id)::int
            FROM (SELECT date_bin(make_interval(secs => $1::int::float8), now(), 'epoch'::timestamptz) AS at) slot
            CROSS JOIN workers w
            LEFT JOIN jobs j ON j.worker_id = w.id AND j.state = 'leased'
            WHERE w.gone_at IS NULL
                AND NOT EXISTS (SELECT FROM worker_samples s WHERE s.worker_id = w.id AND s.at = slot.at)
            GROUP BY w.id, slot.at
            ON CONFLICT DO NOTHING
            "#,
            WORKER_S,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    async fn forget_samples(&self) -> Result<(), StoreError> {
        for (grain_s, days) in [(FINE_S, 1), (COARSE_S, 366)] {
            let kept = PgInterval {
                months: 0,
                days,
                microseconds: 0,
            };
            sqlx::query!(
                "DELETE FROM farm_samples WHERE grain_s = $1 AND at < now() - $2::interval",
                grain_s,
                kept
            )
            .execute(&self.pool)
            .await?;
            // The last sample of a hunt stays for as long as the hunt: lists of hunts read their totals from it.
            sqlx::query!(
                r#"
                DELETE FROM hunt_samples s WHERE grain_s = $1 AND at < now() - $2::interval AND EXISTS (
                    SELECT FROM hunt_samples n WHERE n.hunt_id = s.hunt_id AND n.grain_s = s.grain_s AND n.at > s.at)
                "#,
                grain_s,
                kept,
            )
            .execute(&self.pool)
            .await?;
        }
        sqlx::query!("DELETE FROM worker_samples WHERE at < now() - interval '7 days'")
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The farm over a window, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn farm_series(&self, window: Window) -> Result<Vec<FarmPoint>, StoreError> {
        let (grain_s, back_s, point_s) = window.plan();
        Ok(sqlx::query_as!(
            FarmPoint,
            r#"
            SELECT max(at) AS "at!", (array_agg(n_live ORDER BY at DESC))[1] AS "n_live!",
                (array_agg(n_stalled ORDER BY at DESC))[1] AS "n_stalled!", (array_agg(n_cores ORDER BY at DESC))[1] AS "n_cores!",
                avg(n_busy_cores) AS "n_busy_cores!", (array_agg(n_queued ORDER BY at DESC))[1] AS "n_queued!",
                (array_agg(n_parked ORDER BY at DESC))[1] AS "n_parked!", max(n_boards) AS "n_boards!",
                sum(n_failures)::bigint AS "n_failures!", avg(positions_per_s) AS "positions_per_s!"
            FROM farm_samples
            WHERE grain_s = $1 AND at > now() - make_interval(secs => $2)
            GROUP BY date_bin(make_interval(secs => $3), at, 'epoch'::timestamptz)
            ORDER BY 1
            "#,
            grain_s,
            back_s,
            point_s,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// These hunts over a window, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_series(&self, hunts: &[i64], window: Window) -> Result<Vec<HuntPoint>, StoreError> {
        let (grain_s, back_s, point_s) = window.plan();
        Ok(sqlx::query_as!(
            HuntPoint,
            r#"
            SELECT hunt_id AS "hunt_id!", max(at) AS "at!", max(n_done) AS "n_done!", max(n_new) AS "n_new!", max(n_known) AS "n_known!",
                max(n_changes) AS "n_changes!", max(n_accepted) AS "n_accepted!", avg(n_cores) AS "n_cores!",
                avg(positions_per_s) AS "positions_per_s!", max(best_par) AS best_par
            FROM hunt_samples
            WHERE hunt_id = ANY ($1) AND grain_s = $2 AND at > now() - make_interval(secs => $3)
            GROUP BY hunt_id, date_bin(make_interval(secs => $4), at, 'epoch'::timestamptz)
            ORDER BY 2
            "#,
            hunts,
            grain_s,
            back_s,
            point_s,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// A worker's samples of the last week, oldest first; at most the newest 600.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn worker_series(&self, worker_id: i64) -> Result<Vec<WorkerPoint>, StoreError> {
        let mut points = sqlx::query_as!(
            WorkerPoint,
            "SELECT at, positions_per_s, n_leases FROM worker_samples WHERE worker_id = $1 ORDER BY at DESC LIMIT 600",
            worker_id,
        )
        .fetch_all(&self.pool)
        .await?;
        points.reverse();
        Ok(points)
    }
}

/// How often a coordinator should ask for samples: often enough to miss none.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(5);
