//! Outages: what ran out while nobody could hear its beats is taken back, and is nobody's failure.

use std::time::Duration;

use coordinator::jobs::waiting::Waiting;
use coordinator::reaper::reap;
use coordinator::store::OUTAGES_PER_FAILURE;
use proto::convert::LeaseAction;
use sqlx::PgPool;

use crate::fixture::Farm;

impl Farm {
    /// A round of a reaper.
    async fn round(&self) {
        reap(&self.store, &self.config, &Waiting::default())
            .await
            .unwrap();
    }

    /// Coordinators have looked for lost leases for so long, and the last time so long ago.
    async fn watched(&self, since: Duration, last_round: Duration) {
        sqlx::query(
            "UPDATE farm_watch SET since = clock_timestamp() - make_interval(secs => $1),
                last_round = clock_timestamp() - make_interval(secs => $2)",
        )
        .bind(since.as_secs_f64())
        .bind(last_round.as_secs_f64())
        .execute(&self.pool)
        .await
        .unwrap();
    }

    async fn told(&self) -> String {
        self.text(
            "SELECT concat_ws(' ', j.state, j.n_failures, j.n_outages, a.outcome)
            FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token ORDER BY j.id LIMIT 1",
        )
        .await
    }
}

const LONG: Duration = Duration::from_hours(1);
const NOW: Duration = Duration::ZERO;

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_lease_that_ran_out_under_watch_is_a_failure(pool: PgPool) {
    let farm = Farm::new(pool);
    let (_, lease) = farm.leased().await;
    farm.let_run_out(lease.job).await;
    farm.watched(LONG, NOW).await;
    farm.round().await;
    assert_eq!(farm.told().await, "queued 1 0 expired");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_lease_that_ran_out_while_nobody_looked_is_none(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    // The coordinator, or the database, was down or stopped.
    farm.let_run_out(lease.job).await;
    farm.watched(LONG, Duration::from_mins(2)).await;
    farm.round().await;
    assert_eq!(farm.told().await, "queued 0 1 outage");
    assert_eq!(farm.beat_one(session, 1, &lease).await, LeaseAction::Lost);
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'job_expired' AND detail LIKE '%no failure'")
            .await,
        1
    );
    // It is back for less than a lease's time: whoever did not find the way back yet has not failed either.
    farm.acquire(session, 1).await;
    farm.let_run_out(lease.job).await;
    farm.round().await;
    assert_eq!(farm.told().await, "queued 0 2 outage");
    // From then on it counts again.
    farm.acquire(session, 1).await;
    farm.let_run_out(lease.job).await;
    farm.watched(farm.config.lease_ttl + Duration::from_secs(2), NOW)
        .await;
    farm.round().await;
    assert_eq!(farm.told().await, "queued 1 2 expired");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_clock_that_jumps_is_an_outage_and_other_coordinators_fill_gaps(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.watched(LONG, NOW).await;
    let gap = Duration::from_secs(20);
    let first = farm.store.watch(gap, farm.config.lease_ttl).await.unwrap();
    // Another coordinator on the same database, which has just begun.
    let other = Farm::new(farm.pool.clone());
    let second = other.store.watch(gap, farm.config.lease_ttl).await.unwrap();
    assert_eq!(first.since, second.since);
    sqlx::query("UPDATE farm_watch SET last_round = last_round + interval '1 hour'")
        .execute(&farm.pool)
        .await
        .unwrap();
    let third = farm.store.watch(gap, farm.config.lease_ttl).await.unwrap();
    assert!(third.since > second.since);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_job_that_takes_its_coordinator_down_each_time_is_parked_in_the_end(pool: PgPool) {
    let mut farm = Farm::new(pool);
    farm.config.max_failures = 2;
    let (session, lease) = farm.leased().await;
    let most = farm.config.max_failures * OUTAGES_PER_FAILURE;
    for n_outages in 1..=most {
        if n_outages > 1 {
            assert_eq!(farm.acquire(session, 1).await[0].job, lease.job);
        }
        farm.let_run_out(lease.job).await;
        farm.watched(LONG, LONG).await;
        farm.round().await;
        let state = if n_outages < most { "queued" } else { "parked" };
        assert_eq!(farm.told().await, format!("{state} 0 {n_outages} outage"));
    }
    assert!(farm.store.requeue(lease.job).await.unwrap());
    assert_eq!(farm.count("SELECT n_outages::bigint FROM jobs").await, 0);
}
