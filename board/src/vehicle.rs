//! One vehicle: which lane it lies in and which squares of that lane it takes.

use std::hash::{Hash, Hasher};

use crate::geometry::{Axis, Lot, Squares};

/// A vehicle, two or more squares along a lane that it never leaves.
///
/// ```
/// use board::{Axis, Lot, Vehicle};
/// // A truck in the third row, on the second to fourth squares of it.
/// let truck = Vehicle::new(Axis::Horizontal, 2, 1, 3);
/// let squares: Vec<usize> = truck.squares(Lot::ORDINARY).iter().collect();
/// assert_eq!(squares, [13, 14, 15]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vehicle {
    axis: Axis,
    lane: u8,
    start: u8,
    length: u8,
}

impl Vehicle {
    /// A vehicle along `axis` in the lane (the row of a horizontal, the column of a vertical one), whose
    /// first square (the left or top one) is the `start`th of the lane, all counted from 0.
    ///
    /// Nothing is checked here: [`Board::new`](crate::Board::new) refuses vehicles that are too short or
    /// do not fit.
    pub const fn new(axis: Axis, lane: u8, start: u8, length: u8) -> Vehicle {
        Vehicle {
            axis,
            lane,
            start,
            length,
        }
    }

    /// The direction that it moves in.
    pub const fn axis(self) -> Axis {
        self.axis
    }

    /// The row of a horizontal vehicle, the column of a vertical one.
    pub const fn lane(self) -> u8 {
        self.lane
    }

    /// Its left or top square, counted along the lane.
    pub const fn start(self) -> u8 {
        self.start
    }

    /// How many squares it takes.
    pub const fn length(self) -> u8 {
        self.length
    }

    /// One past its right or bottom square, counted along the lane.
    pub const fn end(self) -> u8 {
        self.start.saturating_add(self.length)
    }

    /// The same vehicle elsewhere in its lane.
    #[must_use]
    pub const fn with_start(self, start: u8) -> Vehicle {
        Vehicle { start, ..self }
    }

    /// Whether it lies inside the lot.
    pub const fn fits(self, lot: Lot) -> bool {
        self.lane < lot.n_lanes(self.axis) && self.end() <= lot.lane_length(self.axis)
    }

    /// The square that it is known by, its left or top one.
    ///
    /// # Panics
    /// When it does not fit the lot.
    pub const fn first_square(self, lot: Lot) -> usize {
        match self.axis {
            Axis::Horizontal => lot.square(self.lane, self.start),
            Axis::Vertical => lot.square(self.start, self.lane),
        }
    }

    /// The squares that it takes.
    ///
    /// # Panics
    /// When it does not fit the lot.
    pub fn squares(self, lot: Lot) -> Squares {
        assert!(self.fits(lot), "{self:?} does not fit a lot of {lot}");
        let stride = match self.axis {
            Axis::Horizontal => 1,
            Axis::Vertical => usize::from(lot.width()),
        };
        let first = self.first_square(lot);
        (0..usize::from(self.length))
            .map(|i| first + i * stride)
            .collect()
    }
}

/// All fields in one word: sets of boards hash a great many vehicles.
impl Hash for Vehicle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        u32::from_le_bytes([self.axis as u8, self.lane, self.start, self.length]).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_run_along_the_lane() {
        let lot = Lot::new(5, 4).unwrap();
        let row: Vec<_> = Vehicle::new(Axis::Horizontal, 3, 2, 3)
            .squares(lot)
            .iter()
            .collect();
        assert_eq!(row, [17, 18, 19]);
        let column: Vec<_> = Vehicle::new(Axis::Vertical, 4, 1, 3)
            .squares(lot)
            .iter()
            .collect();
        assert_eq!(column, [9, 14, 19]);
    }

    #[test]
    fn a_vehicle_fits_only_inside_the_lot() {
        let lot = Lot::new(5, 4).unwrap();
        assert!(Vehicle::new(Axis::Horizontal, 3, 3, 2).fits(lot));
        assert!(!Vehicle::new(Axis::Horizontal, 4, 0, 2).fits(lot));
        assert!(!Vehicle::new(Axis::Horizontal, 0, 4, 2).fits(lot));
        assert!(!Vehicle::new(Axis::Vertical, 4, 3, 2).fits(lot));
        assert!(!Vehicle::new(Axis::Vertical, 0, 255, 255).fits(lot));
    }
}
