//! Distances of layouts explored before, kept for a while.
//!
//! Whether a vehicle of a representative is needed asks for the par of what is left without it. What is left
//! is a position of a smaller layout, and a census that walks over all ways to fill the columns has explored
//! that layout a moment ago, whenever the vehicle stands in a column: the answer is a look-up.
//!
//! An archive serves layouts with the same rows. It never changes an answer, only how fast it comes.

use rustc_hash::FxHashMap;

use crate::cluster::boxes::{self, BoxGraph};
use crate::cluster::distances::Levels;
use crate::geometry::Axis;
use crate::lane::{LaneStore, MAX_LANE};
use crate::layout::Layout;
use crate::packed::Packed;

/// No more is kept once this many words are: some 64 MB.
const MAX_WORDS: usize = 4_000_000;

/// Distances by layout, box and bit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Archive {
    records: FxHashMap<[u32; MAX_LANE], Record>,
    /// Keys of families with the number of their first box, sorted within a record.
    families: Vec<(Packed, u32)>,
    /// Where each box's words begin; one entry more than boxes in each record.
    starts: Vec<u32>,
    words: Vec<(u64, u16)>,
    /// Of the layout that is being explored: (box, distance, word).
    pending: Vec<(u32, u16, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    inner_axis: Axis,
    first_family: usize,
    end_family: usize,
    first_start: usize,
}

impl Archive {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.families.clear();
        self.starts.clear();
        self.words.clear();
        self.pending.clear();
    }

    /// Begins a layout.
    pub(crate) fn begin(&mut self) {
        self.pending.clear();
    }

    /// Takes down the distances of one cluster of the layout.
    pub(crate) fn add_cluster(&mut self, levels: &Levels) {
        for distance in 0..=levels.depth() {
            let level = levels.level(distance);
            self.pending.extend(
                level
                    .iter()
                    .map(|reached| (reached.node, distance as u16, reached.word)),
            );
        }
    }

    /// Files the layout whose clusters have been added.
    pub(crate) fn finish(&mut self, layout: &Layout, graph: &BoxGraph) {
        if self.words.len() + self.pending.len() > MAX_WORDS {
            return;
        }
        let first_family = self.families.len();
        self.families
            .extend(graph.families.iter().map(|family| (family.key, family.first_box)));
        self.families[first_family..].sort_unstable();
        let first_start = self.starts.len();
        self.starts.resize(first_start + graph.nodes.len() + 1, 0);
        let starts = &mut self.starts[first_start..];
        for &(node, ..) in &self.pending {
            starts[node as usize] += 1;
        }
        // Counts become ends, and ends become starts as the words are put in from the last on.
        let mut end = self.words.len() as u32;
        for start in starts.iter_mut() {
            end += *start;
            *start = end;
        }
        self.words.resize(self.words.len() + self.pending.len(), (0, 0));
        for &(node, distance, word) in &self.pending {
            let start = &mut starts[node as usize];
            *start -= 1;
            self.words[*start as usize] = (word, distance);
        }
        let record = Record {
            inner_axis: layout.inner_axis,
            first_family,
            end_family: self.families.len(),
            first_start,
        };
        self.records.insert(*columns(layout), record);
    }

    /// The distance of a position to the nearest solved one, if its layout is here.
    pub(crate) fn distance(&self, store: &LaneStore, layout: &Layout, position: Packed) -> Option<usize> {
        let record = self.records.get(columns(layout))?;
        let address = if record.inner_axis == layout.inner_axis {
            boxes::address(&layout.lanes(store), position)
        } else {
            boxes::address(&layout.turned().lanes(store), position.turned())
        };
        let families = &self.families[record.first_family..record.end_family];
        let at = families
            .binary_search_by_key(&address.key, |&(key, _)| key)
            .ok()?;
        let node = (families[at].1 + address.box_offset) as usize;
        let start = self.starts[record.first_start + node] as usize;
        let end = self.starts[record.first_start + node + 1] as usize;
        let word = self.words[start..end]
            .iter()
            .find(|&&(word, _)| word >> address.bit & 1 != 0)?;
        Some(usize::from(word.1))
    }
}

fn columns(layout: &Layout) -> &[u32; MAX_LANE] {
    match layout.inner_axis {
        Axis::Horizontal => &layout.outer,
        Axis::Vertical => &layout.inner,
    }
}
