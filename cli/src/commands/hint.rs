//! `parforce hint`: the next slide.

use board::{Board, solve};
use serde::Serialize;

use super::{Limits, Outcome};
use crate::answers::{Answer, answer_all};
use crate::input::BoardArguments;

/// Tell the next slide: the first of a shortest solution, and how far there is to go.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example:
  parforce hint BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE

JSON: {\"slide\", \"par\"}; slide is null on a solved board, both are null on an unsolvable one")]
pub(crate) struct Arguments {
    #[command(flatten)]
    boards: BoardArguments,
    #[command(flatten)]
    limits: Limits,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Hinted {
    slide: Option<String>,
    par: Option<u16>,
}

impl Answer for Hinted {
    fn for_people(&self, _board: &Board, _alone: bool) -> String {
        match (&self.slide, self.par) {
            (Some(slide), Some(par)) => format!("{slide}  (par {par})"),
            (None, Some(_)) => String::from("solved"),
            (_, None) => String::from("unsolvable"),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let limit = arguments.limits.states();
    answer_all(&arguments.boards, arguments.json, |_, board| {
        let hint = solve::hint(board, limit).map_err(|error| error.to_string())?;
        Ok(Hinted {
            slide: hint.slide.map(|slide| board.spell_slide(slide)),
            par: hint.par.map(board::Par::get),
        })
    })
}
