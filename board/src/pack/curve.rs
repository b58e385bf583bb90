//! Rising curves: the par that each level of a pack should have.

use std::fmt;
use std::str::FromStr;

use crate::Par;

/// How levels are spread over the pars: the number of levels a par falls evenly, from the smallest par to the largest.
///
/// It is given by one number, how many times as many levels the smallest par has as the largest. The targets are the
/// quantiles of that distribution, so they rise; par `p` is the stretch of the curve from `p - 1/2` to `p + 1/2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Curve {
    /// Hundredths of the ratio.
    ratio_hundredths: u32,
}

/// Why a text is no curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CurveError {
    /// There is no curve of this name.
    #[error("no curve {0:?}, expected even, falling or falling:RATIO")]
    Name(String),
    /// The ratio is no number or out of bounds.
    #[error("ratio {0:?}, expected a number from 0.01 to 100 with at most two decimals")]
    Ratio(String),
}

impl Curve {
    /// The same number of levels for every par.
    pub const EVEN: Curve = Curve {
        ratio_hundredths: 100,
    };

    /// 5.5 times as many levels of the smallest par as of the largest.
    ///
    /// For 200 levels from 3 to 51 that is seven levels of par 3, six or seven of those that follow, three near the
    /// top and two each of 47, 48 and 49: the shape of the pack that this one is modelled on.
    pub const FALLING: Curve = Curve {
        ratio_hundredths: 550,
    };

    /// The pars that `n_levels` levels should have, rising, as points on the curve from half a slide below `from` to half
    /// a slide above `to`.
    ///
    /// The arithmetic is that of IEEE 754 with square roots, exactly rounded, so the result is the same everywhere.
    ///
    /// # Panics
    /// If `to` is below `from`.
    pub fn targets(self, n_levels: u32, from: Par, to: Par) -> Vec<f64> {
        assert!(from <= to, "a curve from {from} to {to} does not rise");
        let (n, n_pars) = (f64::from(n_levels), f64::from(to.get() - from.get()) + 1.0);
        let ratio = f64::from(self.ratio_hundredths) / 100.0;
        // Levels a par at the lower end, and by how much that falls a par.
        let dense = 2.0 * n / n_pars * ratio / (ratio + 1.0);
        let fall = (dense - dense / ratio) / n_pars;
        let target = |level: u32| {
            // How many levels lie below the middle of this one; the curve goes up until it has covered them.
            let below = f64::from(level) + 0.5;
            let covered = if self == Curve::EVEN {
                below / dense
            } else {
                (dense - (dense * dense - 2.0 * fall * below).max(0.0).sqrt()) / fall
            };
            f64::from(from.get()) - 0.5 + covered
        };
        (0..n_levels).map(target).collect()
    }
}

impl Default for Curve {
    fn default() -> Curve {
        Curve::FALLING
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Curve::EVEN {
            return f.pad("even");
        }
        f.pad(&format!("falling:{}", f64::from(self.ratio_hundredths) / 100.0))
    }
}

impl FromStr for Curve {
    type Err = CurveError;

    fn from_str(text: &str) -> Result<Curve, CurveError> {
        match text.split_once(':') {
            None if text == "even" => Ok(Curve::EVEN),
            None if text == "falling" => Ok(Curve::FALLING),
            Some(("falling", ratio)) => hundredths(ratio)
                .map(|ratio_hundredths| Curve { ratio_hundredths })
                .ok_or_else(|| CurveError::Ratio(String::from(ratio))),
            _ => Err(CurveError::Name(String::from(text))),
        }
    }
}

/// A decimal number from 0.01 to 100 with at most two decimals, times a hundred.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_plain =
        text.len() <= 6 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.') && decimals.len() <= 2;
    let number: u32 = format!("{whole}{decimals:0<2}")
        .parse()
        .ok()
        .filter(|_| is_plain)?;
    (1..=10_000).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_rise_within_the_bounds() {
        for curve in ["even", "falling", "falling:0.5", "falling:100", "falling:1.01"] {
            for n_levels in [1, 2, 49, 200, 1000] {
                let curve: Curve = curve.parse().unwrap();
                let targets = curve.targets(n_levels, Par::new(3), Par::new(51));
                assert_eq!(targets.len(), n_levels as usize);
                assert!(targets.is_sorted(), "{curve} {n_levels}");
                assert!(
                    targets[0] > 2.5 && targets[targets.len() - 1] < 51.5,
                    "{curve} {n_levels}"
                );
            }
        }
    }

    #[test]
    fn an_even_curve_gives_every_par_the_same() {
        let targets = Curve::EVEN.targets(10, Par::new(1), Par::new(5));
        let rounded: Vec<f64> = targets.iter().map(|target| target.round()).collect();
        assert_eq!(rounded, [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]);
    }

    #[test]
    fn names_are_read_back() {
        for name in ["even", "falling:5.5", "falling:2", "falling:0.01", "falling:100"] {
            assert_eq!(name.parse::<Curve>().unwrap().to_string(), name);
        }
        assert_eq!("falling".parse(), Ok(Curve::FALLING));
        assert_eq!("falling:1".parse(), Ok(Curve::EVEN));
        for ratio in ["", "0", "-1", "101", "1e2", "1.234", ".", "1.2.3"] {
            assert_eq!(
                format!("falling:{ratio}").parse::<Curve>(),
                Err(CurveError::Ratio(ratio.into()))
            );
        }
        assert_eq!("steep".parse::<Curve>(), Err(CurveError::Name("steep".into())));
    }
}
