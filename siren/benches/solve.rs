//! Time to solve a level of the last world's size, blockers and both escapes included; every answer is asserted.
//!
//! `cargo bench -p siren`. The levels are generated from the shipped plan first.

use siren::blockers::Blockers;
use siren::closure::{Answer, solve, solve_from};
use siren::generate::candidate;
use siren::hint::{Hint, hint};
use siren::jam::Jam;
use siren::plan::{Plan, SHIPPED_PLAN};
use siren::simulate::{Escape, State, replay};
use std::hint::black_box;
use std::time::Instant;

/// Runs over all levels in one sample: few, so that some samples are not interrupted by other work.
const RUNS: u32 = 5;

/// Samples, of which the fastest and the middle one are told.
const SAMPLES: usize = 500;

fn main() {
    let plan = Plan::parse(SHIPPED_PLAN).expect("the shipped plan is a plan");
    let specs = plan
        .levels()
        .into_iter()
        .filter(|spec| spec.world == "Frontline Valley");
    let found = specs.map(|spec| {
        let (found, _) = candidate(&spec.template, spec.seeds[0]).expect("the shipped plan makes sense");
        found.expect("its seeds give levels")
    });
    let levels: Vec<(Jam, Answer)> = found
        .map(|found| {
            let answer = solve(&found.jam);
            assert_eq!(answer.par(), Some(found.measures.par));
            (found.jam, answer)
        })
        .collect();
    for (jam, answer) in &levels {
        assert!(jam.n_vehicles() > 40);
        for escape in Escape::BOTH {
            let solution = answer.escapes[escape as usize]
                .as_ref()
                .expect("both escapes of a level can be cleared");
            assert!(
                replay(jam, &solution.actions)
                    .expect("a solution is legal")
                    .is_clear(jam, escape)
            );
        }
    }
    let n_pieces: usize = levels.iter().map(|(jam, _)| jam.n_pieces()).sum();
    println!(
        "{} levels of {} pieces on average",
        levels.len(),
        n_pieces / levels.len()
    );

    time("blockers and closures", &levels, |jam, answer| {
        assert_eq!(&solve(black_box(jam)), answer);
    });
    time("blockers", &levels, |jam, _| {
        black_box(Blockers::new(black_box(jam)));
    });
    let prepared: Vec<(Blockers, State)> = levels
        .iter()
        .map(|(jam, _)| (Blockers::new(jam), State::start(jam)))
        .collect();
    let mut turn = prepared.iter().cycle();
    time("closures", &levels, |_, answer| {
        let (blockers, state) = turn.next().expect("a cycle does not end");
        assert_eq!(&solve_from(black_box(blockers), black_box(state)), answer);
    });
    let mut turn = prepared.iter().cycle();
    time("hint", &levels, |_, answer| {
        let (blockers, state) = turn.next().expect("a cycle does not end");
        let Hint::Play { moves_left, .. } = hint(black_box(blockers), black_box(state)) else {
            panic!("no move")
        };
        assert_eq!(Some(moves_left), answer.par());
    });
}

fn time(what: &str, levels: &[(Jam, Answer)], mut solve: impl FnMut(&Jam, &Answer)) {
    let n_levels = u32::try_from(levels.len()).expect("a world has few levels");
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..RUNS {
                for (jam, answer) in levels {
                    solve(jam, answer);
                }
            }
            start.elapsed().as_secs_f64() * 1e6 / f64::from(RUNS * n_levels)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    println!(
        "{what:24} {:6.2} microseconds a level, {:6.2} in the middle",
        samples[0],
        samples[SAMPLES / 2]
    );
}
