//! A load generator: thousands of workers as a coordinator sees them, on one machine, without a search thread.
//!
//! Each says hello, takes a job of a running hunt, and beats; then some hand in boards, of which a share is new. With
//! `--idle` they wait for work that is not there instead. What the calls took, and what the processes of coordinator and
//! database spent on them, is printed. `docs/reliability.md` tells how to run it.
//!
//! ```text
//! cargo run --release -p worker --example load -- --coordinator http://127.0.0.1:7400 --workers 1000 --pid PID
//! ```

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures for people"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use board::ENGINE;
use board::cluster::Explorer;
use clap::Parser;
use proto::MAX_BOARDS_PER_BATCH;
use proto::convert::{Acquire, Batch, Beat, Hello, JobKind, Lease, LeaseBeat, StatedBoard};
use proto::ids::{BatchId, Incarnation, RequestId, Session};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use uuid::Uuid;
use worker::client::Client;

/// The kernel's unit of processor time in `/proc`, in milliseconds.
const TICK_MS: u64 = 10;

/// How long a call waits for work.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// New boards are kept ready for so many batches a second.
const MOST_BATCHES_A_SECOND: usize = 150;

/// Ask much of a coordinator, and say how it bears it.
#[derive(Debug, Parser)]
struct Arguments {
    /// The coordinator's address
    #[arg(long, default_value = "http://127.0.0.1:7400")]
    coordinator: String,
    /// Workers to stand for
    #[arg(long, default_value_t = 1_000)]
    workers: usize,
    /// Connections they share; real workers have one each
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// How long they beat, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How often each beats, in milliseconds
    #[arg(long, default_value_t = 15_000)]
    beat_ms: u64,
    /// Calls of joining and of acquiring that are under way at once
    #[arg(long, default_value_t = 64)]
    at_once: usize,
    /// Those that hand in boards at once in the end; 0: none
    #[arg(long, default_value_t = 8)]
    submitters: usize,
    /// Boards of a batch
    #[arg(long, default_value_t = 1_000)]
    batch: usize,
    /// How many of them are new
    #[arg(long, default_value_t = 10)]
    new: usize,
    /// How long they hand in, in seconds
    #[arg(long, default_value_t = 30)]
    submit_seconds: u64,
    /// Nobody works: all wait for work, for as long as they would beat
    #[arg(long)]
    idle: bool,
    /// The coordinator's process, whose processor time and memory are looked at
    #[arg(long)]
    pid: Option<u32>,
    /// The database's first process, the same, with those that it started
    #[arg(long)]
    database_pid: Option<u32>,
}

/// A worker that does nothing but call.
#[derive(Clone)]
struct Caller {
    client: Client,
    session: Session,
    lease: Option<Lease>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    ensure!(
        arguments.workers > 0 && arguments.connections > 0,
        "workers and connections, expected 1 or more"
    );
    let clients: Vec<Client> = (0..arguments.connections)
        .map(|_| Client::new(&arguments.coordinator, &worker::door::Door::default()))
        .collect::<Result<_, _>>()?;
    let meter = Meter::start(&arguments);
    let (callers, took) = all_at_once(&arguments, (0..arguments.workers).collect(), |idx| {
        join(clients[idx % clients.len()].clone(), idx)
    })
    .await?;
    report("hello", took, &meter);
    if arguments.idle {
        let meter = Meter::start(&arguments);
        report("waiting acquire", wait_all(&arguments, &callers).await?, &meter);
        return Ok(());
    }
    let meter = Meter::start(&arguments);
    let (callers, took) = all_at_once(&arguments, callers, |caller| acquire(caller, MAX_WAIT)).await?;
    report("acquire", took, &meter);
    let n_held = callers.iter().filter(|caller| caller.lease.is_some()).count();
    println!("{n_held} of {} hold a job", callers.len());
    let meter = Meter::start(&arguments);
    report("beat", beat_all(&arguments, &callers).await?, &meter);
    if arguments.submitters > 0 {
        submit_all(&arguments, callers).await?;
    }
    Ok(())
}

/// Makes one call for each, so many at once; what came of them, and how long each took.
async fn all_at_once<I, T, F>(
    arguments: &Arguments,
    inputs: Vec<I>,
    call: impl Fn(I) -> F,
) -> anyhow::Result<(Vec<T>, Vec<Duration>)>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<T>> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(arguments.at_once));
    let mut calls = JoinSet::new();
    for input in inputs {
        let permit = Arc::clone(&room).acquire_owned().await?;
        let call = call(input);
        calls.spawn(async move {
            let begun = Instant::now();
            let outcome = call.await;
            drop(permit);
            outcome.map(|outcome| (outcome, begun.elapsed()))
        });
    }
    let mut all = (Vec::new(), Vec::new());
    while let Some(outcome) = calls.join_next().await {
        let (outcome, took) = outcome??;
        all.0.push(outcome);
        all.1.push(took);
    }
    Ok(all)
}

async fn join(client: Client, idx: usize) -> anyhow::Result<Caller> {
    let hello = Hello {
        worker_name: format!("load-{idx}"),
        incarnation: Incarnation::new(Uuid::new_v4()),
        protocol: proto::PROTOCOL..=proto::PROTOCOL,
        engine: ENGINE.to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        n_slots: 1,
        n_threads: 1,
        cpu: String::new(),
        self_test: board::SELF_TEST.to_vec(),
    };
    let session = client.hello(hello).await?.session;
    Ok(Caller {
        client,
        session,
        lease: None,
    })
}

async fn acquire(caller: Caller, wait: Duration) -> anyhow::Result<Caller> {
    let wish = Acquire {
        request: RequestId::new(Uuid::new_v4()),
        session: caller.session,
        n_free_slots: 1,
        kinds: vec![JobKind::Scatter],
        wait,
    };
    let acquired = caller.client.acquire(wish).await?;
    Ok(Caller {
        lease: acquired.leases.into_iter().next(),
        ..caller
    })
}

/// Everybody beats at the interval, evenly spread over it.
async fn beat_all(arguments: &Arguments, callers: &[Caller]) -> anyhow::Result<Vec<Duration>> {
    let interval = Duration::from_millis(arguments.beat_ms);
    let begun = tokio::time::Instant::now();
    let until = begun + Duration::from_secs(arguments.seconds);
    let mut beating = JoinSet::new();
    for (idx, caller) in callers.iter().cloned().enumerate() {
        let offset = interval.mul_f64(idx as f64 / callers.len() as f64);
        beating.spawn(async move {
            let mut took = Vec::new();
            let mut at = begun + offset;
            for seq in 1.. {
                if at >= until {
                    break;
                }
                tokio::time::sleep_until(at).await;
                let leases = caller.lease.iter().map(|lease| LeaseBeat {
                    job: lease.job,
                    token: lease.token,
                    work_done: seq,
                    rate: 1_000.0,
                    best_par: None,
                    checkpoint: None,
                });
                let beat = Beat {
                    session: caller.session,
                    seq,
                    leases: leases.collect(),
                };
                // From when it was due: a coordinator that is slow makes the next ones late too.
                if let Err(error) = caller.client.heartbeat(beat).await {
                    eprintln!("a beat had no answer: {error}");
                }
                took.push(at.elapsed());
                at += interval;
            }
            anyhow::Ok(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = beating.join_next().await {
        all.extend(took??);
    }
    Ok(all)
}

/// Everybody waits for work again and again; those that get some go on asking.
async fn wait_all(arguments: &Arguments, callers: &[Caller]) -> anyhow::Result<Vec<Duration>> {
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    let mut waiting = JoinSet::new();
    for (idx, mut caller) in callers.iter().cloned().enumerate() {
        // As workers that became idle one after the other.
        let offset = MAX_WAIT.mul_f64(idx as f64 / callers.len() as f64);
        waiting.spawn(async move {
            let mut took = Vec::new();
            tokio::time::sleep(offset).await;
            while Instant::now() < until {
                let begun = Instant::now();
                caller = acquire(caller, MAX_WAIT).await?;
                took.push(begun.elapsed());
            }
            anyhow::Ok(took)
        });
    }
    let mut all = Vec::new();
    while let Some(took) = waiting.join_next().await {
        all.extend(took??);
    }
    Ok(all)
}

/// Boards that the jobs of these callers find, at least so many if there are, each once.
async fn boards_of(callers: &[Caller], n_wanted: usize) -> anyhow::Result<Vec<StatedBoard>> {
    let works: Vec<_> = callers
        .iter()
        .filter_map(|caller| caller.lease.as_ref()?.spec.boards().cloned())
        .collect();
    let found = tokio::task::spawn_blocking(move || {
        let (mut explorer, mut found) = (Explorer::new(), BTreeMap::new());
        for spec in works {
            if found.len() >= n_wanted {
                break;
            }
            let boards = spec.run(&mut explorer).found;
            found.extend(
                boards
                    .iter()
                    .map(|board| (board.canonical.to_string(), board.into())),
            );
        }
        found
    });
    Ok(found.await?.into_values().collect())
}

/// Some hand in boards, again and again under new ids: known ones, and among them each time some that are new.
async fn submit_all(arguments: &Arguments, callers: Vec<Caller>) -> anyhow::Result<()> {
    let n_known = arguments.batch.min(MAX_BOARDS_PER_BATCH) - arguments.new;
    let n_spare = arguments.new * arguments.submit_seconds as usize * MOST_BATCHES_A_SECOND;
    let holding = callers.iter().filter(|caller| caller.lease.is_some());
    let submitters: Vec<Caller> = holding.take(arguments.submitters).cloned().collect();
    let mut fresh = boards_of(&callers, n_known + n_spare).await?;
    ensure!(
        fresh.len() > n_known,
        "the jobs found {} boards, expected more than {n_known}",
        fresh.len()
    );
    let known = fresh.split_off(fresh.len() - n_known);
    println!("{} known boards, {} that are new", known.len(), fresh.len());
    for caller in submitters.iter().take(1) {
        hand_in(caller, &known).await?;
    }
    let until = Instant::now() + Duration::from_secs(arguments.submit_seconds);
    let (begun, meter) = (Instant::now(), Meter::start(arguments));
    let (fresh, n_new) = (Arc::new(Mutex::new(fresh)), arguments.new);
    let mut handing_in = JoinSet::new();
    for caller in submitters {
        let (known, fresh) = (known.clone(), Arc::clone(&fresh));
        handing_in.spawn(async move {
            let (mut n_boards, mut took) = (0, Vec::new());
            while Instant::now() < until {
                let mut boards = known.clone();
                {
                    let mut fresh = fresh.lock().unwrap_or_else(PoisonError::into_inner);
                    let left = fresh.len().saturating_sub(n_new);
                    boards.extend(fresh.drain(left..));
                }
                let begun = Instant::now();
                hand_in(&caller, &boards).await?;
                took.push(begun.elapsed());
                n_boards += boards.len();
            }
            anyhow::Ok((n_boards, took))
        });
    }
    let (mut n_boards, mut all) = (0, Vec::new());
    while let Some(outcome) = handing_in.join_next().await {
        let (n, took) = outcome??;
        n_boards += n;
        all.extend(took);
    }
    println!(
        "{:.0} boards a second, {} new ones left over",
        n_boards as f64 / begun.elapsed().as_secs_f64(),
        fresh.lock().unwrap_or_else(PoisonError::into_inner).len()
    );
    report("submit", all, &meter);
    Ok(())
}

async fn hand_in(caller: &Caller, boards: &[StatedBoard]) -> anyhow::Result<()> {
    let lease = caller.lease.as_ref().context("who hands in holds a lease")?;
    let batch = Batch {
        session: caller.session,
        id: BatchId::new(Uuid::new_v4()),
        job: lease.job,
        token: lease.token,
        boards: boards.to_vec(),
        jams: Vec::new(),
        known: Vec::new(),
    };
    let ack = caller.client.submit_boards(batch).await?;
    ensure!(
        ack.rejected.is_empty(),
        "boards of an honest worker were rejected: {ack:?}"
    );
    Ok(())
}

/// Processor time of the coordinator and of the database since the meter was started.
struct Meter {
    begun: Instant,
    coordinator: Option<u32>,
    database: Option<u32>,
    spent_ms: (u64, u64),
}

impl Meter {
    fn start(arguments: &Arguments) -> Meter {
        let mut meter = Meter {
            begun: Instant::now(),
            coordinator: arguments.pid,
            database: arguments.database_pid,
            spent_ms: (0, 0),
        };
        meter.spent_ms = meter.read_ms();
        meter
    }

    fn read_ms(&self) -> (u64, u64) {
        let coordinator = self.coordinator.and_then(cpu_ms).unwrap_or(0);
        let database = self
            .database
            .map_or(0, |first| family(first).into_iter().filter_map(cpu_ms).sum());
        (coordinator, database)
    }
}

/// User and system time of a process, the threads that search for it left out, and of its children that have ended.
fn cpu_ms(pid: u32) -> Option<u64> {
    let mut ticks = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let fields = stat(&thread.path())?;
        // The state is field 3, the times are fields 14 and 15.
        if !name.starts_with("search-") {
            ticks += fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        }
    }
    let process = stat(Path::new(&format!("/proc/{pid}")))?;
    ticks += process.get(13)?.parse::<u64>().ok()? + process.get(14)?.parse::<u64>().ok()?;
    Some(ticks * TICK_MS)
}

/// The fields of a process's line from the third on, after its name in brackets.
fn stat(folder: &Path) -> Option<Vec<String>> {
    let line = fs::read_to_string(folder.join("stat")).ok()?;
    Some(
        line.rsplit(')')
            .next()?
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    )
}

/// A process and its children.
fn family(first: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let of_family = |&pid: &u32| {
        pid == first
            || stat(Path::new(&format!("/proc/{pid}")))
                .is_some_and(|fields| fields.get(1) == Some(&first.to_string()))
    };
    pids.filter(of_family).collect()
}

fn memory_mib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

fn report(call: &str, mut took: Vec<Duration>, meter: &Meter) {
    took.sort_unstable();
    let at = |share: f64| {
        let idx = (took.len() as f64 * share) as usize;
        took.get(idx.min(took.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
            .as_secs_f64()
            * 1_000.0
    };
    let seconds = meter.begun.elapsed().as_secs_f64();
    println!(
        "{call}: {} calls, {:.0} a second, p50 {:.1} ms, p99 {:.1} ms, worst {:.1} ms",
        took.len(),
        took.len() as f64 / seconds,
        at(0.50),
        at(0.99),
        at(1.0)
    );
    let now = meter.read_ms();
    let spent = [
        (
            "coordinator",
            now.0.saturating_sub(meter.spent_ms.0),
            meter.coordinator,
        ),
        ("database", now.1.saturating_sub(meter.spent_ms.1), meter.database),
    ];
    for (whose, spent_ms, pid) in spent {
        let Some(pid) = pid else { continue };
        println!(
            "  {whose}: {:.0} us of processor a call, {:.2} cores, {} MiB, {} processes",
            spent_ms as f64 * 1_000.0 / took.len().max(1) as f64,
            spent_ms as f64 / 1_000.0 / seconds,
            memory_mib(pid).unwrap_or(0),
            family(pid).len(),
        );
    }
}
