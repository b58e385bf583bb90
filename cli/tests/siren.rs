//! `parforce siren` as a person meets it: levels drawn, solved, hinted and checked, bad ones refused with place and value, and
//! a campaign through the farm.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;
use std::process::Output;

use common::{Running, Temp, err, out, parforce, postmaster, run, wait_until};
use serde_json::Value;

const LEVEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/siren_level.json");
const PLAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/siren_plan.json");

fn siren(arguments: &[&str]) -> Output {
    run(&[&["siren"], arguments].concat())
}

fn object(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", err(output));
    serde_json::from_str(out(output).trim()).unwrap()
}

#[test]
fn a_level_is_solved_both_ways_or_it_says_why_not() {
    let told = siren(&["solve", LEVEL]);
    assert_eq!(told.status.code(), Some(0));
    assert_eq!(
        out(&told),
        format!(
            "{LEVEL}: 2 moves forward, difficulty 1 of 10, about 12 seconds\n  forward 2: tap 4, tap 1\n  \
             reverse: impossible: vehicle 2 faces planter 3\n"
        )
    );
    let answer = object(&siren(&["solve", "--json", LEVEL]));
    assert_eq!(answer["par"], 2);
    assert_eq!(answer["forward"]["moves"], serde_json::json!(["tap 4", "tap 1"]));
    assert_eq!(
        answer["reverse"]["hopeless"],
        "impossible: vehicle 2 faces planter 3"
    );
    assert_eq!(answer["canonical"], "4x4:...vv>Rdd..bx...");
}

#[test]
fn a_level_is_drawn_with_its_pieces_and_its_ring_road() {
    let text = out(&siren(&["show", LEVEL]));
    for part in ["A tour", "1>", "4b", "##", "U^", "]["] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let svg = out(&siren(&["show", "--svg", LEVEL]));
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
    assert_eq!(siren(&["show", "--svg", LEVEL, LEVEL]).status.code(), Some(2));
}

#[test]
fn hints_lead_out_in_par_moves_from_any_state() {
    let mut played = Vec::new();
    for left in [2, 1] {
        let hint = object(&siren(&["hint", "--json", LEVEL, "--played", &played.join(", ")]));
        assert_eq!(hint["moves_left"], left);
        played.push(hint["move"].as_str().unwrap().to_owned());
    }
    let end = object(&siren(&["hint", "--json", LEVEL, "--played", &played.join(", ")]));
    assert_eq!(end, serde_json::json!({ "clear": "forward" }));
    let illegal = siren(&["hint", LEVEL, "--played", "tap 1"]);
    assert_eq!(illegal.status.code(), Some(1));
    assert!(err(&illegal).contains("`tap 1` is not legal there: piece 1 is blocked by piece 4"));
    let unknown = siren(&["hint", LEVEL, "--played", "jump 1"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        err(&unknown).contains("no move is spelled \"jump 1\""),
        "{}",
        err(&unknown)
    );
}

#[test]
fn files_that_are_no_legal_level_are_refused_with_place_and_value() {
    let temp = Temp::new();
    let level = std::fs::read_to_string(LEVEL).unwrap();
    let planter = r#"{"kind": "planter", "at": [3, 3]}"#;
    let unit = r#"{"kind": "unit", "model": "ambulance", "at": [3, 1], "size": [1, 2], "facing": "up"}"#;
    let cases = [
        (
            r#""at": [2, 0]"#,
            r#""at": [1, 0]"#,
            "pieces[4]: overlaps pieces[1] at column 1, row 0",
        ),
        (
            r#""at": [3, 3]"#,
            r#""at": [4, 3]"#,
            "pieces[3]: planter at column 4, row 3 does not lie inside the 4x4 lot",
        ),
        (
            r#""size": [1, 2]"#,
            r#""size": [2, 1]"#,
            "pieces[0]: unit of size [2, 1] at column 1, row 1 does not lie along its facing, Up",
        ),
        (
            r#""index": 0"#,
            r#""index": 9"#,
            "ring.exits[0]: no place left 9 on a 4x4 lot, whose left side has places 0 to 3",
        ),
        (
            r#""name""#,
            r#""solution": [], "name""#,
            "unknown field `solution`, expected one of",
        ),
        (
            planter,
            unit,
            "pieces[3]: a second unit at column 3, row 1; the first is pieces[0]",
        ),
        (r#""width": 4"#, r#""width": 13"#, "lot: "),
        (r#""format": 1"#, r#""format": 2"#, "format is 2, expected 1"),
    ];
    for (what, instead, message) in cases {
        assert!(level.contains(what), "{what}");
        std::fs::write(temp.path("bad.json"), level.replacen(what, instead, 1)).unwrap();
        let bad = temp.text("bad.json");
        for command in ["solve", "show", "hint"] {
            let refused = siren(&[command, &bad]);
            assert_eq!(refused.status.code(), Some(1), "{command}: {message}");
            assert!(
                err(&refused).starts_with(&format!("{bad}: {message}")),
                "{command}: {}",
                err(&refused)
            );
        }
        let faulty = siren(&["check", &bad]);
        assert_eq!(faulty.status.code(), Some(1));
        assert!(
            out(&faulty).starts_with(&format!("{bad}: {message}")),
            "{}",
            out(&faulty)
        );
    }
    let missing = siren(&["solve", &temp.text("nothing.json")]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(err(&missing).contains("nothing.json"), "{}", err(&missing));
}

#[test]
fn plans_that_make_no_sense_are_refused_before_any_work() {
    let temp = Temp::new();
    let plan = std::fs::read_to_string(PLAN).unwrap();
    let cases = [
        (
            r#""levels": [4]"#,
            r#""levels": [5]"#,
            "worlds[0].features[0].levels: no level 5",
        ),
        (r#""width": 6"#, r#""width": 2"#, "worlds[0], level 1: "),
        (
            r#""par": [6, 8]"#,
            r#""par": [8, 6]"#,
            "worlds[0], level 1: par is 8 to 6",
        ),
        (r#""seed": 7"#, r#""sed": 7"#, "unknown field `sed`"),
    ];
    for (what, instead, message) in cases {
        assert!(plan.contains(what), "{what}");
        std::fs::write(temp.path("plan.json"), plan.replacen(what, instead, 1)).unwrap();
        let data = temp.text("data");
        let refused = siren(&[
            "campaign",
            "--plan",
            &temp.text("plan.json"),
            "--out",
            &temp.text("levels"),
            "--data",
            &data,
        ]);
        assert_eq!(refused.status.code(), Some(1), "{message}");
        assert!(err(&refused).contains(message), "{}", err(&refused));
        assert!(
            !temp.path("data").exists(),
            "a database was made for a plan that is none"
        );
    }
}

/// The level files of a folder, by name.
fn levels(temp: &Temp, folder: &str) -> BTreeMap<String, String> {
    std::fs::read_dir(temp.path(folder))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn campaign(data: &str, out: &str, threads: &str) -> Vec<String> {
    [
        "siren",
        "campaign",
        "--plan",
        PLAN,
        "--out",
        out,
        "--data",
        data,
        "--threads",
        threads,
        "--web",
        "127.0.0.1:0",
        "--json",
    ]
    .map(String::from)
    .to_vec()
}

fn sql(data: &str, query: &str) -> String {
    let more = ["--", "--no-align", "--tuples-only", "--quiet"];
    out(&run(&[&["sql", "--data", data, query][..], &more].concat()))
        .trim()
        .to_owned()
}

#[test]
fn a_campaign_gives_the_same_bytes_when_it_is_killed_and_goes_on_and_passes_its_check() {
    let temp = Temp::new();
    let data = temp.text("data");
    let first = object(
        &parforce()
            .args(campaign(&data, &temp.text("one"), "1"))
            .output()
            .unwrap(),
    );
    assert_eq!(
        (&first["state"], &first["written"]),
        (&"done".into(), &4.into()),
        "{first}"
    );
    let expected = levels(&temp, "one");
    assert_eq!(expected.keys().next().unwrap(), "1-01-yard.json");
    let stored = sql(
        &data,
        "SELECT count(*), count(DISTINCT canonical), count(*) FILTER (WHERE is_chosen) FROM analysis.jams",
    );
    assert_eq!(stored, format!("{}|{}|4", first["finds"], first["jams"]));

    let check = siren(&["check", "--plan", PLAN, &temp.text("one")]);
    assert_eq!(check.status.code(), Some(0), "{}", out(&check));
    std::fs::remove_file(temp.path("one").join("1-02-yard.json")).unwrap();
    let check = siren(&["check", "--plan", PLAN, &temp.text("one")]);
    assert_eq!(
        (check.status.code(), out(&check).as_str()),
        (Some(1), "plan: Yard, level 2, is missing\n")
    );

    // A job of it runs again bit for bit.
    let jobs = out(&run(&["jobs", "--data", &data, "--json"]));
    let job: Value = serde_json::from_str(jobs.lines().next().unwrap()).unwrap();
    assert_eq!(job["kind"], "siren");
    let replayed = object(&run(&[
        "replay",
        &job["id"].to_string(),
        "--json",
        "--data",
        &data,
    ]));
    assert_eq!(
        (&replayed["kind"], &replayed["equal"]),
        (&"siren".into(), &true.into()),
        "{replayed}"
    );

    // Killed as soon as something is stored, then asked for again with other threads: the same levels.
    let other = temp.text("other");
    let mut killed = Running::start(parforce().args(campaign(&other, &temp.text("two"), "2")));
    wait_until("a jam is stored, or the campaign is over", || {
        killed.child.try_wait().unwrap().is_some()
            || postmaster(&temp.path("other")).is_some()
                && sql(&other, "SELECT count(*) FROM jam_finds").parse().unwrap_or(0) > 0
    });
    killed.kill();
    let second = object(
        &parforce()
            .args(campaign(&other, &temp.text("two"), "3"))
            .output()
            .unwrap(),
    );
    assert_eq!(second["written"], 4, "{second}");
    assert_eq!(levels(&temp, "two"), expected);
    let hunts = out(&run(&["hunts", "--data", &other, "--json"]));
    assert_eq!(hunts.lines().count(), 1, "the same campaign went on: {hunts}");
}
