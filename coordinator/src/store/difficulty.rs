//! Measures of difficulty: which boards have none yet, and the measures as they come in.

use board::difficulty::Difficulty;
use board::geometry::Lot;
use board::{Canonical, Par};

use super::{Store, StoreError, to_sql};

impl Store {
    /// The first boards of a par and lot, in the order of their spelling after `after`, that have not been measured.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn boards_to_measure(
        &self,
        par: Par,
        lot: Lot,
        after: &str,
        limit: u64,
    ) -> Result<Vec<Canonical>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT b.canonical
            FROM boards b
            WHERE b.par = $1 AND b.lot_width = $2 AND b.lot_height = $3 AND b.canonical > $4
                AND NOT EXISTS (SELECT FROM board_difficulty d WHERE d.par = b.par AND d.canonical = b.canonical)
            ORDER BY b.canonical
            LIMIT $5
            "#,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
            i16::from(lot.width()),
            i16::from(lot.height()),
            after,
            to_sql(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let parse = |spelling: &str| {
            Canonical::parse(spelling).map_err(|error| StoreError::Unreadable {
                table: "boards",
                id: 0,
                reason: format!("{spelling}: {error}"),
            })
        };
        rows.iter().map(|row| parse(&row.canonical)).collect()
    }

    /// Stores measures; those of boards that have been measured meanwhile are the same. How many were new.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn store_difficulty(&self, measured: &[(Canonical, Difficulty)]) -> Result<u64, StoreError> {
        let column =
            |of: fn(&Difficulty) -> u64| measured.iter().map(|(_, d)| to_sql(of(d))).collect::<Vec<i64>>();
        let spellings: Vec<String> = measured
            .iter()
            .map(|(canonical, _)| canonical.to_string())
            .collect();
        let result = sqlx::query!(
            r#"
            INSERT INTO board_difficulty (par, canonical, n_solutions, n_way_positions, n_way_slides, n_right_slides,
                n_against, n_movers, n_repeat_movers, n_dead_ends, n_unsolved, luck_tenths)
            SELECT par, canonical, n_solutions, n_way_positions, n_way_slides, n_right_slides,
                n_against, n_movers, n_repeat_movers, n_dead_ends, n_unsolved, luck_tenths
            FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
                AS m (par, canonical, n_solutions, n_way_positions, n_way_slides, n_right_slides, n_against, n_movers,
                    n_repeat_movers, n_dead_ends, n_unsolved, luck_tenths)
            ORDER BY par, canonical COLLATE "C"
            ON CONFLICT (par, canonical) DO NOTHING
            "#,
            &column(|d| d.par.get().into()),
            &spellings,
            &column(|d| d.n_solutions),
            &column(|d| d.n_way_positions),
            &column(|d| d.n_way_slides),
            &column(|d| d.n_right_slides),
            &column(|d| d.n_against.into()),
            &column(|d| d.n_movers.into()),
            &column(|d| d.n_repeat_movers.into()),
            &column(|d| d.n_dead_ends),
            &column(|d| d.n_unsolved),
            &column(|d| d.luck_tenths.into()),
        )
        .execute(&self.pool)
        .await?;
        Ok(result.rows_affected())
    }

    /// How many boards have been measured.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn n_measured(&self) -> Result<u64, StoreError> {
        let row = sqlx::query!(r#"SELECT count(*) AS "n!" FROM board_difficulty"#)
            .fetch_one(&self.pool)
            .await?;
        Ok(super::from_sql(row.n))
    }
}
