//! Siren jams: a unit boxed in on a jammed lot, freed by tapping the other pieces away in the right order.
//!
//! The crate decides what is legal, what is shortest and what is fit to ship. It is pure: no files, threads, clock or
//! ambient random numbers; the same input gives the same bytes everywhere. The rules are in `docs/siren.md`.
//!
//! # The way of a level
//!
//! text → [`level::Level`] (of the right form) with a [`jam::Jam`] (legal) → [`blockers::Blockers`] (what stands in
//! whose way, once) → [`closure`] (cost and order of both escapes, with the swaps of [`lights`] and the [`cycles`]) →
//! [`hint`], [`rating`], [`check`]. The slow truth beside the fast one: [`simulate`] plays moves square by square,
//! [`exhaustive`] tries them all.
//!
//! The other way: a [`plan`] → templates → [`generate`] (a candidate for each seed) → [`campaign`] (the best for each
//! level) → text. Where many machines share the work, a [`job`] is the seeds of a level, and a [`proof`] judges what one of
//! them says it found.
//!
//! # A tour
//!
//! ```
//! use siren::blockers::Blockers;
//! use siren::closure::solve;
//! use siren::hint::{Hint, hint};
//! use siren::level::Level;
//! use siren::simulate::{Escape, State, replay};
//!
//! // The unit looks up; vehicle 1 stands before it and vehicle 2 behind it, which planter 3 keeps in for good.
//! let level = Level::parse(
//!     r#"{
//!       "format": 1,
//!       "name": "A tour",
//!       "lot": {"width": 4, "height": 4},
//!       "ring": {"exits": [{"side": "left", "index": 0, "open": true}]},
//!       "pieces": [
//!         {"kind": "unit", "model": "ambulance", "at": [1, 1], "size": [1, 2], "facing": "up"},
//!         {"kind": "vehicle", "at": [0, 0], "size": [2, 1], "facing": "right"},
//!         {"kind": "vehicle", "at": [1, 3], "size": [2, 1], "facing": "right"},
//!         {"kind": "planter", "at": [3, 3]},
//!         {"kind": "barricade", "at": [2, 0]}
//!       ]
//!     }"#,
//! )?;
//! let answer = solve(&level.jam);
//! assert_eq!(answer.cost(Escape::Forward), Some(2));
//! assert_eq!(answer.escapes[1].as_ref().unwrap_err().to_string(), "impossible: vehicle 2 faces planter 3");
//!
//! let optimum = answer.optimum().expect("forward can be cleared");
//! let moves: Vec<String> = optimum.actions.iter().map(ToString::to_string).collect();
//! assert_eq!(moves, ["tap 4", "tap 1"]);
//!
//! let end = replay(&level.jam, &optimum.actions).expect("a solution is legal");
//! assert!(end.is_clear(&level.jam, Escape::Forward));
//! let blockers = Blockers::new(&level.jam);
//! assert!(matches!(hint(&blockers, &State::start(&level.jam)), Hint::Play { moves_left: 2, .. }));
//! # Ok::<(), siren::level::LevelError>(())
//! ```

pub mod bits;
pub mod blockers;
pub mod campaign;
pub mod canonical;
pub mod check;
pub mod closure;
pub mod cycles;
pub mod draw;
pub mod exhaustive;
mod form;
pub mod generate;
pub mod hint;
pub mod jam;
pub mod job;
pub mod level;
pub mod lights;
pub mod lot;
pub mod measure;
pub mod pieces;
pub mod plan;
pub mod proof;
pub mod random;
pub mod rating;
pub mod sample;
pub mod simulate;
pub mod symmetry;

/// The version of everything that decides what a seed gives, part of every [`job`]'s digest.
///
/// It changes whenever the same template and seed could give another level, and with it the version that workers and
/// coordinators compare (`board::ENGINE`); the workers' self-test holds a job's digest.
pub const ENGINE: &str = "siren-1";
