//! Tokens and certificates as an operator makes them, and a hunt that others may join.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{Temp, err, out, run};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_token_is_shown_once_listed_without_itself_and_revoked() {
    let temp = Temp::new();
    let (data, file) = (temp.text("data"), temp.text("w.token"));
    let made = run(&[
        "token", "create", "anna", "--role", "operator", "--days", "30", "--data", &data,
    ]);
    assert!(made.status.success(), "{}", err(&made));
    let token = out(&made).trim().to_owned();
    assert!(token.starts_with("parforce_") && token.len() > 64, "{token}");

    let made = run(&[
        "token", "create", "w", "--role", "worker", "--file", &file, "--data", &data,
    ]);
    assert!(made.status.success() && out(&made).is_empty(), "{}", err(&made));
    assert_eq!(mode(&temp.path("w.token")), 0o600);
    let again = run(&[
        "token", "create", "w", "--role", "worker", "--file", &file, "--data", &data,
    ]);
    assert_eq!(again.status.code(), Some(1), "no file is written over");

    let listed = run(&["token", "list", "--json", "--data", &data]);
    assert_eq!(out(&listed).lines().count(), 2);
    assert!(!out(&listed).contains(&token) && !err(&listed).contains(&token));
    let revoked = run(&["token", "revoke", "anna", "--data", &data]);
    assert!(revoked.status.success(), "{}", err(&revoked));
    assert_eq!(
        run(&["token", "revoke", "anna", "--data", &data]).status.code(),
        Some(1)
    );
    let listed = run(&["token", "list", "--all", "--data", &data]);
    assert!(out(&listed).contains("revoked"), "{}", out(&listed));
    for wrong in [
        ["token", "create", "a@b", "--role", "worker"],
        ["token", "create", "a", "--role", "admin"],
    ] {
        assert_eq!(run(&wrong).status.code(), Some(2));
    }
}

#[test]
fn certificates_are_made_by_an_authority_that_stays() {
    let temp = Temp::new();
    let dir = temp.text("tls");
    let made = run(&[
        "tls",
        "--dir",
        &dir,
        "--name",
        "coordinator.example",
        "--name",
        "10.0.0.5",
    ]);
    assert!(made.status.success(), "{}", err(&made));
    let read = |name: &str| fs::read_to_string(temp.path("tls").join(name)).unwrap();
    let (authority, first) = (read("ca.pem"), read("coordinator.pem"));
    let made = run(&["tls", "--dir", &dir]);
    assert!(made.status.success(), "{}", err(&made));
    assert_eq!(read("ca.pem"), authority);
    assert_ne!(read("coordinator.pem"), first);
    let made = run(&["tls", "--dir", &dir, "--client", "node-3"]);
    assert!(made.status.success(), "{}", err(&made));
    for name in ["ca.key", "coordinator.key", "node-3.key"] {
        assert_eq!(mode(&temp.path("tls").join(name)), 0o600, "{name}");
    }
    assert_eq!(
        run(&["tls", "--dir", &dir, "--client", "../ca"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_hunt_that_others_may_join_asks_them_for_a_token_and_goes_on_itself() {
    let temp = Temp::new();
    let data = temp.text("data");
    let hunted = run(&[
        "hunt",
        "--lot",
        "4x4",
        "--jobs",
        "2",
        "--threads",
        "1",
        "--listen",
        "0.0.0.0:0",
        "--web",
        "127.0.0.1:0",
        "--json",
        "--data",
        &data,
    ]);
    assert!(hunted.status.success(), "{}", err(&hunted));
    assert!(
        err(&hunted).contains("parforce token create") && err(&hunted).contains("https://"),
        "{}",
        err(&hunted)
    );
    assert!(temp.path("data").join("tls").join("ca.pem").exists());
    // Pages for everybody, and nobody who may open them.
    let refused = run(&[
        "hunt",
        "--lot",
        "4x4",
        "--jobs",
        "1",
        "--web",
        "0.0.0.0:0",
        "--data",
        &data,
    ]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("--role operator"), "{}", err(&refused));
}

/// The script of the composition (docker-compose.yml) that makes keys, with a private database.
#[test]
fn a_composition_gives_everybody_what_they_need_and_no_more() {
    let temp = Temp::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/make-keys");
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_parforce"))
        .parent()
        .unwrap();
    for folder in ["keys", "coordinator-keys", "worker-keys"] {
        fs::create_dir(temp.path(folder)).unwrap();
    }
    let make = || {
        let path = std::env::var("PATH").unwrap_or_default();
        let made = std::process::Command::new("bash")
            .arg(script)
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("PARFORCE_KEYS_HOME", temp.path(""))
            .env("PARFORCE_DATA", temp.path("data"))
            .env_remove("PARFORCE_DATABASE_URL")
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", err(&made));
    };
    let files = |folder: &str| {
        let mut names: Vec<String> = fs::read_dir(temp.path(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    make();
    assert_eq!(files("worker-keys"), ["ca.pem", "worker.token"]);
    assert_eq!(files("coordinator-keys"), ["coordinator.key", "coordinator.pem"]);
    assert_eq!(
        files("keys"),
        ["ca.key", "ca.pem", "coordinator.key", "coordinator.pem"]
    );
    let read = || {
        ["worker-keys/worker.token", "coordinator-keys/coordinator.pem"]
            .map(|file| fs::read_to_string(temp.path(file)).unwrap())
    };
    let first = read();
    make();
    assert_eq!(read(), first, "what is there stays");
}
