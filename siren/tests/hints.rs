//! Hints: legal, and the shortest way out when followed.

use siren::blockers::Blockers;
use siren::closure::{solve, solve_from};
use siren::generate::candidate;
use siren::hint::{Hint, hint};
use siren::jam::Jam;
use siren::plan::{Plan, SHIPPED_PLAN};
use siren::random::{Stream, derive_seed};
use siren::sample::Sample;
use siren::simulate::{Action, State};

/// Follows hints from a state to the end; the number of moves made, `None` if there is no way out.
fn follow(jam: &Jam, blockers: &Blockers, start: State) -> Option<u32> {
    let mut state = start;
    for moves in 0.. {
        match hint(blockers, &state) {
            Hint::Clear(escape) => {
                assert!(state.is_clear(jam, escape));
                return Some(moves);
            }
            Hint::Hopeless(answer) => {
                assert_eq!(answer.par(), None);
                return None;
            }
            Hint::Play {
                action, moves_left, ..
            } => {
                state
                    .play(jam, action)
                    .unwrap_or_else(|why| panic!("{jam:?}: the hint `{action}` is illegal: {why}"));
                let par = solve_from(blockers, &state).par();
                assert_eq!(
                    par,
                    Some(moves_left - 1),
                    "{jam:?}: the hint `{action}` does not lead on"
                );
            }
        }
    }
    unreachable!("each hint leaves fewer moves")
}

#[test]
fn following_hints_takes_exactly_the_optimum_on_random_jams() {
    let large = Sample {
        width: (5, 12),
        height: (5, 12),
        tries: (20, 120),
        max_lights: 24,
    };
    let (mut n_solved, mut n_swapping, mut n_lowering) = (0, 0, 0);
    for number in 0..6_000 {
        let mut stream = Stream::new(derive_seed(&[30, number]));
        let jam = if number % 2 == 0 {
            Sample::SMALL.draw(&mut stream)
        } else {
            large.draw(&mut stream)
        };
        let blockers = Blockers::new(&jam);
        let answer = solve(&jam);
        assert_eq!(follow(&jam, &blockers, State::start(&jam)), answer.par());
        if let Some(optimum) = answer.optimum() {
            n_solved += 1;
            n_swapping += usize::from(optimum.n_swaps > 0);
            n_lowering += usize::from(optimum.lowers_bridge);
        }
    }
    assert!(
        n_solved > 3_000 && n_swapping > 300 && n_lowering > 300,
        "{n_solved} {n_swapping} {n_lowering}"
    );
}

#[test]
fn following_hints_takes_exactly_the_optimum_from_any_state_of_play() {
    for number in 0..2_000 {
        let mut stream = Stream::new(derive_seed(&[31, number]));
        let jam = Sample::SMALL.draw(&mut stream);
        let blockers = Blockers::new(&jam);
        let mut state = State::start(&jam);
        for _ in 0..stream.below(10) {
            let piece = stream.below(jam.n_pieces());
            let action = stream.pick(&[
                Action::Tap(piece),
                Action::Tap(piece),
                Action::Tow(piece),
                Action::Swap,
                Action::Lower,
            ]);
            // An illegal move leaves the state as it was.
            let _ = state.play(&jam, action);
        }
        assert_eq!(
            follow(&jam, &blockers, state),
            solve_from(&blockers, &state).par()
        );
    }
}

#[test]
fn following_hints_takes_exactly_the_optimum_on_generated_levels() {
    let plan = Plan::parse(SHIPPED_PLAN).unwrap();
    for spec in plan.levels().iter().step_by(40) {
        let (found, _) = candidate(&spec.template, spec.seeds[0]).unwrap();
        let found = found.expect("the shipped plan's seeds give levels");
        let blockers = Blockers::new(&found.jam);
        assert_eq!(
            follow(&found.jam, &blockers, State::start(&found.jam)),
            Some(found.measures.par)
        );
    }
}
