//! Batches: nothing false goes in, nothing true is lost, nothing is counted twice.

use board::Par;
use board::cluster::Explorer;
use board::tally::hash_board;
use coordinator::store::StoreError;
use coordinator::submit::SubmitError;
use proto::convert::{Ack, Batch, Completion, Directive, Lease, RejectCode, StatedBoard};
use proto::ids::{FencingToken, Session};
use sqlx::PgPool;
use uuid::Uuid;

use crate::fixture::{Farm, HARDEST, batch, completion, some_boards, stated};

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_replayed_batch_gets_the_stored_answer(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let mut boards = some_boards();
    boards[0].par += 1;
    let batch = batch(session, &lease, boards);
    let first = farm.submit(batch.clone()).await.unwrap();
    assert_eq!(
        (first.n_inserted as usize, first.rejected.len()),
        (batch.boards.len() - 1, 1)
    );
    assert_eq!(farm.submit(batch).await.unwrap(), first);
    assert_eq!(farm.count("SELECT count(*) FROM batches").await, 1);
    assert_eq!(
        farm.count("SELECT n_new FROM jobs").await,
        i64::from(first.n_inserted)
    );
    assert_eq!(farm.count("SELECT strikes::bigint FROM workers").await, 1);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_stored_board_may_be_named_by_its_hash_and_counts_for_the_claim_all_the_same(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    let boards: Vec<StatedBoard> = result.found.iter().map(Into::into).collect();
    // Another has found the first half.
    let (known, unknown) = boards.split_at(boards.len() / 2);
    let spellings: Vec<String> = known.iter().map(|board| board.canonical.clone()).collect();
    farm.import(&spellings).await;
    let by_hash = |known: &[StatedBoard], spelled: &[StatedBoard]| Batch {
        known: known.iter().map(hash_of).collect(),
        ..batch(session, &lease, spelled.to_vec())
    };
    let ack = farm.submit(by_hash(known, unknown)).await.unwrap();
    assert!(!ack.spell_out);
    assert_eq!(
        (ack.n_inserted as usize, ack.n_duplicate as usize),
        (unknown.len(), known.len())
    );
    assert_eq!(
        usize::try_from(farm.count("SELECT n_new + n_known FROM jobs").await).unwrap(),
        boards.len()
    );
    let hardest = boards.iter().map(|board| board.par).max().unwrap();
    assert_eq!(
        farm.count("SELECT best_par::bigint FROM jobs").await,
        i64::from(hardest)
    );
    let claim = Completion {
        counters: result.counters,
        digest: result.digest,
        ..completion(session, &lease)
    };
    assert_eq!(farm.store.fault_of_claim(&claim).await.unwrap(), None);
    // A board more is a board too many, by its hash as well.
    farm.submit(by_hash(&known[..1], &[])).await.unwrap();
    let fault = farm.store.fault_of_claim(&claim).await.unwrap().unwrap();
    assert!(fault.contains("handed in"), "{fault}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_hash_of_no_board_known_here_has_the_whole_batch_spelled_out(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let boards = some_boards();
    let short = Batch {
        known: vec![hash_of(&boards[0]), hash_of(&boards[1])],
        ..batch(session, &lease, boards[2..].to_vec())
    };
    farm.submit(batch(session, &lease, boards[..1].to_vec()))
        .await
        .unwrap();
    let n_before = farm.count("SELECT count(*) FROM batches").await;
    let ack = farm.submit(short.clone()).await.unwrap();
    assert_eq!(
        ack,
        Ack {
            spell_out: true,
            ..Ack::default()
        }
    );
    assert_eq!(farm.count("SELECT count(*) FROM batches").await, n_before);
    // It comes again under its name, and then by its hashes: the answer is the stored one.
    let long = Batch {
        boards: boards.clone(),
        known: Vec::new(),
        ..short.clone()
    };
    let ack = farm.submit(long).await.unwrap();
    assert_eq!((ack.n_inserted as usize, ack.n_duplicate), (boards.len() - 1, 1));
    assert_eq!(farm.submit(short).await.unwrap(), ack);
    // One that was started later remembers nothing.
    assert_eq!(
        farm.store.remembering(10).best_known_par(&[hash_of(&boards[0])]),
        None
    );
}

fn hash_of(board: &StatedBoard) -> u128 {
    hash_board(Par::new(u16::try_from(board.par).unwrap()), &board.canonical)
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_batch_sent_many_times_at_once_is_stored_once(pool: PgPool) {
    let farm = std::sync::Arc::new(Farm::new(pool));
    let (session, lease) = farm.leased().await;
    let batch = batch(session, &lease, some_boards());
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let (farm, batch) = (farm.clone(), batch.clone());
            tokio::spawn(async move { farm.submit(batch).await.unwrap() })
        })
        .collect();
    let mut acks = Vec::new();
    for call in calls {
        acks.push(call.await.unwrap());
    }
    assert!(acks.iter().all(|ack| *ack == acks[0]), "{acks:?}");
    assert_eq!(acks[0].n_inserted as usize, batch.boards.len());
    assert_eq!(
        farm.count("SELECT n_new + n_known FROM jobs").await,
        i64::from(acks[0].n_inserted)
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_wrong_par_is_refused_and_noted_against_the_worker(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let lie = StatedBoard {
        par: 50,
        ..stated(HARDEST)
    };
    let ack = farm.submit(batch(session, &lease, vec![lie])).await.unwrap();
    assert_eq!((ack.n_inserted, ack.rejected[0].code), (0, RejectCode::WrongPar));
    assert_eq!(farm.count("SELECT count(*) FROM boards").await, 0);
    assert_eq!(farm.count("SELECT strikes::bigint FROM workers").await, 1);
    assert_eq!(
        farm.text("SELECT canonical || ' ' || stated_par FROM rejections")
            .await,
        format!("{HARDEST} 50")
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'worker_struck'")
            .await,
        1
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn every_lie_is_refused_by_its_name(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let truth = stated(HARDEST);
    // One slide from the representative: a board of the same cluster.
    let board: board::Board = HARDEST.parse().unwrap();
    let beside = board.apply(board.slides()[0]).unwrap().canonical();
    let lies = [
        (
            StatedBoard {
                canonical: "hello".to_owned(),
                ..truth.clone()
            },
            RejectCode::NotABoard,
        ),
        (
            StatedBoard {
                canonical: "\0".to_owned(),
                ..truth.clone()
            },
            RejectCode::NotABoard,
        ),
        (
            StatedBoard {
                canonical: HARDEST.replace('B', "Z"),
                ..truth.clone()
            },
            RejectCode::NotCanonical,
        ),
        (
            StatedBoard {
                canonical: beside.to_string(),
                ..truth.clone()
            },
            RejectCode::NotRepresentative,
        ),
        (
            StatedBoard {
                par: 52,
                ..truth.clone()
            },
            RejectCode::WrongPar,
        ),
        (
            StatedBoard {
                par: 70_000,
                ..truth.clone()
            },
            RejectCode::WrongPar,
        ),
        (
            StatedBoard {
                par: u32::MAX,
                ..truth.clone()
            },
            RejectCode::WrongPar,
        ),
        (
            StatedBoard {
                states: 4_781,
                ..truth.clone()
            },
            RejectCode::WrongCluster,
        ),
        (
            StatedBoard {
                minimal: truth.minimal.map(|minimal| !minimal),
                ..truth.clone()
            },
            RejectCode::WrongCluster,
        ),
        (
            StatedBoard {
                canonical: unsolvable(),
                ..truth.clone()
            },
            RejectCode::Unsolvable,
        ),
        (stated("5x5:ooooooooooAAooBooooBooooo"), RejectCode::OutsideJob),
    ];
    let (boards, codes): (Vec<_>, Vec<_>) = lies.into_iter().unzip();
    let ack = farm.submit(batch(session, &lease, boards)).await.unwrap();
    let told: Vec<_> = ack.rejected.iter().map(|rejection| rejection.code).collect();
    assert_eq!(told, codes);
    assert_eq!(ack.n_inserted, 0);
    assert_eq!(
        farm.count("SELECT count(*) FROM rejections").await,
        i64::try_from(codes.len()).unwrap()
    );
}

fn unsolvable() -> String {
    let board: board::Board = "oooooooooooooAAooxoooooooooooooooooo".parse().unwrap();
    board.canonical().to_string()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn three_wrong_batches_put_a_worker_into_quarantine(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let lie = StatedBoard {
        par: 50,
        ..stated(HARDEST)
    };
    for n in 1..=3 {
        assert!(
            !farm.store.worker(session).await.unwrap().unwrap().is_quarantined,
            "before the batch {n}"
        );
        farm.submit(batch(session, &lease, vec![lie.clone()]))
            .await
            .unwrap();
    }
    let standing = farm.store.worker(session).await.unwrap().unwrap();
    assert!(standing.is_quarantined);
    assert_eq!(standing.directive, Directive::Run);
    farm.plan(1).await;
    assert!(
        farm.acquire(session, 1).await.is_empty(),
        "who is in quarantine is granted nothing"
    );
    assert_eq!(
        farm.count("SELECT count(*) FROM events WHERE kind = 'worker_quarantined'")
            .await,
        1
    );
    // What it found is still taken, proved as ever.
    assert_eq!(
        farm.submit(batch(session, &lease, vec![stated(HARDEST)]))
            .await
            .unwrap()
            .n_inserted,
        1
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn other_boards_under_an_id_that_is_taken_are_stored_all_the_same(pool: PgPool) {
    let farm = std::sync::Arc::new(Farm::new(pool));
    let (session, lease) = farm.leased().await;
    let boards = some_boards();
    let (some, others) = boards.split_at(boards.len() / 2);
    // Two copies of one machine draw the same id, and send at once.
    let one = batch(session, &lease, some.to_vec());
    let other = Batch {
        boards: others.to_vec(),
        ..one.clone()
    };
    let mut answers = Vec::new();
    for sent in [&one, &other] {
        let calls = (0..4).map(|_| {
            let (farm, sent) = (farm.clone(), sent.clone());
            tokio::spawn(async move {
                for _ in 0..1_000 {
                    match farm.submit(sent.clone()).await {
                        Err(SubmitError::Store(StoreError::IdTaken) | SubmitError::Busy(_)) => {
                            tokio::task::yield_now().await;
                        }
                        answer => return answer.unwrap(),
                    }
                }
                panic!("sent a thousand times and never stored")
            })
        });
        answers.push((sent.boards.len(), calls.collect::<Vec<_>>()));
    }
    for (n_boards, calls) in answers {
        for call in calls {
            assert_eq!(call.await.unwrap().n_inserted as usize, n_boards);
        }
    }
    assert_eq!(
        farm.count("SELECT count(*) FROM boards").await,
        i64::try_from(boards.len()).unwrap()
    );
    assert_eq!(farm.count("SELECT count(*) FROM batches").await, 2);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_of_a_lost_lease_are_stored(pool: PgPool) {
    let farm = Farm::new(pool);
    let (slow, lost) = farm.leased().await;
    farm.let_run_out(lost.job).await;
    farm.store.expire(5).await.unwrap();
    let quick = farm.join("quick").await;
    farm.acquire(quick, 1).await;
    let ack = farm
        .submit(batch(slow, &lost, vec![stated(HARDEST)]))
        .await
        .unwrap();
    assert_eq!(ack.n_inserted, 1);
    assert_eq!(farm.text("SELECT worker FROM discoveries").await, "w");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_under_another_workers_lease_are_facts_and_count_for_no_job(pool: PgPool) {
    let farm = Farm::proving(pool, 0.0);
    let (_, lease) = farm.leased().await;
    // A spool that another farm's worker left may name any lease; so may a liar, whose boards are proved like all others.
    let moved = farm.join("moved").await;
    let mut boards = some_boards();
    boards.push(StatedBoard {
        par: boards[0].par + 1,
        ..boards[0].clone()
    });
    let ack = farm.submit(batch(moved, &lease, boards.clone())).await.unwrap();
    assert_eq!(
        (ack.n_inserted as usize, ack.rejected.len()),
        (boards.len() - 1, 1)
    );
    assert_eq!(farm.count("SELECT n_new FROM jobs").await, 0);
    assert_eq!(
        farm.count("SELECT count(*) FROM batches WHERE job_id IS NOT NULL")
            .await,
        0
    );
    let unknown = batch(Session::new(Uuid::new_v4()), &lease, some_boards());
    let error = farm.submit(unknown).await.unwrap_err();
    assert!(matches!(error, SubmitError::NoSession), "{error}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn boards_under_a_lease_that_the_database_has_forgotten_are_proved_and_stored(pool: PgPool) {
    let farm = Farm::proving(pool, 0.0);
    let (session, lease) = farm.leased().await;
    let forgotten = Lease {
        token: FencingToken::new(lease.token.get() + 7).unwrap(),
        ..lease
    };
    // Whatever share is proved, and whatever the hunt is for: of these, every board is proved, on any lot.
    let mut boards = some_boards();
    boards.push(stated("4x4:oooBAAoBoooooooo"));
    let wrong = StatedBoard {
        par: boards[0].par + 1,
        ..boards[0].clone()
    };
    boards.push(wrong);
    let sent = batch(session, &forgotten, boards.clone());
    let ack = farm.submit(sent.clone()).await.unwrap();
    assert_eq!(
        (ack.n_inserted as usize, ack.rejected.len()),
        (boards.len() - 1, 1)
    );
    assert_eq!(farm.submit(sent).await.unwrap(), ack, "again, the same answer");
    assert_eq!(
        farm.text("SELECT source FROM batches").await,
        format!(
            "worker w, lease {} of job {}, which is not its own here",
            forgotten.token, forgotten.job
        )
    );
    assert_eq!(
        farm.count("SELECT max(strikes)::bigint FROM workers").await,
        1,
        "a lie is a lie"
    );
    let stranger = batch(Session::new(uuid::Uuid::new_v4()), &forgotten, boards);
    farm.submit(stranger).await.unwrap_err();
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_a_coordinator_remembers_of_a_database_that_was_set_back_loses_nothing(pool: PgPool) {
    let farm = Farm::new(pool);
    let (session, lease) = farm.leased().await;
    let boards = some_boards();
    farm.submit(batch(session, &lease, boards.clone())).await.unwrap();
    let again = farm.submit(batch(session, &lease, boards.clone())).await.unwrap();
    assert_eq!(again.n_duplicate as usize, boards.len());
    // A backup of before is put in its place, under the feet of a coordinator that goes on.
    for statement in [
        "DELETE FROM boards",
        "DELETE FROM board_counts",
        "DELETE FROM batches",
        "SELECT setval(pg_get_serial_sequence('batches', 'id'), 1, false)",
    ] {
        sqlx::query(statement).execute(&farm.pool).await.unwrap();
    }
    let sent = batch(session, &lease, boards.clone());
    let error = farm.submit(sent.clone()).await.unwrap_err();
    assert!(
        matches!(error, SubmitError::Store(StoreError::SetBack)),
        "{error}"
    );
    assert!(StoreError::SetBack.is_retryable(), "the worker comes again");
    let ack = farm.submit(sent).await.unwrap();
    assert_eq!(ack.n_inserted as usize, boards.len());
    assert_eq!(
        farm.count("SELECT count(*) FROM boards").await,
        i64::try_from(boards.len()).unwrap()
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn workers_that_find_the_same_boards_at_once_store_each_once(pool: PgPool) {
    let farm = std::sync::Arc::new(Farm::new(pool));
    farm.hunt_of(4).await;
    let boards = some_boards();
    let mut calls = Vec::new();
    for n in 0..4_usize {
        let session = farm.join(&format!("w{n}")).await;
        let lease = farm.acquire(session, 1).await.remove(0);
        let mut boards = boards.clone();
        boards.rotate_left(n);
        let farm = farm.clone();
        calls.push(tokio::spawn(async move {
            farm.submit(batch(session, &lease, boards)).await.unwrap()
        }));
    }
    let mut n_inserted = 0;
    let mut n_duplicate = 0;
    for call in calls {
        let ack = call.await.unwrap();
        n_inserted += ack.n_inserted as usize;
        n_duplicate += ack.n_duplicate as usize;
    }
    assert_eq!((n_inserted, n_duplicate), (boards.len(), 3 * boards.len()));
    let (counted, kept) = (
        "SELECT count(*) FROM boards",
        "SELECT sum(n_boards)::bigint FROM board_counts",
    );
    assert_eq!(farm.count(counted).await, farm.count(kept).await);
    assert_eq!(
        farm.count("SELECT sum(n_new)::bigint FROM jobs").await,
        i64::try_from(boards.len()).unwrap()
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn records_are_proved_even_where_nothing_else_is(pool: PgPool) {
    let farm = Farm::proving(pool, 0.0);
    let (session, lease) = farm.leased().await;
    farm.submit(batch(session, &lease, vec![stated(HARDEST)]))
        .await
        .unwrap();
    let easy = some_boards().into_iter().find(|board| board.par < 40).unwrap();
    let boards = vec![
        StatedBoard {
            par: 53,
            ..easy.clone()
        },
        StatedBoard {
            par: 49,
            ..easy.clone()
        },
        StatedBoard {
            states: easy.states + 1,
            ..easy
        },
    ];
    let ack = farm.submit(batch(session, &lease, boards)).await.unwrap();
    let refused: Vec<_> = ack
        .rejected
        .iter()
        .map(|rejection| (rejection.board_idx, rejection.code))
        .collect();
    assert_eq!(refused, [(0, RejectCode::WrongPar), (1, RejectCode::WrongPar)]);
    assert_eq!(ack.n_inserted, 1, "the third is not a record and is believed");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_full_prover_sends_batches_away(pool: PgPool) {
    let mut farm = Farm::new(pool);
    farm.config.proving.max_batches = 1;
    let prover = coordinator::Prover::start(farm.config.proving).unwrap();
    let case = coordinator::prove::Case {
        space: Some(((6, 6), 2)),
        best_par: None,
        max_states: None,
    };
    // Polled once, the first is on the pool and holds the only place until its answer was made.
    let first = prover.judge(vec![stated(HARDEST); 1_000], case);
    let mut first = Box::pin(first);
    tokio::select! {
        biased;
        _ = &mut first => panic!("1,000 proofs are not made within one poll"),
        () = std::future::ready(()) => {}
    }
    let refused = prover.judge(vec![stated(HARDEST)], case).await;
    assert_eq!(
        refused.map(|_| ()),
        Err(coordinator::prove::Busy { n_batches: 1 })
    );
    // Once that answer was made there is room again.
    first.await.unwrap();
    let (_, verdicts) = prover.judge(vec![stated(HARDEST)], case).await.unwrap();
    assert!(verdicts[0].is_ok());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_board_beyond_what_its_job_allows_is_refused_whatever_is_stated(pool: PgPool) {
    let mut farm = Farm::new(pool);
    // Its cluster has 4,780 positions; the provers themselves would take a million.
    farm.config.sizing.max_states = 1_000;
    let (session, lease) = farm.leased().await;
    let honest = stated(HARDEST);
    let smaller = StatedBoard {
        states: 900,
        ..honest.clone()
    };
    let ack = farm
        .submit(batch(session, &lease, vec![honest, smaller]))
        .await
        .unwrap();
    let codes: Vec<_> = ack.rejected.iter().map(|rejection| rejection.code).collect();
    assert_eq!(codes, [RejectCode::TooLarge, RejectCode::TooLarge]);
    assert_eq!(ack.n_inserted, 0);
}
