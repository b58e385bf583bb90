//! Layouts: which vehicles lie in which lane, in which order, with the positions left open.
//!
//! A layout also chooses which axis is *inner*. A search holds the *outer* lanes of many positions fixed and
//! treats all that the inner lanes can then do at once, so the axis with more freedom should be the inner one.

use crate::board::Board;
use crate::geometry::{Axis, Lot, Squares};
use crate::lane::{Lane, LaneContent, LaneStore, MAX_LANE};
use crate::packed::Packed;

/// Where the hero lies and when it is home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeroPlace {
    /// Whether rows are inner lanes.
    pub(crate) is_inner: bool,
    /// The exit row.
    pub(crate) lane: usize,
    /// The arrangements of that row in which the hero stands at the exit.
    pub(crate) solved: u16,
}

/// A layout by the numbers of its lanes in a [`LaneStore`].
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) lot: Lot,
    pub(crate) inner_axis: Axis,
    pub(crate) inner: [u32; MAX_LANE],
    pub(crate) outer: [u32; MAX_LANE],
    pub(crate) n_inner: usize,
    pub(crate) n_outer: usize,
    pub(crate) hero: HeroPlace,
}

/// The lanes of a layout at hand. Entries past the last lane repeat the first and are never asked.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub(crate) inner: [&'a Lane; MAX_LANE],
    pub(crate) outer: [&'a Lane; MAX_LANE],
    pub(crate) n_inner: usize,
    pub(crate) n_outer: usize,
    pub(crate) hero: HeroPlace,
}

/// A vehicle by its place in a layout: stays the same wherever the vehicle slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VehiclePlace {
    pub(crate) is_inner: bool,
    pub(crate) lane: usize,
    /// Which of the lane's vehicles, from its start.
    pub(crate) index: usize,
}

impl Layout {
    /// The layout with these lanes. `hero_index` tells which vehicle of the exit row is the hero.
    pub(crate) fn new(
        store: &LaneStore,
        lot: Lot,
        rows: &[u32],
        columns: &[u32],
        exit_row: usize,
        hero_index: usize,
    ) -> Layout {
        let freedom = |lanes: &[u32]| -> u64 {
            lanes
                .iter()
                .map(|&id| store.lane(id).n_arrangements() as u64)
                .product()
        };
        let is_inner = freedom(rows) >= freedom(columns);
        let (inner, outer) = if is_inner {
            (rows, columns)
        } else {
            (columns, rows)
        };
        let fill = |lanes: &[u32]| std::array::from_fn(|i| lanes[if i < lanes.len() { i } else { 0 }]);
        Layout {
            lot,
            inner_axis: if is_inner {
                Axis::Horizontal
            } else {
                Axis::Vertical
            },
            inner: fill(inner),
            outer: fill(outer),
            n_inner: inner.len(),
            n_outer: outer.len(),
            hero: HeroPlace {
                is_inner,
                lane: exit_row,
                solved: store.lane(rows[exit_row]).at_far_end(hero_index),
            },
        }
    }

    /// The layout of a board and where the board's vehicles stand in it.
    pub(crate) fn of_board(store: &mut LaneStore, board: &Board) -> (Layout, Packed) {
        let lot = board.lot();
        let rows = ids_along(store, board, Axis::Horizontal);
        let columns = ids_along(store, board, Axis::Vertical);
        let hero = board.hero();
        let hero_index = vehicles_in(board, Axis::Horizontal, hero.lane())
            .iter()
            .position(|&start_length| start_length == (hero.start(), hero.length()))
            .expect("the hero lies in its row");
        let exit_row = usize::from(hero.lane());
        let layout = Layout::new(store, lot, &rows, &columns, exit_row, hero_index);
        let packed = layout.pack(store, board);
        (layout, packed)
    }

    /// The same layout with inner and outer lanes exchanged.
    pub(crate) fn turned(&self) -> Layout {
        Layout {
            lot: self.lot,
            inner_axis: self.inner_axis.across(),
            inner: self.outer,
            outer: self.inner,
            n_inner: self.n_outer,
            n_outer: self.n_inner,
            hero: HeroPlace {
                is_inner: !self.hero.is_inner,
                ..self.hero
            },
        }
    }

    /// The lanes themselves.
    pub(crate) fn lanes<'a>(&self, store: &'a LaneStore) -> Lanes<'a> {
        Lanes {
            inner: self.inner.map(|id| store.lane(id)),
            outer: self.outer.map(|id| store.lane(id)),
            n_inner: self.n_inner,
            n_outer: self.n_outer,
            hero: self.hero,
        }
    }

    /// The packed position of a board of this layout.
    fn pack(&self, store: &LaneStore, board: &Board) -> Packed {
        let lanes = self.lanes(store);
        let squares_in = |axis: Axis, lane: usize| {
            vehicles_in(board, axis, lane as u8)
                .iter()
                .fold(0, |squares, &(start, length)| {
                    squares | ((1_u16 << length) - 1) << start
                }) as u8
        };
        let mut packed = Packed::default();
        for i in 0..self.n_inner {
            let arrangement = lanes.inner[i].arrangement(squares_in(self.inner_axis, i));
            packed = packed.with_inner(i, arrangement.expect("the board has this layout"));
        }
        for o in 0..self.n_outer {
            let arrangement = lanes.outer[o].arrangement(squares_in(self.inner_axis.across(), o));
            packed = packed.with_outer(o, arrangement.expect("the board has this layout"));
        }
        packed
    }

    /// The board of a packed position, its vehicles and letters as `board` has them.
    pub(crate) fn unpack(&self, store: &LaneStore, packed: Packed, board: &Board) -> Board {
        let lanes = self.lanes(store);
        let starts: Vec<u8> = (0..board.n_vehicles())
            .map(|i| {
                let place = self.place(board, i);
                let (lane, arrangement) = if place.is_inner {
                    (lanes.inner[place.lane], packed.inner(place.lane))
                } else {
                    (lanes.outer[place.lane], packed.outer(place.lane))
                };
                lane.starts[usize::from(arrangement)][place.index]
            })
            .collect();
        board
            .with_starts(&starts)
            .expect("a search reaches legal positions only")
    }

    /// Where the `i`th vehicle of a board of this layout lies.
    pub(crate) fn place(&self, board: &Board, i: usize) -> VehiclePlace {
        let vehicle = board.vehicles()[i];
        let index = vehicles_in(board, vehicle.axis(), vehicle.lane())
            .iter()
            .position(|&(start, _)| start == vehicle.start())
            .expect("the vehicle lies in its lane");
        VehiclePlace {
            is_inner: vehicle.axis() == self.inner_axis,
            lane: usize::from(vehicle.lane()),
            index,
        }
    }
}

/// The vehicles of a lane as (start, length), from its start.
fn vehicles_in(board: &Board, axis: Axis, lane: u8) -> Vec<(u8, u8)> {
    let mut vehicles: Vec<(u8, u8)> = board
        .vehicles()
        .iter()
        .filter(|v| v.axis() == axis && v.lane() == lane)
        .map(|v| (v.start(), v.length()))
        .collect();
    vehicles.sort_unstable();
    vehicles
}

fn ids_along(store: &mut LaneStore, board: &Board, axis: Axis) -> Vec<u32> {
    let lot = board.lot();
    (0..lot.n_lanes(axis))
        .map(|lane| {
            let walls = walls_along(lot, board.walls(), axis, lane);
            let vehicles = vehicles_in(board, axis, lane);
            store.id(LaneContent::new(
                lot.lane_length(axis),
                walls,
                vehicles.into_iter(),
            ))
        })
        .collect()
}

/// The squares of a lane that hold walls, counted along the lane.
pub(crate) fn walls_along(lot: Lot, walls: Squares, axis: Axis, lane: u8) -> u8 {
    (0..lot.lane_length(axis))
        .filter(|&along| {
            walls.contains(match axis {
                Axis::Horizontal => lot.square(lane, along),
                Axis::Vertical => lot.square(along, lane),
            })
        })
        .fold(0, |mask, along| mask | 1 << along)
}
