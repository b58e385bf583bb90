//! Difficulty, time and stars of a level. All weights stand here; `docs/siren.md` explains them.

use crate::blockers::Blockers;
use crate::closure::Solution;
use crate::jam::Jam;
use crate::level::StarSeconds;
use crate::pieces::Piece;

/// Difficulty, in hundredths of a point.
mod difficulty {
    /// Where a level without anything would stand.
    pub(super) const BASE: u32 = 60;
    pub(super) const MOVE: u32 = 14;
    pub(super) const LOCKED: u32 = 5;
    pub(super) const LAYER: u32 = 12;
    pub(super) const LIGHT: u32 = 12;
    pub(super) const CROSSING: u32 = 6;
    pub(super) const CLOSED_EXIT: u32 = 8;
    pub(super) const RANGE: (u32, u32) = (100, 1000);
}

/// Time, in tenths of a second.
mod time {
    /// Looking at the level before the first move.
    pub(super) const READING: u32 = 30;
    /// And at each piece on the lot.
    pub(super) const READING_PIECE: u32 = 2;
    /// From tap to tap.
    pub(super) const MOVE: u32 = 12;
    /// Finding out what blocks a layer.
    pub(super) const LAYER: u32 = 25;
    /// Expected wait of a vehicle at a crossing.
    pub(super) const CROSSING: u32 = 15;
    /// Two stars up to this many percent of the estimate; three up to the estimate.
    pub(super) const TWO_STARS_PERCENT: u32 = 150;
}

/// What a level is like to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rating {
    /// Difficulty in hundredths, 100 to 1000: from 1 to 10.
    pub difficulty_hundredths: u32,
    /// A player's time, in tenths of a second.
    pub time_tenths: u32,
    /// Times for the stars.
    pub star_seconds: StarSeconds,
}

impl Rating {
    /// The difficulty from 1 to 10, rounded.
    pub fn difficulty(&self) -> u32 {
        (self.difficulty_hundredths + 50) / 100
    }

    /// Rates a jam by its optimum.
    pub fn new(jam: &Jam, blockers: &Blockers, optimum: &Solution) -> Self {
        let time_tenths = time_tenths(jam, blockers, optimum);
        Self {
            difficulty_hundredths: difficulty_hundredths(jam, optimum),
            time_tenths,
            star_seconds: StarSeconds {
                three: time_tenths.div_ceil(10),
                two: (time_tenths * time::TWO_STARS_PERCENT).div_ceil(1000),
            },
        }
    }
}

fn difficulty_hundredths(jam: &Jam, optimum: &Solution) -> u32 {
    let parts = jam.parts();
    let n_closed_exits = parts.exits.iter().filter(|exit| !exit.open).count();
    let points = difficulty::BASE
        + difficulty::MOVE * optimum.cost()
        + difficulty::LOCKED * optimum.n_locked
        + difficulty::LAYER * optimum.depth
        + difficulty::LIGHT * few(parts.lights.len())
        + difficulty::CROSSING * few(parts.crossings.len())
        + difficulty::CLOSED_EXIT * few(n_closed_exits);
    points.clamp(difficulty::RANGE.0, difficulty::RANGE.1)
}

fn time_tenths(jam: &Jam, blockers: &Blockers, optimum: &Solution) -> u32 {
    let crossed = |piece: usize| match blockers.route(piece) {
        Some(Ok(route)) => u32::from(route.n_crossings),
        _ => 0,
    };
    let n_waits: u32 = optimum.closure.iter().map(crossed).sum();
    let n_read = jam
        .pieces()
        .iter()
        .filter(|piece| !matches!(piece, Piece::Planter(_)))
        .count();
    time::READING
        + time::READING_PIECE * few(n_read)
        + time::MOVE * optimum.cost()
        + time::LAYER * optimum.depth
        + time::CROSSING * n_waits
}

fn few(count: usize) -> u32 {
    u32::try_from(count).expect("pieces and places number 144 at most")
}
