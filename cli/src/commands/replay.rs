//! `parforce replay`: runs a job again and compares.

use std::io::Write;

use anyhow::Context;
use board::ENGINE;
use board::job::{Counters, JobDigest};
use coordinator::store::{JobRecord, JobState};
use proto::convert::{Work, jam_counters};
use proto::ids::JobId;
use serde::Serialize;

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::counted;
use crate::store::OpenStore;

/// Run a job again, on this machine, and compare its result bit for bit with what was reported.
///
/// A job's result is a function of its specification and the engine's version, on any number of threads. Nothing is
/// stored. A job that was never completed is run all the same, with nothing to compare.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce replay 17
  parforce replay 17 --threads 1 --json

Exit status: 1 if the results differ, or the job was completed by another version of the engine")]
pub(crate) struct Arguments {
    /// The job's number, as `parforce jobs` lists it
    job: i64,
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
    job: i64,
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

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let id = JobId::new(arguments.job).map_err(|error| UsageError(error.to_string()))?;
    let store = OpenStore::open(&arguments.database)?;
    let job = store.wait(store.store.job(id))?;
    // The search needs no database.
    store.close()?;
    let job = job.with_context(|| format!("there is no job {id}"))?;
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    if !arguments.json {
        eprintln!(
            "replaying job {id} ({}, {}) on {}",
            job.spec.kind(),
            counted(job.spec.n_iterations(), "iteration"),
            counted(threads as u64, "thread")
        );
    }
    let result = Ran::again(&job.spec, threads)?;
    let reported = reported(&job);
    let replayed = Replayed {
        job: arguments.job,
        kind: job.spec.kind(),
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

fn tell(out: &mut impl Write, replayed: &Replayed, engine: Option<&str>) -> std::io::Result<()> {
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
        (None, _, _) => writeln!(out, "the job was never completed: nothing to compare"),
    }
}
