//! What a shard has found so far: proves boards, keeps each distinct one once, counts.
//!
//! Which boards to prove is the affair of the job kinds.

use rustc_hash::FxHashMap;

use crate::cluster::{Explorer, Found};
use crate::job::{Counters, ShardOutcome};
use crate::stream::Stream;
use crate::tally::hash_found;
use crate::{Board, Par, StateLimit};

/// The boards and counters of one shard in the making.
///
/// Clusters differ in size by five orders of magnitude, and the small ones, of which there are most, would get next to
/// none of the time if each were explored whatever its size. So a search is given a limit by lot
/// ([`draw_limit`](Finds::draw_limit)): each doubling of the limit a third as often, which spends most time on small
/// clusters and some on all.
pub(crate) struct Finds<'a> {
    explorer: &'a mut Explorer,
    max_states: u64,
    limit: StateLimit,
    found: Vec<Found>,
    indices: FxHashMap<u128, u32>,
    pub(crate) counters: Counters,
}

impl<'a> Finds<'a> {
    pub(crate) fn new(explorer: &'a mut Explorer, max_states: u64) -> Finds<'a> {
        Finds {
            explorer,
            max_states,
            limit: StateLimit::new(max_states),
            found: Vec::new(),
            indices: FxHashMap::default(),
            counters: Counters::default(),
        }
    }

    /// Explores the board's cluster and keeps its row. `None` if it is unsolvable, too large, or has depth 0:
    /// a board that is solved wherever its vehicles stand is no puzzle.
    pub(crate) fn prove(&mut self, board: &Board) -> Option<FindIdx> {
        let indices = &self.indices;
        // What the shard has found before was examined then.
        let is_wanted = |found: &Found| found.par != Par::ZERO && !indices.contains_key(&hash_found(found));
        match self.explorer.entry_if(board, self.limit, is_wanted) {
            Ok(entry) => {
                self.counters.clusters += 1;
                entry.and_then(|found| self.keep(found))
            }
            Err(_too_large) => {
                self.counters.too_large += 1;
                None
            }
        }
    }

    fn keep(&mut self, found: Found) -> Option<FindIdx> {
        self.counters.positions += found.states;
        if found.par == Par::ZERO {
            return None;
        }
        self.counters.solvable += 1;
        let next =
            u32::try_from(self.found.len()).expect("a shard has at most MAX_ITERATIONS_PER_SHARD finds");
        let idx = *self.indices.entry(hash_found(&found)).or_insert(next);
        if idx == next {
            self.counters.found += 1;
            self.found.push(found);
        } else {
            self.counters.duplicates += 1;
        }
        Some(FindIdx(idx))
    }

    /// Draws the limit for the searches to come: `least` positions, or twice, four times .. as many, each a third as often
    /// as the one before, and never more than the job allows.
    pub(crate) fn draw_limit(&mut self, least: u64, stream: &mut Stream) {
        let mut limit = least;
        while limit < self.max_states && stream.chance(1, 3) {
            limit *= 2;
        }
        self.limit = StateLimit::new(limit.min(self.max_states));
    }

    pub(crate) fn get(&self, idx: FindIdx) -> &Found {
        &self.found[idx.0 as usize]
    }

    pub(crate) fn into_outcome(mut self) -> ShardOutcome {
        self.found
            .sort_unstable_by(|a, b| (a.par, &a.canonical).cmp(&(b.par, &b.canonical)));
        ShardOutcome {
            found: self.found,
            counters: self.counters,
            census: None,
            measured: Vec::new(),
        }
    }
}

/// The place of a found board in its shard's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FindIdx(u32);
