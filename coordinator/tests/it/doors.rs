//! The coordinator as workers and operators meet it: over gRPC, and over HTTP.

use std::time::Duration;

use board::Board;
use board::cluster::Explorer;
use coordinator::Coordinator;
use proto::convert::{JobKind, Lease, LeaseOutcome, StatedBoard};
use proto::v1;
use proto::v1::farm_client::FarmClient;
use proto::v1::operator_client::OperatorClient;
use sqlx::PgPool;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tonic::Code;
use tonic::transport::Channel;
use uuid::Uuid;

use crate::fixture::{Farm, hello, space, stated};

/// Long enough for anything that is going to happen; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// No vehicle can let B go down far enough, but tens of millions of positions say nothing of it.
const ENDLESS: &str = "DDEEoooBFFGGoooBHHIIoooBAAoooooBJJKKooooLLooxCCCMMNNooooPPQQoooo";

struct Running {
    coordinator: Coordinator,
    farm: FarmClient<Channel>,
    operator: OperatorClient<Channel>,
}

async fn start(pool: &PgPool) -> Running {
    let farm = Farm::new(pool.clone());
    let coordinator = Coordinator::start(farm.config, farm.store, CancellationToken::new())
        .await
        .unwrap();
    let url = format!("http://{}", coordinator.local_addr());
    let channel = Channel::from_shared(url).unwrap().connect().await.unwrap();
    Running {
        coordinator,
        farm: FarmClient::new(channel.clone()),
        operator: OperatorClient::new(channel),
    }
}

async fn stop(running: Running) {
    running.coordinator.shutdown();
    drop((running.farm, running.operator));
    tokio::time::timeout(PATIENCE, running.coordinator.join())
        .await
        .unwrap();
}

async fn session(farm: &mut FarmClient<Channel>) -> String {
    farm.hello(v1::HelloRequest::from(hello("w")))
        .await
        .unwrap()
        .into_inner()
        .session
}

fn acquire(session: &str, wait_ms: u32) -> v1::AcquireRequest {
    v1::AcquireRequest {
        request_id: Uuid::new_v4().to_string(),
        session: session.to_owned(),
        free_slots: 1,
        kinds: vec![JobKind::Scatter.to_wire(), JobKind::Anneal.to_wire()],
        wait_ms,
    }
}

fn hunt(name: &str) -> v1::CreateHuntRequest {
    v1::CreateHuntRequest {
        census: None,
        plan: None,
        name: name.to_owned(),
        space: Some((&space()).into()),
        strategy: v1::Strategy::Scatter.into(),
        budget: Some(v1::Budget {
            jobs: Some(2),
            ..v1::Budget::default()
        }),
        priority: 0,
        seed: Some(u64::MAX),
        aim: v1::HuntAim::Unspecified.into(),
        mix: Vec::new(),
    }
}

#[sqlx::test(migrations = false)]
async fn a_job_goes_its_way_and_a_restarted_coordinator_goes_on(pool: PgPool) {
    let mut running = start(&pool).await;
    let created = running
        .operator
        .create_hunt(hunt("a"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (created.seed, created.state()),
        (u64::MAX, v1::HuntState::Running)
    );
    let session = session(&mut running.farm).await;
    let wire = running
        .farm
        .acquire(acquire(&session, 0))
        .await
        .unwrap()
        .into_inner()
        .leases
        .remove(0);
    let lease = Lease::try_from(wire).unwrap();
    let result = lease.spec.boards().unwrap().run(&mut Explorer::new());
    assert!(!result.found.is_empty(), "a job this small finds something");

    // The coordinator ends in the middle of the job; the worker sees nothing but another address.
    stop(running).await;
    let mut running = start(&pool).await;
    let request = v1::SubmitBoardsRequest {
        session: session.clone(),
        batch_id: Uuid::new_v4().to_string(),
        job_id: lease.job.get(),
        token: lease.token.get(),
        boards: result
            .found
            .iter()
            .map(|found| StatedBoard::from(found).into())
            .collect(),
        jams: Vec::new(),
        known: Vec::new(),
    };
    let ack = running.farm.submit_boards(request).await.unwrap().into_inner();
    assert_eq!(
        (ack.inserted as usize, ack.rejected.len()),
        (result.found.len(), 0)
    );
    let claim = v1::CompleteJobRequest {
        census: None,
        measures: None,
        session: session.clone(),
        job_id: lease.job.get(),
        token: lease.token.get(),
        counters: Some((&result.counters).into()),
        digest: result.digest.to_bytes().to_vec(),
        cpu_ms: 0,
    };
    let outcome = running
        .farm
        .complete_job(claim)
        .await
        .unwrap()
        .into_inner()
        .outcome;
    assert_eq!(outcome, LeaseOutcome::Accepted.to_wire());

    let job = running
        .operator
        .get_job(v1::GetJobRequest { id: lease.job.get() })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (job.state(), job.digest),
        (v1::JobState::Done, result.digest.to_bytes().to_vec())
    );
    let replayed = board::job::JobSpec::try_from(job.spec.unwrap())
        .unwrap()
        .run(&mut Explorer::new());
    assert_eq!(replayed.digest, result.digest);
    let progress = v1::GetHuntProgressRequest { id: created.id };
    let progress = running
        .operator
        .get_hunt_progress(progress)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (progress.boards_new as usize, progress.jobs_done),
        (result.found.len(), 1)
    );
    stop(running).await;
}

#[sqlx::test(migrations = false)]
async fn a_call_that_waits_for_work_hears_of_a_new_hunt(pool: PgPool) {
    let mut running = start(&pool).await;
    let session = session(&mut running.farm).await;
    let mut farm = running.farm.clone();
    let waiting = tokio::spawn(async move {
        farm.acquire(acquire(&session, 20_000))
            .await
            .unwrap()
            .into_inner()
    });
    running.operator.create_hunt(hunt("a")).await.unwrap();
    let answer = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    assert_eq!(answer.leases.len(), 1);
    stop(running).await;
}

#[sqlx::test(migrations = false)]
async fn a_shutdown_does_not_wait_for_calls_that_wait(pool: PgPool) {
    let mut running = start(&pool).await;
    let session = session(&mut running.farm).await;
    let mut farm = running.farm.clone();
    let waiting = tokio::spawn(async move { farm.acquire(acquire(&session, 20_000)).await });
    stop(running).await;
    let answer = tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    assert!(answer.is_err() || answer.unwrap().into_inner().leases.is_empty());
}

#[sqlx::test(migrations = false)]
async fn strangers_old_engines_and_broken_messages_are_sent_away(pool: PgPool) {
    let mut running = start(&pool).await;
    let stranger = Uuid::new_v4().to_string();
    let code = |status: tonic::Status| status.code();
    assert_eq!(
        code(running.farm.acquire(acquire(&stranger, 0)).await.unwrap_err()),
        Code::Unauthenticated
    );
    let beat = v1::HeartbeatRequest {
        session: stranger.clone(),
        seq: 1,
        leases: Vec::new(),
    };
    assert_eq!(
        code(running.farm.heartbeat(beat).await.unwrap_err()),
        Code::Unauthenticated
    );
    let batch = v1::SubmitBoardsRequest {
        session: stranger.clone(),
        batch_id: stranger,
        job_id: 1,
        token: 1,
        boards: vec![stated(crate::fixture::HARDEST).into()],
        jams: Vec::new(),
        known: Vec::new(),
    };
    assert_eq!(
        code(running.farm.submit_boards(batch.clone()).await.unwrap_err()),
        Code::Unauthenticated
    );
    let session = session(&mut running.farm).await;
    // A lease that nobody here was ever granted: boards are facts, whoever found them under whatever.
    let held_never = v1::SubmitBoardsRequest { session, ..batch };
    let ack = running.farm.submit_boards(held_never).await.unwrap().into_inner();
    assert_eq!(ack.inserted, 1);
    assert_eq!(
        code(running.farm.acquire(acquire("me", 0)).await.unwrap_err()),
        Code::InvalidArgument
    );
    // Another engine is leased nothing, and told why; what it found is taken.
    let old = v1::HelloRequest {
        engine: "parforce-0".to_owned(),
        ..hello("old").into()
    };
    let welcome = running.farm.hello(old).await.unwrap().into_inner();
    assert_eq!(welcome.directive(), v1::Directive::Upgrade);
    assert!(
        welcome.refusal.contains("install parforce"),
        "{}",
        welcome.refusal
    );
    let refused = running
        .farm
        .acquire(acquire(&welcome.session, 0))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert_eq!(refused.message(), welcome.refusal);
    let beat = v1::HeartbeatRequest {
        session: welcome.session,
        seq: 1,
        leases: Vec::new(),
    };
    let orders = running.farm.heartbeat(beat).await.unwrap().into_inner();
    assert_eq!(orders.directive(), v1::Directive::Upgrade);
    // So is who has not tested itself, or whose test went wrong.
    let broken = v1::HelloRequest {
        self_test_digest: vec![1; 16],
        ..hello("broken").into()
    };
    let welcome = running.farm.hello(broken).await.unwrap().into_inner();
    assert!(welcome.refusal.contains("self-test"), "{}", welcome.refusal);
    let newer = v1::HelloRequest {
        protocol_first: 2,
        protocol_last: 3,
        ..hello("w").into()
    };
    assert_eq!(
        code(running.farm.hello(newer).await.unwrap_err()),
        Code::FailedPrecondition
    );
    stop(running).await;
}

#[sqlx::test(migrations = false)]
async fn hello_again_is_the_same_session(pool: PgPool) {
    let mut running = start(&pool).await;
    let hello = v1::HelloRequest::from(hello("w"));
    let first = running.farm.hello(hello.clone()).await.unwrap().into_inner();
    let again = running.farm.hello(hello).await.unwrap().into_inner();
    assert_eq!(first.session, again.session);
    let workers = running
        .operator
        .list_workers(v1::ListWorkersRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (workers.workers.len(), workers.workers[0].state.as_str()),
        (1, "live")
    );
    let goodbye = v1::GoodbyeRequest {
        session: first.session,
    };
    assert_eq!(
        running
            .farm
            .goodbye(goodbye)
            .await
            .unwrap()
            .into_inner()
            .n_released,
        0
    );
    let workers = running
        .operator
        .list_workers(v1::ListWorkersRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert!(workers.workers.is_empty());
    stop(running).await;
}

#[sqlx::test(migrations = false)]
async fn operators_pause_resume_and_cancel_and_hear_why_not(pool: PgPool) {
    let mut running = start(&pool).await;
    let id = running
        .operator
        .create_hunt(hunt("a"))
        .await
        .unwrap()
        .into_inner()
        .id;
    let operator = &mut running.operator;
    let paused = operator
        .pause_hunt(v1::PauseHuntRequest { id })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(paused.state(), v1::HuntState::Paused);
    let refused = operator
        .pause_hunt(v1::PauseHuntRequest { id })
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    operator.resume_hunt(v1::ResumeHuntRequest { id }).await.unwrap();
    let cancelled = operator
        .cancel_hunt(v1::CancelHuntRequest { id })
        .await
        .unwrap()
        .into_inner();
    assert_eq!(cancelled.state(), v1::HuntState::Cancelled);
    assert_eq!(
        operator
            .get_hunt(v1::GetHuntRequest { id: 99 })
            .await
            .unwrap_err()
            .code(),
        Code::NotFound
    );
    let bad = v1::CreateHuntRequest {
        name: String::new(),
        ..hunt("a")
    };
    assert_eq!(
        operator.create_hunt(bad).await.unwrap_err().code(),
        Code::InvalidArgument
    );
    assert_eq!(
        operator
            .list_hunts(v1::ListHuntsRequest {})
            .await
            .unwrap()
            .into_inner()
            .hunts
            .len(),
        1
    );
    stop(running).await;
}

#[sqlx::test(migrations = false)]
async fn health_metrics_and_the_first_page_are_served(pool: PgPool) {
    let mut running = start(&pool).await;
    running.operator.create_hunt(hunt("<script>")).await.unwrap();
    let addr = running.coordinator.web_addr().unwrap();
    for (path, status, text) in [
        ("/healthz", 200, "alive"),
        ("/readyz", 200, "ready"),
        ("/metrics", 200, "parforce_boards 0"),
        ("/", 200, "&lt;script&gt;"),
        ("/nowhere", 404, ""),
    ] {
        let answer = get(addr, path).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {answer}"
        );
        assert!(answer.contains(text), "{path}: {answer}");
    }
    stop(running).await;
}

async fn get(addr: std::net::SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[sqlx::test(migrations = false)]
async fn a_hint_is_the_first_slide_of_a_shortest_solution(pool: PgPool) {
    let mut running = start(&pool).await;
    let mut hint = async |board: &str| {
        let request = v1::HintRequest {
            board: board.to_owned(),
        };
        running
            .operator
            .hint(request)
            .await
            .map(tonic::Response::into_inner)
    };

    // Following hints solves the board in its par; the letters are those of the question.
    let mut board: Board = "BBoZoJFooZIJFAAZIKFCCCIKGoooDDGoooEE".parse().unwrap();
    let expected = board::plain::par(&board).unwrap();
    for left in (1..=expected).rev() {
        let hinted = hint(&board.to_string()).await.unwrap();
        assert_eq!(hinted.par, Some(left.into()), "{board}");
        let hinted = hinted.slide.unwrap();
        let slides = board.slides();
        let slide = slides.iter().find(|&&slide| board.spell_slide(slide) == hinted);
        board = board.apply(*slide.unwrap()).unwrap();
    }
    let solved = hint(&board.to_string()).await.unwrap();
    assert_eq!((solved.slide, solved.par), (None, Some(0)));

    let unsolvable = hint("ooooooooooooAAoxoooooooooooooooooooo").await.unwrap();
    assert_eq!((unsolvable.slide, unsolvable.par), (None, None));

    let long = "o".repeat(10_000);
    for (text, reason) in [
        ("", "square lot"),
        ("ooooooooooooAAoBoooooooooooooooooooo", "single square"),
        ("oooooooooBoooooBoooooooooooooooooooo", "no hero"),
        (long.as_str(), "bytes"),
    ] {
        let refused = hint(text).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{text}");
        assert!(refused.message().contains(reason), "{}", refused.message());
    }
    // The call's own limit, not the board's fault.
    let refused = hint(ENDLESS).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition, "{}", refused.message());
    stop(running).await;
}
