//! Lots, squares and axes: the plane that vehicles stand on, and nothing about vehicles.
//!
//! Squares are numbered in reading order from 0, so square `row * width + column`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The smallest width and height of a lot.
pub const MIN_SIDE: u8 = 3;
/// The largest width and height of a lot.
pub const MAX_SIDE: u8 = 16;
/// The most squares that a lot can have.
pub const MAX_SQUARES: usize = MAX_SIDE as usize * MAX_SIDE as usize;

/// The size of a board: width times height, each 3 to 16 squares.
///
/// ```
/// use board::Lot;
/// let lot: Lot = "7x6".parse().unwrap();
/// assert_eq!((lot.width(), lot.height(), lot.n_squares()), (7, 6, 42));
/// assert_eq!(lot.to_string(), "7x6");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lot {
    width: u8,
    height: u8,
}

/// Why there is no such lot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LotError {
    /// A side is shorter than 3 or longer than 16 squares.
    #[error("lot {width}x{height} is out of range, expected 3x3 to 16x16")]
    OutOfRange {
        /// The width asked for, in squares.
        width: u64,
        /// The height asked for, in squares.
        height: u64,
    },
    /// The text is not of the form `WxH`.
    #[error("{text:?} is not the size of a lot, expected something like 6x6")]
    NotASize {
        /// The text as given, cut to a readable length.
        text: String,
    },
}

impl Lot {
    /// The ordinary lot, 6x6.
    pub const ORDINARY: Lot = Lot { width: 6, height: 6 };

    /// A lot of the given sides in squares.
    ///
    /// # Errors
    /// When a side is not 3 to 16.
    pub const fn new(width: u8, height: u8) -> Result<Lot, LotError> {
        if width < MIN_SIDE || width > MAX_SIDE || height < MIN_SIDE || height > MAX_SIDE {
            return Err(LotError::OutOfRange {
                width: width as u64,
                height: height as u64,
            });
        }
        Ok(Lot { width, height })
    }

    /// Number of columns.
    pub const fn width(self) -> u8 {
        self.width
    }

    /// Number of rows.
    pub const fn height(self) -> u8 {
        self.height
    }

    /// Number of squares.
    pub const fn n_squares(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Whether both sides are equal, so that a spelling needs no size in front.
    pub const fn is_square(self) -> bool {
        self.width == self.height
    }

    /// The square in a row and column, both counted from 0 at the top left.
    ///
    /// # Panics
    /// When it lies outside of the lot.
    pub const fn square(self, row: u8, column: u8) -> usize {
        assert!(
            row < self.height && column < self.width,
            "square outside of the lot"
        );
        row as usize * self.width as usize + column as usize
    }

    /// The row that a square lies in.
    pub const fn row(self, square: usize) -> u8 {
        narrow(square / self.width as usize)
    }

    /// The column that a square lies in.
    pub const fn column(self, square: usize) -> u8 {
        narrow(square % self.width as usize)
    }

    /// How many squares a lane along `axis` has.
    pub const fn lane_length(self, axis: Axis) -> u8 {
        match axis {
            Axis::Horizontal => self.width,
            Axis::Vertical => self.height,
        }
    }

    /// How many lanes run along `axis`.
    pub const fn n_lanes(self, axis: Axis) -> u8 {
        self.lane_length(axis.across())
    }

    /// The exit row that hunts use unless told otherwise: `(height - 1) / 2`.
    pub const fn default_exit_row(self) -> u8 {
        (self.height - 1) / 2
    }

    /// Every square of the lot.
    pub fn all_squares(self) -> Squares {
        (0..self.n_squares()).collect()
    }
}

impl fmt::Display for Lot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl fmt::Debug for Lot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Lot {
    type Err = LotError;

    fn from_str(text: &str) -> Result<Lot, LotError> {
        let side = |digits: &str| -> Option<u64> {
            // `u64::from_str` would also take a plus sign.
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            // Absurdly many digits are still a number, only far out of range.
            is_number.then(|| digits.parse().unwrap_or(u64::MAX))
        };
        let sides = text.split_once('x').and_then(|(w, h)| Some((side(w)?, side(h)?)));
        let Some((width, height)) = sides else {
            return Err(LotError::NotASize {
                text: text.chars().take(20).collect(),
            });
        };
        match (u8::try_from(width), u8::try_from(height)) {
            (Ok(w), Ok(h)) => Lot::new(w, h),
            _ => Err(LotError::OutOfRange { width, height }),
        }
    }
}

/// The direction that a lane runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Along a row; forward is to the right.
    Horizontal,
    /// Along a column; forward is down.
    Vertical,
}

impl Axis {
    /// The other axis.
    #[must_use]
    pub const fn across(self) -> Axis {
        match self {
            Axis::Horizontal => Axis::Vertical,
            Axis::Vertical => Axis::Horizontal,
        }
    }
}

/// A row or column as eight bits, without loss for the squares of any lot.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a lot has at most 16 rows and columns"
)]
const fn narrow(index: usize) -> u8 {
    index as u8
}

/// A set of squares; bit `i` of the 256 bit number is square `i`.
///
/// Sets are ordered as those numbers are, which is the order that decides a cluster's representative.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Squares([u64; 4]);

impl Squares {
    /// The set without squares.
    pub const EMPTY: Squares = Squares([0; 4]);

    /// The set whose number has these words, least significant first.
    pub const fn from_words(words: [u64; 4]) -> Squares {
        Squares(words)
    }

    /// The words of the set's number, least significant first: squares 0 to 63 are the first word.
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// Adds a square.
    ///
    /// # Panics
    /// When it is 256 or more.
    pub const fn insert(&mut self, square: usize) {
        self.0[square / 64] |= 1 << (square % 64);
    }

    /// Takes a square away, if it is there.
    ///
    /// # Panics
    /// When it is 256 or more.
    pub const fn remove(&mut self, square: usize) {
        self.0[square / 64] &= !(1 << (square % 64));
    }

    /// Whether the square is in the set; false for 256 or more.
    pub const fn contains(self, square: usize) -> bool {
        square < MAX_SQUARES && self.0[square / 64] >> (square % 64) & 1 != 0
    }

    /// The squares of either set.
    #[must_use]
    pub fn union(self, other: Squares) -> Squares {
        Squares(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// The squares of both sets.
    #[must_use]
    pub fn intersection(self, other: Squares) -> Squares {
        Squares(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The squares of this set that are not in the other.
    #[must_use]
    pub fn difference(self, other: Squares) -> Squares {
        Squares(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Whether the sets have a square in common.
    pub fn intersects(self, other: Squares) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Whether there is no square in the set.
    pub fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// How many squares the set has.
    pub const fn len(self) -> usize {
        let [a, b, c, d] = self.0;
        (a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()) as usize
    }

    /// The squares in reading order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, word)| {
            // Clearing the lowest bit steps from square to square.
            let words = std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)));
            words
                .take_while(|&w| w != 0)
                .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for Squares {
    fn from_iter<I: IntoIterator<Item = usize>>(squares: I) -> Squares {
        let mut set = Squares::EMPTY;
        for square in squares {
            set.insert(square);
        }
        set
    }
}

impl Ord for Squares {
    fn cmp(&self, other: &Squares) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Squares {
    fn partial_cmp(&self, other: &Squares) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Squares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_are_three_to_sixteen_squares_a_side() {
        assert_eq!(Lot::new(3, 16).unwrap().to_string(), "3x16");
        for (width, height) in [(2, 6), (6, 2), (17, 6), (6, 17), (0, 0), (255, 255)] {
            assert!(Lot::new(width, height).is_err(), "{width}x{height}");
        }
    }

    #[test]
    fn a_size_is_two_plain_numbers() {
        assert_eq!("16x3".parse::<Lot>().unwrap(), Lot::new(16, 3).unwrap());
        for text in [
            "",
            "6",
            "x",
            "6x",
            "x6",
            "+6x6",
            "6x-6",
            "6X6",
            "6x6x6",
            " 6x6",
            "6x6 ",
            "six x six",
        ] {
            assert!(
                matches!(text.parse::<Lot>(), Err(LotError::NotASize { .. })),
                "{text:?}"
            );
        }
        for text in ["2x6", "6x17", "256x6", "99999999999999999999999x6"] {
            assert!(
                matches!(text.parse::<Lot>(), Err(LotError::OutOfRange { .. })),
                "{text:?}"
            );
        }
    }

    #[test]
    fn sets_of_squares_are_ordered_as_numbers() {
        let set = |squares: &[usize]| squares.iter().copied().collect::<Squares>();
        assert!(set(&[63]) < set(&[64]));
        assert!(set(&[0, 1, 2, 200]) < set(&[201]));
        assert!(set(&[200]) < set(&[0, 200]));
        assert!(Squares::EMPTY < set(&[0]));
    }

    #[test]
    fn a_set_gives_back_what_was_put_in() {
        let squares = [0, 5, 63, 64, 127, 128, 191, 192, 255];
        let mut set: Squares = squares.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), squares);
        assert_eq!(set.len(), squares.len());
        for square in squares {
            assert!(set.contains(square));
            set.remove(square);
            assert!(!set.contains(square));
        }
        assert!(set.is_empty());
        assert!(!set.contains(256));
    }

    #[test]
    fn squares_know_their_row_and_column() {
        let lot = Lot::new(7, 5).unwrap();
        for square in lot.all_squares().iter() {
            assert_eq!(lot.square(lot.row(square), lot.column(square)), square);
        }
        assert_eq!(lot.all_squares().len(), 35);
    }
}
