//! Censuses: what is counted, a range of it as a job, and the counts.

use std::ops::Range;
use std::sync::Arc;

use board::census::{Census, CensusDigest, CensusJob, CensusSpec, Keep, ParCounts, RangeOutcome, Scope};
use board::job::Frame;
use board::space::{BoardSpace, SpaceFields};
use board::{Par, StateLimit};

use super::spec::space_from_wire;
use super::{WireError, count, count_up_to, list, small};
use crate::v1;

/// The most pars a claim may have counts of.
const MAX_PARS: usize = 1_000;

/// The most ranges of a thousand that can be run again: all.
pub const ALL_REPEATED: u16 = 1_000;

/// What a census counts and keeps, beside the space of its hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CensusTerms {
    /// Which boards are counted.
    pub scope: Scope,
    /// Which are kept.
    pub keep: Keep,
    /// Whether clusters without a solved position are counted too.
    pub count_unsolvable: bool,
    /// How many ranges of a thousand are run again and compared, 0 to [`ALL_REPEATED`].
    pub repeats_per_mille: u16,
}

/// The census of a space. Its numbers of vehicles and its weights mean nothing here: all boards are counted.
pub fn census_spec(space: &BoardSpace, terms: CensusTerms, limit: StateLimit) -> CensusSpec {
    let SpaceFields {
        lot,
        exit_row,
        hero_length,
        walls,
        lengths,
        ..
    } = space.fields().clone();
    CensusSpec {
        lot,
        exit_row,
        hero_length,
        walls,
        lengths: lengths.iter().map(|entry| entry.length).collect(),
        scope: terms.scope,
        keep: terms.keep,
        count_unsolvable: terms.count_unsolvable,
        limit,
    }
}

impl From<&CensusJob> for v1::CensusSpec {
    fn from(job: &CensusJob) -> v1::CensusSpec {
        let (spec, units) = (job.spec(), job.units());
        let (keep, keep_par) = keep_to_wire(spec.keep);
        v1::CensusSpec {
            space: Some(v1::BoardSpace {
                lot_width: spec.lot.width().into(),
                lot_height: spec.lot.height().into(),
                exit_row: spec.exit_row.into(),
                hero_length: spec.hero_length.into(),
                vehicles: Some(v1::Range { first: 1, last: 1 }),
                walls: Some(v1::Range {
                    first: (*spec.walls.start()).into(),
                    last: (*spec.walls.end()).into(),
                }),
                lengths: spec
                    .lengths
                    .iter()
                    .map(|&length| v1::LengthWeight {
                        length: length.into(),
                        weight: 1,
                    })
                    .collect(),
            }),
            first: units.start,
            end: units.end,
            scope: scope_to_wire(spec.scope).into(),
            keep: keep.into(),
            keep_par,
            count_unsolvable: spec.count_unsolvable,
        }
    }
}

pub(super) fn job_from_wire(wire: v1::CensusSpec, frame: Frame) -> Result<CensusJob, WireError> {
    let terms = CensusTerms {
        scope: scope_from_wire(wire.scope)?,
        keep: keep_from_wire(wire.keep, wire.keep_par)?,
        count_unsolvable: wire.count_unsolvable,
        repeats_per_mille: 0,
    };
    let space = space_from_wire(wire.space)?;
    let spec = census_spec(&space, terms, StateLimit::new(frame.max_states));
    let census = Arc::new(Census::new(spec)?);
    let units = Range {
        start: wire.first,
        end: wire.end,
    };
    Ok(CensusJob::new(census, units, frame.n_shards)?)
}

impl From<&CensusTerms> for v1::CensusTerms {
    fn from(terms: &CensusTerms) -> v1::CensusTerms {
        let (keep, keep_par) = keep_to_wire(terms.keep);
        v1::CensusTerms {
            scope: scope_to_wire(terms.scope).into(),
            keep: keep.into(),
            keep_par,
            count_unsolvable: terms.count_unsolvable,
            repeats_per_mille: terms.repeats_per_mille.into(),
        }
    }
}

impl TryFrom<v1::CensusTerms> for CensusTerms {
    type Error = WireError;

    fn try_from(wire: v1::CensusTerms) -> Result<CensusTerms, WireError> {
        let repeats = super::within(
            "repeats_per_mille",
            wire.repeats_per_mille,
            0,
            ALL_REPEATED.into(),
        )?;
        Ok(CensusTerms {
            scope: scope_from_wire(wire.scope)?,
            keep: keep_from_wire(wire.keep, wire.keep_par)?,
            count_unsolvable: wire.count_unsolvable,
            repeats_per_mille: small("repeats_per_mille", repeats)?,
        })
    }
}

fn scope_to_wire(scope: Scope) -> v1::CensusScope {
    match scope {
        Scope::Standard => v1::CensusScope::Standard,
        Scope::Every => v1::CensusScope::Every,
    }
}

fn scope_from_wire(value: i32) -> Result<Scope, WireError> {
    match v1::CensusScope::try_from(value) {
        Ok(v1::CensusScope::Standard) => Ok(Scope::Standard),
        Ok(v1::CensusScope::Every) => Ok(Scope::Every),
        Ok(v1::CensusScope::Unspecified) | Err(_) => Err(WireError::UnknownValue {
            field: "scope",
            value,
        }),
    }
}

fn keep_to_wire(keep: Keep) -> (v1::CensusKeep, u32) {
    match keep {
        Keep::Nothing => (v1::CensusKeep::Nothing, 0),
        Keep::Minimal => (v1::CensusKeep::Minimal, 0),
        Keep::ParAtLeast(par) => (v1::CensusKeep::Par, par.get().into()),
        Keep::Solvable => (v1::CensusKeep::Solvable, 0),
    }
}

fn keep_from_wire(value: i32, par: u32) -> Result<Keep, WireError> {
    match v1::CensusKeep::try_from(value) {
        Ok(v1::CensusKeep::Nothing) => Ok(Keep::Nothing),
        Ok(v1::CensusKeep::Minimal) => Ok(Keep::Minimal),
        Ok(v1::CensusKeep::Par) => Ok(Keep::ParAtLeast(Par::new(small("keep_par", par)?))),
        Ok(v1::CensusKeep::Solvable) => Ok(Keep::Solvable),
        Ok(v1::CensusKeep::Unspecified) | Err(_) => Err(WireError::UnknownValue { field: "keep", value }),
    }
}

impl From<&RangeOutcome> for v1::CensusCounts {
    fn from(counts: &RangeOutcome) -> v1::CensusCounts {
        v1::CensusCounts {
            layouts: counts.layouts,
            unsolvable: counts.unsolvable,
            unsolvable_positions: counts.unsolvable_positions,
            by_par: counts
                .by_par
                .iter()
                .map(|counts| v1::ParCounts {
                    solvable: counts.solvable,
                    minimal: counts.minimal,
                    positions: counts.positions,
                    minimal_positions: counts.minimal_positions,
                    positions_at: counts.positions_at,
                })
                .collect(),
            digest: counts.digest.to_bytes().to_vec(),
        }
    }
}

pub(super) fn counts_from_wire(wire: v1::CensusCounts) -> Result<RangeOutcome, WireError> {
    let digest = super::endings::sixteen("census.digest", &wire.digest)?;
    let by_par = list("by_par", wire.by_par, MAX_PARS)?
        .into_iter()
        .map(par_counts_from_wire)
        .collect::<Result<_, WireError>>()?;
    Ok(RangeOutcome {
        layouts: count("layouts", wire.layouts)?,
        unsolvable: count("unsolvable", wire.unsolvable)?,
        unsolvable_positions: count("unsolvable_positions", wire.unsolvable_positions)?,
        by_par,
        digest: CensusDigest::from_bytes(digest),
        ..RangeOutcome::default()
    })
}

fn par_counts_from_wire(wire: v1::ParCounts) -> Result<ParCounts, WireError> {
    let solvable = count("solvable", wire.solvable)?;
    let positions = count("positions", wire.positions)?;
    Ok(ParCounts {
        solvable,
        minimal: count_up_to("minimal", wire.minimal, solvable)?,
        positions,
        minimal_positions: count_up_to("minimal_positions", wire.minimal_positions, positions)?,
        positions_at: count("positions_at", wire.positions_at)?,
    })
}

#[cfg(test)]
mod tests {
    use board::Lot;
    use board::job::JobSpec;

    use super::*;

    fn job(keep: Keep, scope: Scope) -> JobSpec {
        let spec = CensusSpec {
            keep,
            scope,
            ..CensusSpec::standard(Lot::new(5, 4).unwrap(), 0..=1)
        };
        JobSpec::Census(CensusJob::new(Arc::new(Census::new(spec).unwrap()), 3..40, 4).unwrap())
    }

    #[test]
    fn census_jobs_survive_the_wire() {
        for keep in [
            Keep::Nothing,
            Keep::Minimal,
            Keep::ParAtLeast(Par::new(7)),
            Keep::Solvable,
        ] {
            for scope in [Scope::Standard, Scope::Every] {
                let spec = job(keep, scope);
                assert_eq!(JobSpec::try_from(v1::JobSpec::from(&spec)), Ok(spec));
            }
        }
    }

    #[test]
    fn ranges_that_are_none_of_the_census_are_refused() {
        let mut wire = v1::JobSpec::from(&job(Keep::Minimal, Scope::Standard));
        let Some(v1::job_spec::Kind::Census(census)) = &mut wire.kind else {
            panic!("not a census job")
        };
        census.end = u64::MAX;
        assert!(JobSpec::try_from(wire).is_err());
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        let wire = |spoil: fn(&mut v1::ParCounts)| {
            let mut counts = v1::ParCounts {
                solvable: 2,
                minimal: 1,
                positions: 9,
                minimal_positions: 3,
                positions_at: 9,
            };
            spoil(&mut counts);
            counts_from_wire(v1::CensusCounts {
                by_par: vec![counts],
                digest: vec![0; 16],
                ..v1::CensusCounts::default()
            })
        };
        assert!(wire(|_| ()).is_ok());
        assert!(wire(|counts| counts.minimal = 3).is_err());
        assert!(wire(|counts| counts.minimal_positions = 10).is_err());
        assert!(wire(|counts| counts.positions_at = u64::MAX).is_err());
    }

    #[test]
    fn counts_survive_the_wire() {
        let result = job(Keep::Minimal, Scope::Standard).run(&mut board::cluster::Explorer::new());
        let counts = result.census.unwrap();
        assert!(counts.solvable() > 0);
        assert_eq!(counts_from_wire(v1::CensusCounts::from(&counts)), Ok(counts));
    }
}
