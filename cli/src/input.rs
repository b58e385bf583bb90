//! Reading boards: an argument that is a board, or a file with one a line.
//!
//! Decides what is a board, a file, a comment, and which column of a line is the board. Lines are handed on as they
//! come, so that a pipe is answered while it is still being written.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc;

use board::Board;

use crate::commands::UsageError;

/// Lines read ahead of those being answered.
const MAX_READ_AHEAD: usize = 4096;
/// The longest line worth looking at: a 16x16 board has 256 squares, and there may be other columns.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Where boards come from, shared by all commands that take boards.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BoardArguments {
    /// A board, or a file with one board a line (`-`: standard input); blank lines and lines that begin with # are
    /// skipped
    #[arg(required = true, value_name = "BOARD|FILE")]
    boards: Vec<String>,
    /// Which column of each line is the board, counted from 1; columns are separated by commas or blanks
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    column: u16,
}

/// One text that should be a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where it stood, for people: `line 7`, or `argument 1`.
    pub(crate) place: Place,
    /// The whole line, without its end.
    pub(crate) line: String,
    /// The board's text, or what is wrong with the line.
    pub(crate) text: Result<String, String>,
}

/// Where an entry stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It was an argument itself, counted from 1.
    Argument(u64),
    /// It was a line of a file, counted from 1.
    Line(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Argument(number) => write!(f, "argument {number}"),
            Place::Line(number) => write!(f, "line {number}"),
        }
    }
}

impl Entry {
    /// The board, or why the text is none.
    pub(crate) fn board(&self) -> Result<Board, String> {
        Board::parse(self.text.as_deref().map_err(Clone::clone)?).map_err(|error| error.to_string())
    }
}

impl BoardArguments {
    /// Is there nothing but one board, given as an argument? Then there is room to draw it.
    pub(crate) fn is_single_board(&self) -> bool {
        self.boards.len() == 1 && !is_file(&self.boards[0])
    }

    /// Starts reading; entries arrive in order.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub(crate) fn read(&self) -> anyhow::Result<mpsc::Receiver<io::Result<Entry>>> {
        let mut sources: Vec<Source> = Vec::new();
        for (i, argument) in self.boards.iter().enumerate() {
            sources.push(Source::open(argument, i as u64 + 1)?);
        }
        let (sender, receiver) = mpsc::sync_channel(MAX_READ_AHEAD);
        let column = usize::from(self.column);
        std::thread::spawn(move || {
            for source in sources {
                // A receiver that has gone wants no more.
                if source.send(column, &sender).is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }
}

/// Does an argument name a file rather than spell a board?
fn is_file(argument: &str) -> bool {
    argument == "-" || Path::new(argument).exists()
}

/// Opens a file, or standard input for `-`; `None`: there is no such file.
///
/// # Errors
/// [`UsageError`] for what is there and cannot be read.
pub(crate) fn open(name: &str) -> anyhow::Result<Option<Box<dyn Read + Send>>> {
    if name == "-" {
        return Ok(Some(Box::new(io::stdin())));
    }
    if !Path::new(name).exists() {
        return Ok(None);
    }
    let file = File::open(name).map_err(|error| UsageError(format!("cannot read {name}: {error}")))?;
    if file.metadata()?.is_dir() {
        return Err(UsageError(format!("{name} is a folder, expected a file of boards")).into());
    }
    Ok(Some(Box::new(file)))
}

/// One argument, opened.
enum Source {
    Board(Entry),
    Lines(Box<dyn Read + Send>),
}

impl Source {
    fn open(argument: &str, number: u64) -> anyhow::Result<Source> {
        if let Some(reader) = open(argument)? {
            return Ok(Source::Lines(reader));
        }
        if argument.contains('/') {
            return Err(UsageError(format!("there is no file {argument}")).into());
        }
        let text = Board::parse(argument)
            .map(|_| argument.to_owned())
            .map_err(|error| {
                // A name that was mistyped deserves better than a talk about its letters.
                if argument.contains(':') || argument.len() > 20 {
                    error.to_string()
                } else {
                    format!("{error} (and there is no file {argument})")
                }
            });
        Ok(Source::Board(Entry {
            place: Place::Argument(number),
            line: argument.to_owned(),
            text,
        }))
    }

    fn send(self, column: usize, sender: &mpsc::SyncSender<io::Result<Entry>>) -> Result<(), ()> {
        match self {
            Source::Board(entry) => sender.send(Ok(entry)).map_err(drop),
            Source::Lines(reader) => {
                for entry in Lines::new(reader, column) {
                    sender.send(entry).map_err(drop)?;
                }
                Ok(())
            }
        }
    }
}

/// The entries of a file: its lines without comments and blank ones.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    column: usize,
    number: u64,
    /// The bytes of the line read last.
    bytes: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Reads lines whose board is in the given column, counted from 1.
    pub(crate) fn new(reader: R, column: usize) -> Lines<R> {
        Lines {
            reader: BufReader::new(reader),
            column,
            number: 0,
            bytes: Vec::new(),
        }
    }

    /// The next line that should hold a board, and where it stands; `None`: that was all.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(Place, String)>> {
        while let Some(line) = self.line()? {
            if !line.trim().is_empty() && !is_comment(&line, self.column) {
                return Ok(Some((Place::Line(self.number), line)));
            }
        }
        Ok(None)
    }

    /// The next line, lossily decoded and without its end; over-long ones are cut.
    fn line(&mut self) -> io::Result<Option<String>> {
        self.bytes.clear();
        let mut limited = (&mut self.reader).take(MAX_LINE_BYTES as u64);
        if limited.read_until(b'\n', &mut self.bytes)? == 0 {
            return Ok(None);
        }
        if self.bytes.len() == MAX_LINE_BYTES && self.bytes.last() != Some(&b'\n') {
            self.skip_rest_of_line()?;
        }
        self.number += 1;
        let text = String::from_utf8_lossy(&self.bytes);
        let text = if self.number == 1 {
            text.trim_start_matches('\u{feff}')
        } else {
            &text
        };
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }

    fn skip_rest_of_line(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(());
            }
            if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                self.reader.consume(end + 1);
                return Ok(());
            }
            let n_bytes = buffer.len();
            self.reader.consume(n_bytes);
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        let (place, line) = match self.next_line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        let text = board_column(&columns(&line), self.column).map(str::to_owned);
        Some(Ok(Entry { place, line, text }))
    }
}

/// The column of a line that is its board, counted from 1, or that there is none.
pub(crate) fn board_column<'a>(columns: &[&'a str], column: usize) -> Result<&'a str, String> {
    columns.get(column - 1).copied().ok_or_else(|| {
        let n_columns = columns.len();
        let plural = if n_columns == 1 { "" } else { "s" };
        format!("the line has {n_columns} column{plural}, asked for column {column}")
    })
}

/// The columns of a line: separated by commas, and by blanks. Blanks beside a comma, or beside each other, count
/// once; nothing between two commas is an empty column. Quotes around a column are dropped.
pub(crate) fn columns(line: &str) -> Vec<&str> {
    let mut columns = Vec::with_capacity(8);
    for part in line.split(',') {
        let n_before = columns.len();
        columns.extend(part.split_whitespace().map(unquoted));
        if columns.len() == n_before {
            columns.push("");
        }
    }
    columns
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text)
}

/// Is a line a comment? A # may also be a wall at the top left of a board, so a line whose board is legal is none,
/// unless a blank follows the #.
fn is_comment(line: &str, column: usize) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else {
        return false;
    };
    rest.is_empty()
        || rest.starts_with(char::is_whitespace)
        || columns(line)
            .get(column - 1)
            .is_none_or(|text| Board::parse(text).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str, column: usize) -> Vec<(u64, Result<String, String>)> {
        Lines::new(text.as_bytes(), column)
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let Place::Line(number) = entry.place else {
                    panic!("lines have line numbers")
                };
                (number, entry.text)
            })
            .collect()
    }

    #[test]
    fn comments_and_blank_lines_are_skipped_and_counted() {
        let text = "\u{feff}# head\r\n\r\nAAo......\r\n#\n  \nooo\n";
        assert_eq!(
            entries(text, 1),
            [(3, Ok("AAo......".into())), (6, Ok("ooo".into()))]
        );
    }

    #[test]
    fn a_wall_at_the_top_left_is_no_comment() {
        assert_eq!(
            entries("#..AA....\n#.AA....\n# ..AA....", 1),
            [(1, Ok("#..AA....".into()))]
        );
    }

    #[test]
    fn columns_are_separated_by_commas_or_blanks() {
        assert_eq!(columns("51  GBB\t4780"), ["51", "GBB", "4780"]);
        assert_eq!(columns("51,\"GBB\", ,4780"), ["51", "GBB", "", "4780"]);
        assert_eq!(
            columns("51 GBB 4780 | 1,2, 3"),
            ["51", "GBB", "4780", "|", "1", "2", "3"]
        );
        assert_eq!(
            entries("a b\nc", 2),
            [
                (1, Ok("b".into())),
                (2, Err("the line has 1 column, asked for column 2".into()))
            ]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_lines_too() {
        let lines: Vec<_> = Lines::new(&b"\xff\xfe\nok"[..], 1)
            .map(|entry| entry.unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].board().is_err());
    }

    #[test]
    fn an_endless_line_is_cut_and_the_next_is_read() {
        let mut text = "o".repeat(3 * MAX_LINE_BYTES);
        text.push_str("\nnext");
        let lines = entries(&text, 1);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], (2, Ok("next".into())));
    }
}
