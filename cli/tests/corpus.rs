//! `parforce import` and `parforce export`: boards in, proved; boards out, unchanged.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::Path;

use common::{Temp, err, out, run};
use serde_json::{Value, json};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
        .display()
        .to_string()
}

/// Imports a file of the reference database and returns the summary.
fn import_reference(file: &str, data: &str) -> Value {
    let output = run(&[
        "import",
        file,
        "--column",
        "2",
        "--par-column",
        "1",
        "--states-column",
        "3",
        "--json",
        "--data",
        data,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    serde_json::from_str(&out(&output)).unwrap()
}

fn summary(read: u64, stored: u64, known: u64) -> Value {
    json!({"read": read, "stored": stored, "known": known, "refused": 0, "mismatched": 0})
}

#[test]
fn a_corpus_is_proved_stored_once_and_exported_unchanged() {
    let temp = Temp::new();
    let data = temp.text("data");
    let file = fixture("reference_sample.txt");
    assert_eq!(import_reference(&file, &data), summary(81, 81, 0));
    assert_eq!(import_reference(&file, &data), summary(81, 0, 81));

    let text = out(&run(&["export", "--data", &data]));
    assert_eq!(text.lines().count(), 81);
    // Rows of the reference are representatives, so that what comes out is what went in, spelled canonically.
    let canons = out(&run(&["canon", "--no-representative", "--column", "2", &file]));
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&text), sorted(&canons));

    let csv_file = temp.text("hard.csv");
    let exported = run(&["export", "--par", "50..", "--out", &csv_file, "--data", &data]);
    assert_eq!(exported.status.code(), Some(0), "{}", err(&exported));
    let csv = fs::read_to_string(&csv_file).unwrap();
    let mut rows = csv.lines();
    assert_eq!(
        rows.next().unwrap(),
        "par,canonical,lot,exit_row,vehicles,walls,states,minimal"
    );
    let pars: Vec<u16> = rows
        .map(|row| row.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(
        pars.len() > 1 && pars.is_sorted_by(|a, b| a >= b) && pars.iter().all(|par| *par >= 50),
        "{pars:?}"
    );
    assert!(!Path::new(&format!("{csv_file}.part")).exists());
}

#[test]
fn all_rows_of_the_shared_reference_file_are_proved_where_it_is_present() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/reference_small.txt");
    if shared.exists() {
        let temp = Temp::new();
        let imported = import_reference(&shared.display().to_string(), &temp.text("data"));
        assert_eq!(imported, summary(1614, 1614, 0));
    }
}

#[test]
fn refused_lines_are_told_with_their_numbers_and_reasons() {
    let temp = Temp::new();
    let file = temp.text("mixed.txt");
    fs::write(
        &file,
        "# par board states\n\
         51 GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo 4780\n\
         8 GooBBBGooIoKAAoIJKCCCoJKooHoDDEEHFFo 22139\n\
         9 BBoHoJFooHIJFAAHIKFCCCIKGoooDDGoooEE 1\n\
         1 ooooooooooooAAoxoooooooooooooooooooo 2\n\
         1 nonsense 2\n\
         x ooooooooooooAAoooooooooooooooooooooo 5\n",
    )
    .unwrap();
    let output = run(&[
        "import",
        &file,
        "--column",
        "2",
        "--par-column",
        "1",
        "--states-column",
        "3",
        "--json",
        "--data",
        &temp.text("data"),
    ]);
    assert_eq!(output.status.code(), Some(1));
    let told: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        told,
        json!({"read": 6, "stored": 3, "known": 0, "refused": 3, "mismatched": 1})
    );
    let said = err(&output);
    for expected in [
        "line 4: states a cluster of 1 positions, proved 2870",
        "line 5: refused: the board is unsolvable",
        "line 6: refused: ",
        "line 7: refused: column 1 is \"x\", expected par as a number",
    ] {
        assert!(said.contains(expected), "{expected}:\n{said}");
    }
}

#[test]
fn boards_whose_exit_lies_elsewhere_are_turned() {
    let temp = Temp::new();
    // One car above the other's way: the same puzzle with its exit on each side.
    for (exit, board) in [("right", "4x3:AAooooBoooBo"), ("left", "4x3:ooAAoBoooBoo")] {
        let file = temp.text(exit);
        fs::write(&file, board).unwrap();
        let imported = run(&[
            "import",
            &file,
            "--exit",
            exit,
            "--json",
            "--data",
            &temp.text("data"),
        ]);
        assert_eq!(imported.status.code(), Some(0), "{}", err(&imported));
    }
    assert_eq!(
        out(&run(&["export", "--data", &temp.text("data")]))
            .lines()
            .count(),
        1,
        "the same puzzle"
    );
}

#[test]
fn a_file_that_is_not_there_is_wrong_usage() {
    let output = run(&["import", "no/such/file", "--data", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(err(&output), "parforce: there is no file no/such/file\n");
}

/// An export of all boards to a file of this name.
fn export_to(file: &str, data: &str, more: &[&str]) -> std::process::Output {
    let mut words = vec!["export", "--out", file, "--data", data];
    words.extend(more);
    run(&words)
}

#[test]
fn every_format_of_an_export_is_imported_as_it_was_with_and_without_trust() {
    let temp = Temp::new();
    let data = temp.text("data");
    import_reference(&fixture("reference_sample.txt"), &data);
    let original = out(&run(&["export", "--format", "csv", "--data", &data]));
    // Emptied after each format: a folder of its own for each would cost seconds.
    let fresh = temp.text("fresh");
    let empty = "TRUNCATE boards, board_counts, board_tallies, hunt_tallies, reference_tallies CASCADE";
    for ending in ["csv", "jsonl", "parquet", "txt"] {
        let file = temp.text(&format!("boards.{ending}"));
        let exported = export_to(&file, &data, &[]);
        assert_eq!(exported.status.code(), Some(0), "{}", err(&exported));
        let mut words = vec!["import", &file, "--json", "--data", &fresh];
        if ending != "txt" {
            words.extend(["--trust", "--sample", "10"]);
        }
        let imported = run(&words);
        assert_eq!(imported.status.code(), Some(0), "{ending}: {}", err(&imported));
        let told: Value = serde_json::from_str(&out(&imported)).unwrap();
        assert_eq!(told, summary(81, 81, 0), "{ending}");
        let again = out(&run(&["export", "--format", "csv", "--data", &fresh]));
        assert_eq!(again, original, "{ending}");
        let emptied = run(&["sql", empty, "--data", &fresh]);
        assert_eq!(emptied.status.code(), Some(0), "{}", err(&emptied));
    }
    // What states no answers cannot be trusted.
    let refused = run(&["import", &temp.text("boards.txt"), "--trust", "--data", &data]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        err(&refused).contains("needs --par-column and --states-column"),
        "{}",
        err(&refused)
    );
}

#[test]
fn an_export_that_was_broken_off_goes_on_in_every_format() {
    let temp = Temp::new();
    let data = temp.text("data");
    import_reference(&fixture("reference_sample.txt"), &data);
    for ending in ["csv", "jsonl", "txt", "parquet"] {
        let whole = temp.path(&format!("whole.{ending}"));
        export_to(&whole.display().to_string(), &data, &[]);
        let whole = fs::read(whole).unwrap();
        let file = temp.text(&format!("part.{ending}"));
        // In the middle of a line, or of the only group of rows.
        fs::write(format!("{file}.part"), &whole[..whole.len() / 2]).unwrap();
        let resumed = export_to(&file, &data, &["--resume"]);
        assert_eq!(resumed.status.code(), Some(0), "{ending}: {}", err(&resumed));
        assert!(fs::read(&file).unwrap() == whole, "{ending} differs");
    }
    let nothing = export_to(&temp.text("none.csv"), &data, &["--resume"]);
    assert_eq!(nothing.status.code(), Some(2));
}
