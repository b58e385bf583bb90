//! `parforce export`: boards out of the database, into text or CSV.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use board::{Lot, Par};
use clap::ValueEnum;
use coordinator::store::{BoardFilter, BoardRow};

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::counted;
use crate::store::OpenStore;

/// Write boards of the database to a file, hardest first.
///
/// The text format has one canonical spelling a line; CSV has par, canonical, lot, exit row, vehicles, walls, states
/// (positions in the cluster) and minimal. Boards are streamed: any number of them fits in memory.
///
/// Examples:
///   parforce export --out boards.txt
///   parforce export --par 40.. --format csv --out hard.csv
///   parforce export --par 30 --lot 7x7 | parforce show -
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Only these pars: `30`, `30..40` (both included), `30..` or `..10`
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    par: Option<ParRange>,
    /// Only boards of this lot, e.g. 6x6
    #[arg(long, value_name = "WxH")]
    lot: Option<Lot>,
    /// The format; by default CSV if the file's name ends in .csv, else text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write; it appears under its name once it is complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One canonical spelling a line
    Text,
    /// Comma-separated values with a head
    Csv,
}

/// A range of pars, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ParRange {
    least: Option<u16>,
    most: Option<u16>,
}

fn parse_range(text: &str) -> Result<ParRange, String> {
    let end = |text: &str| -> Result<Option<u16>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        text.parse()
            .map(Some)
            .map_err(|_| format!("{text:?} is no par, expected e.g. 30, 30..40, 30.. or ..10"))
    };
    let (least, most) = match text.split_once("..") {
        Some((least, most)) => (end(least)?, end(most.trim_start_matches('='))?),
        None => (end(text)?, end(text)?),
    };
    match (least, most) {
        (None, None) => Err(String::from(
            "the range is empty, expected e.g. 30, 30..40, 30.. or ..10",
        )),
        (Some(least), Some(most)) if least > most => Err(format!("{least} is more than {most}")),
        _ => Ok(ParRange { least, most }),
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let format = arguments.format.unwrap_or_else(|| {
        let is_csv = arguments
            .out
            .as_ref()
            .is_some_and(|out| out.extension().is_some_and(|end| end == "csv"));
        if is_csv { Format::Csv } else { Format::Text }
    });
    let filter = BoardFilter {
        lot: arguments.lot,
        least_par: arguments.par.and_then(|range| range.least).map(Par::new),
        most_par: arguments.par.and_then(|range| range.most).map(Par::new),
    };
    let target = match &arguments.out {
        Some(path) => Some(Target::create(path)?),
        None => None,
    };
    let store = OpenStore::open(&arguments.database)?;
    let mut out: Box<dyn Write> = match &target {
        Some(target) => Box::new(BufWriter::new(target.file.try_clone()?)),
        None => Box::new(BufWriter::new(io::stdout())),
    };
    if format == Format::Csv {
        writeln!(out, "par,canonical,lot,exit_row,vehicles,walls,states,minimal")?;
    }
    let n_boards = store.wait(
        store
            .store
            .export(&filter, |row| write_row(&mut out, format, &row)),
    )?;
    out.flush()?;
    drop(out);
    store.close()?;
    if let Some(target) = target {
        target.complete()?;
    }
    eprintln!("{}", counted(n_boards, "board"));
    Ok(Outcome::Done)
}

fn write_row(out: &mut dyn Write, format: Format, row: &BoardRow) -> io::Result<()> {
    let BoardRow { found, lot, exit_row } = row;
    match format {
        Format::Text => writeln!(out, "{}", found.canonical),
        Format::Csv => writeln!(
            out,
            "{},{},{lot},{exit_row},{},{},{},{}",
            found.par,
            found.canonical,
            found.n_vehicles,
            found.n_walls,
            found.states,
            found.minimal.map_or(String::new(), |minimal| minimal.to_string()),
        ),
    }
}

/// A file that appears under its name once it is complete, so that half an export is never taken for a whole one.
struct Target {
    file: File,
    partial: PathBuf,
    path: PathBuf,
}

impl Target {
    fn create(path: &Path) -> Result<Target, UsageError> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial)
            .map_err(|error| UsageError(format!("cannot write {}: {error}", partial.display())))?;
        Ok(Target {
            file,
            partial,
            path: path.to_path_buf(),
        })
    }

    fn complete(self) -> anyhow::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.partial, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_pars_are_read() {
        let range = |least, most| Ok(ParRange { least, most });
        assert_eq!(parse_range("30"), range(Some(30), Some(30)));
        assert_eq!(parse_range("30..40"), range(Some(30), Some(40)));
        assert_eq!(parse_range("30..=40"), range(Some(30), Some(40)));
        assert_eq!(parse_range("30.."), range(Some(30), None));
        assert_eq!(parse_range("..10"), range(None, Some(10)));
        for bad in ["", "..", "x", "40..30", "-1"] {
            assert!(parse_range(bad).is_err(), "{bad:?}");
        }
    }
}
