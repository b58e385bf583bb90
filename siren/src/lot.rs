//! The lot, its sides and the ring road round it: where things are, and what comes next clockwise.
//!
//! Columns count from 0 at the left, rows from 0 at the top. A [`Place`] is a square of the ring road, named by the
//! side of the lot that it touches and the column (top and bottom) or row (left and right) that it touches:
//!
//! ```text
//!            top 0   top 1   top 2
//!          +-----------------------+
//!   left 0 |                       | right 0        clockwise: along the top to the right,
//!   left 1 |                       | right 1        down the right side, along the bottom
//!          +-----------------------+                to the left, up the left side
//!           bottom 0 bottom 1 bottom 2
//! ```

use serde::{Deserialize, Serialize};
use std::fmt;

/// The size of a lot in squares: [`Lot::MIN`] to [`Lot::MAX`] each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lot {
    width: u8,
    height: u8,
}

/// A size that no lot has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lot is {width}x{height}, expected 3 to 12 squares each way")]
pub struct LotError {
    width: u8,
    height: u8,
}

impl Lot {
    /// The smallest width or height, in squares.
    pub const MIN: u8 = 3;
    /// The largest width or height, in squares.
    pub const MAX: u8 = 12;

    /// A lot of so many columns and rows.
    ///
    /// # Errors
    /// If either is not from [`Lot::MIN`] to [`Lot::MAX`].
    pub fn new(width: u8, height: u8) -> Result<Self, LotError> {
        let fits = |n| (Self::MIN..=Self::MAX).contains(&n);
        if fits(width) && fits(height) {
            Ok(Self { width, height })
        } else {
            Err(LotError { width, height })
        }
    }

    /// Columns.
    #[inline]
    pub fn width(self) -> u8 {
        self.width
    }

    /// Rows.
    #[inline]
    pub fn height(self) -> u8 {
        self.height
    }

    /// Squares of the lot.
    pub fn n_squares(self) -> usize {
        usize::from(self.width) * usize::from(self.height)
    }

    /// Whether the square is on the lot.
    #[inline]
    pub fn has(self, square: Square) -> bool {
        square.column < self.width && square.row < self.height
    }

    /// The number of a square, in reading order.
    #[inline]
    pub fn number(self, square: Square) -> usize {
        debug_assert!(self.has(square), "{square} is off a {self} lot");
        usize::from(square.row) * usize::from(self.width) + usize::from(square.column)
    }

    /// The square of a number.
    pub fn square(self, number: usize) -> Square {
        let width = usize::from(self.width);
        let (row, column) = (number / width, number % width);
        Square {
            column: u8::try_from(column).expect("a column of a lot is below 12"),
            row: u8::try_from(row).expect("a row of a lot is below 12"),
        }
    }

    /// The next square in a direction, if it is on the lot.
    #[inline]
    pub fn step(self, square: Square, facing: Facing) -> Option<Square> {
        let Square { column, row } = square;
        let next = match facing {
            Facing::Up => Square {
                column,
                row: row.checked_sub(1)?,
            },
            Facing::Right => Square {
                column: column + 1,
                row,
            },
            Facing::Down => Square { column, row: row + 1 },
            Facing::Left => Square {
                column: column.checked_sub(1)?,
                row,
            },
        };
        self.has(next).then_some(next)
    }

    /// How many places a side has: columns of the top and bottom, rows of the left and right.
    pub fn side_length(self, side: Side) -> u8 {
        match side {
            Side::Top | Side::Bottom => self.width,
            Side::Left | Side::Right => self.height,
        }
    }

    /// Where something that drives straight on from `square` leaves the lot.
    #[inline]
    pub fn leaves_at(self, square: Square, facing: Facing) -> Place {
        let index = if facing.is_vertical() {
            square.column
        } else {
            square.row
        };
        Place {
            side: facing.side(),
            index,
        }
    }

    /// Places of the ring road: one for each square's edge on the border.
    pub fn ring_length(self) -> usize {
        2 * (usize::from(self.width) + usize::from(self.height))
    }

    /// The position of a place on the ring road, clockwise from the left end of the top side.
    pub fn ring_position(self, place: Place) -> usize {
        let (width, height, index) = (
            usize::from(self.width),
            usize::from(self.height),
            usize::from(place.index),
        );
        match place.side {
            Side::Top => index,
            Side::Right => width + index,
            Side::Bottom => width + height + (width - 1 - index),
            Side::Left => 2 * width + height + (height - 1 - index),
        }
    }

    /// The places of the ring road, clockwise from the left end of the top side.
    pub fn ring(self) -> impl Iterator<Item = Place> {
        let (width, height) = (self.width, self.height);
        let along = |side: Side| move |index: u8| Place { side, index };
        (0..width)
            .map(along(Side::Top))
            .chain((0..height).map(along(Side::Right)))
            .chain((0..width).rev().map(along(Side::Bottom)))
            .chain((0..height).rev().map(along(Side::Left)))
    }
}

impl fmt::Display for Lot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A square of a lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square {
    /// Column, from 0 at the left.
    pub column: u8,
    /// Row, from 0 at the top.
    pub row: u8,
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}, row {}", self.column, self.row)
    }
}

/// The way a vehicle looks, and drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Facing {
    /// Towards row 0.
    Up,
    /// Towards the last column.
    Right,
    /// Towards the last row.
    Down,
    /// Towards column 0.
    Left,
}

impl Facing {
    /// All four, clockwise from up.
    pub const ALL: [Self; 4] = [Self::Up, Self::Right, Self::Down, Self::Left];

    /// The opposite way.
    #[must_use]
    pub fn back(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Right => Self::Left,
            Self::Down => Self::Up,
            Self::Left => Self::Right,
        }
    }

    /// A quarter turn clockwise.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Up => Self::Right,
            Self::Right => Self::Down,
            Self::Down => Self::Left,
            Self::Left => Self::Up,
        }
    }

    /// Whether it runs along a column.
    pub fn is_vertical(self) -> bool {
        matches!(self, Self::Up | Self::Down)
    }

    /// The side of the lot that lies this way.
    pub fn side(self) -> Side {
        match self {
            Self::Up => Side::Top,
            Self::Right => Side::Right,
            Self::Down => Side::Bottom,
            Self::Left => Side::Left,
        }
    }
}

/// A side of the lot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Row 0's outer edge.
    Top,
    /// The last column's.
    Right,
    /// The last row's.
    Bottom,
    /// Column 0's.
    Left,
}

impl Side {
    /// All four, clockwise from the top.
    pub const ALL: [Self; 4] = [Self::Top, Self::Right, Self::Bottom, Self::Left];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Top => "top",
            Self::Right => "right",
            Self::Bottom => "bottom",
            Self::Left => "left",
        })
    }
}

/// A square of the ring road, named by the side and the column or row of the lot that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The side of the lot.
    pub side: Side,
    /// Column (top, bottom) or row (left, right), from 0 at the left or top.
    pub index: u8,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.side, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_lists_every_place_at_its_position() {
        let lot = Lot::new(3, 5).unwrap();
        let places: Vec<Place> = lot.ring().collect();
        assert_eq!(places.len(), lot.ring_length());
        for (position, place) in places.iter().enumerate() {
            assert_eq!(lot.ring_position(*place), position, "{place}");
        }
    }

    #[test]
    fn sizes_outside_three_to_twelve_are_refused() {
        assert!(Lot::new(2, 5).is_err());
        assert_eq!(
            Lot::new(5, 13).unwrap_err().to_string(),
            "lot is 5x13, expected 3 to 12 squares each way"
        );
    }

    #[test]
    fn stepping_off_the_lot_is_none() {
        let lot = Lot::new(3, 4).unwrap();
        let corner = Square { column: 2, row: 3 };
        assert_eq!(lot.step(corner, Facing::Right), None);
        assert_eq!(lot.step(corner, Facing::Down), None);
        assert_eq!(lot.step(corner, Facing::Up), Some(Square { column: 2, row: 2 }));
    }
}
