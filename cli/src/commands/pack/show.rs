//! `parforce pack show`: a pack as a contact sheet.

use std::io::Write;
use std::path::PathBuf;

use board::{Axis, Board};

use super::super::{Outcome, UsageError};
use super::file::{LevelEntry, PackFile};
use crate::sheet::{self, Anchor, Colour, Format, Sheet};

/// A4, in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 36.0;
/// Between two boards, and the line of words below each.
const GAP: f32 = 10.0;
const CAPTION: f32 = 14.0;

const EMPTY: Colour = Colour(0xee, 0xee, 0xee);
const WALL: Colour = Colour(0x33, 0x33, 0x33);
const HERO: Colour = Colour(0xd5, 0x30, 0x0a);
/// Okabe and Ito's palette without its red, which people of every colour vision can tell apart.
const OTHERS: [Colour; 6] = [
    Colour(0x56, 0xb4, 0xe9),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x00, 0x72, 0xb2),
    Colour(0xf0, 0xe4, 0x42),
];

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The pack
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The picture to write: .svg, .png or .pdf (A4 pages) [default: SVG to standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format, if the name does not tell
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Boards side by side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=20))]
    columns: u16,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let pack = PackFile::read(&arguments.file)?;
    let boards: Result<Vec<Board>, String> = pack
        .levels
        .iter()
        .map(|level| Board::parse(&level.board).map_err(|error| format!("level {}: {error}", level.level)))
        .collect();
    let boards = boards.map_err(UsageError)?;
    let sheets = lay_out(&pack.levels, &boards, arguments.columns);
    if let Some(path) = &arguments.out {
        sheet::save(&sheets, path, arguments.format)?;
    } else {
        let bytes = sheet::encode(&sheets, arguments.format.unwrap_or(Format::Svg))?;
        std::io::stdout().lock().write_all(&bytes)?;
    }
    Ok(Outcome::Done)
}

/// Pages of as many rows as fit; a board is as wide as its column.
fn lay_out(levels: &[LevelEntry], boards: &[Board], n_columns: u16) -> Vec<Sheet> {
    let n_columns = n_columns.max(1);
    let width = (PAGE.0 - 2.0 * MARGIN - GAP * f32::from(n_columns - 1)) / f32::from(n_columns);
    let ratio = |board: &Board| f32::from(board.lot().height()) / f32::from(board.lot().width());
    let height = width * boards.iter().map(ratio).fold(0.0, f32::max);
    let row = height + CAPTION + GAP;
    let mut n_rows: u16 = 1;
    while MARGIN + f32::from(n_rows + 1) * row <= PAGE.1 - MARGIN {
        n_rows += 1;
    }
    let entries: Vec<(&LevelEntry, &Board)> = levels.iter().zip(boards).collect();
    let pages = entries.chunks(usize::from(n_rows * n_columns)).map(|entries| {
        let mut sheet = Sheet::new(PAGE.0, PAGE.1);
        for (place, (level, board)) in (0..).zip(entries) {
            let x = MARGIN + f32::from(place % n_columns) * (width + GAP);
            let y = MARGIN + f32::from(place / n_columns) * row;
            draw(&mut sheet, board, x, y, width);
            let caption = format!("{}   par {}", level.level, level.par);
            sheet.text(x, y + height + 10.0, 8.0, Anchor::Start, &caption);
        }
        sheet
    });
    pages.collect()
}

fn draw(sheet: &mut Sheet, board: &Board, x: f32, y: f32, width: f32) {
    let lot = board.lot();
    let side = width / f32::from(lot.width());
    let at = |n: u8| f32::from(n) * side;
    let inset = side * 0.06;
    sheet.rectangle(x, y, width, at(lot.height()), EMPTY);
    // The exit: a gap in the lot's right edge, as a tick beside the hero's row.
    sheet.rectangle(
        x + width,
        y + at(board.exit_row()) + inset,
        side * 0.2,
        side - 2.0 * inset,
        HERO,
    );
    for square in board.walls().iter() {
        let (column, row) = (lot.column(square), lot.row(square));
        sheet.rectangle(x + at(column), y + at(row), side, side, WALL);
    }
    for (i, vehicle) in board.vehicles().iter().enumerate() {
        let fill = if i == 0 {
            HERO
        } else {
            OTHERS[(i - 1) % OTHERS.len()]
        };
        let (column, row, across, down) = match vehicle.axis() {
            Axis::Horizontal => (vehicle.start(), vehicle.lane(), vehicle.length(), 1),
            Axis::Vertical => (vehicle.lane(), vehicle.start(), 1, vehicle.length()),
        };
        let (width, height) = (at(across) - 2.0 * inset, at(down) - 2.0 * inset);
        sheet.rectangle(x + at(column) + inset, y + at(row) + inset, width, height, fill);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_hundred_levels_are_some_pages() {
        let text = "oooooooooBooAAoBoooxoooooooooooooooo";
        let level = |level| LevelEntry {
            level,
            board: text.into(),
            par: 2,
            vehicles: 2,
            states: 20,
            steps: None,
            difficulty: None,
            solution: None,
        };
        let levels: Vec<LevelEntry> = (1..=200).map(level).collect();
        let boards = vec![text.parse().unwrap(); 200];
        let pages = lay_out(&levels, &boards, 5);
        assert_eq!(pages.len(), 7);
        let svg = String::from_utf8(sheet::encode(&pages, Format::Svg).unwrap()).unwrap();
        assert!(svg.contains(">200   par 2</text>"));
        // The lot, the exit, a wall and two vehicles for each board, and the ground.
        assert_eq!(svg.matches("<rect ").count(), 200 * 5 + 1);
    }
}
