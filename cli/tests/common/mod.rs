//! What the end-to-end tests share: the program, a data folder of one's own, and waiting for a condition.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "every test file uses its own part"
)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A bound for conditions that come true within seconds on an idle machine.
const LIMIT: Duration = Duration::from_mins(3);

/// The program under test.
pub fn parforce() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parforce"));
    for name in ["PARFORCE_DATA", "PARFORCE_DATABASE_URL", "PARFORCE_POSTGRES_BIN"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub fn run(arguments: &[&str]) -> Output {
    parforce().args(arguments).output().unwrap()
}

/// What a command said on standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a command said on standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A temporary folder that other users can enter, removed at the end.
pub struct Temp {
    folder: tempfile::TempDir,
}

impl Default for Temp {
    fn default() -> Self {
        Temp::new()
    }
}

impl Temp {
    pub fn new() -> Temp {
        // Not the build's own temporary folder: that may lie where the server's user cannot go.
        let folder = tempfile::Builder::new()
            .prefix("parforce-test-")
            .tempdir_in("/tmp")
            .unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Temp { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }
}

/// A program that goes on running; killed at the end of the test if it still does.
pub struct Running {
    pub child: Child,
    pub stdout: BufReader<ChildStdout>,
}

impl Running {
    pub fn start(command: &mut Command) -> Running {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Running { child, stdout }
    }

    /// The next line of standard output, without its end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LIMIT, "still not true: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The postmaster that lives in a cluster, if any does.
pub fn postmaster(data: &Path) -> Option<i32> {
    let cluster = fs::canonicalize(data).ok()?.join("postgres");
    let pid = fs::read_to_string(cluster.join("postmaster.pid"))
        .ok()?
        .lines()
        .next()?
        .trim()
        .parse()
        .ok()?;
    (fs::read_link(format!("/proc/{pid}/cwd")).ok()? == cluster).then_some(pid)
}

/// Are the tests run by root?
pub fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}
