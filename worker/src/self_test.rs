//! The self-test before the first lease: golden boards, whose answers are proved elsewhere, and one seeded job.
//!
//! A machine with bad memory, or a build gone wrong, shows here and not in the database.

use board::anneal::{AnnealSpec, Temperatures};
use board::cluster::Explorer;
use board::job::{Frame, JobDigest, JobSpec};
use board::space::BoardSpace;
use board::{Board, Lot, StateLimit};
use siren::generate::template::{Features, Range, Template};
use siren::job::JamJob;
use siren::pieces::Model;
use thiserror::Error;

/// What a golden board's cluster is known to be.
struct Golden {
    spelling: &'static str,
    par: u16,
    states: u64,
}

/// From the published database of 6x6 (M. Fogleman, 2018): its hardest boards without and with walls, and one of middling
/// par.
const GOLDEN: [Golden; 3] = [
    Golden {
        spelling: "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo",
        par: 51,
        states: 4_780,
    },
    Golden {
        spelling: "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM",
        par: 60,
        states: 2_332,
    },
    Golden {
        spelling: "oIBBxooIJDDoAAJoKoHEEoKLHooooLFFGGGL",
        par: 15,
        states: 8_945,
    },
];

/// The digest of the seeded job under [`board::ENGINE`]; the coordinator knows it too.
const SEEDED_JOB: [u8; 16] = board::SELF_TEST;

/// The digest of the seeded job over jams under [`siren::ENGINE`], written down once.
const SEEDED_JAMS: [u8; 16] = 0xb01f_d355_662d_69fe_4e06_b365_e47b_7884_u128.to_be_bytes();

/// Why this process must not search.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelfTestError {
    /// A golden board has another answer.
    #[error("self-test: golden board {board} has par and states {actual:?}, expected {expected:?}")]
    Golden {
        /// Its spelling.
        board: &'static str,
        /// What is known.
        expected: (u16, u64),
        /// What this process says.
        actual: Option<(u16, u64)>,
    },
    /// A seeded job has another digest.
    #[error("self-test: a seeded job has digest {actual}, expected {expected}")]
    SeededJob {
        /// What is known.
        expected: JobDigest,
        /// What this process says.
        actual: JobDigest,
    },
}

/// Runs the test, well under a second of one thread; the seeded job's digest.
///
/// # Errors
/// When an answer is not the known one.
pub fn run() -> Result<JobDigest, SelfTestError> {
    let mut explorer = Explorer::new();
    for golden in &GOLDEN {
        let expected = (golden.par, golden.states);
        let actual = explore(golden.spelling, &mut explorer);
        if actual != Some(expected) {
            return Err(SelfTestError::Golden {
                board: golden.spelling,
                expected,
                actual,
            });
        }
    }
    let expected = JobDigest::from_bytes(SEEDED_JOB);
    let actual = seeded_job().run(&mut explorer).digest;
    if actual != expected {
        return Err(SelfTestError::SeededJob { expected, actual });
    }
    let (expected_jams, jams) = (JobDigest::from_bytes(SEEDED_JAMS), seeded_jams().run());
    let actual_jams = JobDigest::from_bytes(jams.tally.digest());
    if actual_jams != expected_jams {
        return Err(SelfTestError::SeededJob {
            expected: expected_jams,
            actual: actual_jams,
        });
    }
    Ok(actual)
}

/// What this process says of a board: par of its cluster and number of positions.
fn explore(spelling: &str, explorer: &mut Explorer) -> Option<(u16, u64)> {
    let board = Board::parse(spelling).ok()?;
    let found = explorer.entry(&board, StateLimit::DEFAULT).ok()??;
    Some((found.par.get(), found.states))
}

/// A short climb over ordinary boards: it draws, changes, explores and spells, so a fault in any of them shows.
fn seeded_job() -> JobSpec {
    let space = BoardSpace::usual(Lot::ORDINARY).expect("the ordinary lot is no larger than a hunt can take");
    let frame = Frame {
        seed: 20_180_716,
        n_shards: 1,
        iterations_per_shard: 500,
        max_states: 5_000,
    };
    let spec = AnnealSpec::new(space, frame, Vec::new(), Temperatures::default());
    JobSpec::Anneal(spec.expect("the numbers above are within bounds"))
}

/// Two levels with a bit of everything: they are built, solved, scored and spelled.
fn seeded_jams() -> JamJob {
    let template = Template {
        width: 7,
        height: 8,
        unit: Model::Ambulance,
        par: Range::new(12, 14),
        vehicles: Range::new(18, 26),
        chain_depth: Range::new(3, 8),
        locked: Range::new(5, 12),
        fullness_percent: Range::new(70, 96),
        gap: Range::new(1, 6),
        exits: 3,
        features: Features {
            lights: 2,
            crossings: 1,
            bridges: 1,
            wrecks: 1,
            barricades: 1,
            planters: 1,
            closed_sides: 1,
            closed_exits: 1,
        },
    };
    JamJob::new(template, vec![20_260_101, 20_260_102]).expect("the template above makes sense")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_engine_passes() {
        // A digest printed here that is meant to have changed belongs in board::SELF_TEST, with a new board::ENGINE; that of the
        // jams in SEEDED_JAMS, with a new siren::ENGINE and a new board::ENGINE, since that is what is compared at the door.
        assert_eq!(
            run().map_err(|error| error.to_string()),
            Ok(JobDigest::from_bytes(SEEDED_JOB))
        );
    }
}
