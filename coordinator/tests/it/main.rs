//! The coordinator against a real Postgres. `DATABASE_URL` names a server; each test gets a database of its own there.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a panic is how a test fails"
)]

mod boards;
mod campaigns;
mod census;
mod difficulty;
mod doors;
mod fixture;
mod hunts;
mod leases;
mod outages;
mod parties;
mod reference;
mod schema;
mod shut;
mod start;
mod strategies;
mod submits;
mod trust;
