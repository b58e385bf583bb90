//! An import under way. Three things happen at once: the next batch is read, this one is judged, and the ones before are
//! stored.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::Duration;

use board::Par;
use board::cluster::Explorer;
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, Store, StoreError};
use indicatif::{ProgressBar, ProgressStyle};
use proto::convert::Ack;
use proto::ids::BatchId;
use rayon::prelude::*;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::proof::{Proved, judge};
use super::source::{Line, Source};
use super::{Arguments, Summary};
use crate::store::OpenStore;

/// Lines proved together, then stored in one transaction.
const MAX_BATCH: usize = 5_000;

/// The same where answers are believed, which are ready at once. The more boards are sorted together, the more of them
/// share a page of the index.
const MAX_TRUSTED_BATCH: usize = 50_000;

/// Batches read ahead of the one that is judged, and batches that are stored meanwhile: what is in memory at once.
const MAX_READ_AHEAD: usize = 1;
const MAX_STORING: usize = 2;

/// An import under way.
pub(super) struct Import<'a> {
    arguments: &'a Arguments,
    database: &'a OpenStore,
    /// Remembers no boards: what is imported is looked at once.
    store: Store,
    /// Batches that are being stored, in order: how many boards each has, and what becomes of it.
    storing: VecDeque<(u64, JoinHandle<Result<Ack, StoreError>>)>,
    /// Whether all boards of the batch stored last were new.
    were_new: bool,
    summary: Summary,
    progress: ProgressBar,
}

impl<'a> Import<'a> {
    pub(super) fn new(arguments: &'a Arguments, database: &'a OpenStore) -> Import<'a> {
        Import {
            arguments,
            database,
            store: database.store.remembering(0),
            storing: VecDeque::new(),
            were_new: true,
            summary: Summary::default(),
            progress: progress_bar(),
        }
    }

    /// Imports all files. What was stored before something went wrong stays, and is in the summary.
    pub(super) fn run(mut self, sources: Vec<(String, Source)>) -> (Summary, anyhow::Result<()>) {
        let imported = self.all(sources);
        // What was handed to the database is waited for, whatever happened since.
        let stored = self.wait_for_all();
        self.progress.finish_and_clear();
        (self.summary, imported.and(stored))
    }

    fn all(&mut self, sources: Vec<(String, Source)>) -> anyhow::Result<()> {
        std::thread::scope(|scope| {
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
        })
    }

    fn batch(&mut self, name: &str, lines: &[Line]) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let judged: Vec<Result<Proved, String>> = lines
            .par_iter()
            .map_init(Explorer::new, |explorer, line| judge(arguments, explorer, line))
            .collect();
        let mut boards: Vec<BoardRow> = Vec::with_capacity(lines.len());
        for (line, judged) in lines.iter().zip(judged) {
            self.summary.read += 1;
            match judged {
                Ok(Proved { row, mismatch }) => {
                    if let Some(mismatch) = mismatch {
                        anyhow::ensure!(
                            !arguments.trust,
                            "{name}: {}: {mismatch}: what this file states is not to be trusted",
                            line.place
                        );
                        self.summary.mismatched += 1;
                        self.tell(&format!("{name}: {}: {mismatch}", line.place));
                    }
                    boards.push(row);
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
            are_new: self.were_new,
            n_known: 0,
            rejections: Vec::new(),
            n_believed: 0,
            board_sum: None,
            strike: None,
            max_strikes: 0,
        };
        let store = self.store.clone();
        let storing = self
            .database
            .runtime
            .spawn(async move { store.store_batch(&batch).await });
        self.storing.push_back((n_boards, storing));
        while self.storing.len() > MAX_STORING {
            self.wait_for_one()?;
        }
        Ok(())
    }

    fn wait_for_all(&mut self) -> anyhow::Result<()> {
        let mut all = Ok(());
        while !self.storing.is_empty() {
            all = all.and(self.wait_for_one());
        }
        all
    }

    fn wait_for_one(&mut self) -> anyhow::Result<()> {
        if let Some((n_boards, storing)) = self.storing.pop_front() {
            let ack = self.database.wait(storing)??;
            let n_inserted = u64::from(ack.n_inserted);
            self.were_new = ack.n_duplicate == 0;
            self.summary.stored += n_inserted;
            self.summary.known += n_boards - n_inserted;
        }
        Ok(())
    }

    fn tell(&self, what: &str) {
        self.progress.suspend(|| say!("parforce: {what}"));
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
