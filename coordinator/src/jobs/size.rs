//! How long jobs are: iterations from what earlier jobs took.
//!
//! The clock is the coordinator's and the iterations are the specification's, but that a job was carried out at all is the
//! worker's word. So the middle of what was measured decides, and no party is more than nearly half of it while others
//! measure too: who claims jobs at once that it did not do cannot blow up those to come, nor can it, by dawdling, cut them
//! to pieces.

use std::collections::BTreeMap;
use std::time::Duration;

use board::job::MAX_ITERATIONS_PER_SHARD;

/// A job is at most this much longer than the ones before it: a measurement from a lucky few must not make a
/// job of hours.
const MAX_GROWTH: f64 = 4.0;

/// A party weighs at most this much of what all others together do: less than half, so that the middle is theirs.
const MAX_WEIGHT: f64 = 0.9;

/// How long a job took.
#[derive(Clone, Debug, PartialEq)]
pub struct Pace {
    /// Whose token did it.
    pub party: String,
    /// Iterations that it was to do.
    pub n_iterations: u64,
    /// From its grant to its claim.
    pub seconds: f64,
}

/// A job of the usual size, at the usual rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Its iterations.
    pub n_iterations: f64,
    /// Of them, how many are done in a second.
    pub per_second: f64,
}

/// The mean of the sizes, which are the specifications' own, and the middle of the rates; `None`: nothing was measured.
pub fn measured(paces: &[Pace]) -> Option<Measured> {
    let mut n_of: BTreeMap<&str, f64> = BTreeMap::new();
    for pace in paces {
        *n_of.entry(&pace.party).or_default() += 1.0;
    }
    let n_all: f64 = n_of.values().sum();
    let weight = |pace: &Pace| {
        let own = n_of[pace.party.as_str()];
        let others = n_all - own;
        if others > 0.0 {
            own.min(others * MAX_WEIGHT) / own
        } else {
            1.0
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "a size is an estimate")]
    let size = |pace: &Pace| pace.n_iterations as f64;
    let rates = paces
        .iter()
        .map(|pace| (size(pace) / pace.seconds.max(0.001), weight(pace)));
    Some(Measured {
        per_second: weighted_median(rates.collect())?,
        n_iterations: paces.iter().map(size).sum::<f64>() / n_all,
    })
}

/// The first figure, by size, at which half of all weight is reached.
fn weighted_median(mut weighed: Vec<(f64, f64)>) -> Option<f64> {
    weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = weighed.iter().map(|&(_, weight)| weight).sum::<f64>() / 2.0;
    let mut reached = 0.0;
    let at_half = weighed.iter().find(|&&(_, weight)| {
        reached += weight;
        reached >= half
    });
    // Sums of doubles may end a hair below.
    at_half.or(weighed.last()).map(|&(figure, _)| figure)
}

/// Iterations of all shards together so that a job takes about `target`; `first` where nothing was measured.
pub fn n_iterations(measured: Option<Measured>, target: Duration, first: u64) -> u64 {
    let Some(measured) = measured else {
        return first;
    };
    let wanted = (measured.per_second * target.as_secs_f64()).min(measured.n_iterations * MAX_GROWTH);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float that is cast is cut to the bounds of its type"
    )]
    let size = wanted.max(1.0) as u64;
    size
}

/// A number of iterations cut into shards of no fewer than `least` each, as far as that goes, and no more shards than
/// `most_shards`: (shards, iterations of each).
pub fn cut(n_iterations: u64, most_shards: u32, least: u32) -> (u32, u32) {
    let n_shards = (n_iterations / u64::from(least.max(1))).clamp(1, most_shards.max(1).into());
    let each = (n_iterations / n_shards).clamp(1, MAX_ITERATIONS_PER_SHARD.into());
    let small = |count: u64| u32::try_from(count).expect("clamped to the range of a u32");
    (small(n_shards), small(each))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn size_after(n_iterations: u64, seconds: f64) -> u64 {
        super::n_iterations(measured(&paces("", 1, n_iterations, seconds)), MINUTE, 1)
    }

    #[test]
    fn the_first_job_has_the_size_it_is_given() {
        assert_eq!(n_iterations(None, MINUTE, 6_400), 6_400);
    }

    #[test]
    fn jobs_grow_to_their_time_step_by_step() {
        // 640 a second for a minute are 38,400; 6,400 before allow 25,600.
        assert_eq!(size_after(6_400, 10.0), 25_600);
        assert_eq!(size_after(25_600, 40.0), 38_400);
    }

    fn paces(party: &str, n_jobs: usize, n_iterations: u64, seconds: f64) -> Vec<Pace> {
        let pace = Pace {
            party: party.to_owned(),
            n_iterations,
            seconds,
        };
        vec![pace; n_jobs]
    }

    #[test]
    fn a_party_that_claims_at_once_or_dawdles_does_not_decide_how_long_jobs_are() {
        let honest = paces("honest", 1, 6_400, 10.0);
        assert_eq!(n_iterations(measured(&honest), MINUTE, 1), 25_600);
        for (seconds, least, most) in [(0.0, 6_400, 25_600), (100_000.0, 25_600, 25_600)] {
            let mut both = honest.clone();
            both.extend(paces("other", 8, 6_400, seconds));
            let size = n_iterations(measured(&both), MINUTE, 1);
            assert!((least..=most).contains(&size), "{size} at {seconds} s");
        }
        // Jobs that have their length stay as they are.
        let mut both = paces("honest", 2, 38_400, 60.0);
        both.extend(paces("other", 8, 38_400, 0.0));
        assert_eq!(n_iterations(measured(&both), MINUTE, 1), 38_400);
    }

    #[test]
    fn one_odd_job_of_a_party_alone_decides_nothing() {
        let mut one_party = paces("", 7, 6_400, 10.0);
        one_party.extend(paces("", 1, 6_400, 0.0));
        assert_eq!(n_iterations(measured(&one_party), MINUTE, 1), 25_600);
        assert_eq!(measured(&[]), None);
    }

    #[test]
    fn pieces_of_ranges_that_were_cut_do_not_keep_jobs_small() {
        let mut latest = paces("", 7, 16, 0.03);
        latest.extend(paces("", 1, 64, 0.05));
        let size = n_iterations(measured(&latest), Duration::from_millis(200), 1);
        assert_eq!(
            size, 88,
            "four times the mean, not the middle, of the sizes before"
        );
    }

    #[test]
    fn slow_jobs_shrink_at_once() {
        assert_eq!(size_after(64_000, 640.0), 6_000);
    }

    #[test]
    fn sizes_stay_within_what_a_job_may_have() {
        let most = size_after(u64::MAX, 0.0);
        assert_eq!(cut(most, 1, 100), (1, MAX_ITERATIONS_PER_SHARD));
        assert_eq!(size_after(1, 1e9), 1);
        assert_eq!(cut(1, 64, 100), (1, 1));
    }

    #[test]
    fn shards_are_as_many_as_they_may_be_without_being_too_short() {
        assert_eq!(cut(64_000, 64, 100), (64, 1_000));
        assert_eq!(cut(64_000, 64, 2_500), (25, 2_560));
        assert_eq!(cut(2_000, 64, 2_500), (1, 2_000));
    }
}
