//! The explorer's speed, with its answers asserted while it is timed: `cargo bench -p board`.
//!
//! Prints, for each board and for a sample of a census, positions and slides a second and bytes a position.
//! `cargo bench -p board -- --once` does everything once and prints no times, and `--only NAME` does one item alone:
//! under an instruction counter these give the same number on every run. `.ci/instructions` holds them against the
//! numbers in `benches/explorer.instructions`, so that a slow-down of 3 % shows.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "figures for people, of counts far below 2^52"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use board::census::{Census, CensusSpec, Keep, run_range};
use board::cluster::Explorer;
use board::{Board, Lot, StateLimit};

/// Name, board, depth, positions.
const BOARDS: [(&str, &str, u16, u64); 3] = [
    (
        "large-shallow",
        "BBoCoooDoCEEoDAAFGHoIIFGHoJKKoLLJooo",
        15,
        541_934,
    ),
    ("large", "BooCDDBEECoFoGoAAFoGHHIJKKLoIJooLoMM", 24, 278_666),
    ("deep", "BCDDEoBCFoEGBoFAAGHHHIoGooJIKKLLJMMo", 51, 4_780),
];

/// Every so manyth unit of the 6x6 census is counted, and what that gives.
const STRIDE: u64 = 20_011;
const SAMPLE_POSITIONS: u64 = 5_285_234;
const SAMPLE_MINIMAL: u64 = 38;

/// The name of that.
const SAMPLE: &str = "census-sample";

/// How long each is repeated.
const TIME_EACH: Duration = Duration::from_secs(2);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_once = arguments.iter().any(|argument| argument == "--once");
    let only = arguments.iter().position(|argument| argument == "--only");
    let only = only.map(|at| arguments.get(at + 1).expect("--only is followed by a name"));
    let names = BOARDS.map(|(name, ..)| name).into_iter().chain([SAMPLE]);
    let wanted: Vec<&str> = names
        .filter(|&name| only.is_none_or(|only| only == name))
        .collect();
    assert!(!wanted.is_empty(), "--only {only:?} names no item");
    let mut explorer = Explorer::new();
    for (name, text, depth, states) in BOARDS {
        if wanted.contains(&name) {
            bench_board(&mut explorer, (name, text, depth, states), is_once);
        }
    }
    if wanted.contains(&SAMPLE) {
        bench_sample(&mut explorer, is_once);
    }
}

fn bench_board(explorer: &mut Explorer, (name, text, depth, states): (&str, &str, u16, u64), is_once: bool) {
    let board = Board::parse(text).expect("a legal board");
    let n_slides = count_slides(explorer, &board);
    let bytes = explorer.n_bytes() as f64 / states as f64;
    let seconds = time(is_once, || {
        let cluster = explorer
            .explore(black_box(&board), StateLimit::DEFAULT)
            .expect("within the limit");
        assert_eq!(cluster.depth.map(board::Par::get), Some(depth));
        assert_eq!(cluster.states, states);
    });
    report(
        &format!("{name} {text}"),
        states,
        Some(n_slides),
        Some(bytes),
        seconds,
    );
}

fn bench_sample(explorer: &mut Explorer, is_once: bool) {
    let spec = CensusSpec {
        keep: Keep::Nothing,
        ..CensusSpec::standard(Lot::ORDINARY, 0..=0)
    };
    let census = Census::new(spec).expect("a census");
    let seconds = time(is_once, || {
        let (mut positions, mut minimal) = (0, 0);
        for unit in (7..census.n_units()).step_by(STRIDE as usize) {
            let outcome = run_range(&census, unit..unit + 1, explorer, &mut |_| true);
            let outcome = outcome.expect("within the limit");
            positions += outcome.positions();
            minimal += outcome.minimal();
        }
        assert_eq!((positions, minimal), (SAMPLE_POSITIONS, SAMPLE_MINIMAL));
    });
    report(
        &format!("{SAMPLE}, with minimality"),
        SAMPLE_POSITIONS,
        None,
        None,
        seconds,
    );
}

/// Slides from all positions of a cluster together: two for each pair of positions that one joins.
fn count_slides(explorer: &mut Explorer, board: &Board) -> u64 {
    explorer
        .explore(board, StateLimit::DEFAULT)
        .expect("within the limit");
    explorer.n_slides()
}

/// Seconds that one call takes, or nothing if it was called once only.
fn time(is_once: bool, mut call: impl FnMut()) -> Option<f64> {
    call();
    if is_once {
        return None;
    }
    let begun = Instant::now();
    let mut n_calls = 0;
    while begun.elapsed() < TIME_EACH {
        call();
        n_calls += 1;
    }
    Some(begun.elapsed().as_secs_f64() / f64::from(n_calls))
}

fn report(name: &str, positions: u64, slides: Option<u64>, bytes: Option<f64>, seconds: Option<f64>) {
    print!("{name}: {positions} positions");
    if let Some(seconds) = seconds {
        print!(", {:.2} M positions/s", positions as f64 / seconds / 1e6);
        if let Some(slides) = slides {
            print!(", {:.1} M slides/s", slides as f64 / seconds / 1e6);
        }
    }
    if let Some(bytes) = bytes {
        print!(", {bytes:.1} bytes/position");
    }
    println!();
}
