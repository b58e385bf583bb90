//! Grading: how much of what there is a hunt has found, and when it had found what.
//!
//! Boards are proved and each stands once, so a hunt's boards of a par are a part of all there are of it: where all are
//! counted, counts say as much as the lists would.

use std::collections::HashMap;

use board::Par;
use board::space::BoardSpace;
use proto::ids::HuntId;
use time::OffsetDateTime;

use super::{HuntRecord, Store, StoreError, from_sql, narrow, to_sql};

/// What all there is means, and where it is known from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whole {
    /// All solvable clusters, by a census in this database.
    CensusOfAll(HuntId),
    /// All minimal ones with the hero alone in its row and no full lane, by a census in this database.
    CensusOfMinimal(HuntId),
    /// All solvable clusters, by a published enumeration.
    PublishedOfAll,
    /// All minimal ones with the hero alone in its row and no full lane, by a published enumeration.
    PublishedOfMinimal,
}

impl Whole {
    /// Whether only minimal boards are counted.
    pub fn is_minimal(&self) -> bool {
        matches!(self, Whole::CensusOfMinimal(_) | Whole::PublishedOfMinimal)
    }
}

/// How many boards of a par were found, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundOfPar {
    /// The par.
    pub par: Par,
    /// Boards.
    pub n_found: u64,
    /// When the first was stored.
    pub first_at: OffsetDateTime,
    /// When the last was stored.
    pub last_at: OffsetDateTime,
}

impl Store {
    /// How many boards of each par there are in all, ascending, of a space's lot, exit row and numbers of walls, and how
    /// that is known: by a finished census of this database, else as published. `None`: it is not known.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn whole(&self, space: &BoardSpace) -> Result<Option<(Whole, Vec<(Par, u64)>)>, StoreError> {
        for is_every in [true, false] {
            if let Some(census) = self.finished_census(space, is_every).await? {
                let rows = sqlx::query!(
                    r#"
                    SELECT par AS "par!", (CASE WHEN $2 THEN solvable ELSE minimal END) AS "n!"
                    FROM census_totals
                    WHERE hunt_id = $1 AND par > 0 AND (CASE WHEN $2 THEN solvable ELSE minimal END) > 0
                    ORDER BY par
                    "#,
                    census.get(),
                    is_every,
                )
                .fetch_all(&self.pool)
                .await?;
                let counts = rows.into_iter().map(|row| par_count(row.par, row.n));
                let whole = if is_every {
                    Whole::CensusOfAll(census)
                } else {
                    Whole::CensusOfMinimal(census)
                };
                return Ok(Some((whole, counts.collect::<Result<_, _>>()?)));
            }
            let counts = self.published(space, is_every).await?;
            if !counts.is_empty() {
                let whole = if is_every {
                    Whole::PublishedOfAll
                } else {
                    Whole::PublishedOfMinimal
                };
                return Ok(Some((whole, counts)));
            }
        }
        Ok(None)
    }

    async fn finished_census(
        &self,
        space: &BoardSpace,
        is_every: bool,
    ) -> Result<Option<HuntId>, StoreError> {
        let fields = space.fields();
        let lengths: Vec<i16> = fields.lengths.iter().map(|entry| entry.length.into()).collect();
        let row = sqlx::query!(
            r#"
            SELECT h.id
            FROM hunts h
            JOIN censuses c ON c.hunt_id = h.id AND (c.scope = 'every') = $8
            JOIN census_coverage v ON v.hunt_id = h.id AND v.n_counted = v.n_units AND v.n_overlapping = 0
            WHERE h.lot_width = $1 AND h.lot_height = $2 AND h.exit_row = $3 AND h.first_walls = $4 AND h.last_walls = $5
                AND h.hero_length = $6 AND h.lengths = $7
            ORDER BY h.id DESC
            LIMIT 1
            "#,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::from(*fields.walls.start()),
            i16::from(*fields.walls.end()),
            i16::from(fields.hero_length),
            &lengths,
            is_every,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| super::hunt_record::hunt_id(row.id)))
    }

    /// Empty where nothing is published of one of the numbers of walls, or of such vehicles.
    async fn published(&self, space: &BoardSpace, is_every: bool) -> Result<Vec<(Par, u64)>, StoreError> {
        let fields = space.fields();
        if fields.hero_length != 2
            || fields
                .lengths
                .iter()
                .any(|entry| !(2..=3).contains(&entry.length))
        {
            return Ok(Vec::new());
        }
        let rows = sqlx::query!(
            r#"
            WITH published AS (
                SELECT lot_width, lot_height, exit_row, n_walls, par, n_clusters AS n FROM reference_clusters WHERE $6
                UNION ALL
                SELECT lot_width, lot_height, exit_row, n_walls, par, n_minimal FROM reference_counts WHERE NOT $6
            ), fit AS (
                SELECT * FROM published
                WHERE lot_width = $1 AND lot_height = $2 AND exit_row = $3 AND n_walls BETWEEN $4 AND $5
            )
            SELECT par AS "par!", sum(n)::bigint AS "n!"
            FROM fit
            WHERE (SELECT count(DISTINCT n_walls) FROM fit) = $5::smallint - $4::smallint + 1
            GROUP BY par
            ORDER BY par
            "#,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::from(*fields.walls.start()),
            i16::from(*fields.walls.end()),
            is_every,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(|row| par_count(row.par, row.n)).collect()
    }

    /// How many boards of each par a hunt found first, ascending, of its numbers of walls; with `is_minimal` only those
    /// known to be minimal.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn found_by_hunt(
        &self,
        hunt: &HuntRecord,
        is_minimal: bool,
    ) -> Result<Vec<FoundOfPar>, StoreError> {
        let Some(space) = &hunt.space else {
            return Ok(Vec::new());
        };
        let walls = space.walls();
        let rows = sqlx::query!(
            r#"
            SELECT b.par, count(*) AS "n!", min(t.stored_at) AS "first_at!", max(t.stored_at) AS "last_at!"
            FROM boards b
            JOIN batches t ON t.id = b.batch_id
            JOIN jobs j ON j.id = t.job_id
            WHERE j.hunt_id = $1 AND b.par > 0 AND b.n_walls BETWEEN $2 AND $3 AND (NOT $4 OR b.minimal)
            GROUP BY b.par
            ORDER BY b.par
            "#,
            hunt.id.get(),
            i16::from(*walls.start()),
            i16::from(*walls.end()),
            is_minimal,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let (par, n_found) = par_count(row.par, row.n)?;
                Ok(FoundOfPar {
                    par,
                    n_found,
                    first_at: row.first_at,
                    last_at: row.last_at,
                })
            })
            .collect()
    }

    /// When a hunt had found more than so many boards; `None`: it has not.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn found_more_than(
        &self,
        hunt: HuntId,
        n_boards: u64,
    ) -> Result<Option<OffsetDateTime>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT min(stored_at) AS at
            FROM (
                SELECT t.stored_at, sum(t.n_inserted) OVER (ORDER BY t.id) AS n_boards
                FROM batches t
                JOIN jobs j ON j.id = t.job_id
                WHERE j.hunt_id = $1
            ) so_far
            WHERE n_boards > $2::bigint
            "#,
            hunt.get(),
            to_sql(n_boards),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(row.at)
    }

    /// Whether all boards there are of a par or more, and one at least of every par there is, are stored, of a space's lot,
    /// exit row and numbers of walls. From kept counts; false where it is not known what there is.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn is_complete(&self, space: &BoardSpace, least_par: Par) -> Result<bool, StoreError> {
        let Some((whole, counts)) = self.whole(space).await? else {
            return Ok(false);
        };
        let fields = space.fields();
        let rows = sqlx::query!(
            r#"
            SELECT par, sum(CASE WHEN $6 THEN n_minimal ELSE n_boards END)::bigint AS "n!"
            FROM board_tallies
            WHERE lot_width = $1 AND lot_height = $2 AND exit_row = $3 AND n_walls BETWEEN $4 AND $5
            GROUP BY par
            "#,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::from(*fields.walls.start()),
            i16::from(*fields.walls.end()),
            whole.is_minimal(),
        )
        .fetch_all(&self.pool)
        .await?;
        let stored: HashMap<Par, u64> = rows
            .into_iter()
            .map(|row| par_count(row.par, row.n))
            .collect::<Result<_, _>>()?;
        Ok(counts.iter().all(|(par, there_are)| {
            let wanted = if *par >= least_par { *there_are } else { 1 };
            stored.get(par).is_some_and(|&n| n >= wanted)
        }))
    }

    /// How much processor time a hunt's jobs had taken at a moment, in seconds. Of a job that ran at that moment its
    /// even part is taken; one that was not carried out to its end is not known.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn cpu_until(&self, hunt: HuntId, at: OffsetDateTime) -> Result<f64, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT coalesce(sum(j.cpu_ms * least(1, extract(epoch FROM $2::timestamptz - a.started_at)
                / greatest(extract(epoch FROM a.ended_at - a.started_at), 0.001))), 0)::double precision / 1000 AS "cpu_s!"
            FROM jobs j
            JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token
            WHERE j.hunt_id = $1 AND j.state = 'done' AND a.started_at < $2
            "#,
            hunt.get(),
            at,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(row.cpu_s)
    }
}

fn par_count(par: i16, n: i64) -> Result<(Par, u64), StoreError> {
    Ok((Par::new(narrow("boards", 0, "par", par.into())?), from_sql(n)))
}
