//! Cuts the stored boards into jobs that measure them: hardest par first, each board once.

use board::canonical::Canonical;
use board::difficulty::job::{DifficultyJob, MAX_BOARDS};
use board::job::JobSpec;
use proto::convert::{JobKind, Work};

use crate::config::Sizing;
use crate::jobs::plan::MAX_PLANNED;
use crate::jobs::size::{Measured, n_iterations};
use crate::store::{DifficultyPlan, HuntToPlan, JobToInsert, StoreError, Tx, Unmeasured};

/// Boards of a hunt's first job: seconds of work, so that the next can be sized.
const FIRST: u64 = 500;

/// Larger clusters are left out. The largest 6x6 cluster has 541,934 positions; this many take some 200 MB.
const MAX_STATES: u64 = 2_000_000;

/// Puts jobs on the queue until so many wait there; how many were added.
///
/// # Errors
/// [`StoreError`].
pub async fn plan(tx: &mut Tx, hunt: &HuntToPlan, sizing: &Sizing, n_wanted: u32) -> Result<u64, StoreError> {
    let n_left = hunt
        .end_number
        .map_or(u64::MAX, |end| end.saturating_sub(hunt.next_number));
    let n_jobs = u64::from(n_wanted)
        .min(MAX_PLANNED)
        .saturating_sub(hunt.n_queued)
        .min(n_left);
    let measured = tx.measured(hunt.hunt, JobKind::Difficulty).await?;
    let size = n_boards(measured, sizing);
    let mut plan = tx.difficulty_plan(hunt.hunt).await?;
    let mut number = hunt.next_number;
    for _ in 0..n_jobs {
        let boards = next_boards(tx, hunt, &mut plan, size).await?;
        if boards.is_empty() {
            tx.close_planning(hunt.hunt).await?;
            break;
        }
        let job = DifficultyJob::new(boards, sizing.n_shards, MAX_STATES)
            .expect("the list is neither empty nor too long, and the configuration is within bounds");
        let job = JobToInsert {
            number,
            spec: Work::Boards(JobSpec::Difficulty(job)),
            arm: None,
        };
        tx.insert_jobs(hunt.hunt, &[job]).await?;
        number += 1;
    }
    tx.keep_difficulty_plan(hunt.hunt, &plan).await?;
    Ok(number - hunt.next_number)
}

/// The next boards that were not measured, at most so many; none: all were.
async fn next_boards(
    tx: &mut Tx,
    hunt: &HuntToPlan,
    plan: &mut DifficultyPlan,
    size: usize,
) -> Result<Vec<Canonical>, StoreError> {
    let space = hunt.space.as_ref().expect("only a campaign has no space");
    let fields = space.fields();
    let mut boards = Vec::new();
    for par in tx
        .pars_to_measure(fields.lot, fields.exit_row, plan.next_par)
        .await?
    {
        if par != plan.next_par {
            *plan = DifficultyPlan {
                next_par: par,
                after: String::new(),
            };
        }
        let query = Unmeasured {
            par,
            lot: fields.lot,
            exit_row: Some(fields.exit_row),
            vehicles: fields.vehicles.clone(),
            walls: fields.walls.clone(),
            after: &plan.after,
            limit: (size - boards.len()) as u64,
        };
        let some = tx.unmeasured(&query).await?;
        if let Some(last) = some.last() {
            last.as_str().clone_into(&mut plan.after);
        }
        boards.extend(some);
        if boards.len() == size {
            break;
        }
    }
    Ok(boards)
}

/// Boards of the next job, so that it takes about as long as jobs should.
fn n_boards(measured: Option<Measured>, sizing: &Sizing) -> usize {
    let size = n_iterations(measured, sizing.target, FIRST);
    usize::try_from(size).map_or(MAX_BOARDS, |size| size.clamp(1, MAX_BOARDS))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_grow_to_their_time_and_never_beyond_a_message() {
        let sizing = Sizing {
            target: Duration::from_mins(1),
            ..Sizing::default()
        };
        let measured = |n_iterations, seconds| {
            Some(Measured {
                n_iterations,
                per_second: n_iterations / seconds,
            })
        };
        assert_eq!(n_boards(None, &sizing), 500);
        assert_eq!(n_boards(measured(500.0, 10.0), &sizing), 2_000);
        assert_eq!(n_boards(measured(500.0, 20.0), &sizing), 1_500);
        assert_eq!(n_boards(measured(20_000.0, 1.0), &sizing), MAX_BOARDS);
    }
}
