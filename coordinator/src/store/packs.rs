//! What packs are made of: how many boards of each par may be taken, and the first few of a par.
//!
//! Counts come from the tallies, boards along the index by size, so that building a pack reads some hundred rows of
//! however many there are. Boards that are or were reserved for a challenge are never handed out.

use std::collections::BTreeMap;

use board::geometry::Lot;
use board::pack::Candidate;
use board::{Canonical, Par};

use super::{Store, StoreError, from_sql, narrow, to_sql};

/// Which boards a pack may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackFilter {
    /// Of this lot.
    pub lot: Lot,
    /// With this many walls or more.
    pub least_walls: u8,
    /// With this many walls or fewer.
    pub most_walls: u8,
    /// Only boards that are known to be minimal.
    pub is_minimal: bool,
}

/// What boards of one par are ordered by before anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PackSort {
    /// Nothing.
    #[default]
    None,
    /// A measure of difficulty, the easiest first; boards that were not measured are not taken.
    Easiest(Measure),
    /// The same, the hardest first.
    Hardest(Measure),
}

/// A measure of difficulty, see `board::difficulty`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How unlikely random slides are to solve the board in par.
    Luck,
    /// Slides against intuition.
    Against,
    /// Vehicles that slide twice or more.
    RepeatMovers,
    /// Slides possible at a position on the way, on average.
    Branching,
    /// Share of dead ends.
    DeadEnds,
    /// Few shortest solutions.
    Solutions,
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Measure::Luck => "luck",
            Measure::Against => "against",
            Measure::RepeatMovers => "repeat_movers",
            Measure::Branching => "branching",
            Measure::DeadEnds => "dead_ends",
            Measure::Solutions => "solutions",
        }
    }
}

impl PackSort {
    /// The measure's name, and 1 or -1; `None`: nothing to sort by.
    fn to_sql(self) -> Option<(&'static str, i64)> {
        match self {
            PackSort::None => None,
            PackSort::Easiest(measure) => Some((measure.name(), 1)),
            PackSort::Hardest(measure) => Some((measure.name(), -1)),
        }
    }
}

/// A (par, spelling) of a pack, and what the database says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackStanding {
    /// Its place in the list that was asked about.
    pub idx: usize,
    /// Whether it is stored.
    pub is_stored: bool,
    /// Whether it is or was reserved for a challenge.
    pub is_reserved: bool,
}

impl Store {
    /// How many boards of each par a pack may choose from: those of the filter that were never reserved.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn pack_counts(
        &self,
        filter: &PackFilter,
        sort: PackSort,
    ) -> Result<BTreeMap<Par, u64>, StoreError> {
        let rows = if sort == PackSort::None {
            self.pack_counts_of_all(filter).await?
        } else {
            self.pack_counts_of_measured(filter).await?
        };
        rows.into_iter()
            .map(|(par, n)| {
                Ok((
                    Par::new(narrow("board_tallies", 0, "par", par.into())?),
                    from_sql(n.max(0)),
                ))
            })
            .collect()
    }

    async fn pack_counts_of_all(&self, filter: &PackFilter) -> Result<Vec<(i16, i64)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT t.par, (sum(CASE WHEN $5 THEN t.n_minimal ELSE t.n_boards END) - coalesce(max(r.n_reserved), 0))::bigint
                AS "n!"
            FROM board_tallies t
            LEFT JOIN (
                SELECT c.par, count(*) AS n_reserved
                FROM challenges c
                JOIN boards b ON b.par = c.par AND b.canonical = c.canonical
                WHERE b.lot_width = $1 AND b.lot_height = $2 AND b.n_walls BETWEEN $3 AND $4 AND (b.minimal OR NOT $5)
                GROUP BY c.par
            ) r ON r.par = t.par
            WHERE t.lot_width = $1 AND t.lot_height = $2 AND t.n_walls BETWEEN $3 AND $4
            GROUP BY t.par
            "#,
            i16::from(filter.lot.width()),
            i16::from(filter.lot.height()),
            i16::from(filter.least_walls),
            i16::from(filter.most_walls),
            filter.is_minimal,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| (row.par, row.n)).collect())
    }

    async fn pack_counts_of_measured(&self, filter: &PackFilter) -> Result<Vec<(i16, i64)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT b.par, count(*) AS "n!"
            FROM board_difficulty d
            JOIN boards b ON b.par = d.par AND b.canonical = d.canonical
            WHERE b.lot_width = $1 AND b.lot_height = $2 AND b.n_walls BETWEEN $3 AND $4 AND (b.minimal OR NOT $5)
                AND NOT EXISTS (SELECT FROM challenges c WHERE c.par = b.par AND c.canonical = b.canonical)
            GROUP BY b.par
            "#,
            i16::from(filter.lot.width()),
            i16::from(filter.lot.height()),
            i16::from(filter.least_walls),
            i16::from(filter.most_walls),
            filter.is_minimal,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| (row.par, row.n)).collect())
    }

    /// The first boards of a par that a pack may have, in the order of [`board::pack::choose`].
    ///
    /// # Errors
    /// [`StoreError::Database`], [`StoreError::Unreadable`].
    pub async fn pack_candidates(
        &self,
        par: Par,
        filter: &PackFilter,
        sort: PackSort,
        n: u64,
    ) -> Result<Vec<Candidate>, StoreError> {
        let rows = match sort.to_sql() {
            None => self.first_by_size(par, filter, n).await?,
            Some((measure, sign)) => self.first_by_difficulty(par, filter, measure, sign, n).await?,
        };
        rows.into_iter().map(|row| row.into_candidate(par)).collect()
    }

    async fn first_by_size(
        &self,
        par: Par,
        filter: &PackFilter,
        n: u64,
    ) -> Result<Vec<SqlCandidate>, StoreError> {
        // One par, so one partition; along boards_by_size, so that only boards of the smallest sizes are read.
        Ok(sqlx::query_as!(
            SqlCandidate,
            r#"
            SELECT canonical, n_vehicles, n_states, 0::bigint AS "sort!"
            FROM boards b
            WHERE par = $1 AND lot_width = $2 AND lot_height = $3 AND n_walls BETWEEN $4 AND $5 AND (minimal OR NOT $6)
                AND NOT EXISTS (SELECT FROM challenges c WHERE c.par = b.par AND c.canonical = b.canonical)
            ORDER BY n_vehicles, n_states, canonical
            LIMIT $7
            "#,
            par_to_sql(par),
            i16::from(filter.lot.width()),
            i16::from(filter.lot.height()),
            i16::from(filter.least_walls),
            i16::from(filter.most_walls),
            filter.is_minimal,
            to_sql(n),
        )
        .fetch_all(&self.pool)
        .await?)
    }

    async fn first_by_difficulty(
        &self,
        par: Par,
        filter: &PackFilter,
        measure: &str,
        sign: i64,
        n: u64,
    ) -> Result<Vec<SqlCandidate>, StoreError> {
        Ok(sqlx::query_as!(
            SqlCandidate,
            r#"
            SELECT b.canonical, b.n_vehicles, b.n_states, m.value AS "sort!"
            FROM board_difficulty d
            JOIN boards b ON b.par = d.par AND b.canonical = d.canonical
            CROSS JOIN LATERAL (
                SELECT $8::bigint * (CASE $7
                    WHEN 'luck' THEN d.luck_tenths
                    WHEN 'against' THEN d.n_against
                    WHEN 'repeat_movers' THEN d.n_repeat_movers
                    WHEN 'branching' THEN d.n_way_slides * 1000 / greatest(d.n_way_positions, 1)
                    WHEN 'dead_ends' THEN d.n_dead_ends * 1000 / greatest(d.n_unsolved, 1)
                    WHEN 'solutions' THEN -d.n_solutions
                END)::bigint AS value
            ) m
            WHERE d.par = $1 AND b.lot_width = $2 AND b.lot_height = $3 AND b.n_walls BETWEEN $4 AND $5
                AND (b.minimal OR NOT $6)
                AND NOT EXISTS (SELECT FROM challenges c WHERE c.par = b.par AND c.canonical = b.canonical)
            ORDER BY m.value, b.n_vehicles, b.n_states, b.canonical
            LIMIT $9
            "#,
            par_to_sql(par),
            i16::from(filter.lot.width()),
            i16::from(filter.lot.height()),
            i16::from(filter.least_walls),
            i16::from(filter.most_walls),
            filter.is_minimal,
            measure,
            sign,
            to_sql(n),
        )
        .fetch_all(&self.pool)
        .await?)
    }

    /// Whether these boards of a pack are stored, and whether they are or were reserved.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn pack_standing(
        &self,
        pars: &[i16],
        spellings: &[String],
    ) -> Result<Vec<PackStanding>, StoreError> {
        assert_eq!(pars.len(), spellings.len(), "a key is a par and a spelling");
        let rows = sqlx::query!(
            r#"
            SELECT k.idx AS "idx!",
                EXISTS (SELECT FROM boards b WHERE b.par = k.par AND b.canonical = k.canonical COLLATE "C") AS "is_stored!",
                EXISTS (SELECT FROM challenges c WHERE c.canonical = k.canonical COLLATE "C") AS "is_reserved!"
            FROM unnest($1::smallint[], $2::text[]) WITH ORDINALITY AS k (par, canonical, idx)
            ORDER BY k.idx
            "#,
            pars,
            spellings,
        )
        .fetch_all(&self.pool)
        .await?;
        let standing = rows.into_iter().map(|row| PackStanding {
            idx: usize::try_from(row.idx - 1).expect("ordinality counts from 1"),
            is_stored: row.is_stored,
            is_reserved: row.is_reserved,
        });
        Ok(standing.collect())
    }
}

struct SqlCandidate {
    canonical: String,
    n_vehicles: i16,
    n_states: i64,
    sort: i64,
}

impl SqlCandidate {
    fn into_candidate(self, par: Par) -> Result<Candidate, StoreError> {
        let unreadable = |error: board::CanonicalError| StoreError::Unreadable {
            table: "boards",
            id: 0,
            reason: format!("{}: {error}", self.canonical),
        };
        Ok(Candidate {
            sort: self.sort,
            par,
            n_vehicles: narrow("boards", 0, "n_vehicles", self.n_vehicles.into())?,
            n_states: from_sql(self.n_states),
            canonical: Canonical::parse(&self.canonical).map_err(unreadable)?,
        })
    }
}

fn par_to_sql(par: Par) -> i16 {
    i16::try_from(par.get()).unwrap_or(i16::MAX)
}
