//! Boards: one row a cluster, one partition a par.
//!
//! Lists go par by par, hardest first, along each partition's key: an order over all partitions at once would sort
//! every board there is. Boards that are secret today (reserved for a challenge) are in no list.

use board::cluster::Found;
use board::geometry::Lot;
use board::{Board, Par};
use futures_util::TryStreamExt;
use sqlx::Acquire;
use thiserror::Error;

use super::{Store, StoreError, Tx, from_sql, narrow, to_sql};

/// A board as it is kept: proved, and the representative of its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardRow {
    /// Par, canonical spelling, size of the cluster, minimality, numbers of vehicles and walls.
    pub found: Found,
    /// The lot.
    pub lot: Lot,
    /// The hero's row, counted from 0 at the top.
    pub exit_row: u8,
}

impl BoardRow {
    /// The row of a board found, where a position of its cluster is at hand, or the mirror image of one.
    pub fn of(found: Found, position: &Board) -> BoardRow {
        let lot = position.lot();
        // A canonical spelling has the exit in the upper half.
        let exit_row = position.exit_row().min(lot.height() - 1 - position.exit_row());
        BoardRow { found, lot, exit_row }
    }
}

impl From<Found> for BoardRow {
    fn from(found: Found) -> BoardRow {
        let board = found.canonical.board();
        BoardRow::of(found, &board)
    }
}

/// How many boards of a par there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParCount {
    /// The par.
    pub par: Par,
    /// Boards.
    pub n_boards: u64,
}

/// Which boards to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardFilter {
    /// Of this lot; `None`: of any.
    pub lot: Option<Lot>,
    /// Of this par or more; `None`: of any.
    pub least_par: Option<Par>,
    /// Of this par or less; `None`: of any.
    pub most_par: Option<Par>,
}

impl BoardFilter {
    pub(super) fn lot_to_sql(&self) -> (Option<i16>, Option<i16>) {
        (
            self.lot.map(|lot| lot.width().into()),
            self.lot.map(|lot| lot.height().into()),
        )
    }
}

/// Why an export ended early.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The database did not go on.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The receiver took no more.
    #[error("writing the export: {0}")]
    Write(#[from] std::io::Error),
}

impl Store {
    /// Which of these (par, spelling) are stored: their places in the list, ascending. The database is asked for those
    /// that memory does not know.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn known(&self, pars: &[i16], spellings: &[String]) -> Result<Vec<usize>, StoreError> {
        assert_eq!(pars.len(), spellings.len(), "a key is a par and a spelling");
        let memory = self.known.memory();
        let remembered = self.known.are_known(pars, spellings);
        let (mut known, asked): (Vec<usize>, Vec<usize>) = (0..pars.len()).partition(|&idx| remembered[idx]);
        if asked.is_empty() {
            return Ok(known);
        }
        let asked_pars: Vec<i16> = asked.iter().map(|&idx| pars[idx]).collect();
        let asked_spellings: Vec<String> = asked.iter().map(|&idx| spellings[idx].clone()).collect();
        // LATERAL with LIMIT keeps the planner from joining the whole table: each key is looked up in its partition.
        let mut rows = sqlx::query!(
            r#"
            SELECT k.idx AS "idx!"
            FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS k (par, canonical, idx)
            CROSS JOIN LATERAL (
                SELECT FROM boards b WHERE b.par = k.par AND b.canonical = k.canonical COLLATE "C" LIMIT 1
            ) hit
            "#,
            &asked_pars,
            &asked_spellings,
        )
        .fetch(&self.pool);
        let n_remembered = known.len();
        while let Some(row) = rows.try_next().await? {
            known.push(asked[usize::try_from(row.idx - 1).expect("ordinality counts from 1")]);
        }
        self.known.remember(
            memory,
            known[n_remembered..]
                .iter()
                .map(|&idx| (pars[idx], spellings[idx].as_str())),
        );
        known.sort_unstable();
        Ok(known)
    }

    /// The largest par of the boards of these hashes (see [`board::tally::hash_board`]), 0 of none; `None`: not all of them
    /// are known here to be stored.
    pub fn best_known_par(&self, hashes: &[u128]) -> Option<Par> {
        self.known.best_par(hashes)
    }

    /// How many boards of each par there are, ascending; of one lot, or of all.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn par_distribution(&self, lot: Option<Lot>) -> Result<Vec<ParCount>, StoreError> {
        let (width, height) = BoardFilter {
            lot,
            ..BoardFilter::default()
        }
        .lot_to_sql();
        let rows = sqlx::query!(
            r#"
            SELECT par, sum(n_boards)::bigint AS "n_boards!"
            FROM board_counts
            WHERE ($1::smallint IS NULL OR lot_width = $1) AND ($2::smallint IS NULL OR lot_height = $2)
            GROUP BY par
            ORDER BY par
            "#,
            width,
            height,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(ParCount {
                    par: Par::new(narrow("board_counts", 0, "par", row.par.into())?),
                    n_boards: from_sql(row.n_boards),
                })
            })
            .collect()
    }

    /// The hardest boards, by par falling, then spelling.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hardest_boards(&self, lot: Option<Lot>, limit: usize) -> Result<Vec<BoardRow>, StoreError> {
        let mut boards = Vec::new();
        let filter = BoardFilter {
            lot,
            ..BoardFilter::default()
        };
        for count in self.pars_falling(&filter).await? {
            let left = limit - boards.len();
            if left == 0 {
                break;
            }
            self.boards_of_par(count.par, &filter, left, |row| {
                boards.push(row);
                Ok(())
            })
            .await
            .map_err(|error| match error {
                ExportError::Store(error) => error,
                ExportError::Write(_) => unreachable!("a vector takes what it is given"),
            })?;
        }
        Ok(boards)
    }

    /// Hands every board to `each`, by par falling, then spelling, in bounded memory; how many.
    ///
    /// # Errors
    /// [`ExportError::Store`] if the database goes away, [`ExportError::Write`] with what `each` says.
    pub async fn export(
        &self,
        filter: &BoardFilter,
        mut each: impl FnMut(BoardRow) -> std::io::Result<()>,
    ) -> Result<u64, ExportError> {
        let mut n_boards = 0;
        for count in self.pars_falling(filter).await? {
            n_boards += self
                .boards_of_par(count.par, filter, usize::MAX, &mut each)
                .await?;
        }
        Ok(n_boards)
    }

    pub(super) async fn pars_falling(&self, filter: &BoardFilter) -> Result<Vec<ParCount>, StoreError> {
        let mut counts = self.par_distribution(filter.lot).await?;
        counts.retain(|count| {
            filter.least_par.is_none_or(|least| count.par >= least)
                && filter.most_par.is_none_or(|most| count.par <= most)
        });
        counts.reverse();
        Ok(counts)
    }

    async fn boards_of_par(
        &self,
        par: Par,
        filter: &BoardFilter,
        limit: usize,
        mut each: impl FnMut(BoardRow) -> std::io::Result<()>,
    ) -> Result<u64, ExportError> {
        let (width, height) = filter.lot_to_sql();
        let mut rows = sqlx::query_as!(
            SqlBoard,
            r#"
            SELECT par, canonical, lot_width, lot_height, exit_row, n_vehicles, n_walls, n_states, minimal
            FROM boards b
            WHERE par = $1 AND ($2::smallint IS NULL OR lot_width = $2) AND ($3::smallint IS NULL OR lot_height = $3)
                AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
            ORDER BY canonical
            LIMIT $4
            "#,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
            width,
            height,
            to_sql(limit as u64),
        )
        .fetch(&self.pool);
        let mut n_boards = 0;
        while let Some(row) = rows.try_next().await.map_err(StoreError::from)? {
            each(row.try_into()?)?;
            n_boards += 1;
        }
        Ok(n_boards)
    }

    /// The spelling of the first board of a par, lot and exit row.
    pub(super) async fn one_board(
        &self,
        par: i16,
        lot: (i16, i16),
        exit_row: i16,
    ) -> Result<Option<String>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT canonical
            FROM boards b
            WHERE par = $1 AND lot_width = $2 AND lot_height = $3 AND exit_row = $4
                AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
            ORDER BY canonical
            LIMIT 1
            "#,
            par,
            lot.0,
            lot.1,
            exit_row,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| row.canonical))
    }

    /// Whether a board lies in the default partition, which has to stay empty.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn has_boards_beyond(&self) -> Result<bool, StoreError> {
        let row = sqlx::query!(r#"SELECT EXISTS (SELECT FROM boards_beyond) AS "any!""#)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.any)
    }
}

/// What an insert did.
pub(super) struct Inserted {
    /// Rows that were not there before.
    pub(super) n_inserted: u64,
    /// The largest par among them.
    pub(super) best_par: Option<i16>,
}

/// The statement that inserts boards and counts those that were inserted, with what is done about boards that are there.
macro_rules! insert {
    ($connection:expr, $batch_id:expr, $columns:expr, $on_conflict:literal) => {{
        let columns = &$columns;
        let row = sqlx::query!(
            r#"
            WITH incoming AS (
                SELECT * FROM unnest($2::smallint[], $3::text[], $4::smallint[], $5::smallint[], $6::smallint[],
                        $7::smallint[], $8::smallint[], $9::bigint[], $10::boolean[])
                    AS i (par, canonical, lot_width, lot_height, exit_row, n_vehicles, n_walls, n_states, minimal)
            ), inserted AS (
                INSERT INTO boards (batch_id, par, canonical, lot_width, lot_height, exit_row, n_vehicles, n_walls,
                    n_states, minimal)
                SELECT $1, par, canonical, lot_width, lot_height, exit_row, n_vehicles, n_walls, n_states, minimal
                FROM incoming
                ORDER BY par, canonical COLLATE "C"
                "# + $on_conflict + r#"
                RETURNING lot_width, lot_height, exit_row, n_walls, par
            ), counted AS (
                INSERT INTO board_counts (lot_width, lot_height, exit_row, n_walls, par, n_boards)
                SELECT lot_width, lot_height, exit_row, n_walls, par, count(*)
                FROM inserted
                GROUP BY lot_width, lot_height, exit_row, n_walls, par
                ORDER BY lot_width, lot_height, exit_row, n_walls, par
                ON CONFLICT (lot_width, lot_height, exit_row, n_walls, par)
                    DO UPDATE SET n_boards = board_counts.n_boards + EXCLUDED.n_boards
            )
            SELECT count(*) AS "n_inserted!", max(par) AS best_par FROM inserted
            "#,
            $batch_id,
            &columns.pars,
            &columns.canonicals as &[&str],
            &columns.lot_widths,
            &columns.lot_heights,
            &columns.exit_rows,
            &columns.n_vehicles,
            &columns.n_walls,
            &columns.n_states,
            &columns.minimals as &[Option<bool>],
        )
        .fetch_one($connection)
        .await;
        row.map(|row| Inserted {
            n_inserted: from_sql(row.n_inserted),
            best_par: row.best_par,
        })
    }};
}

impl Tx {
    /// Stores boards that are not there yet, and counts them. `rows` are sorted by key and distinct: sorted input
    /// is inserted nearly twice as fast, and two batches that share boards lock them in the same order, so they
    /// cannot deadlock.
    ///
    /// Where `are_new` is set, all are tried as new first: looking before each insert whether a board is there, and inserting it
    /// so that another may come in between, is half of the work. If one is there after all, the database refuses
    /// the statement at that board, and every one of them is looked for.
    pub(super) async fn insert_boards(
        &mut self,
        batch_id: i64,
        rows: &[BoardRow],
        are_new: bool,
    ) -> Result<Inserted, StoreError> {
        debug_assert!(
            rows.is_sorted_by(|a, b| key(a) < key(b)),
            "rows are sorted by key and distinct"
        );
        if rows.is_empty() {
            // Most of what is handed in is known.
            return Ok(Inserted {
                n_inserted: 0,
                best_par: None,
            });
        }
        let mut columns = Columns::default();
        for row in rows {
            columns.push(row);
        }
        if are_new {
            let mut savepoint = self.tx.begin().await?;
            match insert!(&mut *savepoint, batch_id, columns, "") {
                Ok(inserted) => {
                    savepoint.commit().await?;
                    return Ok(inserted);
                }
                Err(sqlx::Error::Database(error)) if error.is_unique_violation() => {
                    savepoint.rollback().await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(insert!(
            &mut *self.tx,
            batch_id,
            columns,
            "ON CONFLICT (par, canonical) DO NOTHING"
        )?)
    }
}

fn key(row: &BoardRow) -> (Par, &str) {
    (row.found.par, row.found.canonical.as_str())
}

#[derive(Default)]
struct Columns<'a> {
    pars: Vec<i16>,
    canonicals: Vec<&'a str>,
    lot_widths: Vec<i16>,
    lot_heights: Vec<i16>,
    exit_rows: Vec<i16>,
    n_vehicles: Vec<i16>,
    n_walls: Vec<i16>,
    n_states: Vec<i64>,
    minimals: Vec<Option<bool>>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, row: &'a BoardRow) {
        // No board with a par beyond 32,767 fits into 64 squares: its cluster would be too large to prove.
        self.pars
            .push(i16::try_from(row.found.par.get()).expect("a par that can be proved fits 15 bits"));
        self.canonicals.push(row.found.canonical.as_str());
        self.lot_widths.push(row.lot.width().into());
        self.lot_heights.push(row.lot.height().into());
        self.exit_rows.push(row.exit_row.into());
        self.n_vehicles.push(row.found.n_vehicles.into());
        self.n_walls.push(row.found.n_walls.into());
        self.n_states.push(to_sql(row.found.states));
        self.minimals.push(row.found.minimal);
    }
}

/// A row of `boards`, without its batch.
pub(super) struct SqlBoard {
    pub(super) par: i16,
    pub(super) canonical: String,
    pub(super) lot_width: i16,
    pub(super) lot_height: i16,
    pub(super) exit_row: i16,
    pub(super) n_vehicles: i16,
    pub(super) n_walls: i16,
    pub(super) n_states: i64,
    pub(super) minimal: Option<bool>,
}

impl TryFrom<SqlBoard> for BoardRow {
    type Error = StoreError;

    fn try_from(row: SqlBoard) -> Result<BoardRow, StoreError> {
        let unreadable = |reason: String| StoreError::Unreadable {
            table: "boards",
            id: 0,
            reason: format!("{}: {reason}", row.canonical),
        };
        let small = |column, value: i16| narrow::<u8>("boards", 0, column, value.into());
        let lot = Lot::new(
            small("lot_width", row.lot_width)?,
            small("lot_height", row.lot_height)?,
        )
        .map_err(|error| unreadable(error.to_string()))?;
        let canonical =
            board::Canonical::parse(&row.canonical).map_err(|error| unreadable(error.to_string()))?;
        Ok(BoardRow {
            found: Found {
                par: Par::new(narrow("boards", 0, "par", row.par.into())?),
                canonical,
                states: from_sql(row.n_states),
                minimal: row.minimal,
                n_vehicles: small("n_vehicles", row.n_vehicles)?,
                n_walls: small("n_walls", row.n_walls)?,
            },
            lot,
            exit_row: small("exit_row", row.exit_row)?,
        })
    }
}
