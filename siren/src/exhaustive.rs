//! The slow, obviously correct check: breadth-first search over every legal action, by the plain simulator.

use crate::jam::Jam;
use crate::pieces::Piece;
use crate::simulate::{Action, Escape, State};
use std::collections::HashSet;

/// States after which a search gives up, unless told otherwise.
pub const STATE_CAP: usize = 400_000;

/// What trying everything found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhaustive {
    /// The fewest moves until the forward and the reverse lane is clear; `None` if no sequence of moves clears it.
    pub costs: [Option<u32>; 2],
    /// States looked at.
    pub states: usize,
}

/// The cap was reached before both answers were known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("gave up after {cap} states")]
pub struct CapReached {
    /// The cap, in states.
    pub cap: usize,
}

/// Tries, from the start of a level, every sequence of legal moves (vehicle, barricade, tow, swap, drawbridge), shortest first, until both
/// escapes have been clear or nothing is left to try.
///
/// # Errors
/// If more than `cap` states are met.
pub fn search(jam: &Jam, cap: usize) -> Result<Exhaustive, CapReached> {
    search_from(jam, State::start(jam), cap)
}

/// The same from a state of play.
///
/// # Errors
/// If more than `cap` states are met.
pub fn search_from(jam: &Jam, start: State, cap: usize) -> Result<Exhaustive, CapReached> {
    let actions = conceivable_actions(jam);
    let mut seen = HashSet::from([start]);
    let mut wave = vec![start];
    let mut costs = [None; 2];
    for moves in 0u32.. {
        for (cost, escape) in costs.iter_mut().zip(Escape::BOTH) {
            if cost.is_none() && wave.iter().any(|state| state.is_clear(jam, escape)) {
                *cost = Some(moves);
            }
        }
        if wave.is_empty() || costs.iter().all(Option::is_some) {
            break;
        }
        let mut next_wave = Vec::new();
        for state in wave {
            for action in &actions {
                let mut next = state;
                if next.play(jam, *action).is_ok() && seen.insert(next) {
                    next_wave.push(next);
                }
            }
            if seen.len() > cap {
                return Err(CapReached { cap });
            }
        }
        wave = next_wave;
    }
    Ok(Exhaustive {
        costs,
        states: seen.len(),
    })
}

/// Every move that could be legal in some state.
fn conceivable_actions(jam: &Jam) -> Vec<Action> {
    let mut actions = vec![Action::Swap, Action::Lower];
    for (number, piece) in jam.pieces().iter().enumerate() {
        match piece {
            Piece::Vehicle(_) | Piece::Barricade(_) => actions.push(Action::Tap(number)),
            Piece::Wreck(_) => actions.push(Action::Tow(number)),
            Piece::Unit(..) | Piece::Planter(_) => {}
        }
    }
    actions
}
