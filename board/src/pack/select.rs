//! Which boards become levels.

use std::collections::BTreeMap;

use crate::{Canonical, Par};

/// A board that may become a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What boards of the same par are ordered by before anything else, smaller first; all alike if by nothing.
    pub sort: i64,
    /// Its par.
    pub par: Par,
    /// Vehicles, hero included.
    pub n_vehicles: u16,
    /// Positions in its cluster.
    pub n_states: u64,
    /// Its spelling.
    pub canonical: Canonical,
}

/// There are fewer boards than levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{n_boards} boards for {n_levels} levels")]
pub struct NotEnough {
    /// Boards that may be taken.
    pub n_boards: u64,
    /// Levels asked for.
    pub n_levels: u64,
}

/// How many levels each par gets, given the par that each level should have and how many boards of each par there are.
///
/// Levels choose in their order, each the nearest par that has a board left, of two equally near ones the smaller.
/// The boards chosen are then put in the order of their pars, so what counts is how many were chosen of each.
///
/// # Errors
/// When there are fewer boards than levels.
pub fn allot(targets: &[f64], n_boards: &BTreeMap<Par, u64>) -> Result<BTreeMap<Par, u64>, NotEnough> {
    let mut left = n_boards.clone();
    left.retain(|_, n| *n > 0);
    let mut levels = BTreeMap::new();
    for &target in targets {
        let distance = |par: &Par| (f64::from(par.get()) - target).abs();
        // Two distances are equal in floating point where they are equal, or as good as: the smaller par comes first.
        let nearest = left
            .keys()
            .copied()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest.ok_or_else(|| NotEnough {
            n_boards: n_boards.values().sum(),
            n_levels: targets.len() as u64,
        })?;
        *levels.entry(nearest).or_default() += 1;
        let n_left = left
            .get_mut(&nearest)
            .expect("it was chosen among those that are left");
        *n_left -= 1;
        if *n_left == 0 {
            left.remove(&nearest);
        }
    }
    Ok(levels)
}

/// The boards of a pack in the order of its levels: par rising; within a par the sort value, then fewer vehicles, then
/// the smaller cluster, then the smaller spelling.
///
/// Candidates may come in any order; those of pars without levels, and all beyond what is needed, are left out.
///
/// # Errors
/// When a par has fewer candidates than levels.
pub fn choose(
    levels: &BTreeMap<Par, u64>,
    mut candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, NotEnough> {
    candidates.sort_by(|a, b| rank(a).cmp(&rank(b)));
    candidates.dedup_by(|a, b| a.canonical == b.canonical);
    let mut left = levels.clone();
    candidates.retain(|candidate| match left.get_mut(&candidate.par) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    });
    let n_levels = levels.values().sum();
    let n_boards = candidates.len() as u64;
    if n_boards < n_levels {
        return Err(NotEnough { n_boards, n_levels });
    }
    Ok(candidates)
}

fn rank(candidate: &Candidate) -> (Par, i64, u16, u64, &Canonical) {
    let Candidate {
        sort,
        par,
        n_vehicles,
        n_states,
        canonical,
    } = candidate;
    (*par, *sort, *n_vehicles, *n_states, canonical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Curve;

    /// Minimal wall-free 6x6 boards by par 1 to 51: the complete census.
    const CENSUS: [u64; 51] = [
        1, 8, 128, 767, 3561, 10629, 21266, 34032, 48301, 59777, 61984, 53381, 41957, 31534, 24407, 19192,
        14696, 11643, 9086, 7151, 5584, 4212, 3280, 2370, 1792, 1323, 995, 748, 586, 391, 316, 224, 176, 126,
        114, 84, 70, 47, 38, 25, 30, 25, 16, 15, 8, 9, 4, 3, 4, 1, 1,
    ];

    fn par(slides: u16) -> Par {
        Par::new(slides)
    }

    fn counts(of: &[(u16, u64)]) -> BTreeMap<Par, u64> {
        of.iter().map(|&(slides, n)| (par(slides), n)).collect()
    }

    #[test]
    fn on_the_complete_census_the_default_curve_has_the_shape_of_the_seed() {
        let there_are = (1..).zip(CENSUS).map(|(slides, n)| (par(slides), n)).collect();
        let targets = Curve::default().targets(200, par(3), par(51));
        let levels = allot(&targets, &there_are).unwrap();
        assert_eq!(levels.values().sum::<u64>(), 200);
        let of = |slides| levels.get(&par(slides)).copied().unwrap_or(0);
        assert_eq!(of(3), 7);
        assert!((4..=10).all(|slides| (6..=7).contains(&of(slides))), "{levels:?}");
        assert!(
            (30..=43).all(|slides| (2..=4).contains(&of(slides))),
            "{levels:?}"
        );
        assert_eq!(
            (33..=43).map(of).sum::<u64>(),
            31,
            "three near the top, but for a few of two"
        );
        assert_eq!([47, 48, 49, 50, 51].map(of), [2, 2, 2, 1, 1]);
        assert_eq!((of(1), of(2)), (0, 0));
    }

    #[test]
    fn a_level_takes_the_nearest_par_that_is_left() {
        let there_are = counts(&[(3, 1), (4, 0), (5, 2), (9, 5)]);
        let levels = allot(&[3.0, 3.1, 3.2, 7.0], &there_are).unwrap();
        assert_eq!(levels, counts(&[(3, 1), (5, 2), (9, 1)]));
        // Equally near: the smaller.
        assert_eq!(allot(&[4.0], &there_are).unwrap(), counts(&[(3, 1)]));
    }

    #[test]
    fn more_levels_than_boards_are_refused() {
        let not_enough = NotEnough {
            n_boards: 3,
            n_levels: 4,
        };
        assert_eq!(allot(&[3.0; 4], &counts(&[(3, 1), (5, 2)])), Err(not_enough));
        assert_eq!(not_enough.to_string(), "3 boards for 4 levels");
    }

    fn candidate(sort: i64, n_vehicles: u16, n_states: u64, canonical: &str) -> Candidate {
        let canonical = Canonical::parse(canonical).unwrap();
        Candidate {
            sort,
            par: par(3),
            n_vehicles,
            n_states,
            canonical,
        }
    }

    #[test]
    fn ties_go_to_fewer_vehicles_then_the_smaller_cluster_then_the_spelling() {
        let [a, b, c, d] = [
            "AAoooooooooooooo",
            "oAAooooooooooooo",
            "ooAAoooooooooooo",
            "ooooAAoooooooooo",
        ];
        let candidates = vec![
            candidate(0, 3, 10, a),
            candidate(0, 2, 30, c),
            candidate(0, 2, 30, b),
            candidate(0, 2, 20, d),
            candidate(0, 2, 20, d),
        ];
        let chosen = |n, candidates| choose(&counts(&[(3, n)]), candidates);
        let spelled = |chosen: Vec<Candidate>| {
            chosen
                .into_iter()
                .map(|c| c.canonical.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(spelled(chosen(3, candidates.clone()).unwrap()), [d, b, c]);
        assert_eq!(spelled(chosen(4, candidates.clone()).unwrap()), [d, b, c, a]);
        assert_eq!(
            chosen(5, candidates),
            Err(NotEnough {
                n_boards: 4,
                n_levels: 5
            })
        );
        let sorted = vec![candidate(7, 2, 10, a), candidate(-1, 9, 99, b)];
        assert_eq!(spelled(chosen(1, sorted).unwrap()), [b]);
    }
}
