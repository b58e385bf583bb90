//! The canonical spelling of a jam: one line of text that all jams share which are the same up to turning and mirroring.
//!
//! It spells the [essence] of the jam, in that one of its eight images whose spelling is the smallest as a byte string.
//! Reading it back gives a jam with the same moves, costs and gap. The letters, in an image that need not be the smallest:
//!
//! ```text
//! 5x4:.>>r.x.U.b..^.w.l<..;t1;cB;lT3g,R2r;bT3-B2
//! ```
//!
//! - the lot's size and, after a colon, its squares in reading order: `.` free, `x` planter, `b` barricade; the front of a
//!   vehicle is `u`, `r`, `d` or `l` by its facing, that of the unit the same letter in capitals, that of a wreck `w`; each
//!   square behind a front is an arrow `^`, `>`, `v`, `<` that points to the next square towards it (wrecks are spelled as
//!   looking right or down);
//! - `;t` and the tows, no more than there are wrecks, unless 0;
//! - `;c` and the closed sides, `T`, `R`, `B`, `L`;
//! - `;l` and the lights clockwise, each with its side, index and colour at the start;
//! - `;b` and the joining places whose way crosses the drawbridge, from and to, clockwise; or `;n` if no exit is open.

use crate::jam::{Colour, Exit, Jam, JamParts, Light};
use crate::lot::{Facing, Lot, Place, Side, Square};
use crate::pieces::{Body, Model, Piece};
use crate::symmetry::{BridgeArc, bridge_arc, build_ring, essence, mirrored, sorted, turned};
use std::fmt;

/// A jam's canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canonical(String);

/// Text that is no canonical spelling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// Not a spelling at all.
    #[error("{text:?} spells no jam: {what}")]
    Spelling {
        /// The text.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// A spelling of another image, or with something superfluous.
    #[error("{text:?} is not canonical, expected {canonical:?}")]
    NotCanonical {
        /// The text.
        text: String,
        /// The canonical spelling of the same jam.
        canonical: String,
    },
}

impl Canonical {
    /// The canonical spelling of a jam.
    pub fn new(jam: &Jam) -> Self {
        let mut image = essence(jam);
        let mut best: Option<String> = None;
        for half in 0..2 {
            for _ in 0..4 {
                let spelling = spell(&image);
                best = Some(best.map_or(spelling.clone(), |best| best.min(spelling)));
                image = turned(&image);
            }
            if half == 0 {
                image = mirrored(&image);
            }
        }
        Self(best.expect("eight images were spelled"))
    }

    /// Reads a canonical spelling.
    ///
    /// # Errors
    /// If the text spells no jam, or not canonically.
    pub fn parse(text: &str) -> Result<Self, CanonicalError> {
        let jam = read(text).map_err(|what| CanonicalError::Spelling {
            text: text.to_owned(),
            what,
        })?;
        let canonical = Self::new(&jam);
        if canonical.0 == text {
            return Ok(canonical);
        }
        Err(CanonicalError::NotCanonical {
            text: text.to_owned(),
            canonical: canonical.0,
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A jam that it spells: the essence of all that share it.
    pub fn jam(&self) -> Jam {
        read(&self.0).expect("a canonical spelling was read or spelled before")
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn spell(jam: &Jam) -> String {
    let parts = jam.parts();
    let mut fields = vec![format!("{}:{}", jam.lot(), spell_squares(jam))];
    if parts.tows > 0 {
        fields.push(format!("t{}", parts.tows));
    }
    if !parts.closed_sides.is_empty() {
        let sides: String = parts.closed_sides.iter().map(|side| side_letter(*side)).collect();
        fields.push(format!("c{sides}"));
    }
    if !parts.lights.is_empty() {
        let lights: Vec<String> = parts.lights.iter().map(|light| spell_light(*light)).collect();
        fields.push(format!("l{}", lights.join(",")));
    }
    match bridge_arc(jam) {
        Some(arc) => fields.push(format!("b{}-{}", spell_place(arc.from), spell_place(arc.to))),
        None if parts.exits.is_empty() => fields.push("n".to_owned()),
        None => {}
    }
    fields.join(";")
}

fn spell_squares(jam: &Jam) -> String {
    let mut squares = vec!['.'; jam.lot().n_squares()];
    for piece in jam.pieces() {
        let front = match *piece {
            Piece::Unit(_, body) => front_letter(body.facing).to_ascii_uppercase(),
            Piece::Vehicle(body) => front_letter(body.facing),
            Piece::Wreck(_) => 'w',
            Piece::Barricade(_) => 'b',
            Piece::Planter(_) => 'x',
        };
        let arrow = piece.body().map_or('.', |body| arrow(body.facing));
        for (number, square) in piece.squares(jam.lot()).flatten().enumerate() {
            squares[jam.lot().number(square)] = if number == 0 { front } else { arrow };
        }
    }
    squares.into_iter().collect()
}

fn spell_light(light: Light) -> String {
    let colour = if light.start == Colour::Green { 'g' } else { 'r' };
    format!("{}{colour}", spell_place(light.place))
}

fn spell_place(place: Place) -> String {
    format!("{}{}", side_letter(place.side), place.index)
}

fn side_letter(side: Side) -> char {
    match side {
        Side::Top => 'T',
        Side::Right => 'R',
        Side::Bottom => 'B',
        Side::Left => 'L',
    }
}

fn front_letter(facing: Facing) -> char {
    match facing {
        Facing::Up => 'u',
        Facing::Right => 'r',
        Facing::Down => 'd',
        Facing::Left => 'l',
    }
}

fn arrow(facing: Facing) -> char {
    match facing {
        Facing::Up => '^',
        Facing::Right => '>',
        Facing::Down => 'v',
        Facing::Left => '<',
    }
}

fn read(text: &str) -> Result<Jam, String> {
    let mut fields = text.split(';');
    let (size, squares) = fields
        .next()
        .and_then(|first| first.split_once(':'))
        .ok_or("no size before a colon")?;
    let (width, height) = size.split_once('x').ok_or_else(|| format!("size is {size:?}"))?;
    let number = |text: &str| text.parse::<u8>().map_err(|why| format!("{text:?}: {why}"));
    let lot = Lot::new(number(width)?, number(height)?).map_err(|why| why.to_string())?;
    let mut parts = JamParts {
        lot,
        closed_sides: Vec::new(),
        pieces: read_squares(lot, squares)?,
        exits: vec![Exit {
            place: Place {
                side: Side::Top,
                index: 0,
            },
            open: true,
        }],
        lights: Vec::new(),
        bridge: None,
        crossings: Vec::new(),
        tows: 0,
    };
    for field in fields {
        let rest = field.get(1..).ok_or("an empty field")?;
        match &field[..1] {
            "t" => parts.tows = number(rest)?,
            "c" => parts.closed_sides = rest.chars().map(read_side).collect::<Result<_, _>>()?,
            "l" => parts.lights = rest.split(',').map(read_light).collect::<Result<_, _>>()?,
            "b" => {
                let (from, to) = rest
                    .split_once('-')
                    .ok_or_else(|| format!("bridge is {rest:?}"))?;
                let arc = BridgeArc {
                    from: read_place(lot, from)?,
                    to: read_place(lot, to)?,
                };
                build_ring(&mut parts, arc);
            }
            "n" => parts.exits.clear(),
            _ => return Err(format!("no field is spelled {field:?}")),
        }
    }
    Jam::new(sorted(parts)).map_err(|why| why.to_string())
}

fn read_squares(lot: Lot, text: &str) -> Result<Vec<Piece>, String> {
    let squares: Vec<char> = text.chars().collect();
    if squares.len() != lot.n_squares() {
        return Err(format!(
            "{} squares, expected {} for {lot}",
            squares.len(),
            lot.n_squares()
        ));
    }
    let mut pieces = Vec::new();
    let mut n_used = 0;
    for (number, letter) in squares.iter().enumerate() {
        let front = lot.square(number);
        let lies = |facing| laid_body(lot, &squares, front, facing);
        let piece = match letter {
            '.' => {
                n_used += 1;
                continue;
            }
            '^' | '>' | 'v' | '<' => continue,
            'x' => Piece::Planter(front),
            'b' => Piece::Barricade(front),
            'w' => {
                let right = lies(Facing::Right);
                Piece::Wreck(if right.length > 1 {
                    right
                } else {
                    laid_wreck(lies(Facing::Down), right)
                })
            }
            letter => {
                let facing = Facing::ALL
                    .into_iter()
                    .find(|facing| front_letter(*facing) == letter.to_ascii_lowercase());
                let body = lies(facing.ok_or_else(|| format!("no square is spelled {letter:?}"))?);
                if letter.is_ascii_uppercase() {
                    Piece::Unit(Model::Ambulance, body)
                } else {
                    Piece::Vehicle(body)
                }
            }
        };
        n_used += piece.squares(lot).count();
        pieces.push(piece);
    }
    if n_used != squares.len() {
        return Err("an arrow leads to no front".to_owned());
    }
    Ok(pieces)
}

/// A wreck of one square looks right by convention.
fn laid_wreck(down: Body, right: Body) -> Body {
    if down.length > 1 { down } else { right }
}

/// The body in front of the arrows that lead to `front`.
fn laid_body(lot: Lot, squares: &[char], front: Square, facing: Facing) -> Body {
    let behind = std::iter::successors(lot.step(front, facing.back()), |square| {
        lot.step(*square, facing.back())
    });
    let arrows = behind
        .take_while(|square| squares[lot.number(*square)] == arrow(facing))
        .count();
    Body {
        front,
        facing,
        length: u8::try_from(arrows + 1).expect("12 squares at most"),
    }
}

fn read_side(letter: char) -> Result<Side, String> {
    let side = Side::ALL.into_iter().find(|side| side_letter(*side) == letter);
    side.ok_or_else(|| format!("no side is spelled {letter:?}"))
}

fn read_light(text: &str) -> Result<Light, String> {
    let start = match text.chars().last() {
        Some('g') => Colour::Green,
        Some('r') => Colour::Red,
        _ => return Err(format!("light is {text:?}, expected `g` or `r` at its end")),
    };
    Ok(Light {
        place: place_of(&text[..text.len() - 1])?,
        start,
    })
}

fn read_place(lot: Lot, text: &str) -> Result<Place, String> {
    let place = place_of(text)?;
    if place.index < lot.side_length(place.side) {
        Ok(place)
    } else {
        Err(format!("no place {place} on {lot}"))
    }
}

fn place_of(text: &str) -> Result<Place, String> {
    let mut letters = text.chars();
    let side = read_side(letters.next().ok_or("a place is missing")?)?;
    let index = letters.as_str();
    Ok(Place {
        side,
        index: index.parse().map_err(|why| format!("{index:?}: {why}"))?,
    })
}
