//! Boards as SVG: a hundred units a square, colours by class so that the sheet decides them for light and dark.
//!
//! Nothing is told by colour alone: the hero points at the exit in its row, vehicles carry their letters,
//! trucks are longer than cars, walls are crossed.

use std::fmt::Write as _;

use board::{Axis, Board, Vehicle};
use maud::{Markup, PreEscaped};

const SQUARE: u32 = 100;
/// Room around the lot, for the frame and the exit's arrow.
const MARGIN: u32 = 50;

/// How much of a board is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Squares, letters, a number on every vehicle to move it by.
    Full,
    /// Shapes alone, for many on a page.
    Small,
}

/// A board with what it is in words.
pub(crate) fn draw(board: &Board, detail: Detail, label: &str) -> Markup {
    draw_moved(board, detail, label, None)
}

/// The same, with the vehicle that was moved last set off.
pub(crate) fn draw_moved(board: &Board, detail: Detail, label: &str, moved: Option<usize>) -> Markup {
    let lot = board.lot();
    let (columns, rows) = (u32::from(lot.width()), u32::from(lot.height()));
    let (width, height) = (columns * SQUARE, rows * SQUARE);
    let mut svg = String::with_capacity(4096);
    let view = (width + 2 * MARGIN, height + 2 * MARGIN);
    let _ = write!(
        svg,
        r#"<svg class="board" viewBox="-{MARGIN} -{MARGIN} {} {}" role="img" aria-label="{}">"#,
        view.0,
        view.1,
        escape(label)
    );
    let _ = write!(
        svg,
        r#"<rect class="lot" x="-12" y="-12" width="{}" height="{}" rx="20"/>"#,
        width + 24,
        height + 24
    );
    if detail == Detail::Full {
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = (column * SQUARE + 4, row * SQUARE + 4);
                let _ = write!(
                    svg,
                    r#"<rect class="sq" x="{x}" y="{y}" width="92" height="92" rx="8"/>"#
                );
            }
        }
    }
    let exit = u32::from(board.exit_row()) * SQUARE;
    let (x, top, middle, bottom) = (width + 12, exit + 4, exit + 50, exit + 96);
    let _ = write!(svg, r#"<path class="gap" d="M{x} {top}V{bottom}"/>"#);
    let _ = write!(
        svg,
        r#"<path class="exit" d="M{} {}L{} {middle}L{} {}Z"/>"#,
        x - 2,
        middle - 26,
        x + 30,
        x - 2,
        middle + 26
    );
    for square in board.walls().iter() {
        let (x, y) = (
            u32::from(lot.column(square)) * SQUARE,
            u32::from(lot.row(square)) * SQUARE,
        );
        let _ = write!(
            svg,
            r#"<rect class="wall" x="{}" y="{}" width="92" height="92" rx="8"/>"#,
            x + 4,
            y + 4
        );
        if detail == Detail::Full {
            let (left, up, right, down) = (x + 30, y + 30, x + 70, y + 70);
            let _ = write!(
                svg,
                r#"<path class="cross" d="M{left} {up}L{right} {down}M{right} {up}L{left} {down}"/>"#
            );
        }
    }
    for (i, &vehicle) in board.vehicles().iter().enumerate() {
        let letter = char::from(board.letters()[i]);
        draw_vehicle(&mut svg, i, vehicle, letter, detail, moved == Some(i));
    }
    svg.push_str("</svg>");
    PreEscaped(svg)
}

fn draw_vehicle(svg: &mut String, i: usize, vehicle: Vehicle, letter: char, detail: Detail, moved: bool) {
    let (lane, start) = (
        u32::from(vehicle.lane()) * SQUARE,
        u32::from(vehicle.start()) * SQUARE,
    );
    let length = u32::from(vehicle.length()) * SQUARE;
    let (x, y, width, height) = match vehicle.axis() {
        Axis::Horizontal => (start, lane, length, SQUARE),
        Axis::Vertical => (lane, start, SQUARE, length),
    };
    let kind = match (i, vehicle.length()) {
        (0, _) => " hero",
        (_, 2) => "",
        (_, 3) => " truck",
        _ => " long",
    };
    let moved = if moved { " moved" } else { "" };
    let number = if detail == Detail::Full {
        format!(r#" data-v="{i}""#)
    } else {
        String::new()
    };
    let _ = write!(
        svg,
        r#"<g class="v{kind}{moved}"{number}><rect x="{}" y="{}" width="{}" height="{}" rx="22"/>"#,
        x + 8,
        y + 8,
        width - 16,
        height - 16
    );
    if detail == Detail::Full {
        let _ = write!(
            svg,
            r#"<text x="{}" y="{}">{letter}</text>"#,
            x + width / 2,
            y + height / 2
        );
    }
    svg.push_str("</g>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vehicle_and_wall_is_drawn_where_it_stands() {
        let board = Board::parse("ooooBoooooBoAAooBooooooooooooooooxoo").unwrap();
        let svg = draw(&board, Detail::Full, "a \"board\"").0;
        assert!(svg.contains(r#"<g class="v hero" data-v="0"><rect x="8" y="208" width="184" height="84""#));
        assert!(svg.contains(r#"<g class="v truck" data-v="1"><rect x="408" y="8" width="84" height="284""#));
        assert!(svg.contains(r#"<rect class="wall" x="304" y="504""#));
        assert!(svg.contains("aria-label=\"a &quot;board&quot;\""));
        assert!(!draw(&board, Detail::Small, "").0.contains("<text"));
    }
}
