//! `parforce siren solve`: both escapes, their costs and moves.

use std::path::PathBuf;

use serde_json::{Value, json};
use siren::blockers::Blockers;
use siren::canonical::Canonical;
use siren::closure::{Answer, Hopeless, Solution, solve_from};
use siren::jam::Jam;
use siren::rating::Rating;
use siren::simulate::{Escape, State};

use super::super::Outcome;
use super::files;
use crate::output::counted;

/// Solve levels: both escapes, exactly
///
/// Says for each escape its fewest moves and what they are, or why it can never be cleared; the cheaper one is the
/// optimum, forward on a tie. A level that cannot be solved is an answer, not an error.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
JSON: {\"file\", \"par\" (null: unsolvable), \"escape\", \"gap\", \"forward\", \"reverse\", \"difficulty\", \"seconds\", \
\"canonical\"}; an escape is {\"cost\", \"moves\", \"swaps\", \"bridge\", \"depth\", \"locked\"} or {\"hopeless\"}.")]
pub(super) struct Arguments {
    /// Level files, or folders of them (`-`: standard input)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for file in files::level_files(&arguments.files)? {
        let name = file.display().to_string();
        match files::read_level(&file)? {
            Err(why) => {
                outcome = Outcome::Refused;
                if arguments.json {
                    println!("{}", json!({ "file": name, "error": why }));
                } else {
                    say!("{name}: {why}");
                }
            }
            Ok(level) => {
                let blockers = Blockers::new(&level.jam);
                let answer = solve_from(&blockers, &State::start(&level.jam));
                if arguments.json {
                    println!("{}", as_json(&name, &level.jam, &blockers, &answer));
                } else {
                    print!("{}", for_people(&name, &level.jam, &blockers, &answer));
                }
            }
        }
    }
    Ok(outcome)
}

fn as_json(name: &str, jam: &Jam, blockers: &Blockers, answer: &Answer) -> Value {
    let rating = answer
        .optimum()
        .map(|optimum| Rating::new(jam, blockers, optimum));
    json!({
        "file": name,
        "par": answer.par(),
        "escape": answer.optimum().map(|optimum| optimum.escape),
        "gap": answer.gap(),
        "forward": escape_json(&answer.escapes[0]),
        "reverse": escape_json(&answer.escapes[1]),
        "difficulty": rating.map(|rating| rating.difficulty()),
        "seconds": rating.map(|rating| rating.star_seconds.three),
        "canonical": Canonical::new(jam).as_str(),
    })
}

fn escape_json(verdict: &Result<Solution, Hopeless>) -> Value {
    match verdict {
        Err(why) => json!({ "hopeless": why.to_string() }),
        Ok(solution) => json!({
            "cost": solution.cost(),
            "moves": moves(solution),
            "swaps": solution.n_swaps,
            "bridge": solution.lowers_bridge,
            "depth": solution.depth,
            "locked": solution.n_locked,
        }),
    }
}

fn moves(solution: &Solution) -> Vec<String> {
    solution.actions.iter().map(ToString::to_string).collect()
}

fn for_people(name: &str, jam: &Jam, blockers: &Blockers, answer: &Answer) -> String {
    let mut lines = vec![match answer.optimum() {
        None => format!("{name}: no way out"),
        Some(optimum) => {
            let rating = Rating::new(jam, blockers, optimum);
            format!(
                "{name}: {} {}, difficulty {} of 10, about {}",
                counted(optimum.cost().into(), "move"),
                optimum.escape,
                rating.difficulty(),
                counted(rating.star_seconds.three.into(), "second")
            )
        }
    }];
    for (escape, verdict) in Escape::BOTH.into_iter().zip(&answer.escapes) {
        lines.push(match verdict {
            Err(why) => format!("  {escape}: {why}"),
            Ok(solution) => format!("  {escape} {}: {}", solution.cost(), moves(solution).join(", ")),
        });
    }
    lines.join("\n") + "\n"
}
