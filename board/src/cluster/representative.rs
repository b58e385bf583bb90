//! The position that stands for a cluster: of those at its depth the smallest by the squares that horizontal
//! vehicles take, then by those that vertical vehicles take.
//!
//! Walls count as horizontal by definition, but they are the same in all positions of a cluster: they never
//! decide, and are left out here.

use crate::cluster::boxes::BoxGraph;
use crate::cluster::distances::Reached;
use crate::geometry::{Axis, Lot};
use crate::layout::{Lanes, Layout};
use crate::packed::Packed;

/// What positions are ordered by: horizontal squares, vertical squares, bit i being square i of a lot of at
/// most 64.
type Masks = (u64, u64);

/// The smallest of the positions in `reached`; if `is_mirrored`, the one whose mirror image is the smallest.
pub(crate) fn find(
    layout: &Layout,
    lanes: &Lanes<'_>,
    graph: &BoxGraph,
    reached: &[Reached],
    is_mirrored: bool,
) -> Packed {
    let mut best: Option<(Masks, Packed)> = None;
    for &Reached { node, word } in reached {
        let mut left = word;
        while left != 0 {
            let packed = graph.position_of(lanes, node, left.trailing_zeros());
            left &= left - 1;
            let candidate = (masks(layout, lanes, packed, is_mirrored), packed);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
    }
    best.expect("a cluster has a position at its depth").1
}

/// The squares that horizontal and vertical vehicles take in a position, without walls.
pub(crate) fn masks(layout: &Layout, lanes: &Lanes<'_>, packed: Packed, is_mirrored: bool) -> Masks {
    let mut horizontal = 0;
    let mut vertical = 0;
    let mut add = |axis: Axis, lane: usize, squares: u8| match axis {
        Axis::Horizontal => horizontal |= row_squares(layout.lot, lane, squares, is_mirrored),
        Axis::Vertical => vertical |= column_squares(layout.lot, lane, squares, is_mirrored),
    };
    for i in 0..lanes.n_inner {
        add(
            layout.inner_axis,
            i,
            lanes.inner[i].squares[usize::from(packed.inner(i))],
        );
    }
    for o in 0..lanes.n_outer {
        add(
            layout.inner_axis.across(),
            o,
            lanes.outer[o].squares[usize::from(packed.outer(o))],
        );
    }
    (horizontal, vertical)
}

fn row_squares(lot: Lot, row: usize, squares: u8, is_mirrored: bool) -> u64 {
    let row = if is_mirrored {
        usize::from(lot.height()) - 1 - row
    } else {
        row
    };
    u64::from(squares) << (row * usize::from(lot.width()))
}

fn column_squares(lot: Lot, column: usize, squares: u8, is_mirrored: bool) -> u64 {
    let height = usize::from(lot.height());
    (0..height).filter(|&i| squares >> i & 1 != 0).fold(0, |mask, i| {
        let row = if is_mirrored { height - 1 - i } else { i };
        mask | 1 << (row * usize::from(lot.width()) + column)
    })
}
