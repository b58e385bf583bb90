//! What a lying worker sends: one false thing at a time, among true ones.

use board::Board;
use proto::v1::{
    AcquireRequest, CensusCounts, CompleteJobRequest, FoundBoard, HeartbeatRequest, JobCounters, LeaseBeat,
    ParCounts, ReleaseJobRequest, ReleaseReason, SubmitBoardsRequest,
};

use crate::call::{Call, Letter};
use crate::ops::Lie;
use crate::worker::Worker;

/// What a liar knows of others: their leases, and ids of batches that were handed in.
pub(crate) struct Overheard<'a> {
    pub(crate) leases: &'a [(i64, i64)],
    pub(crate) batches: &'a [String],
}

/// Texts that are no board of any job here.
const NOISE: [&str; 8] = [
    "",
    "hello",
    "\0",
    "4x4:AAoooooooooooo",
    "99999999999999999999x1:AA",
    "AAooAAooooooooooo",
    "\u{1f697}\u{1f697}oooooooooooooo",
    "4x4:ooooAAxoooooooooo",
];

/// The letter of a lie; `None`: the worker has nothing to lie about.
pub(crate) fn letter(worker: &mut Worker, lie: Lie, overheard: &Overheard<'_>) -> Option<Letter> {
    let session = worker.process.as_ref()?.session.clone()?;
    let call = match lie {
        Lie::Par | Lie::States | Lie::Minimal | Lie::Spelling | Lie::Beside | Lie::Lot | Lie::Noise => {
            Call::Submit(false_boards(worker, lie, session)?)
        }
        Lie::Nonsense => nonsense(worker, session),
        Lie::OtherClaim | Lie::OtherBeat | Lie::OtherRelease | Lie::OtherSubmit => {
            about_another(worker, lie, session, overheard)?
        }
        Lie::TokenAhead | Lie::TokenBehind => {
            let mut claim = claim(worker, session)?;
            claim.token += if lie == Lie::TokenAhead { 1 } else { -1 };
            Call::Complete(claim)
        }
        Lie::Counters => {
            let mut claim = claim(worker, session)?;
            claim.counters = Some(most());
            claim.digest = vec![7; 16];
            if claim.census.is_some() {
                claim.census = Some(beyond_measure());
            }
            Call::Complete(claim)
        }
        Lie::Rate => Call::Beat(wild_beat(worker, session)?),
        Lie::Rewrite => {
            let mut claim = worker.claims.last()?.clone();
            claim.counters = Some(most());
            if let Some(census) = &mut claim.census {
                census
                    .by_par
                    .resize(census.by_par.len() + 3, ParCounts::default());
                census.layouts += 1;
            }
            Call::Complete(claim)
        }
        Lie::BatchId => {
            let (job, token) = held(worker)?;
            let boards = own_boards(worker)?;
            let batch_id = overheard
                .batches
                .get(worker.draw(overheard.batches.len().max(1)))?;
            Call::Submit(SubmitBoardsRequest {
                session,
                batch_id: batch_id.clone(),
                job_id: job,
                token,
                boards,
                ..SubmitBoardsRequest::default()
            })
        }
    };
    Some(worker.letter(call, Some(lie)))
}

/// Whether a coordinator must leave everything as it is.
pub(crate) fn must_fail(lie: Lie) -> bool {
    matches!(
        lie,
        Lie::OtherClaim | Lie::OtherBeat | Lie::OtherRelease | Lie::TokenAhead | Lie::TokenBehind
    )
}

fn held(worker: &Worker) -> Option<(i64, i64)> {
    let held = worker.process.as_ref()?.held.first()?;
    Some((held.job, held.token))
}

fn own_boards(worker: &Worker) -> Option<Vec<FoundBoard>> {
    let found = &worker.process.as_ref()?.held.first()?.result.found;
    let boards = found
        .iter()
        .map(|found| proto::convert::StatedBoard::from(found).into());
    Some(boards.collect())
}

fn false_boards(worker: &mut Worker, lie: Lie, session: String) -> Option<SubmitBoardsRequest> {
    let (job_id, token) = held(worker)?;
    let mut boards = own_boards(worker)?;
    let noise = NOISE[worker.draw(NOISE.len())];
    let at = worker.draw(boards.len().max(1));
    let board = boards.get_mut(at)?;
    match lie {
        Lie::Par => board.par += 1,
        Lie::States => board.states += 1,
        Lie::Minimal => board.minimal = Some(!board.minimal?),
        Lie::Spelling => board.canonical = board.canonical.replace('B', "Z").replace('A', "B"),
        Lie::Beside => {
            let parsed: Board = board.canonical.parse().expect("an engine's board");
            let beside = parsed.apply(*parsed.slides().first()?).ok()?.canonical();
            if beside.as_str() == board.canonical {
                return None;
            }
            beside.as_str().clone_into(&mut board.canonical);
        }
        Lie::Lot => "5x5:ooooooooooAAooBooooBooooo".clone_into(&mut board.canonical),
        _ => noise.clone_into(&mut board.canonical),
    }
    Some(SubmitBoardsRequest {
        session,
        batch_id: worker.uuid().to_string(),
        job_id,
        token,
        boards,
        ..SubmitBoardsRequest::default()
    })
}

/// An honest claim of a job that was not carried out.
fn claim(worker: &Worker, session: String) -> Option<CompleteJobRequest> {
    let held = worker.process.as_ref()?.held.first()?;
    Some(CompleteJobRequest {
        session,
        job_id: held.job,
        token: held.token,
        counters: Some((&held.result.counters).into()),
        digest: held.result.digest.to_bytes().to_vec(),
        census: held.result.census.as_ref().map(Into::into),
        ..CompleteJobRequest::default()
    })
}

fn about_another(worker: &mut Worker, lie: Lie, session: String, overheard: &Overheard<'_>) -> Option<Call> {
    let (job_id, token) = *overheard.leases.get(worker.draw(overheard.leases.len().max(1)))?;
    Some(match lie {
        Lie::OtherClaim => Call::Complete(CompleteJobRequest {
            session,
            job_id,
            token,
            counters: Some(JobCounters::default()),
            digest: vec![1; 16],
            ..CompleteJobRequest::default()
        }),
        Lie::OtherBeat => Call::Beat(HeartbeatRequest {
            session,
            seq: 1_000_000,
            leases: vec![LeaseBeat {
                job_id,
                token,
                ..LeaseBeat::default()
            }],
        }),
        Lie::OtherRelease => Call::Release(ReleaseJobRequest {
            session,
            job_id,
            token,
            reason: ReleaseReason::Drain.into(),
            ..ReleaseJobRequest::default()
        }),
        _ => Call::Submit(SubmitBoardsRequest {
            session,
            batch_id: worker.uuid().to_string(),
            job_id,
            token,
            boards: own_boards(worker).unwrap_or_default(),
            ..SubmitBoardsRequest::default()
        }),
    })
}

fn most() -> JobCounters {
    JobCounters {
        iterations: u64::MAX,
        legal: u64::MAX,
        clusters: u64::MAX,
        solvable: u64::MAX,
        too_large: u64::MAX,
        positions: u64::MAX,
        accepted: u64::MAX,
        duplicates: u64::MAX,
        found: u64::MAX,
    }
}

fn beyond_measure() -> CensusCounts {
    let counts = ParCounts {
        solvable: u64::MAX,
        minimal: u64::MAX,
        positions: u64::MAX,
        minimal_positions: u64::MAX,
        positions_at: u64::MAX,
    };
    CensusCounts {
        layouts: u64::MAX,
        unsolvable: u64::MAX,
        unsolvable_positions: u64::MAX,
        by_par: vec![counts; 3],
        digest: vec![7; 16],
    }
}

fn wild_beat(worker: &Worker, session: String) -> Option<HeartbeatRequest> {
    let (job_id, token) = held(worker)?;
    let leases = vec![LeaseBeat {
        job_id,
        token,
        work_done: u64::MAX,
        rate: f64::MAX,
        best_par: Some(u16::MAX.into()),
        checkpoint: Some(vec![0xff; 100]),
    }];
    Some(HeartbeatRequest {
        session,
        seq: u64::MAX,
        leases,
    })
}

/// A message that breaks the contract.
fn nonsense(worker: &mut Worker, session: String) -> Call {
    match worker.draw(6) {
        0 => Call::Submit(SubmitBoardsRequest {
            session,
            batch_id: String::new(),
            ..SubmitBoardsRequest::default()
        }),
        1 => Call::Beat(HeartbeatRequest {
            session,
            seq: 0,
            leases: vec![LeaseBeat::default(); 2_000],
        }),
        2 => Call::Complete(CompleteJobRequest {
            session,
            job_id: -1,
            token: i64::MIN,
            ..CompleteJobRequest::default()
        }),
        3 => Call::Acquire(AcquireRequest {
            session,
            request_id: "\0".to_owned(),
            free_slots: u32::MAX,
            kinds: vec![i32::MIN; 99],
            wait_ms: u32::MAX,
        }),
        4 => Call::Release(ReleaseJobRequest {
            session,
            job_id: i64::MAX,
            token: i64::MAX,
            reason: 77,
            ..ReleaseJobRequest::default()
        }),
        _ => Call::Submit(SubmitBoardsRequest {
            session: "me".to_owned(),
            batch_id: "it".to_owned(),
            job_id: 1,
            token: 1,
            boards: vec![FoundBoard::default(); 3],
            ..SubmitBoardsRequest::default()
        }),
    }
}
