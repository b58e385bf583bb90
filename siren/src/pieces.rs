//! What stands on a lot.

use crate::lot::{Facing, Lot, Square};
use serde::{Deserialize, Serialize};

/// The squares of a vehicle, a wreck or the unit, and the way it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Body {
    /// The square at its nose; the others lie behind it.
    pub front: Square,
    /// The way it looks.
    pub facing: Facing,
    /// Squares.
    pub length: u8,
}

impl Body {
    /// Its squares, front first; `None` once they leave the lot.
    pub fn squares(self, lot: Lot) -> impl Iterator<Item = Option<Square>> {
        let mut next = lot.has(self.front).then_some(self.front);
        (0..self.length).map(move |_| {
            let square = next?;
            next = lot.step(square, self.facing.back());
            Some(square)
        })
    }

    /// The squares ahead of it to the edge of the lot, nearest first.
    pub fn path(self, lot: Lot) -> impl Iterator<Item = Square> {
        std::iter::successors(lot.step(self.front, self.facing), move |square| {
            lot.step(*square, self.facing)
        })
    }

    /// The same squares, looking the other way: its path is the lane behind it.
    #[must_use = "the body itself is left as it is"]
    pub fn reversed(self) -> Self {
        let back = self.length - 1;
        let Square { column, row } = self.front;
        let front = match self.facing {
            Facing::Up => Square {
                column,
                row: row + back,
            },
            Facing::Right => Square {
                column: column - back,
                row,
            },
            Facing::Down => Square {
                column,
                row: row - back,
            },
            Facing::Left => Square {
                column: column + back,
                row,
            },
        };
        Self {
            front,
            facing: self.facing.back(),
            length: self.length,
        }
    }
}

/// What the unit looks like; no rule depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// An ambulance.
    Ambulance,
    /// A fire engine.
    FireEngine,
    /// A police car.
    PoliceCar,
}

/// A thing on the lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// The vehicle that must get out, 2 or 3 squares.
    Unit(Model, Body),
    /// A vehicle of 1 to 3 squares, which drives off when tapped.
    Vehicle(Body),
    /// A vehicle of 1 to 3 squares that cannot drive; a tow takes it away.
    Wreck(Body),
    /// One square; tapped, it is gone.
    Barricade(Square),
    /// One square that never moves.
    Planter(Square),
}

impl Piece {
    /// The body of a unit, vehicle or wreck.
    pub fn body(self) -> Option<Body> {
        match self {
            Self::Unit(_, body) | Self::Vehicle(body) | Self::Wreck(body) => Some(body),
            Self::Barricade(_) | Self::Planter(_) => None,
        }
    }

    /// Its squares, in no order that matters; `None` for each one that is off the lot.
    pub fn squares(self, lot: Lot) -> impl Iterator<Item = Option<Square>> {
        let (Self::Unit(_, body) | Self::Vehicle(body) | Self::Wreck(body)) = self else {
            let (Self::Barricade(square) | Self::Planter(square)) = self else {
                unreachable!("every kind is named")
            };
            return Body {
                front: square,
                facing: Facing::Up,
                length: 1,
            }
            .squares(lot);
        };
        body.squares(lot)
    }

    /// Whether some move can take it off the lot (what cannot: the unit and the planters).
    pub fn is_removable(self) -> bool {
        matches!(self, Self::Vehicle(_) | Self::Wreck(_) | Self::Barricade(_))
    }

    /// Its kind, as the level file spells it.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Unit(..) => "unit",
            Self::Vehicle(_) => "vehicle",
            Self::Wreck(_) => "wreck",
            Self::Barricade(_) => "barricade",
            Self::Planter(_) => "planter",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reversed_body_has_the_same_squares() {
        let lot = Lot::new(5, 5).unwrap();
        for facing in Facing::ALL {
            for length in 1..=3 {
                let body = Body {
                    front: Square { column: 2, row: 2 },
                    facing,
                    length,
                };
                let squares: Option<Vec<_>> = body.squares(lot).collect();
                let mut back: Vec<_> = body.reversed().squares(lot).collect::<Option<_>>().unwrap();
                back.reverse();
                assert_eq!(squares.unwrap(), back);
                assert_eq!(body.reversed().reversed(), body);
            }
        }
    }
}
