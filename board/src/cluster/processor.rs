//! The searches compiled twice, with the processor's bit instructions and without; which one is used is found
//! out once, and the answers are the same.

use crate::cluster::bits::{Bits, PortableBits};
use crate::cluster::boxes::{BoxGraph, OverLimit};
use crate::cluster::distances::{self, Levels, Reached};
use crate::cluster::representative;
use crate::layout::{Lanes, Layout};
use crate::packed::Packed;

#[cfg(target_arch = "x86_64")]
use crate::cluster::bits::NativeBits;

/// What this processor can do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Processor {
    /// It gathers and scatters bits in one instruction.
    #[cfg(target_arch = "x86_64")]
    Native(NativeBits),
    /// It does so bit by bit.
    Portable,
}

/// A measured cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) n_positions: u64,
    pub(crate) is_solvable: bool,
}

impl Processor {
    /// Asks the processor.
    pub(crate) fn detect() -> Processor {
        #[cfg(target_arch = "x86_64")]
        if let Some(bits) = NativeBits::detect() {
            return Processor::Native(bits);
        }
        Processor::Portable
    }

    /// Floods the cluster of family `first`, the newest one, and fills `levels` with the distances to the nearest
    /// solved position if there is one. Fails when the graph then holds more positions than its
    /// limit.
    pub(crate) fn measure(
        self,
        lanes: &Lanes<'_>,
        graph: &mut BoxGraph,
        levels: &mut Levels,
        first: usize,
    ) -> Result<Measured, OverLimit> {
        match self {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls a function compiled for a newer processor")]
            // SAFETY: a `NativeBits` exists only if the processor has the features that the function names.
            Processor::Native(bits) => unsafe { measure_native(bits, lanes, graph, levels, first) },
            Processor::Portable => measure_with(PortableBits, lanes, graph, levels, first),
        }
    }

    /// Whether a solved position is at most `bound` slides from `position`, which is not solved itself.
    pub(crate) fn is_solved_within(
        self,
        lanes: &Lanes<'_>,
        graph: &mut BoxGraph,
        levels: &mut Levels,
        position: Packed,
        bound: usize,
        limit: u64,
    ) -> Result<bool, OverLimit> {
        match self {
            #[cfg(target_arch = "x86_64")]
            #[expect(unsafe_code, reason = "calls a function compiled for a newer processor")]
            // SAFETY: a `NativeBits` exists only if the processor has the features that the function names.
            Processor::Native(bits) => unsafe {
                within_native(bits, lanes, graph, levels, position, bound, limit)
            },
            Processor::Portable => {
                distances::is_solved_within(PortableBits, lanes, graph, levels, position, bound, limit)
            }
        }
    }

    /// See [`representative::find`].
    pub(crate) fn representative(
        self,
        layout: &Layout,
        lanes: &Lanes<'_>,
        graph: &BoxGraph,
        reached: &[Reached],
        is_mirrored: bool,
    ) -> Packed {
        match self {
            #[cfg(target_arch = "x86_64")]
            Processor::Native(bits) => representative::find(bits, layout, lanes, graph, reached, is_mirrored),
            Processor::Portable => {
                representative::find(PortableBits, layout, lanes, graph, reached, is_mirrored)
            }
        }
    }

    /// See [`Levels::movers`].
    pub(crate) fn movers(
        self,
        lanes: &Lanes<'_>,
        graph: &mut BoxGraph,
        levels: &Levels,
        from: Reached,
    ) -> [u64; 2] {
        match self {
            #[cfg(target_arch = "x86_64")]
            Processor::Native(bits) => levels.movers(bits, lanes, graph, from),
            Processor::Portable => levels.movers(PortableBits, lanes, graph, from),
        }
    }
}

#[inline(always)]
fn measure_with<B: Bits>(
    bits: B,
    lanes: &Lanes<'_>,
    graph: &mut BoxGraph,
    levels: &mut Levels,
    first: usize,
) -> Result<Measured, OverLimit> {
    let first_box = graph.families[first].first_box as usize;
    let before: u64 = graph.n_positions - graph.families[first].n_positions();
    distances::flood(bits, lanes, graph, first)?;
    let n_positions = graph.n_positions - before;
    let nodes = first_box..graph.nodes.len();
    let is_solvable = levels.seed_solved(bits, lanes, graph, nodes);
    while is_solvable && levels.advance(bits, lanes, graph) {}
    Ok(Measured {
        n_positions,
        is_solvable,
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
fn measure_native(
    bits: NativeBits,
    lanes: &Lanes<'_>,
    graph: &mut BoxGraph,
    levels: &mut Levels,
    first: usize,
) -> Result<Measured, OverLimit> {
    measure_with(bits, lanes, graph, levels, first)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt")]
fn within_native(
    bits: NativeBits,
    lanes: &Lanes<'_>,
    graph: &mut BoxGraph,
    levels: &mut Levels,
    position: Packed,
    bound: usize,
    limit: u64,
) -> Result<bool, OverLimit> {
    distances::is_solved_within(bits, lanes, graph, levels, position, bound, limit)
}
