//! Random numbers from a seed: the same on every machine, in every release of the libraries used.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers: xoshiro256++, seeded through `SplitMix64`, with its own way of choosing, so that no
/// change in a library's sampling can change a level.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, by multiplication; its bias is below one in 2^32.
    ///
    /// # Panics
    /// If `n` is 0 or above 2^32.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0 && n as u64 <= 1 << 32, "a choice among {n}");
        usize::try_from((u128::from(self.bits()) * n as u128) >> 64).expect("a number below n")
    }

    /// A number from `from` to `to`, both included.
    pub fn within(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to + 1 - from)
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of the things.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }

    /// Puts things in random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
    }
}

/// A seed made of several numbers: equal numbers in equal order give equal seeds, others all but surely different ones.
pub fn derive_seed(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x5349_5245_4e00_0001, |seed, number| {
        let mut mixed = (seed ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_everywhere() {
        let mut stream = Stream::new(7);
        let drawn: Vec<usize> = (0..8).map(|_| stream.below(100)).collect();
        let mut again = Stream::new(7);
        assert!(drawn.iter().all(|number| again.below(100) == *number));
        assert_eq!(drawn, [5, 17, 71, 42, 96, 46, 72, 32]);
    }

    #[test]
    fn derived_seeds_depend_on_every_number_and_on_order() {
        let seeds = [
            derive_seed(&[1, 2, 3]),
            derive_seed(&[1, 3, 2]),
            derive_seed(&[1, 2, 4]),
            derive_seed(&[1, 2]),
        ];
        for (at, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..at].contains(seed));
        }
    }
}
