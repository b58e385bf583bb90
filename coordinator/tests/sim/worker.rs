//! A worker as far as a coordinator can see it: what it sends, what it believes, what is on its disk.
//!
//! It searches as the real one does (the same jobs give the same boards), and it is slower than the real one to believe
//! that a lease is lost: it has no clock, and goes on until it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use board::ENGINE;
use board::Par;
use board::cluster::Explorer;
use board::job::{JobResult, JobSpec};
use board::stream::Stream;
use board::tally::hash_board;
use proto::convert::{JobKind, Lease, StatedBoard};
use proto::v1::{
    AcquireRequest, CompleteJobRequest, Directive, GoodbyeRequest, HeartbeatRequest, HelloRequest,
    LeaseAction, LeaseBeat, LeaseOutcome, ReleaseJobRequest, ReleaseReason, SubmitBoardsRequest,
};
use tonic::Code;
use uuid::Uuid;

use crate::call::{Answer, Call, Letter};
use crate::ops::{Act, Lie, N_HONEST, Why};

/// In how many pieces the boards of a job are handed in.
const N_BATCHES: usize = 2;
/// Jobs it holds at once.
const N_SLOTS: usize = 2;

/// A machine: the process that runs there, if one does, and the disk that outlives it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) idx: usize,
    /// Counts its processes.
    pub(crate) life: u32,
    pub(crate) process: Option<Process>,
    /// Batches that are not acknowledged.
    pub(crate) disk: Vec<SubmitBoardsRequest>,
    /// Cut off from all coordinators.
    pub(crate) is_cut: bool,
    /// Jobs it claimed in this life, and with what: what a liar says again.
    pub(crate) claims: Vec<CompleteJobRequest>,
    names: Stream,
}

/// A process.
#[derive(Debug)]
pub(crate) struct Process {
    incarnation: Uuid,
    pub(crate) session: Option<String>,
    seq: u64,
    /// The request it has no answer to.
    wish: Option<String>,
    pub(crate) held: Vec<Holding>,
    /// Boards that it was told are stored, by par and spelling.
    told: BTreeSet<(u32, String)>,
    /// Batches that a coordinator wanted spelled out.
    spelled_out: BTreeSet<String>,
    /// It was told to finish what it has and leave.
    is_leaving: bool,
}

/// A lease as its holder sees it.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) job: i64,
    pub(crate) token: i64,
    pub(crate) result: Rc<JobResult>,
    /// Pieces of the result that are spooled.
    n_spooled: usize,
    n_beats: u64,
    order: Option<LeaseAction>,
}

/// Results of jobs, so that none is searched twice.
#[derive(Debug, Default)]
pub(crate) struct Results {
    known: BTreeMap<String, Rc<JobResult>>,
    explorer: Explorer,
}

impl Results {
    fn of(&mut self, spec: &JobSpec) -> Rc<JobResult> {
        let name = format!("{spec:?}");
        let explorer = &mut self.explorer;
        Rc::clone(
            self.known
                .entry(name)
                .or_insert_with(|| Rc::new(spec.run(explorer))),
        )
    }
}

impl Worker {
    pub(crate) fn new(idx: usize, seed: u64) -> Worker {
        Worker {
            idx,
            life: 0,
            process: None,
            disk: Vec::new(),
            is_cut: false,
            claims: Vec::new(),
            names: Stream::new("names", seed, u32::try_from(idx).expect("few workers")),
        }
    }

    pub(crate) fn uuid(&mut self) -> Uuid {
        Uuid::from_u64_pair(self.names.bits(), self.names.bits())
    }

    pub(crate) fn draw(&mut self, n: usize) -> usize {
        self.names.index(n)
    }

    pub(crate) fn kill(&mut self) {
        self.process = None;
        self.claims.clear();
    }

    fn start(&mut self) {
        self.life += 1;
        let incarnation = self.uuid();
        self.process = Some(Process {
            incarnation,
            session: None,
            seq: 0,
            wish: None,
            held: Vec::new(),
            told: BTreeSet::new(),
            spelled_out: BTreeSet::new(),
            is_leaving: false,
        });
    }

    pub(crate) fn letter(&self, call: Call, lie: Option<Lie>) -> Letter {
        Letter {
            worker: self.idx,
            life: self.life,
            lie,
            call,
        }
    }

    /// The call of this act; `None`: the worker has no such call to make now.
    pub(crate) fn act(&mut self, act: Act) -> Option<Letter> {
        if self.process.is_none() {
            self.start();
        }
        let call = match act {
            Act::Next => self.next(),
            Act::Hello => Some(self.hello()),
            Act::Acquire => self.acquire(),
            Act::Beat => self.beat(),
            Act::Work => {
                self.work();
                None
            }
            Act::Submit => self.submit(),
            Act::Complete => self.complete(),
            Act::Release(why) => self.release(match why {
                Why::Drain => ReleaseReason::Drain,
                Why::Error => ReleaseReason::Error,
                Why::Unsupported => ReleaseReason::Unsupported,
            }),
            Act::Goodbye => self.goodbye(),
        };
        call.map(|call| self.letter(call, None))
    }

    /// What a worker in this state does.
    fn next(&mut self) -> Option<Call> {
        let process = self.process.as_mut()?;
        if process.session.is_none() {
            return Some(self.hello());
        }
        // A lease that is lost is let go; what was found stays on the disk.
        process.held.retain(|held| held.order != Some(LeaseAction::Lost));
        let is_ordered = process.held.iter().any(|held| held.order.is_some());
        if !self.disk.is_empty() {
            return self.submit();
        }
        if is_ordered {
            return self.release(ReleaseReason::Drain);
        }
        let process = self.process.as_mut()?;
        if process.is_leaving && process.held.is_empty() {
            return self.goodbye();
        }
        if process.held.is_empty() {
            return self.acquire();
        }
        if process.held.iter().any(|held| held.n_spooled == N_BATCHES) {
            return self.complete();
        }
        self.work();
        self.submit()
    }

    fn hello(&mut self) -> Call {
        let process = self.process.as_ref().expect("it was started");
        Call::Hello(HelloRequest {
            worker_name: name(self.idx),
            incarnation: process.incarnation.to_string(),
            protocol_first: 1,
            protocol_last: proto::PROTOCOL,
            engine: ENGINE.to_owned(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            n_slots: 64,
            n_threads: 64,
            cpu: String::new(),
            self_test_digest: board::SELF_TEST.to_vec(),
        })
    }

    fn acquire(&mut self) -> Option<Call> {
        let request = self.uuid().to_string();
        let kinds = self.kinds();
        let process = self.process.as_mut()?;
        let n_free = N_SLOTS.saturating_sub(process.held.len());
        if n_free == 0 || process.is_leaving {
            return None;
        }
        let session = process.session.clone()?;
        let request_id = process.wish.get_or_insert(request).clone();
        Some(Call::Acquire(AcquireRequest {
            request_id,
            session,
            free_slots: 1,
            kinds: kinds.into_iter().map(JobKind::to_wire).collect(),
            wait_ms: 0,
        }))
    }

    /// The last honest worker is an old one, which cannot count.
    pub(crate) fn kinds(&self) -> Vec<JobKind> {
        if self.idx == N_HONEST - 1 {
            vec![JobKind::Scatter, JobKind::Anneal]
        } else {
            vec![JobKind::Scatter, JobKind::Anneal, JobKind::Census]
        }
    }

    fn beat(&mut self) -> Option<Call> {
        let process = self.process.as_mut()?;
        let session = process.session.clone()?;
        process.seq += 1;
        let leases = process.held.iter_mut().map(|held| {
            held.n_beats += 1;
            LeaseBeat {
                job_id: held.job,
                token: held.token,
                work_done: held.n_beats,
                rate: 1_000.0,
                best_par: None,
                checkpoint: None,
            }
        });
        Some(Call::Beat(HeartbeatRequest {
            session,
            seq: process.seq,
            leases: leases.collect(),
        }))
    }

    /// Spools the next piece of a job's boards.
    fn work(&mut self) {
        let id = self.uuid().to_string();
        let Some(process) = self.process.as_mut() else {
            return;
        };
        let Some(session) = process.session.clone() else {
            return;
        };
        let Some(held) = process
            .held
            .iter_mut()
            .find(|held| held.n_spooled < N_BATCHES && held.order.is_none())
        else {
            return;
        };
        let found = &held.result.found;
        let size = found.len().div_ceil(N_BATCHES).max(1);
        let piece = found.chunks(size).nth(held.n_spooled).unwrap_or_default();
        held.n_spooled += 1;
        if !piece.is_empty() {
            self.disk.push(SubmitBoardsRequest {
                session,
                batch_id: id,
                job_id: held.job,
                token: held.token,
                boards: piece
                    .iter()
                    .map(|found| StatedBoard::from(found).into())
                    .collect(),
                ..SubmitBoardsRequest::default()
            });
        }
    }

    fn submit(&mut self) -> Option<Call> {
        let process = self.process.as_ref()?;
        process.session.as_ref()?;
        let batch = self.disk.first()?.clone();
        Some(Call::Submit(process.shorten(batch)))
    }

    fn complete(&mut self) -> Option<Call> {
        let process = self.process.as_ref()?;
        let session = process.session.clone()?;
        let is_handed_in = |held: &&Holding| {
            held.n_spooled == N_BATCHES
                && held.order.is_none()
                && !self
                    .disk
                    .iter()
                    .any(|batch| batch.job_id == held.job && batch.token == held.token)
        };
        let held = process.held.iter().find(is_handed_in)?;
        let claim = CompleteJobRequest {
            session,
            job_id: held.job,
            token: held.token,
            counters: Some((&held.result.counters).into()),
            digest: held.result.digest.to_bytes().to_vec(),
            census: held.result.census.as_ref().map(Into::into),
            ..CompleteJobRequest::default()
        };
        self.claims.push(claim.clone());
        Some(Call::Complete(claim))
    }

    fn release(&mut self, reason: ReleaseReason) -> Option<Call> {
        let process = self.process.as_ref()?;
        let session = process.session.clone()?;
        let ordered = process.held.iter().find(|held| held.order.is_some());
        let held = ordered.or(process.held.first())?;
        let reason = match held.order {
            Some(LeaseAction::Pause) => ReleaseReason::Paused,
            Some(LeaseAction::Cancel) => ReleaseReason::Cancelled,
            _ => reason,
        };
        Some(Call::Release(ReleaseJobRequest {
            session,
            job_id: held.job,
            token: held.token,
            reason: reason.into(),
            detail: "because".to_owned(),
            checkpoint: None,
            counters: None,
        }))
    }

    fn goodbye(&mut self) -> Option<Call> {
        let session = self.process.as_ref()?.session.clone()?;
        Some(Call::Goodbye(GoodbyeRequest { session }))
    }

    /// Hears an answer to a letter of this life.
    pub(crate) fn hear(&mut self, letter: &Letter, answer: Answer, results: &mut Results) {
        if letter.life != self.life || letter.lie.is_some() {
            return;
        }
        let Some(process) = self.process.as_mut() else {
            return;
        };
        if let (Call::Submit(batch), Answer::Submit(ack)) = (&letter.call, &answer) {
            if ack.spell_out {
                process.spelled_out.insert(batch.batch_id.clone());
            } else {
                self.disk.retain(|spooled| spooled.batch_id != batch.batch_id);
                let boards = batch.boards.iter();
                process
                    .told
                    .extend(boards.map(|board| (board.par, board.canonical.clone())));
            }
        }
        match (&letter.call, answer) {
            (call, Answer::Refused(status)) if status.code() == Code::Unauthenticated => {
                let forgotten = call.session();
                if process.session.as_deref() == forgotten {
                    process.session = None;
                } else if let Some(session) = &process.session {
                    // Found under a session that nobody knows any more: it goes under the present one.
                    for spooled in &mut self.disk {
                        if Some(spooled.session.as_str()) == forgotten {
                            spooled.session.clone_from(session);
                        }
                    }
                }
            }
            (Call::Hello(_), Answer::Hello(welcome)) => process.session = Some(welcome.session),
            (Call::Acquire(wish), Answer::Acquire(granted)) => {
                if process.wish.as_ref() == Some(&wish.request_id) {
                    process.wish = None;
                    process.take(granted.leases, results);
                }
                process.is_leaving |= granted.directive != i32::from(Directive::Run);
            }
            (Call::Beat(_), Answer::Beat(beat)) => {
                for order in &beat.leases {
                    process.obey(order.job_id, order.token, order.action());
                }
                process.is_leaving |= beat.directive != i32::from(Directive::Run);
            }
            (Call::Complete(claim), Answer::Complete(_)) => process.forget(claim.job_id, claim.token),
            (Call::Release(release), Answer::Release(_)) => process.forget(release.job_id, release.token),
            (Call::Goodbye(_), Answer::Goodbye) => self.kill(),
            _ => {}
        }
    }
}

impl Process {
    /// The batch with boards that are stored named by their hashes, unless it is to be spelled out.
    fn shorten(&self, mut batch: SubmitBoardsRequest) -> SubmitBoardsRequest {
        if self.spelled_out.contains(&batch.batch_id) {
            return batch;
        }
        batch.boards.retain(|board| {
            let is_told = self.told.contains(&(board.par, board.canonical.clone()));
            if is_told {
                let par = Par::new(u16::try_from(board.par).expect("an honest par"));
                let hash = hash_board(par, &board.canonical);
                batch.known.extend(hash.to_le_bytes());
            }
            !is_told
        });
        batch
    }

    fn take(&mut self, leases: Vec<proto::v1::Lease>, results: &mut Results) {
        for lease in leases {
            let (job, token) = (lease.job_id, lease.token);
            if self
                .held
                .iter()
                .any(|held| (held.job, held.token) == (job, token))
            {
                continue;
            }
            let lease = Lease::try_from(lease).expect("a coordinator's lease can be read");
            self.held.push(Holding {
                job,
                token,
                result: results.of(lease.spec.boards().expect("no campaign is asked for")),
                n_spooled: 0,
                n_beats: 0,
                order: None,
            });
        }
    }

    fn obey(&mut self, job: i64, token: i64, action: LeaseAction) {
        if !matches!(
            action,
            LeaseAction::Pause | LeaseAction::Cancel | LeaseAction::Lost
        ) {
            return;
        }
        for held in &mut self.held {
            if (held.job, held.token) == (job, token) && held.order != Some(LeaseAction::Lost) {
                held.order = Some(action);
            }
        }
    }

    fn forget(&mut self, job: i64, token: i64) {
        self.held.retain(|held| (held.job, held.token) != (job, token));
    }
}

/// Whether a write under a lease was done.
pub(crate) fn is_accepted(outcome: i32) -> bool {
    outcome == i32::from(LeaseOutcome::Accepted)
}

/// The label of a worker; checks of the database go by it.
pub(crate) fn name(idx: usize) -> String {
    let kind = if idx < N_HONEST { "honest" } else { "liar" };
    format!("{kind} {idx}")
}
