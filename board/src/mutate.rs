//! Small changes to a board.
