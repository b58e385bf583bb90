//! `parforce hunt` as a person meets it: it finds, ends, goes on, and survives being killed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::process::Output;

use common::{Running, Temp, err, out, parforce, postmaster, run, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// The arguments that every hunt of these tests has: a small lot, no dashboard at the usual port.
fn hunt<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = [
        "hunt",
        "--data",
        data,
        "--lot",
        "4x4",
        "--minutes",
        "0",
        "--web",
        "127.0.0.1:0",
        "--json",
    ];
    [&usual[..], more].concat()
}

/// The result of a command that ended well and printed one object.
fn object(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", err(output));
    serde_json::from_str(out(output).trim()).unwrap()
}

fn objects(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", err(output));
    out(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every board in the database, with its par: `par canonical`.
fn boards(data: &str) -> Vec<String> {
    let query = "SELECT par || ' ' || canonical FROM boards ORDER BY par, canonical COLLATE \"C\"";
    let output = run(&[
        "sql",
        "--data",
        data,
        query,
        "--",
        "--no-align",
        "--tuples-only",
        "--quiet",
    ]);
    // Before the first migration there is no such table, and no board.
    out(&output).lines().map(String::from).collect()
}

#[test]
fn a_hunt_ends_with_its_jobs_is_replayed_bit_for_bit_and_goes_on_when_run_again() {
    let temp = Temp::new();
    let data = temp.text("data");
    let first = object(&run(&hunt(&data, &["--jobs", "2", "--seed", "7"])));
    assert_eq!(
        (&first["state"], &first["jobs_done"]),
        (&"done".into(), &2.into()),
        "{first}"
    );
    let n_first = first["boards"].as_u64().unwrap();
    assert!(n_first > 0, "{first}");
    assert_eq!(
        postmaster(&temp.path("data")),
        None,
        "the server is stopped at the end"
    );

    let stored = boards(&data);
    assert_eq!(stored.len() as u64, n_first);
    let counted: u64 = first["distribution"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair[1].as_u64().unwrap())
        .sum();
    assert_eq!(counted, n_first);

    let jobs = objects(&run(&["jobs", "--data", &data, "--state", "done", "--json"]));
    assert_eq!(jobs.len(), 2);
    for threads in ["1", "3"] {
        let job = jobs[0]["id"].to_string();
        let replayed = object(&run(&[
            "replay",
            &job,
            "--threads",
            threads,
            "--json",
            "--data",
            &data,
        ]));
        assert_eq!(replayed["equal"], true, "{replayed}");
        assert_eq!(replayed["digest"], jobs[0]["digest"]);
    }

    let second = object(&run(&hunt(&data, &["--jobs", "2", "--seed", "7"])));
    assert_eq!(
        (&second["hunt"], &second["jobs_done"]),
        (&first["hunt"], &4.into()),
        "{second}"
    );
    let all = boards(&data);
    assert!(all.len() >= stored.len());
    assert!(
        stored.iter().all(|board| all.contains(board)),
        "what was found stays"
    );

    let hunts = objects(&run(&["hunts", "--data", &data, "--json"]));
    assert_eq!(hunts.len(), 1);
    assert_eq!(hunts[0]["seed"], "7");
    let workers = objects(&run(&["workers", "--all", "--data", &data, "--json"]));
    assert_eq!(workers.len(), 2, "one for each run");
    assert!(workers.iter().all(|worker| worker["state"] == "gone"));
}

#[test]
fn every_stored_board_is_its_clusters_representative_with_its_par() {
    let temp = Temp::new();
    let data = temp.text("data");
    object(&run(&hunt(&data, &["--jobs", "1", "--seed", "1"])));
    let stored: Vec<String> = boards(&data);
    let file = temp.path("boards.txt");
    std::fs::write(&file, stored.join("\n")).unwrap();
    let proved = objects(&run(&[
        "cluster",
        "--json",
        "--column",
        "2",
        &temp.text("boards.txt"),
    ]));
    assert_eq!(proved.len(), stored.len());
    for (stored, proved) in stored.iter().zip(proved) {
        let (par, canonical) = stored.split_once(' ').unwrap();
        assert_eq!(
            (
                proved["par"].to_string().as_str(),
                proved["representative"].as_str().unwrap()
            ),
            (par, canonical)
        );
    }
}

#[test]
fn a_hunt_ends_when_its_par_is_reached() {
    let temp = Temp::new();
    let report = object(&run(&hunt(&temp.text("data"), &["--until-par", "4"])));
    assert_eq!(report["state"], "done");
    assert!(report["best_par"].as_u64().unwrap() >= 4, "{report}");
}

#[test]
fn an_interrupted_hunt_reports_pauses_and_goes_on_when_run_again() {
    let temp = Temp::new();
    let data = temp.text("data");
    let mut hunting = Running::start(parforce().args(hunt(&data, &[])));
    wait_until("boards are stored", || {
        !boards_if_running(&temp, &data).is_empty()
    });
    hunting.signal(Signal::SIGINT);
    let report: Value = serde_json::from_str(&hunting.line()).unwrap();
    assert_eq!(hunting.child.wait().unwrap().code(), Some(0));
    assert_eq!(report["state"], "paused", "{report}");
    assert_eq!(boards(&data).len() as u64, report["boards"].as_u64().unwrap());

    let again = object(&run(&hunt(&data, &["--jobs", "1"])));
    assert_eq!(
        (&again["hunt"], &again["state"]),
        (&report["hunt"], &"done".into()),
        "{again}"
    );
}

#[test]
fn a_hunt_that_is_killed_loses_nothing_acknowledged() {
    let temp = Temp::new();
    let data = temp.text("data");
    let mut acknowledged = Vec::new();
    for _ in 0..2 {
        let n_before = acknowledged.len();
        let mut hunting = Running::start(parforce().args(hunt(&data, &[])));
        wait_until("more boards are stored", || {
            acknowledged = boards_if_running(&temp, &data);
            acknowledged.len() > n_before
        });
        hunting.kill();
        let kept = boards(&data);
        assert!(
            acknowledged.iter().all(|board| kept.contains(board)),
            "kill -9 lost a board"
        );
        acknowledged = kept;
    }
    let again = object(&run(&hunt(&data, &["--jobs", "1"])));
    assert!(
        again["boards"].as_u64().unwrap() >= acknowledged.len() as u64,
        "{again}"
    );
}

/// The boards, asked as a guest of a running hunt; none while its server is not there yet. (Asking earlier would make
/// this process the owner of the data folder, and the hunt would be refused.)
fn boards_if_running(temp: &Temp, data: &str) -> Vec<String> {
    if postmaster(&temp.path("data")).is_some() {
        boards(data)
    } else {
        Vec::new()
    }
}

#[test]
fn two_hunts_cannot_share_a_data_folder() {
    let temp = Temp::new();
    let data = temp.text("data");
    let _hunting = Running::start(parforce().args(hunt(&data, &[])));
    wait_until("the hunt runs", || postmaster(&temp.path("data")).is_some());
    let second = run(&hunt(&data, &["--jobs", "1"]));
    assert_eq!(second.status.code(), Some(1));
    assert!(
        err(&second).contains("in use by another parforce"),
        "{}",
        err(&second)
    );
}

#[test]
fn what_cannot_be_hunted_is_refused_as_wrong_usage() {
    for arguments in [
        &["--lot", "9x9"][..],
        &["--lot", "6x6", "--row", "6"],
        &["--walls", "2..1"],
        &["--vehicles", "0"],
        &["--minutes", "-1"],
        &["--strategy", "luck"],
        &["--threads", "0"],
    ] {
        let output = parforce().arg("hunt").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
    }
}

#[test]
fn hunts_can_be_asked_for_paused_resumed_and_cancelled() {
    let temp = Temp::new();
    let data = temp.text("data");
    let asked = run(&["hunts", "new", "--lot", "5x5", "--name", "mine", "--data", &data]);
    assert_eq!(out(&asked), "hunt 1: mine\n", "{}", err(&asked));
    let state = || {
        objects(&run(&["hunts", "--json", "--data", &data]))[0]["state"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (action, expected) in [
        ("pause", "paused"),
        ("resume", "running"),
        ("cancel", "cancelled"),
    ] {
        assert_eq!(
            run(&["hunts", action, "1", "--data", &data]).status.code(),
            Some(0),
            "{action}"
        );
        assert_eq!(state(), expected);
    }
    assert_eq!(
        run(&["hunts", "pause", "1", "--data", &data]).status.code(),
        Some(1),
        "it is over"
    );
    assert_eq!(
        run(&["hunts", "pause", "99", "--data", &data]).status.code(),
        Some(1),
        "there is none"
    );
}
