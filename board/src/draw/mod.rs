//! Drawings of boards, for terminals ([`text`]) and as pictures ([`svg`]). Strings only; nothing is printed here.

mod colours;
mod picture;
mod terminal;

pub use picture::svg;
pub use terminal::{Style, text};
