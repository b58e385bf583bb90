//! A census estimated from a part of it.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::Context;
use board::census::sample::{Estimate, SamplePlan};
use board::census::{Census, CensusSpec, RangeOutcome};
use board::cluster::{Explorer, Found};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use worker::clock::thread_cpu;

use crate::commands::Outcome;
use crate::output::table::{Align, Table};
use crate::output::thousands;

/// Counts one unit of every `one_in` on so many threads and prints the whole as estimated from them.
pub(crate) fn run(spec: CensusSpec, one_in: u32, n_threads: usize, json: bool) -> anyhow::Result<Outcome> {
    let census = Census::new(spec)?;
    let plan = SamplePlan {
        seed: u64::from(one_in),
        n_stretches: census.n_units().div_ceil(one_in.into()),
    };
    let n_units = thousands(census.n_units());
    say!("counting {} of {n_units} units", thousands(plan.n_stretches));
    let bar = ProgressBar::with_draw_target(Some(plan.n_stretches), ProgressDrawTarget::stderr_with_hz(4));
    bar.set_style(
        ProgressStyle::with_template("{bar:40} {pos} of {len}, {eta} to go")
            .expect("the template is well formed"),
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
    let counted: Vec<(RangeOutcome, Duration)> = pool.install(|| {
        (0..plan.n_stretches)
            .into_par_iter()
            .map_init(Explorer::new, |explorer, stretch| {
                let begun = thread_cpu();
                let outcome = plan
                    .count(&census, stretch, explorer)
                    .with_context(|| format!("unit {}", plan.unit(&census, stretch)))?;
                tell(&bar);
                Ok((outcome, thread_cpu().saturating_sub(begun)))
            })
            .collect::<anyhow::Result<_>>()
    })?;
    bar.finish_and_clear();
    let report = report(&census, plan, &counted);
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&report)?)?;
    } else {
        for_people(&mut out, &report)?;
    }
    Ok(Outcome::Done)
}

/// Counts one more unit: on the bar, or where that is not seen, in a line for each twentieth.
fn tell(bar: &ProgressBar) {
    bar.inc(1);
    let (done, all) = (bar.position(), bar.length().unwrap_or(1));
    if !std::io::stderr().is_terminal() && done * 20 / all > (done - 1) * 20 / all {
        say!("{} of {}", thousands(done), thousands(all));
    }
}

/// An estimated count and two standard errors of it.
#[derive(Clone, Copy, Debug, Serialize)]
struct Figure {
    value: f64,
    band: f64,
}

/// One par of the estimate.
#[derive(Debug, Serialize)]
struct Line {
    par: usize,
    solvable: Figure,
    minimal: Figure,
}

/// A board of the sample that was to be kept.
#[derive(Debug, Serialize)]
struct Kept {
    par: u16,
    canonical: String,
    states: u64,
}

#[derive(Debug, Serialize)]
struct Report {
    units: u64,
    counted: u64,
    by_par: Vec<Line>,
    solvable: Figure,
    minimal: Figure,
    layouts: Figure,
    positions: Figure,
    /// Processor time of the whole on one core, in days.
    core_days: Figure,
    /// Hardest first.
    boards: Vec<Kept>,
}

fn report(census: &Census, plan: SamplePlan, counted: &[(RangeOutcome, Duration)]) -> Report {
    let figure = |values: &[f64]| {
        let Estimate {
            value,
            standard_error,
        } = plan.estimate(census, values);
        Figure {
            value,
            band: 2.0 * standard_error,
        }
    };
    let of = |value: &dyn Fn(&RangeOutcome) -> u64| {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let values: Vec<f64> = counted.iter().map(|(outcome, _)| value(outcome) as f64).collect();
        figure(&values)
    };
    let n_pars = counted
        .iter()
        .map(|(outcome, _)| outcome.by_par.len())
        .max()
        .unwrap_or(0);
    let at = |outcome: &RangeOutcome, par: usize| outcome.by_par.get(par).copied().unwrap_or_default();
    let days: Vec<f64> = counted
        .iter()
        .map(|(_, took)| took.as_secs_f64() / 86_400.0)
        .collect();
    let mut boards: Vec<&Found> = counted.iter().flat_map(|(outcome, _)| &outcome.boards).collect();
    boards.sort_by(|a, b| (b.par, &a.canonical).cmp(&(a.par, &b.canonical)));
    Report {
        units: census.n_units(),
        counted: plan.n_stretches,
        by_par: (0..n_pars)
            .map(|par| Line {
                par,
                solvable: of(&|outcome| at(outcome, par).solvable),
                minimal: of(&|outcome| at(outcome, par).minimal),
            })
            .collect(),
        solvable: of(&RangeOutcome::solvable),
        minimal: of(&RangeOutcome::minimal),
        layouts: of(&|outcome| outcome.layouts),
        positions: of(&RangeOutcome::positions),
        core_days: figure(&days),
        boards: boards
            .into_iter()
            .map(|found| Kept {
                par: found.par.get(),
                canonical: found.canonical.to_string(),
                states: found.states,
            })
            .collect(),
    }
}

fn for_people(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let mut table = Table::new(&["par", "clusters", "minimal"].map(|column| (column, Align::Right)));
    for line in &report.by_par {
        table.row(vec![
            line.par.to_string(),
            band(line.solvable),
            band(line.minimal),
        ]);
    }
    table.row(vec![
        String::from("all"),
        band(report.solvable),
        band(report.minimal),
    ]);
    writeln!(out, "{table}")?;
    writeln!(out, "layouts with a solved position: {}", band(report.layouts))?;
    writeln!(out, "positions of solvable clusters: {}", band(report.positions))?;
    writeln!(
        out,
        "processor time of the whole: {:.3} ± {:.3} days on one core of this machine",
        report.core_days.value, report.core_days.band
    )?;
    writeln!(
        out,
        "(each ± holds the true number about 19 times of 20, less often where few units hold most of it)"
    )?;
    for board in &report.boards {
        writeln!(out, "par {} {}", board.par, board.canonical)?;
    }
    Ok(())
}

fn band(figure: Figure) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates of counts; a cast of a larger float saturates"
    )]
    let whole = |value: f64| thousands(value.round() as u64);
    format!("{} ± {}", whole(figure.value), whole(figure.band))
}
