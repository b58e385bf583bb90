//! `parforce import`: boards from anywhere into the database, each proved first.

pub(super) mod columns;
mod source;

use std::collections::VecDeque;
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::mpsc;
use std::time::Duration;

use board::cluster::{Explorer, Found};
use board::{Board, Exit, Par, StateLimit, solve};
use clap::ValueEnum;
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, EventKind, EventToWrite, StoreError};
use indicatif::{ProgressBar, ProgressStyle};
use proto::convert::Ack;
use proto::ids::BatchId;
use rayon::prelude::*;
use serde::Serialize;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{DatabaseArguments, Limits, Outcome, UsageError};
use crate::output::{counted, thousands};
use crate::store::OpenStore;
use source::{ColumnNumbers, Line, Source, Stated};

/// Lines proved together, then stored in one transaction.
const MAX_BATCH: usize = 5_000;

/// The same where answers are believed, which are ready at once.
const MAX_TRUSTED_BATCH: usize = 20_000;

/// Batches read ahead of the one that is proved, and batches that are stored meanwhile: what is in memory at once.
const MAX_READ_AHEAD: usize = 1;
const MAX_STORING: usize = 2;

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
        let source = Source::open(name, arguments.columns())?;
        if arguments.trust && !source.states_answers() {
            let told = format!("--trust: {name} needs --par-column and --states-column");
            return Err(UsageError(told).into());
        }
        sources.push((name.clone(), source));
    }
    let store = OpenStore::open(&arguments.database)?;
    let mut import = Import {
        arguments,
        store: &store,
        storing: VecDeque::new(),
        summary: Summary::default(),
        progress: progress_bar(),
    };
    let imported = import.all(sources);
    let summary = import.summary;
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

/// An import under way. Three things happen at once: the next batch is read, this one is proved, and the ones before are
/// stored.
struct Import<'a> {
    arguments: &'a Arguments,
    store: &'a OpenStore,
    /// Batches that are being stored, in order: how many boards each has, and what becomes of it.
    storing: VecDeque<(u64, JoinHandle<Result<Ack, StoreError>>)>,
    summary: Summary,
    progress: ProgressBar,
}

impl Import<'_> {
    fn all(&mut self, sources: Vec<(String, Source)>) -> anyhow::Result<()> {
        let imported = std::thread::scope(|scope| {
            let (sender, batches) = mpsc::sync_channel(MAX_READ_AHEAD);
            let size = if self.arguments.trust {
                MAX_TRUSTED_BATCH
            } else {
                MAX_BATCH
            };
            scope.spawn(move || read_all(sources, size, &sender));
            for batch in batches {
                let (name, lines) = batch?;
                self.batch(&name, &lines)?;
                self.progress.inc(lines.len() as u64);
            }
            anyhow::Ok(())
        });
        // What was handed to the database is waited for, whatever happened since.
        while !self.storing.is_empty() {
            self.wait_for_one()?;
        }
        self.progress.finish_and_clear();
        imported
    }

    fn batch(&mut self, name: &str, lines: &[Line]) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let proved: Vec<Result<Proved, String>> = lines
            .par_iter()
            .map_init(Explorer::new, |explorer, line| {
                let stated = line.read(arguments.exit.into())?;
                if arguments.trust && !is_sampled(line.bytes(), arguments.sample) {
                    believe(stated)
                } else {
                    prove(arguments, explorer, &stated)
                }
            })
            .collect();
        let mut boards: Vec<BoardRow> = Vec::with_capacity(lines.len());
        for (line, proved) in lines.iter().zip(proved) {
            self.summary.read += 1;
            match proved {
                Ok(Proved { found, mismatch }) => {
                    if let Some(mismatch) = mismatch {
                        anyhow::ensure!(
                            !arguments.trust,
                            "{name}: {}: {mismatch}: what this file states is not to be trusted",
                            line.place
                        );
                        self.summary.mismatched += 1;
                        self.tell(&format!("{name}: {}: {mismatch}", line.place));
                    }
                    boards.push(found.into());
                }
                Err(reason) => {
                    self.summary.refused += 1;
                    self.tell(&format!("{name}: {}: refused: {reason}", line.place));
                }
            }
        }
        self.store_boards(name, boards)
    }

    /// Hands boards to the database, and goes on once few enough batches are on their way.
    fn store_boards(&mut self, name: &str, mut boards: Vec<BoardRow>) -> anyhow::Result<()> {
        let n_boards = boards.len() as u64;
        // Sorted and distinct, as the database wants batches.
        boards.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        boards.dedup_by(|a, b| key(a) == key(b));
        let Some(last) = boards.last() else { return Ok(()) };
        let batch = BatchToStore {
            id: BatchId::new(Uuid::new_v4()),
            origin: BatchOrigin::Import(name.to_owned()),
            best_par: Some(last.found.par),
            boards,
            n_known: 0,
            rejections: Vec::new(),
            n_believed: 0,
            board_sum: None,
            strike: None,
            max_strikes: 0,
        };
        let store = self.store.store.clone();
        let storing = self
            .store
            .runtime
            .spawn(async move { store.store_batch(&batch).await });
        self.storing.push_back((n_boards, storing));
        while self.storing.len() > MAX_STORING {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn wait_for_one(&mut self) -> anyhow::Result<()> {
        if let Some((n_boards, storing)) = self.storing.pop_front() {
            let ack = self.store.wait(storing)??;
            self.summary.stored += u64::from(ack.n_inserted);
            self.summary.known += n_boards - u64::from(ack.n_inserted);
        }
        Ok(())
    }

    fn tell(&self, what: &str) {
        self.progress.suspend(|| eprintln!("parforce: {what}"));
    }
}

fn key(row: &BoardRow) -> (Par, &str) {
    (row.found.par, row.found.canonical.as_str())
}

/// Reads all files, batch by batch, until nobody wants more.
fn read_all(
    sources: Vec<(String, Source)>,
    size: usize,
    sender: &mpsc::SyncSender<anyhow::Result<(String, Vec<Line>)>>,
) {
    for (name, mut source) in sources {
        loop {
            let batch = source.next_batch(size);
            if batch.as_ref().is_ok_and(Vec::is_empty) {
                break;
            }
            let is_broken = batch.is_err();
            if sender.send(batch.map(|lines| (name.clone(), lines))).is_err() || is_broken {
                return;
            }
        }
    }
}

/// Whether a line is proved although its file is trusted: by its own bytes, so that the same lines are at every run.
fn is_sampled(line: &[u8], one_in: u64) -> bool {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = line.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    (hash ^ hash >> 32).is_multiple_of(one_in)
}

/// Takes a line at its word.
fn believe(line: Stated) -> Result<Proved, String> {
    let Stated {
        board,
        par,
        states,
        minimal,
    } = line;
    let par = par.ok_or("the line states no par")?;
    let states = states.ok_or("the line states no cluster size")?;
    let found = Found {
        par: Par::new(
            i16::try_from(par)
                .map_err(|_| format!("par {par} is too large"))?
                .cast_unsigned(),
        ),
        canonical: board.canonical(),
        states: states.max(1),
        minimal,
        n_vehicles: u8::try_from(board.n_vehicles()).expect("a board has at most 50 vehicles"),
        n_walls: u8::try_from(board.n_walls())
            .expect("a board has at most 256 squares, two of them the hero's"),
    };
    Ok(Proved {
        found,
        mismatch: None,
    })
}

/// Proves a line: explores the cluster of its board, and compares what it states.
fn prove(arguments: &Arguments, explorer: &mut Explorer, stated: &Stated) -> Result<Proved, String> {
    let board = &stated.board;
    let limit = arguments.limits.states();
    let found = explorer.entry(board, limit).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| String::from("the board is unsolvable"))?;
    let mut wrong = Vec::new();
    if arguments.trust && board.canonical() != found.canonical {
        wrong.push(format!(
            "does not stand for its cluster, expected {}",
            found.canonical
        ));
    }
    if let Some(stated) = stated.par {
        let par = par_of(board, &found, limit)?;
        if stated != u64::from(par.get()) {
            wrong.push(format!("states par {stated}, proved {par}"));
        }
    }
    if let Some(stated) = stated.states.filter(|&stated| stated != found.states) {
        wrong.push(format!(
            "states a cluster of {stated} positions, proved {}",
            found.states
        ));
    }
    if let (Some(stated), Some(proved)) = (stated.minimal, found.minimal)
        && stated != proved
    {
        wrong.push(format!("states minimal {stated}, proved {proved}"));
    }
    let mismatch = (!wrong.is_empty()).then(|| wrong.join("; "));
    Ok(Proved { found, mismatch })
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
