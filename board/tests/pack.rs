//! Every kind of fault in a pack is found and named by its level.

#![expect(clippy::unwrap_used, reason = "a failure is a failed test")]

use board::cluster::Explorer;
use board::pack::{self, Fault, FaultKind, Level};
use board::{Board, StateLimit, plain, solve};

/// Rows of the 2018 reference database of 6x6 boards: par and board.
const BOARDS: [&str; 4] = [
    "IoBBCCIoKxoMIoKAAMJoxFFMJooLGGHHHLoo",
    "IBBCCxIoKEEoAAKoooooKoLMJFFFLMJGGoxo",
    "oGoBBoFGooJKFHAAJKoHCCJLoHIooLDDIEEL",
    "BBICCCooIooKHoIAAKHDDEEKoooJFFGGGJoo",
];

/// A good pack of four levels.
fn good() -> Vec<Level> {
    let mut levels: Vec<Level> = BOARDS.iter().map(|text| level(&text.parse().unwrap())).collect();
    levels.sort_by_key(|level| level.par);
    for (number, level) in (1..).zip(&mut levels) {
        level.number = number;
    }
    levels
}

fn level(board: &Board) -> Level {
    let canonical = pack::entry(board).unwrap();
    let board = canonical.board();
    let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
    Level {
        number: 1,
        board: canonical.to_string(),
        par: answer.par.unwrap().get(),
        n_vehicles: board.n_vehicles() as u64,
        n_states: plain::reachable(&board).len() as u64,
        steps: plain::fewest_steps(&board).map(u64::from),
        solution: Some(
            answer
                .solution
                .iter()
                .map(|&slide| board.spell_slide(slide))
                .collect(),
        ),
    }
}

fn faults_of(tamper: impl FnOnce(&mut Vec<Level>)) -> Vec<Fault> {
    let mut levels = good();
    tamper(&mut levels);
    pack::check(&levels)
}

fn only(level: u32, kind: FaultKind) -> Vec<Fault> {
    vec![Fault { level, kind }]
}

#[test]
fn a_good_pack_has_no_fault() {
    assert_eq!(pack::check(&good()), []);
}

#[test]
fn numbers_that_are_wrong_are_named() {
    let Level {
        par,
        n_vehicles,
        n_states,
        steps,
        ..
    } = good()[1].clone();
    let steps = steps.unwrap();
    assert_eq!(faults_of(|l| l[1].number = 7), only(2, FaultKind::Number(7)));
    let (stated, proved) = (par + 1, par);
    assert_eq!(
        faults_of(|l| l[1].par += 1),
        only(2, FaultKind::WrongPar { proved, stated })
    );
    let (stated, counted) = (n_vehicles - 1, n_vehicles);
    assert_eq!(
        faults_of(|l| l[1].n_vehicles -= 1),
        only(2, FaultKind::WrongVehicles { counted, stated })
    );
    let (stated, counted) = (n_states + 1, n_states);
    assert_eq!(
        faults_of(|l| l[1].n_states += 1),
        only(2, FaultKind::WrongCluster { counted, stated })
    );
    let (stated, proved) = (steps + 1, steps);
    assert_eq!(
        faults_of(|l| l[1].steps = Some(stated)),
        only(2, FaultKind::WrongSteps { proved, stated })
    );
}

#[test]
fn what_is_not_stated_is_not_checked() {
    let faults = faults_of(|levels| {
        for level in levels {
            (level.steps, level.solution) = (None, None);
        }
    });
    assert_eq!(faults, []);
}

#[test]
fn a_text_that_is_no_board_is_named() {
    let faults = faults_of(|levels| levels[0].board = levels[0].board.replace('A', "o"));
    assert!(
        matches!(
            faults[..],
            [Fault {
                level: 1,
                kind: FaultKind::NotABoard(_)
            }]
        ),
        "{faults:?}"
    );
    let faults = faults_of(|levels| levels[0].board = "ooBAABooB".into());
    assert!(
        faults.contains(&Fault {
            level: 1,
            kind: FaultKind::Unsolvable
        }),
        "{faults:?}"
    );
}

#[test]
fn a_spelling_that_is_not_canonical_is_named() {
    let mirrored = |levels: &Vec<Level>| levels[0].board.parse::<Board>().unwrap().mirrored().to_string();
    let faults = faults_of(|levels| levels[0].board = mirrored(levels));
    let expected = good()[0].board.parse().unwrap();
    // The letters of the solution are those of another spelling, so it falls too.
    assert_eq!(
        faults[0],
        Fault {
            level: 1,
            kind: FaultKind::NotCanonical { expected }
        }
    );
}

#[test]
fn par_must_not_fall() {
    let faults = faults_of(|levels| {
        levels.swap(2, 3);
        (levels[2].number, levels[3].number) = (3, 4);
    });
    let (par, before) = (good()[2].par, good()[3].par);
    assert_eq!(faults, only(4, FaultKind::Falls { before, par }));
}

#[test]
fn the_same_puzzle_at_another_point_of_its_solution_is_named() {
    let first = good()[1].clone();
    let faults = faults_of(|levels| {
        let board: Board = first.board.parse().unwrap();
        let slide = solve::solve(&board, StateLimit::DEFAULT).unwrap().solution[0];
        let moved = board.apply(slide).unwrap();
        levels[2] = Level {
            number: 3,
            board: moved.canonical().to_string(),
            par: first.par - 1,
            steps: None,
            solution: None,
            ..first.clone()
        };
    });
    let kinds: Vec<&FaultKind> = faults.iter().map(|fault| &fault.kind).collect();
    let expected = first.board.parse().unwrap();
    assert_eq!(
        kinds,
        [
            &FaultKind::NotRepresentative { expected },
            &FaultKind::Falls {
                before: first.par,
                par: first.par - 1
            },
            &FaultKind::SamePuzzle(2)
        ]
    );
    assert!(faults.iter().all(|fault| fault.level == 3));
}

#[test]
fn a_solution_that_is_none_is_named() {
    let faults = faults_of(|levels| levels[0].solution.as_mut().unwrap()[1] = "A+9".into());
    assert_eq!(
        faults,
        only(
            1,
            FaultKind::WrongSlide {
                idx: 2,
                slide: "A+9".into()
            }
        )
    );
    let faults = faults_of(|levels| drop(levels[2].solution.as_mut().unwrap().pop()));
    assert_eq!(faults, only(3, FaultKind::NotASolution));
    let faults = faults_of(|levels| {
        let board: Board = levels[0].board.parse().unwrap();
        let there = board.slides()[0];
        let (there, back) = (board.spell_slide(there), board.spell_slide(there.undo()));
        levels[0].solution.as_mut().unwrap().splice(0..0, [there, back]);
    });
    let (n_slides, proved) = (usize::from(good()[0].par) + 2, good()[0].par);
    assert_eq!(faults, only(1, FaultKind::LongSolution { n_slides, proved }));
}

#[test]
fn the_entry_of_a_board_is_the_one_that_the_explorer_stores() {
    // An exit in the middle, where both images of a cluster count, one above it and one below it.
    for text in [
        "5x5:ooBooooBooAABoCoDDDCoooEE",
        "6x5:oooBooAAoBoooooCooDDoCoooooooo",
        BOARDS[0],
    ] {
        for board in [
            text.parse::<Board>().unwrap(),
            text.parse::<Board>().unwrap().mirrored(),
        ] {
            let stored = Explorer::new().entry(&board, StateLimit::DEFAULT).unwrap();
            assert_eq!(
                pack::entry(&board),
                stored.map(|found| found.canonical),
                "{board}"
            );
        }
    }
}
