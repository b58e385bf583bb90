//! Solving: par, and a shortest solution, exact for every lot.
//!
//! Breadth-first from the board as it stands, until the first solved position. Memory is bounded by the
//! [`StateLimit`]: some 40 bytes a position at the peak (a board of 9x9 with 26 million positions took 1.1 GiB),
//! up to twice that for the longest keys of 16x16. A search that reaches the limit says so.

mod lanes;
mod space;
mod table;

use lanes::Lane;
use space::{Next, Space};
use table::{Key, Visited};

use crate::board::Board;
use crate::cluster::Explorer;
use crate::geometry::Axis;
use crate::par::{Par, StateLimit};
use crate::slide::Slide;

/// What there is to say about a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The fewest slides to a solved position; `None` if there is no way.
    pub par: Option<Par>,
    /// The squares moved in `solution`.
    pub steps: u64,
    /// A shortest solution, always the same one; empty if the board is solved or unsolvable.
    pub solution: Vec<Slide>,
    /// How many positions the search held when it knew the answer, the board's own among them.
    ///
    /// For an unsolvable board this is its whole cluster, but 1 if the way is shut in every arrangement of one
    /// lane, which needs no search.
    pub states: u64,
}

/// The next slide to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The first slide of a shortest solution; `None` if the board is solved or unsolvable.
    pub slide: Option<Slide>,
    /// The par of the board as it stands; `None` if it is unsolvable.
    pub par: Option<Par>,
}

/// Why a board's par is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolveError {
    /// The search has held as many positions as it may.
    #[error("no answer within {limit} positions: par is {at_least} or more, or the board is unsolvable")]
    LimitReached {
        /// The most positions that were allowed.
        limit: StateLimit,
        /// All shorter solutions have been ruled out.
        at_least: u32,
    },
    /// The par is too large to be stored.
    #[error("par is more than {most} slides", most = u16::MAX)]
    TooDeep,
}

/// Finds par and a shortest solution.
///
/// ```
/// use board::{Board, StateLimit, solve};
/// // The hardest 6x6 board without walls.
/// let board: Board = "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo".parse().unwrap();
/// let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
/// assert_eq!(answer.par.unwrap().get(), 51);
/// assert_eq!(answer.solution.len(), 51);
/// assert_eq!(board.spell_slide(answer.solution[0]), "M-1");
/// ```
///
/// # Errors
/// When the search reaches `limit` without an answer.
pub fn solve(board: &Board, limit: StateLimit) -> Result<Answer, SolveError> {
    if board.is_solved() {
        return Ok(Answer {
            par: Some(Par::ZERO),
            steps: 0,
            solution: Vec::new(),
            states: 1,
        });
    }
    let lanes = Lane::of_board(board);
    if is_shut(board, &lanes) {
        return Ok(Answer {
            par: None,
            steps: 0,
            solution: Vec::new(),
            states: 1,
        });
    }
    // Fifty vehicles in lanes of sixteen squares need at most 182 bits, so four words always do.
    match space::n_key_words(&lanes) {
        1 => search(board, &Space::<1>::new(board, &lanes), limit),
        2 => search(board, &Space::<2>::new(board, &lanes), limit),
        3 => search(board, &Space::<3>::new(board, &lanes), limit),
        _ => search(board, &Space::<4>::new(board, &lanes), limit),
    }
}

/// The first slide of a shortest solution, and how far there is to go.
///
/// Nearly all boards are solved before the search holds many positions. For the others it is read off the whole cluster.
///
/// # Errors
/// When the search reaches `limit` without an answer.
pub fn hint(board: &Board, limit: StateLimit) -> Result<Hint, SolveError> {
    match solve(board, limit.min(StateLimit::new(DOUBT))) {
        Err(SolveError::LimitReached { .. }) if limit > StateLimit::new(DOUBT) => {}
        answer => return answer.map(Hint::from),
    }
    match Explorer::new().nearest(board, limit.min(DOUBT_LIMIT)) {
        Ok(nearest) => Ok(Hint {
            slide: nearest.and_then(|nearest| nearest.slide),
            par: nearest.map(|nearest| nearest.par),
        }),
        Err(_) => solve(board, limit).map(Hint::from),
    }
}

impl From<Answer> for Hint {
    fn from(answer: Answer) -> Hint {
        Hint {
            slide: answer.solution.first().copied(),
            par: answer.par,
        }
    }
}

/// Whether it is plain that the hero never gets out: no arrangement of its row has it at the exit, or a
/// column ahead of it takes a square of the row in every arrangement.
fn is_shut(board: &Board, lanes: &[Lane]) -> bool {
    let row = &lanes[0];
    let is_open = (0..row.arrangements.len()).any(|arrangement| row.is_solved(board.lot(), arrangement));
    let is_ahead = |lane: &Lane| lane.axis == Axis::Vertical && lane.index >= board.hero().end();
    let shuts = |lane: &Lane| is_ahead(lane) && lane.always_taken() >> board.exit_row() & 1 != 0;
    !is_open || lanes.iter().any(shuts)
}

/// How many positions found are looked up together.
const BATCH: usize = 1024;

/// A search that holds so many positions and has no answer asks whether there is one: no solvable 6x6 board that was met
/// takes more, while an unsolvable one takes its whole cluster, which the explorer walks over ten times as fast.
const DOUBT: u64 = 100_000;

/// The largest cluster that is walked over to know, which takes some hundredths of a second.
const DOUBT_LIMIT: StateLimit = StateLimit::new(1_000_000);

/// How many positions the cluster of an unsolvable board has; `None`: there is a way, or it is too large to tell.
fn unsolvable_positions(board: &Board) -> Option<u64> {
    let cluster = Explorer::new().explore(board, DOUBT_LIMIT).ok()?;
    cluster.depth.is_none().then_some(cluster.states)
}

fn search<const N: usize>(board: &Board, space: &Space<N>, limit: StateLimit) -> Result<Answer, SolveError> {
    let mut is_in_doubt = true;
    let mut visited = Visited::new();
    visited.insert(space.initial(), 0);
    let mut frontier = vec![(space.initial(), None)];
    let mut next_frontier = Vec::new();
    let mut batch: Vec<Next<N>> = Vec::with_capacity(2 * BATCH);
    for depth in 1.. {
        let mut keys = frontier.iter().peekable();
        while let Some(&(key, last)) = keys.next() {
            space.for_each_next(key, last, |next| {
                if !visited.is_plainly_known(next.key) {
                    batch.push(next);
                }
            });
            if batch.len() < BATCH && keys.peek().is_some() {
                continue;
            }
            for Next {
                key,
                move_idx,
                is_solving,
            } in batch.drain(..)
            {
                if !visited.insert(key, depth) {
                    continue;
                }
                if visited.len() > limit.get() {
                    return Err(SolveError::LimitReached {
                        limit,
                        at_least: depth,
                    });
                }
                if is_solving {
                    let par = u16::try_from(depth).map_err(|_| SolveError::TooDeep)?;
                    let solution = walk_back(space, &visited, key, depth);
                    let steps = solution.iter().map(|slide| slide.steps()).sum();
                    let (par, states) = (Some(Par::new(par)), visited.len());
                    return Ok(Answer {
                        par,
                        steps,
                        solution,
                        states,
                    });
                }
                next_frontier.push((key, Some(move_idx)));
            }
        }
        if next_frontier.is_empty() {
            break;
        }
        if is_in_doubt && visited.len() > DOUBT {
            is_in_doubt = false;
            if let Some(states) = unsolvable_positions(board).filter(|&states| states <= limit.get()) {
                return Ok(Answer {
                    par: None,
                    steps: 0,
                    solution: Vec::new(),
                    states,
                });
            }
        }
        std::mem::swap(&mut frontier, &mut next_frontier);
        next_frontier.clear();
    }
    Ok(Answer {
        par: None,
        steps: 0,
        solution: Vec::new(),
        states: visited.len(),
    })
}

/// The slides from the initial position to `key`, found backwards: slides can be taken back, so among the
/// neighbours of a position is one that is a slide nearer to the start.
fn walk_back<const N: usize>(
    space: &Space<N>,
    visited: &Visited<N>,
    mut key: Key<N>,
    depth: u32,
) -> Vec<Slide> {
    let mut solution = Vec::new();
    for depth in (0..depth).rev() {
        let mut nearer = None;
        space.for_each_next(key, None, |next| {
            if nearer.is_none() && visited.is_at_depth(next.key, depth) {
                nearer = Some(next);
            }
        });
        let nearer = nearer.expect("every position visited was reached from one nearer to the start");
        solution.push(space.slide(nearer.move_idx).undo());
        key = nearer.key;
    }
    solution.reverse();
    solution
}
