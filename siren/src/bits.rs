//! Sets of up to 192 small numbers: the squares of a lot (at most 144) or the pieces of a jam (at most 144).

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Sub};

/// A set of numbers below [`Bits::CAPACITY`], three machine words wide.
///
/// Used for sets of squares (number = row × width + column) and for sets of pieces (number = index in the
/// level's list).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bits([u64; 3]);

impl Bits {
    /// Numbers in the set are below this.
    pub const CAPACITY: usize = 192;

    /// The empty set.
    pub const EMPTY: Self = Self([0; 3]);

    /// The set `{0, .., n - 1}`.
    pub fn below(n: usize) -> Self {
        assert!(
            n <= Self::CAPACITY,
            "{n} does not fit a set of {} numbers",
            Self::CAPACITY
        );
        let word = |at: usize| match n.saturating_sub(at * 64) {
            0 => 0,
            full if full >= 64 => u64::MAX,
            part => (1 << part) - 1,
        };
        Self([word(0), word(1), word(2)])
    }

    /// The set of one number.
    pub fn one(number: usize) -> Self {
        let mut set = Self::EMPTY;
        set.insert(number);
        set
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Takes a number away.
    #[inline]
    pub fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Whether the number is in the set.
    #[inline]
    pub fn contains(self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 3]
    }

    /// How many numbers the set has.
    #[inline]
    pub fn len(self) -> usize {
        self.count() as usize
    }

    /// [`Bits::len`] in 32 bits.
    #[inline]
    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether the two sets share a number.
    #[inline]
    pub fn intersects(self, other: Self) -> bool {
        !(self & other).is_empty()
    }

    /// Whether every number of this set is in the other.
    #[inline]
    pub fn is_subset(self, other: Self) -> bool {
        (self - other).is_empty()
    }

    /// The smallest number, if there is one.
    #[inline]
    pub fn first(self) -> Option<usize> {
        self.0
            .iter()
            .enumerate()
            .find(|(_, word)| **word != 0)
            .map(|(at, word)| at * 64 + word.trailing_zeros() as usize)
    }

    /// The numbers, smallest first.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let next = rest.first()?;
            rest.remove(next);
            Some(next)
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::EMPTY;
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

impl BitOr for Bits {
    type Output = Self;

    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }
}

impl BitAnd for Bits {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }
}

impl Sub for Bits {
    type Output = Self;

    /// The numbers of this set that are not in the other.
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }
}

impl BitOrAssign for Bits {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl BitAndAssign for Bits {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_order() {
        let numbers = [0, 63, 64, 127, 128, 143, 191];
        let set: Bits = numbers.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), numbers);
        assert_eq!(set.len(), numbers.len());
        assert_eq!(set.first(), Some(0));
    }

    #[test]
    fn below_n_has_exactly_n_numbers() {
        for n in 0..=Bits::CAPACITY {
            let set = Bits::below(n);
            assert_eq!(set.len(), n);
            assert!(set.iter().eq(0..n));
        }
    }
}
