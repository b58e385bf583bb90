//! How a job ends: carried out, or given back.

use std::time::Duration;

use board::census::RangeOutcome;
use board::difficulty::job::Measured;
use board::job::{Counters, JobDigest};

use super::{MAX_DETAIL_CHARS, ReleaseReason, WireError, checkpoint, cut};
use crate::ids::{FencingToken, JobId, Session};
use crate::v1;

/// A job carried out to its end: a claim, taken only from the holder of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Who claims.
    pub session: Session,
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Totals of the whole job.
    pub counters: Counters,
    /// What a replay must match.
    pub digest: JobDigest,
    /// What a census counted; `None`: another kind of job.
    pub census: Option<RangeOutcome>,
    /// What a difficulty job measured; `None`: another kind of job.
    pub measures: Option<Vec<Measured>>,
    /// Processor time of all search threads together; zero: not measured.
    pub cpu: Duration,
}

impl From<Completion> for v1::CompleteJobRequest {
    fn from(completion: Completion) -> v1::CompleteJobRequest {
        v1::CompleteJobRequest {
            session: completion.session.to_string(),
            job_id: completion.job.get(),
            token: completion.token.get(),
            counters: Some((&completion.counters).into()),
            digest: completion.digest.to_bytes().to_vec(),
            census: completion.census.as_ref().map(Into::into),
            measures: completion
                .measures
                .as_deref()
                .map(super::difficulty::measures_to_wire),
            cpu_ms: u64::try_from(completion.cpu.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl TryFrom<v1::CompleteJobRequest> for Completion {
    type Error = WireError;

    fn try_from(wire: v1::CompleteJobRequest) -> Result<Completion, WireError> {
        let digest = sixteen("digest", &wire.digest)?;
        Ok(Completion {
            session: Session::parse(&wire.session)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            counters: wire.counters.ok_or(WireError::Missing("counters"))?.try_into()?,
            digest: JobDigest::from_bytes(digest),
            census: wire.census.map(super::census::counts_from_wire).transpose()?,
            measures: wire
                .measures
                .map(super::difficulty::measures_from_wire)
                .transpose()?,
            cpu: Duration::from_millis(wire.cpu_ms),
        })
    }
}

/// The 16 bytes of a digest.
pub(super) fn sixteen(field: &'static str, bytes: &[u8]) -> Result<[u8; 16], WireError> {
    bytes.try_into().map_err(|_| WireError::Length {
        field,
        len: bytes.len(),
        unit: "bytes",
        low: 16,
        high: 16,
    })
}

/// A job given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Who gives it back.
    pub session: Session,
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Why.
    pub reason: ReleaseReason,
    /// For people; at most [`MAX_DETAIL_CHARS`] characters.
    pub detail: String,
    /// Where a later attempt could go on.
    pub checkpoint: Option<Vec<u8>>,
    /// Totals of the attempt.
    pub counters: Counters,
}

impl From<Release> for v1::ReleaseJobRequest {
    fn from(release: Release) -> v1::ReleaseJobRequest {
        v1::ReleaseJobRequest {
            session: release.session.to_string(),
            job_id: release.job.get(),
            token: release.token.get(),
            reason: release.reason.to_wire(),
            detail: release.detail,
            checkpoint: release.checkpoint,
            counters: Some((&release.counters).into()),
        }
    }
}

impl TryFrom<v1::ReleaseJobRequest> for Release {
    type Error = WireError;

    fn try_from(wire: v1::ReleaseJobRequest) -> Result<Release, WireError> {
        Ok(Release {
            session: Session::parse(&wire.session)?,
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            reason: ReleaseReason::from_wire(wire.reason)?,
            detail: cut(&wire.detail, MAX_DETAIL_CHARS),
            checkpoint: checkpoint(wire.checkpoint)?,
            counters: wire.counters.unwrap_or_default().try_into()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::MAX_COUNT;

    #[test]
    fn a_completion_needs_sixteen_bytes_of_digest() {
        let wire = |len| v1::CompleteJobRequest {
            session: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            job_id: 1,
            token: 1,
            counters: Some(v1::JobCounters::default()),
            digest: vec![0; len],
            census: None,
            measures: None,
            cpu_ms: 0,
        };
        assert!(Completion::try_from(wire(16)).is_ok());
        assert!(Completion::try_from(wire(15)).is_err());
    }

    #[test]
    fn counters_that_no_sum_could_hold_are_refused() {
        let wire = |positions| v1::ReleaseJobRequest {
            session: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            job_id: 1,
            token: 1,
            reason: v1::ReleaseReason::Drain.into(),
            counters: Some(v1::JobCounters {
                positions,
                ..v1::JobCounters::default()
            }),
            ..v1::ReleaseJobRequest::default()
        };
        assert!(Release::try_from(wire(MAX_COUNT)).is_ok());
        assert!(Release::try_from(wire(MAX_COUNT + 1)).is_err());
        assert!(Release::try_from(wire(u64::MAX)).is_err());
    }
}
