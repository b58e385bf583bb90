//! `parforce hunt`: everything on this machine, in one process tree.
//!
//! Starts the database, a coordinator and a worker in this process, asks for a hunt, watches it, and ends everything in
//! the order that loses nothing: the worker hands in what it has, the coordinator stores it, the database stops.

pub(crate) mod live;
mod report;
pub(crate) mod wish;

use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use board::Par;
use coordinator::doors::{Role, Secret, TlsFiles};
use coordinator::store::{HuntProgress, HuntRecord, WhichTokens};
use coordinator::{Config, Coordinator, Store};
use proto::convert::{NewCampaign, NewHunt, Strategy};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use worker::door::{Door, TokenSource};
use worker::{Departure, Progress, Shutdown, WorkerError};

use super::signals::Signals;
use super::siren::campaign;
use super::{Database, DatabaseArguments, Outcome, census, difficulty, tls};
use crate::embedded::Access;
use live::{Ledger, Live};
use wish::WishArguments;

/// How often the database is asked how far the hunt is.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Connections of the coordinator in this process.
const MAX_CONNECTIONS: u32 = 16;
/// Whose token the worker of this process shows.
const OWN_TOKEN: &str = "the hunt's own worker";
/// What the log file holds if `PARFORCE_LOG` does not say.
const LOG_FILTER: &str = "info,sqlx=warn,h2=warn,hyper=warn,tower=warn,tonic=warn";

/// Hunt for hard boards on this machine, with everything that takes.
///
/// Starts a private Postgres in the data folder (or uses --database-url), a coordinator and a worker, and shows how it
/// goes. Every board found is proved and stored. Stops after --minutes, at --until-par, or at Ctrl-C, and loses nothing
/// that was found; a second Ctrl-C ends at once. Run again it goes on where it stopped: the data folder keeps
/// everything, and no seed is used twice.
///
/// Other workers may join while it runs, with the address of --listen: parforce-worker --coordinator ADDRESS. Where that
/// can be reached from other machines it has TLS, by an authority made in the data folder, and asks for tokens
/// (parforce token create); how to join is printed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce hunt
  parforce hunt --minutes 2 --until-par 45
  parforce hunt --lot 7x7 --walls 0..2 --minutes 600")]
pub(crate) struct Arguments {
    #[command(flatten)]
    wish: WishArguments,
    /// Stop when all boards there are of this par or more, and one of every par, are found, where it is known how many
    /// there are (see `parforce grade`); the hunt is then paused
    #[arg(long, value_name = "PAR", value_parser = clap::value_parser!(u16).range(1..))]
    until_complete: Option<u16>,
    /// With --until-complete: and more than so many boards
    #[arg(long, value_name = "N", default_value_t = 0, requires = "until_complete")]
    until_boards: u64,
    #[command(flatten)]
    farm: FarmArguments,
}

/// What a hunt on this machine is to have found before it stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// All boards of this par or more.
    complete_from: Par,
    /// More than so many boards.
    n_boards: u64,
}

/// How everything is run on this machine.
#[derive(Debug, clap::Args)]
pub(crate) struct FarmArguments {
    /// Threads to search on [default: one for each processor]
    #[arg(long, env = "PARFORCE_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Where the coordinator listens for other workers [default: any free port of this machine alone]
    #[arg(long, env = "PARFORCE_LISTEN", value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Where the dashboard is [default: 127.0.0.1:7401, or any free port if that is taken]
    #[arg(long, env = "PARFORCE_WEB", value_name = "ADDRESS")]
    web: Option<SocketAddr>,
    /// Print the result as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
}

impl FarmArguments {
    /// Threads to search on; as many as there are processors if nobody says.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or(0, usize::from)
    }
}

/// Why the hunt is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Its budget is spent, or somebody ended it.
    Over,
    /// A signal.
    Interrupted,
    /// All was found that there is to find.
    Complete,
    /// The worker left.
    WorkerLeft,
}

/// The parts that run.
struct Running {
    coordinator: Coordinator,
    /// How pages are called: http or https.
    pages: &'static str,
    /// The authority and certificate, if others may join.
    files: Option<tls::Files>,
    worker: JoinHandle<Result<Departure, WorkerError>>,
    worker_shutdown: Shutdown,
    worker_progress: watch::Receiver<Progress>,
}

/// What the farm is started for.
pub(crate) enum Errand<'a> {
    /// Boards: a hunt or a census, and what it is to have found before it stops.
    Hunt(NewHunt, Option<Goal>),
    /// Levels, written into a folder.
    Campaign(NewCampaign, &'a Path),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let wish = arguments.wish.check()?;
    let goal = arguments.until_complete.map(|par| Goal {
        complete_from: Par::new(par),
        n_boards: arguments.until_boards,
    });
    run_farm(&arguments.farm, &Errand::Hunt(wish, goal))
}

/// Runs everything that an errand takes on this machine, until it is over.
pub(crate) fn run_farm(arguments: &FarmArguments, errand: &Errand<'_>) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // The handlers stand before anything starts, so that a signal is never lost.
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    let database = arguments.database.open(Access::Owner)?;
    let places = Places::make(&arguments.database, &database)?;
    let hunted = runtime.block_on(hunt(arguments, errand, &database, &places, &mut signals));
    // Background tasks that hold connections end with the runtime, before the server does.
    runtime.shutdown_timeout(Duration::from_secs(10));
    let closed = database.close().context("stopping Postgres");
    if hunted.is_err()
        && let Some(log) = places.log
    {
        say!("parforce: more is in {}", log.display());
    }
    hunted.and_then(|outcome| closed.map(|()| outcome))
}

/// Where the hunt keeps what is not in the database: the worker's spool, and the log.
struct Places {
    spool: PathBuf,
    /// The authority of a hunt that others may join.
    tls: PathBuf,
    log: Option<PathBuf>,
}

impl Places {
    /// Makes them, and begins to log: into a file, since the terminal is for people.
    fn make(arguments: &DatabaseArguments, database: &Database) -> anyhow::Result<Places> {
        let data = arguments.data();
        let Database::Private(postgres) = database else {
            let spool = data.join("spool");
            std::fs::create_dir_all(&spool).with_context(|| format!("cannot create {}", spool.display()))?;
            let log = OpenOptions::new()
                .create(true)
                .append(true)
                .open(data.join("parforce.log"))?;
            return Ok(Places {
                spool,
                tls: data.join("tls"),
                log: start_log(log).then(|| data.join("parforce.log")),
            });
        };
        let spool = postgres.make_folder("spool")?;
        Ok(Places {
            spool,
            tls: postgres.make_folder("tls")?,
            log: start_log(postgres.append_to("parforce.log")?).then(|| data.join("parforce.log")),
        })
    }
}

fn start_log(file: File) -> bool {
    let filter = std::env::var("PARFORCE_LOG").unwrap_or_else(|_| LOG_FILTER.to_owned());
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(LOG_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(file)
        .try_init()
        .is_ok()
}

async fn hunt(
    arguments: &FarmArguments,
    errand: &Errand<'_>,
    database: &Database,
    places: &Places,
    signals: &mut Signals,
) -> anyhow::Result<Outcome> {
    let store = Store::connect(&database.url(), MAX_CONNECTIONS).await?;
    let mut running = start(arguments, places, store).await?;
    let (hunt, limit, goal) = match errand {
        Errand::Hunt(wish, goal) => (
            running.coordinator.create_hunt(wish).await?,
            wish.budget.time,
            *goal,
        ),
        Errand::Campaign(wish, _) => (running.coordinator.create_campaign(wish).await?, None, None),
    };
    let others = running.coordinator.store().list_hunts().await?;
    announce(arguments, database, &running, &hunt);
    for other in others {
        if other.state == coordinator::store::HuntState::Running && other.id != hunt.id {
            say!(
                "also running: hunt {} ({}), which shares the workers; `parforce hunts{} pause {0}` stops it",
                other.id,
                other.name,
                arguments.database.again()
            );
        }
    }

    let begun = Instant::now();
    let mut live = Live::start(&hunt, limit);
    let end = watch_hunt(&mut running, &hunt, goal, signals, &mut live).await?;
    live.ending(end == End::Interrupted);

    let store = running.coordinator.store().clone();
    if matches!(end, End::Interrupted | End::Complete) {
        // It goes on when it is asked for again; until then no other coordinator shall plan jobs for it.
        store.pause_hunt(hunt.id).await?;
    }
    let worker = drain(&mut running, signals).await;
    live.finish();
    let mut outcome = Outcome::Done;
    if worker.is_ok() {
        let took = begun.elapsed();
        if let Errand::Campaign(_, out) = errand {
            outcome = campaign::finish(&store, &hunt, out, took, arguments.json).await?;
        } else if hunt.strategy == Strategy::Census {
            census::report::print(&store, &hunt, took, arguments.json).await?;
        } else if hunt.strategy == Strategy::Difficulty {
            difficulty::report(&store, arguments.json).await?;
        } else {
            report::print(
                &store,
                &hunt,
                report::Run {
                    took,
                    is_interrupted: end == End::Interrupted,
                },
                database,
                &arguments.database.again(),
                arguments.json,
            )
            .await?;
        }
    }
    running.coordinator.shutdown();
    running.coordinator.join().await;
    store.close().await;
    worker.map(|()| outcome)
}

/// Starts coordinator and worker.
async fn start(arguments: &FarmArguments, places: &Places, store: Store) -> anyhow::Result<Running> {
    let mut config = Config::embedded();
    if let Some(listen) = arguments.listen {
        config.listen = listen;
        // Strangers may join: everything they hand in is proved again. A worker in this process is this program.
        config.proving.share = 1.0;
    }
    config.web = Some(arguments.web.unwrap_or_else(usual_web_address));
    let addresses = [Some(config.listen), config.web].into_iter().flatten();
    let is_open = addresses.clone().any(|addr| !addr.ip().is_loopback());
    let (mut door, mut files) = (Door::default(), None);
    if is_open {
        let mut names = vec![host_name()];
        names.extend(
            addresses
                .map(|addr| addr.ip())
                .filter(|ip| !ip.is_unspecified())
                .map(|ip| ip.to_string()),
        );
        let made = tls::make_server(&places.tls, &names)?;
        config.doors.tls = Some(TlsFiles {
            certificate: made.certificate.clone(),
            key: made.key.clone(),
            client_ca: None,
        });
        door = own_door(&store, &made).await?;
        files = Some(made);
    }
    let has_tls = config.doors.tls.is_some();
    let pages = if config.doors.encrypts_pages(&config) {
        "https"
    } else {
        "http"
    };
    let coordinator = Coordinator::start(config, store, CancellationToken::new()).await?;

    let scheme = if has_tls { "https" } else { "http" };
    let address = format!("{scheme}://{}", reachable(coordinator.local_addr()));
    let mut config = worker::Config::new(address, host_name());
    config.door = door;
    config.n_threads = arguments.threads();
    config.spool_dir = Some(places.spool.clone());
    let worker_shutdown = Shutdown::default();
    let (sender, worker_progress) = watch::channel(Progress::default());
    let worker = tokio::spawn(worker::run(config, worker_shutdown.clone(), sender));
    Ok(Running {
        coordinator,
        pages,
        files,
        worker,
        worker_shutdown,
        worker_progress,
    })
}

/// What this process' worker shows at this process' door: a token that nobody else ever sees.
async fn own_door(store: &Store, files: &tls::Files) -> anyhow::Result<Door> {
    store.migrate().await?;
    // Those of hunts before, which died with them.
    store
        .revoke_tokens(&WhichTokens::Name(OWN_TOKEN.to_owned()))
        .await?;
    let secret = Secret::draw();
    store
        .create_token(OWN_TOKEN, Role::Worker, &secret.digest(), None)
        .await?;
    Ok(Door {
        token: Some(TokenSource::Given(secret.reveal().to_owned())),
        ca: Some(files.ca.clone()),
        certificate: None,
        server_name: Some(tls::NAME.to_owned()),
    })
}

/// The dashboard's usual address, or any port if a program has that one.
fn usual_web_address() -> SocketAddr {
    let usual = SocketAddr::from(([127, 0, 0, 1], 7401));
    if std::net::TcpListener::bind(usual).is_ok() {
        usual
    } else {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }
}

/// An address to call, for one that is listened on: "every address" is not one that can be called.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            [127, 0, 0, 1].into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    address
}

/// This machine's name, as a label.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() {
        String::from("this machine")
    } else {
        name.chars().take(60).collect()
    }
}

fn announce(arguments: &FarmArguments, database: &Database, running: &Running, hunt: &HuntRecord) {
    let coordinator = &running.coordinator;
    say!("hunting {}", hunt.name);
    if let Database::Private(_) = database {
        say!(
            "database   {} (kept: the same command again goes on from here)",
            arguments.database.data().display()
        );
    }
    if let Some(web) = coordinator.web_addr() {
        say!("dashboard  {}://{web}/", running.pages);
    }
    match (&running.files, arguments.listen) {
        (Some(files), Some(_)) => {
            let addr = coordinator.local_addr();
            let host = if addr.ip().is_unspecified() {
                host_name()
            } else {
                addr.ip().to_string()
            };
            say!(
                "workers    may join with a token and the authority in {}:\n\
                 \x20          here: parforce token create NAME --role worker --file NAME.token{}\n\
                 \x20          there, with both files: parforce-worker --coordinator https://{host}:{} --tls-ca ca.pem --tls-name {} --token-file NAME.token",
                files.ca.display(),
                arguments.database.again(),
                addr.port(),
                tls::NAME,
            );
        }
        (None, Some(_)) => say!("workers    may join at http://{}", coordinator.local_addr()),
        (_, None) => {}
    }
    say!("Ctrl-C ends it and keeps everything found.\n");
}

/// Shows how it goes until the hunt is over, a signal comes, or the worker leaves.
async fn watch_hunt(
    running: &mut Running,
    hunt: &HuntRecord,
    goal: Option<Goal>,
    signals: &mut Signals,
    live: &mut Live,
) -> anyhow::Result<End> {
    let mut look = tokio::time::interval(LOOK_INTERVAL);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = signals.next() => return Ok(End::Interrupted),
            () = wait_for(&mut running.worker) => return Ok(End::WorkerLeft),
            _ = look.tick() => {}
        }
        let progress: HuntProgress = running
            .coordinator
            .store()
            .hunt_progress(hunt.id)
            .await?
            .context("the hunt has vanished")?;
        let store = running.coordinator.store();
        let ledger = Ledger {
            census: store.census_coverage(hunt.id).await?,
            campaign: store.campaign_progress(hunt.id).await?,
        };
        live.show(&progress, &ledger, &running.worker_progress.borrow());
        if progress.state.is_over() {
            return Ok(End::Over);
        }
        if let Some(goal) = goal
            && progress.n_new > goal.n_boards
            && let Some(space) = &hunt.space
            && store.is_complete(space, goal.complete_from).await?
        {
            return Ok(End::Complete);
        }
    }
}

/// Completes when the worker has ended, leaving its result where it is.
async fn wait_for(worker: &mut JoinHandle<Result<Departure, WorkerError>>) {
    while !worker.is_finished() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Lets the worker hand in what it has; a signal meanwhile ends it at once.
async fn drain(running: &mut Running, signals: &mut Signals) -> anyhow::Result<()> {
    running.worker_shutdown.drain.cancel();
    let ended = tokio::select! {
        ended = &mut running.worker => ended,
        () = signals.next() => {
            running.worker_shutdown.stop.cancel();
            (&mut running.worker).await
        }
    };
    match ended.context("the worker broke")?.context("the worker failed")? {
        Departure::Told => Ok(()),
        Departure::Stopped => {
            anyhow::bail!("the coordinator stopped the worker: see its log and `parforce workers --all`")
        }
        Departure::Upgrade => anyhow::bail!(
            "the coordinator wants a newer program than {}",
            env!("CARGO_PKG_VERSION")
        ),
    }
}
