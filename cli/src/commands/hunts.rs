//! `parforce hunts`: what was hunted, and how far each hunt is.

use std::io::Write;

use coordinator::store::{HuntProgress, HuntRecord};
use serde::Serialize;

use super::{DatabaseArguments, Outcome, instant};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::store::OpenStore;

/// List the hunts in the database.
///
/// Example:
///   parforce hunts --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, Serialize)]
struct Listed {
    id: i64,
    name: String,
    state: &'static str,
    strategy: &'static str,
    lot: String,
    /// A string: not every reader of JSON takes 64 bits.
    seed: String,
    priority: i32,
    boards_new: u64,
    boards_known: u64,
    best_par: Option<u16>,
    jobs_done: u64,
    jobs_leased: u64,
    jobs_queued: u64,
    jobs_parked: u64,
    created_at: String,
    ended_at: Option<String>,
}

impl Listed {
    fn new(hunt: HuntRecord, progress: &HuntProgress) -> Listed {
        Listed {
            id: hunt.id.get(),
            name: hunt.name,
            state: hunt.state.as_str(),
            strategy: hunt.strategy.as_str(),
            lot: hunt.space.lot().to_string(),
            seed: hunt.seed.to_string(),
            priority: hunt.priority,
            boards_new: progress.n_new,
            boards_known: progress.n_known,
            best_par: progress.best_par.map(board::Par::get),
            jobs_done: progress.jobs_done,
            jobs_leased: progress.jobs_leased,
            jobs_queued: progress.jobs_queued,
            jobs_parked: progress.jobs_parked,
            created_at: instant(hunt.created_at),
            ended_at: hunt.ended_at.map(instant),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let listed = store.wait(async {
        let mut listed = Vec::new();
        for hunt in store.store.list_hunts().await? {
            if let Some(progress) = store.store.hunt_progress(hunt.id).await? {
                listed.push(Listed::new(hunt, &progress));
            }
        }
        anyhow::Ok(listed)
    })?;
    store.close()?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for hunt in &listed {
            writeln!(out, "{}", serde_json::to_string(hunt)?)?;
        }
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("id", Align::Right),
        ("hunt", Align::Left),
        ("state", Align::Left),
        ("new boards", Align::Right),
        ("best par", Align::Right),
        ("jobs done", Align::Right),
        ("waiting", Align::Right),
        ("parked", Align::Right),
        ("since", Align::Left),
    ]);
    for hunt in listed {
        table.row(vec![
            hunt.id.to_string(),
            hunt.name,
            hunt.state.to_owned(),
            thousands(hunt.boards_new),
            hunt.best_par.map_or(String::from("-"), |par| par.to_string()),
            thousands(hunt.jobs_done),
            thousands(hunt.jobs_queued + hunt.jobs_leased),
            thousands(hunt.jobs_parked),
            hunt.created_at,
        ]);
    }
    let nothing = "no hunts yet: begin with `parforce hunt`";
    if table.is_empty() {
        writeln!(out, "{nothing}")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(Outcome::Done)
}
