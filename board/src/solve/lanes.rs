//! Lanes of up to 16 squares: every arrangement of a lane's vehicles, and the slides between them.
//!
//! A lane's vehicles never change order and nothing else in the lane moves, so the lane is one small number,
//! the index of its arrangement. A slide turns that number into another one and needs some squares free of
//! cross traffic: all of the board's geometry is in these tables, none of it in the search.

use crate::board::Board;
use crate::geometry::{Axis, Lot};
use crate::slide::Slide;

/// One slide in a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneSlide {
    /// Squares of the lane that must not be taken by cross traffic, bit `i` the `i`th of the lane.
    pub(super) needs: u16,
    /// Squares that the vehicle takes before, on the way and afterwards.
    pub(super) span: u16,
    /// The arrangement that it leads to.
    pub(super) target: u16,
    /// The vehicle and how far it goes.
    pub(super) slide: Slide,
}

/// One way for a lane's vehicles to stand.
#[derive(Clone, Debug)]
pub(super) struct Arrangement {
    /// Squares of the lane that vehicles take.
    pub(super) taken: u16,
    /// Every slide that walls and the lane's own vehicles allow.
    pub(super) slides: Vec<LaneSlide>,
}

/// A lane that holds vehicles.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    pub(super) axis: Axis,
    /// The row or column.
    pub(super) index: u8,
    /// Indices of the vehicles, in lane order.
    vehicles: Vec<usize>,
    pub(super) arrangements: Vec<Arrangement>,
    /// Which arrangement the board given had.
    pub(super) initial: usize,
}

impl Lane {
    /// The lanes of a board that hold vehicles, the hero's row first, the other rows, the columns.
    pub(super) fn of_board(board: &Board) -> Vec<Lane> {
        let lot = board.lot();
        let rows = (0..lot.height()).map(|row| (Axis::Horizontal, row));
        let columns = (0..lot.width()).map(|column| (Axis::Vertical, column));
        let mut order: Vec<(Axis, u8)> = rows.chain(columns).collect();
        order.sort_by_key(|&lane| lane != (Axis::Horizontal, board.exit_row()));
        order
            .into_iter()
            .filter_map(|(axis, index)| Lane::new(board, axis, index))
            .collect()
    }

    fn new(board: &Board, axis: Axis, index: u8) -> Option<Lane> {
        let all = board.vehicles();
        let mut vehicles: Vec<usize> = (0..all.len())
            .filter(|&i| all[i].axis() == axis && all[i].lane() == index)
            .collect();
        if vehicles.is_empty() {
            return None;
        }
        vehicles.sort_by_key(|&i| all[i].start());
        let lengths: Vec<u8> = vehicles.iter().map(|&i| all[i].length()).collect();
        let starts: Vec<u8> = vehicles.iter().map(|&i| all[i].start()).collect();
        let free = free_places(board, axis, index);

        // A vehicle never crosses a wall, so it stays between those that it began between.
        let stretch = |start: u8| {
            let before = (0..start)
                .rev()
                .take_while(|&place| free[usize::from(place)])
                .last()
                .unwrap_or(start);
            let after = (start..board.lot().lane_length(axis)).take_while(|&place| free[usize::from(place)]);
            (
                before,
                after.last().expect("a vehicle does not start on a wall") + 1,
            )
        };
        let stretches: Vec<(u8, u8)> = starts.iter().map(|&start| stretch(start)).collect();

        let mut all_starts = Vec::new();
        arrange(&lengths, &stretches, &mut Vec::new(), &mut all_starts);
        let initial = all_starts
            .iter()
            .position(|s| *s == starts)
            .expect("the board's own is among all of them");
        let arrangements = all_starts.iter().map(|starts| {
            let slides = slides_of(&vehicles, &lengths, &stretches, starts, &all_starts);
            let taken = starts
                .iter()
                .zip(&lengths)
                .fold(0, |taken, (&s, &l)| taken | places(s, s + l));
            Arrangement { taken, slides }
        });
        Some(Lane {
            axis,
            index,
            arrangements: arrangements.collect(),
            initial,
            vehicles,
        })
    }

    /// Whether the hero has reached the exit; only for the hero's own row.
    pub(super) fn is_solved(&self, lot: Lot, arrangement: usize) -> bool {
        let hero = self
            .vehicles
            .iter()
            .position(|&i| i == 0)
            .expect("this is the hero's row");
        // The hero is solved if the last square of the row is its own, and no other vehicle passed it.
        hero + 1 == self.vehicles.len() && self.arrangements[arrangement].taken >> (lot.width() - 1) & 1 != 0
    }

    /// Squares of the lane that vehicles take in every arrangement.
    pub(super) fn always_taken(&self) -> u16 {
        self.arrangements
            .iter()
            .fold(u16::MAX, |taken, arrangement| taken & arrangement.taken)
    }
}

/// Which places of a lane are no walls.
fn free_places(board: &Board, axis: Axis, index: u8) -> Vec<bool> {
    let lot = board.lot();
    let square = |place| match axis {
        Axis::Horizontal => lot.square(index, place),
        Axis::Vertical => lot.square(place, index),
    };
    (0..lot.lane_length(axis))
        .map(|place| !board.walls().contains(square(place)))
        .collect()
}

/// The places from `start` to before `end` as a mask.
fn places(start: u8, end: u8) -> u16 {
    let below = |place: u8| {
        u32::MAX
            .checked_shl(u32::from(place))
            .map_or(u32::MAX, |mask| !mask)
    };
    // A lane has at most 16 places, so both masks fit 16 bits.
    ((below(end) & !below(start)) & 0xffff) as u16
}

/// Appends every arrangement of the vehicles not yet in `starts`, in ascending order.
fn arrange(lengths: &[u8], stretches: &[(u8, u8)], starts: &mut Vec<u8>, all: &mut Vec<Vec<u8>>) {
    let i = starts.len();
    if i == lengths.len() {
        all.push(starts.clone());
        return;
    }
    let end_of_last = starts.last().map_or(0, |&start| start + lengths[i - 1]);
    let first = end_of_last.max(stretches[i].0);
    for start in first..=stretches[i].1.saturating_sub(lengths[i]) {
        starts.push(start);
        arrange(lengths, stretches, starts, all);
        starts.pop();
    }
}

fn slides_of(
    vehicles: &[usize],
    lengths: &[u8],
    stretches: &[(u8, u8)],
    starts: &[u8],
    all: &[Vec<u8>],
) -> Vec<LaneSlide> {
    let mut slides = Vec::new();
    for (i, &vehicle) in vehicles.iter().enumerate() {
        let (start, length) = (starts[i], lengths[i]);
        let behind = if i == 0 { 0 } else { starts[i - 1] + lengths[i - 1] };
        let ahead = starts.get(i + 1).copied().unwrap_or(u8::MAX);
        let (first, last) = (behind.max(stretches[i].0), ahead.min(stretches[i].1) - length);
        let forward = (start + 1..=last).map(|to| (to, places(start + length, to + length)));
        let backward = (first..start).rev().map(|to| (to, places(to, start)));
        for (to, needs) in forward.chain(backward) {
            let mut moved = starts.to_vec();
            moved[i] = to;
            let target = all.binary_search(&moved).expect("it is among all arrangements");
            let target = u16::try_from(target).expect("a lane has at most 495 arrangements");
            let squares = to.cast_signed() - start.cast_signed();
            let span = places(to.min(start), to.max(start) + length);
            slides.push(LaneSlide {
                needs,
                span,
                target,
                slide: Slide { vehicle, squares },
            });
        }
    }
    slides
}
