//! Censuses: what is counted, the next range to cut, the ledger, the totals.

use std::ops::Range;

use board::census::{CensusSpec, Keep, RangeOutcome, Scope};
use board::space::BoardSpace;
use board::{ENGINE, Par, StateLimit};
use proto::convert::{CensusTerms, census_spec};
use proto::ids::{HuntId, JobId};

use super::{Store, StoreError, Tx, from_sql, narrow, to_sql};

/// A census, as far as it is cut into ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusToPlan {
    /// What is counted.
    pub spec: CensusSpec,
    /// How many ranges of a thousand are counted twice.
    pub repeats_per_mille: u16,
    /// The engine that numbered the units.
    pub engine: String,
    /// Units in all.
    pub n_units: u64,
    /// The first unit that no range was cut for.
    pub next_unit: u64,
}

/// How much of a census is counted, in units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CensusCoverage {
    /// Units in all.
    pub n_units: u64,
    /// Units counted; repeats are none.
    pub n_counted: u64,
    /// Of these, units counted twice with equal results.
    pub n_verified: u64,
    /// Of these, units counted twice with different results.
    pub n_disputed: u64,
    /// Units that stand in two ranges: 0, or the ledger is broken.
    pub n_overlapping: u64,
    /// The ranges not counted, as Postgres writes a multirange; `{}`: none.
    pub missing: String,
}

/// What a census has counted of one par.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CensusTotal {
    /// Slides.
    pub par: Par,
    /// Clusters of this depth.
    pub solvable: u64,
    /// Of these, clusters with a minimal representative.
    pub minimal: u64,
    /// Positions of the clusters of this depth.
    pub positions: u64,
    /// Of these, positions of clusters with a minimal representative.
    pub minimal_positions: u64,
    /// Positions that are so far from a solved one.
    pub positions_at: u64,
}

/// A range that failed and is to be cut in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeToSplit {
    /// Its job.
    pub job: JobId,
    /// Its census.
    pub hunt: HuntId,
}

impl Store {
    /// How much of a census is counted; `None`: the hunt is none.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn census_coverage(&self, hunt: HuntId) -> Result<Option<CensusCoverage>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT n_units AS "n_units!", n_counted AS "n_counted!", n_verified AS "n_verified!",
                n_disputed AS "n_disputed!", n_overlapping AS "n_overlapping!", missing AS "missing!"
            FROM census_coverage
            WHERE hunt_id = $1
            "#,
            hunt.get(),
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| CensusCoverage {
            n_units: from_sql(row.n_units),
            n_counted: from_sql(row.n_counted),
            n_verified: from_sql(row.n_verified),
            n_disputed: from_sql(row.n_disputed),
            n_overlapping: from_sql(row.n_overlapping),
            missing: row.missing,
        }))
    }

    /// What a census has counted so far, by par, rising.
    ///
    /// # Errors
    /// [`StoreError::Database`], or [`StoreError::Unreadable`] for sums beyond 64 bits.
    pub async fn census_totals(&self, hunt: HuntId) -> Result<Vec<CensusTotal>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT par AS "par!", solvable AS "solvable!", minimal AS "minimal!", positions::bigint AS "positions!",
                minimal_positions::bigint AS "minimal_positions!", positions_at::bigint AS "positions_at!"
            FROM census_totals
            WHERE hunt_id = $1
            ORDER BY par
            "#,
            hunt.get(),
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(CensusTotal {
                    par: Par::new(narrow("census_totals", hunt.get(), "par", row.par.into())?),
                    solvable: from_sql(row.solvable),
                    minimal: from_sql(row.minimal),
                    positions: from_sql(row.positions),
                    minimal_positions: from_sql(row.minimal_positions),
                    positions_at: from_sql(row.positions_at),
                })
            })
            .collect()
    }

    /// Ranges that failed twice or more and wait to be tried again: more than one unit each.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn ranges_to_split(&self) -> Result<Vec<RangeToSplit>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT r.job_id, r.hunt_id
            FROM census_ranges r
            JOIN jobs j ON j.id = r.job_id
            WHERE j.state = 'queued' AND j.n_failures >= 2 AND r.end_unit - r.first_unit > 1 AND r.split_at IS NULL
                AND r.repeat_of IS NULL AND NOT EXISTS (SELECT FROM census_ranges twin WHERE twin.repeat_of = r.job_id)
            ORDER BY r.job_id
            LIMIT 100
            "#,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| RangeToSplit {
                job: super::leases::job_id(row.job_id),
                hunt: super::hunt_record::hunt_id(row.hunt_id),
            })
            .collect())
    }
}

impl Tx {
    /// Notes what a new hunt counts.
    pub(super) async fn insert_census(
        &mut self,
        hunt: HuntId,
        terms: CensusTerms,
        n_units: u64,
    ) -> Result<(), StoreError> {
        let (keep, keep_par) = match terms.keep {
            Keep::Nothing => ("nothing", None),
            Keep::Minimal => ("minimal", None),
            Keep::ParAtLeast(par) => ("par", Some(i16::try_from(par.get()).unwrap_or(i16::MAX))),
            Keep::Solvable => ("solvable", None),
        };
        sqlx::query!(
            r#"
            INSERT INTO censuses (hunt_id, scope, keep, keep_par, count_unsolvable, repeats_per_mille, engine, n_units)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            "#,
            hunt.get(),
            match terms.scope {
                Scope::Standard => "standard",
                Scope::Every => "every",
            },
            keep,
            keep_par,
            terms.count_unsolvable,
            terms.repeats_per_mille.cast_signed(),
            ENGINE,
            to_sql(n_units),
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// The census of a hunt; `None`: it is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn census_to_plan(
        &mut self,
        hunt: HuntId,
        space: &BoardSpace,
        limit: StateLimit,
    ) -> Result<Option<CensusToPlan>, StoreError> {
        let id = hunt.get();
        let row = sqlx::query!("SELECT * FROM censuses WHERE hunt_id = $1 FOR UPDATE", id)
            .fetch_optional(&mut *self.tx)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let unreadable = |reason: String| StoreError::Unreadable {
            table: "censuses",
            id,
            reason,
        };
        let terms = CensusTerms {
            scope: match row.scope.as_str() {
                "standard" => Scope::Standard,
                "every" => Scope::Every,
                other => return Err(unreadable(format!("scope {other:?}"))),
            },
            keep: match (row.keep.as_str(), row.keep_par) {
                ("nothing", None) => Keep::Nothing,
                ("minimal", None) => Keep::Minimal,
                ("solvable", None) => Keep::Solvable,
                ("par", Some(par)) => {
                    Keep::ParAtLeast(Par::new(narrow("censuses", id, "keep_par", par.into())?))
                }
                other => return Err(unreadable(format!("keep {other:?}"))),
            },
            count_unsolvable: row.count_unsolvable,
            repeats_per_mille: narrow("censuses", id, "repeats_per_mille", row.repeats_per_mille.into())?,
        };
        Ok(Some(CensusToPlan {
            spec: census_spec(space, terms, limit),
            repeats_per_mille: terms.repeats_per_mille,
            engine: row.engine,
            n_units: from_sql(row.n_units),
            next_unit: from_sql(row.next_unit),
        }))
    }

    /// How many ranges of a census were cut, halves of split ones among them, and how many of them twice.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn n_census_ranges(&mut self, hunt: HuntId) -> Result<(u64, u64), StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT
                count(*) FILTER (WHERE repeat_of IS NULL) AS "n_first!",
                count(*) FILTER (WHERE repeat_of IS NOT NULL) AS "n_repeated!"
            FROM census_ranges
            WHERE hunt_id = $1
            "#,
            hunt.get(),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok((from_sql(row.n_first), from_sql(row.n_repeated)))
    }

    /// Enters a range of a job just inserted into the ledger, and moves the census' next unit past it.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    ///
    /// # Panics
    /// If the range does not begin at the next unit: the census is locked, so that is a bug.
    pub async fn insert_range(
        &mut self,
        hunt: HuntId,
        number: u64,
        units: &Range<u64>,
    ) -> Result<JobId, StoreError> {
        let row = sqlx::query!(
            r#"
            WITH moved AS (
                UPDATE censuses SET next_unit = $4 WHERE hunt_id = $1 AND next_unit = $3 RETURNING hunt_id
            )
            INSERT INTO census_ranges (job_id, hunt_id, first_unit, end_unit)
            SELECT jobs.id, moved.hunt_id, $3, $4
            FROM moved
            JOIN jobs ON jobs.hunt_id = moved.hunt_id AND jobs.number = $2
            RETURNING job_id
            "#,
            hunt.get(),
            to_sql(number),
            to_sql(units.start),
            to_sql(units.end),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let row = row.expect("the census is locked and the range begins at its next unit");
        Ok(super::leases::job_id(row.job_id))
    }

    /// Enters a second count of a range, or one half of it, by the number of a job just inserted.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn insert_other_range(
        &mut self,
        hunt: HuntId,
        number: u64,
        units: &Range<u64>,
        repeat_of: Option<JobId>,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO census_ranges (job_id, hunt_id, first_unit, end_unit, repeat_of)
            SELECT jobs.id, $1, $3, $4, $5
            FROM jobs
            WHERE jobs.hunt_id = $1 AND jobs.number = $2
            "#,
            hunt.get(),
            to_sql(number),
            to_sql(units.start),
            to_sql(units.end),
            repeat_of.map(JobId::get),
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// No more ranges are to be cut: the hunt is over when its jobs are.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn close_planning(&mut self, hunt: HuntId) -> Result<(), StoreError> {
        sqlx::query!(
            "UPDATE hunts SET end_number = next_number WHERE id = $1",
            hunt.get()
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Takes a waiting range out of the ledger, to be replaced by its halves; its units. `None`: somebody was faster,
    /// or it is not waiting any more.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn retire_range(&mut self, range: RangeToSplit) -> Result<Option<Range<u64>>, StoreError> {
        let row = sqlx::query!(
            r#"
            WITH retired AS (
                UPDATE jobs SET state = 'cancelled', ended_at = clock_timestamp() WHERE id = $1 AND state = 'queued'
                RETURNING id
            )
            UPDATE census_ranges SET split_at = clock_timestamp()
            FROM retired
            WHERE census_ranges.job_id = retired.id AND census_ranges.split_at IS NULL
            RETURNING first_unit, end_unit
            "#,
            range.job.get(),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        Ok(row.map(|row| from_sql(row.first_unit)..from_sql(row.end_unit)))
    }

    /// Takes the counts of a job that was just ended under its lease, and compares them with those of its twin if it
    /// has one. True: the twin's are other ones. A claim said again changes nothing, whatever counts it now comes with.
    pub(super) async fn count_range(
        &mut self,
        job: JobId,
        counts: &RangeOutcome,
    ) -> Result<bool, StoreError> {
        let digest = counts.digest.to_bytes();
        let counted = sqlx::query!(
            r#"
            UPDATE census_ranges SET counted_at = clock_timestamp(), n_layouts = $2, n_unsolvable = $3,
                unsolvable_positions = $4::bigint, digest = $5
            WHERE job_id = $1 AND counted_at IS NULL
            "#,
            job.get(),
            to_sql(counts.layouts),
            to_sql(counts.unsolvable),
            to_sql(counts.unsolvable_positions),
            digest.as_slice(),
        )
        .execute(&mut *self.tx)
        .await?;
        if counted.rows_affected() == 0 {
            // An audit, which stands in no ledger; or it was counted before, and is said again.
            return Ok(false);
        }
        let column = |of: fn(&board::census::ParCounts) -> u64| -> Vec<i64> {
            counts.by_par.iter().map(|counts| to_sql(of(counts))).collect()
        };
        let pars: Vec<i16> = (0..counts.by_par.len())
            .map(|par| i16::try_from(par).unwrap_or(i16::MAX))
            .collect();
        sqlx::query!(
            r#"
            INSERT INTO census_counts (job_id, par, solvable, minimal, positions, minimal_positions, positions_at)
            SELECT $1, n.par, n.solvable, n.minimal, n.positions, n.minimal_positions, n.positions_at
            FROM unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
                AS n (par, solvable, minimal, positions, minimal_positions, positions_at)
            "#,
            job.get(),
            &pars,
            &column(|counts| counts.solvable),
            &column(|counts| counts.minimal),
            &column(|counts| counts.positions),
            &column(|counts| counts.minimal_positions),
            &column(|counts| counts.positions_at),
        )
        .execute(&mut *self.tx)
        .await?;
        // The job digest covers the boards found, the counters and the counts: all that a range is.
        let judged = sqlx::query!(
            r#"
            WITH pair AS (
                SELECT first.job_id AS first_id, second.job_id AS second_id, a.digest = b.digest AS is_equal
                FROM census_ranges first
                JOIN census_ranges second ON second.repeat_of = first.job_id
                JOIN jobs a ON a.id = first.job_id
                JOIN jobs b ON b.id = second.job_id
                WHERE $1 IN (first.job_id, second.job_id) AND a.digest IS NOT NULL AND b.digest IS NOT NULL
            )
            UPDATE census_ranges SET verdict = CASE WHEN pair.is_equal THEN 'verified' ELSE 'disputed' END
            FROM pair
            WHERE census_ranges.job_id IN (pair.first_id, pair.second_id) AND census_ranges.counted_at IS NOT NULL
            RETURNING pair.is_equal AS "is_equal!"
            "#,
            job.get(),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        Ok(judged.iter().any(|row| !row.is_equal))
    }
}
