//! `parforce siren campaign`: every level of a plan, through the farm.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use coordinator::Store;
use coordinator::jobs::campaign::{AssembleError, levels_of};
use coordinator::store::HuntRecord;
use proto::convert::NewCampaign;
use serde::Serialize;
use siren::plan::Plan;

use super::super::Outcome;
use super::super::hunt::live::clock;
use super::super::hunt::{Errand, FarmArguments, run_farm};
use super::files;
use crate::output::{counted, thousands};

/// Generate the campaign of a plan, through the farm: one level file each
///
/// Each level is a job: its six seeds are tried, every jam found is proved and stored (table jams), and the best of each
/// level is taken. Runs on this machine as `parforce hunt` does; other workers may join (--listen). The same plan gives
/// the same bytes on any number of threads and workers, whichever of them are lost. Stopped and run again it goes on
/// where it stopped. Files are written as DIR/WORLD-LEVEL-NAME.json; files that are there already under these names are
/// replaced.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce siren campaign --out levels
  parforce siren campaign --plan plan.json --out levels --listen 0.0.0.0:7400

Exit status: 1 if a level is missing: interrupted, or none of its seeds meets the plan")]
pub(super) struct Arguments {
    /// The plan [default: the one that ships]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// The folder for the level files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Name of the campaign; one of this name and plan goes on where it stopped [default: made from the plan]
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    farm: FarmArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let plan = files::read_plan(arguments.plan.as_deref())?;
    // Now, not after minutes of work.
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let wish = NewCampaign {
        name: arguments.name.clone().unwrap_or_else(|| usual_name(&plan)),
        plan,
        priority: 0,
    };
    run_farm(&arguments.farm, &Errand::Campaign(wish, &arguments.out))
}

/// A name that only this plan has, so that the same command goes on with the same campaign.
fn usual_name(plan: &Plan) -> String {
    format!(
        "campaign of {}, plan {:016x}, engine {}",
        counted(plan.levels().len() as u64, "level"),
        plan.fingerprint(),
        siren::ENGINE,
    )
}

/// The result as JSON.
#[derive(Debug, Serialize)]
struct Report {
    hunt: i64,
    name: String,
    /// running (interrupted before its end) or done.
    state: &'static str,
    seconds: u64,
    levels: u64,
    levels_done: u64,
    levels_parked: u64,
    /// Seeds that gave a level, and how many different jams these are.
    finds: u64,
    jams: u64,
    /// Level files written.
    written: u64,
    /// Why there are none; null: there are.
    missing: Option<String>,
}

/// Writes the level files of a campaign if all its levels are done, and says on standard output how it went.
pub(in crate::commands) async fn finish(
    store: &Store,
    hunt: &HuntRecord,
    out: &Path,
    took: Duration,
    json: bool,
) -> anyhow::Result<Outcome> {
    let (written, missing) = match levels_of(store, hunt.id).await {
        Ok(levels) => {
            for (spec, level) in &levels {
                let path = out.join(spec.file_stem()).with_extension("json");
                std::fs::write(&path, level.spell()).with_context(|| path.display().to_string())?;
            }
            (levels.len() as u64, None)
        }
        Err(why @ (AssembleError::Unfinished { .. } | AssembleError::NoLevel(_))) => {
            (0, Some(why.to_string()))
        }
        Err(why) => return Err(why.into()),
    };
    let progress = store
        .campaign_progress(hunt.id)
        .await?
        .context("the campaign has vanished")?;
    let state = store.hunt(hunt.id).await?.context("the hunt has vanished")?.state;
    let report = Report {
        hunt: hunt.id.get(),
        name: hunt.name.clone(),
        state: state.as_str(),
        seconds: took.as_secs(),
        levels: progress.n_levels,
        levels_done: progress.n_done,
        levels_parked: progress.n_parked,
        finds: progress.n_finds,
        jams: progress.n_distinct,
        written,
        missing,
    };
    let mut stdout = std::io::stdout().lock();
    if json {
        writeln!(stdout, "{}", serde_json::to_string(&report)?)?;
    } else {
        for_people(&mut stdout, &report, out)?;
    }
    Ok(if report.missing.is_none() {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

fn for_people(stdout: &mut impl Write, report: &Report, out: &Path) -> std::io::Result<()> {
    writeln!(
        stdout,
        "{} of {} tried, {} distinct {}, {}",
        thousands(report.levels_done),
        counted(report.levels, "level"),
        thousands(report.jams),
        if report.jams == 1 { "jam" } else { "jams" },
        clock(Duration::from_secs(report.seconds)),
    )?;
    match &report.missing {
        None => writeln!(
            stdout,
            "{} in {}\nnext: parforce siren check {}",
            counted(report.written, "level"),
            out.display(),
            out.display(),
        ),
        Some(why) => writeln!(
            stdout,
            "no levels written: {why}\nthe same command goes on from here"
        ),
    }
}
