//! Calls as they go over the wire, without the wire.

use coordinator::doors::{Caller, Role};
use coordinator::grpc::farm::FarmService;
use proto::v1::farm_server::Farm;
use proto::v1::{
    AcquireRequest, AcquireResponse, CompleteJobRequest, CompleteJobResponse, GoodbyeRequest,
    HeartbeatRequest, HeartbeatResponse, HelloRequest, HelloResponse, ReleaseJobRequest, ReleaseJobResponse,
    SubmitBoardsRequest, SubmitBoardsResponse,
};
use tonic::{Request, Response, Status};

use crate::ops::Lie;

/// What a worker asks.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Hello(HelloRequest),
    Acquire(AcquireRequest),
    Beat(HeartbeatRequest),
    Submit(SubmitBoardsRequest),
    Complete(CompleteJobRequest),
    Release(ReleaseJobRequest),
    Goodbye(GoodbyeRequest),
}

/// What a coordinator answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Hello(HelloResponse),
    Acquire(AcquireResponse),
    Beat(HeartbeatResponse),
    Submit(SubmitBoardsResponse),
    Complete(CompleteJobResponse),
    Release(ReleaseJobResponse),
    Goodbye,
    Refused(Status),
}

/// A call under way.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    /// Who sent it, and in which of its lives.
    pub(crate) worker: usize,
    pub(crate) life: u32,
    /// What is false in it; `None`: nothing.
    pub(crate) lie: Option<Lie>,
    pub(crate) call: Call,
}

/// An answer under way.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// Which coordinator sent it.
    pub(crate) coordinator: usize,
    pub(crate) letter: Letter,
    pub(crate) answer: Answer,
}

impl Call {
    /// Who calls; `None`: it is to be told.
    pub(crate) fn session(&self) -> Option<&str> {
        match self {
            Call::Hello(_) => None,
            Call::Acquire(wire) => Some(&wire.session),
            Call::Beat(wire) => Some(&wire.session),
            Call::Submit(wire) => Some(&wire.session),
            Call::Complete(wire) => Some(&wire.session),
            Call::Release(wire) => Some(&wire.session),
            Call::Goodbye(wire) => Some(&wire.session),
        }
    }

    /// Carries the call out at a coordinator, by whom this token says, if one is shown.
    pub(crate) async fn carry_out(self, farm: &FarmService, token: Option<&str>) -> Answer {
        match self {
            Call::Hello(wire) => answer(farm.hello(signed(wire, token)).await, Answer::Hello),
            Call::Acquire(wire) => answer(farm.acquire(signed(wire, token)).await, Answer::Acquire),
            Call::Beat(wire) => answer(farm.heartbeat(signed(wire, token)).await, Answer::Beat),
            Call::Submit(wire) => answer(farm.submit_boards(signed(wire, token)).await, Answer::Submit),
            Call::Complete(wire) => answer(farm.complete_job(signed(wire, token)).await, Answer::Complete),
            Call::Release(wire) => answer(farm.release_job(signed(wire, token)).await, Answer::Release),
            Call::Goodbye(wire) => answer(farm.goodbye(signed(wire, token)).await, |_| Answer::Goodbye),
        }
    }
}

fn signed<T>(wire: T, token: Option<&str>) -> Request<T> {
    let mut request = Request::new(wire);
    if let Some(token) = token {
        request.extensions_mut().insert(Caller {
            name: token.to_owned(),
            role: Role::Worker,
        });
    }
    request
}

fn answer<T>(outcome: Result<Response<T>, Status>, make: impl FnOnce(T) -> Answer) -> Answer {
    match outcome {
        Ok(response) => make(response.into_inner()),
        Err(status) => Answer::Refused(status),
    }
}
