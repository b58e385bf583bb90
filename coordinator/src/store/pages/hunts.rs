//! Hunts with their totals.

use time::OffsetDateTime;

use crate::store::{Store, StoreError, Window};

/// A hunt in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntLine {
    /// Its number.
    pub id: i64,
    /// Its label.
    pub name: String,
    /// Squares; `None`: a campaign.
    pub lot_width: Option<i16>,
    /// Squares; `None`: a campaign.
    pub lot_height: Option<i16>,
    /// The hero's row; `None`: a campaign.
    pub exit_row: Option<i16>,
    /// As the database spells it.
    pub strategy: String,
    /// As the database spells it.
    pub aim: String,
    /// Strategies that a mixed hunt mixes, as the database spells them.
    pub mix: Vec<String>,
    /// Higher goes first.
    pub priority: i32,
    /// As the database spells it.
    pub state: String,
    /// When its time is up.
    pub ends_at: Option<OffsetDateTime>,
    /// No job of this number or above.
    pub end_number: Option<i64>,
    /// Its aim.
    pub until_par: Option<i16>,
    /// Jobs planned so far.
    pub next_number: i64,
    /// When it was asked for.
    pub created_at: OffsetDateTime,
    /// When it was over.
    pub ended_at: Option<OffsetDateTime>,
    /// What ended it.
    pub end_reason: Option<String>,
    /// Who asked for it.
    pub owner: Option<String>,
    /// Jobs that a worker holds, now.
    pub n_leased: i64,
    /// Threads at work for it, now.
    pub n_cores: f64,
    /// Positions a second, now.
    pub positions_per_s: f64,
    /// Its totals at the last sample; `None`: none was taken yet.
    pub totals: Option<HuntTotals>,
}

impl HuntLine {
    /// Whether it searches, by strategies that have yields.
    pub fn is_search(&self) -> bool {
        proto::convert::Strategy::parse(&self.strategy).is_some_and(proto::convert::Strategy::is_search)
    }

    /// What is hunted, for people: the lot of its boards, or the other game.
    pub fn subject(&self) -> String {
        match (self.lot_width, self.lot_height) {
            (Some(width), Some(height)) => format!("{width}x{height}"),
            _ => String::from("Siren Jam"),
        }
    }
}

/// A hunt's totals at a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HuntTotals {
    /// When it was taken.
    pub at: OffsetDateTime,
    /// Jobs done.
    pub n_done: i64,
    /// Jobs waiting.
    pub n_queued: i64,
    /// Jobs parked.
    pub n_parked: i64,
    /// Boards new.
    pub n_new: i64,
    /// Boards known.
    pub n_known: i64,
    /// Clusters explored.
    pub n_clusters: i64,
    /// Largest par.
    pub best_par: Option<i16>,
}

/// What a strategy of a hunt brought in a stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct YieldPoint {
    /// As the database spells it.
    pub strategy: String,
    /// When the stretch began.
    pub at: OffsetDateTime,
    /// Jobs that ended in it.
    pub n_jobs: i64,
    /// Their processor time, in seconds.
    pub cpu_s: f64,
    /// Boards that they found first.
    pub n_new: i64,
    /// Of these, hard ones.
    pub n_hard: i64,
}

impl Store {
    /// Hunts: those that may go on first, then the newest; at most 200. One alone if `id` says so.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_lines(&self, id: Option<i64>) -> Result<Vec<HuntLine>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT h.id AS "id!", h.name AS "name!", h.lot_width AS "lot_width?", h.lot_height AS "lot_height?",
                h.exit_row AS "exit_row?", h.strategy AS "strategy!", h.aim AS "aim!", h.mix AS "mix!", h.priority AS "priority!", h.state AS "state!", h.ends_at,
                h.end_number, h.until_par, h.next_number AS "next_number!", h.created_at AS "created_at!", h.ended_at, h.end_reason,
                (SELECT actor FROM events e WHERE e.hunt_id = h.id ORDER BY e.id LIMIT 1) AS owner,
                l.n_leased AS "n_leased!", l.n_cores AS "n_cores!", l.positions_per_s AS "positions_per_s!",
                s.at AS "at?", s.n_done AS "n_done?", s.n_queued AS "n_queued?", s.n_parked AS "n_parked?",
                s.n_new AS "n_new?", s.n_known AS "n_known?", s.n_clusters AS "n_clusters?", s.best_par AS "best_par?"
            FROM (
                SELECT * FROM hunts WHERE $1::bigint IS NULL OR id = $1
                ORDER BY state IN ('running', 'paused') DESC, priority DESC, id DESC LIMIT 200
            ) h
            LEFT JOIN LATERAL (
                SELECT * FROM hunt_samples s WHERE s.hunt_id = h.id AND s.grain_s = 10 ORDER BY s.at DESC LIMIT 1
            ) s ON true
            CROSS JOIN LATERAL (
                SELECT count(*) AS n_leased, coalesce(sum(w.n_threads::float8 / w.n_slots), 0) AS n_cores,
                    coalesce(sum(j.rate), 0) AS positions_per_s
                FROM jobs j JOIN workers w ON w.id = j.worker_id WHERE j.hunt_id = h.id AND j.state = 'leased'
            ) l
            ORDER BY h.state IN ('running', 'paused') DESC, h.priority DESC, h.id DESC
            "#,
            id,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| HuntLine {
                totals: row.at.map(|at| HuntTotals {
                    at,
                    n_done: row.n_done.unwrap_or(0),
                    n_queued: row.n_queued.unwrap_or(0),
                    n_parked: row.n_parked.unwrap_or(0),
                    n_new: row.n_new.unwrap_or(0),
                    n_known: row.n_known.unwrap_or(0),
                    n_clusters: row.n_clusters.unwrap_or(0),
                    best_par: row.best_par,
                }),
                id: row.id,
                name: row.name,
                lot_width: row.lot_width,
                lot_height: row.lot_height,
                exit_row: row.exit_row,
                strategy: row.strategy,
                aim: row.aim,
                mix: row.mix,
                priority: row.priority,
                state: row.state,
                ends_at: row.ends_at,
                end_number: row.end_number,
                until_par: row.until_par,
                next_number: row.next_number,
                created_at: row.created_at,
                ended_at: row.ended_at,
                end_reason: row.end_reason,
                owner: row.owner,
                n_leased: row.n_leased,
                n_cores: row.n_cores,
                positions_per_s: row.positions_per_s,
            })
            .collect())
    }

    /// How long a hunt's last jobs took their workers, in seconds; at most 1,000 jobs.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn job_durations(&self, hunt_id: i64) -> Result<Vec<f64>, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"
            SELECT extract(epoch FROM a.ended_at - a.started_at)::float8 AS "s!"
            FROM (SELECT id, token FROM jobs
                WHERE hunt_id = $1 AND state = 'done' AND audit_of IS NULL ORDER BY id DESC LIMIT 1000) j
            JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token
            WHERE a.ended_at IS NOT NULL
            "#,
            hunt_id,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// What each strategy of a hunt brought over a window, by the time at which jobs ended, ascending; of its last 2,000 jobs
    /// at most. `hard` is the par from which boards count as hard.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_yields(
        &self,
        hunt_id: i64,
        window: Window,
        hard: i16,
    ) -> Result<Vec<YieldPoint>, StoreError> {
        let (length_s, step_s) = window.steps();
        Ok(sqlx::query_as!(
            YieldPoint,
            r#"
            SELECT j.kind AS "strategy!", date_bin(make_interval(secs => $3), j.ended_at, 'epoch') AS "at!",
                count(*) AS "n_jobs!", (sum(j.cpu_ms) / 1000.0)::float8 AS "cpu_s!", sum(j.n_new)::bigint AS "n_new!",
                coalesce(sum(y.n_hard), 0)::bigint AS "n_hard!"
            FROM (
                SELECT id, kind, ended_at, cpu_ms, n_new FROM jobs
                WHERE hunt_id = $1 AND state = 'done' AND audit_of IS NULL ORDER BY id DESC LIMIT 2000
            ) j
            CROSS JOIN LATERAL (SELECT sum(n_new) AS n_hard FROM job_yields WHERE job_id = j.id AND par >= $4) y
            WHERE j.cpu_ms > 0 AND j.ended_at > now() - make_interval(secs => $2)
            GROUP BY 1, 2
            ORDER BY 1, 2
            "#,
            hunt_id,
            length_s,
            step_s,
            hard,
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// The specification of a hunt's newest annealing job; `None`: it has none.
    ///
    /// # Errors
    /// [`StoreError::Database`]; [`StoreError::Unreadable`] if another version wrote it.
    pub async fn newest_anneal(&self, hunt_id: i64) -> Result<Option<board::job::JobSpec>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT id AS "id!", spec AS "spec!", kind AS "kind!" FROM (SELECT id, spec, kind FROM jobs WHERE hunt_id = $1 AND audit_of IS NULL ORDER BY number DESC LIMIT 100) j
            WHERE kind = 'anneal' ORDER BY id DESC LIMIT 1
            "#,
            hunt_id,
        )
        .fetch_optional(&self.pool)
        .await?;
        let work = row
            .map(|row| crate::store::leases::decode_spec(row.id, &row.spec))
            .transpose()?;
        Ok(work.and_then(|work| work.boards().cloned()))
    }
}
