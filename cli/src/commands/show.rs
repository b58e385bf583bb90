//! `parforce show`: boards drawn.

use board::Board;

use super::Outcome;

pub(crate) fn picture(board: &Board) -> String {
    board.to_string()
}
