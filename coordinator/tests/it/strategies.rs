//! Strategies: sweeps that are never repeated, shares that follow yields, boards known without asking the database.

use std::collections::HashSet;

use board::Canonical;
use board::cluster::Explorer;
use board::job::JobSpec;
use coordinator::jobs::plan::top_up;
use coordinator::store::HuntRecord;
use proto::convert::{Aim, Completion, HuntPlan, JobKind, Lease, NewHunt, Strategy, Work};
use proto::ids::Session;
use sqlx::PgPool;

use crate::fixture::{Farm, HARDEST, acquire, batch, completion, found, some_boards, stated, wish};

const KINDS: [JobKind; 3] = [JobKind::Scatter, JobKind::Anneal, JobKind::Sweep];

async fn hunt(farm: &Farm, strategy: Strategy, plan: HuntPlan) -> HuntRecord {
    let wish = NewHunt {
        strategy,
        plan,
        ..wish("a")
    };
    farm.store.create_hunt(&wish, 1).await.unwrap()
}

async fn plan(farm: &Farm, n_jobs: u32) -> u64 {
    top_up(&farm.store, &farm.config.sizing, &KINDS, n_jobs)
        .await
        .unwrap()
}

async fn lease(farm: &Farm, session: Session) -> Lease {
    plan(farm, 1).await;
    let mut wish = acquire(session, 1);
    wish.kinds = KINDS.to_vec();
    let leases = farm.store.grant(&wish, crate::fixture::TTL).await.unwrap();
    leases.unwrap().remove(0)
}

fn swept(lease: &Lease) -> Vec<Canonical> {
    match &lease.spec {
        Work::Boards(JobSpec::Sweep(spec)) => spec.starts().to_vec(),
        other => panic!("a {} job", other.kind()),
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_are_swept_hardest_first_each_position_once_and_then_more_are_scattered(pool: PgPool) {
    let farm = Farm::new(pool);
    let boards: Vec<String> = some_boards().into_iter().map(|board| board.canonical).collect();
    farm.import(&boards).await;
    farm.import(&[HARDEST.to_owned()]).await;
    hunt(&farm, Strategy::Sweep, HuntPlan::default()).await;
    // A worker each: nobody gets many more jobs than it has slots.
    let first = lease(&farm, farm.join("w").await).await;
    assert_eq!(swept(&first)[0].as_str(), HARDEST);
    let mut all: Vec<Canonical> = swept(&first);
    let mut firsts = Vec::new();
    loop {
        let next = lease(&farm, farm.join(&format!("w{}", firsts.len())).await).await;
        if let Work::Boards(JobSpec::Scatter(_)) = next.spec {
            break;
        }
        let starts = swept(&next);
        firsts.push(starts[0].clone());
        all.extend(starts);
    }
    // Each itself, and from other positions of its cluster; all are positions of boards that were there.
    let distinct: HashSet<&Canonical> = all.iter().collect();
    assert!(
        boards
            .iter()
            .all(|board| distinct.iter().any(|start| start.as_str() == board))
    );
    let of_hardest = all
        .iter()
        .filter(|start| found(start.as_str()).canonical.as_str() == HARDEST);
    let of_hardest: Vec<&Canonical> = of_hardest.collect();
    assert_eq!(of_hardest.len(), 24, "as many passes as there may be");
    let n_positions = of_hardest.iter().collect::<HashSet<_>>().len();
    assert!(n_positions > 12, "{n_positions} of 4,780 positions");
    assert_eq!(all.len(), 24 * (boards.len() + 1));
    // No other is within two slides of the hardest: the next job begins with it again, from another position.
    assert_eq!(found(firsts[0].as_str()).canonical.as_str(), HARDEST);
    assert_ne!(firsts[0].as_str(), HARDEST);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_sweep_is_held_to_the_changes_it_was_to_try_and_to_what_it_handed_in(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.import(&[HARDEST.to_owned()]).await;
    hunt(&farm, Strategy::Sweep, HuntPlan::default()).await;
    let session = farm.join("w").await;
    let lease = lease(&farm, session).await;
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    let boards: Vec<_> = result.found.iter().map(Into::into).collect();
    let honest = Completion {
        counters: result.counters,
        digest: result.digest,
        ..completion(session, &lease)
    };
    farm.submit(batch(session, &lease, boards[1..].to_vec()))
        .await
        .unwrap();
    let fault = farm.store.fault_of_claim(&honest).await.unwrap().unwrap();
    assert!(fault.contains("handed in"), "{fault}");
    farm.submit(batch(session, &lease, boards[..1].to_vec()))
        .await
        .unwrap();
    assert_eq!(farm.store.fault_of_claim(&honest).await.unwrap(), None);
    let mut hasty = honest.clone();
    hasty.counters.iterations -= 1;
    let fault = farm.store.fault_of_claim(&hasty).await.unwrap().unwrap();
    assert!(fault.contains("iterations"), "{fault}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_of_a_sweep_that_was_given_up_are_swept_by_another(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.import(&[HARDEST.to_owned()]).await;
    hunt(&farm, Strategy::Sweep, HuntPlan::default()).await;
    let session = farm.join("w").await;
    let first = lease(&farm, session).await;
    sqlx::query("UPDATE jobs SET state = 'parked', worker_id = NULL, expires_at = NULL, ended_at = now()")
        .execute(&farm.pool)
        .await
        .unwrap();
    let second = lease(&farm, session).await;
    assert_eq!(swept(&first), swept(&second));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_brings_more_for_its_time_gets_more_jobs_and_nothing_gets_none(pool: PgPool) {
    let farm = Farm::new(pool);
    let mix = HuntPlan::new(Aim::Broad, &[Strategy::Scatter, Strategy::Sweep]);
    hunt(&farm, Strategy::Mixed, mix).await;
    let session = farm.join("w").await;
    // The first job of an empty database scatters, whatever is mixed. It finds something, and the sweep after it nothing.
    let first = lease(&farm, session).await;
    assert!(matches!(first.spec, Work::Boards(JobSpec::Scatter(_))));
    farm.submit(batch(session, &first, some_boards())).await.unwrap();
    farm.store.complete(&completion(session, &first)).await.unwrap();
    let mut n_swept = 0;
    while n_swept == 0 {
        let lease = lease(&farm, session).await;
        if let Work::Boards(JobSpec::Sweep(_)) = lease.spec {
            n_swept += 1;
        } else {
            farm.submit(batch(session, &lease, vec![stated(HARDEST)]))
                .await
                .unwrap();
        }
        farm.store.complete(&completion(session, &lease)).await.unwrap();
    }
    plan(&farm, 60).await;
    let count = async |arm: &'static str| {
        farm.count(match arm {
            "sweep" => "SELECT count(*) FROM jobs WHERE arm = 'sweep' AND state = 'queued'",
            _ => "SELECT count(*) FROM jobs WHERE arm = 'scatter' AND state = 'queued'",
        })
        .await
    };
    let (n_scatter, n_sweep) = (count("scatter").await, count("sweep").await);
    assert!(
        n_scatter > 3 * n_sweep && n_scatter + n_sweep == 60,
        "{n_scatter} {n_sweep}"
    );
    assert_eq!(
        farm.count("SELECT sum(n_new)::bigint FROM job_yields").await,
        farm.count("SELECT count(*) FROM boards").await
    );
    assert_eq!(
        farm.count("SELECT sum(cpu_ms)::bigint FROM jobs WHERE state = 'done' AND arm = 'sweep'")
            .await,
        2_000
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_board_that_is_stored_is_known_without_asking_the_database(pool: PgPool) {
    let farm = Farm::new(pool.clone());
    let (session, lease) = farm.leased().await;
    let boards = some_boards();
    let first = farm.submit(batch(session, &lease, boards.clone())).await.unwrap();
    assert_eq!(first.n_inserted as usize, boards.len());
    let keys = |boards: &[proto::convert::StatedBoard]| {
        let pars: Vec<i16> = boards
            .iter()
            .map(|board| i16::try_from(board.par).unwrap())
            .collect();
        let spellings: Vec<String> = boards.iter().map(|board| board.canonical.clone()).collect();
        (pars, spellings)
    };
    // Take the rows away behind its back: it still knows them, and another coordinator does not.
    sqlx::query("DELETE FROM boards").execute(&pool).await.unwrap();
    let (pars, spellings) = keys(&boards);
    let all: Vec<usize> = (0..boards.len()).collect();
    assert_eq!(farm.store.known(&pars, &spellings).await.unwrap(), all);
    let another = coordinator::Store::from_pool(pool.clone());
    assert!(another.known(&pars, &spellings).await.unwrap().is_empty());
    let wrong: Vec<i16> = pars.iter().map(|par| par + 1).collect();
    assert!(farm.store.known(&wrong, &spellings).await.unwrap().is_empty());
}
