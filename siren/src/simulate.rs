//! The plain simulator: plays actions by walking squares one at a time, as a player's eye would.
//!
//! It decides what is legal now, and knows nothing of blockers, closures or orders. Everything clever in this crate
//! is checked against it.

use crate::bits::Bits;
use crate::jam::{Colour, Jam};
use crate::lot::{Lot, Place, Side};
use crate::pieces::{Body, Piece};
use std::fmt;

/// A move. Pieces are named by their number in the level file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Send a vehicle off, or take a barricade away.
    Tap(usize),
    /// Tow a wreck away.
    Tow(usize),
    /// Swap every traffic light.
    Swap,
    /// Lower the drawbridge for good.
    Lower,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tap(piece) => write!(f, "tap {piece}"),
            Self::Tow(piece) => write!(f, "tow {piece}"),
            Self::Swap => f.write_str("swap"),
            Self::Lower => f.write_str("lower"),
        }
    }
}

/// Text that names no move.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no move is spelled {0:?}; moves are `tap N`, `tow N`, `swap` and `lower`")]
pub struct ActionSpellingError(String);

impl std::str::FromStr for Action {
    type Err = ActionSpellingError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split_whitespace();
        let action = match (words.next(), words.next()) {
            (Some("tap"), Some(number)) => number.parse().ok().map(Self::Tap),
            (Some("tow"), Some(number)) => number.parse().ok().map(Self::Tow),
            (Some("swap"), None) => Some(Self::Swap),
            (Some("lower"), None) => Some(Self::Lower),
            _ => None,
        };
        action
            .filter(|_| words.next().is_none())
            .ok_or_else(|| ActionSpellingError(text.to_owned()))
    }
}

/// One of the unit's two ways out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Escape {
    /// Straight ahead.
    Forward,
    /// Straight back.
    Reverse,
}

impl Escape {
    /// Both, forward first: it wins a tie.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The unit's body as it drives this way: its path is the lane.
    pub fn driving(self, unit: Body) -> Body {
        match self {
            Self::Forward => unit,
            Self::Reverse => unit.reversed(),
        }
    }
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        })
    }
}

/// A state of play.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    present: Bits,
    swapped: bool,
    bridge_is_up: bool,
    tows_left: u8,
}

impl State {
    /// The start of a level.
    pub fn start(jam: &Jam) -> Self {
        Self {
            present: Bits::below(jam.n_pieces()),
            swapped: false,
            bridge_is_up: jam.parts().bridge.is_some(),
            tows_left: jam.parts().tows,
        }
    }

    /// The pieces still on the lot.
    #[inline]
    pub fn present(&self) -> Bits {
        self.present
    }

    /// Whether the lights show the other colours than at the start.
    pub fn is_swapped(&self) -> bool {
        self.swapped
    }

    /// Whether there is a drawbridge, and it is up.
    pub fn bridge_is_up(&self) -> bool {
        self.bridge_is_up
    }

    /// Tows that may still be used.
    pub fn tows_left(&self) -> u8 {
        self.tows_left
    }

    /// Plays a move.
    ///
    /// # Errors
    /// Why it is not legal; the state is left as it was.
    pub fn play(&mut self, jam: &Jam, action: Action) -> Result<(), IllegalAction> {
        match action {
            Action::Tap(piece) | Action::Tow(piece) if !self.is_on_lot(jam, piece) => {
                return Err(IllegalAction::NotThere { piece });
            }
            Action::Tap(piece) => {
                match jam.pieces()[piece] {
                    Piece::Vehicle(body) => self.drive_off(jam, piece, body)?,
                    Piece::Barricade(_) => {}
                    other => {
                        return Err(IllegalAction::WrongPiece {
                            action,
                            kind: other.kind(),
                        });
                    }
                }
                self.present.remove(piece);
            }
            Action::Tow(piece) => {
                if !matches!(jam.pieces()[piece], Piece::Wreck(_)) {
                    return Err(IllegalAction::WrongPiece {
                        action,
                        kind: jam.pieces()[piece].kind(),
                    });
                }
                self.tows_left = self
                    .tows_left
                    .checked_sub(1)
                    .ok_or(IllegalAction::NoTowLeft { piece })?;
                self.present.remove(piece);
            }
            Action::Swap if jam.parts().lights.is_empty() => return Err(IllegalAction::NoLight),
            Action::Swap => self.swapped = !self.swapped,
            Action::Lower if !self.bridge_is_up => return Err(IllegalAction::NoBridgeUp),
            Action::Lower => self.bridge_is_up = false,
        }
        Ok(())
    }

    /// Whether the unit could drive out this way now.
    pub fn is_clear(&self, jam: &Jam, escape: Escape) -> bool {
        let unit = escape.driving(jam.unit_body());
        !jam.is_closed(unit.facing.side())
            && unit.path(jam.lot()).all(|square| {
                jam.piece_at(square)
                    .is_none_or(|piece| !self.present.contains(piece))
            })
    }

    fn is_on_lot(&self, jam: &Jam, piece: usize) -> bool {
        piece < jam.n_pieces() && self.present.contains(piece)
    }

    /// Walks a vehicle out of the lot and along the ring road to its exit.
    fn drive_off(&self, jam: &Jam, piece: usize, body: Body) -> Result<(), IllegalAction> {
        let mut last = body.front;
        for square in body.path(jam.lot()) {
            if let Some(other) = jam.piece_at(square).filter(|other| self.present.contains(*other)) {
                return Err(IllegalAction::Blocked { piece, by: other });
            }
            last = square;
        }
        let joins = jam.lot().leaves_at(last, body.facing);
        if jam.is_closed(joins.side) {
            return Err(IllegalAction::SideClosed {
                piece,
                side: joins.side,
            });
        }
        if jam
            .light_at(joins)
            .is_some_and(|start| (start == Colour::Green) == self.swapped)
        {
            return Err(IllegalAction::Red { piece, at: joins });
        }
        let mut place = joins;
        loop {
            if self.bridge_is_up && jam.parts().bridge == Some(place) {
                return Err(IllegalAction::BridgeUp { piece, at: place });
            }
            if jam.has_open_exit(place) {
                return Ok(());
            }
            place = next_clockwise(jam.lot(), place);
            if place == joins {
                return Err(IllegalAction::NoOpenExit { piece });
            }
        }
    }
}

/// The place after this one on the one-way ring road.
fn next_clockwise(lot: Lot, place: Place) -> Place {
    let Place { side, index } = place;
    let (last_column, last_row) = (lot.width() - 1, lot.height() - 1);
    let at = |side: Side, index: u8| Place { side, index };
    match side {
        Side::Top if index == last_column => at(Side::Right, 0),
        Side::Right if index == last_row => at(Side::Bottom, last_column),
        Side::Bottom if index == 0 => at(Side::Left, last_row),
        Side::Left if index == 0 => at(Side::Top, 0),
        Side::Top | Side::Right => at(side, index + 1),
        Side::Bottom | Side::Left => at(side, index - 1),
    }
}

/// Why a move is not legal in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalAction {
    /// No such piece, or it has gone.
    #[error("piece {piece} is not on the lot")]
    NotThere {
        /// Its number.
        piece: usize,
    },
    /// The piece is of a kind that the move is not for.
    #[error("`{action}`: that piece is a {kind}")]
    WrongPiece {
        /// The move.
        action: Action,
        /// The piece's kind.
        kind: &'static str,
    },
    /// Something stands in the way.
    #[error("piece {piece} is blocked by piece {by}")]
    Blocked {
        /// The vehicle.
        piece: usize,
        /// The first piece on its path.
        by: usize,
    },
    /// It would leave over a closed side.
    #[error("piece {piece} faces the {side} side, which is closed")]
    SideClosed {
        /// The vehicle.
        piece: usize,
        /// The side.
        side: Side,
    },
    /// Its light is red.
    #[error("piece {piece} has red at {at}")]
    Red {
        /// The vehicle.
        piece: usize,
        /// Where the light stands.
        at: Place,
    },
    /// The drawbridge on its way is up.
    #[error("piece {piece} needs the drawbridge at {at}, which is up")]
    BridgeUp {
        /// The vehicle.
        piece: usize,
        /// Where the bridge is.
        at: Place,
    },
    /// The ring road has no open exit.
    #[error("piece {piece} finds no open exit")]
    NoOpenExit {
        /// The vehicle.
        piece: usize,
    },
    /// All granted tows are used.
    #[error("no tow is left for piece {piece}")]
    NoTowLeft {
        /// The wreck.
        piece: usize,
    },
    /// There is nothing to swap.
    #[error("there is no traffic light")]
    NoLight,
    /// There is no drawbridge, or it is down.
    #[error("there is no drawbridge to lower")]
    NoBridgeUp,
}

/// Plays a list of moves from the start.
///
/// # Errors
/// The number of the first illegal move, from 0, and why it is illegal.
pub fn replay(jam: &Jam, actions: &[Action]) -> Result<State, (usize, IllegalAction)> {
    let mut state = State::start(jam);
    for (number, action) in actions.iter().enumerate() {
        state.play(jam, *action).map_err(|why| (number, why))?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_clockwise_walks_the_ring_in_order() {
        let lot = Lot::new(4, 6).unwrap();
        let ring: Vec<Place> = lot.ring().collect();
        for (position, place) in ring.iter().enumerate() {
            assert_eq!(next_clockwise(lot, *place), ring[(position + 1) % ring.len()]);
        }
    }

    #[test]
    fn actions_are_read_as_they_are_spelled() {
        for action in [Action::Tap(7), Action::Tow(0), Action::Swap, Action::Lower] {
            assert_eq!(action.to_string().parse(), Ok(action));
        }
        for text in ["", "tap", "tap x", "tap 1 2", "swap 1", "Lower", "tow -1"] {
            assert!(text.parse::<Action>().is_err(), "{text:?}");
        }
    }
}
