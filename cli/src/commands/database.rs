//! `parforce database`: the private Postgres alone, for as long as the command runs.

use std::io::Write;

use anyhow::Context;

use super::{DatabaseArguments, Outcome};
use crate::embedded::Access;

/// Run the private Postgres alone, until interrupted.
///
/// Prints its URL on standard output once it answers. Other parforce commands and psql can use it meanwhile; it
/// stops when this command ends, in whatever way.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Example: parforce database --data ./parforce-data")]
pub(crate) struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // The handlers stand before the server does, so that a signal during the start is not lost.
    let signals = runtime.block_on(async { crate::commands::signals::Signals::listen() })?;
    let database = arguments.database.open(Access::Owner)?;
    writeln!(std::io::stdout(), "{}", database.url())?;
    say!("open it with: {}", database.psql_line());
    runtime.block_on(signals.first());
    database.close().context("stopping Postgres")?;
    Ok(Outcome::Done)
}
