//! How long jobs are: iterations from what earlier jobs took.

use std::time::Duration;

use board::job::MAX_ITERATIONS_PER_SHARD;

use crate::store::Measured;

/// Iterations a shard of a hunt's first job: seconds of work on most lots, so that the next can be sized.
const FIRST: u32 = 100;

/// A job is at most this much longer than the ones before it: a measurement from a lucky few must not make a
/// job of hours.
const MAX_GROWTH: f64 = 4.0;

/// Iterations a shard so that a job takes about `target`.
pub fn iterations_per_shard(measured: Measured, target: Duration, n_shards: u32) -> u32 {
    if measured.n_jobs == 0 || measured.n_iterations == 0 {
        return FIRST;
    }
    #[expect(clippy::cast_precision_loss, reason = "a size is an estimate")]
    let (n_jobs, n_iterations) = (measured.n_jobs as f64, measured.n_iterations as f64);
    let shards = f64::from(n_shards.max(1));
    let former = n_iterations / n_jobs / shards;
    let per_second = n_iterations / measured.seconds.max(0.001);
    let wanted = (per_second * target.as_secs_f64() / shards).min(former * MAX_GROWTH);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the range of a u32"
    )]
    let size = wanted.clamp(1.0, f64::from(MAX_ITERATIONS_PER_SHARD)) as u32;
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn the_first_job_is_short() {
        assert_eq!(iterations_per_shard(Measured::default(), MINUTE, 64), FIRST);
    }

    #[test]
    fn jobs_grow_to_their_time_step_by_step() {
        let measured = Measured {
            n_jobs: 2,
            n_iterations: 12_800,
            seconds: 20.0,
        };
        // 640 a second for a minute over 64 shards are 600 each; 100 each before allow 400.
        assert_eq!(iterations_per_shard(measured, MINUTE, 64), 400);
        let measured = Measured {
            n_jobs: 2,
            n_iterations: 51_200,
            seconds: 80.0,
        };
        assert_eq!(iterations_per_shard(measured, MINUTE, 64), 600);
    }

    #[test]
    fn slow_jobs_shrink_at_once() {
        let measured = Measured {
            n_jobs: 1,
            n_iterations: 64_000,
            seconds: 640.0,
        };
        assert_eq!(iterations_per_shard(measured, MINUTE, 64), 93);
    }

    #[test]
    fn sizes_stay_within_what_a_job_may_have() {
        let measured = Measured {
            n_jobs: 1,
            n_iterations: u64::MAX,
            seconds: 0.0,
        };
        assert_eq!(
            iterations_per_shard(measured, MINUTE, 1),
            MAX_ITERATIONS_PER_SHARD
        );
        let measured = Measured {
            n_jobs: 1,
            n_iterations: 1,
            seconds: 1e9,
        };
        assert_eq!(iterations_per_shard(measured, MINUTE, 64), 1);
    }
}
