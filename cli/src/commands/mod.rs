//! The commands, one file each, and what they share: how they end and which database they use.
#![expect(
    clippy::doc_markdown,
    reason = "documents of arguments are help texts, printed as they stand"
)]
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "as above: brackets in them are brackets; rustc alone does not see this lint, so it cannot be expected"
)]

pub(crate) mod benchmark;
pub(crate) mod canon;
pub(crate) mod census;
pub(crate) mod challenge;
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod database;
pub(crate) mod difficulty;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod grade;
pub(crate) mod hint;
pub(crate) mod hunt;
pub(crate) mod hunts;
pub(crate) mod import;
pub(crate) mod jobs;
pub(crate) mod pack;
pub(crate) mod records;
pub(crate) mod replay;
pub(crate) mod restored;
pub(crate) mod show;
pub(crate) mod signals;
pub(crate) mod siren;
pub(crate) mod solve;
pub(crate) mod sql;
pub(crate) mod stats;
pub(crate) mod tls;
pub(crate) mod token;
pub(crate) mod top;
pub(crate) mod workers;

use std::path::PathBuf;

use crate::embedded::{self, Access, OpenError, Postgres};

/// How a command ended when nothing broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was read and answered.
    Done,
    /// A line was refused, or a check failed; it has been said.
    Refused,
}

/// The command was called wrongly in a way that the argument parser cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// How far searches go.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Limits {
    /// Give up on a board after this many positions
    #[arg(long, value_name = "N", default_value_t = board::StateLimit::DEFAULT.get())]
    max_states: u64,
}

impl Limits {
    /// The limit for one board.
    pub(crate) fn states(self) -> board::StateLimit {
        board::StateLimit::new(self.max_states)
    }
}

/// How often a list is shown again with --watch.
const WATCH_EVERY: std::time::Duration = std::time::Duration::from_secs(2);

/// Shows something, with `is_watched` again and again until Ctrl-C, on a cleared screen where there is one.
///
/// # Errors
/// Those of `show`, and of the terminal.
pub(crate) fn watched(
    is_watched: bool,
    store: &crate::store::OpenStore,
    mut show: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    use std::io::{IsTerminal, Write};
    loop {
        if is_watched && std::io::stdout().is_terminal() {
            print!("\x1b[H\x1b[2J");
        }
        show()?;
        if !is_watched {
            return Ok(());
        }
        std::io::stdout().flush()?;
        let stopped = store.wait(async { tokio::time::timeout(WATCH_EVERY, tokio::signal::ctrl_c()).await });
        if stopped.is_ok() {
            return Ok(());
        }
    }
}

/// Which database a command uses.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DatabaseArguments {
    /// Data folder of the private Postgres [default: ./parforce-data; for root, /var/lib/parforce where the
    /// server's user cannot enter the current folder]
    #[arg(long, env = "PARFORCE_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Use this database instead of a private one
    #[arg(
        long,
        env = "PARFORCE_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    database_url: Option<String>,
    /// Folder of the PostgreSQL programs (initdb, pg_ctl, postgres), if they are in no usual place
    #[arg(long, env = "PARFORCE_POSTGRES_BIN", value_name = "DIR")]
    postgres_bin: Option<PathBuf>,
}

/// A database that answers for as long as this value lives.
#[derive(Debug)]
pub(crate) enum Database {
    /// Somebody else's.
    Given(String),
    /// Ours, or that of another command on the same data folder.
    Private(Box<Postgres>),
}

impl DatabaseArguments {
    /// The private Postgres of a data folder.
    pub(crate) fn of_folder(data: PathBuf) -> DatabaseArguments {
        DatabaseArguments {
            data: Some(data),
            database_url: None,
            postgres_bin: None,
        }
    }

    /// The data folder that is named, or the default one.
    pub(crate) fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(embedded::default_data_folder)
    }

    /// What a command has to add to be about the same database, as it is typed.
    pub(crate) fn again(&self) -> String {
        match &self.data {
            Some(data) => format!(" --data {}", embedded::shell_word(data)),
            None => String::new(),
        }
    }

    /// Opens the database, starting the private Postgres if it is that and does not run.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub(crate) fn open(&self, access: Access) -> Result<Database, OpenError> {
        if let Some(url) = &self.database_url {
            return Ok(Database::Given(url.clone()));
        }
        let options = embedded::Options {
            data: self.data(),
            programs: self.postgres_bin.clone(),
            access,
            may_install: true,
        };
        Postgres::open(&options).map(|postgres| Database::Private(Box::new(postgres)))
    }
}

impl Database {
    /// Its connection URL.
    pub(crate) fn url(&self) -> String {
        match self {
            Database::Given(url) => url.clone(),
            Database::Private(postgres) => postgres.url(),
        }
    }

    /// A shell command that opens it in psql. (A URL that was given is not repeated: it may hold a password.)
    pub(crate) fn psql_line(&self) -> String {
        match self {
            Database::Given(_) => String::from("psql \"$PARFORCE_DATABASE_URL\""),
            Database::Private(postgres) => postgres.psql_line(),
        }
    }

    /// Stops it if it is ours to stop.
    ///
    /// # Errors
    /// When the server does not stop.
    pub(crate) fn close(self) -> Result<(), OpenError> {
        match self {
            Database::Given(_) => Ok(()),
            Database::Private(postgres) => postgres.close(),
        }
    }
}

/// An instant as RFC 3339, UTC, to the second.
pub(crate) fn instant(at: time::OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC).truncate_to_second();
    at.format(&time::format_description::well_known::Rfc3339)
        .expect("instants of the database have four-digit years")
}
