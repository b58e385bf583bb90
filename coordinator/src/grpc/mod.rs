//! The doors for workers and operators. Messages become types here through [`proto::convert`], errors become statuses
//! through [`CallError`], and nothing else happens.

pub mod farm;
pub mod operator;
mod status;
mod under_way;

pub use status::CallError;
