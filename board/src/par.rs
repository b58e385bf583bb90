//! Par and the limit on the positions that a search may visit: the two numbers that every answer names.

use std::fmt;

/// The fewest slides from a position to a solved one.
///
/// Sixteen bits, because lots of 16x16 hold boards of more than 255 slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Par(u16);

impl Par {
    /// The par of a solved position.
    pub const ZERO: Par = Par(0);

    /// A par of this many slides.
    pub const fn new(slides: u16) -> Par {
        Par(slides)
    }

    /// The number of slides.
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for Par {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<Par> for u16 {
    fn from(par: Par) -> u16 {
        par.0
    }
}

/// The most positions that a search may hold before it gives up.
///
/// A search that reaches it says so in its error; it never gives a wrong answer instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateLimit(u64);

impl StateLimit {
    /// Enough for the 9x9 boards that people pass round (up to 40 million positions), with room, in a few GiB.
    pub const DEFAULT: StateLimit = StateLimit(100_000_000);

    /// A limit of this many positions.
    pub const fn new(n_positions: u64) -> StateLimit {
        StateLimit(n_positions)
    }

    /// The number of positions.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Default for StateLimit {
    fn default() -> StateLimit {
        StateLimit::DEFAULT
    }
}

impl fmt::Display for StateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
