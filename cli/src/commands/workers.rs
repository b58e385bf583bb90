//! `parforce workers`: who searches.

use std::io::Write;

use coordinator::store::{StoreError, WorkerAction, WorkerQuery, WorkerRecord};
use proto::convert::Directive;
use serde::Serialize;

use super::{DatabaseArguments, Outcome, instant, watched};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::store::OpenStore;

/// List the workers: those that are there, busy or idle, or with --all also those that have gone; or act on one.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "\
Examples:
  parforce workers --all --json
  parforce workers drain node-3
  parforce workers quarantine node-3 --reason \"memory errors\"",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Also those that have gone
    #[arg(long)]
    all: bool,
    /// Show the list again and again, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Let it finish what it has and take no more
    Drain(Which),
    /// Let it give back what it has and end
    Stop(Which),
    /// Let it take jobs again
    Run(Which),
    /// Give it nothing until it is trusted again
    Quarantine(Quarantine),
    /// Trust it again; its strikes are forgotten
    Trust(Which),
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Its name; all workers of this name that are there
    name: String,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct Quarantine {
    #[command(flatten)]
    which: Which,
    /// Why, for its page and the events
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

fn act(action: &Action) -> anyhow::Result<Outcome> {
    let (which, action, done) = match action {
        Action::Drain(which) => (which, WorkerAction::Direct(Directive::Drain), "told to drain"),
        Action::Stop(which) => (which, WorkerAction::Direct(Directive::Stop), "told to stop"),
        Action::Run(which) => (which, WorkerAction::Direct(Directive::Run), "told to run"),
        Action::Trust(which) => (which, WorkerAction::Trust, "trusted"),
        Action::Quarantine(Quarantine { which, reason }) => {
            (which, WorkerAction::Quarantine(reason.clone()), "quarantined")
        }
    };
    let store = OpenStore::open(&which.database)?;
    let n_workers = store.wait(async {
        let query = WorkerQuery {
            name: Some(which.name.clone()),
            ..WorkerQuery::default()
        };
        let mut n_workers = 0;
        for worker in store.store.worker_lines(&query).await? {
            if worker.name == which.name && store.store.act_on_worker(worker.id, &action).await? {
                n_workers += 1;
            }
        }
        Ok::<_, StoreError>(n_workers)
    })?;
    store.close()?;
    if n_workers == 0 {
        say!("parforce: there is no worker {:?}", which.name);
        return Ok(Outcome::Refused);
    }
    writeln!(std::io::stdout(), "{}: {done}", which.name)?;
    Ok(Outcome::Done)
}

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    incarnation: String,
    /// live, gone or quarantined.
    state: &'static str,
    engine: String,
    program_version: String,
    slots: u32,
    threads: u32,
    cpu: String,
    leases: u64,
    boards_new: u64,
    strikes: u32,
    quarantine_reason: Option<String>,
    first_seen: String,
    last_seen: String,
}

impl From<WorkerRecord> for Listed {
    fn from(worker: WorkerRecord) -> Listed {
        Listed {
            state: worker.state(),
            name: worker.name,
            incarnation: worker.incarnation.to_string(),
            engine: worker.engine,
            program_version: worker.program_version,
            slots: worker.n_slots,
            threads: worker.n_threads,
            cpu: worker.cpu,
            leases: worker.n_leases,
            boards_new: worker.n_new,
            strikes: worker.strikes,
            quarantine_reason: worker.quarantine_reason,
            first_seen: instant(worker.first_seen),
            last_seen: instant(worker.last_seen),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(action) = &arguments.action {
        return act(action);
    }
    let store = OpenStore::open(&arguments.database)?;
    watched(arguments.watch, &store, || {
        print(
            store.wait(store.store.list_workers(arguments.all))?,
            arguments.json,
        )
    })?;
    store.close()?;
    Ok(Outcome::Done)
}

fn print(workers: Vec<WorkerRecord>, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let listed = workers.into_iter().map(Listed::from);
    if json {
        for worker in listed {
            writeln!(out, "{}", serde_json::to_string(&worker)?)?;
        }
        return Ok(());
    }
    let mut table = Table::new(&[
        ("worker", Align::Left),
        ("state", Align::Left),
        ("threads", Align::Right),
        ("jobs", Align::Right),
        ("new boards", Align::Right),
        ("strikes", Align::Right),
        ("version", Align::Left),
        ("last seen", Align::Left),
    ]);
    for worker in listed {
        table.row(vec![
            worker.name,
            worker.state.to_owned(),
            worker.threads.to_string(),
            worker.leases.to_string(),
            thousands(worker.boards_new),
            worker.strikes.to_string(),
            worker.program_version,
            worker.last_seen,
        ]);
    }
    if table.is_empty() {
        writeln!(out, "no workers")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(())
}
