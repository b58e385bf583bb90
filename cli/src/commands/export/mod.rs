//! `parforce export`: boards out of the database, into text, CSV, JSON lines or Parquet.

mod columns;
pub(crate) mod lines;
mod target;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use board::{Canonical, Lot, Par};
use clap::ValueEnum;
use coordinator::store::{BoardFilter, BoardRow};

use super::{DatabaseArguments, Outcome};
use crate::output::counted;
use crate::store::OpenStore;
use columns::{Columns, Earlier};
use target::Target;

/// Write boards of the database to a file, hardest first.
///
/// The text format has one canonical spelling a line; CSV, JSON lines and Parquet have par, canonical, lot, exit_row,
/// vehicles, walls, states (positions in the cluster) and minimal. Boards are streamed: any number of them fits in memory.
/// What was broken off stays as FILE.part, and --resume goes on after its last whole line, or group of rows. `parforce
/// import` reads all of these formats.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce export --out boards.txt
  parforce export --par 40.. --format csv --out hard.csv
  parforce export --out boards.parquet --resume
  parforce export --par 30 --lot 7x7 | parforce show -")]
pub(crate) struct Arguments {
    /// Only these pars: `30`, `30..40` (both included), `30..` or `..10`
    #[arg(long, value_name = "RANGE", value_parser = parse_range)]
    par: Option<ParRange>,
    /// Only boards of this lot, e.g. 6x6
    #[arg(long, value_name = "WxH")]
    lot: Option<Lot>,
    /// The format; by default as the file's name ends: .csv, .jsonl, .parquet, else text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write; it appears under its name once it is complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Go on with an export to this file that was broken off
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One canonical spelling a line
    Text,
    /// Comma-separated values with a head
    Csv,
    /// A JSON object a line
    Jsonl,
    /// Columns, for pandas, `DuckDB`, Spark and their kind
    Parquet,
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
    let ending = arguments.out.as_ref().and_then(|out| out.extension()?.to_str());
    let format = arguments.format.unwrap_or(match ending {
        Some("csv") => Format::Csv,
        Some("jsonl" | "ndjson") => Format::Jsonl,
        Some("parquet") => Format::Parquet,
        _ => Format::Text,
    });
    let filter = BoardFilter {
        lot: arguments.lot,
        least_par: arguments.par.and_then(|range| range.least).map(Par::new),
        most_par: arguments.par.and_then(|range| range.most).map(Par::new),
    };
    let mut target = match &arguments.out {
        Some(path) if arguments.resume => Some(Target::reopen(path)?),
        Some(path) => Some(Target::create(path)?),
        None => None,
    };
    let n_boards = match format {
        Format::Parquet => write_columns(arguments, &filter, &mut target)?,
        Format::Text | Format::Csv | Format::Jsonl => write_lines(arguments, format, &filter, &mut target)?,
    };
    if let Some(target) = target {
        target.complete()?;
    }
    say!("{}", counted(n_boards, "board"));
    Ok(Outcome::Done)
}

fn write_lines(
    arguments: &Arguments,
    format: Format,
    filter: &BoardFilter,
    target: &mut Option<Target>,
) -> anyhow::Result<u64> {
    let (mut last, mut after) = (None, None);
    if let Some(target) = target.as_mut().filter(|_| arguments.resume) {
        last = target.cut_to_last_line()?;
        if let Some(line) = &last {
            after = lines::key_of(line, format)
                .with_context(|| format!("{}: {line:?} is no line of an export", target.name()))?;
        }
    }
    let mut out = open(target.as_ref())?;
    if format == Format::Csv && last.is_none() {
        writeln!(out, "{}", lines::CSV_HEAD)?;
    }
    let n_boards = stream(arguments, filter, after.as_ref(), |row| {
        lines::write_row(&mut out, format, &row)
    })?;
    out.flush()?;
    Ok(n_boards)
}

fn write_columns(
    arguments: &Arguments,
    filter: &BoardFilter,
    target: &mut Option<Target>,
) -> anyhow::Result<u64> {
    let earlier = match target.as_mut() {
        Some(target) if arguments.resume => Earlier::of(target)?,
        // Of an export that was broken off and is not to go on.
        Some(target) => {
            target.forget_footer()?;
            Earlier::default()
        }
        None => Earlier::default(),
    };
    let after = earlier.last.clone();
    let footer = target.as_ref().map(Target::footer);
    let mut columns = Columns::new(open(target.as_ref())?, earlier, footer)?;
    let n_boards = stream(arguments, filter, after.as_ref(), |row| columns.push(&row))?;
    columns.finish()?;
    Ok(n_boards)
}

fn open(target: Option<&Target>) -> io::Result<Box<dyn Write + Send>> {
    Ok(match target {
        Some(target) => Box::new(BufWriter::new(target.file.try_clone()?)),
        None => Box::new(BufWriter::new(io::stdout())),
    })
}

/// Hands every board to `each`, or every board after one; how many.
fn stream(
    arguments: &Arguments,
    filter: &BoardFilter,
    after: Option<&(Par, Canonical)>,
    each: impl FnMut(BoardRow) -> io::Result<()>,
) -> anyhow::Result<u64> {
    let store = OpenStore::open(&arguments.database)?;
    let n_boards = match after {
        None => store.wait(store.store.export(filter, each)),
        Some(after) => store.wait(store.store.export_after(filter, after, each)),
    };
    store.close()?;
    Ok(n_boards?)
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
