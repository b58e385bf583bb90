//! The data folder: its layout, the database cluster in it, and the server's settings.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::account::Account;
use super::process::run;
use super::programs::Programs;
use super::{DATABASE, OpenError, PORT, io};

/// Where root keeps its data if the current folder is shut to the server's user.
const SYSTEM_DATA_FOLDER: &str = "/var/lib/parforce";

/// The data folder that commands use when none is named: `parforce-data` in the current folder, or
/// `/var/lib/parforce` for root where the server's user could not enter that (as in root's home).
pub(crate) fn default_data_folder() -> PathBuf {
    let here = std::env::current_dir()
        .unwrap_or_else(|_| PathBuf::from("."))
        .join("parforce-data");
    let is_root = nix::unistd::Uid::effective().is_root();
    let shut = Account::unprivileged().is_some_and(|account| account.check_can_enter(&here).is_err());
    if is_root && shut {
        PathBuf::from(SYSTEM_DATA_FOLDER)
    } else {
        here
    }
}

/// A data folder that exists.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens a data folder, making it if it is missing.
    pub(super) fn open(path: &Path) -> Result<Folder, OpenError> {
        fs::create_dir_all(path).map_err(io("create", path))?;
        Ok(Folder {
            path: fs::canonicalize(path).map_err(io("enter", path))?,
        })
    }

    /// The data folder, absolute and without links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The database cluster, `PGDATA`.
    pub(super) fn cluster(&self) -> PathBuf {
        self.path.join("postgres")
    }

    /// The server's log.
    pub(super) fn log(&self) -> PathBuf {
        self.path.join("postgres.log")
    }

    /// The usual socket folder.
    pub(super) fn run(&self) -> PathBuf {
        self.path.join("run")
    }

    /// The owner's lock file.
    pub(super) fn owner_lock(&self) -> PathBuf {
        self.path.join("owner.lock")
    }

    /// The watchdog's lock file.
    pub(super) fn watchdog_lock(&self) -> PathBuf {
        self.path.join("watchdog.lock")
    }

    /// Major version that made the cluster, if there is one.
    pub(super) fn made_by(&self) -> Option<String> {
        fs::read_to_string(self.cluster().join("PG_VERSION"))
            .ok()
            .map(|text| text.trim().to_owned())
    }

    /// Gives a folder that is nobody's yet to the server's account, so that this user can go on with it alone.
    pub(super) fn hand_over(&self, account: &Account) -> Result<(), OpenError> {
        let is_empty = fs::read_dir(&self.path)
            .map_err(io("read", &self.path))?
            .next()
            .is_none();
        if is_empty {
            account.give(&self.path)
        } else {
            Ok(())
        }
    }

    /// Makes the cluster if there is none: in a sibling folder that is renamed when it is complete, so that an
    /// interrupted start leaves nothing that looks like a cluster.
    pub(super) fn make_cluster(&self, programs: &Programs, account: &Account) -> Result<(), OpenError> {
        if self.made_by().is_some() {
            return Ok(());
        }
        let unfinished = self.path.join("postgres.new");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).map_err(io("remove", &unfinished))?;
        }
        make_private_folder(&unfinished, account)?;
        say!("making a private Postgres in {}, once ...", self.path.display());
        let mut initdb = account.command(&programs.path("initdb"));
        initdb.arg("-D").arg(&unfinished).args([
            "-U",
            DATABASE,
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
        ]);
        run("initdb", &mut initdb)?;
        let conf = unfinished.join("postgresql.conf");
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(&conf)
            .map_err(io("open", &conf))?;
        file.write_all(b"\ninclude_if_exists = 'parforce.conf'\n")
            .map_err(io("write", &conf))?;
        self.create_database(&unfinished, programs, account)?;
        fs::rename(&unfinished, self.cluster()).map_err(io("rename", &unfinished))
    }

    /// Creates the database while no server runs: single-user mode needs no client program.
    fn create_database(
        &self,
        cluster: &Path,
        programs: &Programs,
        account: &Account,
    ) -> Result<(), OpenError> {
        let statement = self.path.join("create-database.sql");
        fs::write(&statement, format!("CREATE DATABASE {DATABASE}\n")).map_err(io("write", &statement))?;
        let input = fs::File::open(&statement).map_err(io("open", &statement))?;
        let mut postgres = account.command(&programs.path("postgres"));
        postgres
            .args(["--single", "-D"])
            .arg(cluster)
            .arg("postgres")
            .stdin(Stdio::from(input));
        let created = run("postgres --single", &mut postgres);
        fs::remove_file(&statement).map_err(io("remove", &statement))?;
        created
    }

    /// Writes our part of the configuration; read by the server at its start.
    pub(super) fn write_settings(&self, account: &Account, socket_folder: &Path) -> Result<(), OpenError> {
        let path = self.cluster().join("parforce.conf");
        let socket_folder = socket_folder.display().to_string().replace('\'', "''");
        let mut text = String::from("# Written by parforce at every start.\n");
        for (name, value) in [
            ("listen_addresses", ""),
            ("unix_socket_directories", socket_folder.as_str()),
            ("unix_socket_permissions", "0700"),
            ("max_connections", "60"),
            ("shared_buffers", "256MB"),
            // Bulk inserts: fewer, longer checkpoints. Durability stays whole: fsync and synchronous_commit are on.
            ("max_wal_size", "2GB"),
            ("checkpoint_timeout", "15min"),
            ("wal_level", "minimal"),
            ("max_wal_senders", "0"),
            ("jit", "off"),
            ("log_line_prefix", "%m [%p] "),
        ] {
            writeln!(text, "{name} = '{value}'").expect("a String takes all writes");
        }
        writeln!(text, "port = {PORT}").expect("a String takes all writes");
        fs::write(&path, text).map_err(io("write", &path))?;
        account.give(&path)?;
        self.make_log(account)
    }

    /// The log is ours to make: the server's user may not write into the data folder.
    fn make_log(&self, account: &Account) -> Result<(), OpenError> {
        let log = self.log();
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(io("open", &log))?;
        account.give(&log)
    }
}

/// Makes a folder that only the account can enter.
pub(super) fn make_private_folder(path: &Path, account: &Account) -> Result<(), OpenError> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))
                .map_err(io("shut to others", path))?;
        }
        Err(error) => return Err(io("create", path)(error)),
    }
    account.give(path)
}
