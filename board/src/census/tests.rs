use super::*;
use crate::cluster::Explorer;

fn whole(spec: CensusSpec) -> RangeOutcome {
    let census = Census::new(spec).unwrap();
    run_range(&census, census.all_units(), &mut Explorer::new(), &mut |_| true).unwrap()
}

fn published(
    side: u8,
    walls: RangeInclusive<u8>,
    clusters: u64,
    solvable: u64,
    minimal: u64,
    largest: usize,
) {
    let spec = CensusSpec {
        count_unsolvable: true,
        ..CensusSpec::standard(Lot::new(side, side).unwrap(), walls)
    };
    let outcome = whole(spec.clone());
    assert_eq!(outcome.clusters(), clusters);
    assert_eq!(outcome.solvable(), solvable);
    assert_eq!(outcome.minimal(), minimal);
    assert_eq!(outcome.boards.len() as u64, minimal);
    let hardest = outcome.by_par.iter().rposition(|counts| counts.minimal > 0);
    assert_eq!(hardest, Some(largest));
    let solvable_only = whole(CensusSpec {
        count_unsolvable: false,
        ..spec
    });
    assert_eq!(solvable_only.by_par, outcome.by_par);
    assert_eq!(solvable_only.digest, outcome.digest);
    assert_eq!(solvable_only.boards, outcome.boards);
}

#[test]
fn counts_of_4x4_are_the_published_ones() {
    published(4, 0..=0, 880, 493, 32, 7);
    published(4, 0..=1, 7_113, 4_087, 32, 7);
    published(4, 0..=2, 26_509, 15_739, 32, 7);
}

#[test]
fn counts_of_5x5_are_the_published_ones() {
    published(5, 0..=0, 130_299, 62_106, 1_730, 20);
    published(5, 0..=1, 1_655_079, 831_255, 6_041, 21);
}
