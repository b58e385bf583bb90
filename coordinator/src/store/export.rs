//! Exports that go on where they stopped: boards after a given one, in the order of all lists.

use board::{Canonical, Par};
use futures_util::TryStreamExt;

use super::boards::{BoardFilter, BoardRow, ExportError, SqlBoard};
use super::{Store, StoreError};

impl Store {
    /// Hands every board after `after` to `each`, by par falling, then spelling, in bounded memory; how many.
    ///
    /// # Errors
    /// [`ExportError::Store`] if the database goes away, [`ExportError::Write`] with what `each` says.
    pub async fn export_after(
        &self,
        filter: &BoardFilter,
        after: &(Par, Canonical),
        mut each: impl FnMut(BoardRow) -> std::io::Result<()>,
    ) -> Result<u64, ExportError> {
        let mut n_boards = 0;
        for count in self
            .pars_falling(filter)
            .await?
            .iter()
            .filter(|count| count.par <= after.0)
        {
            // Every spelling comes after the empty one.
            let from = if count.par == after.0 {
                after.1.as_str()
            } else {
                ""
            };
            n_boards += self
                .boards_of_par_after(count.par, filter, from, &mut each)
                .await?;
        }
        Ok(n_boards)
    }

    async fn boards_of_par_after(
        &self,
        par: Par,
        filter: &BoardFilter,
        after: &str,
        mut each: impl FnMut(BoardRow) -> std::io::Result<()>,
    ) -> Result<u64, ExportError> {
        let (width, height) = filter.lot_to_sql();
        let mut rows = sqlx::query_as!(
            SqlBoard,
            r#"
            SELECT par, canonical, lot_width, lot_height, exit_row, n_vehicles, n_walls, n_states, minimal
            FROM boards b
            WHERE par = $1 AND ($2::smallint IS NULL OR lot_width = $2) AND ($3::smallint IS NULL OR lot_height = $3)
                AND canonical > $4
                AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
            ORDER BY canonical
            "#,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
            width,
            height,
            after,
        )
        .fetch(&self.pool);
        let mut n_boards = 0;
        while let Some(row) = rows.try_next().await.map_err(StoreError::from)? {
            each(row.try_into()?)?;
            n_boards += 1;
        }
        Ok(n_boards)
    }
}
