//! The private Postgres: started, shared, killed, taken over, stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use common::{Running, Temp, err, is_root, out, parforce, postmaster, run, wait_until};
use nix::sys::signal::Signal;

fn database(data: &Path) -> Running {
    Running::start(parforce().arg("database").arg("--data").arg(data))
}

/// Runs a query and gives its bare answer.
fn ask(data: &str, query: &str) -> String {
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
    assert!(output.status.success(), "{}", err(&output));
    out(&output).trim().to_owned()
}

#[test]
fn it_starts_from_nothing_answers_and_stops_at_a_signal() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    let url = owner.line();
    assert!(
        url.starts_with("postgres://parforce@localhost:5432/parforce?host=%2F"),
        "{url}"
    );
    assert!(postmaster(&data).is_some());

    owner.signal(Signal::SIGINT);
    assert_eq!(owner.child.wait().unwrap().code(), Some(0));
    assert_eq!(postmaster(&data), None);
}

#[test]
fn folders_are_shut_to_everybody_else() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    owner.line();
    for folder in ["postgres", "run"] {
        assert_eq!(
            fs::metadata(data.join(folder)).unwrap().permissions().mode() & 0o777,
            0o700,
            "{folder}"
        );
    }
    if is_root() {
        assert_ne!(fs::metadata(data.join("postgres")).unwrap().uid(), 0);
    }
}

#[test]
fn what_was_committed_is_there_the_next_time() {
    let temp = Temp::new();
    let data = temp.text("data");
    ask(&data, "CREATE TABLE kept AS SELECT 42 AS answer");
    assert_eq!(postmaster(&temp.path("data")), None);
    assert_eq!(ask(&data, "SELECT answer FROM kept"), "42");
}

#[test]
fn a_second_owner_is_refused_and_a_guest_is_served() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    owner.line();

    let second = run(&["database", "--data", &temp.text("data")]);
    assert_eq!(second.status.code(), Some(1));
    let said = err(&second);
    assert!(
        said.contains("in use by another parforce") && said.contains(&owner.child.id().to_string()),
        "{said}"
    );

    assert_eq!(ask(&temp.text("data"), "SELECT 6 * 7"), "42");
    assert!(postmaster(&data).is_some(), "a guest does not stop the server");
}

#[test]
fn the_watchdog_stops_the_server_when_its_owner_is_killed() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    owner.line();
    ask(&temp.text("data"), "CREATE TABLE kept AS SELECT 42 AS answer");

    owner.kill();
    wait_until("the server has stopped", || postmaster(&data).is_none());
    assert_eq!(ask(&temp.text("data"), "SELECT answer FROM kept"), "42");
}

#[test]
fn a_killed_owner_is_followed_at_once() {
    let temp = Temp::new();
    let data = temp.path("data");
    for _ in 0..3 {
        let mut owner = database(&data);
        assert!(owner.line().starts_with("postgres://"));
        owner.kill();
        // No waiting here: the next owner comes while the watchdog of this one may still be at work.
    }
    assert_eq!(ask(&temp.text("data"), "SELECT 1"), "1");
}

#[test]
fn a_server_that_survived_owner_and_watchdog_is_adopted() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    owner.line();
    let server = postmaster(&data).unwrap();

    for pid in watchdogs(&data) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    }
    owner.kill();
    assert_eq!(postmaster(&data), Some(server));

    let mut heir = database(&data);
    heir.line();
    assert_eq!(postmaster(&data), Some(server));
    heir.signal(Signal::SIGTERM);
    heir.child.wait().unwrap();
    assert_eq!(postmaster(&data), None);
}

/// The watchdogs over a data folder: shells that were told its cluster.
fn watchdogs(data: &Path) -> Vec<i32> {
    let cluster = fs::canonicalize(data)
        .unwrap()
        .join("postgres")
        .display()
        .to_string();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &i32| {
            let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.contains("parforce-watchdog") && words.contains(&cluster)
        })
        .collect()
}

#[test]
fn a_killed_server_recovers_and_a_stale_pid_file_is_no_obstacle() {
    let temp = Temp::new();
    let data = temp.path("data");
    let mut owner = database(&data);
    owner.line();
    ask(&temp.text("data"), "CREATE TABLE kept AS SELECT 42 AS answer");
    let server = postmaster(&data).unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(server), Signal::SIGKILL).unwrap();
    owner.kill();

    // The pid is used again by a process that has nothing to do with us: this one.
    let pid_file = data.join("postgres/postmaster.pid");
    let text = fs::read_to_string(&pid_file).unwrap();
    let rest = text.split_once('\n').unwrap().1;
    fs::write(&pid_file, format!("{}\n{rest}", std::process::id())).unwrap();

    assert_eq!(ask(&temp.text("data"), "SELECT answer FROM kept"), "42");
}

#[test]
fn a_folder_of_another_version_is_refused_in_one_line() {
    let temp = Temp::new();
    let data = temp.path("data");
    ask(&temp.text("data"), "SELECT 1");
    fs::write(data.join("postgres/PG_VERSION"), "9\n").unwrap();

    let refused = run(&["database", "--data", &temp.text("data")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        err(&refused).contains("was made by PostgreSQL 9"),
        "{}",
        err(&refused)
    );
    assert_eq!(err(&refused).trim_end().lines().count(), 1);
}

#[test]
fn an_interrupted_first_start_is_begun_again() {
    let temp = Temp::new();
    let data = temp.path("data");
    fs::create_dir_all(data.join("postgres.new/base")).unwrap();
    fs::write(data.join("postgres.new/PG_VERSION"), "15\n").unwrap();
    assert_eq!(ask(&temp.text("data"), "SELECT 1"), "1");
    assert!(!data.join("postgres.new").exists());
}

#[test]
fn long_paths_and_paths_with_blanks_and_quotes_work() {
    let temp = Temp::new();
    assert_eq!(ask(&temp.text("it's a data folder"), "SELECT 1"), "1");
    assert_eq!(ask(&temp.text(&"long/".repeat(30)), "SELECT 1"), "1");
}

#[test]
fn root_cannot_use_a_folder_that_the_servers_user_cannot_enter() {
    if !is_root() {
        return;
    }
    let temp = Temp::new();
    let shut = temp.path("shut");
    fs::create_dir(&shut).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    let refused = run(&["database", "--data", &temp.text("shut/data")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        err(&refused).contains(&format!("cannot enter {}", shut.display())),
        "{}",
        err(&refused)
    );
    assert!(!shut.join("data").exists());
}

#[test]
fn an_ordinary_user_needs_no_privileges() {
    if !is_root() {
        return; // Then all the other tests have shown it.
    }
    let temp = Temp::new();
    let program = temp.path("parforce");
    fs::copy(env!("CARGO_BIN_EXE_parforce"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let home = temp.path("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(65534), Some(65534)).unwrap();

    let as_nobody = |query: &str| {
        let mut command = Command::new("runuser");
        command
            .args(["-u", "nobody", "--"])
            .arg(&program)
            .args(["sql", "--data"])
            .arg(home.join("data"));
        command
            .args([query, "--", "-At"])
            .current_dir("/")
            .env_remove("PARFORCE_DATABASE_URL");
        command.output().unwrap()
    };
    let output = as_nobody("SELECT 42");
    assert_eq!(out(&output).trim(), "42", "{}", err(&output));

    // Root goes on where the user stopped, as that user, and the user again after root.
    assert_eq!(ask(&home.join("data").display().to_string(), "SELECT 43"), "43");
    let output = as_nobody("SELECT 44");
    assert_eq!(out(&output).trim(), "44", "{}", err(&output));
}

#[test]
fn a_failing_query_ends_with_status_1_and_a_folder_without_programs_is_named() {
    let temp = Temp::new();
    assert_eq!(
        run(&["sql", "--data", &temp.text("data"), "SELECT nonsense"])
            .status
            .code(),
        Some(1)
    );
    let refused = run(&[
        "sql",
        "--data",
        &temp.text("data"),
        "--postgres-bin",
        "/nowhere",
        "SELECT 1",
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        err(&refused).contains("/nowhere has no PostgreSQL programs"),
        "{}",
        err(&refused)
    );
}
