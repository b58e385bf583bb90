//! Probabilities as small as one likes, in whole numbers: the same bits on every machine.

/// A probability, `mantissa * 2^exponent`, rounded down at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chance {
    /// Its highest bit is set, or all of it is 0.
    mantissa: u64,
    exponent: i32,
}

/// Binary places of the logarithm: enough that tenths are right but for one time in a hundred, rounded down.
const LOG_BITS: u32 = 10;

impl Chance {
    pub(super) const ZERO: Chance = Chance {
        mantissa: 0,
        exponent: 0,
    };
    pub(super) const ONE: Chance = Chance {
        mantissa: 1 << 63,
        exponent: -63,
    };

    /// The sum of two chances.
    pub(super) fn plus(self, other: Chance) -> Chance {
        let (large, small) = match (self.mantissa, other.mantissa) {
            (0, _) => return other,
            (_, 0) => return self,
            _ if self.exponent >= other.exponent => (self, other),
            _ => (other, self),
        };
        let shifted = u128::from(small.mantissa) << 64 >> (large.exponent - small.exponent).min(127);
        let (sum, carry) = (u128::from(large.mantissa) << 64).overflowing_add(shifted);
        let high = low_word(sum >> 64);
        if carry {
            let mantissa = high >> 1 | 1 << 63;
            return Chance {
                mantissa,
                exponent: large.exponent + 1,
            };
        }
        Chance {
            mantissa: high,
            exponent: large.exponent,
        }
    }

    /// The chance of this among `n` equally likely cases.
    ///
    /// # Panics
    /// If `n` is 0.
    pub(super) fn over(self, n: usize) -> Chance {
        if self.mantissa == 0 {
            return self;
        }
        let quotient = (u128::from(self.mantissa) << 63) / n as u128;
        // From 2^126 down to, for n below 2^62, no less than 2^64: there is always a whole word to keep.
        let shift = 64 - quotient.leading_zeros().cast_signed();
        Chance {
            mantissa: low_word(quotient >> shift),
            exponent: self.exponent - 63 + shift,
        }
    }

    /// How many times a coin must fall right to be as unlikely, in tenths, rounded down.
    ///
    /// # Panics
    /// If the chance is 0.
    pub(super) fn tenths_of_bits(self) -> u32 {
        assert!(self.mantissa != 0, "a chance of 0 has no logarithm");
        // The logarithm of the mantissa, taken as a number from 1 to 2, by squaring: a bit for each doubling.
        let mut square = u128::from(self.mantissa);
        let mut log = 0_i64;
        for _ in 0..LOG_BITS {
            square = (square * square) >> 63;
            let is_two_or_more = square >> 64 != 0;
            square >>= u32::from(is_two_or_more);
            log = log << 1 | i64::from(is_two_or_more);
        }
        let log = ((i64::from(self.exponent) + 63) << LOG_BITS) + log;
        u32::try_from(((-log).max(0) * 10) >> LOG_BITS).expect("the exponent is far smaller than a word")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low word is what is asked for"
)]
fn low_word(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_in(n: usize) -> Chance {
        Chance::ONE.over(n)
    }

    #[test]
    fn powers_of_two_are_whole_bits() {
        assert_eq!(Chance::ONE.tenths_of_bits(), 0);
        assert_eq!(one_in(2).tenths_of_bits(), 10);
        assert_eq!(one_in(1024).tenths_of_bits(), 100);
        assert_eq!(one_in(2).plus(one_in(2)), Chance::ONE);
        assert_eq!(one_in(4).plus(one_in(4)), one_in(2));
    }

    #[test]
    fn tenths_agree_with_floating_point() {
        for n in 1..500_u16 {
            for m in [1_usize, 2, 3, 7, 10, 11] {
                let chance = (0..m).fold(Chance::ZERO, |sum, _| sum.plus(one_in(usize::from(n) * m)));
                let bits = f64::from(n).log2() * 10.0;
                let tenths = f64::from(chance.tenths_of_bits());
                assert!((tenths - bits).abs() <= 1.0, "{n} {m} {tenths} {bits}");
            }
        }
    }

    #[test]
    fn a_chance_far_below_what_floating_point_holds_is_still_one() {
        let chance = (0..2000).fold(Chance::ONE, |chance, _| chance.over(10));
        assert_eq!(chance.tenths_of_bits(), 66_438);
        assert_eq!(Chance::ONE.plus(chance), Chance::ONE);
    }
}
