//! The canonical spelling: the one text that a position and its mirror image are known by.

use std::fmt;
use std::str::FromStr;

use crate::board::{Board, reading_order_letters};
use crate::spelling::SpellingError;

/// A board's canonical spelling.
///
/// The exit is in the upper half, else the board is mirrored top to bottom; where the exit row is the middle
/// one, it is the smaller of the two mirror images. Vehicles are lettered in reading order of their first
/// squares. Two of them are compared as byte strings.
///
/// ```
/// use board::{Board, Canonical};
/// let board: Board = "ooZoooooZoooAAZBoooooBoooooooooooooo".parse().unwrap();
/// let canonical = board.canonical();
/// assert_eq!(canonical.as_str(), "ooBoooooBoooAABCoooooCoooooooooooooo");
/// assert_eq!(board.mirrored().canonical(), canonical);
/// assert_eq!(Canonical::parse(canonical.as_str()), Ok(canonical));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Canonical(String);

/// Why a text is not the canonical spelling of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// It is not a board at all.
    #[error(transparent)]
    Spelling(#[from] SpellingError),
    /// It is a board, spelled in another way.
    #[error("spelling is not canonical, expected {expected}")]
    NotCanonical {
        /// The canonical spelling of the same board.
        expected: Canonical,
    },
}

impl Canonical {
    /// Takes a text that is a canonical spelling as it stands.
    ///
    /// # Errors
    /// When it is no legal board or another spelling of it.
    pub fn parse(text: &str) -> Result<Canonical, CanonicalError> {
        let canonical = Board::parse(text)?.canonical();
        if canonical.0 == text {
            Ok(canonical)
        } else {
            Err(CanonicalError::NotCanonical { expected: canonical })
        }
    }

    /// The spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The board that it spells.
    pub fn board(&self) -> Board {
        Board::parse(&self.0).expect("a canonical spelling was spelled from a legal board")
    }
}

impl Board {
    /// The spelling that this position and its mirror image are known by.
    pub fn canonical(&self) -> Canonical {
        let (above, below) = (self.exit_row(), self.lot().height() - 1 - self.exit_row());
        Canonical(match above.cmp(&below) {
            std::cmp::Ordering::Less => spelled(self),
            std::cmp::Ordering::Greater => spelled(&self.mirrored()),
            std::cmp::Ordering::Equal => spelled(self).min(spelled(&self.mirrored())),
        })
    }
}

fn spelled(board: &Board) -> String {
    board.spelled_with(&reading_order_letters(board.lot(), board.vehicles()))
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Canonical {
    type Err = CanonicalError;

    fn from_str(text: &str) -> Result<Canonical, CanonicalError> {
        Canonical::parse(text)
    }
}

impl From<Canonical> for String {
    fn from(canonical: Canonical) -> String {
        canonical.0
    }
}
