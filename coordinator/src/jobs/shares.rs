//! How often each strategy gets the next job: by what it brought for the processor time it took, and never not at all.
//!
//! What a strategy brought is one number, its *worth*: a new board counts by how rare its par is (see
//! [`Tx::arm_yields`](crate::store::Tx::arm_yields)). Here it is only compared.

/// A strategy's part at least, however little it brings: what brings nothing today may be all that brings something
/// tomorrow, and without jobs nobody would hear of it.
pub const FLOOR: f64 = 0.06;

/// A way to search that has yields of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm {
    /// Arms of one group share its floor: the temperatures of annealing.
    pub group: usize,
    /// Worth for each second of processor time; `None`: nothing was measured yet.
    pub worth_per_s: Option<f64>,
}

/// The share of each arm, in their order: a floor for each group, and the rest in proportion to worth. An arm that
/// nothing is known of is taken to be as good as the best that something is known of.
///
/// Shares are above 0 and add up to 1; none if there are no arms.
pub fn shares(arms: &[Arm]) -> Vec<f64> {
    let Some(n_groups) = arms.iter().map(|arm| arm.group + 1).max() else {
        return Vec::new();
    };
    let mut sizes = vec![0.0; n_groups];
    for arm in arms {
        sizes[arm.group] += 1.0;
    }
    let n_used: f64 = sizes.iter().map(|&size| if size > 0.0 { 1.0 } else { 0.0 }).sum();
    let floor = FLOOR.min(0.5 / n_used);
    let measured = arms
        .iter()
        .filter_map(|arm| arm.worth_per_s)
        .filter(|worth| worth.is_finite());
    let best = measured.fold(0.0, f64::max);
    let worth = |arm: &Arm| {
        arm.worth_per_s
            .filter(|worth| worth.is_finite())
            .map_or(best, |worth| worth.max(0.0))
    };
    let total: f64 = arms.iter().map(worth).sum();
    #[expect(clippy::cast_precision_loss, reason = "a handful of arms")]
    let equal = 1.0 / arms.len() as f64;
    let part = |arm: &Arm| if total > 0.0 { worth(arm) / total } else { equal };
    arms.iter()
        .map(|arm| floor / sizes[arm.group] + (1.0 - floor * n_used) * part(arm))
        .collect()
}

/// Which share a ticket from 0 to 1 falls into: the index of the share.
///
/// # Panics
/// If there are no shares.
pub fn draw(shares: &[f64], ticket: f64) -> usize {
    let mut left = ticket.clamp(0.0, 1.0) * shares.iter().sum::<f64>();
    for (idx, share) in shares.iter().enumerate() {
        if left < *share {
            return idx;
        }
        left -= share;
    }
    // Sums of doubles may end a hair below a ticket of 1.
    shares.len().checked_sub(1).expect("there is a share to draw")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(group: usize, worth: f64) -> Arm {
        Arm {
            group,
            worth_per_s: Some(worth),
        }
    }

    #[test]
    fn shares_follow_worth_and_never_fall_to_nothing() {
        let cases: [&[Arm]; 5] = [
            &[arm(0, 1.0), arm(1, 0.0), arm(1, 0.0), arm(2, 1e9)],
            &[arm(0, 0.0), arm(1, 0.0)],
            &[arm(0, f64::INFINITY), arm(1, f64::NAN), arm(2, -1.0)],
            &[arm(0, 5.0)],
            &[
                arm(0, 1.0),
                Arm {
                    group: 1,
                    worth_per_s: None,
                },
            ],
        ];
        for arms in cases {
            let shares = shares(arms);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
            for group in 0..=2 {
                let of_group = arms.iter().zip(&shares).filter(|(arm, _)| arm.group == group);
                let (n, sum) = of_group.fold((0, 0.0), |(n, sum), (_, share)| (n + 1, sum + share));
                assert!(n == 0 || sum >= FLOOR - 1e-9, "{arms:?}: {shares:?}");
            }
            assert!(shares.iter().all(|&share| share > 0.0), "{shares:?}");
        }
    }

    #[test]
    fn what_brings_twice_as_much_gets_nearly_twice_as_many_jobs() {
        let shares = shares(&[arm(0, 2.0), arm(1, 1.0)]);
        let expected = [
            FLOOR + (1.0 - 2.0 * FLOOR) * 2.0 / 3.0,
            FLOOR + (1.0 - 2.0 * FLOOR) / 3.0,
        ];
        assert!((shares[0] - expected[0]).abs() < 1e-9 && (shares[1] - expected[1]).abs() < 1e-9);
    }

    #[test]
    fn what_was_never_tried_is_tried_as_often_as_the_best() {
        let untried = Arm {
            group: 2,
            worth_per_s: None,
        };
        let shares = shares(&[arm(0, 2.0), arm(1, 1.0), untried]);
        assert!((shares[2] - shares[0]).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn every_ticket_falls_into_a_share() {
        let shares = [0.25, 0.5, 0.25];
        let drawn: Vec<usize> = [0.0, 0.2, 0.25, 0.7, 0.75, 1.0, 2.0, -1.0]
            .into_iter()
            .map(|ticket| draw(&shares, ticket))
            .collect();
        assert_eq!(drawn, [0, 0, 1, 1, 2, 2, 2, 0]);
        assert_eq!(shares_of_none(), 0);
    }

    fn shares_of_none() -> usize {
        super::shares(&[]).len()
    }
}
