//! What a level is asked to be.

use crate::pieces::Model;
use serde::{Deserialize, Serialize};

/// Whole numbers from one to another, both included; spelled `[from, to]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "[u32; 2]", into = "[u32; 2]")]
pub struct Range {
    /// The smallest.
    pub from: u32,
    /// The largest.
    pub to: u32,
}

impl Range {
    /// The range of two ends.
    pub const fn new(from: u32, to: u32) -> Self {
        Self { from, to }
    }

    /// Whether the number lies in it.
    pub fn has(self, number: u32) -> bool {
        self.distance(number) == 0
    }

    /// How far outside the number lies.
    pub fn distance(self, number: u32) -> u32 {
        self.from.saturating_sub(number) + number.saturating_sub(self.to)
    }
}

impl From<[u32; 2]> for Range {
    fn from([from, to]: [u32; 2]) -> Self {
        Self { from, to }
    }
}

impl From<Range> for [u32; 2] {
    fn from(range: Range) -> Self {
        [range.from, range.to]
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

/// What besides vehicles a level holds: numbers of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Features {
    /// Traffic lights; if there are any, the optimum swaps them at least once.
    pub lights: u8,
    /// Pedestrian crossings.
    pub crossings: u8,
    /// Drawbridges, 0 or 1; if there is one, the optimum lowers it.
    pub bridges: u8,
    /// Wrecks, all in the optimum's closure or not; the level grants a tow for each.
    pub wrecks: u8,
    /// Barricades.
    pub barricades: u8,
    /// Planters.
    pub planters: u8,
    /// Closed sides, 0 to 2, beside the lanes and never at their ends.
    pub closed_sides: u8,
    /// Closed exits.
    pub closed_exits: u8,
}

/// What a level is asked to be: a level is generated from one of these and a seed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Columns.
    pub width: u8,
    /// Rows.
    pub height: u8,
    /// The unit; a fire engine has 3 squares, the others 2.
    pub unit: Model,
    /// Moves of the optimum.
    pub par: Range,
    /// Vehicles that can drive, the unit not counted.
    pub vehicles: Range,
    /// Layers of blockers in the optimum's closure.
    pub chain_depth: Range,
    /// Pieces of the optimum's closure that are locked in at the start.
    pub locked: Range,
    /// Squares taken, in percent of the lot's, rounded down.
    pub fullness_percent: Range,
    /// Moves by which the dearer escape is dearer.
    pub gap: Range,
    /// Open exits.
    pub exits: u8,
    /// What else it holds.
    #[serde(default, deserialize_with = "crate::form::object")]
    pub features: Features,
}

impl Template {
    /// Squares of the unit.
    pub fn unit_length(&self) -> u8 {
        unit_length(self.unit)
    }
}

/// Squares of a generated unit.
pub fn unit_length(model: Model) -> u8 {
    match model {
        Model::FireEngine => 3,
        Model::Ambulance | Model::PoliceCar => 2,
    }
}
