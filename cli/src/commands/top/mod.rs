//! `parforce top`: the farm in a terminal, for those who live there.

mod view;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use coordinator::Store;
use coordinator::store::{EventQuery, StoreError, Window, WorkerQuery, WorkerSort};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use super::{DatabaseArguments, Outcome, UsageError};
use crate::store::OpenStore;
use view::Snapshot;

/// Show the farm as it is, again and again: workers, hunts, rates, events. Ends with q.
///
/// Keys: q or Escape ends, space pauses, + and - change how often it looks.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if !std::io::stdout().is_terminal() {
        return Err(
            UsageError("top needs a terminal; for scripts there is `parforce hunts --json`".into()).into(),
        );
    }
    let store = OpenStore::open(&arguments.database)?;
    let first = store.wait(look(&store.store))?;
    let mut terminal = ratatui::init();
    let shown = show(&mut terminal, &store, first, Duration::from_secs(arguments.every));
    ratatui::restore();
    store.close()?;
    shown?;
    Ok(Outcome::Done)
}

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    store: &OpenStore,
    mut snapshot: Snapshot,
    mut every: Duration,
) -> anyhow::Result<()> {
    let mut looked = Instant::now();
    let mut is_paused = false;
    loop {
        terminal.draw(|frame| view::draw(frame, &snapshot, is_paused))?;
        let wait = if is_paused {
            Duration::from_hours(1)
        } else {
            every.saturating_sub(looked.elapsed())
        };
        if event::poll(wait)? {
            let Event::Key(key) = event::read()? else { continue };
            if key.kind != KeyEventKind::Press {
                continue;
            }
            match key.code {
                KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(()),
                KeyCode::Char(' ') => is_paused = !is_paused,
                KeyCode::Char('+') => every = (every / 2).max(Duration::from_secs(1)),
                KeyCode::Char('-') => every = (every * 2).min(Duration::from_hours(1)),
                _ => {}
            }
        } else {
            match store.wait(look(&store.store)) {
                Ok(newer) => snapshot = newer,
                // The database may be away for a while: what was seen last stays, and says so.
                Err(error) => snapshot.trouble = Some(error.to_string()),
            }
            looked = Instant::now();
        }
    }
}

/// Workers that are listed: the slowest against what is expected of them.
const MAX_WORKERS: usize = 12;

async fn look(store: &Store) -> Result<Snapshot, StoreError> {
    let workers = WorkerQuery {
        sort: WorkerSort::Slow,
        ..WorkerQuery::default()
    };
    let events = EventQuery {
        limit: 8,
        ..EventQuery::default()
    };
    let mut workers = store.worker_lines(&workers).await?;
    workers.truncate(MAX_WORKERS);
    Ok(Snapshot {
        farm: store.farm_now().await?,
        hunts: store.hunt_lines(None).await?,
        series: store.farm_series(Window::Hour).await?,
        workers,
        events: store.event_lines(&events).await?,
        trouble: None,
    })
}
