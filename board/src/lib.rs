//! Sliding boards: legal positions, exact search, clusters and canonical spelling.

pub mod anneal;
mod board;
pub mod canonical;
pub mod census;
pub mod cluster;
pub mod difficulty;
pub mod draw;
mod finds;
pub mod geometry;
pub mod hopeless;
pub mod job;
pub mod lane;
pub mod layout;
pub mod mutate;
pub mod pack;
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
pub const ENGINE: &str = "parforce-1";
