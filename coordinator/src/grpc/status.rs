//! The one place where an error becomes a gRPC status.

use std::time::Duration;

use proto::RETRY_AFTER_TRAILER;
use proto::convert::WireError;
use thiserror::Error;
use tonic::{Code, Status};
use tracing::error;

use crate::prove::Busy;
use crate::store::{CreateHuntError, StoreError};
use crate::submit::SubmitError;

/// How long a worker should wait when the provers have their hands full.
const BUSY_DELAY: Duration = Duration::from_secs(1);

/// Why a call was not answered.
#[derive(Debug, Error)]
pub enum CallError {
    /// The message breaks the contract.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Nobody said hello under this session.
    #[error("no such session, say hello")]
    NoSession,
    /// The worker is too old, or of another engine.
    #[error("{0}")]
    Outdated(String),
    /// The incarnation is another worker's.
    #[error("this incarnation belongs to another worker")]
    Impostor,
    /// Too much is on its way to the database.
    #[error("{n_batches} batches are being stored, come again later")]
    Full {
        /// How many may be.
        n_batches: usize,
    },
    /// The batch came before and is not stored yet.
    #[error("this batch is being proved, come again later")]
    UnderWay,
    /// There is no such thing.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What was asked for.
        what: &'static str,
        /// Its number.
        id: i64,
    },
    /// A thing is not in the state for it.
    #[error("{0}")]
    Conflict(String),
    /// The proving threads have too much to do.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// A batch was not stored.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// A hunt was not created.
    #[error(transparent)]
    CreateHunt(#[from] CreateHuntError),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CallError> for Status {
    fn from(error: CallError) -> Status {
        match &error {
            CallError::Wire(_)
            | CallError::CreateHunt(CreateHuntError::Census(_) | CreateHuntError::NoLevels)
            | CallError::Submit(SubmitError::WrongKind { .. }) => Status::invalid_argument(error.to_string()),
            CallError::NoSession | CallError::Submit(SubmitError::NoSession) => {
                Status::unauthenticated(error.to_string())
            }
            CallError::NotFound { .. } => Status::not_found(error.to_string()),
            CallError::Outdated(_)
            | CallError::Conflict(_)
            | CallError::CreateHunt(CreateHuntError::Engine { .. }) => {
                Status::failed_precondition(error.to_string())
            }
            CallError::Impostor => Status::permission_denied(error.to_string()),
            CallError::Full { .. }
            | CallError::UnderWay
            | CallError::Busy(_)
            | CallError::Submit(SubmitError::Busy(_)) => {
                let mut status = Status::resource_exhausted(error.to_string());
                status.metadata_mut().insert(
                    RETRY_AFTER_TRAILER,
                    BUSY_DELAY
                        .as_millis()
                        .to_string()
                        .parse()
                        .expect("digits are a metadata value"),
                );
                status
            }
            CallError::CreateHunt(
                CreateHuntError::NameTaken { .. }
                | CreateHuntError::NameInUse { .. }
                | CreateHuntError::SeedFixed { .. },
            ) => Status::already_exists(error.to_string()),
            CallError::Submit(SubmitError::Store(store))
            | CallError::CreateHunt(CreateHuntError::Store(store))
            | CallError::Store(store) => store_status(store),
        }
    }
}

/// What the caller hears of a database's trouble: whether to come again, not what its tables are called.
fn store_status(store: &StoreError) -> Status {
    error!(error = %store, "a call failed in the database");
    if store.is_retryable() {
        Status::unavailable("the database is away, come again")
    } else {
        Status::new(
            Code::Internal,
            "the database refused; the coordinator's log says why",
        )
    }
}
