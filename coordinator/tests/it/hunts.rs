//! Hunts: cut on demand, paused, ended, taken up again.

use std::collections::HashSet;
use std::time::Duration;

use board::geometry::Lot;
use board::job::JobSpec;
use board::space::BoardSpace;
use board::{Canonical, Par};
use coordinator::jobs::waiting::Waiting;
use coordinator::reaper::reap;
use coordinator::store::{CreateHuntError, HuntState, JobFilter, JobState};
use proto::convert::{Budget, JobKind, LeaseAction, NewHunt, ReleaseReason, Strategy};
use sqlx::PgPool;

use crate::fixture::{Farm, HARDEST, batch, completion, release, stated, wish};

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_taken_up_again_goes_on_with_seeds_it_never_used(pool: PgPool) {
    let farm = Farm::new(pool);
    let first = farm.hunt_of(5).await;
    assert!(farm.store.cancel_hunt(first.id).await.unwrap());
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    let again = farm.hunt("a").await;
    assert_eq!(
        (again.id, again.state, again.next_number),
        (first.id, HuntState::Running, 5)
    );
    assert_eq!(farm.plan(5).await, 5);
    let jobs = farm
        .store
        .list_jobs(&JobFilter {
            limit: 100,
            ..JobFilter::default()
        })
        .await
        .unwrap();
    let seeds: HashSet<u64> = jobs.iter().map(|job| job.spec.seed()).collect();
    assert_eq!((jobs.len(), seeds.len()), (10, 10));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_keeps_its_seed(pool: PgPool) {
    let farm = Farm::new(pool);
    let first = farm.hunt("a").await;
    let with_seed = |seed| NewHunt {
        seed: Some(seed),
        ..wish("a")
    };
    let again = farm.store.create_hunt(&with_seed(first.seed), 5).await.unwrap();
    assert_eq!((again.id, again.seed), (first.id, first.seed));
    let error = farm
        .store
        .create_hunt(&with_seed(first.seed + 1), 5)
        .await
        .unwrap_err();
    assert!(
        matches!(error, CreateHuntError::SeedFixed { id, seed } if (id, seed) == (first.id, first.seed)),
        "{error}"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_name_belongs_to_one_space(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt("a").await;
    let other = NewHunt {
        space: BoardSpace::usual(Lot::new(5, 5).unwrap()).unwrap(),
        ..wish("a")
    };
    let error = farm.store.create_hunt(&other, 1).await.unwrap_err();
    assert!(matches!(error, CreateHuntError::NameTaken { .. }), "{error}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn planners_at_once_do_not_plan_twice(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt("a").await;
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let (store, sizing) = (farm.store.clone(), farm.config.sizing);
            tokio::spawn(async move {
                let kinds = [JobKind::Scatter, JobKind::Anneal];
                coordinator::jobs::plan::top_up(&store, &sizing, &kinds, 4)
                    .await
                    .unwrap()
            })
        })
        .collect();
    let mut n_planned = 0;
    for call in calls {
        n_planned += call.await.unwrap();
    }
    assert_eq!(n_planned, 4);
    assert_eq!(farm.count("SELECT next_number FROM hunts").await, 4);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn specifications_come_back_as_they_were_planned(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    farm.submit(batch(session, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    let anneal = NewHunt {
        strategy: Strategy::Anneal,
        priority: 1,
        ..wish("b")
    };
    farm.store.create_hunt(&anneal, 1).await.unwrap();
    farm.plan(1).await;
    let lease = farm.acquire(session, 1).await.remove(0);
    let stored = farm.store.job(lease.job).await.unwrap().unwrap();
    assert_eq!(stored.spec, lease.spec);
    let Some(JobSpec::Anneal(spec)) = lease.spec.boards() else {
        panic!("an annealing hunt has annealing jobs")
    };
    assert_eq!(
        spec.starts().iter().map(Canonical::as_str).collect::<Vec<_>>(),
        [HARDEST]
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn pause_and_cancel_reach_who_holds_a_lease(pool: PgPool) {
    let farm = Farm::new(pool);
    let hunt = farm.hunt_of(2).await;
    let session = farm.join("w").await;
    let lease = farm.acquire(session, 1).await.remove(0);
    assert_eq!(farm.beat_one(session, 1, &lease).await, LeaseAction::Continue);
    assert!(farm.store.pause_hunt(hunt.id).await.unwrap());
    assert!(!farm.store.pause_hunt(hunt.id).await.unwrap());
    assert_eq!(farm.beat_one(session, 2, &lease).await, LeaseAction::Pause);
    assert!(
        farm.acquire(session, 1).await.is_empty(),
        "a paused hunt's jobs wait"
    );
    assert!(farm.store.resume_hunt(hunt.id).await.unwrap());
    assert_eq!(farm.beat_one(session, 3, &lease).await, LeaseAction::Continue);
    assert!(farm.store.cancel_hunt(hunt.id).await.unwrap());
    assert_eq!(farm.beat_one(session, 4, &lease).await, LeaseAction::Cancel);
    farm.store
        .release(&release(session, &lease, ReleaseReason::Cancelled), 5)
        .await
        .unwrap();
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(
        farm.count("SELECT count(*) FROM jobs WHERE state = 'cancelled'")
            .await,
        2
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_of_three_jobs_is_done_when_they_are(pool: PgPool) {
    let farm = Farm::new(pool);
    let budget = Budget {
        n_jobs: Some(3),
        ..Budget::default()
    };
    let hunt = farm
        .store
        .create_hunt(&NewHunt { budget, ..wish("a") }, 1)
        .await
        .unwrap();
    assert_eq!(farm.plan(10).await, 3);
    assert_eq!(farm.plan(10).await, 0);
    let session = farm.join("w").await;
    let state = async || {
        reap(&farm.store, &farm.config, &Waiting::default())
            .await
            .unwrap();
        farm.store.hunt(hunt.id).await.unwrap().unwrap().state
    };
    for lease in farm.acquire(session, 3).await {
        assert_eq!(state().await, HuntState::Running);
        farm.store.complete(&completion(session, &lease)).await.unwrap();
    }
    assert_eq!(state().await, HuntState::Done);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_is_done_when_its_time_is_up_and_its_time_stands_still_in_a_pause(pool: PgPool) {
    let farm = Farm::new(pool);
    let budget = Budget {
        time: Some(Duration::from_mins(10)),
        ..Budget::default()
    };
    let hunt = farm
        .store
        .create_hunt(&NewHunt { budget, ..wish("a") }, 1)
        .await
        .unwrap();
    farm.plan(2).await;
    let session = farm.join("w").await;
    let lease = farm.acquire(session, 1).await.remove(0);
    farm.store.pause_hunt(hunt.id).await.unwrap();
    assert_eq!(farm.store.hunt(hunt.id).await.unwrap().unwrap().ends_at, None);
    farm.store.resume_hunt(hunt.id).await.unwrap();
    sqlx::query("UPDATE hunts SET ends_at = ends_at - interval '595 seconds'")
        .execute(&farm.pool)
        .await
        .unwrap();
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(
        farm.store.hunt(hunt.id).await.unwrap().unwrap().state,
        HuntState::Running
    );
    sqlx::query("UPDATE hunts SET ends_at = ends_at - interval '10 seconds'")
        .execute(&farm.pool)
        .await
        .unwrap();
    // Even before anybody has ended it, no one works for it any more.
    assert_eq!(farm.beat_one(session, 1, &lease).await, LeaseAction::Cancel);
    assert!(farm.acquire(session, 1).await.is_empty());
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(
        farm.store.hunt(hunt.id).await.unwrap().unwrap().state,
        HuntState::Done
    );
    assert_eq!(farm.text("SELECT end_reason FROM hunts").await, "time");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_until_a_par_is_done_when_a_board_of_it_is_stored(pool: PgPool) {
    let farm = Farm::new(pool);
    let budget = Budget {
        until_par: Some(Par::new(50)),
        ..Budget::default()
    };
    let hunt = farm
        .store
        .create_hunt(&NewHunt { budget, ..wish("a") }, 1)
        .await
        .unwrap();
    farm.plan(1).await;
    let session = farm.join("w").await;
    let lease = farm.acquire(session, 1).await.remove(0);
    farm.submit(batch(session, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    let progress = farm.store.hunt_progress(hunt.id).await.unwrap().unwrap();
    assert_eq!(
        (progress.state, progress.best_par),
        (HuntState::Done, Some(Par::new(51)))
    );
    assert_eq!(progress.hardest.as_deref(), Some(HARDEST));
    assert_eq!((progress.n_boards, progress.n_new), (1, 1));
    assert_eq!(farm.beat_one(session, 1, &lease).await, LeaseAction::Cancel);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn higher_priority_is_planned_and_granted_first(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt("low").await;
    farm.plan(2).await;
    let high = farm
        .store
        .create_hunt(
            &NewHunt {
                priority: 5,
                ..wish("high")
            },
            1,
        )
        .await
        .unwrap();
    farm.plan(2).await;
    let session = farm.join("w").await;
    let leases = farm.acquire(session, 3).await;
    assert_eq!(leases.iter().filter(|lease| lease.hunt == high.id).count(), 2);
    assert_eq!(leases.len(), 3);
    let queued = JobFilter {
        state: Some(JobState::Queued),
        limit: 9,
        ..JobFilter::default()
    };
    assert_eq!(farm.store.list_jobs(&queued).await.unwrap().len(), 1);
}
