//! The server's process: is it there, start it, stop it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::account::Account;
use super::folder::Folder;
use super::programs::Programs;
use super::{OpenError, io};

/// Crash recovery after a kill takes seconds; on a slow disk with a full log, minutes.
const START_LIMIT_S: &str = "600";
/// A fast stop writes a checkpoint.
const STOP_LIMIT_S: &str = "300";
/// How long a guest waits for an owner that is just starting.
const GUEST_LIMIT_S: u64 = 120;
/// How long leftovers of a killed server may take to notice and end.
const LEFTOVERS_LIMIT: Duration = Duration::from_mins(1);
/// Lines of a program's output that an error quotes.
const QUOTED_LINES: usize = 12;

/// Does the postmaster that the pid file names live, and is it really this folder's? (A pid is used again, notably
/// in containers, and then a stale file names an innocent process. A postmaster's working folder is its cluster.)
pub(super) fn is_running(folder: &Folder) -> bool {
    postmaster_pid(folder).is_some_and(|pid| is_at_home(pid, &folder.cluster()))
}

fn postmaster_pid(folder: &Folder) -> Option<u32> {
    let text = fs::read_to_string(folder.cluster().join("postmaster.pid")).ok()?;
    text.lines().next()?.trim().parse().ok()
}

fn is_at_home(pid: u32, cluster: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|home| home == cluster)
}

/// Starts the server and waits until it answers.
pub(super) fn start(
    folder: &Folder,
    programs: &Programs,
    account: &Account,
    socket_folder: &Path,
) -> Result<(), OpenError> {
    wait_for_leftovers(folder);
    // No process lives in the cluster's folder any more, so what still names one is stale, whoever has that pid
    // today (a zombie that nobody reaps, for one: PostgreSQL itself takes it for a living server).
    for stale in [
        folder.cluster().join("postmaster.pid"),
        lock_of(&socket_file(socket_folder)),
    ] {
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("remove", &stale)(error));
            }
            _ => {}
        }
    }
    let mut start = account.command(&programs.path("pg_ctl"));
    start
        .args(["start", "-w", "-t", START_LIMIT_S, "-D"])
        .arg(folder.cluster())
        .arg("-l")
        .arg(folder.log());
    run("pg_ctl start", &mut start).map_err(|error| match error {
        OpenError::Program { program, status, .. } => {
            let log = fs::read_to_string(folder.log()).unwrap_or_default();
            OpenError::Program {
                program,
                status,
                output: last_lines(&log),
            }
        }
        other => other,
    })
}

/// Backends of a server that was killed -9 end by themselves; a new server must not start before they have.
fn wait_for_leftovers(folder: &Folder) {
    let cluster = folder.cluster();
    let begun = Instant::now();
    while begun.elapsed() < LEFTOVERS_LIMIT && lives_anybody_in(&cluster) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn lives_anybody_in(cluster: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .any(|pid: u32| is_at_home(pid, cluster) && is_postgres(pid))
}

/// A shell that an operator left in the folder is no server.
fn is_postgres(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end().starts_with("postgres"))
}

/// Stops the server, waiting for its last checkpoint; connections are closed.
pub(super) fn stop(folder: &Folder, programs: &Programs, account: &Account) -> Result<(), OpenError> {
    if !is_running(folder) {
        return Ok(());
    }
    let mut stop = account.command(&programs.path("pg_ctl"));
    stop.args(["stop", "-m", "fast", "-w", "-t", STOP_LIMIT_S, "-D"])
        .arg(folder.cluster());
    run("pg_ctl stop", &mut stop)
}

/// Waits until the owner's server answers, for a guest that came while the owner was still starting.
pub(super) fn wait_until_answering(
    folder: &Folder,
    socket_folder: &Path,
    owner_pid: &str,
) -> Result<(), OpenError> {
    let begun = Instant::now();
    while !is_ready(folder, socket_folder) {
        if begun.elapsed() > Duration::from_secs(GUEST_LIMIT_S) {
            return Err(OpenError::OwnerSilent {
                folder: folder.path().to_path_buf(),
                pid: owner_pid.to_owned(),
                seconds: GUEST_LIMIT_S,
            });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The eighth line of the pid file says `ready` once connections are taken.
fn is_ready(folder: &Folder, socket_folder: &Path) -> bool {
    let text = fs::read_to_string(folder.cluster().join("postmaster.pid")).unwrap_or_default();
    let ready = text.lines().nth(7).is_some_and(|line| line.trim() == "ready");
    ready && is_running(folder) && std::os::unix::net::UnixStream::connect(socket_file(socket_folder)).is_ok()
}

fn socket_file(socket_folder: &Path) -> PathBuf {
    socket_folder.join(format!(".s.PGSQL.{}", super::PORT))
}

fn lock_of(socket_file: &Path) -> PathBuf {
    let mut name = socket_file.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Runs a program to its end; what it said goes into the error.
///
/// Reading its output to the end is safe for `pg_ctl start` too: with `-l` the server gets the log as its output.
pub(super) fn run(program: &'static str, command: &mut Command) -> Result<(), OpenError> {
    let path = PathBuf::from(command.get_program());
    let output = command.output().map_err(io("run", &path))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    Err(OpenError::Program {
        program,
        status: output.status.to_string(),
        output: last_lines(&said),
    })
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
}
