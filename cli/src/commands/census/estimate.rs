//! A census estimated from a part of it.

use std::time::{Duration, Instant};

use anyhow::Context;
use board::census::sample::{Estimate, SampledUnit, estimate, sampled_units};
use board::census::{Census, CensusSpec, RangeOutcome, run_range};
use board::cluster::Explorer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::commands::Outcome;
use crate::output::table::{Align, Table};
use crate::output::thousands;

/// Counts one unit of every `one_in` on so many threads and prints the whole as estimated from them.
pub(crate) fn run(spec: CensusSpec, one_in: u32, n_threads: usize) -> anyhow::Result<Outcome> {
    let census = Census::new(spec)?;
    let sampled: Vec<SampledUnit> = sampled_units(census.n_units(), one_in).collect();
    eprintln!("{} of {} units", thousands(sampled.len() as u64), thousands(census.n_units()));
    let bar = ProgressBar::with_draw_target(Some(sampled.len() as u64), ProgressDrawTarget::stderr_with_hz(4));
    bar.set_style(
        ProgressStyle::with_template("{bar:40} {pos} of {len}, {eta} to go").expect("the template is well formed"),
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?;
    let counted: Vec<(SampledUnit, RangeOutcome, Duration)> = pool.install(|| {
        sampled
            .par_iter()
            .map_init(Explorer::new, |explorer, &sampled| {
                let begun = Instant::now();
                let units = sampled.unit..sampled.unit + 1;
                let outcome = run_range(&census, units, explorer, &mut |_| true)
                    .with_context(|| format!("unit {}", sampled.unit))?;
                bar.inc(1);
                Ok((sampled, outcome, begun.elapsed()))
            })
            .collect::<anyhow::Result<_>>()
    })?;
    bar.finish_and_clear();
    print(&counted);
    Ok(Outcome::Done)
}

fn print(counted: &[(SampledUnit, RangeOutcome, Duration)]) {
    let of = |value: &dyn Fn(&RangeOutcome) -> u64| -> Estimate {
        let values: Vec<_> = counted.iter().map(|(sampled, outcome, _)| (*sampled, value(outcome))).collect();
        estimate(&values)
    };
    let mut table = Table::new(&[("par", Align::Right), ("clusters", Align::Right), ("minimal", Align::Right)]);
    let n_pars = counted.iter().map(|(_, outcome, _)| outcome.by_par.len()).max().unwrap_or(0);
    for par in 0..n_pars {
        let at = |outcome: &RangeOutcome| outcome.by_par.get(par).copied().unwrap_or_default();
        table.row(vec![
            par.to_string(),
            band(of(&|outcome| at(outcome).solvable)),
            band(of(&|outcome| at(outcome).minimal)),
        ]);
    }
    let solvable = of(&RangeOutcome::solvable);
    table.row(vec![String::from("all"), band(solvable), band(of(&RangeOutcome::minimal))]);
    println!("{table}");
    println!("layouts with a solved position: {}", band(of(&|outcome| outcome.layouts)));
    println!("positions of solvable clusters: {}", band(of(&RangeOutcome::positions)));
    let micros: Vec<_> = counted
        .iter()
        .map(|(sampled, _, took)| (*sampled, u64::try_from(took.as_micros()).unwrap_or(u64::MAX)))
        .collect();
    let days = estimate(&micros);
    let day = 86_400.0 * 1e6;
    println!(
        "processor time of the whole: {:.3} ± {:.3} days on one core of this machine",
        days.total / day,
        days.error / day
    );
    println!("(each ± holds the true number about 19 times of 20, less often where few units hold most of it)");
}

fn band(estimate: Estimate) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates of counts; a cast of a larger float saturates"
    )]
    let whole = |value: f64| thousands(value.round() as u64);
    format!("{} ± {}", whole(estimate.total), whole(estimate.error))
}
