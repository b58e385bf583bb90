//! `parforce siren generate`: one level, from a plan's template or one of your own, and a seed.

use std::path::PathBuf;

use anyhow::{Context, bail};
use siren::campaign::level_of;
use siren::generate::candidate;
use siren::generate::template::Template;
use siren::plan::LevelSpec;

use super::super::{Outcome, UsageError};
use super::files;

/// Generate one level and print its file
///
/// The level is that of a plan (--world, --level), or of a template file (--template: JSON with the fields of a plan's
/// start or end, and "unit" and "features"). The same template and seed always give the same level.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The plan [default: the one that ships]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The plan's world, counted from 1
    #[arg(long, value_name = "N", requires = "level", conflicts_with = "template")]
    world: Option<u32>,
    /// The world's level, counted from 1
    #[arg(long, value_name = "N", requires = "world")]
    level: Option<u32>,
    /// A template of your own
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    /// The seed [default: the first of the plan's level, or 0]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Margin of the move limit in percent, for a template of your own
    #[arg(long, value_name = "PERCENT", default_value_t = 30, requires = "template")]
    slack: u32,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let spec = spec(arguments)?;
    let seed = arguments.seed.unwrap_or(spec.seeds[0]);
    let (found, tally) = candidate(&spec.template, seed)?;
    let Some(found) = found else {
        say!("seed {seed} gives no level in {} attempts", tally.attempts);
        return Ok(Outcome::Refused);
    };
    for miss in found.measures.misses(&spec.template) {
        say!("note: {miss}");
    }
    let mut level = level_of(&spec, seed, &found.jam);
    if arguments.template.is_some() {
        level.campaign = None;
        level.name = format!("Seed {seed}");
    }
    print!("{}", level.spell());
    Ok(Outcome::Done)
}

fn spec(arguments: &Arguments) -> anyhow::Result<LevelSpec> {
    if let Some(path) = &arguments.template {
        let template: Template =
            serde_json::from_str(&files::read_text(path)?).with_context(|| path.display().to_string())?;
        return Ok(LevelSpec {
            world: String::new(),
            world_number: 0,
            number: 0,
            template,
            slack_percent: arguments.slack,
            tutorial: None,
            seeds: [0; siren::plan::SEEDS_PER_LEVEL],
        });
    }
    let (Some(world), Some(number)) = (arguments.world, arguments.level) else {
        bail!(UsageError(
            "name a level of the plan (--world, --level) or a template (--template)".to_owned()
        ));
    };
    let mut levels = files::read_plan(arguments.plan.as_deref())?.levels().into_iter();
    let spec = levels.find(|spec| spec.world_number == world && spec.number == number);
    spec.ok_or_else(|| UsageError(format!("the plan has no level {number} in a world {world}")).into())
}
