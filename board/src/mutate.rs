//! One-piece changes to a board: a vehicle or wall moved, added, taken away, or swapped for another.
//!
//! Which changes are legal is decided here; which are worth taking is `anneal`'s affair.

use std::ops::RangeInclusive;

use crate::board::BoardError;
use crate::places::{Place, Places};
use crate::space::BoardSpace;
use crate::stream::Stream;
use crate::{Board, Lot, Squares, Vehicle};

/// How often another place is drawn for a piece before a change is given up.
const MAX_TRIES: u32 = 24;

/// A change of one piece. Vehicles are named by their index on the board that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A vehicle other than the hero comes to the board.
    Add(Vehicle),
    /// A vehicle other than the hero leaves the board.
    TakeAway(usize),
    /// A vehicle goes to another place: elsewhere in its lane, to another lane, or turned. The hero keeps its row.
    Move {
        /// The vehicle's index.
        vehicle: usize,
        /// The same vehicle at its new place.
        to: Vehicle,
    },
    /// A vehicle other than the hero makes way for one of another length, anywhere on the lot.
    Swap {
        /// The vehicle's index.
        vehicle: usize,
        /// The vehicle that comes in its stead.
        to: Vehicle,
    },
    /// A wall comes to the board.
    AddWall(usize),
    /// A wall leaves the board.
    TakeWallAway(usize),
    /// A wall goes to another square.
    MoveWall {
        /// The square it leaves.
        from: usize,
        /// The square it goes to.
        to: usize,
    },
}

impl Change {
    /// The board with this change.
    ///
    /// # Errors
    /// A [`BoardError`] if the change was made for another board and does not fit this one.
    ///
    /// # Panics
    /// If the board has no vehicle of the index named.
    pub fn apply(self, board: &Board) -> Result<Board, BoardError> {
        let mut vehicles = Vec::with_capacity(board.n_vehicles() + 1);
        vehicles.extend_from_slice(board.vehicles());
        let mut walls = board.walls();
        match self {
            Change::Add(vehicle) => vehicles.push(vehicle),
            Change::TakeAway(vehicle) => drop(vehicles.remove(vehicle)),
            Change::Move { vehicle, to } | Change::Swap { vehicle, to } => vehicles[vehicle] = to,
            Change::AddWall(square) => walls.insert(square),
            Change::TakeWallAway(square) => walls.remove(square),
            Change::MoveWall { from, to } => {
                walls.remove(from);
                walls.insert(to);
            }
        }
        Board::new(board.lot(), vehicles, walls)
    }
}

/// Makes the changes that keep a board within a space.
#[derive(Clone, Debug)]
pub struct Mutator {
    lot: Lot,
    places: Places,
    vehicles: RangeInclusive<usize>,
    walls: RangeInclusive<usize>,
}

impl Mutator {
    /// A maker of changes within this space.
    pub fn new(space: &BoardSpace) -> Mutator {
        let wide = |range: RangeInclusive<u8>| usize::from(*range.start())..=usize::from(*range.end());
        Mutator {
            lot: space.lot(),
            places: Places::new(space),
            vehicles: wide(space.vehicles()),
            walls: wide(space.walls()),
        }
    }

    /// A random change; `None` if the piece drawn found no other place.
    ///
    /// Boards outside the space (starts of another hunt) are changed too, but never further away from it.
    pub fn draw(&self, board: &Board, stream: &mut Stream) -> Option<Change> {
        let (n_vehicles, n_walls) = (board.n_vehicles(), board.n_walls());
        let wall_share = if *self.walls.end() > 0 || n_walls > 0 {
            4
        } else {
            0
        };
        match stream.below(16 + wall_share) {
            0..=1 if n_vehicles < *self.vehicles.end() => self.draw_add(board, stream),
            2..=3 if n_vehicles > *self.vehicles.start() && n_vehicles > 1 => {
                Some(Change::TakeAway(any_but_hero(board, stream)))
            }
            4..=5 if n_vehicles > 1 => self.draw_swap(board, stream),
            0..=15 => self.draw_move(board, stream),
            16 if n_walls < *self.walls.end() => self.draw_free(board, stream).map(Change::AddWall),
            17 if n_walls > *self.walls.start() => Some(Change::TakeWallAway(any_wall(board, stream))),
            _ if n_walls > 0 => {
                let from = any_wall(board, stream);
                self.draw_free(board, stream)
                    .map(|to| Change::MoveWall { from, to })
            }
            _ => None,
        }
    }

    /// Every change of a board that keeps it within the space, each once; slides are left out, since they lead to
    /// another position of the same cluster.
    pub fn all(&self, board: &Board) -> Vec<Change> {
        let mut changes = Vec::new();
        let taken = board.occupied();
        if board.n_vehicles() < *self.vehicles.end() {
            changes.extend(self.free_places(taken).map(|place| Change::Add(place.vehicle)));
        }
        changes.extend(self.hero_places(board).map(|to| Change::Move { vehicle: 0, to }));
        for (vehicle, &leaving) in board.vehicles().iter().enumerate().skip(1) {
            if board.n_vehicles() > *self.vehicles.start() {
                changes.push(Change::TakeAway(vehicle));
            }
            let others = taken.difference(leaving.squares(self.lot));
            let places = self.free_places(others).map(|place| place.vehicle);
            let places = places.filter(|&to| to != leaving && !is_slide(self.lot, others, leaving, to));
            changes.extend(places.map(|to| {
                if to.length() == leaving.length() {
                    Change::Move { vehicle, to }
                } else {
                    Change::Swap { vehicle, to }
                }
            }));
        }
        let free: Vec<usize> = self.lot.all_squares().difference(taken).iter().collect();
        if board.n_walls() < *self.walls.end() {
            changes.extend(free.iter().map(|&square| Change::AddWall(square)));
        }
        for from in board.walls().iter() {
            if board.n_walls() > *self.walls.start() {
                changes.push(Change::TakeWallAway(from));
            }
            changes.extend(free.iter().map(|&to| Change::MoveWall { from, to }));
        }
        changes
    }

    fn draw_add(&self, board: &Board, stream: &mut Stream) -> Option<Change> {
        let taken = board.occupied();
        let place =
            retry(|| Some(self.places.draw(stream)).filter(|place| !place.squares.intersects(taken)))?;
        Some(Change::Add(place.vehicle))
    }

    fn draw_swap(&self, board: &Board, stream: &mut Stream) -> Option<Change> {
        let vehicle = any_but_hero(board, stream);
        let leaving = board.vehicles()[vehicle];
        let others = board.occupied().difference(leaving.squares(self.lot));
        let is_swap =
            |place: &Place| place.vehicle.length() != leaving.length() && !place.squares.intersects(others);
        let place = retry(|| Some(self.places.draw(stream)).filter(is_swap))?;
        Some(Change::Swap {
            vehicle,
            to: place.vehicle,
        })
    }

    fn draw_move(&self, board: &Board, stream: &mut Stream) -> Option<Change> {
        let vehicle = stream.index(board.n_vehicles());
        if vehicle == 0 {
            let places: Vec<Vehicle> = self.hero_places(board).collect();
            let to = *places.get(stream.index(places.len().max(1)))?;
            return Some(Change::Move { vehicle, to });
        }
        let leaving = board.vehicles()[vehicle];
        let others = board.occupied().difference(leaving.squares(self.lot));
        let places = self.places.of_length(leaving.length());
        let is_move = |place: &Place| {
            !place.squares.intersects(others) && !is_slide(self.lot, others, leaving, place.vehicle)
        };
        let place = retry(|| {
            places
                .get(stream.index(places.len().max(1)))
                .copied()
                .filter(is_move)
        })?;
        Some(Change::Move {
            vehicle,
            to: place.vehicle,
        })
    }

    fn draw_free(&self, board: &Board, stream: &mut Stream) -> Option<usize> {
        let taken = board.occupied();
        retry(|| Some(stream.index(self.lot.n_squares())).filter(|&square| !taken.contains(square)))
    }

    fn free_places(&self, taken: Squares) -> impl Iterator<Item = Place> + '_ {
        self.places
            .iter()
            .filter(move |place| !place.squares.intersects(taken))
    }

    /// Where else in its row the hero may stand without having slid there.
    fn hero_places(&self, board: &Board) -> impl Iterator<Item = Vehicle> + use<> {
        let (lot, hero) = (self.lot, board.hero());
        let others = board.occupied().difference(hero.squares(lot));
        (0..=lot.width() - hero.length())
            .map(move |start| hero.with_start(start))
            .filter(move |to| !to.squares(lot).intersects(others) && !is_slide(lot, others, hero, *to))
    }
}

/// Whether a vehicle gets from one place to another, or stays, by one slide among these other vehicles and walls.
fn is_slide(lot: Lot, others: Squares, from: Vehicle, to: Vehicle) -> bool {
    if (from.axis(), from.lane(), from.length()) != (to.axis(), to.lane(), to.length()) {
        return false;
    }
    let start = from.start().min(to.start());
    let length = from.end().max(to.end()) - start;
    !Vehicle::new(from.axis(), from.lane(), start, length)
        .squares(lot)
        .intersects(others)
}

fn any_but_hero(board: &Board, stream: &mut Stream) -> usize {
    1 + stream.index(board.n_vehicles() - 1)
}

fn any_wall(board: &Board, stream: &mut Stream) -> usize {
    let nth = stream.index(board.n_walls());
    board
        .walls()
        .iter()
        .nth(nth)
        .expect("the index lies below the number of walls")
}

fn retry<T>(mut draw: impl FnMut() -> Option<T>) -> Option<T> {
    (0..MAX_TRIES).find_map(|_| draw())
}
