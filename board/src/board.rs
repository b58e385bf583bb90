//! Boards: where every vehicle and wall stands. A [`Board`] is always legal; what is not is refused here.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::geometry::{Axis, Lot, Squares};
use crate::vehicle::Vehicle;

/// The most vehicles on a board: there are no more letters to name them by.
pub const MAX_VEHICLES: usize = LETTERS.len();

/// The letters in the order in which a canonical spelling gives them out; small `o` and `x` are no vehicles.
pub const LETTERS: &[u8; 50] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz";

/// The shortest vehicle, in squares.
pub const MIN_VEHICLE_LENGTH: u8 = 2;

/// A legal board: its lot, its vehicles with the letters they are named by, and its walls.
///
/// Vehicle 0 is the hero. The others keep the order they were given in: reading order of their first squares
/// when the board was parsed, and still that order after they have moved.
///
/// Two boards are equal if lot, walls and vehicles (in their order) are equal: letters are names, not part of
/// the position. Whether two boards are the same puzzle is a question to their [`Canonical`](crate::Canonical).
///
/// ```
/// use board::{Axis, Board, Lot, Squares, Vehicle};
/// let hero = Vehicle::new(Axis::Horizontal, 2, 0, 2);
/// let truck = Vehicle::new(Axis::Vertical, 4, 0, 3);
/// let board = Board::new(Lot::ORDINARY, vec![hero, truck], Squares::EMPTY).unwrap();
/// assert_eq!(board.to_string(), "ooooBoooooBoAAooBooooooooooooooooooo");
/// assert!(!board.is_solved());
/// ```
#[derive(Clone, Debug)]
pub struct Board {
    lot: Lot,
    walls: Squares,
    vehicles: Vec<Vehicle>,
    /// Shared by all positions that the board is moved to.
    letters: Arc<[u8]>,
}

/// Why vehicles and walls make no legal board. Vehicles are named by their index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// There is no vehicle, so no hero.
    #[error("board has no hero")]
    NoHero,
    /// The hero lies along a column.
    #[error("hero is vertical, expected it along its row")]
    HeroVertical,
    /// There are more vehicles than letters.
    #[error("board has {n_vehicles} vehicles, expected {MAX_VEHICLES} or fewer")]
    TooManyVehicles {
        /// How many there are.
        n_vehicles: usize,
    },
    /// A vehicle of less than two squares.
    #[error("vehicle {vehicle} has length {length}, expected 2 or more")]
    VehicleTooShort {
        /// Index of the vehicle.
        vehicle: usize,
        /// Its length in squares.
        length: u8,
    },
    /// A vehicle that is not wholly inside the lot.
    #[error("vehicle {vehicle} reaches outside of the {lot} lot")]
    VehicleOutside {
        /// Index of the vehicle.
        vehicle: usize,
        /// The lot.
        lot: Lot,
    },
    /// A vehicle that stands on a wall or on another vehicle.
    #[error("vehicle {vehicle} stands on the taken square {square}")]
    SquareTaken {
        /// Index of the second vehicle.
        vehicle: usize,
        /// The first such square.
        square: usize,
    },
    /// A wall outside of the lot.
    #[error("wall on square {square} is outside of the {lot} lot")]
    WallOutside {
        /// The square.
        square: usize,
        /// The lot.
        lot: Lot,
    },
    /// A position that does not name one place for each vehicle.
    #[error("{n_starts} places given for {n_vehicles} vehicles")]
    WrongNumberOfStarts {
        /// Places given.
        n_starts: usize,
        /// Vehicles on the board.
        n_vehicles: usize,
    },
}

impl Board {
    /// A board of these vehicles, the hero first, and walls. Letters are given out in reading order.
    ///
    /// # Errors
    /// When it would not be legal.
    pub fn new(lot: Lot, vehicles: Vec<Vehicle>, walls: Squares) -> Result<Board, BoardError> {
        check(lot, &vehicles, walls)?;
        let letters = reading_order_letters(lot, &vehicles).into();
        Ok(Board {
            lot,
            walls,
            vehicles,
            letters,
        })
    }

    /// The same with the letters of a spelling; the parser has seen to it that they are distinct.
    pub(crate) fn with_letters(
        lot: Lot,
        vehicles: Vec<Vehicle>,
        walls: Squares,
        letters: Arc<[u8]>,
    ) -> Result<Board, BoardError> {
        check(lot, &vehicles, walls)?;
        debug_assert_eq!(letters.len(), vehicles.len());
        Ok(Board {
            lot,
            walls,
            vehicles,
            letters,
        })
    }

    /// This board with vehicle `i` at `starts[i]` of its lane: another position of the same vehicles.
    ///
    /// # Errors
    /// When vehicles would overlap or leave the lot, or the number of starts is wrong.
    pub fn with_starts(&self, starts: &[u8]) -> Result<Board, BoardError> {
        let (n_starts, n_vehicles) = (starts.len(), self.n_vehicles());
        if n_starts != n_vehicles {
            return Err(BoardError::WrongNumberOfStarts { n_starts, n_vehicles });
        }
        let moved = self
            .vehicles
            .iter()
            .zip(starts)
            .map(|(v, &start)| v.with_start(start))
            .collect();
        Board::with_letters(self.lot, moved, self.walls, self.letters.clone())
    }

    /// This board with one vehicle moved to a place that the caller has checked.
    pub(crate) fn with_start_unchecked(&self, vehicle: usize, start: u8) -> Board {
        let mut board = self.clone();
        board.vehicles[vehicle] = board.vehicles[vehicle].with_start(start);
        board
    }

    /// The size of the board.
    pub const fn lot(&self) -> Lot {
        self.lot
    }

    /// The vehicles, the hero first.
    pub fn vehicles(&self) -> &[Vehicle] {
        &self.vehicles
    }

    /// The vehicle that must reach the exit.
    pub fn hero(&self) -> Vehicle {
        self.vehicles[0]
    }

    /// The walls.
    pub const fn walls(&self) -> Squares {
        self.walls
    }

    /// The letter of each vehicle, in the order of the vehicles; the hero's is `A`.
    pub fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// The row of the hero and of the exit, counted from 0 at the top.
    pub fn exit_row(&self) -> u8 {
        self.hero().lane()
    }

    /// How many vehicles there are, the hero included.
    pub fn n_vehicles(&self) -> usize {
        self.vehicles.len()
    }

    /// How many walls there are.
    pub const fn n_walls(&self) -> usize {
        self.walls.len()
    }

    /// The squares that a vehicle or wall stands on.
    pub fn occupied(&self) -> Squares {
        let (horizontal, vertical) = self.masks();
        horizontal.union(vertical)
    }

    /// Whether the hero's last square is in the right-most column.
    pub fn is_solved(&self) -> bool {
        self.hero().end() == self.lot.width()
    }

    /// The squares of horizontal vehicles and walls, and those of vertical vehicles.
    ///
    /// A cluster's representative is the one of the smallest such pair at its depth.
    pub fn masks(&self) -> (Squares, Squares) {
        let mut masks = (self.walls, Squares::EMPTY);
        for vehicle in &self.vehicles {
            let squares = vehicle.squares(self.lot);
            match vehicle.axis() {
                Axis::Horizontal => masks.0 = masks.0.union(squares),
                Axis::Vertical => masks.1 = masks.1.union(squares),
            }
        }
        masks
    }

    /// The board without vehicle `i`, the others keeping their letters; `None` for the hero or no vehicle.
    pub fn without_vehicle(&self, i: usize) -> Option<Board> {
        if i == 0 || i >= self.n_vehicles() {
            return None;
        }
        let mut board = self.clone();
        board.vehicles.remove(i);
        board.letters = [&self.letters[..i], &self.letters[i + 1..]].concat().into();
        Some(board)
    }

    /// The board without the wall on this square; the same board if there is none.
    #[must_use]
    pub fn without_wall(&self, square: usize) -> Board {
        let mut board = self.clone();
        if board.walls.contains(square) {
            board.walls.remove(square);
        }
        board
    }

    /// The board mirrored top to bottom. Vehicles keep their order and letters.
    #[must_use]
    pub fn mirrored(&self) -> Board {
        let (lot, height) = (self.lot, self.lot.height());
        let vehicles = self.vehicles.iter().map(|v| match v.axis() {
            Axis::Horizontal => Vehicle::new(v.axis(), height - 1 - v.lane(), v.start(), v.length()),
            Axis::Vertical => v.with_start(height - v.end()),
        });
        let walls = self
            .walls
            .iter()
            .map(|s| lot.square(height - 1 - lot.row(s), lot.column(s)));
        Board {
            lot,
            walls: walls.collect(),
            vehicles: vehicles.collect(),
            letters: self.letters.clone(),
        }
    }
}

impl PartialEq for Board {
    fn eq(&self, other: &Board) -> bool {
        self.lot == other.lot && self.walls == other.walls && self.vehicles == other.vehicles
    }
}

impl Eq for Board {}

impl Hash for Board {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lot.hash(state);
        self.walls.hash(state);
        self.vehicles.hash(state);
    }
}

fn check(lot: Lot, vehicles: &[Vehicle], walls: Squares) -> Result<(), BoardError> {
    let n_vehicles = vehicles.len();
    let hero = vehicles.first().ok_or(BoardError::NoHero)?;
    if hero.axis() != Axis::Horizontal {
        return Err(BoardError::HeroVertical);
    }
    if n_vehicles > MAX_VEHICLES {
        return Err(BoardError::TooManyVehicles { n_vehicles });
    }
    if let Some(square) = walls.difference(lot.all_squares()).iter().next() {
        return Err(BoardError::WallOutside { square, lot });
    }
    let mut taken = walls;
    for (i, vehicle) in vehicles.iter().enumerate() {
        if vehicle.length() < MIN_VEHICLE_LENGTH {
            return Err(BoardError::VehicleTooShort {
                vehicle: i,
                length: vehicle.length(),
            });
        }
        if !vehicle.fits(lot) {
            return Err(BoardError::VehicleOutside { vehicle: i, lot });
        }
        let squares = vehicle.squares(lot);
        if let Some(square) = squares.intersection(taken).iter().next() {
            return Err(BoardError::SquareTaken { vehicle: i, square });
        }
        taken = taken.union(squares);
    }
    Ok(())
}

/// Letters for legal vehicles as a canonical spelling gives them: the hero's first, then reading order.
pub(crate) fn reading_order_letters(lot: Lot, vehicles: &[Vehicle]) -> Vec<u8> {
    let mut order: Vec<usize> = (1..vehicles.len()).collect();
    order.sort_unstable_by_key(|&i| vehicles[i].first_square(lot));
    let mut letters = vec![LETTERS[0]; vehicles.len()];
    for (&i, &letter) in order.iter().zip(&LETTERS[1..]) {
        letters[i] = letter;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hero() -> Vehicle {
        Vehicle::new(Axis::Horizontal, 2, 0, 2)
    }

    fn refusal(vehicles: Vec<Vehicle>, walls: &[usize]) -> BoardError {
        Board::new(Lot::ORDINARY, vehicles, walls.iter().copied().collect()).unwrap_err()
    }

    #[test]
    fn a_board_needs_a_horizontal_hero() {
        assert_eq!(refusal(vec![], &[]), BoardError::NoHero);
        assert_eq!(
            refusal(vec![Vehicle::new(Axis::Vertical, 0, 0, 2)], &[]),
            BoardError::HeroVertical
        );
    }

    #[test]
    fn vehicles_are_inside_the_lot_and_apart() {
        let truck = Vehicle::new(Axis::Vertical, 1, 1, 3);
        assert_eq!(
            refusal(vec![hero(), truck], &[]),
            BoardError::SquareTaken {
                vehicle: 1,
                square: 13
            }
        );
        assert_eq!(
            refusal(vec![hero()], &[12]),
            BoardError::SquareTaken {
                vehicle: 0,
                square: 12
            }
        );
        let outside = BoardError::VehicleOutside {
            vehicle: 1,
            lot: Lot::ORDINARY,
        };
        assert_eq!(
            refusal(vec![hero(), Vehicle::new(Axis::Vertical, 3, 4, 3)], &[]),
            outside
        );
        let short = BoardError::VehicleTooShort {
            vehicle: 1,
            length: 1,
        };
        assert_eq!(
            refusal(vec![hero(), Vehicle::new(Axis::Vertical, 3, 4, 1)], &[]),
            short
        );
        assert_eq!(
            refusal(vec![hero()], &[36]),
            BoardError::WallOutside {
                square: 36,
                lot: Lot::ORDINARY
            }
        );
    }

    #[test]
    fn fifty_vehicles_are_a_board_and_fifty_one_are_not() {
        let lot = Lot::new(16, 16).unwrap();
        let vehicle = |i: u8| Vehicle::new(Axis::Horizontal, i / 8, i % 8 * 2, 2);
        let board = |n| Board::new(lot, (0..n).map(vehicle).collect(), Squares::EMPTY);
        assert_eq!(board(50).unwrap().letters(), LETTERS);
        assert_eq!(board(51), Err(BoardError::TooManyVehicles { n_vehicles: 51 }));
    }

    #[test]
    fn letters_are_no_part_of_the_position() {
        let vehicles = vec![hero(), Vehicle::new(Axis::Vertical, 4, 0, 3)];
        let board = Board::new(Lot::ORDINARY, vehicles.clone(), Squares::EMPTY).unwrap();
        let renamed =
            Board::with_letters(Lot::ORDINARY, vehicles, Squares::EMPTY, b"AZ".as_slice().into()).unwrap();
        assert_eq!(board, renamed);
    }

    #[test]
    fn mirroring_twice_gives_the_board_back() {
        let vehicles = vec![hero(), Vehicle::new(Axis::Vertical, 4, 0, 3)];
        let board = Board::new(Lot::ORDINARY, vehicles, [35].into_iter().collect()).unwrap();
        assert_eq!(board.mirrored().exit_row(), 3);
        assert_eq!(board.mirrored().walls().iter().collect::<Vec<_>>(), [5]);
        assert_eq!(board.mirrored().vehicles()[1].start(), 3);
        assert_eq!(board.mirrored().mirrored(), board);
    }

    #[test]
    fn a_position_names_one_start_a_vehicle() {
        let board = Board::new(Lot::ORDINARY, vec![hero()], Squares::EMPTY).unwrap();
        assert!(board.with_starts(&[4]).unwrap().is_solved());
        assert!(board.with_starts(&[5]).is_err());
        let wrong = BoardError::WrongNumberOfStarts {
            n_starts: 2,
            n_vehicles: 1,
        };
        assert_eq!(board.with_starts(&[0, 0]), Err(wrong));
    }
}
