//! The only SQL: rows to types and back, one statement a function.
//!
//! Every write under a lease names job, token and holder in its WHERE, so that a former holder changes nothing.
//! Time is the database's. What a worker claims goes into columns that say so; what stands in `boards` was handed
//! over by [`crate::prove`].

mod actions;
mod audits;
mod batches;
mod boards;
mod campaigns;
mod census;
mod challenges;
mod claims;
mod difficulty;
mod events;
mod export;
mod figures;
mod grade;
mod grants;
mod hunt_record;
mod hunts;
mod jams;
mod jobs;
mod known;
mod lead;
mod leases;
mod packs;
mod pages;
mod planning;
mod records;
mod restored;
mod retract;
mod series;
mod shares;
mod tokens;
mod trust;
mod views;
mod workers;
mod yields;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, PgPool, Postgres, Transaction};
use thiserror::Error;

use known::StoredBoards;
use shares::Shares;

pub use actions::WorkerAction;
pub use audits::{Sampling, Settled};
pub use batches::{BatchOrigin, BatchToStore, RejectionToStore, Stored};
pub use boards::{BoardFilter, BoardRow, ExportError, ParCount};
pub use campaigns::{CampaignProgress, CampaignRecord, JamFind, LevelToInsert};
pub use census::{CensusCoverage, CensusToPlan, CensusTotal, RangeToSplit};
pub use challenges::{Challenge, Reservation, ReserveError};
pub use difficulty::{DifficultyPlan, Unmeasured};
pub use events::{EventKind, EventToWrite};
pub use figures::Figures;
pub use grade::{FoundOfPar, Whole};
pub use hunt_record::{HuntRecord, HuntState};
pub use hunts::{CreateHuntError, HuntProgress};
pub use jams::{JamBatchToStore, JamRow};
pub use jobs::{AttemptRecord, JobFilter, JobRecord, JobState};
pub use known::{MAX_KNOWN, Memory};
pub use lead::{Lead, WordOfWork};
pub use leases::{BeatOutcome, Expired, OUTAGES_PER_FAILURE, Watch};
pub use packs::{Measure, PackFilter, PackSort, PackStanding};
pub use pages::{
    AttemptLine, AuditCounts, AuditLine, AuditQuery, BOARDS_A_PAGE, BoardLine, BoardPage, BoardQuery,
    CensusLine, EVENTS_A_PAGE, EventLine, EventQuery, FarmNow, HuntLine, HuntTotals, JOBS_A_PAGE, JobLine,
    JobQuery, JobSort, LotBest, ParkedGroup, Provenance, RejectedGroup, RejectedLine, WORKERS_A_PAGE,
    WorkerLine, WorkerQuery, WorkerSort, YieldPoint,
};
pub use planning::{HuntToPlan, JobToInsert, StartsQuery};
pub use records::RecordRow;
pub use retract::{BelievedBoard, WrongBoard};
pub use series::{FarmPoint, HuntPoint, SAMPLE_EVERY, Window, WorkerPoint};
pub use shares::HuntOrder;
pub use tokens::{TokenRecord, WhichTokens};
pub use views::{AnalysisView, ViewRows};
pub use workers::{LeaseOrigin, WorkerRecord, WorkerStanding};
pub use yields::{ArmYield, Unswept};

/// The migrations, part of the program. sqlx runs them under a Postgres advisory lock, so that of several
/// coordinators starting at once one migrates and the others wait.
pub static MIGRATOR: Migrator = sqlx::migrate!("../migrations");

/// How long a call waits for a free connection before it answers that the database is away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// One connection in so many is kept for beats.
const RESERVED_PART: u32 = 4;

/// The database: everything that the farm remembers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pool: PgPool,
    /// Connections that beats alone may use: whatever fills the others, leases are renewed. They do not wait for the disk:
    /// a beat that a dying server forgets makes a lease seem older than it is, and what is done under it is fenced.
    reserve: PgPool,
    /// Who acts, for the events.
    actor: Arc<str>,
    /// Boards that are stored for certain.
    known: StoredBoards,
    /// Who has how much of the farm.
    shares: Arc<Shares>,
}

/// Several statements that take effect together or not at all.
pub struct Tx {
    tx: Transaction<'static, Postgres>,
}

/// Why the database did not do what was asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It is away, or refused the statement.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The address does not read as one.
    #[error("database address: {0}")]
    Address(String),
    /// It is not the one that is remembered: it was set back to a backup, or is another.
    #[error("the database was set back under this coordinator; what was remembered of it is forgotten")]
    SetBack,
    /// Two batches with one id came at once.
    #[error("another batch was stored under this id meanwhile")]
    IdTaken,
    /// The migrations did not run.
    #[error("migration: {0}")]
    Migrate(#[from] MigrateError),
    /// A row holds what this version cannot read.
    #[error("{table} {id}: {reason}")]
    Unreadable {
        /// The table.
        table: &'static str,
        /// The row.
        id: i64,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            StoreError::Database(error) => match error {
                sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::PoolTimedOut
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed => true,
                // Class 08 connection, 40 rollback (deadlock, serialisation), 53 resources, 57 operator.
                sqlx::Error::Database(error) => error.code().is_some_and(|code| {
                    ["08", "40", "53", "57"]
                        .iter()
                        .any(|class| code.starts_with(class))
                }),
                _ => false,
            },
            StoreError::SetBack | StoreError::IdTaken => true,
            StoreError::Address(_) | StoreError::Migrate(_) | StoreError::Unreadable { .. } => false,
        }
    }
}

impl Store {
    /// Connects to a database, e.g. `postgres://parforce@localhost/parforce`, or over a socket:
    /// `postgres://parforce@localhost/parforce?host=/run/postgresql`.
    ///
    /// # Errors
    /// [`StoreError::Address`] if the address does not read as one, [`StoreError::Database`] if nobody answers.
    pub async fn connect(url: &str, max_connections: u32) -> Result<Store, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|error| StoreError::Address(error.to_string()))?
            .application_name("parforce");
        // What sqlx makes of an address without a user, and PGUSER not set. No server knows that one.
        if options.get_username() == "anonymous" {
            return Err(StoreError::Address(String::from("it names no user")));
        }
        let reserved = (max_connections / RESERVED_PART).max(1);
        let known = StoredBoards::new(MAX_KNOWN);
        let remembered = known.clone();
        let pool = PgPoolOptions::new()
            .max_connections((max_connections - reserved).max(1))
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // One line for each of thousands that wait tells nobody anything; giving up is told of.
            .acquire_slow_threshold(ACQUIRE_TIMEOUT)
            .after_connect(move |connection, _| {
                let known = remembered.clone();
                Box::pin(async move {
                    // What is acknowledged is on the disk, whatever the server's usual is.
                    sqlx::query!(
                        r#"
                        SELECT set_config('synchronous_commit', 'on', false) AS "now"
                        WHERE current_setting('synchronous_commit') = 'off'
                        "#
                    )
                    .fetch_optional(&mut *connection)
                    .await?;
                    let server = sqlx::query!(r#"SELECT pg_postmaster_start_time()::text AS "started!""#)
                        .fetch_one(connection)
                        .await?;
                    known.connected_to(server.started);
                    Ok(())
                })
            })
            .connect_with(options.clone())
            .await?;
        let reserve = PgPoolOptions::new()
            .max_connections(reserved)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .after_connect(|connection, _| {
                Box::pin(async move {
                    sqlx::query!("SET synchronous_commit = off")
                        .execute(connection)
                        .await?;
                    Ok(())
                })
            })
            .connect_lazy_with(options);
        Ok(Store {
            reserve,
            known,
            ..Store::from_pool(pool)
        })
    }

    /// The database behind a pool that is open already.
    pub fn from_pool(pool: PgPool) -> Store {
        Store {
            reserve: pool.clone(),
            pool,
            actor: "operator".into(),
            known: StoredBoards::new(MAX_KNOWN),
            shares: Arc::default(),
        }
    }

    /// The connections that its calls share, but for the beats' reserve.
    pub(crate) fn max_connections(&self) -> usize {
        self.pool.options().get_max_connections() as usize
    }

    /// The same database, with this name in the events of what is done through it; without it, `operator`.
    #[must_use]
    pub fn acting_as(&self, actor: &str) -> Store {
        Store {
            actor: actor.into(),
            ..self.clone()
        }
    }

    /// The same database, with at most so many boards remembered in memory as stored; without it, [`MAX_KNOWN`].
    #[must_use]
    pub fn remembering(&self, max_boards: usize) -> Store {
        Store {
            known: StoredBoards::new(max_boards),
            ..self.clone()
        }
    }

    /// Brings the database up to this version; does nothing if it is.
    ///
    /// # Errors
    /// [`StoreError::Migrate`] if a migration fails, was changed after it ran, or a newer version ran here.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // Over a connection of its own that does not log: a slow migration would be told of with all its text.
        let options = self.pool.connect_options().as_ref().clone();
        let quiet = PgPoolOptions::new()
            .max_connections(1)
            .connect_with(options.disable_statement_logging())
            .await?;
        MIGRATOR.run(&quiet).await?;
        quiet.close().await;
        Ok(())
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    /// [`StoreError::Database`] if there is none.
    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!(r#"SELECT 1 AS "one!""#)
            .fetch_one(&self.pool)
            .await?;
        Ok(())
    }

    /// Waits until running statements are done and closes all connections.
    pub async fn close(&self) {
        self.reserve.close().await;
        self.pool.close().await;
    }

    /// Starts statements that belong together.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database is away.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        // A caller may be given up at any moment (its client went away). If that happened while BEGIN is under way, sqlx
        // would not know of the transaction, and the connection would go back to the pool within it: what others then
        // write there without a transaction of their own would be told to be done, and never be. So BEGIN is seen through.
        let pool = self.pool.clone();
        let begun = tokio::spawn(async move { pool.begin().await }).await;
        let tx = begun.expect("beginning does not panic, and nobody aborts it")?;
        Ok(Tx { tx })
    }
}

impl Tx {
    /// Makes them take effect. Dropped without this, nothing happened.
    ///
    /// # Errors
    /// [`StoreError::Database`] if they could not.
    pub async fn commit(self) -> Result<(), StoreError> {
        Ok(self.tx.commit().await?)
    }
}

/// A count of the program as the database keeps it. Numbers beyond 2^63 are only ever claimed, never counted.
fn to_sql(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count of the database, which a CHECK keeps from being negative.
fn from_sql(count: i64) -> u64 {
    u64::try_from(count).expect("counts in the database are checked to be 0 or more")
}

/// A small number of the database, which is within its type's bounds by a CHECK or by who wrote it.
fn narrow<T: TryFrom<i64>>(table: &'static str, id: i64, column: &str, value: i64) -> Result<T, StoreError> {
    T::try_from(value).map_err(|_| StoreError::Unreadable {
        table,
        id,
        reason: format!("{column} is {value}, which is out of bounds"),
    })
}

/// The text in a form that Postgres takes: without NUL, cut off.
fn text(text: &str, max_chars: usize) -> String {
    text.chars().filter(|c| *c != '\0').take(max_chars).collect()
}
