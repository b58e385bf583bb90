//! A hunt as it is stored, read.

use board::Par;
use board::geometry::Lot;
use board::space::{BoardSpace, LengthWeight, SpaceFields};
use proto::convert::{Aim, HuntPlan, Strategy};
use proto::ids::HuntId;
use time::OffsetDateTime;

use super::{StoreError, from_sql, narrow};

/// Whether a hunt goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HuntState {
    /// Jobs are planned and leased.
    Running,
    /// It may go on.
    Paused,
    /// Its budget is spent.
    Done,
    /// An operator ended it.
    Cancelled,
}

impl HuntState {
    /// As the database and the command line spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            HuntState::Running => "running",
            HuntState::Paused => "paused",
            HuntState::Done => "done",
            HuntState::Cancelled => "cancelled",
        }
    }

    /// Whether it is done or cancelled: no board will be found for it any more.
    pub fn is_over(self) -> bool {
        matches!(self, HuntState::Done | HuntState::Cancelled)
    }

    pub(super) fn parse(hunt_id: i64, spelling: &str) -> Result<HuntState, StoreError> {
        [
            HuntState::Running,
            HuntState::Paused,
            HuntState::Done,
            HuntState::Cancelled,
        ]
        .into_iter()
        .find(|state| state.as_str() == spelling)
        .ok_or_else(|| unreadable(hunt_id, format!("state {spelling:?}")))
    }
}

/// A hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntRecord {
    /// Its number.
    pub id: HuntId,
    /// Its label.
    pub name: String,
    /// Which boards are hunted; `None`: a campaign, which has a plan instead.
    pub space: Option<BoardSpace>,
    /// Which kinds of job it is cut into.
    pub strategy: Strategy,
    /// Where its jobs' seeds start.
    pub seed: u64,
    /// Higher goes first.
    pub priority: i32,
    /// Its share of the cores, against the other hunts of its priority.
    pub weight: u16,
    /// Whether it goes on.
    pub state: HuntState,
    /// When its time is up; `None`: no limit, or paused.
    pub ends_at: Option<OffsetDateTime>,
    /// No job of this number or above; `None`: no limit.
    pub end_number: Option<u64>,
    /// It is done when a board of this par is stored for it.
    pub until_par: Option<Par>,
    /// Jobs planned so far.
    pub next_number: u64,
    /// When it was first asked for.
    pub created_at: OffsetDateTime,
    /// When it was done or cancelled; `None`: it is not over.
    pub ended_at: Option<OffsetDateTime>,
    /// How its strategies are chosen.
    pub plan: HuntPlan,
}

/// A row of `hunts`, all columns.
pub(super) struct HuntRow {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) lot_width: Option<i16>,
    pub(super) lot_height: Option<i16>,
    pub(super) exit_row: Option<i16>,
    pub(super) hero_length: Option<i16>,
    pub(super) first_vehicles: Option<i16>,
    pub(super) last_vehicles: Option<i16>,
    pub(super) first_walls: Option<i16>,
    pub(super) last_walls: Option<i16>,
    pub(super) lengths: Option<Vec<i16>>,
    pub(super) weights: Option<Vec<i32>>,
    pub(super) strategy: String,
    pub(super) seed: i64,
    pub(super) priority: i32,
    pub(super) weight: i16,
    pub(super) state: String,
    pub(super) ends_at: Option<OffsetDateTime>,
    #[expect(
        dead_code,
        reason = "query_as! reads every column; only SQL has a use for this one"
    )]
    pub(super) time_left: Option<sqlx::postgres::types::PgInterval>,
    pub(super) end_number: Option<i64>,
    pub(super) until_par: Option<i16>,
    pub(super) next_number: i64,
    pub(super) created_at: OffsetDateTime,
    pub(super) ended_at: Option<OffsetDateTime>,
    #[expect(
        dead_code,
        reason = "query_as! reads every column; only SQL has a use for this one"
    )]
    pub(super) end_reason: Option<String>,
    pub(super) aim: String,
    pub(super) mix: Vec<String>,
}

impl TryFrom<HuntRow> for HuntRecord {
    type Error = StoreError;

    fn try_from(row: HuntRow) -> Result<HuntRecord, StoreError> {
        let strategy = Strategy::parse(&row.strategy)
            .ok_or_else(|| unreadable(row.id, format!("strategy {:?}", row.strategy)))?;
        let space = if strategy == Strategy::Siren {
            None
        } else {
            Some(space_of(&row)?)
        };
        let aim = Aim::parse(&row.aim).ok_or_else(|| unreadable(row.id, format!("aim {:?}", row.aim)))?;
        let mix: Vec<Strategy> = row.mix.iter().filter_map(|text| Strategy::parse(text)).collect();
        Ok(HuntRecord {
            id: hunt_id(row.id),
            space,
            strategy,
            plan: HuntPlan::new(aim, &mix),
            state: HuntState::parse(row.id, &row.state)?,
            until_par: row
                .until_par
                .map(|par| narrow("hunts", row.id, "until_par", par.into()).map(Par::new))
                .transpose()?,
            name: row.name,
            seed: row.seed.cast_unsigned(),
            priority: row.priority,
            weight: narrow("hunts", row.id, "weight", row.weight.into())?,
            ends_at: row.ends_at,
            end_number: row.end_number.map(from_sql),
            next_number: from_sql(row.next_number),
            created_at: row.created_at,
            ended_at: row.ended_at,
        })
    }
}

/// The space of a hunt that is no campaign.
fn space_of(row: &HuntRow) -> Result<BoardSpace, StoreError> {
    let small = |column: &str, value: Option<i16>| {
        let value = value.ok_or_else(|| unreadable(row.id, format!("{column} is missing")))?;
        narrow::<u8>("hunts", row.id, column, value.into())
    };
    let lengths = row.lengths.iter().flatten().zip(row.weights.iter().flatten());
    let lengths = lengths.map(|(&length, &weight)| {
        Ok(LengthWeight {
            length: small("lengths", Some(length))?,
            weight: narrow("hunts", row.id, "weights", weight.into())?,
        })
    });
    let lot = Lot::new(
        small("lot_width", row.lot_width)?,
        small("lot_height", row.lot_height)?,
    )
    .map_err(|error| unreadable(row.id, error.to_string()))?;
    let fields = SpaceFields {
        lot,
        exit_row: small("exit_row", row.exit_row)?,
        hero_length: small("hero_length", row.hero_length)?,
        vehicles: small("first_vehicles", row.first_vehicles)?..=small("last_vehicles", row.last_vehicles)?,
        walls: small("first_walls", row.first_walls)?..=small("last_walls", row.last_walls)?,
        lengths: lengths.collect::<Result<_, StoreError>>()?,
    };
    BoardSpace::new(fields).map_err(|error| unreadable(row.id, error.to_string()))
}

pub(super) fn hunt_id(id: i64) -> HuntId {
    HuntId::new(id).expect("identities start at 1")
}

pub(super) fn unreadable(id: i64, reason: String) -> StoreError {
    StoreError::Unreadable {
        table: "hunts",
        id,
        reason,
    }
}
