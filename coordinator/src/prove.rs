//! Proof: what a worker states about a board is evidence; this decides what is stored.
//!
//! Text -> canonical spelling -> cluster -> the row that this coordinator would have stored, compared with what was
//! stated. A wrong par would not be overwritten by the right one later, but stand beside it, since the partition key
//! is part of every unique key: so nothing goes in that this module did not let through.
//!
//! It runs on a pool of its own; an async task only waits for it. Whose board is next is decided in `turns`.

mod turns;

use std::cell::RefCell;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use board::cluster::{Explorer, Found};
use board::{Board, Canonical, CanonicalError, Par, StateLimit};
use proto::convert::{RejectCode, StatedBoard};
use proto::ids::Session;
use thiserror::Error;
use tokio::sync::oneshot;

use crate::config::Proving;
use crate::store::BoardRow;

use turns::{Asker, Credential, Place, Turns};

/// Boards this close to the best par known, or above it, are records: always proved.
const RECORD_MARGIN: u16 = 2;

/// Proves boards, for the farm itself or [for a worker](Prover::on_behalf_of). Cheap to clone.
#[derive(Clone, Debug)]
pub struct Prover {
    inner: Arc<Inner>,
    asker: Asker,
}

#[derive(Debug)]
struct Inner {
    config: Proving,
    pool: rayon::ThreadPool,
    turns: Arc<Turns>,
    /// Decides which boards are proved where not all are. Its key is drawn at each start, so that no worker can tell.
    lots: RandomState,
}

/// What a batch is judged against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The lot in squares and the exit row that the hunt is for; `None`: any.
    pub space: Option<((u8, u8), u8)>,
    /// The largest par known for them; `None`: none is.
    pub best_par: Option<Par>,
    /// The positions of the largest cluster that an honest worker finds in this job; `None`: it is not known, and what the
    /// provers can do is the limit.
    pub max_states: Option<u64>,
}

/// Why a board is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In a word.
    pub code: RejectCode,
    /// In a sentence.
    pub detail: String,
    /// Of a board that is right, with wrong words about its cluster: what is true.
    pub truth: Option<Found>,
}

impl Refusal {
    /// Whether an honest worker of this version never sends such a board.
    pub fn is_strike(&self) -> bool {
        self.code != RejectCode::TooLarge
    }
}

/// Too many batches of this worker or this credential are waiting, or of all; come again later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the provers have their hands full, {n_batches} batches of one credential are proved at most; come again later"
)]
pub struct Busy {
    /// How many of one credential may wait.
    pub n_batches: usize,
}

thread_local! {
    /// Buffers of one proving thread, kept from board to board.
    static EXPLORER: RefCell<Explorer> = RefCell::new(Explorer::new());
}

impl Prover {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn start(config: Proving) -> Result<Prover, rayon::ThreadPoolBuildError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(config.n_threads.max(1))
            .thread_name(|idx| format!("prove-{idx}"))
            .build()?;
        let turns = Arc::new(Turns::new(config.max_batches));
        Ok(Prover {
            inner: Arc::new(Inner {
                config,
                pool,
                turns,
                lots: RandomState::new(),
            }),
            asker: Asker {
                credential: Credential::Farm,
                session: None,
            },
        })
    }

    /// The same threads, working for a worker that came in with this token; without one, a session stands for itself. Workers
    /// share the threads: each has its turn, whatever the others hand in.
    #[must_use]
    pub fn on_behalf_of(&self, token: Option<&str>, session: Session) -> Prover {
        let credential = token.map_or(Credential::Session(session), |name| {
            Credential::Token(name.into())
        });
        Prover {
            inner: Arc::clone(&self.inner),
            asker: Asker {
                credential,
                session: Some(session),
            },
        }
    }

    /// Whether every board is proved, whatever its par.
    pub fn proves_all(&self) -> bool {
        self.inner.config.share >= 1.0
    }

    /// Whether this board is proved in this case, or believed; the same answer as long as the process lives.
    pub fn is_proved(&self, stated: &StatedBoard, case: Case) -> bool {
        self.inner.is_proved(stated, case)
    }

    /// A number from 0 to 1 that depends on the thing and a key drawn at the start: no worker can tell it.
    pub fn chance(&self, thing: &impl Hash) -> f64 {
        self.inner.chance(thing)
    }

    /// Judges a worker's boards: for each, in order, the row to store or why not.
    ///
    /// # Errors
    /// [`Busy`] if as many batches are waiting as may.
    pub async fn judge(
        &self,
        boards: Vec<StatedBoard>,
        case: Case,
    ) -> Result<(Vec<StatedBoard>, Vec<Result<BoardRow, Refusal>>), Busy> {
        let inner = Arc::clone(&self.inner);
        let judged = self.each(boards, move |stated| {
            let verdict = inner.judge_one(&stated, case);
            (stated, verdict)
        });
        Ok(judged.await?.into_iter().unzip())
    }

    /// A number that is drawn for a text, the same for as long as this process runs, and that nobody outside can tell.
    pub fn lot(&self, text: &str) -> u64 {
        self.inner.lots.hash_one(text)
    }
}

impl Prover {
    /// Does other proving work on these threads, in one piece.
    ///
    /// # Errors
    /// [`Busy`] if as many batches are waiting as may.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let mut done = self.each(vec![work], |work| work()).await?;
        Ok(done.pop().expect("one piece has one answer"))
    }

    /// Does something with each item, in pieces that others' pieces may come between. What was not begun when the caller
    /// gives up is not done.
    ///
    /// # Errors
    /// [`Busy`] if as many batches are waiting as may.
    pub(crate) async fn each<I: Send + 'static, T: Send + 'static>(
        &self,
        items: Vec<I>,
        work: impl Fn(I) -> T + Send + Sync + 'static,
    ) -> Result<Vec<T>, Busy> {
        let n_items = items.len();
        if n_items == 0 {
            return Ok(Vec::new());
        }
        let place = self.place()?;
        let (answer, answered) = oneshot::channel();
        let (turns, id) = (Arc::clone(&self.inner.turns), place.id());
        let bench = Mutex::new(Bench {
            items: items.into_iter().map(Some).collect(),
            done: (0..n_items).map(|_| None).collect(),
            n_left: n_items,
            answer: Some(answer),
        });
        let pieces = move |idx: usize| {
            let item = lock(&bench).items[idx].take();
            let done = work(item.expect("each piece has one turn"));
            let mut bench = lock(&bench);
            bench.done[idx] = Some(done);
            bench.n_left -= 1;
            if bench.n_left == 0 {
                let done = std::mem::take(&mut bench.done);
                // Before the answer: whoever has it may come with the next batch at once.
                turns.leave(id);
                if let Some(answer) = bench.answer.take() {
                    // Nobody waits any more if the call was given up; it will be repeated.
                    let _ = answer.send(done);
                }
            }
        };
        self.inner.turns.line_up(&place, n_items, Arc::new(pieces));
        for _ in 0..n_items {
            let turns = Arc::clone(&self.inner.turns);
            self.inner.pool.spawn(move || {
                if let Some(turn) = turns.take() {
                    turns.run(turn);
                }
            });
        }
        let done = answered
            .await
            .expect("a panic on the proving pool ends the process, so the answer is sent");
        drop(place);
        let done = done.into_iter();
        Ok(done.map(|done| done.expect("each piece has been done")).collect())
    }

    /// Whether a seed is one of the [share](crate::jams::TRIED_AGAIN_PER_MILLE) that is tried again. No worker can tell.
    pub(crate) fn chooses(&self, seed: u64) -> bool {
        self.inner.lots.hash_one(seed) % 1_000 < crate::jams::TRIED_AGAIN_PER_MILLE
    }

    fn place(&self) -> Result<Place, Busy> {
        self.inner.turns.place(&self.asker).ok_or(Busy {
            n_batches: self.inner.config.max_batches,
        })
    }
}

/// What is under work of one batch.
struct Bench<I, T> {
    items: Vec<Option<I>>,
    done: Vec<Option<T>>,
    n_left: usize,
    answer: Option<oneshot::Sender<Vec<Option<T>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn judge_one(&self, stated: &StatedBoard, case: Case) -> Result<BoardRow, Refusal> {
        let canonical = Canonical::parse(&stated.canonical).map_err(|error| match error {
            CanonicalError::NotCanonical { .. } => refuse(RejectCode::NotCanonical, error.to_string()),
            CanonicalError::Spelling(_) => refuse(RejectCode::NotABoard, error.to_string()),
        })?;
        let board = canonical.board();
        let (width, height) = (board.lot().width(), board.lot().height());
        if let Some((lot, exit_row)) = case.space
            && ((width, height), board.exit_row()) != (lot, exit_row)
        {
            let detail = format!(
                "a {width}x{height} board with exit row {}, expected {}x{} with exit row {exit_row}",
                board.exit_row(),
                lot.0,
                lot.1,
            );
            return Err(refuse(RejectCode::OutsideJob, detail));
        }
        let par = u16::try_from(stated.par).map_err(|_| {
            refuse(
                RejectCode::WrongPar,
                format!("no board has a par of {}", stated.par),
            )
        })?;
        if let Some(max_states) = case.max_states.filter(|max_states| stated.states > *max_states) {
            let detail = format!(
                "stated {} positions, its job is of clusters of {max_states} at most",
                stated.states
            );
            return Err(refuse(RejectCode::TooLarge, detail));
        }
        let found = if self.is_proved(stated, case) {
            self.prove(&board, &canonical, stated, case)?
        } else {
            trusted(&board, canonical, Par::new(par), stated)
        };
        Ok(BoardRow {
            found,
            lot: board.lot(),
            exit_row: board.exit_row(),
        })
    }

    fn is_proved(&self, stated: &StatedBoard, case: Case) -> bool {
        let is_record = case
            .best_par
            .is_none_or(|best| stated.par + u32::from(RECORD_MARGIN) >= best.get().into());
        if is_record || self.config.share >= 1.0 {
            return true;
        }
        self.chance(&stated.canonical) < self.config.share
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    fn chance(&self, thing: &impl Hash) -> f64 {
        // 53 bits of the hash as a number from 0 to 1.
        (self.lots.hash_one(thing) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn prove(
        &self,
        board: &Board,
        canonical: &Canonical,
        stated: &StatedBoard,
        case: Case,
    ) -> Result<Found, Refusal> {
        let most = self.config.limit;
        let limit = case
            .max_states
            .map_or(most, |max_states| StateLimit::new(max_states.min(most.get())));
        let found = EXPLORER
            .with_borrow_mut(|explorer| match explorer.entry(board, limit) {
                // Without one of its vehicles a board may have more positions than its job allows: the cluster is within
                // bounds, so that much is spent on whether it is minimal.
                Ok(Some(found)) if found.minimal.is_none() && limit != most => explorer.entry(board, most),
                entry => entry,
            })
            .map_err(|error| refuse(RejectCode::TooLarge, error.to_string()))?
            .ok_or_else(|| refuse(RejectCode::Unsolvable, "the board has no solution".to_owned()))?;
        if u32::from(found.par.get()) != stated.par {
            let detail = format!("stated par {}, proved {}", stated.par, found.par);
            return Err(refuse(RejectCode::WrongPar, detail));
        }
        if found.canonical != *canonical {
            let detail = format!("{} stands for the cluster", found.canonical);
            return Err(refuse(RejectCode::NotRepresentative, detail));
        }
        if found.states != stated.states {
            let detail = format!("stated {} positions, counted {}", stated.states, found.states);
            return Err(misdescribed(found, detail));
        }
        if let (Some(stated), Some(is_minimal)) = (stated.minimal, found.minimal)
            && stated != is_minimal
        {
            let detail = format!("stated minimal {stated}, proved {is_minimal}");
            return Err(misdescribed(found, detail));
        }
        Ok(found)
    }
}

/// What is stored of a board that is not proved this time.
fn trusted(board: &Board, canonical: Canonical, par: Par, stated: &StatedBoard) -> Found {
    Found {
        par,
        canonical,
        states: stated.states.max(1),
        minimal: stated.minimal,
        n_vehicles: u8::try_from(board.n_vehicles()).expect("a board has at most 50 vehicles"),
        n_walls: u8::try_from(board.n_walls()).expect("a lot has at most 64 squares"),
    }
}

pub(crate) fn refuse(code: RejectCode, detail: String) -> Refusal {
    Refusal {
        code,
        detail,
        truth: None,
    }
}

fn misdescribed(found: Found, detail: String) -> Refusal {
    Refusal {
        code: RejectCode::WrongCluster,
        detail,
        truth: Some(found),
    }
}
