//! `parforce pack build`: levels picked from the database.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use board::difficulty;
use board::pack::{self, Candidate, Curve};
use board::{Lot, Par, StateLimit, plain, solve};
use coordinator::store::{Measure, PackFilter, PackSort};
use rayon::prelude::*;

use super::super::{DatabaseArguments, Outcome, UsageError};
use super::file::{FORMAT, LevelEntry, PackFile};
use crate::output::bars;
use crate::store::OpenStore;

/// The largest cluster measured for a level's difficulty.
const DIFFICULTY_LIMIT: StateLimit = StateLimit::new(20_000_000);

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Arguments {
    /// How many levels
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    levels: u32,
    /// Par of the first level
    #[arg(long, value_name = "PAR", default_value_t = 3)]
    from: u16,
    /// Par of the last level, or `hardest`: the largest there is
    #[arg(long, value_name = "PAR", default_value = "hardest", value_parser = parse_to)]
    to: To,
    /// How levels are spread over the pars: `even`, or `falling:RATIO`, RATIO times as many of the smallest par as of
    /// the largest, falling evenly
    #[arg(long, value_name = "CURVE", default_value_t = Curve::FALLING)]
    curve: Curve,
    /// The lot
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: Lot,
    /// Only boards with this many walls: `0`, `0..2` (both included)
    #[arg(long, value_name = "RANGE", default_value = "0..64", value_parser = parse_walls)]
    walls: (u8, u8),
    /// Only boards without a superfluous vehicle or wall
    #[arg(long)]
    minimal: bool,
    /// Of the boards of a par, take the easiest (or with --hardest the hardest) by this measure of difficulty first
    #[arg(long, value_enum, value_name = "MEASURE")]
    sort: Option<Sort>,
    /// Turn --sort round
    #[arg(long, requires = "sort")]
    hardest: bool,
    /// State par in steps
    #[arg(long)]
    steps: bool,
    /// State the measures of difficulty
    #[arg(long)]
    difficulty: bool,
    /// State a shortest solution
    #[arg(long)]
    solution: bool,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug)]
enum To {
    Par(u16),
    Hardest,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Sort {
    /// How unlikely random slides are to solve the board in par
    Luck,
    /// Slides against intuition
    Against,
    /// Vehicles that slide twice or more
    RepeatMovers,
    /// Slides possible on the way
    Branching,
    /// Share of dead ends
    DeadEnds,
    /// Many shortest solutions first
    Solutions,
}

impl From<Sort> for Measure {
    fn from(sort: Sort) -> Measure {
        match sort {
            Sort::Luck => Measure::Luck,
            Sort::Against => Measure::Against,
            Sort::RepeatMovers => Measure::RepeatMovers,
            Sort::Branching => Measure::Branching,
            Sort::DeadEnds => Measure::DeadEnds,
            Sort::Solutions => Measure::Solutions,
        }
    }
}

fn parse_to(text: &str) -> Result<To, String> {
    if text == "hardest" {
        return Ok(To::Hardest);
    }
    text.parse()
        .map(To::Par)
        .map_err(|_| format!("{text:?} is no par, expected a number or `hardest`"))
}

fn parse_walls(text: &str) -> Result<(u8, u8), String> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('=').parse::<u8>();
    match (number(least), number(most)) {
        (Ok(least), Ok(most)) if least <= most => Ok((least, most)),
        _ => Err(format!("{text:?} is no range of walls, expected e.g. 0 or 0..2")),
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let chosen = choose(arguments, &store);
    store.close()?;
    let chosen = chosen?;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for level in &chosen {
        *counts.entry(level.par.get().into()).or_default() += 1;
    }
    let levels = chosen
        .into_par_iter()
        .enumerate()
        .map(|(idx, candidate)| entry(arguments, idx, &candidate));
    let pack = PackFile {
        format: FORMAT.into(),
        curve: arguments.curve.to_string(),
        lot: arguments.lot.to_string(),
        levels: levels.collect::<anyhow::Result<_>>()?,
    };
    match &arguments.out {
        None => write!(std::io::stdout(), "{}", pack.to_json())?,
        Some(path) => {
            std::fs::write(path, pack.to_json()).with_context(|| format!("writing {}", path.display()))?;
            let counts: Vec<(u64, u64)> = counts.into_iter().collect();
            say!("{}", bars::distribution("levels", &counts).trim_end());
        }
    }
    Ok(Outcome::Done)
}

/// Allots levels to pars by what there is, then reads of each par no more boards than it has levels.
fn choose(arguments: &Arguments, store: &OpenStore) -> anyhow::Result<Vec<Candidate>> {
    let filter = PackFilter {
        lot: arguments.lot,
        least_walls: arguments.walls.0,
        most_walls: arguments.walls.1,
        is_minimal: arguments.minimal,
    };
    let sort = match arguments.sort.map(Measure::from) {
        None => PackSort::None,
        Some(measure) if arguments.hardest => PackSort::Hardest(measure),
        Some(measure) => PackSort::Easiest(measure),
    };
    let mut counts = store.wait(store.store.pack_counts(&filter, sort))?;
    let from = Par::new(arguments.from);
    let hardest = counts.iter().rev().find(|(_, n)| **n > 0).map(|(par, _)| *par);
    let to = match arguments.to {
        To::Par(par) => Par::new(par),
        To::Hardest => hardest.with_context(|| match arguments.sort {
            None => format!("there are no such {} boards in the database", arguments.lot),
            Some(_) => String::from("no such boards were measured: run `parforce difficulty` first"),
        })?,
    };
    if from > to {
        return Err(UsageError(format!("a pack from par {from} to par {to} does not rise")).into());
    }
    counts.retain(|par, _| (from..=to).contains(par));
    let targets = arguments.curve.targets(arguments.levels, from, to);
    let levels = pack::allot(&targets, &counts)?;
    let mut candidates = Vec::new();
    for (&par, &n_levels) in &levels {
        candidates.extend(store.wait(store.store.pack_candidates(par, &filter, sort, n_levels))?);
    }
    Ok(pack::choose(&levels, candidates)?)
}

fn entry(arguments: &Arguments, idx: usize, candidate: &Candidate) -> anyhow::Result<LevelEntry> {
    let board = candidate.canonical.board();
    let solution = || -> anyhow::Result<Vec<String>> {
        let answer = solve::solve(&board, StateLimit::DEFAULT)?;
        Ok(answer
            .solution
            .iter()
            .map(|&slide| board.spell_slide(slide))
            .collect())
    };
    let difficulty = || anyhow::Ok(difficulty::measure(&board, DIFFICULTY_LIMIT)?.map(Into::into));
    Ok(LevelEntry {
        level: u32::try_from(idx + 1).expect("there are at most 100,000 levels"),
        board: candidate.canonical.to_string(),
        par: candidate.par.get(),
        vehicles: candidate.n_vehicles.into(),
        states: candidate.n_states,
        steps: arguments
            .steps
            .then(|| plain::fewest_steps(&board))
            .flatten()
            .map(u64::from),
        difficulty: if arguments.difficulty { difficulty()? } else { None },
        solution: if arguments.solution {
            Some(solution()?)
        } else {
            None
        },
    })
}
