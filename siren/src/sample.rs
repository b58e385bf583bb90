//! Random jams with everything mixed in, most of them poor puzzles: food for checks, not for players.

use crate::bits::Bits;
use crate::jam::{Colour, Exit, Jam, JamParts, Light};
use crate::lot::{Facing, Lot, Place, Side, Square};
use crate::pieces::{Body, Model, Piece};
use crate::random::Stream;
use crate::simulate::Escape;

/// What a random jam may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Columns, from and to.
    pub width: (u8, u8),
    /// Rows, from and to.
    pub height: (u8, u8),
    /// Tries to put a piece down; each fails if it does not fit.
    pub tries: (usize, usize),
    /// The most lights.
    pub max_lights: usize,
}

impl Sample {
    /// Lots small enough for the exhaustive search: 3 to 5 columns, 4 to 7 rows.
    pub const SMALL: Self = Self {
        width: (3, 5),
        height: (4, 7),
        tries: (5, 40),
        max_lights: 14,
    };

    /// A random jam of this kind.
    pub fn draw(&self, stream: &mut Stream) -> Jam {
        let within = |stream: &mut Stream, (from, to): (u8, u8)| {
            u8::try_from(stream.within(from.into(), to.into())).expect("between two bytes")
        };
        let lot =
            Lot::new(within(stream, self.width), within(stream, self.height)).expect("sizes a lot can have");
        let mut pieces = Vec::new();
        let mut taken = Bits::EMPTY;
        let unit = loop {
            let body = Body {
                front: square(lot, stream),
                facing: facing(stream),
                length: within(stream, (2, 3)),
            };
            if body.squares(lot).any(|square| square.is_none()) {
                continue;
            }
            // A unit at the edge has a lane that is clear at once: a case, but not the common one.
            let has_two_lanes = Escape::BOTH
                .iter()
                .all(|escape| escape.driving(body).path(lot).next().is_some());
            if has_two_lanes || stream.percent(20) {
                break Piece::Unit(Model::Ambulance, body);
            }
        };
        put(lot, unit, &mut taken, &mut pieces);
        let (wrecks, barricades, planters) = (stream.percent(45), stream.percent(50), stream.percent(30));
        let lanes: Vec<Square> = Escape::BOTH
            .iter()
            .flat_map(|escape| {
                escape
                    .driving(unit.body().expect("the unit has a body"))
                    .path(lot)
            })
            .collect();
        for number in 0..stream.within(self.tries.0, self.tries.1) {
            // The first few aim at a lane; elsewhere most pieces would be in nobody's way.
            let aims = number < 12 && !lanes.is_empty();
            let front = if aims {
                stream.pick(&lanes)
            } else {
                square(lot, stream)
            };
            let body = Body {
                front,
                facing: facing(stream),
                length: within(stream, (1, 3)),
            };
            let piece = match stream.below(20) {
                0 | 1 if wrecks => Piece::Wreck(body),
                2 | 3 if barricades => Piece::Barricade(body.front),
                4 if planters => Piece::Planter(body.front),
                _ => Piece::Vehicle(outward(lot, body, stream)),
            };
            put(lot, piece, &mut taken, &mut pieces);
        }
        stream.shuffle(&mut pieces);
        let mut parts = JamParts {
            lot,
            closed_sides: Vec::new(),
            pieces,
            exits: Vec::new(),
            lights: Vec::new(),
            bridge: None,
            crossings: Vec::new(),
            tows: u8::try_from(stream.below(3)).expect("below 3"),
        };
        self.draw_ring(&mut parts, stream);
        Jam::new(parts).expect("pieces were put on free squares, and places drawn without repeating")
    }

    fn draw_ring(&self, parts: &mut JamParts, stream: &mut Stream) {
        if stream.percent(25) {
            parts.closed_sides = vec![stream.pick(&Side::ALL)];
        }
        let mut places: Vec<Place> = parts.lot.ring().collect();
        let mut draw = |stream: &mut Stream, most: usize| {
            let n = stream.below(most.min(places.len()) + 1);
            stream.shuffle(&mut places);
            places[..n].to_vec()
        };
        let exits = draw(stream, 3);
        let open_chance = if stream.percent(4) { 0 } else { 88 };
        parts.exits = exits
            .into_iter()
            .map(|place| Exit {
                place,
                open: stream.percent(open_chance),
            })
            .collect();
        if parts.exits.is_empty() && stream.percent(95) {
            parts.exits = vec![Exit {
                place: draw_one(parts.lot, stream),
                open: true,
            }];
        }
        if stream.percent(60) {
            let places = draw(stream, self.max_lights);
            let colour = |stream: &mut Stream| {
                if stream.percent(50) {
                    Colour::Green
                } else {
                    Colour::Red
                }
            };
            parts.lights = places
                .into_iter()
                .map(|place| Light {
                    place,
                    start: colour(stream),
                })
                .collect();
        }
        parts.bridge = stream.percent(40).then(|| draw_one(parts.lot, stream));
        parts.crossings = draw(stream, 2);
    }
}

fn draw_one(lot: Lot, stream: &mut Stream) -> Place {
    let n = stream.below(lot.ring_length());
    lot.ring().nth(n).expect("a number below the ring's length")
}

fn square(lot: Lot, stream: &mut Stream) -> Square {
    lot.square(stream.below(lot.n_squares()))
}

fn facing(stream: &mut Stream) -> Facing {
    stream.pick(&Facing::ALL)
}

/// Three times in five, turns a body to look at the nearer edge, so that not everything locks everything.
fn outward(lot: Lot, body: Body, stream: &mut Stream) -> Body {
    let ahead = body.path(lot).count();
    let behind = Body {
        facing: body.facing.back(),
        ..body
    }
    .path(lot)
    .count();
    if behind < ahead && stream.percent(60) {
        Body {
            facing: body.facing.back(),
            ..body
        }
    } else {
        body
    }
}

fn put(lot: Lot, piece: Piece, taken: &mut Bits, pieces: &mut Vec<Piece>) {
    let squares: Option<Bits> = piece
        .squares(lot)
        .map(|square| square.map(|square| lot.number(square)))
        .collect();
    if let Some(squares) = squares.filter(|squares| !squares.intersects(*taken)) {
        *taken |= squares;
        pieces.push(piece);
    }
}
