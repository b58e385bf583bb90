//! The workers' door.

use std::sync::Arc;

use board::ENGINE;
use proto::convert::{Acquire, Batch, Beat, Completion, Directive, Hello, LeaseOutcome, Release, Welcome};
use proto::ids::Session;
use proto::v1::farm_server::Farm;
use proto::{MAX_BOARDS_PER_BATCH, PROTOCOL, v1};
use tonic::{Request, Response, Status};
use tracing::info;
use uuid::Uuid;

use super::CallError;
use crate::Shared;
use crate::jams;
use crate::jobs::grant;
use crate::measures;
use crate::store::{EventKind, EventToWrite, WorkerStanding};
use crate::submit::submit;

/// The workers' service.
#[derive(Clone, Debug)]
pub struct FarmService {
    shared: Arc<Shared>,
}

impl FarmService {
    /// The service of this coordinator.
    pub fn new(shared: Arc<Shared>) -> FarmService {
        FarmService { shared }
    }

    async fn standing(&self, session: Session) -> Result<WorkerStanding, CallError> {
        self.shared
            .store
            .worker(session)
            .await?
            .ok_or(CallError::NoSession)
    }

    async fn join(&self, hello: Hello) -> Result<Welcome, CallError> {
        if !hello.protocol.contains(&PROTOCOL) {
            return Err(CallError::Outdated(format!(
                "this coordinator speaks protocol {PROTOCOL}, the worker {} to {}",
                hello.protocol.start(),
                hello.protocol.end()
            )));
        }
        if hello.engine != ENGINE {
            let told = format!(
                "this coordinator's engine is {ENGINE}, the worker's {}: install one version",
                hello.engine
            );
            return Err(CallError::Outdated(told));
        }
        let shared = &self.shared;
        let (standing, is_new) = shared
            .store
            .join(&hello, PROTOCOL, Session::new(Uuid::new_v4()))
            .await?;
        if is_new {
            info!(worker = standing.name, worker.incarnation = %hello.incarnation, "worker joined");
            let detail = format!("{} threads, {}", hello.n_threads, hello.program_version);
            self.note(&standing, EventKind::WorkerJoined, &detail).await?;
        }
        Ok(Welcome {
            session: standing.session,
            protocol: PROTOCOL,
            lease_ttl: shared.config.lease_ttl,
            beat_interval: shared.config.beat_interval,
            max_boards_per_batch: MAX_BOARDS_PER_BATCH,
            directive: directive(&standing),
        })
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
            self.shared.work.notify_waiters();
        }
        if !standing.is_gone {
            info!(worker = standing.name, n_released, "worker left");
            self.note(&standing, EventKind::WorkerLeft, "").await?;
        }
        Ok(u32::try_from(n_released).unwrap_or(u32::MAX))
    }
}

/// What a worker hears. One that is quarantined may hand in what it has, and take nothing.
fn directive(standing: &WorkerStanding) -> Directive {
    match standing.directive {
        Directive::Run if standing.is_quarantined => Directive::Drain,
        directive => directive,
    }
}

#[tonic::async_trait]
impl Farm for FarmService {
    async fn hello(&self, request: Request<v1::HelloRequest>) -> Result<Response<v1::HelloResponse>, Status> {
        let hello = Hello::try_from(request.into_inner()).map_err(CallError::from)?;
        Ok(Response::new(self.join(hello).await?.into()))
    }

    async fn acquire(
        &self,
        request: Request<v1::AcquireRequest>,
    ) -> Result<Response<v1::AcquireResponse>, Status> {
        let wish = Acquire::try_from(request.into_inner()).map_err(CallError::from)?;
        let standing = self.standing(wish.session).await?;
        let directive = directive(&standing);
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
        let beat = Beat::try_from(request.into_inner()).map_err(CallError::from)?;
        let store = &self.shared.store;
        let outcome = store
            .beat(&beat, self.shared.config.lease_ttl)
            .await
            .map_err(CallError::from)?;
        // Read after the beat: what it says about the worker is at least as new as the orders.
        let standing = self.standing(beat.session).await?;
        Ok(Response::new(v1::HeartbeatResponse {
            seq: beat.seq,
            leases: outcome.orders.into_iter().map(Into::into).collect(),
            directive: directive(&standing).to_wire(),
        }))
    }

    async fn submit_boards(
        &self,
        request: Request<v1::SubmitBoardsRequest>,
    ) -> Result<Response<v1::SubmitBoardsResponse>, Status> {
        let batch = Batch::try_from(request.into_inner()).map_err(CallError::from)?;
        let session = batch.session;
        let shared = &self.shared;
        match submit(&shared.store, &shared.prover, shared.config.max_strikes, batch).await {
            Ok(ack) => Ok(Response::new(ack.into())),
            Err(error) => {
                // Of "no such lease" and "no such session" the worker must hear the second, to say hello again.
                self.standing(session).await?;
                Err(CallError::from(error).into())
            }
        }
    }

    async fn complete_job(
        &self,
        request: Request<v1::CompleteJobRequest>,
    ) -> Result<Response<v1::CompleteJobResponse>, Status> {
        let claim = Completion::try_from(request.into_inner()).map_err(CallError::from)?;
        self.standing(claim.session).await?;
        let shared = &self.shared;
        let config = &shared.config;
        let limits = (config.max_failures, config.max_strikes);
        let of_jams = jams::complete(&shared.store, &shared.prover, limits, &claim)
            .await
            .map_err(CallError::from)?;
        let outcome = match of_jams {
            Some(outcome) => outcome,
            None if claim.measures.is_some() => {
                let completed = measures::complete(&shared.store, &shared.prover, config, &claim).await;
                completed.map_err(CallError::from)?
            }
            None => shared.store.complete(&claim).await.map_err(CallError::from)?,
        };
        if outcome == LeaseOutcome::Lost {
            // A claim that was refused has put its job back.
            shared.work.notify_waiters();
        }
        Ok(Response::new(v1::CompleteJobResponse {
            outcome: outcome.to_wire(),
        }))
    }

    async fn release_job(
        &self,
        request: Request<v1::ReleaseJobRequest>,
    ) -> Result<Response<v1::ReleaseJobResponse>, Status> {
        let release = Release::try_from(request.into_inner()).map_err(CallError::from)?;
        self.standing(release.session).await?;
        let shared = &self.shared;
        let outcome = shared
            .store
            .release(&release, shared.config.max_failures)
            .await
            .map_err(CallError::from)?;
        shared.work.notify_waiters();
        Ok(Response::new(v1::ReleaseJobResponse {
            outcome: outcome.to_wire(),
        }))
    }

    async fn goodbye(
        &self,
        request: Request<v1::GoodbyeRequest>,
    ) -> Result<Response<v1::GoodbyeResponse>, Status> {
        let session = Session::parse(&request.into_inner().session).map_err(CallError::from)?;
        let n_released = self.leave(session).await?;
        Ok(Response::new(v1::GoodbyeResponse { n_released }))
    }
}
