//! The watchdog: a tiny process that stops the server when its parent has gone, however it went.
//!
//! It reads from a pipe whose other end only the parent holds. A line means "dismissed"; the end of the pipe means
//! that the parent is dead, kill -9 included. It also holds a lock of its own for as long as it lives, so that the
//! next owner can tell a server that is about to be stopped from one that may be adopted.

use std::fs::TryLockError;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::account::Account;
use super::folder::Folder;
use super::programs::Programs;
use super::{OpenError, io, lock};

/// Deaf to the signals that end whole process groups or sessions, since ending then is the very case it is for.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
if read -r dismissed; then exit 0; fi
"$1" stop -D "$2" -m fast -w -t 300 </dev/null >/dev/null 2>&1
"#;

/// How long a new owner waits for the watchdog of a dead one; a fast stop takes well under a second.
const PREDECESSOR_LIMIT: Duration = Duration::from_mins(2);

/// A watchdog that waits for us to end.
#[derive(Debug)]
pub(super) struct Watchdog {
    child: Child,
}

impl Watchdog {
    /// Sets a watchdog over the server of a folder.
    pub(super) fn set(
        folder: &Folder,
        programs: &Programs,
        account: &Account,
    ) -> Result<Watchdog, OpenError> {
        let path = folder.watchdog_lock();
        let file = lock::open(&path, account)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => unreachable!("the owner has waited for the last watchdog"),
            Err(TryLockError::Error(error)) => return Err(io("lock", &path)(error)),
        }
        // The lock belongs to the open file, which the child inherits as its output and keeps until it ends; our
        // own copy is closed on return.
        let shell = Path::new("/bin/sh");
        let child = account
            .command(shell)
            .args(["-c", SCRIPT, "parforce-watchdog"])
            .arg(programs.path("pg_ctl"))
            .arg(folder.cluster())
            .stdin(Stdio::piped())
            .stdout(Stdio::from(file))
            .stderr(Stdio::null())
            .spawn()
            .map_err(io("run", shell))?;
        Ok(Watchdog { child })
    }

    /// Sends the watchdog home: the server is stopped.
    pub(super) fn dismiss(mut self) {
        if let Some(mut pipe) = self.child.stdin.take() {
            // A watchdog that somebody killed needs no dismissal.
            let _ = pipe.write_all(b"dismissed\n");
        }
        let _ = self.child.wait();
    }
}

/// Waits until no watchdog of an earlier owner is left, which by then has stopped its server.
pub(super) fn wait_for_predecessor(folder: &Folder, account: &Account) -> Result<(), OpenError> {
    let path = folder.watchdog_lock();
    let file = lock::open(&path, account)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PREDECESSOR_LIMIT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io("lock", &path)(std::io::ErrorKind::TimedOut.into()));
            }
            Err(TryLockError::Error(error)) => return Err(io("lock", &path)(error)),
        }
    }
}
