//! The next move, from any state of play.
//!
//! A hint follows the escape that is cheaper from here, forward on a tie. Of the pieces of its remaining closure that
//! can go now, it names the one that frees the most others; where none can go, the bridge or a swap is next. Every
//! hint takes one move off the cheaper escape's cost, so following hints from the start takes exactly the optimum: a
//! member of the closure has to go in any case, the bridge has to come down in any case once a member needs it, and a
//! swap comes only when its phase is exhausted (see [`crate::lights`]).

use crate::bits::Bits;
use crate::blockers::Blockers;
use crate::closure::{Answer, solve_from};
use crate::simulate::{Action, Escape, State};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A lane is clear: drive.
    Clear(Escape),
    /// A move, and the escape that it serves.
    Play {
        /// The move.
        action: Action,
        /// The cheaper escape from here.
        escape: Escape,
        /// Moves left with this one, following hints.
        moves_left: u32,
        /// Required pieces that this move frees: those that could go at once after it, colours aside.
        frees: u32,
    },
    /// Neither escape can be cleared any more; the answer says why.
    Hopeless(Answer),
}

/// The next move from a state of play of the jam whose blockers are given.
pub fn hint(blockers: &Blockers, state: &State) -> Hint {
    let answer = solve_from(blockers, state);
    let Some(best) = answer.optimum() else {
        return Hint::Hopeless(answer);
    };
    let (escape, closure, moves_left) = (best.escape, best.closure, best.cost());
    if moves_left == 0 {
        return Hint::Clear(escape);
    }
    let (action, frees) = next_move(blockers, state, closure);
    Hint::Play {
        action,
        escape,
        moves_left,
        frees,
    }
}

fn next_move(blockers: &Blockers, state: &State, closure: Bits) -> (Action, u32) {
    let waiting = closure - blockers.red(state.is_swapped());
    let ready: Bits = waiting
        .iter()
        .filter(|piece| !blockers.of(*piece).intersects(closure))
        .collect();
    let needs_bridge = if state.bridge_is_up() {
        blockers.needs_bridge()
    } else {
        Bits::EMPTY
    };
    let best = (ready - needs_bridge)
        .iter()
        .map(|piece| (frees(blockers, closure, piece), piece))
        // The most freed; of equals, the first in the level's list.
        .max_by_key(|((freed, held), piece)| (*freed, *held, std::cmp::Reverse(*piece)));
    match best {
        Some(((freed, _), piece)) if blockers.wrecks().contains(piece) => (Action::Tow(piece), freed),
        Some(((freed, _), piece)) => (Action::Tap(piece), freed),
        None if ready.is_empty() => (Action::Swap, 0),
        None => (Action::Lower, ready.count()),
    }
}

/// Required pieces that wait for this one alone; and that wait for it at all.
fn frees(blockers: &Blockers, closure: Bits, piece: usize) -> (u32, u32) {
    let held = closure.iter().filter(|other| blockers.of(*other).contains(piece));
    held.fold((0, 0), |(freed, held), other| {
        let waits_for = blockers.of(other) & closure;
        (freed + u32::from(waits_for.len() == 1), held + 1)
    })
}
