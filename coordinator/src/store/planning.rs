//! What planning needs: a hunt to cut, how long its jobs took, hard boards to start from, and a place for new jobs.

use board::Par;
use board::canonical::Canonical;
use board::space::BoardSpace;
use proto::convert::{HuntPlan, JobKind, Strategy, Work};
use proto::ids::HuntId;

use super::{HuntOrder, StoreError, Tx, from_sql, hunt_record::HuntRow, to_sql};
use crate::jobs::size::{Measured, Pace, measured};
use crate::store::HuntRecord;

/// A board that a job starts from.
pub(super) fn parse_start(spelling: &str) -> Result<Canonical, StoreError> {
    Canonical::parse(spelling).map_err(|error| StoreError::Unreadable {
        table: "boards",
        id: 0,
        reason: format!("{spelling}: {error}"),
    })
}

/// A hunt that may have more jobs, locked until the end of the transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntToPlan {
    /// The hunt.
    pub hunt: HuntId,
    /// Which boards are hunted; `None`: a campaign, which has a plan instead.
    pub space: Option<BoardSpace>,
    /// Which kinds of job it is cut into.
    pub strategy: Strategy,
    /// Where its jobs' seeds start.
    pub seed: u64,
    /// The number of the next job.
    pub next_number: u64,
    /// No job of this number or above; `None`: no limit.
    pub end_number: Option<u64>,
    /// Its jobs that wait to be leased, second counts of a census apart.
    pub n_queued: u64,
    /// How its strategies are chosen.
    pub plan: HuntPlan,
}

/// A job to be put on the queue.
#[derive(Clone, Debug)]
pub struct JobToInsert {
    /// Place in the hunt.
    pub number: u64,
    /// What it does.
    pub spec: Work,
    /// What it was planned as; `None`: by no choice.
    pub arm: Option<String>,
}

/// Which boards annealing may start from.
#[derive(Clone, Copy, Debug)]
pub struct StartsQuery<'a> {
    /// Which boards are hunted; starts have its lot, exit row, and no more vehicles and walls than it.
    pub space: &'a BoardSpace,
    /// Of the hardest boards, about so many are drawn from.
    pub n_pool: u64,
    /// So many are drawn.
    pub n_starts: u32,
    /// Decides which.
    pub seed: u64,
}

impl Tx {
    /// How long the latest jobs of a hunt and kind took: the middle of what its parties measured, eight jobs of each at most.
    /// What they did is read from their specifications; who is in quarantine is not asked.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn measured(&mut self, hunt: HuntId, kind: JobKind) -> Result<Option<Measured>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT p.party, p.n_work, p.seconds
            FROM job_paces p
            JOIN workers w ON w.id = p.worker_id
            WHERE p.hunt_id = $1 AND p.kind = $2 AND NOT EXISTS (
                SELECT FROM workers who WHERE who.identity = w.identity AND who.quarantined_at IS NOT NULL)
            ORDER BY p.ended_at DESC
            LIMIT 64
            "#,
            hunt.get(),
            kind.as_str(),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        let paces = rows.into_iter().map(|row| Pace {
            party: row.party,
            n_iterations: from_sql(row.n_work),
            seconds: row.seconds,
        });
        Ok(measured(&paces.collect::<Vec<_>>()))
    }

    /// Hard boards to start from, a sample of the hardest, always the same for the same database and seed.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn starts(&mut self, query: &StartsQuery<'_>) -> Result<Vec<Canonical>, StoreError> {
        let fields = query.space.fields();
        let lot = (i16::from(fields.lot.width()), i16::from(fields.lot.height()));
        let exit_row = i16::from(fields.exit_row);
        let most_walls = i16::from(*fields.walls.end());
        let Some(least_par) = self.pool_par(lot, exit_row, most_walls, query.n_pool).await? else {
            return Ok(Vec::new());
        };
        let rows = sqlx::query!(
            r#"
            SELECT canonical
            FROM boards
            WHERE par >= $1 AND lot_width = $2 AND lot_height = $3 AND exit_row = $4 AND n_walls <= $5
                AND n_vehicles <= $6
            ORDER BY hashtextextended(canonical, $7)
            LIMIT $8
            "#,
            least_par,
            lot.0,
            lot.1,
            exit_row,
            most_walls,
            i16::from(*fields.vehicles.end()),
            query.seed.cast_signed(),
            i64::from(query.n_starts),
        )
        .fetch_all(&mut *self.tx)
        .await?;
        rows.iter().map(|row| parse_start(&row.canonical)).collect()
    }

    /// The largest par at or above which there are so many boards, or the least there is. `None`: there are none.
    async fn pool_par(
        &mut self,
        lot: (i16, i16),
        exit_row: i16,
        most_walls: i16,
        n_pool: u64,
    ) -> Result<Option<i16>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT coalesce(max(par) FILTER (WHERE n_above >= $5), min(par)) AS least_par
            FROM (
                SELECT par, (sum(sum(n_boards)) OVER (ORDER BY par DESC))::bigint AS n_above
                FROM board_counts
                WHERE lot_width = $1 AND lot_height = $2 AND exit_row = $3 AND n_walls <= $4 AND par > 0
                GROUP BY par
            ) cumulated
            "#,
            lot.0,
            lot.1,
            exit_row,
            most_walls,
            to_sql(n_pool),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(row.least_par)
    }
}

impl Tx {
    /// The running hunt that comes next, locked so that only one coordinator cuts it at a time: one that has nothing in a
    /// farm large enough for everybody; then the highest priority; then the fewest cores for its weight, give or take a
    /// quarter; then the oldest ([`Store::hunt_order`](super::Store::hunt_order)); of the
    /// strategies that lead to jobs of these kinds. `None`: no hunt may have more jobs.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn next_hunt_to_plan(
        &mut self,
        kinds: &[JobKind],
        order: &HuntOrder,
    ) -> Result<Option<HuntToPlan>, StoreError> {
        let strategies: Vec<String> = Strategy::ALL
            .into_iter()
            .filter(|strategy| kinds.iter().any(|&kind| strategy.has(kind)))
            .map(|strategy| strategy.as_str().to_owned())
            .collect();
        let row = sqlx::query_as!(
            HuntRow,
            r#"
            SELECT h.*
            FROM hunts h
            LEFT JOIN unnest($2::bigint[], $3::integer[]) AS s (hunt_id, place) ON s.hunt_id = h.id
            WHERE h.state = 'running' AND (h.ends_at IS NULL OR h.ends_at > clock_timestamp())
                AND (h.end_number IS NULL OR h.next_number < h.end_number) AND h.strategy = ANY ($1)
            -- A hunt that has just begun comes first.
            ORDER BY coalesce(s.place, -1), h.priority DESC, h.id
            LIMIT 1
            FOR NO KEY UPDATE OF h
            "#,
            &strategies,
            &order.hunts,
            &order.places,
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => self.waiting_jobs(HuntRecord::try_from(row)?).await.map(Some),
            None => Ok(None),
        }
    }

    /// A hunt that is not over, locked so that only one coordinator cuts it at a time. `None`: it is over.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_to_plan(&mut self, hunt: HuntId) -> Result<Option<HuntToPlan>, StoreError> {
        let row = sqlx::query_as!(
            HuntRow,
            "SELECT * FROM hunts WHERE id = $1 AND state IN ('running', 'paused') FOR NO KEY UPDATE",
            hunt.get(),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        match row {
            Some(row) => self.waiting_jobs(HuntRecord::try_from(row)?).await.map(Some),
            None => Ok(None),
        }
    }

    async fn waiting_jobs(&mut self, hunt: HuntRecord) -> Result<HuntToPlan, StoreError> {
        // Counted after the lock: another coordinator may have planned while this one waited for it.
        let counted = sqlx::query!(
            r#"
            SELECT count(*) AS "n_queued!"
            FROM jobs
            WHERE hunt_id = $1 AND state = 'queued' AND audit_of IS NULL AND n_failures = 0 AND NOT EXISTS (
                -- A second count may wait for another worker, and so may what failed; others must not wait for it.
                SELECT FROM census_ranges r WHERE r.job_id = jobs.id AND r.repeat_of IS NOT NULL)
            "#,
            hunt.id.get(),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(HuntToPlan {
            hunt: hunt.id,
            space: hunt.space,
            strategy: hunt.strategy,
            seed: hunt.seed,
            next_number: hunt.next_number,
            end_number: hunt.end_number,
            n_queued: from_sql(counted.n_queued),
            plan: hunt.plan,
        })
    }

    /// Puts jobs on the queue and moves the hunt's next number past them.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    ///
    /// # Panics
    /// If a number was used before: the hunt is locked, so that is a bug.
    pub async fn insert_jobs(&mut self, hunt: HuntId, jobs: &[JobToInsert]) -> Result<(), StoreError> {
        for job in jobs {
            let done = sqlx::query!(
                r#"
                WITH moved AS (
                    UPDATE hunts SET next_number = $2 + 1 WHERE id = $1 AND next_number = $2 RETURNING id
                )
                INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, arm)
                SELECT id, $2, $3, $4, $5, greatest($6::bigint, 1), $7 FROM moved
                "#,
                hunt.get(),
                to_sql(job.number),
                job.spec.kind(),
                job.spec.seed().cast_signed(),
                job.spec.to_bytes(),
                to_sql(job.spec.n_iterations()),
                job.arm.as_deref(),
            )
            .execute(&mut *self.tx)
            .await?;
            assert_eq!(
                done.rows_affected(),
                1,
                "job {} of hunt {hunt} was planned twice",
                job.number
            );
        }
        Ok(())
    }

    /// The par of the hardest board of a lot and exit row; `None`: there is none.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn best_par(&mut self, lot: (u8, u8), exit_row: u8) -> Result<Option<Par>, StoreError> {
        let row = sqlx::query!(
            "SELECT max(par) AS par FROM board_counts WHERE lot_width = $1 AND lot_height = $2 AND exit_row = $3",
            i16::from(lot.0),
            i16::from(lot.1),
            i16::from(exit_row),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(row.par.map(|par| Par::new(par.cast_unsigned())))
    }
}
