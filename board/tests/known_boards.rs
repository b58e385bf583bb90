//! Boards whose answers are known from elsewhere.
//!
//! `data/known.txt` holds enough of them to be tested anywhere; where the folder of shared data stands beside
//! the project, everything in it is tested too.

#![expect(clippy::unwrap_used, reason = "a test may fail, in its helper functions too")]

use std::path::PathBuf;

use board::cluster::Explorer;
use board::{Board, Lot, StateLimit, plain, solve};

/// The largest cluster that the plain search is asked to walk through.
const PLAIN_POSITIONS: u64 = 1_500;

struct Known {
    spelling: String,
    par: Option<u16>,
    steps: Option<u16>,
    states: u64,
    depth: Option<u16>,
    histogram: Option<Vec<u64>>,
    at_depth: Option<u64>,
    /// Whether the board stands for its cluster and is minimal, as all rows of the reference databases do.
    is_representative: bool,
}

impl Known {
    fn board(&self) -> Board {
        self.spelling
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", self.spelling))
    }

    /// Compares everything that is known with the solver, the explorer and, where it is quick, the plain search.
    fn check(&self, explorer: &mut Explorer, is_plain_too: bool) {
        let (board, spelling) = (self.board(), &self.spelling);
        let answer = solve::solve(&board, StateLimit::DEFAULT).unwrap();
        assert_eq!(answer.par.map(u16::from), self.par, "par of {spelling}");
        assert_eq!(
            answer.solution.len(),
            usize::from(self.par.unwrap_or(0)),
            "solution of {spelling}"
        );
        assert_eq!(
            answer.steps,
            answer.solution.iter().map(|slide| slide.steps()).sum::<u64>()
        );
        assert!(answer.states <= self.states, "positions held for {spelling}");
        assert!(
            self.par.is_none() || plain::solves(&board, &answer.solution),
            "solution of {spelling}"
        );
        if let Some(steps) = self.steps {
            assert!(
                answer.steps >= u64::from(steps),
                "no solution of {spelling} has so few steps"
            );
        }

        let cluster = explorer.explore(&board, StateLimit::DEFAULT).unwrap();
        assert_eq!(cluster.states, self.states, "positions of {spelling}");
        assert_eq!(cluster.depth.map(u16::from), self.depth, "depth of {spelling}");
        let at_depth = self.at_depth.filter(|_| self.depth.is_some());
        assert!(
            at_depth.is_none_or(|n| cluster.histogram.last() == Some(&n)),
            "depth of {spelling}"
        );
        assert!(
            self.histogram
                .as_ref()
                .is_none_or(|known| *known == cluster.histogram),
            "{spelling}"
        );
        if self.is_representative {
            assert_eq!(cluster.representative.as_ref(), Some(&board));
        }
        if is_plain_too {
            self.check_plain(&board);
        }
    }

    fn check_plain(&self, board: &Board) {
        let (cluster, spelling) = (plain::cluster(board), &self.spelling);
        assert_eq!(plain::par(board), self.par, "plain par of {spelling}");
        assert!(
            self.steps.is_none() || plain::fewest_steps(board) == self.steps,
            "steps of {spelling}"
        );
        assert_eq!(cluster.n_states, self.states, "plain positions of {spelling}");
        assert_eq!(cluster.depth, self.depth, "plain depth of {spelling}");
        assert!(
            self.histogram
                .as_ref()
                .is_none_or(|known| *known == cluster.histogram),
            "{spelling}"
        );
        let at_depth = self.at_depth.filter(|_| self.depth.is_some());
        assert!(
            at_depth.is_none_or(|n| cluster.histogram.last() == Some(&n)),
            "plain depth of {spelling}"
        );
        if self.is_representative {
            assert_eq!(cluster.representative.as_ref(), Some(board));
            assert_eq!(cluster.is_minimal, Some(true), "{spelling}");
        }
    }
}

/// The lines of one of the project's own fixtures or of a shared file, without comments; `None` if absent.
fn lines(path: &[&str]) -> Option<Vec<String>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path.iter().fold(folder, |folder, part| folder.join(part))).ok()?;
    let facts = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim_end());
    Some(facts.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

fn shared(name: &str) -> Option<Vec<String>> {
    lines(&["..", "..", "shared", "data", name])
}

/// A number that may be unknown (`?`) or none (`-1`).
fn optional<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn histogram(text: &str) -> Vec<u64> {
    text.split(',').map(|n| n.parse().unwrap()).collect()
}

fn known(size: &str, fields: &[&str]) -> Known {
    let lot: Lot = size.parse().unwrap();
    let spelling = if lot.is_square() {
        fields[0].to_owned()
    } else {
        format!("{lot}:{}", fields[0])
    };
    Known {
        spelling,
        par: optional(fields[1]),
        steps: optional(fields[2]),
        states: fields[3].parse().unwrap(),
        depth: optional(fields[4]),
        histogram: None,
        at_depth: fields.get(5).and_then(|n| optional(n)),
        is_representative: false,
    }
}

#[test]
fn boards_of_the_fixture_have_their_known_answers() {
    let mut explorer = Explorer::new();
    let lines = lines(&["tests", "data", "known.txt"]).expect("the fixture is part of the project");
    assert!(lines.len() > 50);
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let known = known(fields[0], &fields[1..]);
        known.check(&mut explorer, known.states <= PLAIN_POSITIONS);
    }
}

#[test]
fn traps_are_answered_as_stated_and_bad_boards_refused() {
    let Some(lines) = shared("traps.txt") else { return };
    let mut explorer = Explorer::new();
    for line in lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let size = format!("{}x{}", fields[2], fields[3]);
        if fields[0] == "ok" {
            let known = known(&size, &fields[4..]);
            known.check(&mut explorer, known.states <= PLAIN_POSITIONS);
        } else {
            let spelling = format!("{size}:{}", fields[4]);
            assert!(Board::parse(&spelling).is_err(), "{}: {spelling}", fields[1]);
        }
    }
}

#[test]
fn cards_of_the_boxed_game_have_their_published_answers() {
    let Some(lines) = shared("cards40.txt") else {
        return;
    };
    let mut explorer = Explorer::new();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let known = known("6x6", &fields[3..8]);
        known.check(&mut explorer, known.states <= PLAIN_POSITIONS);
    }
}

#[test]
fn rows_of_the_reference_database_are_found_again() {
    let Some(lines) = shared("reference_small.txt") else {
        return;
    };
    let mut explorer = Explorer::new();
    for (i, line) in lines.iter().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let row = Known {
            histogram: Some(histogram(fields[4])),
            is_representative: true,
            ..known("6x6", &[fields[1], fields[0], fields[3], fields[2], fields[0]])
        };
        row.check(&mut explorer, i % 20 == 0 && row.states <= PLAIN_POSITIONS);
    }
}

#[test]
fn rows_of_the_reference_enumeration_of_small_lots_are_found_again() {
    let Some(lines) = shared("small_boards.txt") else {
        return;
    };
    let mut explorer = Explorer::new();
    for (i, line) in lines.iter().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let row = Known {
            histogram: Some(histogram(fields[6])),
            is_representative: true,
            ..known(fields[0], &[fields[4], fields[3], "?", fields[5], fields[3]])
        };
        row.check(&mut explorer, i % 40 == 0);
    }
}
