//! What an operator asks for.

use std::time::Duration;

use board::Par;
use board::space::BoardSpace;
use siren::plan::Plan;

use super::{CensusTerms, JobKind, MAX_PLAN_BYTES, WireError, label, small};
use crate::v1;

/// The longest hunt, in minutes: ten years.
const MAX_MINUTES: u64 = 10 * 366 * 24 * 60;

/// The most jobs a hunt may be limited to.
const MAX_JOBS: u64 = 1 << 40;

/// A hunt that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHunt {
    /// Unique; 1 to 100 characters. A hunt of this name and space goes on where it stopped.
    pub name: String,
    /// Which boards are hunted.
    pub space: BoardSpace,
    /// Which kinds of job it is cut into.
    pub strategy: Strategy,
    /// When it is over.
    pub budget: Budget,
    /// Higher goes first; 0 is usual.
    pub priority: i32,
    /// Where its jobs' seeds start; `None`: drawn.
    pub seed: Option<u64>,
    /// What a census counts; there if and only if the strategy is [`Strategy::Census`].
    pub census: Option<CensusTerms>,
}

/// A campaign of Siren Jam that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCampaign {
    /// Unique; 1 to 100 characters. A campaign of this name and plan goes on where it stopped.
    pub name: String,
    /// Its levels.
    pub plan: Plan,
    /// Higher goes first; 0 is usual.
    pub priority: i32,
}

/// What an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Boards.
    Hunt(NewHunt),
    /// Levels.
    Campaign(NewCampaign),
}

impl TryFrom<v1::CreateHuntRequest> for Wish {
    type Error = WireError;

    fn try_from(wire: v1::CreateHuntRequest) -> Result<Wish, WireError> {
        if wire.strategy != i32::from(v1::Strategy::Siren) {
            return wire.try_into().map(Wish::Hunt);
        }
        let text = wire.plan.ok_or(WireError::Missing("plan"))?;
        if text.len() > MAX_PLAN_BYTES {
            return Err(WireError::Length {
                field: "plan",
                len: text.len(),
                unit: "bytes",
                low: 2,
                high: MAX_PLAN_BYTES,
            });
        }
        Ok(Wish::Campaign(NewCampaign {
            name: label("name", wire.name, 1)?,
            plan: Plan::parse(&text).map_err(|error| WireError::Plan(error.to_string()))?,
            priority: wire.priority,
        }))
    }
}

/// Which kinds of job a hunt is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Scatter and anneal.
    Mixed,
    /// Scatter alone.
    Scatter,
    /// Anneal alone.
    Anneal,
    /// Every board of the space, counted.
    Census,
    /// Levels of a campaign of Siren Jam.
    Siren,
    /// The stored boards of the space, measured.
    Difficulty,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 6] = [
        Strategy::Mixed,
        Strategy::Scatter,
        Strategy::Anneal,
        Strategy::Census,
        Strategy::Siren,
        Strategy::Difficulty,
    ];

    /// Whether it draws boards of a space for as long as it is let, as `parforce hunt` asks for.
    pub fn is_search(self) -> bool {
        !matches!(self, Strategy::Census | Strategy::Siren | Strategy::Difficulty)
    }

    /// Whether hunts of this strategy are cut into jobs of this kind.
    pub fn has(self, kind: JobKind) -> bool {
        match self {
            Strategy::Mixed => matches!(kind, JobKind::Scatter | JobKind::Anneal),
            Strategy::Scatter => kind == JobKind::Scatter,
            Strategy::Anneal => kind == JobKind::Anneal,
            Strategy::Census => kind == JobKind::Census,
            Strategy::Siren => kind == JobKind::Siren,
            Strategy::Difficulty => kind == JobKind::Difficulty,
        }
    }

    /// As the database and the command line spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Mixed => "mixed",
            Strategy::Scatter => "scatter",
            Strategy::Anneal => "anneal",
            Strategy::Census => "census",
            Strategy::Siren => "siren",
            Strategy::Difficulty => "difficulty",
        }
    }

    /// The strategy of this spelling.
    pub fn parse(text: &str) -> Option<Strategy> {
        Strategy::ALL
            .into_iter()
            .find(|strategy| strategy.as_str() == text)
    }

    /// As the wire numbers it.
    pub fn to_wire(self) -> v1::Strategy {
        match self {
            Strategy::Mixed => v1::Strategy::Mixed,
            Strategy::Scatter => v1::Strategy::Scatter,
            Strategy::Anneal => v1::Strategy::Anneal,
            Strategy::Census => v1::Strategy::Census,
            Strategy::Siren => v1::Strategy::Siren,
            Strategy::Difficulty => v1::Strategy::Difficulty,
        }
    }
}

/// When a hunt is over: at the first of these; with none, when an operator says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Time from when it is asked for, pauses not counted; milliseconds are kept.
    pub time: Option<Duration>,
    /// Jobs, beside those it had before.
    pub n_jobs: Option<u64>,
    /// A board of this par or more.
    pub until_par: Option<Par>,
}

impl TryFrom<v1::CreateHuntRequest> for NewHunt {
    type Error = WireError;

    fn try_from(wire: v1::CreateHuntRequest) -> Result<NewHunt, WireError> {
        let strategy = match v1::Strategy::try_from(wire.strategy) {
            Ok(v1::Strategy::Unspecified | v1::Strategy::Mixed) => Strategy::Mixed,
            Ok(v1::Strategy::Scatter) => Strategy::Scatter,
            Ok(v1::Strategy::Anneal) => Strategy::Anneal,
            Ok(v1::Strategy::Census) => Strategy::Census,
            Ok(v1::Strategy::Difficulty) => Strategy::Difficulty,
            Ok(v1::Strategy::Siren) | Err(_) => {
                return Err(WireError::UnknownValue {
                    field: "strategy",
                    value: wire.strategy,
                });
            }
        };
        let census = match (strategy, wire.census) {
            (Strategy::Census, terms) => Some(terms.ok_or(WireError::Missing("census"))?.try_into()?),
            (_, _) => None,
        };
        Ok(NewHunt {
            name: label("name", wire.name, 1)?,
            space: wire.space.ok_or(WireError::Missing("space"))?.try_into()?,
            strategy,
            budget: wire.budget.unwrap_or_default().try_into()?,
            priority: wire.priority,
            seed: wire.seed,
            census,
        })
    }
}

impl TryFrom<v1::Budget> for Budget {
    type Error = WireError;

    fn try_from(wire: v1::Budget) -> Result<Budget, WireError> {
        let minutes = wire
            .minutes
            .map(|minutes| positive("minutes", minutes, MAX_MINUTES))
            .transpose()?;
        let until_par = wire
            .until_par
            .map(|par| super::within("until_par", par, 1, 10_000))
            .transpose()?;
        Ok(Budget {
            time: minutes.map(|minutes| Duration::from_secs(60 * minutes)),
            n_jobs: wire
                .jobs
                .map(|jobs| positive("jobs", jobs, MAX_JOBS))
                .transpose()?,
            until_par: until_par
                .map(|par| small("until_par", par).map(Par::new))
                .transpose()?,
        })
    }
}

fn positive(field: &'static str, value: u64, high: u64) -> Result<u64, WireError> {
    if (1..=high).contains(&value) {
        return Ok(value);
    }
    Err(WireError::OutOfRange {
        field,
        value: value.into(),
        low: 1,
        high: high.into(),
    })
}
