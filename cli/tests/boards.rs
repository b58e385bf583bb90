//! The commands that answer about boards: known boards, bad input, formats, exit statuses.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use board::Board;
use common::{Temp, err, out, parforce, run};
use serde_json::Value;

/// The hardest 6x6 board without walls.
const HARDEST: &str = "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo";

/// The rows of a file that are no comments, cut into their columns.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|line| line.split_whitespace().map(String::from).collect())
        .collect()
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// A larger collection beside the repository, where there is one.
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/data")
        .join(name);
    path.exists().then_some(path)
}

/// Runs a command on boards given on standard input, one a line, and reads the objects that it prints.
fn ask(command: &str, boards: &[String]) -> (Option<i32>, Vec<Value>) {
    let mut child = parforce()
        .args([command, "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = boards.iter().fold(String::new(), |mut text, board| {
        writeln!(text, "{board}").unwrap();
        text
    });
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let objects = out(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (output.status.code(), objects)
}

/// Plays a solution and says whether it ends solved, and in how many steps.
fn play(board: &str, answer: &Value) -> (bool, u64) {
    let mut board = Board::parse(board).unwrap();
    let mut steps = 0;
    for slide in answer["solution"].as_array().unwrap() {
        let slide = slide.as_str().unwrap();
        let slide = board
            .slides()
            .into_iter()
            .find(|legal| board.spell_slide(*legal) == slide)
            .unwrap();
        steps += slide.steps();
        board = board.apply(slide).unwrap();
    }
    (board.is_solved(), steps)
}

fn spelled(width: &str, height: &str, board: &str) -> String {
    if (width, height, board.len()) == ("6", "6", 36) {
        board.to_owned()
    } else {
        format!("{width}x{height}:{board}")
    }
}

#[test]
fn traps_are_answered_or_refused_as_they_should_be() {
    let rows = rows(&fixture("traps.txt"));
    let boards: Vec<String> = rows
        .iter()
        .map(|row| spelled(&row[2], &row[3], &row[4]))
        .collect();
    let (status, solved) = ask("solve", &boards);
    assert_eq!(status, Some(1), "some are to be refused");
    let (_, clusters) = ask("cluster", &boards);
    assert_eq!((solved.len(), clusters.len()), (rows.len(), rows.len()));

    for ((row, solved), cluster) in rows.iter().zip(&solved).zip(&clusters) {
        if row[0] == "bad" {
            assert!(
                solved["error"].is_string() && cluster["error"].is_string(),
                "{row:?}: {solved}"
            );
            continue;
        }
        let number = |i: usize| row[i].parse::<i64>().unwrap();
        let par = solved["par"].as_i64().unwrap_or(-1);
        assert_eq!(par, number(5), "{row:?}");
        assert_eq!(cluster["states"].as_i64().unwrap(), number(7), "{row:?}");
        if par < 0 {
            assert!(
                cluster["par"].is_null() && cluster["representative"].is_null(),
                "{row:?}: {cluster}"
            );
            assert_eq!(cluster["histogram"], serde_json::json!([]));
            continue;
        }
        let (is_solved, steps) = play(&spelled(&row[2], &row[3], &row[4]), solved);
        assert!(is_solved, "{row:?}");
        assert_eq!(steps, solved["steps"].as_u64().unwrap());
        assert_eq!(cluster["par"].as_i64().unwrap(), number(8), "{row:?}");
        let histogram = cluster["histogram"].as_array().unwrap();
        assert_eq!(histogram.last().unwrap().as_i64().unwrap(), number(9), "{row:?}");
    }
}

#[test]
fn answers_name_vehicles_by_the_letters_given() {
    let (_, answers) = ask("solve", &["ooZoooooZoooAAZBoooooBoooooooooooooo".to_owned()]);
    let solution = answers[0]["solution"].to_string();
    assert!(
        solution.contains('Z') && solution.contains('B') && !solution.contains('C'),
        "{solution}"
    );
}

#[test]
fn the_cards_of_the_boxed_game_have_their_published_pars() {
    let cards = fixture("cards40.txt").display().to_string();
    let output = run(&["solve", "--json", "--column", "4", &cards]);
    assert_eq!(output.status.code(), Some(0));
    let clusters = run(&["cluster", "--json", "--column", "4", &cards]);
    let objects = |text: String| -> Vec<Value> {
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (solved, clusters) = (objects(out(&output)), objects(out(&clusters)));
    let rows = rows(&fixture("cards40.txt"));
    assert_eq!((rows.len(), solved.len(), clusters.len()), (40, 40, 40));
    for ((row, solved), cluster) in rows.iter().zip(&solved).zip(&clusters) {
        assert_eq!(solved["par"].to_string(), row[4], "{row:?}");
        assert_eq!(cluster["states"].to_string(), row[6], "{row:?}");
        assert_eq!(cluster["par"].to_string(), row[7], "{row:?}");
    }
}

fn check_reference(path: &Path) {
    let rows = rows(path);
    let boards: Vec<String> = rows.iter().map(|row| row[1].clone()).collect();
    let (status, clusters) = ask("cluster", &boards);
    assert_eq!(status, Some(0));
    let (_, canons) = ask("canon", &boards);
    for ((row, cluster), canon) in rows.iter().zip(&clusters).zip(&canons) {
        assert_eq!(cluster["par"], row[0].parse::<u64>().unwrap(), "{row:?}");
        assert_eq!(cluster["states"], row[2].parse::<u64>().unwrap(), "{row:?}");
        assert_eq!(cluster["minimal"], true, "{row:?}");
        assert_eq!(
            cluster["histogram"].to_string(),
            format!("[{}]", row[4]),
            "{row:?}"
        );
        // Every row of the reference is its cluster's representative.
        assert_eq!(cluster["representative"], canon["canonical"], "{row:?}");
        assert_eq!(cluster["representative"], canon["representative"], "{row:?}");
    }
}

#[test]
fn rows_of_the_reference_database_are_representatives_with_their_histograms() {
    check_reference(&fixture("reference_sample.txt"));
}

#[test]
fn all_rows_of_the_shared_reference_file_agree_where_it_is_present() {
    if let Some(path) = shared("reference_small.txt") {
        check_reference(&path);
    }
}

#[test]
fn hint_tells_the_first_slide_and_following_hints_solves_in_par() {
    let mut board = Board::parse(HARDEST).unwrap();
    for par in (1..=51).rev() {
        let hint: Value = serde_json::from_str(&out(&run(&["hint", "--json", &board.to_string()]))).unwrap();
        assert_eq!(hint["par"], par);
        let slide = hint["slide"].as_str().unwrap().to_owned();
        let slide = board
            .slides()
            .into_iter()
            .find(|legal| board.spell_slide(*legal) == slide)
            .unwrap();
        board = board.apply(slide).unwrap();
    }
    assert!(board.is_solved());
    let (_, hints) = ask(
        "hint",
        &[
            board.to_string(),
            "ooooooooooooAAoxoooooooooooooooooooo".to_owned(),
        ],
    );
    assert_eq!(hints[0], serde_json::json!({"slide": null, "par": 0}));
    assert_eq!(hints[1], serde_json::json!({"slide": null, "par": null}));
}

#[test]
fn mirror_images_have_one_canonical_spelling_and_one_representative() {
    let pair = ["BBHooGoHCCGAAIoDDoIJEEFFJ", "EEFFJDDoIJGAAIoGoHCCBBHoo"].map(String::from);
    let (status, canons) = ask("canon", &pair);
    assert_eq!(status, Some(0));
    assert_eq!(canons[0], canons[1]);
    assert!(canons[0]["representative"].is_string());
}

#[test]
fn an_unsolvable_board_has_a_canonical_spelling_and_no_representative() {
    let (status, canons) = ask("canon", &["ooooooooooooAAoxoooooooooooooooooooo".to_owned()]);
    assert_eq!(status, Some(0));
    assert_eq!(
        canons[0].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["canonical"]
    );
}

#[test]
fn objects_have_exactly_the_documented_fields() {
    for (command, fields) in [
        ("solve", &["canonical", "par", "solution", "states", "steps"][..]),
        (
            "cluster",
            &["histogram", "minimal", "par", "representative", "states"],
        ),
        ("canon", &["canonical", "representative"]),
        ("hint", &["par", "slide"]),
    ] {
        let (_, objects) = ask(command, &[HARDEST.to_owned()]);
        let mut found: Vec<&String> = objects[0].as_object().unwrap().keys().collect();
        found.sort();
        assert_eq!(found, fields, "{command}");
    }
}

#[test]
fn bad_lines_are_answered_in_their_place_and_end_with_status_1() {
    let temp = Temp::new();
    let file = temp.path("boards.txt");
    fs::write(
        &file,
        format!("# par board\n\n1 {HARDEST}\n2 nonsense\n3\n4 {HARDEST}\n"),
    )
    .unwrap();
    let output = run(&["solve", "--json", "--column", "2", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let objects: Vec<Value> = out(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects.len(), 4);
    assert_eq!((&objects[0]["par"], &objects[3]["par"]), (&51.into(), &51.into()));
    assert_eq!((&objects[1]["line"], &objects[2]["line"]), (&4.into(), &5.into()));
    assert_eq!(objects[2]["error"], "the line has 1 column, asked for column 2");
    assert!(err(&output).contains("2 of 4 refused"), "{}", err(&output));

    let output = run(&["solve", "--column", "2", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out(&output).lines().count(), 2);
    assert!(err(&output).contains("line 4: "), "{}", err(&output));
}

#[test]
fn many_lines_are_answered_in_order() {
    let is_hard = |i: usize| i.is_multiple_of(10);
    let easy = "ooooooooooooAAoooooooooooooooooooooo";
    let boards: Vec<String> = (0..1_500)
        .map(|i| if is_hard(i) { HARDEST } else { easy }.to_owned())
        .collect();
    let (_, hints) = ask("hint", &boards);
    assert_eq!(hints.len(), boards.len());
    assert!(
        hints
            .iter()
            .enumerate()
            .all(|(i, hint)| hint["par"] == if is_hard(i) { 51 } else { 1 })
    );
}

#[test]
fn boards_are_read_in_every_spelling() {
    for board in [
        "7x4:ooooooo\r\nAAooBoo\r\nooooBoo\r\n.......",
        "7x4:.......AA..B......B.........",
        "#.....\n......\nAA..P.\n....P.\n.....#\n......",
    ] {
        let output = run(&["solve", "--json", board]);
        let answer: Value = serde_json::from_str(&out(&output)).unwrap();
        assert_eq!(answer["par"], 2, "{board:?}: {answer}");
    }
    let output = run(&["solve", "7x4:ooooooo"]);
    assert_eq!((output.status.code(), err(&output).lines().count()), (Some(1), 1));
}

#[test]
fn wrong_usage_ends_with_status_2_and_one_clear_line() {
    for arguments in [
        &["solve"][..],
        &["solve", "--column", "0", "x"],
        &["solve", "no/such/file"],
        &["solve", "/"],
        &["nonsense"],
        &["hint", "--nonsense", HARDEST],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!err(&output).is_empty());
        assert!(out(&output).is_empty());
    }
    assert_eq!(
        err(&run(&["solve", "no/such/file"])),
        "parforce: there is no file no/such/file\n"
    );
}

#[test]
fn a_bad_argument_ends_with_status_1() {
    let output = run(&["solve", "BBooooBoooooAAoooooooooooooooooooooo"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(err(&output).lines().count(), 1);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let boards = "ooooooooooooAAoooooooooooooooooooooo\n".repeat(200_000);
    let mut child = parforce()
        .args(["solve", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(boards.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(err(&output), "");
}

#[test]
fn a_search_that_reaches_its_limit_says_so() {
    let output = run(&["solve", "--json", "--max-states", "100", HARDEST]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        out(&output).contains("no answer within 100 positions"),
        "{}",
        out(&output)
    );
}

#[test]
fn every_command_explains_itself() {
    let help = out(&run(&["--help"]));
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|line| !line.starts_with(' '))?
                .split_whitespace()
                .next()
        })
        .collect();
    assert!(commands.len() > 5, "{help}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let output = run(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(out(&output).len() > 200, "{command}: {}", out(&output));
    }
}

/// 5x5 has 62,106 solvable clusters, 1,730 of them minimal (docs/census.md).
#[test]
fn a_census_is_estimated_from_a_sample_on_any_number_of_threads() {
    let sample = |threads: &str, more: &[&str]| {
        let words = ["census", "--lot", "5x5", "--sample", "1/6", "--threads", threads];
        let output = run(&[&words, more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        output
    };
    let read = |threads| {
        let mut report: Value =
            serde_json::from_str(&out(&sample(threads, &["--json", "--keep", "par>=15"]))).unwrap();
        let days = report.as_object_mut().unwrap().remove("core_days").unwrap();
        assert!(days["value"].as_f64().unwrap() > 0.0, "{days}");
        report
    };
    let report = read("1");
    assert_eq!(report, read("2"));
    for (what, truth) in [("solvable", 62_106.0), ("minimal", 1_730.0)] {
        let (value, band) = (
            report[what]["value"].as_f64().unwrap(),
            report[what]["band"].as_f64().unwrap(),
        );
        assert!(
            band > 0.0 && (value - truth).abs() < 2.0 * band,
            "{what}: {value} ± {band}"
        );
    }
    let boards = report["boards"].as_array().unwrap();
    let hard = report["by_par"].as_array().unwrap().iter().skip(15);
    assert_eq!(
        boards.is_empty(),
        hard.map(|line| line["solvable"]["value"].as_f64().unwrap())
            .sum::<f64>()
            == 0.0
    );
    assert!(!boards.is_empty());
    for board in boards {
        let text = board["canonical"].as_str().unwrap().to_owned();
        let (_, answers) = ask("solve", &[text]);
        assert_eq!(answers[0]["par"], board["par"], "{board}");
        assert!(board["par"].as_u64().unwrap() >= 15, "{board}");
    }
    let told = out(&sample("1", &["--keep", "par>=15"]));
    assert_eq!(
        told.lines().filter(|line| line.starts_with("par ")).count(),
        boards.len() + 1,
        "{told}"
    );
}

#[test]
fn words_that_nobody_reads_stop_no_command() {
    // A pipe whose other end is shut, as behind `2>&1 | head`.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = parforce();
    command.args(["solve", "nonsense"]).stderr(writer);
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1), "as with a reader, and no panic (101)");
}
