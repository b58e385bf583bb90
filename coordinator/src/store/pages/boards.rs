//! Boards, hardest first, and where each comes from.
//!
//! A filter that few boards pass would have to look at all of them. So a page looks at a bounded number of boards and says
//! where to go on.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// Boards on one page of a list.
pub const BOARDS_A_PAGE: usize = 48;
/// How many boards a page looks at, at most.
const MAX_LOOKED_AT: i64 = 20_000;
/// How many of them at first, and how many times as many then: most filters are met by the first few.
const FIRST_LOOK: i64 = 200;
const LOOK_GROWTH: i64 = 10;

/// Which boards are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardQuery {
    /// Of one par.
    pub par: Option<i16>,
    /// Of one lot.
    pub lot: Option<(i16, i16)>,
    /// With so many vehicles.
    pub n_vehicles: Option<i16>,
    /// With so many walls.
    pub n_walls: Option<i16>,
    /// Minimal ones alone.
    pub is_minimal: bool,
    /// Found first by one hunt.
    pub hunt_id: Option<i64>,
    /// Beyond this one: its par and spelling.
    pub after: Option<(i16, String)>,
}

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardLine {
    /// Slides.
    pub par: i16,
    /// Canonical spelling.
    pub canonical: String,
    /// Vehicles.
    pub n_vehicles: i16,
    /// Walls.
    pub n_walls: i16,
    /// Positions of its cluster.
    pub n_states: i64,
    /// Nothing is superfluous.
    pub minimal: Option<bool>,
}

/// A page of boards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardPage {
    /// The boards.
    pub boards: Vec<BoardLine>,
    /// Where the next page begins; `None`: there is nothing more.
    pub next: Option<(i16, String)>,
    /// How many boards were looked at.
    pub n_looked_at: i64,
    /// How many boards of its par, lot and walls there are (other filters are not counted).
    pub n_counted: i64,
}

/// Where a board comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The row.
    pub line: BoardLine,
    /// The batch that brought it.
    pub batch_id: i64,
    /// When it was stored; `None`: the batch's row is missing.
    pub stored_at: Option<OffsetDateTime>,
    /// The job that found it first; `None`: imported.
    pub job_id: Option<i64>,
    /// Under which token.
    pub token: Option<i64>,
    /// The hunt.
    pub hunt_id: Option<i64>,
    /// Its label.
    pub hunt: Option<String>,
    /// The worker.
    pub worker_id: Option<i64>,
    /// Its label.
    pub worker: Option<String>,
    /// What it was imported from.
    pub source: Option<String>,
}

impl Store {
    /// A page of boards.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn board_page(&self, query: &BoardQuery) -> Result<BoardPage, StoreError> {
        let (width, height) = query.lot.unzip();
        let pars = sqlx::query!(
            r#"
            SELECT par, sum(n_boards)::bigint AS "n_boards!" FROM board_counts
            WHERE ($1::smallint IS NULL OR par = $1) AND ($2::smallint IS NULL OR lot_width = $2)
                AND ($3::smallint IS NULL OR lot_height = $3) AND ($4::smallint IS NULL OR n_walls = $4)
            GROUP BY par ORDER BY par DESC
            "#,
            query.par,
            width,
            height,
            query.n_walls,
        )
        .fetch_all(&self.pool)
        .await?;
        let mut page = BoardPage {
            n_counted: pars.iter().map(|row| row.n_boards).sum(),
            ..BoardPage::default()
        };
        let mut look = FIRST_LOOK;
        'pars: for row in pars {
            let mut from = match &query.after {
                Some((par, _)) if *par < row.par => continue,
                Some((par, canonical)) if *par == row.par => canonical.clone(),
                _ => String::new(),
            };
            // As far into this par as there is room on the page, a larger part each time.
            while let Some(last_seen) = self.add_boards(&mut page, query, row.par, &from, look).await? {
                if page.boards.len() == BOARDS_A_PAGE || page.n_looked_at >= MAX_LOOKED_AT {
                    let last = page.boards.last().filter(|_| page.boards.len() == BOARDS_A_PAGE);
                    page.next =
                        Some(last.map_or((row.par, last_seen), |last| (last.par, last.canonical.clone())));
                    break 'pars;
                }
                from = last_seen;
                look = (look * LOOK_GROWTH).min(MAX_LOOKED_AT - page.n_looked_at);
            }
        }
        Ok(page)
    }

    /// Looks at the next boards of one par and adds those that the page asks for; the last that was looked at, `None` if
    /// it was the last of the par and the page has room for more.
    async fn add_boards(
        &self,
        page: &mut BoardPage,
        query: &BoardQuery,
        par: i16,
        after: &str,
        look: i64,
    ) -> Result<Option<String>, StoreError> {
        let (width, height) = query.lot.unzip();
        let room = BOARDS_A_PAGE - page.boards.len();
        // The inner query walks the partition's key; lots other than squares spell their size first, so they are a range.
        let rows = sqlx::query!(
            r#"
            WITH seen AS MATERIALIZED (
                SELECT * FROM boards b
                WHERE par = $1 AND canonical > $2 AND canonical >= $9 AND canonical < $10
                    AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
                ORDER BY canonical LIMIT $3
            ), matching AS (
                SELECT s.* FROM seen s LEFT JOIN batches t ON $8::bigint IS NOT NULL AND t.id = s.batch_id
                    LEFT JOIN jobs j ON $8 IS NOT NULL AND j.id = t.job_id
                WHERE ($4::smallint IS NULL OR lot_width = $4) AND ($5::smallint IS NULL OR lot_height = $5)
                    AND ($6::smallint IS NULL OR n_vehicles = $6) AND ($7::smallint IS NULL OR n_walls = $7)
                    AND (NOT $12 OR minimal) AND ($8 IS NULL OR j.hunt_id = $8)
                ORDER BY canonical LIMIT $11
            )
            SELECT n_looked_at AS "n_looked_at!", last_seen, m.par AS "par?", m.canonical AS "canonical?",
                m.n_vehicles AS "n_vehicles?", m.n_walls AS "n_walls?", m.n_states AS "n_states?", m.minimal AS "minimal?"
            FROM (SELECT count(*) AS n_looked_at, max(canonical) AS last_seen FROM seen) c
            LEFT JOIN matching m ON true ORDER BY m.canonical
            "#,
            par,
            after,
            look,
            width,
            height,
            query.n_vehicles,
            query.n_walls,
            query.hunt_id,
            range_of(query.lot).0,
            range_of(query.lot).1,
            i64::try_from(room + 1).expect("a page is small"),
            query.is_minimal,
        )
        .fetch_all(&self.pool)
        .await?;
        let (n_looked_at, last_seen) = rows
            .first()
            .map_or((0, None), |row| (row.n_looked_at, row.last_seen.clone()));
        page.n_looked_at += n_looked_at;
        for row in rows {
            let Some(canonical) = row.canonical else { continue };
            if page.boards.len() == BOARDS_A_PAGE {
                return Ok(last_seen);
            }
            page.boards.push(BoardLine {
                par,
                canonical,
                n_vehicles: row.n_vehicles.unwrap_or(0),
                n_walls: row.n_walls.unwrap_or(0),
                n_states: row.n_states.unwrap_or(0),
                minimal: row.minimal,
            });
        }
        Ok(last_seen.filter(|_| n_looked_at == look))
    }

    /// A board's row and where it comes from; `None`: it is not stored.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn provenance(&self, par: i16, canonical: &str) -> Result<Option<Provenance>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT b.n_vehicles AS "n_vehicles!", b.n_walls AS "n_walls!", b.n_states AS "n_states!", b.minimal,
                b.batch_id AS "batch_id!", t.stored_at AS "stored_at?", t.job_id AS "job_id?", t.token AS "token?",
                t.source AS "source?", j.hunt_id AS "hunt_id?", h.name AS "hunt?", t.worker_id AS "worker_id?", w.name AS "worker?"
            FROM boards b
            LEFT JOIN batches t ON t.id = b.batch_id
            LEFT JOIN jobs j ON j.id = t.job_id
            LEFT JOIN hunts h ON h.id = j.hunt_id
            LEFT JOIN workers w ON w.id = t.worker_id
            WHERE b.par = $1 AND b.canonical = $2
                AND NOT EXISTS (SELECT FROM secret_boards s WHERE s.par = b.par AND s.canonical = b.canonical)
            "#,
            par,
            canonical,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| Provenance {
            line: BoardLine {
                par,
                canonical: canonical.to_owned(),
                n_vehicles: row.n_vehicles,
                n_walls: row.n_walls,
                n_states: row.n_states,
                minimal: row.minimal,
            },
            batch_id: row.batch_id,
            stored_at: row.stored_at,
            job_id: row.job_id,
            token: row.token,
            hunt_id: row.hunt_id,
            hunt: row.hunt,
            worker_id: row.worker_id,
            worker: row.worker,
            source: row.source,
        }))
    }

    /// The lots that there are boards of.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn lots(&self) -> Result<Vec<(i16, i16)>, StoreError> {
        let rows = sqlx::query!("SELECT DISTINCT lot_width, lot_height FROM board_counts ORDER BY 1, 2")
            .fetch_all(&self.pool)
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.lot_width, row.lot_height))
            .collect())
    }
}

/// Between which spellings (the second excluded) the boards of a lot lie.
fn range_of(lot: Option<(i16, i16)>) -> (String, String) {
    match lot {
        Some((width, height)) if width != height => {
            (format!("{width}x{height}:"), format!("{width}x{height};"))
        }
        // Square lots are spelled without their size: letters, all beyond the digits.
        Some(_) => ("A".into(), "~".into()),
        None => (String::new(), "~".into()),
    }
}
