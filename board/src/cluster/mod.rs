//! Clusters: all positions reachable from a position, how far each is from a solved one, and the board that
//! stands for them all.
//!
//! This module decides what is asked of a cluster. How positions are held and walked over is in `boxes`,
//! the searches in `distances`. It knows nothing about where boards come from or go to.

mod archive;
mod bits;
mod boxes;
mod distances;
mod expand;
mod index;
mod minimal;
mod nearest;
mod processor;
mod radix;
mod representative;
mod survey;
mod without;

use crate::board::Board;
use crate::canonical::Canonical;
use crate::geometry::Lot;
use crate::lane::{LaneStore, MAX_LANE};
use crate::layout::Layout;
use crate::packed::Packed;
use crate::par::{Par, StateLimit};

use archive::Archive;
use boxes::BoxGraph;
use distances::Levels;
use minimal::SideSearch;
use processor::{Measured, Processor};
use survey::Seed;

pub use nearest::Nearest;

pub(crate) use boxes::column_of;
pub(crate) use survey::{ClusterView, Visit};

/// Explores clusters, one after the other, in buffers that it keeps.
///
/// ```
/// use board::{Board, StateLimit, cluster::Explorer};
/// let board = Board::parse("BCDDEoBCFoEGBoFAAGHHHIoGooJIKKLLJMMo").unwrap();
/// let cluster = Explorer::new().explore(&board, StateLimit::DEFAULT).unwrap();
/// assert_eq!(cluster.depth.unwrap().get(), 51);
/// assert_eq!(cluster.states, 4780);
/// ```
#[derive(Clone, Debug)]
pub struct Explorer {
    store: LaneStore,
    /// Of the cluster that was asked for last.
    layout: Option<Layout>,
    /// The cluster that was asked for.
    graph: BoxGraph,
    levels: Levels,
    /// Searches beside it, for minimality.
    side: SideSearch,
    seeds: Vec<Seed>,
    archive: Archive,
    processor: Processor,
}

/// What a cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The largest par in it; `None` if no position of it is solved.
    pub depth: Option<Par>,
    /// The number of its positions.
    pub states: u64,
    /// Number of positions at each par, from 0 to the depth; empty if unsolvable.
    pub histogram: Vec<u64>,
    /// The position that stands for it: of those at its depth the smallest by [`Board::masks`]. Vehicles and
    /// letters are those of the board that was asked about. `None` if unsolvable.
    pub representative: Option<Board>,
}

/// The row that is kept of a board's cluster: the same for every board of the cluster and of its mirror image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The cluster's depth.
    pub par: Par,
    /// The representative's spelling.
    pub canonical: Canonical,
    /// The number of positions in the cluster.
    pub states: u64,
    /// Whether nothing can be taken away from the representative without its par falling; `None` where it was
    /// not asked, or a search for it would have held too many positions.
    pub minimal: Option<bool>,
    /// Vehicles, the hero included.
    pub n_vehicles: u8,
    /// Walls.
    pub n_walls: u8,
}

/// Why a cluster could not be explored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExploreError {
    /// The lot has a side of more than 8 squares.
    #[error("lot {lot} is too large to explore, expected 8x8 or smaller")]
    LotTooLarge {
        /// The board's lot.
        lot: Lot,
    },
    /// The cluster holds more positions than the limit.
    #[error("cluster holds more than {limit} positions")]
    StateLimit {
        /// The limit that was given.
        limit: StateLimit,
    },
}

/// A cluster explored, still in the buffers.
struct Explored {
    layout: Layout,
    measured: Measured,
}

impl Default for Explorer {
    fn default() -> Explorer {
        Explorer::new()
    }
}

impl Explorer {
    /// An explorer with empty buffers.
    pub fn new() -> Explorer {
        Explorer {
            store: LaneStore::default(),
            layout: None,
            graph: BoxGraph::default(),
            levels: Levels::default(),
            side: SideSearch::default(),
            seeds: Vec::new(),
            archive: Archive::default(),
            processor: Processor::detect(),
        }
    }

    /// An explorer that uses no instructions beyond the target's, to check and measure the other one by.
    #[doc(hidden)]
    pub fn portable() -> Explorer {
        Explorer {
            processor: Processor::Portable,
            ..Explorer::new()
        }
    }

    /// Explores the cluster of a board, as it lies: mirror images are not looked at.
    ///
    /// # Errors
    /// When the lot is larger than 8x8, or the cluster holds more positions than `limit`.
    pub fn explore(&mut self, board: &Board, limit: StateLimit) -> Result<Cluster, ExploreError> {
        let Explored { layout, measured } = self.fill(board, limit)?;
        if !measured.is_solvable {
            return Ok(Cluster {
                depth: None,
                states: measured.n_positions,
                histogram: Vec::new(),
                representative: None,
            });
        }
        let depth = self.levels.depth();
        let lanes = layout.lanes(&self.store);
        let packed =
            self.processor
                .representative(&layout, &lanes, &self.graph, self.levels.level(depth), false);
        Ok(Cluster {
            depth: Some(par_of(depth)),
            states: measured.n_positions,
            histogram: (0..=depth)
                .map(|distance| self.levels.n_positions(distance))
                .collect(),
            representative: Some(layout.unpack(&self.store, packed, board)),
        })
    }

    /// Whether no vehicle and no wall can be taken away from a board without its par falling.
    ///
    /// `board` must be as far from a solved position as any of its cluster, at `depth`: a representative.
    ///
    /// # Errors
    /// As [`Explorer::explore`].
    ///
    /// # Panics
    /// When `board` is not at `depth`.
    pub fn is_minimal(&mut self, board: &Board, depth: Par, limit: StateLimit) -> Result<bool, ExploreError> {
        let Explored { layout, measured } = self.fill(board, limit)?;
        assert!(measured.is_solvable, "an unsolvable board is no representative");
        let (_, packed) = Layout::of_board(&mut self.store, board);
        assert_eq!(
            self.levels.depth(),
            usize::from(depth.get()),
            "the depth given is another one"
        );
        self.is_minimal_here(&layout, packed, limit)
    }

    /// The row that is kept of a board's cluster, or `None` if it is unsolvable. The same for all boards of the
    /// cluster, and for their mirror images.
    ///
    /// # Errors
    /// As [`Explorer::explore`].
    pub fn entry(&mut self, board: &Board, limit: StateLimit) -> Result<Option<Found>, ExploreError> {
        self.entry_if(board, limit, |_| true)
    }

    /// As [`entry`](Self::entry), but minimality, which costs further searches, is examined only if `is_wanted` says so
    /// of what is known until then.
    ///
    /// # Errors
    /// As [`Explorer::explore`].
    pub fn entry_if(
        &mut self,
        board: &Board,
        limit: StateLimit,
        is_wanted: impl FnOnce(&Found) -> bool,
    ) -> Result<Option<Found>, ExploreError> {
        let lot = board.lot();
        let is_lower = 2 * board.exit_row() + 1 > lot.height();
        let is_middle = 2 * board.exit_row() + 1 == lot.height();
        let turned;
        let board = if is_lower {
            turned = board.mirrored();
            &turned
        } else {
            board
        };
        let Explored { layout, measured } = self.fill(board, limit)?;
        if !measured.is_solvable {
            return Ok(None);
        }
        let depth = self.levels.depth();
        let lanes = layout.lanes(&self.store);
        let deepest = self.levels.level(depth);
        let mut packed = self
            .processor
            .representative(&layout, &lanes, &self.graph, deepest, false);
        let stands_for = layout.unpack(&self.store, packed, board);
        let mut canonical = stands_for.canonical();
        if is_middle {
            // The mirror image of a cluster has a representative of its own, which is some other position here.
            let other_packed = self
                .processor
                .representative(&layout, &lanes, &self.graph, deepest, true);
            let other = layout.unpack(&self.store, other_packed, board);
            let other_canonical = other.canonical();
            if other_canonical < canonical {
                (packed, canonical) = (other_packed, other_canonical);
            }
        }
        let mut found = Found {
            par: par_of(depth),
            canonical,
            states: measured.n_positions,
            minimal: None,
            n_vehicles: board.n_vehicles() as u8,
            n_walls: board.n_walls() as u8,
        };
        if is_wanted(&found) {
            found.minimal = self.is_minimal_here(&layout, packed, limit).ok();
        }
        Ok(Some(found))
    }

    /// Bytes that the cluster explored last takes: its boxes, edges and distances.
    pub fn n_bytes(&self) -> usize {
        self.graph.n_bytes() + self.levels.n_bytes()
    }

    /// Slides from all positions of the cluster explored last together: two for each pair of positions that one
    /// slide joins.
    pub fn n_slides(&self) -> u64 {
        self.layout
            .as_ref()
            .map_or(0, |layout| self.graph.n_slides(&layout.lanes(&self.store)))
    }

    /// Explores into the buffers.
    fn fill(&mut self, board: &Board, limit: StateLimit) -> Result<Explored, ExploreError> {
        let lot = board.lot();
        if usize::from(lot.width().max(lot.height())) > MAX_LANE {
            return Err(ExploreError::LotTooLarge { lot });
        }
        self.store.trim();
        self.layout = None;
        let (layout, packed) = Layout::of_board(&mut self.store, board);
        let lanes = layout.lanes(&self.store);
        let over = |_| ExploreError::StateLimit { limit };
        self.graph.clear(limit.get());
        self.graph.locate(&lanes, packed).map_err(over)?;
        let measured = self
            .processor
            .measure(&lanes, &mut self.graph, &mut self.levels, 0)
            .map_err(over)?;
        self.layout = Some(layout.clone());
        Ok(Explored { layout, measured })
    }

    /// Minimality of the position `packed` of the deepest level of the cluster in the buffers.
    fn is_minimal_here(
        &mut self,
        layout: &Layout,
        packed: Packed,
        limit: StateLimit,
    ) -> Result<bool, ExploreError> {
        minimal::is_minimal(
            self.processor,
            &mut self.store,
            layout,
            &mut self.graph,
            &self.levels,
            &mut self.side,
            None,
            packed,
            limit.get(),
        )
        .map_err(|_| ExploreError::StateLimit { limit })
    }
}

/// A cluster's depth fits: no cluster of a lot up to 8x8 comes near the limit of the type.
fn par_of(depth: usize) -> Par {
    Par::new(u16::try_from(depth).expect("depths of explorable clusters fit a par"))
}

#[cfg(test)]
mod tests;
