//! `parforce import`: boards from anywhere into the database, each proved first.

use std::collections::BTreeMap;
use std::io::{BufWriter, IsTerminal, Write};
use std::time::Duration;

use board::cluster::{Explorer, Found};
use board::{Board, Exit, Par, StateLimit, solve};
use clap::ValueEnum;
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, EventKind, EventToWrite};
use indicatif::{ProgressBar, ProgressStyle};
use proto::ids::BatchId;
use rayon::prelude::*;
use serde::Serialize;
use uuid::Uuid;

use super::{DatabaseArguments, Limits, Outcome, UsageError};
use crate::input::{self, Entry, Lines};
use crate::output::{counted, thousands};
use crate::store::OpenStore;

/// Lines proved together, then stored in one transaction.
const MAX_BATCH: usize = 5_000;

/// The same where answers are believed, which are ready at once.
const MAX_TRUSTED_BATCH: usize = 20_000;

/// Take boards into the database: each is proved, and its cluster's representative stored.
///
/// Reads any text with one board a line; blank lines and lines that begin with # are skipped. Lines that are no legal
/// board, or whose board is unsolvable, are refused: each with its number and the reason, on standard error. With
/// --par-column and --states-column what a line states is compared with what was proved; what differs is told, and the
/// proved answer is stored.
///
/// Examples:
///   parforce import boards.txt
///   parforce import rush.txt --column 2 --par-column 1 --states-column 3
///   zcat corpus.csv.gz | parforce import - --column 4 --exit left
///   parforce import rush.txt --column 2 --par-column 1 --states-column 3 --trust
///
/// Exit status: 1 if a line was refused or stated something else
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
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
    #[arg(long, requires_all = ["par_column", "states_column"])]
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

/// What was proved of a line.
struct Proved {
    found: Found,
    /// What the line states and is not so.
    mismatch: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    // All files are opened first: a name that was mistyped is better told before hours of work.
    let mut sources = Vec::new();
    for name in &arguments.files {
        let reader = input::open(name)?.ok_or_else(|| UsageError(format!("there is no file {name}")))?;
        sources.push((name.as_str(), reader));
    }
    let store = OpenStore::open(&arguments.database)?;
    let mut summary = Summary::default();
    let progress = progress_bar();
    for (name, reader) in sources {
        let mut lines = Lines::new(reader, usize::from(arguments.column));
        loop {
            let batch = lines
                .by_ref()
                .take(if arguments.trust {
                    MAX_TRUSTED_BATCH
                } else {
                    MAX_BATCH
                })
                .collect::<Result<Vec<Entry>, _>>()?;
            if batch.is_empty() {
                break;
            }
            import_batch(arguments, name, &batch, &store, &progress, &mut summary)?;
            progress.inc(batch.len() as u64);
        }
    }
    progress.finish_and_clear();
    note(&store, arguments, &summary)?;
    store.close()?;
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

fn import_batch(
    arguments: &Arguments,
    name: &str,
    batch: &[Entry],
    store: &OpenStore,
    progress: &ProgressBar,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let proved: Vec<Result<Proved, String>> = batch
        .par_iter()
        .map_init(Explorer::new, |explorer, entry| {
            if arguments.trust && !is_sampled(&entry.line, arguments.sample) {
                believe(arguments, entry)
            } else {
                prove(arguments, explorer, entry)
            }
        })
        .collect();
    // Sorted and distinct, as the database wants batches.
    let mut boards: BTreeMap<(Par, String), Found> = BTreeMap::new();
    let mut n_proved = 0_u64;
    for (entry, proved) in batch.iter().zip(proved) {
        summary.read += 1;
        match proved {
            Ok(Proved { found, mismatch }) => {
                n_proved += 1;
                if let Some(mismatch) = mismatch.as_ref().filter(|_| arguments.trust) {
                    anyhow::bail!(
                        "{name}: {}: {mismatch}: what this file states is not to be trusted",
                        entry.place
                    );
                }
                if let Some(mismatch) = mismatch {
                    summary.mismatched += 1;
                    progress.suspend(|| eprintln!("parforce: {name}: {}: {mismatch}", entry.place));
                }
                boards.insert((found.par, found.canonical.to_string()), found);
            }
            Err(reason) => {
                summary.refused += 1;
                progress.suspend(|| eprintln!("parforce: {name}: {}: refused: {reason}", entry.place));
            }
        }
    }
    if boards.is_empty() {
        return Ok(());
    }
    let batch = BatchToStore {
        id: BatchId::new(Uuid::new_v4()),
        origin: BatchOrigin::Import(name.to_owned()),
        best_par: boards.keys().next_back().map(|(par, _)| *par),
        boards: boards.into_values().map(BoardRow::from).collect(),
        n_known: 0,
        rejections: Vec::new(),
        strike: None,
        max_strikes: 0,
    };
    let ack = store.wait(store.store.store_batch(&batch))?;
    summary.stored += u64::from(ack.n_inserted);
    summary.known += n_proved - u64::from(ack.n_inserted);
    Ok(())
}

/// Whether a line is proved although its file is trusted: by its own bytes, so that the same lines are at every run.
fn is_sampled(line: &str, one_in: u64) -> bool {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = line.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    (hash ^ hash >> 32).is_multiple_of(one_in)
}

/// Takes a line at its word.
fn believe(arguments: &Arguments, entry: &Entry) -> Result<Proved, String> {
    let text = entry.text.as_deref().map_err(Clone::clone)?;
    let board = Board::parse_with_exit(text, arguments.exit.into()).map_err(|error| error.to_string())?;
    let par = stated(entry, arguments.par_column, "par")?.unwrap_or_default();
    let found = Found {
        par: Par::new(u16::try_from(par).map_err(|_| format!("par {par} is too large"))?),
        canonical: board.canonical(),
        states: stated(entry, arguments.states_column, "states")?
            .unwrap_or_default()
            .max(1),
        // Nobody has looked.
        minimal: None,
        n_vehicles: u8::try_from(board.n_vehicles()).expect("a board has at most 50 vehicles"),
        n_walls: u8::try_from(board.n_walls())
            .expect("a board has at most 256 squares, two of them the hero's"),
    };
    Ok(Proved {
        found,
        mismatch: None,
    })
}

/// Proves a line: reads its board, explores its cluster, and compares what it states.
fn prove(arguments: &Arguments, explorer: &mut Explorer, entry: &Entry) -> Result<Proved, String> {
    let text = entry.text.as_deref().map_err(Clone::clone)?;
    let board = Board::parse_with_exit(text, arguments.exit.into()).map_err(|error| error.to_string())?;
    let limit = arguments.limits.states();
    let found = explorer.entry(&board, limit).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| String::from("the board is unsolvable"))?;
    let mut wrong = Vec::new();
    if arguments.trust && board.canonical() != found.canonical {
        wrong.push(format!(
            "does not stand for its cluster, expected {}",
            found.canonical
        ));
    }
    if let Some(stated) = stated(entry, arguments.par_column, "par")? {
        let par = par_of(&board, &found, limit)?;
        if stated != u64::from(par.get()) {
            wrong.push(format!("states par {stated}, proved {par}"));
        }
    }
    if let Some(stated) = stated(entry, arguments.states_column, "states")?
        && stated != found.states
    {
        wrong.push(format!(
            "states a cluster of {stated} positions, proved {}",
            found.states
        ));
    }
    let mismatch = (!wrong.is_empty()).then(|| wrong.join("; "));
    Ok(Proved { found, mismatch })
}

/// What a column of a line states, if one was named.
fn stated(entry: &Entry, column: Option<u16>, what: &str) -> Result<Option<u64>, String> {
    let Some(column) = column else { return Ok(None) };
    let columns = input::columns(&entry.line);
    let text = columns
        .get(usize::from(column) - 1)
        .ok_or_else(|| format!("the line has no column {column} for {what}"))?;
    text.parse()
        .map(Some)
        .map_err(|_| format!("column {column} is {text:?}, expected {what} as a number"))
}

/// The par of the board as it stands, which is its cluster's only if it is the representative.
fn par_of(board: &Board, found: &Found, limit: StateLimit) -> Result<Par, String> {
    if board.canonical() == found.canonical {
        return Ok(found.par);
    }
    let answer = solve::solve(board, limit).map_err(|error| error.to_string())?;
    Ok(answer.par.expect("a board of a solvable cluster is solvable"))
}

/// A count of lines on a terminal, nothing elsewhere.
fn progress_bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {human_pos} boards proved, {per_sec}, {elapsed}")
        .expect("the template is well formed");
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
