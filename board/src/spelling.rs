//! Reading boards from text and spelling them.
//!
//! Row-major, one character a square: `o` or `.` empty, `x` or `#` a wall, `A` the hero, any other letter a
//! vehicle. Bare text is a square lot; other lots are written `WxH:` before the squares. Rows may be on lines
//! of their own, with line ends of any kind. Letters are case-sensitive: capital `O` and `X` are vehicles.

mod quick;

use std::fmt;
use std::str::FromStr;

use crate::board::{Board, BoardError, LETTERS};
use crate::geometry::{Axis, Lot, LotError, MAX_SQUARES, Squares};
use crate::vehicle::Vehicle;

/// The side of the lot that the exit lies on, in the hero's lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Where this crate wants it.
    #[default]
    Right,
    /// At the left end of the hero's row.
    Left,
    /// At the top of the hero's column.
    Top,
    /// At the bottom of the hero's column.
    Bottom,
}

/// A row and a column as people count them, from 1 at the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The row, from 1.
    pub row: usize,
    /// The column, from 1.
    pub column: usize,
}

/// Why a text is not a legal board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpellingError {
    /// What stands before the colon is not the size of a lot in range.
    #[error(transparent)]
    Lot(#[from] LotError),
    /// Bare text of a length that no square lot has.
    #[error("{n_squares} squares are no square lot, other lots are written WxH: before the squares")]
    NotSquare {
        /// Number of squares in the text.
        n_squares: usize,
    },
    /// The size is given and the text has another length.
    #[error("{n_squares} squares, expected {expected} for a {lot} lot", expected = lot.n_squares())]
    WrongLength {
        /// Number of squares in the text.
        n_squares: usize,
        /// The lot.
        lot: Lot,
    },
    /// Rows on lines of their own, one of them of another length.
    #[error("row {row} has {n_squares} squares, expected {expected}")]
    UnevenRow {
        /// The row, counted from 1.
        row: usize,
        /// Its number of squares.
        n_squares: usize,
        /// The number of squares that it should have.
        expected: usize,
    },
    /// Rows on lines of their own that make a lot which is not square.
    #[error("{width} squares in each of {height} rows, write {width}x{height}: before them")]
    SizeMissing {
        /// The squares of each row.
        width: usize,
        /// The number of rows.
        height: usize,
    },
    /// A character that is no letter and no sign for a square.
    #[error(
        "unknown character {character:?} at {place}, expected a letter, o or . for empty, x or # for a wall"
    )]
    UnknownCharacter {
        /// The character.
        character: char,
        /// Where it stands.
        place: Place,
    },
    /// No square holds an `A`.
    #[error("there is no hero, no square holds the letter A")]
    NoHero,
    /// The hero lies across the way to the exit.
    #[error("hero A at {place} lies along a {lies}, the exit is at the {exit} end of a {needed}")]
    HeroAcross {
        /// The hero's first square.
        place: Place,
        /// "row" or "column": what it lies along.
        lies: &'static str,
        /// The side of the exit.
        exit: Exit,
        /// "row" or "column": what it should lie along.
        needed: &'static str,
    },
    /// A vehicle of one square.
    #[error("vehicle {letter} at {place} has a single square, expected 2 or more")]
    SingleSquare {
        /// Its letter.
        letter: char,
        /// Where it stands.
        place: Place,
    },
    /// A vehicle whose squares are neighbours in the text but not on the board.
    #[error("vehicle {letter} wraps from the end of one row to {place}")]
    WrapsRow {
        /// Its letter.
        letter: char,
        /// The square where the next row begins.
        place: Place,
    },
    /// A vehicle whose squares are in one lane, but not all beside each other.
    #[error("vehicle {letter} has a gap before {place}")]
    Gap {
        /// Its letter.
        letter: char,
        /// The first square after the gap.
        place: Place,
    },
    /// A vehicle whose squares are in no single lane.
    #[error("vehicle {letter} is not straight, {place} is out of line")]
    Bent {
        /// Its letter.
        letter: char,
        /// The first square out of line.
        place: Place,
    },
    /// Any other reason that the board is not legal.
    #[error(transparent)]
    Illegal(#[from] BoardError),
}

impl Board {
    /// Reads a board whose exit lies to the right.
    ///
    /// Vehicles keep their letters. All but the hero are in reading order of their first squares.
    ///
    /// ```
    /// # use board::Board;
    /// let board = Board::parse("4x3: .B.. \r\n AB#. \r\n .B..").unwrap_err();
    /// assert_eq!(board.to_string(), "row 1 has 6 squares, expected 4");
    /// let board = Board::parse("5x3:.oB..\r\nAAB#.\r\n..Z.Z").unwrap_err();
    /// assert_eq!(board.to_string(), "vehicle Z has a gap before row 3, column 5");
    /// let board = Board::parse("5x3:\r\n.oB..\r\nAAB#.\r\n..ZZ.\r\n").unwrap();
    /// assert_eq!(board.to_string(), "5x3:ooBooAABxoooZZo");
    /// ```
    ///
    /// # Errors
    /// When the text is not a legal board: the first thing wrong with it, where, and the letter.
    pub fn parse(text: &str) -> Result<Board, SpellingError> {
        Board::parse_with_exit(text, Exit::Right)
    }

    /// Reads a board whose exit lies on the given side and turns it, so that the exit is on the right.
    ///
    /// # Errors
    /// As for [`Board::parse`]. Places in errors are those of the text.
    pub fn parse_with_exit(text: &str, exit: Exit) -> Result<Board, SpellingError> {
        if exit == Exit::Right
            && let Some(board) = quick::board(text)
        {
            return Ok(board);
        }
        Board::parse_at_length(text, exit)
    }

    /// Reads any text, or says what is wrong with it.
    fn parse_at_length(text: &str, exit: Exit) -> Result<Board, SpellingError> {
        let (lot, characters) = squares_of(text)?;
        let (mut vehicles, walls) = vehicles_of(lot, &characters)?;
        let hero = vehicles
            .iter()
            .position(|&(letter, _)| letter == b'A')
            .ok_or(SpellingError::NoHero)?;
        exit.check_hero(lot, vehicles[hero].1)?;

        let turned_lot = exit.turned_lot(lot);
        for (_, vehicle) in &mut vehicles {
            *vehicle = exit.turned_vehicle(lot, *vehicle);
        }
        let walls = walls
            .iter()
            .map(|square| exit.turned_square(lot, square))
            .collect();
        vehicles.sort_by_key(|&(letter, vehicle)| (letter != b'A', vehicle.first_square(turned_lot)));
        let (letters, vehicles): (Vec<u8>, Vec<Vehicle>) = vehicles.into_iter().unzip();
        Ok(Board::with_letters(turned_lot, vehicles, walls, letters.into())?)
    }

    /// The board's spelling with other letters for its vehicles.
    pub(crate) fn spelled_with(&self, letters: &[u8]) -> String {
        let lot = self.lot();
        let mut text = vec![b'o'; lot.n_squares()];
        for square in self.walls().iter() {
            text[square] = b'x';
        }
        for (vehicle, &letter) in self.vehicles().iter().zip(letters) {
            let stride = match vehicle.axis() {
                Axis::Horizontal => 1,
                Axis::Vertical => usize::from(lot.width()),
            };
            let squares = text[vehicle.first_square(lot)..].iter_mut().step_by(stride);
            squares
                .take(usize::from(vehicle.length()))
                .for_each(|square| *square = letter);
        }
        let squares = String::from_utf8(text).expect("letters are ASCII");
        if lot.is_square() {
            squares
        } else {
            format!("{lot}:{squares}")
        }
    }
}

impl FromStr for Board {
    type Err = SpellingError;

    fn from_str(text: &str) -> Result<Board, SpellingError> {
        Board::parse(text)
    }
}

/// Spells the board with its own letters, on one line.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled_with(self.letters()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", self.row, self.column)
    }
}

impl Place {
    fn of(lot: Lot, square: usize) -> Place {
        Place {
            row: usize::from(lot.row(square)) + 1,
            column: usize::from(lot.column(square)) + 1,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exit::Right => "right",
            Exit::Left => "left",
            Exit::Top => "top",
            Exit::Bottom => "bottom",
        })
    }
}

/// The text is not the name of a side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no side, expected right, left, top or bottom")]
pub struct ExitError {
    text: String,
}

impl FromStr for Exit {
    type Err = ExitError;

    fn from_str(text: &str) -> Result<Exit, ExitError> {
        [Exit::Right, Exit::Left, Exit::Top, Exit::Bottom]
            .into_iter()
            .find(|exit| exit.to_string() == text)
            .ok_or_else(|| ExitError {
                text: text.chars().take(20).collect(),
            })
    }
}

impl Exit {
    /// The direction of the lane that leads to this side.
    const fn axis(self) -> Axis {
        match self {
            Exit::Right | Exit::Left => Axis::Horizontal,
            Exit::Top | Exit::Bottom => Axis::Vertical,
        }
    }

    fn check_hero(self, lot: Lot, hero: Vehicle) -> Result<(), SpellingError> {
        let lane = |axis| match axis {
            Axis::Horizontal => "row",
            Axis::Vertical => "column",
        };
        if hero.axis() == self.axis() {
            return Ok(());
        }
        let place = Place::of(lot, hero.first_square(lot));
        let (lies, needed) = (lane(hero.axis()), lane(self.axis()));
        Err(SpellingError::HeroAcross {
            place,
            lies,
            exit: self,
            needed,
        })
    }

    fn turned_lot(self, lot: Lot) -> Lot {
        match self.axis() {
            Axis::Horizontal => lot,
            Axis::Vertical => Lot::new(lot.height(), lot.width()).expect("sides stay in range when swapped"),
        }
    }

    /// Where a square goes: left is mirrored, top is turned clockwise, bottom counter-clockwise.
    fn turned_square(self, lot: Lot, square: usize) -> usize {
        let (row, column) = (lot.row(square), lot.column(square));
        let (last_row, last_column) = (lot.height() - 1, lot.width() - 1);
        let (row, column) = match self {
            Exit::Right => (row, column),
            Exit::Left => (row, last_column - column),
            Exit::Top => (column, last_row - row),
            Exit::Bottom => (last_column - column, row),
        };
        self.turned_lot(lot).square(row, column)
    }

    fn turned_vehicle(self, lot: Lot, vehicle: Vehicle) -> Vehicle {
        let turned_lot = self.turned_lot(lot);
        let squares = vehicle.squares(lot).iter();
        let first = squares
            .map(|square| self.turned_square(lot, square))
            .min()
            .expect("it has squares");
        let (row, column) = (turned_lot.row(first), turned_lot.column(first));
        let axis = match self.axis() {
            Axis::Horizontal => vehicle.axis(),
            Axis::Vertical => vehicle.axis().across(),
        };
        match axis {
            Axis::Horizontal => Vehicle::new(axis, row, column, vehicle.length()),
            Axis::Vertical => Vehicle::new(axis, column, row, vehicle.length()),
        }
    }
}

/// Finds the size of the lot and lays the text's characters out on it.
fn squares_of(text: &str) -> Result<(Lot, Vec<char>), SpellingError> {
    let (size, squares) = match text.split_once(':') {
        // Only the first line can name a size; a line end before it is no harm.
        Some((size, squares)) => (Some(size.trim_start_matches(['\n', '\r'])), squares),
        None => (None, text),
    };
    let size: Option<Lot> = size.map(str::parse).transpose()?;
    let lines = squares.split(['\n', '\r']).filter(|line| !line.is_empty());
    let lines: Vec<Vec<char>> = lines.map(|line| line.chars().collect()).collect();
    let n_squares = lines.iter().map(Vec::len).sum();
    let lot = match (size, lines.len()) {
        (Some(lot), 0 | 1) => lot,
        (None, 0 | 1) => lot_of_line(n_squares)?,
        (size, _) => lot_of_rows(size, &lines)?,
    };
    if n_squares != lot.n_squares() {
        return Err(SpellingError::WrongLength { n_squares, lot });
    }
    Ok((lot, lines.concat()))
}

/// The square lot of bare text on one line.
fn lot_of_line(n_squares: usize) -> Result<Lot, SpellingError> {
    let side = n_squares.isqrt();
    if side * side != n_squares || n_squares > MAX_SQUARES || n_squares == 0 {
        return Err(SpellingError::NotSquare { n_squares });
    }
    Ok(lot_of(side, side)?)
}

/// The lot of rows on lines of their own, which must be equally long and square if no size is given.
fn lot_of_rows(size: Option<Lot>, rows: &[Vec<char>]) -> Result<Lot, SpellingError> {
    let expected = size.map_or(rows[0].len(), |lot| usize::from(lot.width()));
    if let Some(i) = rows.iter().position(|row| row.len() != expected) {
        let n_squares = rows[i].len();
        return Err(SpellingError::UnevenRow {
            row: i + 1,
            n_squares,
            expected,
        });
    }
    if let Some(lot) = size {
        return Ok(lot);
    }
    let (width, height) = (expected, rows.len());
    let lot = lot_of(width, height)?;
    if lot.is_square() {
        Ok(lot)
    } else {
        Err(SpellingError::SizeMissing { width, height })
    }
}

fn lot_of(width: usize, height: usize) -> Result<Lot, LotError> {
    // What does not fit eight bits is out of range all the more.
    let side = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
    Lot::new(side(width), side(height)).map_err(|_| LotError::OutOfRange {
        width: width as u64,
        height: height as u64,
    })
}

/// Gathers the squares of each letter into vehicles, in the order of their first squares.
fn vehicles_of(lot: Lot, characters: &[char]) -> Result<(Vec<(u8, Vehicle)>, Squares), SpellingError> {
    let mut walls = Squares::EMPTY;
    let mut letters: Vec<(u8, Vec<usize>)> = Vec::new();
    for (square, &character) in characters.iter().enumerate() {
        match character {
            'o' | '.' => {}
            'x' | '#' => walls.insert(square),
            _ => {
                let known = u8::try_from(character)
                    .ok()
                    .filter(|letter| LETTERS.contains(letter));
                let Some(letter) = known else {
                    return Err(SpellingError::UnknownCharacter {
                        character,
                        place: Place::of(lot, square),
                    });
                };
                match letters.iter_mut().find(|(known, _)| *known == letter) {
                    Some((_, squares)) => squares.push(square),
                    None => letters.push((letter, vec![square])),
                }
            }
        }
    }
    let vehicles = letters
        .into_iter()
        .map(|(letter, squares)| Ok((letter, vehicle_of(lot, letter, &squares)?)));
    Ok((vehicles.collect::<Result<_, SpellingError>>()?, walls))
}

/// The vehicle on these squares, which are in reading order.
fn vehicle_of(lot: Lot, letter: u8, squares: &[usize]) -> Result<Vehicle, SpellingError> {
    let letter = char::from(letter);
    let place = |i: usize| Place::of(lot, squares[i]);
    if squares.len() == 1 {
        return Err(SpellingError::SingleSquare {
            letter,
            place: place(0),
        });
    }
    let (row, column) = (lot.row(squares[0]), lot.column(squares[0]));
    let is_row = lot.row(squares[1]) == row;
    let (axis, lane, start, stride) = if is_row {
        (Axis::Horizontal, row, column, 1)
    } else {
        (Axis::Vertical, column, row, usize::from(lot.width()))
    };
    let in_lane = |&square: &usize| {
        if is_row {
            lot.row(square) == row
        } else {
            lot.column(square) == column
        }
    };
    if let Some(i) = squares.iter().position(|square| !in_lane(square)) {
        let is_consecutive = squares.last() == Some(&(squares[0] + squares.len() - 1));
        return Err(if is_consecutive {
            SpellingError::WrapsRow {
                letter,
                place: place(i),
            }
        } else {
            SpellingError::Bent {
                letter,
                place: place(i),
            }
        });
    }
    if let Some(i) = (1..squares.len()).find(|&i| squares[i] != squares[i - 1] + stride) {
        return Err(SpellingError::Gap {
            letter,
            place: place(i),
        });
    }
    let length = u8::try_from(squares.len()).expect("a lane has at most 16 squares");
    Ok(Vehicle::new(axis, lane, start, length))
}
