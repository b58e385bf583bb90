//! The program `parforce-coordinator`: reads its configuration, waits for its database, serves until SIGTERM or
//! Ctrl-C. SIGHUP: reads its certificates again.
//!
//! Exit status: 0 it was told to end and did; 1 it could not start; 2 the command line does not read.

mod settings;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use coordinator::{Coordinator, Store, doors, patience, telemetry};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use settings::{Arguments, Resolved};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let served = runtime
        .context("starting the async runtime")
        .and_then(|runtime| runtime.block_on(serve(arguments)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line: what is missing, and how to get it.
            eprintln!("parforce-coordinator: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> anyhow::Result<()> {
    let mut resolved = arguments.resolve()?;
    telemetry::start(resolved.log.as_deref())?;
    let max_open_files = raise_open_files().context("asking how many files may be open")?;
    resolved.config.doors.max_connections =
        doors::max_connections(max_open_files, resolved.database_connections);
    // Before the first wait: as a container's first process it would not hear of them otherwise.
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    let mut hangup = signal(SignalKind::hangup()).context("listening for SIGHUP")?;
    let started = tokio::select! {
        started = start(&resolved, arguments.migrate_only) => started?,
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
    };
    let Some((coordinator, store)) = started else {
        return Ok(());
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => match coordinator.reload_certificates() {
                Ok(is_new) => info!(is_new, "certificates were read again"),
                Err(error) => warn!(%error, "the certificates on disk cannot be used; the former ones are"),
            }
        }
    }
    info!("shutting down: calls in progress are finished");
    coordinator.shutdown();
    coordinator.join().await;
    store.close().await;
    Ok(())
}

/// Raises the limit of open files, of which each connection is one, as far as it may be raised; the limit.
fn raise_open_files() -> nix::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // It is the process' own to raise. Where the system thinks otherwise, there are as many as before.
    match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => Ok(hard),
        Err(error) => {
            warn!(%error, soft, hard, "the limit of open files could not be raised");
            Ok(soft)
        }
    }
}

/// Starts, as soon as the database is there. `None`: it was only to be brought up to date.
async fn start(resolved: &Resolved, migrate_only: bool) -> anyhow::Result<Option<(Coordinator, Store)>> {
    let place = patience::place_of(&resolved.database_url);
    let store = patience::connect(&resolved.database_url, resolved.database_connections).await?;
    if migrate_only {
        patience::wait_for(&place, async || store.migrate().await).await?;
        return Ok(None);
    }
    let coordinator = patience::wait_for(&place, async || {
        Coordinator::start(resolved.config.clone(), store.clone(), CancellationToken::new()).await
    })
    .await?;
    Ok(Some((coordinator, store)))
}
