//! Difficulty jobs: the boards to measure, and the measures.

use board::Par;
use board::canonical::Canonical;
use board::difficulty::job::{DifficultyJob, MAX_BOARDS, Measured};
use board::difficulty::{Difficulty, MOST_SOLUTIONS};
use board::job::Frame;

use super::{WireError, cut, list, small};
use crate::v1;

impl From<&DifficultyJob> for v1::DifficultySpec {
    fn from(job: &DifficultyJob) -> v1::DifficultySpec {
        v1::DifficultySpec {
            boards: job
                .boards()
                .iter()
                .map(|board| board.as_str().to_owned())
                .collect(),
        }
    }
}

pub(super) fn job_from_wire(wire: v1::DifficultySpec, frame: Frame) -> Result<DifficultyJob, WireError> {
    let boards = list("boards", wire.boards, MAX_BOARDS)?
        .iter()
        .map(|spelling| {
            Canonical::parse(spelling).map_err(|error| WireError::StartBoard {
                spelling: cut(spelling, 100),
                reason: error.to_string(),
            })
        })
        .collect::<Result<_, WireError>>()?;
    Ok(DifficultyJob::new(boards, frame.n_shards, frame.max_states)?)
}

pub(super) fn measures_to_wire(measured: &[Measured]) -> v1::Measures {
    let one = |measured: &Measured| {
        let d = &measured.difficulty;
        v1::BoardMeasures {
            board_idx: measured.board_idx,
            par: d.par.get().into(),
            states: d.n_states,
            solutions: d.n_solutions,
            way_positions: d.n_way_positions,
            way_slides: d.n_way_slides,
            right_slides: d.n_right_slides,
            against: d.n_against,
            movers: d.n_movers,
            repeat_movers: d.n_repeat_movers,
            dead_ends: d.n_dead_ends,
            unsolved: d.n_unsolved,
            luck_tenths: d.luck_tenths,
        }
    };
    v1::Measures {
        boards: measured.iter().map(one).collect(),
    }
}

pub(super) fn measures_from_wire(wire: v1::Measures) -> Result<Vec<Measured>, WireError> {
    list("measures", wire.boards, MAX_BOARDS)?
        .into_iter()
        .map(one_from_wire)
        .collect()
}

/// Measures within the bounds that each has of itself; whether they are the board's is for the coordinator to prove.
fn one_from_wire(wire: v1::BoardMeasures) -> Result<Measured, WireError> {
    let at_most = |field, value: u64, high: u64| {
        if value <= high {
            return Ok(value);
        }
        Err(WireError::OutOfRange {
            field,
            value: value.into(),
            low: 0,
            high: high.into(),
        })
    };
    let difficulty = Difficulty {
        par: Par::new(small("measures.par", wire.par)?),
        n_states: at_most("measures.states", wire.states, u64::from(u32::MAX))?,
        n_solutions: at_most("measures.solutions", wire.solutions, MOST_SOLUTIONS)?.max(1),
        n_way_positions: at_most("measures.way_positions", wire.way_positions, wire.states)?,
        n_way_slides: at_most("measures.way_slides", wire.way_slides, u64::from(u32::MAX))?,
        n_right_slides: at_most("measures.right_slides", wire.right_slides, wire.way_slides)?,
        n_against: super::within("measures.against", wire.against, 0, wire.par)?,
        n_movers: super::within("measures.movers", wire.movers, 0, 64)?,
        n_repeat_movers: super::within("measures.repeat_movers", wire.repeat_movers, 0, wire.movers)?,
        n_dead_ends: at_most("measures.dead_ends", wire.dead_ends, wire.unsolved)?,
        n_unsolved: at_most("measures.unsolved", wire.unsolved, wire.states)?,
        luck_tenths: super::within("measures.luck_tenths", wire.luck_tenths, 0, 10_000_000)?,
    };
    Ok(Measured {
        board_idx: wire.board_idx,
        difficulty,
    })
}

#[cfg(test)]
mod tests {
    use board::cluster::Explorer;
    use board::job::JobSpec;

    use super::*;

    fn spec() -> JobSpec {
        let board = |spelling: &str| Canonical::parse(spelling).unwrap();
        let boards = vec![board("ooooAABoooBooooo"), board("ooBoAABooooooooo")];
        JobSpec::Difficulty(DifficultyJob::new(boards, 2, 1_000).unwrap())
    }

    #[test]
    fn difficulty_jobs_survive_the_wire() {
        assert_eq!(JobSpec::try_from(v1::JobSpec::from(&spec())), Ok(spec()));
    }

    #[test]
    fn measures_survive_the_wire() {
        let measured = spec().run(&mut Explorer::new()).measured;
        assert_eq!(measured.len(), 2);
        assert_eq!(measures_from_wire(measures_to_wire(&measured)), Ok(measured));
    }

    #[test]
    fn measures_that_cannot_be_are_refused() {
        let spoiled = |spoil: fn(&mut v1::BoardMeasures)| {
            let mut wire = measures_to_wire(&spec().run(&mut Explorer::new()).measured);
            spoil(&mut wire.boards[1]);
            measures_from_wire(wire)
        };
        assert!(spoiled(|_| ()).is_ok());
        assert!(spoiled(|wire| wire.dead_ends = wire.unsolved + 1).is_err());
        assert!(spoiled(|wire| wire.right_slides = wire.way_slides + 1).is_err());
        assert!(spoiled(|wire| wire.repeat_movers = wire.movers + 1).is_err());
        assert!(spoiled(|wire| wire.par = 70_000).is_err());
    }

    #[test]
    fn boards_that_are_none_are_refused() {
        let mut wire = v1::JobSpec::from(&spec());
        let Some(v1::job_spec::Kind::Difficulty(difficulty)) = &mut wire.kind else {
            panic!("not a difficulty job")
        };
        difficulty.boards[0] = "nonsense".to_owned();
        assert!(JobSpec::try_from(wire).is_err());
    }
}
