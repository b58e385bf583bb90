//! Difficulty for people: what research measures on a board beside its par.
//!
//! Par is not how hard a board feels. Each measure here is an exact whole number, a function of the board alone,
//! and the same on every machine; how they are weighed against each other is left to the user.
//!
//! *Shortest ways* are the positions that lie on some shortest solution. They form a graph without cycles: each
//! slide of a shortest solution lowers the par by exactly one, and every slide that lowers it is on one.
//!
//! Sources, by measure:
//! - number of shortest solutions, branching along them, slides against intuition: P. Jarušek and R. Pelánek, *What
//!   Determines Difficulty of Transport Puzzles?*, FLAIRS 2011 (Rush Hour among them), and *Difficulty Rating of
//!   Sokoban Puzzle*, STAIRS 2010, whose random walker is behind [`Difficulty::luck_tenths`];
//! - vehicles that move, and that move again, as the subgoals behind the main goal: M. Ragni, F. Steffenhagen and
//!   T. Fangmeier, *A Structural Complexity Measure for Predicting Human Planning Performance*, 33rd annual meeting of
//!   the Cognitive Science Society, 2011 (on Rush Hour);
//! - the shape of the whole graph of positions, dead ends among it: M. Bockholt, *A graph theoretical approach for
//!   exploring a board game's complexity*, thesis, Heidelberg 2013 (Rush Hour, 97 subjects).

mod chance;
mod graph;
pub mod job;
mod ways;

use crate::{Board, Par, StateLimit};
use graph::Graph;

/// The largest count of shortest solutions that is told apart: larger ones saturate here.
pub const MOST_SOLUTIONS: u64 = i64::MAX.cast_unsigned();

/// What there is to measure on a solvable board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Difficulty {
    /// The fewest slides from the board to a solved position.
    pub par: Par,
    /// Positions in the board's cluster.
    pub n_states: u64,
    /// Shortest solutions, as sequences of slides; [`MOST_SOLUTIONS`] if there are as many or more.
    pub n_solutions: u64,
    /// Unsolved positions on shortest ways, the board itself among them.
    pub n_way_positions: u64,
    /// Slides possible at these positions, summed over them: branching along the way is this by
    /// [`n_way_positions`](Self::n_way_positions).
    pub n_way_slides: u64,
    /// Of these slides, those that lie on a shortest solution.
    pub n_right_slides: u64,
    /// The fewest slides against intuition that a shortest solution can have: the hero slides away from the exit,
    /// or a vehicle slides onto a square between hero and exit when it covered none before.
    pub n_against: u32,
    /// Vehicles that slide in every shortest solution.
    pub n_movers: u32,
    /// Vehicles that slide twice or more in every shortest solution (never twice in a row, for that would not be
    /// shortest).
    pub n_repeat_movers: u32,
    /// Unsolved positions of the cluster from which no slide leads farther from the solved positions: whoever
    /// strays there has to turn round. Their share of [`n_unsolved`](Self::n_unsolved) is the dead-end share.
    pub n_dead_ends: u64,
    /// Unsolved positions of the cluster.
    pub n_unsolved: u64,
    /// Tenths of a bit, rounded down: how unlikely it is that somebody who picks each slide at random among all
    /// possible ones solves the board in par. One tenth of a bit is a tenth of a coin toss; a board that solves
    /// itself has 0. It weighs par, branching and the number of solutions in one number.
    pub luck_tenths: u32,
}

/// Why a board was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DifficultyError {
    /// The cluster is larger than the limit.
    #[error("cluster has more than {0} positions")]
    TooLarge(StateLimit),
}

/// Measures a board; `None` if it is unsolvable. The whole cluster is explored and held.
///
/// ```
/// use board::{Board, StateLimit, difficulty};
/// // B makes way by one square up, or by two or three down, then the hero drives: three solutions.
/// let board: Board = "oooooooooBooAAoBoooooooooooooooooooo".parse().unwrap();
/// let measured = difficulty::measure(&board, StateLimit::DEFAULT).unwrap().unwrap();
/// assert_eq!((measured.par.get(), measured.n_solutions), (2, 3));
/// assert_eq!((measured.n_movers, measured.n_repeat_movers, measured.n_against), (2, 0, 0));
/// ```
///
/// # Errors
/// When the cluster has more positions than `limit`.
///
/// # Panics
/// When the cluster has four billion positions or more and the limit lets it.
pub fn measure(board: &Board, limit: StateLimit) -> Result<Option<Difficulty>, DifficultyError> {
    // Four bits a vehicle: sixteen of them in a word.
    match board.n_vehicles() {
        0..=16 => measure_keys::<1>(board, limit),
        17..=32 => measure_keys::<2>(board, limit),
        _ => measure_keys::<4>(board, limit),
    }
}

fn measure_keys<const N: usize>(
    board: &Board,
    limit: StateLimit,
) -> Result<Option<Difficulty>, DifficultyError> {
    let graph = Graph::<N>::of(board, limit)?;
    let Some(par) = graph.par(0) else { return Ok(None) };
    let way = ways::follow(board, &graph);
    let unsolved = (0..graph.n_positions()).filter(|&p| graph.par(p) != Some(0));
    let n_unsolved = unsolved.clone().count() as u64;
    let n_dead_ends = unsolved.filter(|&p| is_dead_end(&graph, p)).count() as u64;
    Ok(Some(Difficulty {
        par: Par::new(par),
        n_states: graph.n_positions() as u64,
        n_solutions: way.n_solutions,
        n_way_positions: way.n_positions,
        n_way_slides: way.n_slides,
        n_right_slides: way.n_right_slides,
        n_against: way.n_against,
        n_movers: way.n_movers,
        n_repeat_movers: way.n_repeat_movers,
        n_dead_ends,
        n_unsolved,
        luck_tenths: way.luck_tenths,
    }))
}

fn is_dead_end<const N: usize>(graph: &Graph<N>, position: usize) -> bool {
    let par = graph.par(position);
    graph
        .neighbours(position)
        .iter()
        .all(|&next| graph.par(next as usize) <= par)
}
