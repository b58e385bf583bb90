//! A census estimated from a part of it.

use std::time::{Duration, Instant};

use anyhow::Context;
use board::census::sample::{Estimate, SamplePlan};
use board::census::{Census, CensusSpec, RangeOutcome};
use board::cluster::Explorer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::commands::Outcome;
use crate::output::table::{Align, Table};
use crate::output::thousands;

/// Counts one unit of every `one_in` on so many threads and prints the whole as estimated from them.
pub(crate) fn run(spec: CensusSpec, one_in: u32, n_threads: usize) -> anyhow::Result<Outcome> {
    let census = Census::new(spec)?;
    let plan = SamplePlan {
        seed: u64::from(one_in),
        n_stretches: census.n_units().div_ceil(one_in.into()),
    };
    let n_units = thousands(census.n_units());
    eprintln!("counting {} of {n_units} units", thousands(plan.n_stretches));
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
                let begun = Instant::now();
                let outcome = plan
                    .count(&census, stretch, explorer)
                    .with_context(|| format!("unit {}", plan.unit(&census, stretch)))?;
                bar.inc(1);
                Ok((outcome, begun.elapsed()))
            })
            .collect::<anyhow::Result<_>>()
    })?;
    bar.finish_and_clear();
    print(&census, plan, &counted);
    Ok(Outcome::Done)
}

fn print(census: &Census, plan: SamplePlan, counted: &[(RangeOutcome, Duration)]) {
    let of = |value: &dyn Fn(&RangeOutcome) -> u64| -> Estimate {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let values: Vec<f64> = counted.iter().map(|(outcome, _)| value(outcome) as f64).collect();
        plan.estimate(census, &values)
    };
    let mut table = Table::new(&[
        ("par", Align::Right),
        ("clusters", Align::Right),
        ("minimal", Align::Right),
    ]);
    let n_pars = counted
        .iter()
        .map(|(outcome, _)| outcome.by_par.len())
        .max()
        .unwrap_or(0);
    for par in 0..n_pars {
        let at = |outcome: &RangeOutcome| outcome.by_par.get(par).copied().unwrap_or_default();
        table.row(vec![
            par.to_string(),
            band(of(&|outcome| at(outcome).solvable)),
            band(of(&|outcome| at(outcome).minimal)),
        ]);
    }
    let solvable = of(&RangeOutcome::solvable);
    table.row(vec![
        String::from("all"),
        band(solvable),
        band(of(&RangeOutcome::minimal)),
    ]);
    println!("{table}");
    println!(
        "layouts with a solved position: {}",
        band(of(&|outcome| outcome.layouts))
    );
    println!(
        "positions of solvable clusters: {}",
        band(of(&RangeOutcome::positions))
    );
    let seconds: Vec<f64> = counted.iter().map(|(_, took)| took.as_secs_f64()).collect();
    let time = plan.estimate(census, &seconds);
    let day = 86_400.0;
    println!(
        "processor time of the whole: {:.3} ± {:.3} days on one core of this machine",
        time.value / day,
        2.0 * time.standard_error / day
    );
    println!(
        "(each ± holds the true number about 19 times of 20, less often where few units hold most of it)"
    );
}

fn band(estimate: Estimate) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "estimates of counts; a cast of a larger float saturates"
    )]
    let whole = |value: f64| thousands(value.round() as u64);
    format!(
        "{} ± {}",
        whole(estimate.value),
        whole(2.0 * estimate.standard_error)
    )
}
