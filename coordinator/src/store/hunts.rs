//! Hunts: what operators ask for, and how far each is.

use board::Par;
use board::StateLimit;
use board::census::Census;
use proto::convert::{Budget, HuntPlan, NewHunt, Strategy, census_spec};
use proto::ids::HuntId;
use thiserror::Error;

use super::hunt_record::{HuntRecord, HuntRow, HuntState, hunt_id};
use super::{EventKind, EventToWrite, Store, StoreError, Tx, from_sql, narrow, to_sql};

/// How far a hunt is.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntProgress {
    /// The hunt.
    pub hunt: HuntId,
    /// Whether it goes on.
    pub state: HuntState,
    /// Boards of its lot and exit row in the database, whoever found them.
    pub n_boards: u64,
    /// Boards that it found first.
    pub n_new: u64,
    /// Boards that it found and that were known.
    pub n_known: u64,
    /// Jobs carried out.
    pub jobs_done: u64,
    /// Jobs that a worker holds.
    pub jobs_leased: u64,
    /// Jobs waiting.
    pub jobs_queued: u64,
    /// Jobs that failed too often.
    pub jobs_parked: u64,
    /// Clusters explored by its finished jobs.
    pub n_clusters: u64,
    /// Positions explored a second, by the last beats.
    pub positions_per_s: f64,
    /// The largest par in the database of its lot and exit row.
    pub best_par: Option<Par>,
    /// The canonical spelling of one such board.
    pub hardest: Option<String>,
}

/// Why a hunt was not created.
#[derive(Debug, Error)]
pub enum CreateHuntError {
    /// The name is taken by a hunt of another space, or a census by no census or another one.
    #[error("hunt {name:?} exists and hunts other boards; choose another name")]
    NameTaken {
        /// The name asked for.
        name: String,
    },
    /// There is a hunt of this name, and none was to be changed.
    #[error("hunt {id} has this name and is {state}; choose another")]
    NameInUse {
        /// Its number.
        id: HuntId,
        /// Whether it goes on.
        state: &'static str,
    },
    /// The hunt of this name has another seed, which it keeps.
    #[error(
        "hunt {id} of this name has seed {seed} and keeps it: leave the seed out, or choose another name"
    )]
    SeedFixed {
        /// Its number.
        id: HuntId,
        /// Its seed.
        seed: u64,
    },
    /// Another version began the campaign; which level a seed gives is its own.
    #[error("campaign {name:?} was begun by engine {engine}, this is {ours}; choose another name", ours = siren::ENGINE)]
    Engine {
        /// The name asked for.
        name: String,
        /// Who began it.
        engine: String,
    },
    /// A plan without levels.
    #[error("the plan has no levels")]
    NoLevels,
    /// The census cannot be numbered.
    #[error(transparent)]
    Census(#[from] board::census::CensusError),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Store {
    /// Creates a hunt, or, when there is one of this name and space, lets it go on with a new budget, strategy and
    /// priority. A hunt that goes on keeps its seed and the numbers of its jobs, so that no seed is used twice.
    ///
    /// `drawn_seed` is taken if the wish names none.
    ///
    /// # Errors
    /// [`CreateHuntError::NameTaken`] if the name belongs to another space.
    pub async fn create_hunt(&self, wish: &NewHunt, drawn_seed: u64) -> Result<HuntRecord, CreateHuntError> {
        self.create(wish, drawn_seed, true).await
    }

    /// Creates a hunt as [`Store::create_hunt`] does, but changes none that is there.
    ///
    /// # Errors
    /// [`CreateHuntError::NameInUse`] if there is a hunt of this name.
    pub async fn create_new_hunt(
        &self,
        wish: &NewHunt,
        drawn_seed: u64,
    ) -> Result<HuntRecord, CreateHuntError> {
        self.create(wish, drawn_seed, false).await
    }

    async fn create(
        &self,
        wish: &NewHunt,
        drawn_seed: u64,
        may_extend: bool,
    ) -> Result<HuntRecord, CreateHuntError> {
        let census = match wish.census {
            None => None,
            Some(terms) => {
                let spec = census_spec(&wish.space, terms, StateLimit::DEFAULT);
                Some((terms, Census::new(spec)?.n_units()))
            }
        };
        let mut tx = self.begin().await?;
        let (hunt, kind) = if let Some(hunt) = tx.insert_hunt(wish, wish.seed.unwrap_or(drawn_seed)).await? {
            if let Some((terms, n_units)) = census {
                tx.insert_census(hunt.id, terms, n_units).await?;
            }
            (hunt, EventKind::HuntCreated)
        } else {
            let known = tx.hunt_by_name(&wish.name).await?;
            if let Some(hunt) = known.as_ref().filter(|_| !may_extend) {
                return Err(CreateHuntError::NameInUse {
                    id: hunt.id,
                    state: hunt.state.as_str(),
                });
            }
            let Some(known) = known.filter(|known| {
                // What a census counts stands in its name; a hunt of another kind must not take it up.
                let is_alike = |of: Strategy| (known.strategy == of) == (wish.strategy == of);
                known.space.as_ref() == Some(&wish.space)
                    && is_alike(Strategy::Census)
                    && is_alike(Strategy::Difficulty)
            }) else {
                return Err(CreateHuntError::NameTaken {
                    name: wish.name.clone(),
                });
            };
            if wish.seed.is_some_and(|seed| seed != known.seed) {
                return Err(CreateHuntError::SeedFixed {
                    id: known.id,
                    seed: known.seed,
                });
            }
            // Boards found since the last time are measured now; those that were measured are passed over.
            tx.restart_difficulty(known.id).await?;
            (tx.extend_hunt(known.id, wish).await?, EventKind::HuntExtended)
        };
        let detail = format!(
            "{} {}, {}, {}, priority {}",
            hunt.name,
            wish.space.lot(),
            hunt.strategy.as_str(),
            said(wish.budget),
            wish.priority
        );
        let event = EventToWrite {
            hunt: Some(hunt.id),
            ..EventToWrite::new(&self.actor, kind, &detail)
        };
        tx.write_event(&event).await?;
        tx.commit().await?;
        Ok(hunt)
    }

    /// All hunts, newest first; at most 1,000.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn list_hunts(&self) -> Result<Vec<HuntRecord>, StoreError> {
        let rows = sqlx::query_as!(HuntRow, "SELECT * FROM hunts ORDER BY id DESC LIMIT 1000")
            .fetch_all(&self.pool)
            .await?;
        rows.into_iter().map(HuntRecord::try_from).collect()
    }

    /// A hunt; `None`: there is none of this number.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt(&self, id: HuntId) -> Result<Option<HuntRecord>, StoreError> {
        let row = sqlx::query_as!(HuntRow, "SELECT * FROM hunts WHERE id = $1", id.get())
            .fetch_optional(&self.pool)
            .await?;
        row.map(HuntRecord::try_from).transpose()
    }

    /// Pauses a running hunt. False: it was not running.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn pause_hunt(&self, id: HuntId) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE hunts SET state = 'paused', ends_at = NULL,
                time_left = CASE WHEN ends_at IS NOT NULL THEN greatest(ends_at - now(), interval '0') END
            WHERE id = $1 AND state = 'running'
            "#,
            id.get(),
        )
        .execute(&self.pool)
        .await?;
        self.note_hunt(done.rows_affected(), id, EventKind::HuntPaused)
            .await
    }

    /// Resumes a paused hunt. False: it was not paused.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn resume_hunt(&self, id: HuntId) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE hunts SET state = 'running', ends_at = now() + time_left, time_left = NULL
            WHERE id = $1 AND state = 'paused'
            "#,
            id.get(),
        )
        .execute(&self.pool)
        .await?;
        self.note_hunt(done.rows_affected(), id, EventKind::HuntResumed)
            .await
    }

    /// Ends a hunt for good. False: it was over.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn cancel_hunt(&self, id: HuntId) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE hunts SET state = 'cancelled', time_left = NULL, ended_at = now(), end_reason = 'operator'
            WHERE id = $1 AND state IN ('running', 'paused')
            "#,
            id.get(),
        )
        .execute(&self.pool)
        .await?;
        self.note_hunt(done.rows_affected(), id, EventKind::HuntCancelled)
            .await
    }

    async fn note_hunt(&self, n_rows: u64, id: HuntId, kind: EventKind) -> Result<bool, StoreError> {
        assert!(
            n_rows <= 1,
            "hunts.id is a primary key, yet {n_rows} rows have {id}"
        );
        if n_rows == 1 {
            let event = EventToWrite {
                hunt: Some(id),
                ..EventToWrite::new(&self.actor, kind, "")
            };
            self.write_event(&event).await?;
        }
        Ok(n_rows == 1)
    }

    /// Ends the hunts whose time is up or whose jobs are all over; which they are, and why.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn end_spent_hunts(&self) -> Result<Vec<(HuntId, String)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            UPDATE hunts SET state = 'done', ended_at = now(),
                end_reason = CASE WHEN ends_at <= now() THEN 'time' ELSE 'jobs' END
            WHERE state = 'running' AND (ends_at <= now() OR next_number >= end_number AND NOT EXISTS (
                SELECT FROM jobs WHERE jobs.hunt_id = hunts.id AND jobs.state IN ('queued', 'leased') AND jobs.audit_of IS NULL))
            RETURNING id, end_reason AS "end_reason!"
            "#,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (hunt_id(row.id), row.end_reason))
            .collect())
    }

    /// Takes the waiting jobs of hunts that are over off the queue; how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn cancel_jobs_of_ended_hunts(&self) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE jobs SET state = 'cancelled', ended_at = now()
            FROM hunts
            WHERE hunts.id = jobs.hunt_id AND hunts.state IN ('done', 'cancelled') AND jobs.state = 'queued'
                AND jobs.audit_of IS NULL
            "#,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }

    /// How far a hunt is; `None`: there is none of this number. Cheap: kept counts, and a look at its jobs.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn hunt_progress(&self, id: HuntId) -> Result<Option<HuntProgress>, StoreError> {
        let Some(row) = sqlx::query!(
            r#"
            SELECT p.state AS "state!", p.jobs_done AS "jobs_done!", p.jobs_leased AS "jobs_leased!",
                p.jobs_queued AS "jobs_queued!", p.jobs_parked AS "jobs_parked!", p.boards_new AS "boards_new!",
                p.boards_known AS "boards_known!", p.clusters AS "clusters!", p.positions_per_s AS "positions_per_s!",
                coalesce(h.lot_width, 0::smallint) AS "lot_width!", coalesce(h.lot_height, 0::smallint) AS "lot_height!",
                coalesce(h.exit_row, 0::smallint) AS "exit_row!", c.n_boards AS "n_boards!", c.best_par
            FROM hunt_progress p
            JOIN hunts h ON h.id = p.hunt_id
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(n_boards), 0)::bigint AS n_boards, max(par) AS best_par
                FROM board_counts b
                WHERE b.lot_width = h.lot_width AND b.lot_height = h.lot_height AND b.exit_row = h.exit_row
            ) c
            WHERE p.hunt_id = $1
            "#,
            id.get(),
        )
        .fetch_optional(&self.pool)
        .await?
        else {
            return Ok(None);
        };
        let hardest = match row.best_par {
            Some(par) => {
                self.one_board(par, (row.lot_width, row.lot_height), row.exit_row)
                    .await?
            }
            // Nothing of the lot yet, or a campaign, which has none.
            None => None,
        };
        Ok(Some(HuntProgress {
            hunt: id,
            state: HuntState::parse(id.get(), &row.state)?,
            n_boards: from_sql(row.n_boards),
            n_new: from_sql(row.boards_new),
            n_known: from_sql(row.boards_known),
            jobs_done: from_sql(row.jobs_done),
            jobs_leased: from_sql(row.jobs_leased),
            jobs_queued: from_sql(row.jobs_queued),
            jobs_parked: from_sql(row.jobs_parked),
            n_clusters: from_sql(row.clusters),
            positions_per_s: row.positions_per_s,
            best_par: row
                .best_par
                .map(|par| narrow("hunts", id.get(), "par", par.into()).map(Par::new))
                .transpose()?,
            hardest,
        }))
    }
}

/// A budget in words.
fn said(budget: Budget) -> String {
    let time = budget.time.map(|time| format!("{} min", time.as_secs() / 60));
    let jobs = budget.n_jobs.map(|n| format!("{n} jobs"));
    let par = budget.until_par.map(|par| format!("until par {par}"));
    let all: Vec<String> = [time, jobs, par].into_iter().flatten().collect();
    if all.is_empty() {
        String::from("no end")
    } else {
        all.join(", ")
    }
}

impl Tx {
    /// Inserts a hunt; `None`: the name is taken.
    async fn insert_hunt(&mut self, wish: &NewHunt, seed: u64) -> Result<Option<HuntRecord>, StoreError> {
        let fields = wish.space.fields();
        let lengths: Vec<i16> = fields.lengths.iter().map(|entry| entry.length.into()).collect();
        let weights: Vec<i32> = fields.lengths.iter().map(|entry| entry.weight.into()).collect();
        let row = sqlx::query_as!(
            HuntRow,
            r#"
            INSERT INTO hunts (name, lot_width, lot_height, exit_row, hero_length, first_vehicles, last_vehicles,
                first_walls, last_walls, lengths, weights, strategy, seed, priority, ends_at, end_number, until_par,
                aim, mix)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                now() + make_interval(secs => $15), $16, $17, $18, $19)
            ON CONFLICT (name) DO NOTHING
            RETURNING *
            "#,
            wish.name,
            i16::from(fields.lot.width()),
            i16::from(fields.lot.height()),
            i16::from(fields.exit_row),
            i16::from(fields.hero_length),
            i16::from(*fields.vehicles.start()),
            i16::from(*fields.vehicles.end()),
            i16::from(*fields.walls.start()),
            i16::from(*fields.walls.end()),
            &lengths,
            &weights,
            wish.strategy.as_str(),
            seed.cast_signed(),
            wish.priority,
            wish.budget.time.map(|time| time.as_secs_f64()) as Option<f64>,
            wish.budget.n_jobs.map(to_sql),
            wish.budget.until_par.map(|par| i16::try_from(par.get()).unwrap_or(i16::MAX)),
            wish.plan.aim.as_str(),
            &mix_to_sql(&wish.plan),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(HuntRecord::try_from).transpose()
    }

    pub(super) async fn hunt_by_name(&mut self, name: &str) -> Result<Option<HuntRecord>, StoreError> {
        let row = sqlx::query_as!(
            HuntRow,
            "SELECT * FROM hunts WHERE name = $1 FOR NO KEY UPDATE",
            name
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(HuntRecord::try_from).transpose()
    }

    async fn extend_hunt(&mut self, id: HuntId, wish: &NewHunt) -> Result<HuntRecord, StoreError> {
        let row = sqlx::query_as!(
            HuntRow,
            r#"
            UPDATE hunts SET state = 'running', strategy = $2, priority = $3,
                ends_at = now() + make_interval(secs => $4), time_left = NULL, end_number = next_number + $5,
                until_par = $6, ended_at = NULL, end_reason = NULL, aim = $7, mix = $8
            WHERE id = $1
            RETURNING *
            "#,
            id.get(),
            wish.strategy.as_str(),
            wish.priority,
            wish.budget.time.map(|time| time.as_secs_f64()) as Option<f64>,
            wish.budget.n_jobs.map(to_sql),
            wish.budget
                .until_par
                .map(|par| i16::try_from(par.get()).unwrap_or(i16::MAX)),
            wish.plan.aim.as_str(),
            &mix_to_sql(&wish.plan),
        )
        .fetch_one(&mut *self.tx)
        .await?;
        row.try_into()
    }

    /// Ends a running hunt whose aim is reached by a board of this par. True: it was.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn end_hunt_at_par(&mut self, id: HuntId, par: Par) -> Result<bool, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE hunts SET state = 'done', ended_at = now(), end_reason = 'par'
            WHERE id = $1 AND state = 'running' AND until_par <= $2
            "#,
            id.get(),
            i16::try_from(par.get()).unwrap_or(i16::MAX),
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn mix_to_sql(plan: &HuntPlan) -> Vec<String> {
    plan.mix
        .iter()
        .map(|strategy| strategy.as_str().to_owned())
        .collect()
}
