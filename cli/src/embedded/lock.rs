//! Who owns a data folder: one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};

use super::account::Account;
use super::folder::Folder;
use super::{OpenError, io};

/// The lock of the one process that may start and stop the server. The system releases it when the process ends.
#[derive(Debug)]
pub(super) struct OwnerLock {
    _file: File,
}

/// What came of asking for the lock.
#[derive(Debug)]
pub(super) enum Acquired {
    /// We own the folder.
    Ours(OwnerLock),
    /// A living process does.
    Theirs {
        /// Its id, as it wrote it.
        pid: String,
    },
}

impl OwnerLock {
    /// Asks for the lock; does not wait.
    pub(super) fn acquire(folder: &Folder, account: &Account) -> Result<Acquired, OpenError> {
        let path = folder.owner_lock();
        let mut file = open(folder.owner_lock().as_path(), account)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)
                    .and_then(|()| file.rewind())
                    .map_err(io("write", &path))?;
                write!(file, "{}", std::process::id()).map_err(io("write", &path))?;
                Ok(Acquired::Ours(OwnerLock { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).map_err(io("read", &path))?;
                Ok(Acquired::Theirs {
                    pid: if pid.is_empty() {
                        String::from("unknown")
                    } else {
                        pid
                    },
                })
            }
            Err(TryLockError::Error(error)) => Err(io("lock", &path)(error)),
        }
    }
}

/// Opens a lock file, making it the server's user's, who may be the next to need it.
pub(super) fn open(path: &std::path::Path, account: &Account) -> Result<File, OpenError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(io("open", path))?;
    account.give(path)?;
    Ok(file)
}
