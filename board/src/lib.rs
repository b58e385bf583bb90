//! Sliding boards: legal positions, exact search, clusters and canonical spelling.
//!
//! Everything here is a pure function of its arguments: no input or output, no clock, no threads of its own,
//! the same answer on every machine. A tour, from a text to the row that a farm keeps of it:
//!
//! ```
//! use board::{Board, Canonical, StateLimit, cluster::Explorer, draw, plain, solve};
//!
//! // A text becomes a `Board`, which is legal, or an error that says what is wrong with it, and where.
//! let bent = Board::parse("BB.. B... AA.. ....".replace(' ', "\n").as_str()).unwrap_err();
//! assert_eq!(bent.to_string(), "vehicle B is not straight, row 2, column 1 is out of line");
//! let board = Board::parse("..Z...\n..Z...\nAAZB..\n...B..\n......\n......")?;
//! assert_eq!(board.to_string(), "ooZoooooZoooAAZBoooooBoooooooooooooo");
//!
//! // Its par is the fewest slides until the hero `A` reaches the right edge. Answers use the letters given.
//! let answer = solve::solve(&board, StateLimit::DEFAULT)?;
//! let slides: Vec<String> = answer.solution.iter().map(|&slide| board.spell_slide(slide)).collect();
//! assert_eq!(slides, ["B+1", "Z+3", "A+4"]);
//! assert_eq!((answer.par.unwrap().get(), answer.steps), (3, 8));
//!
//! // Its cluster is every position reachable from it; the hardest of them stands for all.
//! let mut explorer = Explorer::new();
//! let cluster = explorer.explore(&board, StateLimit::DEFAULT)?;
//! assert_eq!(cluster.histogram, [20, 21, 13, 6]);
//! let found = explorer.entry(&board, StateLimit::DEFAULT)?.expect("the board is solvable");
//! assert_eq!(found.canonical.as_str(), "ooBoooooBCooAABCoooooooooooooooooooo");
//!
//! // A canonical spelling is a type of its own, and reads back as the board it was made from.
//! assert_eq!(Canonical::parse("ooBoooooBCooAABCoooooooooooooooooooo")?, found.canonical);
//! assert_eq!(found.canonical.board().canonical(), found.canonical);
//!
//! // Beside every fast search stands a slow and plain one, for tests to compare it with.
//! assert_eq!(plain::cluster(&board).histogram, cluster.histogram);
//!
//! // And boards can be looked at.
//! println!("{}", draw::text(&board, draw::Style::Plain));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where to read on: [`spelling`] and [`Board`] for what is legal, [`solve`] for lots up to 16x16, [`cluster`]
//! for the fast engine of lots up to 8x8, [`job`] for what a farm's workers run.

pub mod anneal;
mod board;
pub mod canonical;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "lanes hold at most 8 squares and 15 arrangements, words 64 bits: each cast is of a number that fits"
)]
pub mod census;
#[expect(
    clippy::cast_possible_truncation,
    reason = "lanes hold at most 8 squares and 15 arrangements, words 64 bits: each cast is of a number that fits"
)]
#[expect(
    clippy::inline_always,
    clippy::needless_range_loop,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref,
    reason = "the hot loops: measured in instructions, see docs/engine.md"
)]
pub mod cluster;
pub mod difficulty;
pub mod draw;
mod finds;
pub mod geometry;
pub mod hopeless;
pub mod job;
pub mod known;
#[expect(
    clippy::cast_possible_truncation,
    reason = "lanes hold at most 8 squares and 15 arrangements, words 64 bits: each cast is of a number that fits"
)]
pub mod lane;
#[expect(
    clippy::cast_possible_truncation,
    reason = "lanes hold at most 8 squares and 15 arrangements, words 64 bits: each cast is of a number that fits"
)]
pub mod layout;
pub mod mutate;
pub mod pack;
#[expect(
    clippy::cast_possible_truncation,
    reason = "lanes hold at most 8 squares and 15 arrangements, words 64 bits: each cast is of a number that fits"
)]
pub mod packed;
pub mod par;
mod places;
pub mod plain;
pub mod scatter;
pub mod slide;
pub mod solve;
pub mod space;
pub mod spelling;
pub mod stream;
pub mod sweep;
pub mod tally;
pub mod vehicle;

pub use board::{Board, BoardError, LETTERS, MAX_VEHICLES, MIN_VEHICLE_LENGTH};
pub use canonical::{Canonical, CanonicalError};
pub use geometry::{Axis, Lot, LotError, Squares};
pub use par::{Par, StateLimit};
pub use slide::{Slide, SlideError};
pub use spelling::{Exit, Place, SpellingError};
pub use vehicle::Vehicle;

/// The version of everything that decides a job's result, part of every job's identity.
///
/// It changes whenever the same specification could give another result.
pub const ENGINE: &str = "parforce-2";

/// What a worker's self-test must come to under [`ENGINE`] before anything is leased to it: the digest of its seeded job,
/// written down once. The worker runs it; the coordinator knows this.
pub const SELF_TEST: [u8; 16] = 0x5272_0f46_ab57_b01f_49ac_1927_5f49_227d_u128.to_be_bytes();
