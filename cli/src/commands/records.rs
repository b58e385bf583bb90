//! `parforce records`: the hardest board known of each kind of lot, walls and vehicles.

use std::io::Write;

use anyhow::{Context, ensure};
use board::cluster::Explorer;
use board::{Lot, StateLimit, solve};
use coordinator::store::RecordRow;
use serde::Serialize;

use super::{DatabaseArguments, Outcome, instant};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::store::OpenStore;

/// What is noted of a proof: two searches that share no code beyond the board itself.
const SOLVERS: &str = "explorer, solve";

/// List the records: the hardest board known of each lot, exit row, number of walls and of vehicles.
///
/// Each names the job that found it first, which `parforce replay` runs again. With --prove each is first proved by two
/// solvers that share no search: the explorer floods the cluster and names its depth and representative, the
/// breadth-first search of `parforce solve` finds the par of that position.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce records --lot 8x8
  parforce records --prove --markdown > docs/records.md

Exit status: 1 if the solvers disagree, or one gives up at --max-states")]
pub(crate) struct Arguments {
    /// Of this lot alone
    #[arg(long, value_name = "WxH")]
    lot: Option<Lot>,
    /// Of this par or more alone
    #[arg(long, value_name = "PAR", default_value_t = 1)]
    least_par: u16,
    /// Prove each by both solvers, and note it
    #[arg(long)]
    prove: bool,
    /// Print a table in Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: super::Limits,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, Serialize)]
struct Listed {
    lot: String,
    row: u8,
    walls: u8,
    vehicles: u8,
    par: u16,
    board: String,
    states: u64,
    found_at: Option<String>,
    job: Option<i64>,
    source: Option<String>,
    proved_at: Option<String>,
}

impl From<&RecordRow> for Listed {
    fn from(record: &RecordRow) -> Listed {
        Listed {
            lot: record.lot.to_string(),
            row: record.exit_row,
            walls: record.n_walls,
            vehicles: record.n_vehicles,
            par: record.par.get(),
            board: record.canonical.to_string(),
            states: record.n_states,
            found_at: record.found_at.map(instant),
            job: record.job.map(proto::ids::JobId::get),
            source: record.source.clone(),
            proved_at: record.proved_at.map(instant),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let fetch = || {
        let mut records = store.wait(store.store.records(arguments.lot))?;
        records.retain(|record| record.par.get() >= arguments.least_par);
        anyhow::Ok(records)
    };
    let mut records = fetch()?;
    let mut outcome = Outcome::Done;
    if arguments.prove {
        for record in &records {
            match prove(record, arguments.limits.states()) {
                Ok(()) => store.wait(store.store.note_proof(record.par, &record.canonical, SOLVERS))?,
                Err(error) => {
                    say!("parforce: {}: {error:#}", record.canonical);
                    outcome = Outcome::Refused;
                }
            }
        }
        records = fetch()?;
    }
    store.close()?;
    let listed: Vec<Listed> = records.iter().map(Listed::from).collect();
    print(arguments, &listed)?;
    Ok(outcome)
}

/// Proves a record twice.
fn prove(record: &RecordRow, limit: StateLimit) -> anyhow::Result<()> {
    let board = record.canonical.board();
    let found = Explorer::new()
        .entry_if(&board, limit, |_| false)?
        .context("the explorer finds no solution")?;
    ensure!(
        found.par == record.par && found.canonical == record.canonical && found.states == record.n_states,
        "the explorer finds par {}, {} positions, and {} as representative",
        found.par,
        found.states,
        found.canonical
    );
    let answer = solve::solve(&board, limit)?;
    let par = answer.par.context("the search finds no solution")?;
    ensure!(par == record.par, "the search finds par {par}");
    Ok(())
}

fn print(arguments: &Arguments, listed: &[Listed]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for record in listed {
            writeln!(out, "{}", serde_json::to_string(record)?)?;
        }
        return Ok(());
    }
    let found = |record: &Listed| {
        record
            .found_at
            .as_deref()
            .map_or(String::from("-"), |at| at[..10].to_owned())
    };
    let from = |record: &Listed| match (record.job, &record.source) {
        (Some(job), _) => format!("job {job}"),
        (None, Some(source)) => source.clone(),
        (None, None) => String::from("-"),
    };
    if arguments.markdown {
        writeln!(
            out,
            "| lot | walls | vehicles | par | board | positions | found | by | proved by two solvers |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
        for record in listed {
            writeln!(
                out,
                "| {} | {} | {} | {} | `{}` | {} | {} | {} | {} |",
                record.lot,
                record.walls,
                record.vehicles,
                record.par,
                record.board,
                thousands(record.states),
                found(record),
                from(record),
                if record.proved_at.is_some() { "yes" } else { "no" },
            )?;
        }
        return Ok(());
    }
    let mut table = Table::new(&[
        ("lot", Align::Left),
        ("row", Align::Right),
        ("walls", Align::Right),
        ("vehicles", Align::Right),
        ("par", Align::Right),
        ("board", Align::Left),
        ("positions", Align::Right),
        ("found", Align::Left),
        ("by", Align::Left),
        ("proved", Align::Left),
    ]);
    for record in listed {
        table.row(vec![
            record.lot.clone(),
            record.row.to_string(),
            record.walls.to_string(),
            record.vehicles.to_string(),
            record.par.to_string(),
            record.board.clone(),
            thousands(record.states),
            found(record),
            from(record),
            String::from(if record.proved_at.is_some() { "yes" } else { "no" }),
        ]);
    }
    if table.is_empty() {
        writeln!(out, "no such boards in this database; `parforce hunt` finds some")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(())
}
