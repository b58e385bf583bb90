//! The self-test before the first lease: golden boards, whose answers are proved elsewhere, and one seeded job.
//!
//! A machine with bad memory, or a build gone wrong, shows here and not in the database.

use board::anneal::{AnnealSpec, Temperatures};
use board::cluster::Explorer;
use board::job::{Frame, JobDigest, JobSpec};
use board::space::BoardSpace;
use board::{Board, Lot, StateLimit};
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

/// The digest of the seeded job under [`board::ENGINE`], written down once.
const SEEDED_JOB: [u8; 16] = 0x5272_0f46_ab57_b01f_49ac_1927_5f49_227d_u128.to_be_bytes();

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
    /// The seeded job has another digest.
    #[error("self-test: the seeded job has digest {actual}, expected {expected}")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_engine_passes() {
        // A digest printed here that is meant to have changed belongs in SEEDED_JOB, with a new board::ENGINE.
        assert_eq!(
            run().map_err(|error| error.to_string()),
            Ok(JobDigest::from_bytes(SEEDED_JOB))
        );
    }
}
