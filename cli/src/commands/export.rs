//! `parforce export`: boards out of the database, into text, CSV or JSON lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use board::{Canonical, Lot, Par, StateLimit, solve};
use clap::ValueEnum;
use coordinator::store::{BoardFilter, BoardRow};

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::counted;
use crate::store::OpenStore;

/// Write boards of the database to a file, hardest first.
///
/// The text format has one canonical spelling a line; CSV and JSON lines have par, canonical, lot, exit row, vehicles,
/// walls, states (positions in the cluster) and minimal. Boards are streamed: any number of them fits in memory. What was
/// broken off stays as FILE.part, and --resume goes on after its last whole line.
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
    /// The format; by default as the file's name ends: .csv, .jsonl, else text
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
        _ => Format::Text,
    });
    let filter = BoardFilter {
        lot: arguments.lot,
        least_par: arguments.par.and_then(|range| range.least).map(Par::new),
        most_par: arguments.par.and_then(|range| range.most).map(Par::new),
    };
    let target = match &arguments.out {
        Some(path) if arguments.resume => Some(Target::reopen(path)?),
        Some(path) => Some(Target::create(path)?),
        None => None,
    };
    let after = match &target {
        Some(target) if arguments.resume => target.last(format)?,
        _ => None,
    };
    let store = OpenStore::open(&arguments.database)?;
    let mut out: Box<dyn Write> = match &target {
        Some(target) => Box::new(BufWriter::new(target.file.try_clone()?)),
        None => Box::new(BufWriter::new(io::stdout())),
    };
    if format == Format::Csv && after.is_none() {
        writeln!(out, "par,canonical,lot,exit_row,vehicles,walls,states,minimal")?;
    }
    let each = |row: BoardRow| write_row(&mut out, format, &row);
    let n_boards = match &after {
        None => store.wait(store.store.export(&filter, each)),
        Some(after) => store.wait(store.store.export_after(&filter, after, each)),
    }?;
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
        Format::Jsonl => {
            let minimal = found
                .minimal
                .map_or("null", |minimal| if minimal { "true" } else { "false" });
            // Spellings are letters, digits and a colon: nothing to escape.
            writeln!(
                out,
                r#"{{"par":{},"canonical":"{}","lot":"{lot}","exit_row":{exit_row},"vehicles":{},"walls":{},"states":{},"minimal":{minimal}}}"#,
                found.par, found.canonical, found.n_vehicles, found.n_walls, found.states,
            )
        }
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

    /// An export that was broken off; what follows its last whole line is cut off.
    fn reopen(path: &Path) -> anyhow::Result<Target> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(&partial)
            .map_err(|error| {
                UsageError(format!(
                    "there is nothing to resume at {}: {error}",
                    partial.display()
                ))
            })?;
        let end = end_of_last_line(&mut file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::End(0))?;
        let path = path.to_path_buf();
        Ok(Target { file, partial, path })
    }

    /// The last board written; `None`: none was.
    fn last(&self, format: Format) -> anyhow::Result<Option<(Par, Canonical)>> {
        let mut file = self.file.try_clone()?;
        let end = file.stream_position()?;
        file.seek(SeekFrom::Start(end.saturating_sub(LONGEST_LINE)))?;
        let mut last = None;
        for line in BufReader::new(&file).lines() {
            last = Some(line?);
        }
        file.seek(SeekFrom::Start(end))?;
        let head = |line: &String| format == Format::Csv && line.starts_with("par,");
        let Some(line) = last.filter(|line| !head(line)) else {
            return Ok(None);
        };
        key_of(&line, format)
            .with_context(|| format!("{}: {line:?} is no line of an export", self.partial.display()))
            .map(Some)
    }

    fn complete(self) -> anyhow::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.partial, &self.path)
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// More than the longest line of an export.
const LONGEST_LINE: u64 = 4096;

/// Where the last whole line of a file ends.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LONGEST_LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let end = tail
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |at| at + 1);
    Ok(from + end as u64)
}

/// The par and spelling of a line.
fn key_of(line: &str, format: Format) -> anyhow::Result<(Par, Canonical)> {
    match format {
        Format::Text => {
            let canonical = Canonical::parse(line)?;
            let par = solve::solve(&canonical.board(), StateLimit::DEFAULT)?.par;
            Ok((par.context("the board is unsolvable")?, canonical))
        }
        Format::Csv => {
            let mut cells = line.split(',');
            let par = cells.next().context("no par")?.parse()?;
            Ok((
                Par::new(par),
                Canonical::parse(cells.next().context("no spelling")?)?,
            ))
        }
        Format::Jsonl => {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let par = line["par"].as_u64().context("no par")?;
            let canonical = line["canonical"].as_str().context("no spelling")?;
            Ok((Par::new(u16::try_from(par)?), Canonical::parse(canonical)?))
        }
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

    #[test]
    fn an_export_goes_on_after_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards.csv");
        let board = "oooooooooBooAAoBoooooooooooooooooooo";
        let whole = format!("par,canonical\n2,{board},6x6\n");
        std::fs::write(folder.path().join("boards.csv.part"), format!("{whole}2,oooo")).unwrap();
        let target = Target::reopen(&path).unwrap();
        let key = (Par::new(2), Canonical::parse(board).unwrap());
        assert_eq!(target.last(Format::Csv).unwrap(), Some(key.clone()));
        assert_eq!(
            std::fs::read_to_string(folder.path().join("boards.csv.part")).unwrap(),
            whole
        );
        assert_eq!(key_of(board, Format::Text).unwrap(), key);
        assert_eq!(
            key_of(&format!(r#"{{"par":2,"canonical":"{board}"}}"#), Format::Jsonl).unwrap(),
            key
        );
        assert!(Target::reopen(&folder.path().join("none.csv")).is_err());
    }
}
