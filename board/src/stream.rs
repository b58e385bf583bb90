//! The random streams of jobs: which numbers a shard draws, from its job's seed alone.
//!
//! A stream is a function of (engine version, job seed, shard), so any machine draws the same numbers for
//! the same shard, in any order of shards, on any number of threads. Nothing here reads a clock or the
//! system's entropy, and nothing is sampled through `usize`, whose width differs between machines.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// SplitMix64's odd increment: the golden ratio in 64 bits (Steele, Lea and Flood 2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The random numbers of one shard: xoshiro256++ started from a counter-derived state.
///
/// ```
/// use board::stream::Stream;
///
/// let mut one = Stream::new("engine-1", 7, 0);
/// let mut again = Stream::new("engine-1", 7, 0);
/// let mut other_shard = Stream::new("engine-1", 7, 1);
/// assert_eq!(one.below(1000), again.below(1000));
/// assert_ne!(one.bits(), other_shard.bits());
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of shard `shard` of the job with seed `seed`, under the engine version `engine`.
    pub fn new(engine: &str, seed: u64, shard: u32) -> Stream {
        // Each part passes through the finaliser before the next is mixed in, so that neighbouring seeds
        // and shards (1, 2, 3 ..) start far apart; the four state words are then SplitMix64's outputs, as
        // xoshiro's authors ask for.
        let mut counter = finalise(fnv1a(engine.as_bytes()));
        counter = finalise(counter ^ seed.wrapping_mul(GOLDEN));
        counter = finalise(counter ^ u64::from(shard).wrapping_add(1).wrapping_mul(GOLDEN));
        let mut state = [0_u8; 32];
        for word in state.chunks_exact_mut(8) {
            counter = counter.wrapping_add(GOLDEN);
            word.copy_from_slice(&finalise(counter).to_le_bytes());
        }
        Stream(Xoshiro256PlusPlus::from_seed(state))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, each as likely as the others.
    ///
    /// # Panics
    /// If `n` is 0: there is no such number.
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n > 0, "no number is below 0");
        // Lemire's multiplication (2019), with the rejection that makes it exactly uniform.
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = (self.bits() >> 32) * u64::from(n);
            let (high, low) = (product >> 32, product & u64::from(u32::MAX));
            if low >= u64::from(threshold) {
                return u32::try_from(high).expect("the high half of 64 bits");
            }
        }
    }

    /// A number from `low` to `high`, both included, each as likely as the others.
    ///
    /// # Panics
    /// If `low` is above `high`.
    pub fn between(&mut self, low: u8, high: u8) -> u8 {
        assert!(low <= high, "no number lies between {low} and {high}");
        let offset = self.below(u32::from(high - low) + 1);
        low + u8::try_from(offset).expect("an offset within u8's range is a u8")
    }

    /// An index of a slice of `n` elements.
    ///
    /// # Panics
    /// If `n` is 0 or above `u32::MAX`: no slice of this crate is that long.
    pub fn index(&mut self, n: usize) -> usize {
        self.below(u32::try_from(n).expect("slices here are short")) as usize
    }

    /// True in `numerator` of `denominator` cases.
    ///
    /// # Panics
    /// If `denominator` is 0.
    pub fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        self.below(denominator) < numerator
    }

    /// True with probability `2^-(eighths / 8)`: always for 0, never beyond 64 halvings.
    ///
    /// Made of integers only: `exp` of the platform's mathematics library may differ in the last bit from one
    /// machine to the next, and one bit is enough to send an annealing chain elsewhere.
    pub fn halvings(&mut self, eighths: u64) -> bool {
        let Some(further) = eighths.checked_sub(1) else {
            return true;
        };
        if further >= 64 * 8 {
            return false;
        }
        self.bits() < HALVING_EIGHTHS[(further % 8) as usize] >> (further / 8)
    }
}

/// `2^(64 - (i + 1) / 8)` for i = 0..7, rounded down.
const HALVING_EIGHTHS: [u64; 8] = [
    16_915_738_899_553_466_670,
    15_511_800_964_685_064_948,
    14_224_384_202_002_324_189,
    13_043_817_825_332_782_212,
    11_961_233_684_655_323_370,
    10_968_499_650_544_839_023,
    10_058_158_527_438_640_870,
    9_223_372_036_854_775_808,
];

/// SplitMix64's output function.
fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_on_every_machine() {
        let mut stream = Stream::new("test", 1, 0);
        let drawn: Vec<u64> = (0..3).map(|_| stream.bits()).collect();
        assert_eq!(
            drawn, PINNED,
            "the streams changed: every job's result changes, so raise ENGINE"
        );
    }

    /// Drawn once and written down: streams must never change under one engine version.
    const PINNED: [u64; 3] = [
        8_181_275_356_259_100_514,
        13_649_904_972_396_376_900,
        6_047_946_364_388_162_319,
    ];

    #[test]
    fn engine_seed_and_shard_each_start_another_stream() {
        let first = |engine, seed, shard| Stream::new(engine, seed, shard).bits();
        let starts = [
            first("a", 1, 1),
            first("b", 1, 1),
            first("a", 2, 1),
            first("a", 1, 2),
            first("a", 2, 0),
        ];
        let distinct: std::collections::BTreeSet<u64> = starts.into_iter().collect();
        assert_eq!(distinct.len(), starts.len());
    }

    #[test]
    fn bounded_numbers_fill_their_range_evenly() {
        let mut stream = Stream::new("test", 2, 0);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&count| (9_500..10_500).contains(&count)),
            "{counts:?}"
        );
        assert!((0..100).all(|_| (3..=5).contains(&stream.between(3, 5))));
    }

    #[test]
    fn halvings_halve() {
        let mut stream = Stream::new("test", 3, 0);
        let mut share = |eighths| (0..40_000).filter(|_| stream.halvings(eighths)).count();
        assert_eq!(share(0), 40_000);
        assert!((19_400..20_600).contains(&share(8)));
        assert!((9_500..10_500).contains(&share(16)));
        assert!((27_700..28_900).contains(&share(4)));
        assert_eq!(share(64 * 8 + 1), 0);
    }
}
