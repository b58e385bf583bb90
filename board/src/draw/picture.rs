//! Boards as SVG pictures.

use std::fmt::{self, Write};

use super::colours::{self, Colour};
use crate::board::Board;
use crate::geometry::Axis;
use crate::vehicle::Vehicle;

/// Side of a square, in the picture's units.
const SQUARE: i32 = 48;
/// Between the edge of the picture and the lot.
const MARGIN: i32 = 14;
/// To the right of the lot, for the exit's arrow.
const EXIT_ROOM: i32 = 44;
/// Thickness of the kerb round the lot.
const KERB: i32 = 6;
/// Between a vehicle and the edge of its squares.
const GAP: i32 = 4;

/// Draws the board as an SVG picture, a whole document.
///
/// The title, which screen readers speak, is escaped. Letters are drawn on the vehicles, so nothing hangs on
/// colours, which are chosen for every colour vision all the same.
///
/// ```
/// use board::{Board, draw};
/// let board: Board = "BBoCAAoCooxooooo".parse().unwrap();
/// let picture = draw::svg(&board, "A small board, par 2");
/// assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
/// assert!(picture.contains("<title>A small board, par 2</title>"));
/// ```
pub fn svg(board: &Board, title: &str) -> String {
    let mut picture = String::new();
    write_svg(board, title, &mut picture).expect("writing to a string cannot fail");
    picture
}

fn write_svg(board: &Board, title: &str, out: &mut String) -> fmt::Result {
    let (width, height) = (side(board.lot().width()), side(board.lot().height()));
    let (full_width, full_height) = (width + 2 * MARGIN + EXIT_ROOM, height + 2 * MARGIN);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full_width} {full_height}" width="{full_width}" height="{full_height}" role="img" font-family="Helvetica, Arial, sans-serif" font-weight="bold" text-anchor="middle">"#
    )?;
    writeln!(out, "<title>{}</title>", escaped(title))?;
    writeln!(
        out,
        r##"<rect width="{full_width}" height="{full_height}" fill="#FFFFFF"/>"##
    )?;
    writeln!(
        out,
        r##"<defs><pattern id="wall" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="8" height="8" fill="#4A4F57"/><rect width="3" height="8" fill="#7A808A"/></pattern></defs>"##
    )?;
    write_lot(board, out)?;
    for wall in board.walls().iter() {
        let (x, y) = (at(board.lot().column(wall)), at(board.lot().row(wall)));
        writeln!(
            out,
            r##"<rect x="{}" y="{}" width="{}" height="{}" rx="3" fill="url(#wall)" stroke="#30343A" stroke-width="2"/>"##,
            x + 1,
            y + 1,
            SQUARE - 2,
            SQUARE - 2
        )?;
    }
    let colours = colours::of_vehicles(board);
    for (i, (vehicle, colour)) in board.vehicles().iter().zip(colours).enumerate() {
        write_vehicle(*vehicle, char::from(board.letters()[i]), colour, i == 0, out)?;
    }
    out.push_str("</svg>\n");
    Ok(())
}

/// The ground, its squares, the kerb with its opening and the arrow.
fn write_lot(board: &Board, out: &mut String) -> fmt::Result {
    let (width, height) = (side(board.lot().width()), side(board.lot().height()));
    let (left, top, right, bottom) = (MARGIN, MARGIN, MARGIN + width, MARGIN + height);
    writeln!(
        out,
        r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#ECEEF1"/>"##
    )?;
    let mut lines = String::new();
    for column in 1..board.lot().width() {
        write!(lines, "M{} {top}V{bottom}", at(column))?;
    }
    for row in 1..board.lot().height() {
        write!(lines, "M{left} {}H{right}", at(row))?;
    }
    writeln!(
        out,
        r##"<path d="{lines}" stroke="#D3D7DC" stroke-width="1.5" fill="none"/>"##
    )?;
    // The kerb begins below the exit and runs round the lot to above it.
    let (exit_top, exit_bottom) = (at(board.exit_row()), at(board.exit_row()) + SQUARE);
    let out_by = KERB / 2;
    writeln!(
        out,
        r##"<path d="M{} {exit_bottom}V{}H{}V{}H{}V{exit_top}" stroke="#30343A" stroke-width="{KERB}" stroke-linejoin="round" stroke-linecap="square" fill="none"/>"##,
        right + out_by,
        bottom + out_by,
        left - out_by,
        top - out_by,
        right + out_by
    )?;
    writeln!(
        out,
        r##"<rect x="{right}" y="{exit_top}" width="{KERB}" height="{SQUARE}" fill="#ECEEF1"/>"##
    )?;
    let (x, y) = (right + 12, exit_top + SQUARE / 2);
    writeln!(
        out,
        r#"<path d="M{x} {}h16v-9l18 15l-18 15v-9h-16z" fill="{}"/>"#,
        y - 6,
        colours::HERO.hex
    )
}

fn write_vehicle(
    vehicle: Vehicle,
    letter: char,
    colour: Colour,
    is_hero: bool,
    out: &mut String,
) -> fmt::Result {
    let long = side(vehicle.length()) - 2 * GAP;
    let across = SQUARE - 2 * GAP;
    let (x, y, width, height) = match vehicle.axis() {
        Axis::Horizontal => (at(vehicle.start()), at(vehicle.lane()), long, across),
        Axis::Vertical => (at(vehicle.lane()), at(vehicle.start()), across, long),
    };
    let (x, y) = (x + GAP, y + GAP);
    let ink = if colour.is_dark { "#FFFFFF" } else { "#1A1C1F" };
    writeln!(
        out,
        r##"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" fill="{}" stroke="#1A1C1F" stroke-width="2"/>"##,
        colour.hex
    )?;
    if is_hero {
        // A second outline tells the hero by shape too.
        writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="none" stroke="{ink}" stroke-width="2"/>"#,
            x + 4,
            y + 4,
            width - 8,
            height - 8
        )?;
    }
    writeln!(
        out,
        r#"<text x="{}" y="{}" font-size="24" fill="{ink}">{letter}</text>"#,
        x + width / 2,
        y + height / 2 + 8
    )
}

fn side(n_squares: u8) -> i32 {
    i32::from(n_squares) * SQUARE
}

/// Where a row or column begins.
fn at(row_or_column: u8) -> i32 {
    MARGIN + side(row_or_column)
}

/// The text with what means something to XML replaced, and control characters left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars().filter(|character| !character.is_control()) {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_holds_every_vehicle_and_wall_once() {
        let board: Board = "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM".parse().unwrap();
        let picture = svg(&board, "board");
        for &letter in board.letters() {
            assert_eq!(
                picture
                    .matches(&format!(">{}</text>", char::from(letter)))
                    .count(),
                1
            );
        }
        assert_eq!(picture.matches("url(#wall)").count(), board.n_walls());
    }

    #[test]
    fn a_title_cannot_break_out_of_its_element() {
        let board: Board = "BBoCAAoCooxooooo".parse().unwrap();
        let picture = svg(&board, "</title><script>&\u{0}");
        assert!(picture.contains("<title>&lt;/title&gt;&lt;script&gt;&amp;</title>"));
    }
}
