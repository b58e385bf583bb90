//! The rules that every level must keep, whoever made it.

use super::site::flanks;
use crate::bits::Bits;
use crate::blockers::Blockers;
use crate::closure::{Answer, Hopeless, Impossible, clear_whole_board};
use crate::jam::Jam;
use crate::lot::Square;
use crate::pieces::Piece;
use crate::simulate::{Escape, State};

/// Why a jam is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// An escape can never be cleared.
    #[error("the {escape} escape is {why}")]
    Hopeless {
        /// Which.
        escape: Escape,
        /// Why.
        why: Hopeless,
    },
    /// Something could never leave the lot.
    #[error("the whole lot cannot be cleared: {0}")]
    Unclearable(Impossible),
    /// A free square in a lane.
    #[error("the {escape} lane has a gap at {at}")]
    LaneGap {
        /// Whose lane.
        escape: Escape,
        /// The square.
        at: Square,
    },
    /// A lane with no squares.
    #[error("the {escape} lane is empty: the unit stands at the edge")]
    NoLane {
        /// Whose lane.
        escape: Escape,
    },
    /// A vehicle in a lane that nothing blocks.
    #[error("vehicle {piece} in the {escape} lane could simply drive off")]
    Unlocked {
        /// Whose lane.
        escape: Escape,
        /// The vehicle.
        piece: usize,
    },
    /// A free square beside the unit.
    #[error("the unit has an open side at {at}")]
    OpenSide {
        /// The square.
        at: Square,
    },
}

/// Every reason why a jam, whose answer is given, is no level. The edge of the lot boxes the unit in as well as a piece.
pub fn unfit(jam: &Jam, blockers: &Blockers, answer: &Answer) -> Vec<Unfit> {
    let mut reasons = Vec::new();
    for (escape, verdict) in Escape::BOTH.into_iter().zip(&answer.escapes) {
        if let Err(why) = verdict {
            reasons.push(Unfit::Hopeless {
                escape,
                why: why.clone(),
            });
        }
    }
    if let Err(impossible) = clear_whole_board(blockers, &State::start(jam)) {
        reasons.extend(impossible.into_iter().map(Unfit::Unclearable));
    }
    let taken = (0..jam.n_pieces()).fold(Bits::EMPTY, |taken, piece| taken | jam.squares(piece));
    for escape in Escape::BOTH {
        let lane = blockers.lane(escape);
        if lane.squares.is_empty() {
            reasons.push(Unfit::NoLane { escape });
        }
        let gaps = (lane.squares - taken).iter();
        reasons.extend(gaps.map(|number| Unfit::LaneGap {
            escape,
            at: jam.lot().square(number),
        }));
        let free = lane.pieces.iter().filter(|piece| {
            matches!(jam.pieces()[*piece], Piece::Vehicle(_))
                && blockers.of(*piece).is_empty()
                && !blockers.without_route().contains(*piece)
        });
        reasons.extend(free.map(|piece| Unfit::Unlocked { escape, piece }));
    }
    let open = (flanks(jam.lot(), jam.unit_body()) - taken).iter();
    reasons.extend(open.map(|number| Unfit::OpenSide {
        at: jam.lot().square(number),
    }));
    reasons
}
