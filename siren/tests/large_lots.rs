//! Lots of the largest size, where trying everything cannot finish: swaps are exact there too.

#![expect(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

use siren::bits::Bits;
use siren::blockers::Blockers;
use siren::closure::solve;
use siren::exhaustive::{STATE_CAP, search};
use siren::jam::{Colour, Exit, Jam, JamParts, Light};
use siren::lot::{Facing, Lot, Place, Side, Square};
use siren::pieces::{Body, Model, Piece};
use siren::random::{Stream, derive_seed};
use siren::simulate::{Escape, State, replay};

/// A 12x12 lot with every square taken: a unit, and 142 vehicles of one square that all look away from it, up or down in
/// its own column's half and outwards elsewhere, with a light at every place.
fn full_lot(colour: impl Fn(Place) -> Colour) -> Jam {
    let lot = Lot::new(12, 12).unwrap();
    let unit = Body {
        front: Square { column: 5, row: 5 },
        facing: Facing::Up,
        length: 2,
    };
    let mut pieces = vec![Piece::Unit(Model::Ambulance, unit)];
    for number in 0..lot.n_squares() {
        let front = lot.square(number);
        if front.column == 5 && (5..=6).contains(&front.row) {
            continue;
        }
        // Rows leave to the sides in turns, so that a lane vehicle has six or five others before it.
        let facing = match front {
            Square { column: 0..=4, .. } => Facing::Left,
            Square { column: 6.., .. } => Facing::Right,
            Square { row, .. } if row % 2 == 0 => Facing::Left,
            _ => Facing::Right,
        };
        pieces.push(Piece::Vehicle(Body {
            front,
            facing,
            length: 1,
        }));
    }
    let lights = lot
        .ring()
        .map(|place| Light {
            place,
            start: colour(place),
        })
        .collect();
    let exits = vec![Exit {
        place: Place {
            side: Side::Bottom,
            index: 3,
        },
        open: true,
    }];
    let parts = JamParts {
        lot,
        closed_sides: Vec::new(),
        pieces,
        exits,
        lights,
        bridge: None,
        crossings: Vec::new(),
        tows: 0,
    };
    Jam::new(parts).unwrap()
}

#[test]
fn a_full_lot_with_lights_is_solved_at_once_where_the_exhaustive_search_gives_up() {
    let jam = full_lot(|place| {
        if place.index % 2 == 0 {
            Colour::Red
        } else {
            Colour::Green
        }
    });
    assert_eq!(jam.n_pieces(), 143);
    let answer = solve(&jam);
    // Forward: rows 0 to 4. Rows 0, 2 and 4 leave to the left, six vehicles each, and need the other colour; rows 1 and 3
    // leave to the right, seven each. Reverse: rows 7 to 11, of which 7, 9 and 11 leave to the right at once.
    assert_eq!(answer.cost(Escape::Forward), Some(3 * 6 + 2 * 7 + 1));
    assert_eq!(answer.cost(Escape::Reverse), Some(3 * 7 + 2 * 6 + 1));
    assert_eq!(answer.optimum().unwrap().n_swaps, 1);
    // A quarter of its cap is enough to see that it will not finish.
    assert!(search(&jam, STATE_CAP / 4).is_err());
}

/// Fewest swaps by the definition, for a set whose members wait for one another in chains: over phases, the furthest
/// that each chain can have got is all that matters, and going further never hurts it.
fn swaps_by_layers(blockers: &Blockers, closure: Bits) -> u32 {
    // The earliest phase in which a piece can go: no earlier than any of its blockers, and of its own colour.
    let mut phase: Vec<Option<u32>> = vec![None; 192];
    loop {
        let mut changed = false;
        for piece in closure
            .iter()
            .filter(|piece| phase[*piece].is_none())
            .collect::<Vec<_>>()
        {
            let behind: Option<Vec<u32>> = blockers.of(piece).iter().map(|blocker| phase[blocker]).collect();
            let Some(behind) = behind else { continue };
            let mut earliest = behind.into_iter().max().unwrap_or(0);
            if blockers.red(earliest % 2 == 1).contains(piece) {
                earliest += 1;
            }
            phase[piece] = Some(earliest);
            changed = true;
        }
        if !changed {
            break;
        }
    }
    closure
        .iter()
        .map(|piece| phase[piece].expect("no cycle"))
        .max()
        .unwrap_or(0)
}

#[test]
fn swaps_on_large_lots_with_random_lights_are_those_of_the_earliest_phases() {
    let mut seen = Bits::EMPTY;
    for seed in 0..60 {
        let mut stream = Stream::new(derive_seed(&[40, seed]));
        let jam = random_large_lot(&mut stream);
        let blockers = Blockers::new(&jam);
        for solution in solve(&jam).escapes.iter().flatten() {
            assert_eq!(solution.n_swaps, swaps_by_layers(&blockers, solution.closure));
            let end: State = replay(&jam, &solution.actions).unwrap();
            assert!(end.is_clear(&jam, solution.escape));
            seen.insert(solution.n_swaps as usize);
        }
    }
    assert!(seen.len() >= 5, "swaps from none to many were met: {seen:?}");
}

/// A 12x12 lot packed without cycles, and a light of random colour at every place.
fn random_large_lot(stream: &mut Stream) -> Jam {
    let lot = Lot::new(12, 12).unwrap();
    let unit = Body {
        front: Square { column: 5, row: 5 },
        facing: Facing::Up,
        length: 2,
    };
    let mut pieces = vec![Piece::Unit(Model::Ambulance, unit)];
    let mut taken: Bits = unit
        .squares(lot)
        .flatten()
        .map(|square| lot.number(square))
        .collect();
    // Backwards in time: each vehicle finds its path free of all that were there before it.
    for _ in 0..8_000 {
        let front = lot.square(stream.below(lot.n_squares()));
        let body = Body {
            front,
            facing: stream.pick(&Facing::ALL),
            length: stream.pick(&[1, 1, 2]),
        };
        let squares: Option<Bits> = body
            .squares(lot)
            .map(|square| Some(lot.number(square?)))
            .collect();
        let path: Bits = body.path(lot).map(|square| lot.number(square)).collect();
        if let Some(squares) = squares.filter(|squares| !(*squares | path).intersects(taken)) {
            taken |= squares;
            pieces.push(Piece::Vehicle(body));
        }
    }
    assert!(taken.len() > 65, "{} squares taken", taken.len());
    let colours = [Colour::Green, Colour::Red];
    let lights = lot
        .ring()
        .map(|place| Light {
            place,
            start: stream.pick(&colours),
        })
        .collect();
    let exits = vec![Exit {
        place: Place {
            side: Side::Left,
            index: 3,
        },
        open: true,
    }];
    let parts = JamParts {
        lot,
        closed_sides: Vec::new(),
        pieces,
        exits,
        lights,
        bridge: None,
        crossings: Vec::new(),
        tows: 0,
    };
    Jam::new(parts).unwrap()
}
