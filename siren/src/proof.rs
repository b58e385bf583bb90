//! What somebody says that a seed gave, judged: everything is worked out anew from the jam alone.
//!
//! That the jam is a good one is proved here. That it is the seed's is not: for that the seed must be tried again
//! ([`JamJob::try_seed`](crate::job::JamJob::try_seed)), at the whole cost of finding it.

use crate::blockers::Blockers;
use crate::canonical::Canonical;
use crate::check::{Fault, check_plan};
use crate::closure::solve_from;
use crate::generate::{Candidate, Score, unfit};
use crate::jam::Jam;
use crate::job::JamJob;
use crate::level::{Level, LevelError};
use crate::measure::Measures;
use crate::rating::Rating;
use crate::simulate::{Escape, State, replay};

/// A jam and what somebody says about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatedJam {
    /// The seed that gave it.
    pub seed: u64,
    /// Its stated par, in moves.
    pub par: u32,
    /// Its stated canonical spelling.
    pub canonical: String,
    /// The jam, as the file of a level without name and limits ([`plain_level`]).
    pub level: String,
}

impl StatedJam {
    /// What an honest worker says.
    pub fn new(seed: u64, candidate: &Candidate) -> Self {
        Self {
            seed,
            par: candidate.measures.par,
            canonical: Canonical::new(&candidate.jam).as_str().to_owned(),
            level: plain_level(seed, &candidate.jam).spell(),
        }
    }
}

/// A seed's jam as a level that belongs nowhere.
pub fn plain_level(seed: u64, jam: &Jam) -> Level {
    Level {
        name: format!("Seed {seed}"),
        campaign: None,
        tutorial: None,
        moves: None,
        star_seconds: None,
        jam: jam.clone(),
    }
}

/// A jam with all that was found out about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvedJam {
    /// The seed that is said to have given it.
    pub seed: u64,
    /// The jam, its figures and its score.
    pub candidate: Candidate,
    /// Its canonical spelling.
    pub canonical: Canonical,
    /// The jam, spelled as [`plain_level`] is.
    pub level: String,
    /// Difficulty and times.
    pub rating: Rating,
    /// Moves of both escapes, forward first.
    pub costs: [u32; 2],
    /// Light swaps of the optimum.
    pub n_swaps: u32,
    /// Whether the optimum lowers the drawbridge.
    pub lowers_bridge: bool,
}

/// Why a statement is refused.
#[derive(Debug, thiserror::Error)]
pub enum FalseJam {
    /// Not one of the job's seeds.
    #[error("seed {0} is none of the job's")]
    Seed(u64),
    /// No legal jam.
    #[error("no jam: {0}")]
    Unreadable(#[from] LevelError),
    /// The jam's text is not the one that its jam is spelled as.
    #[error("the level is not spelled as its jam is")]
    Spelling,
    /// Its canonical spelling is another.
    #[error("stated canonical spelling {stated:?}, found {found:?}")]
    NotCanonical {
        /// As stated.
        stated: String,
        /// As it is.
        found: String,
    },
    /// It breaks a rule of every level, or is not what its template asks for, ranges apart.
    #[error(transparent)]
    Unfit(#[from] Fault),
    /// Its par is another.
    #[error("stated par {stated}, proved {proved}")]
    Par {
        /// As stated.
        stated: u32,
        /// As it is.
        proved: u32,
    },
}

/// Proves a statement about a jam of a job.
///
/// # Errors
/// [`FalseJam`]; an honest worker's statement gives none.
pub fn prove(job: &JamJob, stated: &StatedJam) -> Result<ProvedJam, FalseJam> {
    if !job.seeds().contains(&stated.seed) {
        return Err(FalseJam::Seed(stated.seed));
    }
    let jam = Level::parse(&stated.level)?.jam;
    let level = plain_level(stated.seed, &jam).spell();
    if level != stated.level {
        return Err(FalseJam::Spelling);
    }
    let canonical = Canonical::new(&jam);
    if canonical.as_str() != stated.canonical {
        return Err(FalseJam::NotCanonical {
            stated: stated.canonical.clone(),
            found: canonical.as_str().to_owned(),
        });
    }
    let blockers = Blockers::new(&jam);
    let answer = solve_from(&blockers, &State::start(&jam));
    if let Some(unfit) = unfit(&jam, &blockers, &answer).into_iter().next() {
        return Err(Fault::from(unfit).into());
    }
    let faults = check_plan(&jam, &answer, job.template());
    if let Some(fault) = faults.into_iter().find(|fault| !matches!(fault, Fault::Miss(_))) {
        return Err(fault.into());
    }
    let (optimum, measures) = answer
        .optimum()
        .zip(Measures::of(&jam, &answer))
        .expect("a jam whose escapes cannot both be cleared is unfit");
    if optimum.cost() != stated.par {
        return Err(FalseJam::Par {
            stated: stated.par,
            proved: optimum.cost(),
        });
    }
    // The fast answer beside the slow one: played square by square, the optimum must clear its lane.
    let end = replay(&jam, &optimum.actions);
    assert!(
        end.is_ok_and(|state| state.is_clear(&jam, optimum.escape)),
        "the optimum of {level} does not play"
    );
    Ok(ProvedJam {
        seed: stated.seed,
        rating: Rating::new(&jam, &blockers, optimum),
        costs: Escape::BOTH.map(|escape| answer.cost(escape).expect("both escapes can be cleared")),
        n_swaps: optimum.n_swaps,
        lowers_bridge: optimum.lowers_bridge,
        candidate: Candidate {
            score: Score::new(job.template(), &measures),
            measures,
            jam,
        },
        canonical,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, SHIPPED_PLAN};

    fn job() -> JamJob {
        let level = Plan::parse(SHIPPED_PLAN).unwrap().levels().remove(22);
        JamJob::new(level.template, level.seeds[..1].to_vec()).unwrap()
    }

    #[test]
    fn what_an_honest_worker_says_is_proved() {
        let job = job();
        let stated = job.run().found.remove(0);
        let proved = prove(&job, &stated).unwrap();
        let (found, _) = crate::generate::candidate(job.template(), stated.seed).unwrap();
        assert_eq!(Some(proved.candidate), found);
        assert_eq!(proved.level, stated.level);
        assert!(proved.n_swaps > 0, "a level with lights");
    }

    #[test]
    fn every_lie_is_refused_by_its_name() {
        let job = job();
        let truth = job.run().found.remove(0);
        let refused = |lie: StatedJam| prove(&job, &lie).unwrap_err().to_string();
        let lie = |change: &dyn Fn(&mut StatedJam)| {
            let mut lie = truth.clone();
            change(&mut lie);
            refused(lie)
        };
        assert_eq!(lie(&|lie| lie.seed = 3), "seed 3 is none of the job's");
        assert!(lie(&|lie| lie.level.truncate(40)).starts_with("no jam: EOF while parsing"));
        assert_eq!(
            lie(&|lie| lie.level.push(' ')),
            "the level is not spelled as its jam is"
        );
        assert!(lie(&|lie| lie.canonical.push('x')).starts_with("stated canonical spelling"));
        assert_eq!(
            lie(&|lie| lie.par += 1),
            format!("stated par {}, proved {}", truth.par + 1, truth.par)
        );
        // A piece less: another jam, honestly spelled, that is no level or not this plan's.
        let mut parts = Level::parse(&truth.level).unwrap().jam.parts().clone();
        parts.lights.pop();
        let jam = Jam::new(parts).unwrap();
        let fewer = StatedJam {
            canonical: Canonical::new(&jam).as_str().to_owned(),
            level: plain_level(truth.seed, &jam).spell(),
            ..truth.clone()
        };
        assert!(refused(fewer).starts_with("the number of lights is"));
    }
}
