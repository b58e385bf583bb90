//! Stands before the gRPC services: which call needs which role, decided in one place for every call there is. A call that
//! this list does not know is for operators.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use proto::DOOR_TRAILER;
use tonic::Status;
use tonic::codegen::Service;
use tonic::codegen::http::header::AUTHORIZATION;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::metadata::MetadataValue;
use tracing::{debug, error};

use super::{Admission, Porter, Role, Shut};

/// Who calls: what the token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whose token it is.
    pub name: String,
    /// What it opens.
    pub role: Role,
}

impl Caller {
    /// Who makes this call; `None`: the door asks for no token.
    pub fn of<T>(request: &tonic::Request<T>) -> Option<&Caller> {
        request.extensions().get()
    }
}

/// Puts the guard before services.
#[derive(Clone, Debug)]
pub(crate) struct GuardLayer {
    /// `None`: the door stands open.
    porter: Option<Arc<Porter>>,
}

impl GuardLayer {
    pub(crate) fn new(porter: Option<Arc<Porter>>) -> GuardLayer {
        GuardLayer { porter }
    }
}

impl<S> tower_layer::Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Guard {
            inner,
            porter: self.porter.clone(),
        }
    }
}

/// The guard before a service.
#[derive(Clone, Debug)]
pub(crate) struct Guard<S> {
    inner: S,
    porter: Option<Arc<Porter>>,
}

impl<S, B, R> Service<Request<B>> for Guard<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    B: Send + 'static,
    R: Default + Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<R>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // The one that was polled ready makes the call, its copy waits for the next.
        let copy = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, copy);
        let porter = self.porter.clone();
        Box::pin(async move {
            let needs = needed(request.uri().path());
            // A call that needs nothing makes nobody known, unless nobody has to be.
            let mut is_let_in = porter.is_none();
            if let Some(porter) = porter.filter(|_| needs != Needs::Nothing) {
                match admit(&porter, needs, request.headers()).await {
                    Ok(caller) => {
                        request.extensions_mut().insert(caller);
                        is_let_in = true;
                    }
                    Err(shut) => {
                        debug!(path = request.uri().path(), %shut, "the door stays shut");
                        return Ok(status(&shut).into_http());
                    }
                }
            }
            if let Some(admission) = request.extensions().get::<Admission>()
                && is_let_in
            {
                admission.admit();
            }
            if !outlives_its_caller(request.uri().path()) {
                return inner.call(request).await;
            }
            // Who hangs up between a deed and its consequence (a claim and its audit) is not spared the consequence.
            match tokio::spawn(inner.call(request)).await {
                Ok(answer) => answer,
                Err(error) => {
                    error!(%error, "a call ended without an answer");
                    Ok(Status::internal("the call ended without an answer").into_http())
                }
            }
        })
    }
}

/// Whether a call is carried through though its caller hangs up: what changes something for good. A call that waits for work
/// ends with its caller, and so does a question.
fn outlives_its_caller(path: &str) -> bool {
    path.strip_prefix("/parforce.v1.Farm/")
        .is_some_and(|call| call != "Acquire")
}

/// What a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    Worker,
    /// A question that changes nothing.
    Analyst,
    Operator,
}

fn needed(path: &str) -> Needs {
    let Some((service, call)) = path.trim_start_matches('/').split_once('/') else {
        return Needs::Operator;
    };
    match service {
        "grpc.health.v1.Health" => Needs::Nothing,
        "parforce.v1.Farm" => Needs::Worker,
        "parforce.v1.Operator"
            if call.starts_with("Get")
                || call.starts_with("List")
                || ["ParDistribution", "HardestBoards"].contains(&call) =>
        {
            Needs::Analyst
        }
        _ => Needs::Operator,
    }
}

async fn admit(porter: &Porter, needs: Needs, headers: &HeaderMap) -> Result<Caller, Shut> {
    let shown = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let caller = porter.holder(shown.ok_or(Shut::NoToken)?.trim()).await?;
    let may = match needs {
        Needs::Nothing => true,
        Needs::Worker => caller.role == Role::Worker,
        Needs::Analyst => matches!(caller.role, Role::Analyst | Role::Operator),
        Needs::Operator => caller.role == Role::Operator,
    };
    if may {
        return Ok(caller);
    }
    Err(Shut::Role {
        name: caller.name,
        role: caller.role,
    })
}

fn status(shut: &Shut) -> Status {
    let mut status = match shut {
        Shut::Store(error) => {
            error!(%error, "a token could not be looked at");
            return Status::unavailable("the database is away, come again");
        }
        Shut::Role { .. } => Status::permission_denied(shut.to_string()),
        Shut::NoToken | Shut::Unknown | Shut::Expired(_) | Shut::Revoked(_) => {
            Status::unauthenticated(shut.to_string())
        }
    };
    status
        .metadata_mut()
        .insert(DOOR_TRAILER, MetadataValue::from_static("shut"));
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_nobody_thought_of_is_for_operators() {
        for path in [
            "",
            "/",
            "/parforce.v1.Operator/DropEverything",
            "/other.Service/Call",
            "/parforce.v1.Operator/CreateHunt",
        ] {
            assert_eq!(needed(path), Needs::Operator, "{path}");
        }
        assert_eq!(needed("/parforce.v1.Operator/ListJobs"), Needs::Analyst);
        assert_eq!(needed("/parforce.v1.Farm/Hello"), Needs::Worker);
        assert_eq!(needed("/grpc.health.v1.Health/Check"), Needs::Nothing);
    }

    #[tokio::test]
    async fn a_deed_is_carried_through_though_its_caller_hangs_up() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        use tower_layer::Layer;

        /// Counts the calls that came to their end; they wait for a word first.
        #[derive(Clone, Default)]
        struct Slow {
            word: Arc<tokio::sync::Notify>,
            n_done: Arc<AtomicUsize>,
        }

        impl Service<Request<()>> for Slow {
            type Response = Response<String>;
            type Error = std::convert::Infallible;
            type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

            fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, _: Request<()>) -> Self::Future {
                let slow = self.clone();
                Box::pin(async move {
                    slow.word.notified().await;
                    slow.n_done.fetch_add(1, Ordering::SeqCst);
                    Ok(Response::new(String::new()))
                })
            }
        }

        for (path, n_done) in [
            ("/parforce.v1.Farm/CompleteJob", 1),
            ("/parforce.v1.Farm/SubmitBoards", 1),
            ("/parforce.v1.Farm/Acquire", 0),
            ("/parforce.v1.Operator/ListJobs", 0),
        ] {
            let slow = Slow::default();
            let mut guard = GuardLayer::new(None).layer(slow.clone());
            let call = guard.call(Request::builder().uri(path).body(()).unwrap());
            {
                let mut call = std::pin::pin!(call);
                // It is under way; then nobody asks for its answer any more.
                let begun =
                    std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending()));
                assert!(begun.await, "{path}");
                tokio::task::yield_now().await;
            }
            slow.word.notify_one();
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert_eq!(slow.n_done.load(Ordering::SeqCst), n_done, "{path}");
        }
    }
}
