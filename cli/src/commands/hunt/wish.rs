//! What is to be hunted: from the command line to a checked wish.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

use board::space::{BoardSpace, LengthWeight, LengthWeightError, SpaceFields};
use board::{Lot, Par};
use proto::convert::{Aim, Budget, HuntPlan, MAX_LABEL_CHARS, NewHunt, PRIORITIES, Strategy, is_plain};

use crate::commands::UsageError;

/// The longest hunt that makes sense, in minutes: ten years.
const MAX_MINUTES: f64 = 10.0 * 366.0 * 24.0 * 60.0;

/// What is to be hunted, and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct WishArguments {
    /// Stop after so many minutes; 0: not because of the time
    #[arg(long, value_name = "N", default_value_t = 20.0)]
    minutes: f64,
    /// Stop after so many jobs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    jobs: Option<u64>,
    /// Stop when a board of this par, or more, is found
    #[arg(long, value_name = "PAR", value_parser = clap::value_parser!(u16).range(1..))]
    until_par: Option<u16>,
    /// The lot, from 3x3 to 8x8
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: Lot,
    /// The hero's row, counted from 0 at the top [default: the middle one, or the one above the middle]
    #[arg(long, value_name = "ROW")]
    row: Option<u8>,
    /// How many walls a board has: a number, or a range such as 0..2 (both included)
    #[arg(long, value_name = "RANGE", default_value = "0", value_parser = parse_range)]
    walls: RangeInclusive<u8>,
    /// How many vehicles a board has, the hero included [default: what suits the lot]
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    vehicles: Option<RangeInclusive<u8>>,
    /// How long the other vehicles are, with weights: 2:3,3:1 is three cars to a truck [default: that, if the lot is
    /// wide enough]
    #[arg(long, value_name = "LENGTH:WEIGHT,..", value_parser = parse_lengths)]
    lengths: Option<Lengths>,
    /// How long the hero is
    #[arg(long, value_name = "LENGTH", default_value_t = 2)]
    hero: u8,
    /// What to hunt for: broad (boards of every par) or deep (the hardest alone)
    #[arg(long, default_value = "broad", value_parser = parse_aim)]
    aim: Aim,
    /// How to search: scatter (random boards), anneal (changes to hard ones), sweep (all changes of the hardest), several
    /// parted by commas, or mixed (all of them); of several, each gets jobs by what it brings
    #[arg(long, value_name = "STRATEGIES", default_value = "mixed", value_parser = parse_strategies)]
    strategy: Strategies,
    /// Higher goes first, where several hunts share workers
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = priorities())]
    priority: i32,
    /// Seed of a new hunt [default: drawn]; with the same seed, jobs are the same
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Name of the hunt; a hunt of this name goes on where it stopped [default: made from what is hunted]
    #[arg(long, value_parser = parse_name)]
    name: Option<String>,
}

fn parse_name(text: &str) -> Result<String, String> {
    if (1..=MAX_LABEL_CHARS).contains(&text.chars().count()) && is_plain(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected 1 to {MAX_LABEL_CHARS} characters, none of which is invisible"
    ))
}

/// Reads the priority of a hunt.
pub(crate) fn priorities() -> impl clap::builder::TypedValueParser<Value = i32> {
    let (low, high) = PRIORITIES.into_inner();
    clap::value_parser!(i32).range(i64::from(low)..=i64::from(high))
}

/// Lengths of vehicles, with weights.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lengths(Vec<LengthWeight>);

fn parse_lengths(text: &str) -> Result<Lengths, LengthWeightError> {
    LengthWeight::parse_list(text).map(Lengths)
}

fn parse_aim(text: &str) -> Result<Aim, String> {
    Aim::parse(text).ok_or_else(|| String::from("expected broad or deep"))
}

/// Strategies that a hunt is to use; none: all.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Strategies(Vec<Strategy>);

impl Strategies {
    /// What the hunt is cut into.
    fn strategy(&self) -> Strategy {
        match self.0[..] {
            [single] => single,
            _ => Strategy::Mixed,
        }
    }
}

fn parse_strategies(text: &str) -> Result<Strategies, String> {
    if text == Strategy::Mixed.as_str() {
        return Ok(Strategies(Vec::new()));
    }
    let mut chosen = Vec::new();
    for text in text.split(',') {
        let strategy = Strategy::parse(text).filter(|strategy| Strategy::SINGLE.contains(strategy));
        let strategy = strategy.ok_or_else(|| {
            format!("{text:?}: expected mixed, or scatter, anneal and sweep parted by commas")
        })?;
        if !chosen.contains(&strategy) {
            chosen.push(strategy);
        }
    }
    Ok(Strategies(chosen))
}

pub(crate) fn parse_range(text: &str) -> Result<RangeInclusive<u8>, String> {
    let number = |text: &str| {
        text.parse::<u8>()
            .map_err(|_| format!("{text:?} is no count, expected e.g. 3 or 0..2"))
    };
    let (low, high) = match text.split_once("..") {
        Some((low, high)) => (number(low)?, number(high.trim_start_matches('='))?),
        None => (number(text)?, number(text)?),
    };
    if low > high {
        Err(format!("{low} is more than {high}"))
    } else {
        Ok(low..=high)
    }
}

impl WishArguments {
    /// The wish, or what is wrong with it.
    ///
    /// # Errors
    /// [`UsageError`].
    pub(crate) fn check(&self) -> Result<NewHunt, UsageError> {
        if !(0.0..=MAX_MINUTES).contains(&self.minutes) {
            return Err(UsageError(format!(
                "--minutes {}, expected 0 to {MAX_MINUTES}",
                self.minutes
            )));
        }
        let time = (self.minutes > 0.0).then(|| Duration::from_secs_f64(self.minutes * 60.0));
        let budget = Budget {
            time,
            n_jobs: self.jobs,
            until_par: self.until_par.map(Par::new),
        };
        let space = self.space()?;
        Ok(NewHunt {
            name: self.name.clone().unwrap_or_else(|| self.usual_name(&space)),
            space,
            strategy: self.strategy.strategy(),
            budget,
            priority: self.priority,
            seed: self.seed,
            census: None,
            plan: HuntPlan::new(self.aim, &self.strategy.0),
        })
    }

    fn space(&self) -> Result<BoardSpace, UsageError> {
        let refused = |error: board::space::SpaceError| UsageError(error.to_string());
        let usual = BoardSpace::usual(self.lot).map_err(refused)?;
        let fields = usual.fields().clone();
        BoardSpace::new(SpaceFields {
            exit_row: self.row.unwrap_or(fields.exit_row),
            walls: self.walls.clone(),
            hero_length: self.hero,
            lengths: self
                .lengths
                .as_ref()
                .map_or(fields.lengths.clone(), |lengths| lengths.0.clone()),
            vehicles: self.vehicles.clone().unwrap_or_else(|| fields.vehicles.clone()),
            ..fields
        })
        .map_err(refused)
    }

    /// A name that says what is hunted, so that the same command goes on with the same hunt. A hunt with a seed is one
    /// of its own: the seed is fixed when a hunt is first asked for.
    fn usual_name(&self, space: &BoardSpace) -> String {
        let range = |range: RangeInclusive<u8>| match (*range.start(), *range.end()) {
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low}..{high}"),
        };
        let mut name = format!(
            "{} row {}, {} vehicles, {} walls",
            space.lot(),
            space.exit_row(),
            range(space.vehicles()),
            range(space.walls())
        );
        if self.hero != 2 {
            write!(name, ", hero of {}", self.hero).expect("a String takes all writes");
        }
        if let Some(Lengths(lengths)) = &self.lengths {
            let spelled: Vec<String> = lengths.iter().map(ToString::to_string).collect();
            write!(name, ", lengths {}", spelled.join(",")).expect("a String takes all writes");
        }
        if self.aim == Aim::Deep {
            name.push_str(", deep");
        }
        if let Some(seed) = self.seed {
            write!(name, ", seed {seed}").expect("a String takes all writes");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_read_alone_or_several() {
        let read = |text| parse_strategies(text).map(|strategies| (strategies.strategy(), strategies.0));
        assert_eq!(read("mixed"), Ok((Strategy::Mixed, vec![])));
        assert_eq!(read("sweep"), Ok((Strategy::Sweep, vec![Strategy::Sweep])));
        assert_eq!(
            read("sweep,scatter"),
            Ok((Strategy::Mixed, vec![Strategy::Sweep, Strategy::Scatter]))
        );
        for bad in ["census", "scatter,", "mixed,sweep", ""] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ranges_of_counts_are_read() {
        assert_eq!(parse_range("3"), Ok(3..=3));
        assert_eq!(parse_range("0..2"), Ok(0..=2));
        assert_eq!(parse_range("0..=2"), Ok(0..=2));
        for bad in ["", "..", "2..1", "x", "-1", "300"] {
            assert!(parse_range(bad).is_err(), "{bad:?}");
        }
    }
}
