//! Boards that were believed and turned out wrong: found, and taken back with all that was counted of them.

use board::Par;
use board::cluster::Found;
use proto::convert::RejectCode;

use super::{BoardRow, EventKind, EventToWrite, Store, StoreError, text, to_sql};
use crate::store::boards::SqlBoard;

/// A board that was stored, and in which batch it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BelievedBoard {
    /// The board as it is stored.
    pub row: BoardRow,
    /// Its batch.
    pub batch_id: i64,
}

/// A board that is stored and wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongBoard {
    /// The board as it is stored.
    pub row: BoardRow,
    /// Its batch.
    pub batch_id: i64,
    /// Why it is wrong.
    pub code: RejectCode,
    /// What was found instead.
    pub detail: String,
}

/// Boards looked at together.
const PAGE: i64 = 1_000;

impl Store {
    /// Boards that a worker brought first, in batches some of which were believed without proof, after a key, in the
    /// order of keys; 1,000 at a time. This reads all boards there are, once a page: it is for the rare case.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn boards_of_worker(
        &self,
        worker_id: i64,
        after: Option<&(Par, String)>,
    ) -> Result<Vec<BelievedBoard>, StoreError> {
        let (par, canonical) = match after {
            Some((par, canonical)) => (i16::try_from(par.get()).unwrap_or(i16::MAX), canonical.as_str()),
            None => (-1, ""),
        };
        let rows = sqlx::query!(
            r#"
            SELECT b.par, b.canonical, b.lot_width, b.lot_height, b.exit_row, b.n_vehicles, b.n_walls, b.n_states, b.minimal,
                b.batch_id
            FROM boards b
            WHERE b.batch_id IN (SELECT id FROM batches WHERE worker_id = $1 AND n_believed > 0)
                AND (b.par, b.canonical) > ($2, $3 COLLATE "C")
            ORDER BY b.par, b.canonical
            LIMIT $4
            "#,
            worker_id,
            par,
            canonical,
            PAGE,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let board = SqlBoard {
                    par: row.par,
                    canonical: row.canonical,
                    lot_width: row.lot_width,
                    lot_height: row.lot_height,
                    exit_row: row.exit_row,
                    n_vehicles: row.n_vehicles,
                    n_walls: row.n_walls,
                    n_states: row.n_states,
                    minimal: row.minimal,
                };
                Ok(BelievedBoard {
                    row: board.try_into()?,
                    batch_id: row.batch_id,
                })
            })
            .collect()
    }

    /// Takes a wrong board out of the database and of every count that holds it, and keeps what was wrong with it with the
    /// other refused boards of its batch. Nothing happens if it is not there any more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn retract(&self, wrong: &WrongBoard) -> Result<(), StoreError> {
        let par = i16::try_from(wrong.row.found.par.get()).unwrap_or(i16::MAX);
        sqlx::query!(
            r#"
            WITH gone AS (
                DELETE FROM boards WHERE par = $1 AND canonical = $2 COLLATE "C" AND batch_id = $3
                RETURNING *
            ), counts_fewer AS (
                UPDATE board_counts c SET n_boards = c.n_boards - 1
                FROM gone g
                WHERE c.lot_width = g.lot_width AND c.lot_height = g.lot_height AND c.exit_row = g.exit_row
                    AND c.n_walls = g.n_walls AND c.par = g.par AND c.n_boards > 1
            ), counts_none AS (
                DELETE FROM board_counts c USING gone g
                WHERE c.lot_width = g.lot_width AND c.lot_height = g.lot_height AND c.exit_row = g.exit_row
                    AND c.n_walls = g.n_walls AND c.par = g.par AND c.n_boards = 1
            ), tallies_fewer AS (
                UPDATE board_tallies t SET n_boards = t.n_boards - 1, n_states = t.n_states - g.n_states,
                    n_minimal = t.n_minimal - CASE WHEN g.minimal THEN 1 ELSE 0 END
                FROM gone g
                WHERE t.lot_width = g.lot_width AND t.lot_height = g.lot_height AND t.exit_row = g.exit_row
                    AND t.n_walls = g.n_walls AND t.n_vehicles = g.n_vehicles AND t.par = g.par AND t.n_boards > 1
            ), tallies_none AS (
                DELETE FROM board_tallies t USING gone g
                WHERE t.lot_width = g.lot_width AND t.lot_height = g.lot_height AND t.exit_row = g.exit_row
                    AND t.n_walls = g.n_walls AND t.n_vehicles = g.n_vehicles AND t.par = g.par AND t.n_boards = 1
            ), job AS (
                UPDATE jobs SET n_new = jobs.n_new - 1
                FROM gone g JOIN batches b ON b.id = g.batch_id
                WHERE jobs.id = b.job_id AND jobs.n_new > 0
                RETURNING jobs.hunt_id
            ), hunt_fewer AS (
                UPDATE hunt_tallies t SET n_boards = t.n_boards - 1
                FROM gone g, job WHERE t.hunt_id = job.hunt_id AND t.par = g.par AND t.n_boards > 1
            ), hunt_none AS (
                DELETE FROM hunt_tallies t USING gone g, job
                WHERE t.hunt_id = job.hunt_id AND t.par = g.par AND t.n_boards = 1
            )
            INSERT INTO rejections (batch_id, board_idx, code, canonical, stated_par, detail)
            SELECT g.batch_id, 10000 + (SELECT count(*)::int FROM rejections r WHERE r.batch_id = g.batch_id), $4, g.canonical,
                g.par, $5
            FROM gone g
            "#,
            par,
            wrong.row.found.canonical.as_str(),
            wrong.batch_id,
            wrong.code.as_str(),
            text(&wrong.detail, 1_000),
        )
        .execute(&self.pool)
        .await?;
        self.known.forget(par, wrong.row.found.canonical.as_str());
        Ok(())
    }

    /// Corrects what is said of a board's cluster, in its row and in every count that holds it, and keeps what was wrong with
    /// the refused boards of its batch. The board stays: its key is right, and whoever handed it in later was told that it is
    /// stored. Nothing happens if it is not there any more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn correct(&self, wrong: &WrongBoard, truth: &Found) -> Result<(), StoreError> {
        let par = i16::try_from(truth.par.get()).unwrap_or(i16::MAX);
        sqlx::query!(
            r#"
            WITH former AS (
                SELECT * FROM boards WHERE par = $1 AND canonical = $2 COLLATE "C" AND batch_id = $3 FOR UPDATE
            ), corrected AS (
                UPDATE boards b SET n_states = $4, minimal = $5
                FROM former f WHERE b.par = f.par AND b.canonical = f.canonical
            ), tallied AS (
                UPDATE board_tallies t SET n_states = t.n_states - f.n_states + $4,
                    n_minimal = t.n_minimal - CASE WHEN f.minimal THEN 1 ELSE 0 END + CASE WHEN $5::boolean THEN 1 ELSE 0 END
                FROM former f
                WHERE t.lot_width = f.lot_width AND t.lot_height = f.lot_height AND t.exit_row = f.exit_row
                    AND t.n_walls = f.n_walls AND t.n_vehicles = f.n_vehicles AND t.par = f.par
            )
            INSERT INTO rejections (batch_id, board_idx, code, canonical, stated_par, detail)
            SELECT f.batch_id, 10000 + (SELECT count(*)::int FROM rejections r WHERE r.batch_id = f.batch_id), $6, f.canonical,
                f.par, $7
            FROM former f
            "#,
            par,
            truth.canonical.as_str(),
            wrong.batch_id,
            to_sql(truth.states),
            truth.minimal,
            wrong.code.as_str(),
            text(&wrong.detail, 1_000),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Notes that every board of a worker is proved now, of which so many were wrong.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn note_proved(&self, worker_id: i64, n_wrong: usize) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query!(
            "UPDATE batches SET n_believed = 0 WHERE worker_id = $1 AND n_believed > 0",
            worker_id
        )
        .execute(&mut *tx.tx)
        .await?;
        if n_wrong > 0 {
            let detail = format!("{n_wrong} boards that were believed are wrong");
            tx.write_event(&EventToWrite {
                worker_id: Some(worker_id),
                ..EventToWrite::new("coordinator", EventKind::BoardsRetracted, &detail)
            })
            .await?;
        }
        tx.commit().await
    }
}
