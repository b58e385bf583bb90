//! What a level must keep to ship, judged from its file alone: nothing that the generator claimed is believed.

use crate::blockers::Blockers;
use crate::campaign::{LEAST_MARGIN, move_limit};
use crate::canonical::Canonical;
use crate::closure::{Answer, Solution, solve_from};
use crate::generate::template::{Features, Template};
use crate::generate::{Unfit, unfit};
use crate::jam::Jam;
use crate::level::{Level, StarSeconds};
use crate::measure::{Measures, Miss};
use crate::pieces::Piece;
use crate::plan::LevelSpec;
use crate::rating::Rating;
use crate::simulate::{Escape, State};
use std::collections::HashMap;

/// The margins of a fair move limit, in percent of the optimum, where no plan says which.
pub const FAIR_SLACK_PERCENT: (u32, u32) = (20, 40);

/// Something wrong with a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A rule of every level is broken.
    #[error("{0}")]
    Unfit(#[from] Unfit),
    /// The solution of an escape, played move by move, does not clear its lane: a fault of the solver.
    #[error("the {escape} solution does not play: {why}")]
    DoesNotPlay {
        /// Which escape.
        escape: Escape,
        /// What went wrong.
        why: String,
    },
    /// A level needs a move limit.
    #[error("no move limit")]
    NoLimit,
    /// The limit leaves too little or too much.
    #[error("the move limit is {limit}, expected {from} to {to} for a shortest solution of {par}")]
    UnfairLimit {
        /// The limit.
        limit: u32,
        /// The least.
        from: u32,
        /// The most.
        to: u32,
        /// Moves of the optimum.
        par: u32,
    },
    /// The star times are not those of the rating.
    #[error("star times are {found:?}, expected {expected:?}")]
    StarTimes {
        /// In the file.
        found: Option<StarSeconds>,
        /// By the rating.
        expected: StarSeconds,
    },
    /// The file names a level that the plan does not have.
    #[error("the plan has no level {level} in a world {world:?}")]
    NotInPlan {
        /// The world.
        world: String,
        /// The level.
        level: u32,
    },
    /// A range of the plan is missed.
    #[error("{0}")]
    Miss(#[from] Miss),
    /// Something else than the plan says.
    #[error("{what} is {found}, expected {expected} by the plan")]
    NotAsPlanned {
        /// What.
        what: &'static str,
        /// In the level.
        found: String,
        /// In the plan.
        expected: String,
    },
    /// A level of the plan that no file has.
    #[error("{world}, level {level}, is missing")]
    Missing {
        /// The world.
        world: String,
        /// The level.
        level: u32,
    },
    /// A level of the plan that two files have.
    #[error("{world}, level {level}, is also in {other}")]
    LevelTwice {
        /// The world.
        world: String,
        /// The level.
        level: u32,
        /// The other file.
        other: String,
    },
    /// The same jam in two files.
    #[error("the same jam as {other} up to turning and mirroring")]
    Duplicate {
        /// The other file.
        other: String,
    },
}

/// Everything wrong with a level by itself; `plan` is where it belongs if it says that it belongs to a campaign.
pub fn check_level(level: &Level, plan: &[LevelSpec]) -> Vec<Fault> {
    let jam = &level.jam;
    let blockers = Blockers::new(jam);
    let answer = solve_from(&blockers, &State::start(jam));
    let mut faults: Vec<Fault> = unfit(jam, &blockers, &answer)
        .into_iter()
        .map(Fault::from)
        .collect();
    faults.extend(
        answer
            .escapes
            .iter()
            .flatten()
            .filter_map(|solution| check_play(jam, solution)),
    );
    let spec = level.campaign.as_ref().map(|origin| {
        let spec = plan
            .iter()
            .find(|spec| spec.world == origin.world && spec.number == origin.level);
        spec.ok_or_else(|| Fault::NotInPlan {
            world: origin.world.clone(),
            level: origin.level,
        })
    });
    let spec = match spec {
        Some(Err(fault)) => {
            faults.push(fault);
            None
        }
        Some(Ok(spec)) => Some(spec),
        None => None,
    };
    if let Some(optimum) = answer.optimum() {
        faults.extend(check_limit(
            level.moves,
            optimum.cost(),
            spec.map(|spec| spec.slack_percent),
        ));
        let expected = Rating::new(jam, &blockers, optimum).star_seconds;
        if level.star_seconds != Some(expected) {
            faults.push(Fault::StarTimes {
                found: level.star_seconds,
                expected,
            });
        }
    }
    if let Some(spec) = spec {
        faults.extend(check_plan(jam, &answer, &spec.template));
    }
    faults
}

/// Levels of a set, by the names of their files, that are the same up to turning and mirroring as an earlier one.
pub fn duplicates<'a>(levels: impl IntoIterator<Item = (&'a str, &'a Level)>) -> Vec<(String, Fault)> {
    let mut seen: HashMap<Canonical, &str> = HashMap::new();
    let mut faults = Vec::new();
    for (name, level) in levels {
        let canonical = Canonical::new(&level.jam);
        if let Some(other) = seen.get(&canonical) {
            faults.push((
                name.to_owned(),
                Fault::Duplicate {
                    other: (*other).to_owned(),
                },
            ));
        } else {
            seen.insert(canonical, name);
        }
    }
    faults
}

/// Levels of a plan that no file of a set has, and levels that more than one has, the latter by the name of the file.
pub fn coverage<'a>(
    levels: impl IntoIterator<Item = (&'a str, &'a Level)>,
    plan: &[LevelSpec],
) -> Vec<(Option<String>, Fault)> {
    let mut seen: HashMap<(&str, u32), &str> = HashMap::new();
    let mut faults = Vec::new();
    for (name, level) in levels {
        let Some(origin) = &level.campaign else { continue };
        let key = (origin.world.as_str(), origin.level);
        if let Some(other) = seen.insert(key, name) {
            let (world, level) = (origin.world.clone(), origin.level);
            faults.push((
                Some(name.to_owned()),
                Fault::LevelTwice {
                    world,
                    level,
                    other: other.to_owned(),
                },
            ));
        }
    }
    let missing = plan
        .iter()
        .filter(|spec| !seen.contains_key(&(spec.world.as_str(), spec.number)));
    faults.extend(missing.map(|spec| {
        (
            None,
            Fault::Missing {
                world: spec.world.clone(),
                level: spec.number,
            },
        )
    }));
    faults
}

fn check_play(jam: &Jam, solution: &Solution) -> Option<Fault> {
    let escape = solution.escape;
    let why = match crate::simulate::replay(jam, &solution.actions) {
        Err((number, why)) => format!("move {number}: {why}"),
        Ok(state) if !state.is_clear(jam, escape) => "the lane is not clear at its end".to_owned(),
        Ok(_) => return None,
    };
    Some(Fault::DoesNotPlay { escape, why })
}

fn check_limit(limit: Option<u32>, par: u32, slack_percent: Option<u32>) -> Option<Fault> {
    let Some(limit) = limit else {
        return Some(Fault::NoLimit);
    };
    let (least, most) = slack_percent.map_or(FAIR_SLACK_PERCENT, |slack| (slack, slack));
    let (from, to) = (move_limit(par, least), move_limit(par, most));
    debug_assert!(from >= par + LEAST_MARGIN, "a limit leaves a margin");
    (!(from..=to).contains(&limit)).then_some(Fault::UnfairLimit { limit, from, to, par })
}

/// Everything that is not as a template asks: its ranges, the lot, the unit and every feature.
pub fn check_plan(jam: &Jam, answer: &Answer, template: &Template) -> Vec<Fault> {
    let mut faults: Vec<Fault> = match Measures::of(jam, answer) {
        Some(measures) => measures.misses(template).map(Fault::from).collect(),
        // That it cannot be solved is a fault named already.
        None => Vec::new(),
    };
    let mut compare = |what: &'static str, found: String, expected: String| {
        if found != expected {
            faults.push(Fault::NotAsPlanned {
                what,
                found,
                expected,
            });
        }
    };
    let lot = format!("{}x{}", template.width, template.height);
    compare("the lot", jam.lot().to_string(), lot);
    let model = match jam.pieces()[jam.unit()] {
        Piece::Unit(model, _) => format!("{model:?}"),
        _ => unreachable!("the unit is a unit"),
    };
    compare("the unit", model, format!("{:?}", template.unit));
    let n_open = jam.parts().exits.iter().filter(|exit| exit.open).count();
    compare(
        "the number of open exits",
        n_open.to_string(),
        template.exits.to_string(),
    );
    for ((what, found), (_, expected)) in counts(features_of(jam))
        .into_iter()
        .zip(counts(template.features))
    {
        compare(what, found.to_string(), expected.to_string());
    }
    if template.features.lights > 0 && answer.optimum().is_some_and(|optimum| optimum.n_swaps == 0) {
        compare("the number of swaps", "0".to_owned(), "1 or more".to_owned());
    }
    if template.features.bridges > 0 && answer.optimum().is_some_and(|optimum| !optimum.lowers_bridge) {
        compare("the bridge", "not needed".to_owned(), "needed".to_owned());
    }
    faults
}

fn features_of(jam: &Jam) -> Features {
    let parts = jam.parts();
    let few = |n: usize| u8::try_from(n).expect("144 pieces at most");
    let n_pieces =
        |wanted: fn(&Piece) -> bool| few(jam.pieces().iter().filter(|piece| wanted(piece)).count());
    Features {
        lights: few(parts.lights.len()),
        crossings: few(parts.crossings.len()),
        bridges: u8::from(parts.bridge.is_some()),
        wrecks: n_pieces(|piece| matches!(piece, Piece::Wreck(_))),
        barricades: n_pieces(|piece| matches!(piece, Piece::Barricade(_))),
        planters: n_pieces(|piece| matches!(piece, Piece::Planter(_))),
        closed_sides: few(parts.closed_sides.len()),
        closed_exits: few(parts.exits.iter().filter(|exit| !exit.open).count()),
    }
}

fn counts(features: Features) -> [(&'static str, u8); 8] {
    [
        ("the number of lights", features.lights),
        ("the number of crossings", features.crossings),
        ("the number of bridges", features.bridges),
        ("the number of wrecks", features.wrecks),
        ("the number of barricades", features.barricades),
        ("the number of planters", features.planters),
        ("the number of closed sides", features.closed_sides),
        ("the number of closed exits", features.closed_exits),
    ]
}
