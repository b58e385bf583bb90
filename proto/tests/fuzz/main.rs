//! Every parser that a stranger reaches, fed with spoiled input: it may refuse, it must not panic, and what it takes must
//! survive being written and read again.
//!
//! A fixed number of inputs from a fixed seed by default; with `PARFORCE_FUZZ_SECONDS=60`, as many as fit that time, from
//! the seed `PARFORCE_FUZZ_SEED`. A failure prints the input. (Positions packed into a word are made by this program alone:
//! no stranger reaches them. Configuration files are fuzzed beside their reader, in `coordinator`.)

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use board::job::{Frame, JobSpec};
use board::scatter::ScatterSpec;
use board::space::BoardSpace;
use board::stream::Stream;
use board::{Board, Canonical, Lot};
use mutate::spoiled;
use prost::Message;
use proto::convert::{
    Ack, Acquire, Batch, Beat, Completion, Hello, Lease, Release, Welcome, WireError, Wish,
};
use proto::v1;

/// Inputs of a target where no time is given.
const N_INPUTS: u64 = 20_000;

/// Feeds a target.
fn fuzz(samples: &[Vec<u8>], target: impl Fn(&[u8])) {
    let number = |variable| {
        std::env::var(variable)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let mut draws = Stream::new("fuzz", number("PARFORCE_FUZZ_SEED").unwrap_or(0), 0);
    let limit = number("PARFORCE_FUZZ_SECONDS").map(Duration::from_secs);
    let begun = Instant::now();
    let mut n_inputs = 0_u64;
    let mut first = samples.iter();
    while limit.map_or(n_inputs < N_INPUTS, |limit| begun.elapsed() < limit) {
        let input = first
            .next()
            .cloned()
            .unwrap_or_else(|| spoiled(samples, &mut draws));
        n_inputs += 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&input)));
        assert!(
            outcome.is_ok(),
            "failed on {:?}, as bytes {input:?}",
            String::from_utf8_lossy(&input)
        );
    }
    println!("{n_inputs} inputs");
}

fn texts(samples: &[&str]) -> Vec<Vec<u8>> {
    samples.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn boards() -> Vec<Vec<u8>> {
    texts(&[
        "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo",
        "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM",
        "BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo",
        "7x6:oooooooooooooooAAoooooooooooooooooooooooooo",
        "4x4:oooooAAooBoooBoo",
        "oooooo\noooooo\r\nAAo.#o\noooooo\noooooo\noooooo\n",
        "16x3:AAooooooooooooooBBooooooooooooooCCoooooooooooooo",
    ])
}

#[test]
fn spellings_of_boards() {
    fuzz(&boards(), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(board) = Board::parse(&text) {
            let canonical = board.canonical();
            let again: Board = canonical.as_str().parse().unwrap();
            assert_eq!(again.canonical(), canonical);
        }
        if let Ok(canonical) = Canonical::parse(&text) {
            assert_eq!(canonical.as_str(), &*text);
            assert_eq!(canonical.board().canonical(), canonical);
        }
    });
}

/// A message that becomes a type must become the same type again after being sent.
fn there_and_back<W, T>(bytes: &[u8])
where
    W: Message + Default + From<T>,
    T: TryFrom<W, Error = WireError> + Clone + PartialEq + std::fmt::Debug,
{
    let Ok(wire) = W::decode(bytes) else { return };
    let Ok(value) = T::try_from(wire) else { return };
    let sent = W::from(value.clone()).encode_to_vec();
    assert_eq!(T::try_from(W::decode(&*sent).unwrap()), Ok(value));
}

const UUID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

#[test]
fn hellos_and_their_answers() {
    let hello = v1::HelloRequest {
        worker_name: "a worker".to_owned(),
        incarnation: UUID.to_owned(),
        protocol_first: 1,
        protocol_last: 1,
        engine: board::ENGINE.to_owned(),
        program_version: "0.1.0".to_owned(),
        n_slots: 2,
        n_threads: 8,
        cpu: "x86_64".to_owned(),
        self_test_digest: vec![7; 16],
    };
    let welcome = v1::HelloResponse {
        session: UUID.to_owned(),
        protocol: 1,
        lease_ttl_ms: 60_000,
        beat_interval_ms: 15_000,
        max_boards_per_batch: 10_000,
        directive: 1,
        takes_hashes: true,
        ..v1::HelloResponse::default()
    };
    fuzz(
        &[hello.encode_to_vec()],
        there_and_back::<v1::HelloRequest, Hello>,
    );
    fuzz(
        &[welcome.encode_to_vec()],
        there_and_back::<v1::HelloResponse, Welcome>,
    );
}

#[test]
fn wishes_for_jobs_and_beats() {
    let wish = v1::AcquireRequest {
        request_id: UUID.to_owned(),
        session: UUID.to_owned(),
        free_slots: 1,
        kinds: vec![1, 2, 3],
        wait_ms: 20_000,
    };
    let beat = v1::HeartbeatRequest {
        session: UUID.to_owned(),
        seq: 9,
        leases: vec![
            v1::LeaseBeat {
                job_id: 3,
                token: 2,
                work_done: 1_000,
                rate: 12.5,
                best_par: Some(40),
                checkpoint: Some(vec![1, 2, 3]),
            };
            3
        ],
    };
    fuzz(
        &[wish.encode_to_vec()],
        there_and_back::<v1::AcquireRequest, Acquire>,
    );
    fuzz(
        &[beat.encode_to_vec()],
        there_and_back::<v1::HeartbeatRequest, Beat>,
    );
}

fn board_of_a_batch() -> v1::FoundBoard {
    v1::FoundBoard {
        par: 51,
        canonical: "BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo".to_owned(),
        states: 4_780,
        minimal: Some(true),
    }
}

#[test]
fn batches_and_their_answers() {
    let batch = v1::SubmitBoardsRequest {
        session: UUID.to_owned(),
        batch_id: UUID.to_owned(),
        job_id: 3,
        token: 2,
        boards: vec![board_of_a_batch(); 2],
        known: (0..32).collect(),
        ..v1::SubmitBoardsRequest::default()
    };
    let ack = v1::SubmitBoardsResponse {
        inserted: 1,
        duplicate: 1,
        rejected: vec![v1::RejectedBoard {
            index: 2,
            code: 4,
            detail: "stated par 50, proved 51".to_owned(),
        }],
        spell_out: true,
    };
    fuzz(
        &[batch.encode_to_vec()],
        there_and_back::<v1::SubmitBoardsRequest, Batch>,
    );
    fuzz(
        &[ack.encode_to_vec()],
        there_and_back::<v1::SubmitBoardsResponse, Ack>,
    );
}

#[test]
fn claims_and_releases() {
    let counters = Some(v1::JobCounters {
        iterations: 100,
        found: 3,
        ..v1::JobCounters::default()
    });
    let claim = v1::CompleteJobRequest {
        session: UUID.to_owned(),
        job_id: 3,
        token: 2,
        counters,
        digest: vec![9; 16],
        census: Some(v1::CensusCounts {
            layouts: 3,
            by_par: vec![
                v1::ParCounts {
                    solvable: 2,
                    minimal: 1,
                    positions: 9,
                    minimal_positions: 4,
                    positions_at: 9,
                };
                3
            ],
            digest: vec![8; 16],
            ..v1::CensusCounts::default()
        }),
        ..v1::CompleteJobRequest::default()
    };
    let release = v1::ReleaseJobRequest {
        session: UUID.to_owned(),
        job_id: 3,
        token: 2,
        reason: 4,
        detail: "a shard failed".to_owned(),
        checkpoint: Some(vec![1, 2, 3]),
        counters,
    };
    fuzz(
        &[claim.encode_to_vec()],
        there_and_back::<v1::CompleteJobRequest, Completion>,
    );
    fuzz(
        &[release.encode_to_vec()],
        there_and_back::<v1::ReleaseJobRequest, Release>,
    );
}

#[test]
fn leases_with_their_jobs() {
    let frame = Frame {
        seed: 7,
        n_shards: 4,
        iterations_per_shard: 100,
        max_states: 10_000,
    };
    let space = BoardSpace::usual(Lot::ORDINARY).unwrap();
    let spec = JobSpec::Scatter(ScatterSpec::new(space, frame).unwrap());
    let mut anneal = v1::JobSpec::from(&spec);
    anneal.kind = Some(v1::job_spec::Kind::Anneal(v1::AnnealSpec {
        space: Some((&BoardSpace::usual(Lot::ORDINARY).unwrap()).into()),
        start_boards: vec![board_of_a_batch().canonical; 2],
        first_temperature: 3_000,
        last_temperature: 10,
    }));
    let leases = [v1::JobSpec::from(&spec), anneal].map(|spec| {
        let lease = v1::Lease {
            job_id: 3,
            hunt_id: 1,
            token: 2,
            expires_in_ms: 60_000,
            attempt: 1,
            spec: Some(spec),
            checkpoint: None,
        };
        lease.encode_to_vec()
    });
    fuzz(&leases, there_and_back::<v1::Lease, Lease>);
}

#[test]
fn hunts_that_are_asked_for() {
    let hunt = v1::CreateHuntRequest {
        name: "a hunt".to_owned(),
        space: Some((&BoardSpace::usual(Lot::ORDINARY).unwrap()).into()),
        strategy: 1,
        budget: Some(v1::Budget {
            minutes: Some(20),
            jobs: Some(7),
            until_par: Some(40),
        }),
        seed: Some(7),
        ..v1::CreateHuntRequest::default()
    };
    fuzz(&[hunt.encode_to_vec()], |bytes| {
        if let Ok(wire) = v1::CreateHuntRequest::decode(bytes) {
            let _ = Wish::try_from(wire);
        }
    });
}

#[test]
fn level_files() {
    let level = include_str!("level.json");
    fuzz(&texts(&[level]), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        if let Ok(level) = siren::level::Level::parse(&text) {
            assert_eq!(siren::level::Level::parse(&level.spell()).unwrap(), level);
        }
    });
}

#[test]
fn plan_files() {
    fuzz(&texts(&[siren::plan::SHIPPED_PLAN]), |bytes| {
        let _ = siren::plan::Plan::parse(&String::from_utf8_lossy(bytes));
    });
}
