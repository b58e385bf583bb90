//! What a job asks for, of either game.

use board::job::JobSpec;
use prost::Message;
use siren::job::JamJob;
use thiserror::Error;

use super::{WireError, jams};
use crate::v1;

/// What a job asks for: its result is a function of this and of the engine's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Sliding boards.
    Boards(JobSpec),
    /// Levels of Siren Jam.
    Jams(JamJob),
}

/// Bytes that are no job.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorkError {
    /// They are no message.
    #[error(transparent)]
    Bytes(#[from] prost::DecodeError),
    /// The message describes no job.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Work {
    /// The job as the database and files keep it: its message of the workers' contract.
    pub fn to_bytes(&self) -> Vec<u8> {
        v1::JobSpec::from(self).encode_to_vec()
    }

    /// Reads what [`Work::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`WorkError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Work, WorkError> {
        Ok(v1::JobSpec::decode(bytes)?.try_into()?)
    }

    /// The kind's name, as the database and the command line spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Boards(spec) => spec.kind(),
            Work::Jams(_) => "siren",
        }
    }

    /// Where its random numbers start; of several seeds the first.
    pub fn seed(&self) -> u64 {
        match self {
            Work::Boards(spec) => spec.frame().seed,
            Work::Jams(job) => job.seeds()[0],
        }
    }

    /// How many iterations it takes: what a worker's reports count up to. Of a siren job the most, since most seeds end
    /// earlier.
    pub fn n_iterations(&self) -> u64 {
        match self {
            Work::Boards(spec) => spec.n_iterations(),
            Work::Jams(job) => job.max_attempts(),
        }
    }

    /// The job over sliding boards; `None`: it is none.
    pub fn boards(&self) -> Option<&JobSpec> {
        match self {
            Work::Boards(spec) => Some(spec),
            Work::Jams(_) => None,
        }
    }

    /// The job over jams; `None`: it is none.
    pub fn jams(&self) -> Option<&JamJob> {
        match self {
            Work::Boards(_) => None,
            Work::Jams(job) => Some(job),
        }
    }
}

impl From<JobSpec> for Work {
    fn from(spec: JobSpec) -> Work {
        Work::Boards(spec)
    }
}

impl From<JamJob> for Work {
    fn from(job: JamJob) -> Work {
        Work::Jams(job)
    }
}

impl From<&Work> for v1::JobSpec {
    fn from(work: &Work) -> v1::JobSpec {
        match work {
            Work::Boards(spec) => spec.into(),
            Work::Jams(job) => jams::job_to_wire(job),
        }
    }
}

impl TryFrom<v1::JobSpec> for Work {
    type Error = WireError;

    fn try_from(wire: v1::JobSpec) -> Result<Work, WireError> {
        match wire.kind {
            Some(v1::job_spec::Kind::Siren(siren)) => jams::job_from_wire(siren).map(Work::Jams),
            _ => wire.try_into().map(Work::Boards),
        }
    }
}
