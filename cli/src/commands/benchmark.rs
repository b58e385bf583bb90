//! `parforce benchmark`: the same hunt from an empty database with several seeds, graded.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proto::ids::HuntId;
use serde::Serialize;
use tokio::process::Command;

use super::grade::{Grade, Milestone, grade};
use super::hunt::wish::parse_range;
use super::signals::Signals;
use super::{Outcome, UsageError};
use crate::output::table::{Align, Table};
use crate::output::{in_seconds, thousands};

/// The boards of the database that the project began with: 244,425 after two days of searching.
const SEED_BOARDS: u64 = 244_425;

/// Run one hunt from an empty database with each of several seeds, and print what each had found when, and the medians.
///
/// Every hunt has a data folder of its own below --out and stops when its time is up, or when it has found everything
/// that is asked: more than 244,425 boards, a board of every par there is, and all of par 40 or more; a deep hunt
/// stops at --until-par alone. Hunts run one after the other. Times are seconds from the beginning of a hunt and
/// processor time of its search threads: on a machine that does other things only the second can be compared. A
/// benchmark that is stopped goes on when it is asked for again, from the hunt that was under way, anew.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce benchmark --out /tmp/ten
  parforce benchmark --seeds 1..3 --aim deep --until-par 51 --minutes 5 --out /tmp/deep")]
pub(crate) struct Arguments {
    /// The seeds
    #[arg(long, value_name = "RANGE", default_value = "1..10", value_parser = parse_range)]
    seeds: RangeInclusive<u8>,
    /// The most that each hunt may take
    #[arg(long, value_name = "N", default_value_t = 20.0)]
    minutes: f64,
    /// Stop a hunt when a board of this par, or more, is found
    #[arg(long, value_name = "PAR", value_parser = clap::value_parser!(u16).range(1..))]
    until_par: Option<u16>,
    /// broad or deep
    #[arg(long, default_value = "broad")]
    aim: String,
    /// The lot
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: board::Lot,
    /// How many walls a board has
    #[arg(long, value_name = "RANGE", default_value = "0")]
    walls: String,
    /// How to search
    #[arg(long, value_name = "STRATEGIES", default_value = "mixed")]
    strategy: String,
    /// Threads to search on [default: one for each processor]
    #[arg(long, value_name = "N")]
    threads: Option<u16>,
    /// Folder for the data folders; those of seeds that were run before are read, not run again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON object a seed
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct OfSeed {
    seed: u8,
    #[serde(flatten)]
    grade: Grade,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if !(arguments.minutes > 0.0 && arguments.minutes.is_finite()) {
        return Err(UsageError(format!("--minutes {}, expected more than 0", arguments.minutes)).into());
    }
    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot make {}", arguments.out.display()))?;
    let _lock = lock(&arguments.out)?;
    let mut rows = Vec::new();
    for seed in arguments.seeds.clone() {
        let data = arguments.out.join(format!("seed-{seed}"));
        if !data.exists() {
            // A folder gets its name when its hunt is over: half a hunt is no result.
            let unfinished = arguments.out.join(format!("seed-{seed}.unfinished"));
            if unfinished.exists() {
                std::fs::remove_dir_all(&unfinished)
                    .with_context(|| format!("cannot remove {}", unfinished.display()))?;
            }
            hunt(arguments, seed, &unfinished).with_context(|| format!("the hunt of seed {seed}"))?;
            std::fs::rename(&unfinished, &data)
                .with_context(|| format!("cannot rename {}", unfinished.display()))?;
        }
        let row = OfSeed {
            seed,
            grade: graded(&data)?,
        };
        if arguments.json {
            writeln!(std::io::stdout(), "{}", serde_json::to_string(&row)?)?;
        } else {
            say!("{}", row.line());
        }
        rows.push(row);
    }
    if !arguments.json {
        write!(std::io::stdout(), "{}", table(&rows))?;
    }
    Ok(Outcome::Done)
}

impl OfSeed {
    /// What is said when the hunt is over, before the table.
    fn line(&self) -> String {
        let grade = &self.grade;
        format!(
            "seed {}: {} boards, best par {}, of par 40 or more {}",
            self.seed,
            thousands(grade.boards),
            grade.best_par.map_or(String::from("-"), |par| par.to_string()),
            hard(grade)
        )
    }
}

fn hard(grade: &Grade) -> String {
    match grade.hard {
        (Some(there_are), found) => format!("{found} of {there_are}"),
        (None, found) => found.to_string(),
    }
}

/// Two benchmarks in one folder would remove each other's hunts.
fn lock(out: &Path) -> anyhow::Result<File> {
    let path = out.join("benchmark.lock");
    let file = File::create(&path).with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another benchmark runs in {}", out.display()),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock {}", path.display()))
        }
    }
}

/// Runs the hunt of a seed in a process of its own: a hunt takes the terminal, the log and the signals of its process.
fn hunt(arguments: &Arguments, seed: u8, data: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["hunt", "--json", "--web", "127.0.0.1:0"])
        .arg("--data")
        .arg(data)
        .args(["--seed", &seed.to_string()])
        .args(["--minutes", &arguments.minutes.to_string()])
        .args(["--aim", &arguments.aim])
        .args(["--lot", &arguments.lot.to_string()])
        .args(["--walls", &arguments.walls])
        .args(["--strategy", &arguments.strategy]);
    if let Some(threads) = arguments.threads {
        command.args(["--threads", &threads.to_string()]);
    }
    match arguments.until_par {
        Some(par) => command.args(["--until-par", &par.to_string()]),
        None => command.args([
            "--until-complete",
            "40",
            "--until-boards",
            &SEED_BOARDS.to_string(),
        ]),
    };
    let (output, is_stopped) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run_to_its_end(command))?;
    if is_stopped {
        bail!("stopped; the same command goes on with it, from its beginning");
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}: {}", output.status, said.trim());
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).context("reading its report")?;
    if report["interrupted"] != false {
        bail!("stopped before its end; the same command goes on with it, from its beginning");
    }
    Ok(())
}

/// What the hunt printed, and whether it ended because we were asked to end: then it is asked too, and waited for.
async fn run_to_its_end(mut command: Command) -> std::io::Result<(std::process::Output, bool)> {
    let mut signals = Signals::listen()?;
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
    let mut output = std::pin::pin!(child.wait_with_output());
    tokio::select! {
        output = &mut output => return Ok((output?, false)),
        () = signals.next() => {}
    }
    if let Some(pid) = pid {
        // It may have had the same signal from the terminal, and have ended over it.
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
    Ok((output.await?, true))
}

fn graded(data: &Path) -> anyhow::Result<Grade> {
    let arguments = super::DatabaseArguments::of_folder(data.to_path_buf());
    let store = crate::store::OpenStore::open(&arguments)?;
    let graded = store.wait(async {
        let id = HuntId::new(1)?;
        let hunt = store.store.hunt(id).await?.context("there is no hunt in it")?;
        grade(&store.store, &hunt, SEED_BOARDS).await
    });
    store.close()?;
    graded.with_context(|| format!("grading {}", data.display()))
}

fn table(rows: &[OfSeed]) -> String {
    let names: Vec<String> = rows
        .first()
        .map(|row| row.grade.milestones.iter().map(|m| m.what.clone()).collect())
        .unwrap_or_default();
    let mut columns: Vec<(&str, Align)> = vec![
        ("seed", Align::Right),
        ("boards", Align::Right),
        ("best par", Align::Right),
        ("par 40+", Align::Right),
    ];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let at = |milestones: &[Milestone], idx: usize| {
        let milestone = milestones.get(idx)?;
        milestone.seconds.zip(milestone.cpu_seconds)
    };
    let spelled = |at: Option<(f64, f64)>| {
        at.map_or(String::from("never"), |(seconds, cpu)| {
            format!("{}, {} CPU", in_seconds(seconds), in_seconds(cpu))
        })
    };
    for row in rows {
        let grade = &row.grade;
        let mut cells = vec![
            row.seed.to_string(),
            thousands(grade.boards),
            grade.best_par.map_or(String::from("-"), |par| par.to_string()),
            hard(grade),
        ];
        cells.extend((0..names.len()).map(|idx| spelled(at(&grade.milestones, idx))));
        table.row(cells);
    }
    if rows.len() > 1 {
        let mut cells = vec![
            String::from("median"),
            thousands(middle(rows.iter().map(|row| row.grade.boards))),
            middle(rows.iter().map(|row| row.grade.best_par.unwrap_or(0))).to_string(),
            middle(rows.iter().map(|row| row.grade.hard.1)).to_string(),
        ];
        for idx in 0..names.len() {
            // A hunt that never got there is later than all that did.
            let mut all: Vec<Option<(f64, f64)>> =
                rows.iter().map(|row| at(&row.grade.milestones, idx)).collect();
            all.sort_by(|a, b| {
                let key = |at: &Option<(f64, f64)>| at.map_or(f64::INFINITY, |(_, cpu)| cpu);
                key(a).total_cmp(&key(b))
            });
            // Of an even number the later one: a median is not to flatter.
            cells.push(spelled(all[all.len() / 2]));
        }
        table.row(cells);
    }
    table.to_string()
}

/// The lower of the middle ones.
fn middle<T: Ord + Copy + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values
        .get(values.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_is_the_lower_one() {
        assert_eq!(middle([4_u64, 1, 3, 2].into_iter()), 2);
        assert_eq!(middle([5_u64, 1, 3].into_iter()), 3);
        assert_eq!(middle(std::iter::empty::<u64>()), 0);
    }
}
