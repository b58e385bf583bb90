use super::run::{Images, run_range_with};
use super::*;
use crate::cluster::Explorer;
use crate::{Board, Vehicle};

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
    let mut boards = outcome.boards.clone();
    boards.dedup();
    if spec.has_mirror_images() {
        assert!((minimal.div_ceil(2)..minimal).contains(&(boards.len() as u64)));
    } else {
        assert_eq!(boards.len() as u64, minimal);
    }
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

#[test]
fn outcomes_of_adjoining_ranges_add_up_wherever_they_are_cut() {
    let spec = CensusSpec::standard(Lot::new(5, 5).unwrap(), 0..=0);
    let all = whole(spec.clone());
    let census = Census::new(spec).unwrap();
    let mut explorer = Explorer::new();
    let cuts = [0, 1, 100, 101, 1_777, 4_000, census.n_units()];
    let pieces = cuts
        .windows(2)
        .map(|cut| run_range(&census, cut[0]..cut[1], &mut explorer, &mut |_| true).unwrap());
    assert_eq!(pieces.reduce(RangeOutcome::followed_by), Some(all));
}

#[test]
fn a_range_that_is_stopped_has_counted_what_it_says() {
    let census = Census::new(CensusSpec::standard(Lot::new(4, 4).unwrap(), 0..=1)).unwrap();
    let mut explorer = Explorer::new();
    let first = run_range(&census, census.all_units(), &mut explorer, &mut |so_far| {
        so_far.units.end < 1_000
    });
    let first = first.unwrap();
    assert_eq!(first.units, 0..1_000);
    let rest = run_range(&census, 1_000..census.n_units(), &mut explorer, &mut |_| true).unwrap();
    let all = run_range(&census, census.all_units(), &mut explorer, &mut |_| true).unwrap();
    assert_eq!(first.followed_by(rest), all);
}

#[test]
fn lots_that_are_not_square_are_counted_as_plain_search_counts_them() {
    // Every legal board is listed by brute force, and the clusters taken off one by one.
    for (width, height, scope) in [
        (4, 3, Scope::Every),
        (3, 4, Scope::Every),
        (4, 4, Scope::Every),
        (5, 3, Scope::Every),
    ] {
        let lot = Lot::new(width, height).unwrap();
        let spec = CensusSpec {
            scope,
            count_unsolvable: true,
            keep: Keep::Solvable,
            ..CensusSpec::standard(lot, 0..=0)
        };
        let outcome = whole(spec);
        let mut left = every_board(lot);
        let n_positions = left.len() as u64;
        let (mut solvable, mut unsolvable, mut minimal) = (0, 0, 0);
        while let Some(board) = left.iter().next().cloned() {
            let cluster = crate::plain::cluster(&board);
            for position in crate::plain::reachable(&board) {
                assert!(
                    left.remove(&in_order(&position)),
                    "a cluster of {lot} overlaps another one"
                );
            }
            match cluster.is_minimal {
                None => unsolvable += 1,
                Some(is_minimal) => {
                    solvable += 1;
                    minimal += u64::from(is_minimal);
                }
            }
        }
        assert_eq!(
            outcome.positions() + outcome.unsolvable_positions,
            n_positions,
            "{lot}"
        );
        assert_eq!(
            (outcome.solvable(), outcome.unsolvable),
            (solvable, unsolvable),
            "{lot}"
        );
        assert_eq!(outcome.minimal(), minimal, "{lot}");
    }
}

/// The position with its vehicles in one order, whatever board it was reached from: equal positions are equal boards.
fn in_order(board: &Board) -> Board {
    let mut vehicles = board.vehicles().to_vec();
    vehicles[1..].sort_by_key(|vehicle| vehicle.first_square(board.lot()));
    Board::new(board.lot(), vehicles, board.walls()).expect("the same position")
}

/// Every legal board without walls, with vehicles of 2 and 3 and a hero of 2 in the usual exit row.
fn every_board(lot: Lot) -> std::collections::HashSet<Board> {
    let row = lot.default_exit_row();
    let mut boards = std::collections::HashSet::new();
    for start in 0..=lot.width() - 2 {
        let hero = Vehicle::new(Axis::Horizontal, row, start, 2);
        place_from(lot, 0, &mut vec![hero], hero.squares(lot), &mut boards);
    }
    boards
}

/// Puts vehicles whose first square is `square` or a later one.
fn place_from(
    lot: Lot,
    square: usize,
    vehicles: &mut Vec<Vehicle>,
    taken: Squares,
    boards: &mut std::collections::HashSet<Board>,
) {
    if square == lot.n_squares() {
        // Reading order of the others makes equal boards equal values; they are in order already.
        boards.insert(Board::new(lot, vehicles.clone(), Squares::EMPTY).unwrap());
        return;
    }
    place_from(lot, square + 1, vehicles, taken, boards);
    let (row, column) = (lot.row(square), lot.column(square));
    for length in [2, 3] {
        for vehicle in [
            Vehicle::new(Axis::Horizontal, row, column, length),
            Vehicle::new(Axis::Vertical, column, row, length),
        ] {
            if vehicle.fits(lot) && !vehicle.squares(lot).intersects(taken) {
                vehicles.push(vehicle);
                place_from(
                    lot,
                    square + 1,
                    vehicles,
                    taken.union(vehicle.squares(lot)),
                    boards,
                );
                vehicles.pop();
            }
        }
    }
}

#[test]
fn boards_of_small_lots_are_those_of_the_reference_enumeration() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/small_boards.txt");
    // The counts of the file are tested above; this compares board by board where the file is at hand.
    let Ok(text) = std::fs::read_to_string(path) else {
        return;
    };
    let mut explorer = Explorer::new();
    for (size, row, walls) in [("4x4", 2, 0), ("5x5", 2, 0), ("5x5", 2, 1)] {
        let lot: Lot = size.parse().unwrap();
        let mut published: Vec<(u16, String, u64)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if (fields[0], fields[1], fields[2]) == (size, &row.to_string(), &walls.to_string()) {
                // Mirror images are one board here: put the published one through the same choice.
                let entry = explorer.entry(&Board::parse(fields[4]).unwrap(), StateLimit::DEFAULT);
                let entry = entry.unwrap().unwrap();
                assert_eq!(entry.par.get(), fields[3].parse::<u16>().unwrap());
                published.push((
                    entry.par.get(),
                    entry.canonical.to_string(),
                    fields[5].parse().unwrap(),
                ));
            }
        }
        published.sort();
        published.dedup();
        let mut spec = CensusSpec::standard(lot, 0..=walls);
        spec.exit_row = row;
        let mut ours: Vec<(u16, String, u64)> = whole(spec)
            .boards
            .into_iter()
            .map(|found| (found.par.get(), found.canonical.to_string(), found.states))
            .collect();
        ours.dedup();
        let differing = ours
            .iter()
            .zip(&published)
            .find(|(ours, published)| ours != published);
        assert_eq!(differing, None, "{size}, up to {walls} walls");
        assert_eq!(ours.len(), published.len(), "{size}, up to {walls} walls");
    }
}

#[test]
fn mirror_images_counted_together_are_counted_as_if_apart() {
    let lot = |width, height| Lot::new(width, height).unwrap();
    let standard = |lot, walls| CensusSpec {
        count_unsolvable: true,
        keep: Keep::Solvable,
        ..CensusSpec::standard(lot, walls)
    };
    let every = |lot, walls| CensusSpec {
        scope: Scope::Every,
        ..standard(lot, walls)
    };
    for spec in [
        standard(lot(5, 5), 0..=0),
        standard(lot(3, 5), 0..=2),
        every(lot(4, 3), 0..=2),
        every(lot(3, 5), 1..=1),
    ] {
        let census = Census::new(spec.clone()).unwrap();
        let mut explorer = Explorer::new();
        let mut count = |images| {
            run_range_with(&census, census.all_units(), &mut explorer, images, &mut |_| true).unwrap()
        };
        let (apart, together) = (count(Images::Apart), count(Images::Together));
        assert_eq!(together.words(), apart.words(), "{spec:?}");
        assert!(apart.minimal() > 0 && apart.unsolvable > 0, "{spec:?}");
        let distinct = |outcome: RangeOutcome| {
            let mut boards = outcome.boards;
            boards.dedup();
            boards
        };
        assert!(together.boards.len() < apart.boards.len(), "{spec:?}");
        assert_eq!(distinct(together), distinct(apart), "{spec:?}");
    }
}
