//! The farm as it is now.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// The farm now.
#[derive(Clone, Debug, PartialEq)]
pub struct FarmNow {
    /// On the database's clock.
    pub now: OffsetDateTime,
    /// Workers heard of within a minute, trusted, told to run.
    pub n_live: i64,
    /// Of the others, those not heard of for a minute.
    pub n_stalled: i64,
    /// Told to finish or stop.
    pub n_draining: i64,
    /// Get nothing.
    pub n_quarantined: i64,
    /// Threads of all that are there.
    pub n_cores: i64,
    /// Threads at work.
    pub n_busy_cores: f64,
    /// By the last beats.
    pub positions_per_s: f64,
    /// Leases held.
    pub n_leased: i64,
    /// Jobs waiting.
    pub n_queued: i64,
    /// Since when the oldest of them waits; `None`: none waits.
    pub oldest_queued: Option<OffsetDateTime>,
    /// Jobs parked.
    pub n_parked: i64,
    /// Boards in the database.
    pub n_boards: i64,
    /// Boards in it at the first sample of the last hour, and when that was; `None`: no sample.
    pub boards_then: Option<(i64, OffsetDateTime)>,
    /// Boards and seconds between the first and last samples of the last two minutes; `None`: too few samples.
    pub recent_boards: Option<(i64, f64)>,
    /// Batches with refused boards within a day.
    pub n_rejected: i64,
}

/// The hardest board of a lot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LotBest {
    /// Squares.
    pub lot_width: i16,
    /// Squares.
    pub lot_height: i16,
    /// Slides.
    pub par: i16,
    /// Boards of the lot in the database.
    pub n_boards: i64,
    /// One board of this par.
    pub canonical: Option<String>,
}

impl Store {
    /// The farm now.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn farm_now(&self) -> Result<FarmNow, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT now() AS "now!", w.*, l.*,
                (SELECT count(*) FROM jobs WHERE state = 'queued') AS "n_queued!",
                (SELECT min(created_at) FROM jobs WHERE state = 'queued') AS oldest_queued,
                (SELECT count(*) FROM jobs WHERE state = 'parked') AS "n_parked!",
                (SELECT coalesce(sum(n_boards), 0)::bigint FROM board_counts) AS "n_boards!",
                (SELECT count(*) FROM (SELECT FROM events WHERE kind = 'worker_struck'
                    AND at > now() - interval '1 day' LIMIT 1000) s) AS "n_rejected!",
                f.then_boards AS "then_boards?", f.then_at AS "then_at?", r.n AS "recent_n?", r.s AS "recent_s?"
            FROM (
                SELECT count(*) FILTER (WHERE quarantined_at IS NULL AND directive = 'run'
                        AND last_seen > now() - interval '1 minute') AS "n_live!",
                    count(*) FILTER (WHERE quarantined_at IS NULL AND directive = 'run'
                        AND last_seen <= now() - interval '1 minute') AS "n_stalled!",
                    count(*) FILTER (WHERE quarantined_at IS NULL AND directive <> 'run') AS "n_draining!",
                    count(*) FILTER (WHERE quarantined_at IS NOT NULL) AS "n_quarantined!",
                    coalesce(sum(n_threads), 0)::bigint AS "n_cores!"
                FROM workers WHERE gone_at IS NULL
            ) w
            CROSS JOIN (
                SELECT count(*) AS "n_leased!", coalesce(sum(v.n_threads::float8 / v.n_slots), 0) AS "n_busy_cores!",
                    coalesce(sum(j.rate), 0) AS "positions_per_s!"
                FROM jobs j JOIN workers v ON v.id = j.worker_id WHERE j.state = 'leased'
            ) l
            LEFT JOIN LATERAL (
                SELECT n_boards AS then_boards, at AS then_at FROM farm_samples
                WHERE grain_s = 10 AND at > now() - interval '1 hour' ORDER BY at LIMIT 1
            ) f ON true
            LEFT JOIN LATERAL (
                SELECT max(n_boards) - min(n_boards) AS n, extract(epoch FROM max(at) - min(at))::float8 AS s
                FROM farm_samples WHERE grain_s = 10 AND at > now() - interval '2 minutes' HAVING count(*) > 1
            ) r ON true
            "#,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(FarmNow {
            now: row.now,
            n_live: row.n_live,
            n_stalled: row.n_stalled,
            n_draining: row.n_draining,
            n_quarantined: row.n_quarantined,
            n_cores: row.n_cores,
            n_busy_cores: row.n_busy_cores,
            positions_per_s: row.positions_per_s,
            n_leased: row.n_leased,
            n_queued: row.n_queued,
            oldest_queued: row.oldest_queued,
            n_parked: row.n_parked,
            n_boards: row.n_boards,
            boards_then: row.then_boards.zip(row.then_at),
            recent_boards: row.recent_n.zip(row.recent_s),
            n_rejected: row.n_rejected,
        })
    }

    /// The hardest board of each lot, hardest first; at most 12 lots.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn lot_bests(&self) -> Result<Vec<LotBest>, StoreError> {
        let mut lots = sqlx::query_as!(
            LotBest,
            r#"
            SELECT lot_width, lot_height, max(par) AS "par!", sum(n_boards)::bigint AS "n_boards!",
                NULL::text AS canonical
            FROM board_counts GROUP BY lot_width, lot_height ORDER BY 3 DESC, 1, 2 LIMIT 12
            "#,
        )
        .fetch_all(&self.pool)
        .await?;
        for lot in &mut lots {
            lot.canonical = self.board_of(lot.par, lot.lot_width, lot.lot_height).await?;
        }
        Ok(lots)
    }

    /// The first board of this par and lot, if it is among the first thousands of its par.
    async fn board_of(
        &self,
        par: i16,
        lot_width: i16,
        lot_height: i16,
    ) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"
            SELECT canonical AS "canonical!" FROM (
                SELECT canonical, lot_width, lot_height FROM boards b
                WHERE par = $1 AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
                ORDER BY canonical LIMIT 5000
            ) b
            WHERE lot_width = $2 AND lot_height = $3 LIMIT 1
            "#,
            par,
            lot_width,
            lot_height,
        )
        .fetch_optional(&self.pool)
        .await?)
    }

    /// How many boards there are of each par, of one lot or of all.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn par_counts(&self, lot: Option<(i16, i16)>) -> Result<Vec<(i16, i64)>, StoreError> {
        let (width, height) = lot.unzip();
        let rows = sqlx::query!(
            r#"
            SELECT par, sum(n_boards)::bigint AS "n_boards!" FROM board_counts
            WHERE ($1::smallint IS NULL OR lot_width = $1) AND ($2::smallint IS NULL OR lot_height = $2)
            GROUP BY par ORDER BY par
            "#,
            width,
            height,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| (row.par, row.n_boards)).collect())
    }
}
