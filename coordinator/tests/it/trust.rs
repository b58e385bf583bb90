//! Nobody is trusted: each way of lying, and how it is found out.

use std::time::Duration;

use board::census::{Keep, Scope};
use board::cluster::Explorer;
use board::job::JobDigest;
use board::tally::hash_board;
use coordinator::config::Auditing;
use coordinator::store::{Sampling, Settled, WorkerAction};
use coordinator::suspects::prove_suspects;
use proto::convert::{CensusTerms, Completion, JobKind, Lease, LeaseAction, LeaseOutcome, NewHunt, Strategy};
use proto::ids::{JobId, Session};
use sqlx::PgPool;
use uuid::Uuid;

use crate::fixture::{Farm, HARDEST, TTL, acquire, batch, hello, some_boards, stated, wish};

const ALWAYS: Auditing = Auditing {
    share: 1.0,
    new_share: 1.0,
    n_new: 3,
    suspect_share: 1.0,
};

const SAMPLED: Sampling<'static> = Sampling {
    auditing: &ALWAYS,
    lot: 0.0,
};

/// What an honest worker does with a lease.
async fn carry_out(farm: &Farm, session: Session, lease: &Lease) -> Completion {
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    let boards: Vec<_> = result.found.iter().map(Into::into).collect();
    let ack = farm.submit(batch(session, lease, boards)).await.unwrap();
    assert_eq!(ack.rejected, []);
    Completion {
        session,
        job: lease.job,
        token: lease.token,
        counters: result.counters,
        digest: result.digest,
        census: result.census,
        measures: None,
        cpu: Duration::ZERO,
    }
}

async fn take(farm: &Farm, session: Session) -> Option<Lease> {
    let mut wish = acquire(session, 1);
    wish.kinds = vec![JobKind::Scatter, JobKind::Anneal, JobKind::Census];
    farm.store.grant(&wish, TTL).await.unwrap().unwrap().pop()
}

/// Carries out whatever there is, honestly; what was compared.
async fn work(farm: &Farm, session: Session) -> Settled {
    let lease = take(farm, session).await.expect("there is something to do");
    let claim = carry_out(farm, session, &lease).await;
    assert_eq!(farm.store.fault_of_claim(&claim).await.unwrap(), None);
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Accepted);
    farm.store
        .settle(lease.job, farm.config.max_strikes)
        .await
        .unwrap()
}

/// Carries out a job and claims something else, which fits together so well that only a second run can tell.
async fn lie(farm: &Farm, session: Session, spoil: impl FnOnce(&mut Completion)) -> Lease {
    let lease = take(farm, session).await.expect("there is something to do");
    let mut claim = carry_out(farm, session, &lease).await;
    spoil(&mut claim);
    let boards = lease.spec.boards().unwrap().run(&mut Explorer::new()).found;
    let hashes = boards
        .iter()
        .map(|found| hash_board(found.par, found.canonical.as_str()));
    let board_sum = hashes.fold(0_u128, u128::wrapping_add);
    claim.digest = JobDigest::of(board_sum, &claim.counters, claim.census.as_ref());
    assert_eq!(farm.store.fault_of_claim(&claim).await.unwrap(), None);
    assert_eq!(farm.store.complete(&claim).await.unwrap(), LeaseOutcome::Accepted);
    lease
}

async fn strikes(farm: &Farm, name: &str) -> i64 {
    sqlx::query_scalar("SELECT max(strikes)::bigint FROM workers WHERE name = $1")
        .bind(name)
        .fetch_one(&farm.pool)
        .await
        .unwrap()
}

async fn audit(farm: &Farm, job: JobId) -> Option<JobId> {
    farm.store.sample_audit(job, &SAMPLED).await.unwrap()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_claim_of_what_was_not_done_is_found_by_others_and_the_job_is_done_again(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (liar, one, two) = (
        farm.join("liar").await,
        farm.join("one").await,
        farm.join("two").await,
    );
    let job = lie(&farm, liar, |claim| claim.counters.legal += 1).await.job;
    assert!(audit(&farm, job).await.is_some());
    assert_eq!(audit(&farm, job).await, None, "it is audited once");
    assert!(take(&farm, liar).await.is_none(), "nobody audits himself");
    assert_eq!(work(&farm, one).await, Settled::Disputed);
    assert!(
        take(&farm, one).await.is_none(),
        "who made one run makes no other"
    );
    assert_eq!(strikes(&farm, "liar").await, 0, "one against one is no proof");
    assert_eq!(work(&farm, two).await, Settled::Disproved);
    assert_eq!(
        (strikes(&farm, "liar").await, strikes(&farm, "one").await),
        (1, 0)
    );
    assert_eq!(
        farm.text("SELECT state FROM jobs WHERE audit_of IS NULL").await,
        "queued"
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM job_attempts WHERE outcome = 'disproved'")
            .await,
        1
    );
    assert_eq!(work(&farm, one).await, Settled::Agreed);
    assert_eq!(
        farm.text("SELECT string_agg(DISTINCT verdict, ' ') FROM audits")
            .await,
        "agrees"
    );
    // Three runs, of which one counts.
    assert_eq!(farm.count("SELECT jobs_done FROM hunt_progress").await, 1);
    let counted = farm.count("SELECT clusters FROM hunt_progress").await;
    assert_eq!(
        counted,
        farm.count("SELECT n_clusters FROM jobs WHERE audit_of IS NULL")
            .await
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_audit_that_is_wrong_is_struck_itself(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(1).await;
    let (honest, other, liar) = (
        farm.join("honest").await,
        farm.join("other").await,
        farm.join("liar").await,
    );
    let lease = take(&farm, honest).await.unwrap();
    let claim = carry_out(&farm, honest, &lease).await;
    farm.store.complete(&claim).await.unwrap();
    audit(&farm, lease.job).await.unwrap();
    assert_eq!(work(&farm, other).await, Settled::Agreed);
    let again = farm.store.ask_for_audit(lease.job).await.unwrap();
    assert!(again.is_some(), "an operator may ask for another");
    let wrong = lie(&farm, liar, |claim| claim.counters.legal += 1).await.job;
    assert_eq!(farm.store.settle(wrong, 3).await.unwrap(), Settled::Disproved);
    assert_eq!(
        (strikes(&farm, "liar").await, strikes(&farm, "honest").await),
        (1, 0)
    );
    assert_eq!(
        farm.text("SELECT verdict FROM audits ORDER BY job_id DESC LIMIT 1")
            .await,
        "differs"
    );
    assert_eq!(
        farm.text("SELECT state FROM jobs WHERE audit_of IS NULL").await,
        "done"
    );
    // Compared again, nobody is struck twice.
    farm.store.settle(wrong, 3).await.unwrap();
    assert_eq!(strikes(&farm, "liar").await, 1);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_claim_that_does_not_fit_what_was_handed_in_is_refused_at_once(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let honest = carry_out(&farm, session, &lease).await;
    let fault = async |spoil: fn(&mut Completion)| {
        let mut claim = honest.clone();
        spoil(&mut claim);
        farm.store.fault_of_claim(&claim).await.unwrap()
    };
    assert_eq!(fault(|_| ()).await, None);
    let told = fault(|claim| claim.counters.iterations -= 1).await.unwrap();
    assert!(told.contains("iterations"), "{told}");
    let told = fault(|claim| claim.counters.found += 1).await.unwrap();
    assert!(told.contains("handed in"), "{told}");
    // Any other counter, and the digest itself: the digest is no longer that of what was handed in and counted.
    for spoil in [
        (|claim| claim.counters.legal += 1) as fn(&mut Completion),
        |claim| claim.counters.positions += 1,
        |claim| claim.digest = JobDigest::from_bytes([1; 16]),
    ] {
        let told = fault(spoil).await.unwrap();
        assert!(told.contains("claims digest"), "{told}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_range_that_was_never_counted_is_found_out_and_counted_again(pool: PgPool) {
    let farm = Farm::new(pool);
    let terms = CensusTerms {
        scope: Scope::Standard,
        keep: Keep::Minimal,
        count_unsolvable: false,
        repeats_per_mille: 0,
    };
    let fields = board::space::BoardSpace::usual("4x4".parse().unwrap())
        .unwrap()
        .fields()
        .clone();
    let space = board::space::SpaceFields {
        walls: 0..=0,
        exit_row: 1,
        ..fields
    };
    let census = NewHunt {
        space: board::space::BoardSpace::new(space).unwrap(),
        strategy: Strategy::Census,
        census: Some(terms),
        ..wish("census")
    };
    let hunt = farm.store.create_hunt(&census, 7).await.unwrap();
    let plan = || async {
        let sizing = coordinator::config::Sizing {
            max_states: 1_000_000,
            ..farm.config.sizing
        };
        coordinator::jobs::plan::top_up(&farm.store, &sizing, &[JobKind::Census], 1)
            .await
            .unwrap()
    };
    let (liar, one, two) = (
        farm.join("liar").await,
        farm.join("one").await,
        farm.join("two").await,
    );
    plan().await;
    // It claims coverage with other counts in it than there are.
    let job = lie(&farm, liar, |claim| claim.census.as_mut().unwrap().layouts += 1)
        .await
        .job;
    assert!(audit(&farm, job).await.is_some());
    assert_eq!(work(&farm, one).await, Settled::Disputed);
    assert_eq!(work(&farm, two).await, Settled::Disproved);
    let coverage = || async { farm.store.census_coverage(hunt.id).await.unwrap().unwrap() };
    assert_eq!(
        coverage().await.n_counted,
        0,
        "the claim is void, and audits are no coverage"
    );
    assert_eq!(work(&farm, one).await, Settled::Agreed);
    let range = coverage().await;
    assert!(range.n_counted > 0 && range.n_verified == range.n_counted && range.n_overlapping == 0);
    while plan().await > 0 {
        work(&farm, two).await;
    }
    let totals = farm.store.census_totals(hunt.id).await.unwrap();
    assert_eq!(totals.iter().map(|total| total.solvable).sum::<u64>(), 493);
    assert_eq!(strikes(&farm, "liar").await, 1);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn strikes_and_quarantine_outlive_a_restart_and_end_by_an_operators_word(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(2).await;
    let first = farm.join("liar").await;
    let lease = take(&farm, first).await.unwrap();
    let lie = proto::convert::StatedBoard {
        par: 50,
        ..stated(HARDEST)
    };
    farm.submit(batch(first, &lease, vec![lie.clone()]))
        .await
        .unwrap();
    farm.submit(batch(first, &lease, vec![lie.clone()]))
        .await
        .unwrap();
    // A new start of the process begins with what was held against the one before.
    let second = farm.join("liar").await;
    let lease = take(&farm, second).await.unwrap();
    farm.submit(batch(second, &lease, vec![lie])).await.unwrap();
    assert!(farm.store.worker(second).await.unwrap().unwrap().is_quarantined);
    assert!(
        farm.store.worker(first).await.unwrap().unwrap().is_quarantined,
        "both are the same worker"
    );
    let third = farm.join("liar").await;
    let standing = farm.store.worker(third).await.unwrap().unwrap();
    assert!(standing.is_quarantined);
    farm.plan(2).await;
    assert!(take(&farm, third).await.is_none());
    assert!(
        farm.store
            .act_on_worker(standing.id, &WorkerAction::Trust)
            .await
            .unwrap()
    );
    assert_eq!(strikes(&farm, "liar").await, 0);
    assert!(take(&farm, third).await.is_some());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_a_worker_in_quarantine_claimed_is_run_again(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(2).await;
    let (liar, other) = (farm.join("liar").await, farm.join("other").await);
    work(&farm, liar).await;
    work(&farm, liar).await;
    let id = farm.store.worker(liar).await.unwrap().unwrap().id;
    let quarantine = WorkerAction::Quarantine("memory errors".to_owned());
    assert!(farm.store.act_on_worker(id, &quarantine).await.unwrap());
    assert_eq!(
        farm.count("SELECT count(*) FROM audits WHERE reason = 'quarantine'")
            .await,
        2
    );
    assert!(farm.store.act_on_worker(id, &quarantine).await.unwrap());
    assert_eq!(farm.count("SELECT count(*) FROM audits").await, 2, "once");
    assert_eq!(work(&farm, other).await, Settled::Agreed);
    assert_eq!(work(&farm, other).await, Settled::Agreed);
    assert!(farm.store.unsettled().await.unwrap().is_empty());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_a_worker_in_quarantine_was_believed_for_is_taken_back_if_it_is_wrong(pool: PgPool) {
    let farm = Farm::proving(pool, 0.0);
    let (liar, lease) = farm.leased().await;
    farm.submit(batch(liar, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    let mut boards: Vec<_> = some_boards().into_iter().filter(|board| board.par < 40).collect();
    let truth = boards[0].clone();
    boards[0].par += 1;
    farm.submit(batch(liar, &lease, boards.clone())).await.unwrap();
    let count = "SELECT count(*) FROM boards";
    let n_stored = farm.count(count).await;
    assert_eq!(
        farm.count("SELECT sum(n_believed)::bigint FROM batches").await,
        i64::try_from(boards.len()).unwrap()
    );
    let id = farm.store.worker(liar).await.unwrap().unwrap().id;
    assert!(farm.store.workers_to_prove().await.unwrap().is_empty());
    farm.store
        .act_on_worker(id, &WorkerAction::Quarantine("it lies".to_owned()))
        .await
        .unwrap();
    assert_eq!(farm.store.workers_to_prove().await.unwrap(), [id]);

    let honest = Farm::new(farm.pool.clone());
    prove_suspects(&honest.store, &honest.prover).await.unwrap();
    assert_eq!(farm.count(count).await, n_stored - 1);
    assert!(farm.store.workers_to_prove().await.unwrap().is_empty());
    for kept in [
        "SELECT sum(n_boards)::bigint FROM board_counts",
        "SELECT sum(n_boards)::bigint FROM board_tallies",
        "SELECT sum(n_boards)::bigint FROM hunt_tallies",
        "SELECT sum(n_new)::bigint FROM jobs",
    ] {
        assert_eq!(farm.count(kept).await, n_stored - 1, "{kept}");
    }
    let refused = farm.text("SELECT code || ' ' || canonical FROM rejections").await;
    assert_eq!(refused, format!("wrong_par {}", truth.canonical));
    // The truth can now be stored once, and stands alone.
    let other = honest.join("other").await;
    honest.plan(1).await;
    let lease = honest.acquire(other, 1).await.remove(0);
    assert_eq!(
        honest
            .submit(batch(other, &lease, vec![truth]))
            .await
            .unwrap()
            .n_inserted,
        1
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_board_that_was_only_described_wrongly_is_corrected_and_stays(pool: PgPool) {
    let farm = Farm::proving(pool, 0.0);
    let (liar, lease) = farm.leased().await;
    farm.submit(batch(liar, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    let truths: Vec<_> = some_boards().into_iter().filter(|board| board.par < 40).collect();
    let mut lies = truths.clone();
    lies[0].states += 1;
    lies[1].minimal = lies[1].minimal.map(|is_minimal| !is_minimal);
    assert!(lies[1].minimal.is_some());
    farm.submit(batch(liar, &lease, lies)).await.unwrap();
    // An honest worker hands in the truth at another coordinator, and hears that it is stored.
    let honest = Farm::new(farm.pool.clone());
    let other = honest.join("other").await;
    honest.plan(1).await;
    let lease = honest.acquire(other, 1).await.remove(0);
    let ack = honest.submit(batch(other, &lease, truths.clone())).await.unwrap();
    assert_eq!((ack.n_inserted, ack.n_duplicate as usize), (0, truths.len()));

    let id = farm.store.worker(liar).await.unwrap().unwrap().id;
    farm.store
        .act_on_worker(id, &WorkerAction::Quarantine("it lies".to_owned()))
        .await
        .unwrap();
    prove_suspects(&farm.store, &farm.prover).await.unwrap();
    let mut expected: Vec<String> = truths
        .iter()
        .map(|truth| format!("{} {} {}", truth.canonical, truth.states, truth.minimal.unwrap()))
        .collect();
    expected.sort();
    let stored = farm
        .text(
            r#"SELECT string_agg(concat_ws(' ', canonical, n_states, minimal::text), ',' ORDER BY canonical COLLATE "C")
            FROM boards WHERE par < 40"#,
        )
        .await;
    assert_eq!(stored, expected.join(","));
    let agree = farm
        .count(
            "SELECT count(*) FROM (SELECT sum(n_boards), sum(n_states), sum(n_minimal) FROM board_tallies) kept (b, s, m)
            JOIN (SELECT count(*), sum(n_states), count(*) FILTER (WHERE minimal) FROM boards) rows (b, s, m) USING (b, s, m)",
        )
        .await;
    assert_eq!(agree, 1, "what is counted is what is stored");
    assert_eq!(
        farm.count("SELECT count(*) FROM rejections WHERE code = 'wrong_cluster'")
            .await,
        2
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_that_a_killed_worker_left_are_taken_from_its_next_start(pool: PgPool) {
    let farm = Farm::new(pool);
    let (_, lease) = farm.leased().await;
    let next = farm.join("w").await;
    // Under the new session, as workers of former versions do.
    let ack = farm
        .submit(batch(next, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    assert_eq!(ack.n_inserted, 1);
    let thief = farm.join("thief").await;
    assert!(
        farm.store
            .is_anothers_lease(thief, lease.job, lease.token)
            .await
            .unwrap()
    );
    assert!(
        !farm
            .store
            .is_anothers_lease(next, lease.job, lease.token)
            .await
            .unwrap()
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_incarnation_is_taken_over_by_nobody_else(pool: PgPool) {
    let farm = Farm::new(pool);
    let mine = hello("mine");
    let session = || Session::new(Uuid::new_v4());
    let (standing, is_new) = farm
        .store
        .join_as(&mine, Some("a"), 1, session())
        .await
        .unwrap()
        .unwrap();
    assert!(is_new);
    let (again, is_new) = farm
        .store
        .join_as(&mine, Some("a"), 1, session())
        .await
        .unwrap()
        .unwrap();
    assert!(!is_new && again.session == standing.session);
    assert_eq!(
        farm.store.join_as(&mine, Some("b"), 1, session()).await.unwrap(),
        None
    );
    assert_eq!(farm.store.join_as(&mine, None, 1, session()).await.unwrap(), None);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn work_that_stands_still_is_taken_away_and_counted_against_its_worker(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let mut seq = 0;
    let mut beat = async |work_done, rate| {
        seq += 1;
        let mut beat = crate::fixture::beat(session, seq, &lease);
        beat.leases[0].work_done = work_done;
        beat.leases[0].rate = rate;
        farm.store.beat_watched(&beat, TTL, 3).await.unwrap().orders[0].action
    };
    assert_eq!(beat(10, 5.0).await, LeaseAction::Continue);
    for _ in 0..2 {
        assert_eq!(beat(10, 0.0).await, LeaseAction::Continue);
    }
    // An iteration that takes long explores positions meanwhile.
    assert_eq!(beat(10, 5.0).await, LeaseAction::Continue);
    for _ in 0..2 {
        assert_eq!(beat(10, 0.0).await, LeaseAction::Continue);
    }
    assert_eq!(beat(10, 0.0).await, LeaseAction::Checkpoint);
    assert!(farm.store.expire_and_revoke(5, 5, None).await.unwrap().is_empty());
    beat(10, 0.0).await;
    beat(10, 0.0).await;
    let revoked = farm.store.expire_and_revoke(5, 5, None).await.unwrap();
    assert!(revoked.len() == 1 && revoked[0].is_stall);
    assert_eq!(beat(10, 0.0).await, LeaseAction::Lost);
    assert_eq!(farm.count("SELECT n_stalls::bigint FROM workers").await, 1);
    assert_eq!(farm.text("SELECT outcome FROM job_attempts").await, "stalled");
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'job_stalled'")
            .await,
        1
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_failed_here_is_tried_elsewhere_first_and_a_checkpoint_goes_to_who_made_it(pool: PgPool) {
    let farm = Farm::new(pool);
    farm.hunt_of(2).await;
    let (one, two) = (farm.join("one").await, farm.join("two").await);
    let failed = take(&farm, one).await.unwrap();
    farm.let_run_out(failed.job).await;
    farm.store.expire(5).await.unwrap();
    let next = take(&farm, one).await.unwrap();
    assert_ne!(next.job, failed.job, "something else is there to do");
    assert_eq!(take(&farm, two).await.unwrap().job, failed.job);

    let mut paused = crate::fixture::release(one, &next, proto::convert::ReleaseReason::Paused);
    paused.checkpoint = Some(b"half way".to_vec());
    farm.store.release(&paused, 5).await.unwrap();
    let elsewhere = take(&farm, two).await.unwrap();
    assert_eq!(
        (elsewhere.job, elsewhere.checkpoint),
        (next.job, None),
        "nobody can prove a checkpoint"
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn cores_are_shared_by_weight_within_a_class_and_the_higher_class_goes_first(pool: PgPool) {
    let farm = Farm::new(pool);
    let (light, heavy) = (farm.hunt("light").await, farm.hunt("heavy").await);
    assert!(farm.store.set_weight(heavy.id, 3).await.unwrap());
    let mut held: std::collections::BTreeMap<_, i64> = std::collections::BTreeMap::new();
    for n in 0..16 {
        let session = farm.join(&format!("w{n}")).await;
        farm.plan(1).await;
        *held.entry(take(&farm, session).await.unwrap().hunt).or_default() += 1;
    }
    // A quarter up or down, and a slot that cannot be cut in pieces.
    assert!((3..=6).contains(&held[&light.id]), "{held:?}");
    assert_eq!(held.values().sum::<i64>(), 16);

    let urgent = farm
        .store
        .create_hunt(
            &NewHunt {
                priority: 5,
                ..wish("urgent")
            },
            1,
        )
        .await
        .unwrap();
    let poor = farm.hunt("poor").await;
    let mut order = Vec::new();
    for n in 16..20 {
        let session = farm.join(&format!("w{n}")).await;
        farm.plan(1).await;
        order.push(take(&farm, session).await.unwrap().hunt);
    }
    // Each hunt has something before any has more; then the class decides.
    assert_eq!(order, [urgent.id, poor.id, urgent.id, urgent.id]);
}
