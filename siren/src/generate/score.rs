//! How well a candidate answers its template.

use super::template::Template;
use crate::measure::Measures;
use std::cmp::Ordering;

/// A candidate's score; the better one is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Score {
    /// Weighted distance of all figures from their ranges; 0 if every range is met.
    pub misses: u32,
    /// Among candidates that meet their ranges alike: the interest of the puzzle.
    pub merit: u32,
}

/// Weights of a unit of distance from a range.
mod weight {
    pub(super) const PAR: u32 = 20;
    pub(super) const VEHICLES: u32 = 6;
    pub(super) const CHAIN_DEPTH: u32 = 8;
    pub(super) const LOCKED: u32 = 4;
    pub(super) const FULLNESS_PERCENT: u32 = 2;
    pub(super) const GAP: u32 = 10;
}

impl Score {
    /// The score of a candidate of these figures.
    pub fn new(template: &Template, measures: &Measures) -> Self {
        let misses = weight::PAR * template.par.distance(measures.par)
            + weight::VEHICLES * template.vehicles.distance(measures.vehicles)
            + weight::CHAIN_DEPTH * template.chain_depth.distance(measures.chain_depth)
            + weight::LOCKED * template.locked.distance(measures.locked)
            + weight::FULLNESS_PERCENT * template.fullness_percent.distance(measures.fullness_percent)
            + weight::GAP * template.gap.distance(measures.gap);
        let merit = 4 * measures.chain_depth + 2 * measures.locked + measures.fullness_percent / 2;
        Self { misses, merit }
    }

    /// Whether every range is met.
    pub fn meets_all(self) -> bool {
        self.misses == 0
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.misses.cmp(&other.misses).then(other.merit.cmp(&self.merit))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
