//! What an operator asks for.

use std::time::Duration;

use board::Par;
use board::space::BoardSpace;
use siren::plan::Plan;

use super::{Aim, CensusTerms, JobKind, MAX_PLAN_BYTES, WireError, label, list, priority, small};
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
    /// How its strategies are chosen.
    pub plan: HuntPlan,
}

/// How a hunt's strategies are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HuntPlan {
    /// What it is after: how the worth of what they bring is reckoned.
    pub aim: Aim,
    /// Of a mixed hunt, the strategies that are mixed, each a single one, in the order of [`Strategy::SINGLE`]; never
    /// empty.
    pub mix: Vec<Strategy>,
}

impl Default for HuntPlan {
    fn default() -> HuntPlan {
        HuntPlan::new(Aim::Broad, &Strategy::SINGLE)
    }
}

impl HuntPlan {
    /// A plan of these strategies, repetitions and mixed ones left out; of all if there are then none.
    pub fn new(aim: Aim, mix: &[Strategy]) -> HuntPlan {
        let chosen = |strategy: &Strategy| mix.contains(strategy);
        let mut mix: Vec<Strategy> = Strategy::SINGLE.into_iter().filter(chosen).collect();
        if mix.is_empty() {
            mix.extend(Strategy::SINGLE);
        }
        HuntPlan { aim, mix }
    }
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
            priority: priority(wire.priority)?,
        }))
    }
}

/// Which kinds of job a hunt is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Scatter, anneal and sweep, or some of them, by what each brings.
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
    /// Sweep alone: all changes of the hardest boards there are.
    Sweep,
}

impl Strategy {
    /// Those that a mixed hunt can be made of.
    pub const SINGLE: [Strategy; 3] = [Strategy::Scatter, Strategy::Anneal, Strategy::Sweep];

    /// Every strategy.
    pub const ALL: [Strategy; 7] = [
        Strategy::Mixed,
        Strategy::Scatter,
        Strategy::Anneal,
        Strategy::Census,
        Strategy::Siren,
        Strategy::Difficulty,
        Strategy::Sweep,
    ];

    /// Whether it draws boards of a space for as long as it is let, as `parforce hunt` asks for.
    pub fn is_search(self) -> bool {
        !matches!(self, Strategy::Census | Strategy::Siren | Strategy::Difficulty)
    }

    /// Whether hunts of this strategy are cut into jobs of this kind.
    pub fn has(self, kind: JobKind) -> bool {
        match self {
            Strategy::Mixed => matches!(kind, JobKind::Scatter | JobKind::Anneal | JobKind::Sweep),
            Strategy::Scatter => kind == JobKind::Scatter,
            Strategy::Anneal => kind == JobKind::Anneal,
            Strategy::Census => kind == JobKind::Census,
            Strategy::Siren => kind == JobKind::Siren,
            Strategy::Difficulty => kind == JobKind::Difficulty,
            // Where nothing is left to sweep, more is scattered.
            Strategy::Sweep => matches!(kind, JobKind::Sweep | JobKind::Scatter),
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
            Strategy::Sweep => "sweep",
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
            Strategy::Sweep => v1::Strategy::Sweep,
        }
    }

    fn from_wire(value: i32) -> Result<Strategy, WireError> {
        match v1::Strategy::try_from(value) {
            Ok(v1::Strategy::Unspecified | v1::Strategy::Mixed) => Ok(Strategy::Mixed),
            Ok(v1::Strategy::Scatter) => Ok(Strategy::Scatter),
            Ok(v1::Strategy::Anneal) => Ok(Strategy::Anneal),
            Ok(v1::Strategy::Census) => Ok(Strategy::Census),
            Ok(v1::Strategy::Sweep) => Ok(Strategy::Sweep),
            Ok(v1::Strategy::Difficulty) => Ok(Strategy::Difficulty),
            Ok(v1::Strategy::Siren) | Err(_) => Err(WireError::UnknownValue {
                field: "strategy",
                value,
            }),
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
        let strategy = Strategy::from_wire(wire.strategy)?;
        let aim = match wire.aim {
            0 => Aim::Broad,
            aim => Aim::from_wire(aim)?,
        };
        let mix = list("mix", wire.mix, Strategy::ALL.len())?
            .into_iter()
            .map(Strategy::from_wire)
            .collect::<Result<Vec<_>, _>>()?;
        let census = match (strategy, wire.census) {
            (Strategy::Census, terms) => Some(terms.ok_or(WireError::Missing("census"))?.try_into()?),
            (_, _) => None,
        };
        Ok(NewHunt {
            name: label("name", wire.name, 1)?,
            space: wire.space.ok_or(WireError::Missing("space"))?.try_into()?,
            strategy,
            budget: wire.budget.unwrap_or_default().try_into()?,
            priority: priority(wire.priority)?,
            seed: wire.seed,
            census,
            plan: HuntPlan::new(aim, &mix),
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

#[cfg(test)]
mod tests {
    use board::Lot;

    use super::*;

    #[test]
    fn priorities_beyond_their_range_are_refused() {
        let asked = |priority| {
            Wish::try_from(v1::CreateHuntRequest {
                name: "a".to_owned(),
                space: Some((&BoardSpace::usual(Lot::ORDINARY).unwrap()).into()),
                strategy: v1::Strategy::Sweep.into(),
                priority,
                ..v1::CreateHuntRequest::default()
            })
        };
        for priority in [-1_000, 0, 1_000] {
            assert!(asked(priority).is_ok(), "{priority}");
        }
        for priority in [i32::MIN, -1_001, 1_001, i32::MAX] {
            let wrong = asked(priority).unwrap_err().to_string();
            assert_eq!(wrong, format!("priority is {priority}, expected -1000 to 1000"));
        }
    }
}
