//! The figures of a level that a template speaks of.

use crate::bits::Bits;
use crate::closure::Answer;
use crate::generate::site::fullness_percent;
use crate::generate::template::{Range, Template};
use crate::jam::Jam;

/// A level's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Measures {
    /// Moves of the optimum.
    pub par: u32,
    /// Vehicles that can drive, the unit not counted.
    pub vehicles: u32,
    /// Layers of blockers in the optimum's closure.
    pub chain_depth: u32,
    /// Pieces of that closure that others lock in at the start.
    pub locked: u32,
    /// Squares taken, in percent of the lot's, rounded down.
    pub fullness_percent: u32,
    /// Moves by which the dearer escape is dearer.
    pub gap: u32,
}

/// A figure outside its template's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{figure} is {value}, expected {range}")]
pub struct Miss {
    /// Which.
    pub figure: &'static str,
    /// What it is.
    pub value: u32,
    /// What it should be.
    pub range: Range,
}

impl Measures {
    /// The figures of a jam and its answer; `None` unless both escapes can be cleared.
    pub fn of(jam: &Jam, answer: &Answer) -> Option<Self> {
        let optimum = answer.optimum()?;
        let taken = (0..jam.n_pieces()).fold(Bits::EMPTY, |taken, piece| taken | jam.squares(piece));
        Some(Self {
            par: optimum.cost(),
            vehicles: u32::try_from(jam.n_vehicles()).expect("144 pieces at most"),
            chain_depth: optimum.depth,
            locked: optimum.n_locked,
            fullness_percent: fullness_percent(jam.lot(), taken),
            gap: answer.gap()?,
        })
    }

    /// Every figure that is out of the template's range.
    pub fn misses(&self, template: &Template) -> impl Iterator<Item = Miss> {
        let figures = [
            ("the shortest solution", self.par, template.par),
            ("the number of vehicles", self.vehicles, template.vehicles),
            ("the chain depth", self.chain_depth, template.chain_depth),
            ("the number of locked pieces", self.locked, template.locked),
            (
                "the fullness in percent",
                self.fullness_percent,
                template.fullness_percent,
            ),
            ("the gap between the escapes", self.gap, template.gap),
        ];
        let misses = figures.into_iter().filter(|(_, value, range)| !range.has(*value));
        misses.map(|(figure, value, range)| Miss { figure, value, range })
    }
}
