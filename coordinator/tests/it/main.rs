//! The coordinator against a real Postgres. `DATABASE_URL` names a server; each test gets a database of its own there.

mod boards;
mod doors;
mod fixture;
mod hunts;
mod leases;
mod schema;
mod submits;
