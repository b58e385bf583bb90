//! How the generator fares on the shipped plan: for each level the attempts of its six seeds, how many survived, how
//! many meet every range, and what the best one misses. `cargo run --release -p siren --example survey [LEVEL]`
//!
//! LEVEL is the beginning of a level's file name, such as `8-`; with `--draw` the first seed's level is drawn too.

use siren::draw;
use siren::generate::candidate;
use siren::plan::{Plan, SHIPPED_PLAN};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let draws = arguments
        .iter()
        .position(|argument| argument == "--draw")
        .map(|at| arguments.remove(at))
        .is_some();
    let wanted = arguments.first().cloned().unwrap_or_default();
    let plan = Plan::parse(SHIPPED_PLAN).expect("the shipped plan is a plan");
    for spec in plan
        .levels()
        .into_iter()
        .filter(|spec| spec.file_stem().starts_with(&wanted))
    {
        print!("{:24}", spec.file_stem());
        let found = spec
            .seeds
            .map(|seed| candidate(&spec.template, seed).expect("the shipped plan makes sense"));
        for (best, tally) in &found {
            let misses = best
                .as_ref()
                .map_or("none".to_owned(), |best| best.score.misses.to_string());
            print!(
                "  {} {} {} {misses}",
                tally.attempts, tally.survived, tally.in_range
            );
        }
        println!();
        if let Some(best) = found[0].0.as_ref().filter(|_| draws) {
            println!("{:?}\n{}", best.measures, draw::text(&best.jam));
        }
    }
}
