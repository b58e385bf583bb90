//! Leases: at most one holder at a time, and a former one changes nothing.

use std::collections::HashSet;

use coordinator::store::{JobState, WorkerAction};
use proto::convert::{Directive, LeaseAction, LeaseOutcome, ReleaseReason};
use sqlx::PgPool;

use crate::fixture::{Farm, TTL, acquire, completion, release};

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn stale_worker_cannot_complete_after_reassignment(pool: PgPool) {
    let farm = Farm::new(pool);
    let (slow, lost) = farm.leased().await;
    farm.let_run_out(lost.job).await;
    assert_eq!(farm.store.expire(5).await.unwrap().len(), 1);
    let quick = farm.join("quick").await;
    let held = farm.acquire(quick, 1).await.remove(0);
    assert_eq!(held.job, lost.job);
    assert!(held.token > lost.token);

    assert_eq!(
        farm.store.complete(&completion(slow, &lost)).await.unwrap(),
        LeaseOutcome::Lost
    );
    // Nor with the other's token: the lease is the other's.
    assert_eq!(
        farm.store.complete(&completion(slow, &held)).await.unwrap(),
        LeaseOutcome::Lost
    );
    assert_eq!(
        farm.store
            .release(&release(slow, &lost, ReleaseReason::Error), 5)
            .await
            .unwrap(),
        LeaseOutcome::Lost
    );
    assert_eq!(farm.beat_one(slow, 1, &lost).await, LeaseAction::Lost);
    assert_eq!(
        farm.store.job(held.job).await.unwrap().unwrap().state,
        JobState::Leased
    );
    assert_eq!(
        farm.store.complete(&completion(quick, &held)).await.unwrap(),
        LeaseOutcome::Accepted
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_late_worker_may_complete_while_nobody_else_was_granted_the_job(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    farm.let_run_out(lease.job).await;
    assert_eq!(
        farm.store.complete(&completion(session, &lease)).await.unwrap(),
        LeaseOutcome::Accepted
    );
    assert!(farm.store.expire(5).await.unwrap().is_empty());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn two_acquires_with_one_request_id_get_the_same_leases(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(6).await;
    let wish = acquire(farm.join("w").await, 2);
    let first = farm.store.grant(&wish, TTL).await.unwrap().unwrap();
    let again = farm.store.grant(&wish, TTL).await.unwrap().unwrap();
    assert_eq!(first.len(), 2);
    let names =
        |leases: &[proto::convert::Lease]| leases.iter().map(|l| (l.job, l.token)).collect::<Vec<_>>();
    assert_eq!(names(&first), names(&again));
    assert_eq!(
        farm.count("SELECT count(*) FROM jobs WHERE state = 'leased'")
            .await,
        2
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn one_request_id_sent_many_times_at_once_is_granted_once(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(16).await;
    let wish = acquire(farm.join("w").await, 2);
    let calls = (0..8).map(|_| {
        let (store, wish) = (farm.store.clone(), wish.clone());
        tokio::spawn(async move { store.grant(&wish, TTL).await.unwrap().unwrap() })
    });
    let mut seen = HashSet::new();
    for call in calls.collect::<Vec<_>>() {
        seen.extend(
            call.await
                .unwrap()
                .into_iter()
                .map(|lease| (lease.job, lease.token)),
        );
    }
    assert_eq!(seen.len(), 2);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_request_whose_leases_have_ended_gets_no_others(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(3).await;
    let session = farm.join("w").await;
    let wish = acquire(session, 1);
    let lease = farm.store.grant(&wish, TTL).await.unwrap().unwrap().remove(0);
    farm.store.complete(&completion(session, &lease)).await.unwrap();
    assert_eq!(farm.store.grant(&wish, TTL).await.unwrap(), None);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn concurrent_grants_never_hand_a_job_out_twice(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(40).await;
    let mut calls = Vec::new();
    for n in 0..20 {
        let session = farm.join(&format!("w{n}")).await;
        let store = farm.store.clone();
        calls.push(tokio::spawn(async move {
            store.grant(&acquire(session, 3), TTL).await.unwrap().unwrap()
        }));
    }
    let mut jobs = Vec::new();
    for call in calls {
        jobs.extend(call.await.unwrap().into_iter().map(|lease| lease.job));
    }
    let distinct: HashSet<_> = jobs.iter().collect();
    assert_eq!(distinct.len(), jobs.len());
    assert_eq!(jobs.len(), 40);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_expired_lease_goes_back_to_the_queue_and_a_live_one_does_not(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(2).await;
    let session = farm.join("w").await;
    let leases = farm.acquire(session, 2).await;
    farm.let_run_out(leases[0].job).await;
    let expired = farm.store.expire(5).await.unwrap();
    assert_eq!(
        expired.iter().map(|lease| lease.job).collect::<Vec<_>>(),
        [leases[0].job]
    );
    assert_eq!(
        farm.store.job(leases[0].job).await.unwrap().unwrap().state,
        JobState::Queued
    );
    assert_eq!(
        farm.store.job(leases[1].job).await.unwrap().unwrap().state,
        JobState::Leased
    );
    let outcome = farm
        .store
        .attempts(leases[0].job)
        .await
        .unwrap()
        .remove(0)
        .outcome;
    assert_eq!(outcome, "expired");
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'job_expired'")
            .await,
        1
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_job_that_fails_five_times_is_parked_and_can_be_requeued(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let session = farm.join("w").await;
    for n in 1..=5 {
        let lease = farm.acquire(session, 1).await.remove(0);
        assert_eq!(lease.attempt, n);
        farm.store
            .release(&release(session, &lease, ReleaseReason::Error), 5)
            .await
            .unwrap();
    }
    assert!(farm.acquire(session, 1).await.is_empty());
    let job = farm
        .store
        .list_jobs(&filter(JobState::Parked))
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'job_parked'")
            .await,
        1
    );
    assert!(farm.store.requeue(job.id).await.unwrap());
    assert_eq!(farm.acquire(session, 1).await.len(), 1);
}

fn filter(state: JobState) -> coordinator::store::JobFilter {
    coordinator::store::JobFilter {
        state: Some(state),
        limit: 10,
        ..Default::default()
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_drain_costs_no_attempt_and_keeps_the_checkpoint(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let mut drained = release(session, &lease, ReleaseReason::Drain);
    drained.checkpoint = Some(b"half way".to_vec());
    assert_eq!(
        farm.store.release(&drained, 5).await.unwrap(),
        LeaseOutcome::Accepted
    );
    // The answer may have been lost on the way: said again, it is the same.
    assert_eq!(
        farm.store.release(&drained, 5).await.unwrap(),
        LeaseOutcome::Accepted
    );
    let next = farm.acquire(session, 1).await.remove(0);
    assert_eq!(
        (next.attempt, next.checkpoint.as_deref()),
        (1, Some(b"half way".as_slice()))
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn completing_twice_is_accepted_twice_and_counted_once(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let claim = completion(session, &lease);
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Accepted);
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Accepted);
    let job = farm.store.job(lease.job).await.unwrap().unwrap();
    assert_eq!(
        (job.state, job.digest, job.counters.iterations),
        (JobState::Done, Some(claim.digest), 200)
    );
    // Another worker cannot pass the same claim off as its own.
    let other = farm.join("other").await;
    assert_eq!(
        farm.store.complete(&completion(other, &lease)).await.unwrap(),
        LeaseOutcome::Lost
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_beat_renews_and_an_older_one_renews_nothing(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    farm.let_run_out(lease.job).await;
    assert_eq!(farm.beat_one(session, 2, &lease).await, LeaseAction::Continue);
    assert!(farm.store.expire(5).await.unwrap().is_empty());
    farm.let_run_out(lease.job).await;
    // Sent again, or overtaken: it renews nothing, but the lease is not lost for it either.
    assert_eq!(farm.beat_one(session, 2, &lease).await, LeaseAction::Continue);
    assert_eq!(farm.beat_one(session, 1, &lease).await, LeaseAction::Continue);
    assert_eq!(farm.store.expire(5).await.unwrap().len(), 1);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_worker_that_leaves_gives_its_jobs_back(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(3).await;
    let session = farm.join("w").await;
    farm.acquire(session, 3).await;
    assert_eq!(farm.store.release_all(session).await.unwrap(), 3);
    farm.store.leave(session).await.unwrap();
    assert!(
        farm.acquire(session, 3).await.is_empty(),
        "who has left is granted nothing"
    );
    let other = farm.join("other").await;
    assert_eq!(farm.acquire(other, 5).await.len(), 3);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_worker_that_falls_silent_is_given_up_once_it_holds_nothing(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    sqlx::query("UPDATE workers SET last_seen = now() - interval '1 hour'")
        .execute(&farm.pool)
        .await
        .unwrap();
    assert_eq!(farm.store.give_up_silent_workers(300.0).await.unwrap(), 0);
    farm.let_run_out(lease.job).await;
    farm.store.expire(5).await.unwrap();
    assert_eq!(farm.store.give_up_silent_workers(300.0).await.unwrap(), 1);
    assert!(farm.store.worker(session).await.unwrap().unwrap().is_gone);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn after_a_restore_nothing_of_before_is_taken_for_something_of_after(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(2).await;
    let (old, other) = (farm.join("old").await, farm.join("other").await);
    let known = farm.acquire(old, 1).await.remove(0);
    // Granted after the backup was made: the database has forgotten it.
    let forgotten = farm.acquire(old, 1).await.remove(0);
    for statement in [
        "DELETE FROM job_attempts WHERE job_id = 2",
        "UPDATE jobs SET state = 'queued', token = 0, worker_id = NULL, expires_at = NULL WHERE id = 2",
    ] {
        sqlx::query(statement).execute(&farm.pool).await.unwrap();
    }
    assert_eq!(farm.store.begin_after_restore().await.unwrap(), 1);
    let leases = farm.acquire(other, 2).await;
    assert_eq!(leases.len(), 2);
    for (lease, seq) in [(&known, 1), (&forgotten, 2)] {
        let now = leases.iter().find(|now| now.job == lease.job).unwrap();
        assert!(now.token.get() > lease.token.get() + 1_000_000);
        assert_eq!(farm.beat_one(old, seq, lease).await, LeaseAction::Lost);
        assert_eq!(
            farm.store.complete(&completion(old, lease)).await.unwrap(),
            LeaseOutcome::Lost
        );
    }
    assert!(
        !farm
            .store
            .is_anothers_lease(old, forgotten.job, forgotten.token)
            .await
            .unwrap(),
        "it is no thief"
    );
    assert_eq!(farm.plan(3).await, 3);
    assert!(farm.count("SELECT min(id) FROM jobs WHERE id > 2").await > 1_000_000);
    assert_eq!(
        farm.store.begin_after_restore().await.unwrap(),
        2,
        "said again, it takes back what there is"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_worker_gets_no_more_than_twice_its_slots(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(20).await;
    let greedy = farm.join("greedy").await;
    // It stated four slots.
    let first = farm.acquire(greedy, 1_000).await;
    assert_eq!(first.len(), 8);
    assert!(farm.acquire(greedy, 1).await.is_empty());
    farm.store.complete(&completion(greedy, &first[0])).await.unwrap();
    assert_eq!(farm.acquire(greedy, 1_000).await.len(), 1);
    assert_eq!(farm.acquire(farm.join("modest").await, 2).await.len(), 2);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn who_was_told_to_stop_or_sits_in_quarantine_keeps_nothing_by_beating(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let id = farm.store.worker(session).await.unwrap().unwrap().id;
    let expires = "SELECT extract(epoch FROM expires_at)::bigint FROM jobs";
    let set_short = "UPDATE jobs SET expires_at = now() + interval '1 second'";
    let renewed = async |seq| {
        sqlx::query(set_short).execute(&farm.pool).await.unwrap();
        let before = farm.count(expires).await;
        assert_eq!(farm.beat_one(session, seq, &lease).await, LeaseAction::Continue);
        farm.count(expires).await > before + 5
    };
    assert!(renewed(1).await);
    let act = async |action| farm.store.act_on_worker(id, &action).await.unwrap();
    assert!(act(WorkerAction::Direct(Directive::Drain)).await);
    assert!(renewed(2).await, "who drains finishes what it has");
    assert!(act(WorkerAction::Direct(Directive::Stop)).await);
    assert!(!renewed(3).await);
    assert!(act(WorkerAction::Direct(Directive::Run)).await);
    assert!(act(WorkerAction::Quarantine("it lies".to_owned())).await);
    assert!(renewed(4).await, "what it has may be finished, and is looked at");
    let long_ago = "UPDATE workers SET quarantined_at = now() - interval '1 hour'";
    sqlx::query(long_ago).execute(&farm.pool).await.unwrap();
    assert!(!renewed(5).await);
}
