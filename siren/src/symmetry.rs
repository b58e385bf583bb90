//! Turning and mirroring jams, and reducing a jam to what matters for play.
//!
//! *Turning* by quarters keeps every rule: clockwise stays clockwise.
//!
//! *Mirroring* turns the one-way ring road round. Yet all that play sees of the ring road is whether there is an open
//! exit at all, and which joining places need the drawbridge: an arc that runs clockwise from just after one open exit
//! to the bridge. The mirror image of an arc is an arc, and every arc is that of some clockwise ring road: put the bridge
//! at its clockwise end, one open exit at the same place and one just before its other end. So each jam has a mirror
//! image that plays alike under the same rules, though its exits may stand elsewhere than in a looking glass.
//!
//! [`essence`] keeps of a jam exactly what its costs and its legal moves depend on. Gone are the unit's looks, the way
//! wrecks look, crossings, exits beyond those that the arc needs, tows beyond the number of wrecks, and the order of lists.

use crate::jam::{Exit, Jam, JamParts, Light};
use crate::lot::{Facing, Lot, Place, Side, Square};
use crate::pieces::{Body, Model, Piece};

/// The joining places whose way to the first open exit crosses the drawbridge: from and to, clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BridgeArc {
    pub(crate) from: Place,
    pub(crate) to: Place,
}

/// The arc of a ring road with an open exit and a bridge.
pub(crate) fn bridge_arc(jam: &Jam) -> Option<BridgeArc> {
    let bridge = jam.parts().bridge?;
    let ring: Vec<Place> = jam.lot().ring().collect();
    let at = jam.lot().ring_position(bridge);
    let back =
        (1..=ring.len()).find(|back| jam.has_open_exit(ring[(at + ring.len() - back) % ring.len()]))?;
    if back == ring.len() {
        // The only open exit is at the bridge: every place needs it, wherever the arc is said to begin.
        return Some(BridgeArc {
            from: ring[0],
            to: ring[ring.len() - 1],
        });
    }
    Some(BridgeArc {
        from: ring[(at + ring.len() - back + 1) % ring.len()],
        to: bridge,
    })
}

/// A jam with the same moves and costs in which nothing is kept that they do not depend on, with its lists in the order
/// of the lot and the ring.
pub fn essence(jam: &Jam) -> Jam {
    let parts = jam.parts();
    let lot = jam.lot();
    let pieces = parts.pieces.iter().map(|piece| match *piece {
        Piece::Unit(_, body) => Piece::Unit(Model::Ambulance, body),
        Piece::Wreck(body) => Piece::Wreck(laid(body)),
        other => other,
    });
    let has_exit = parts.exits.iter().any(|exit| exit.open);
    let mut reduced = JamParts {
        lot,
        closed_sides: parts.closed_sides.clone(),
        pieces: pieces.collect(),
        exits: if has_exit {
            vec![open(lot.ring().next().expect("a ring road has places"))]
        } else {
            Vec::new()
        },
        lights: parts.lights.clone(),
        bridge: None,
        crossings: Vec::new(),
        tows: parts
            .tows
            .min(u8::try_from(jam.n_wrecks()).expect("144 pieces at most")),
    };
    if let Some(arc) = bridge_arc(jam) {
        build_ring(&mut reduced, arc);
    }
    Jam::new(sorted(reduced)).expect("a legal jam in another order is legal")
}

/// The essence turned a quarter clockwise.
pub(crate) fn turned(jam: &Jam) -> Jam {
    let parts = jam.parts();
    let (width, height) = (parts.lot.width(), parts.lot.height());
    let lot = Lot::new(height, width).expect("a lot's sizes change places");
    let square = |square: Square| Square {
        column: height - 1 - square.row,
        row: square.column,
    };
    let place = |Place { side, index }: Place| match side {
        Side::Top => Place {
            side: Side::Right,
            index,
        },
        Side::Right => Place {
            side: Side::Bottom,
            index: height - 1 - index,
        },
        Side::Bottom => Place {
            side: Side::Left,
            index,
        },
        Side::Left => Place {
            side: Side::Top,
            index: height - 1 - index,
        },
    };
    let arc = bridge_arc(jam).map(|arc| BridgeArc {
        from: place(arc.from),
        to: place(arc.to),
    });
    moved(jam, lot, arc, square, place, Facing::turned)
}

/// The essence mirrored left to right.
pub(crate) fn mirrored(jam: &Jam) -> Jam {
    let lot = jam.lot();
    let across = |index: u8| lot.width() - 1 - index;
    let square = |square: Square| Square {
        column: across(square.column),
        row: square.row,
    };
    let place = |Place { side, index }: Place| match side {
        Side::Top | Side::Bottom => Place {
            side,
            index: across(index),
        },
        Side::Right => Place {
            side: Side::Left,
            index,
        },
        Side::Left => Place {
            side: Side::Right,
            index,
        },
    };
    let facing = |facing: Facing| {
        if facing.is_vertical() {
            facing
        } else {
            facing.back()
        }
    };
    // The mirror image of a clockwise arc runs clockwise from the image of its end.
    let arc = bridge_arc(jam).map(|arc| BridgeArc {
        from: place(arc.to),
        to: place(arc.from),
    });
    moved(jam, lot, arc, square, place, facing)
}

fn moved(
    jam: &Jam,
    lot: Lot,
    arc: Option<BridgeArc>,
    square: impl Fn(Square) -> Square,
    place: impl Fn(Place) -> Place,
    facing: impl Fn(Facing) -> Facing,
) -> Jam {
    let parts = jam.parts();
    let body = |body: Body| Body {
        front: square(body.front),
        facing: facing(body.facing),
        ..body
    };
    let pieces = parts.pieces.iter().map(|piece| match *piece {
        Piece::Unit(model, unit) => Piece::Unit(model, body(unit)),
        Piece::Vehicle(vehicle) => Piece::Vehicle(body(vehicle)),
        Piece::Wreck(wreck) => Piece::Wreck(laid(body(wreck))),
        Piece::Barricade(at) => Piece::Barricade(square(at)),
        Piece::Planter(at) => Piece::Planter(square(at)),
    });
    let lights = parts.lights.iter().map(|light| Light {
        place: place(light.place),
        ..*light
    });
    let side_of = |side: Side| place(Place { side, index: 0 }).side;
    let mut image = JamParts {
        lot,
        closed_sides: parts.closed_sides.iter().map(|side| side_of(*side)).collect(),
        pieces: pieces.collect(),
        exits: parts
            .exits
            .iter()
            .map(|exit| Exit {
                place: place(exit.place),
                ..*exit
            })
            .collect(),
        lights: lights.collect(),
        bridge: None,
        crossings: Vec::new(),
        tows: parts.tows,
    };
    if let Some(arc) = arc {
        build_ring(&mut image, arc);
    }
    essence(&Jam::new(image).expect("the image of a legal jam is legal"))
}

/// The ring road on which exactly the places of an arc need the bridge.
pub(crate) fn build_ring(parts: &mut JamParts, arc: BridgeArc) {
    let lot = parts.lot;
    let ring: Vec<Place> = lot.ring().collect();
    let before = ring[(lot.ring_position(arc.from) + ring.len() - 1) % ring.len()];
    parts.bridge = Some(arc.to);
    parts.exits = if before == arc.to {
        vec![open(arc.to)]
    } else {
        vec![open(before), open(arc.to)]
    };
}

fn open(place: Place) -> Exit {
    Exit { place, open: true }
}

/// A wreck's squares, looking right or down.
fn laid(body: Body) -> Body {
    match body {
        Body { length: 1, .. } => Body {
            facing: Facing::Right,
            ..body
        },
        Body {
            facing: Facing::Up | Facing::Left,
            ..
        } => body.reversed(),
        _ => body,
    }
}

/// The same parts, their lists in the order of the lot and the ring.
pub(crate) fn sorted(mut parts: JamParts) -> JamParts {
    let lot = parts.lot;
    let first = |piece: &Piece| {
        piece
            .squares(lot)
            .flatten()
            .map(|square| lot.number(square))
            .min()
    };
    parts.pieces.sort_unstable_by_key(first);
    parts.closed_sides.sort_unstable();
    parts
        .exits
        .sort_unstable_by_key(|exit| lot.ring_position(exit.place));
    parts
        .lights
        .sort_unstable_by_key(|light| lot.ring_position(light.place));
    parts
}
