//! `parforce difficulty`: measures of difficulty for people, for the boards of the database.

use std::io::Write;

use board::difficulty::{self, Difficulty};
use board::{Canonical, Lot, Par, StateLimit};
use rayon::prelude::*;

use super::{DatabaseArguments, Limits, Outcome};
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
/// Examples:
///   parforce difficulty --limit 10000
///   parforce difficulty --par 40
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
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
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let outcome = measure_all(arguments, &store);
    store.close()?;
    outcome
}

fn measure_all(arguments: &Arguments, store: &OpenStore) -> anyhow::Result<Outcome> {
    let counts = store.wait(store.store.par_distribution(Some(arguments.lot)))?;
    let mut pars: Vec<Par> = counts.iter().map(|count| count.par).collect();
    pars.retain(|par| arguments.par.is_none_or(|wanted| wanted == par.get()));
    pars.reverse();
    let (mut n_measured, mut n_too_large) = (0, 0);
    for par in pars {
        let mut left = arguments.limit;
        let mut after = String::new();
        while left > 0 {
            let boards = store
                .store
                .boards_to_measure(par, arguments.lot, &after, left.min(MAX_BATCH));
            let boards = store.wait(boards)?;
            let Some(last) = boards.last() else { break };
            after = last.to_string();
            left -= boards.len() as u64;
            let n_boards = boards.len() as u64;
            let measured: Vec<(Canonical, Difficulty)> = boards
                .into_par_iter()
                .filter_map(|board| measure(board, arguments.limits.states()))
                .collect();
            n_too_large += n_boards - measured.len() as u64;
            n_measured += store.wait(store.store.store_difficulty(&measured))?;
            eprint!("\r{} measured, par {par}  ", thousands(n_measured));
        }
    }
    eprintln!();
    if n_too_large > 0 {
        eprintln!(
            "parforce: {} left out as too large",
            counted(n_too_large, "cluster")
        );
    }
    writeln!(std::io::stdout(), "{} measured", counted(n_measured, "board"))?;
    Ok(Outcome::Done)
}

/// `None` if the cluster is too large; a stored board is solvable.
fn measure(canonical: Canonical, limit: StateLimit) -> Option<(Canonical, Difficulty)> {
    let measured = difficulty::measure(&canonical.board(), limit).ok()??;
    Some((canonical, measured))
}
