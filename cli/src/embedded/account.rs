//! Which user the server runs as, and whether that user can reach a folder.
//!
//! PostgreSQL refuses to run as root. So root runs it as the owner of the data folder, else as `postgres`, else as
//! `nobody`; everybody else runs it as themselves.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::{Gid, Uid, User};

use super::folder::Folder;
use super::{OpenError, io};

/// The user and group that the server's processes have.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
    name: String,
    /// Must commands change user (we are root)?
    changes: bool,
}

impl Account {
    /// The account for a data folder.
    ///
    /// # Errors
    /// [`OpenError::NoAccount`] for root on a system without any suitable user.
    pub(super) fn of(folder: &Folder) -> Result<Account, OpenError> {
        let uid = Uid::effective();
        if !uid.is_root() {
            return Ok(Account::named(uid.as_raw(), Gid::effective().as_raw(), false));
        }
        let owner = [folder.cluster(), folder.path().to_path_buf()]
            .iter()
            .filter_map(|path| std::fs::metadata(path).ok())
            .map(|metadata| (metadata.uid(), metadata.gid()))
            .find(|(uid, _)| *uid != 0);
        if let Some((uid, gid)) = owner {
            return Ok(Account::named(uid, gid, true));
        }
        Account::unprivileged().ok_or(OpenError::NoAccount)
    }

    /// The account that root uses where nothing belongs to anybody yet.
    pub(super) fn unprivileged() -> Option<Account> {
        let user = ["postgres", "nobody"]
            .iter()
            .find_map(|name| User::from_name(name).ok().flatten())?;
        Some(Account {
            uid: user.uid.as_raw(),
            gid: user.gid.as_raw(),
            name: user.name,
            changes: true,
        })
    }

    /// Checks, for root, that a data folder still to be made would be within reach of the server's user, so that a
    /// refusal leaves no empty folder behind.
    ///
    /// # Errors
    /// [`OpenError::Shut`], [`OpenError::NoAccount`], [`OpenError::Io`].
    pub(super) fn check_before_making(path: &Path) -> Result<(), OpenError> {
        if path.exists() || !Uid::effective().is_root() {
            return Ok(());
        }
        let absolute = std::path::absolute(path).map_err(io("resolve", path))?;
        Account::unprivileged()
            .ok_or(OpenError::NoAccount)?
            .check_can_enter(&absolute)
    }

    fn named(uid: u32, gid: u32, changes: bool) -> Account {
        let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        Account {
            uid,
            gid,
            name: user.map_or_else(|| uid.to_string(), |user| user.name),
            changes,
        }
    }

    /// The numeric user.
    pub(super) fn uid(&self) -> u32 {
        self.uid
    }

    /// A command that runs as this account, in the root folder (ours may be shut to it), deaf to our Ctrl-C.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if self.changes {
            // Dropping to another user also drops root's supplementary groups.
            command
                .uid(self.uid)
                .gid(self.gid)
                .env("HOME", "/")
                .env("USER", &self.name);
        }
        for (name, _) in std::env::vars_os() {
            // PGDATA, PGPORT and their kind would redirect programs that are meant for our folder alone.
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        command
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null())
            .process_group(0);
        command
    }

    /// Gives a file or folder that we made to this account.
    pub(super) fn give(&self, path: &Path) -> Result<(), OpenError> {
        if self.changes {
            chown(path, Some(self.uid), Some(self.gid)).map_err(io("change the owner of", path))
        } else {
            Ok(())
        }
    }

    /// Checks that the account can enter a folder and every parent of it.
    ///
    /// # Errors
    /// [`OpenError::Shut`] with the folder that keeps it out.
    pub(super) fn check_can_enter(&self, path: &Path) -> Result<(), OpenError> {
        match path
            .ancestors()
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .find(|parent| !self.can_enter(parent))
        {
            Some(parent) => Err(OpenError::Shut {
                user: self.name.clone(),
                parent: parent.to_path_buf(),
            }),
            None => Ok(()),
        }
    }

    /// May the account search this one folder? (By its mode; a folder that does not exist yet will be ours.)
    fn can_enter(&self, path: &Path) -> bool {
        let Ok(metadata) = std::fs::metadata(path) else {
            return true;
        };
        if !self.changes {
            // We are this user, groups and access lists included: the system's own answer is the better one.
            return nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok();
        }
        let shift = match () {
            () if metadata.uid() == self.uid => 6,
            () if metadata.gid() == self.gid => 3,
            () => 0,
        };
        metadata.mode() >> shift & 0o1 == 1
    }
}
