//! `parforce jobs`: what hunts were cut into.

use std::io::Write;

use coordinator::store::{JobFilter, JobRecord, JobState};
use proto::ids::{HuntId, JobId};
use serde::Serialize;

use super::{DatabaseArguments, Outcome, UsageError, instant, watched};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::store::OpenStore;

/// List jobs, the newest first, or put parked ones back on the queue.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "\
Examples:
  parforce jobs --state parked
  parforce jobs requeue 17 18
  parforce jobs --hunt 1 --limit 20 --json",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// Only of this hunt
    #[arg(long, value_name = "ID")]
    hunt: Option<i64>,
    /// Only in this state: queued, leased, done, parked or cancelled
    #[arg(long, value_parser = parse_state)]
    state: Option<JobState>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
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
    /// Put parked jobs back on the queue, their failures forgotten
    Requeue(Requeue),
}

#[derive(Debug, clap::Args)]
struct Requeue {
    /// The jobs' numbers
    #[arg(required = true, value_name = "ID")]
    ids: Vec<i64>,
    #[command(flatten)]
    database: DatabaseArguments,
}

fn requeue(which: &Requeue) -> anyhow::Result<Outcome> {
    let ids = which
        .ids
        .iter()
        .map(|id| JobId::new(*id).map_err(|error| UsageError(error.to_string())));
    let ids: Vec<JobId> = ids.collect::<Result<_, _>>()?;
    let store = OpenStore::open(&which.database)?;
    let n_jobs = store.wait(store.store.requeue_jobs(&ids))?;
    store.close()?;
    writeln!(std::io::stdout(), "{n_jobs} of {} requeued", ids.len())?;
    if n_jobs == ids.len() as u64 {
        return Ok(Outcome::Done);
    }
    say!("parforce: the others are not parked, or their hunt is over");
    Ok(Outcome::Refused)
}

fn parse_state(text: &str) -> Result<JobState, String> {
    JobState::parse(text).ok_or_else(|| {
        let states = JobState::ALL.map(JobState::as_str).join(", ");
        format!("there is no such state, expected one of {states}")
    })
}

#[derive(Debug, Serialize)]
struct Listed {
    id: i64,
    hunt: i64,
    number: u64,
    kind: &'static str,
    state: &'static str,
    iterations: u64,
    clusters: u64,
    positions: u64,
    boards_new: u64,
    best_par: Option<u16>,
    failures: u32,
    engine: Option<String>,
    digest: Option<String>,
    created_at: String,
    ended_at: Option<String>,
}

impl From<JobRecord> for Listed {
    fn from(job: JobRecord) -> Listed {
        Listed {
            id: job.id.get(),
            hunt: job.hunt.get(),
            number: job.number,
            kind: job.spec.kind(),
            state: job.state.as_str(),
            iterations: job.spec.n_iterations(),
            clusters: job.counters.clusters,
            positions: job.counters.positions,
            boards_new: job.n_new,
            best_par: job.best_par.map(board::Par::get),
            failures: job.n_failures,
            engine: job.engine,
            digest: job.digest.map(|digest| digest.to_string()),
            created_at: instant(job.created_at),
            ended_at: job.ended_at.map(instant),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(Action::Requeue(which)) = &arguments.action {
        return requeue(which);
    }
    let hunt = arguments
        .hunt
        .map(HuntId::new)
        .transpose()
        .map_err(|error| UsageError(error.to_string()))?;
    let filter = JobFilter {
        hunt,
        state: arguments.state,
        before: None,
        limit: arguments.limit,
    };
    let store = OpenStore::open(&arguments.database)?;
    watched(arguments.watch, &store, || {
        print(store.wait(store.store.list_jobs(&filter))?, arguments.json)
    })?;
    store.close()?;
    Ok(Outcome::Done)
}

fn print(jobs: Vec<JobRecord>, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let listed = jobs.into_iter().map(Listed::from);
    if json {
        for job in listed {
            writeln!(out, "{}", serde_json::to_string(&job)?)?;
        }
        return Ok(());
    }
    let mut table = Table::new(&[
        ("id", Align::Right),
        ("hunt", Align::Right),
        ("kind", Align::Left),
        ("state", Align::Left),
        ("iterations", Align::Right),
        ("new boards", Align::Right),
        ("best par", Align::Right),
        ("failures", Align::Right),
        ("ended", Align::Left),
    ]);
    for job in listed {
        table.row(vec![
            job.id.to_string(),
            job.hunt.to_string(),
            job.kind.to_owned(),
            job.state.to_owned(),
            thousands(job.iterations),
            thousands(job.boards_new),
            job.best_par.map_or(String::from("-"), |par| par.to_string()),
            job.failures.to_string(),
            job.ended_at.unwrap_or_default(),
        ]);
    }
    if table.is_empty() {
        writeln!(out, "no such jobs")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(())
}
