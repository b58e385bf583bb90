//! Logs: for people at a terminal, JSON lines elsewhere.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// What is logged if `PARFORCE_LOG` does not say: our own at info, the migrator's and the driver's notices not.
const DEFAULT_FILTER: &str = "info,sqlx=warn,h2=warn,hyper=warn,tower=warn";

/// Starts logging to standard error. `filter` is in the `tracing` form, e.g. `debug,sqlx=warn`.
///
/// # Errors
/// If the filter does not read, or logging was started before.
pub fn start(filter: Option<&str>) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter.unwrap_or(DEFAULT_FILTER))?;
    let is_terminal = std::io::stderr().is_terminal();
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(is_terminal);
    let started = if is_terminal {
        logs.try_init()
    } else {
        logs.json().flatten_event(true).try_init()
    };
    started.map_err(|error| anyhow::anyhow!("logging: {error}"))
}
