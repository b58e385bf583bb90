//! Waits for a database that is away: at a start, Postgres may come later than its coordinators.
//!
//! Decides which faults waiting can mend, how long to wait between attempts, and how often to tell of it. A wrong password, a
//! database that is not there and a schema that is newer than the program stay as they are, and end the attempt at once.

use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep, timeout};
use tracing::{info, warn};

use crate::StartError;
use crate::doors::OpenError;
use crate::store::{Store, StoreError};

/// The first pause between two attempts; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// How often it is told what is waited for.
const TELL_EVERY: Duration = Duration::from_secs(30);
/// A server that takes a connection and says nothing for so long is away too.
const ANSWER_DEADLINE: Duration = Duration::from_secs(10);

/// Why something did not start.
pub trait Fault: std::fmt::Display {
    /// Whether it is that the database is away, so that waiting may mend it.
    fn is_absence(&self) -> bool;
}

impl Fault for sqlx::Error {
    fn is_absence(&self) -> bool {
        use std::io::ErrorKind::{InvalidData, InvalidInput, PermissionDenied};
        match self {
            // A certificate that does not hold comes as invalid data; a socket that is another's stays so.
            sqlx::Error::Io(error) => !matches!(error.kind(), InvalidData | InvalidInput | PermissionDenied),
            sqlx::Error::PoolTimedOut => true,
            // Class 08 connection, 53 resources (all connections are taken), 57 operator (starting up, shutting down).
            sqlx::Error::Database(error) => error
                .code()
                .is_some_and(|code| ["08", "53", "57"].iter().any(|class| code.starts_with(class))),
            _ => false,
        }
    }
}

impl Fault for StoreError {
    fn is_absence(&self) -> bool {
        match self {
            StoreError::Database(error)
            | StoreError::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                error.is_absence()
            }
            _ => false,
        }
    }
}

impl Fault for StartError {
    fn is_absence(&self) -> bool {
        match self {
            StartError::Store(error) | StartError::Doors(OpenError::Store(error)) => error.is_absence(),
            _ => false,
        }
    }
}

/// Connects to a database as [`Store::connect`] does, however long it is away.
///
/// # Errors
/// As [`Store::connect`], but for what waiting may mend.
pub async fn connect(url: &str, max_connections: u32) -> Result<Store, StoreError> {
    let options = PgConnectOptions::from_str(url).map_err(|error| StoreError::Address(error.to_string()))?;
    wait_for(&place(&options), async || {
        // One connection first: a pool that finds nobody keeps its reason to itself.
        let tried = timeout(ANSWER_DEADLINE, PgConnection::connect_with(&options)).await;
        let connection = tried.map_err(|_elapsed| sqlx::Error::PoolTimedOut)??;
        // It answered, which is all that was asked.
        let _ = connection.close().await;
        Store::connect(url, max_connections).await
    })
    .await
}

/// Tries until it succeeds, or fails for another reason than that the database at `place` is away.
///
/// # Errors
/// What waiting cannot mend.
pub async fn wait_for<T, E: Fault>(
    place: &str,
    mut attempt: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T, E> {
    let mut pause = FIRST_PAUSE;
    let mut told: Option<Instant> = None;
    loop {
        match attempt().await {
            Err(error) if error.is_absence() => {
                if told.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
                    warn!(database = place, %error, "waiting for the database");
                    told = Some(Instant::now());
                }
            }
            outcome => {
                if told.is_some() && outcome.is_ok() {
                    info!(database = place, "the database is there");
                }
                return outcome;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

/// Where a database is, without what opens it.
fn place(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    match options.get_socket() {
        Some(socket) => format!("{} port {}, {database}", socket.display(), options.get_port()),
        None => format!("{}:{}/{database}", options.get_host(), options.get_port()),
    }
}

/// Where a database is, without what opens it; of an address that does not read, nothing.
pub fn place_of(url: &str) -> String {
    PgConnectOptions::from_str(url).map_or_else(|_| String::new(), |options| place(&options))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn io(kind: io::ErrorKind) -> StoreError {
        sqlx::Error::Io(kind.into()).into()
    }

    #[tokio::test(start_paused = true)]
    async fn an_absent_database_is_waited_for_and_every_other_fault_ends_it() {
        let mut n_tries = 0;
        let outcome = wait_for("here", async || {
            n_tries += 1;
            if n_tries < 100 {
                return Err(io(io::ErrorKind::ConnectionRefused));
            }
            Ok(n_tries)
        })
        .await;
        assert_eq!(outcome.unwrap(), 100);
        let mut n_tries = 0;
        let outcome = wait_for("here", async || {
            n_tries += 1;
            Err::<(), _>(io(io::ErrorKind::PermissionDenied))
        })
        .await;
        assert!(outcome.is_err() && n_tries == 1);
    }

    #[test]
    fn a_database_that_goes_during_a_migration_is_away_and_a_newer_schema_is_not() {
        let away = || sqlx::Error::Io(io::ErrorKind::ConnectionReset.into());
        assert!(StoreError::Migrate(MigrateError::Execute(away())).is_absence());
        assert!(StartError::Doors(OpenError::Store(away().into())).is_absence());
        assert!(!StoreError::Migrate(MigrateError::VersionMissing(9)).is_absence());
        assert!(!StoreError::Address(String::new()).is_absence());
    }

    #[test]
    fn where_a_database_is_tells_no_password() {
        assert_eq!(place_of("postgres://a:secret@db.test:77/farm"), "db.test:77/farm");
        let socket = place_of("postgres://a:secret@localhost/farm?host=/run/x");
        assert!(
            socket.contains("/run/x") && !socket.contains("secret"),
            "{socket}"
        );
    }
}
