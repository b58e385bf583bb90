//! Jobs over jams, and the jams they find.

use siren::generate::template::{Features, Range, Template};
use siren::generate::{MAX_ATTEMPTS, Tally};
use siren::job::{JamJob, MAX_SEEDS};
use siren::pieces::Model;
use siren::proof::StatedJam;

use super::{MAX_JAM_BYTES, MAX_JAM_SPELLING_BYTES, WireError, list, small};
use crate::v1;

pub(super) fn to_wire(jam: StatedJam) -> v1::FoundJam {
    v1::FoundJam {
        seed: jam.seed,
        par: jam.par,
        canonical: jam.canonical,
        level: jam.level,
    }
}

pub(super) fn from_wire(wire: v1::FoundJam) -> Result<StatedJam, WireError> {
    let bounded = |field, text: String, high| {
        if text.len() > high {
            return Err(WireError::Length {
                field,
                len: text.len(),
                unit: "bytes",
                low: 0,
                high,
            });
        }
        Ok(text)
    };
    Ok(StatedJam {
        seed: wire.seed,
        par: wire.par,
        canonical: bounded("canonical", wire.canonical, MAX_JAM_SPELLING_BYTES)?,
        level: bounded("level", wire.level, MAX_JAM_BYTES)?,
    })
}

pub(super) fn job_to_wire(job: &JamJob) -> v1::JobSpec {
    let n_seeds = u32::try_from(job.seeds().len()).expect("a job has at most 64 seeds");
    v1::JobSpec {
        seed: job.seeds()[0],
        n_shards: n_seeds,
        iterations_per_shard: MAX_ATTEMPTS,
        max_states: 0,
        kind: Some(v1::job_spec::Kind::Siren(v1::SirenSpec {
            template: Some(template_to_wire(job.template())),
            seeds: job.seeds().to_vec(),
        })),
    }
}

pub(super) fn job_from_wire(wire: v1::SirenSpec) -> Result<JamJob, WireError> {
    let template = template_from_wire(wire.template.ok_or(WireError::Missing("template"))?)?;
    Ok(JamJob::new(template, list("seeds", wire.seeds, MAX_SEEDS)?)?)
}

fn template_to_wire(template: &Template) -> v1::JamTemplate {
    let range = |range: Range| {
        Some(v1::Range {
            first: range.from,
            last: range.to,
        })
    };
    let features = template.features;
    v1::JamTemplate {
        width: template.width.into(),
        height: template.height.into(),
        unit: unit_to_wire(template.unit).into(),
        par: range(template.par),
        vehicles: range(template.vehicles),
        chain_depth: range(template.chain_depth),
        locked: range(template.locked),
        fullness_percent: range(template.fullness_percent),
        gap: range(template.gap),
        exits: template.exits.into(),
        features: Some(v1::JamFeatures {
            lights: features.lights.into(),
            crossings: features.crossings.into(),
            bridges: features.bridges.into(),
            wrecks: features.wrecks.into(),
            barricades: features.barricades.into(),
            planters: features.planters.into(),
            closed_sides: features.closed_sides.into(),
            closed_exits: features.closed_exits.into(),
        }),
    }
}

fn template_from_wire(wire: v1::JamTemplate) -> Result<Template, WireError> {
    // Figures of a lot of 144 squares; beyond a million, sums of them could overflow.
    let range = |field, range: Option<v1::Range>| {
        let range = range.ok_or(WireError::Missing(field))?;
        let within = |value| super::within(field, value, 0, 1_000_000);
        Ok::<_, WireError>(Range::new(within(range.first)?, within(range.last)?))
    };
    let features = wire.features.unwrap_or_default();
    Ok(Template {
        width: small("width", wire.width)?,
        height: small("height", wire.height)?,
        unit: unit_from_wire(wire.unit)?,
        par: range("par", wire.par)?,
        vehicles: range("vehicles", wire.vehicles)?,
        chain_depth: range("chain_depth", wire.chain_depth)?,
        locked: range("locked", wire.locked)?,
        fullness_percent: range("fullness_percent", wire.fullness_percent)?,
        gap: range("gap", wire.gap)?,
        exits: small("exits", wire.exits)?,
        features: Features {
            lights: small("lights", features.lights)?,
            crossings: small("crossings", features.crossings)?,
            bridges: small("bridges", features.bridges)?,
            wrecks: small("wrecks", features.wrecks)?,
            barricades: small("barricades", features.barricades)?,
            planters: small("planters", features.planters)?,
            closed_sides: small("closed_sides", features.closed_sides)?,
            closed_exits: small("closed_exits", features.closed_exits)?,
        },
    })
}

fn unit_to_wire(unit: Model) -> v1::JamUnit {
    match unit {
        Model::Ambulance => v1::JamUnit::Ambulance,
        Model::FireEngine => v1::JamUnit::FireEngine,
        Model::PoliceCar => v1::JamUnit::PoliceCar,
    }
}

fn unit_from_wire(value: i32) -> Result<Model, WireError> {
    match v1::JamUnit::try_from(value) {
        Ok(v1::JamUnit::Ambulance) => Ok(Model::Ambulance),
        Ok(v1::JamUnit::FireEngine) => Ok(Model::FireEngine),
        Ok(v1::JamUnit::PoliceCar) => Ok(Model::PoliceCar),
        Ok(v1::JamUnit::Unspecified) | Err(_) => Err(WireError::UnknownValue { field: "unit", value }),
    }
}

/// What became of a job's attempts, as the counters that all kinds of job share; see `JobCounters` in the contract.
pub fn jam_counters(tally: Tally, n_found: u64) -> board::job::Counters {
    board::job::Counters {
        iterations: tally.attempts.into(),
        legal: (tally.attempts - tally.stuck).into(),
        solvable: tally.survived.into(),
        accepted: tally.in_range.into(),
        found: n_found,
        ..board::job::Counters::default()
    }
}

/// What the counters of a siren job say of its attempts; `None`: no attempts can have such counters.
pub fn jam_tally(counters: &board::job::Counters) -> Option<Tally> {
    let few = |count: u64| u32::try_from(count).ok();
    let (attempts, legal) = (few(counters.iterations)?, few(counters.legal)?);
    let (survived, in_range) = (few(counters.solvable)?, few(counters.accepted)?);
    Some(Tally {
        attempts,
        stuck: attempts.checked_sub(legal)?,
        rejected: legal.checked_sub(survived)?,
        survived,
        in_range,
    })
}

#[cfg(test)]
mod tests {
    use siren::plan::{Plan, SHIPPED_PLAN};

    use super::*;
    use crate::convert::Work;

    #[test]
    fn every_level_of_the_shipped_plan_survives_the_wire() {
        for level in Plan::parse(SHIPPED_PLAN).unwrap().levels() {
            let work = Work::Jams(JamJob::new(level.template, level.seeds.to_vec()).unwrap());
            assert_eq!(Work::try_from(v1::JobSpec::from(&work)), Ok(work));
        }
    }

    #[test]
    fn jobs_out_of_bounds_are_refused() {
        let level = Plan::parse(SHIPPED_PLAN).unwrap().levels().remove(0);
        let good = job_to_wire(&JamJob::new(level.template, vec![1, 2]).unwrap());
        let spoiled = |spoil: fn(&mut v1::SirenSpec, &mut v1::JamTemplate)| {
            let Some(v1::job_spec::Kind::Siren(mut siren)) = good.clone().kind else {
                panic!("not a siren job")
            };
            let mut template = siren.template.take().unwrap();
            spoil(&mut siren, &mut template);
            siren.template = Some(template);
            job_from_wire(siren)
        };
        assert!(spoiled(|_, _| ()).is_ok());
        assert!(spoiled(|siren, _| siren.seeds.clear()).is_err());
        assert!(spoiled(|siren, _| siren.seeds = vec![7, 7]).is_err());
        assert!(spoiled(|siren, _| siren.seeds = (0..65).collect()).is_err());
        assert!(spoiled(|_, template| template.width = 300).is_err());
        assert!(spoiled(|_, template| template.width = 13).is_err());
        assert!(spoiled(|_, template| template.unit = 9).is_err());
        assert!(spoiled(|_, template| template.par = None).is_err());
        assert!(spoiled(|_, template| template.par = Some(v1::Range { first: 9, last: 8 })).is_err());
        assert!(
            spoiled(|_, template| template.gap = Some(v1::Range {
                first: 0,
                last: u32::MAX
            }))
            .is_err()
        );
    }

    #[test]
    fn jams_out_of_bounds_are_refused() {
        let jam = StatedJam {
            seed: u64::MAX,
            par: 9,
            canonical: "3x3:...".to_owned(),
            level: "{}".to_owned(),
        };
        assert_eq!(from_wire(to_wire(jam.clone())), Ok(jam.clone()));
        let long = |length| "x".repeat(length);
        assert!(
            from_wire(v1::FoundJam {
                level: long(MAX_JAM_BYTES + 1),
                ..to_wire(jam.clone())
            })
            .is_err()
        );
        let spelled = v1::FoundJam {
            canonical: long(MAX_JAM_SPELLING_BYTES + 1),
            ..to_wire(jam)
        };
        assert!(from_wire(spelled).is_err());
    }

    #[test]
    fn attempts_are_read_back_from_the_counters() {
        let tally = Tally {
            attempts: 90,
            stuck: 40,
            rejected: 30,
            survived: 20,
            in_range: 4,
        };
        assert_eq!(jam_tally(&jam_counters(tally, 6)), Some(tally));
        let more_than_all = board::job::Counters {
            legal: 91,
            ..jam_counters(tally, 6)
        };
        assert_eq!(jam_tally(&more_than_all), None);
    }
}
