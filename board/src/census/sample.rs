//! A part of a census that stands for the whole: one unit of every so many, and totals estimated from it.
//!
//! Units that lie together are alike, so they are cut into *strata* of equal numbers of adjoining units, and one unit is
//! drawn from each, by the census' own stream: always the same ones. A total is the sum over the strata of the value
//! drawn times the stratum's size, which is right on average whatever the values are. Its spread is judged from
//! neighbouring strata: half the squared difference of two neighbours' shares is, on average, at least their variance
//! (the method of successive differences; Cochran, Sampling Techniques, 1977, section 8.11).

use crate::ENGINE;
use crate::stream::Stream;

/// A unit drawn, and how many it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledUnit {
    /// The unit.
    pub unit: u64,
    /// The units of its stratum.
    pub weight: u64,
}

/// Draws one unit of every `one_in` of a census of `n_units`, rising.
///
/// # Panics
/// If `one_in` is 0.
pub fn sampled_units(n_units: u64, one_in: u32) -> impl Iterator<Item = SampledUnit> {
    assert!(one_in > 0, "a stratum has units");
    let mut stream = Stream::new(ENGINE, one_in.into(), 0);
    (0..n_units.div_ceil(one_in.into())).map(move |stratum| {
        let first = stratum * u64::from(one_in);
        let weight = u32::try_from(n_units - first).unwrap_or(u32::MAX).min(one_in);
        SampledUnit {
            unit: first + u64::from(stream.below(weight)),
            weight: weight.into(),
        }
    })
}

/// A total, estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The total of the whole census.
    pub total: f64,
    /// The half width of a band that holds the true total about 19 times of 20; 0: everything was counted.
    pub error: f64,
}

/// Estimates a total from the values of the sampled units, in their order.
///
/// The band takes the sum for normally distributed. Where a few rare units hold most of a total, as they do for the
/// hardest boards, it is too narrow.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn estimate(values: &[(SampledUnit, u64)]) -> Estimate {
    let shares: Vec<f64> = values
        .iter()
        .map(|&(sampled, value)| sampled.weight as f64 * value as f64)
        .collect();
    let is_whole = values.iter().all(|(sampled, _)| sampled.weight == 1);
    let variance: f64 = if is_whole || shares.len() < 2 {
        0.0
    } else {
        let squares: f64 = shares.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
        squares / 2.0 * shares.len() as f64 / (shares.len() - 1) as f64
    };
    Estimate {
        total: shares.iter().sum(),
        error: 1.96 * variance.sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::census::{Census, CensusSpec, run_range};
    use crate::cluster::Explorer;
    use crate::geometry::Lot;

    #[test]
    fn a_unit_of_every_stratum_is_drawn_and_weights_add_up() {
        let sampled: Vec<_> = sampled_units(1_003, 10).collect();
        assert_eq!(sampled.len(), 101);
        assert!(sampled.iter().zip(0..).all(|(sampled, stratum)| sampled.unit / 10 == stratum));
        assert_eq!(sampled.iter().map(|sampled| sampled.weight).sum::<u64>(), 1_003);
        assert_eq!(sampled, sampled_units(1_003, 10).collect::<Vec<_>>());
        assert!(sampled.iter().any(|sampled| sampled.unit % 10 != sampled_units(1_003, 10).next().unwrap().unit % 10));
    }

    #[test]
    fn a_sample_of_everything_is_exact() {
        let values: Vec<_> = sampled_units(50, 1).map(|sampled| (sampled, sampled.unit)).collect();
        assert_eq!(
            estimate(&values),
            Estimate {
                total: 1_225.0,
                error: 0.0
            }
        );
    }

    #[test]
    fn the_band_around_an_estimate_of_5x5_holds_the_published_count() {
        let census = Census::new(CensusSpec::standard(Lot::new(5, 5).unwrap(), 0..=0)).unwrap();
        let mut explorer = Explorer::new();
        let values: Vec<_> = sampled_units(census.n_units(), 8)
            .map(|sampled| {
                let units = sampled.unit..sampled.unit + 1;
                let outcome = run_range(&census, units, &mut explorer, &mut |_| true).unwrap();
                (sampled, outcome.solvable())
            })
            .collect();
        let estimate = estimate(&values);
        assert!((estimate.total - 62_106.0).abs() < estimate.error, "{estimate:?}");
        assert!(estimate.error < 62_106.0 / 4.0, "{estimate:?}");
    }
}
