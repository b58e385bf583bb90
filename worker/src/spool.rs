//! Batches of boards that are not acknowledged yet, kept on disk so that they outlive the process.
//!
//! One file a batch, named by its id, in the contract's own encoding, sealed: a file that was cut short or changed is no batch
//! (cut between two boards it would read as a smaller one, and be acknowledged in the place of the whole). A batch is on disk before it is first sent and
//! stays until its acknowledgement; whatever stands here at a start is sent again under its old id, and the
//! coordinator answers a batch that it has stored as it did the first time. So workers that share a folder do no harm
//! beyond sending twice.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use prost::Message;
use proto::convert::Batch;
use proto::v1;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The most files that are read at a start; the rest wait for the next one.
pub const MAX_FILES: usize = 100_000;

/// The seal stands before the message, as two fields of it that nobody else knows, so that a former version reads it too: the
/// message's length (field 14, eight bytes) and its SHA-256 (field 15).
const LENGTH_TAG: u8 = 14 << 3 | 1;
const DIGEST_TAG: u8 = 15 << 3 | 2;
const DIGEST_BYTES: usize = 32;

const SUFFIX: &str = "batch";
const SUFFIX_UNREADABLE: &str = "unreadable";
const SUFFIX_REFUSED: &str = "refused";
const SUFFIX_TEMPORARY: &str = "tmp";

/// The folder of unacknowledged batches, or, without one, only the count of their bytes.
#[derive(Debug)]
pub struct Spool {
    dir: Option<PathBuf>,
    max_bytes: u64,
    held: Mutex<u64>,
}

/// Why a batch was not spooled, or the spool not opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The folder or a file in it.
    #[error("spool {path}: {doing}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The limit of bytes is reached.
    #[error("spool is full: {held} bytes held, a batch of {asked} more goes beyond {max}")]
    Full {
        /// Bytes in the spool.
        held: u64,
        /// Bytes of the batch.
        asked: u64,
        /// The limit.
        max: u64,
    },
}

impl SpoolError {
    /// Whether it goes away when batches are acknowledged.
    pub fn is_full(&self) -> bool {
        matches!(self, SpoolError::Full { .. })
    }
}

impl Spool {
    /// Opens the spool, making its folder if need be, and reads what an earlier process left in it.
    ///
    /// Files that hold no batch are set aside under another name: they are evidence, and must not stop a start.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(dir: Option<PathBuf>, max_bytes: u64) -> Result<(Spool, Vec<Batch>), SpoolError> {
        let mut left = Vec::new();
        let mut held = 0;
        if let Some(dir) = &dir {
            fs::create_dir_all(dir).map_err(|source| io_error(dir, "cannot make the folder", source))?;
            remove_unfinished(dir)?;
            for path in batch_files(dir)? {
                let bytes = fs::read(&path).map_err(|source| io_error(&path, "cannot read", source))?;
                match parse(&path, &bytes) {
                    Some(batch) => {
                        held += bytes.len() as u64;
                        left.push(batch);
                    }
                    None => set_aside(&path, SUFFIX_UNREADABLE)?,
                }
            }
        }
        Ok((
            Spool {
                dir,
                max_bytes,
                held: Mutex::new(held),
            },
            left,
        ))
    }

    /// Keeps a batch. It is on disk, not just with the system, when this returns.
    ///
    /// # Errors
    /// When the spool is full or the disk refuses.
    pub fn put(&self, batch: &Batch) -> Result<(), SpoolError> {
        let bytes = encode(batch);
        let asked = bytes.len() as u64;
        {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            // One batch always fits, or a small limit would stop the worker for good.
            if *held > 0 && *held + asked > self.max_bytes {
                return Err(SpoolError::Full {
                    held: *held,
                    asked,
                    max: self.max_bytes,
                });
            }
            *held += asked;
        }
        let Some(dir) = &self.dir else { return Ok(()) };
        write_whole(dir, &path_of(dir, batch), &bytes).inspect_err(|_| self.forget(asked))
    }

    /// Lets go of an acknowledged batch. Gone already is fine: another worker on this folder may have sent it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn remove(&self, batch: &Batch) -> Result<(), SpoolError> {
        self.forget(encode(batch).len() as u64);
        let Some(dir) = &self.dir else { return Ok(()) };
        let path = path_of(dir, batch);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(io_error(&path, "cannot remove", source))
            }
            _ => Ok(()),
        }
    }

    /// Sets a batch aside that the coordinator refused for good: no retry will help, but a person may want it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn refuse(&self, batch: &Batch) -> Result<(), SpoolError> {
        self.forget(encode(batch).len() as u64);
        let Some(dir) = &self.dir else { return Ok(()) };
        set_aside(&path_of(dir, batch), SUFFIX_REFUSED)
    }

    /// Bytes of the batches held.
    pub fn held_bytes(&self) -> u64 {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, bytes: u64) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.saturating_sub(bytes);
    }
}

/// Writes a file that is whole or not there: a temporary one, synced, then renamed, then the folder synced.
fn write_whole(dir: &Path, path: &Path, bytes: &[u8]) -> Result<(), SpoolError> {
    let temporary = path.with_extension(SUFFIX_TEMPORARY);
    let write = || -> io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(dir)?.sync_all()
    };
    write().map_err(|source| {
        // On a full disk a half-written file would take the room that the next one needs.
        let _ = fs::remove_file(&temporary);
        io_error(path, "cannot write", source)
    })
}

/// Removes what a process left that died while it wrote: no batch, since it was never renamed. (If it belongs to another
/// worker on this folder, which is writing just now, that one sends its batch without having it on disk.)
fn remove_unfinished(dir: &Path) -> Result<(), SpoolError> {
    for path in files_ending_in(dir, SUFFIX_TEMPORARY)? {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// The batch files of the folder by name, which is to say in no meaningful order, but always in the same.
fn batch_files(dir: &Path) -> Result<Vec<PathBuf>, SpoolError> {
    let mut paths = files_ending_in(dir, SUFFIX)?;
    paths.sort();
    Ok(paths)
}

/// At most [`MAX_FILES`] of them.
fn files_ending_in(dir: &Path, suffix: &str) -> Result<Vec<PathBuf>, SpoolError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(|source| io_error(dir, "cannot list", source))? {
        let path = entry
            .map_err(|source| io_error(dir, "cannot list", source))?
            .path();
        if path.extension().is_some_and(|extension| extension == suffix) && paths.len() < MAX_FILES {
            paths.push(path);
        }
    }
    Ok(paths)
}

fn path_of(dir: &Path, batch: &Batch) -> PathBuf {
    dir.join(format!("{}.{SUFFIX}", batch.id))
}

fn encode(batch: &Batch) -> Vec<u8> {
    let message = v1::SubmitBoardsRequest::from(batch.clone()).encode_to_vec();
    let mut bytes = vec![LENGTH_TAG];
    bytes.extend((message.len() as u64).to_le_bytes());
    bytes.extend([DIGEST_TAG, u8::try_from(DIGEST_BYTES).expect("32")]);
    bytes.extend(Sha256::digest(&message));
    bytes.extend(message);
    bytes
}

/// What is under the seal; `None`: it is broken. A file of a former version has none.
fn unseal(bytes: &[u8]) -> Option<&[u8]> {
    let Some(sealed) = bytes.strip_prefix(&[LENGTH_TAG]) else {
        return Some(bytes);
    };
    let (length, sealed) = sealed.split_first_chunk::<8>()?;
    let (_, sealed) = sealed.split_first_chunk::<2>()?;
    let (digest, message) = sealed.split_first_chunk::<DIGEST_BYTES>()?;
    let is_whole = u64::from_le_bytes(*length) == message.len() as u64;
    (is_whole && Sha256::digest(message).as_slice() == digest).then_some(message)
}

fn parse(path: &Path, bytes: &[u8]) -> Option<Batch> {
    let wire = v1::SubmitBoardsRequest::decode(unseal(bytes)?).ok()?;
    let batch = Batch::try_from(wire).ok()?;
    let name = batch.id.to_string();
    path.file_stem()
        .is_some_and(|stem| stem == name.as_str())
        .then_some(batch)
}

fn set_aside(path: &Path, suffix: &str) -> Result<(), SpoolError> {
    match fs::rename(path, path.with_extension(suffix)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(io_error(path, "cannot set aside", source))
        }
        _ => Ok(()),
    }
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> SpoolError {
    SpoolError::Io {
        path: path.to_owned(),
        doing,
        source,
    }
}

#[cfg(test)]
mod tests {
    use proto::convert::StatedBoard;
    use proto::ids::{BatchId, FencingToken, JobId, Session};
    use uuid::Uuid;

    use super::*;

    fn batch(n: u128) -> Batch {
        let board = StatedBoard {
            par: 3,
            canonical: "AAo".repeat(3),
            states: 7,
            minimal: None,
        };
        Batch {
            session: Session::new(Uuid::nil()),
            id: BatchId::new(Uuid::from_u128(n)),
            job: JobId::new(1).unwrap(),
            token: FencingToken::new(2).unwrap(),
            boards: vec![board],
            jams: Vec::new(),
            known: Vec::new(),
        }
    }

    fn bytes_of(batch: &Batch) -> u64 {
        encode(batch).len() as u64
    }

    fn open(dir: &Path) -> (Spool, Vec<Batch>) {
        Spool::open(Some(dir.to_owned()), 1_000_000).unwrap()
    }

    #[test]
    fn what_was_not_acknowledged_is_there_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, left) = open(dir.path());
        assert!(left.is_empty());
        spool.put(&batch(1)).unwrap();
        spool.put(&batch(2)).unwrap();
        spool.remove(&batch(1)).unwrap();
        drop(spool);
        let (spool, left) = open(dir.path());
        assert_eq!(left, [batch(2)]);
        assert_eq!(spool.held_bytes(), bytes_of(&batch(2)));
    }

    #[test]
    fn a_file_cut_short_is_set_aside_and_a_temporary_one_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, _) = open(dir.path());
        spool.put(&batch(1)).unwrap();
        let whole = dir.path().join(format!("{}.batch", batch(1).id));
        let bytes = fs::read(&whole).unwrap();
        let cut = dir.path().join(format!("{}.batch", Uuid::from_u128(9)));
        fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
        fs::write(dir.path().join("x.tmp"), &bytes).unwrap();
        let (_, left) = open(dir.path());
        assert_eq!(left, [batch(1)]);
        assert!(!cut.exists() && cut.with_extension("unreadable").exists());
        assert!(!dir.path().join("x.tmp").exists());
    }

    #[test]
    fn a_file_cut_short_or_changed_anywhere_is_no_batch() {
        let mut batch = batch(1);
        // Boards come last: cut between two, the message alone would read as a batch of fewer.
        batch.boards = vec![batch.boards[0].clone(); 3];
        let bytes = encode(&batch);
        let path = path_of(Path::new("spool"), &batch);
        assert_eq!(parse(&path, &bytes), Some(batch.clone()));
        for n_bytes in 0..bytes.len() {
            assert_eq!(parse(&path, &bytes[..n_bytes]), None, "cut to {n_bytes} bytes");
        }
        for at in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[at / 8] ^= 1 << (at % 8);
            let read = parse(&path, &changed);
            assert!(
                read.is_none() || read.as_ref() == Some(&batch),
                "bit {at} changed: {read:?}"
            );
        }
    }

    #[test]
    fn files_of_a_former_version_are_read_and_it_reads_ours() {
        let batch = batch(1);
        let message = v1::SubmitBoardsRequest::from(batch.clone());
        let path = path_of(Path::new("spool"), &batch);
        assert_eq!(parse(&path, &message.encode_to_vec()), Some(batch.clone()));
        assert_eq!(
            v1::SubmitBoardsRequest::decode(encode(&batch).as_slice()),
            Ok(message)
        );
    }

    #[test]
    fn a_full_spool_refuses_until_something_is_acknowledged() {
        let dir = tempfile::tempdir().unwrap();
        let one = bytes_of(&batch(1));
        let (spool, _) = Spool::open(Some(dir.path().to_owned()), 2 * one).unwrap();
        spool.put(&batch(1)).unwrap();
        spool.put(&batch(2)).unwrap();
        assert!(spool.put(&batch(3)).unwrap_err().is_full());
        spool.remove(&batch(1)).unwrap();
        spool.put(&batch(3)).unwrap();
    }

    #[test]
    fn a_batch_that_cannot_be_written_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, _) = open(dir.path());
        // A folder in the place of the file: the last step fails, as any step does on a full disk.
        fs::create_dir_all(dir.path().join(format!("{}.batch", batch(1).id)).join("x")).unwrap();
        spool.put(&batch(1)).unwrap_err();
        assert_eq!(spool.held_bytes(), 0);
        assert!(files_ending_in(dir.path(), SUFFIX_TEMPORARY).unwrap().is_empty());
    }

    #[test]
    fn a_refused_batch_is_set_aside_for_people() {
        let dir = tempfile::tempdir().unwrap();
        let (spool, _) = open(dir.path());
        spool.put(&batch(1)).unwrap();
        spool.refuse(&batch(1)).unwrap();
        assert_eq!(spool.held_bytes(), 0);
        assert!(open(dir.path()).1.is_empty());
        assert!(dir.path().join(format!("{}.refused", batch(1).id)).exists());
    }
}
