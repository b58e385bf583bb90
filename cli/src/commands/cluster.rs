//! `parforce cluster`: all positions reachable from a board.

use board::Board;
use serde::Serialize;

use super::{Limits, Outcome};
use crate::answers::{Answer, answer_all};
use crate::input::BoardArguments;
use crate::output::{bars, counted, thousands};

/// Explore a board's cluster: all positions reachable from it, and how far each is from a solved one.
///
/// Its depth is the largest par in it, and its representative the position that the database knows it by: one at that
/// depth, mirrored top to bottom where the canonical spelling asks for it. It is minimal if no vehicle or wall can be
/// taken away without its par falling. Lots up to 8x8.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce cluster GooBBBGooIoKAAoIJKCCCoJKooHoDDEEHFFo
  parforce cluster --json --column 2 boards.txt

JSON: {\"representative\", \"par\", \"states\", \"minimal\", \"histogram\"}: histogram[d] is the number of positions at par d; \
representative, par and minimal are null and the histogram is empty for an unsolvable cluster")]
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
struct Explored {
    representative: Option<String>,
    par: Option<u16>,
    states: u64,
    minimal: Option<bool>,
    histogram: Vec<u64>,
}

impl Explored {
    /// `minimal`, `not minimal`, or nothing where there is no representative.
    fn minimal(&self) -> &'static str {
        match self.minimal {
            Some(true) => "minimal",
            Some(false) => "not minimal",
            None => "",
        }
    }
}

impl Answer for Explored {
    fn for_people(&self, _board: &Board, alone: bool) -> String {
        let (Some(par), Some(representative)) = (self.par, &self.representative) else {
            return format!("unsolvable  {}", counted(self.states, "position"));
        };
        if !alone {
            let minimal = self.minimal();
            return format!(
                "{par:>3}  {:>11}  {minimal:<11}  {representative}",
                thousands(self.states)
            );
        }
        let board = Board::parse(representative).expect("a canonical spelling is a legal board");
        let counts: Vec<(u64, u64)> = (0..).zip(self.histogram.iter().copied()).collect();
        format!(
            "{}\nrepresentative  {representative}\npar {par}, {}, {}\n\n{}",
            super::show::picture(&board),
            counted(self.states, "position"),
            self.minimal(),
            bars::distribution("positions", &counts).trim_end(),
        )
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let limit = arguments.limits.states();
    answer_all(&arguments.boards, arguments.json, |explorer, board| {
        let cluster = explorer
            .explore(board, limit)
            .map_err(|error| error.to_string())?;
        let entry = explorer.entry(board, limit).map_err(|error| error.to_string())?;
        Ok(Explored {
            par: cluster.depth.map(board::Par::get),
            states: cluster.states,
            minimal: entry.as_ref().and_then(|found| found.minimal),
            representative: entry.map(|found| found.canonical.to_string()),
            histogram: cluster.histogram,
        })
    })
}
