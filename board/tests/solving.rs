//! The solver against the plain search, on random boards of every size.

#![expect(clippy::unwrap_used, reason = "a test may fail, in its helper functions too")]

mod random_boards;

use board::cluster::Explorer;
use board::solve::SolveError;
use board::{Board, Lot, Par, Squares, StateLimit, Vehicle, plain, solve};
use rand::RngExt;
use random_boards::{generator, random_board};

/// The largest search that the plain one is asked to repeat.
const PLAIN_LIMIT: StateLimit = StateLimit::new(1_000);

/// Compares one board. False if it is too large for the plain search.
fn agrees(board: &Board) -> bool {
    let Ok(answer) = solve::solve(board, PLAIN_LIMIT) else {
        return false;
    };
    assert_eq!(
        answer.solution.len(),
        answer.par.map_or(0, |par| usize::from(par.get())),
        "{board}"
    );
    assert_eq!(
        answer.steps,
        answer.solution.iter().map(|slide| slide.steps()).sum::<u64>(),
        "{board}"
    );
    let hint = solve::hint(board, PLAIN_LIMIT).unwrap();
    assert_eq!(
        (hint.slide, hint.par),
        (answer.solution.first().copied(), answer.par)
    );
    if answer.par.is_none() && answer.states == 1 && !has_few_positions(board) {
        // The way is shut, which the solver knows without a search and the plain search only at its end.
        return false;
    }
    assert_eq!(answer.par.map(u16::from), plain::par(board), "par of {board}");
    if answer.par.is_some() {
        assert!(plain::solves(board, &answer.solution), "solution of {board}");
    } else if answer.states != 1 {
        assert_eq!(
            answer.states,
            plain::reachable(board).len() as u64,
            "positions of {board}"
        );
    }
    true
}

/// Whether there are few positions even if vehicles could pass through each other.
fn has_few_positions(board: &Board) -> bool {
    let n_places = |vehicle: &Vehicle| {
        let starts = 0..=board.lot().lane_length(vehicle.axis()) - vehicle.length();
        let elsewhere = starts.map(|start| vehicle.with_start(start).squares(board.lot()));
        elsewhere
            .filter(|squares| !squares.intersects(board.walls()))
            .count()
    };
    board
        .vehicles()
        .iter()
        .map(n_places)
        .fold(1, usize::saturating_mul)
        < 100_000
}

/// Compares `n` random boards of one lot and counts those that were small enough.
fn agree(lot: Lot, n: usize, density: (usize, usize), walls: (usize, usize), seed: u64) -> usize {
    let mut rng = generator(seed);
    let one = |_| {
        let n_vehicles = lot.n_squares() * rng.random_range(density.0..=density.1) / 100;
        let n_walls = lot.n_squares() * rng.random_range(walls.0..=walls.1) / 100;
        usize::from(agrees(&random_board(&mut rng, lot, n_vehicles, n_walls)))
    };
    (0..n).map(one).sum()
}

#[test]
fn every_lot_up_to_8x8_agrees_with_the_plain_search() {
    let mut n_compared = 0;
    for width in 3..=8 {
        for height in 3..=8 {
            let lot = Lot::new(width, height).unwrap();
            let seed = u64::from(width) * 16 + u64::from(height);
            n_compared += agree(lot, 100, (10, 45), (0, 0), seed);
            n_compared += agree(lot, 100, (10, 45), (0, 30), seed + 1000);
        }
    }
    assert!(n_compared > 4_500, "only {n_compared} boards were small enough");
}

#[test]
fn large_lots_whose_positions_need_several_words_agree_with_the_plain_search() {
    let mut n_compared = 0;
    for (width, height) in [(9, 9), (12, 12), (16, 16), (16, 3), (3, 16), (16, 9), (10, 15)] {
        let lot = Lot::new(width, height).unwrap();
        n_compared += agree(
            lot,
            60,
            (15, 40),
            (0, 40),
            u64::from(width) * 16 + u64::from(height),
        );
    }
    assert!(n_compared > 100, "only {n_compared} boards were small enough");
}

/// Fifty cars, two in a row wherever that makes the most arrangements, so that keys are as long as they get.
#[test]
fn the_longest_keys_are_solved() {
    let lot = Lot::new(16, 16).unwrap();
    let mut rng = generator(50);
    let mut n_solved = 0;
    for _ in 0..20 {
        let board = random_board(&mut rng, lot, 49, 0);
        if board.n_vehicles() < 45 {
            continue;
        }
        // Long ways are beyond any search; those of few slides are found.
        if let Ok(answer) = solve::solve(&board, StateLimit::new(50_000)) {
            n_solved += 1;
            assert!(
                answer.par.is_none() || plain::solves(&board, &answer.solution),
                "{board}"
            );
        }
    }
    assert!(n_solved > 5, "only {n_solved} boards had short solutions");
}

#[test]
fn a_limit_that_is_reached_is_said_and_never_hides_an_answer() {
    // The hardest 6x6 board without walls.
    let board: Board = "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo".parse().unwrap();
    let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
    let exactly = StateLimit::new(answer.states);
    assert_eq!(solve::solve(&board, exactly), Ok(answer.clone()));
    let less = StateLimit::new(answer.states - 1);
    let error = solve::solve(&board, less).unwrap_err();
    assert_eq!(
        error,
        solve::SolveError::LimitReached {
            limit: less,
            at_least: 51
        }
    );
    assert!(matches!(
        solve::solve(&board, StateLimit::new(0)),
        Err(solve::SolveError::LimitReached { at_least: 1, .. })
    ));
}

#[test]
fn a_solved_board_needs_no_slide_whatever_the_limit() {
    let board: Board = "ooooooooooooooooAAoooooooooooooooooo".parse().unwrap();
    let answer = solve::solve(&board, StateLimit::new(0)).unwrap();
    assert_eq!((answer.par, answer.steps, answer.states), (Some(Par::ZERO), 0, 1));
    assert_eq!(solve::hint(&board, StateLimit::DEFAULT).unwrap().slide, None);
}

/// A way that is shut for good is known without a search, even where the search would be hopeless.
#[test]
fn a_shut_way_is_known_at_once_on_the_largest_lot() {
    let lot = Lot::new(16, 16).unwrap();
    let mut rng = generator(7);
    let mut n_shut = 0;
    for _ in 0..50 {
        let open = random_board(&mut rng, lot, 30, 0);
        let beyond = lot.square(open.exit_row(), 15);
        if open.occupied().contains(beyond) {
            continue;
        }
        let walls = open.walls().union([beyond].into_iter().collect::<Squares>());
        let shut = Board::new(lot, open.vehicles().to_vec(), walls).unwrap();
        let answer = solve::solve(&shut, StateLimit::new(1)).unwrap();
        assert_eq!((answer.par, answer.states), (None, 1));
        n_shut += 1;
    }
    assert!(n_shut > 10);
}

#[test]
fn a_large_cluster_without_a_way_is_counted_as_a_search_through_all_of_it_counts() {
    // More positions than the search holds before it asks whether there is a way.
    let board: Board = "6x7:oKKEoBoJJEoBoAAEIBFoCCIoFoooHHGGDDooxxoLLx".parse().unwrap();
    let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
    assert_eq!((answer.par, answer.states), (None, 187_102));
    assert_eq!(plain::reachable(&board).len(), 187_102);
    // A limit below that says so all the same.
    assert!(solve::solve(&board, StateLimit::new(150_000)).is_err());
}

#[test]
fn what_is_read_off_the_cluster_is_what_the_plain_search_finds() {
    let mut rng = generator(8);
    let mut explorer = Explorer::new();
    let (mut n_solvable, mut n_unsolvable) = (0, 0);
    while n_solvable < 300 || n_unsolvable < 100 {
        let lot = Lot::new(rng.random_range(4..=6), rng.random_range(4..=6)).unwrap();
        let (n_vehicles, n_walls) = (rng.random_range(1..9), rng.random_range(0..3));
        let board = random_board(&mut rng, lot, n_vehicles, n_walls);
        let Ok(nearest) = explorer.nearest(&board, PLAIN_LIMIT) else {
            continue;
        };
        let par = plain::par(&board);
        assert_eq!(nearest.map(|nearest| nearest.par.get()), par, "{board}");
        let Some(nearest) = nearest else {
            n_unsolvable += 1;
            continue;
        };
        n_solvable += 1;
        let after = nearest.slide.map(|slide| board.apply(slide).unwrap());
        assert_eq!(
            after.and_then(|after| plain::par(&after)),
            par.and_then(|par| par.checked_sub(1)),
            "{board}"
        );
    }
}

/// Boards whose search holds tens of thousands of positions.
#[test]
fn a_hint_for_a_board_that_is_long_to_search_leads_a_slide_nearer() {
    for text in [
        "oooCCooooEEDAAooFDBoHHFDBooGIIoooGJJ",
        "CCoooDoooEEDBAAoFDBHHGFooooGIIooooJJ",
        "oooBCCoDDBoFGHAAEFGHIoEoooIJJoooooKK",
    ] {
        let board: Board = text.parse().unwrap();
        let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
        assert!(answer.states > 40_000, "{text}: {}", answer.states);
        let hint = solve::hint(&board, StateLimit::DEFAULT).unwrap();
        assert_eq!(hint.par, answer.par);
        let after = board.apply(hint.slide.unwrap()).unwrap();
        let left = solve::solve(&after, StateLimit::DEFAULT).unwrap().par.unwrap();
        assert_eq!(left.get() + 1, answer.par.unwrap().get(), "{text}");
        // A limit below what the cluster takes is kept, and said.
        let limit = StateLimit::new(answer.states - 1);
        let refused = solve::hint(&board, limit).unwrap_err();
        assert!(
            matches!(refused, SolveError::LimitReached { .. }),
            "{text}: {refused}"
        );
    }
}
