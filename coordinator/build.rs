//! Keeps ordinary builds from asking a database: queries are checked against the committed answers in `.sqlx`, also
//! when `DATABASE_URL` is set for tests. `.ci/sqlx-prepare` sets `PARFORCE_SQLX_PREPARE` to write those answers anew.

use std::env;

fn main() {
    println!("cargo::rerun-if-env-changed=PARFORCE_SQLX_PREPARE");
    println!("cargo::rerun-if-changed=../migrations");
    println!("cargo::rerun-if-changed=.sqlx");
    if env::var_os("PARFORCE_SQLX_PREPARE").is_none() {
        println!("cargo::rustc-env=SQLX_OFFLINE=true");
    }
}
