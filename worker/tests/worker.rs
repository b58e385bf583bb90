//! A whole worker against a coordinator in memory: what it does when calls, leases, coordinators and processes fail.
#![expect(clippy::unwrap_used, reason = "tests; the lint does not know their helpers")]

mod fake;

use std::path::Path;
use std::time::Duration;

use board::Lot;
use board::cluster::Explorer;
use board::job::{Frame, JobResult, JobSpec};
use board::scatter::ScatterSpec;
use board::space::BoardSpace;
use fake::{Fake, State};
use proto::v1::{Directive, LeaseAction, ReleaseReason};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use worker::{Config, Departure, Progress, Shutdown, WorkerError};

/// A job of 4 x 5 squares that takes milliseconds.
fn short_job(seed: u64) -> JobSpec {
    job(Frame {
        seed,
        n_shards: 4,
        iterations_per_shard: 100,
        max_states: 1_000,
    })
}

/// A job that no test waits for.
fn endless_job(seed: u64) -> JobSpec {
    job(Frame {
        seed,
        n_shards: 10_000,
        iterations_per_shard: 5_000,
        max_states: 1_000,
    })
}

fn job(frame: Frame) -> JobSpec {
    let space = BoardSpace::usual(Lot::new(5, 5).unwrap()).unwrap();
    JobSpec::Scatter(ScatterSpec::new(space, frame).unwrap())
}

struct Worker {
    shutdown: Shutdown,
    progress: watch::Receiver<Progress>,
    ended: JoinHandle<Result<Departure, WorkerError>>,
}

fn start(fake: &Fake, spool: Option<&Path>) -> Worker {
    start_as(Config {
        spool_dir: spool.map(Path::to_owned),
        ..Config::new(fake.url(), "test")
    })
}

fn start_as(config: Config) -> Worker {
    let config = Config {
        n_threads: 2,
        ..config
    };
    let (shutdown, (progress, watcher)) = (Shutdown::default(), watch::channel(Progress::default()));
    let ended = tokio::spawn(worker::run(config, shutdown.clone(), progress));
    Worker {
        shutdown,
        progress: watcher,
        ended,
    }
}

impl Worker {
    async fn drain(self) -> Progress {
        self.shutdown.drain.cancel();
        assert_eq!(self.ended.await.unwrap().unwrap(), Departure::Told);
        self.progress.borrow().clone()
    }
}

/// Every shard's find, that is, whole or stopped; shards of one job may find the same, which is sent once.
fn assert_all_handed_in(fake: &Fake, progress: &Progress) {
    let (par, canonical) = progress.hardest.clone().expect("something was found");
    fake.with(|state| {
        assert!(state.boards.contains(&(par.get().into(), canonical.to_string())));
        assert_eq!(state.boards.len() as u64, progress.boards_inserted);
    });
    assert!(progress.boards_inserted + progress.boards_duplicate <= progress.counters.found);
}

fn boards_of(results: &[JobResult]) -> usize {
    let all = results.iter().flat_map(|result| &result.found);
    all.map(|found| (found.par, &found.canonical))
        .collect::<std::collections::BTreeSet<_>>()
        .len()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_claimed_with_the_digest_of_a_replay_after_their_boards_are_stored() {
    let specs = [short_job(1), short_job(2), short_job(3)];
    let results = specs.clone().map(|spec| spec.run(&mut Explorer::new()));
    let fake = Fake::start(specs).await;
    let worker = start(&fake, None);
    fake.until(|state| state.completions.len() == 3).await;
    let progress = worker.drain().await;
    fake.with(|state| {
        for completion in &state.completions {
            let result = &results[usize::try_from(completion.job_id).unwrap() - 1];
            assert_eq!(completion.digest, result.digest.to_bytes());
            assert_eq!(completion.counters, Some((&result.counters).into()));
        }
        assert_eq!(state.boards.len(), boards_of(&results));
        assert_eq!(state.n_goodbyes, 1);
        assert!(state.releases.is_empty());
    });
    assert_eq!(progress.jobs_completed, 3);
    assert_eq!(progress.boards_inserted, boards_of(&results) as u64);
    let hardest = results
        .iter()
        .filter_map(|result| result.found.last())
        .map(|found| found.par)
        .max();
    assert_eq!(progress.hardest.map(|(par, _)| par), hardest);
}

/// The worker of one slot runs the same job twice; `between` happens after the first.
async fn run_twice(fake: &Fake, between: impl FnOnce(&mut State)) -> Progress {
    fake.with(|state| state.takes_hashes = true);
    let worker = start(fake, None);
    fake.until(|state| state.completions.len() == 1).await;
    fake.with(|state| {
        between(state);
        state.queue.push_back(Some(short_job(1)));
    });
    fake.until(|state| state.completions.len() == 2).await;
    worker.drain().await
}

#[tokio::test(flavor = "multi_thread")]
async fn boards_that_are_stored_are_named_by_their_hashes_when_they_are_found_again() {
    let n_boards = boards_of(&[short_job(1).run(&mut Explorer::new())]);
    let fake = Fake::start([short_job(1)]).await;
    let progress = run_twice(&fake, |_| {}).await;
    fake.with(|state| {
        assert_eq!((state.n_spelled, state.n_by_hash), (n_boards, n_boards));
        assert_eq!(state.boards.len(), n_boards);
    });
    assert_eq!(progress.boards_by_hash, n_boards as u64);
    assert_eq!(progress.boards_duplicate, n_boards as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_remembers_nothing_has_boards_spelled_out_again() {
    let n_boards = boards_of(&[short_job(1).run(&mut Explorer::new())]);
    let fake = Fake::start([short_job(1)]).await;
    let progress = run_twice(&fake, |state| {
        state.remembered.clear();
        state.boards.clear();
    })
    .await;
    fake.with(|state| {
        assert_eq!(state.boards.len(), n_boards);
        // The job comes in several batches: a later one may find what an earlier one spelled out.
        assert!(state.n_spelled > n_boards);
        assert_eq!(state.n_spelled + state.n_by_hash, 2 * n_boards);
    });
    assert_eq!(progress.boards_inserted, 2 * n_boards as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_passes_over_hashes_gets_every_board_all_the_same() {
    let n_boards = boards_of(&[short_job(1).run(&mut Explorer::new())]);
    let fake = Fake::start([short_job(1)]).await;
    let progress = run_twice(&fake, |state| {
        state.ignores_hashes = true;
        state.boards.clear();
    })
    .await;
    fake.with(|state| {
        assert_eq!(state.boards.len(), n_boards);
        assert_eq!((state.n_spelled, state.n_by_hash), (2 * n_boards, 0));
    });
    assert_eq!(progress.boards_inserted, 2 * n_boards as u64);
    assert_eq!(progress.boards_by_hash, 0);
}

#[test]
fn a_replay_is_the_same_on_one_thread_and_on_four() {
    let spec = short_job(5);
    let one = worker::replay(&spec, 1).unwrap();
    assert_eq!(worker::replay(&spec, 4).unwrap(), one);
    assert_eq!(spec.run(&mut Explorer::new()), one);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acquire_whose_answer_was_lost_brings_the_same_leases() {
    let fake = Fake::start([short_job(1), short_job(2)]).await;
    fake.with(|state| state.lose_acquire_answers = 1);
    let worker = start(&fake, None);
    fake.until(|state| state.completions.len() == 2).await;
    worker.drain().await;
    fake.with(|state| {
        let granted: Vec<usize> = state.grants.values().map(Vec::len).filter(|&n| n > 0).collect();
        assert_eq!(granted, [1, 1], "no request took more than it was granted");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_answer_was_lost_is_sent_again_under_its_id() {
    let fake = Fake::start([short_job(1)]).await;
    fake.with(|state| state.lose_submit_answers = 1);
    let worker = start(&fake, None);
    fake.until(|state| state.completions.len() == 1).await;
    let progress = worker.drain().await;
    fake.with(|state| {
        assert_eq!(state.n_submits, state.acks.len() + 1);
        assert_eq!(progress.boards_inserted, state.boards.len() as u64);
        assert_eq!(progress.boards_duplicate, 0);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_is_released_and_what_it_found_is_handed_in() {
    let fake = Fake::start([endless_job(1)]).await;
    let worker = start(&fake, None);
    fake.until(|state| !state.boards.is_empty()).await;
    fake.with(|state| state.action = Some(LeaseAction::Cancel));
    fake.until(|state| !state.releases.is_empty()).await;
    fake.with(|state| {
        assert_eq!(state.releases[0].reason(), ReleaseReason::Cancelled);
        assert!(state.completions.is_empty());
    });
    let progress = worker.drain().await;
    assert_all_handed_in(&fake, &progress);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_job_is_released_as_paused() {
    let fake = Fake::start([endless_job(1)]).await;
    let worker = start(&fake, None);
    fake.with(|state| state.action = Some(LeaseAction::Pause));
    fake.until(|state| !state.releases.is_empty()).await;
    fake.with(|state| assert_eq!(state.releases[0].reason(), ReleaseReason::Paused));
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_lease_is_not_claimed_and_what_it_found_is_handed_in() {
    let fake = Fake::start([endless_job(1)]).await;
    let mut worker = start(&fake, None);
    fake.until(|state| !state.boards.is_empty()).await;
    fake.with(|state| state.action = Some(LeaseAction::Lost));
    worker
        .progress
        .wait_for(|progress| progress.jobs_lost == 1)
        .await
        .unwrap();
    let progress = worker.drain().await;
    fake.with(|state| assert!(state.completions.is_empty() && state.releases.is_empty()));
    assert_all_handed_in(&fake, &progress);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_cannot_be_renewed_is_given_up_by_the_worker_itself() {
    let fake = Fake::start([endless_job(1)]).await;
    fake.with(|state| {
        state.lease_ttl = std::time::Duration::from_millis(300);
        state.is_heartbeat_away = true;
    });
    let mut worker = start(&fake, None);
    worker
        .progress
        .wait_for(|progress| progress.jobs_lost == 1)
        .await
        .unwrap();
    fake.with(|state| {
        assert!(state.completions.is_empty() && state.releases.is_empty());
        state.is_heartbeat_away = false;
    });
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beats_renew_leases_and_tell_of_work_done() {
    let fake = Fake::start([endless_job(1)]).await;
    fake.with(|state| state.lease_ttl = std::time::Duration::from_millis(600));
    let worker = start(&fake, None);
    // Far longer than the lease.
    fake.until(|state| state.beats.len() > 80).await;
    let progress = worker.drain().await;
    assert_eq!(progress.jobs_lost, 0);
    fake.with(|state| {
        assert!(state.beats.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        let work: Vec<u64> = state
            .beats
            .iter()
            .flat_map(|beat| &beat.leases)
            .map(|lease| lease.work_done)
            .collect();
        assert!(work.windows(2).all(|pair| pair[0] <= pair[1]) && work.last() > work.first());
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_told_to_leave_hands_in_releases_and_says_goodbye() {
    let fake = Fake::start([endless_job(1)]).await;
    let worker = start(&fake, None);
    fake.until(|state| !state.boards.is_empty()).await;
    let progress = worker.drain().await;
    fake.with(|state| {
        assert_eq!(state.releases.len(), 1);
        assert!(
            state
                .releases
                .iter()
                .all(|release| release.reason() == ReleaseReason::Drain)
        );
        assert_eq!(state.n_goodbyes, 1);
    });
    assert_all_handed_in(&fake, &progress);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_drained_by_the_coordinator_finishes_what_it_has_and_stays_to_be_told_to_run() {
    let fake = Fake::start([short_job(1)]).await;
    let worker = start(&fake, None);
    fake.until(|state| state.completions.len() == 1).await;
    let three_beats = async || {
        let n_beats = fake.with(|state| state.beats.len());
        fake.until(|state| state.beats.len() > n_beats + 3).await;
    };
    fake.with(|state| state.directive = Some(Directive::Drain));
    three_beats().await;
    // A call that waits already may bring one more job; after it there is none.
    fake.with(|state| state.queue.extend([2, 3, 4].map(|n| Some(short_job(n)))));
    three_beats().await;
    let n_left = fake.with(|state| state.queue.len());
    assert!(n_left >= 2, "{n_left} of 3");
    three_beats().await;
    fake.with(|state| {
        assert_eq!(state.queue.len(), n_left);
        assert!(state.releases.is_empty());
        state.directive = None;
    });
    fake.until(|state| state.completions.len() == 4).await;
    worker.drain().await;
    fake.with(|state| assert_eq!((state.n_goodbyes, state.releases.len()), (1, 0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_stopped_by_the_coordinator_releases_what_it_has() {
    let fake = Fake::start([endless_job(1)]).await;
    let worker = start(&fake, None);
    fake.until(|state| !state.beats.is_empty()).await;
    fake.with(|state| state.directive = Some(Directive::Upgrade));
    assert_eq!(worker.ended.await.unwrap().unwrap(), Departure::Upgrade);
    fake.with(|state| assert_eq!(state.releases[0].reason(), ReleaseReason::Drain));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_stopped_worker_could_not_hand_in_the_next_one_sends() {
    let spool = tempfile::tempdir().unwrap();
    let fake = Fake::start([short_job(1)]).await;
    fake.with(|state| state.is_submit_away = true);
    let worker = start(&fake, Some(spool.path()));
    // All four shards ended, so all batches but the last are on disk or on their way there; the stop is the kill.
    let mut progress = worker.progress.clone();
    progress
        .wait_for(|progress| progress.counters.iterations == 400)
        .await
        .unwrap();
    fake.until(|state| state.n_submits > 0).await;
    worker.shutdown.stop.cancel();
    worker.ended.await.unwrap().unwrap();
    assert!(fake.with(|state| state.boards.is_empty() && state.completions.is_empty()));
    let n_spooled = std::fs::read_dir(spool.path()).unwrap().count();
    assert!(n_spooled > 0);

    fake.with(|state| state.is_submit_away = false);
    let worker = start(&fake, Some(spool.path()));
    fake.until(|state| state.acks.len() == n_spooled).await;
    // The coordinator has them all; now the worker has to hear of it.
    let n_boards = fake.with(|state| state.boards.len() as u64);
    let mut progress = worker.progress.clone();
    progress
        .wait_for(|progress| progress.boards_inserted == n_boards)
        .await
        .unwrap();
    worker.drain().await;
    assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_a_full_spool_ends_when_told_to() {
    let spec = job(Frame {
        seed: 1,
        n_shards: 1,
        iterations_per_shard: 400,
        max_states: 1_000,
    });
    // The second batch finds the spool full, and no batch is ever acknowledged: the job waits for room without end.
    assert!(spec.run(&mut Explorer::new()).found.len() >= 2);
    let orders: [fn(&Shutdown); 2] = [|to| to.drain.cancel(), |to| to.stop.cancel()];
    for order in orders {
        let spool = tempfile::tempdir().unwrap();
        let fake = Fake::start([spec.clone()]).await;
        fake.with(|state| {
            state.is_submit_away = true;
            state.max_boards_per_batch = 1;
        });
        let worker = start_as(Config {
            spool_dir: Some(spool.path().to_owned()),
            max_spool_bytes: 1,
            drain_grace: Duration::ZERO,
            ..Config::new(fake.url(), "test")
        });
        fake.until(|state| state.n_submits > 0).await;
        order(&worker.shutdown);
        // A guard against hanging for good where it does not end.
        let ended = tokio::time::timeout(Duration::from_mins(2), worker.ended).await;
        let departure = ended.expect("the worker never ended").unwrap().unwrap();
        assert_eq!(departure, Departure::Told);
        // What was found before is kept for the next process, and nothing is claimed.
        assert_eq!(std::fs::read_dir(spool.path()).unwrap().count(), 1);
        assert!(fake.with(|state| state.boards.is_empty() && state.completions.is_empty()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_session_is_taken_up_again() {
    let fake = Fake::start([short_job(1)]).await;
    let worker = start(&fake, None);
    fake.until(|state| state.completions.len() == 1).await;
    fake.with(|state| {
        state.is_session_forgotten = true;
        state.queue.push_back(Some(short_job(2)));
    });
    fake.until(|state| state.completions.len() == 2).await;
    worker.drain().await;
    fake.with(|state| {
        assert!(state.hellos.len() >= 2);
        assert!(
            state
                .hellos
                .windows(2)
                .all(|pair| pair[0].incarnation == pair[1].incarnation)
        );
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_not_wanted_says_why() {
    let fake = Fake::start([]).await;
    fake.with(|state| state.is_unwelcoming = true);
    let error = start(&fake, None).ended.await.unwrap().unwrap_err();
    let WorkerError::Unwelcome(reason) = error else {
        panic!("{error}")
    };
    assert!(reason.to_string().contains("install 9.9.9"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_cannot_be_read_is_released_as_unsupported() {
    let fake = Fake::start([]).await;
    fake.with(|state| state.queue.push_back(None));
    let worker = start(&fake, None);
    fake.until(|state: &State| !state.releases.is_empty()).await;
    fake.with(|state| assert_eq!(state.releases[0].reason(), ReleaseReason::Unsupported));
    worker.drain().await;
}

#[tokio::test]
async fn settings_that_make_no_worker_are_refused() {
    let config = Config {
        n_slots: 0,
        ..Config::new("http://127.0.0.1:1", "test")
    };
    let (progress, _watcher) = watch::channel(Progress::default());
    let error = worker::run(config, Shutdown::default(), progress)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "0 slots, expected 1 to 64");
}
