//! The position that stands for a cluster: of those at its depth the smallest by the squares that horizontal
//! vehicles take, then by those that vertical vehicles take.
//!
//! Walls count as horizontal by definition, but they are the same in all positions of a cluster: they never
//! decide, and are left out here.

use crate::cluster::bits::Bits;
use crate::cluster::boxes::BoxGraph;
use crate::cluster::distances::Reached;
use crate::geometry::Axis;
use crate::lane::{Lane, MAX_LANE};
use crate::layout::{Lanes, Layout};
use crate::packed::Packed;

/// What positions are ordered by: horizontal squares, vertical squares, bit i being square i of a lot of at
/// most 64.
type Masks = (u64, u64);

/// The smallest of the positions in `reached`; if `is_mirrored`, the one whose mirror image is the smallest.
pub(crate) fn find<B: Bits>(
    bits: B,
    layout: &Layout,
    lanes: &Lanes<'_>,
    graph: &BoxGraph,
    reached: &[Reached],
    is_mirrored: bool,
) -> Packed {
    let mut best: Option<(Masks, Packed)> = None;
    for &Reached { node, word } in reached {
        let mut left = word;
        if layout.inner_axis == Axis::Horizontal {
            // The last row weighs most, and arrangements ascend with their squares: going through the rows, only
            // positions with the smallest arrangement so far can be the smallest.
            for at in 0..lanes.n_inner {
                let row = if is_mirrored { at } else { lanes.n_inner - 1 - at };
                left = graph.lowest_in_lane(bits, node, row, left);
            }
        } else if let Some((best, _)) = best {
            // Rows are outer lanes: one state for all positions of the box.
            let any = graph.position_of(lanes, node, left.trailing_zeros());
            if rows_of(layout, lanes.outer, any.outer_lanes(), is_mirrored) > best.0 {
                continue;
            }
        }
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
    let (inner, outer) = (packed.inner_lanes(), packed.outer_lanes());
    match layout.inner_axis {
        Axis::Horizontal => (
            rows_of(layout, lanes.inner, inner, is_mirrored),
            columns_of(layout, lanes.outer, outer, is_mirrored),
        ),
        Axis::Vertical => (
            rows_of(layout, lanes.outer, outer, is_mirrored),
            columns_of(layout, lanes.inner, inner, is_mirrored),
        ),
    }
}

/// The squares that the rows' vehicles take. `arrangements` holds four bits a lane.
fn rows_of(layout: &Layout, rows: [&Lane; MAX_LANE], arrangements: u32, is_mirrored: bool) -> u64 {
    let (width, height) = (usize::from(layout.lot.width()), usize::from(layout.lot.height()));
    (0..height).fold(0, |mask, row| {
        let squares = rows[row].squares[(arrangements >> (4 * row) & 15) as usize];
        let row = if is_mirrored { height - 1 - row } else { row };
        mask | u64::from(squares) << (row * width)
    })
}

/// The squares that the columns' vehicles take.
fn columns_of(layout: &Layout, columns: [&Lane; MAX_LANE], arrangements: u32, is_mirrored: bool) -> u64 {
    let (width, height) = (usize::from(layout.lot.width()), usize::from(layout.lot.height()));
    let mut mask = 0;
    for column in 0..width {
        let squares = columns[column].squares[(arrangements >> (4 * column) & 15) as usize];
        let mut left = if is_mirrored {
            squares.reverse_bits() >> (8 - height)
        } else {
            squares
        };
        while left != 0 {
            mask |= 1 << (left.trailing_zeros() as usize * width + column);
            left &= left - 1;
        }
    }
    mask
}
