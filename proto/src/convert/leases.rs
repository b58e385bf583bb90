//! How a worker gets jobs and keeps them.

use std::time::Duration;

use board::Par;

use super::{
    JobKind, LeaseAction, MAX_COUNT, MAX_LEASES, MAX_RATE, WireError, Work, checkpoint, duration, list,
    millis, small, within,
};
use crate::ids::{FencingToken, HuntId, JobId, RequestId, Session};
use crate::{MAX_ACQUIRE_WAIT_MS, v1};

/// A wish for jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acquire {
    /// Repeated, it is answered alike.
    pub request: RequestId,
    /// Who asks.
    pub session: Session,
    /// The most leases wanted.
    pub n_free_slots: u32,
    /// Kinds it can run; never empty.
    pub kinds: Vec<JobKind>,
    /// How long the server may wait for work.
    pub wait: Duration,
}

impl From<Acquire> for v1::AcquireRequest {
    fn from(acquire: Acquire) -> v1::AcquireRequest {
        v1::AcquireRequest {
            request_id: acquire.request.to_string(),
            session: acquire.session.to_string(),
            free_slots: acquire.n_free_slots,
            kinds: acquire.kinds.into_iter().map(JobKind::to_wire).collect(),
            wait_ms: millis(acquire.wait),
        }
    }
}

impl TryFrom<v1::AcquireRequest> for Acquire {
    type Error = WireError;

    fn try_from(wire: v1::AcquireRequest) -> Result<Acquire, WireError> {
        let kinds = list("kinds", wire.kinds, 16)?;
        let kinds = if kinds.is_empty() {
            vec![JobKind::Scatter, JobKind::Anneal]
        } else {
            // A kind that only a newer worker knows is none that this coordinator hands out.
            let known = kinds.into_iter().filter_map(|kind| JobKind::from_wire(kind).ok());
            let known: Vec<JobKind> = known.collect();
            if known.is_empty() {
                return Err(WireError::UnknownKind);
            }
            known
        };
        Ok(Acquire {
            request: RequestId::parse(&wire.request_id)?,
            session: Session::parse(&wire.session)?,
            n_free_slots: within("free_slots", wire.free_slots, 1, MAX_LEASES)?,
            kinds,
            wait: duration(wire.wait_ms.min(MAX_ACQUIRE_WAIT_MS)),
        })
    }
}

/// The right to run a job until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Its hunt.
    pub hunt: HuntId,
    /// Names this lease among all of the job.
    pub token: FencingToken,
    /// From when the answer was made.
    pub expires_in: Duration,
    /// 1 at the first.
    pub attempt: u32,
    /// What to do.
    pub spec: Work,
    /// Where an earlier attempt left off; `None`: from the start.
    pub checkpoint: Option<Vec<u8>>,
}

impl From<Lease> for v1::Lease {
    fn from(lease: Lease) -> v1::Lease {
        v1::Lease {
            job_id: lease.job.get(),
            hunt_id: lease.hunt.get(),
            token: lease.token.get(),
            expires_in_ms: millis(lease.expires_in),
            attempt: lease.attempt,
            spec: Some((&lease.spec).into()),
            checkpoint: lease.checkpoint,
        }
    }
}

impl TryFrom<v1::Lease> for Lease {
    type Error = WireError;

    fn try_from(wire: v1::Lease) -> Result<Lease, WireError> {
        Ok(Lease {
            job: JobId::new(wire.job_id)?,
            hunt: HuntId::new(wire.hunt_id)?,
            token: FencingToken::new(wire.token)?,
            expires_in: duration(wire.expires_in_ms),
            attempt: wire.attempt,
            spec: wire.spec.ok_or(WireError::Missing("spec"))?.try_into()?,
            checkpoint: checkpoint(wire.checkpoint)?,
        })
    }
}

/// A sign of life, with what each lease has done.
#[derive(Clone, Debug, PartialEq)]
pub struct Beat {
    /// Whose.
    pub session: Session,
    /// Grows with every beat.
    pub seq: u64,
    /// Every lease held.
    pub leases: Vec<LeaseBeat>,
}

/// What one lease has done.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseBeat {
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// Iterations so far.
    pub work_done: u64,
    /// Positions explored a second since the last beat.
    pub rate: f64,
    /// The largest par so far.
    pub best_par: Option<Par>,
    /// Where a later attempt could go on.
    pub checkpoint: Option<Vec<u8>>,
}

impl From<Beat> for v1::HeartbeatRequest {
    fn from(beat: Beat) -> v1::HeartbeatRequest {
        v1::HeartbeatRequest {
            session: beat.session.to_string(),
            seq: beat.seq,
            leases: beat
                .leases
                .into_iter()
                .map(|lease| v1::LeaseBeat {
                    job_id: lease.job.get(),
                    token: lease.token.get(),
                    work_done: lease.work_done,
                    rate: lease.rate,
                    best_par: lease.best_par.map(|par| par.get().into()),
                    checkpoint: lease.checkpoint,
                })
                .collect(),
        }
    }
}

impl TryFrom<v1::HeartbeatRequest> for Beat {
    type Error = WireError;

    fn try_from(wire: v1::HeartbeatRequest) -> Result<Beat, WireError> {
        let leases = list("leases", wire.leases, MAX_LEASES as usize)?
            .into_iter()
            .map(LeaseBeat::try_from);
        Ok(Beat {
            session: Session::parse(&wire.session)?,
            seq: wire.seq,
            leases: leases.collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<v1::LeaseBeat> for LeaseBeat {
    type Error = WireError;

    fn try_from(wire: v1::LeaseBeat) -> Result<LeaseBeat, WireError> {
        Ok(LeaseBeat {
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            // What cannot be is noted as the nearest that can: figures for people are not worth refusing a beat for.
            work_done: wire.work_done.min(MAX_COUNT),
            rate: if wire.rate.is_finite() {
                wire.rate.clamp(0.0, MAX_RATE)
            } else {
                0.0
            },
            best_par: wire
                .best_par
                .map(|par| small("best_par", par).map(Par::new))
                .transpose()?,
            checkpoint: checkpoint(wire.checkpoint)?,
        })
    }
}

/// What the holder of a lease is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseOrder {
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// What to do.
    pub action: LeaseAction,
    /// From when the answer was made; zero if lost.
    pub expires_in: Duration,
}

impl From<LeaseOrder> for v1::LeaseOrder {
    fn from(order: LeaseOrder) -> v1::LeaseOrder {
        v1::LeaseOrder {
            job_id: order.job.get(),
            token: order.token.get(),
            action: order.action.to_wire(),
            expires_in_ms: millis(order.expires_in),
        }
    }
}

impl TryFrom<v1::LeaseOrder> for LeaseOrder {
    type Error = WireError;

    fn try_from(wire: v1::LeaseOrder) -> Result<LeaseOrder, WireError> {
        Ok(LeaseOrder {
            job: JobId::new(wire.job_id)?,
            token: FencingToken::new(wire.token)?,
            action: LeaseAction::from_wire(wire.action)?,
            expires_in: duration(wire.expires_in_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_for_nothing_but_unknown_kinds_is_refused() {
        let wire = |kinds| v1::AcquireRequest {
            request_id: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            session: "67e55044-10b1-426f-9247-bb680e5fe0c9".to_owned(),
            free_slots: 1,
            kinds,
            wait_ms: 0,
        };
        assert_eq!(Acquire::try_from(wire(vec![20_000])), Err(WireError::UnknownKind));
        assert_eq!(
            Acquire::try_from(wire(vec![20_000, 1])).unwrap().kinds,
            [JobKind::Scatter]
        );
        assert_eq!(Acquire::try_from(wire(vec![])).unwrap().kinds.len(), 2);
    }

    #[test]
    fn a_beat_with_a_senseless_rate_is_taken() {
        let wire = v1::LeaseBeat {
            job_id: 1,
            token: 1,
            rate: f64::NAN,
            ..v1::LeaseBeat::default()
        };
        assert_eq!(
            LeaseBeat::try_from(wire).unwrap().rate.to_bits(),
            0.0_f64.to_bits()
        );
    }
}
