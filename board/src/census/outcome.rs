//! What a range of a census holds: counts, a digest, boards.

use std::fmt;
use std::ops::Range;

use crate::cluster::Found;

/// Counts of the clusters whose depth is one number, and of the positions that far from a solved one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParCounts {
    /// Clusters of this depth.
    pub solvable: u64,
    /// Of these, clusters with a minimal representative.
    pub minimal: u64,
    /// Positions of the clusters of this depth.
    pub positions: u64,
    /// Of these, positions of clusters with a minimal representative.
    pub minimal_positions: u64,
    /// Positions of any solvable cluster that are this far from a solved one.
    pub positions_at: u64,
}

/// What the clusters of a range of units are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeOutcome {
    /// The units counted.
    pub units: Range<u64>,
    /// Layouts that hold a solved position, or, where unsolvable clusters are counted, any position.
    pub layouts: u64,
    /// Clusters that no position of is solved; 0 where these are not counted.
    pub unsolvable: u64,
    /// Positions of these.
    pub unsolvable_positions: u64,
    /// Counts by par, as far as the largest that occurs.
    pub by_par: Vec<ParCounts>,
    /// Digest of the minimal clusters, whatever the order.
    pub digest: CensusDigest,
    /// The boards to keep, sorted by (par, canonical spelling). The two mirror images of a cluster are counted
    /// as two but are the same board.
    pub boards: Vec<Found>,
}

impl RangeOutcome {
    /// The counts of one par, to be added to.
    pub(crate) fn at(&mut self, par: usize) -> &mut ParCounts {
        if self.by_par.len() <= par {
            self.by_par.resize(par + 1, ParCounts::default());
        }
        &mut self.by_par[par]
    }

    /// The outcome of this range and the one that begins where it ends.
    ///
    /// # Panics
    /// When the ranges do not adjoin.
    #[must_use]
    pub fn followed_by(mut self, other: RangeOutcome) -> RangeOutcome {
        assert_eq!(self.units.end, other.units.start, "ranges must adjoin");
        self.add_counts(&other);
        self.units.end = other.units.end;
        self.boards.extend(other.boards);
        self.boards
            .sort_unstable_by(|a, b| (a.par, &a.canonical).cmp(&(b.par, &b.canonical)));
        self
    }

    /// Adds the counts and digest of another range, which must be disjoint; units and boards stay as they are.
    pub fn add_counts(&mut self, other: &RangeOutcome) {
        self.layouts += other.layouts;
        self.unsolvable += other.unsolvable;
        self.unsolvable_positions += other.unsolvable_positions;
        self.digest.0 = self.digest.0.wrapping_add(other.digest.0);
        for (par, counts) in other.by_par.iter().enumerate() {
            let sum = self.at(par);
            sum.solvable += counts.solvable;
            sum.minimal += counts.minimal;
            sum.positions += counts.positions;
            sum.minimal_positions += counts.minimal_positions;
            sum.positions_at += counts.positions_at;
        }
    }

    /// Everything counted, and the digest, as words: what two runs of the same units must agree in.
    pub(crate) fn words(&self) -> Vec<u64> {
        let [low, high] = [self.digest.0 as u64, (self.digest.0 >> 64) as u64];
        let mut words = vec![
            self.layouts,
            self.unsolvable,
            self.unsolvable_positions,
            low,
            high,
        ];
        for counts in &self.by_par {
            let ParCounts {
                solvable,
                minimal,
                positions,
                minimal_positions,
                positions_at,
            } = *counts;
            words.extend([solvable, minimal, positions, minimal_positions, positions_at]);
        }
        words
    }

    /// Solvable clusters.
    pub fn solvable(&self) -> u64 {
        self.by_par.iter().map(|counts| counts.solvable).sum()
    }

    /// Clusters, unsolvable ones included where they are counted.
    pub fn clusters(&self) -> u64 {
        self.solvable() + self.unsolvable
    }

    /// Clusters with a minimal representative.
    pub fn minimal(&self) -> u64 {
        self.by_par.iter().map(|counts| counts.minimal).sum()
    }

    /// Positions of solvable clusters.
    pub fn positions(&self) -> u64 {
        self.by_par.iter().map(|counts| counts.positions).sum()
    }

    /// Positions of clusters with a minimal representative.
    pub fn minimal_positions(&self) -> u64 {
        self.by_par.iter().map(|counts| counts.minimal_positions).sum()
    }
}

/// A digest of a set of clusters: the sum of a hash of each, so that order and cuts do not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CensusDigest(u128);

impl CensusDigest {
    /// The digest as 16 bytes, most significant first.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The digest of these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> CensusDigest {
        CensusDigest(u128::from_be_bytes(bytes))
    }

    /// Adds one cluster by the words that tell it from all others.
    pub(crate) fn add(&mut self, words: [u64; 5]) {
        let mut low = 0x6a09_e667_f3bc_c908_u64;
        let mut high = 0xbb67_ae85_84ca_a73b_u64;
        for word in words {
            low = mix(low ^ word);
            high = mix(high.wrapping_add(word));
        }
        self.0 = self.0.wrapping_add(u128::from(high) << 64 | u128::from(low));
    }
}

impl fmt::Display for CensusDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The finalizer of `SplitMix64`: a one-to-one mixing of 64 bits.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
