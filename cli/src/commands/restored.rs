//! `parforce restored`: to be said once, after a backup was put in the place of a farm's database.

use std::io::Write;

use super::{DatabaseArguments, Outcome};
use crate::output::counted;
use crate::store::OpenStore;

/// Tell a farm that its database was restored from a backup.
///
/// Workers may hold leases that were granted after the backup was made, and that the database has forgotten. This takes back
/// the leases that it does know, and lets numbers of jobs and tokens of leases go on from far above those that were given
/// out, so that nothing of before is taken for something of after. Boards that workers still have are stored all the same.
/// Say it after the backup is in place and before a coordinator starts; said twice, it does no harm.
///
/// Examples:
///   pg_restore --dbname parforce farm.dump
///   parforce restored --database-url postgres://parforce@db.example/parforce
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let taken_back = store.wait(store.store.begin_after_restore());
    store.close()?;
    let n_leases = taken_back?;
    writeln!(
        std::io::stdout(),
        "{} taken back; jobs and leases go on under new numbers",
        counted(n_leases, "lease")
    )?;
    Ok(Outcome::Done)
}
