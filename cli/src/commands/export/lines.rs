//! Boards as lines: text, CSV, JSON.

use std::io::{self, Write};

use anyhow::Context;
use board::{Canonical, Par, StateLimit, solve};
use coordinator::store::BoardRow;

use super::Format;

/// The first line of a CSV file.
pub(crate) const CSV_HEAD: &str = "par,canonical,lot,exit_row,vehicles,walls,states,minimal";

pub(super) fn write_row(out: &mut dyn Write, format: Format, row: &BoardRow) -> io::Result<()> {
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
        Format::Parquet => unreachable!("Parquet has no lines"),
    }
}

/// The par and spelling of a line; `None`: it is the head.
pub(super) fn key_of(line: &str, format: Format) -> anyhow::Result<Option<(Par, Canonical)>> {
    if format == Format::Csv && line == CSV_HEAD {
        return Ok(None);
    }
    let (par, canonical) = match format {
        Format::Text => {
            let canonical = Canonical::parse(line)?;
            let par = solve::solve(&canonical.board(), StateLimit::DEFAULT)?.par;
            return Ok(Some((par.context("the board is unsolvable")?, canonical)));
        }
        Format::Csv => {
            let mut cells = line.split(',');
            let par = cells.next().context("no par")?.parse()?;
            (par, cells.next().context("no spelling")?.to_owned())
        }
        Format::Jsonl => {
            let line: serde_json::Value = serde_json::from_str(line)?;
            let par = line["par"].as_u64().context("no par")?;
            let canonical = line["canonical"].as_str().context("no spelling")?;
            (u16::try_from(par)?, canonical.to_owned())
        }
        Format::Parquet => unreachable!("Parquet has no lines"),
    };
    Ok(Some((Par::new(par), Canonical::parse(&canonical)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_holds_is_read_back() {
        let board = "oooooooooBooAAoBoooooooooooooooooooo";
        let key = Some((Par::new(2), Canonical::parse(board).unwrap()));
        let read = |line: &str, format| key_of(line, format).unwrap();
        assert_eq!(read(board, Format::Text), key);
        assert_eq!(read(&format!("2,{board},6x6"), Format::Csv), key);
        assert_eq!(read(CSV_HEAD, Format::Csv), None);
        assert_eq!(
            read(&format!(r#"{{"par":2,"canonical":"{board}"}}"#), Format::Jsonl),
            key
        );
        assert!(key_of("2;oooo", Format::Csv).is_err());
    }
}
