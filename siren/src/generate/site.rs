//! A lot while a jam is built on it.
//!
//! Vehicles are put down in the reverse of the order in which they can leave: each one's path is free when it is put
//! down, and what is put on that path later leaves earlier. So at any time the whole lot can be cleared, last piece
//! first: there are no cycles, and nobody faces the unit, a planter or a closed side. Every jam without cycles can be
//! built this way.
//!
//! For each lane the site keeps the *reach*: the lane's squares and the paths of all its closure's members. A piece
//! put down joins a closure exactly if it stands on its reach (its own blockers come later), so sizes and depths are
//! known at each step without solving anything.

use crate::bits::Bits;
use crate::lot::{Facing, Lot, Side, Square};
use crate::pieces::{Body, Model, Piece};
use crate::simulate::Escape;

/// Somewhere that a vehicle could be put down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) body: Body,
    pub(crate) squares: Bits,
    /// The squares it must find free to leave.
    pub(crate) path: Bits,
}

impl Spot {
    fn new(lot: Lot, body: Body) -> Option<Self> {
        let squares: Option<Bits> = body
            .squares(lot)
            .map(|square| Some(lot.number(square?)))
            .collect();
        let path = body.path(lot).map(|square| lot.number(square)).collect();
        Some(Self {
            body,
            squares: squares?,
            path,
        })
    }
}

/// What a lane's closure has grown to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    /// The lane's squares.
    pub(crate) lane: Bits,
    /// Squares where a piece would join the closure.
    pub(crate) reach: Bits,
    /// Members.
    pub(crate) members: Bits,
    /// Members so far.
    pub(crate) size: u32,
    /// Layers so far.
    pub(crate) depth: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) lot: Lot,
    pub(crate) closed: Vec<Side>,
    pub(crate) unit: Body,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) taken: Bits,
    pub(crate) growths: [Growth; 2],
    /// Where vehicles can still be put down.
    pub(crate) spots: Vec<Spot>,
    /// Members of a closure that nothing blocks yet.
    pub(crate) unlocked: Bits,
    pub(crate) n_vehicles: u32,
    paths: Vec<Bits>,
    layers: Vec<[u32; 2]>,
}

impl Site {
    /// A lot with nothing but its unit.
    pub(crate) fn new(lot: Lot, unit: Body, model: Model, closed: Vec<Side>, spots: &[Spot]) -> Self {
        let taken = Spot::new(lot, unit)
            .expect("the unit is parked inside the lot")
            .squares;
        let growths = Escape::BOTH.map(|escape| {
            let lane: Bits = escape
                .driving(unit)
                .path(lot)
                .map(|square| lot.number(square))
                .collect();
            Growth {
                lane,
                reach: lane,
                ..Growth::default()
            }
        });
        let mut site = Self {
            lot,
            unit,
            pieces: vec![Piece::Unit(model, unit)],
            taken,
            growths,
            spots: spots
                .iter()
                .filter(|spot| !closed.contains(&spot.body.facing.side()))
                .copied()
                .collect(),
            closed,
            unlocked: Bits::EMPTY,
            n_vehicles: 0,
            paths: vec![Bits::EMPTY],
            layers: vec![[0; 2]],
        };
        site.drop_spots();
        site
    }

    /// Every spot of a lot, in an order that depends on nothing else.
    pub(crate) fn all_spots(lot: Lot) -> Vec<Spot> {
        let squares = (0..lot.n_squares()).map(|number| lot.square(number));
        squares
            .flat_map(|front| Facing::ALL.map(|facing| (front, facing)))
            .flat_map(|(front, facing)| {
                (1..=3).map(move |length| Body {
                    front,
                    facing,
                    length,
                })
            })
            .filter_map(|body| Spot::new(lot, body))
            .collect()
    }

    /// Whether a piece on these squares would join the closure of a lane.
    pub(crate) fn joins(&self, squares: Bits, lane: usize) -> bool {
        squares.intersects(self.growths[lane].reach)
    }

    /// The layer that a piece on these squares would have in the closure of a lane, 0 if it would not join.
    pub(crate) fn layer(&self, squares: Bits, lane: usize) -> u32 {
        let growth = &self.growths[lane];
        let in_lane = u32::from(squares.intersects(growth.lane));
        let blocked = growth
            .members
            .iter()
            .filter(|member| squares.intersects(self.paths[*member]));
        blocked
            .map(|member| self.layers[member][lane] + 1)
            .max()
            .unwrap_or(0)
            .max(in_lane)
    }

    /// The squares that a piece must find free to leave.
    pub(crate) fn path(&self, piece: usize) -> Bits {
        self.paths[piece]
    }

    /// The squares that a piece stands on.
    pub(crate) fn squares(&self, piece: usize) -> Bits {
        self.pieces[piece]
            .squares(self.lot)
            .flatten()
            .map(|square| self.lot.number(square))
            .collect()
    }

    pub(crate) fn put_vehicle(&mut self, spot: Spot) {
        self.n_vehicles += 1;
        self.put(Piece::Vehicle(spot.body), spot.squares, spot.path);
    }

    /// Puts down a wreck, a barricade or a planter, which never needs a path.
    pub(crate) fn put_still(&mut self, piece: Piece, squares: Bits) {
        self.put(piece, squares, Bits::EMPTY);
    }

    fn put(&mut self, piece: Piece, squares: Bits, path: Bits) {
        let number = self.pieces.len();
        let layers = [0, 1].map(|lane| self.layer(squares, lane));
        for (growth, layer) in self.growths.iter_mut().zip(layers) {
            if layer > 0 {
                growth.members.insert(number);
                growth.size += 1;
                growth.depth = growth.depth.max(layer);
                growth.reach |= path;
            }
        }
        for member in self.unlocked.iter() {
            if squares.intersects(self.paths[member]) {
                self.unlocked.remove(member);
            }
        }
        if matches!(piece, Piece::Vehicle(_)) && layers != [0, 0] {
            self.unlocked.insert(number);
        }
        self.pieces.push(piece);
        self.paths.push(path);
        self.layers.push(layers);
        self.taken |= squares;
        self.drop_spots();
    }

    fn drop_spots(&mut self) {
        let taken = self.taken;
        self.spots
            .retain(|spot| !(spot.squares | spot.path).intersects(taken));
    }

    /// The squares of the lot beside the unit.
    pub(crate) fn flanks(&self) -> Bits {
        flanks(self.lot, self.unit)
    }

    /// A free square's number as a square.
    pub(crate) fn square(&self, number: usize) -> Square {
        self.lot.square(number)
    }
}

/// The squares of the lot that touch the long sides of the unit.
pub(crate) fn flanks(lot: Lot, unit: Body) -> Bits {
    let beside = [unit.facing.turned(), unit.facing.turned().back()];
    let squares = unit.squares(lot).flatten();
    squares
        .flat_map(|square| beside.map(|way| lot.step(square, way)))
        .flatten()
        .map(|square| lot.number(square))
        .collect()
}

/// Squares taken, in percent of the lot's, rounded down.
pub(crate) fn fullness_percent(lot: Lot, taken: Bits) -> u32 {
    u32::try_from(taken.len() * 100 / lot.n_squares()).expect("a percentage")
}
