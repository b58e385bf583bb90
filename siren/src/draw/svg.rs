//! A jam as an SVG picture.

use crate::jam::{Colour, Jam};
use crate::lot::{Facing, Lot, Place, Side, Square};
use crate::pieces::{Body, Model, Piece};
use std::fmt::Write;

/// Pixels of a square.
const CELL: u32 = 40;

/// Squares round the lot: exits, the ring road, the kerb.
const BORDER: u32 = 3;

/// Draws a jam as a picture of its own: no script, no style sheet, nothing loaded. Pieces bear their numbers.
pub fn svg(jam: &Jam) -> String {
    let lot = jam.lot();
    let (width, height) = (edge(lot.width()), edge(lot.height()));
    let mut picture = Picture {
        lot,
        text: String::new(),
    };
    picture.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" text-anchor=\"middle\">"
    ));
    picture.add(format_args!(
        "<rect width=\"{width}\" height=\"{height}\" fill=\"#7d9a6b\"/>"
    ));
    picture.ring_road(jam);
    picture.ground(jam);
    for (number, piece) in jam.pieces().iter().enumerate() {
        picture.piece(number, *piece);
    }
    picture.text += "</svg>\n";
    picture.text
}

fn edge(squares: u8) -> u32 {
    (u32::from(squares) + 2 * BORDER) * CELL
}

struct Picture {
    lot: Lot,
    text: String,
}

impl Picture {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{element}").expect("text takes any element");
    }

    fn ring_road(&mut self, jam: &Jam) {
        let (width, height) = (edge(self.lot.width()), edge(self.lot.height()));
        self.add(format_args!(
            "<rect x=\"{CELL}\" y=\"{CELL}\" width=\"{}\" height=\"{}\" rx=\"16\" fill=\"#4a4d52\"/>",
            width - 2 * CELL,
            height - 2 * CELL
        ));
        let parts = jam.parts();
        for place in self.lot.ring() {
            let arrow = match place.side {
                Side::Top => "→",
                Side::Right => "↓",
                Side::Bottom => "←",
                Side::Left => "↑",
            };
            self.sign(place, 2, "#8a8d92", arrow);
        }
        for place in &parts.crossings {
            self.patch(*place, 2, "#e8e8e8", "crossing");
            self.sign(*place, 2, "#4a4d52", "☰");
        }
        if let Some(place) = parts.bridge {
            self.patch(place, 2, "#8b5a2b", "drawbridge");
            self.sign(place, 2, "#ffffff", "⌃");
        }
        for exit in &parts.exits {
            let (fill, name, sign) = if exit.open {
                ("#4a4d52", "open exit", "EXIT")
            } else {
                ("#a33327", "closed exit", "✕")
            };
            self.patch(exit.place, 3, fill, name);
            self.sign(exit.place, 3, "#ffffff", sign);
        }
    }

    fn ground(&mut self, jam: &Jam) {
        let (x, y) = self.corner(Square { column: 0, row: 0 });
        let (width, height) = (
            u32::from(self.lot.width()) * CELL,
            u32::from(self.lot.height()) * CELL,
        );
        self.add(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#b9bcc0\"/>",
            x - CELL,
            y - CELL,
            width + 2 * CELL,
            height + 2 * CELL
        ));
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"#d9dbde\"/>"
        ));
        for place in self.lot.ring().filter(|place| jam.is_closed(place.side)) {
            self.patch(place, 1, "#5b2a25", "closed side");
        }
        for light in &jam.parts().lights {
            let (fill, name) = if light.start == Colour::Green {
                ("#1f9d3a", "green")
            } else {
                ("#d0281c", "red")
            };
            let (x, y) = self.outside(light.place, 1);
            self.add(format_args!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"10\" fill=\"{fill}\" stroke=\"#222\"><title>{name} light</title></circle>",
                x + CELL / 2,
                y + CELL / 2
            ));
        }
    }

    fn piece(&mut self, number: usize, piece: Piece) {
        match piece {
            Piece::Barricade(at) => self.block(at, "#f0a030", &number.to_string(), "barricade"),
            Piece::Planter(at) => self.block(at, "#3d7a34", "✿", "planter"),
            Piece::Unit(model, body) => {
                let (fill, name) = match model {
                    Model::Ambulance => ("#ffffff", "ambulance"),
                    Model::FireEngine => ("#d0281c", "fire engine"),
                    Model::PoliceCar => ("#2456b3", "police car"),
                };
                self.vehicle(body, fill, "U", name);
            }
            Piece::Vehicle(body) => {
                const PAINT: [&str; 6] = ["#6fa8dc", "#93c47d", "#ffd966", "#c27ba0", "#e6956b", "#9f8fd6"];
                self.vehicle(body, PAINT[number % PAINT.len()], &number.to_string(), "vehicle");
            }
            Piece::Wreck(body) => self.vehicle(body, "#77716b", &format!("{number}w"), "wreck"),
        }
    }

    fn block(&mut self, at: Square, fill: &str, label: &str, name: &str) {
        let (x, y) = self.corner(at);
        self.add(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"32\" height=\"32\" fill=\"{fill}\" stroke=\"#222\"><title>{name}</title></rect>",
            x + 4,
            y + 4
        ));
        self.label(x, y, label);
    }

    fn vehicle(&mut self, body: Body, fill: &str, label: &str, name: &str) {
        let rear = body.reversed().front;
        let first = Square {
            column: body.front.column.min(rear.column),
            row: body.front.row.min(rear.row),
        };
        let (x, y) = self.corner(first);
        let long = u32::from(body.length) * CELL;
        let (width, height) = if body.facing.is_vertical() {
            (CELL, long)
        } else {
            (long, CELL)
        };
        self.add(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{fill}\" stroke=\"#222\"><title>{name}</title></rect>",
            x + 3,
            y + 3,
            width - 6,
            height - 6
        ));
        let (x, y) = self.corner(body.front);
        let nose = match body.facing {
            Facing::Up => [(12, 14), (20, 6), (28, 14)],
            Facing::Right => [(26, 12), (34, 20), (26, 28)],
            Facing::Down => [(12, 26), (20, 34), (28, 26)],
            Facing::Left => [(14, 12), (6, 20), (14, 28)],
        };
        let points: Vec<String> = nose
            .iter()
            .map(|(right, down)| format!("{},{}", x + right, y + down))
            .collect();
        self.add(format_args!(
            "<polygon points=\"{}\" fill=\"#222\"/>",
            points.join(" ")
        ));
        self.label(x, y, label);
    }

    fn label(&mut self, x: u32, y: u32, label: &str) {
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"13\" fill=\"#111\">{label}</text>",
            x + CELL / 2,
            y + CELL / 2 + 5
        ));
    }

    fn patch(&mut self, place: Place, steps: u32, fill: &str, name: &str) {
        let (x, y) = self.outside(place, steps);
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\"><title>{name}</title></rect>"
        ));
    }

    fn sign(&mut self, place: Place, steps: u32, fill: &str, sign: &str) {
        let (x, y) = self.outside(place, steps);
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"14\" fill=\"{fill}\">{sign}</text>",
            x + CELL / 2,
            y + CELL / 2 + 5
        ));
    }

    fn corner(&self, square: Square) -> (u32, u32) {
        debug_assert!(self.lot.has(square), "{square} is on the lot");
        (
            (u32::from(square.column) + BORDER) * CELL,
            (u32::from(square.row) + BORDER) * CELL,
        )
    }

    /// The corner of the square so many steps outside the lot: 1 the kerb, 2 the ring road, 3 the exits.
    fn outside(&self, place: Place, steps: u32) -> (u32, u32) {
        let along = (u32::from(place.index) + BORDER) * CELL;
        let before = (BORDER - steps) * CELL;
        let after = |squares: u8| (u32::from(squares) + BORDER - 1 + steps) * CELL;
        match place.side {
            Side::Top => (along, before),
            Side::Bottom => (along, after(self.lot.height())),
            Side::Left => (before, along),
            Side::Right => (after(self.lot.width()), along),
        }
    }
}
