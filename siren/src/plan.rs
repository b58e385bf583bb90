//! A campaign's plan: difficulty as a curve. Every number of a world is interpolated over its levels between a start and
//! an end template; features switch on for chosen levels.

use crate::form::{self, Object};
use crate::generate::TemplateError;
use crate::generate::template::{Features, Range, Template};
use crate::pieces::Model;
use crate::random::derive_seed;
use serde::{Deserialize, Serialize};

/// Seeds tried for each level.
pub const SEEDS_PER_LEVEL: usize = 6;

/// The JSON Schema of a plan file.
pub const PLAN_SCHEMA: &str = include_str!("../schema/plan.schema.json");

/// The plan that ships: eight worlds of twenty levels.
pub const SHIPPED_PLAN: &str = include_str!("../plans/plan.json");

/// A campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of the file's form: 1.
    pub format: u32,
    /// What all seeds of the campaign derive from.
    pub seed: u32,
    /// The worlds, in order.
    #[serde(deserialize_with = "form::objects")]
    pub worlds: Vec<World>,
}

/// A world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// Its name.
    pub name: String,
    /// How many levels it has.
    pub levels: u32,
    /// The units, which take turns.
    pub units: Vec<Model>,
    /// Its first level.
    #[serde(deserialize_with = "form::object")]
    pub start: Shape,
    /// Its last level.
    #[serde(deserialize_with = "form::object")]
    pub end: Shape,
    /// What switches on where.
    #[serde(default, deserialize_with = "form::objects")]
    pub features: Vec<FeatureRule>,
}

/// The numbers of a level that are interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Moves of the optimum.
    pub par: Range,
    /// Vehicles that can drive, the unit not counted.
    pub vehicles: Range,
    /// Layers of blockers in the optimum's closure.
    pub chain_depth: Range,
    /// Pieces of that closure that are locked in at the start.
    pub locked: Range,
    /// Squares taken, in percent.
    pub fullness_percent: Range,
    /// Moves by which the dearer escape is dearer.
    pub gap: Range,
    /// Open exits.
    pub exits: u32,
    /// The margin of the move limit, in percent of the optimum.
    pub slack_percent: u32,
}

/// Features for chosen levels of a world. Where several rules name a level, the largest number of each counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureRule {
    /// The levels, counted from 1.
    pub levels: Vec<u32>,
    /// What they hold.
    #[serde(default, deserialize_with = "form::object")]
    pub features: Features,
    /// The tutorial shown there.
    #[serde(
        default,
        deserialize_with = "form::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub tutorial: Option<String>,
}

/// A level of a plan, with all that is needed to generate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelSpec {
    /// Its world's name.
    pub world: String,
    /// Its world's number, from 1.
    pub world_number: u32,
    /// Its number in the world, from 1.
    pub number: u32,
    /// What it is asked to be.
    pub template: Template,
    /// The margin of the move limit, in percent of the optimum.
    pub slack_percent: u32,
    /// The tutorial shown there.
    pub tutorial: Option<String>,
    /// The seeds to try.
    pub seeds: [u64; SEEDS_PER_LEVEL],
}

impl LevelSpec {
    /// The level's file name without its ending: `1-01-downtown`, in the order of the campaign.
    pub fn file_stem(&self) -> String {
        let kept = |letter: char| {
            if letter.is_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        };
        let name: String = self.world.chars().map(kept).collect();
        format!("{}-{:02}-{name}", self.world_number, self.number)
    }
}

/// Text that is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON of the right form.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A form that this program does not read.
    #[error("format is {0}, expected 1")]
    Format(u32),
    /// Nothing to make levels of.
    #[error("worlds[{world}].{field} is empty")]
    Empty {
        /// Which world, from 0.
        world: usize,
        /// Which field.
        field: &'static str,
    },
    /// A level that the world does not have.
    #[error("worlds[{world}].features[{rule}].levels: no level {level}, the world has levels 1 to {last}")]
    NoSuchLevel {
        /// Which world, from 0.
        world: usize,
        /// Which rule, from 0.
        rule: usize,
        /// The level.
        level: u32,
        /// The world's last.
        last: u32,
    },
    /// A level that could not be generated.
    #[error("worlds[{world}], level {level}: {why}")]
    Template {
        /// Which world, from 0.
        world: usize,
        /// The level, from 1.
        level: u32,
        /// Why.
        why: TemplateError,
    },
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    /// If the text is no plan, or a level of it makes no sense.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let Object(plan): Object<Self> = serde_json::from_str(text)?;
        if plan.format != 1 {
            return Err(PlanError::Format(plan.format));
        }
        for (number, world) in plan.worlds.iter().enumerate() {
            world.check(number)?;
        }
        for spec in plan.levels() {
            let (world, level) = (spec.world_number as usize - 1, spec.number);
            spec.template
                .check()
                .map_err(|why| PlanError::Template { world, level, why })?;
        }
        Ok(plan)
    }

    /// Writes the plan: the same text for the same plan.
    pub fn spell(&self) -> String {
        serde_json::to_string(self).expect("plain structures of numbers and text can be written")
    }

    /// A number that another plan all but surely does not have.
    pub fn fingerprint(&self) -> u64 {
        let bytes: Vec<u64> = self.spell().bytes().map(u64::from).collect();
        derive_seed(&bytes)
    }

    /// The levels, in order.
    pub fn levels(&self) -> Vec<LevelSpec> {
        let worlds = self.worlds.iter().zip(1..);
        worlds
            .flat_map(|(world, number)| (1..=world.levels).map(move |level| self.level(world, number, level)))
            .collect()
    }

    fn level(&self, world: &World, world_number: u32, number: u32) -> LevelSpec {
        let shape = world.shape(number);
        let rules = || world.features.iter().filter(|rule| rule.levels.contains(&number));
        let features = rules().fold(Features::default(), |all, rule| all.with(rule.features));
        let side = |squares: u32| u8::try_from(squares).unwrap_or(u8::MAX);
        let units = &world.units;
        LevelSpec {
            world: world.name.clone(),
            world_number,
            number,
            template: Template {
                width: side(shape.width),
                height: side(shape.height),
                unit: units[(number as usize - 1) % units.len()],
                par: shape.par,
                vehicles: shape.vehicles,
                chain_depth: shape.chain_depth,
                locked: shape.locked,
                fullness_percent: shape.fullness_percent,
                gap: shape.gap,
                exits: side(shape.exits),
                features,
            },
            slack_percent: shape.slack_percent,
            tutorial: rules().find_map(|rule| rule.tutorial.clone()),
            seeds: std::array::from_fn(|seed| {
                derive_seed(&[self.seed.into(), world_number.into(), number.into(), seed as u64])
            }),
        }
    }
}

impl World {
    fn check(&self, world: usize) -> Result<(), PlanError> {
        if self.units.is_empty() {
            return Err(PlanError::Empty {
                world,
                field: "units",
            });
        }
        for (rule, features) in self.features.iter().enumerate() {
            if let Some(level) = features
                .levels
                .iter()
                .find(|level| !(1..=self.levels).contains(*level))
            {
                return Err(PlanError::NoSuchLevel {
                    world,
                    rule,
                    level: *level,
                    last: self.levels,
                });
            }
        }
        Ok(())
    }

    /// The numbers of a level, from 1, between the world's start and end.
    fn shape(&self, number: u32) -> Shape {
        let (start, end) = (&self.start, &self.end);
        let at = |from: u32, to: u32| interpolate(from, to, number - 1, self.levels - 1);
        let range = |from: Range, to: Range| Range::new(at(from.from, to.from), at(from.to, to.to));
        Shape {
            width: at(start.width, end.width),
            height: at(start.height, end.height),
            par: range(start.par, end.par),
            vehicles: range(start.vehicles, end.vehicles),
            chain_depth: range(start.chain_depth, end.chain_depth),
            locked: range(start.locked, end.locked),
            fullness_percent: range(start.fullness_percent, end.fullness_percent),
            gap: range(start.gap, end.gap),
            exits: at(start.exits, end.exits),
            slack_percent: at(start.slack_percent, end.slack_percent),
        }
    }
}

impl Features {
    /// The larger number of each feature.
    fn with(self, other: Self) -> Self {
        Self {
            lights: self.lights.max(other.lights),
            crossings: self.crossings.max(other.crossings),
            bridges: self.bridges.max(other.bridges),
            wrecks: self.wrecks.max(other.wrecks),
            barricades: self.barricades.max(other.barricades),
            planters: self.planters.max(other.planters),
            closed_sides: self.closed_sides.max(other.closed_sides),
            closed_exits: self.closed_exits.max(other.closed_exits),
        }
    }
}

/// The number `step` of `steps` on the way from one to the other, rounded to the nearest, halves up.
fn interpolate(from: u32, to: u32, step: u32, steps: u32) -> u32 {
    if steps == 0 {
        return from;
    }
    let (from, to, step, steps) = (i64::from(from), i64::from(to), i64::from(step), i64::from(steps));
    let rounded = (2 * (from * (steps - step) + to * step) + steps).div_euclid(2 * steps);
    u32::try_from(rounded).expect("between two numbers of 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_meets_both_ends_and_rounds_between() {
        assert_eq!(interpolate(8, 14, 0, 19), 8);
        assert_eq!(interpolate(8, 14, 19, 19), 14);
        assert_eq!(
            (0..=4)
                .map(|step| interpolate(40, 38, step, 4))
                .collect::<Vec<_>>(),
            [40, 40, 39, 39, 38]
        );
        assert_eq!(interpolate(5, 9, 0, 0), 5);
    }
}
