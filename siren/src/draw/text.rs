//! A jam in plain text, for terminals.

use crate::jam::{Colour, Jam};
use crate::lot::{Facing, Lot, Place, Side, Square};
use crate::pieces::Piece;

/// Columns of text for a square.
const CELL: usize = 4;

/// From the outer edge: exits, the ring road, the kerb with lights and closed sides.
const BORDER: usize = 3;

/// What the drawing's signs mean.
const LEGEND: &str = "12> piece 12 facing right; U the unit, 5w> a wreck, 7b barricade, ## planter; \
kerb: XX closed side, G green, R red; ring road, clockwise: == drawbridge, :: crossing; ][ open exit, xx closed exit";

/// Draws a jam. Pieces bear their numbers in the level file; a vehicle's number and arrow stand at its front.
///
/// ```
/// let jam = siren::sample::Sample::SMALL.draw(&mut siren::random::Stream::new(1));
/// assert!(siren::draw::text(&jam).contains('U'));
/// ```
pub fn text(jam: &Jam) -> String {
    let lot = jam.lot();
    let mut canvas = Canvas::new(lot);
    draw_border(&mut canvas, jam);
    for (number, piece) in jam.pieces().iter().enumerate() {
        draw_piece(&mut canvas, lot, number, *piece);
    }
    let tows = jam.parts().tows;
    let tows = if tows > 0 {
        format!("tows: {tows}\n")
    } else {
        String::new()
    };
    format!("{}{LEGEND}\n{tows}", canvas.finish())
}

struct Canvas {
    cells: Vec<Vec<String>>,
}

impl Canvas {
    fn new(lot: Lot) -> Self {
        let (columns, rows) = (
            usize::from(lot.width()) + 2 * BORDER,
            usize::from(lot.height()) + 2 * BORDER,
        );
        Self {
            cells: vec![vec![String::new(); columns]; rows],
        }
    }

    fn square(&mut self, square: Square) -> &mut String {
        &mut self.cells[usize::from(square.row) + BORDER][usize::from(square.column) + BORDER]
    }

    /// The cell so many steps outside the lot at a place: 1 the kerb, 2 the ring road, 3 the exits.
    fn outside(&mut self, place: Place, steps: usize) -> &mut String {
        let along = usize::from(place.index) + BORDER;
        let (rows, columns) = (self.cells.len(), self.cells[0].len());
        let (row, column) = match place.side {
            Side::Top => (BORDER - steps, along),
            Side::Bottom => (rows - 1 - BORDER + steps, along),
            Side::Left => (along, BORDER - steps),
            Side::Right => (along, columns - 1 - BORDER + steps),
        };
        &mut self.cells[row][column]
    }

    fn finish(self) -> String {
        let mut drawing = String::new();
        for row in self.cells {
            let cells: Vec<String> = row.into_iter().map(|cell| format!("{cell:^CELL$}")).collect();
            drawing.push_str(cells.concat().trim_end());
            drawing.push('\n');
        }
        drawing
    }
}

fn draw_border(canvas: &mut Canvas, jam: &Jam) {
    let parts = jam.parts();
    for place in jam.lot().ring() {
        let arrow = match place.side {
            Side::Top => "→",
            Side::Right => "↓",
            Side::Bottom => "←",
            Side::Left => "↑",
        };
        canvas.outside(place, 2).push_str(arrow);
        canvas
            .outside(place, 1)
            .push_str(if jam.is_closed(place.side) { "XX" } else { "·" });
    }
    for light in &parts.lights {
        let sign = if light.start == Colour::Green { "G" } else { "R" };
        let closed = if jam.is_closed(light.place.side) { "X" } else { "" };
        *canvas.outside(light.place, 1) = format!("{closed}{sign}");
    }
    for place in &parts.crossings {
        *canvas.outside(*place, 2) = String::from("::");
    }
    if let Some(place) = parts.bridge {
        let crossing = if parts.crossings.contains(&place) { ":" } else { "" };
        *canvas.outside(place, 2) = format!("=={crossing}");
    }
    for exit in &parts.exits {
        canvas
            .outside(exit.place, 3)
            .push_str(if exit.open { "][" } else { "xx" });
    }
}

fn draw_piece(canvas: &mut Canvas, lot: Lot, number: usize, piece: Piece) {
    match piece {
        Piece::Barricade(at) => *canvas.square(at) = format!("{number}b"),
        Piece::Planter(at) => canvas.square(at).push_str("##"),
        Piece::Unit(_, body) | Piece::Vehicle(body) | Piece::Wreck(body) => {
            let name = match piece {
                Piece::Unit(..) => "U".to_owned(),
                Piece::Wreck(_) => format!("{number}w"),
                _ => number.to_string(),
            };
            let (arrow, tail) = match body.facing {
                Facing::Up => ('^', "|"),
                Facing::Right => ('>', "--"),
                Facing::Down => ('v', "|"),
                Facing::Left => ('<', "--"),
            };
            for (behind, square) in body.squares(lot).flatten().enumerate() {
                *canvas.square(square) = if behind == 0 {
                    format!("{name}{arrow}")
                } else {
                    tail.to_owned()
                };
            }
        }
    }
}
