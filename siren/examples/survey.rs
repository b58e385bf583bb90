//! How the generator fares on every level of the shipped plan: `cargo run --release -p siren --example survey`

use siren::generate::candidate;
use siren::plan::{Plan, SHIPPED_PLAN};

fn main() {
    let plan = Plan::parse(SHIPPED_PLAN).expect("the shipped plan is a plan");
    for spec in plan.levels() {
        print!("{:24}", spec.file_stem());
        for seed in spec.seeds {
            let (found, tally) = candidate(&spec.template, seed).expect("the shipped plan makes sense");
            match found {
                Some(found) => print!(
                    " {}/{}/{}:{}",
                    tally.attempts, tally.survived, tally.in_range, found.score.misses
                ),
                None => print!(" {}/none", tally.attempts),
            }
        }
        println!();
    }
}
