//! A load generator: thousands of workers as a coordinator sees them, on one machine, without a search thread.
//!
//! Each says hello, takes a job of a running hunt, and beats; then some hand in boards that are known by then. What the
//! calls took, and what the coordinator's process spent on them, is printed. `docs/reliability.md` tells how to run it.
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

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use board::ENGINE;
use board::cluster::Explorer;
use clap::Parser;
use proto::convert::{Acquire, Batch, Beat, Hello, JobKind, Lease, LeaseBeat, StatedBoard};
use proto::ids::{BatchId, Incarnation, RequestId, Session};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use uuid::Uuid;
use worker::client::Client;

/// The kernel's unit of processor time in `/proc`, in milliseconds.
const TICK_MS: u64 = 10;

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
    /// The coordinator's process, whose processor time and memory are looked at
    #[arg(long)]
    pid: Option<u32>,
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
    let meter = Meter::start(arguments.pid);
    let (callers, took) = all_at_once(&arguments, (0..arguments.workers).collect(), |idx| {
        join(clients[idx % clients.len()].clone(), idx)
    })
    .await?;
    report("hello", took, &meter);
    let meter = Meter::start(arguments.pid);
    let (callers, took) = all_at_once(&arguments, callers, acquire).await?;
    report("acquire", took, &meter);
    let n_held = callers.iter().filter(|caller| caller.lease.is_some()).count();
    println!("{n_held} of {} hold a job", callers.len());
    let meter = Meter::start(arguments.pid);
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

async fn acquire(caller: Caller) -> anyhow::Result<Caller> {
    let wish = Acquire {
        request: RequestId::new(Uuid::new_v4()),
        session: caller.session,
        n_free_slots: 1,
        kinds: vec![JobKind::Scatter],
        wait: Duration::ZERO,
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
                caller.client.heartbeat(beat).await?;
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

/// Some run their jobs and hand the boards in, again and again under new ids: known boards, all but the first time.
async fn submit_all(arguments: &Arguments, callers: Vec<Caller>) -> anyhow::Result<()> {
    let mut ready = Vec::new();
    for caller in callers
        .into_iter()
        .filter(|caller| caller.lease.is_some())
        .take(arguments.submitters)
    {
        let work = &caller.lease.as_ref().context("filtered")?.spec;
        let spec = work.boards().context("a job of boards was asked for")?.clone();
        let found = tokio::task::spawn_blocking(move || spec.run(&mut Explorer::new()).found).await?;
        let boards: Vec<StatedBoard> = found
            .iter()
            .map(StatedBoard::from)
            .take(proto::MAX_BOARDS_PER_BATCH)
            .collect();
        hand_in(&caller, &boards).await?;
        ready.push((caller, boards));
    }
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    let (begun, meter) = (Instant::now(), Meter::start(arguments.pid));
    let mut handing_in = JoinSet::new();
    for (caller, boards) in ready {
        handing_in.spawn(async move {
            let (mut n_boards, mut took) = (0, Vec::new());
            while Instant::now() < until {
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
        "{:.0} known boards a second",
        n_boards as f64 / begun.elapsed().as_secs_f64()
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
    };
    let ack = caller.client.submit_boards(batch).await?;
    ensure!(
        ack.rejected.is_empty(),
        "boards of an honest worker were rejected: {ack:?}"
    );
    Ok(())
}

/// Processor time of a process since the meter was started.
struct Meter {
    pid: Option<u32>,
    begun: Instant,
    cpu_ms: u64,
}

impl Meter {
    fn start(pid: Option<u32>) -> Meter {
        Meter {
            pid,
            begun: Instant::now(),
            cpu_ms: cpu_ms(pid).unwrap_or(0),
        }
    }
}

/// User and system time of a process, the threads that search for it left out.
fn cpu_ms(pid: Option<u32>) -> Option<u64> {
    let mut ticks = 0;
    for thread in fs::read_dir(format!("/proc/{}/task", pid?)).ok()?.flatten() {
        let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // After the name in brackets: the state is field 3, the times are fields 14 and 15.
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        if !name.starts_with("search-") && fields.len() > 12 {
            ticks += fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
        }
    }
    Some(ticks * TICK_MS)
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
    if let (Some(pid), Some(now)) = (meter.pid, cpu_ms(meter.pid)) {
        let spent_ms = now - meter.cpu_ms;
        println!(
            "  coordinator: {:.0} us of processor a call, {:.2} cores, {} MiB",
            spent_ms as f64 * 1_000.0 / took.len().max(1) as f64,
            spent_ms as f64 / 1_000.0 / seconds,
            memory_mib(pid).unwrap_or(0)
        );
    }
}
