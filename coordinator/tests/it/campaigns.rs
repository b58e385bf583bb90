//! Campaigns of Siren Jam through the farm: the same levels whoever tries the seeds, and nothing false stored.

use std::time::Duration;

use board::job::JobDigest;
use coordinator::jams;
use coordinator::jobs::campaign::{AssembleError, create, levels_of};
use coordinator::jobs::plan::top_up;
use coordinator::jobs::waiting::Waiting;
use coordinator::reaper::reap;
use coordinator::store::{CreateHuntError, HuntRecord};
use coordinator::submit::SubmitError;
use proto::convert::{
    Ack, Batch, Completion, JobKind, Lease, LeaseOutcome, NewCampaign, RejectCode, StatedBoard, StatedJam,
    jam_counters,
};
use proto::ids::{BatchId, Session};
use siren::campaign::{Entry, assemble};
use siren::canonical::Canonical;
use siren::generate::candidate;
use siren::job::{JamResult, JamTally};
use siren::level::Level;
use siren::plan::Plan;
use siren::proof::plain_level;
use sqlx::PgPool;
use uuid::Uuid;

use crate::fixture::{Farm, HARDEST, stated};

/// Four quick levels, the last with lights.
const PLAN: &str = r#"{
    "format": 1, "seed": 7, "worlds": [{
        "name": "Yard", "levels": 4, "units": ["ambulance", "fire_engine"],
        "start": {"width": 6, "height": 7, "par": [6, 8], "vehicles": [10, 18], "chain_depth": [2, 6], "locked": [2, 7],
            "fullness_percent": [60, 96], "gap": [1, 5], "exits": 3, "slack_percent": 40},
        "end": {"width": 6, "height": 7, "par": [7, 9], "vehicles": [10, 18], "chain_depth": [2, 6], "locked": [2, 8],
            "fullness_percent": [60, 96], "gap": [1, 6], "exits": 3, "slack_percent": 35},
        "features": [{"levels": [4], "features": {"lights": 2, "barricades": 1}}]
    }]
}"#;

fn plan() -> Plan {
    Plan::parse(PLAN).unwrap()
}

async fn campaign(farm: &Farm, name: &str) -> HuntRecord {
    create(&farm.store, &wish(name, plan())).await.unwrap()
}

fn wish(name: &str, plan: Plan) -> NewCampaign {
    NewCampaign {
        name: name.to_owned(),
        plan,
        priority: 0,
    }
}

async fn lease(farm: &Farm, session: Session) -> Option<Lease> {
    top_up(&farm.store, &farm.config.sizing, &[JobKind::Siren], 1)
        .await
        .unwrap();
    let mut wish = crate::fixture::acquire(session, 1);
    wish.kinds = vec![JobKind::Siren];
    let leases = farm.store.grant(&wish, Duration::from_mins(1)).await.unwrap();
    leases.and_then(|mut leases| leases.pop())
}

fn run(lease: &Lease) -> JamResult {
    lease.spec.jams().unwrap().run()
}

async fn hand_in(farm: &Farm, session: Session, lease: &Lease, jams: Vec<StatedJam>) -> Ack {
    let batch = Batch {
        session,
        id: BatchId::new(Uuid::new_v4()),
        job: lease.job,
        token: lease.token,
        boards: Vec::new(),
        jams,
        known: Vec::new(),
    };
    farm.submit(batch).await.unwrap()
}

async fn claim(farm: &Farm, session: Session, lease: &Lease, tally: &JamTally) -> LeaseOutcome {
    let claim = Completion {
        session,
        job: lease.job,
        token: lease.token,
        counters: jam_counters(tally.attempts(), tally.n_found()),
        digest: JobDigest::from_bytes(tally.digest()),
        census: None,
        measures: None,
        cpu: std::time::Duration::ZERO,
    };
    jams::complete(&farm.store, &farm.prover, (5, 3), &claim, None)
        .await
        .unwrap()
        .unwrap()
}

/// Carries a leased level out as a worker does.
async fn carry_out(farm: &Farm, session: Session, lease: &Lease) -> LeaseOutcome {
    let result = run(lease);
    let ack = hand_in(farm, session, lease, result.found).await;
    assert_eq!(ack.rejected, []);
    claim(farm, session, lease, &result.tally).await
}

async fn spelled(farm: &Farm, hunt: &HuntRecord) -> Vec<String> {
    let levels = levels_of(&farm.store, hunt.id).await.unwrap();
    levels.iter().map(|(_, level)| level.spell()).collect()
}

/// The levels of the plan without any farm.
fn without_a_farm() -> Vec<String> {
    let specs = plan().levels();
    let entries: Vec<Entry> = specs
        .iter()
        .enumerate()
        .flat_map(|(level, spec)| {
            spec.seeds
                .map(|seed| (level, seed, candidate(&spec.template, seed).unwrap().0))
        })
        .filter_map(|(level, seed, candidate)| {
            Some(Entry {
                level,
                seed,
                candidate: candidate?,
            })
        })
        .collect();
    let levels = assemble(&specs, &entries).unwrap();
    levels.iter().map(Level::spell).collect()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn one_worker_and_three_of_which_one_is_lost_give_the_same_levels_and_store_each_jam_once(
    pool: PgPool,
) {
    let farm = Farm::new(pool);
    let alone = campaign(&farm, "alone").await;
    let worker = farm.join("alone").await;
    while let Some(lease) = lease(&farm, worker).await {
        assert_eq!(carry_out(&farm, worker, &lease).await, LeaseOutcome::Accepted);
    }
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    let n_jams = farm.count("SELECT count(*) FROM jams").await;
    assert!(n_jams > 4, "{n_jams} jams are too few to try anything");

    let together = campaign(&farm, "together").await;
    let workers = [
        farm.join("one").await,
        farm.join("two").await,
        farm.join("lost").await,
    ];
    // The third takes a level, hands in half of what its seeds give, and is not heard of until its lease ran out.
    let lost = lease(&farm, workers[2]).await.unwrap();
    let result = run(&lost);
    hand_in(&farm, workers[2], &lost, result.found[..3].to_vec()).await;
    farm.let_run_out(lost.job).await;
    farm.store.expire(5).await.unwrap();
    for turn in 0.. {
        let worker = workers[turn % 2];
        let Some(lease) = lease(&farm, worker).await else {
            break;
        };
        assert_eq!(carry_out(&farm, worker, &lease).await, LeaseOutcome::Accepted);
    }
    // It comes back: what it found is known, what it claims is not taken.
    let late = hand_in(&farm, workers[2], &lost, result.found.clone()).await;
    assert_eq!(
        (late.n_inserted, late.n_duplicate as usize),
        (0, result.found.len())
    );
    assert_eq!(
        claim(&farm, workers[2], &lost, &result.tally).await,
        LeaseOutcome::Lost
    );

    assert_eq!(spelled(&farm, &together).await, spelled(&farm, &alone).await);
    assert_eq!(spelled(&farm, &together).await, without_a_farm());
    assert_eq!(farm.count("SELECT count(*) FROM jams").await, n_jams);
    assert_eq!(
        farm.count("SELECT count(*) FROM analysis.jams WHERE is_chosen")
            .await,
        2 * 4
    );
    assert_eq!(farm.count("SELECT sum(strikes)::bigint FROM workers").await, 0);
    reap(&farm.store, &farm.config, &Waiting::default())
        .await
        .unwrap();
    assert_eq!(
        farm.count("SELECT count(*) FROM hunts WHERE state = 'done'")
            .await,
        2
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_lying_workers_jams_are_refused_by_name_and_struck(pool: PgPool) {
    let farm = Farm::new(pool);
    campaign(&farm, "yard").await;
    let (honest, liar) = (farm.join("honest").await, farm.join("liar").await);
    let held = lease(&farm, liar).await.unwrap();
    let found = run(&held).found;
    // The jam of another seed, and one without its planters and barricades: legal jams both, and honestly spelled.
    let jam = |stated: &StatedJam| Level::parse(&stated.level).unwrap().jam;
    let of_another = StatedJam {
        level: plain_level(found[0].seed, &jam(&found[1])).spell(),
        ..found[1].clone()
    };
    let of_another = StatedJam {
        seed: found[0].seed,
        ..of_another
    };
    let mut parts = jam(&found[2]).into_parts();
    parts.pieces.pop();
    let less = siren::jam::Jam::new(parts).unwrap();
    let lies = [
        (
            StatedJam {
                par: found[1].par - 1,
                ..found[1].clone()
            },
            RejectCode::WrongPar,
        ),
        (
            StatedJam {
                seed: 1,
                ..found[1].clone()
            },
            RejectCode::OutsideJob,
        ),
        (
            StatedJam {
                level: "{}\0".to_owned(),
                ..found[1].clone()
            },
            RejectCode::NotABoard,
        ),
        (
            StatedJam {
                level: found[1].level.replace(' ', ""),
                ..found[1].clone()
            },
            RejectCode::NotCanonical,
        ),
        (of_another, RejectCode::NotOfSeed),
    ];
    // The truth about the first seed is known, so that a lie about it is looked into.
    let ack = hand_in(&farm, liar, &held, found[..1].to_vec()).await;
    assert_eq!((ack.n_inserted, ack.rejected.len()), (1, 0));
    let (lies, codes): (Vec<_>, Vec<_>) = lies.into_iter().unzip();
    let ack = hand_in(&farm, liar, &held, lies).await;
    let told: Vec<_> = ack.rejected.iter().map(|rejection| rejection.code).collect();
    assert_eq!(told, codes);
    assert_eq!(ack.n_inserted, 0);
    // Whatever else is wrong with a jam that lacks a piece: it is no level of this plan's template, or another jam.
    let lacking = StatedJam {
        seed: found[2].seed,
        par: found[2].par,
        canonical: Canonical::new(&less).as_str().to_owned(),
        level: plain_level(found[2].seed, &less).spell(),
    };
    hand_in(&farm, liar, &held, found[2..3].to_vec()).await;
    let ack = hand_in(&farm, liar, &held, vec![lacking]).await;
    assert_eq!(ack.rejected.len(), 1);
    assert_eq!(farm.count("SELECT count(*) FROM jam_finds").await, 2);
    assert_eq!(
        farm.count("SELECT strikes::bigint FROM workers WHERE name = 'liar'")
            .await,
        2
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'worker_struck'")
            .await,
        2
    );

    // A claim about less than the seeds give is none; with a third strike the liar is out, and the level another's.
    let fewer = JamTally::claimed(
        [&found[0], &found[2]].map(|stated| (stated.seed, stated.level.as_str())),
        run(&held).tally.attempts(),
    );
    assert_eq!(claim(&farm, liar, &held, &fewer).await, LeaseOutcome::Lost);
    assert_eq!(farm.text("SELECT state FROM jobs").await, "queued");
    assert_eq!(
        farm.count("SELECT count(*) FROM workers WHERE name = 'liar' AND quarantined_at IS NOT NULL")
            .await,
        1
    );
    assert!(lease(&farm, liar).await.is_none());
    while let Some(lease) = lease(&farm, honest).await {
        assert_eq!(carry_out(&farm, honest, &lease).await, LeaseOutcome::Accepted);
    }
    let hunt = farm.store.list_hunts().await.unwrap().remove(0);
    assert_eq!(spelled(&farm, &hunt).await, without_a_farm());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_was_said_first_of_a_seed_gives_way_to_what_is_proved(pool: PgPool) {
    let farm = Farm::new(pool);
    campaign(&farm, "yard").await;
    let (honest, liar) = (farm.join("honest").await, farm.join("liar").await);
    let held = lease(&farm, liar).await.unwrap();
    let found = run(&held).found;
    let jam = Level::parse(&found[1].level).unwrap().jam;
    let lie = StatedJam {
        seed: found[0].seed,
        level: plain_level(found[0].seed, &jam).spell(),
        ..found[1].clone()
    };
    // By lots it may be found out at once; if not, the truth takes its place.
    hand_in(&farm, liar, &held, vec![lie]).await;
    farm.let_run_out(held.job).await;
    farm.store.expire(5).await.unwrap();
    let again = lease(&farm, honest).await.unwrap();
    assert_eq!(again.job, held.job);
    assert_eq!(carry_out(&farm, honest, &again).await, LeaseOutcome::Accepted);
    let job = farm.store.job(again.job).await.unwrap().unwrap();
    let stored = farm.store.level_finds(job.hunt, job.number).await.unwrap();
    assert_eq!(stored.len(), found.len());
    assert!(stored.contains(&(found[0].seed, found[0].level.clone())));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_honest_claim_is_taken_though_a_liar_added_to_the_finds(pool: PgPool) {
    let farm = Farm::new(pool);
    campaign(&farm, "yard").await;
    let session = farm.join("honest").await;
    let held = lease(&farm, session).await.unwrap();
    let result = run(&held);
    hand_in(&farm, session, &held, result.found.clone()).await;
    // As if a seed that gives nothing had been given a level by somebody whom no lot had found out.
    sqlx::query(
        "INSERT INTO jam_finds SELECT hunt_id, number, 1, batch_id, par, score_misses, score_merit,
            difficulty_hundredths, time_tenths, three_stars_s, two_stars_s, false, canonical, level
        FROM jam_finds LIMIT 1",
    )
    .execute(&farm.pool)
    .await
    .unwrap();
    assert_eq!(
        claim(&farm, session, &held, &result.tally).await,
        LeaseOutcome::Accepted
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM jam_finds WHERE seed = 1").await,
        0
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM jam_finds").await,
        i64::try_from(result.found.len()).unwrap()
    );
    assert_eq!(farm.count("SELECT strikes::bigint FROM workers").await, 0);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_campaign_goes_on_under_its_name_and_plan_alone(pool: PgPool) {
    let farm = Farm::new(pool);
    let first = campaign(&farm, "yard").await;
    let worker = farm.join("w").await;
    let held = lease(&farm, worker).await.unwrap();
    assert_eq!(carry_out(&farm, worker, &held).await, LeaseOutcome::Accepted);
    assert!(matches!(
        levels_of(&farm.store, first.id).await,
        Err(AssembleError::Unfinished {
            n_done: 1,
            n_levels: 4,
            n_parked: 0
        })
    ));
    farm.store.pause_hunt(first.id).await.unwrap();
    assert_eq!(campaign(&farm, "yard").await.id, first.id);
    assert_eq!(farm.text("SELECT state FROM hunts").await, "running");
    let mut other = plan();
    other.seed += 1;
    let taken = create(&farm.store, &wish("yard", other)).await;
    assert!(
        matches!(taken, Err(CreateHuntError::NameTaken { .. })),
        "{taken:?}"
    );
    let mut empty = plan();
    empty.worlds.clear();
    assert!(matches!(
        create(&farm.store, &wish("empty", empty)).await,
        Err(CreateHuntError::NoLevels)
    ));

    // A level that is parked is tried again when the campaign is asked for again.
    let held = lease(&farm, worker).await.unwrap();
    farm.let_run_out(held.job).await;
    farm.store.expire(1).await.unwrap();
    assert_eq!(
        farm.count("SELECT count(*) FROM jobs WHERE state = 'parked'")
            .await,
        1
    );
    campaign(&farm, "yard").await;
    while let Some(lease) = lease(&farm, worker).await {
        assert_eq!(carry_out(&farm, worker, &lease).await, LeaseOutcome::Accepted);
    }
    assert_eq!(spelled(&farm, &first).await, without_a_farm());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_are_not_taken_for_levels_nor_jams_for_boards(pool: PgPool) {
    let farm = Farm::new(pool);
    campaign(&farm, "yard").await;
    let session = farm.join("w").await;
    let level = lease(&farm, session).await.unwrap();
    let board: StatedBoard = stated(HARDEST);
    let boards = crate::fixture::batch(session, &level, vec![board]);
    let refused = farm.submit(boards).await.unwrap_err();
    assert!(
        matches!(refused, SubmitError::WrongKind { what: "boards", .. }),
        "{refused}"
    );

    farm.hunt("boards").await;
    sqlx::query("UPDATE hunts SET state = 'paused' WHERE strategy = 'siren'")
        .execute(&farm.pool)
        .await
        .unwrap();
    farm.plan(1).await;
    let hunted = farm.acquire(session, 1).await.remove(0);
    let mut jams = crate::fixture::batch(session, &hunted, Vec::new());
    jams.jams = run(&level).found;
    let refused = farm.submit(jams).await.unwrap_err();
    assert!(
        matches!(refused, SubmitError::WrongKind { what: "jams", .. }),
        "{refused}"
    );
}
