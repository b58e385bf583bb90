//! `parforce grade`, `parforce records` and `parforce benchmark` on lots so small that what there is can be counted.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::collections::BTreeMap;
use std::process::Output;

use common::{Running, Temp, err, out, parforce, postmaster, run, wait_until};
use nix::sys::signal::Signal;
use serde_json::Value;

fn objects(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", err(output));
    out(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A hunt on a 4x4 lot with so many jobs, from an empty folder.
fn hunt(data: &str, n_jobs: &str) -> Value {
    let arguments = [
        "hunt",
        "--data",
        data,
        "--lot",
        "4x4",
        "--minutes",
        "0",
        "--jobs",
        n_jobs,
        "--seed",
        "7",
        "--web",
        "127.0.0.1:0",
        "--json",
    ];
    objects(&run(&arguments)).remove(0)
}

/// The lines of a query's bare answer.
fn ask(data: &str, query: &str) -> Vec<String> {
    let psql = ["--", "--no-align", "--tuples-only", "--quiet"];
    let output = run(&[&["sql", "--data", data, query][..], &psql].concat());
    assert!(output.status.success(), "{}", err(&output));
    out(&output).lines().map(String::from).collect()
}

/// What a grade says of each par: (there are, found).
fn by_par(grade: &Value) -> BTreeMap<u64, (Option<u64>, u64)> {
    let pars = grade["pars"].as_array().unwrap().iter();
    pars.map(|of| {
        let (par, found) = (of["par"].as_u64().unwrap(), of["found"].as_u64().unwrap());
        (par, (of["there_are"].as_u64(), found))
    })
    .collect()
}

#[test]
fn a_hunt_is_graded_against_a_census_of_the_same_lot() {
    let temp = Temp::new();
    let data = temp.text("data");
    let hunted = hunt(&data, "3");
    let grade = || objects(&run(&["grade", "--hunt", "1", "--data", &data, "--json"])).remove(0);

    // Nothing is published of this lot and nothing was counted.
    let before = grade();
    assert_eq!(before["against"], Value::Null);
    assert_eq!(before["boards"], hunted["boards"]);
    assert_eq!(before["best_par"], hunted["best_par"]);
    assert!(by_par(&before).values().all(|(there_are, _)| there_are.is_none()));

    let census = [
        "census",
        "--lot",
        "4x4",
        "--scope",
        "every",
        "--data",
        &data,
        "--web",
        "127.0.0.1:0",
        "--json",
    ];
    let census = objects(&run(&census)).remove(0);
    let after = grade();
    let against = after["against"].as_str().unwrap();
    assert!(against.contains("census of hunt 2"), "{against}");
    let counted: BTreeMap<u64, u64> = census["by_par"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (of["par"].as_u64().unwrap(), of["solvable"].as_u64().unwrap()))
        .filter(|&(par, _)| par > 0)
        .collect();
    let stored = ask(
        &data,
        "SELECT b.par || ' ' || count(*) FROM boards b JOIN batches t ON t.id = b.batch_id JOIN jobs j ON j.id = t.job_id \
         WHERE j.hunt_id = 1 GROUP BY b.par",
    );
    let stored: BTreeMap<u64, u64> = stored
        .iter()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(par, n)| (par.parse().unwrap(), n.parse().unwrap()))
        .collect();
    let graded = by_par(&after);
    assert_eq!(graded.keys().max(), counted.keys().max());
    for (par, (there_are, found)) in &graded {
        assert_eq!(
            there_are.unwrap_or(0),
            counted.get(par).copied().unwrap_or(0),
            "par {par}"
        );
        assert_eq!(*found, stored.get(par).copied().unwrap_or(0), "par {par}");
        assert!(
            *found <= there_are.unwrap_or(0),
            "par {par}: found more than there are"
        );
    }
    assert!(graded.values().any(|(_, found)| *found > 0));

    let table = out(&run(&["grade", "--hunt", "1", "--data", &data]));
    for words in [
        "against all solvable clusters, by the census of hunt 2",
        "recall",
        "every par there is",
    ] {
        assert!(table.contains(words), "{words} in {table}");
    }
    let none = run(&["grade", "--hunt", "9", "--data", &data]);
    assert_eq!(none.status.code(), Some(1));
    assert!(err(&none).contains("there is no hunt 9"), "{}", err(&none));
}

#[test]
fn records_are_the_hardest_of_their_kind_proved_twice_and_replayed() {
    let temp = Temp::new();
    let data = temp.text("data");
    hunt(&data, "2");
    let unproved = objects(&run(&["records", "--data", &data, "--json"]));
    assert!(unproved.iter().all(|record| record["proved_at"].is_null()));
    let proved = objects(&run(&["records", "--data", &data, "--prove", "--json"]));
    assert!(proved.iter().all(|record| record["proved_at"].is_string()));

    let listed: Vec<String> = proved
        .iter()
        .map(|record| format!("{} {} {}", record["walls"], record["vehicles"], record["par"]))
        .collect();
    let hardest = "SELECT n_walls || ' ' || n_vehicles || ' ' || max(par) FROM boards GROUP BY n_walls, n_vehicles \
                   ORDER BY n_walls, n_vehicles";
    assert_eq!(listed, ask(&data, hardest));
    assert!(listed.len() > 1, "several kinds of board: {listed:?}");

    let best = proved
        .iter()
        .map(|record| record["par"].as_u64().unwrap())
        .max()
        .unwrap();
    let few = objects(&run(&[
        "records",
        "--data",
        &data,
        "--least-par",
        &best.to_string(),
        "--json",
    ]));
    assert!(!few.is_empty() && few.iter().all(|record| record["par"] == best));
    assert!(objects(&run(&["records", "--data", &data, "--lot", "5x5", "--json"])).is_empty());
    let markdown = out(&run(&["records", "--data", &data, "--markdown"]));
    assert!(markdown.contains(few[0]["board"].as_str().unwrap()));
    assert_eq!(markdown.lines().count(), 2 + proved.len());

    let job = few[0]["job"].to_string();
    let replayed = objects(&run(&["replay", &job, "--json", "--data", &data])).remove(0);
    assert_eq!(replayed["equal"], true, "{replayed}");

    // Handed on in a file, it is run again without a database.
    let file = temp.text("record.job");
    let saved = run(&["replay", &job, "--save", &file, "--data", &data]);
    assert!(saved.status.success(), "{}", err(&saved));
    let again = objects(&run(&["replay", "--file", &file, "--json", "--threads", "1"])).remove(0);
    assert_eq!(
        (&again["equal"], &again["digest"]),
        (&replayed["equal"], &replayed["digest"])
    );
    let text = std::fs::read_to_string(&file).unwrap();
    for (from, to, said) in [
        ("\"kind\": \"", "\"kind\": \"x", "but the spec is of kind"),
        ("\"spec\": \"", "\"spec\": \"zz", "spec"),
        ("\"digest\"", "\"digests\"", "unknown field"),
    ] {
        std::fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let wrong = run(&["replay", "--file", &file]);
        assert_eq!(wrong.status.code(), Some(1));
        assert!(
            err(&wrong).contains(&file) && err(&wrong).contains(said),
            "{}",
            err(&wrong)
        );
    }
}

#[test]
fn the_records_of_the_documents_are_found_again() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/records");
    let mut pars = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let again = objects(&run(&["replay", "--file", path.to_str().unwrap(), "--json"])).remove(0);
        // A job that was cut short when its hunt's time was up has no digest to compare; its board is found again all the same.
        assert_ne!(again["equal"], false, "{}: {again}", path.display());
        assert_eq!(again["equal"].is_null(), again["reported"].is_null());
        let par = again["best_par"].as_u64().unwrap();
        assert!(
            path.to_str().unwrap().ends_with(&format!("-par-{par}.job")),
            "{again}"
        );
        pars.push(par);
    }
    pars.sort_unstable();
    assert!(pars.len() >= 2 && pars.iter().all(|&par| par > 60), "{pars:?}");
}

#[test]
fn a_job_that_was_cut_short_is_replayed_without_a_digest_to_compare() {
    let temp = Temp::new();
    let data = temp.text("data");
    hunt(&data, "1");
    ask(
        &data,
        "UPDATE jobs SET state = 'cancelled', digest = NULL, engine = NULL",
    );
    let told = out(&run(&["replay", "1", "--data", &data]));
    assert!(
        told.contains("no digest to compare") && told.contains("is reached again"),
        "{told}"
    );
}

#[test]
fn analysts_views_are_found_without_their_schema_and_audits_are_no_yield() {
    let temp = Temp::new();
    let data = temp.text("data");
    hunt(&data, "2");
    let yields = "SELECT n_jobs, n_new FROM yield_by_hunt ORDER BY arm";
    let before = ask(&data, yields);
    assert!(!before.is_empty());
    assert_eq!(ask(&data, "SELECT sum(n_jobs) FROM yield_by_strategy"), ["2"]);
    ask(
        &data,
        "INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, state, n_new, n_found, cpu_ms, ended_at, audit_of, \
         engine, digest) \
         SELECT hunt_id, number + 1000, kind, seed, spec, n_work, 'done', 0, n_found, 5000, now(), id, engine, digest FROM jobs",
    );
    assert_eq!(ask(&data, yields), before);
    assert_eq!(ask(&data, "SELECT sum(n_jobs) FROM yield_by_strategy"), ["2"]);
    assert_eq!(ask(&data, "SELECT id FROM hunts"), ["1"], "tables come first");
}

#[test]
fn a_record_that_does_not_prove_is_told_and_not_noted() {
    let temp = Temp::new();
    let data = temp.text("data");
    hunt(&data, "1");
    let board = &objects(&run(&["records", "--data", &data, "--json"]))[0]["board"];
    let board = board.as_str().unwrap();
    ask(
        &data,
        &format!("UPDATE boards SET n_states = n_states + 1 WHERE canonical = '{board}'"),
    );
    let output = run(&["records", "--data", &data, "--prove", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains(board), "{}", err(&output));
    let lines = out(&output);
    let records = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    for record in records {
        assert_eq!(
            record["proved_at"].is_null(),
            record["board"] == board,
            "{record}"
        );
    }
}

#[test]
fn a_benchmark_hunts_with_each_seed_once_and_prints_medians() {
    let temp = Temp::new();
    let folder = temp.text("runs");
    let usual = [
        "benchmark",
        "--seeds",
        "1..2",
        "--lot",
        "4x4",
        "--until-par",
        "3",
        "--threads",
        "1",
        "--minutes",
        "60",
        "--out",
        &folder,
    ];
    let rows = objects(&run(&[&usual[..], &["--json"]].concat()));
    let seeds: Vec<u64> = rows.iter().map(|row| row["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [1, 2]);
    for row in &rows {
        assert!(row["best_par"].as_u64().unwrap() >= 3, "{row}");
        let data = temp.path("runs").join(format!("seed-{}", row["seed"]));
        let seed = ask(data.to_str().unwrap(), "SELECT seed FROM hunts");
        assert_eq!(seed, [row["seed"].to_string()]);
    }
    // Asked again, it reads what is there.
    assert_eq!(objects(&run(&[&usual[..], &["--json"]].concat())), rows);
    let table = out(&run(&usual));
    assert!(
        table.contains("median") && table.contains("more than 244,425 boards"),
        "{table}"
    );
    assert_eq!(
        table.matches("never").count(),
        3,
        "no seed found so many boards: {table}"
    );

    let wrong = run(&["benchmark", "--minutes", "0", "--out", &folder]);
    assert_eq!(wrong.status.code(), Some(2));
    let other = temp.text("other");
    let wrong = run(&["benchmark", "--strategy", "luck", "--out", &other]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        err(&wrong).contains("seed 1") && err(&wrong).contains("luck"),
        "{}",
        err(&wrong)
    );
}

#[test]
fn a_benchmark_that_is_stopped_begins_the_hunt_under_way_anew() {
    let temp = Temp::new();
    let folder = temp.text("runs");
    let (done, unfinished) = (
        temp.path("runs").join("seed-1"),
        temp.path("runs").join("seed-1.unfinished"),
    );
    let arguments = |par: &'static str| {
        [
            "benchmark",
            "--seeds",
            "1..1",
            "--lot",
            "4x4",
            "--until-par",
            par,
            "--threads",
            "1",
            "--minutes",
            "60",
            "--out",
            &folder,
            "--json",
        ]
        .map(str::to_owned)
    };
    // No 4x4 board is so hard.
    let mut endless = Running::start(parforce().args(arguments("90")));
    wait_until("the hunt is under way", || postmaster(&unfinished).is_some());
    let second = parforce().args(arguments("90")).output().unwrap();
    assert!(
        err(&second).contains("another benchmark runs in"),
        "{}",
        err(&second)
    );
    endless.signal(Signal::SIGTERM);
    let status = endless.child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(postmaster(&unfinished), None, "nothing is left running");
    assert!(!done.exists(), "half a hunt is no result");

    let rows = objects(&parforce().args(arguments("3")).output().unwrap());
    assert_eq!(rows.len(), 1);
    assert!(done.exists() && !unfinished.exists());
    assert_eq!(
        ask(done.to_str().unwrap(), "SELECT count(*) FROM hunts"),
        ["1"],
        "the half hunt is gone"
    );
}
