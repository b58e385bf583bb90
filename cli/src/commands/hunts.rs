//! `parforce hunts`: what was hunted, and how far each hunt is.

use std::io::Write;

use coordinator::Store;
use coordinator::store::{HuntProgress, HuntRecord, StoreError};
use proto::ids::HuntId;
use serde::Serialize;
use uuid::Uuid;

use super::hunt::wish::{WishArguments, priorities};
use super::{DatabaseArguments, Outcome, UsageError, instant, watched};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::store::OpenStore;

/// List the hunts in the database, or act on one.
///
/// `hunts new` asks for a hunt without searching here: a coordinator on the same database hands it to its workers.
#[derive(Debug, clap::Args)]
#[command(
    after_long_help = "\
Examples:
  parforce hunts --json
  parforce hunts new --lot 7x7 --minutes 600
  parforce hunts pause 3",
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
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
    /// Ask for a hunt, or let the one of this name go on with a new budget
    New(Box<New>),
    /// Let nobody take jobs of a hunt until it is resumed
    Pause(Which),
    /// Let a paused hunt go on
    Resume(Which),
    /// End a hunt and its jobs; what it found stays, and asked for again by its name it goes on
    Cancel(Which),
    /// Let a hunt get workers before those of lower priority
    Priority(Priority),
    /// Give a hunt another share of the cores, against the other hunts of its priority
    Weight(Weight),
}

#[derive(Debug, clap::Args)]
struct New {
    #[command(flatten)]
    wish: WishArguments,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct Priority {
    #[command(flatten)]
    which: Which,
    /// Higher goes first; 0 is usual
    #[arg(allow_negative_numbers = true, value_parser = priorities())]
    priority: i32,
}

#[derive(Debug, clap::Args)]
struct Weight {
    #[command(flatten)]
    which: Which,
    /// Its share of the cores, against the other hunts of its priority; 1 is usual
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    weight: u16,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The hunt's number, as `parforce hunts` lists it
    id: i64,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, Serialize)]
struct Listed {
    id: i64,
    name: String,
    state: &'static str,
    strategy: &'static str,
    /// Null: a campaign of Siren Jam.
    lot: Option<String>,
    /// A string: not every reader of JSON takes 64 bits.
    seed: String,
    priority: i32,
    boards_new: u64,
    boards_known: u64,
    /// The largest par in the database of its lot and exit row, whoever found it.
    best_par_of_lot: Option<u16>,
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
            lot: hunt.space.map(|space| space.lot().to_string()),
            seed: hunt.seed.to_string(),
            priority: hunt.priority,
            boards_new: progress.n_new,
            boards_known: progress.n_known,
            best_par_of_lot: progress.best_par.map(board::Par::get),
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
    match &arguments.action {
        None => list(arguments),
        Some(Action::New(new)) => create(new),
        Some(Action::Pause(which)) => act(which, "paused", async |store, id| store.pause_hunt(id).await),
        Some(Action::Resume(which)) => act(which, "resumed", async |store, id| store.resume_hunt(id).await),
        Some(Action::Priority(Priority { which, priority })) => {
            act(which, &format!("given priority {priority}"), async |store, id| {
                store.set_priority(id, *priority).await
            })
        }
        Some(Action::Weight(Weight { which, weight })) => {
            act(which, &format!("given weight {weight}"), async |store, id| {
                store.set_weight(id, *weight).await
            })
        }
        Some(Action::Cancel(which)) => act(which, "cancelled", async |store, id| store.cancel_hunt(id).await),
    }
}

fn create(new: &New) -> anyhow::Result<Outcome> {
    let wish = new.wish.check()?;
    let store = OpenStore::open(&new.database)?;
    // The seed of a hunt that names none is drawn here, once; everything after it follows from it.
    let drawn_seed = Uuid::new_v4().as_u64_pair().0;
    let hunt = store.wait(store.store.create_hunt(&wish, drawn_seed))?;
    store.close()?;
    writeln!(std::io::stdout(), "hunt {}: {}", hunt.id, hunt.name)?;
    Ok(Outcome::Done)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "closures are made where this is called"
)]
fn act(
    which: &Which,
    done: &str,
    action: impl AsyncFn(&Store, HuntId) -> Result<bool, StoreError>,
) -> anyhow::Result<Outcome> {
    let id = HuntId::new(which.id).map_err(|error| UsageError(error.to_string()))?;
    let store = OpenStore::open(&which.database)?;
    let acted = store.wait(action(&store.store, id))?;
    let hunt = store.wait(store.store.hunt(id))?;
    store.close()?;
    match hunt {
        Some(hunt) if acted => writeln!(std::io::stdout(), "hunt {id} is {done}: {}", hunt.name)?,
        Some(hunt) => {
            say!(
                "parforce: hunt {id} is {} and cannot be {done}",
                hunt.state.as_str()
            );
            return Ok(Outcome::Refused);
        }
        None => anyhow::bail!("there is no hunt {id}"),
    }
    Ok(Outcome::Done)
}

fn list(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    watched(arguments.watch, &store, || {
        print(store.wait(fetch(&store.store))?, arguments.json)
    })?;
    store.close()?;
    Ok(Outcome::Done)
}

async fn fetch(store: &Store) -> Result<Vec<Listed>, StoreError> {
    let mut listed = Vec::new();
    for hunt in store.list_hunts().await? {
        if let Some(progress) = store.hunt_progress(hunt.id).await? {
            listed.push(Listed::new(hunt, &progress));
        }
    }
    Ok(listed)
}

fn print(listed: Vec<Listed>, json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        for hunt in &listed {
            writeln!(out, "{}", serde_json::to_string(hunt)?)?;
        }
        return Ok(());
    }
    let mut table = Table::new(&[
        ("id", Align::Right),
        ("hunt", Align::Left),
        ("state", Align::Left),
        ("new boards", Align::Right),
        ("best par of lot", Align::Right),
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
            hunt.best_par_of_lot
                .map_or(String::from("-"), |par| par.to_string()),
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
    Ok(())
}
