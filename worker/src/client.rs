//! The coordinator as the worker sees it: one function a call, types in and out, a deadline on each.
//!
//! Nothing is retried here, and no call is made that was not asked for: when to try again is its caller's decision.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use proto::convert::{
    Ack, Acquire, Batch, Beat, Completion, Directive, Hello, Lease, LeaseOrder, LeaseOutcome, Release,
    Welcome, WireError,
};
use proto::ids::{FencingToken, JobId, Session};
use proto::v1;
use proto::v1::farm_client::FarmClient;
use proto::{DOOR_TRAILER, MAX_MESSAGE_BYTES};
use thiserror::Error;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};

use crate::door::{Badge, Door, DoorError};

/// How long a connection may take to come about.
pub const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// How often an idle or silent connection is asked whether it lives. Without this a worker whose peer vanished without
/// a word (a partition, a frozen machine) waits on the dead connection for good.
pub const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// How long it may take to answer that.
pub const KEEP_ALIVE_DEADLINE: Duration = Duration::from_secs(10);

/// How long a short call may take.
pub const CALL_DEADLINE: Duration = Duration::from_secs(10);

/// How long the proving and storing of a batch may take.
pub const SUBMIT_DEADLINE: Duration = Duration::from_mins(2);

/// The trailer in which a busy coordinator says when to come again, in milliseconds.
pub const RETRY_AFTER_TRAILER: &str = "retry-after-ms";

/// The connection to one coordinator; clones share it. It connects at the first call, and again when it broke.
#[derive(Clone, Debug)]
pub struct Client {
    endpoint: Endpoint,
    badge: Badge,
    farm: FarmClient<InterceptedService<Channel, Badge>>,
}

/// Why a coordinator's address cannot be used.
#[derive(Debug, Error)]
pub enum AddressError {
    /// It does not read as one.
    #[error("coordinator address {address:?}, expected something like https://coordinator.example:7400")]
    Address {
        /// As it was given.
        address: String,
        /// What is wrong with it.
        source: tonic::transport::Error,
    },
    /// A token or a certificate would go over the network in the clear, or to nobody known.
    #[error(
        "coordinator address {0:?} has no TLS: a token or certificate is for https:// (or for this machine)"
    )]
    Plain(String),
    /// What is to be shown at the door.
    #[error(transparent)]
    Door(#[from] DoorError),
}

/// Why a call had no answer that can be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The coordinator knows no such session: say hello again.
    #[error("the coordinator does not know this session: {0}")]
    NoSession(String),
    /// The coordinator is full.
    #[error("the coordinator is busy: {message}")]
    Busy {
        /// When to come again, if it said so.
        after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The coordinator, its database or the way there is gone, or too slow.
    #[error("the coordinator cannot be reached: {0}")]
    Away(String),
    /// The door is shut to this worker's token.
    #[error("the coordinator's door is shut: {0}")]
    Shut(String),
    /// The coordinator takes no worker of this version or engine.
    #[error("the coordinator does not take this worker: {0}")]
    Unfit(String),
    /// The coordinator says that the call breaks the contract.
    #[error("the coordinator refused the call ({code:?}): {message}")]
    Refused {
        /// The status.
        code: Code,
        /// What it said.
        message: String,
    },
    /// The answer breaks the contract.
    #[error("the coordinator's answer breaks the contract: {0}")]
    Senseless(#[from] WireError),
}

impl CallError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            CallError::NoSession(_) | CallError::Busy { .. } | CallError::Away(_) | CallError::Shut(_)
        )
    }

    /// When the coordinator wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            CallError::Busy { after, .. } => *after,
            _ => None,
        }
    }
}

impl From<Status> for CallError {
    fn from(status: Status) -> CallError {
        let message = status.message().to_owned();
        if status.metadata().contains_key(DOOR_TRAILER) {
            return CallError::Shut(message);
        }
        match status.code() {
            Code::Unauthenticated => CallError::NoSession(message),
            Code::ResourceExhausted => CallError::Busy {
                after: retry_after(&status),
                message,
            },
            Code::FailedPrecondition => CallError::Unfit(message),
            Code::InvalidArgument
            | Code::NotFound
            | Code::AlreadyExists
            | Code::PermissionDenied
            | Code::OutOfRange
            | Code::Unimplemented => CallError::Refused {
                code: status.code(),
                message,
            },
            // The rest (unavailable, deadline, aborted, internal, unknown ..) says nothing about the call itself.
            code => CallError::Away(format!("{code:?}: {}", cause(&message, &status))),
        }
    }
}

/// What a connection failed with, down to the bottom of it, and what to do where that is known.
fn cause(message: &str, status: &Status) -> String {
    let mut told = message.to_owned();
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        let error_text = error.to_string();
        if !told.contains(&error_text) {
            told = format!("{told}: {error_text}");
        }
        source = error.source();
    }
    let hint = HINTS.iter().find(|(sign, _)| told.contains(sign));
    hint.map_or(told.clone(), |(_, hint)| format!("{told} ({hint})"))
}

/// Signs of a door that was taken for another, and what to do.
const HINTS: [(&str, &str); 5] = [
    ("UnknownIssuer", "name its authority with --tls-ca"),
    ("not valid for name", "name one of these with --tls-name"),
    (
        "CertificateRequired",
        "it asks for a certificate: --tls-cert and --tls-key",
    ),
    ("InvalidContentType", "it speaks without TLS: http://"),
    (
        "h2 protocol error",
        "if it has TLS, its address begins with https://",
    ),
];

/// What an acquire call brought.
#[derive(Debug)]
pub struct Acquired {
    /// The leases that this worker can read.
    pub leases: Vec<Lease>,
    /// Those it cannot: to be released as unsupported.
    pub unreadable: Vec<UnreadableLease>,
    /// What the whole worker is to do.
    pub directive: Directive,
}

/// A lease on a job whose specification this worker cannot read.
#[derive(Debug)]
pub struct UnreadableLease {
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Why.
    pub reason: WireError,
}

/// The answer to a beat.
#[derive(Debug)]
pub struct Orders {
    /// What to do about each lease.
    pub leases: Vec<LeaseOrder>,
    /// What the whole worker is to do.
    pub directive: Directive,
}

impl Client {
    /// A connection to this address, not made until it is needed.
    ///
    /// # Errors
    /// When the address is none, or what is to be shown at the door cannot be read.
    pub fn new(address: &str, door: &Door) -> Result<Client, AddressError> {
        let refused = |source| AddressError::Address {
            address: address.to_owned(),
            source,
        };
        let mut endpoint = Endpoint::from_shared(address.to_owned())
            .map_err(refused)?
            .connect_timeout(CONNECT_DEADLINE)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
            .keep_alive_timeout(KEEP_ALIVE_DEADLINE)
            .keep_alive_while_idle(true);
        if endpoint.uri().scheme_str() == Some("https") {
            endpoint = endpoint.tls_config(door.tls()?).map_err(refused)?;
        } else if door.certificate.is_some()
            || (door.token.is_some() && !is_this_machine(endpoint.uri().host()))
        {
            return Err(AddressError::Plain(address.to_owned()));
        }
        let badge = Badge::read(door.token.clone())?;
        Ok(Client::over(endpoint, badge))
    }

    fn over(endpoint: Endpoint, badge: Badge) -> Client {
        let farm = FarmClient::with_interceptor(endpoint.connect_lazy(), badge.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        Client {
            endpoint,
            badge,
            farm,
        }
    }

    /// Another connection to the same coordinator, served by the runtime that this is called in.
    #[must_use]
    pub fn another(&self) -> Client {
        Client::over(self.endpoint.clone(), self.badge.clone())
    }

    /// Reads the token again. True: it is another one than before.
    pub(crate) fn token_is_renewed(&self) -> bool {
        self.badge.read_again().unwrap_or(false)
    }

    /// Names this process; gives a session.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn hello(&self, hello: Hello) -> Result<Welcome, CallError> {
        let mut farm = self.farm.clone();
        let wire = call(CALL_DEADLINE, v1::HelloRequest::from(hello), |request| {
            farm.hello(request)
        })
        .await?;
        Ok(Welcome::try_from(wire)?)
    }

    /// Takes jobs; waits on the server for up to `acquire.wait`.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn acquire(&self, acquire: Acquire) -> Result<Acquired, CallError> {
        let mut farm = self.farm.clone();
        let deadline = acquire.wait + CALL_DEADLINE;
        let wire = call(deadline, v1::AcquireRequest::from(acquire), |request| {
            farm.acquire(request)
        })
        .await?;
        let mut acquired = Acquired {
            leases: Vec::new(),
            unreadable: Vec::new(),
            directive: Directive::from_wire(wire.directive)?,
        };
        for lease in wire.leases {
            let (job, token) = (JobId::new(lease.job_id)?, FencingToken::new(lease.token)?);
            match Lease::try_from(lease) {
                Ok(lease) => acquired.leases.push(lease),
                Err(reason) => acquired.unreadable.push(UnreadableLease { job, token, reason }),
            }
        }
        Ok(acquired)
    }

    /// Renews leases and hears what to do.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn heartbeat(&self, beat: Beat) -> Result<Orders, CallError> {
        let mut farm = self.farm.clone();
        let wire = call(CALL_DEADLINE, v1::HeartbeatRequest::from(beat), |request| {
            farm.heartbeat(request)
        })
        .await?;
        let leases = wire.leases.into_iter().map(LeaseOrder::try_from);
        Ok(Orders {
            leases: leases.collect::<Result<_, _>>()?,
            directive: Directive::from_wire(wire.directive)?,
        })
    }

    /// Hands in boards; they are stored when this returns.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn submit_boards(&self, batch: Batch) -> Result<Ack, CallError> {
        let mut farm = self.farm.clone();
        let request = v1::SubmitBoardsRequest::from(batch);
        let wire = call(SUBMIT_DEADLINE, request, |request| farm.submit_boards(request)).await?;
        Ok(Ack::try_from(wire)?)
    }

    /// Claims that a job was carried out to its end.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn complete_job(&self, completion: Completion) -> Result<LeaseOutcome, CallError> {
        let mut farm = self.farm.clone();
        let request = v1::CompleteJobRequest::from(completion);
        let wire = call(CALL_DEADLINE, request, |request| farm.complete_job(request)).await?;
        Ok(LeaseOutcome::from_wire(wire.outcome)?)
    }

    /// Gives a job back.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn release_job(&self, release: Release) -> Result<LeaseOutcome, CallError> {
        let mut farm = self.farm.clone();
        let request = v1::ReleaseJobRequest::from(release);
        let wire = call(CALL_DEADLINE, request, |request| farm.release_job(request)).await?;
        Ok(LeaseOutcome::from_wire(wire.outcome)?)
    }

    /// Leaves.
    ///
    /// # Errors
    /// A [`CallError`].
    pub async fn goodbye(&self, session: Session) -> Result<(), CallError> {
        let mut farm = self.farm.clone();
        let request = v1::GoodbyeRequest {
            session: session.to_string(),
        };
        call(CALL_DEADLINE, request, |request| farm.goodbye(request)).await?;
        Ok(())
    }
}

/// Makes a call with a deadline that both sides know: the server may stop working on what nobody waits for.
async fn call<Q, A, F>(
    deadline: Duration,
    message: Q,
    send: impl FnOnce(Request<Q>) -> F,
) -> Result<A, CallError>
where
    F: Future<Output = Result<Response<A>, Status>>,
{
    let mut request = Request::new(message);
    request.set_timeout(deadline);
    match tokio::time::timeout(deadline, send(request)).await {
        Ok(answer) => Ok(answer?.into_inner()),
        Err(_elapsed) => Err(CallError::Away(format!(
            "no answer within {} s",
            deadline.as_secs()
        ))),
    }
}

fn is_this_machine(host: Option<&str>) -> bool {
    let host = host
        .unwrap_or_default()
        .trim_start_matches('[')
        .trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn retry_after(status: &Status) -> Option<Duration> {
    let text = status.metadata().get(RETRY_AFTER_TRAILER)?.to_str().ok()?;
    text.parse().ok().map(Duration::from_millis)
}

impl fmt::Display for UnreadableLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {}, token {}: {}", self.job, self.token, self.reason)
    }
}
