//! What stands in whose way, worked out once.
//!
//! Nothing ever comes back and nothing moves but off the lot, so the pieces on a vehicle's path at the start are all
//! that will ever be on it: the relation does not change during play. This module reads it off a jam, with each
//! vehicle's route along the ring road; it decides nothing about orders or costs.

use crate::bits::Bits;
use crate::jam::{Colour, Jam};
use crate::lot::{Place, Side};
use crate::pieces::{Body, Piece};
use crate::simulate::Escape;

/// A vehicle's way from the lot to its exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it joins the ring road.
    pub joins: Place,
    /// The first open exit from there, clockwise; it may be the same place.
    pub exit: Place,
    /// Whether the drawbridge lies between the two, both included.
    pub needs_bridge: bool,
    /// The light where it leaves the lot, by its colour at the start.
    pub light: Option<Colour>,
    /// Pedestrian crossings between the two, both included.
    pub n_crossings: u8,
}

/// Why a vehicle can never leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoRoute {
    /// A planter on its path.
    #[error("faces planter {0}")]
    Planter(usize),
    /// The unit on its path.
    #[error("faces the unit")]
    Unit,
    /// Its path ends at a closed side.
    #[error("faces the {0} side, which is closed")]
    ClosedSide(Side),
    /// No exit of the ring road is open.
    #[error("finds no open exit")]
    NoOpenExit,
}

/// What keeps an escape shut whatever is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Shut {
    /// A planter in the lane.
    #[error("the lane meets planter {0}")]
    Planter(usize),
    /// The lane ends at a closed side.
    #[error("the lane meets the {0} side, which is closed")]
    ClosedSide(Side),
}

/// One of the unit's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its squares.
    pub squares: Bits,
    /// The removable pieces that stand in it.
    pub pieces: Bits,
    /// What shuts it, if anything does.
    pub shut: Option<Shut>,
}

/// The blockers of a jam: a directed graph over its pieces, with routes and lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blockers {
    in_the_way: Vec<Bits>,
    routes: Vec<Option<Result<Route, NoRoute>>>,
    lanes: [Lane; 2],
    without_route: Bits,
    needs_bridge: Bits,
    red: [Bits; 2],
    vehicles: Bits,
    wrecks: Bits,
    barricades: Bits,
}

impl Blockers {
    /// Reads the relation off a jam.
    pub fn new(jam: &Jam) -> Self {
        let kinds = Kinds::new(jam);
        let ring = Ring::new(jam);
        let mut in_the_way = vec![Bits::EMPTY; jam.n_pieces()];
        let mut routes = vec![None; jam.n_pieces()];
        let (mut without_route, mut needs_bridge, mut red) = (Bits::EMPTY, Bits::EMPTY, [Bits::EMPTY; 2]);
        for (number, piece) in jam.pieces().iter().enumerate() {
            let Piece::Vehicle(body) = *piece else { continue };
            let path = Path::new(jam, &kinds, body);
            in_the_way[number] = path.removable;
            let route = path.route(jam, &ring);
            match &route {
                Err(_) => without_route.insert(number),
                Ok(route) => {
                    if route.needs_bridge {
                        needs_bridge.insert(number);
                    }
                    if let Some(colour) = route.light {
                        red[usize::from(colour == Colour::Green)].insert(number);
                    }
                }
            }
            routes[number] = Some(route);
        }
        let lanes = Escape::BOTH.map(|escape| {
            let path = Path::new(jam, &kinds, escape.driving(jam.unit_body()));
            Lane {
                squares: path.squares,
                pieces: path.removable,
                shut: path.shut(jam),
            }
        });
        Self {
            in_the_way,
            routes,
            lanes,
            without_route,
            needs_bridge,
            red,
            vehicles: kinds.vehicles,
            wrecks: kinds.wrecks,
            barricades: kinds.barricades,
        }
    }

    /// The removable pieces that stand on a piece's path at the start; empty for all but vehicles, since wrecks and
    /// barricades are lifted off the lot.
    #[inline]
    pub fn of(&self, piece: usize) -> Bits {
        self.in_the_way[piece]
    }

    /// A vehicle's way out, or why it has none; `None` for other pieces.
    #[inline]
    pub fn route(&self, piece: usize) -> Option<Result<Route, NoRoute>> {
        self.routes[piece]
    }

    /// A lane.
    #[inline]
    pub fn lane(&self, escape: Escape) -> &Lane {
        &self.lanes[escape as usize]
    }

    /// The vehicles that can never leave.
    #[inline]
    pub fn without_route(&self) -> Bits {
        self.without_route
    }

    /// The vehicles whose route crosses the drawbridge.
    #[inline]
    pub fn needs_bridge(&self) -> Bits {
        self.needs_bridge
    }

    /// The vehicles whose light is red: at the start, or (`swapped`) after an odd number of swaps.
    #[inline]
    pub fn red(&self, swapped: bool) -> Bits {
        self.red[usize::from(swapped)]
    }

    /// The wrecks.
    #[inline]
    pub fn wrecks(&self) -> Bits {
        self.wrecks
    }

    /// Everything that some move can take off the lot.
    #[inline]
    pub fn removable(&self) -> Bits {
        self.vehicles | self.wrecks | self.barricades
    }

    /// The vehicles that can drive.
    #[inline]
    pub fn vehicles(&self) -> Bits {
        self.vehicles
    }

    /// All that stands in `first`, and all that stands in the way of that, and so on, among `present`.
    pub fn closure(&self, first: Bits, present: Bits) -> Bits {
        let mut closure = first & present;
        let mut fresh = closure;
        while !fresh.is_empty() {
            let in_the_way = fresh
                .iter()
                .fold(Bits::EMPTY, |all, piece| all | self.in_the_way[piece]);
            fresh = (in_the_way & present) - closure;
            closure |= fresh;
        }
        closure
    }
}

struct Kinds {
    vehicles: Bits,
    wrecks: Bits,
    barricades: Bits,
    planters: Bits,
}

impl Kinds {
    fn new(jam: &Jam) -> Self {
        let of = |wanted: fn(&Piece) -> bool| -> Bits {
            jam.pieces()
                .iter()
                .enumerate()
                .filter(|(_, piece)| wanted(piece))
                .map(|(number, _)| number)
                .collect()
        };
        Self {
            vehicles: of(|piece| matches!(piece, Piece::Vehicle(_))),
            wrecks: of(|piece| matches!(piece, Piece::Wreck(_))),
            barricades: of(|piece| matches!(piece, Piece::Barricade(_))),
            planters: of(|piece| matches!(piece, Piece::Planter(_))),
        }
    }
}

/// What lies between a body and the edge of the lot.
struct Path {
    squares: Bits,
    removable: Bits,
    planter: Option<usize>,
    meets_unit: bool,
    leaves_at: Place,
}

impl Path {
    fn new(jam: &Jam, kinds: &Kinds, body: Body) -> Self {
        let lot = jam.lot();
        let (mut squares, mut met, mut last) = (Bits::EMPTY, Bits::EMPTY, body.front);
        for square in body.path(lot) {
            squares.insert(lot.number(square));
            jam.piece_at(square)
                .into_iter()
                .for_each(|piece| met.insert(piece));
            last = square;
        }
        Self {
            squares,
            removable: met & (kinds.vehicles | kinds.wrecks | kinds.barricades),
            planter: (met & kinds.planters).first(),
            meets_unit: met.contains(jam.unit()),
            leaves_at: lot.leaves_at(last, body.facing),
        }
    }

    fn shut(&self, jam: &Jam) -> Option<Shut> {
        let side = self.leaves_at.side;
        self.planter
            .map(Shut::Planter)
            .or_else(|| jam.is_closed(side).then_some(Shut::ClosedSide(side)))
    }

    fn route(&self, jam: &Jam, ring: &Ring) -> Result<Route, NoRoute> {
        if let Some(planter) = self.planter {
            return Err(NoRoute::Planter(planter));
        }
        if self.meets_unit {
            return Err(NoRoute::Unit);
        }
        if jam.is_closed(self.leaves_at.side) {
            return Err(NoRoute::ClosedSide(self.leaves_at.side));
        }
        ring.route(jam, self.leaves_at)
    }
}

/// The ring road by positions, clockwise.
struct Ring {
    length: usize,
    exits: Vec<(usize, Place)>,
    bridge: Option<usize>,
    crossings: Vec<usize>,
}

impl Ring {
    fn new(jam: &Jam) -> Self {
        let (lot, parts) = (jam.lot(), jam.parts());
        let open = parts.exits.iter().filter(|exit| exit.open);
        Self {
            length: lot.ring_length(),
            exits: open
                .map(|exit| (lot.ring_position(exit.place), exit.place))
                .collect(),
            bridge: parts.bridge.map(|place| lot.ring_position(place)),
            crossings: parts
                .crossings
                .iter()
                .map(|place| lot.ring_position(*place))
                .collect(),
        }
    }

    fn route(&self, jam: &Jam, joins: Place) -> Result<Route, NoRoute> {
        let from = jam.lot().ring_position(joins);
        let ahead = |position: usize| {
            if position >= from {
                position - from
            } else {
                position + self.length - from
            }
        };
        let (way, exit) = self
            .exits
            .iter()
            .map(|(position, place)| (ahead(*position), *place))
            .min_by_key(|(way, _)| *way)
            .ok_or(NoRoute::NoOpenExit)?;
        let passed = |position: usize| ahead(position) <= way;
        let n_crossings = self
            .crossings
            .iter()
            .filter(|position| passed(**position))
            .count();
        Ok(Route {
            joins,
            exit,
            needs_bridge: self.bridge.is_some_and(passed),
            light: jam.light_at(joins),
            n_crossings: u8::try_from(n_crossings).expect("a ring road has 48 places at most"),
        })
    }
}
