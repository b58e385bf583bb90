//! Real faults on real processes, at random moments of a hunt: nothing acknowledged is lost, nothing is stored twice.
//!
//! Each kind of fault is tried `PARFORCE_FAULTS_TIMES` times (1); the table that comes of it is printed, and is what
//! docs/reliability.md shows. `.ci/faults` runs it long. The moments are drawn from `PARFORCE_FAULTS_SEED` (0), as far as
//! processes can be told what to do at a moment.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../common/mod.rs"]
mod common;
mod farm;
mod proxy;
mod table;

use std::collections::BTreeSet;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use board::cluster::Explorer;
use board::stream::Stream;
use board::{Canonical, StateLimit};
use common::wait_until;
use farm::{Farm, LEASE_S};
use nix::sys::signal::Signal;
use table::{Row, markdown};

/// A fault: what it is called, and how it is made and ended again.
type Fault = (&'static str, fn(&mut Farm, &mut Stream));

const FAULTS: [Fault; 11] = [
    ("worker killed (kill -9)", |farm, _| {
        farm.kill_worker(0);
        farm.start_worker(0);
    }),
    ("worker stopped past its lease (SIGSTOP)", |farm, _| {
        farm.signal_worker(0, Signal::SIGSTOP);
        wait_until("its leases are taken away", || {
            farm.number(
                "SELECT 1 + count(*) FROM jobs JOIN workers w ON w.id = worker_id
                WHERE state = 'leased' AND w.name = 'worker-0'",
            ) == 1
        });
        farm.signal_worker(0, Signal::SIGCONT);
    }),
    ("both coordinators killed", |farm, _| {
        farm.kill_coordinator(0);
        farm.kill_coordinator(1);
        farm.start_coordinator(0);
        farm.start_coordinator(1);
    }),
    ("both coordinators stopped past every lease", |farm, _| {
        farm.signal_coordinators(Signal::SIGSTOP);
        wait_until("every lease has run out", || {
            farm.number(
                "SELECT 1 + count(*) FROM jobs WHERE state = 'leased' AND expires_at > clock_timestamp()",
            ) == 1
        });
        farm.signal_coordinators(Signal::SIGCONT);
    }),
    ("one of two coordinators killed", |farm, draws| {
        let which = draws.index(2);
        farm.kill_coordinator(which);
        let before = last_batch(farm);
        wait_until("boards are stored through the other", || {
            last_batch(farm) > before
        });
        farm.start_coordinator(which);
    }),
    ("Postgres killed", |farm, _| {
        farm.kill_database();
        farm.start_database();
    }),
    ("Postgres restarted", |farm, _| {
        farm.stop_database();
        farm.start_database();
    }),
    ("Postgres stopped past every lease", |farm, _| {
        farm.signal_database(Signal::SIGSTOP);
        // The fault itself is time that passes: nobody can be asked meanwhile.
        thread::sleep(Duration::from_secs(LEASE_S + 1));
        farm.signal_database(Signal::SIGCONT);
    }),
    ("connection cut between request and answer", |farm, _| {
        let n_acknowledged = farm.n_acknowledged();
        farm.proxy.mute();
        wait_until("a batch is stored and not acknowledged", || {
            let n_stored = farm.number("SELECT count(*) FROM batches");
            n_stored > i64::try_from(n_acknowledged).unwrap()
        });
        farm.proxy.cut();
    }),
    ("no room on the worker's disk", |farm, _| {
        if !limit_files(farm, "512") {
            return;
        }
        let before = last_batch(farm);
        wait_until("boards are stored all the same", || last_batch(farm) > before + 3);
        limit_files(farm, "unlimited");
    }),
    (
        "no room on the worker's disk, then the worker killed",
        |farm, _| {
            if !limit_files(farm, "512") {
                return;
            }
            let before = last_batch(farm);
            wait_until("boards are stored all the same", || last_batch(farm) > before + 1);
            farm.kill_worker(0);
            farm.start_worker(0);
        },
    ),
];

#[test]
fn no_fault_loses_or_doubles_what_was_stored() {
    let number = |variable, usual| std::env::var(variable).map_or(usual, |text| text.parse().unwrap());
    let n_times: u64 = number("PARFORCE_FAULTS_TIMES", 1);
    let mut draws = Stream::new("faults", number("PARFORCE_FAULTS_SEED", 0), 0);
    let mut farm = Farm::start();
    wait_until("boards are stored", || last_batch(&farm) > 5);
    let mut rows: Vec<Row> = FAULTS.iter().map(|(fault, _)| row(fault)).collect();
    for _ in 0..n_times {
        for (row, (_, fault)) in rows.iter_mut().zip(FAULTS) {
            // A random moment, while batches come and go.
            thread::sleep(Duration::from_millis(draws.below(700).into()));
            let before = farm.boards();
            fault(&mut farm, &mut draws);
            row.recoveries.push(until_boards_are_stored(&farm));
            row.n_lost += before.difference(&farm.boards()).count() + farm.n_acknowledged_and_missing();
            row.n_twice += n_twice(&farm);
        }
    }
    farm.drain();
    println!("\n{}", markdown(&rows));
    for row in &rows {
        assert_eq!((row.n_lost, row.n_twice), (0, 0), "{}", row.fault);
    }
    assert_everything_is_handed_in(&farm);
    assert_boards_prove(&farm.boards());
}

/// Workers and coordinators go on while the database under them becomes one of before.
#[test]
fn a_backup_put_back_under_a_running_farm_loses_nothing_that_is_promised_after() {
    let mut farm = Farm::start();
    wait_until("boards are stored", || last_batch(&farm) > 3);
    farm.stop_database();
    farm.back_up();
    farm.start_database();
    let before = last_batch(&farm);
    wait_until("more boards are stored", || last_batch(&farm) > before + 5);
    // Nobody is told anything any more; what was told by now is lost with the database, by the nature of a backup.
    farm.signal_coordinators(Signal::SIGSTOP);
    let told = farm.batches();
    farm.kill_database();
    farm.put_back();
    farm.start_database();
    farm.signal_coordinators(Signal::SIGCONT);
    until_boards_are_stored(&farm);
    let later = last_batch(&farm) + 5;
    wait_until("boards are found again", || last_batch(&farm) > later);
    farm.drain();
    let promised: BTreeSet<String> = farm.acknowledged().difference(&told).cloned().collect();
    assert!(promised.len() > 3, "{promised:?}");
    assert_eq!(promised.difference(&farm.batches()).count(), 0);
    assert_eq!(n_twice(&farm), 0);
    assert_eq!(
        farm.number("SELECT 1 + coalesce(max(strikes), 0) FROM workers"),
        1,
        "honest workers were struck for leases that the database forgot"
    );
    assert_everything_is_handed_in(&farm);
    assert_boards_prove(&farm.boards());
}

fn row(fault: &'static str) -> Row {
    Row {
        fault,
        n_lost: 0,
        n_twice: 0,
        recoveries: Vec::new(),
    }
}

fn last_batch(farm: &Farm) -> i64 {
    farm.number("SELECT coalesce(max(id), 0) FROM batches")
}

/// Waits until the first worker, which most faults hit, has stored boards again; how long that took.
fn until_boards_are_stored(farm: &Farm) -> Duration {
    let ended = Instant::now();
    let query = "SELECT coalesce(max(b.id), 0) FROM batches b JOIN workers w ON w.id = b.worker_id WHERE w.name = 'worker-0'";
    let mut before = None;
    wait_until("boards are stored after the fault", || {
        let now = farm.number(query);
        now > 0 && now > *before.get_or_insert(now)
    });
    ended.elapsed()
}

/// Boards under two pars, boards counted twice, jobs done twice.
///
/// Batches under leases that a database put back has forgotten are of no job, and count for none.
fn n_twice(farm: &Farm) -> usize {
    let query = "
        SELECT (SELECT count(*) FROM (SELECT canonical FROM boards GROUP BY canonical HAVING count(*) > 1) x)
            + abs((SELECT count(*) FROM boards) - (SELECT coalesce(sum(n_inserted), 0) FROM batches))
            + abs((SELECT coalesce(sum(n_new), 0) FROM jobs)
                - (SELECT coalesce(sum(n_inserted), 0) FROM batches WHERE job_id IS NOT NULL))
            + (SELECT count(*) FROM (SELECT job_id FROM job_attempts WHERE outcome = 'done' GROUP BY job_id
                HAVING count(*) > 1) x)";
    usize::try_from(farm.number(query)).unwrap()
}

/// The workers left in order, so that nothing is left in their spools and nothing was refused.
fn assert_everything_is_handed_in(farm: &Farm) {
    for which in 0..2 {
        let left: Vec<_> = std::fs::read_dir(farm.spool(which))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(left.is_empty(), "left in a spool: {left:?}\n{}", farm.logs());
    }
}

fn assert_boards_prove(boards: &BTreeSet<String>) {
    assert!(
        boards.len() > 100,
        "{} boards are too few to mean anything",
        boards.len()
    );
    let mut explorer = Explorer::new();
    for line in boards {
        let (par, spelling) = line.split_once(' ').unwrap();
        let board = Canonical::parse(spelling).unwrap().board();
        let found = explorer.entry(&board, StateLimit::DEFAULT).unwrap().unwrap();
        assert_eq!(
            (found.par.to_string().as_str(), found.canonical.as_str()),
            (par, spelling)
        );
    }
}

/// Lets no file of the first worker grow beyond so many bytes. False: this system has no program for that.
fn limit_files(farm: &Farm, bytes: &str) -> bool {
    let limited = Command::new("prlimit")
        .args([
            "--pid",
            &farm.worker_pid(0).to_string(),
            &format!("--fsize={bytes}:unlimited"),
        ])
        .status();
    let is_limited = limited.is_ok_and(|status| status.success());
    if !is_limited {
        println!("prlimit (util-linux) is missing or refused: the full disk is not tried");
    }
    is_limited
}
