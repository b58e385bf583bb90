//! Campaigns: hunts with a plan, one job a level.

use proto::convert::{NewCampaign, Strategy};
use proto::ids::HuntId;
use siren::plan::Plan;

use super::{CreateHuntError, EventKind, EventToWrite, HuntRecord, Store, StoreError, Tx, from_sql, to_sql};

/// A campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignRecord {
    /// Its levels.
    pub plan: Plan,
    /// The version of what decides which level a seed gives.
    pub engine: String,
}

/// A level of a new campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelToInsert {
    /// The number of its job.
    pub number: u64,
    /// Its place in the plan, from 0.
    pub place: usize,
}

/// What a seed of a campaign's level gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JamFind {
    /// The level's place in the plan, from 0.
    pub place: usize,
    /// The seed.
    pub seed: u64,
    /// The jam as a level file without name and limits.
    pub level: String,
}

/// How far a campaign is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignProgress {
    /// Levels of its plan.
    pub n_levels: u64,
    /// Levels all of whose seeds were tried.
    pub n_done: u64,
    /// Levels whose jobs failed too often.
    pub n_parked: u64,
    /// Seeds that gave a level.
    pub n_finds: u64,
    /// Jams among these that are the same as no other up to turning and mirroring.
    pub n_distinct: u64,
}

impl Store {
    /// Creates a campaign, or lets the one of this name and plan go on: what it has stays, and jobs that were parked or
    /// cancelled are tried again.
    ///
    /// # Errors
    /// [`CreateHuntError::NameTaken`] if the name belongs to something else, [`CreateHuntError::Engine`] if another
    /// version began it.
    pub async fn create_campaign(
        &self,
        wish: &NewCampaign,
        levels: &[LevelToInsert],
    ) -> Result<HuntRecord, CreateHuntError> {
        let mut tx = self.begin().await?;
        let (hunt, kind) = if let Some(hunt) = tx.insert_campaign_hunt(wish, levels.len()).await? {
            tx.insert_campaign(hunt.id, &wish.plan, levels).await?;
            (hunt, EventKind::HuntCreated)
        } else {
            let taken = || CreateHuntError::NameTaken {
                name: wish.name.clone(),
            };
            let known = tx.hunt_by_name(&wish.name).await?.ok_or_else(taken)?;
            let campaign = tx.campaign(known.id).await?.ok_or_else(taken)?;
            if campaign.plan != wish.plan {
                return Err(taken());
            }
            if campaign.engine != siren::ENGINE {
                return Err(CreateHuntError::Engine {
                    name: wish.name.clone(),
                    engine: campaign.engine,
                });
            }
            (
                tx.extend_campaign(known.id, wish.priority).await?,
                EventKind::HuntExtended,
            )
        };
        let detail = format!(
            "{}, {} levels, {}",
            hunt.name,
            levels.len(),
            hunt.strategy.as_str()
        );
        let event = EventToWrite {
            hunt: Some(hunt.id),
            ..EventToWrite::new(&self.actor, kind, &detail)
        };
        tx.write_event(&event).await?;
        tx.commit().await?;
        Ok(hunt)
    }

    /// A campaign; `None`: the hunt is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign(&self, hunt: HuntId) -> Result<Option<CampaignRecord>, StoreError> {
        self.begin().await?.campaign(hunt).await
    }

    /// How far a campaign is; `None`: the hunt is none.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn campaign_progress(&self, hunt: HuntId) -> Result<Option<CampaignProgress>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT c.n_levels, j.n_done AS "n_done!", j.n_parked AS "n_parked!", f.n_finds AS "n_finds!",
                f.n_distinct AS "n_distinct!"
            FROM campaigns c
            CROSS JOIN LATERAL (
                SELECT count(*) FILTER (WHERE state = 'done') AS n_done, count(*) FILTER (WHERE state = 'parked') AS n_parked
                FROM jobs
                WHERE jobs.hunt_id = c.hunt_id
            ) j
            CROSS JOIN LATERAL (
                SELECT count(*) AS n_finds, count(DISTINCT (par, canonical)) AS n_distinct
                FROM jam_finds
                WHERE jam_finds.hunt_id = c.hunt_id
            ) f
            WHERE c.hunt_id = $1
            "#,
            hunt.get(),
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| CampaignProgress {
            n_levels: from_sql(row.n_levels.into()),
            n_done: from_sql(row.n_done),
            n_parked: from_sql(row.n_parked),
            n_finds: from_sql(row.n_finds),
            n_distinct: from_sql(row.n_distinct),
        }))
    }

    /// What the seeds of a campaign gave, in no meaningful order.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn campaign_finds(&self, hunt: HuntId) -> Result<Vec<JamFind>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT l.place, f.seed, f.level
            FROM jam_finds f
            JOIN campaign_levels l ON l.hunt_id = f.hunt_id AND l.number = f.number
            WHERE f.hunt_id = $1
            "#,
            hunt.get(),
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(JamFind {
                    place: super::narrow("campaign_levels", hunt.get(), "place", row.place.into())?,
                    seed: row.seed.cast_unsigned(),
                    level: row.level,
                })
            })
            .collect()
    }

    /// Notes which seeds became the levels of a campaign, by place in the plan.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn note_chosen(&self, hunt: HuntId, seeds: &[u64]) -> Result<(), StoreError> {
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.cast_signed()).collect();
        sqlx::query!(
            r#"
            UPDATE campaign_levels SET chosen_seed = chosen.seed
            FROM unnest($2::bigint[]) WITH ORDINALITY AS chosen (seed, nth)
            WHERE campaign_levels.hunt_id = $1 AND campaign_levels.place = chosen.nth - 1
            "#,
            hunt.get(),
            &seeds,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Tx {
    /// A campaign; `None`: the hunt is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn campaign(&mut self, hunt: HuntId) -> Result<Option<CampaignRecord>, StoreError> {
        let row = sqlx::query!(
            r#"SELECT plan::text AS "plan!", engine FROM campaigns WHERE hunt_id = $1"#,
            hunt.get()
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(|row| {
            Ok(CampaignRecord {
                plan: Plan::parse(&row.plan).map_err(|error| StoreError::Unreadable {
                    table: "campaigns",
                    id: hunt.get(),
                    reason: error.to_string(),
                })?,
                engine: row.engine,
            })
        })
        .transpose()
    }

    /// Where in its plan the level of a job is; `None`: the campaign has no such job.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn level_place(&mut self, hunt: HuntId, number: u64) -> Result<Option<usize>, StoreError> {
        let place = sqlx::query_scalar!(
            "SELECT place FROM campaign_levels WHERE hunt_id = $1 AND number = $2",
            hunt.get(),
            to_sql(number),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        place
            .map(|place| super::narrow("campaign_levels", hunt.get(), "place", place.into()))
            .transpose()
    }

    /// `None`: the name is taken.
    async fn insert_campaign_hunt(
        &mut self,
        wish: &NewCampaign,
        n_levels: usize,
    ) -> Result<Option<HuntRecord>, StoreError> {
        let row = sqlx::query_as!(
            super::hunt_record::HuntRow,
            r#"
            INSERT INTO hunts (name, strategy, seed, priority, end_number)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (name) DO NOTHING
            RETURNING *
            "#,
            wish.name,
            Strategy::Siren.as_str(),
            i64::from(wish.plan.seed),
            wish.priority,
            to_sql(n_levels as u64),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        row.map(HuntRecord::try_from).transpose()
    }

    async fn insert_campaign(
        &mut self,
        hunt: HuntId,
        plan: &Plan,
        levels: &[LevelToInsert],
    ) -> Result<(), StoreError> {
        sqlx::query!(
            "INSERT INTO campaigns (hunt_id, plan, engine, n_levels) VALUES ($1, ($2::text)::jsonb, $3, $4)",
            hunt.get(),
            plan.spell(),
            siren::ENGINE,
            i32::try_from(levels.len()).unwrap_or(i32::MAX),
        )
        .execute(&mut *self.tx)
        .await?;
        let specs = plan.levels();
        let mut numbers = Vec::with_capacity(levels.len());
        let mut places = Vec::with_capacity(levels.len());
        let mut world_numbers = Vec::with_capacity(levels.len());
        let mut worlds = Vec::with_capacity(levels.len());
        let mut in_worlds = Vec::with_capacity(levels.len());
        for level in levels {
            let spec = &specs[level.place];
            let small = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
            numbers.push(to_sql(level.number));
            places.push(i32::try_from(level.place).unwrap_or(i32::MAX));
            world_numbers.push(small(spec.world_number));
            worlds.push(super::text(&spec.world, 1_000));
            in_worlds.push(small(spec.number));
        }
        sqlx::query!(
            r#"
            INSERT INTO campaign_levels (hunt_id, number, place, world_number, world, level)
            SELECT $1, * FROM unnest($2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::integer[])
            "#,
            hunt.get(),
            &numbers,
            &places,
            &world_numbers,
            &worlds,
            &in_worlds,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    async fn extend_campaign(&mut self, hunt: HuntId, priority: i32) -> Result<HuntRecord, StoreError> {
        sqlx::query!(
            r#"
            UPDATE jobs SET state = 'queued', n_failures = 0, ended_at = NULL
            WHERE hunt_id = $1 AND state IN ('parked', 'cancelled')
            "#,
            hunt.get(),
        )
        .execute(&mut *self.tx)
        .await?;
        let row = sqlx::query_as!(
            super::hunt_record::HuntRow,
            r#"
            UPDATE hunts SET state = 'running', priority = $2, ended_at = NULL, end_reason = NULL
            WHERE id = $1
            RETURNING *
            "#,
            hunt.get(),
            priority,
        )
        .fetch_one(&mut *self.tx)
        .await?;
        row.try_into()
    }
}
