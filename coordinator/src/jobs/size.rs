//! How long jobs are: iterations from what earlier jobs took.

use std::time::Duration;

use board::job::MAX_ITERATIONS_PER_SHARD;

use crate::store::Measured;

/// A job is at most this much longer than the ones before it: a measurement from a lucky few must not make a
/// job of hours.
const MAX_GROWTH: f64 = 4.0;

/// Iterations of all shards together so that a job takes about `target`; `first` where nothing was measured.
pub fn n_iterations(measured: Measured, target: Duration, first: u64) -> u64 {
    if measured.n_jobs == 0 || measured.n_iterations == 0 {
        return first;
    }
    #[expect(clippy::cast_precision_loss, reason = "a size is an estimate")]
    let (n_jobs, n_iterations) = (measured.n_jobs as f64, measured.n_iterations as f64);
    let former = n_iterations / n_jobs;
    let per_second = n_iterations / measured.seconds.max(0.001);
    let wanted = (per_second * target.as_secs_f64()).min(former * MAX_GROWTH);
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

    #[test]
    fn the_first_job_has_the_size_it_is_given() {
        assert_eq!(n_iterations(Measured::default(), MINUTE, 6_400), 6_400);
    }

    #[test]
    fn jobs_grow_to_their_time_step_by_step() {
        let measured = Measured {
            n_jobs: 2,
            n_iterations: 12_800,
            seconds: 20.0,
        };
        // 640 a second for a minute are 38,400; 6,400 before allow 25,600.
        assert_eq!(n_iterations(measured, MINUTE, 1), 25_600);
        let measured = Measured {
            n_jobs: 2,
            n_iterations: 51_200,
            seconds: 80.0,
        };
        assert_eq!(n_iterations(measured, MINUTE, 1), 38_400);
    }

    #[test]
    fn slow_jobs_shrink_at_once() {
        let measured = Measured {
            n_jobs: 1,
            n_iterations: 64_000,
            seconds: 640.0,
        };
        assert_eq!(n_iterations(measured, MINUTE, 1), 6_000);
    }

    #[test]
    fn sizes_stay_within_what_a_job_may_have() {
        let measured = |n_iterations, seconds| Measured {
            n_jobs: 1,
            n_iterations,
            seconds,
        };
        let most = n_iterations(measured(u64::MAX, 0.0), MINUTE, 1);
        assert_eq!(cut(most, 1, 100), (1, MAX_ITERATIONS_PER_SHARD));
        assert_eq!(n_iterations(measured(1, 1e9), MINUTE, 1), 1);
        assert_eq!(cut(1, 64, 100), (1, 1));
    }

    #[test]
    fn shards_are_as_many_as_they_may_be_without_being_too_short() {
        assert_eq!(cut(64_000, 64, 100), (64, 1_000));
        assert_eq!(cut(64_000, 64, 2_500), (25, 2_560));
        assert_eq!(cut(2_000, 64, 2_500), (1, 2_000));
    }
}
