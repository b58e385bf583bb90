//! What a random board is made of: the lot, how many vehicles of which lengths, how many walls.
//!
//! A space says what may be drawn; how it is drawn is `scatter`'s affair, and how boards are changed within
//! it `mutate`'s.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

use crate::canonical::Canonical;
use crate::geometry::Lot;
use crate::job::SpecError;

/// The longest side of a lot that may be hunted: beyond it a board has no packed form.
pub const MAX_HUNT_SIDE: u8 = 8;

/// The most vehicles of a board, hero included, that a hunt may ask for: every board has a spelling up to here.
pub const MAX_HUNT_VEHICLES: u8 = 50;

/// The most different vehicle lengths in a space.
pub const MAX_LENGTHS: usize = 7;

/// What random boards are made of: always consistent with its lot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoardSpace {
    fields: SpaceFields,
}

/// The parts of a [`BoardSpace`] before they are checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpaceFields {
    /// The lot, from 3x3 to 8x8.
    pub lot: Lot,
    /// The exit row, counted from 0 at the top. A row in the lower half stands for its mirror image.
    pub exit_row: u8,
    /// The length of the hero in squares.
    pub hero_length: u8,
    /// How many vehicles a board has, the hero included; each number as likely as the others.
    pub vehicles: RangeInclusive<u8>,
    /// How many walls a board has; each number as likely as the others.
    pub walls: RangeInclusive<u8>,
    /// The lengths of the vehicles other than the hero, with their weights.
    pub lengths: Vec<LengthWeight>,
}

/// How often a vehicle has a length, against the other weights of its space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LengthWeight {
    /// Squares, 2 or more.
    pub length: u8,
    /// 1 or more.
    pub weight: u16,
}

impl LengthWeight {
    /// Reads lengths with their weights as people write them, `2:3,3:1`; a length alone has weight 1.
    ///
    /// # Errors
    /// [`LengthWeightError`] with the first part that is none. Whether they fit a lot is [`BoardSpace::new`]'s affair.
    pub fn parse_list(text: &str) -> Result<Vec<LengthWeight>, LengthWeightError> {
        text.split(',').map(str::parse).collect()
    }
}

impl FromStr for LengthWeight {
    type Err = LengthWeightError;

    fn from_str(text: &str) -> Result<LengthWeight, LengthWeightError> {
        let (length, weight) = text.split_once(':').unwrap_or((text, "1"));
        match (length.parse(), weight.parse()) {
            (Ok(length), Ok(weight)) => Ok(LengthWeight { length, weight }),
            _ => Err(LengthWeightError(text.to_owned())),
        }
    }
}

impl fmt::Display for LengthWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.length, self.weight)
    }
}

/// Text that is no length with a weight.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no length with a weight, expected e.g. 2:3,3:1")]
pub struct LengthWeightError(String);

/// Why a space was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// The lot has no packed form.
    #[error("lot {0} is larger than a hunt can take, at most {MAX_HUNT_SIDE}x{MAX_HUNT_SIDE}")]
    Lot(Lot),
    /// The exit row is not a row of the lot.
    #[error("exit row {exit_row} is not a row of a {lot} lot, whose rows count from 0")]
    ExitRow {
        /// The row asked for.
        exit_row: u8,
        /// The lot asked for.
        lot: Lot,
    },
    /// The hero is too short, or fills its row so that it can never move.
    #[error("hero of length {length} on a {lot} lot, expected 2 or more and shorter than the row")]
    Hero {
        /// The length asked for.
        length: u8,
        /// The lot asked for.
        lot: Lot,
    },
    /// The range of vehicle counts is empty or out of bounds.
    #[error("vehicle counts {low} to {high}, expected an ascending range within 1 to {most}")]
    Vehicles {
        /// The lower bound asked for.
        low: u8,
        /// The upper bound asked for.
        high: u8,
        /// The most that the lot or the spelling takes.
        most: u8,
    },
    /// The range of wall counts is empty or out of bounds.
    #[error("wall counts {low} to {high}, expected an ascending range within 0 to {most}")]
    Walls {
        /// The lower bound asked for.
        low: u8,
        /// The upper bound asked for.
        high: u8,
        /// The most that the lot takes.
        most: u8,
    },
    /// A length does not fit the lot.
    #[error("vehicle length {length} on a {lot} lot, expected 2 or more and at most the longer side")]
    Length {
        /// The length asked for.
        length: u8,
        /// The lot asked for.
        lot: Lot,
    },
    /// A length has weight 0.
    #[error("vehicle length {0} has weight 0, expected 1 or more: leave the length out instead")]
    Weight(u8),
    /// A length stands twice.
    #[error("vehicle length {0} stands twice")]
    LengthTwice(u8),
    /// Not even the fewest and shortest vehicles with the fewest walls leave a square free to slide to.
    #[error(
        "{vehicles} vehicles and {walls} walls take {squares} squares at least, expected fewer than the {lot} lot has"
    )]
    Full {
        /// The fewest vehicles asked for.
        vehicles: u8,
        /// The fewest walls asked for.
        walls: u8,
        /// What they take.
        squares: usize,
        /// The lot asked for.
        lot: Lot,
    },
    /// There are no lengths, or too many.
    #[error("{0} vehicle lengths, expected 1 to {MAX_LENGTHS}")]
    Lengths(usize),
}

impl BoardSpace {
    /// Checks the parts and makes a space of them. An exit row in the lower half is mirrored to the upper one,
    /// and the lengths are sorted, so equal hunts have equal recipes.
    ///
    /// # Errors
    /// A [`SpaceError`] naming the first part that does not fit.
    pub fn new(mut fields: SpaceFields) -> Result<BoardSpace, SpaceError> {
        let lot = fields.lot;
        let longer_side = lot.width().max(lot.height());
        if longer_side > MAX_HUNT_SIDE {
            return Err(SpaceError::Lot(lot));
        }
        if fields.exit_row >= lot.height() {
            return Err(SpaceError::ExitRow {
                exit_row: fields.exit_row,
                lot,
            });
        }
        if !(2..lot.width()).contains(&fields.hero_length) {
            return Err(SpaceError::Hero {
                length: fields.hero_length,
                lot,
            });
        }
        let n_squares = lot.width() * lot.height();
        let most = MAX_HUNT_VEHICLES.min(n_squares / 2);
        let (low, high) = (*fields.vehicles.start(), *fields.vehicles.end());
        if low < 1 || low > high || high > most {
            return Err(SpaceError::Vehicles { low, high, most });
        }
        let (low, high) = (*fields.walls.start(), *fields.walls.end());
        let most = n_squares - lot.width();
        if low > high || high > most {
            return Err(SpaceError::Walls { low, high, most });
        }
        check_lengths(&fields.lengths, lot, longer_side)?;
        fields.lengths.sort_by_key(|entry| entry.length);
        check_room(&fields)?;
        fields.exit_row = fields.exit_row.min(lot.height() - 1 - fields.exit_row);
        Ok(BoardSpace { fields })
    }

    /// The usual space of a lot: a hero of length 2, cars and trucks three to one, no walls, and the vehicle
    /// counts that are found to be fruitful, about one vehicle to 2.5 to 4.5 squares.
    ///
    /// # Errors
    /// As [`BoardSpace::new`], for lots beyond 8x8.
    pub fn usual(lot: Lot) -> Result<BoardSpace, SpaceError> {
        let n_squares = u16::from(lot.width()) * u16::from(lot.height());
        let share = |tenths: u16| u8::try_from((n_squares * 10 / tenths).clamp(1, 50)).expect("at most 50");
        let mut lengths = vec![LengthWeight { length: 2, weight: 3 }];
        if lot.width().max(lot.height()) > 3 {
            lengths.push(LengthWeight { length: 3, weight: 1 });
        }
        BoardSpace::new(SpaceFields {
            lot,
            exit_row: (lot.height() - 1) / 2,
            hero_length: 2,
            vehicles: share(45)..=share(25),
            walls: 0..=0,
            lengths,
        })
    }

    /// The parts, as checked and put in order.
    pub fn fields(&self) -> &SpaceFields {
        &self.fields
    }

    /// The lot.
    pub fn lot(&self) -> Lot {
        self.fields.lot
    }

    /// The exit row, in the upper half or the middle.
    pub fn exit_row(&self) -> u8 {
        self.fields.exit_row
    }

    /// How many vehicles a board may have, the hero included.
    pub fn vehicles(&self) -> RangeInclusive<u8> {
        self.fields.vehicles.clone()
    }

    /// Refuses start boards of another lot or exit row.
    pub(crate) fn check_starts(&self, starts: &[Canonical]) -> Result<(), SpecError> {
        let is_other = |start: &Canonical| {
            let board = start.board();
            board.lot() != self.lot() || board.exit_row() != self.exit_row()
        };
        match starts.iter().position(is_other) {
            None => Ok(()),
            Some(idx) => Err(SpecError::Start {
                idx,
                board: starts[idx].to_string(),
            }),
        }
    }

    /// How many walls a board may have.
    pub fn walls(&self) -> RangeInclusive<u8> {
        self.fields.walls.clone()
    }
}

/// One square at least must be free: a full board has no slide.
fn check_room(fields: &SpaceFields) -> Result<(), SpaceError> {
    let (vehicles, walls) = (*fields.vehicles.start(), *fields.walls.start());
    let others = usize::from(vehicles - 1) * usize::from(fields.lengths[0].length);
    let squares = usize::from(fields.hero_length) + others + usize::from(walls);
    if squares < fields.lot.n_squares() {
        return Ok(());
    }
    Err(SpaceError::Full {
        vehicles,
        walls,
        squares,
        lot: fields.lot,
    })
}

fn check_lengths(lengths: &[LengthWeight], lot: Lot, longer_side: u8) -> Result<(), SpaceError> {
    if lengths.is_empty() || lengths.len() > MAX_LENGTHS {
        return Err(SpaceError::Lengths(lengths.len()));
    }
    for (idx, &LengthWeight { length, weight }) in lengths.iter().enumerate() {
        if length < 2 || length > longer_side {
            return Err(SpaceError::Length { length, lot });
        }
        if weight == 0 {
            return Err(SpaceError::Weight(length));
        }
        if lengths[..idx].iter().any(|earlier| earlier.length == length) {
            return Err(SpaceError::LengthTwice(length));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_space_without_a_free_square_is_refused() {
        let space = |vehicles, walls| {
            BoardSpace::new(SpaceFields {
                vehicles: vehicles..=4,
                walls: walls..=6,
                ..BoardSpace::usual(Lot::new(3, 3).unwrap())
                    .unwrap()
                    .fields()
                    .clone()
            })
        };
        assert!(space(2, 4).is_ok() && space(3, 2).is_ok());
        for (vehicles, walls, squares) in [(2, 5, 9), (3, 3, 9), (4, 6, 14)] {
            let lot = Lot::new(3, 3).unwrap();
            let wrong = space(vehicles, walls).unwrap_err();
            assert_eq!(
                wrong,
                SpaceError::Full {
                    vehicles,
                    walls,
                    squares,
                    lot
                }
            );
        }
    }

    #[test]
    fn lengths_are_read_with_their_weights_and_written_the_same() {
        let entry = |length, weight| LengthWeight { length, weight };
        let read = LengthWeight::parse_list("2:3,3:1").unwrap();
        assert_eq!(read, [entry(2, 3), entry(3, 1)]);
        let written: Vec<String> = read.iter().map(ToString::to_string).collect();
        assert_eq!(written, ["2:3", "3:1"]);
        assert_eq!(LengthWeight::parse_list("4").unwrap(), [entry(4, 1)]);
        for (bad, part) in [
            ("", ""),
            ("2:", "2:"),
            ("x", "x"),
            ("2:3,", ""),
            ("2:3,2-3", "2-3"),
            ("300", "300"),
        ] {
            let wrong = LengthWeight::parse_list(bad).unwrap_err();
            assert_eq!(wrong, LengthWeightError(part.to_owned()), "{bad:?}");
        }
    }
}
