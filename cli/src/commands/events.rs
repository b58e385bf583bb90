//! `parforce events`: who did what and when.

use std::io::Write;
use std::time::Duration;

use coordinator::store::{EventKind, EventLine, EventQuery};
use serde::Serialize;

use super::{DatabaseArguments, Outcome, instant};
use crate::store::OpenStore;

/// How often new events are asked for with --watch.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// List events, the newest last: hunts asked for, paused and ended, workers joined and struck, jobs parked, records.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce events --kind record_found
  parforce events --hunt 1 --watch")]
pub(crate) struct Arguments {
    /// Only of this kind, e.g. hunt_paused
    #[arg(long, value_parser = parse_kind)]
    kind: Option<EventKind>,
    /// Only of this hunt
    #[arg(long, value_name = "ID")]
    hunt: Option<i64>,
    /// The newest so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=1000))]
    limit: i64,
    /// Go on and print what happens, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

fn parse_kind(text: &str) -> Result<EventKind, String> {
    let found = EventKind::ALL.into_iter().find(|kind| kind.as_str() == text);
    found.ok_or_else(|| {
        let kinds = EventKind::ALL.map(EventKind::as_str).join(", ");
        format!("there is no such kind, expected one of {kinds}")
    })
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: i64,
    at: String,
    actor: &'a str,
    kind: &'a str,
    hunt: Option<i64>,
    job: Option<i64>,
    worker: Option<&'a str>,
    detail: &'a str,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let mut newest = 0;
    loop {
        let query = EventQuery {
            kind: arguments.kind.map(|kind| kind.as_str().to_owned()),
            hunt_id: arguments.hunt,
            limit: arguments.limit,
            ..EventQuery::default()
        };
        let mut events = store.wait(store.store.event_lines(&query))?;
        events.retain(|event| event.id > newest);
        events.reverse();
        print(&events, arguments.json)?;
        newest = events.last().map_or(newest, |event| event.id);
        if !arguments.watch {
            break;
        }
        let stopped = store.wait(async { tokio::time::timeout(WATCH_EVERY, tokio::signal::ctrl_c()).await });
        if stopped.is_ok() {
            break;
        }
    }
    store.close()?;
    Ok(Outcome::Done)
}

fn print(events: &[EventLine], json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for event in events {
        if json {
            let listed = Listed {
                id: event.id,
                at: instant(event.at),
                actor: &event.actor,
                kind: &event.kind,
                hunt: event.hunt_id,
                job: event.job_id,
                worker: event.worker.as_deref(),
                detail: &event.detail,
            };
            writeln!(out, "{}", serde_json::to_string(&listed)?)?;
        } else {
            writeln!(out, "{}", sentence(event))?;
        }
    }
    out.flush()?;
    Ok(())
}

fn sentence(event: &EventLine) -> String {
    let about = [
        event.hunt.clone(),
        event.job_id.map(|id| format!("job {id}")),
        event.worker.clone(),
    ];
    let mut parts = vec![instant(event.at), event.kind.replace('_', " ")];
    parts.extend(about.into_iter().flatten());
    if !event.detail.is_empty() {
        parts.push(event.detail.clone());
    }
    parts.push(format!("by {}", event.actor));
    parts.join("  ")
}
