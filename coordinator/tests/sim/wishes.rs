//! What operators of simulated farms ask for.

use std::sync::Arc;
use std::time::Duration;

use board::StateLimit;
use board::census::{Census, CensusJob, Keep, RangeOutcome, Scope};
use board::cluster::Explorer;
use board::geometry::Lot;
use board::job::JobSpec;
use board::space::BoardSpace;
use proto::convert::{Budget, CensusTerms, NewHunt, Strategy, census_spec};

use crate::ops::Wish;

/// The lot of every census.
const CENSUS_LOT: (u8, u8) = (4, 3);

const TERMS: CensusTerms = CensusTerms {
    scope: Scope::Standard,
    keep: Keep::Solvable,
    count_unsolvable: false,
    repeats_per_mille: 0,
};

fn usual(lot: (u8, u8)) -> BoardSpace {
    BoardSpace::usual(Lot::new(lot.0, lot.1).unwrap()).unwrap()
}

/// All of a census, counted in one piece.
pub(crate) fn whole_census() -> RangeOutcome {
    let spec = census_spec(&usual(CENSUS_LOT), TERMS, StateLimit::DEFAULT);
    let census = Arc::new(Census::new(spec).unwrap());
    let units = census.all_units();
    let job = JobSpec::Census(CensusJob::new(census, units, 1).unwrap());
    job.run(&mut Explorer::new()).census.unwrap()
}

/// What an operator asks for in its so-manyth wish.
pub(crate) fn wanted(number: usize, wish: Wish) -> NewHunt {
    let jobs = |n: u8| Budget {
        n_jobs: Some(n.into()),
        ..Budget::default()
    };
    let (strategy, budget) = match wish {
        Wish::Scatter(n) => (Strategy::Scatter, jobs(n)),
        Wish::Mixed(n) => (Strategy::Mixed, jobs(n)),
        Wish::UntilPar(par) => {
            let budget = Budget {
                until_par: Some(board::Par::new(par.into())),
                ..Budget::default()
            };
            (Strategy::Mixed, budget)
        }
        Wish::Timed(seconds) => {
            let budget = Budget {
                time: Some(Duration::from_secs(seconds.into())),
                ..Budget::default()
            };
            (Strategy::Scatter, budget)
        }
        Wish::Endless => (Strategy::Scatter, Budget::default()),
        Wish::Census(_) => (Strategy::Census, Budget::default()),
    };
    let census = match wish {
        Wish::Census(repeats_per_mille) => Some(CensusTerms {
            repeats_per_mille,
            ..TERMS
        }),
        _ => None,
    };
    let lot = if census.is_some() { CENSUS_LOT } else { (4, 4) };
    NewHunt {
        plan: proto::convert::HuntPlan::default(),
        name: format!("hunt {number}"),
        space: usual(lot),
        strategy,
        budget,
        priority: 0,
        seed: Some(number as u64),
        census,
    }
}
