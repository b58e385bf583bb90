//! Censuses through the farm: every range counted once, by whoever is there, and the published counts at the end.

use std::time::Duration;

use board::Par;
use board::census::{Keep, Scope};
use board::cluster::Explorer;
use board::space::{BoardSpace, SpaceFields};
use coordinator::config::Sizing;
use coordinator::jobs::census::split;
use coordinator::jobs::plan::top_up;
use coordinator::jobs::waiting::Waiting;
use coordinator::reaper::reap;
use coordinator::store::{HuntRecord, RangeToSplit, Whole};
use proto::convert::{
    Batch, CensusTerms, Completion, JobKind, Lease, LeaseOutcome, NewHunt, StatedBoard, Strategy,
};
use proto::ids::{BatchId, Session};
use sqlx::PgPool;
use uuid::Uuid;

use crate::fixture::{Farm, wish};

fn sizing() -> Sizing {
    Sizing {
        target: Duration::from_millis(200),
        n_shards: 3,
        max_states: 1_000_000,
    }
}

fn census(lot: &str, row: u8, walls: u8, terms: CensusTerms) -> NewHunt {
    let fields = BoardSpace::usual(lot.parse().unwrap()).unwrap().fields().clone();
    let space = BoardSpace::new(SpaceFields {
        exit_row: row,
        walls: 0..=walls,
        ..fields
    });
    NewHunt {
        space: space.unwrap(),
        strategy: Strategy::Census,
        census: Some(terms),
        ..wish("census")
    }
}

const TERMS: CensusTerms = CensusTerms {
    scope: Scope::Standard,
    keep: Keep::Minimal,
    count_unsolvable: false,
    repeats_per_mille: 100,
};

async fn lease(farm: &Farm, session: Session) -> Option<Lease> {
    top_up(&farm.store, &sizing(), &[JobKind::Census], 1)
        .await
        .unwrap();
    let mut wish = crate::fixture::acquire(session, 1);
    wish.kinds = vec![JobKind::Census];
    let leases = farm.store.grant(&wish, Duration::from_mins(1)).await.unwrap();
    leases.and_then(|mut leases| leases.pop())
}

/// Carries a leased range out as a worker does.
async fn carry_out(farm: &Farm, session: Session, lease: &Lease) -> LeaseOutcome {
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    let batch = Batch {
        session,
        id: BatchId::new(Uuid::new_v4()),
        job: lease.job,
        token: lease.token,
        boards: result.found.iter().map(StatedBoard::from).collect(),
        jams: Vec::new(),
        known: Vec::new(),
    };
    let ack = farm.submit(batch).await.unwrap();
    assert_eq!(ack.rejected, []);
    let claim = Completion {
        session,
        job: lease.job,
        token: lease.token,
        counters: result.counters,
        digest: result.digest,
        census: result.census,
        measures: None,
        cpu: Duration::ZERO,
    };
    farm.store.complete(&claim).await.unwrap()
}

async fn count_all(farm: &Farm, workers: &[Session]) {
    for turn in 0.. {
        let session = workers[turn % workers.len()];
        let Some(lease) = lease(farm, session).await else {
            return;
        };
        assert_eq!(carry_out(farm, session, &lease).await, LeaseOutcome::Accepted);
    }
}

async fn totals(farm: &Farm, hunt: &HuntRecord) -> (u64, u64, usize) {
    let totals = farm.store.census_totals(hunt.id).await.unwrap();
    let coverage = farm.store.census_coverage(hunt.id).await.unwrap().unwrap();
    assert_eq!(coverage.missing, "{}");
    assert_eq!(
        (coverage.n_counted, coverage.n_overlapping),
        (coverage.n_units, 0)
    );
    assert_eq!(coverage.n_disputed, 0);
    let sum = |of: fn(&coordinator::store::CensusTotal) -> u64| totals.iter().map(of).sum();
    let largest = totals.iter().rposition(|total| total.minimal > 0).unwrap();
    (sum(|total| total.solvable), sum(|total| total.minimal), largest)
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_census_of_4x4_through_the_farm_gives_the_published_counts(pool: PgPool) {
    let farm = Farm::new(pool);
    let hunt = farm
        .store
        .create_hunt(&census("4x4", 1, 0, TERMS), 7)
        .await
        .unwrap();
    let workers = [farm.join("one").await, farm.join("two").await];
    count_all(&farm, &workers).await;
    assert_eq!(totals(&farm, &hunt).await, (493, 32, 7));
    assert_eq!(farm.count("SELECT count(*) FROM boards").await, 32);
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(farm.text("SELECT state FROM hunts").await, "done");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_census_of_5x5_survives_lost_workers_and_split_ranges(pool: PgPool) {
    count_with_losses(pool, 0, (62_106, 1_730, 20)).await;
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_census_of_5x5_with_walls_survives_lost_workers_and_split_ranges(pool: PgPool) {
    count_with_losses(pool, 1, (831_255, 6_041, 21)).await;
}

/// Counts 5x5 with up to so many walls while every third range is lost; it must come to this many solvable clusters,
/// minimal ones, and this par.
async fn count_with_losses(pool: PgPool, walls: u8, expected: (u64, u64, usize)) {
    let farm = Farm::new(pool);
    // Ranges are sized by the time they take, so that there may be as few as fifty; of these enough are counted twice.
    let terms = CensusTerms {
        repeats_per_mille: 400,
        ..TERMS
    };
    let hunt = farm
        .store
        .create_hunt(&census("5x5", 2, walls, terms), 7)
        .await
        .unwrap();
    let workers = [farm.join("one").await, farm.join("two").await];
    let mut n_split = 0;
    let mut n_idle = 0;
    for turn in 0.. {
        let session = workers[turn % 2];
        // One may have nothing to do while the other has: second counts of what the first made.
        let Some(mut held) = lease(&farm, session).await else {
            n_idle += 1;
            if n_idle == workers.len() {
                break;
            }
            continue;
        };
        n_idle = 0;
        // Every third range is lost with its worker, twice over, so that it is cut in two.
        if turn % 3 == 0 {
            for _ in 0..2 {
                farm.let_run_out(held.job).await;
                farm.store.expire(5).await.unwrap();
                // Boards of a lost lease are facts; the claim is not taken.
                assert_eq!(carry_out(&farm, session, &held).await, LeaseOutcome::Lost);
                if let Some(again) = lease(&farm, session).await {
                    held = again;
                }
            }
            farm.let_run_out(held.job).await;
            farm.store.expire(5).await.unwrap();
            for range in farm.store.ranges_to_split().await.unwrap() {
                n_split += u32::from(split(&farm.store, range, &sizing()).await.unwrap());
            }
        } else {
            assert_eq!(carry_out(&farm, session, &held).await, LeaseOutcome::Accepted);
        }
    }
    assert!(n_split > 0, "no range was split");
    assert_eq!(totals(&farm, &hunt).await, expected);
    assert!(
        farm.count("SELECT count(*) FROM census_ranges WHERE verdict = 'verified'")
            .await
            > 0
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_second_count_that_differs_is_disputed_and_no_coverage(pool: PgPool) {
    let farm = Farm::new(pool);
    let terms = CensusTerms {
        repeats_per_mille: 1_000,
        ..TERMS
    };
    let hunt = farm
        .store
        .create_hunt(&census("4x4", 1, 0, terms), 7)
        .await
        .unwrap();
    let (honest, liar) = (farm.join("honest").await, farm.join("liar").await);
    let first = lease(&farm, honest).await.unwrap();
    assert_eq!(carry_out(&farm, honest, &first).await, LeaseOutcome::Accepted);
    // The twin of what the honest one counted goes to the other.
    let twin = lease(&farm, liar).await.unwrap();
    assert_eq!(twin.spec, first.spec);
    let result = twin.spec.boards().unwrap().run(&mut Explorer::new());
    let mut counts = result.census.unwrap();
    counts.layouts += 1;
    let claim = Completion {
        session: liar,
        job: twin.job,
        token: twin.token,
        counters: result.counters,
        digest: board::job::JobDigest::from_bytes([1; 16]),
        census: Some(counts),
        measures: None,
        cpu: Duration::ZERO,
    };
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Accepted);
    let coverage = farm.store.census_coverage(hunt.id).await.unwrap().unwrap();
    assert!(coverage.n_disputed > 0);
    assert_eq!(
        (coverage.n_disputed, coverage.n_verified),
        (coverage.n_counted, 0)
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_second_count_goes_to_another_worker_while_there_is_one(pool: PgPool) {
    let farm = Farm::new(pool);
    let terms = CensusTerms {
        repeats_per_mille: 1_000,
        ..TERMS
    };
    farm.store
        .create_hunt(&census("4x4", 1, 0, terms), 7)
        .await
        .unwrap();
    let (one, two) = (farm.join("one").await, farm.join("two").await);
    let first = lease(&farm, one).await.unwrap();
    let next = lease(&farm, one).await.unwrap();
    assert_ne!(next.spec, first.spec, "its own range was given to it again");
    farm.store.leave(two).await.unwrap();
    let alone = lease(&farm, one).await.unwrap();
    assert!([&first.spec, &next.spec].contains(&&alone.spec));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_census_job_without_counts_is_not_taken(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.store
        .create_hunt(&census("4x4", 1, 0, TERMS), 7)
        .await
        .unwrap();
    let session = farm.join("one").await;
    let lease = lease(&farm, session).await.unwrap();
    let claim = crate::fixture::completion(session, &lease);
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Lost);
    let range = RangeToSplit {
        job: lease.job,
        hunt: lease.hunt,
    };
    assert!(
        !split(&farm.store, range, &sizing()).await.unwrap(),
        "a leased range was split"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hunt_is_graded_by_a_census_of_the_same_database(pool: PgPool) {
    let farm = Farm::new(pool);
    let space = BoardSpace::usual("4x4".parse().unwrap()).unwrap();
    let hunted = NewHunt {
        space: space.clone(),
        strategy: Strategy::Scatter,
        ..wish("hunted")
    };
    let hunt = farm.store.create_hunt(&hunted, 1).await.unwrap();
    farm.plan(1).await;
    let session = farm.join("w").await;
    let leased = farm.acquire(session, 1).await.remove(0);
    let result = leased.spec.boards().unwrap().run(&mut Explorer::new());
    let boards = result.found.iter().map(StatedBoard::from).collect();
    farm.submit(crate::fixture::batch(session, &leased, boards))
        .await
        .unwrap();
    farm.store
        .complete(&crate::fixture::completion(session, &leased))
        .await
        .unwrap();
    farm.store.cancel_hunt(hunt.id).await.unwrap();
    assert_eq!(farm.store.whole(&space).await.unwrap(), None);
    assert!(!farm.store.is_complete(&space, Par::new(1)).await.unwrap());

    let counted = farm
        .store
        .create_hunt(&census("4x4", 1, 0, TERMS), 7)
        .await
        .unwrap();
    count_all(&farm, &[session]).await;
    let (whole, counts) = farm.store.whole(&space).await.unwrap().unwrap();
    assert_eq!(whole, Whole::CensusOfMinimal(counted.id));
    assert_eq!(counts.iter().map(|(_, n)| n).sum::<u64>(), 32);
    assert_eq!(counts.last().unwrap().0, Par::new(7));
    // What the hunt found first, by its own account; on 4x4 a minimal board has nothing behind its hero and no full lane.
    let found = farm.store.found_by_hunt(&hunt, true).await.unwrap();
    for (par, there_are) in &counts {
        let expected = result
            .found
            .iter()
            .filter(|found| found.par == *par && found.minimal == Some(true))
            .count();
        let graded = found.iter().find(|of| of.par == *par).map_or(0, |of| of.n_found);
        assert_eq!(graded as usize, expected, "par {par}");
        assert!(graded <= *there_are, "par {par}: {graded} of {there_are}");
    }
    assert!(found.len() > 3, "{found:?}");
    assert!(farm.store.is_complete(&space, Par::new(1)).await.unwrap());
    let all = farm.store.found_by_hunt(&hunt, false).await.unwrap();
    assert_eq!(
        all.iter().map(|of| of.n_found).sum::<u64>() as usize,
        result.found.len()
    );
    let whole_time = farm
        .store
        .cpu_until(hunt.id, all[0].last_at + Duration::from_hours(1))
        .await
        .unwrap();
    assert!((whole_time - 2.0).abs() < 1e-6, "{whole_time}");
    assert_eq!(
        farm.store
            .found_more_than(hunt.id, result.found.len() as u64)
            .await
            .unwrap(),
        None
    );
    assert!(farm.store.found_more_than(hunt.id, 1).await.unwrap().is_some());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn published_totals_stand_in_for_a_census(pool: PgPool) {
    let farm = Farm::new(pool);
    let usual = BoardSpace::usual("6x6".parse().unwrap())
        .unwrap()
        .fields()
        .clone();
    let whole = async |walls| {
        let space = BoardSpace::new(SpaceFields {
            walls,
            ..usual.clone()
        })
        .unwrap();
        let known = farm.store.whole(&space).await.unwrap();
        known.map(|(whole, counts)| (whole, counts.iter().map(|(_, n)| *n).sum::<u64>(), counts.len()))
    };
    assert_eq!(whole(0..=0).await, Some((Whole::PublishedOfAll, 34_927_940, 51)));
    // No board has exactly 56, 57 or 59 as its par.
    assert_eq!(
        whole(0..=2).await,
        Some((Whole::PublishedOfMinimal, 2_577_412, 57))
    );
    assert_eq!(whole(0..=3).await, None);
}
