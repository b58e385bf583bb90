//! A few figures about everything, for the first page and for metrics.

use super::{Store, StoreError, from_sql};

/// A few figures about everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Boards stored.
    pub n_boards: u64,
    /// Jobs that wait.
    pub n_queued: u64,
    /// Jobs that a worker holds.
    pub n_leased: u64,
    /// Jobs that failed too often.
    pub n_parked: u64,
    /// Workers that are there.
    pub n_workers: u64,
    /// Boards lie in the default partition, which is to stay empty.
    pub has_boards_beyond: bool,
}

impl Store {
    /// The figures, as of now.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn figures(&self) -> Result<Figures, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT (SELECT coalesce(sum(n_boards), 0) FROM board_counts)::bigint AS "n_boards!",
                count(*) FILTER (WHERE state = 'queued') AS "n_queued!",
                count(*) FILTER (WHERE state = 'leased') AS "n_leased!",
                count(*) FILTER (WHERE state = 'parked') AS "n_parked!",
                (SELECT count(*) FROM workers WHERE gone_at IS NULL) AS "n_workers!",
                EXISTS (SELECT FROM boards_beyond) AS "has_boards_beyond!"
            FROM jobs
            WHERE state IN ('queued', 'leased', 'parked')
            "#,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Figures {
            n_boards: from_sql(row.n_boards),
            n_queued: from_sql(row.n_queued),
            n_leased: from_sql(row.n_leased),
            n_parked: from_sql(row.n_parked),
            n_workers: from_sql(row.n_workers),
            has_boards_beyond: row.has_boards_beyond,
        })
    }
}
