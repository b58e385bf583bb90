//! Siren jams: the rules, exact solutions, hints, generation.

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
pub mod level;
pub mod lights;
pub mod lot;
pub mod measure;
pub mod pieces;
pub mod plan;
pub mod random;
pub mod rating;
pub mod sample;
pub mod simulate;
pub mod symmetry;
