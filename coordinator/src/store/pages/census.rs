//! Exhaustive jobs, by hunt.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// The census jobs of a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusLine {
    /// The hunt.
    pub hunt_id: i64,
    /// Its label.
    pub hunt: String,
    /// Squares.
    pub lot_width: i16,
    /// Squares.
    pub lot_height: i16,
    /// Ranges planned.
    pub n_ranges: i64,
    /// Ranges done.
    pub n_done: i64,
    /// Ranges being done.
    pub n_leased: i64,
    /// Ranges that failed too often.
    pub n_parked: i64,
    /// Work units asked for.
    pub n_work: i64,
    /// Work units of the ranges done.
    pub n_work_done: i64,
    /// When the last range was done.
    pub last_done_at: Option<OffsetDateTime>,
}

impl Store {
    /// What is being enumerated; at most 50 hunts.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn census_lines(&self) -> Result<Vec<CensusLine>, StoreError> {
        Ok(sqlx::query_as!(
            CensusLine,
            r#"
            SELECT h.id AS "hunt_id!", h.name AS "hunt!", h.lot_width AS "lot_width!", h.lot_height AS "lot_height!", count(*) AS "n_ranges!",
                count(*) FILTER (WHERE j.state = 'done') AS "n_done!", count(*) FILTER (WHERE j.state = 'leased') AS "n_leased!",
                count(*) FILTER (WHERE j.state = 'parked') AS "n_parked!", coalesce(sum(j.n_work), 0)::bigint AS "n_work!",
                coalesce(sum(j.n_work) FILTER (WHERE j.state = 'done'), 0)::bigint AS "n_work_done!", max(j.ended_at) AS last_done_at
            FROM jobs j JOIN hunts h ON h.id = j.hunt_id
            WHERE j.kind = 'census'
            GROUP BY h.id ORDER BY h.id DESC LIMIT 50
            "#,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
