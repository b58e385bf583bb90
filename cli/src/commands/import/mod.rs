//! `parforce import`: boards from anywhere into the database, each proved first.

pub(super) mod columns;
mod pipeline;
mod proof;
mod source;

use std::io::{BufWriter, Write};

use board::Exit;
use clap::ValueEnum;
use coordinator::store::{EventKind, EventToWrite};
use serde::Serialize;

use super::{DatabaseArguments, Limits, Outcome, UsageError};
use crate::output::{counted, thousands};
use crate::store::OpenStore;
use pipeline::Import;
use source::{ColumnNumbers, Source};

/// Take boards into the database: each is proved, and its cluster's representative stored.
///
/// Reads any text with one board a line, and what `parforce export` writes (CSV, JSON lines and Parquet are told by how
/// they begin); blank lines and lines that begin with # are skipped. Lines that are no legal board, or whose board is
/// unsolvable, are refused: each with its number and the reason, on standard error. With --par-column and --states-column
/// what a line states is compared with what was proved; what differs is told, and the proved answer is stored.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce import boards.txt
  parforce import rush.txt --column 2 --par-column 1 --states-column 3
  zcat corpus.csv.gz | parforce import - --column 4 --exit left
  parforce import rush.txt --column 2 --par-column 1 --states-column 3 --trust
  parforce import boards.parquet --trust

Exit status: 1 if a line was refused or stated something else")]
pub(crate) struct Arguments {
    /// The files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Which column of each line is the board, counted from 1; columns are separated by commas or blanks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    column: u16,
    /// Which column states the board's par
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    par_column: Option<u16>,
    /// Which column states the number of positions in its cluster
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    states_column: Option<u16>,
    /// Believe what the columns state, and that each board stands for its cluster; prove one board in --sample. The
    /// first that is wrong ends the import, before anything of its batch is stored
    #[arg(long)]
    trust: bool,
    /// With --trust: prove one board in so many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    sample: u64,
    /// Where the exit is on these boards; they are turned so that it is on the right
    #[arg(long, value_enum, default_value = "right")]
    exit: ExitSide,
    /// Print the summary as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExitSide {
    Right,
    Left,
    Top,
    Bottom,
}

impl From<ExitSide> for Exit {
    fn from(side: ExitSide) -> Exit {
        match side {
            ExitSide::Right => Exit::Right,
            ExitSide::Left => Exit::Left,
            ExitSide::Top => Exit::Top,
            ExitSide::Bottom => Exit::Bottom,
        }
    }
}

/// What came of an import.
#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Lines that should hold a board.
    read: u64,
    /// Rows that are new in the database.
    stored: u64,
    /// Boards whose cluster was in the database, or came twice.
    known: u64,
    /// Lines refused.
    refused: u64,
    /// Lines that stated something that is not so.
    mismatched: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    // All files are opened first: a name that was mistyped is better told before hours of work.
    let mut sources = Vec::new();
    for name in &arguments.files {
        let source = Source::open(name, arguments.columns())?;
        if arguments.trust && !source.states_answers() {
            let told = format!("--trust: {name} needs --par-column and --states-column");
            return Err(UsageError(told).into());
        }
        sources.push((name.clone(), source));
    }
    let store = OpenStore::open(&arguments.database)?;
    let (summary, imported) = Import::new(arguments, &store).run(sources);
    if imported.is_ok() {
        note(&store, arguments, &summary)?;
    }
    store.close()?;
    imported?;
    let mut out = BufWriter::new(std::io::stdout());
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&summary)?)?;
    } else {
        writeln!(out, "{}", told(&summary))?;
    }
    out.flush()?;
    Ok(if summary.refused + summary.mismatched == 0 {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

impl Arguments {
    fn columns(&self) -> ColumnNumbers {
        ColumnNumbers {
            board: self.column,
            par: self.par_column,
            states: self.states_column,
            minimal: None,
        }
    }
}

fn told(summary: &Summary) -> String {
    let Summary {
        read,
        stored,
        known,
        refused,
        mismatched,
    } = summary;
    let mut text = format!(
        "{} read: {} stored, {} known already, {} refused",
        counted(*read, "board"),
        thousands(*stored),
        thousands(*known),
        thousands(*refused),
    );
    if *mismatched > 0 {
        text.push_str("; ");
        text.push_str(&thousands(*mismatched));
        text.push_str(" stated something else than was proved");
    }
    text
}

/// A line for the event log.
fn note(store: &OpenStore, arguments: &Arguments, summary: &Summary) -> anyhow::Result<()> {
    let detail = format!("{}: {}", arguments.files.join(", "), told(summary));
    let event = EventToWrite::new("operator", EventKind::BoardsImported, &detail);
    Ok(store.wait(store.store.write_event(&event))?)
}
