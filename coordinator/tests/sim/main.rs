//! The farm simulated: coordinators, workers, clock and network in one process, from a seed, on a real Postgres.
//!
//! A seed gives a list of operations ([`ops`]); after each, the invariants are looked at ([`check`], [`book`]); at the
//! end the faults cease and everything must come to its end. A failure prints the seed and the shortest list of
//! operations found that still fails; such a list is then kept, by name, in [`reproductions`].
//!
//! `PARFORCE_SIM_SEEDS` says how many seeds are tried (200), `PARFORCE_SIM_FIRST` which is the first (0); with
//! `PARFORCE_LOG`, the coordinators' log is printed.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod backup;
mod book;
mod call;
mod check;
mod ground;
mod lies;
mod ops;
mod reproductions;
mod torn;
mod wishes;
mod worker;
mod world;

use std::fmt::Write;

use book::Broken;
use ground::Ground;
use ops::{Act, Fate, Op, Wish, drawn};
use sqlx::PgPool;
use world::World;

/// After so many failing seeds no more are tried.
const MAX_FAILURES: usize = 5;

/// Runs a list of operations; what broke, and after how many of them.
async fn run(ground: &mut Ground, ops: &[Op]) -> Result<(), (usize, Broken)> {
    let mut world = World::new(ground).await;
    for (idx, &op) in ops.iter().enumerate() {
        world.step(op).await.map_err(|broken| (idx + 1, broken))?;
    }
    world.finish().await.map_err(|broken| (ops.len(), broken))
}

/// The shortest list that still fails, found by leaving out pieces, each half as long as those before.
async fn shortened(ground: &mut Ground, ops: &[Op]) -> Vec<Op> {
    let mut ops = ops.to_vec();
    let mut size = ops.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < ops.len() {
            let mut fewer = ops.clone();
            fewer.drain(at..(at + size).min(ops.len()));
            match run(ground, &fewer).await {
                Err((n_done, _)) => {
                    fewer.truncate(n_done);
                    ops = fewer;
                }
                Ok(()) => at += size,
            }
        }
        if size == 1 {
            return ops;
        }
        size = size.div_ceil(2);
    }
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number of seeds"))
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn whatever_fails_nothing_is_lost_counted_twice_or_stalled(pool: PgPool) {
    if let Ok(filter) = std::env::var("PARFORCE_LOG") {
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .init();
    }
    let mut ground = Ground::new(pool);
    let mut failures = String::new();
    let (first, n_seeds) = (number("PARFORCE_SIM_FIRST", 0), number("PARFORCE_SIM_SEEDS", 200));
    for seed in first..first + n_seeds {
        if failures.matches("\nseed ").count() == MAX_FAILURES {
            break;
        }
        if seed % 100 == 0 {
            // For whoever runs ten thousand of them.
            eprintln!("seed {seed}");
        }
        let ops = drawn(seed);
        let Err((n_done, broken)) = run(&mut ground, &ops).await else {
            continue;
        };
        let short = shortened(&mut ground, &ops[..n_done]).await;
        let again = run(&mut ground, &short).await.err().map(|(_, broken)| broken);
        write!(
            failures,
            "\nseed {seed}, after {n_done} operations: {broken}\nshortest: {again:?}\n[\n"
        )
        .unwrap();
        for op in &short {
            writeln!(failures, "    {op:?},").unwrap();
        }
        failures.push(']');
    }
    assert!(failures.is_empty(), "{failures}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn what_once_failed_holds_now(pool: PgPool) {
    let mut ground = Ground::new(pool);
    for (name, ops) in reproductions::ALL {
        if let Err((n_done, broken)) = run(&mut ground, ops).await {
            panic!("{name}, after {n_done} operations: {broken}");
        }
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_call_given_up_while_it_begins_leaves_no_transaction_open(pool: PgPool) {
    let ground = Ground::new(pool);
    for n_waits in 0..40 {
        let _ = torn::torn(ground.store.begin(), n_waits % 4).await;
        ground.settle().await;
    }
}

/// What would be wrong, done to the database by hand.
const SABOTAGE: [&str; 9] = [
    "DELETE FROM boards WHERE (par, canonical) = (SELECT par, canonical FROM boards LIMIT 1)",
    "UPDATE boards SET par = par + 1 WHERE canonical = (SELECT min(canonical) FROM boards)",
    "UPDATE board_counts SET n_boards = n_boards + 1",
    "UPDATE batches SET n_inserted = n_inserted + 1",
    "UPDATE jobs SET n_new = n_new + 1 WHERE id = 1",
    "UPDATE jobs SET token = token - 1 WHERE token > 0",
    "UPDATE jobs SET digest = decode(repeat('00', 16), 'hex') WHERE state = 'done'",
    "UPDATE job_attempts SET outcome = 'expired' WHERE outcome = 'done'",
    "UPDATE workers SET strikes = 1",
];

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn the_checks_see_what_they_are_there_for(pool: PgPool) {
    let mut ground = Ground::new(pool);
    let mut ops = vec![Op::Hunt(Wish::Scatter(2))];
    ops.extend([Op::Do(0, Act::Next, Fate::Well); 9]);
    for statement in SABOTAGE {
        let mut world = World::new(&mut ground).await;
        for &op in &ops {
            world.step(op).await.unwrap();
        }
        assert!(world.sabotage(statement).await.is_err(), "not seen: {statement}");
    }
}
