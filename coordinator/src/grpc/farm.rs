//! The workers' door.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use proto::convert::{
    Acquire, Batch, Beat, Completion, Directive, Hello, LeaseAction, LeaseOutcome, Release, Welcome,
    WireError,
};
use proto::ids::{FencingToken, JobId, Session};
use proto::v1::farm_server::Farm;
use proto::{MAX_BOARDS_PER_BATCH, PROTOCOL, v1};
use tonic::{Request, Response, Status};
use tracing::{info, warn};
use uuid::Uuid;

use super::CallError;
use super::under_way::UnderWay;
use crate::Shared;
use crate::doors::Caller;
use crate::jams;
use crate::jobs::grant;
use crate::measures;
use crate::prove::Prover;
use crate::store::{EventKind, EventToWrite, Sampling, WorkerStanding};
use crate::submit::submit;

/// The workers' service.
#[derive(Clone, Debug)]
pub struct FarmService {
    shared: Arc<Shared>,
    owners: Arc<Owners>,
    /// Batches that are being proved and stored.
    under_way: Arc<UnderWay>,
}

/// Whose token each session was opened with; it never changes, so it is asked once.
#[derive(Debug, Default)]
struct Owners {
    known: Mutex<HashMap<Session, String>>,
}

/// The most sessions that are remembered: then all are asked anew.
const MAX_OWNERS: usize = 100_000;

impl Owners {
    fn get(&self, session: Session) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&session).cloned()
    }

    fn learn(&self, session: Session, owner: String) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_OWNERS {
            known.clear();
        }
        known.insert(session, owner);
    }
}

impl FarmService {
    /// The service of this coordinator.
    pub fn new(shared: Arc<Shared>) -> FarmService {
        FarmService {
            shared,
            owners: Arc::default(),
            under_way: Arc::default(),
        }
    }

    /// A session is good for the token that it was opened with: it stands in spools and logs, and is no secret.
    async fn check_owner(&self, caller: Option<&str>, session: Session) -> Result<(), CallError> {
        let Some(caller) = caller else { return Ok(()) };
        let owner = if let Some(owner) = self.owners.get(session) {
            owner
        } else {
            let owner = self.shared.store.credential(session).await?;
            let owner = owner.ok_or(CallError::NoSession)?;
            self.owners.learn(session, owner.clone());
            owner
        };
        if owner == caller {
            return Ok(());
        }
        warn!(
            token = caller,
            "a session was shown with another token than it was opened with"
        );
        Err(CallError::NoSession)
    }

    async fn standing(&self, session: Session) -> Result<WorkerStanding, CallError> {
        self.shared
            .store
            .worker(session)
            .await?
            .ok_or(CallError::NoSession)
    }

    /// The call's message as a type. Who sends what breaks the contract is struck for it, if it is known who that is.
    async fn read<W, T>(&self, request: Request<W>) -> Result<T, CallError>
    where
        W: Signed,
        T: TryFrom<W, Error = WireError>,
    {
        let caller = Caller::of(&request).map(|caller| caller.name.clone());
        let wire = request.into_inner();
        let session = Session::parse(wire.session());
        if let Ok(session) = session {
            self.check_owner(caller.as_deref(), session).await?;
        }
        match T::try_from(wire) {
            Ok(message) => Ok(message),
            Err(error) => {
                // A word that only a newer program knows is no offence.
                let is_offence = !matches!(error, WireError::UnknownValue { .. } | WireError::UnknownKind);
                if let (Ok(session), true) = (session, is_offence) {
                    self.strike(session, &format!("a message that breaks the contract: {error}"))
                        .await?;
                }
                Err(error.into())
            }
        }
    }

    async fn strike(&self, session: Session, reason: &str) -> Result<(), CallError> {
        let shared = &self.shared;
        if shared
            .store
            .strike_session(session, reason, shared.config.max_strikes)
            .await?
        {
            warn!(reason, "a worker was struck");
        }
        Ok(())
    }

    /// Strikes who names a lease that was granted to another worker.
    async fn strike_thief(&self, session: Session, job: JobId, token: FencingToken) -> Result<(), CallError> {
        if self.shared.store.is_anothers_lease(session, job, token).await? {
            let reason = format!("it named lease {token} of job {job}, which is another worker's");
            self.strike(session, &reason).await?;
        }
        Ok(())
    }

    async fn join(&self, hello: Hello, credential: Option<&str>) -> Result<Welcome, CallError> {
        if !hello.protocol.contains(&PROTOCOL) {
            return Err(CallError::Outdated(format!(
                "this coordinator speaks protocol {PROTOCOL}, the worker {} to {}",
                hello.protocol.start(),
                hello.protocol.end()
            )));
        }
        let shared = &self.shared;
        let (standing, is_new) = shared
            .store
            .join_as(&hello, credential, PROTOCOL, Session::new(Uuid::new_v4()))
            .await?
            .ok_or(CallError::Impostor)?;
        let refusal = shared.gate.refusal(&standing);
        if is_new {
            info!(
                worker = standing.name,
                worker.incarnation = %hello.incarnation,
                refusal,
                "worker joined"
            );
            let detail = format!("{} threads, {}", hello.n_threads, hello.program_version);
            let detail = refusal
                .as_ref()
                .map_or(detail.clone(), |refusal| format!("{detail}: {refusal}"));
            self.note(&standing, EventKind::WorkerJoined, &detail).await?;
        }
        Ok(Welcome {
            session: standing.session,
            protocol: PROTOCOL,
            lease_ttl: shared.config.lease_ttl,
            beat_interval: shared.config.beat_interval,
            max_boards_per_batch: MAX_BOARDS_PER_BATCH,
            versions: shared.gate.versions(),
            directive: directive(&standing, refusal.as_deref()),
            refusal,
            takes_hashes: true,
        })
    }

    /// Ends a job, and has what was claimed looked at.
    async fn complete(&self, prover: &Prover, claim: &Completion) -> Result<LeaseOutcome, CallError> {
        let shared = &self.shared;
        if let Some(fault) = shared.store.fault_of_claim(claim).await? {
            // It takes no second run to see that this is no result: the job goes to somebody else.
            let (max_failures, max_strikes) = (shared.config.max_failures, shared.config.max_strikes);
            shared
                .store
                .refuse_claim(claim, &fault, max_failures, max_strikes)
                .await?;
            shared.work.tell();
            return Ok(LeaseOutcome::Lost);
        }
        let limits = (shared.config.max_failures, shared.config.max_strikes);
        let sampling = Sampling {
            auditing: &shared.config.auditing,
            lot: shared.prover.chance(&Uuid::new_v4()),
        };
        let sampling = Some(&sampling);
        // What jobs of other kinds claim is held against what was handed in, or measured again, there.
        let outcome = match jams::complete(&shared.store, prover, limits, claim, sampling).await? {
            Some(outcome) => outcome,
            None if claim.measures.is_some() => {
                measures::complete(&shared.store, prover, &shared.config, claim, sampling).await?
            }
            None => shared.store.complete_sampled(claim, &[], sampling).await?,
        };
        if outcome == LeaseOutcome::Lost {
            shared.work.tell();
            self.strike_thief(claim.session, claim.job, claim.token).await?;
            return Ok(outcome);
        }
        // The claim is taken, and its lot drawn; runs that are not compared now are compared by the reaper.
        if let Err(error) = shared.store.settle(claim.job, shared.config.max_strikes).await {
            warn!(%error, job.id = %claim.job, "the claim is not compared yet");
        }
        Ok(outcome)
    }

    async fn note(&self, worker: &WorkerStanding, kind: EventKind, detail: &str) -> Result<(), CallError> {
        let event = EventToWrite {
            worker_id: Some(worker.id),
            ..EventToWrite::new(&worker.name, kind, detail)
        };
        Ok(self.shared.store.write_event(&event).await?)
    }

    async fn leave(&self, session: Session) -> Result<u32, CallError> {
        let standing = self.standing(session).await?;
        let n_released = self.shared.store.release_all(session).await?;
        self.shared.store.leave(session).await?;
        if n_released > 0 {
            self.shared.work.tell();
        }
        if !standing.is_gone {
            info!(worker = standing.name, n_released, "worker left");
            self.note(&standing, EventKind::WorkerLeft, "").await?;
        }
        Ok(u32::try_from(n_released).unwrap_or(u32::MAX))
    }
}

/// What a worker hears. One that is quarantined may hand in what it has, and take nothing; one that may not search
/// (`refusal`) is to make room for another program.
fn directive(standing: &WorkerStanding, refusal: Option<&str>) -> Directive {
    match standing.directive {
        Directive::Stop => Directive::Stop,
        _ if refusal.is_some() => Directive::Upgrade,
        Directive::Run if standing.is_quarantined => Directive::Drain,
        directive => directive,
    }
}

/// Messages that name a session.
trait Signed {
    fn session(&self) -> &str;
}

macro_rules! signed {
    ($($message:ident),+) => {
        $(impl Signed for v1::$message {
            fn session(&self) -> &str {
                &self.session
            }
        })+
    };
}

signed!(
    AcquireRequest,
    HeartbeatRequest,
    SubmitBoardsRequest,
    CompleteJobRequest,
    ReleaseJobRequest
);

#[tonic::async_trait]
impl Farm for FarmService {
    async fn hello(&self, request: Request<v1::HelloRequest>) -> Result<Response<v1::HelloResponse>, Status> {
        let credential = Caller::of(&request).map(|caller| caller.name.clone());
        let hello = Hello::try_from(request.into_inner()).map_err(CallError::from)?;
        Ok(Response::new(
            self.join(hello, credential.as_deref()).await?.into(),
        ))
    }

    async fn acquire(
        &self,
        request: Request<v1::AcquireRequest>,
    ) -> Result<Response<v1::AcquireResponse>, Status> {
        let wish: Acquire = self.read(request).await?;
        let standing = self.standing(wish.session).await?;
        let refusal = self.shared.gate.refusal(&standing);
        let directive = directive(&standing, refusal.as_deref());
        if let Some(refusal) = refusal {
            return Err(CallError::Outdated(refusal).into());
        }
        let leases = if directive == Directive::Run && !standing.is_gone {
            let shared = &self.shared;
            grant::acquire(
                &shared.store,
                &shared.config,
                &shared.work,
                &shared.shutdown,
                &wish,
            )
            .await
            .map_err(CallError::from)?
        } else {
            Vec::new()
        };
        let leases = leases.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::AcquireResponse {
            leases,
            directive: directive.to_wire(),
        }))
    }

    async fn heartbeat(
        &self,
        request: Request<v1::HeartbeatRequest>,
    ) -> Result<Response<v1::HeartbeatResponse>, Status> {
        let beat: Beat = self.read(request).await?;
        let (store, config) = (&self.shared.store, &self.shared.config);
        let outcome = store
            .beat_watched(&beat, config.lease_ttl, config.stall_beats)
            .await
            .map_err(CallError::from)?;
        let standing = outcome.standing.ok_or(CallError::NoSession)?;
        for order in &outcome.orders {
            if order.action == LeaseAction::Lost {
                self.strike_thief(beat.session, order.job, order.token).await?;
            }
        }
        let refusal = self.shared.gate.refusal(&standing);
        Ok(Response::new(v1::HeartbeatResponse {
            seq: beat.seq,
            leases: outcome.orders.into_iter().map(Into::into).collect(),
            directive: directive(&standing, refusal.as_deref()).to_wire(),
        }))
    }

    async fn submit_boards(
        &self,
        request: Request<v1::SubmitBoardsRequest>,
    ) -> Result<Response<v1::SubmitBoardsResponse>, Status> {
        let shared = &self.shared;
        // A worker that is sent away keeps its batch and comes again; one that waits here holds up the beats of others.
        let Ok(_place) = shared.submitting.try_acquire() else {
            let n_batches = shared.config.max_submits;
            return Err(CallError::Full { n_batches }.into());
        };
        let caller = Caller::of(&request).map(|caller| caller.name.clone());
        let batch: Batch = self.read(request).await?;
        let session = batch.session;
        // Who hung up and sends it again would have it proved twice at once; the first time is carried through.
        let Some(_on_its_way) = self.under_way.begin(session, batch.id) else {
            return Err(CallError::UnderWay.into());
        };
        let prover = shared.prover.on_behalf_of(caller.as_deref(), session);
        match submit(&shared.store, &prover, shared.config.max_strikes, batch).await {
            Ok(ack) => Ok(Response::new(ack.into())),
            Err(error) => {
                // Whatever else was wrong: a worker without a session must hear of that, to say hello again.
                self.standing(session).await?;
                Err(CallError::from(error).into())
            }
        }
    }

    async fn complete_job(
        &self,
        request: Request<v1::CompleteJobRequest>,
    ) -> Result<Response<v1::CompleteJobResponse>, Status> {
        let caller = Caller::of(&request).map(|caller| caller.name.clone());
        let claim: Completion = self.read(request).await?;
        self.standing(claim.session).await?;
        let prover = self.shared.prover.on_behalf_of(caller.as_deref(), claim.session);
        let outcome = self.complete(&prover, &claim).await?;
        Ok(Response::new(v1::CompleteJobResponse {
            outcome: outcome.to_wire(),
        }))
    }

    async fn release_job(
        &self,
        request: Request<v1::ReleaseJobRequest>,
    ) -> Result<Response<v1::ReleaseJobResponse>, Status> {
        let release: Release = self.read(request).await?;
        self.standing(release.session).await?;
        let shared = &self.shared;
        let outcome = shared
            .store
            .release(&release, shared.config.max_failures)
            .await
            .map_err(CallError::from)?;
        if outcome == LeaseOutcome::Lost {
            self.strike_thief(release.session, release.job, release.token)
                .await?;
        }
        shared.work.tell();
        Ok(Response::new(v1::ReleaseJobResponse {
            outcome: outcome.to_wire(),
        }))
    }

    async fn goodbye(
        &self,
        request: Request<v1::GoodbyeRequest>,
    ) -> Result<Response<v1::GoodbyeResponse>, Status> {
        let caller = Caller::of(&request).map(|caller| caller.name.clone());
        let session = Session::parse(&request.into_inner().session).map_err(CallError::from)?;
        self.check_owner(caller.as_deref(), session).await?;
        let n_released = self.leave(session).await?;
        Ok(Response::new(v1::GoodbyeResponse { n_released }))
    }
}
