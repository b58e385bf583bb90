//! Where PostgreSQL's programs are, and of which version.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::OpenError;
use super::folder::Folder;

/// The programs that must lie side by side.
const NEEDED: [&str; 3] = ["initdb", "pg_ctl", "postgres"];

/// A folder with PostgreSQL's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Programs {
    folder: PathBuf,
    /// Major version, e.g. `15`.
    major: String,
}

impl Programs {
    /// The path of one program.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder that holds them.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Looks at one folder.
    fn at(folder: &Path) -> Option<Programs> {
        // Links lead to the real folder: what else is needed (psql) lies there, not beside the link.
        let folder = std::fs::canonicalize(folder.join("initdb"))
            .ok()?
            .parent()?
            .to_path_buf();
        if !NEEDED.iter().all(|name| folder.join(name).is_file()) {
            return None;
        }
        let output = Command::new(folder.join("postgres"))
            .arg("--version")
            .output()
            .ok()?;
        let major = major_version(&String::from_utf8(output.stdout).ok()?)?;
        Some(Programs { folder, major })
    }
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)` is `15`; `18beta1` is `18`.
fn major_version(said: &str) -> Option<String> {
    let version = said
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(version.chars().take_while(char::is_ascii_digit).collect())
}

/// The programs for a data folder: of its version if it has one, else the first of setting, PATH, newest installed.
///
/// # Errors
/// [`OpenError::NotPrograms`], [`OpenError::NoPrograms`], [`OpenError::OtherVersion`].
pub(super) fn find(
    setting: Option<&Path>,
    wanted: Option<&str>,
    folder: &Folder,
) -> Result<Programs, OpenError> {
    let candidates = match setting {
        Some(setting) => {
            vec![Programs::at(setting).ok_or_else(|| OpenError::NotPrograms(setting.to_path_buf()))?]
        }
        None => places().iter().filter_map(|place| Programs::at(place)).collect(),
    };
    if candidates.is_empty() {
        return Err(OpenError::NoPrograms);
    }
    let fits = |programs: &&Programs| wanted.is_none_or(|wanted| programs.major == wanted);
    candidates
        .iter()
        .find(fits)
        .cloned()
        .ok_or_else(|| OpenError::OtherVersion {
            folder: folder.cluster(),
            made_by: wanted.unwrap_or_default().to_owned(),
            found: candidates
                .iter()
                .map(|programs| programs.major.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// Folders to look in, best first.
fn places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|place| place.is_absolute())
        .collect();
    let mut installed: Vec<(u32, PathBuf)> = Vec::new();
    for (parent, prefix) in [("/usr/lib/postgresql", ""), ("/usr", "pgsql-")] {
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(version) = name.strip_prefix(prefix).and_then(|version| version.parse().ok()) {
                installed.push((version, entry.path().join("bin")));
            }
        }
    }
    installed.sort_by(|a, b| b.cmp(a));
    places.extend(installed.into_iter().map(|(_, place)| place));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_versions_are_read_from_what_the_server_says() {
        assert_eq!(
            major_version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n").as_deref(),
            Some("15")
        );
        assert_eq!(
            major_version("postgres (PostgreSQL) 18beta1").as_deref(),
            Some("18")
        );
        assert_eq!(major_version("no such thing"), None);
    }

    #[test]
    fn a_folder_without_programs_is_refused_by_name() {
        let folder = Folder::open(&std::env::temp_dir()).unwrap();
        let error = find(Some(Path::new("/nowhere")), None, &folder).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("/nowhere has no PostgreSQL programs"),
            "{error}"
        );
    }
}
