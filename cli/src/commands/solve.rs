//! `parforce solve`: par and a shortest solution.

use board::{Board, StateLimit, solve};
use serde::Serialize;

use super::{Limits, Outcome};
use crate::answers::{Answer, answer_all};
use crate::input::BoardArguments;
use crate::output::{counted, thousands};

/// Find par and a shortest solution.
///
/// Par is the fewest slides, where a slide is one vehicle moving any number of free squares. Slides are named by the
/// vehicle's letter and the squares, right and down positive. An unsolvable board is an answer, not an error.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce solve BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE
  parforce solve --json --column 4 cards.txt
  parforce solve 7x6:ooooooooooooooAAoooBooooooBooooooooooooooo

JSON: {\"canonical\", \"par\" (null: unsolvable), \"steps\", \"solution\", \"states\"}")]
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
struct Solved {
    canonical: String,
    par: Option<u16>,
    steps: u64,
    solution: Vec<String>,
    states: u64,
}

impl Answer for Solved {
    fn for_people(&self, board: &Board, alone: bool) -> String {
        let solution = self.solution.join(" ");
        match (self.par, alone) {
            (None, true) => format!(
                "{}\nunsolvable, {} searched",
                super::show::picture(board),
                counted(self.states, "position")
            ),
            (None, false) => format!("unsolvable  {board}"),
            (Some(par), true) => format!(
                "{}\npar {par}, {}, {} searched\n{solution}",
                super::show::picture(board),
                counted(self.steps, "step"),
                counted(self.states, "position"),
            ),
            (Some(par), false) => format!("{:>3}  {:>4}  {board}  {solution}", par, thousands(self.steps)),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let limit: StateLimit = arguments.limits.states();
    answer_all(&arguments.boards, arguments.json, |_, board| {
        let answer = solve::solve(board, limit).map_err(|error| error.to_string())?;
        Ok(Solved {
            canonical: board.canonical().to_string(),
            par: answer.par.map(board::Par::get),
            steps: answer.steps,
            solution: answer
                .solution
                .iter()
                .map(|slide| board.spell_slide(*slide))
                .collect(),
            states: answer.states,
        })
    })
}
