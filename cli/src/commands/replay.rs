//! `parforce replay`: runs a job again and compares.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use board::job::{Counters, JobDigest};
use board::{ENGINE, Par};
use coordinator::store::{JobRecord, JobState};
use proto::convert::{Work, jam_counters};
use proto::ids::JobId;
use serde::{Deserialize, Serialize};

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::counted;
use crate::store::OpenStore;

/// Run a job again, on this machine, and compare its result bit for bit with what was reported.
///
/// A job's result is a function of its specification and the engine's version, on any number of threads. Nothing is
/// stored. A job that was never completed is run all the same, with no digest to compare. With --save the job is written
/// into a file, which --file runs again on any machine, without a database: records are handed on so (docs/records.md).
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce replay 17
  parforce replay 17 --threads 1 --json
  parforce replay 17 --save 8x8-par-89.job
  parforce replay --file docs/records/8x8-par-89.job

Exit status: 1 if the results differ, or the job was completed by another version of the engine")]
pub(crate) struct Arguments {
    /// The job's number, as `parforce jobs` lists it
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    job: Option<i64>,
    /// Write the job, with the digest that was reported, into this file; nothing is run
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    save: Option<PathBuf>,
    /// Run the job of this file
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Threads to search on [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

/// What came of a replay.
#[derive(Debug, Serialize)]
struct Replayed {
    /// Null: it came from a file.
    job: Option<i64>,
    kind: &'static str,
    engine: &'static str,
    digest: String,
    /// What was reported; null: the job was never completed.
    reported: Option<String>,
    /// Are they equal? Null: nothing to compare.
    equal: Option<bool>,
    /// Distinct ones; of a siren job, jams.
    boards: u64,
    clusters: u64,
    positions: u64,
    best_par: Option<u16>,
}

/// A job to run again.
struct Subject {
    work: Work,
    /// Engine and digest of the run that completed it.
    reported: Option<(String, String)>,
    /// Of what was handed in.
    best_par: Option<Par>,
}

/// A job in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobFile {
    /// For whoever opens it.
    kind: String,
    /// Who completed it; null: nobody.
    engine: Option<String>,
    digest: Option<String>,
    best_par: Option<u16>,
    /// Its message of the workers' contract, in hexadecimal digits.
    spec: String,
}

impl Subject {
    fn of_database(id: JobId, database: &DatabaseArguments) -> anyhow::Result<Subject> {
        let store = OpenStore::open(database)?;
        let job = store.wait(store.store.job(id))?;
        // The search needs no database.
        store.close()?;
        let job = job.with_context(|| format!("there is no job {id}"))?;
        Ok(Subject {
            reported: reported(&job),
            best_par: job.best_par,
            work: job.spec,
        })
    }

    fn of_file(path: &Path) -> anyhow::Result<Subject> {
        let read = || {
            let file: JobFile = serde_json::from_slice(&std::fs::read(path)?)?;
            let bytes = hex::decode(&file.spec).context("spec")?;
            let work = Work::from_bytes(&bytes).context("spec")?;
            if work.kind() != file.kind {
                bail!(
                    "kind is {:?}, but the spec is of kind {:?}",
                    file.kind,
                    work.kind()
                );
            }
            Ok(Subject {
                work,
                reported: file.engine.zip(file.digest),
                best_par: file.best_par.map(Par::new),
            })
        };
        read().with_context(|| format!("reading the job in {}", path.display()))
    }

    fn save(&self, path: &Path) -> anyhow::Result<()> {
        let file = JobFile {
            kind: self.work.kind().to_owned(),
            engine: self.reported.as_ref().map(|(engine, _)| engine.clone()),
            digest: self.reported.as_ref().map(|(_, digest)| digest.clone()),
            best_par: self.best_par.map(Par::get),
            spec: hex::encode(self.work.to_bytes()),
        };
        let text = serde_json::to_string_pretty(&file)? + "\n";
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let subject = match (&arguments.file, arguments.job) {
        (Some(path), _) => Subject::of_file(path)?,
        (None, job) => {
            let id = job.context("no job")?;
            let id = JobId::new(id).map_err(|error| UsageError(error.to_string()))?;
            Subject::of_database(id, &arguments.database)?
        }
    };
    if let Some(path) = &arguments.save {
        subject.save(path)?;
        say!("job of kind {} in {}", subject.work.kind(), path.display());
        return Ok(Outcome::Done);
    }
    let work = &subject.work;
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    if !arguments.json {
        say!(
            "replaying a {} job ({}) on {}",
            work.kind(),
            counted(work.n_iterations(), "iteration"),
            counted(threads as u64, "thread")
        );
    }
    let result = Ran::again(work, threads)?;
    let reported = &subject.reported;
    let replayed = Replayed {
        job: arguments.job,
        kind: work.kind(),
        engine: ENGINE,
        digest: result.digest.to_string(),
        equal: reported
            .as_ref()
            .map(|(engine, digest)| engine == ENGINE && *digest == result.digest.to_string()),
        reported: reported.as_ref().map(|(_, digest)| digest.clone()),
        boards: result.counters.found,
        clusters: result.counters.clusters,
        positions: result.counters.positions,
        best_par: result.best_par,
    };
    let mut out = std::io::stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&replayed)?)?;
    } else {
        tell(
            &mut out,
            &replayed,
            reported.as_ref().map(|(engine, _)| engine.as_str()),
            subject.best_par,
        )?;
    }
    Ok(if replayed.equal == Some(false) {
        Outcome::Refused
    } else {
        Outcome::Done
    })
}

/// What a job gave when it was run again.
struct Ran {
    digest: JobDigest,
    counters: Counters,
    best_par: Option<u16>,
}

impl Ran {
    fn again(work: &Work, n_threads: usize) -> anyhow::Result<Ran> {
        Ok(match work {
            Work::Boards(spec) => {
                let result = worker::replay(spec, n_threads)?;
                Ran {
                    digest: result.digest,
                    counters: result.counters,
                    best_par: result.found.iter().map(|found| found.par.get()).max(),
                }
            }
            Work::Jams(job) => {
                let result = worker::seeds::replay(job, n_threads)?;
                let par = result.found.iter().map(|found| found.par).max();
                Ran {
                    digest: JobDigest::from_bytes(result.tally.digest()),
                    counters: jam_counters(result.tally.attempts(), result.tally.n_found()),
                    best_par: par.and_then(|par| u16::try_from(par).ok()),
                }
            }
        })
    }
}

/// Engine and digest of the run that completed the job.
fn reported(job: &JobRecord) -> Option<(String, String)> {
    if job.state != JobState::Done {
        return None;
    }
    Some((job.engine.clone()?, job.digest.as_ref()?.to_string()))
}

fn tell(
    out: &mut impl Write,
    replayed: &Replayed,
    engine: Option<&str>,
    handed_in: Option<Par>,
) -> std::io::Result<()> {
    let best_par = replayed
        .best_par
        .map_or(String::from("none"), |par| par.to_string());
    if replayed.kind == "siren" {
        writeln!(out, "{}, best par {best_par}", counted(replayed.boards, "jam"))?;
    } else {
        writeln!(
            out,
            "{} distinct of {}, {}, best par {best_par}",
            counted(replayed.boards, "board"),
            counted(replayed.clusters, "cluster"),
            counted(replayed.positions, "position"),
        )?;
    }
    writeln!(out, "digest   {}", replayed.digest)?;
    match (&replayed.reported, engine, replayed.equal) {
        (Some(reported), _, Some(true)) => writeln!(out, "reported {reported}\nequal"),
        (Some(reported), Some(engine), _) if engine != ENGINE => {
            writeln!(
                out,
                "reported {reported}\nby engine {engine}; this is {ENGINE}, whose results may differ"
            )
        }
        (Some(reported), _, _) => writeln!(
            out,
            "reported {reported}\nDIFFERENT: the report was wrong, or the engine changed without its version"
        ),
        (None, _, _) => {
            writeln!(out, "the job was never completed: no digest to compare")?;
            match (handed_in.map(Par::get), replayed.best_par) {
                (Some(par), Some(best)) if best >= par => {
                    writeln!(out, "the hardest board it handed in, par {par}, is reached again")
                }
                (Some(par), _) => writeln!(
                    out,
                    "it handed in a board of par {par}, which is NOT reached again"
                ),
                (None, _) => Ok(()),
            }
        }
    }
}
