//! Counts a census and prints its totals:
//! `census LOT [--walls MOST] [--every] [--threads N] [--stride N] [--units FIRST..END] [--log FILE]`.
//!
//! With a log, every piece that is done is a line of it, and pieces that are in it already are not done again:
//! the run can be broken off at any time and taken up later. With a stride, only every so manyth unit is
//! counted. The farm does the same as jobs that are leased, checked and kept; this is the engine alone.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use board::Lot;
use board::census::{Census, CensusDigest, CensusSpec, Keep, ParCounts, RangeOutcome, Scope, run_range};
use board::cluster::Explorer;

/// Into how many pieces the units are cut: for 6x6 the number of ways to fill the rows, within which look-ups help.
const N_PIECES: u64 = 7_776;

struct Options {
    spec: CensusSpec,
    n_threads: usize,
    stride: u64,
    units: Option<(u64, u64)>,
    log: Option<String>,
}

fn options() -> Options {
    let mut arguments = std::env::args().skip(1);
    let lot: Lot = arguments
        .next()
        .expect("a lot such as 6x6")
        .parse()
        .expect("a lot such as 6x6");
    let mut options = Options {
        spec: CensusSpec {
            keep: Keep::Nothing,
            ..CensusSpec::standard(lot, 0..=0)
        },
        n_threads: 1,
        stride: 1,
        units: None,
        log: None,
    };
    while let Some(name) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{name} needs a value"));
        match name.as_str() {
            "--walls" => options.spec.walls = 0..=value().parse().expect("a number of walls"),
            "--every" => options.spec.scope = Scope::Every,
            "--threads" => options.n_threads = value().parse().expect("a number of threads"),
            "--stride" => options.stride = value().parse().expect("a stride"),
            "--units" => {
                let units = value();
                let (first, end) = units.split_once("..").expect("units as FIRST..END");
                options.units = Some((first.parse().expect("a unit"), end.parse().expect("a unit")));
            }
            "--log" => options.log = Some(value()),
            _ => panic!("unknown option {name}"),
        }
    }
    options
}

fn main() {
    let options = options();
    let census = Census::new(options.spec.clone()).expect("a census of this lot");
    let (first, end) = options.units.unwrap_or((0, census.n_units()));
    let piece = if options.stride > 1 {
        1
    } else {
        ((end - first) / N_PIECES).max(1)
    };
    let step = piece * options.stride;
    let (mut total, done) = options.log.as_deref().map_or_else(Default::default, read_log);
    let log: Option<Mutex<File>> = options.log.as_deref().map(|path| {
        Mutex::new(
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .expect("a log that can be written"),
        )
    });
    let begun = Instant::now();
    let next = AtomicU64::new(first);
    let sum: Mutex<(RangeOutcome, u64)> = Mutex::new((std::mem::take(&mut total), 0));
    std::thread::scope(|scope| {
        for _ in 0..options.n_threads {
            scope.spawn(|| {
                let mut explorer = Explorer::new();
                loop {
                    let from = next.fetch_add(step, Ordering::Relaxed);
                    if from >= end {
                        return;
                    }
                    if done.contains(&from) {
                        continue;
                    }
                    let range = from..end.min(from + piece);
                    let outcome =
                        run_range(&census, range, &mut explorer, &mut |_| true).expect("within the limit");
                    if let Some(log) = &log {
                        let line = log_line(&outcome);
                        let mut log = log.lock().expect("no thread panics");
                        log.write_all(line.as_bytes()).expect("a log that can be written");
                    }
                    let mut sum = sum.lock().expect("no thread panics");
                    sum.0.add_counts(&outcome);
                    sum.1 += 1;
                    if sum.1 % 400 == 0 {
                        eprintln!(
                            "unit {from} of {end} after {:.0} s",
                            begun.elapsed().as_secs_f64()
                        );
                    }
                }
            });
        }
    });
    print_totals(&sum.into_inner().expect("no thread panicked").0);
    eprintln!("{:.1} s", begun.elapsed().as_secs_f64());
}

/// One line: the piece's first unit, its totals, its digest, and six numbers for each par.
fn log_line(outcome: &RangeOutcome) -> String {
    let mut line = format!("{} {} {}", outcome.units.start, outcome.layouts, outcome.digest);
    for counts in &outcome.by_par {
        line += &format!(
            " {} {} {} {} {}",
            counts.solvable, counts.minimal, counts.positions, counts.minimal_positions, counts.positions_at
        );
    }
    line + "\n"
}

/// The sum of all whole lines of a log, and the first units of its pieces.
fn read_log(path: &str) -> (RangeOutcome, HashSet<u64>) {
    let mut total = RangeOutcome::default();
    let mut done = HashSet::new();
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
        let mut words = line.split_whitespace();
        let mut number = || words.next().map(|word| word.parse::<u64>());
        let unit = number().expect("a unit").expect("a unit");
        let mut outcome = RangeOutcome {
            layouts: number().expect("layouts").expect("layouts"),
            ..RangeOutcome::default()
        };
        let digest = words.next().expect("a digest");
        let digest = u128::from_str_radix(digest, 16).expect("a digest");
        outcome.digest = CensusDigest::from_bytes(digest.to_be_bytes());
        let numbers: Vec<u64> = words.map(|word| word.parse().expect("a count")).collect();
        outcome.by_par = numbers
            .chunks_exact(5)
            .map(|n| ParCounts {
                solvable: n[0],
                minimal: n[1],
                positions: n[2],
                minimal_positions: n[3],
                positions_at: n[4],
            })
            .collect();
        if done.insert(unit) {
            total.add_counts(&outcome);
        }
    }
    (total, done)
}

fn print_totals(total: &RangeOutcome) {
    println!("par solvable minimal positions minimal-positions positions-at");
    for (par, counts) in total.by_par.iter().enumerate() {
        println!(
            "{par} {} {} {} {} {}",
            counts.solvable, counts.minimal, counts.positions, counts.minimal_positions, counts.positions_at
        );
    }
    println!(
        "layouts {} solvable {} minimal {} positions {} minimal-positions {} digest {}",
        total.layouts,
        total.solvable(),
        total.minimal(),
        total.positions(),
        total.minimal_positions(),
        total.digest,
    );
}
