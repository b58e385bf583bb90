//! A jam: a legal position of pieces on a lot, with its ring road. Everything after this module trusts it.

use crate::bits::Bits;
use crate::lot::{Lot, Place, Side, Square};
use crate::pieces::{Body, Piece};
use serde::{Deserialize, Serialize};

/// A gap in the ring road's outer edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Exit {
    /// Where it is.
    pub place: Place,
    /// Closed exits are passed by.
    pub open: bool,
}

/// A colour of a traffic light.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colour {
    /// Go.
    Green,
    /// Stop.
    Red,
}

/// A traffic light between the lot and the ring road.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Light {
    /// What leaves the lot here needs green.
    pub place: Place,
    /// Its colour at the start; each swap changes it.
    pub start: Colour,
}

/// All that makes a jam, not yet checked: what [`Jam::new`] takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JamParts {
    /// The size.
    pub lot: Lot,
    /// Sides that nothing leaves the lot over.
    pub closed_sides: Vec<Side>,
    /// Everything on the lot, the unit included. A piece is known by its number in this list.
    pub pieces: Vec<Piece>,
    /// The ring road's exits.
    pub exits: Vec<Exit>,
    /// The traffic lights.
    pub lights: Vec<Light>,
    /// The drawbridge on the ring road, up at the start.
    pub bridge: Option<Place>,
    /// Pedestrian crossings on the ring road.
    pub crossings: Vec<Place>,
    /// Tows that the level grants.
    pub tows: u8,
}

/// Why parts make no jam. Pieces and the rest are named as in the level file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JamError {
    /// Nothing is to be freed.
    #[error("pieces: there is no unit")]
    NoUnit,
    /// One jam, one unit.
    #[error("pieces[{piece}]: a second unit at {at}; the first is pieces[{first}]")]
    SecondUnit {
        /// The second.
        piece: usize,
        /// The first.
        first: usize,
        /// The front of the second.
        at: Square,
    },
    /// A length that its kind does not have.
    #[error("pieces[{piece}]: {kind} has length {length}, expected {expected}")]
    Length {
        /// Which.
        piece: usize,
        /// Its kind.
        kind: &'static str,
        /// Squares.
        length: u8,
        /// The lengths that the kind may have.
        expected: &'static str,
    },
    /// A square outside the lot.
    #[error("pieces[{piece}]: {kind} at {at} does not lie inside the {lot} lot")]
    OffLot {
        /// Which.
        piece: usize,
        /// Its kind.
        kind: &'static str,
        /// Its front, or its only square.
        at: Square,
        /// The lot.
        lot: Lot,
    },
    /// Two pieces on a square.
    #[error("pieces[{piece}]: overlaps pieces[{other}] at {at}")]
    Overlap {
        /// The later.
        piece: usize,
        /// The earlier.
        other: usize,
        /// The first square in reading order that both stand on.
        at: Square,
    },
    /// An exit, light, bridge or crossing at an index that its side does not have.
    #[error("{list}[{index}]: no place {place} on a {lot} lot, whose {side} side has places 0 to {last}", side = place.side)]
    NoSuchPlace {
        /// The list of the level file.
        list: &'static str,
        /// Number in that list.
        index: usize,
        /// The place.
        place: Place,
        /// The lot.
        lot: Lot,
        /// The last index of that side.
        last: u8,
    },
    /// Two of a kind at one place.
    #[error("{list}[{index}]: a second one at {place}")]
    PlaceTaken {
        /// The list of the level file.
        list: &'static str,
        /// Number of the second in that list.
        index: usize,
        /// The place.
        place: Place,
    },
    /// A side named twice.
    #[error("lot.closed_sides[{index}]: {side} is closed already")]
    SideTwice {
        /// Number in the list.
        index: usize,
        /// The side.
        side: Side,
    },
}

/// A legal jam.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Jam {
    parts: JamParts,
    unit: usize,
    squares: Vec<Bits>,
    piece_at: Vec<Option<u8>>,
}

impl Jam {
    /// Checks the parts.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    pub fn new(parts: JamParts) -> Result<Self, JamError> {
        let lot = parts.lot;
        let unit = the_unit(&parts.pieces)?;
        let mut squares = Vec::with_capacity(parts.pieces.len());
        let mut piece_at: Vec<Option<u8>> = vec![None; lot.n_squares()];
        for (piece, what) in parts.pieces.iter().enumerate() {
            check_length(piece, *what)?;
            let mut set = Bits::EMPTY;
            for square in what.squares(lot) {
                let Some(square) = square else {
                    return Err(JamError::OffLot {
                        piece,
                        kind: what.kind(),
                        at: nominal(*what),
                        lot,
                    });
                };
                set.insert(lot.number(square));
            }
            if let Some((other, number)) = set
                .iter()
                .find_map(|number| piece_at[number].map(|other| (other, number)))
            {
                return Err(JamError::Overlap {
                    piece,
                    other: other.into(),
                    at: lot.square(number),
                });
            }
            let name = u8::try_from(piece).expect("pieces on distinct squares number 144 at most");
            set.iter().for_each(|number| piece_at[number] = Some(name));
            squares.push(set);
        }
        check_sides(&parts.closed_sides)?;
        check_places(lot, "ring.exits", parts.exits.iter().map(|exit| exit.place))?;
        check_places(lot, "ring.lights", parts.lights.iter().map(|light| light.place))?;
        check_places(lot, "ring.bridge", parts.bridge.into_iter())?;
        check_places(lot, "ring.crossings", parts.crossings.iter().copied())?;
        Ok(Self {
            parts,
            unit,
            squares,
            piece_at,
        })
    }

    /// The parts, to look at.
    pub fn parts(&self) -> &JamParts {
        &self.parts
    }

    /// The parts, to change and check again.
    pub fn into_parts(self) -> JamParts {
        self.parts
    }

    /// The size.
    #[inline]
    pub fn lot(&self) -> Lot {
        self.parts.lot
    }

    /// Everything on the lot, by number.
    #[inline]
    pub fn pieces(&self) -> &[Piece] {
        &self.parts.pieces
    }

    /// How many pieces there are, the unit and the planters included.
    pub fn n_pieces(&self) -> usize {
        self.parts.pieces.len()
    }

    /// How many vehicles that can drive there are, the unit not counted.
    pub fn n_vehicles(&self) -> usize {
        self.parts
            .pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Vehicle(_)))
            .count()
    }

    /// How many wrecks there are.
    pub fn n_wrecks(&self) -> usize {
        self.parts
            .pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Wreck(_)))
            .count()
    }

    /// The unit's number.
    pub fn unit(&self) -> usize {
        self.unit
    }

    /// The unit's body.
    pub fn unit_body(&self) -> Body {
        self.parts.pieces[self.unit].body().expect("the unit has a body")
    }

    /// The squares that a piece stands on.
    #[inline]
    pub fn squares(&self, piece: usize) -> Bits {
        self.squares[piece]
    }

    /// The piece that stands on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<usize> {
        self.piece_at[self.lot().number(square)].map(usize::from)
    }

    /// Whether nothing leaves the lot over the side.
    #[inline]
    pub fn is_closed(&self, side: Side) -> bool {
        self.parts.closed_sides.contains(&side)
    }

    /// Whether the ring road has an open exit at the place.
    pub fn has_open_exit(&self, place: Place) -> bool {
        self.parts
            .exits
            .iter()
            .any(|exit| exit.open && exit.place == place)
    }

    /// The light that what leaves the lot at the place must mind, by its colour at the start.
    #[inline]
    pub fn light_at(&self, place: Place) -> Option<Colour> {
        self.parts
            .lights
            .iter()
            .find(|light| light.place == place)
            .map(|light| light.start)
    }
}

fn the_unit(pieces: &[Piece]) -> Result<usize, JamError> {
    let mut units = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| matches!(piece, Piece::Unit(..)));
    let (first, _) = units.next().ok_or(JamError::NoUnit)?;
    match units.next() {
        None => Ok(first),
        Some((piece, what)) => Err(JamError::SecondUnit {
            piece,
            first,
            at: nominal(*what),
        }),
    }
}

fn nominal(piece: Piece) -> Square {
    match piece {
        Piece::Unit(_, body) | Piece::Vehicle(body) | Piece::Wreck(body) => body.front,
        Piece::Barricade(square) | Piece::Planter(square) => square,
    }
}

fn check_length(piece: usize, what: Piece) -> Result<(), JamError> {
    let Some(body) = what.body() else { return Ok(()) };
    let (shortest, expected) = if matches!(what, Piece::Unit(..)) {
        (2, "2 or 3")
    } else {
        (1, "1 to 3")
    };
    if (shortest..=3).contains(&body.length) {
        return Ok(());
    }
    Err(JamError::Length {
        piece,
        kind: what.kind(),
        length: body.length,
        expected,
    })
}

fn check_sides(sides: &[Side]) -> Result<(), JamError> {
    match (0..sides.len()).find(|index| sides[..*index].contains(&sides[*index])) {
        None => Ok(()),
        Some(index) => Err(JamError::SideTwice {
            index,
            side: sides[index],
        }),
    }
}

fn check_places(lot: Lot, list: &'static str, places: impl Iterator<Item = Place>) -> Result<(), JamError> {
    let mut seen = Bits::EMPTY;
    for (index, place) in places.enumerate() {
        let n_places = lot.side_length(place.side);
        if place.index >= n_places {
            return Err(JamError::NoSuchPlace {
                list,
                index,
                place,
                lot,
                last: n_places - 1,
            });
        }
        let position = lot.ring_position(place);
        if seen.contains(position) {
            return Err(JamError::PlaceTaken { list, index, place });
        }
        seen.insert(position);
    }
    Ok(())
}
