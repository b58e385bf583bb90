//! What is imported: files of lines, and the formats that `parforce export` writes, told by how they begin.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use board::{Board, Exit};
use serde::Deserialize;

use super::columns::{Row, Rows};
use crate::commands::UsageError;
use crate::commands::export::lines::CSV_HEAD;
use crate::input::{self, Lines, Place};

/// How Parquet files begin.
const MAGIC: &[u8] = b"PAR1";

/// Which columns of a line state what, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnNumbers {
    pub(super) board: u16,
    pub(super) par: Option<u16>,
    pub(super) states: Option<u16>,
    pub(super) minimal: Option<u16>,
}

/// Those of the lines below [`CSV_HEAD`].
const EXPORTED: ColumnNumbers = ColumnNumbers {
    board: 2,
    par: Some(1),
    states: Some(7),
    minimal: Some(8),
};

/// An open file, read batch by batch.
pub(super) enum Source {
    /// A board a line, in these columns.
    Lines(Lines<Box<dyn Read + Send>>, ColumnNumbers),
    /// A JSON object a line.
    Json(Lines<Box<dyn Read + Send>>),
    /// Columns, and how many rows were read.
    Columns(Box<Rows>, u64),
}

/// One board of a file, not yet looked at.
pub(super) struct Line {
    pub(super) place: LinePlace,
    form: Form,
}

/// Where a board stood.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinePlace {
    Text(Place),
    /// Of a file of columns, counted from 1.
    Row(u64),
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinePlace::Text(place) => write!(f, "{place}"),
            LinePlace::Row(number) => write!(f, "row {number}"),
        }
    }
}

enum Form {
    Columns(String, ColumnNumbers),
    Json(String),
    Row(Row),
}

/// A board, and what its line states about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) board: Board,
    pub(super) par: Option<u64>,
    pub(super) states: Option<u64>,
    pub(super) minimal: Option<bool>,
}

#[derive(Deserialize)]
struct JsonLine {
    canonical: String,
    par: Option<u64>,
    states: Option<u64>,
    minimal: Option<bool>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// When it is not there, or cannot be read.
    pub(super) fn open(name: &str, columns: ColumnNumbers) -> anyhow::Result<Source> {
        let mut reader = input::open(name)?.ok_or_else(|| UsageError(format!("there is no file {name}")))?;
        let mut head = Vec::new();
        (&mut reader)
            .take(CSV_HEAD.len() as u64 + 1)
            .read_to_end(&mut head)?;
        if head.starts_with(MAGIC) {
            if name == "-" {
                return Err(UsageError(String::from(
                    "a Parquet file is read from its end: name the file instead of standard input",
                ))
                .into());
            }
            return Ok(Source::Columns(
                Box::new(Rows::open(File::open(Path::new(name))?)?),
                0,
            ));
        }
        let line_end = |byte: &u8| *byte == b'\n' || *byte == b'\r';
        let is_exported = head.starts_with(CSV_HEAD.as_bytes()) && head.last().is_some_and(line_end);
        let is_json = head.trim_ascii_start().starts_with(b"{");
        let reader: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(reader));
        if is_json {
            return Ok(Source::Json(Lines::new(reader, 1)));
        }
        let columns = if is_exported { EXPORTED } else { columns };
        let mut lines = Lines::new(reader, usize::from(columns.board));
        if is_exported {
            lines.next().transpose()?;
        }
        Ok(Source::Lines(lines, columns))
    }

    /// Whether every line states par and cluster size, as trusting it takes.
    pub(super) fn states_answers(&self) -> bool {
        match self {
            Source::Lines(_, columns) => columns.par.is_some() && columns.states.is_some(),
            Source::Json(_) | Source::Columns(..) => true,
        }
    }

    /// The next boards, at most so many; none: that was all.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn next_batch(&mut self, n: usize) -> anyhow::Result<Vec<Line>> {
        match self {
            Source::Lines(lines, columns) => take(lines, n, |line| Form::Columns(line, *columns)),
            Source::Json(lines) => take(lines, n, Form::Json),
            Source::Columns(rows, n_read) => {
                let rows = rows.next_batch(n)?;
                let first = *n_read + 1;
                *n_read += rows.len() as u64;
                let line = |(number, row)| Line {
                    place: LinePlace::Row(number),
                    form: Form::Row(row),
                };
                Ok((first..).zip(rows).map(line).collect())
            }
        }
    }
}

/// The next lines, at most so many.
fn take<R: Read>(lines: &mut Lines<R>, n: usize, form: impl Fn(String) -> Form) -> anyhow::Result<Vec<Line>> {
    let mut taken = Vec::new();
    while taken.len() < n
        && let Some((place, line)) = lines.next_line()?
    {
        taken.push(Line {
            place: LinePlace::Text(place),
            form: form(line),
        });
    }
    Ok(taken)
}

impl Line {
    /// What decides whether the line is proved although its file is trusted.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.form {
            Form::Columns(line, _) | Form::Json(line) => line.as_bytes(),
            Form::Row(row) => row.canonical.as_bytes(),
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// Why it is no board, or what it states is no number.
    pub(super) fn read(&self, exit: Exit) -> Result<Stated, String> {
        let board = |text: &str| Board::parse_with_exit(text, exit).map_err(|error| error.to_string());
        match &self.form {
            Form::Columns(line, numbers) => {
                let cells = input::columns(line);
                Ok(Stated {
                    board: board(input::board_column(&cells, usize::from(numbers.board))?)?,
                    par: number(&cells, numbers.par, "par")?,
                    states: number(&cells, numbers.states, "states")?,
                    minimal: truth(&cells, numbers.minimal)?,
                })
            }
            Form::Json(line) => {
                let line: JsonLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
                Ok(Stated {
                    board: board(&line.canonical)?,
                    par: line.par,
                    states: line.states,
                    minimal: line.minimal,
                })
            }
            Form::Row(row) => Ok(Stated {
                board: board(&row.canonical)?,
                par: Some(row.par),
                states: Some(row.states),
                minimal: row.minimal,
            }),
        }
    }
}

/// What a column of a line states, if one was named.
fn number(cells: &[&str], column: Option<u16>, what: &str) -> Result<Option<u64>, String> {
    let Some(column) = column else { return Ok(None) };
    let text = cell(cells, column, what)?;
    text.parse()
        .map(Some)
        .map_err(|_| format!("column {column} is {text:?}, expected {what} as a number"))
}

/// Whether a column says true or false; nothing: it was not examined.
fn truth(cells: &[&str], column: Option<u16>) -> Result<Option<bool>, String> {
    let Some(column) = column else { return Ok(None) };
    match cell(cells, column, "minimal")? {
        "" => Ok(None),
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        other => Err(format!(
            "column {column} is {other:?}, expected true, false or nothing"
        )),
    }
}

fn cell<'a>(cells: &[&'a str], column: u16, what: &str) -> Result<&'a str, String> {
    let cell = cells.get(usize::from(column) - 1).copied();
    cell.ok_or_else(|| format!("the line has no column {column} for {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOARD: &str = "oooooooooBooAAoBoooooooooooooooooooo";

    fn stated(text: &str) -> Vec<Result<Stated, String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boards");
        std::fs::write(&path, text).unwrap();
        let columns = ColumnNumbers {
            board: 1,
            par: None,
            states: None,
            minimal: None,
        };
        let mut source = Source::open(&path.display().to_string(), columns).unwrap();
        let lines = source.next_batch(100).unwrap();
        lines.iter().map(|line| line.read(Exit::Right)).collect()
    }

    #[test]
    fn the_formats_of_an_export_are_told_by_how_they_begin() {
        let expected = Stated {
            board: BOARD.parse().unwrap(),
            par: Some(2),
            states: Some(60),
            minimal: Some(true),
        };
        let csv = format!("{CSV_HEAD}\n2,{BOARD},6x6,2,2,0,60,true\n2,{BOARD},6x6,2,2,0,60,\n");
        let not_examined = Stated {
            minimal: None,
            ..expected.clone()
        };
        assert_eq!(stated(&csv), [Ok(expected.clone()), Ok(not_examined.clone())]);
        let json = |minimal: &str| {
            format!(
                r#"{{"par":2,"canonical":"{BOARD}","lot":"6x6","exit_row":2,"vehicles":2,"walls":0,"states":60,"minimal":{minimal}}}"#
            )
        };
        assert_eq!(
            stated(&format!("{}\n{}\n", json("true"), json("null"))),
            [Ok(expected.clone()), Ok(not_examined)]
        );
        let text = Stated {
            par: None,
            states: None,
            minimal: None,
            ..expected
        };
        assert_eq!(stated(&format!("{BOARD}\n")), [Ok(text)]);
    }

    #[test]
    fn lines_that_state_nonsense_are_refused_one_by_one() {
        let csv = format!("{CSV_HEAD}\nx,{BOARD},6x6,2,2,0,60,true\n2,{BOARD},6x6,2,2,0,60,perhaps\n2\n");
        let read = stated(&csv);
        assert_eq!(
            read[0].as_ref().unwrap_err(),
            "column 1 is \"x\", expected par as a number"
        );
        assert_eq!(
            read[1].as_ref().unwrap_err(),
            "column 8 is \"perhaps\", expected true, false or nothing"
        );
        assert!(read[2].is_err());
        assert!(stated("{\"par\":1}\n")[0].is_err());
    }
}
