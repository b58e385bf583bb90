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
pub(super) fn choose(arms: &[Arm], yields: &[ArmYield], ticket: f64) -> Option<Arm> {
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
            let measured = yields
                .iter()
                .find(|known| known.arm == arm.name() && known.cpu_s > 0.0);
            shares::Arm {
                group,
                worth_per_s: measured.map(|known| known.worth / known.cpu_s),
            }
        })
        .collect();
    let shares = shares(&standing);
    (!shares.is_empty()).then(|| arms[draw(&shares, ticket)])
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
}
