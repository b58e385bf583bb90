//! Where the socket is, and the URL that leads to it.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::account::Account;
use super::folder::{Folder, make_private_folder};
use super::{DATABASE, OpenError, PORT, io};

/// A socket's path has at most 107 bytes on Linux and 103 elsewhere; the file's name takes a part.
const MAX_FOLDER_BYTES: usize = 100 - "/.s.PGSQL.5432.lock".len();

/// The socket folder of a data folder, made if missing: `DIR/run`, or a short one where that path is too long.
pub(super) fn choose(folder: &Folder, account: &Account) -> Result<PathBuf, OpenError> {
    let usual = folder.run();
    if usual.as_os_str().as_bytes().len() <= MAX_FOLDER_BYTES {
        make_private_folder(&usual, account)?;
        return Ok(usual);
    }
    // The same data folder must lead every command to the same socket, so the name is made from its path.
    let mut hasher = DefaultHasher::new();
    folder.path().hash(&mut hasher);
    let short = PathBuf::from(format!(
        "/tmp/parforce-{}-{:016x}",
        account.uid(),
        hasher.finish()
    ));
    match std::fs::symlink_metadata(&short) {
        // Anybody can make a folder in /tmp: take only one that is the server's own, and a folder.
        Ok(found) if found.is_dir() && found.uid() == account.uid() => {}
        Ok(_) => return Err(OpenError::ForeignSocketFolder(short)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io("look at", &short)(error)),
    }
    make_private_folder(&short, account)?;
    Ok(short)
}

/// The URL of the database behind a socket folder.
pub(super) fn url(socket_folder: &Path) -> String {
    let mut host = String::new();
    for byte in socket_folder.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => host.push(char::from(*byte)),
            _ => write!(host, "%{byte:02X}").expect("a String takes all writes"),
        }
    }
    format!("postgres://{DATABASE}@localhost:{PORT}/{DATABASE}?host={host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_folders_are_escaped_in_urls() {
        assert_eq!(
            url(Path::new("/data dir/run")),
            "postgres://parforce@localhost:5432/parforce?host=%2Fdata%20dir%2Frun"
        );
    }
}
