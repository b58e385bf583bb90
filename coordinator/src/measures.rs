//! The way of measures: what a difficulty job claims is compared with a share measured again, before any of it is stored.
//!
//! Measures are claims, not facts with a proof of their own: to prove one is to measure again, which costs as much as it
//! did. So a share is, chosen so that no worker can tell which; a worker that lies about one board in a hundred is
//! caught within a few jobs, and what it claimed in that job is not stored at all.

use std::collections::HashMap;

use board::difficulty::job::DifficultyJob;
use board::difficulty::{self, Difficulty};
use board::job::JobSpec;
use board::{Canonical, StateLimit};
use proto::convert::{Completion, LeaseOutcome, Work};
use tracing::warn;

use crate::config::Config;
use crate::prove::{Busy, Prover};
use crate::store::{Sampling, Store};
use crate::submit::SubmitError;

/// One board in so many is measured again, and at least one of every job.
pub const MEASURED_AGAIN: u64 = 50;

/// Ends a job that claims to have measured boards: stores the measures if what was measured again agrees. Else nothing
/// of the claim is stored, it is held against the worker, and the job goes back to the queue; the answer is that the
/// lease is lost.
///
/// # Errors
/// [`SubmitError::Busy`] if the proving threads have too much to do, [`SubmitError::Store`]; then nothing changed.
pub async fn complete(
    store: &Store,
    prover: &Prover,
    config: &Config,
    claim: &Completion,
    sampling: Option<&Sampling<'_>>,
) -> Result<LeaseOutcome, SubmitError> {
    let Some(Work::Boards(JobSpec::Difficulty(job))) = store.job(claim.job).await?.map(|job| job.spec) else {
        return Ok(LeaseOutcome::Lost);
    };
    match judge(prover, &job, claim).await? {
        Ok(measured) => Ok(store.complete_sampled(claim, &measured, sampling).await?),
        Err(reason) => {
            warn!(job.id = %claim.job, reason, "measures refused");
            store
                .refuse_claim(claim, &reason, config.max_failures, config.max_strikes)
                .await?;
            Ok(LeaseOutcome::Lost)
        }
    }
}

/// The claim's measures with their boards, or why nothing of it is stored.
async fn judge(
    prover: &Prover,
    job: &DifficultyJob,
    claim: &Completion,
) -> Result<Result<Vec<(Canonical, Difficulty)>, String>, Busy> {
    let measures = match claimed(job, claim) {
        Ok(measures) => measures,
        Err(reason) => return Ok(Err(reason)),
    };
    let boards = job.boards();
    let lots: Vec<u64> = boards.iter().map(|board| prover.lot(board.as_str())).collect();
    let least = lots.iter().min().copied();
    let again: Vec<(Canonical, Option<Difficulty>)> = boards
        .iter()
        .enumerate()
        .filter(|&(idx, _)| lots[idx].is_multiple_of(MEASURED_AGAIN) || Some(lots[idx]) == least)
        .map(|(idx, board)| (board.clone(), measures.get(&idx).copied()))
        .collect();
    let limit = StateLimit::new(job.frame().max_states);
    let wrong = prover
        .each(again, move |(board, claimed)| differs(&board, claimed, limit))
        .await?
        .into_iter()
        .flatten()
        .next();
    let with_boards = measures
        .into_iter()
        .map(|(idx, measured)| (boards[idx].clone(), measured));
    Ok(wrong.map_or_else(|| Ok(with_boards.collect()), Err))
}

/// The measures by their board's place, if there is one for each board that the counters say was measured.
fn claimed(job: &DifficultyJob, claim: &Completion) -> Result<HashMap<usize, Difficulty>, String> {
    let list = claim.measures.as_deref().unwrap_or_default();
    let measures: HashMap<usize, Difficulty> = list
        .iter()
        .map(|measured| (measured.board_idx as usize, measured.difficulty))
        .collect();
    let n_boards = job.boards().len();
    if measures.len() != list.len() {
        return Err(String::from("a board was measured twice"));
    }
    if let Some(idx) = measures.keys().find(|&&idx| idx >= n_boards) {
        return Err(format!("board {idx} of a job of {n_boards}"));
    }
    let counters = &claim.counters;
    if counters.iterations != n_boards as u64 || counters.solvable != measures.len() as u64 {
        return Err(format!(
            "{} of {} boards measured, but {} measures of {n_boards} boards",
            counters.solvable,
            counters.iterations,
            measures.len()
        ));
    }
    Ok(measures)
}

/// What is wrong with a claim about a board; `None`: nothing.
fn differs(board: &Canonical, claimed: Option<Difficulty>, limit: StateLimit) -> Option<String> {
    let measured = difficulty::measure(&board.board(), limit).ok().flatten();
    (measured != claimed).then(|| format!("{board}: claimed {claimed:?}, measured {measured:?}"))
}
