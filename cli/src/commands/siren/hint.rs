//! `parforce siren hint`: the next move from a state of play.

use std::path::PathBuf;

use anyhow::Context;
use serde_json::json;
use siren::blockers::Blockers;
use siren::hint::{Hint, hint};
use siren::simulate::{Action, State};

use super::super::{Outcome, UsageError};
use super::files;

/// Name the next move of a level, from its start or after moves already played
///
/// Following hints from the start takes exactly the fewest moves.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
JSON: {\"move\", \"escape\", \"moves_left\", \"frees\"}, {\"clear\": escape} or {\"hopeless\": [forward, reverse]}.")]
pub(super) struct Arguments {
    /// A level file (`-`: standard input)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Moves played so far, separated by commas: "tap 3, swap, tow 7"
    #[arg(long, value_name = "MOVES", default_value = "")]
    played: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let name = arguments.file.display();
    let level = match files::read_level(&arguments.file)? {
        Ok(level) => level,
        Err(why) => {
            say!("{name}: {why}");
            return Ok(Outcome::Refused);
        }
    };
    let mut state = State::start(&level.jam);
    for text in arguments
        .played
        .split(',')
        .map(str::trim)
        .filter(|text| !text.is_empty())
    {
        let action: Action = text
            .parse()
            .map_err(|why| UsageError(format!("--played: {why}")))?;
        state
            .play(&level.jam, action)
            .with_context(|| format!("--played: `{action}` is not legal there"))?;
    }
    let hint = hint(&Blockers::new(&level.jam), &state);
    if arguments.json {
        println!("{}", as_json(&hint));
    } else {
        println!("{}", for_people(&hint));
    }
    Ok(Outcome::Done)
}

fn as_json(hint: &Hint) -> serde_json::Value {
    match hint {
        Hint::Clear(escape) => json!({ "clear": escape }),
        Hint::Play {
            action,
            escape,
            moves_left,
            frees,
        } => {
            json!({ "move": action.to_string(), "escape": escape, "moves_left": moves_left, "frees": frees })
        }
        Hint::Hopeless(answer) => json!({ "hopeless": reasons(answer) }),
    }
}

fn for_people(hint: &Hint) -> String {
    match hint {
        Hint::Clear(escape) => format!("the {escape} lane is clear: drive"),
        Hint::Play {
            action,
            escape,
            moves_left,
            frees,
        } => {
            format!("{action}  ({escape}, {moves_left} to go, frees {frees})")
        }
        Hint::Hopeless(answer) => format!("no way out any more: {}", reasons(answer).join("; ")),
    }
}

fn reasons(answer: &siren::closure::Answer) -> Vec<String> {
    answer
        .escapes
        .iter()
        .filter_map(|verdict| verdict.as_ref().err().map(ToString::to_string))
        .collect()
}
