//! Specifications: what a job searches.

use std::ops::RangeInclusive;

use board::anneal::{AnnealSpec, Temperatures};
use board::canonical::Canonical;
use board::geometry::Lot;
use board::job::{Counters, Frame, JobSpec};
use board::scatter::ScatterSpec;
use board::space::{BoardSpace, LengthWeight, MAX_HUNT_SIDE, MAX_LENGTHS, SpaceFields};
use board::sweep::SweepSpec;

use super::{WireError, count, cut, list, small};
use crate::v1;

impl From<&BoardSpace> for v1::BoardSpace {
    fn from(space: &BoardSpace) -> v1::BoardSpace {
        let fields = space.fields();
        v1::BoardSpace {
            lot_width: fields.lot.width().into(),
            lot_height: fields.lot.height().into(),
            exit_row: fields.exit_row.into(),
            hero_length: fields.hero_length.into(),
            vehicles: Some(range_to_wire(&fields.vehicles)),
            walls: Some(range_to_wire(&fields.walls)),
            lengths: fields
                .lengths
                .iter()
                .map(|entry| v1::LengthWeight {
                    length: entry.length.into(),
                    weight: entry.weight.into(),
                })
                .collect(),
        }
    }
}

impl TryFrom<v1::BoardSpace> for BoardSpace {
    type Error = WireError;

    fn try_from(wire: v1::BoardSpace) -> Result<BoardSpace, WireError> {
        let lengths = list("lengths", wire.lengths, MAX_LENGTHS)?
            .into_iter()
            .map(|entry| {
                Ok(LengthWeight {
                    length: small("length", entry.length)?,
                    weight: small("weight", entry.weight)?,
                })
            })
            .collect::<Result<_, WireError>>()?;
        let fields = SpaceFields {
            lot: lot_from_wire(wire.lot_width, wire.lot_height)?,
            exit_row: small("exit_row", wire.exit_row)?,
            hero_length: small("hero_length", wire.hero_length)?,
            vehicles: range_from_wire("vehicles", wire.vehicles)?,
            walls: range_from_wire("walls", wire.walls)?,
            lengths,
        };
        Ok(BoardSpace::new(fields)?)
    }
}

fn lot_from_wire(width: u32, height: u32) -> Result<Lot, WireError> {
    let side = |field, value| super::within(field, value, 3, MAX_HUNT_SIDE.into());
    let width = small("lot_width", side("lot_width", width)?)?;
    let height = small("lot_height", side("lot_height", height)?)?;
    Ok(Lot::new(width, height).expect("both sides are from 3 to 8"))
}

fn range_to_wire(range: &RangeInclusive<u8>) -> v1::Range {
    v1::Range {
        first: (*range.start()).into(),
        last: (*range.end()).into(),
    }
}

fn range_from_wire(field: &'static str, wire: Option<v1::Range>) -> Result<RangeInclusive<u8>, WireError> {
    let range = wire.ok_or(WireError::Missing(field))?;
    Ok(small(field, range.first)?..=small(field, range.last)?)
}

impl From<&JobSpec> for v1::JobSpec {
    fn from(spec: &JobSpec) -> v1::JobSpec {
        let frame = spec.frame();
        let kind = match spec {
            JobSpec::Scatter(spec) => v1::job_spec::Kind::Scatter(v1::ScatterSpec {
                space: Some(spec.space().into()),
            }),
            JobSpec::Anneal(spec) => v1::job_spec::Kind::Anneal(v1::AnnealSpec {
                space: Some(spec.space().into()),
                start_boards: starts_to_wire(spec.starts()),
                first_temperature: spec.temperatures().first,
                last_temperature: spec.temperatures().last,
            }),
            JobSpec::Census(job) => v1::job_spec::Kind::Census(job.into()),
            JobSpec::Difficulty(job) => v1::job_spec::Kind::Difficulty(job.into()),
            JobSpec::Sweep(spec) => v1::job_spec::Kind::Sweep(v1::SweepSpec {
                space: Some(spec.space().into()),
                start_boards: starts_to_wire(spec.starts()),
            }),
            other => unreachable!("job kind {} has no wire form yet", other.kind()),
        };
        v1::JobSpec {
            seed: frame.seed,
            n_shards: frame.n_shards,
            iterations_per_shard: frame.iterations_per_shard,
            max_states: frame.max_states,
            kind: Some(kind),
        }
    }
}

impl TryFrom<v1::JobSpec> for JobSpec {
    type Error = WireError;

    fn try_from(wire: v1::JobSpec) -> Result<JobSpec, WireError> {
        let frame = Frame {
            seed: wire.seed,
            n_shards: wire.n_shards,
            iterations_per_shard: wire.iterations_per_shard,
            max_states: wire.max_states,
        };
        match wire.kind {
            Some(v1::job_spec::Kind::Scatter(scatter)) => Ok(JobSpec::Scatter(ScatterSpec::new(
                space_from_wire(scatter.space)?,
                frame,
            )?)),
            Some(v1::job_spec::Kind::Anneal(anneal)) => {
                let starts = starts_from_wire(anneal.start_boards)?;
                let temperatures = Temperatures {
                    first: anneal.first_temperature,
                    last: anneal.last_temperature,
                };
                Ok(JobSpec::Anneal(AnnealSpec::new(
                    space_from_wire(anneal.space)?,
                    frame,
                    starts,
                    temperatures,
                )?))
            }
            Some(v1::job_spec::Kind::Census(census)) => {
                Ok(JobSpec::Census(super::census::job_from_wire(census, frame)?))
            }
            Some(v1::job_spec::Kind::Difficulty(difficulty)) => Ok(JobSpec::Difficulty(
                super::difficulty::job_from_wire(difficulty, frame)?,
            )),
            Some(v1::job_spec::Kind::Sweep(sweep)) => Ok(JobSpec::Sweep(SweepSpec::new(
                space_from_wire(sweep.space)?,
                starts_from_wire(sweep.start_boards)?,
                frame.n_shards,
                frame.max_states,
            )?)),
            Some(v1::job_spec::Kind::Audit(_) | v1::job_spec::Kind::Siren(_)) | None => {
                Err(WireError::UnknownKind)
            }
        }
    }
}

pub(super) fn space_from_wire(wire: Option<v1::BoardSpace>) -> Result<BoardSpace, WireError> {
    wire.ok_or(WireError::Missing("space"))?.try_into()
}

fn starts_to_wire(starts: &[Canonical]) -> Vec<String> {
    starts.iter().map(|board| board.as_str().to_owned()).collect()
}

fn starts_from_wire(spellings: Vec<String>) -> Result<Vec<Canonical>, WireError> {
    let spellings = list("start_boards", spellings, board::anneal::MAX_STARTS)?;
    spellings
        .iter()
        .map(|spelling| start_from_wire(spelling))
        .collect()
}

fn start_from_wire(spelling: &str) -> Result<Canonical, WireError> {
    Canonical::parse(spelling).map_err(|error| WireError::StartBoard {
        spelling: cut(spelling, 100),
        reason: error.to_string(),
    })
}

impl From<&Counters> for v1::JobCounters {
    fn from(counters: &Counters) -> v1::JobCounters {
        v1::JobCounters {
            iterations: counters.iterations,
            legal: counters.legal,
            clusters: counters.clusters,
            solvable: counters.solvable,
            too_large: counters.too_large,
            positions: counters.positions,
            accepted: counters.accepted,
            duplicates: counters.duplicates,
            found: counters.found,
        }
    }
}

impl TryFrom<v1::JobCounters> for Counters {
    type Error = WireError;

    fn try_from(wire: v1::JobCounters) -> Result<Counters, WireError> {
        Ok(Counters {
            iterations: count("iterations", wire.iterations)?,
            legal: count("legal", wire.legal)?,
            clusters: count("clusters", wire.clusters)?,
            solvable: count("solvable", wire.solvable)?,
            too_large: count("too_large", wire.too_large)?,
            positions: count("positions", wire.positions)?,
            accepted: count("accepted", wire.accepted)?,
            duplicates: count("duplicates", wire.duplicates)?,
            found: count("found", wire.found)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> BoardSpace {
        BoardSpace::usual(Lot::new(6, 6).unwrap()).unwrap()
    }

    fn frame() -> Frame {
        Frame {
            seed: u64::MAX - 1,
            n_shards: 8,
            iterations_per_shard: 100,
            max_states: 1_000_000,
        }
    }

    #[test]
    fn specifications_survive_the_wire() {
        let scatter = JobSpec::Scatter(ScatterSpec::new(space(), frame()).unwrap());
        let anneal = JobSpec::Anneal(
            AnnealSpec::new(
                space(),
                frame(),
                Vec::new(),
                Temperatures {
                    first: 3_000,
                    last: 10,
                },
            )
            .unwrap(),
        );
        let starts = vec![Canonical::parse("BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo").unwrap()];
        let sweep = JobSpec::Sweep(SweepSpec::new(space(), starts, 1, 20_000).unwrap());
        for spec in [scatter, anneal, sweep] {
            assert_eq!(JobSpec::try_from(v1::JobSpec::from(&spec)), Ok(spec));
        }
    }

    #[test]
    fn specifications_out_of_bounds_are_refused() {
        let good = v1::JobSpec::from(&JobSpec::Scatter(ScatterSpec::new(space(), frame()).unwrap()));
        let spoiled = |spoil: fn(&mut v1::JobSpec)| {
            let mut wire = good.clone();
            spoil(&mut wire);
            JobSpec::try_from(wire)
        };
        assert!(spoiled(|_| ()).is_ok());
        assert!(spoiled(|wire| wire.n_shards = 0).is_err());
        assert!(spoiled(|wire| wire.iterations_per_shard = u32::MAX).is_err());
        assert!(spoiled(|wire| wire.max_states = 0).is_err());
        assert!(spoiled(|wire| wire.kind = None).is_err());
        assert!(spoiled(|wire| scatter_space(wire).lot_width = 70_000).is_err());
        assert!(spoiled(|wire| scatter_space(wire).exit_row = 6).is_err());
        assert!(spoiled(|wire| scatter_space(wire).vehicles = None).is_err());
        assert!(spoiled(|wire| scatter_space(wire).lengths.clear()).is_err());
    }

    fn scatter_space(wire: &mut v1::JobSpec) -> &mut v1::BoardSpace {
        match &mut wire.kind {
            Some(v1::job_spec::Kind::Scatter(scatter)) => scatter.space.as_mut().unwrap(),
            _ => panic!("not a scatter job"),
        }
    }
}
