//! `parforce canon`: the canonical spelling, and the representative of the board's cluster.

use board::Board;
use board::cluster::Explorer;
use serde::Serialize;

use super::{Limits, Outcome};
use crate::answers::{Answer, answer_all};
use crate::input::BoardArguments;

/// Spell boards canonically, and name the representative of each one's cluster.
///
/// The canonical spelling is of the position as it stands. The representative is the spelling that the database knows
/// the whole cluster by: a hardest position of it. It is left out where there is none (the board is unsolvable) and
/// where the cluster has more positions than the limit.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce canon ooZoooooZoooAAZBoooooBoooooooooooooo
  parforce canon --no-representative --column 2 boards.txt

JSON: {\"canonical\", \"representative\" (may be absent)}")]
pub(crate) struct Arguments {
    #[command(flatten)]
    boards: BoardArguments,
    #[command(flatten)]
    limits: Limits,
    /// Leave the representative out, which needs no search
    #[arg(long)]
    no_representative: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Spelled {
    canonical: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    representative: Option<String>,
}

impl Answer for Spelled {
    fn for_people(&self, _board: &Board, alone: bool) -> String {
        match (&self.representative, alone) {
            (Some(representative), true) => {
                format!(
                    "canonical       {}\nrepresentative  {representative}",
                    self.canonical
                )
            }
            (Some(representative), false) => format!("{}  {representative}", self.canonical),
            (None, _) => self.canonical.clone(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let limit = arguments.limits.states();
    answer_all(
        &arguments.boards,
        arguments.json,
        |explorer: &mut Explorer, board| {
            let entry = if arguments.no_representative {
                None
            } else {
                explorer.entry(board, limit).ok().flatten()
            };
            Ok(Spelled {
                canonical: board.canonical().to_string(),
                representative: entry.map(|found| found.canonical.to_string()),
            })
        },
    )
}
