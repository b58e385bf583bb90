//! Minimality: whether anything can be taken away from a representative without its par falling.
//!
//! Most vehicles need no test. One that moves in a shortest solution makes par fall when it is taken away:
//! dropping its own slides leaves a shorter solution of what remains. So one shortest solution is read off the
//! distances, and only what it leaves standing is taken away on trial, in a search that goes no further than
//! one slide less than par.

use crate::cluster::archive::Archive;
use crate::cluster::boxes::{BoxGraph, OverLimit};
use crate::cluster::distances::{Levels, Reached};
use crate::cluster::processor::Processor;
use crate::cluster::without;
use crate::geometry::Axis;
use crate::lane::{LaneStore, MAX_LANE};
use crate::layout::{Layout, VehiclePlace};
use crate::packed::Packed;

/// A search without a vehicle or wall may hold this many times the positions that the cluster may: taking away
/// one vehicle frees at most some fifteen places in each position, and joins clusters.
const SIDE_LIMIT_FACTOR: u64 = 64;

/// A second set of buffers, for searches beside a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideSearch {
    pub(crate) graph: BoxGraph,
    pub(crate) levels: Levels,
}

/// Whether the position `packed` of the deepest level of the solvable cluster in `graph` is minimal.
pub(crate) fn is_minimal(
    processor: Processor,
    store: &mut LaneStore,
    layout: &Layout,
    graph: &mut BoxGraph,
    levels: &Levels,
    side: &mut SideSearch,
    archive: Option<&Archive>,
    packed: Packed,
    limit: u64,
) -> Result<bool, OverLimit> {
    let depth = levels.depth();
    let limit = limit.saturating_mul(SIDE_LIMIT_FACTOR);
    let lanes = layout.lanes(store);
    let count = |lanes: &[&crate::lane::Lane]| lanes.iter().map(|lane| lane.lengths.len()).sum::<usize>();
    let n_others = count(&lanes.inner[..lanes.n_inner]) + count(&lanes.outer[..lanes.n_outer]) - 1;
    let rows = if layout.hero.is_inner {
        &lanes.inner[..lanes.n_inner]
    } else {
        &lanes.outer[..lanes.n_outer]
    };
    let n_walls: u32 = rows.iter().map(|row| row.content.walls().count_ones()).sum();
    if n_others == 0 && n_walls == 0 {
        return Ok(true);
    }
    // A par of `n` blockers plus one is lowered by taking away a blocker, and by nothing else.
    let n_blockers = blockers(layout, &lanes, packed);
    if depth <= n_blockers + 1 {
        return Ok(depth > 0 && n_others == n_blockers && n_walls == 0);
    }
    // Look-ups come first: most clusters are not minimal, and one vehicle too many is enough to know.
    let mut places = vehicles(layout, store);
    let mut is_known = false;
    places.retain(|&place| {
        let distance = archive.filter(|_| !is_known && place.is_inner != layout.hero.is_inner);
        let distance = distance.and_then(|archive| {
            let (fewer, packed) = without::vehicle(store, layout, packed, place);
            archive.distance(store, &fewer, packed)
        });
        if distance.is_some_and(|distance| distance >= depth) {
            is_known = true;
        }
        distance.is_none()
    });
    if is_known {
        return Ok(false);
    }
    let lanes = layout.lanes(store);
    let (node, bit) = graph.locate(&lanes, packed)?;
    let movers = processor.movers(&lanes, graph, levels, Reached { node, word: 1 << bit });
    let mut is_shorter = |(layout, packed): (Layout, Packed), store: &LaneStore| {
        let lanes = layout.lanes(store);
        processor.is_solved_within(
            &lanes,
            &mut side.graph,
            &mut side.levels,
            packed,
            depth - 1,
            limit,
        )
    };
    for place in places {
        let is_mover = movers[usize::from(!place.is_inner)] >> (MAX_LANE * place.lane + place.index) & 1;
        if is_mover == 0 {
            let fewer = without::vehicle(store, layout, packed, place);
            if !is_shorter(fewer, store)? {
                return Ok(false);
            }
        }
    }
    for square in walls(layout, store) {
        let fewer = without::wall(store, layout, packed, square);
        if !is_shorter(fewer, store)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many vehicles stand between the hero and the exit.
fn blockers(layout: &Layout, lanes: &crate::layout::Lanes<'_>, packed: Packed) -> usize {
    let hero = layout.hero;
    let (row, arrangement, columns) = if hero.is_inner {
        (
            lanes.inner[hero.lane],
            packed.inner(hero.lane),
            &lanes.outer[..lanes.n_outer],
        )
    } else {
        (
            lanes.outer[hero.lane],
            packed.outer(hero.lane),
            &lanes.inner[..lanes.n_inner],
        )
    };
    let index = row.lengths.len() - 1;
    let first = row.starts[usize::from(arrangement)][index] + row.lengths[index];
    (usize::from(first)..columns.len())
        .filter(|&column| {
            let arrangement = if hero.is_inner {
                packed.outer(column)
            } else {
                packed.inner(column)
            };
            columns[column].squares[usize::from(arrangement)] >> hero.lane & 1 != 0
        })
        .count()
}

/// The places of all vehicles but the hero, which is the last of its row wherever it can be solved.
fn vehicles(layout: &Layout, store: &LaneStore) -> Vec<VehiclePlace> {
    let mut places = Vec::with_capacity(24);
    for (is_inner, ids) in [
        (true, &layout.inner[..layout.n_inner]),
        (false, &layout.outer[..layout.n_outer]),
    ] {
        for (lane, &id) in ids.iter().enumerate() {
            let is_exit_row = is_inner == layout.hero.is_inner && lane == layout.hero.lane;
            let n_others = store.lane(id).lengths.len() - usize::from(is_exit_row);
            places.extend((0..n_others).map(|index| VehiclePlace {
                is_inner,
                lane,
                index,
            }));
        }
    }
    places
}

/// The squares that hold walls.
fn walls(layout: &Layout, store: &LaneStore) -> Vec<usize> {
    let rows = match layout.inner_axis {
        Axis::Horizontal => &layout.inner[..layout.n_inner],
        Axis::Vertical => &layout.outer[..layout.n_outer],
    };
    let mut squares = Vec::new();
    for (row, &id) in rows.iter().enumerate() {
        let walls = store.lane(id).content.walls();
        let along = (0..layout.lot.width()).filter(|&column| walls >> column & 1 != 0);
        squares.extend(along.map(|column| layout.lot.square(row as u8, column)));
    }
    squares
}
