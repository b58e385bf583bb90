//! How far a board is from the exit, read off its whole cluster.

use super::{ExploreError, Explored, Explorer, par_of};
use crate::board::Board;
use crate::layout::Layout;
use crate::par::{Par, StateLimit};
use crate::slide::Slide;

/// How far a board is from a solved position, and how it comes nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The par of the board as it stands.
    pub par: Par,
    /// The first of its slides, in the order of [`Board::slides`], that leads nearer; `None` if it is solved.
    pub slide: Option<Slide>,
}

impl Explorer {
    /// How far a board is from a solved position; `None` if its cluster has none. Explores the whole cluster.
    ///
    /// # Errors
    /// As [`Explorer::explore`].
    pub fn nearest(&mut self, board: &Board, limit: StateLimit) -> Result<Option<Nearest>, ExploreError> {
        let Explored { layout, measured } = self.fill(board, limit)?;
        if !measured.is_solvable {
            return Ok(None);
        }
        let here = self.place(&layout, board);
        let distance = (0..=self.levels.depth())
            .find(|&distance| self.is_at(here, distance))
            .expect("a board lies in its cluster");
        let mut nearer = None;
        if distance > 0 {
            nearer = board.slides().into_iter().find(|slide| {
                let after = board
                    .apply(*slide)
                    .expect("a slide of the board's own can be made");
                let there = self.place(&layout, &after);
                self.is_at(there, distance - 1)
            });
        }
        Ok(Some(Nearest {
            par: par_of(distance),
            slide: nearer,
        }))
    }

    /// The box and bit of a position of the cluster in the buffers.
    fn place(&mut self, layout: &Layout, position: &Board) -> (u32, u8) {
        let (_, packed) = Layout::of_board(&mut self.store, position);
        let lanes = layout.lanes(&self.store);
        let Ok(place) = self.graph.locate(&lanes, packed) else {
            unreachable!("the cluster is explored, so its positions are there")
        };
        place
    }

    fn is_at(&self, (node, bit): (u32, u8), distance: usize) -> bool {
        let level = self.levels.level(distance);
        level
            .iter()
            .any(|reached| reached.node == node && reached.word >> bit & 1 != 0)
    }
}
