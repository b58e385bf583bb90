//! A coordinator in memory, with faults to order: just enough of the contract to try a worker on.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use board::Par;
use board::job::JobSpec;
use board::tally::hash_board;
use proto::v1::farm_server::{Farm, FarmServer};
use proto::v1::*;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// What the coordinator knows, and the faults it was told to make.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
pub(crate) struct State {
    pub(crate) queue: VecDeque<Option<JobSpec>>,
    pub(crate) hellos: Vec<HelloRequest>,
    pub(crate) grants: HashMap<String, Vec<Lease>>,
    pub(crate) n_acquires: usize,
    pub(crate) beats: Vec<HeartbeatRequest>,
    pub(crate) acks: HashMap<String, SubmitBoardsResponse>,
    pub(crate) n_submits: usize,
    /// Whether hello says so.
    pub(crate) takes_hashes: bool,
    /// A coordinator that passes over hashes, as one of an older version does.
    pub(crate) ignores_hashes: bool,
    /// Hashes of boards that it remembers as stored; empty after a restart.
    pub(crate) remembered: HashSet<u128>,
    pub(crate) n_by_hash: usize,
    pub(crate) n_spelled: usize,
    pub(crate) boards: BTreeSet<(u32, String)>,
    pub(crate) completions: Vec<CompleteJobRequest>,
    pub(crate) releases: Vec<ReleaseJobRequest>,
    pub(crate) n_goodbyes: usize,
    /// Answers that get lost after the call was carried out.
    pub(crate) lose_acquire_answers: usize,
    pub(crate) lose_submit_answers: usize,
    /// Calls that fail before anything was done.
    pub(crate) is_submit_away: bool,
    pub(crate) is_heartbeat_away: bool,
    pub(crate) is_session_forgotten: bool,
    pub(crate) is_unwelcoming: bool,
    pub(crate) action: Option<LeaseAction>,
    pub(crate) directive: Option<Directive>,
    pub(crate) lease_ttl: Duration,
    pub(crate) max_boards_per_batch: u32,
}

/// A running coordinator.
#[derive(Clone)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
    changes: watch::Sender<u64>,
    address: SocketAddr,
}

pub(crate) const SESSION: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

impl Fake {
    pub(crate) async fn start(jobs: impl IntoIterator<Item = JobSpec>) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = State {
            queue: jobs.into_iter().map(Some).collect(),
            lease_ttl: Duration::from_mins(1),
            max_boards_per_batch: 100,
            ..State::default()
        };
        let fake = Fake {
            state: Arc::new(Mutex::new(state)),
            changes: watch::Sender::new(0),
            address: listener.local_addr().unwrap(),
        };
        let service = FarmServer::new(fake.clone());
        tokio::spawn(
            tonic::transport::Server::builder()
                .add_service(service)
                .serve_with_incoming(TcpListenerStream::new(listener)),
        );
        fake
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Looks at or changes the state.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        let outcome = look(&mut self.state.lock().unwrap());
        self.changes.send_modify(|n| *n += 1);
        outcome
    }

    /// Waits until the state is so.
    pub(crate) async fn until(&self, is_so: impl Fn(&State) -> bool) {
        let mut changes = self.changes.subscribe();
        let waiting = async {
            while !is_so(&self.state.lock().unwrap()) {
                changes.changed().await.unwrap();
            }
        };
        // A guard against hanging for good where a worker ended early; no test depends on it.
        tokio::time::timeout(Duration::from_mins(2), waiting)
            .await
            .expect("the worker never came so far");
    }

    fn answer<T>(&self, look: impl FnOnce(&mut State) -> Result<T, Status>) -> Result<Response<T>, Status> {
        self.with(look).map(Response::new)
    }
}

fn check_session(state: &State, session: &str) -> Result<(), Status> {
    if state.is_session_forgotten || session != SESSION {
        return Err(Status::unauthenticated("no such session"));
    }
    Ok(())
}

#[tonic::async_trait]
impl Farm for Fake {
    async fn hello(&self, request: Request<HelloRequest>) -> Result<Response<HelloResponse>, Status> {
        self.answer(|state| {
            if state.is_unwelcoming {
                return Err(Status::failed_precondition(
                    "version 0.0.1 is too old, install 9.9.9",
                ));
            }
            state.hellos.push(request.into_inner());
            state.is_session_forgotten = false;
            Ok(HelloResponse {
                session: SESSION.to_owned(),
                protocol: 1,
                lease_ttl_ms: 60_000,
                beat_interval_ms: 20,
                max_boards_per_batch: state.max_boards_per_batch,
                versions: None,
                directive: Directive::Run.into(),
                refusal: String::new(),
                takes_hashes: state.takes_hashes,
            })
        })
    }

    async fn acquire(&self, request: Request<AcquireRequest>) -> Result<Response<AcquireResponse>, Status> {
        let request = request.into_inner();
        // A real coordinator waits for work too; without this an idle worker would ask without end.
        self.with(|state| state.n_acquires += 1);
        let is_ready = |state: &State| {
            !state.queue.is_empty()
                || state.grants.contains_key(&request.request_id)
                || state.is_session_forgotten
        };
        self.until(is_ready).await;
        self.answer(|state| {
            check_session(state, &request.session)?;
            if !state.grants.contains_key(&request.request_id) {
                let n_jobs = state.queue.len().min(request.free_slots as usize);
                let first = state.grants.values().map(Vec::len).sum::<usize>();
                let ttl = u32::try_from(state.lease_ttl.as_millis()).unwrap();
                let specs: Vec<_> = state.queue.drain(..n_jobs).collect();
                let leases = specs.into_iter().enumerate().map(|(idx, spec)| Lease {
                    job_id: i64::try_from(first + idx).unwrap() + 1,
                    hunt_id: 1,
                    token: 1,
                    expires_in_ms: ttl,
                    attempt: 1,
                    spec: spec.as_ref().map(Into::into),
                    checkpoint: None,
                });
                let leases = leases.collect();
                state.grants.insert(request.request_id.clone(), leases);
            }
            if state.lose_acquire_answers > 0 {
                state.lose_acquire_answers -= 1;
                return Err(Status::unavailable("the answer was lost"));
            }
            Ok(AcquireResponse {
                leases: state.grants[&request.request_id].clone(),
                directive: state.directive.unwrap_or(Directive::Run).into(),
            })
        })
    }

    async fn heartbeat(
        &self,
        request: Request<HeartbeatRequest>,
    ) -> Result<Response<HeartbeatResponse>, Status> {
        let request = request.into_inner();
        self.answer(|state| {
            check_session(state, &request.session)?;
            if state.is_heartbeat_away {
                return Err(Status::unavailable("away"));
            }
            let expires_in_ms = u32::try_from(state.lease_ttl.as_millis()).unwrap();
            let action = state.action.unwrap_or(LeaseAction::Continue).into();
            let orders = request.leases.iter().map(|beat| LeaseOrder {
                job_id: beat.job_id,
                token: beat.token,
                action,
                expires_in_ms,
            });
            let leases = orders.collect();
            let seq = request.seq;
            state.beats.push(request);
            Ok(HeartbeatResponse {
                seq,
                leases,
                directive: state.directive.unwrap_or(Directive::Run).into(),
            })
        })
    }

    async fn submit_boards(
        &self,
        request: Request<SubmitBoardsRequest>,
    ) -> Result<Response<SubmitBoardsResponse>, Status> {
        let request = request.into_inner();
        self.answer(|state| {
            state.n_submits += 1;
            check_session(state, &request.session)?;
            if state.is_submit_away {
                return Err(Status::unavailable("away"));
            }
            if !state.acks.contains_key(&request.batch_id) {
                let mut ack = SubmitBoardsResponse::default();
                let hashes = request.known.chunks(16);
                let hashes = hashes.map(|hash| u128::from_le_bytes(hash.try_into().unwrap()));
                for hash in hashes.filter(|_| !state.ignores_hashes) {
                    if !state.remembered.contains(&hash) {
                        return Ok(SubmitBoardsResponse {
                            spell_out: true,
                            ..SubmitBoardsResponse::default()
                        });
                    }
                    state.n_by_hash += 1;
                    ack.duplicate += 1;
                }
                state.n_spelled += request.boards.len();
                for board in request.boards {
                    let par = Par::new(u16::try_from(board.par).unwrap());
                    state.remembered.insert(hash_board(par, &board.canonical));
                    let is_new = state.boards.insert((board.par, board.canonical));
                    ack.inserted += u32::from(is_new);
                    ack.duplicate += u32::from(!is_new);
                }
                state.acks.insert(request.batch_id.clone(), ack);
            }
            if state.lose_submit_answers > 0 {
                state.lose_submit_answers -= 1;
                return Err(Status::unavailable("the answer was lost"));
            }
            Ok(state.acks[&request.batch_id].clone())
        })
    }

    async fn complete_job(
        &self,
        request: Request<CompleteJobRequest>,
    ) -> Result<Response<CompleteJobResponse>, Status> {
        self.answer(|state| {
            state.completions.push(request.into_inner());
            Ok(CompleteJobResponse {
                outcome: LeaseOutcome::Accepted.into(),
            })
        })
    }

    async fn release_job(
        &self,
        request: Request<ReleaseJobRequest>,
    ) -> Result<Response<ReleaseJobResponse>, Status> {
        self.answer(|state| {
            state.releases.push(request.into_inner());
            Ok(ReleaseJobResponse {
                outcome: LeaseOutcome::Accepted.into(),
            })
        })
    }

    async fn goodbye(&self, _: Request<GoodbyeRequest>) -> Result<Response<GoodbyeResponse>, Status> {
        self.answer(|state| {
            state.n_goodbyes += 1;
            Ok(GoodbyeResponse { n_released: 0 })
        })
    }
}
