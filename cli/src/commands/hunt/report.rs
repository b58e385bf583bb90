//! What a hunt ends with: the boards by par, totals, the hardest board, and what to do next.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use board::Board;
use coordinator::Store;
use coordinator::store::{HuntProgress, HuntRecord};
use serde::Serialize;

use super::live::clock;
use crate::commands::{Database, show};
use crate::output::{bars, counted, thousands};

/// The result as JSON.
#[derive(Debug, Serialize)]
struct Report {
    hunt: i64,
    name: String,
    /// running, paused (interrupted), done or cancelled.
    state: &'static str,
    /// Whether it was stopped by a signal.
    interrupted: bool,
    seconds: u64,
    /// Boards of the lot in the database.
    boards: u64,
    /// Boards that this hunt found first, in all its runs.
    boards_new: u64,
    jobs_done: u64,
    best_par: Option<u16>,
    hardest: Option<String>,
    /// Pairs of par and number of boards.
    distribution: Vec<(u64, u64)>,
}

/// How this run of a hunt went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) took: Duration,
    /// Whether it was stopped by a signal.
    pub(super) is_interrupted: bool,
}

/// Prints the end of a hunt on standard output.
pub(super) async fn print(
    store: &Store,
    hunt: &HuntRecord,
    run: Run,
    database: &Database,
    again: &str,
    json: bool,
) -> anyhow::Result<()> {
    let lot = hunt
        .space
        .as_ref()
        .context("a campaign is no hunt for boards")?
        .lot();
    let progress: HuntProgress = store
        .hunt_progress(hunt.id)
        .await?
        .context("the hunt has vanished")?;
    let counts = store.par_distribution(Some(lot)).await?;
    let report = Report {
        hunt: hunt.id.get(),
        name: hunt.name.clone(),
        state: progress.state.as_str(),
        interrupted: run.is_interrupted,
        seconds: run.took.as_secs(),
        boards: counts.iter().map(|count| count.n_boards).sum(),
        boards_new: progress.n_new,
        jobs_done: progress.jobs_done,
        best_par: progress.best_par.map(board::Par::get),
        hardest: progress.hardest.clone(),
        distribution: counts
            .iter()
            .map(|count| (u64::from(count.par.get()), count.n_boards))
            .collect(),
    };
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        for_people(&mut out, &report, &lot.to_string(), database, again)?;
    }
    Ok(())
}

fn for_people(
    out: &mut impl Write,
    report: &Report,
    lot: &str,
    database: &Database,
    again: &str,
) -> std::io::Result<()> {
    let with_gaps = bars::without_gaps(&report.distribution);
    writeln!(out, "{}", bars::distribution("boards", &with_gaps))?;
    writeln!(
        out,
        "{} of {lot} in the database, {} found by this hunt ({}, {} done)",
        counted(report.boards, "distinct board"),
        thousands(report.boards_new),
        clock(Duration::from_secs(report.seconds)),
        counted(report.jobs_done, "job"),
    )?;
    if let (Some(par), Some(hardest)) = (report.best_par, &report.hardest) {
        writeln!(out, "\nthe hardest so far, par {par}:\n")?;
        if let Ok(board) = Board::parse(hardest) {
            writeln!(out, "{}\n{hardest}", show::picture(&board))?;
        }
    }
    writeln!(out, "\nnext:")?;
    writeln!(out, "  the same command again goes on from here")?;
    if let Some(hardest) = &report.hardest {
        writeln!(out, "  parforce solve {hardest}")?;
    }
    writeln!(out, "  parforce sql{again} \"SELECT * FROM par_distribution\"")?;
    if let Database::Private(_) = database {
        writeln!(out, "  while it runs: {}", database.psql_line())?;
    }
    Ok(())
}
