//! Level files: JSON that describes a jam and what the player is told of it, never how it is solved.
//!
//! Reading goes in two stages: the text must have the form that `schema/level.schema.json` describes (unknown fields are
//! refused), and its jam must be legal ([`Jam::new`]). Errors name the place and the value.

use crate::form::{self, Object};
use crate::jam::{Colour, Exit, Jam, JamError, JamParts, Light};
use crate::lot::{Facing, Lot, LotError, Place, Side, Square};
use crate::pieces::{Body, Model, Piece};
use serde::{Deserialize, Serialize};

/// The JSON Schema of a level file.
pub const LEVEL_SCHEMA: &str = include_str!("../schema/level.schema.json");

/// A level: a jam, and what the player is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it is called.
    pub name: String,
    /// Where in a campaign it belongs.
    pub campaign: Option<Origin>,
    /// The tutorial shown with it.
    pub tutorial: Option<String>,
    /// The move limit.
    pub moves: Option<u32>,
    /// The times for the stars.
    pub star_seconds: Option<StarSeconds>,
    /// The jam.
    pub jam: Jam,
}

/// Where a level of a campaign comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The world's name.
    pub world: String,
    /// Its number in the world, from 1.
    pub level: u32,
    /// The seed that it was generated from, in decimal: a string, since JSON readers round large numbers.
    #[serde(with = "decimal")]
    pub seed: u64,
}

/// Times for stars, in seconds; finishing at all earns one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StarSeconds {
    /// Three stars up to here.
    pub three: u32,
    /// Two stars up to here.
    pub two: u32,
}

/// Text that is no level.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// Not JSON of the right form; the message ends with line and column.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A form that this program does not read.
    #[error("format is {0}, expected 1")]
    Format(u32),
    /// A size that no lot has.
    #[error("lot: {0}")]
    Lot(#[from] LotError),
    /// A body that does not lie along its facing.
    #[error(
        "pieces[{piece}]: {kind} of size [{width}, {height}] at {at} does not lie along its facing, {facing:?}"
    )]
    Across {
        /// Which.
        piece: usize,
        /// Its kind.
        kind: &'static str,
        /// Its top left square.
        at: Square,
        /// Columns.
        width: u8,
        /// Rows.
        height: u8,
        /// The way it looks.
        facing: Facing,
    },
    /// A jam that is not legal.
    #[error("{0}")]
    Jam(#[from] JamError),
}

impl Level {
    /// Reads a level file.
    ///
    /// # Errors
    /// If the text has another form, or its jam is not legal.
    pub fn parse(text: &str) -> Result<Self, LevelError> {
        let Object(file): Object<LevelFile> = serde_json::from_str(text)?;
        if file.format != 1 {
            return Err(LevelError::Format(file.format));
        }
        let lot = Lot::new(file.lot.width, file.lot.height)?;
        let pieces = file
            .pieces
            .into_iter()
            .enumerate()
            .map(|(number, piece)| piece.read(number))
            .collect::<Result<_, _>>()?;
        let ring = file.ring;
        let jam = Jam::new(JamParts {
            lot,
            closed_sides: file.lot.closed_sides,
            pieces,
            exits: ring
                .exits
                .into_iter()
                .map(|exit| Exit {
                    place: place(exit.side, exit.index),
                    open: exit.open,
                })
                .collect(),
            lights: ring
                .lights
                .into_iter()
                .map(|light| Light {
                    place: place(light.side, light.index),
                    start: light.colour,
                })
                .collect(),
            bridge: ring.bridge.map(PlaceFile::read),
            crossings: ring.crossings.into_iter().map(PlaceFile::read).collect(),
            tows: file.tows,
        })?;
        Ok(Self {
            name: file.name,
            campaign: file.campaign,
            tutorial: file.tutorial,
            moves: file.moves,
            star_seconds: file.star_seconds,
            jam,
        })
    }

    /// Writes a level file: the same bytes for the same level, one piece a line.
    pub fn spell(&self) -> String {
        let parts = self.jam.parts();
        let mut fields = vec![field("format", &1), field("name", &self.name)];
        fields.extend(self.campaign.as_ref().map(|campaign| field("campaign", campaign)));
        fields.extend(self.tutorial.as_ref().map(|tutorial| field("tutorial", tutorial)));
        fields.extend(self.moves.map(|moves| field("moves", &moves)));
        fields.extend(self.star_seconds.map(|seconds| field("star_seconds", &seconds)));
        let lot = LotFile {
            width: parts.lot.width(),
            height: parts.lot.height(),
            closed_sides: parts.closed_sides.clone(),
        };
        fields.extend([
            field("lot", &lot),
            field("tows", &parts.tows),
            field("ring", &RingFile::of(parts)),
        ]);
        let pieces: Vec<String> = parts
            .pieces
            .iter()
            .map(|piece| json(&PieceFile::of(*piece)))
            .collect();
        fields.push(format!("  \"pieces\": [\n    {}\n  ]", pieces.join(",\n    ")));
        format!("{{\n{}\n}}\n", fields.join(",\n"))
    }
}

fn field(name: &str, value: &impl Serialize) -> String {
    format!("  \"{name}\": {}", json(value))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain structures of numbers and text can be written")
}

fn place(side: Side, index: u8) -> Place {
    Place { side, index }
}

/// Numbers of 64 bits as decimal text.
mod decimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "the signature that serde asks for"
    )]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_decimal { text.parse().ok() } else { None };
        number.ok_or_else(|| {
            D::Error::custom(format!(
                "seed is {text:?}, expected a number of 64 bits in decimal"
            ))
        })
    }
}

// The form of a file, field by field; `schema/level.schema.json` says the same, and a test keeps the two in step.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    format: u32,
    name: String,
    #[serde(default, deserialize_with = "form::present_object")]
    campaign: Option<Origin>,
    #[serde(default, deserialize_with = "form::present")]
    tutorial: Option<String>,
    #[serde(default, deserialize_with = "form::present")]
    moves: Option<u32>,
    #[serde(default, deserialize_with = "form::present_object")]
    star_seconds: Option<StarSeconds>,
    #[serde(deserialize_with = "form::object")]
    lot: LotFile,
    #[serde(default)]
    tows: u8,
    #[serde(deserialize_with = "form::object")]
    ring: RingFile,
    #[serde(deserialize_with = "form::objects")]
    pieces: Vec<PieceFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LotFile {
    width: u8,
    height: u8,
    #[serde(default)]
    closed_sides: Vec<Side>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RingFile {
    #[serde(deserialize_with = "form::objects")]
    exits: Vec<ExitFile>,
    #[serde(default, deserialize_with = "form::objects")]
    lights: Vec<LightFile>,
    #[serde(
        default,
        deserialize_with = "form::present_object",
        skip_serializing_if = "Option::is_none"
    )]
    bridge: Option<PlaceFile>,
    #[serde(default, deserialize_with = "form::objects")]
    crossings: Vec<PlaceFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitFile {
    side: Side,
    index: u8,
    open: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LightFile {
    side: Side,
    index: u8,
    colour: Colour,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceFile {
    side: Side,
    index: u8,
}

/// `at` is the column and row of the top left square, `size` columns and rows.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum PieceFile {
    Unit {
        model: Model,
        at: [u8; 2],
        size: [u8; 2],
        facing: Facing,
    },
    Vehicle {
        at: [u8; 2],
        size: [u8; 2],
        facing: Facing,
    },
    Wreck {
        at: [u8; 2],
        size: [u8; 2],
        facing: Facing,
    },
    Barricade {
        at: [u8; 2],
    },
    Planter {
        at: [u8; 2],
    },
}

impl RingFile {
    fn of(parts: &JamParts) -> Self {
        Self {
            exits: parts
                .exits
                .iter()
                .map(|exit| ExitFile {
                    side: exit.place.side,
                    index: exit.place.index,
                    open: exit.open,
                })
                .collect(),
            lights: parts
                .lights
                .iter()
                .map(|light| LightFile {
                    side: light.place.side,
                    index: light.place.index,
                    colour: light.start,
                })
                .collect(),
            bridge: parts.bridge.map(PlaceFile::of),
            crossings: parts.crossings.iter().copied().map(PlaceFile::of).collect(),
        }
    }
}

impl PlaceFile {
    fn of(place: Place) -> Self {
        Self {
            side: place.side,
            index: place.index,
        }
    }

    fn read(self) -> Place {
        place(self.side, self.index)
    }
}

impl PieceFile {
    fn of(piece: Piece) -> Self {
        match piece {
            Piece::Unit(model, body) => {
                let (at, size) = corner_and_size(body);
                Self::Unit {
                    model,
                    at,
                    size,
                    facing: body.facing,
                }
            }
            Piece::Vehicle(body) => {
                let (at, size) = corner_and_size(body);
                Self::Vehicle {
                    at,
                    size,
                    facing: body.facing,
                }
            }
            Piece::Wreck(body) => {
                let (at, size) = corner_and_size(body);
                Self::Wreck {
                    at,
                    size,
                    facing: body.facing,
                }
            }
            Piece::Barricade(square) => Self::Barricade {
                at: [square.column, square.row],
            },
            Piece::Planter(square) => Self::Planter {
                at: [square.column, square.row],
            },
        }
    }

    fn read(self, number: usize) -> Result<Piece, LevelError> {
        let square = |[column, row]: [u8; 2]| Square { column, row };
        Ok(match self {
            Self::Unit {
                model,
                at,
                size,
                facing,
            } => Piece::Unit(model, body(number, "unit", at, size, facing)?),
            Self::Vehicle { at, size, facing } => Piece::Vehicle(body(number, "vehicle", at, size, facing)?),
            Self::Wreck { at, size, facing } => Piece::Wreck(body(number, "wreck", at, size, facing)?),
            Self::Barricade { at } => Piece::Barricade(square(at)),
            Self::Planter { at } => Piece::Planter(square(at)),
        })
    }
}

fn body(
    piece: usize,
    kind: &'static str,
    at: [u8; 2],
    size: [u8; 2],
    facing: Facing,
) -> Result<Body, LevelError> {
    let ([column, row], [width, height]) = (at, size);
    let (across, length) = if facing.is_vertical() {
        (width, height)
    } else {
        (height, width)
    };
    if across != 1 || length == 0 {
        return Err(LevelError::Across {
            piece,
            kind,
            at: Square { column, row },
            width,
            height,
            facing,
        });
    }
    // Saturating: a body that far out is off every lot, which the jam will say.
    let far = |from: u8| from.saturating_add(length - 1);
    let front = match facing {
        Facing::Up | Facing::Left => Square { column, row },
        Facing::Down => Square {
            column,
            row: far(row),
        },
        Facing::Right => Square {
            column: far(column),
            row,
        },
    };
    Ok(Body {
        front,
        facing,
        length,
    })
}

fn corner_and_size(body: Body) -> ([u8; 2], [u8; 2]) {
    let rear = body.reversed().front;
    let corner = [body.front.column.min(rear.column), body.front.row.min(rear.row)];
    (
        corner,
        if body.facing.is_vertical() {
            [1, body.length]
        } else {
            [body.length, 1]
        },
    )
}
