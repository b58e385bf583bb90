//! Turned and mirrored jams are the same puzzle, and have the same canonical spelling.

#![expect(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

use siren::canonical::{Canonical, CanonicalError};
use siren::closure::solve;
use siren::jam::{Exit, Jam, JamParts};
use siren::lot::{Facing, Lot, Place, Side, Square};
use siren::pieces::{Body, Piece};
use siren::random::{Stream, derive_seed};
use siren::sample::Sample;
use siren::simulate::Escape;
use siren::symmetry::essence;

const LARGE: Sample = Sample {
    width: (3, 12),
    height: (3, 12),
    tries: (5, 120),
    max_lights: 20,
};

fn jams(run: u64, n: u64) -> impl Iterator<Item = Jam> {
    (0..n).map(move |number| {
        let mut stream = Stream::new(derive_seed(&[run, number]));
        let sample = if number % 2 == 0 {
            Sample {
                height: (3, 7),
                ..Sample::SMALL
            }
        } else {
            LARGE
        };
        sample.draw(&mut stream)
    })
}

/// A jam turned a quarter clockwise as a drawing, exits and all: written apart from the library's own.
fn turned_drawing(jam: &Jam) -> Jam {
    let parts = jam.parts();
    let height = parts.lot.height();
    let square = |square: Square| Square {
        column: height - 1 - square.row,
        row: square.column,
    };
    let place = |place: Place| {
        let ring: Vec<Place> = parts.lot.ring().collect();
        let at = ring.iter().position(|other| *other == place).unwrap();
        let turned: Vec<Place> = Lot::new(height, parts.lot.width()).unwrap().ring().collect();
        turned[(at + usize::from(height)) % turned.len()]
    };
    let body = |body: Body| Body {
        front: square(body.front),
        facing: body.facing.turned(),
        ..body
    };
    let side = |side: Side| Side::ALL[(Side::ALL.iter().position(|other| *other == side).unwrap() + 1) % 4];
    let mut image = parts.clone();
    image.lot = Lot::new(height, parts.lot.width()).unwrap();
    image
        .closed_sides
        .iter_mut()
        .for_each(|closed| *closed = side(*closed));
    image.pieces.iter_mut().for_each(|piece| {
        *piece = match *piece {
            Piece::Unit(model, unit) => Piece::Unit(model, body(unit)),
            Piece::Vehicle(vehicle) => Piece::Vehicle(body(vehicle)),
            Piece::Wreck(wreck) => Piece::Wreck(body(wreck)),
            Piece::Barricade(at) => Piece::Barricade(square(at)),
            Piece::Planter(at) => Piece::Planter(square(at)),
        };
    });
    image
        .exits
        .iter_mut()
        .for_each(|exit| exit.place = place(exit.place));
    image
        .lights
        .iter_mut()
        .for_each(|light| light.place = place(light.place));
    image
        .crossings
        .iter_mut()
        .for_each(|crossing| *crossing = place(*crossing));
    image.bridge = image.bridge.map(place);
    Jam::new(image).unwrap()
}

/// A jam without a bridge in a looking glass, exits and all: its ring road only asks whether an exit is open.
fn mirrored_drawing(jam: &Jam) -> Jam {
    let mut image: JamParts = jam.parts().clone();
    let lot = image.lot;
    let square = |square: Square| Square {
        column: lot.width() - 1 - square.column,
        ..square
    };
    let place = |place: Place| match place.side {
        Side::Top | Side::Bottom => Place {
            index: lot.width() - 1 - place.index,
            ..place
        },
        Side::Left => Place {
            side: Side::Right,
            ..place
        },
        Side::Right => Place {
            side: Side::Left,
            ..place
        },
    };
    let facing = |facing: Facing| match facing {
        Facing::Left => Facing::Right,
        Facing::Right => Facing::Left,
        other => other,
    };
    let body = |body: Body| Body {
        front: square(body.front),
        facing: facing(body.facing),
        ..body
    };
    for side in &mut image.closed_sides {
        *side = place(Place {
            side: *side,
            index: 0,
        })
        .side;
    }
    image.pieces.iter_mut().for_each(|piece| {
        *piece = match *piece {
            Piece::Unit(model, unit) => Piece::Unit(model, body(unit)),
            Piece::Vehicle(vehicle) => Piece::Vehicle(body(vehicle)),
            Piece::Wreck(wreck) => Piece::Wreck(body(wreck)),
            Piece::Barricade(at) => Piece::Barricade(square(at)),
            Piece::Planter(at) => Piece::Planter(square(at)),
        };
    });
    image
        .exits
        .iter_mut()
        .for_each(|exit| exit.place = place(exit.place));
    image
        .lights
        .iter_mut()
        .for_each(|light| light.place = place(light.place));
    image
        .crossings
        .iter_mut()
        .for_each(|crossing| *crossing = place(*crossing));
    Jam::new(image).unwrap()
}

fn costs(jam: &Jam) -> [Option<u32>; 2] {
    let answer = solve(jam);
    Escape::BOTH.map(|escape| answer.cost(escape))
}

#[test]
fn turning_changes_neither_costs_nor_canonical_spelling() {
    for jam in jams(10, 600) {
        let canonical = Canonical::new(&jam);
        let mut image = jam.clone();
        for _ in 0..4 {
            image = turned_drawing(&image);
            assert_eq!(costs(&image), costs(&jam));
            assert_eq!(Canonical::new(&image), canonical);
        }
        assert_eq!(image, jam, "four quarters are a whole turn");
    }
}

#[test]
fn mirroring_changes_neither_costs_nor_canonical_spelling_where_there_is_no_bridge() {
    let without_bridge = jams(11, 1_600).filter(|jam| jam.parts().bridge.is_none());
    let mut n = 0;
    for jam in without_bridge {
        let image = mirrored_drawing(&jam);
        assert_eq!(costs(&image), costs(&jam));
        assert_eq!(Canonical::new(&image), Canonical::new(&jam));
        n += 1;
    }
    assert!(n > 400);
}

#[test]
fn a_mirrored_drawing_with_a_bridge_can_be_another_puzzle() {
    let differs = |jam: &Jam| costs(&mirrored_drawing(jam)) != costs(jam);
    assert!(jams(12, 2_000).any(|jam| jam.parts().bridge.is_some() && differs(&jam)));
}

#[test]
fn a_canonical_spelling_reads_back_to_a_jam_of_the_same_costs_and_spelling() {
    for jam in jams(13, 1_500) {
        let canonical = Canonical::new(&jam);
        assert_eq!(Canonical::parse(canonical.as_str()).as_ref(), Ok(&canonical));
        let back = canonical.jam();
        assert_eq!(costs(&back), costs(&jam), "{canonical}");
        assert_eq!(essence(&back), back, "{canonical}");
    }
}

#[test]
fn the_essence_forgets_what_play_does_not_see() {
    let mut n_bridges = 0;
    for jam in jams(14, 1_000) {
        let reduced = essence(&jam);
        assert_eq!(costs(&reduced), costs(&jam));
        let mut parts = jam.parts().clone();
        parts.crossings.clear();
        parts.exits.retain(|exit| exit.open);
        parts.pieces.reverse();
        assert_eq!(essence(&Jam::new(parts).unwrap()), reduced);
        n_bridges += usize::from(reduced.parts().bridge.is_some());
    }
    assert!(n_bridges > 250);
}

#[test]
fn different_jams_have_different_spellings() {
    let jam = jams(15, 200)
        .find(|jam| jam.parts().exits.iter().any(|exit| exit.open))
        .unwrap();
    let mut parts = jam.parts().clone();
    parts.exits = vec![Exit {
        place: Place {
            side: Side::Top,
            index: 0,
        },
        open: false,
    }];
    assert_ne!(Canonical::new(&Jam::new(parts).unwrap()), Canonical::new(&jam));
}

#[test]
fn spellings_that_are_not_canonical_are_refused() {
    let refused = [
        "",
        "3x3",
        "3x3:.........",
        "3x3:....U...",
        "3x3:.>U......;q",
        "9x2:",
        "3x3:.>R...>..",
        "3x3:é>R......",
    ];
    for text in refused {
        assert!(
            matches!(Canonical::parse(text), Err(CanonicalError::Spelling { .. })),
            "{text:?}"
        );
    }
    let canonical = Canonical::new(&read("3x4:.U..^......r"));
    assert!(Canonical::parse(canonical.as_str()).is_ok());
    assert!(matches!(
        Canonical::parse("3x4:.U..^......r"),
        Err(CanonicalError::NotCanonical { .. })
    ));
}

fn read(text: &str) -> Jam {
    match Canonical::parse(text) {
        Ok(canonical) => canonical.jam(),
        Err(CanonicalError::NotCanonical { canonical, .. }) => Canonical::parse(&canonical).unwrap().jam(),
        Err(why) => panic!("{why}"),
    }
}
