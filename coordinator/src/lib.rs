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
pub mod doors;
pub mod fitness;
pub mod grpc;
pub mod jams;
pub mod jobs;
pub mod measures;
pub mod patience;
pub mod prove;
pub mod reaper;
pub mod store;
pub mod submit;
pub mod suspects;
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
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tracing::{info, warn};

pub use config::Config;
pub use prove::Prover;
pub use store::Store;

use doors::{Arrivals, Certificates, Crowd, Entrance, GuardLayer, Peer, Porter, TlsError};
use fitness::Gate;
use grpc::farm::FarmService;
use grpc::operator::OperatorService;
use jobs::waiting::Waiting;
use store::{CreateHuntError, HuntRecord, StoreError};

/// How long calls in progress may take after the shutdown has begun.
const GRACE: Duration = Duration::from_secs(10);

/// How often a silent connection is asked whether it is still there, and how long the answer may take.
const KEEPALIVE: Duration = Duration::from_secs(20);

/// How often the files of certificates are looked at.
const CERTIFICATES_EVERY: Duration = Duration::from_secs(30);

/// What all of a coordinator's tasks share.
#[derive(Debug)]
pub struct Shared {
    pub(crate) store: Store,
    pub(crate) prover: Prover,
    pub(crate) config: Config,
    /// Which programs may search.
    pub(crate) gate: Gate,
    /// Knows tokens.
    pub(crate) porter: Arc<Porter>,
    /// One permit a batch that may be on its way to the database.
    pub(crate) submitting: Semaphore,
    /// Calls that wait for work.
    pub(crate) work: Waiting,
    pub(crate) shutdown: CancellationToken,
}

impl Shared {
    /// What a coordinator's tasks share, for who brings it calls another way than over the network. It asks for no program
    /// version.
    pub fn new(config: Config, store: Store, prover: Prover, shutdown: CancellationToken) -> Shared {
        Shared {
            gate: Gate::default(),
            porter: Arc::new(Porter::new(store.clone(), config.doors.memory)),
            submitting: Semaphore::new(config.max_submits.max(1)),
            store,
            prover,
            config,
            work: Waiting::default(),
            shutdown,
        }
    }
}

/// A coordinator that runs.
#[derive(Debug)]
pub struct Coordinator {
    listen: SocketAddr,
    web: Option<SocketAddr>,
    certificates: Option<Arc<Certificates>>,
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
    /// Who may look and act is not told rightly.
    #[error(transparent)]
    Access(#[from] web::access::AccessError),
    /// The doors would stand open, or be shut to everybody.
    #[error(transparent)]
    Doors(#[from] doors::OpenError),
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
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
        config.access.check()?;
        config.doors.check(&config).map_err(doors::OpenError::from)?;
        let certificates = config.doors.tls.as_ref().map(Certificates::load).transpose()?;
        let certificates = certificates.map(Arc::new);
        store.migrate().await?;
        config.doors.check_tokens(&config, &store).await?;
        let prover = Prover::start(config.proving)?;
        let gate = Gate::new(&config.versions, store.now().await?);
        let calls = Door::open(config.listen, shutdown.clone()).await?;
        let pages = match config.web {
            Some(addr) => Some(Door::open(addr, shutdown.clone()).await?),
            None => None,
        };
        let probe = match config.doors.probe {
            Some(addr) => Some(Door::open(addr, shutdown.clone()).await?),
            None => None,
        };
        let (listen, web) = (calls.addr, pages.as_ref().map(|door| door.addr));
        let mut shared = Shared::new(config, store, prover, shutdown);
        shared.gate = gate;
        let shared = Arc::new(shared);

        let for_calls = certificates.as_ref().map(|certificates| certificates.for_calls());
        let encrypts_pages = shared.config.doors.encrypts_pages(&shared.config);
        let for_pages = certificates.as_ref().filter(|_| encrypts_pages);
        let for_pages = for_pages.map(|certificates| certificates.for_pages());
        let (asks_calls, asks_pages) = (
            shared.config.doors.asks_calls(&shared.config),
            shared.config.doors.asks_pages(&shared.config),
        );
        let proxies = shared.config.access.proxy.as_ref();
        let proxies = proxies.map(|proxy| proxy.from.clone()).unwrap_or_default();
        let crowd = Arc::new(Crowd::new(shared.config.doors.max_connections, proxies));
        let entrance = |tls, asks| Entrance {
            tls,
            crowd: Arc::clone(&crowd),
            asks,
        };
        let mut tasks = vec![tokio::spawn(serve_grpc(
            Arc::clone(&shared),
            calls.arrivals(entrance(for_calls, asks_calls)),
        ))];
        tasks.extend(pages.map(|door| {
            let app = web::router(Arc::clone(&shared));
            tokio::spawn(serve_web(
                app,
                door.arrivals(entrance(for_pages, asks_pages)),
                shared.shutdown.clone(),
            ))
        }));
        tasks.extend(probe.map(|door| {
            let app = web::probe_router(Arc::clone(&shared));
            tokio::spawn(serve_web(
                app,
                door.arrivals(entrance(None, false)),
                shared.shutdown.clone(),
            ))
        }));
        let reaping = Arc::clone(&shared);
        tasks.push(tokio::spawn(async move {
            let (store, config, shutdown) = (
                reaping.store.clone(),
                reaping.config.clone(),
                reaping.shutdown.clone(),
            );
            reaper::run(store, config, &reaping.work, shutdown).await;
        }));
        tasks.push(tokio::spawn(suspects::run(Arc::clone(&shared))));
        tasks.push(tokio::spawn(jobs::word::listen(Arc::clone(&shared))));
        let holding = Arc::clone(&shared);
        tasks.push(tokio::spawn(async move {
            holding.work.hold_rounds(&holding.shutdown).await;
        }));
        tasks.push(tokio::spawn(web::keep_samples(
            shared.store.clone(),
            shared.shutdown.clone(),
        )));
        tasks.extend(
            certificates
                .clone()
                .map(|certificates| tokio::spawn(keep_certificates(certificates, shared.shutdown.clone()))),
        );
        info!(
            %listen,
            web = web.map(tracing::field::display),
            tls = certificates.is_some(),
            tokens = shared.config.doors.asks_calls(&shared.config),
            "coordinator serves"
        );
        Ok(Coordinator {
            listen,
            web,
            certificates,
            shared,
            tasks,
        })
    }

    /// Reads the files of its certificates again, for the connections to come. True: they hold something else.
    ///
    /// # Errors
    /// [`TlsError`]; then nothing changes.
    pub fn reload_certificates(&self) -> Result<bool, TlsError> {
        self.certificates
            .as_ref()
            .map_or(Ok(false), |certificates| certificates.reload())
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
        self.shared.work.tell();
        Ok(hunt)
    }

    /// Creates a campaign, or lets the one of this name and plan go on; calls that wait for work hear of it at once.
    ///
    /// # Errors
    /// [`CreateHuntError`].
    pub async fn create_campaign(&self, wish: &NewCampaign) -> Result<HuntRecord, CreateHuntError> {
        let hunt = jobs::campaign::create(&self.shared.store, wish).await?;
        self.shared.work.tell();
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

/// An address that is listened on, before anybody is let in.
struct Door {
    listener: TcpListener,
    addr: SocketAddr,
    shutdown: CancellationToken,
}

impl Door {
    async fn open(addr: SocketAddr, shutdown: CancellationToken) -> Result<Door, StartError> {
        let listener = bind(addr).await?;
        let addr = listener.local_addr().unwrap_or(addr);
        Ok(Door {
            listener,
            addr,
            shutdown,
        })
    }

    fn arrivals(self, entrance: Entrance) -> Arrivals {
        Arrivals::at(self.listener, self.addr, entrance, self.shutdown)
    }
}

async fn keep_certificates(certificates: Arc<Certificates>, shutdown: CancellationToken) {
    let mut ticks = interval(CERTIFICATES_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = shutdown.cancelled() => return,
        }
        match certificates.reload() {
            Ok(true) => info!("new certificates are in use"),
            Ok(false) => {}
            Err(error) => warn!(%error, "the certificates on disk cannot be used; the former ones are"),
        }
    }
}

async fn serve_grpc(shared: Arc<Shared>, arrivals: Arrivals) {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<FarmServer<FarmService>>().await;
    health.set_serving::<OperatorServer<OperatorService>>().await;
    let farm = FarmServer::new(FarmService::new(Arc::clone(&shared)))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let operator = OperatorServer::new(OperatorService::new(Arc::clone(&shared)))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let asks = shared.config.doors.asks_calls(&shared.config);
    let served = Server::builder()
        .layer(GuardLayer::new(asks.then(|| Arc::clone(&shared.porter))))
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .add_service(health_service)
        .add_service(farm)
        .add_service(operator)
        .serve_with_incoming_shutdown(arrivals, shared.shutdown.cancelled())
        .await;
    if let Err(error) = served {
        warn!(%error, "the gRPC server ended");
    }
}

async fn serve_web(app: axum::Router, arrivals: Arrivals, shutdown: CancellationToken) {
    let app = app.into_make_service_with_connect_info::<Peer>();
    let served = axum::serve(arrivals, app)
        .with_graceful_shutdown(shutdown.cancelled_owned())
        .into_future()
        .await;
    if let Err(error) = served {
        warn!(%error, "the web server ended");
    }
}
