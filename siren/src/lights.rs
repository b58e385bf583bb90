//! The order in which a closure leaves the lot with the fewest light swaps.
//!
//! # Why greedy is exact
//!
//! Let `R` be the pieces that must go. A piece can go once none of its blockers is left, if its light, should it have
//! one, is green in the present phase. An order of play cuts into phases, one between each two swaps.
//!
//! *Greedy*: in each phase take away whatever can go, until nothing more can; then swap.
//!
//! *Claim*: if any order of play has removed the set `X` from `R` by the end of its `k`-th phase, greedy has removed
//! a superset of `X` by the end of its own `k`-th.
//!
//! *Proof* by induction over the removals of the other order. Phases have the same colours in both, since both begin in
//! the phase given and a swap changes every light. Take the other order's next removal, of `v` in phase `k`, and assume
//! that greedy has removed all that was removed before it, by the end of its phase `k`. The blockers of `v` are among
//! these, so greedy has none of them left at that time; the light of `v` is green throughout phase `k`. Had greedy not
//! removed `v`, it could still remove it, and phase `k` would not have ended. ∎
//!
//! So when the fewest swaps of any order is `s`, its last phase ends with all of `R` gone, and greedy's phase of the
//! same number does too. The claim needs only that what can go never becomes unable to go other than by colour: the
//! lot only empties, the drawbridge only goes down, and the tows left always cover the wrecks left in `R` (checked
//! beforehand; a tow for a piece outside `R` is never part of a shortest order). It holds at every size and from every
//! state of play. Two empty phases in a row mean that nothing will ever go again: the rest of `R` holds a cycle.

use crate::bits::Bits;
use crate::blockers::Blockers;
use crate::simulate::Action;

/// The most pieces that [`fewest_swaps_by_search`] takes.
pub const SEARCH_LIMIT: usize = 22;

/// An order of play for a set of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The moves, blockers first, with swaps and the drawbridge where they are needed.
    pub actions: Vec<Action>,
    /// How many of them are swaps.
    pub n_swaps: u32,
    /// Pieces that could go before any other had gone, colours and the bridge aside.
    pub n_free: u32,
    /// Layers of blockers: the length of the longest chain of pieces each in the way of the next.
    pub depth: u32,
}

/// Orders the pieces of `required`, which must hold every present blocker of its members, by the greedy rule above;
/// `None` if it holds a cycle. Colours start as at the start of the level, or swapped.
pub fn order(blockers: &Blockers, required: Bits, swapped: bool, bridge_is_up: bool) -> Option<Order> {
    let mut found = Order {
        actions: Vec::with_capacity(required.len() + 4),
        ..Order::default()
    };
    let mut layers = [0u32; Bits::CAPACITY];
    let (mut rest, mut swapped, mut bridge_is_up) = (required, swapped, bridge_is_up);
    let mut last_phase_was_empty = false;
    loop {
        let before = rest;
        while let Some(gone) = pass(
            blockers,
            rest,
            swapped,
            &mut found,
            &mut layers,
            required,
            &mut bridge_is_up,
        ) {
            rest = rest - gone;
        }
        if rest.is_empty() {
            return Some(found);
        }
        if rest == before && last_phase_was_empty {
            return None;
        }
        last_phase_was_empty = rest == before;
        swapped = !swapped;
        found.actions.push(Action::Swap);
        found.n_swaps += 1;
    }
}

/// Takes away, in one sweep over the rest, what can go in this phase; `None` if nothing can.
fn pass(
    blockers: &Blockers,
    rest: Bits,
    swapped: bool,
    found: &mut Order,
    layers: &mut [u32; Bits::CAPACITY],
    required: Bits,
    bridge_is_up: &mut bool,
) -> Option<Bits> {
    let mut left = rest;
    for piece in (rest - blockers.red(swapped)).iter() {
        if blockers.of(piece).intersects(left) {
            continue;
        }
        if *bridge_is_up && blockers.needs_bridge().contains(piece) {
            *bridge_is_up = false;
            found.actions.push(Action::Lower);
        }
        let behind = blockers.of(piece) & required;
        let layer = 1 + behind.iter().map(|blocker| layers[blocker]).max().unwrap_or(0);
        layers[piece] = layer;
        found.depth = found.depth.max(layer);
        found.n_free += u32::from(layer == 1);
        found.actions.push(if blockers.wrecks().contains(piece) {
            Action::Tow(piece)
        } else {
            Action::Tap(piece)
        });
        left.remove(piece);
    }
    (left != rest).then(|| rest - left)
}

/// The check beside [`order`]: breadth-first over (removed set, phase), every removal tried. `None` if the set cannot
/// be removed.
///
/// # Panics
/// If `required` has more than [`SEARCH_LIMIT`] pieces.
pub fn fewest_swaps_by_search(blockers: &Blockers, required: Bits, swapped: bool) -> Option<u32> {
    let members: Vec<usize> = required.iter().collect();
    assert!(
        members.len() <= SEARCH_LIMIT,
        "{} pieces, expected {SEARCH_LIMIT} or fewer",
        members.len()
    );
    let mask = |set: Bits| {
        members
            .iter()
            .enumerate()
            .filter(|(_, piece)| set.contains(**piece))
            .map(|(at, _)| 1u32 << at)
            .sum()
    };
    let waits_for: Vec<u32> = members.iter().map(|piece| mask(blockers.of(*piece))).collect();
    let red: [u32; 2] = [mask(blockers.red(false)), mask(blockers.red(true))];
    let all = mask(required);

    let mut seen = vec![false; (all as usize + 1) * 2];
    let mut wave = vec![(0u32, swapped)];
    for swaps in 0u32.. {
        let mut next_wave = Vec::new();
        while let Some((removed, phase)) = wave.pop() {
            if std::mem::replace(&mut seen[removed as usize * 2 + usize::from(phase)], true) {
                continue;
            }
            if removed == all {
                return Some(swaps);
            }
            for (at, waits) in waits_for.iter().enumerate() {
                let bit = 1 << at;
                let can_go =
                    removed & bit == 0 && waits & !removed == 0 && red[usize::from(phase)] & bit == 0;
                if can_go {
                    wave.push((removed | bit, phase));
                }
            }
            next_wave.push((removed, !phase));
        }
        if next_wave.is_empty() {
            return None;
        }
        wave = next_wave;
    }
    unreachable!("there are finitely many states")
}
