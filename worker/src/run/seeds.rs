//! Jobs over jams: each seed a task of the search pool, what it gives sent to whoever holds the job.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use board::Par;
use board::job::Counters;
use proto::convert::jam_counters;
use siren::generate::Tally;
use siren::job::{JamJob, JamResult, JamTally, SeedEnd, SeedOutcome};
use tokio::sync::mpsc;

use super::gauge::Gauge;
use super::{SearchPool, SearchPoolError, message_of, spread};

/// What becomes of a seed.
#[derive(Debug)]
pub enum SeedNews {
    /// It was tried to its end.
    Complete(Box<SeedOutcome>),
    /// It was stopped; there is nothing to hand in.
    Stopped,
    /// It panicked, which is a bug in the engine.
    Failed(String),
}

/// Puts all seeds of a job before the pool. `begun` is let go of when the last seed has begun; the receiver ends when the
/// last has ended; dropping it stops the job.
pub fn start<T: Send + Sync + 'static>(
    pool: &Arc<SearchPool>,
    job: &Arc<JamJob>,
    gauge: &Arc<Gauge>,
    begun: T,
) -> mpsc::Receiver<SeedNews> {
    let job = Arc::clone(job);
    let n_seeds = u32::try_from(job.seeds().len()).expect("a job has at most 64 seeds");
    spread(pool, n_seeds, gauge, begun, move |_, seed, gauge| {
        try_seed(&job, seed as usize, gauge)
    })
}

fn try_seed(job: &JamJob, idx: usize, gauge: &Gauge) -> SeedNews {
    let mut before = Counters::default();
    let mut note = |tally: &Tally| {
        let now = jam_counters(*tally, 0);
        gauge.advance(&before, &now);
        before = now;
    };
    let mut go_on = |tally: &Tally| {
        note(tally);
        !gauge.is_stopped()
    };
    match catch_unwind(AssertUnwindSafe(|| job.try_seed(idx, &mut go_on))) {
        Ok(SeedEnd::Complete(outcome)) => {
            note(&outcome.tally);
            if let Some(found) = &outcome.candidate {
                gauge.note_par(Par::new(u16::try_from(found.measures.par).unwrap_or(u16::MAX)));
            }
            SeedNews::Complete(outcome)
        }
        Ok(SeedEnd::Stopped(_)) => SeedNews::Stopped,
        Err(panic) => SeedNews::Failed(message_of(panic.as_ref())),
    }
}

/// Runs a whole job on so many threads and waits for it: a replay.
///
/// # Errors
/// When the system refuses the threads.
///
/// # Panics
/// If a seed panics, or when called from an async task: it blocks.
pub fn replay(job: &JamJob, n_threads: usize) -> Result<JamResult, SearchPoolError> {
    let pool = Arc::new(SearchPool::start(n_threads)?);
    let mut news = start(&pool, &Arc::new(job.clone()), &Arc::new(Gauge::default()), ());
    let mut tally = JamTally::default();
    let mut found = Vec::new();
    while let Some(news) = news.blocking_recv() {
        match news {
            SeedNews::Complete(outcome) => found.extend(tally.absorb(&outcome)),
            SeedNews::Stopped => unreachable!("nobody stops a replay"),
            SeedNews::Failed(message) => panic!("a seed of a replay failed: {message}"),
        }
    }
    found.sort_by_key(|stated| job.seeds().iter().position(|&seed| seed == stated.seed));
    Ok(JamResult { found, tally })
}

#[cfg(test)]
mod tests {
    use siren::plan::{Plan, SHIPPED_PLAN};

    use super::*;

    #[test]
    fn a_replay_is_alike_on_any_number_of_threads() {
        let level = Plan::parse(SHIPPED_PLAN).unwrap().levels().remove(0);
        let job = JamJob::new(level.template, level.seeds[..4].to_vec()).unwrap();
        let alone = job.run();
        assert_eq!(alone.found.len(), 4);
        for n_threads in [1, 3] {
            assert_eq!(replay(&job, n_threads).unwrap(), alone);
        }
    }
}
