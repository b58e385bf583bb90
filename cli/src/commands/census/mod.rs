//! `parforce census`: counts every board of a lot exactly once, through the farm.

pub(crate) mod estimate;
pub(crate) mod report;

use std::ops::RangeInclusive;

use board::census::{CensusSpec, Keep, Scope};
use board::space::{BoardSpace, SpaceFields};
use board::{Lot, Par, StateLimit};
use proto::convert::{Budget, CensusTerms, HuntPlan, NewHunt, Strategy, census_spec};

use super::hunt::wish::parse_range;
use super::hunt::{Errand, FarmArguments, run_farm};
use super::{Outcome, UsageError};

/// Count every board of a lot exactly once, through the farm: a proof of what the hunts only find.
///
/// Runs on this machine as `parforce hunt` does; other workers may join. Stopped and run again it goes on where it
/// stopped. A share of the ranges is counted a second time, by another worker if there is one, and must agree bit for
/// bit. At the end: clusters, minimal ones and positions by par, exact.
///
/// With --sample, nothing is stored: a part of the census, drawn evenly from all of it, is counted here and now, and
/// the whole is estimated from it, with an error band. Its boards of --keep par>=N are printed, hardest first.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce census --lot 4x4 --row 1
  parforce census --lot 6x6
  parforce census --lot 6x6 --scope every --keep 'par>=40'
  parforce census --lot 7x7 --sample 1/1000000 --keep 'par>=60'")]
pub(crate) struct Arguments {
    /// The lot, from 3x3 to 8x8
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: Lot,
    /// The hero's row, counted from 0 at the top [default: the middle one, or the one above the middle]
    #[arg(long, value_name = "ROW")]
    row: Option<u8>,
    /// How many walls a board has: a number, or a range such as 0..=2
    #[arg(long, value_name = "RANGE", default_value = "0", value_parser = parse_range)]
    walls: RangeInclusive<u8>,
    /// Which boards are counted: standard (hero alone in its row, no full lane) or every (all legal ones)
    #[arg(long, default_value = "standard", value_parser = parse_scope)]
    scope: Scope,
    /// Which clusters are stored as boards: minimal, solvable, par>=N or nothing; all are counted
    #[arg(long, default_value = "minimal", value_parser = parse_keep)]
    keep: Keep,
    /// Count clusters without a solved position too (slow)
    #[arg(long)]
    unsolvable: bool,
    /// How many ranges of a hundred are counted twice
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    repeats: f64,
    /// Estimate from one unit in N instead of counting
    #[arg(long, value_name = "1/N", value_parser = parse_sample)]
    sample: Option<u32>,
    #[command(flatten)]
    farm: FarmArguments,
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    match text {
        "standard" => Ok(Scope::Standard),
        "every" => Ok(Scope::Every),
        _ => Err(String::from("expected standard or every")),
    }
}

fn parse_keep(text: &str) -> Result<Keep, String> {
    match text {
        "nothing" => Ok(Keep::Nothing),
        "minimal" => Ok(Keep::Minimal),
        "solvable" => Ok(Keep::Solvable),
        _ => text
            .strip_prefix("par>=")
            .and_then(|par| par.parse().ok())
            .map(|par| Keep::ParAtLeast(Par::new(par)))
            .ok_or_else(|| String::from("expected minimal, solvable, nothing or e.g. par>=40")),
    }
}

fn parse_sample(text: &str) -> Result<u32, String> {
    text.strip_prefix("1/")
        .and_then(|n| n.parse().ok())
        .filter(|&n| n >= 1)
        .ok_or_else(|| String::from("expected e.g. 1/1000"))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let space = arguments.space()?;
    let terms = arguments.terms()?;
    if let Some(one_in) = arguments.sample {
        return estimate::run(
            arguments.spec(&space, terms),
            one_in,
            arguments.farm.threads(),
            arguments.farm.json,
        );
    }
    run_farm(&arguments.farm, &Errand::Hunt(arguments.wish(space, terms), None))
}

impl Arguments {
    fn space(&self) -> Result<BoardSpace, UsageError> {
        let refused = |error: board::space::SpaceError| UsageError(error.to_string());
        let fields = BoardSpace::usual(self.lot).map_err(refused)?.fields().clone();
        BoardSpace::new(SpaceFields {
            exit_row: self.row.unwrap_or(fields.exit_row),
            walls: self.walls.clone(),
            ..fields
        })
        .map_err(refused)
    }

    fn terms(&self) -> Result<CensusTerms, UsageError> {
        if !(0.0..=100.0).contains(&self.repeats) {
            return Err(UsageError(format!(
                "--repeats {}, expected 0 to 100",
                self.repeats
            )));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 1,000 by the check above"
        )]
        let repeats_per_mille = (self.repeats * 10.0).round() as u16;
        Ok(CensusTerms {
            scope: self.scope,
            keep: self.keep,
            count_unsolvable: self.unsolvable,
            repeats_per_mille,
        })
    }

    fn spec(&self, space: &BoardSpace, terms: CensusTerms) -> CensusSpec {
        // A sample is not stored: of what it finds only a few hard boards are worth holding, and printing.
        let keep = match (self.sample, terms.keep) {
            (Some(_), Keep::Minimal | Keep::Solvable) => Keep::Nothing,
            (_, keep) => keep,
        };
        census_spec(space, CensusTerms { keep, ..terms }, StateLimit::DEFAULT)
    }

    fn wish(&self, space: BoardSpace, terms: CensusTerms) -> NewHunt {
        NewHunt {
            name: self.name(&space, terms),
            space,
            strategy: Strategy::Census,
            budget: Budget::default(),
            priority: 0,
            seed: None,
            census: Some(terms),
            plan: HuntPlan::default(),
        }
    }

    /// A name that says what is counted and kept, so that the same command goes on with the same census.
    fn name(&self, space: &BoardSpace, terms: CensusTerms) -> String {
        let walls = match (*self.walls.start(), *self.walls.end()) {
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low}..{high}"),
        };
        let scope = match terms.scope {
            Scope::Standard => "standard",
            Scope::Every => "every",
        };
        let keep = match terms.keep {
            Keep::Nothing => String::from("nothing"),
            Keep::Minimal => String::from("minimal"),
            Keep::Solvable => String::from("solvable"),
            Keep::ParAtLeast(par) => format!("par>={par}"),
        };
        let unsolvable = if terms.count_unsolvable {
            ", unsolvable too"
        } else {
            ""
        };
        format!(
            "census {} row {}, {walls} walls, {scope}, keeps {keep}{unsolvable}, {} of 1000 twice",
            space.lot(),
            space.exit_row(),
            terms.repeats_per_mille,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read() {
        assert_eq!(parse_keep("par>=40"), Ok(Keep::ParAtLeast(Par::new(40))));
        assert_eq!(parse_keep("minimal"), Ok(Keep::Minimal));
        for bad in ["", "par", "par>=", "par>=x", "all"] {
            assert!(parse_keep(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn samples_are_read() {
        assert_eq!(parse_sample("1/1000"), Ok(1000));
        for bad in ["", "1/0", "2/3", "0.1", "1/x"] {
            assert!(parse_sample(bad).is_err(), "{bad:?}");
        }
    }
}
