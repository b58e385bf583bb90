//! Difficulty through the farm: every stored board measured once, claims compared before they are stored.

use std::time::Duration;

use board::cluster::Explorer;
use board::space::{BoardSpace, SpaceFields};
use coordinator::jobs::plan::top_up;
use coordinator::jobs::waiting::Waiting;
use coordinator::measures;
use coordinator::reaper::reap;
use proto::convert::{Completion, JobKind, Lease, LeaseOutcome, NewHunt, Strategy};
use proto::ids::Session;
use sqlx::PgPool;

use crate::fixture::{Farm, HARDEST, space, wish};

const BOARDS: [&str; 4] = [
    HARDEST,
    "oooooooooBooAAoBoooooooooooooooooooo",
    "ooZoooooZoooAAZBoooooBoooooooooooooo",
    "BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE",
];

fn measuring() -> NewHunt {
    let space = BoardSpace::new(SpaceFields {
        vehicles: 1..=18,
        ..space().fields().clone()
    });
    NewHunt {
        space: space.unwrap(),
        strategy: Strategy::Difficulty,
        ..wish("difficulty")
    }
}

async fn farm_of_boards(pool: PgPool) -> Farm {
    let farm = Farm::new(pool);
    let ack = farm.import(&BOARDS.map(str::to_owned)).await;
    assert_eq!(ack.n_inserted, 4);
    farm.store.create_hunt(&measuring(), 7).await.unwrap();
    farm
}

async fn lease(farm: &Farm, session: Session) -> Option<Lease> {
    top_up(&farm.store, &farm.config.sizing, &[JobKind::Difficulty], 1)
        .await
        .unwrap();
    let mut wish = crate::fixture::acquire(session, 1);
    wish.kinds = vec![JobKind::Difficulty];
    let leases = farm.store.grant(&wish, Duration::from_mins(1)).await.unwrap();
    leases.and_then(|mut leases| leases.pop())
}

fn claim(session: Session, lease: &Lease) -> Completion {
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    Completion {
        session,
        job: lease.job,
        token: lease.token,
        counters: result.counters,
        digest: result.digest,
        census: None,
        measures: Some(result.measured),
        cpu: std::time::Duration::ZERO,
    }
}

async fn complete(farm: &Farm, claim: &Completion) -> LeaseOutcome {
    measures::complete(&farm.store, &farm.prover, &farm.config, claim, None)
        .await
        .unwrap()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn every_stored_board_is_measured_once_and_boards_found_later_when_it_is_asked_for_again(pool: PgPool) {
    let farm = farm_of_boards(pool).await;
    let worker = farm.join("w").await;
    let leased = lease(&farm, worker).await.unwrap();
    let claim_of_it = claim(worker, &leased);
    assert_eq!(complete(&farm, &claim_of_it).await, LeaseOutcome::Accepted);
    // Said again, since the answer was lost: the same answer, nothing twice.
    assert_eq!(complete(&farm, &claim_of_it).await, LeaseOutcome::Accepted);
    assert_eq!(farm.store.n_measured().await.unwrap(), 4);
    assert_eq!(
        farm.count("SELECT count(*) FROM board_difficulty d JOIN boards USING (par, canonical)")
            .await,
        4
    );
    assert!(lease(&farm, worker).await.is_none());
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(farm.text("SELECT state FROM hunts").await, "done");

    farm.import(&["BBBoooooooooAAoooooooooooooooooooooo".to_owned()])
        .await;
    farm.store.create_hunt(&measuring(), 7).await.unwrap();
    let leased = lease(&farm, worker).await.unwrap();
    assert_eq!(leased.spec.n_iterations(), 1);
    assert_eq!(
        complete(&farm, &claim(worker, &leased)).await,
        LeaseOutcome::Accepted
    );
    assert_eq!(farm.store.n_measured().await.unwrap(), 5);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_claim_that_is_not_true_is_held_against_the_worker_and_nothing_of_it_is_stored(pool: PgPool) {
    let farm = farm_of_boards(pool).await;
    let liar = farm.join("liar").await;
    let lies: [fn(&mut Completion); 4] = [
        // At least one board of every job is measured again: a lie about all of them never passes.
        |claim| {
            for measured in claim.measures.iter_mut().flatten() {
                measured.difficulty.luck_tenths += 1;
            }
        },
        // One left out, though its cluster is small.
        |claim| claim.measures.as_mut().unwrap().truncate(3),
        |claim| claim.measures.as_mut().unwrap()[0].board_idx = 4,
        |claim| claim.measures.as_mut().unwrap()[0].board_idx = 1,
    ];
    for lie in lies {
        // Strikes are counted, but this test needs more of them than a worker has.
        farm.count("WITH u AS (UPDATE workers SET quarantined_at = NULL, quarantine_reason = NULL RETURNING 1) SELECT count(*) FROM u")
            .await;
        let leased = lease(&farm, liar).await.unwrap();
        let mut claim = claim(liar, &leased);
        lie(&mut claim);
        assert_eq!(complete(&farm, &claim).await, LeaseOutcome::Lost);
        assert_eq!(farm.store.n_measured().await.unwrap(), 0);
    }
    assert_eq!(farm.count("SELECT strikes::bigint FROM workers").await, 4);
    assert_eq!(farm.count("SELECT n_failures::bigint FROM jobs").await, 4);
    assert!(
        farm.text("SELECT detail FROM job_attempts ORDER BY token DESC LIMIT 1")
            .await
            .starts_with("claim refused: ")
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_worker_that_lost_its_lease_cannot_claim_measures(pool: PgPool) {
    let farm = farm_of_boards(pool).await;
    let (slow, quick) = (farm.join("slow").await, farm.join("quick").await);
    let lost = lease(&farm, slow).await.unwrap();
    farm.let_run_out(lost.job).await;
    farm.store.expire(5).await.unwrap();
    let held = lease(&farm, quick).await.unwrap();
    assert_eq!((held.job, held.token > lost.token), (lost.job, true));
    assert_eq!(complete(&farm, &claim(slow, &lost)).await, LeaseOutcome::Lost);
    // A lie of the slow one must not take the job from the quick one either.
    let mut lie = claim(slow, &lost);
    lie.measures.as_mut().unwrap().clear();
    assert_eq!(complete(&farm, &lie).await, LeaseOutcome::Lost);
    assert_eq!(farm.store.n_measured().await.unwrap(), 0);
    assert_eq!(
        complete(&farm, &claim(quick, &held)).await,
        LeaseOutcome::Accepted
    );
    assert_eq!(farm.store.n_measured().await.unwrap(), 4);
    assert_eq!(farm.count("SELECT sum(strikes)::bigint FROM workers").await, 0);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_for_boards_does_not_become_one_that_measures(pool: PgPool) {
    let farm = farm_of_boards(pool).await;
    let hunting = NewHunt {
        strategy: Strategy::Mixed,
        ..measuring()
    };
    assert!(farm.store.create_hunt(&hunting, 7).await.is_err());
    // And a worker that cannot measure gets nothing.
    assert_eq!(farm.plan(1).await, 0);
}
