//! The program `parforce-coordinator`: reads its configuration, serves until SIGTERM or Ctrl-C.
//!
//! Exit status: 0 it was told to end and did; 1 it could not start; 2 the command line does not read.

mod settings;

use anyhow::Context;
use clap::Parser;
use coordinator::{Coordinator, Store, telemetry};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::info;

use settings::Arguments;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let resolved = arguments.resolve()?;
    telemetry::start(resolved.log.as_deref())?;
    let store = Store::connect(&resolved.database_url, resolved.database_connections).await?;
    if arguments.migrate_only {
        store.migrate().await?;
        return Ok(());
    }
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    let coordinator = Coordinator::start(resolved.config, store.clone(), CancellationToken::new()).await?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    info!("shutting down: calls in progress are finished");
    coordinator.shutdown();
    coordinator.join().await;
    store.close().await;
    Ok(())
}
