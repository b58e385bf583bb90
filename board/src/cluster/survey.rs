//! All clusters of one layout, each visited exactly once.
//!
//! The boxes that hold a position to start from are listed first; whatever of them no earlier flood has reached
//! begins a new cluster. A flood never leaves its layout and never ends before its cluster is whole, so each
//! cluster is flooded once, however many of its positions are listed.

use crate::cluster::archive::Archive;
use crate::cluster::boxes::{BoxGraph, byte_of, column_of};
use crate::cluster::distances::Levels;
use crate::cluster::minimal::{self, SideSearch};
use crate::cluster::processor::{Measured, Processor};
use crate::cluster::representative;
use crate::cluster::{ExploreError, Explorer};
use crate::lane::{LaneStore, MAX_LANE};
use crate::layout::{Lanes, Layout};
use crate::packed::Packed;
use crate::par::StateLimit;

/// Which clusters of a layout are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Those that hold a solved position.
    Solvable,
    /// All.
    All,
}

/// A box that a flood can start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    position: Packed,
    taken: u64,
    parts: [u16; MAX_LANE],
}

/// A cluster of a layout, in the explorer's buffers.
pub(crate) struct ClusterView<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) store: &'a mut LaneStore,
    graph: &'a mut BoxGraph,
    levels: &'a Levels,
    side: &'a mut SideSearch,
    archive: &'a Archive,
    processor: Processor,
    measured: Measured,
    limit: StateLimit,
    /// Vehicles and walls of the layout.
    n_pieces: usize,
}

impl Explorer {
    /// The lanes that layouts of [`Explorer::each_cluster`] are made of.
    pub(crate) fn store(&mut self) -> &mut LaneStore {
        &mut self.store
    }

    /// Forgets the distances of layouts explored before. Layouts explored until the next call must have the same
    /// rows.
    pub(crate) fn clear_archive(&mut self) {
        self.archive.clear();
    }

    /// Visits the clusters of a layout, each once, in an order that depends on the layout alone.
    pub(crate) fn each_cluster(
        &mut self,
        layout: &Layout,
        visit: Visit,
        limit: StateLimit,
        visitor: &mut dyn FnMut(&mut ClusterView<'_>) -> Result<(), ExploreError>,
    ) -> Result<(), ExploreError> {
        self.graph.clear(limit.get());
        self.seeds.clear();
        self.archive.begin();
        list_seeds(&layout.lanes(&self.store), visit, &mut self.seeds);
        let n_pieces = n_pieces(&layout.lanes(&self.store));
        for at in 0..self.seeds.len() {
            let lanes = layout.lanes(&self.store);
            let seed = &self.seeds[at];
            let first = self.graph.families.len();
            let added = self
                .graph
                .family_at(&lanes, seed.position, seed.taken, &seed.parts);
            added.map_err(|_| ExploreError::StateLimit { limit })?;
            if self.graph.families.len() == first {
                continue;
            }
            let measured = self
                .processor
                .measure(&lanes, &mut self.graph, &mut self.levels, first)
                .map_err(|_| ExploreError::StateLimit { limit })?;
            if measured.is_solvable {
                self.archive.add_cluster(&self.levels);
            }
            visitor(&mut ClusterView {
                layout,
                store: &mut self.store,
                graph: &mut self.graph,
                levels: &self.levels,
                side: &mut self.side,
                archive: &self.archive,
                processor: self.processor,
                measured,
                limit,
                n_pieces,
            })?;
        }
        self.archive.finish(layout, &self.graph);
        Ok(())
    }
}

impl ClusterView<'_> {
    /// Number of positions.
    pub(crate) fn n_positions(&self) -> u64 {
        self.measured.n_positions
    }

    /// The largest distance to a solved position, or nothing if there is none.
    pub(crate) fn depth(&self) -> Option<usize> {
        self.measured.is_solvable.then(|| self.levels.depth())
    }

    /// Number of positions at a distance.
    pub(crate) fn n_positions_at(&self, distance: usize) -> u64 {
        self.levels.n_positions(distance)
    }

    /// The representative of a solvable cluster; with `is_mirrored` the position whose mirror image is that of
    /// the mirror image of the cluster.
    pub(crate) fn representative(&self, is_mirrored: bool) -> Packed {
        let deepest = self.levels.level(self.levels.depth());
        self.processor
            .representative(self.layout, &self.lanes(), self.graph, deepest, is_mirrored)
    }

    /// Whether a position of the largest distance is minimal.
    pub(crate) fn is_minimal(&mut self, packed: Packed) -> Result<bool, ExploreError> {
        minimal::is_minimal(
            self.processor,
            self.store,
            self.layout,
            self.graph,
            self.levels,
            self.side,
            Some(self.archive),
            packed,
            self.limit.get(),
        )
        .map_err(|_| ExploreError::StateLimit { limit: self.limit })
    }

    /// Whether a representative at this distance can be minimal, by its number of vehicles and walls. A par of
    /// 0 cannot fall; one of 1 falls when nothing else does; one of 2 falls only with the sole vehicle in the
    /// hero's way, so there is no other.
    pub(crate) fn can_be_minimal(&self, distance: usize) -> bool {
        let n_others = self.n_pieces - 1;
        distance > 2 || n_others == distance.saturating_sub(1)
    }

    /// The squares that horizontal and vertical vehicles take in a position, or in its mirror image, walls left out.
    pub(crate) fn masks(&self, packed: Packed, is_mirrored: bool) -> (u64, u64) {
        representative::masks(self.layout, &self.lanes(), packed, is_mirrored)
    }

    /// The lanes of the layout.
    pub(crate) fn lanes(&self) -> Lanes<'_> {
        self.layout.lanes(self.store)
    }
}

/// How many vehicles and walls there are.
fn n_pieces(lanes: &Lanes<'_>) -> usize {
    let inner = &lanes.inner[..lanes.n_inner];
    let n_vehicles: usize = inner
        .iter()
        .chain(&lanes.outer[..lanes.n_outer])
        .map(|lane| lane.lengths.len())
        .sum();
    let n_walls: u32 = inner.iter().map(|lane| lane.content.walls().count_ones()).sum();
    n_vehicles + n_walls as usize
}

/// Lists the boxes that hold solved positions, or all boxes.
fn list_seeds(lanes: &Lanes<'_>, visit: Visit, seeds: &mut Vec<Seed>) {
    let mut must = [u16::MAX; MAX_LANE];
    let hero = lanes.hero;
    if visit == Visit::Solvable && hero.is_inner {
        must[hero.lane] = hero.solved;
    }
    let outer_solved = (visit == Visit::Solvable && !hero.is_inner).then_some(hero.solved);
    place_outer(lanes, &must, outer_solved, 0, Packed::default(), 0, seeds);
}

/// Fixes the outer lanes from the `o`th on in every way that leaves all inner lanes an arrangement.
fn place_outer(
    lanes: &Lanes<'_>,
    must: &[u16; MAX_LANE],
    outer_solved: Option<u16>,
    o: usize,
    position: Packed,
    taken: u64,
    seeds: &mut Vec<Seed>,
) {
    if o == lanes.n_outer {
        return choose_parts(
            lanes,
            must,
            0,
            Seed {
                position,
                taken,
                parts: [0; MAX_LANE],
            },
            seeds,
        );
    }
    for (arrangement, &squares) in lanes.outer[o].squares.iter().enumerate() {
        if o == lanes.hero.lane && outer_solved.is_some_and(|solved| solved >> arrangement & 1 == 0) {
            continue;
        }
        let taken = taken | column_of(squares, o);
        let mut left = squares;
        let mut is_open = true;
        while left != 0 {
            let i = left.trailing_zeros() as usize % MAX_LANE;
            left &= left - 1;
            is_open &= lanes.inner[i].allowed[usize::from(byte_of(taken, i))] & must[i] != 0;
        }
        if is_open {
            let position = position.with_outer(o, arrangement as u8);
            place_outer(lanes, must, outer_solved, o + 1, position, taken, seeds);
        }
    }
}

/// Lists the boxes of one state of the outer lanes: one part of each inner lane in every combination.
fn choose_parts(lanes: &Lanes<'_>, must: &[u16; MAX_LANE], i: usize, mut seed: Seed, seeds: &mut Vec<Seed>) {
    if i == lanes.n_inner {
        seeds.push(seed);
        return;
    }
    for part in lanes.inner[i].split(byte_of(seed.taken, i)) {
        if part.mask & must[i] != 0 {
            seed.parts[i] = part.id;
            seed.position = seed.position.with_inner(i, part.mask.trailing_zeros() as u8);
            choose_parts(lanes, must, i + 1, seed, seeds);
        }
    }
}
