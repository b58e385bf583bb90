//! Hands out jobs, proves what comes back, keeps it in Postgres.
//!
//! A coordinator keeps no state that matters: everything is in the [`store`], so any number of them may run on one
//! database, and any of them may die. It can be a program of its own or live inside another, see [`Coordinator::start`].
//!
//! The way of a board: [`grpc::farm`] -> [`submit`] -> [`prove`] -> [`store`] -> a partition; of a jam: [`jams`] in the
//! place of [`prove`].
//! The way of a job: [`jobs::plan`] -> [`jobs::grant`] -> a worker -> [`grpc::farm`] -> [`store`]; lost ones are taken
//! back by the [`reaper`].

pub mod config;
pub mod grpc;
pub mod jams;
pub mod jobs;
pub mod measures;
pub mod prove;
pub mod reaper;
pub mod store;
pub mod submit;
pub mod telemetry;
pub mod web;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use proto::MAX_MESSAGE_BYTES;
use proto::convert::{NewCampaign, NewHunt};
use proto::v1::farm_server::FarmServer;
use proto::v1::operator_server::OperatorServer;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tracing::{info, warn};

pub use config::Config;
pub use prove::Prover;
pub use store::Store;

use grpc::farm::FarmService;
use grpc::operator::OperatorService;
use store::{CreateHuntError, HuntRecord, StoreError};

/// How long calls in progress may take after the shutdown has begun.
const GRACE: Duration = Duration::from_secs(10);

/// How often a silent connection is asked whether it is still there, and how long the answer may take.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// What all of a coordinator's tasks share.
#[derive(Debug)]
pub struct Shared {
    pub(crate) store: Store,
    pub(crate) prover: Prover,
    pub(crate) config: Config,
    /// Told when there may be work for calls that wait for some.
    pub(crate) work: Notify,
    pub(crate) shutdown: CancellationToken,
}

impl Shared {
    /// What a coordinator's tasks share, for who brings it calls another way than over the network.
    pub fn new(config: Config, store: Store, prover: Prover, shutdown: CancellationToken) -> Shared {
        Shared {
            store,
            prover,
            config,
            work: Notify::new(),
            shutdown,
        }
    }
}

/// A coordinator that runs.
#[derive(Debug)]
pub struct Coordinator {
    listen: SocketAddr,
    web: Option<SocketAddr>,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

/// Why a coordinator did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An address cannot be listened on.
    #[error("listening on {addr}: {error}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// Anybody could look and act.
    #[error(transparent)]
    Access(#[from] web::access::AccessError),
    /// The system gives no threads.
    #[error("starting the proving threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Coordinator {
    /// Brings the database up to date and serves, until `shutdown` is cancelled. Must be called within a tokio
    /// runtime; handles no signals and ends no process.
    ///
    /// # Errors
    /// [`StartError`]; then nothing runs.
    pub async fn start(
        config: Config,
        store: Store,
        shutdown: CancellationToken,
    ) -> Result<Coordinator, StartError> {
        if let Some(web) = config.web {
            config.access.check(web)?;
        }
        store.migrate().await?;
        let prover = Prover::start(config.proving)?;
        let listener = bind(config.listen).await?;
        let listen = local_addr(&listener, config.listen);
        let web_listener = match config.web {
            Some(addr) => Some(bind(addr).await?),
            None => None,
        };
        let web = web_listener
            .as_ref()
            .zip(config.web)
            .map(|(listener, addr)| local_addr(listener, addr));
        let shared = Arc::new(Shared::new(config, store, prover, shutdown));

        let mut tasks = vec![tokio::spawn(serve_grpc(Arc::clone(&shared), listener))];
        tasks.extend(web_listener.map(|listener| tokio::spawn(serve_web(Arc::clone(&shared), listener))));
        let reaping = Arc::clone(&shared);
        tasks.push(tokio::spawn(async move {
            let (store, config, shutdown) = (
                reaping.store.clone(),
                reaping.config.clone(),
                reaping.shutdown.clone(),
            );
            reaper::run(store, config, &reaping.work, shutdown).await;
        }));
        tasks.push(tokio::spawn(web::keep_samples(
            shared.store.clone(),
            shared.shutdown.clone(),
        )));
        info!(%listen, web = web.map(tracing::field::display), "coordinator serves");
        Ok(Coordinator {
            listen,
            web,
            shared,
            tasks,
        })
    }

    /// Where gRPC listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.listen
    }

    /// Where pages, health and metrics listen; `None`: nowhere.
    pub fn web_addr(&self) -> Option<SocketAddr> {
        self.web
    }

    /// The database, for programs that this coordinator lives in.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// The proving threads, for programs that this coordinator lives in.
    pub fn prover(&self) -> &Prover {
        &self.shared.prover
    }

    /// Creates a hunt, or lets the one of this name and space go on with a new budget; calls that wait for work
    /// hear of it at once.
    ///
    /// # Errors
    /// [`CreateHuntError`].
    pub async fn create_hunt(&self, wish: &NewHunt) -> Result<HuntRecord, CreateHuntError> {
        let hunt = self
            .shared
            .store
            .create_hunt(wish, grpc::operator::drawn_seed())
            .await?;
        self.shared.work.notify_waiters();
        Ok(hunt)
    }

    /// Creates a campaign, or lets the one of this name and plan go on; calls that wait for work hear of it at once.
    ///
    /// # Errors
    /// [`CreateHuntError`].
    pub async fn create_campaign(&self, wish: &NewCampaign) -> Result<HuntRecord, CreateHuntError> {
        let hunt = jobs::campaign::create(&self.shared.store, wish).await?;
        self.shared.work.notify_waiters();
        Ok(hunt)
    }

    /// Begins the shutdown: nothing new is taken, calls in progress are finished.
    pub fn shutdown(&self) {
        self.shared.shutdown.cancel();
    }

    /// Waits until everything has ended after the shutdown, at most ten seconds from its beginning. The store stays
    /// open.
    pub async fn join(self) {
        self.shared.shutdown.cancelled().await;
        let all = async {
            for task in self.tasks {
                if let Err(error) = task.await {
                    warn!(%error, "a task of the coordinator failed");
                }
            }
        };
        if timeout(GRACE, all).await.is_err() {
            warn!(
                "calls were still running {} s after the shutdown began",
                GRACE.as_secs()
            );
        }
    }
}

async fn bind(addr: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(addr)
        .await
        .map_err(|error| StartError::Listen { addr, error })
}

fn local_addr(listener: &TcpListener, asked: SocketAddr) -> SocketAddr {
    listener.local_addr().unwrap_or(asked)
}

async fn serve_grpc(shared: Arc<Shared>, listener: TcpListener) {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<FarmServer<FarmService>>().await;
    health.set_serving::<OperatorServer<OperatorService>>().await;
    let farm = FarmServer::new(FarmService::new(Arc::clone(&shared)))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let operator = OperatorServer::new(OperatorService::new(Arc::clone(&shared)))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let served = Server::builder()
        // Answers hold a few hundred bytes; waiting to fill a packet would cost 40 ms a call.
        .tcp_nodelay(true)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .add_service(health_service)
        .add_service(farm)
        .add_service(operator)
        .serve_with_incoming_shutdown(TcpIncoming::from(listener), shared.shutdown.cancelled())
        .await;
    if let Err(error) = served {
        warn!(%error, "the gRPC server ended");
    }
}

async fn serve_web(shared: Arc<Shared>, listener: TcpListener) {
    let shutdown = shared.shutdown.clone();
    let app = web::router(shared).into_make_service_with_connect_info::<SocketAddr>();
    let served = axum::serve(listener, app)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .into_future()
        .await;
    if let Err(error) = served {
        warn!(%error, "the web server ended");
    }
}
