//! What a census has counted, as a table by par, and how much of it is counted.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use coordinator::store::{CensusTotal, HuntRecord, Store};
use serde::Serialize;

use crate::commands::hunt::live::clock;
use crate::output::table::{Align, Table};
use crate::output::thousands;

/// The result as JSON.
#[derive(Debug, Serialize)]
struct Report {
    hunt: i64,
    name: String,
    seconds: u64,
    /// Units of the census; those counted, counted twice with equal and with different results, and standing in two
    /// ranges.
    units: u64,
    counted: u64,
    verified: u64,
    disputed: u64,
    overlapping: u64,
    /// The ranges that are missing, as Postgres writes a multirange.
    missing: String,
    by_par: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    par: u16,
    solvable: u64,
    minimal: u64,
    positions: u64,
    minimal_positions: u64,
    positions_at: u64,
}

impl From<&CensusTotal> for Line {
    fn from(total: &CensusTotal) -> Line {
        Line {
            par: total.par.get(),
            solvable: total.solvable,
            minimal: total.minimal,
            positions: total.positions,
            minimal_positions: total.minimal_positions,
            positions_at: total.positions_at,
        }
    }
}

/// Prints the ledger and the totals on standard output.
pub(crate) async fn print(
    store: &Store,
    hunt: &HuntRecord,
    took: Duration,
    json: bool,
) -> anyhow::Result<()> {
    let coverage = store
        .census_coverage(hunt.id)
        .await?
        .context("the census has vanished")?;
    let totals = store.census_totals(hunt.id).await?;
    let report = Report {
        hunt: hunt.id.get(),
        name: hunt.name.clone(),
        seconds: took.as_secs(),
        units: coverage.n_units,
        counted: coverage.n_counted,
        verified: coverage.n_verified,
        disputed: coverage.n_disputed,
        overlapping: coverage.n_overlapping,
        missing: coverage.missing,
        by_par: totals.iter().map(Line::from).collect(),
    };
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        for_people(&mut out, &report)?;
    }
    Ok(())
}

fn for_people(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let columns = [
        "par",
        "clusters",
        "minimal",
        "positions",
        "in minimal ones",
        "at this par",
    ];
    let mut table = Table::new(&columns.map(|column| (column, Align::Right)));
    let cells = |line: &Line| {
        [
            line.solvable,
            line.minimal,
            line.positions,
            line.minimal_positions,
            line.positions_at,
        ]
        .map(thousands)
    };
    let mut all = Line {
        par: 0,
        solvable: 0,
        minimal: 0,
        positions: 0,
        minimal_positions: 0,
        positions_at: 0,
    };
    for line in &report.by_par {
        table.row([line.par.to_string()].into_iter().chain(cells(line)).collect());
        all.solvable += line.solvable;
        all.minimal += line.minimal;
        all.positions += line.positions;
        all.minimal_positions += line.minimal_positions;
        all.positions_at += line.positions_at;
    }
    table.row([String::from("all")].into_iter().chain(cells(&all)).collect());
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "{} of {} units counted, {} of them twice and equal, {} twice and different, {} in two ranges ({})",
        thousands(report.counted),
        thousands(report.units),
        thousands(report.verified),
        thousands(report.disputed),
        thousands(report.overlapping),
        clock(Duration::from_secs(report.seconds)),
    )?;
    if report.counted == report.units {
        writeln!(out, "complete: no unit is missing")
    } else {
        writeln!(
            out,
            "missing: {}\n`parforce census` with the same options goes on from here",
            report.missing
        )
    }
}
