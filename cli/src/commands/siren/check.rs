//! `parforce siren check`: is every level fit to ship?

use std::path::PathBuf;

use siren::check::{check_level, coverage, duplicates};
use siren::level::Level;
use siren::plan::LevelSpec;

use super::super::Outcome;
use super::files;
use crate::output::counted;

/// Check level files: one line for each fault, and status 1 if there is any
///
/// Each level is read, solved anew and played on a plain simulator: valid, solvable, the whole lot clearable, the unit
/// boxed in, no gap in a lane, nothing in a lane that could simply drive off, move limit and star times fair. Levels of a
/// campaign must meet the ranges of its plan, and no two levels may be the same up to turning and mirroring. With --plan,
/// all levels of the plan must be there.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Level files, or folders of them
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// The plan, all of whose levels must be there [default: the plan that ships, for the levels that are there]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let plan = files::read_plan(arguments.plan.as_deref())?.levels();
    let mut n_faults = 0_u64;
    let mut fault = |place: &str, what: &dyn std::fmt::Display| {
        println!("{place}: {what}");
        n_faults += 1;
    };
    let mut levels: Vec<(String, Level)> = Vec::new();
    for file in files::level_files(&arguments.paths)? {
        let name = file.display().to_string();
        match files::read_level(&file)? {
            Err(why) => fault(&name, &why),
            Ok(level) => {
                for why in check_level(&level, &plan) {
                    fault(&name, &why);
                }
                levels.push((name, level));
            }
        }
    }
    let named = || levels.iter().map(|(name, level)| (name.as_str(), level));
    for (name, why) in duplicates(named()) {
        fault(&name, &why);
    }
    let wanted: &[LevelSpec] = if arguments.plan.is_some() { &plan } else { &[] };
    for (name, why) in coverage(named(), wanted) {
        fault(name.as_deref().unwrap_or("plan"), &why);
    }
    say!(
        "{}, {}",
        counted(levels.len() as u64, "level"),
        counted(n_faults, "fault")
    );
    Ok(if n_faults == 0 {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}
