//! Imports: boards from elsewhere, each proved, each cluster's representative stored.

use board::cluster::{ExploreError, Found};
use board::{Board, Par};
use proto::ids::BatchId;
use thiserror::Error;
use uuid::Uuid;

use crate::prove::Prover;
use crate::store::{BatchOrigin, BatchToStore, BoardRow, EventKind, EventToWrite, Store, StoreError};

/// Boards proved and stored together. Bounds what is in memory, and what is lost when an import is broken off.
const CHUNK: usize = 5_000;

/// A board to import, with what is stated about its cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportLine {
    /// Where it stood, for reports.
    pub line: u64,
    /// The board, any position of its cluster.
    pub board: Board,
    /// The depth of its cluster; a board of another depth is refused. `None`: nothing is stated.
    pub stated_par: Option<Par>,
    /// The size of its cluster; a board of another one is refused. `None`: nothing is stated.
    pub stated_states: Option<u64>,
}

/// A board that was not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where it stood.
    pub line: u64,
    /// Why.
    pub reason: ImportRefusal,
}

/// Why a board was not imported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImportRefusal {
    /// No position of its cluster is solved.
    #[error("board has no solution")]
    Unsolvable,
    /// It cannot be proved.
    #[error(transparent)]
    Explore(#[from] ExploreError),
    /// Its par is another.
    #[error("stated par {stated}, proved {proved}")]
    WrongPar {
        /// As it was stated.
        stated: Par,
        /// As it is.
        proved: Par,
    },
    /// Its cluster is of another size.
    #[error("stated {stated} positions, counted {counted}")]
    WrongStates {
        /// As it was stated.
        stated: u64,
        /// As it is.
        counted: u64,
    },
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Boards read.
    pub n_read: u64,
    /// Boards stored that were not known.
    pub n_inserted: u64,
    /// Boards that were known, or stood there twice.
    pub n_duplicate: u64,
    /// Boards refused.
    pub n_refused: u64,
}

/// Proves and stores boards, chunk by chunk; `on_refused` hears of each that was not. Broken off and repeated, it finds
/// the first part known.
///
/// # Errors
/// [`StoreError`]; the chunks before it are stored.
pub async fn import(
    store: &Store,
    prover: &Prover,
    source: &str,
    lines: impl IntoIterator<Item = ImportLine>,
    mut on_refused: impl FnMut(Refused),
) -> Result<ImportReport, StoreError> {
    let mut report = ImportReport::default();
    let mut lines = lines.into_iter();
    loop {
        let chunk: Vec<ImportLine> = lines.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        report.n_read += chunk.len() as u64;
        let boards = chunk.iter().map(|line| line.board.clone()).collect();
        let mut rows = Vec::with_capacity(chunk.len());
        for (line, explored) in chunk.iter().zip(prover.explore(boards).await) {
            match check(line, explored) {
                Ok(found) => rows.push(BoardRow::from(found)),
                Err(reason) => {
                    report.n_refused += 1;
                    on_refused(Refused {
                        line: line.line,
                        reason,
                    });
                }
            }
        }
        let ack = store.store_batch(&batch(source, rows)).await?;
        report.n_inserted += u64::from(ack.n_inserted);
        report.n_duplicate += u64::from(ack.n_duplicate);
    }
    let detail = format!(
        "{source}: {} new, {} known, {} refused",
        report.n_inserted, report.n_duplicate, report.n_refused
    );
    store
        .write_event(&EventToWrite::new("operator", EventKind::BoardsImported, &detail))
        .await?;
    Ok(report)
}

fn check(line: &ImportLine, explored: Result<Option<Found>, ExploreError>) -> Result<Found, ImportRefusal> {
    let found = explored?.ok_or(ImportRefusal::Unsolvable)?;
    if let Some(stated) = line.stated_par.filter(|stated| *stated != found.par) {
        return Err(ImportRefusal::WrongPar {
            stated,
            proved: found.par,
        });
    }
    if let Some(stated) = line.stated_states.filter(|stated| *stated != found.states) {
        return Err(ImportRefusal::WrongStates {
            stated,
            counted: found.states,
        });
    }
    Ok(found)
}

fn batch(source: &str, mut rows: Vec<BoardRow>) -> BatchToStore {
    let n_rows = rows.len();
    rows.sort_unstable_by(|a, b| (a.found.par, &a.found.canonical).cmp(&(b.found.par, &b.found.canonical)));
    rows.dedup_by(|a, b| a.found.par == b.found.par && a.found.canonical == b.found.canonical);
    BatchToStore {
        id: BatchId::new(Uuid::new_v4()),
        origin: BatchOrigin::Import(source.to_owned()),
        best_par: rows.last().map(|row| row.found.par),
        n_known: u32::try_from(n_rows - rows.len()).expect("a chunk has at most 5,000 boards"),
        boards: rows,
        rejections: Vec::new(),
        strike: None,
        max_strikes: u32::MAX,
    }
}
