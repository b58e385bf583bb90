//! `parforce difficulty`: measures of difficulty for people, for the boards of the database.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use board::difficulty::{self, Difficulty};
use board::space::{BoardSpace, MAX_HUNT_VEHICLES, SpaceFields};
use board::{Canonical, Lot, Par, StateLimit};
use coordinator::Store;
use coordinator::store::Unmeasured;
use proto::convert::{Budget, HuntPlan, NewHunt, Strategy};
use rayon::prelude::*;

use super::hunt::{Errand, FarmArguments, run_farm};
use super::{Limits, Outcome, UsageError};
use crate::output::{counted, thousands};
use crate::store::OpenStore;

/// Boards measured and stored together.
const MAX_BATCH: u64 = 2_000;

/// Measure how hard the boards of the database are for people.
///
/// For every board that has not been measured: shortest solutions, branching on the way, slides against intuition,
/// vehicles that slide again, dead ends. Goes on where it stopped; any number may run on one database, what two measure
/// is stored once. Pars are taken hardest first. See docs/packs.md.
///
/// With --farm the boards are cut into jobs, as those of a hunt are, and run on this machine and on every other worker
/// that joins; a share of what workers claim is measured again. A farm that runs already takes the jobs up at once.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce difficulty --limit 10000
  parforce difficulty --par 40
  parforce difficulty --farm --listen 0.0.0.0:7400")]
pub(crate) struct Arguments {
    /// Only boards of this par
    #[arg(long)]
    par: Option<u16>,
    /// Only boards of this lot
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: Lot,
    /// Measure at most this many boards of each par
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    /// Measure through the farm: all boards of the lot whose exit row is the usual one, or that of --row
    #[arg(long, conflicts_with_all = ["par", "limit", "max_states"])]
    farm: bool,
    /// With --farm: the hero's row, counted from 0 at the top [default: the middle one, or the one above the middle]
    #[arg(long, value_name = "ROW", requires = "farm")]
    row: Option<u8>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    machine: FarmArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if arguments.farm {
        return run_farm(&arguments.machine, &Errand::Hunt(wish(arguments)?, None));
    }
    let store = OpenStore::open(&arguments.machine.database)?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.machine.threads())
        .build()?;
    let outcome = threads.install(|| measure_all(arguments, &store));
    store.close()?;
    outcome
}

/// All boards of the lot and row, as a hunt.
fn wish(arguments: &Arguments) -> Result<NewHunt, UsageError> {
    let refused = |error: board::space::SpaceError| UsageError(error.to_string());
    let usual = BoardSpace::usual(arguments.lot)
        .map_err(refused)?
        .fields()
        .clone();
    let n_squares = arguments.lot.width() * arguments.lot.height();
    let exit_row = arguments.row.unwrap_or(usual.exit_row);
    let space = BoardSpace::new(SpaceFields {
        exit_row,
        vehicles: 1..=MAX_HUNT_VEHICLES.min(n_squares / 2),
        walls: 0..=n_squares - arguments.lot.width(),
        ..usual
    })
    .map_err(refused)?;
    Ok(NewHunt {
        name: format!("difficulty {} row {exit_row}", arguments.lot),
        space,
        strategy: Strategy::Difficulty,
        budget: Budget::default(),
        priority: 0,
        seed: Some(0),
        census: None,
        plan: HuntPlan::default(),
    })
}

/// Says how many boards are measured, at the end of a farm's run.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn report(store: &Store, json: bool) -> anyhow::Result<()> {
    let n_measured = store.n_measured().await?;
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, r#"{{"measured":{n_measured}}}"#)?;
    } else {
        writeln!(
            out,
            "{} in the database are measured",
            counted(n_measured, "board")
        )?;
    }
    Ok(())
}

fn measure_all(arguments: &Arguments, store: &OpenStore) -> anyhow::Result<Outcome> {
    let counts = store.wait(store.store.par_distribution(Some(arguments.lot)))?;
    let mut pars: Vec<Par> = counts.iter().map(|count| count.par).collect();
    pars.retain(|par| arguments.par.is_none_or(|wanted| wanted == par.get()));
    pars.reverse();
    let mut n_measured = 0;
    let n_too_large = AtomicU64::new(0);
    for par in pars {
        let mut left = arguments.limit;
        let mut after = String::new();
        while left > 0 {
            let query = Unmeasured {
                par,
                lot: arguments.lot,
                exit_row: None,
                vehicles: 0..=u8::MAX,
                walls: 0..=u8::MAX,
                after: &after,
                limit: left.min(MAX_BATCH),
            };
            let boards = store.wait(store.store.unmeasured(&query))?;
            let Some(last) = boards.last() else { break };
            after = last.to_string();
            left -= boards.len() as u64;
            let measured: Vec<(Canonical, Difficulty)> = boards
                .into_par_iter()
                .filter_map(|board| measure(board, arguments.limits.states(), &n_too_large))
                .collect();
            n_measured += store.wait(store.store.store_difficulty(&measured))?;
            // Where nobody reads it any more, it is dropped.
            let _ = write!(
                std::io::stderr(),
                "\r{} measured, par {par}  ",
                thousands(n_measured)
            );
        }
    }
    say!();
    let n_too_large = n_too_large.into_inner();
    if n_too_large > 0 {
        say!(
            "parforce: {} left out as too large",
            counted(n_too_large, "cluster")
        );
    }
    writeln!(std::io::stdout(), "{} measured", counted(n_measured, "board"))?;
    Ok(Outcome::Done)
}

/// `None` if the cluster is too large; a stored board is solvable.
fn measure(
    canonical: Canonical,
    limit: StateLimit,
    n_too_large: &AtomicU64,
) -> Option<(Canonical, Difficulty)> {
    let Ok(measured) = difficulty::measure(&canonical.board(), limit) else {
        n_too_large.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    Some((canonical, measured?))
}
