//! The way of a batch: known boards are set aside, the rest proved, all of it stored with the answer.

use std::collections::HashSet;

use board::Par;
use board::tally::hash_board;
use proto::convert::{Ack, Batch, Rejection, StatedBoard, Work};
use proto::ids::BatchId;
use thiserror::Error;
use tracing::warn;
use uuid::Uuid;

use crate::jams;
use crate::prove::{Busy, Case, Prover, Refusal};
use crate::store::{
    BatchOrigin, BatchToStore, BoardRow, LeaseOrigin, RejectionToStore, Store, StoreError, Stored,
};

/// Why a batch was not stored.
#[derive(Debug, Error)]
pub enum SubmitError {
    /// Nobody that we know sends this.
    #[error("nobody here shows this session")]
    NoSession,
    /// A siren job finds jams, every other boards.
    #[error("job {job} is of a kind that finds no {what}")]
    WrongKind {
        /// The job.
        job: i64,
        /// What was handed in.
        what: &'static str,
    },
    /// The provers have their hands full.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Stores what is new and true in a batch. The lease may have been lost since, forgotten by a database that was set back
/// to a backup, or be another's: boards are facts. Only under its own lease do they count for the job.
///
/// A hash stands for a board only if one of it is known here to be stored; else the answer is that nothing was stored,
/// and the batch comes again with all boards spelled out. So a claim is held against boards, never against a worker's word.
///
/// # Errors
/// [`SubmitError`]; then nothing was stored.
pub async fn submit(
    store: &Store,
    prover: &Prover,
    max_strikes: u32,
    mut batch: Batch,
) -> Result<Ack, SubmitError> {
    let lease = store.lease_origin(batch.session, batch.job, batch.token).await?;
    if lease.is_none() && store.worker(batch.session).await?.is_none() {
        return Err(SubmitError::NoSession);
    }
    let board_sum = sum_of(&batch);
    let mut stored = store.stored(batch.id, Some(board_sum)).await?;
    if stored == Stored::OtherBoards {
        // Answered as what is stored, these boards would be lost. They go under an id that is theirs alone.
        warn!(batch.id = %batch.id, "a batch came under the id of another; it is stored under its own");
        batch.id = own_id(batch.id, board_sum);
        stored = store.stored(batch.id, Some(board_sum)).await?;
    }
    if let Stored::Same(ack) = stored {
        return Ok(ack);
    }
    let wrong_kind = |what| SubmitError::WrongKind {
        job: batch.job.get(),
        what,
    };
    let Some(lease) = lease else {
        if !batch.jams.is_empty() {
            // A level of a campaign is generated again, to the byte.
            return Err(wrong_kind("jams"));
        }
        if !batch.known.is_empty() {
            return Ok(spell_out());
        }
        return submit_stray(store, prover, max_strikes, batch, board_sum).await;
    };
    if lease.is_siren {
        let job = store.job(batch.job).await?;
        let job = job.expect("a lease of it was granted, and jobs are never deleted");
        return match job.spec.jams() {
            Some(spec) if batch.boards.is_empty() && batch.known.is_empty() => {
                jams::submit(store, prover, max_strikes, batch, lease, &job, spec).await
            }
            _ => Err(wrong_kind("boards")),
        };
    }
    if !batch.jams.is_empty() {
        return Err(wrong_kind("jams"));
    }
    let memory = store.memory();
    let Some(best_by_hash) = store.best_known_par(&batch.known) else {
        return Ok(spell_out());
    };
    let n_by_hash = u32::try_from(batch.known.len()).expect("a batch has at most 10,000 boards");
    let mut sorted = Sorted::of(store, batch.boards).await?;
    sorted.n_known += n_by_hash;
    sorted.best_known = sorted
        .best_known
        .max(Some(best_by_hash).filter(|_| n_by_hash > 0));
    let case = Case {
        space: Some((lease.lot, lease.exit_row)),
        best_par: best_par(store, prover, &lease).await?,
        max_states: max_states(store, &lease, &sorted).await?,
    };
    let judged = judge(prover, sorted, case).await?;
    let to_store = judged.into_batch(batch.id, BatchOrigin::Lease(lease), board_sum, max_strikes);
    Ok(store.store_judged(&to_store, memory).await?)
}

/// A batch under a lease that was never granted to this worker: the database was set back, or the spool is from another farm,
/// whose jobs have the same numbers. Its boards are proved, every one, and stored as an import's are.
async fn submit_stray(
    store: &Store,
    prover: &Prover,
    max_strikes: u32,
    batch: Batch,
    board_sum: u128,
) -> Result<Ack, SubmitError> {
    let worker = store.worker(batch.session).await?;
    let worker = worker.map(|standing| standing.name).unwrap_or_default();
    let source = format!(
        "worker {worker}, lease {} of job {}, which is not its own here",
        batch.token, batch.job
    );
    let memory = store.memory();
    let sorted = Sorted::of(store, batch.boards).await?;
    let case = Case {
        space: None,
        best_par: None,
        // What another farm's jobs allowed is not known here.
        max_states: None,
    };
    let judged = judge(prover, sorted, case).await?;
    let strike = judged.strike.clone();
    let to_store = judged.into_batch(batch.id, BatchOrigin::Import(source), board_sum, max_strikes);
    let ack = store.store_judged(&to_store, memory).await?;
    if let Some(reason) = strike {
        store.strike_session(batch.session, &reason, max_strikes).await?;
    }
    Ok(ack)
}

/// An id for a batch whose own is taken, always the same.
fn own_id(id: BatchId, board_sum: u128) -> BatchId {
    BatchId::new(Uuid::from_u128(id.get().as_u128() ^ board_sum))
}

/// The sum of the hashes of a batch's boards, whichever of them are spelled out.
fn sum_of(batch: &Batch) -> u128 {
    let spelled = batch.boards.iter().map(|stated| {
        let par = Par::new(u16::try_from(stated.par).unwrap_or(0));
        hash_board(par, &stated.canonical)
    });
    spelled
        .chain(batch.known.iter().copied())
        .fold(0, u128::wrapping_add)
}

/// The answer to hashes that are not all known here: nothing is stored, and the boards are asked for.
fn spell_out() -> Ack {
    Ack {
        spell_out: true,
        ..Ack::default()
    }
}

async fn judge(prover: &Prover, sorted: Sorted, case: Case) -> Result<Judged, SubmitError> {
    let (unknown, verdicts) = prover.judge(sorted.unknown, case).await?;
    let n_believed = unknown.iter().zip(&verdicts);
    let n_believed =
        n_believed.filter(|(stated, verdict)| verdict.is_ok() && !prover.is_proved(stated, case));
    let n_believed = u32::try_from(n_believed.count()).expect("a batch has at most 10,000 boards");
    let judged = Judged::of(&sorted.indices, unknown, verdicts);
    Ok(Judged {
        n_known: sorted.n_known + judged.n_known,
        best_known: sorted.best_known,
        n_believed,
        ..judged
    })
}

async fn best_par(store: &Store, prover: &Prover, lease: &LeaseOrigin) -> Result<Option<Par>, StoreError> {
    if prover.proves_all() {
        return Ok(None);
    }
    store.begin().await?.best_par(lease.lot, lease.exit_row).await
}

/// The positions of the largest cluster that the job's own worker would hand in.
async fn max_states(store: &Store, lease: &LeaseOrigin, sorted: &Sorted) -> Result<Option<u64>, StoreError> {
    if sorted.unknown.is_empty() {
        return Ok(None);
    }
    Ok(match store.job(lease.job).await?.map(|job| job.spec) {
        Some(Work::Boards(spec)) => Some(spec.frame().max_states),
        _ => None,
    })
}

/// A batch's boards, those set aside that are stored or stood in the batch before.
struct Sorted {
    /// In the order of the batch.
    unknown: Vec<StatedBoard>,
    /// Their places in the batch.
    indices: Vec<u32>,
    n_known: u32,
    best_known: Option<Par>,
}

impl Sorted {
    async fn of(store: &Store, boards: Vec<StatedBoard>) -> Result<Sorted, StoreError> {
        // A par that the database cannot hold is a wrong one; 0 keeps the key harmless, the proof refuses the board.
        let pars: Vec<i16> = boards
            .iter()
            .map(|board| i16::try_from(board.par).unwrap_or(0))
            .collect();
        let spellings: Vec<String> = boards
            .iter()
            .map(|board| board.canonical.replace('\0', ""))
            .collect();
        let mut is_known = vec![false; boards.len()];
        for idx in store.known(&pars, &spellings).await? {
            // The key that was looked up is the board's own only if nothing had to be replaced in it.
            is_known[idx] =
                u32::try_from(pars[idx]) == Ok(boards[idx].par) && spellings[idx] == boards[idx].canonical;
        }
        let mut sorted = Sorted {
            unknown: Vec::new(),
            indices: Vec::new(),
            n_known: 0,
            best_known: None,
        };
        let mut seen = HashSet::new();
        for (idx, board) in boards.into_iter().enumerate() {
            if is_known[idx] {
                sorted.n_known += 1;
                sorted.best_known = sorted.best_known.max(u16::try_from(board.par).ok().map(Par::new));
            } else if seen.insert(board.clone()) {
                sorted.unknown.push(board);
                sorted
                    .indices
                    .push(u32::try_from(idx).expect("a batch has at most 10,000 boards"));
            } else {
                sorted.n_known += 1;
            }
        }
        Ok(sorted)
    }
}

/// What the proof said.
struct Judged {
    /// Sorted by key, distinct.
    rows: Vec<BoardRow>,
    /// Boards that are stored, or stood in the batch before.
    n_known: u32,
    best_known: Option<Par>,
    n_believed: u32,
    rejections: Vec<RejectionToStore>,
    strike: Option<String>,
}

impl Judged {
    fn of(indices: &[u32], boards: Vec<StatedBoard>, verdicts: Vec<Result<BoardRow, Refusal>>) -> Judged {
        let mut judged = Judged {
            rows: Vec::with_capacity(boards.len()),
            n_known: 0,
            best_known: None,
            n_believed: 0,
            rejections: Vec::new(),
            strike: None,
        };
        for ((stated, verdict), &board_idx) in boards.into_iter().zip(verdicts).zip(indices) {
            match verdict {
                Ok(row) => judged.rows.push(row),
                Err(refusal) => {
                    if refusal.is_strike() && judged.strike.is_none() {
                        judged.strike = Some(format!("{}: {}", refusal.code, refusal.detail));
                    }
                    let rejection = Rejection {
                        board_idx,
                        code: refusal.code,
                        detail: refusal.detail,
                    };
                    judged.rejections.push(RejectionToStore {
                        rejection,
                        canonical: stated.canonical,
                        stated_par: stated.par,
                    });
                }
            }
        }
        judged.rows.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        // Two statements of one board that differ in its size can only both be here if neither was proved.
        judged.rows.dedup_by(|a, b| {
            let is_repeated = key(a) == key(b);
            judged.n_known += u32::from(is_repeated);
            is_repeated
        });
        judged
    }

    fn into_batch(self, id: BatchId, origin: BatchOrigin, board_sum: u128, max_strikes: u32) -> BatchToStore {
        BatchToStore {
            id,
            origin,
            best_par: self.rows.last().map(|row| row.found.par).max(self.best_known),
            boards: self.rows,
            are_new: false,
            n_known: self.n_known,
            rejections: self.rejections,
            n_believed: self.n_believed,
            board_sum: Some(board_sum),
            strike: self.strike,
            max_strikes,
        }
    }
}

fn key(row: &BoardRow) -> (Par, &str) {
    (row.found.par, row.found.canonical.as_str())
}
