//! The solver: for each escape the closure, its cost and its order, or what makes it hopeless.
//!
//! Nothing comes back, so an escape needs exactly its closure gone (everything in the lane, everything in the way of
//! that, and so on): each member must go by a move of its own, and nothing else has to. The rest of the cost is the
//! drawbridge, if a member's route crosses it, and the swaps of [`crate::lights`].

use crate::bits::Bits;
use crate::blockers::{Blockers, NoRoute, Shut};
use crate::cycles::cycles;
use crate::jam::Jam;
use crate::lights::{Order, order};
use crate::simulate::{Action, Escape, State};

/// How one escape is cleared in the fewest moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Which way out.
    pub escape: Escape,
    /// Every piece that must go.
    pub closure: Bits,
    /// The moves, in order.
    pub actions: Vec<Action>,
    /// How many of them are light swaps.
    pub n_swaps: u32,
    /// Whether one of them lowers the drawbridge.
    pub lowers_bridge: bool,
    /// Members of the closure that others of it lock in at the start.
    pub n_locked: u32,
    /// Layers of blockers: the longest chain of pieces each in the way of the next, the lane's included.
    pub depth: u32,
}

impl Solution {
    /// Moves.
    pub fn cost(&self) -> u32 {
        u32::try_from(self.actions.len()).expect("a jam has 144 pieces at most")
    }
}

/// Why an escape can never be cleared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Hopeless {
    /// The lane itself is shut.
    #[error("shut: {0}")]
    Shut(Shut),
    /// The lane is open, but its closure cannot go: every reason, never none.
    #[error("impossible: {}", join(.0))]
    Impossible(Vec<Impossible>),
}

/// A reason why a closure cannot go.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// A vehicle that can never leave.
    #[error("vehicle {piece} {why}")]
    NoRoute {
        /// Its number.
        piece: usize,
        /// Why.
        why: NoRoute,
    },
    /// More wrecks than tows.
    #[error("{wrecks} wrecks must be towed, {tows} tows are left")]
    TooFewTows {
        /// Wrecks in the closure.
        wrecks: usize,
        /// Tows left.
        tows: usize,
    },
    /// Vehicles each in another's way.
    #[error("vehicles {} block one another", members(*.0))]
    Cycle(Bits),
}

/// Both escapes of a jam, or of a state of play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Forward, then reverse.
    pub escapes: [Result<Solution, Hopeless>; 2],
}

impl Answer {
    /// The escape with fewer moves, forward on a tie; `None` if neither can be cleared.
    pub fn optimum(&self) -> Option<&Solution> {
        self.escapes
            .iter()
            .flatten()
            .min_by_key(|solution| solution.cost())
    }

    /// The fewest moves until a lane is clear.
    pub fn par(&self) -> Option<u32> {
        self.optimum().map(Solution::cost)
    }

    /// The cost of an escape, if it can be cleared.
    pub fn cost(&self, escape: Escape) -> Option<u32> {
        self.escapes[escape as usize].as_ref().ok().map(Solution::cost)
    }

    /// How many moves dearer the dearer escape is; `None` unless both can be cleared.
    pub fn gap(&self) -> Option<u32> {
        Some(self.cost(Escape::Forward)?.abs_diff(self.cost(Escape::Reverse)?))
    }
}

/// Solves a jam from its start.
pub fn solve(jam: &Jam) -> Answer {
    solve_from(&Blockers::new(jam), &State::start(jam))
}

/// Solves a jam, whose blockers are given, from a state of play.
pub fn solve_from(blockers: &Blockers, state: &State) -> Answer {
    Answer {
        escapes: Escape::BOTH.map(|escape| solve_escape(blockers, state, escape)),
    }
}

fn solve_escape(blockers: &Blockers, state: &State, escape: Escape) -> Result<Solution, Hopeless> {
    let lane = blockers.lane(escape);
    if let Some(shut) = lane.shut {
        return Err(Hopeless::Shut(shut));
    }
    let closure = blockers.closure(lane.pieces, state.present());
    let Order {
        actions,
        n_swaps,
        n_free,
        depth,
    } = clear(blockers, state, closure).map_err(Hopeless::Impossible)?;
    let size = closure.count();
    let lowers_bridge = actions.contains(&Action::Lower);
    Ok(Solution {
        escape,
        closure,
        actions,
        n_swaps,
        lowers_bridge,
        n_locked: size - n_free,
        depth,
    })
}

/// Orders the removal of everything that can be removed, as a level must allow that is fit to ship.
///
/// # Errors
/// Every reason why the whole lot cannot be cleared.
pub fn clear_whole_board(blockers: &Blockers, state: &State) -> Result<Order, Vec<Impossible>> {
    clear(blockers, state, blockers.removable() & state.present())
}

fn clear(blockers: &Blockers, state: &State, closure: Bits) -> Result<Order, Vec<Impossible>> {
    let wrecks = (closure & blockers.wrecks()).len();
    let has_route = !closure.intersects(blockers.without_route());
    if has_route
        && wrecks <= usize::from(state.tows_left())
        && let Some(order) = order(blockers, closure, state.is_swapped(), state.bridge_is_up())
    {
        return Ok(order);
    }
    Err(reasons(blockers, closure, wrecks, usize::from(state.tows_left())))
}

fn reasons(blockers: &Blockers, closure: Bits, wrecks: usize, tows: usize) -> Vec<Impossible> {
    let no_route = closure.iter().filter_map(|piece| match blockers.route(piece) {
        Some(Err(why)) => Some(Impossible::NoRoute { piece, why }),
        _ => None,
    });
    let too_few_tows = (wrecks > tows).then_some(Impossible::TooFewTows { wrecks, tows });
    no_route
        .chain(too_few_tows)
        .chain(cycles(blockers, closure).into_iter().map(Impossible::Cycle))
        .collect()
}

fn join(reasons: &[Impossible]) -> String {
    reasons
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
}

fn members(set: Bits) -> String {
    set.iter()
        .map(|piece| piece.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}
