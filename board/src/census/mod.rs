//! The census: every cluster of a kind of boards, counted exactly once.
//!
//! A cluster lies inside one layout, so the census walks over layouts and floods the clusters of each. Layouts
//! are numbered through *units*: a unit is one set of walls, the content of every row and of the first columns;
//! the other columns are filled in every way that leaves a solved position possible. A range of units is a
//! piece of work, and what it holds is a function of the specification and of the range alone. Ranges may be
//! cut anywhere, and the outcomes of adjoining ones add up to that of the whole.
//!
//! Why this misses nothing and repeats nothing is proved in `docs/census.md`.

mod contents;
pub mod job;
mod outcome;
mod run;
pub mod sample;

pub use job::CensusJob;
pub use outcome::{CensusDigest, ParCounts, RangeOutcome};
pub use run::run_range;

use std::ops::{Range, RangeInclusive};

use crate::geometry::{Axis, Lot, Squares};
use crate::lane::{LaneContent, MAX_LANE};
use crate::layout::walls_along;
use crate::par::{Par, StateLimit};

use contents::{ExitRowContent, columns, exit_rows, rows};

/// Which boards are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// As the reference enumeration has it: the hero is alone in its row, with walls only on its left; no row
    /// is full of vehicles and walls, and no column of vehicles.
    Standard,
    /// All legal boards.
    Every,
}

/// Which of the clusters found are handed over as boards. All are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// None.
    Nothing,
    /// Those with a minimal representative.
    Minimal,
    /// Those of this par or more.
    ParAtLeast(Par),
    /// All that can be solved.
    Solvable,
}

/// What to count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CensusSpec {
    /// The lot, at most 8x8.
    pub lot: Lot,
    /// The hero's row, from 0 at the top.
    pub exit_row: u8,
    /// The hero's length in squares.
    pub hero_length: u8,
    /// How many walls a board has.
    pub walls: RangeInclusive<u8>,
    /// Lengths of the other vehicles, ascending.
    pub lengths: Vec<u8>,
    /// Which boards are counted.
    pub scope: Scope,
    /// Which are handed over.
    pub keep: Keep,
    /// Whether unsolvable clusters are counted too. That takes a flood of every legal position.
    pub count_unsolvable: bool,
    /// The most positions of one cluster.
    pub limit: StateLimit,
}

/// Why a specification cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CensusError {
    /// The lot has a side of more than 8 squares.
    #[error("lot {lot} is too large for a census, expected 8x8 or smaller")]
    LotTooLarge {
        /// The lot.
        lot: Lot,
    },
    /// The exit row is none of the lot's.
    #[error("exit row {exit_row} is outside of the {lot} lot")]
    ExitRowOutside {
        /// The row.
        exit_row: u8,
        /// The lot.
        lot: Lot,
    },
    /// A length that no vehicle on this lot has.
    #[error("length {length} of a vehicle, expected 2 to {most}")]
    Length {
        /// The length in squares.
        length: u8,
        /// The longest possible, in squares.
        most: u8,
    },
    /// There is no length twice, and they ascend.
    #[error("lengths {lengths:?} of vehicles, expected distinct ones in ascending order")]
    LengthsNotAscending {
        /// As given.
        lengths: Vec<u8>,
    },
    /// More sets of walls than can be listed.
    #[error("{most} walls make more than {MAX_WALL_SETS} sets of walls")]
    TooManyWalls {
        /// The most walls asked for.
        most: u8,
    },
    /// More units than can be numbered.
    #[error("the census has more units than 63 bits can number")]
    TooManyUnits,
}

/// Sets of walls are listed one by one, up to this many.
pub const MAX_WALL_SETS: usize = 1_000_000;

/// How many columns belong to the unit. Two cut a 6x6 census into 280,000 units of a few milliseconds, and a 7x7
/// one into 17 million of a second or so.
const UNIT_COLUMNS: usize = 2;

/// A census with its units numbered.
#[derive(Clone, Debug)]
pub struct Census {
    spec: CensusSpec,
    wall_sets: Vec<WallSet>,
    n_units: u64,
}

#[derive(Clone, Copy, Debug)]
struct WallSet {
    walls: Squares,
    first_unit: u64,
}

/// What the lanes of a set of walls can hold.
struct Choices {
    /// By row; empty for the exit row.
    rows: Vec<Vec<LaneContent>>,
    exit_row: Vec<ExitRowContent>,
    columns: Vec<Vec<LaneContent>>,
}

impl CensusSpec {
    /// The census of the reference enumeration: vehicles of 2 and 3, a hero of 2, the lot's usual exit row.
    pub fn standard(lot: Lot, walls: RangeInclusive<u8>) -> CensusSpec {
        CensusSpec {
            lot,
            exit_row: lot.default_exit_row(),
            hero_length: 2,
            walls,
            lengths: vec![2, 3],
            scope: Scope::Standard,
            keep: Keep::Minimal,
            count_unsolvable: false,
            limit: StateLimit::DEFAULT,
        }
    }

    /// Whether mirror images of its boards, top to bottom, are of the census too: the exit is in the middle. Both are
    /// counted, but one is explored.
    pub fn has_mirror_images(&self) -> bool {
        2 * self.exit_row + 1 == self.lot.height()
    }

    fn check(&self) -> Result<(), CensusError> {
        let lot = self.lot;
        if usize::from(lot.width().max(lot.height())) > MAX_LANE {
            return Err(CensusError::LotTooLarge { lot });
        }
        if self.exit_row >= lot.height() {
            return Err(CensusError::ExitRowOutside {
                exit_row: self.exit_row,
                lot,
            });
        }
        let most = lot.width().max(lot.height());
        let hero = (self.hero_length, lot.width());
        for (length, most) in self.lengths.iter().map(|&length| (length, most)).chain([hero]) {
            if !(2..=most).contains(&length) {
                return Err(CensusError::Length { length, most });
            }
        }
        if !self.lengths.is_sorted_by(|a, b| a < b) {
            return Err(CensusError::LengthsNotAscending {
                lengths: self.lengths.clone(),
            });
        }
        Ok(())
    }

    /// The contents of every lane, given the walls.
    fn choices(&self, walls: Squares) -> Choices {
        let lot = self.lot;
        let along = |axis, lane| (lot.lane_length(axis), walls_along(lot, walls, axis, lane));
        Choices {
            rows: (0..lot.height())
                .map(|row| {
                    if row == self.exit_row {
                        return Vec::new();
                    }
                    let (length, walls) = along(Axis::Horizontal, row);
                    rows(self, length, walls)
                })
                .collect(),
            exit_row: {
                let (length, walls) = along(Axis::Horizontal, self.exit_row);
                exit_rows(self, length, walls)
            },
            columns: (0..lot.width())
                .map(|column| {
                    let (length, walls) = along(Axis::Vertical, column);
                    columns(self, length, walls)
                })
                .collect(),
        }
    }
}

impl Choices {
    /// How many choices each digit of a unit has: all rows, the exit row last, then the first columns.
    fn radices(&self) -> impl Iterator<Item = u64> {
        let rows = self.rows.iter().map(Vec::len).filter(|&n| n > 0);
        let columns = self.columns.iter().take(UNIT_COLUMNS).map(Vec::len);
        rows.chain([self.exit_row.len()]).chain(columns).map(|n| n as u64)
    }

    fn n_units(&self) -> Option<u64> {
        self.radices().try_fold(1_u64, u64::checked_mul)
    }
}

impl Census {
    /// Numbers the units of a census.
    ///
    /// # Errors
    /// When the specification makes no sense or is too large.
    pub fn new(spec: CensusSpec) -> Result<Census, CensusError> {
        spec.check()?;
        let mut wall_sets = Vec::new();
        let mut n_units = 0_u64;
        for n_walls in spec.walls.clone() {
            for walls in sets_of(spec.lot.n_squares(), n_walls) {
                if wall_sets.len() == MAX_WALL_SETS {
                    return Err(CensusError::TooManyWalls {
                        most: *spec.walls.end(),
                    });
                }
                wall_sets.push(WallSet {
                    walls,
                    first_unit: n_units,
                });
                let here = spec.choices(walls).n_units().ok_or(CensusError::TooManyUnits)?;
                n_units = n_units
                    .checked_add(here)
                    .filter(|&n| i64::try_from(n).is_ok())
                    .ok_or(CensusError::TooManyUnits)?;
            }
        }
        Ok(Census {
            spec,
            wall_sets,
            n_units,
        })
    }

    /// What it counts.
    pub fn spec(&self) -> &CensusSpec {
        &self.spec
    }

    /// How many units there are; they are numbered from 0.
    pub fn n_units(&self) -> u64 {
        self.n_units
    }

    /// All units.
    pub fn all_units(&self) -> Range<u64> {
        0..self.n_units
    }

    /// The first unit that has the same walls and rows as this one. Counting such units together is much cheaper than
    /// apart: layouts with the same rows answer each other's questions (see the explorer's archive), so ranges are best
    /// cut here.
    ///
    /// # Panics
    /// When there is no such unit.
    pub fn first_unit_alike(&self, unit: u64) -> u64 {
        assert!(unit < self.n_units, "unit {unit} of {}", self.n_units);
        let set = self.wall_sets[self.wall_set_of(unit)];
        let columns = self.spec.choices(set.walls).columns;
        let n_alike: u64 = columns
            .iter()
            .take(UNIT_COLUMNS)
            .map(|choices| choices.len() as u64)
            .product();
        unit - (unit - set.first_unit) % n_alike
    }

    /// The set of walls that a unit belongs to, by index.
    fn wall_set_of(&self, unit: u64) -> usize {
        // Sets without units share their first unit with the next set, and come before it.
        self.wall_sets.partition_point(|set| set.first_unit <= unit) - 1
    }
}

/// All sets of `n` of the first `n_squares` squares, in a fixed order.
fn sets_of(n_squares: usize, n: u8) -> impl Iterator<Item = Squares> {
    let n = usize::from(n);
    let first: Option<Vec<usize>> = (n <= n_squares).then(|| (0..n).collect());
    std::iter::successors(first, move |chosen| {
        let mut next = chosen.clone();
        let at = (0..n).rev().find(|&i| next[i] < n_squares - n + i)?;
        next[at] += 1;
        for i in at + 1..n {
            next[i] = next[i - 1] + 1;
        }
        Some(next)
    })
    .map(|chosen| chosen.into_iter().collect())
}

#[cfg(test)]
mod tests;
