//! Packs of levels: how many levels of which par, which boards, and whether a pack is what it says.
//!
//! A pack is picked, not designed: [`Curve`] says which par each level should have, [`allot`] which par it gets given
//! what boards there are, [`choose`] which of the boards of a par are taken. All of it depends only on the boards, so
//! the same database gives the same pack. [`check`] knows none of this: it proves each level anew.
//!
//! Where boards come from, which ones are reserved and what a pack's file looks like is not known here.
//!
//! ```
//! use std::collections::BTreeMap;
//! use board::Par;
//! use board::pack::{Curve, allot};
//! // A database with boards enough of every par, but one board only of each of the two largest.
//! let there_are = (3..=51).map(|par| (Par::new(par), if par < 50 { 1000 } else { 1 })).collect();
//! let targets = Curve::FALLING.targets(200, Par::new(3), Par::new(51));
//! let levels = allot(&targets, &there_are).unwrap();
//! assert_eq!(levels[&Par::new(3)], 7);
//! assert_eq!([47, 48, 49, 50, 51].map(|par| levels[&Par::new(par)]), [2, 2, 2, 1, 1]);
//! ```

mod check;
mod curve;
mod select;

pub use check::{Fault, FaultKind, Level, Proved, check, check_level, check_together, entry};
pub use curve::{Curve, CurveError};
pub use select::{Candidate, NotEnough, allot, choose};
