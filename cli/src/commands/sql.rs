//! `parforce sql`: psql on the database of the hunts.

use std::process::Command;

use anyhow::Context;

use super::{Database, DatabaseArguments, Outcome};
use crate::embedded::Access;

/// Tables come first: who asks so owns them. The views for analysts follow.
const SEARCH_PATH: &str = "public,analysis";

/// Ask the database in SQL: opens psql, or runs one query.
///
/// Names are those of the tables (schema public), then of the views for analysts (schema analysis, see docs/analysts.md).
/// Starts the private Postgres if it does not run, and stops it again at the end. Arguments after the query go to
/// psql as they are.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce sql
  parforce sql \"SELECT par, count(*) FROM boards GROUP BY par ORDER BY par\"
  parforce sql \"SELECT * FROM yield_by_hunt\"
  parforce sql \"SELECT 1\" -- --csv")]
pub(crate) struct Arguments {
    /// The query; without one, psql asks for more
    query: Option<String>,
    /// Arguments for psql
    #[arg(last = true, value_name = "PSQL ARGUMENTS")]
    psql: Vec<String>,
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let database = arguments.database.open(Access::OwnerOrGuest)?;
    let mut psql = match &database {
        Database::Given(url) => {
            let mut psql = Command::new("psql");
            psql.arg(url);
            psql
        }
        Database::Private(postgres) => {
            let (program, words) = postgres.psql();
            let mut psql = Command::new(program);
            psql.args(words);
            psql
        }
    };
    let options = std::env::var("PGOPTIONS").unwrap_or_default();
    psql.env("PGOPTIONS", format!("-c search_path={SEARCH_PATH} {options}"));
    psql.args(&arguments.psql);
    if let Some(query) = &arguments.query {
        psql.args(["-v", "ON_ERROR_STOP=1", "-c", query]);
    }
    let status = psql
        .status()
        .context("running psql (package postgresql-client)")?;
    database.close().context("stopping Postgres")?;
    Ok(if status.success() {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}
