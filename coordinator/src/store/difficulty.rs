//! Measures of difficulty: which boards have none yet, how far hunts have cut them into jobs, and the measures as they
//! come in.

use std::ops::RangeInclusive;

use board::difficulty::Difficulty;
use board::geometry::Lot;
use board::{Canonical, Par};
use proto::ids::HuntId;
use sqlx::PgExecutor;

use super::{Store, StoreError, Tx, narrow, to_sql};

/// Boards of one par that have no measures, in the order of their spelling.
#[derive(Clone, Debug)]
pub struct Unmeasured<'a> {
    /// The par.
    pub par: Par,
    /// The lot.
    pub lot: Lot,
    /// The exit row; `None`: any.
    pub exit_row: Option<u8>,
    /// With so many vehicles.
    pub vehicles: RangeInclusive<u8>,
    /// With so many walls.
    pub walls: RangeInclusive<u8>,
    /// After this spelling; empty: from the first.
    pub after: &'a str,
    /// At most so many.
    pub limit: u64,
}

/// How far a hunt has cut the boards into jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifficultyPlan {
    /// The par that comes next; harder boards are done.
    pub next_par: Par,
    /// Of that par, boards up to this spelling are done.
    pub after: String,
}

impl Store {
    /// The first boards that have not been measured.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unmeasured(&self, query: &Unmeasured<'_>) -> Result<Vec<Canonical>, StoreError> {
        unmeasured(&self.pool, query).await
    }

    /// Stores measures; those of boards that have been measured meanwhile are the same. How many were new.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn store_difficulty(&self, measured: &[(Canonical, Difficulty)]) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let n_stored = tx.store_difficulty(measured).await?;
        tx.commit().await?;
        Ok(n_stored)
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

impl Tx {
    /// The first boards that have not been measured.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn unmeasured(&mut self, query: &Unmeasured<'_>) -> Result<Vec<Canonical>, StoreError> {
        unmeasured(&mut *self.tx, query).await
    }

    /// Pars of a lot and exit row, up to this one, falling.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn pars_to_measure(
        &mut self,
        lot: Lot,
        exit_row: u8,
        most: Par,
    ) -> Result<Vec<Par>, StoreError> {
        let rows = sqlx::query_scalar!(
            r#"
            SELECT DISTINCT par
            FROM board_tallies
            WHERE lot_width = $1 AND lot_height = $2 AND exit_row = $3 AND par <= $4
            ORDER BY par DESC
            "#,
            i16::from(lot.width()),
            i16::from(lot.height()),
            i16::from(exit_row),
            par_to_sql(most),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.into_iter()
            .map(|par| narrow("board_tallies", 0, "par", par.into()).map(Par::new))
            .collect()
    }

    /// How far the hunt is, which is at the beginning if nothing was cut for it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn difficulty_plan(&mut self, hunt: HuntId) -> Result<DifficultyPlan, StoreError> {
        let row = sqlx::query!(
            "SELECT next_par, after_canonical FROM difficulty_plans WHERE hunt_id = $1",
            hunt.get()
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let Some(row) = row else {
            return Ok(DifficultyPlan {
                next_par: Par::new(i16::MAX.cast_unsigned()),
                after: String::new(),
            });
        };
        Ok(DifficultyPlan {
            next_par: Par::new(narrow(
                "difficulty_plans",
                hunt.get(),
                "next_par",
                row.next_par.into(),
            )?),
            after: row.after_canonical,
        })
    }

    /// Keeps how far the hunt is.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn keep_difficulty_plan(
        &mut self,
        hunt: HuntId,
        plan: &DifficultyPlan,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO difficulty_plans (hunt_id, next_par, after_canonical)
            VALUES ($1, $2, $3)
            ON CONFLICT (hunt_id) DO UPDATE
            SET next_par = EXCLUDED.next_par, after_canonical = EXCLUDED.after_canonical
            "#,
            hunt.get(),
            par_to_sql(plan.next_par),
            plan.after,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Lets a hunt begin again at the hardest board: what was measured is passed over. Nothing for other hunts.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn restart_difficulty(&mut self, hunt: HuntId) -> Result<(), StoreError> {
        sqlx::query!("DELETE FROM difficulty_plans WHERE hunt_id = $1", hunt.get())
            .execute(&mut *self.tx)
            .await?;
        Ok(())
    }

    /// Stores measures; those of boards that have been measured meanwhile are the same. How many were new.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn store_difficulty(
        &mut self,
        measured: &[(Canonical, Difficulty)],
    ) -> Result<u64, StoreError> {
        if measured.is_empty() {
            return Ok(0);
        }
        let column =
            |of: fn(&Difficulty) -> u64| measured.iter().map(|(_, d)| to_sql(of(d))).collect::<Vec<i64>>();
        let pars: Vec<i16> = measured.iter().map(|(_, d)| par_to_sql(d.par)).collect();
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
            FROM unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
                AS m (par, canonical, n_solutions, n_way_positions, n_way_slides, n_right_slides, n_against, n_movers,
                    n_repeat_movers, n_dead_ends, n_unsolved, luck_tenths)
            -- Of boards that are stored under this par, and of no others. LATERAL with LIMIT: each key is looked up in its
            -- partition.
            CROSS JOIN LATERAL (
                SELECT FROM boards b WHERE b.par = m.par AND b.canonical = m.canonical COLLATE "C" LIMIT 1
            ) stored
            ORDER BY par, canonical COLLATE "C"
            ON CONFLICT (par, canonical) DO NOTHING
            "#,
            &pars,
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
        .execute(&mut *self.tx)
        .await?;
        Ok(result.rows_affected())
    }
}

async fn unmeasured(
    executor: impl PgExecutor<'_>,
    query: &Unmeasured<'_>,
) -> Result<Vec<Canonical>, StoreError> {
    let rows = sqlx::query!(
        r#"
        SELECT b.canonical
        FROM boards b
        WHERE b.par = $1 AND b.lot_width = $2 AND b.lot_height = $3 AND ($4::smallint IS NULL OR b.exit_row = $4)
            AND b.n_vehicles BETWEEN $5 AND $6 AND b.n_walls BETWEEN $7 AND $8 AND b.canonical > $9
            AND NOT EXISTS (SELECT FROM board_difficulty d WHERE d.par = b.par AND d.canonical = b.canonical)
        ORDER BY b.canonical
        LIMIT $10
        "#,
        par_to_sql(query.par),
        i16::from(query.lot.width()),
        i16::from(query.lot.height()),
        query.exit_row.map(i16::from),
        i16::from(*query.vehicles.start()),
        i16::from(*query.vehicles.end()),
        i16::from(*query.walls.start()),
        i16::from(*query.walls.end()),
        query.after,
        to_sql(query.limit),
    )
    .fetch_all(executor)
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

fn par_to_sql(par: Par) -> i16 {
    i16::try_from(par.get()).unwrap_or(i16::MAX)
}
