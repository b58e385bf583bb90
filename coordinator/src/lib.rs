//! Hands out jobs, proves what comes back, keeps it in Postgres.
pub mod store;
