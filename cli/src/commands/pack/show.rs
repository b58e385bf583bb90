//! `parforce pack show`: a pack as a contact sheet.

use std::io::Write;
use std::path::PathBuf;

use board::{Axis, Board, draw};

use super::super::{Outcome, UsageError};
use super::file::{LevelEntry, PackFile};
use crate::output::counted;
use crate::sheet::{self, Anchor, Colour, Format, Letters, Sheet};

/// A4, in points.
const PAGE: (f32, f32) = (595.0, 842.0);
const MARGIN: f32 = 36.0;
/// The head of a page.
const HEAD: f32 = 34.0;
/// Between two boards side by side, with room for the exit's arrow; and between a row's words and the next row.
const GAP: f32 = 16.0;
const ROW_GAP: f32 = 10.0;
/// The line of words below each board.
const CAPTION: f32 = 15.0;

const INK: Colour = Colour(0x1a, 0x1c, 0x1f);
const PALE_INK: Colour = Colour(0x6b, 0x71, 0x7a);
const KERB: Colour = Colour(0x30, 0x34, 0x3a);
const GROUND: Colour = Colour(0xec, 0xee, 0xf1);
const LINE: Colour = Colour(0xd3, 0xd7, 0xdc);
const WALL: Colour = Colour(0x5a, 0x60, 0x69);
const WALL_LIGHT: Colour = Colour(0x7a, 0x80, 0x8a);

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
    let sheets = lay_out(&pack, &boards, arguments.columns);
    if let Some(path) = &arguments.out {
        sheet::save(&sheets, path, arguments.format)?;
    } else {
        let bytes = sheet::encode(&sheets, arguments.format.unwrap_or(Format::Svg))?;
        std::io::stdout().lock().write_all(&bytes)?;
    }
    Ok(Outcome::Done)
}

/// Pages of as many rows as fit; a board is as wide as its column.
fn lay_out(pack: &PackFile, boards: &[Board], n_columns: u16) -> Vec<Sheet> {
    let n_columns = n_columns.max(1);
    let width = (PAGE.0 - 2.0 * MARGIN - GAP * f32::from(n_columns)) / f32::from(n_columns);
    let ratio = |board: &Board| f32::from(board.lot().height()) / f32::from(board.lot().width());
    let height = width * boards.iter().map(ratio).fold(0.0, f32::max);
    let row = height + CAPTION + ROW_GAP;
    let top = MARGIN + HEAD;
    let mut n_rows: u16 = 1;
    while top + f32::from(n_rows + 1) * row <= PAGE.1 - MARGIN {
        n_rows += 1;
    }
    let entries: Vec<(&LevelEntry, &Board)> = pack.levels.iter().zip(boards).collect();
    let a_page = usize::from(n_rows * n_columns);
    let n_pages = entries.len().div_ceil(a_page);
    let pages = (1..).zip(entries.chunks(a_page)).map(|(number, entries)| {
        let mut sheet = Sheet::new(PAGE.0, PAGE.1);
        head(&mut sheet, pack, number, n_pages);
        for (place, (level, board)) in (0..).zip(entries) {
            let x = MARGIN + f32::from(place % n_columns) * (width + GAP);
            let y = top + f32::from(place / n_columns) * row;
            draw_board(&mut sheet, board, x, y, width);
            caption(&mut sheet, level, x, y + height, width);
        }
        sheet
    });
    pages.collect()
}

/// What pack it is, and which page.
fn head(sheet: &mut Sheet, pack: &PackFile, number: usize, n_pages: usize) {
    let n_levels = counted(pack.levels.len() as u64, "level");
    let pars = pack.levels.first().zip(pack.levels.last());
    let pars = pars.map_or(String::new(), |(first, last)| {
        format!("par {} to {}", first.par, last.par)
    });
    let baseline = MARGIN + 12.0;
    let title = Letters {
        size: 14.0,
        ink: INK,
        is_bold: true,
    };
    let pale = Letters {
        size: 9.0,
        ink: PALE_INK,
        is_bold: false,
    };
    let right = PAGE.0 - MARGIN - GAP;
    sheet.label(
        MARGIN,
        baseline,
        Anchor::Start,
        &format!("{n_levels}, {}", pack.lot),
        title,
    );
    let what = format!("{pars}    page {number} of {n_pages}");
    sheet.label(right, baseline, Anchor::End, &what, pale);
    sheet.rectangle(MARGIN, baseline + 7.0, right - MARGIN, 0.7, LINE);
}

/// The level's number, and its par.
fn caption(sheet: &mut Sheet, level: &LevelEntry, x: f32, y: f32, width: f32) {
    let letters = |ink, is_bold| Letters {
        size: (width / 11.0).clamp(4.0, 9.0),
        ink,
        is_bold,
    };
    let baseline = y + 11.0;
    sheet.label(
        x,
        baseline,
        Anchor::Start,
        &level.level.to_string(),
        letters(INK, true),
    );
    let par = format!("par {}", level.par);
    sheet.label(x + width, baseline, Anchor::End, &par, letters(PALE_INK, false));
}

fn draw_board(sheet: &mut Sheet, board: &Board, x: f32, y: f32, width: f32) {
    let lot = board.lot();
    let side = width / f32::from(lot.width());
    let at = |n: u8| f32::from(n) * side;
    let (kerb, height) = (side * 0.12, at(lot.height()));
    let exit_top = y + at(board.exit_row());
    sheet.rounded(
        [x - kerb, y - kerb, width + 2.0 * kerb, height + 2.0 * kerb],
        kerb * 1.5,
        KERB,
    );
    sheet.rectangle(x, y, width, height, GROUND);
    for column in 1..lot.width() {
        sheet.rectangle(x + at(column) - 0.25, y, 0.5, height, LINE);
    }
    for row in 1..lot.height() {
        sheet.rectangle(x, y + at(row) - 0.25, width, 0.5, LINE);
    }
    // The exit: a gap in the kerb, and the hero's colour beyond it.
    sheet.rectangle(x + width, exit_top, kerb + 0.2, side, GROUND);
    let mark = [
        x + width + kerb * 1.6,
        exit_top + side * 0.2,
        side * 0.16,
        side * 0.6,
    ];
    let colours = draw::vehicle_colours(board)
        .into_iter()
        .map(|[red, green, blue]| Colour(red, green, blue));
    let colours: Vec<Colour> = colours.collect();
    sheet.rounded(mark, side * 0.08, colours[0]);
    for square in board.walls().iter() {
        let (left, top) = (x + at(lot.column(square)), y + at(lot.row(square)));
        sheet.rounded([left + 0.3, top + 0.3, side - 0.6, side - 0.6], side * 0.08, WALL);
        let inner = side * 0.22;
        sheet.rounded(
            [left + inner, top + inner, side - 2.0 * inner, side - 2.0 * inner],
            side * 0.06,
            WALL_LIGHT,
        );
    }
    for (i, (vehicle, fill)) in board.vehicles().iter().zip(colours).enumerate() {
        let (column, row, across, down) = match vehicle.axis() {
            Axis::Horizontal => (vehicle.start(), vehicle.lane(), vehicle.length(), 1),
            Axis::Vertical => (vehicle.lane(), vehicle.start(), 1, vehicle.length()),
        };
        let body = [x + at(column), y + at(row), at(across), at(down)];
        // An edge, then the vehicle, then for the hero a second outline, so that shape tells it too.
        sheet.rounded(within(body, side * 0.06), side * 0.24, INK);
        sheet.rounded(within(body, side * 0.1), side * 0.2, fill);
        if i == 0 {
            sheet.rounded(within(body, side * 0.19), side * 0.14, Colour(0xff, 0xff, 0xff));
            sheet.rounded(within(body, side * 0.23), side * 0.1, fill);
        }
    }
}

/// The rectangle (left, top, width, height) without an edge.
fn within([x, y, width, height]: [f32; 4], edge: f32) -> [f32; 4] {
    [x + edge, y + edge, width - 2.0 * edge, height - 2.0 * edge]
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
        let pack = PackFile {
            format: "parforce-pack-1".into(),
            curve: "even".into(),
            lot: "6x6".into(),
            levels: (1..=200).map(level).collect(),
        };
        let boards = vec![text.parse().unwrap(); 200];
        let pages = lay_out(&pack, &boards, 5);
        assert_eq!(pages.len(), 7);
        let svg = String::from_utf8(sheet::encode(&pages, Format::Svg).unwrap()).unwrap();
        assert!(svg.contains(">200</text>") && svg.contains(">par 2</text>"));
        assert!(svg.contains(">200 levels, 6x6</text>") && svg.contains("page 7 of 7"));
        // The kerb, the lot, ten lines, the exit and its mark, a wall of two, a vehicle of two and a hero of four for
        // each board; a line a page, and the ground.
        assert_eq!(
            svg.matches("<rect ").count(),
            200 * (1 + 1 + 10 + 2 + 2 + 2 + 4) + 7 + 1
        );
    }
}
