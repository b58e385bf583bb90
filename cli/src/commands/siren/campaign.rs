//! `parforce siren campaign`: every level of a plan, on this machine.

use std::path::PathBuf;

use anyhow::Context;
use rayon::prelude::*;
use siren::campaign::{Entry, assemble};
use siren::generate::{Tally, candidate};
use siren::plan::LevelSpec;

use super::super::Outcome;
use super::files;
use crate::output::{counted, thousands};

/// Generate the campaign of a plan: one level file each
///
/// Each level is the best of six seeds. The same plan gives the same bytes on any number of threads. Files are written
/// as DIR/WORLD-LEVEL-NAME.json; files that are there already under these names are replaced.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Arguments {
    /// The plan [default: the one that ships]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The folder for the level files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let specs = files::read_plan(arguments.plan.as_deref())?.levels();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build()?;
    let (entries, tally) = pool.install(|| find(&specs))?;
    eprintln!(
        "{} attempts, {} meet their ranges, {} kept for {}",
        thousands(tally.attempts.into()),
        thousands(tally.in_range.into()),
        counted(entries.len() as u64, "candidate"),
        counted(specs.len() as u64, "level"),
    );
    let levels = match assemble(&specs, &entries) {
        Ok(levels) => levels,
        Err(why) => {
            eprintln!("{why}");
            return Ok(Outcome::Refused);
        }
    };
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    for (spec, level) in specs.iter().zip(&levels) {
        let path = arguments.out.join(spec.file_stem()).with_extension("json");
        std::fs::write(&path, level.spell()).with_context(|| path.display().to_string())?;
    }
    println!(
        "{} in {}",
        counted(levels.len() as u64, "level"),
        arguments.out.display()
    );
    Ok(Outcome::Done)
}

/// The candidates of every level and seed, whatever thread finds which.
fn find(specs: &[LevelSpec]) -> anyhow::Result<(Vec<Entry>, Tally)> {
    let tasks: Vec<(usize, u64)> = specs
        .iter()
        .enumerate()
        .flat_map(|(level, spec)| spec.seeds.map(|seed| (level, seed)))
        .collect();
    let found: Vec<(Option<Entry>, Tally)> = tasks
        .into_par_iter()
        .map(|(level, seed)| {
            let (candidate, tally) = candidate(&specs[level].template, seed)?;
            Ok((
                candidate.map(|candidate| Entry {
                    level,
                    seed,
                    candidate,
                }),
                tally,
            ))
        })
        .collect::<anyhow::Result<_>>()?;
    let mut total = Tally::default();
    let mut entries = Vec::new();
    for (entry, tally) in found {
        total += tally;
        entries.extend(entry);
    }
    Ok((entries, total))
}
