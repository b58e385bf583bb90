//! The file of an export, which appears under its name once it is complete, so that half an export is never taken for a
//! whole one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::commands::UsageError;

pub(super) struct Target {
    pub(super) file: File,
    partial: PathBuf,
    path: PathBuf,
}

impl Target {
    pub(super) fn create(path: &Path) -> Result<Target, UsageError> {
        let partial = beside(path, "part");
        let file = File::create(&partial)
            .map_err(|error| UsageError(format!("cannot write {}: {error}", partial.display())))?;
        Ok(Target {
            file,
            partial,
            path: path.to_path_buf(),
        })
    }

    /// An export that was broken off, as far as it came.
    pub(super) fn reopen(path: &Path) -> Result<Target, UsageError> {
        let partial = beside(path, "part");
        let file = File::options()
            .read(true)
            .write(true)
            .open(&partial)
            .map_err(|error| {
                UsageError(format!(
                    "there is nothing to resume at {}: {error}",
                    partial.display()
                ))
            })?;
        let path = path.to_path_buf();
        Ok(Target { file, partial, path })
    }

    /// Cuts off what follows this place, and goes on from there.
    pub(super) fn cut(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Cuts off what follows the last whole line; that line, if there is one.
    pub(super) fn cut_to_last_line(&mut self) -> anyhow::Result<Option<String>> {
        let length = self.file.metadata()?.len();
        let from = length.saturating_sub(LONGEST_LINE);
        self.file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        self.file.read_to_end(&mut tail)?;
        let end = tail
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        self.cut(from + end as u64)?;
        let text = std::str::from_utf8(&tail[..end])
            .with_context(|| format!("{} is no export", self.partial.display()))?;
        Ok(text.lines().next_back().map(str::to_owned))
    }

    /// What this file is called until it is complete.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        self.partial.display()
    }

    /// Where the footer of a Parquet file stands until the file is complete.
    pub(super) fn footer(&self) -> PathBuf {
        beside(&self.partial, "footer")
    }

    pub(super) fn forget_footer(&self) -> io::Result<()> {
        match std::fs::remove_file(self.footer()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn complete(self) -> anyhow::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.partial, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(self.forget_footer()?)
    }
}

/// Longer than two lines of an export.
const LONGEST_LINE: u64 = 4096;

/// The path with another ending behind its own.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_goes_on_after_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards.csv");
        let partial = folder.path().join("boards.csv.part");
        std::fs::write(&partial, "par,canonical\n2,oooo,6x6\n2,oo").unwrap();
        let mut target = Target::reopen(&path).unwrap();
        assert_eq!(target.cut_to_last_line().unwrap().as_deref(), Some("2,oooo,6x6"));
        assert_eq!(
            std::fs::read_to_string(&partial).unwrap(),
            "par,canonical\n2,oooo,6x6\n"
        );
        target.complete().unwrap();
        assert!(path.exists() && !partial.exists());
        assert!(Target::reopen(&folder.path().join("none.csv")).is_err());
    }

    #[test]
    fn an_export_without_a_whole_line_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.part"), "half a li").unwrap();
        let mut target = Target::reopen(&folder.path().join("a")).unwrap();
        assert_eq!(target.cut_to_last_line().unwrap(), None);
        assert_eq!(target.file.metadata().unwrap().len(), 0);
    }
}
