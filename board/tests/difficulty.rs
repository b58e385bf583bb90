//! The measures of difficulty equal their plain definitions, read off a list of all shortest solutions.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the plain definitions are made of small numbers, and a failure is a failed test"
)]

use std::collections::{HashMap, HashSet};

use board::difficulty::{self, Difficulty, DifficultyError};
use board::{Axis, Board, Lot, Slide, Squares, StateLimit, Vehicle, plain};

/// Hard boards of small clusters, from the 2018 reference database of 6x6 boards.
const HARD: [&str; 12] = [
    "oHBBLMxHIoLMGoIAANGDDKoNGoJKoNxoJFFF",
    "BBCCCMDDoxoMAAoooNJFFLoNJoKLGGJoKHHx",
    "xJoCCCIJoLMNIAALMNDDKEENooKFFoGGGoxo",
    "BBICCCooIooKHoIAAKHDDEEKoooJFFGGGJoo",
    "IxCCCMIoDDoMIAAKLNEEJKLNooJFFFoGGxoo",
    "BBBJCCHooJoKHAAJoKooIDDLEEIooLooxoGG",
    "HBBBooHoJCCCIoJAALIDDKoLEEEKoMoxGGoM",
    "BBKooxJoKDDMJAAooMJEEEoMFFoLGGHHHLII",
    "IoBBCCIoKxoMIoKAAMJoxFFMJooLGGHHHLoo",
    "oGoBBoFGooJKFHAAJKoHCCJLoHIooLDDIEEL",
    "IBBCCxIoKEEoAAKoooooKoLMJFFFLMJGGoxo",
    "HJBBCCHJoKDDIAAKLNIooKLNIoEEMOFFGGMO",
];

/// Boards with more shortest solutions than this are too many to list.
const MOST_LISTED: u64 = 4_000;

struct Listing {
    pars: HashMap<Board, Option<u16>>,
    solutions: Vec<Vec<(Board, Slide)>>,
}

impl Listing {
    fn of(board: &Board) -> Option<Listing> {
        let mut listing = Listing {
            pars: pars(board),
            solutions: Vec::new(),
        };
        listing.pars[board]?;
        assert_eq!(listing.pars[board], plain::par(board));
        listing.list(board, &mut Vec::new());
        Some(listing)
    }

    fn list(&mut self, board: &Board, so_far: &mut Vec<(Board, Slide)>) {
        if board.is_solved() {
            self.solutions.push(so_far.clone());
            return;
        }
        for slide in board.slides() {
            let next = board.apply(slide).unwrap();
            if self.pars[&next].unwrap() < self.pars[board].unwrap() {
                so_far.push((board.clone(), slide));
                self.list(&next, so_far);
                so_far.pop();
            }
        }
    }

    fn vehicles_sliding(&self, n_vehicles: usize, times: usize) -> u32 {
        let always = |&v: &usize| self.solutions.iter().all(|s| count_of(s, v) >= times);
        (0..n_vehicles).filter(always).count() as u32
    }

    fn difficulty(&self, board: &Board) -> Difficulty {
        let steps = || self.solutions.iter().flatten();
        let way: HashSet<&Board> = steps().map(|(board, _)| board).collect();
        let right: HashSet<&(Board, Slide)> = steps().collect();
        let unsolved = self.pars.keys().filter(|b| !b.is_solved());
        let against =
            |solution: &Vec<(Board, Slide)>| solution.iter().filter(|s| is_against(&s.0, s.1)).count();
        let chance = |solution: &Vec<(Board, Slide)>| {
            solution
                .iter()
                .map(|(board, _)| 1.0 / board.slides().len() as f64)
                .product::<f64>()
        };
        let bits = -self.solutions.iter().map(chance).sum::<f64>().log2();
        Difficulty {
            par: board::Par::new(self.pars[board].unwrap()),
            n_states: self.pars.len() as u64,
            n_solutions: self.solutions.len() as u64,
            n_way_positions: way.len() as u64,
            n_way_slides: way.iter().map(|board| board.slides().len() as u64).sum(),
            n_right_slides: right.len() as u64,
            n_against: self.solutions.iter().map(against).min().unwrap() as u32,
            n_movers: self.vehicles_sliding(board.n_vehicles(), 1),
            n_repeat_movers: self.vehicles_sliding(board.n_vehicles(), 2),
            n_dead_ends: unsolved.clone().filter(|b| self.is_dead_end(b)).count() as u64,
            n_unsolved: unsolved.count() as u64,
            luck_tenths: (bits * 10.0 + 1e-9).floor() as u32,
        }
    }

    fn is_dead_end(&self, board: &Board) -> bool {
        board
            .slides()
            .iter()
            .all(|&slide| self.pars[&board.apply(slide).unwrap()] <= self.pars[board])
    }
}

/// The par of every position of a cluster, layer by layer from the solved ones.
fn pars(board: &Board) -> HashMap<Board, Option<u16>> {
    let mut pars: HashMap<Board, Option<u16>> =
        plain::reachable(board).into_iter().map(|b| (b, None)).collect();
    let mut layer: Vec<Board> = pars.keys().filter(|b| b.is_solved()).cloned().collect();
    for par in 0.. {
        layer.retain(|b| pars[b].is_none());
        pars.extend(layer.iter().map(|b| (b.clone(), Some(par))));
        layer = layer
            .iter()
            .flat_map(|b| b.slides().into_iter().map(|slide| b.apply(slide).unwrap()))
            .collect();
        if layer.is_empty() {
            break;
        }
    }
    pars
}

/// How bad a position looks: squares from hero to exit, and vehicles on them.
fn badness(board: &Board) -> usize {
    let (lot, hero) = (board.lot(), board.hero());
    let ahead: Squares = (hero.end()..lot.width())
        .map(|column| lot.square(hero.lane(), column))
        .collect();
    let blockers = board
        .vehicles()
        .iter()
        .filter(|v| v.squares(lot).intersects(ahead))
        .count();
    ahead.len() + blockers
}

fn is_against(board: &Board, slide: Slide) -> bool {
    badness(&board.apply(slide).unwrap()) > badness(board)
}

/// Draws small numbers, always the same ones.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: u8) -> u8 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u8
    }

    fn board(&mut self) -> Option<Board> {
        let lot = Lot::new(4 + self.below(3), 4 + self.below(3)).unwrap();
        let exit_row = self.below(lot.height());
        let mut vehicles = vec![Vehicle::new(
            Axis::Horizontal,
            exit_row,
            self.below(lot.width() - 1),
            2,
        )];
        for _ in 0..3 + self.below(9) {
            let axis = if self.below(3) == 0 {
                Axis::Horizontal
            } else {
                Axis::Vertical
            };
            let length = 2 + self.below(2);
            let start = self.below(lot.lane_length(axis) - length + 1);
            vehicles.push(Vehicle::new(axis, self.below(lot.n_lanes(axis)), start, length));
        }
        let walls = (0..self.below(3))
            .map(|_| usize::from(self.below(lot.n_squares() as u8)))
            .collect();
        Board::new(lot, vehicles, walls).ok()
    }
}

#[test]
fn measures_equal_their_plain_definitions_on_random_boards() {
    let mut draws = Draws(6);
    let mut n_compared = 0;
    while n_compared < 100 {
        let Some(board) = draws.board() else { continue };
        let is_small = difficulty::measure(&board, StateLimit::new(1000)).is_ok();
        let deepest = || plain::cluster(&board).representative;
        let board = if is_small && n_compared % 3 > 0 {
            deepest()
        } else {
            Some(board.clone())
        };
        n_compared += u32::from(board.is_some_and(|board| compare(&board).is_some()));
    }
}

#[test]
fn measures_equal_their_plain_definitions_on_hard_boards() {
    let boards = HARD.map(|board| board.parse::<Board>().unwrap());
    let compared: Vec<Difficulty> = boards.iter().filter_map(compare).collect();
    assert!(compared.len() >= 3, "{compared:?}");
    assert!(compared.iter().any(|d| d.n_repeat_movers > 3) && compared.iter().any(|d| d.n_against > 3));
}

/// Compares; `None` if the board is unsolvable, or too large for the plain definitions.
fn compare(board: &Board) -> Option<Difficulty> {
    let measured = difficulty::measure(board, StateLimit::new(1000)).ok()?;
    let Some(measured) = measured else {
        assert_eq!(plain::par(board), None, "{board}");
        return None;
    };
    if measured.n_solutions > MOST_LISTED {
        return None;
    }
    let mut plain = Listing::of(board)?.difficulty(board);
    // The logarithm of the plain definition is a floating-point number.
    assert!(plain.luck_tenths.abs_diff(measured.luck_tenths) <= 1, "{board}");
    plain.luck_tenths = measured.luck_tenths;
    assert_eq!(measured, plain, "{board}");
    Some(measured)
}

#[test]
fn vehicles_that_never_move_change_nothing() {
    // Row after row of eight cars that fill it, so that keys of two and four words are needed.
    let full = |n_rows: usize, rest: &str| {
        let cars = b"CDEFGHIJKLMNPQRSTUVWYZabcdefghijklmnpqrs";
        let rows = cars
            .chunks(8)
            .take(n_rows)
            .flat_map(|row| row.iter().flat_map(|&c| [char::from(c); 2]));
        let empty = "x".repeat(16 * (16 - n_rows - 4));
        format!("{}{rest}{empty}", rows.collect::<String>())
            .parse::<Board>()
            .unwrap()
    };
    let rest = "xxxxxxxxxxxxBxxx\
                AAooooooooooBooo\
                xxxxxxxxxxxxoxxx\
                xxxxxxxxxxxxoxxx";
    let measured: Vec<Difficulty> = [0, 2, 5]
        .map(|n_rows| {
            difficulty::measure(&full(n_rows, rest), StateLimit::DEFAULT)
                .unwrap()
                .unwrap()
        })
        .to_vec();
    assert_eq!(measured[0].par.get(), 2);
    assert_eq!(measured[0], measured[1]);
    assert_eq!(measured[0], measured[2]);
}

#[test]
fn a_solved_board_has_nothing_to_solve() {
    let board: Board = "6x3:ooooooooooAAoooooo".parse().unwrap();
    let measured = difficulty::measure(&board, StateLimit::DEFAULT).unwrap().unwrap();
    assert_eq!(
        (measured.par.get(), measured.n_solutions, measured.luck_tenths),
        (0, 1, 0)
    );
    assert_eq!((measured.n_way_positions, measured.n_movers), (0, 0));
}

#[test]
fn a_cluster_larger_than_the_limit_is_refused() {
    let board: Board = "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo".parse().unwrap();
    let limit = StateLimit::new(1000);
    assert_eq!(
        difficulty::measure(&board, limit),
        Err(DifficultyError::TooLarge(limit))
    );
    let measured = difficulty::measure(&board, StateLimit::DEFAULT).unwrap().unwrap();
    assert_eq!((measured.par.get(), measured.n_states), (51, 4780));
    assert!(
        measured.n_solutions > 1 && measured.n_repeat_movers > 5,
        "{measured:?}"
    );
}

/// How often a vehicle slides in a solution.
fn count_of(solution: &[(Board, Slide)], vehicle: usize) -> usize {
    solution
        .iter()
        .filter(|(_, slide)| slide.vehicle == vehicle)
        .count()
}
