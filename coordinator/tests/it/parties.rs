//! A token is one party, whatever names its workers have; and who fails what others carry out is found out.

use std::time::Duration;

use board::census::{Keep, Scope};
use board::job::{Counters, JobDigest};
use board::space::{BoardSpace, SpaceFields};
use coordinator::config::Auditing;
use coordinator::jobs::plan::top_up;
use coordinator::store::{Sampling, Settled, WorkerAction};
use proto::convert::{
    CensusTerms, Completion, JobKind, Lease, LeaseOutcome, NewHunt, ReleaseReason, Strategy,
};
use proto::ids::{JobId, Session};
use sqlx::PgPool;

use crate::fixture::{Farm, TTL, acquire, completion, release, wish};

/// Every claim is run again.
const ALWAYS: Sampling<'static> = Sampling {
    auditing: &Auditing {
        share: 1.0,
        new_share: 1.0,
        n_new: 3,
        suspect_share: 1.0,
    },
    lot: 0.0,
};

impl Farm {
    async fn take(&self, session: Session) -> Option<Lease> {
        self.acquire(session, 1).await.pop()
    }

    /// Claims a job with this digest; a claim that fits together is not what is tried here.
    async fn claim(&self, session: Session, lease: &Lease, digest: u8) {
        let claim = Completion {
            digest: JobDigest::from_bytes([digest; 16]),
            ..completion(session, lease)
        };
        let taken = self.store.complete_sampled(&claim, &[], Some(&ALWAYS)).await;
        assert_eq!(taken.unwrap(), LeaseOutcome::Accepted);
    }

    /// Takes what there is and claims it so; what was compared.
    async fn work(&self, session: Session, digest: u8) -> Settled {
        let lease = self.take(session).await.expect("there is something to do");
        self.claim(session, &lease, digest).await;
        self.store.settle(lease.job, 3).await.unwrap()
    }

    async fn fail(&self, session: Session, reason: ReleaseReason) -> JobId {
        let lease = self.take(session).await.expect("there is something to do");
        let given_back = release(session, &lease, reason);
        let taken = self.store.release(&given_back, self.config.max_failures).await;
        assert_eq!(taken.unwrap(), LeaseOutcome::Accepted);
        lease.job
    }

    async fn run(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    async fn quarantine(&self, session: Session) {
        let id = self.store.worker(session).await.unwrap().unwrap().id;
        let action = WorkerAction::Quarantine("it lies".to_owned());
        assert!(self.store.act_on_worker(id, &action).await.unwrap());
    }

    async fn is_quarantined(&self, session: Session) -> bool {
        self.store.worker(session).await.unwrap().unwrap().is_quarantined
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn workers_of_one_token_do_not_confirm_each_other_while_another_party_is_there(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (liar, accomplice) = (farm.join_with("a", "x").await, farm.join_with("b", "x").await);
    let honest = farm.join_with("c", "y").await;
    assert_eq!(farm.work(liar, 1).await, Settled::Nothing);
    assert_eq!(farm.count("SELECT count(*) FROM audits").await, 1);
    assert!(farm.take(accomplice).await.is_none(), "it is of the same token");
    assert_eq!(farm.work(honest, 2).await, Settled::Disputed);
    // Two parties contradict each other. There is no third, so that those that are there are asked; but however many names
    // a token has, it has one voice.
    assert_eq!(farm.work(accomplice, 1).await, Settled::Disputed);
    assert_eq!(farm.count("SELECT sum(strikes)::bigint FROM workers").await, 0);
    let third = farm.join_with("d", "z").await;
    let again = farm.join_with("e", "x").await;
    assert!(farm.take(again).await.is_none());
    assert_eq!(farm.work(third, 2).await, Settled::Disproved);
    assert_eq!(
        farm.text("SELECT string_agg(name || strikes, ' ' ORDER BY name) FROM workers")
            .await,
        "a1 b1 c0 d0 e0"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn where_a_token_is_all_there_is_its_workers_check_each_other(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (one, two, three) = (
        farm.join_with("a", "x").await,
        farm.join_with("b", "x").await,
        farm.join_with("c", "x").await,
    );
    farm.work(one, 1).await;
    assert_eq!(farm.work(two, 2).await, Settled::Disputed);
    assert_eq!(farm.work(three, 2).await, Settled::Disproved);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn nobody_waits_for_a_party_that_is_away_or_does_not_come(pool: PgPool) {
    let ways = [
        "UPDATE workers SET gone_at = now() WHERE credential = 'y'",
        "UPDATE workers SET last_seen = now() - interval '3 minutes' WHERE credential = 'y'",
        "UPDATE workers SET directive = 'drain' WHERE credential = 'y'",
        "UPDATE workers SET engine = 'another' WHERE credential = 'y'",
        // It is there, and its slots are full, or it does not know such jobs.
        "WITH old AS (UPDATE jobs SET created_at = now() - interval '1 hour')
            UPDATE job_attempts SET ended_at = now() - interval '1 hour' WHERE outcome = 'done'",
        "UPDATE workers SET quarantined_at = now(), quarantine_reason = 'it lies' WHERE credential = 'y'",
    ];
    let farm = Farm::new(pool);
    farm.hunt("a").await;
    for way in ways {
        farm.run("UPDATE jobs SET state = 'cancelled', ended_at = now() WHERE state = 'queued'")
            .await;
        farm.run("UPDATE workers SET gone_at = now()").await;
        farm.plan(1).await;
        let (one, two) = (farm.join_with("a", "x").await, farm.join_with("b", "x").await);
        farm.join_with("c", "y").await;
        farm.work(one, 1).await;
        assert!(farm.take(two).await.is_none(), "{way}");
        farm.run(way).await;
        assert!(farm.take(two).await.is_some(), "{way}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn the_two_counts_of_a_range_are_made_by_two_parties(pool: PgPool) {
    let farm = Farm::new(pool);
    let fields = BoardSpace::usual("4x4".parse().unwrap())
        .unwrap()
        .fields()
        .clone();
    let census = NewHunt {
        space: BoardSpace::new(SpaceFields {
            walls: 0..=0,
            exit_row: 1,
            ..fields
        })
        .unwrap(),
        strategy: Strategy::Census,
        census: Some(CensusTerms {
            scope: Scope::Standard,
            keep: Keep::Minimal,
            count_unsolvable: false,
            repeats_per_mille: 1_000,
        }),
        ..wish("census")
    };
    farm.store.create_hunt(&census, 7).await.unwrap();
    top_up(&farm.store, &farm.config.sizing, &[JobKind::Census], 1)
        .await
        .unwrap();
    assert_eq!(farm.count("SELECT count(*) FROM jobs").await, 2);
    let take = async |session: Session| {
        let mut wish = acquire(session, 2);
        wish.kinds = vec![JobKind::Census];
        farm.store.grant(&wish, TTL).await.unwrap().unwrap()
    };
    let (one, two, other) = (
        farm.join_with("a", "x").await,
        farm.join_with("b", "x").await,
        farm.join_with("c", "y").await,
    );
    let first = take(one).await;
    assert_eq!(first.len(), 1, "not both, asked for in one breath");
    assert!(take(two).await.is_empty(), "it is of the same token");
    let second = take(other).await;
    assert_eq!(second.len(), 1);
    assert_ne!(second[0].job, first[0].job);
    // Lost and done again, the first count is not for who makes the second one.
    let given_back = release(one, &first[0], ReleaseReason::Drain);
    farm.store.release(&given_back, 5).await.unwrap();
    assert!(take(other).await.is_empty());
    assert_eq!(take(two).await[0].job, first[0].job);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_token_of_which_three_workers_are_in_quarantine_is_quarantined_until_an_operator_trusts_it(
    pool: PgPool,
) {
    let farm = Farm::new(pool);
    farm.hunt_of(3).await;
    let other = farm.join_with("other", "y").await;
    let fourth = farm.join_with("w4", "x").await;
    let mut caught = Vec::new();
    for name in ["w1", "w2", "w3"] {
        let session = farm.join_with(name, "x").await;
        assert!(!farm.is_quarantined(session).await, "{name}");
        assert!(
            !farm.is_quarantined(fourth).await,
            "one bad machine stops no other"
        );
        farm.quarantine(session).await;
        // Under the same name it does not come back, nor is it counted twice.
        let again = farm.join_with(name, "x").await;
        assert!(farm.is_quarantined(again).await);
        farm.quarantine(again).await;
        caught.push(session);
    }
    assert!(farm.is_quarantined(fourth).await);
    let fifth = farm.join_with("w5", "x").await;
    assert!(farm.is_quarantined(fifth).await, "a new name is no way out");
    assert!(farm.take(fifth).await.is_none());
    let told = "SELECT quarantine_reason FROM workers WHERE name = 'w5'";
    assert_eq!(
        farm.text(told).await,
        "token x: 3 of its workers are in quarantine (w1, w2, w3)"
    );
    assert!(!farm.is_quarantined(other).await);
    assert!(farm.take(other).await.is_some());

    let id = farm.store.worker(fifth).await.unwrap().unwrap().id;
    assert!(farm.store.act_on_worker(id, &WorkerAction::Trust).await.unwrap());
    for session in [fourth, fifth, farm.join_with("w6", "x").await] {
        assert!(!farm.is_quarantined(session).await);
    }
    for session in caught {
        assert!(
            farm.is_quarantined(session).await,
            "it is there for what it did itself"
        );
    }
    assert!(farm.take(fifth).await.is_some());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_a_quarantined_token_claimed_under_any_name_is_run_again(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let former = farm.join_with("former", "x").await;
    let lease = farm.take(former).await.unwrap();
    let claim = completion(former, &lease);
    farm.store.complete(&claim).await.unwrap();
    farm.store.leave(former).await.unwrap();
    for name in ["w1", "w2", "w3"] {
        assert_eq!(farm.count("SELECT count(*) FROM audits").await, 0);
        let session = farm.join_with(name, "x").await;
        farm.quarantine(session).await;
    }
    assert_eq!(farm.count("SELECT count(*) FROM audits").await, 1);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn who_fails_what_others_carry_out_gets_no_more_and_parks_nothing(pool: PgPool) {
    for reason in [ReleaseReason::Error, ReleaseReason::Unsupported] {
        let farm = Farm::new(pool.clone());
        farm.run("DELETE FROM job_paces").await;
        let hunt = format!("{reason:?}");
        farm.hunt(&hunt).await;
        let bad = farm.join_with(&format!("bad {hunt}"), "x").await;
        let good = farm.join_with("good", "y").await;
        for n_failed in 1..=5 {
            assert!(!farm.is_quarantined(bad).await, "{n_failed}");
            farm.plan(1).await;
            let failed = farm.fail(bad, reason).await;
            assert!(farm.take(bad).await.is_none(), "it failed here");
            let cousin = farm.join_with("cousin", "x").await;
            assert!(farm.take(cousin).await.is_none(), "it failed with this token");
            let lease = farm.take(good).await.unwrap();
            assert_eq!(lease.job, failed);
            farm.store.complete(&completion(good, &lease)).await.unwrap();
        }
        assert!(farm.is_quarantined(bad).await);
        assert!(!farm.is_quarantined(good).await);
    }
    let farm = Farm::new(pool);
    assert_eq!(
        farm.count("SELECT count(*) FROM jobs WHERE state = 'parked'")
            .await,
        0
    );
    let reason = farm
        .text("SELECT quarantine_reason FROM workers WHERE name LIKE 'bad E%'")
        .await;
    assert_eq!(
        reason,
        "it failed 5 jobs in a row that others carried out; the last: failed because"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_job_of_its_own_forgives_and_leases_lost_at_once_count_once(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt("a").await;
    let (bad, good) = (farm.join("bad").await, farm.join("good").await);
    let marks = "SELECT n_lone_failures::bigint FROM workers WHERE name = 'bad'";
    farm.plan(3).await;
    let leases = farm.acquire(bad, 3).await;
    assert_eq!(leases.len(), 3);
    for lease in &leases {
        farm.let_run_out(lease.job).await;
    }
    farm.store.expire(5).await.unwrap();
    for lease in farm.acquire(good, 3).await {
        farm.store.complete(&completion(good, &lease)).await.unwrap();
    }
    assert_eq!(farm.count(marks).await, 1, "a machine that crashed once");
    farm.plan(1).await;
    farm.fail(bad, ReleaseReason::Error).await;
    let lease = farm.take(good).await.unwrap();
    farm.store.complete(&completion(good, &lease)).await.unwrap();
    assert_eq!(farm.count(marks).await, 2);
    farm.plan(1).await;
    let lease = farm.take(bad).await.unwrap();
    farm.store.complete(&completion(bad, &lease)).await.unwrap();
    assert_eq!(farm.count(marks).await, 0);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_job_that_fails_everybody_is_parked_and_nobody_is_quarantined(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let workers = [
        farm.join_with("a", "x").await,
        farm.join_with("b", "x").await,
        farm.join_with("c", "y").await,
        farm.join_with("d", "z").await,
    ];
    let mut n_failed = 0;
    // Each party once, then each worker, then whoever comes: nothing waits for ever.
    for _ in 0..2 {
        for session in workers {
            if let Some(lease) = farm.take(session).await {
                let given_back = release(session, &lease, ReleaseReason::Error);
                farm.store.release(&given_back, 5).await.unwrap();
                n_failed += 1;
            }
        }
    }
    assert_eq!(n_failed, 5);
    assert_eq!(farm.text("SELECT state FROM jobs").await, "parked");
    assert_eq!(
        farm.count("SELECT count(*) FROM workers WHERE quarantined_at IS NOT NULL OR n_lone_failures > 0")
            .await,
        0
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_worker_alone_tries_again_and_so_does_one_that_nobody_helps(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let alone = farm.join_with("a", "x").await;
    let failed = farm.fail(alone, ReleaseReason::Error).await;
    assert_eq!(farm.fail(alone, ReleaseReason::Error).await, failed);
    let idle = farm.join_with("b", "y").await;
    assert!(farm.take(alone).await.is_none());
    farm.run("UPDATE job_attempts SET ended_at = ended_at - interval '21 minutes'")
        .await;
    assert!(
        farm.take(alone).await.is_some(),
        "the other one did not come for it"
    );
    assert!(!farm.is_quarantined(idle).await);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn who_waits_for_others_to_try_again_is_given_something_new_meanwhile(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (bad, _good) = (farm.join_with("a", "x").await, farm.join_with("b", "y").await);
    let failed = farm.fail(bad, ReleaseReason::Error).await;
    assert_eq!(farm.plan(1).await, 1, "what failed is not what it waits for");
    assert_ne!(farm.take(bad).await.unwrap().job, failed);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn whether_a_claim_is_audited_is_settled_when_it_is_taken(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (one, _two) = (farm.join("a").await, farm.join("b").await);
    let lease = farm.take(one).await.unwrap();
    // The coordinator dies as soon as the claim is committed: there is no second step that could be missed.
    farm.claim(one, &lease, 1).await;
    assert_eq!(farm.count("SELECT count(*) FROM audits").await, 1);
    farm.claim(one, &lease, 1).await;
    assert_eq!(
        farm.count("SELECT count(*) FROM audits").await,
        1,
        "said again, it draws no second lot"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn jobs_are_not_blown_up_by_claims_made_at_once(pool: PgPool) {
    let farm = Farm::new(pool);
    let hunt = farm.hunt("a").await;
    let (liar, honest) = (farm.join_with("a", "x").await, farm.join_with("b", "y").await);
    let size = "SELECT n_work FROM jobs WHERE state = 'queued' ORDER BY id DESC LIMIT 1";
    let took = async |n_jobs: usize, session: Session, seconds: f64| {
        for _ in 0..n_jobs {
            farm.plan(1).await;
            let lease = farm.take(session).await.unwrap();
            sqlx::query(
                "UPDATE job_attempts SET started_at = now() - make_interval(secs => $1) WHERE job_id = $2",
            )
            .bind(seconds)
            .bind(lease.job.get())
            .execute(&farm.pool)
            .await
            .unwrap();
            let claim = Completion {
                counters: Counters {
                    iterations: 1 << 40,
                    ..Counters::default()
                },
                ..completion(session, &lease)
            };
            farm.store.complete(&claim).await.unwrap();
        }
    };
    // Jobs of the first size take a second, which is what they should take.
    took(2, honest, 1.0).await;
    farm.plan(1).await;
    let first = farm.count(size).await;
    took(12, liar, 0.0).await;
    farm.plan(1).await;
    let now = farm.count(size).await;
    assert!(now <= first + first / 10, "{now} after {first}");

    // What a worker in quarantine measured is nothing, though nobody else measured anything.
    farm.run("DELETE FROM job_paces WHERE party = 'y'").await;
    let mut tx = farm.store.begin().await.unwrap();
    assert!(tx.measured(hunt.id, JobKind::Scatter).await.unwrap().is_some());
    tx.commit().await.unwrap();
    farm.quarantine(liar).await;
    let mut tx = farm.store.begin().await.unwrap();
    assert_eq!(tx.measured(hunt.id, JobKind::Scatter).await.unwrap(), None);
    tx.commit().await.unwrap();
    assert!(farm.config.sizing.target <= Duration::from_secs(1));
}
