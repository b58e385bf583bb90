//! Legal boards at random: any lot, vehicles of two to four squares anywhere, full lanes and walls included.

use board::{Axis, Board, Lot, Squares, Vehicle};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers that are the same in every run.
pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A board with about so many vehicles and walls, fewer if they find no room.
pub(crate) fn random_board(rng: &mut impl Rng, lot: Lot, n_vehicles: usize, n_walls: usize) -> Board {
    let hero_length = rng.random_range(2..=3.min(lot.width()));
    let hero_row = rng.random_range(0..lot.height());
    let hero_start = rng.random_range(0..=lot.width() - hero_length);
    let mut vehicles = vec![Vehicle::new(Axis::Horizontal, hero_row, hero_start, hero_length)];
    let mut taken = vehicles[0].squares(lot);
    for _ in 0..n_vehicles * 4 {
        if vehicles.len() > n_vehicles.min(board::MAX_VEHICLES - 1) {
            break;
        }
        let axis = if rng.random() {
            Axis::Horizontal
        } else {
            Axis::Vertical
        };
        let length = [2, 2, 2, 3, 3, 4][rng.random_range(0..6)];
        if length > lot.lane_length(axis) {
            continue;
        }
        let start = rng.random_range(0..=lot.lane_length(axis) - length);
        let vehicle = Vehicle::new(axis, rng.random_range(0..lot.n_lanes(axis)), start, length);
        if !vehicle.squares(lot).intersects(taken) {
            taken = taken.union(vehicle.squares(lot));
            vehicles.push(vehicle);
        }
    }
    let mut walls = Squares::EMPTY;
    for _ in 0..n_walls {
        let square = rng.random_range(0..lot.n_squares());
        if !taken.contains(square) {
            walls.insert(square);
        }
    }
    Board::new(lot, vehicles, walls).expect("vehicles and walls were put on free squares")
}
