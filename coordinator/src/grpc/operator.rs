//! The operators' door.

use std::sync::Arc;
use std::time::Duration;

use board::geometry::Lot;
use board::{Board, StateLimit, solve};
use proto::convert::{MAX_SPELLING_BYTES, StatedBoard, WireError, Wish};
use proto::ids::{HuntId, JobId};
use proto::v1;
use proto::v1::operator_server::Operator;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::CallError;
use crate::Shared;
use crate::jobs::campaign;
use crate::store::{
    AttemptRecord, HuntProgress, HuntRecord, HuntState, JobFilter, JobRecord, JobState, WorkerRecord,
};

/// Jobs in a list, if nothing is said.
const DEFAULT_JOBS: u32 = 100;
/// Boards in a list, if nothing is said.
const DEFAULT_BOARDS: u32 = 10;
/// The most boards in a list.
const MAX_BOARDS: u32 = 1_000;

/// The most positions that a hint looks at: far more than any 6x6 cluster has, some 200 MB at the most.
const HINT_LIMIT: StateLimit = StateLimit::new(5_000_000);

/// The operators' service.
#[derive(Clone, Debug)]
pub struct OperatorService {
    shared: Arc<Shared>,
}

impl OperatorService {
    /// The service of this coordinator.
    pub fn new(shared: Arc<Shared>) -> OperatorService {
        OperatorService { shared }
    }

    async fn hunt(&self, id: HuntId) -> Result<v1::Hunt, CallError> {
        let hunt = self.shared.store.hunt(id).await?;
        hunt.map(hunt_to_wire).ok_or(CallError::NotFound {
            what: "hunt",
            id: id.get(),
        })
    }

    /// The hunt after a change, or why there was none.
    async fn changed(
        &self,
        id: HuntId,
        is_changed: bool,
        wanted: &str,
    ) -> Result<Response<v1::Hunt>, Status> {
        let hunt = self.hunt(id).await?;
        if !is_changed {
            let state = v1::HuntState::try_from(hunt.state)
                .unwrap_or_default()
                .as_str_name();
            return Err(
                CallError::Conflict(format!("hunt {id} is in {state} and cannot be {wanted}")).into(),
            );
        }
        self.shared.work.tell();
        Ok(Response::new(hunt))
    }
}

#[tonic::async_trait]
impl Operator for OperatorService {
    async fn create_hunt(
        &self,
        request: Request<v1::CreateHuntRequest>,
    ) -> Result<Response<v1::Hunt>, Status> {
        let wish = Wish::try_from(request.into_inner()).map_err(CallError::from)?;
        let store = &self.shared.store;
        let hunt = match wish {
            Wish::Hunt(wish) => store.create_hunt(&wish, drawn_seed()).await,
            Wish::Campaign(wish) => campaign::create(store, &wish).await,
        }
        .map_err(CallError::from)?;
        self.shared.work.tell();
        Ok(Response::new(hunt_to_wire(hunt)))
    }

    async fn list_hunts(
        &self,
        _: Request<v1::ListHuntsRequest>,
    ) -> Result<Response<v1::ListHuntsResponse>, Status> {
        let hunts = self.shared.store.list_hunts().await.map_err(CallError::from)?;
        Ok(Response::new(v1::ListHuntsResponse {
            hunts: hunts.into_iter().map(hunt_to_wire).collect(),
        }))
    }

    async fn get_hunt(&self, request: Request<v1::GetHuntRequest>) -> Result<Response<v1::Hunt>, Status> {
        Ok(Response::new(self.hunt(hunt_id(request.into_inner().id)?).await?))
    }

    async fn pause_hunt(&self, request: Request<v1::PauseHuntRequest>) -> Result<Response<v1::Hunt>, Status> {
        let id = hunt_id(request.into_inner().id)?;
        let is_changed = self.shared.store.pause_hunt(id).await.map_err(CallError::from)?;
        self.changed(id, is_changed, "paused").await
    }

    async fn resume_hunt(
        &self,
        request: Request<v1::ResumeHuntRequest>,
    ) -> Result<Response<v1::Hunt>, Status> {
        let id = hunt_id(request.into_inner().id)?;
        let is_changed = self.shared.store.resume_hunt(id).await.map_err(CallError::from)?;
        self.changed(id, is_changed, "resumed").await
    }

    async fn cancel_hunt(
        &self,
        request: Request<v1::CancelHuntRequest>,
    ) -> Result<Response<v1::Hunt>, Status> {
        let id = hunt_id(request.into_inner().id)?;
        let is_changed = self.shared.store.cancel_hunt(id).await.map_err(CallError::from)?;
        self.changed(id, is_changed, "cancelled").await
    }

    async fn get_hunt_progress(
        &self,
        request: Request<v1::GetHuntProgressRequest>,
    ) -> Result<Response<v1::HuntProgress>, Status> {
        let id = hunt_id(request.into_inner().id)?;
        let progress = self
            .shared
            .store
            .hunt_progress(id)
            .await
            .map_err(CallError::from)?;
        let progress = progress.ok_or(CallError::NotFound {
            what: "hunt",
            id: id.get(),
        })?;
        Ok(Response::new(progress_to_wire(progress)))
    }

    async fn list_jobs(
        &self,
        request: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let filter = job_filter(&request.into_inner()).map_err(CallError::from)?;
        let jobs = self
            .shared
            .store
            .list_jobs(&filter)
            .await
            .map_err(CallError::from)?;
        let jobs = jobs.iter().map(|job| job_to_wire(job, Vec::new())).collect();
        Ok(Response::new(v1::ListJobsResponse { jobs }))
    }

    async fn get_job(&self, request: Request<v1::GetJobRequest>) -> Result<Response<v1::Job>, Status> {
        let id = JobId::new(request.into_inner().id).map_err(CallError::from)?;
        let store = &self.shared.store;
        let job = store.job(id).await.map_err(CallError::from)?;
        let job = job.ok_or(CallError::NotFound {
            what: "job",
            id: id.get(),
        })?;
        let attempts = store.attempts(id).await.map_err(CallError::from)?;
        Ok(Response::new(job_to_wire(&job, attempts)))
    }

    async fn list_workers(
        &self,
        request: Request<v1::ListWorkersRequest>,
    ) -> Result<Response<v1::ListWorkersResponse>, Status> {
        let workers = self
            .shared
            .store
            .list_workers(request.into_inner().all)
            .await
            .map_err(CallError::from)?;
        Ok(Response::new(v1::ListWorkersResponse {
            workers: workers.into_iter().map(worker_to_wire).collect(),
        }))
    }

    async fn par_distribution(
        &self,
        request: Request<v1::ParDistributionRequest>,
    ) -> Result<Response<v1::ParDistributionResponse>, Status> {
        let request = request.into_inner();
        let lot = lot(request.lot_width, request.lot_height).map_err(CallError::from)?;
        let counts = self
            .shared
            .store
            .par_distribution(lot)
            .await
            .map_err(CallError::from)?;
        let pars = counts
            .into_iter()
            .map(|count| v1::ParCount {
                par: count.par.get().into(),
                boards: count.n_boards,
            })
            .collect();
        Ok(Response::new(v1::ParDistributionResponse { pars }))
    }

    async fn hardest_boards(
        &self,
        request: Request<v1::HardestBoardsRequest>,
    ) -> Result<Response<v1::HardestBoardsResponse>, Status> {
        let request = request.into_inner();
        let lot = lot(request.lot_width, request.lot_height).map_err(CallError::from)?;
        let limit = limit(request.limit, DEFAULT_BOARDS).min(MAX_BOARDS);
        let boards = self
            .shared
            .store
            .hardest_boards(lot, limit as usize)
            .await
            .map_err(CallError::from)?;
        let boards = boards
            .iter()
            .map(|row| StatedBoard::from(&row.found).into())
            .collect();
        Ok(Response::new(v1::HardestBoardsResponse { boards }))
    }

    async fn hint(&self, request: Request<v1::HintRequest>) -> Result<Response<v1::HintResponse>, Status> {
        let board = position(&request.into_inner().board).map_err(CallError::from)?;
        let hinted = self
            .shared
            .prover
            .work(move || {
                let hint = solve::hint(&board, HINT_LIMIT).map_err(|error| error.to_string())?;
                Ok(v1::HintResponse {
                    slide: hint.slide.map(|slide| board.spell_slide(slide)),
                    par: hint.par.map(|par| par.get().into()),
                })
            })
            .await
            .map_err(CallError::from)?;
        Ok(Response::new(hinted.map_err(CallError::Conflict)?))
    }
}

/// A seed that nobody chose.
pub(crate) fn drawn_seed() -> u64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    // Six bits of a uuid are fixed, at different places of the halves.
    high ^ low.rotate_left(32)
}

fn hunt_id(id: i64) -> Result<HuntId, Status> {
    Ok(HuntId::new(id).map_err(CallError::from)?)
}

fn limit(asked: u32, default: u32) -> u32 {
    if asked == 0 { default } else { asked }
}

fn lot(width: u32, height: u32) -> Result<Option<Lot>, WireError> {
    if width == 0 && height == 0 {
        return Ok(None);
    }
    let side = |field, value: u32| {
        u8::try_from(value)
            .ok()
            .filter(|side| (3..=16).contains(side))
            .ok_or(WireError::OutOfRange {
                field,
                value: value.into(),
                low: 3,
                high: 16,
            })
    };
    let lot = Lot::new(side("lot_width", width)?, side("lot_height", height)?);
    Ok(Some(lot.expect("both sides are from 3 to 16")))
}

/// A position of any lot that hunts may have, in any spelling.
fn position(text: &str) -> Result<Board, WireError> {
    let refused = |reason: String| WireError::StartBoard {
        spelling: text.chars().take(100).collect(),
        reason,
    };
    if text.len() > MAX_SPELLING_BYTES {
        return Err(refused(format!(
            "{} bytes, expected at most {MAX_SPELLING_BYTES}",
            text.len()
        )));
    }
    Board::parse(text).map_err(|error| refused(error.to_string()))
}

fn job_filter(wire: &v1::ListJobsRequest) -> Result<JobFilter, WireError> {
    let state = match v1::JobState::try_from(wire.state) {
        Ok(v1::JobState::Unspecified) => None,
        Ok(v1::JobState::Queued) => Some(JobState::Queued),
        Ok(v1::JobState::Leased) => Some(JobState::Leased),
        Ok(v1::JobState::Done) => Some(JobState::Done),
        Ok(v1::JobState::Parked) => Some(JobState::Parked),
        Ok(v1::JobState::Cancelled) => Some(JobState::Cancelled),
        Err(_) => {
            return Err(WireError::UnknownValue {
                field: "state",
                value: wire.state,
            });
        }
    };
    Ok(JobFilter {
        hunt: wire.hunt_id.map(HuntId::new).transpose()?,
        state,
        before: wire.before_id.map(JobId::new).transpose()?,
        limit: limit(wire.limit, DEFAULT_JOBS),
    })
}

fn hunt_to_wire(hunt: HuntRecord) -> v1::Hunt {
    // What was asked for as minutes is kept as the moment of the end.
    let time = hunt.ends_at.map(|ends_at| ends_at - hunt.created_at);
    let minutes = time
        .and_then(|time| Duration::try_from(time).ok())
        .map(|time| time.as_secs().div_ceil(60));
    v1::Hunt {
        id: hunt.id.get(),
        name: hunt.name,
        space: hunt.space.as_ref().map(Into::into),
        strategy: hunt.strategy.to_wire().into(),
        budget: Some(v1::Budget {
            minutes,
            jobs: hunt.end_number,
            until_par: hunt.until_par.map(|par| par.get().into()),
        }),
        priority: hunt.priority,
        seed: hunt.seed,
        state: state_to_wire(hunt.state),
        created_at: timestamp(hunt.created_at),
        ended_at: hunt.ended_at.map(timestamp),
        aim: hunt.plan.aim.to_wire(),
        mix: hunt
            .plan
            .mix
            .iter()
            .map(|strategy| strategy.to_wire().into())
            .collect(),
    }
}

fn state_to_wire(state: HuntState) -> i32 {
    match state {
        HuntState::Running => v1::HuntState::Running,
        HuntState::Paused => v1::HuntState::Paused,
        HuntState::Done => v1::HuntState::Done,
        HuntState::Cancelled => v1::HuntState::Cancelled,
    }
    .into()
}

fn progress_to_wire(progress: HuntProgress) -> v1::HuntProgress {
    v1::HuntProgress {
        hunt_id: progress.hunt.get(),
        state: state_to_wire(progress.state),
        boards_total: progress.n_boards,
        boards_new: progress.n_new,
        jobs_done: progress.jobs_done,
        jobs_leased: progress.jobs_leased,
        jobs_queued: progress.jobs_queued,
        jobs_parked: progress.jobs_parked,
        best_par: progress.best_par.map(|par| par.get().into()),
        hardest: progress.hardest.unwrap_or_default(),
        positions_per_s: progress.positions_per_s,
        clusters: progress.n_clusters,
    }
}

fn job_to_wire(job: &JobRecord, history: Vec<AttemptRecord>) -> v1::Job {
    let state = match job.state {
        JobState::Queued => v1::JobState::Queued,
        JobState::Leased => v1::JobState::Leased,
        JobState::Done => v1::JobState::Done,
        JobState::Parked => v1::JobState::Parked,
        JobState::Cancelled => v1::JobState::Cancelled,
    };
    v1::Job {
        id: job.id.get(),
        hunt_id: job.hunt.get(),
        number: job.number,
        state: state.into(),
        spec: Some((&job.spec).into()),
        engine: job.engine.clone().unwrap_or_default(),
        digest: job
            .digest
            .map(|digest| digest.to_bytes().to_vec())
            .unwrap_or_default(),
        counters: Some((&job.counters).into()),
        attempts: job.n_failures,
        created_at: timestamp(job.created_at),
        ended_at: job.ended_at.map(timestamp),
        history: history.into_iter().map(attempt_to_wire).collect(),
    }
}

fn attempt_to_wire(attempt: AttemptRecord) -> v1::JobAttempt {
    v1::JobAttempt {
        token: attempt.token,
        worker_name: attempt.worker_name,
        started_at: timestamp(attempt.started_at),
        ended_at: attempt.ended_at.map(timestamp),
        outcome: attempt.outcome,
        detail: attempt.detail.unwrap_or_default(),
    }
}

fn worker_to_wire(worker: WorkerRecord) -> v1::Worker {
    let state = worker.state();
    v1::Worker {
        name: worker.name,
        incarnation: worker.incarnation.to_string(),
        engine: worker.engine,
        program_version: worker.program_version,
        n_slots: worker.n_slots,
        n_threads: worker.n_threads,
        cpu: worker.cpu,
        state: state.to_owned(),
        first_seen: timestamp(worker.first_seen),
        last_seen: timestamp(worker.last_seen),
        n_leases: u32::try_from(worker.n_leases).unwrap_or(u32::MAX),
        strikes: worker.strikes,
        quarantine_reason: worker.quarantine_reason,
        boards_new: worker.n_new,
    }
}

fn timestamp(at: OffsetDateTime) -> String {
    at.format(&Rfc3339)
        .expect("the database's years have four digits")
}
