//! The closure solver against the exhaustive search, on random small jams with every feature mixed in.
//!
//! The small set runs with the other tests. The large one takes about a minute:
//! `cargo nextest run -p siren --run-ignored only --no-capture cross_check`

use siren::blockers::{Blockers, NoRoute, Shut};
use siren::closure::{Answer, Hopeless, Impossible, Solution, solve_from};
use siren::exhaustive::{STATE_CAP, search_from};
use siren::jam::Jam;
use siren::lights::{SEARCH_LIMIT, fewest_swaps_by_search};
use siren::pieces::Piece;
use siren::random::{Stream, derive_seed};
use siren::sample::Sample;
use siren::simulate::{Action, Escape, State};
use std::collections::BTreeMap;

#[test]
fn closure_agrees_with_exhaustive_search_on_a_small_set() {
    let counts = cross_check(0, 3_000);
    counts.expect_at_least(10);
}

#[test]
#[ignore = "takes about a minute"]
fn closure_agrees_with_exhaustive_search_on_a_large_set() {
    let counts = cross_check(1, 120_000);
    println!("{counts}");
    counts.expect_at_least(300);
}

/// How often each feature, verdict and reason was met.
struct Counts(BTreeMap<&'static str, usize>);

/// All that must be met, or the check checks too little.
const WANTED: [&str; 30] = [
    "board",
    "solvable",
    "unsolvable",
    "optimum forward",
    "optimum reverse",
    "tie",
    "clear at once",
    "with barricade",
    "with planter",
    "with wreck",
    "with closed side",
    "with closed exit",
    "with light",
    "with bridge",
    "with crossing",
    "solution with tow",
    "solution with barricade",
    "solution with swap",
    "solution with 2 swaps or more",
    "solution with bridge",
    "solution with swap and 3 pieces or more",
    "state of play",
    "shut: planter",
    "shut: closed side",
    "impossible: planter",
    "impossible: unit",
    "impossible: closed side",
    "impossible: no open exit",
    "impossible: too few tows",
    "impossible: cycle",
];

impl Counts {
    fn add(&mut self, what: &'static str, holds: bool) {
        *self.0.entry(what).or_default() += usize::from(holds);
    }

    fn expect_at_least(&self, least: usize) {
        for what in WANTED {
            assert!(
                self.0.get(what).copied().unwrap_or(0) >= least,
                "too few of {what:?}:\n{self}"
            );
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0
            .iter()
            .try_for_each(|(what, n)| writeln!(f, "{n:>9}  {what}"))
    }
}

fn cross_check(run: u64, n_boards: u64) -> Counts {
    let mut counts = Counts(BTreeMap::new());
    for number in 0..n_boards {
        let mut stream = Stream::new(derive_seed(&[run, number]));
        let jam = Sample::SMALL.draw(&mut stream);
        let blockers = Blockers::new(&jam);
        let start = State::start(&jam);
        let answer = check_state(&jam, &blockers, start, (run, number));
        count_jam(&mut counts, &jam);
        count_answer(&mut counts, &jam, &answer);

        let middle = wander(&jam, start, &mut stream);
        counts.add("state of play", middle != start);
        if middle != start {
            check_state(&jam, &blockers, middle, (run, number));
        }
    }
    counts
}

/// Compares the two answers, and plays the fast one's.
fn check_state(jam: &Jam, blockers: &Blockers, state: State, name: (u64, u64)) -> Answer {
    let answer = solve_from(blockers, &state);
    let truth = search_from(jam, state, STATE_CAP).expect("small jams have few states");
    let costs = Escape::BOTH.map(|escape| answer.cost(escape));
    assert_eq!(
        costs, truth.costs,
        "board {name:?}: {jam:?}\nfrom {state:?}\nanswer {answer:?}"
    );
    let best = truth.costs.iter().flatten().min().copied();
    assert_eq!(answer.par(), best, "board {name:?}");
    let cheaper = Escape::BOTH
        .into_iter()
        .find(|escape| best.is_some() && truth.costs[*escape as usize] == best);
    assert_eq!(
        answer.optimum().map(|optimum| optimum.escape),
        cheaper,
        "board {name:?}"
    );

    for verdict in &answer.escapes {
        match verdict {
            Ok(solution) => check_solution(jam, blockers, state, solution, name),
            Err(Hopeless::Impossible(reasons)) => check_reasons(jam, blockers, state, reasons, name),
            Err(Hopeless::Shut(_)) => {}
        }
    }
    answer
}

fn check_solution(jam: &Jam, blockers: &Blockers, state: State, solution: &Solution, name: (u64, u64)) {
    let mut played = state;
    for action in &solution.actions {
        played
            .play(jam, *action)
            .unwrap_or_else(|why| panic!("board {name:?}, {solution:?}: {why}"));
    }
    assert!(
        played.is_clear(jam, solution.escape),
        "board {name:?}: {solution:?} ends with a jam"
    );
    if solution.closure.len() <= SEARCH_LIMIT {
        let swaps = fewest_swaps_by_search(blockers, solution.closure, state.is_swapped());
        assert_eq!(swaps, Some(solution.n_swaps), "board {name:?}: {solution:?}");
    }
}

fn check_reasons(jam: &Jam, blockers: &Blockers, state: State, reasons: &[Impossible], name: (u64, u64)) {
    assert!(!reasons.is_empty(), "board {name:?}: impossible for no reason");
    for reason in reasons {
        match reason {
            Impossible::Cycle(members) => {
                for member in members.iter() {
                    assert!(
                        blockers.of(member).intersects(*members),
                        "board {name:?}: {member} is in no cycle"
                    );
                }
                if members.len() <= SEARCH_LIMIT {
                    assert_eq!(
                        fewest_swaps_by_search(blockers, *members, false),
                        None,
                        "board {name:?}"
                    );
                }
            }
            Impossible::NoRoute { piece, .. } => {
                assert!(state.present().contains(*piece), "board {name:?}");
                assert!(
                    matches!(jam.pieces()[*piece], Piece::Vehicle(_)),
                    "board {name:?}"
                );
            }
            Impossible::TooFewTows { wrecks, tows } => assert!(wrecks > tows, "board {name:?}"),
        }
    }
}

/// Plays a few random legal moves.
fn wander(jam: &Jam, start: State, stream: &mut Stream) -> State {
    let mut state = start;
    for _ in 0..stream.below(8) {
        let piece = stream.below(jam.n_pieces());
        let action = match stream.below(8) {
            0 => Action::Swap,
            1 => Action::Lower,
            2 => Action::Tow(piece),
            _ => Action::Tap(piece),
        };
        // An illegal move leaves the state as it was.
        let _ = state.play(jam, action);
    }
    state
}

fn count_jam(counts: &mut Counts, jam: &Jam) {
    let parts = jam.parts();
    let has = |wanted: fn(&Piece) -> bool| jam.pieces().iter().any(wanted);
    counts.add("board", true);
    counts.add(
        "with barricade",
        has(|piece| matches!(piece, Piece::Barricade(_))),
    );
    counts.add("with planter", has(|piece| matches!(piece, Piece::Planter(_))));
    counts.add("with wreck", has(|piece| matches!(piece, Piece::Wreck(_))));
    counts.add("with closed side", !parts.closed_sides.is_empty());
    counts.add("with closed exit", parts.exits.iter().any(|exit| !exit.open));
    counts.add("with light", !parts.lights.is_empty());
    counts.add("with bridge", parts.bridge.is_some());
    counts.add("with crossing", !parts.crossings.is_empty());
}

fn count_answer(counts: &mut Counts, jam: &Jam, answer: &Answer) {
    counts.add("solvable", answer.par().is_some());
    counts.add("unsolvable", answer.par().is_none());
    counts.add("clear at once", answer.par() == Some(0));
    counts.add("tie", answer.gap() == Some(0));
    let optimum = answer.optimum().map(|solution| solution.escape);
    counts.add("optimum forward", optimum == Some(Escape::Forward));
    counts.add("optimum reverse", optimum == Some(Escape::Reverse));
    for verdict in &answer.escapes {
        match verdict {
            Ok(solution) => count_solution(counts, jam, solution),
            Err(Hopeless::Shut(Shut::Planter(_))) => counts.add("shut: planter", true),
            Err(Hopeless::Shut(Shut::ClosedSide(_))) => counts.add("shut: closed side", true),
            Err(Hopeless::Impossible(reasons)) => {
                for reason in reasons {
                    count_reason(counts, reason);
                }
            }
        }
    }
}

fn count_solution(counts: &mut Counts, jam: &Jam, solution: &Solution) {
    let has = |wanted: fn(&Piece) -> bool| solution.closure.iter().any(|piece| wanted(&jam.pieces()[piece]));
    counts.add("solution with tow", has(|piece| matches!(piece, Piece::Wreck(_))));
    counts.add(
        "solution with barricade",
        has(|piece| matches!(piece, Piece::Barricade(_))),
    );
    counts.add("solution with swap", solution.n_swaps > 0);
    counts.add("solution with 2 swaps or more", solution.n_swaps > 1);
    counts.add("solution with bridge", solution.lowers_bridge);
    counts.add(
        "solution with swap and 3 pieces or more",
        solution.n_swaps > 0 && solution.closure.len() > 2,
    );
}

fn count_reason(counts: &mut Counts, reason: &Impossible) {
    let what = match reason {
        Impossible::NoRoute {
            why: NoRoute::Planter(_),
            ..
        } => "impossible: planter",
        Impossible::NoRoute {
            why: NoRoute::Unit, ..
        } => "impossible: unit",
        Impossible::NoRoute {
            why: NoRoute::ClosedSide(_),
            ..
        } => "impossible: closed side",
        Impossible::NoRoute {
            why: NoRoute::NoOpenExit,
            ..
        } => "impossible: no open exit",
        Impossible::TooFewTows { .. } => "impossible: too few tows",
        Impossible::Cycle(_) => "impossible: cycle",
    };
    counts.add(what, true);
}
