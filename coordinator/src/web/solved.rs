//! A board's solution and cluster for its page: computed on a thread of its own, never in an async task, within a limit
//! that keeps the page quick; the last answers are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use board::cluster::Explorer;
use board::solve::solve;
use board::{Board, Slide, StateLimit};
use tokio::sync::Semaphore;

/// Clusters of more positions than this are left to the command line.
pub(crate) const MAX_STATES: u64 = 250_000;
/// How many answers are kept.
const MAX_KEPT: usize = 64;
/// How many boards may be computed at once: search belongs to the workers.
const MAX_AT_ONCE: usize = 1;

/// What a board's page shows beyond its row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Solved {
    /// A shortest solution; `None`: beyond the limit, or there is none.
    pub(crate) solution: Option<Vec<Slide>>,
    /// Squares moved in it.
    pub(crate) steps: u64,
    /// Positions of the cluster at each par; `None`: beyond the limit.
    pub(crate) histogram: Option<Vec<u64>>,
}

/// The last answers by spelling, the oldest first.
type Kept = VecDeque<(String, Arc<Solved>)>;

/// Computes what pages show.
#[derive(Clone, Debug)]
pub(crate) struct Solver {
    kept: Arc<Mutex<Kept>>,
    turns: Arc<Semaphore>,
}

impl Default for Solver {
    fn default() -> Solver {
        Solver {
            kept: Arc::default(),
            turns: Arc::new(Semaphore::new(MAX_AT_ONCE)),
        }
    }
}

impl Solver {
    /// The answer for a board, by its spelling.
    pub(crate) async fn solved(&self, canonical: &str, board: &Board) -> Arc<Solved> {
        if let Some(kept) = self.kept(canonical) {
            return kept;
        }
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        if let Some(kept) = self.kept(canonical) {
            return kept;
        }
        let board = board.clone();
        let computed = tokio::task::spawn_blocking(move || compute(&board)).await;
        let answer = Arc::new(computed.unwrap_or_default());
        let mut kept = self.kept.lock().expect("no holder of the lock panics");
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back((canonical.to_owned(), Arc::clone(&answer)));
        answer
    }

    fn kept(&self, canonical: &str) -> Option<Arc<Solved>> {
        let kept = self.kept.lock().expect("no holder of the lock panics");
        kept.iter()
            .find(|entry| entry.0 == canonical)
            .map(|entry| Arc::clone(&entry.1))
    }
}

fn compute(board: &Board) -> Solved {
    let limit = StateLimit::new(MAX_STATES);
    let answer = solve(board, limit).ok();
    let cluster = Explorer::new().explore(board, limit).ok();
    Solved {
        steps: answer.as_ref().map_or(0, |answer| answer.steps),
        solution: answer
            .filter(|answer| answer.par.is_some())
            .map(|answer| answer.solution),
        histogram: cluster.map(|cluster| cluster.histogram),
    }
}
