//! The way of a batch: known boards are set aside, the rest proved, all of it stored with the answer.

use std::collections::HashSet;

use board::Par;
use board::tally::hash_board;
use proto::convert::{Ack, Batch, Rejection, StatedBoard};
use thiserror::Error;

use crate::jams;
use crate::prove::{Busy, Case, Prover, Refusal};
use crate::store::{BatchOrigin, BatchToStore, BoardRow, LeaseOrigin, RejectionToStore, Store, StoreError};

/// Why a batch was not stored.
#[derive(Debug, Error)]
pub enum SubmitError {
    /// The worker never held the lease that it names.
    #[error("no lease {token} of job {job} was ever granted to this session")]
    NoSuchLease {
        /// The job named.
        job: i64,
        /// The token named.
        token: i64,
    },
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

/// Stores what is new and true in a batch. The lease may have been lost since: boards are facts.
///
/// # Errors
/// [`SubmitError`]; then nothing was stored.
pub async fn submit(
    store: &Store,
    prover: &Prover,
    max_strikes: u32,
    batch: Batch,
) -> Result<Ack, SubmitError> {
    let Some(lease) = store.lease_origin(batch.session, batch.job, batch.token).await? else {
        return Err(SubmitError::NoSuchLease {
            job: batch.job.get(),
            token: batch.token.get(),
        });
    };
    if let Some(ack) = store.stored_ack(batch.id).await? {
        return Ok(ack);
    }
    let wrong_kind = |what| SubmitError::WrongKind {
        job: batch.job.get(),
        what,
    };
    if lease.is_siren {
        let job = store.job(batch.job).await?;
        let job = job.expect("a lease of it was granted, and jobs are never deleted");
        return match job.spec.jams() {
            Some(spec) if batch.boards.is_empty() => {
                jams::submit(store, prover, max_strikes, batch, lease, &job, spec).await
            }
            _ => Err(wrong_kind("boards")),
        };
    }
    if !batch.jams.is_empty() {
        return Err(wrong_kind("jams"));
    }
    let board_sum = batch.boards.iter().fold(0_u128, |sum, stated| {
        let par = Par::new(u16::try_from(stated.par).unwrap_or(0));
        sum.wrapping_add(hash_board(par, &stated.canonical))
    });
    let sorted = Sorted::of(store, batch.boards).await?;
    let case = Case {
        lot: lease.lot,
        exit_row: lease.exit_row,
        best_par: best_par(store, prover, &lease).await?,
    };
    let (unknown, verdicts) = prover.judge(sorted.unknown, case).await?;
    let n_believed = unknown.iter().zip(&verdicts);
    let n_believed =
        n_believed.filter(|(stated, verdict)| verdict.is_ok() && !prover.is_proved(stated, case));
    let n_believed = u32::try_from(n_believed.count()).expect("a batch has at most 10,000 boards");
    let judged = Judged::of(&sorted.indices, unknown, verdicts);
    let to_store = BatchToStore {
        id: batch.id,
        origin: BatchOrigin::Lease(lease),
        best_par: judged.rows.last().map(|row| row.found.par).max(sorted.best_known),
        boards: judged.rows,
        n_known: sorted.n_known + judged.n_repeated,
        rejections: judged.rejections,
        n_believed,
        board_sum: Some(board_sum),
        strike: judged.strike,
        max_strikes,
    };
    Ok(store.store_batch(&to_store).await?)
}

async fn best_par(store: &Store, prover: &Prover, lease: &LeaseOrigin) -> Result<Option<Par>, StoreError> {
    if prover.proves_all() {
        return Ok(None);
    }
    store.begin().await?.best_par(lease.lot, lease.exit_row).await
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
    /// Boards that stood in the batch twice, with another size or minimality.
    n_repeated: u32,
    rejections: Vec<RejectionToStore>,
    strike: Option<String>,
}

impl Judged {
    fn of(indices: &[u32], boards: Vec<StatedBoard>, verdicts: Vec<Result<BoardRow, Refusal>>) -> Judged {
        let mut judged = Judged {
            rows: Vec::with_capacity(boards.len()),
            n_repeated: 0,
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
            judged.n_repeated += u32::from(is_repeated);
            is_repeated
        });
        judged
    }
}

fn key(row: &BoardRow) -> (Par, &str) {
    (row.found.par, row.found.canonical.as_str())
}
