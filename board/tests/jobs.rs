//! Jobs as a whole: what they find is true, and the same whatever runs them.
#![expect(clippy::unwrap_used, reason = "tests; the lint does not know their helpers")]

use board::anneal::{AnnealSpec, Temperatures};
use board::canonical::Canonical;
use board::cluster::Explorer;
use board::job::{Frame, JobSpec, ShardEnd, SpecError, Tally};
use board::mutate::{Change, Mutator};
use board::scatter::ScatterSpec;
use board::space::{BoardSpace, LengthWeight, SpaceFields};
use board::stream::Stream;
use board::sweep::SweepSpec;
use board::{Board, Lot, plain};

fn small_space(walls: std::ops::RangeInclusive<u8>) -> BoardSpace {
    let lot = Lot::new(5, 5).unwrap();
    let fields = BoardSpace::usual(lot).unwrap().fields().clone();
    BoardSpace::new(SpaceFields {
        vehicles: 4..=8,
        walls,
        ..fields
    })
    .unwrap()
}

fn frame(seed: u64) -> Frame {
    Frame {
        seed,
        n_shards: 4,
        iterations_per_shard: 200,
        max_states: 2_000,
    }
}

fn scatter(seed: u64) -> JobSpec {
    JobSpec::Scatter(ScatterSpec::new(small_space(0..=2), frame(seed)).unwrap())
}

fn anneal(seed: u64) -> JobSpec {
    let spec = AnnealSpec::new(
        small_space(0..=1),
        frame(seed),
        Vec::new(),
        Temperatures::default(),
    );
    JobSpec::Anneal(spec.unwrap())
}

fn sweep(n_shards: u32) -> JobSpec {
    JobSpec::Sweep(SweepSpec::new(small_space(0..=1), hard_boards(), n_shards, 50_000).unwrap())
}

/// The hardest boards that a little annealing finds, with a wall and without.
fn hard_boards() -> Vec<Canonical> {
    let mut found = anneal(9).run(&mut Explorer::new()).found;
    found.reverse();
    let of_walls = |n| found.iter().filter(move |board| board.n_walls == n).take(2);
    of_walls(0)
        .chain(of_walls(1))
        .map(|board| board.canonical.clone())
        .collect()
}

#[test]
fn a_sweep_finds_every_neighbour_and_nothing_else() {
    let starts = hard_boards();
    let spec = sweep(2);
    let swept = spec.run(&mut Explorer::new());
    // Every way to have one piece more, one less, or one elsewhere, made without the list of changes.
    let mut expected = std::collections::BTreeSet::new();
    let mut explorer = Explorer::new();
    for start in &starts {
        for board in naive_neighbours(&start.board()) {
            let entry = explorer.entry(&board, board::StateLimit::DEFAULT).unwrap();
            expected.extend(entry.filter(|found| found.par.get() > 0 && found.states <= 50_000));
        }
    }
    // A slide is no change, so the starts' own clusters are found only where another change leads into them.
    let own: Vec<_> = starts
        .iter()
        .filter_map(|start| {
            explorer
                .entry(&start.board(), board::StateLimit::DEFAULT)
                .unwrap()
        })
        .collect();
    let expected: Vec<_> = expected
        .into_iter()
        .filter(|found| !own.contains(found))
        .collect();
    let mut found = swept.found.clone();
    found.retain(|found| !own.contains(found));
    found.sort();
    assert_eq!(found, expected);
    assert!(found.len() > 80, "{}", found.len());
    assert_eq!(swept.counters.iterations, spec.n_iterations());
    assert_eq!(
        swept.counters.found + swept.counters.duplicates,
        swept.counters.solvable
    );
}

/// All boards of the small space, of 0 or 1 wall, that differ from a board in one vehicle or wall.
fn naive_neighbours(board: &Board) -> Vec<Board> {
    use board::{Axis, Squares, Vehicle};
    let lot = board.lot();
    let places: Vec<Vehicle> = [Axis::Horizontal, Axis::Vertical]
        .into_iter()
        .flat_map(|axis| (0..5).map(move |lane| (axis, lane)))
        .flat_map(|(axis, lane)| (0..5).map(move |start| (axis, lane, start)))
        .flat_map(|(axis, lane, start)| [2, 3].map(|length| (axis, lane, start, length)))
        .filter(|&(_, _, start, length)| start + length <= 5)
        .map(|(axis, lane, start, length)| Vehicle::new(axis, lane, start, length))
        .collect();
    let wall_sets = |walls: Squares| {
        let mut sets = vec![walls];
        let alone = |square| Squares::EMPTY.union([square].into_iter().collect());
        if walls.is_empty() {
            sets.extend((0..lot.n_squares()).map(alone));
        } else {
            sets.push(Squares::EMPTY);
            sets.extend((0..lot.n_squares()).map(alone));
        }
        sets
    };
    let mut candidates: Vec<(Vec<Vehicle>, Squares)> = Vec::new();
    let vehicles = board.vehicles().to_vec();
    for walls in wall_sets(board.walls()) {
        candidates.push((vehicles.clone(), walls));
    }
    for &place in &places {
        candidates.push((vehicles.iter().copied().chain([place]).collect(), board.walls()));
    }
    for idx in 0..vehicles.len() {
        if idx > 0 {
            let mut fewer = vehicles.clone();
            fewer.remove(idx);
            candidates.push((fewer, board.walls()));
        }
        for &place in &places {
            let is_hero_elsewhere =
                place.axis() == Axis::Horizontal && place.lane() == 2 && place.length() == 2;
            if idx > 0 || is_hero_elsewhere {
                let mut other = vehicles.clone();
                other[idx] = place;
                candidates.push((other, board.walls()));
            }
        }
    }
    candidates
        .into_iter()
        .filter(|(vehicles, _)| (4..=8).contains(&vehicles.len()))
        .filter_map(|(vehicles, walls)| Board::new(lot, vehicles, walls).ok())
        .collect()
}

#[test]
fn sweeps_are_the_same_on_any_number_of_shards() {
    let (one, three) = (
        sweep(1).run(&mut Explorer::new()),
        sweep(3).run(&mut Explorer::new()),
    );
    assert_eq!(one, three);
    let stopped = sweep(1).run_shard_while(0, &mut Explorer::new(), &mut |done| done.iterations < 50);
    assert!(matches!(stopped, ShardEnd::Stopped(part) if part.counters.iterations == 50));
}

#[test]
fn a_sweep_without_boards_or_of_one_twice_is_refused() {
    let space = || small_space(0..=0);
    let start = Canonical::parse("BBBoCooooCAAooooDooooDooo").unwrap();
    assert_eq!(SweepSpec::new(space(), vec![], 1, 100), Err(SpecError::Starts(0)));
    let twice = SweepSpec::new(space(), vec![start.clone(), start.clone()], 1, 100);
    assert!(matches!(twice, Err(SpecError::StartTwice { idx: 1, .. })));
    assert_eq!(
        SweepSpec::new(space(), vec![start.clone()], 0, 100),
        Err(SpecError::Shards(0))
    );
    assert_eq!(
        SweepSpec::new(space(), vec![start], 1, 0),
        Err(SpecError::Positions(0))
    );
}

#[test]
fn a_replayed_job_has_the_same_result_and_another_seed_another() {
    for make in [scatter, anneal] {
        let first = make(1).run(&mut Explorer::new());
        // An explorer that has seen other boards gives the same answers.
        let mut used = Explorer::new();
        make(2).run(&mut used);
        assert_eq!(make(1).run(&mut used), first);
        assert_ne!(make(2).run(&mut used).digest, first.digest);
        assert!(first.found.len() > 50, "{} boards found", first.found.len());
    }
}

#[test]
fn shards_in_reverse_order_give_the_same_digest() {
    for spec in [scatter(3), anneal(3)] {
        let mut tally = Tally::default();
        for shard in (0..spec.n_shards()).rev() {
            tally.absorb(spec.run_shard(shard, &mut Explorer::new()));
        }
        assert_eq!(tally.digest(), spec.run(&mut Explorer::new()).digest);
    }
}

#[test]
fn every_board_found_is_proved_by_the_plain_search() {
    for spec in [scatter(4), anneal(4)] {
        let result = spec.run(&mut Explorer::new());
        for found in result.found.iter().step_by(7) {
            let board = found.canonical.board();
            let cluster = plain::cluster(&board);
            assert_eq!(cluster.depth, Some(found.par.get()), "{board}");
            assert_eq!(cluster.n_states, found.states, "{board}");
            assert_eq!(
                plain::par(&board),
                cluster.depth,
                "{board} is not at its cluster's depth"
            );
            assert_eq!(board.canonical(), found.canonical);
            assert_eq!(
                (board.n_vehicles(), board.n_walls()),
                (found.n_vehicles.into(), found.n_walls.into())
            );
        }
    }
}

#[test]
fn found_boards_lie_in_the_space() {
    for spec in [scatter(5), anneal(5)] {
        for found in spec.run(&mut Explorer::new()).found {
            assert!((4..=8).contains(&found.n_vehicles) && found.n_walls <= 2 && found.par.get() >= 1);
            assert_eq!(found.canonical.board().exit_row(), 2);
        }
    }
}

#[test]
fn a_stopped_shard_keeps_what_it_found() {
    for spec in [scatter(6), anneal(6)] {
        let whole = spec.run_shard(0, &mut Explorer::new());
        let end = spec.run_shard_while(0, &mut Explorer::new(), &mut |counters| counters.iterations < 100);
        let ShardEnd::Stopped(part) = end else {
            panic!("the shard went on")
        };
        assert_eq!(part.counters.iterations, 100);
        assert!(!part.found.is_empty() && part.found.iter().all(|found| whole.found.contains(found)));
    }
}

#[test]
fn changes_are_legal_and_stay_in_the_space() {
    let space = small_space(0..=2);
    let mutator = Mutator::new(&space);
    let mut stream = Stream::new("test", 1, 0);
    let mut board = Board::parse("BBoCoooxCoAAooooDooooDooo").unwrap();
    let mut n_changes = 0;
    for _ in 0..5_000 {
        let Some(change) = mutator.draw(&board, &mut stream) else {
            continue;
        };
        let changed = change.apply(&board).unwrap();
        assert_ne!(changed, board, "{change:?}");
        assert!(
            (1..=8).contains(&changed.n_vehicles()) && changed.n_walls() <= 2,
            "{change:?} of {board}"
        );
        assert_eq!(changed.exit_row(), 2);
        board = changed;
        n_changes += 1;
    }
    assert!(n_changes > 3_000, "{n_changes}");
}

#[test]
fn every_drawn_change_is_among_all_changes() {
    let mutator = Mutator::new(&small_space(0..=2));
    let mut stream = Stream::new("test", 2, 0);
    let board = Board::parse("BBoCoooxCoAAooooDooooDooo").unwrap();
    let all = mutator.all(&board);
    let distinct: std::collections::HashSet<Change> = all.iter().copied().collect();
    assert_eq!(distinct.len(), all.len());
    for change in &all {
        assert!(change.apply(&board).is_ok(), "{change:?}");
    }
    for _ in 0..2_000 {
        if let Some(change) = mutator.draw(&board, &mut stream) {
            assert!(distinct.contains(&change), "{change:?}");
        }
    }
}

#[test]
fn annealing_starts_from_the_boards_given() {
    let start = Canonical::parse("BBBoCooooCAAooooDooooDooo").unwrap();
    let frame = Frame {
        iterations_per_shard: 1,
        ..frame(7)
    };
    let spec = AnnealSpec::new(
        small_space(0..=0),
        frame,
        vec![start.clone()],
        Temperatures::default(),
    )
    .unwrap();
    let found = JobSpec::Anneal(spec).run(&mut Explorer::new()).found;
    let entry = Explorer::new()
        .entry(&start.board(), board::StateLimit::DEFAULT)
        .unwrap()
        .unwrap();
    assert!(found.contains(&entry));
}

#[test]
fn start_boards_of_another_lot_or_row_are_refused() {
    let start = Canonical::parse("ooooAABoooBooooo").unwrap();
    let refused = AnnealSpec::new(small_space(0..=0), frame(1), vec![start], Temperatures::default());
    assert!(matches!(refused, Err(SpecError::Start { idx: 0, .. })));
    let hot = Temperatures {
        first: 100_001,
        last: 0,
    };
    assert_eq!(
        AnnealSpec::new(small_space(0..=0), frame(1), vec![], hot),
        Err(SpecError::Temperature(100_001))
    );
}

#[test]
fn spaces_that_make_no_sense_are_refused_with_the_value() {
    let fields = small_space(0..=0).fields().clone();
    let cases: [(SpaceFields, &str); 6] = [
        (
            SpaceFields {
                exit_row: 5,
                ..fields.clone()
            },
            "exit row 5 is not a row of a 5x5 lot",
        ),
        (
            SpaceFields {
                hero_length: 5,
                ..fields.clone()
            },
            "hero of length 5",
        ),
        (
            SpaceFields {
                vehicles: 0..=3,
                ..fields.clone()
            },
            "vehicle counts 0 to 3",
        ),
        (
            SpaceFields {
                walls: 0..=21,
                ..fields.clone()
            },
            "wall counts 0 to 21",
        ),
        (
            SpaceFields {
                lengths: vec![],
                ..fields.clone()
            },
            "0 vehicle lengths",
        ),
        (
            SpaceFields {
                lengths: vec![LengthWeight { length: 6, weight: 1 }],
                ..fields.clone()
            },
            "vehicle length 6",
        ),
    ];
    for (fields, message) in cases {
        let error = BoardSpace::new(fields).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn an_exit_row_in_the_lower_half_stands_for_its_mirror_image() {
    let fields = small_space(0..=0).fields().clone();
    assert_eq!(
        BoardSpace::new(SpaceFields {
            exit_row: 3,
            ..fields
        })
        .unwrap()
        .exit_row(),
        1
    );
}
