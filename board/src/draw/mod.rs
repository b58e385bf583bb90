//! Drawings of boards, for terminals ([`text`]) and as pictures ([`svg`]). Strings only; nothing is printed here.

mod colours;
mod picture;
mod terminal;

use crate::board::Board;

pub use picture::svg;
pub use terminal::{Style, text};

/// A colour (red, green, blue) for each vehicle, in the board's order: the hero's its own, the others such that touching
/// ones differ, told apart by every colour vision.
pub fn vehicle_colours(board: &Board) -> Vec<[u8; 3]> {
    let colours = colours::of_vehicles(board);
    colours.into_iter().map(colours::Colour::rgb).collect()
}
