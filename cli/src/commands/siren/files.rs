//! Reading level files and plans.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use siren::level::Level;
use siren::plan::{Plan, SHIPPED_PLAN};

/// The longest level file worth reading: the largest has some 20 kB.
const MAX_LEVEL_BYTES: u64 = 1 << 20;

/// The text of a level file; `-` is standard input.
pub(super) fn read_text(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = |reader: &mut dyn Read, text: &mut String| reader.take(MAX_LEVEL_BYTES).read_to_string(text);
    if path == Path::new("-") {
        read(&mut std::io::stdin().lock(), &mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file, &mut text))
    }
    .with_context(|| path.display().to_string())?;
    Ok(text)
}

/// A level file; the outer error says that it cannot be read, the inner one that it holds no legal level.
pub(super) fn read_level(path: &Path) -> anyhow::Result<Result<Level, String>> {
    Ok(Level::parse(&read_text(path)?).map_err(|why| why.to_string()))
}

/// The files named, and for each folder the `.json` files in it, by name.
pub(super) fn level_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).with_context(|| path.display().to_string())? {
            let file = entry.with_context(|| path.display().to_string())?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                inside.push(file);
            }
        }
        inside.sort_unstable();
        files.append(&mut inside);
    }
    Ok(files)
}

/// A plan file, or the plan that ships.
pub(super) fn read_plan(path: Option<&Path>) -> anyhow::Result<Plan> {
    match path {
        None => Plan::parse(SHIPPED_PLAN).context("the plan that ships"),
        Some(path) => Plan::parse(&read_text(path)?).with_context(|| path.display().to_string()),
    }
}
