//! `parforce pack`, `challenge`, `difficulty`, `stats` on a database of reference boards.

#![expect(clippy::format_collect, reason = "lines of a test file; speed is no matter")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::path::Path;

use common::{Temp, err, out, run};
use serde_json::Value;

/// A database of 81 boards of the 2018 reference database.
fn stocked() -> (Temp, String) {
    let temp = Temp::new();
    let data = temp.text("data");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference_sample.txt");
    let import = run(&[
        "import",
        &file.display().to_string(),
        "--column",
        "2",
        "--data",
        &data,
    ]);
    assert_eq!(import.status.code(), Some(0), "{}", err(&import));
    (temp, data)
}

fn build(temp: &Temp, data: &str, name: &str, arguments: &[&str]) -> Value {
    let file = temp.text(name);
    let mut all = vec!["pack", "build", "--levels", "20", "--out", &file, "--data", data];
    all.extend(arguments);
    let output = run(&all);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn pars(pack: &Value) -> Vec<u64> {
    pack["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| level["par"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_pack_is_built_checked_and_drawn_and_every_fault_is_found() {
    let (temp, data) = stocked();
    let pack = build(
        &temp,
        &data,
        "pack.json",
        &["--steps", "--difficulty", "--solution"],
    );
    assert!(pars(&pack).is_sorted() && pars(&pack).len() == 20);
    assert_eq!(pack["levels"][0]["par"], 3);
    let check = |name: &str| run(&["pack", "check", &temp.text(name), "--data", &data]);
    let good = check("pack.json");
    assert_eq!(
        (good.status.code(), out(&good)),
        (Some(0), String::new()),
        "{}",
        err(&good)
    );

    let tampered = |tamper: &dyn Fn(&mut Vec<Value>)| {
        let mut pack = pack.clone();
        tamper(pack["levels"].as_array_mut().unwrap());
        fs::write(temp.path("bad.json"), pack.to_string()).unwrap();
        let output = check("bad.json");
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        out(&output)
    };
    assert_eq!(
        tampered(&|l| l[4]["level"] = 9.into()),
        "level 5: it is numbered 9\n"
    );
    let wrong_par = tampered(&|l| l[4]["par"] = (l[4]["par"].as_u64().unwrap() - 1).into());
    assert!(
        wrong_par.starts_with("level 5: par is ") && wrong_par.lines().count() == 1,
        "{wrong_par}"
    );
    assert!(tampered(&|l| l[4]["vehicles"] = 1.into()).contains("level 5: it has "));
    assert!(tampered(&|l| l[4]["states"] = 1.into()).contains("level 5: its cluster has "));
    assert!(tampered(&|l| l[4]["steps"] = 1.into()).contains("level 5: par in steps is "));
    assert!(tampered(&|l| l[4]["solution"] = vec!["A+9"].into()).contains("level 5: the solution's slide 1"));
    assert!(tampered(&|l| l[4]["board"] = "ooo".into()).contains("level 5: not a board"));
    assert!(tampered(&|l| l.swap(0, 19)).contains("level 2: par falls"));
    let twice = tampered(&|l| {
        l[1] = l[0].clone();
        l[1]["level"] = 2.into();
    });
    assert_eq!(twice, "level 2: the same puzzle as level 1\n");
    // A good board that this database does not have.
    let stranger = tampered(&|l| {
        l[0] = serde_json::json!({
            "level": 1, "board": "oooooooooBooAAoBoooooooooooooooooooo", "par": 2, "vehicles": 2, "states": 0,
        });
    });
    assert!(
        stranger.contains("level 1: the board is not in the database"),
        "{stranger}"
    );

    for (name, begin) in [
        ("sheet.svg", &b"<svg "[..]),
        ("sheet.png", b"\x89PNG"),
        ("sheet.pdf", b"%PDF-"),
    ] {
        let shown = run(&["pack", "show", &temp.text("pack.json"), "--out", &temp.text(name)]);
        assert_eq!(shown.status.code(), Some(0), "{}", err(&shown));
        assert!(fs::read(temp.path(name)).unwrap().starts_with(begin), "{name}");
    }
    let gif = run(&[
        "pack",
        "show",
        &temp.text("pack.json"),
        "--out",
        &temp.text("sheet.gif"),
    ]);
    assert_eq!(gif.status.code(), Some(1));
}

#[test]
fn the_same_database_gives_the_same_pack_and_reserved_boards_are_left_out() {
    let (temp, data) = stocked();
    let pack = build(&temp, &data, "a.json", &[]);
    assert_eq!(build(&temp, &data, "b.json", &[]), pack);
    let hardest = *pars(&pack).last().unwrap();

    let reserve = |day: &str| {
        run(&[
            "challenge",
            "reserve",
            "--day",
            day,
            "--par",
            &hardest.to_string(),
            "--data",
            &data,
        ])
    };
    // One after the other until none of this par is left.
    let mut n_reserved = 0;
    while reserve(&format!("2999-01-{:02}", n_reserved + 1)).status.code() == Some(0) {
        n_reserved += 1;
    }
    assert!((1..12).contains(&n_reserved), "{n_reserved}");
    let none_left = reserve("2999-02-01");
    assert!(
        err(&none_left).contains("is left that was never used"),
        "{}",
        err(&none_left)
    );
    let past = reserve("2001-01-01");
    assert!(
        err(&past).contains("2001-01-01 is not a day to come"),
        "{}",
        err(&past)
    );

    let without = build(&temp, &data, "c.json", &[]);
    assert!(*pars(&without).last().unwrap() < hardest);
    let checked = run(&["pack", "check", &temp.text("a.json"), "--data", &data]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(
        out(&checked).contains("the board is reserved for a challenge"),
        "{}",
        out(&checked)
    );

    let list = out(&run(&["challenge", "list", "--json", "--data", &data]));
    let first: Value = serde_json::from_str(list.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["board"], &first["secret"]),
        (&Value::Null, &Value::Bool(true))
    );
    let exported = || out(&run(&["export", "--par", &hardest.to_string(), "--data", &data]));
    assert_eq!(exported(), "");
    let revealed = out(&run(&[
        "challenge",
        "reveal",
        &first["id"].to_string(),
        "--data",
        &data,
    ]));
    assert_eq!(exported(), revealed);
}

#[test]
fn difficulty_is_measured_once_and_sorts_packs_and_stats_show_views() {
    let (temp, data) = stocked();
    let unmeasured = run(&[
        "pack", "build", "--levels", "5", "--sort", "luck", "--data", &data,
    ]);
    assert!(
        err(&unmeasured).contains("run `parforce difficulty` first"),
        "{}",
        err(&unmeasured)
    );
    let measure = || out(&run(&["difficulty", "--data", &data]));
    assert_eq!(measure(), "81 boards measured\n");
    assert_eq!(measure(), "0 boards measured\n");
    let easiest = build(&temp, &data, "easy.json", &["--sort", "luck", "--difficulty"]);
    let hardest = build(
        &temp,
        &data,
        "hard.json",
        &["--sort", "luck", "--hardest", "--difficulty"],
    );
    let luck = |pack: &Value| -> f64 {
        let levels = pack["levels"].as_array().unwrap();
        levels
            .iter()
            .map(|level| level["difficulty"]["luck_bits"].as_f64().unwrap())
            .sum()
    };
    assert!(luck(&easiest) < luck(&hardest));

    let table = out(&run(&["stats", "--data", &data]));
    assert!(
        table.starts_with("lot") && table.contains("6x6") && table.contains('█'),
        "{table}"
    );
    let line = out(&run(&[
        "stats",
        "hardest-boards",
        "--limit",
        "1",
        "--json",
        "--data",
        &data,
    ]));
    assert!(
        serde_json::from_str::<Value>(&line).unwrap()["par"]
            .as_u64()
            .unwrap()
            >= 50,
        "{line}"
    );
    let plot = run(&[
        "stats",
        "recall",
        "--bar",
        "found_percent",
        "--linear",
        "--out",
        &temp.text("recall.svg"),
        "--data",
        &data,
    ]);
    assert_eq!(plot.status.code(), Some(0), "{}", err(&plot));
    assert!(
        fs::read_to_string(temp.path("recall.svg"))
            .unwrap()
            .contains("found_percent by n_walls, par")
    );
}

#[test]
fn a_trusted_import_believes_but_a_sample() {
    let temp = Temp::new();
    let data = temp.text("data");
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/reference_sample.txt")
        .display()
        .to_string();
    let import = |file: &str, sample: &str| {
        let columns = ["--column", "2", "--par-column", "1", "--states-column", "3"];
        let mut all = vec!["import", file, "--trust", "--sample", sample, "--data", &data];
        all.extend(columns);
        run(&all)
    };
    let lies = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| format!("1{line}\n"))
        .collect::<String>();
    let lies: String = lies
        .lines()
        .filter(|line| !line.starts_with("1#"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(temp.path("lies.txt"), lies).unwrap();
    let refused = import(&temp.text("lies.txt"), "4");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        err(&refused).contains("is not to be trusted"),
        "{}",
        err(&refused)
    );
    assert_eq!(
        out(&run(&["export", "--data", &data])),
        "",
        "nothing of the batch is stored"
    );
    let taken = import(&file, "4");
    assert_eq!(taken.status.code(), Some(0), "{}", err(&taken));
    assert!(
        out(&taken).starts_with("81 boards read: 81 stored"),
        "{}",
        out(&taken)
    );
}
