//! The ways to search that a hunt chooses among: its strategies, annealing at several temperatures.
//!
//! The temperatures of annealing adapt by the same means as the shares of strategies: each pair is a way of its own,
//! and gets jobs by what it brings on this lot at this time.

use board::anneal::Temperatures;
use proto::convert::{HuntPlan, JobKind, Strategy};

use crate::jobs::shares::{self, draw, shares};
use crate::store::ArmYield;

/// Temperatures of annealing, in thousandths of a slide: the usual ones, half, and twice as much.
const TEMPERATURES: [(u32, u32); 3] = [(1_000, 200), (2_000, 400), (4_000, 800)];

/// Jobs are taken to last this long at least, in seconds of processor time.
const LEAST_JOB_S: f64 = 0.001;

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arm {
    Scatter,
    Anneal(Temperatures),
    Sweep,
}

impl Arm {
    /// Those of a hunt that the kinds of job asked for include.
    pub(super) fn all(strategy: Strategy, plan: &HuntPlan, kinds: &[JobKind]) -> Vec<Arm> {
        let strategies: &[Strategy] = match strategy {
            Strategy::Mixed => &plan.mix,
            ref single => std::slice::from_ref(single),
        };
        let mut arms: Vec<Arm> = strategies
            .iter()
            .flat_map(|&strategy| Arm::of(strategy))
            .collect();
        arms.retain(|arm| kinds.contains(&arm.kind()));
        arms
    }

    fn of(strategy: Strategy) -> Vec<Arm> {
        match strategy {
            Strategy::Scatter => vec![Arm::Scatter],
            Strategy::Sweep => vec![Arm::Sweep],
            Strategy::Anneal => TEMPERATURES
                .map(|(first, last)| Arm::Anneal(Temperatures { first, last }))
                .to_vec(),
            Strategy::Mixed | Strategy::Census | Strategy::Siren | Strategy::Difficulty => Vec::new(),
        }
    }

    pub(super) fn kind(self) -> JobKind {
        match self {
            Arm::Scatter => JobKind::Scatter,
            Arm::Anneal(_) => JobKind::Anneal,
            Arm::Sweep => JobKind::Sweep,
        }
    }

    /// As the database names it.
    pub(super) fn name(self) -> String {
        match self {
            Arm::Anneal(Temperatures { first, last }) => format!("anneal {first}..{last}"),
            arm => arm.kind().as_str().to_owned(),
        }
    }
}

/// The arm whose turn it is, by their yields and a ticket from 0 to 1. `None`: there are no arms.
///
/// Shares are of processor time: an arm of short jobs gets more of them.
pub(super) fn choose(arms: &[Arm], yields: &[ArmYield], ticket: f64) -> Option<Arm> {
    let known = |arm: &Arm| {
        let mut yields = yields.iter();
        yields.find(|known| known.arm == arm.name() && known.cpu_s > 0.0)
    };
    let mut groups: Vec<JobKind> = Vec::new();
    let standing: Vec<shares::Arm> = arms
        .iter()
        .map(|arm| {
            let group = groups
                .iter()
                .position(|&kind| kind == arm.kind())
                .unwrap_or_else(|| {
                    groups.push(arm.kind());
                    groups.len() - 1
                });
            shares::Arm {
                group,
                worth_per_s: known(arm).map(|known| known.worth / known.cpu_s),
            }
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a handful of arms")]
    let n_known = yields.len().max(1) as f64;
    let usual_s = yields.iter().map(|known| known.job_s / n_known).sum::<f64>();
    let turns: Vec<f64> = shares(&standing)
        .into_iter()
        .zip(arms)
        .map(|(share, arm)| share / known(arm).map_or(usual_s, |known| known.job_s).max(LEAST_JOB_S))
        .collect();
    (!turns.is_empty()).then(|| arms[draw(&turns, ticket)])
}

#[cfg(test)]
mod tests {
    use proto::convert::Aim;

    use super::*;

    const ALL: [JobKind; 3] = [JobKind::Scatter, JobKind::Anneal, JobKind::Sweep];

    #[test]
    fn a_worker_gets_only_kinds_that_it_can_run() {
        let plan = HuntPlan::default();
        assert_eq!(
            Arm::all(Strategy::Mixed, &plan, &[JobKind::Scatter]),
            [Arm::Scatter]
        );
        assert_eq!(Arm::all(Strategy::Anneal, &plan, &[JobKind::Scatter]), []);
        assert_eq!(Arm::all(Strategy::Sweep, &plan, &ALL), [Arm::Sweep]);
        assert_eq!(Arm::all(Strategy::Mixed, &plan, &ALL).len(), 5);
    }

    #[test]
    fn a_mixed_hunt_mixes_what_it_was_told_to() {
        let plan = HuntPlan::new(Aim::Deep, &[Strategy::Sweep, Strategy::Scatter]);
        assert_eq!(Arm::all(Strategy::Mixed, &plan, &ALL), [Arm::Scatter, Arm::Sweep]);
    }

    #[test]
    fn turns_go_by_yield_and_everything_has_a_turn() {
        let arms = Arm::all(Strategy::Mixed, &HuntPlan::default(), &ALL);
        let yields: Vec<ArmYield> = arms
            .iter()
            .map(|arm| ArmYield {
                arm: arm.name(),
                cpu_s: 10.0,
                job_s: 2.0,
                worth: if *arm == Arm::Sweep { 5.0 } else { 0.0 },
            })
            .collect();
        let drawn: Vec<Arm> = (0..1_000)
            .map(|idx| choose(&arms, &yields, f64::from(idx) / 1_000.0).unwrap())
            .collect();
        let count = |arm: &Arm| drawn.iter().filter(|other| *other == arm).count();
        assert!(count(&Arm::Sweep) > 800, "{}", count(&Arm::Sweep));
        for arm in &arms {
            assert!(count(arm) >= 19, "{arm:?}: {}", count(arm));
        }
        assert_eq!(choose(&[], &yields, 0.5), None);
    }

    #[test]
    fn shares_are_of_processor_time_however_long_jobs_are() {
        let arms = [Arm::Scatter, Arm::Sweep];
        let of = |arm: Arm, job_s| ArmYield {
            arm: arm.name(),
            cpu_s: 12.0,
            job_s,
            worth: 3.0,
        };
        // Equal in worth for their time; a sweep takes a sixth of the time of a scatter job.
        let yields = [of(Arm::Scatter, 12.0), of(Arm::Sweep, 2.0)];
        let drawn = (0..700).map(|idx| choose(&arms, &yields, f64::from(idx) / 700.0).unwrap());
        assert_eq!(drawn.filter(|&arm| arm == Arm::Sweep).count(), 600);
        // Of one that was never tried, jobs are taken to be as long as those of the others.
        let drawn = (0..700).map(|idx| choose(&arms, &yields[..1], f64::from(idx) / 700.0).unwrap());
        assert_eq!(drawn.filter(|&arm| arm == Arm::Sweep).count(), 350);
    }
}
