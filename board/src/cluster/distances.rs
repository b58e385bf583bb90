//! Flooding a cluster, and measuring every position's distance to the nearest of given positions.

use crate::cluster::bits::Bits;
use crate::cluster::boxes::{BoxGraph, Edge, NO_EDGE, OverLimit};
use crate::cluster::expand::Expansion;
use crate::lane::MAX_LANE;
use crate::layout::Lanes;
use crate::packed::Packed;

/// Positions that a search reached together: some of one box, all at the same distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) node: u32,
    pub(crate) word: u64,
}

/// A search by distance over boxes, level by level, and its log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// Everything reached, nearest first; a box occurs at most once a level.
    pub(crate) log: Vec<Reached>,
    /// Where each level begins in the log, and where the last one ends.
    pub(crate) starts: Vec<usize>,
    touched: Vec<u32>,
}

impl Levels {
    pub(crate) fn clear(&mut self) {
        self.log.clear();
        self.starts.clear();
        self.touched.clear();
    }

    /// Bytes that the log takes.
    pub(crate) fn n_bytes(&self) -> usize {
        self.log.len() * size_of::<Reached>()
    }

    /// The largest distance.
    pub(crate) fn depth(&self) -> usize {
        self.starts.len() - 2
    }

    /// What was reached at a distance.
    pub(crate) fn level(&self, distance: usize) -> &[Reached] {
        &self.log[self.starts[distance]..self.starts[distance + 1]]
    }

    /// Number of positions at a distance.
    pub(crate) fn n_positions(&self, distance: usize) -> u64 {
        self.level(distance)
            .iter()
            .map(|r| u64::from(r.word.count_ones()))
            .sum()
    }

    /// Starts from positions of the boxes `nodes`: the solved ones. Returns whether there are any.
    #[inline(always)]
    pub(crate) fn seed_solved<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        graph: &mut BoxGraph,
        nodes: std::ops::Range<usize>,
    ) -> bool {
        self.clear();
        self.starts.push(0);
        for node in nodes {
            let word = graph.solved(bits, lanes, node as u32);
            if word != 0 {
                self.log.push(Reached {
                    node: node as u32,
                    word,
                });
                graph.nodes[node].unseen &= !word;
            }
        }
        self.starts.push(self.log.len());
        !self.log.is_empty()
    }

    /// Starts from one position.
    pub(crate) fn seed_position(&mut self, graph: &mut BoxGraph, node: u32, bit: u8) {
        self.clear();
        let word = 1 << bit;
        self.log.push(Reached { node, word });
        graph.nodes[node as usize].unseen &= !word;
        self.starts.extend([0, 1]);
    }

    /// Reaches the next level. Returns whether it holds anything; if not, there is none.
    #[inline(always)]
    pub(crate) fn advance<B: Bits>(&mut self, bits: B, lanes: &Lanes<'_>, graph: &mut BoxGraph) -> bool {
        let n = self.starts.len();
        for at in self.starts[n - 2]..self.starts[n - 1] {
            let Reached { node: id, word } = self.log[at];
            let here = &mut graph.nodes[id as usize];
            let mut edge = here.first_edge;
            if here.unseen != 0 {
                let family = &graph.families[here.family as usize];
                let fresh = BoxGraph::slide_inside(bits, lanes, family, word) & here.unseen;
                if fresh != 0 {
                    if here.next == 0 {
                        self.touched.push(id);
                    }
                    here.next |= fresh;
                }
            }
            while edge != NO_EDGE {
                let Edge { from, to, node, next } = graph.edges[edge as usize];
                let there = &mut graph.nodes[node as usize];
                let fresh = bits.scatter(bits.gather(word, from), to) & there.unseen;
                if fresh != 0 {
                    if there.next == 0 {
                        self.touched.push(node);
                    }
                    there.next |= fresh;
                }
                edge = next;
            }
        }
        if self.touched.is_empty() {
            return false;
        }
        for &id in &self.touched {
            let words = &mut graph.nodes[id as usize];
            self.log.push(Reached {
                node: id,
                word: words.next,
            });
            words.unseen &= !words.next;
            words.next = 0;
        }
        self.touched.clear();
        self.starts.push(self.log.len());
        true
    }

    /// The vehicles that move in one shortest way from a position of the last level to the first level:
    /// `[inner, outer]`, a byte a lane, a bit a vehicle.
    pub(crate) fn movers<B: Bits>(
        &self,
        bits: B,
        lanes: &Lanes<'_>,
        graph: &mut BoxGraph,
        from: Reached,
    ) -> [u64; 2] {
        let mut movers = [0; 2];
        let mut here = from;
        for distance in (0..self.depth()).rev() {
            // `next` is free for use between searches: here it marks the level that the way must enter.
            for reached in self.level(distance) {
                graph.nodes[reached.node as usize].next = reached.word;
            }
            let there = nearer(bits, lanes, graph, here);
            for reached in self.level(distance) {
                graph.nodes[reached.node as usize].next = 0;
            }
            note_mover(lanes, graph, here, there, &mut movers);
            here = there;
        }
        movers
    }
}

/// A position one slide from `here` that is marked in the words' `next`.
fn nearer<B: Bits>(bits: B, lanes: &Lanes<'_>, graph: &BoxGraph, here: Reached) -> Reached {
    let node = &graph.nodes[here.node as usize];
    let family = &graph.families[node.family as usize];
    let inside = BoxGraph::slide_inside(bits, lanes, family, here.word) & node.next;
    if inside != 0 {
        return Reached {
            node: here.node,
            word: inside & inside.wrapping_neg(),
        };
    }
    let mut edge = node.first_edge;
    loop {
        let Edge { from, to, node, next } = graph.edges[edge as usize];
        let word = bits.scatter(bits.gather(here.word, from), to) & graph.nodes[node as usize].next;
        if word != 0 {
            return Reached { node, word };
        }
        // A position at a distance has a neighbour one nearer: the list does not end before it.
        edge = next;
    }
}

fn note_mover(lanes: &Lanes<'_>, graph: &BoxGraph, from: Reached, to: Reached, movers: &mut [u64; 2]) {
    let from = graph.position_of(lanes, from.node, from.word.trailing_zeros());
    let to = graph.position_of(lanes, to.node, to.word.trailing_zeros());
    for i in 0..lanes.n_inner {
        if from.inner(i) != to.inner(i) {
            movers[0] |= 1 << (MAX_LANE * i + lanes.inner[i].moved_vehicle(from.inner(i), to.inner(i)));
        }
    }
    for o in 0..lanes.n_outer {
        if from.outer(o) != to.outer(o) {
            movers[1] |= 1 << (MAX_LANE * o + lanes.outer[o].moved_vehicle(from.outer(o), to.outer(o)));
        }
    }
}

/// Finds all families of the cluster of family `first`, the newest one, and their edges.
#[inline(always)]
pub(crate) fn flood<B: Bits>(
    bits: B,
    lanes: &Lanes<'_>,
    graph: &mut BoxGraph,
    first: usize,
) -> Result<(), OverLimit> {
    let mut at = first;
    while at < graph.families.len() {
        graph.expand(bits, lanes, at as u32, Expansion::Whole)?;
        at += 1;
    }
    Ok(())
}

/// Whether a solved position is at most `bound` slides from `position`, which is not solved itself. Looks no
/// further than it must.
#[inline(always)]
pub(crate) fn is_solved_within<B: Bits>(
    bits: B,
    lanes: &Lanes<'_>,
    graph: &mut BoxGraph,
    levels: &mut Levels,
    position: Packed,
    bound: usize,
    limit: u64,
) -> Result<bool, OverLimit> {
    graph.clear(limit);
    let (node, bit) = graph.locate(lanes, position)?;
    levels.seed_position(graph, node, bit);
    for _ in 0..bound {
        let n = levels.starts.len();
        for at in levels.starts[n - 2]..levels.starts[n - 1] {
            let family = graph.nodes[levels.log[at].node as usize].family;
            if !graph.families[family as usize].is_expanded {
                graph.expand(bits, lanes, family, Expansion::Single)?;
            }
        }
        if !levels.advance(bits, lanes, graph) {
            return Ok(false);
        }
        let newest = levels.level(levels.depth());
        if newest
            .iter()
            .any(|r| r.word & graph.solved(bits, lanes, r.node) != 0)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
