//! The worker's program: settings from flags and environment, signals, logs, exit status. The rest is the library's.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info, warn};
use tracing_subscriber::EnvFilter;
use worker::door::{Door, TokenSource};
use worker::{Config, Departure, Progress, Shutdown};

/// Take jobs from a Parforce coordinator, search on every core, report what is found.
///
/// Runs until it is told to leave. SIGTERM or Ctrl-C: stop searching, hand in what was found, give the jobs back (with
/// --drain finish: finish them first, a second signal then gives them back); one more: leave at once (what was not handed
/// in stays in the spool and is sent at the next start).
///
/// Off this machine the coordinator asks for TLS and a token: --coordinator https://.., --token-file, and --tls-ca unless
/// its certificate comes from a public authority.
#[derive(Debug, Parser)]
#[command(
    name = "worker",
    version,
    after_long_help = "\
Exit status: 0 told to leave, or stopped by the coordinator; 1 it could not start; 2 usage; 3 the coordinator wants a \
newer program"
)]
struct Arguments {
    /// The coordinator's address
    #[arg(
        long,
        env = "PARFORCE_COORDINATOR",
        default_value = "http://127.0.0.1:7400",
        value_name = "URL"
    )]
    coordinator: String,
    /// File that holds this worker's token (parforce token create NAME --role worker); read again when it is renewed
    #[arg(long, env = "PARFORCE_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The token itself; a file is better, since arguments can be seen by others
    #[arg(
        long,
        env = "PARFORCE_TOKEN",
        hide = true,
        hide_env_values = true,
        conflicts_with = "token_file"
    )]
    token: Option<String>,
    /// Authority that the coordinator's certificate must come from (PEM) [default: the public ones]
    #[arg(long, env = "PARFORCE_TLS_CA", value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// The name that the coordinator's certificate is for [default: the one in its address]
    #[arg(long, env = "PARFORCE_TLS_NAME", value_name = "NAME")]
    tls_name: Option<String>,
    /// This worker's own certificate (PEM), where the coordinator asks for one
    #[arg(long, env = "PARFORCE_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, env = "PARFORCE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A label for people, need not be unique [default: the host's name]
    #[arg(long, env = "PARFORCE_WORKER_NAME")]
    name: Option<String>,
    /// Threads to search on; 0: one for each processor
    #[arg(long, env = "PARFORCE_THREADS", default_value_t = 0, value_name = "N")]
    threads: usize,
    /// Jobs to hold at once
    #[arg(long, env = "PARFORCE_SLOTS", default_value_t = 2, value_name = "N")]
    slots: u32,
    /// Where boards are kept until the coordinator has stored them
    #[arg(
        long,
        env = "PARFORCE_SPOOL_DIR",
        default_value = "parforce-spool",
        value_name = "FOLDER"
    )]
    spool_dir: PathBuf,
    /// The most MiB in the spool; a full one stops the search
    #[arg(long, env = "PARFORCE_SPOOL_MIB", default_value_t = 1024, value_name = "MIB")]
    spool_mib: u64,
    /// What the first signal to leave does with the jobs that are held
    #[arg(long, env = "PARFORCE_DRAIN", value_enum, default_value_t = Drain::Release)]
    drain: Drain,
    /// The most seconds to spend on leaving
    #[arg(long, env = "PARFORCE_DRAIN_GRACE_S", default_value_t = 30, value_name = "S")]
    drain_grace_s: u64,
    /// What to log, such as info or worker=debug
    #[arg(long, env = "PARFORCE_LOG", default_value = "info", value_name = "FILTER")]
    log: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Drain {
    /// They are given back at once; others begin them again
    Release,
    /// They are finished; nothing new is taken
    Finish,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(arguments) {
        Ok(Departure::Upgrade) => ExitCode::from(3),
        Ok(Departure::Told | Departure::Stopped) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: Arguments) -> anyhow::Result<Departure> {
    log_to_stderr(&arguments.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the async runtime")?;
    let drain = arguments.drain;
    let departure = runtime.block_on(work(config_of(arguments), drain));
    // A blocking write that hangs on a dead disk must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    departure
}

async fn work(config: Config, drain: Drain) -> anyhow::Result<Departure> {
    let shutdown = Shutdown::default();
    let listening = tokio::spawn(listen(shutdown.clone(), drain)?);
    let (progress, _) = watch::channel(Progress::default());
    let mut totals = progress.subscribe();
    let departure = worker::run(config, shutdown, progress).await?;
    listening.abort();
    let totals = totals.borrow_and_update().clone();
    info!(
        ?departure,
        jobs = totals.jobs_completed,
        inserted = totals.boards_inserted,
        duplicate = totals.boards_duplicate,
        by_hash = totals.boards_by_hash,
        "left"
    );
    Ok(departure)
}

/// What becomes of SIGTERM and SIGINT: each is answered more harshly than the one before.
fn listen(shutdown: Shutdown, drain: Drain) -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen to SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen to SIGINT")?;
    Ok(async move {
        let answers = [
            (&shutdown.finish, "finishing what is held; again to give it back"),
            (&shutdown.drain, "giving back what is held; again to stop at once"),
            (&shutdown.stop, "stopping at once"),
        ];
        let first = usize::from(drain == Drain::Release);
        for (token, doing) in answers.into_iter().skip(first) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            warn!("told to leave, {doing}");
            token.cancel();
        }
    })
}

fn config_of(arguments: Arguments) -> Config {
    let token = arguments.token_file.map(TokenSource::File);
    Config {
        door: Door {
            token: token.or(arguments.token.map(TokenSource::Given)),
            ca: arguments.tls_ca,
            certificate: arguments.tls_cert.zip(arguments.tls_key),
            server_name: arguments.tls_name,
        },
        n_threads: arguments.threads,
        n_slots: arguments.slots,
        spool_dir: Some(arguments.spool_dir),
        max_spool_bytes: arguments.spool_mib.saturating_mul(1024 * 1024),
        drain_grace: Duration::from_secs(arguments.drain_grace_s),
        ..Config::new(arguments.coordinator, arguments.name.unwrap_or_else(host_name))
    }
}

/// The host's name as the kernel gives it, or a stand-in: it is only a label.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().take(worker::config::MAX_NAME_CHARS).collect();
    if name.is_empty() {
        "worker".to_owned()
    } else {
        name
    }
}

fn log_to_stderr(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).with_context(|| format!("log filter {filter:?}"))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    if io::stderr().is_terminal() {
        builder.with_ansi(true).init();
    } else {
        builder.json().flatten_event(true).init();
    }
    Ok(())
}
