//! Estimates of a census too large to finish: a part of it is counted, the rest is inferred.
//!
//! The sample is *stratified*: the units are cut into stretches of equal length, and of each stretch one unit is
//! counted, drawn by a stream derived from the seed and the stretch's number. The sum over the sample times the
//! length of a stretch is an unbiased estimate of every count, as each unit has the same chance to be drawn.
//! Neighbouring units are alike (they differ in the last rows and the first columns), so stretches hold similar
//! units and the estimate is better than that of as many units drawn freely; the error band is taken from the
//! differences of neighbouring stretches, which does not rely on that.

use std::ops::Range;

use crate::census::{Census, RangeOutcome, run_range};
use crate::cluster::{ExploreError, Explorer};

/// A share of a census to be counted: one unit of every stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePlan {
    /// Decides which unit of each stretch.
    pub seed: u64,
    /// Into how many stretches the units are cut, and so how many units are counted.
    pub n_stretches: u64,
}

/// One estimated count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The expected value.
    pub value: f64,
    /// The standard error: the truth is within two of these 19 times of 20.
    pub standard_error: f64,
}

impl SamplePlan {
    /// The unit that stands for a stretch.
    ///
    /// # Panics
    /// When there is no such stretch.
    pub fn unit(&self, census: &Census, stretch: u64) -> u64 {
        let Range { start, end } = self.stretch(census, stretch);
        start + mix(self.seed ^ mix(stretch)) % (end - start)
    }

    /// The units of a stretch. Lengths differ by one at most.
    fn stretch(&self, census: &Census, stretch: u64) -> Range<u64> {
        assert!(
            stretch < self.n_stretches,
            "stretch {stretch} of {}",
            self.n_stretches
        );
        assert!(self.n_stretches <= census.n_units(), "more stretches than units");
        let cut = |at: u64| {
            let product = u128::from(at) * u128::from(census.n_units());
            (product / u128::from(self.n_stretches)) as u64
        };
        cut(stretch)..cut(stretch + 1)
    }

    /// Counts the unit that stands for a stretch.
    ///
    /// # Errors
    /// As [`run_range`].
    pub fn count(
        &self,
        census: &Census,
        stretch: u64,
        explorer: &mut Explorer,
    ) -> Result<RangeOutcome, ExploreError> {
        let unit = self.unit(census, stretch);
        run_range(census, unit..unit + 1, explorer, &mut |_| true)
    }

    /// The estimate of a count (or of time spent), given what it was in each stretch's unit, in order.
    ///
    /// # Panics
    /// When there is not one number for each stretch.
    pub fn estimate(&self, census: &Census, counts: &[f64]) -> Estimate {
        assert_eq!(
            counts.len() as u64,
            self.n_stretches,
            "one count for each stretch"
        );
        let length = census.n_units() as f64 / self.n_stretches as f64;
        let value = length * counts.iter().sum::<f64>();
        // Each pair of neighbours estimates twice the variance within a stretch, or more if they differ in mean.
        let pairs = counts.windows(2).map(|pair| (pair[0] - pair[1]).powi(2) / 2.0);
        let n_pairs = (counts.len() - 1).max(1) as f64;
        let variance = pairs.sum::<f64>() / n_pairs * counts.len() as f64;
        Estimate {
            value,
            standard_error: length * variance.sqrt(),
        }
    }
}

/// The finalizer of `SplitMix64`.
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lot;
    use crate::census::CensusSpec;

    fn census() -> Census {
        Census::new(CensusSpec::standard(Lot::new(5, 5).unwrap(), 0..=0)).unwrap()
    }

    #[test]
    fn stretches_divide_the_units() {
        let census = census();
        let plan = SamplePlan {
            seed: 3,
            n_stretches: 700,
        };
        let mut next = 0;
        for stretch in 0..700 {
            let units = plan.stretch(&census, stretch);
            assert_eq!(units.start, next);
            assert!(units.contains(&plan.unit(&census, stretch)));
            next = units.end;
        }
        assert_eq!(next, census.n_units());
    }

    #[test]
    fn an_estimate_of_5x5_is_within_its_band() {
        let census = census();
        let plan = SamplePlan {
            seed: 1,
            n_stretches: 1_000,
        };
        let mut explorer = Explorer::new();
        let counts: Vec<f64> = (0..1_000)
            .map(|stretch| plan.count(&census, stretch, &mut explorer).unwrap().solvable() as f64)
            .collect();
        let estimate = plan.estimate(&census, &counts);
        let truth = 62_106.0;
        assert!(
            (estimate.value - truth).abs() < 3.0 * estimate.standard_error,
            "{estimate:?}"
        );
        assert!(estimate.standard_error < truth / 10.0, "{estimate:?}");
    }
}
