//! Counts a census on all given threads and prints its totals: `census 6x6 [walls] [threads] [every|standard]
//! [first-unit end-unit]`.
//!
//! The farm does the same as jobs that can be stopped, lost and checked; this is the engine alone.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use board::Lot;
use board::census::{Census, CensusSpec, Keep, RangeOutcome, Scope, run_range};
use board::cluster::Explorer;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |i: usize, default: &str| arguments.get(i).cloned().unwrap_or_else(|| default.to_owned());
    let lot: Lot = argument(0, "5x5").parse().expect("a lot such as 6x6");
    let walls: u8 = argument(1, "0").parse().expect("the most walls");
    let n_threads: usize = argument(2, "1").parse().expect("a number of threads");
    let mut spec = CensusSpec::standard(lot, 0..=walls);
    spec.keep = Keep::Nothing;
    if argument(3, "standard") == "every" {
        spec.scope = Scope::Every;
    }
    let census = Census::new(spec).expect("a census of this lot");
    let first: u64 = argument(4, "0").parse().expect("the first unit");
    let end: u64 = argument(5, &census.n_units().to_string())
        .parse()
        .expect("the end unit");
    let begun = Instant::now();
    // With a seventh argument only every so manyth unit is counted.
    let every: u64 = argument(6, "1").parse().expect("a stride");
    let chunk = if every > 1 {
        1
    } else {
        ((end - first) / 4_000).max(1)
    };
    let next = AtomicU64::new(first);
    let total: Mutex<Option<RangeOutcome>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                let mut explorer = Explorer::new();
                loop {
                    let from = next.fetch_add(chunk * every, Ordering::Relaxed);
                    if from >= end {
                        return;
                    }
                    let range = from..end.min(from + chunk);
                    let outcome =
                        run_range(&census, range, &mut explorer, &mut |_| true).expect("within the limit");
                    let mut total = total.lock().expect("no thread panics");
                    match &mut *total {
                        None => *total = Some(outcome),
                        Some(total) => total.add_counts(&outcome),
                    }
                    let done = from + chunk - first;
                    if every == 1 && done / chunk % 100 == 0 {
                        let share = done as f64 / (end - first) as f64;
                        eprintln!(
                            "{:.1} % after {:.0} s",
                            100.0 * share,
                            begun.elapsed().as_secs_f64()
                        );
                    }
                }
            });
        }
    });
    let total = total
        .into_inner()
        .expect("no thread panicked")
        .expect("some units");
    println!("par solvable minimal positions minimal-positions positions-at");
    for (par, counts) in total.by_par.iter().enumerate() {
        println!(
            "{par} {} {} {} {} {}",
            counts.solvable, counts.minimal, counts.positions, counts.minimal_positions, counts.positions_at
        );
    }
    println!(
        "layouts {} solvable {} minimal {} positions {} minimal-positions {} digest {} wall-seconds {:.1}",
        total.layouts,
        total.solvable(),
        total.minimal(),
        total.positions(),
        total.minimal_positions(),
        total.digest,
        begun.elapsed().as_secs_f64()
    );
}
