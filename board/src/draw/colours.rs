//! Which vehicle gets which colour: the hero its own, the others such that touching ones differ.

use crate::board::Board;
use crate::geometry::{Lot, Squares};

/// One colour for both kinds of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour {
    /// As `#rrggbb`.
    pub(super) hex: &'static str,
    /// The nearest of a terminal's 256 colours.
    pub(super) ansi: u8,
    /// Whether letters on it are white.
    pub(super) is_dark: bool,
}

impl Colour {
    /// Red, green and blue.
    pub(super) fn rgb(self) -> [u8; 3] {
        let number = u32::from_str_radix(&self.hex[1..], 16).expect("colours are six hexadecimal digits");
        let [_, red, green, blue] = number.to_be_bytes();
        [red, green, blue]
    }
}

/// Okabe and Ito's palette, which people of every colour vision can tell apart. Its red is the hero's alone.
pub(super) const HERO: Colour = Colour {
    hex: "#D5300A",
    ansi: 160,
    is_dark: true,
};

/// The other vehicles' colours.
pub(super) const OTHERS: [Colour; 6] = [
    Colour {
        hex: "#56B4E9",
        ansi: 74,
        is_dark: false,
    },
    Colour {
        hex: "#E69F00",
        ansi: 178,
        is_dark: false,
    },
    Colour {
        hex: "#009E73",
        ansi: 29,
        is_dark: true,
    },
    Colour {
        hex: "#CC79A7",
        ansi: 175,
        is_dark: false,
    },
    Colour {
        hex: "#0072B2",
        ansi: 25,
        is_dark: true,
    },
    Colour {
        hex: "#F0E442",
        ansi: 227,
        is_dark: false,
    },
];

/// A colour for each vehicle, in the board's order.
pub(super) fn of_vehicles(board: &Board) -> Vec<Colour> {
    let lot = board.lot();
    let squares: Vec<Squares> = board
        .vehicles()
        .iter()
        .map(|vehicle| vehicle.squares(lot))
        .collect();
    let mut colours = vec![HERO];
    for i in 1..squares.len() {
        let beside = neighbourhood(lot, squares[i]);
        let touching: Vec<Colour> = (1..i)
            .filter(|&j| squares[j].intersects(beside))
            .map(|j| colours[j])
            .collect();
        // Beginning at another colour each time makes use of all of them.
        let mut choice = (0..OTHERS.len()).map(|k| OTHERS[(i - 1 + k) % OTHERS.len()]);
        let free = choice.find(|colour| !touching.contains(colour));
        colours.push(free.unwrap_or(OTHERS[(i - 1) % OTHERS.len()]));
    }
    colours
}

/// The squares and those beside them.
fn neighbourhood(lot: Lot, squares: Squares) -> Squares {
    let mut all = squares;
    for square in squares.iter() {
        let (row, column) = (lot.row(square), lot.column(square));
        for (row, column) in [
            (row.wrapping_sub(1), column),
            (row + 1, column),
            (row, column.wrapping_sub(1)),
            (row, column + 1),
        ] {
            if row < lot.height() && column < lot.width() {
                all.insert(lot.square(row, column));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hero_is_red_and_touching_vehicles_differ() {
        let board: Board = "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM".parse().unwrap();
        let colours = of_vehicles(&board);
        assert_eq!(colours[0], HERO);
        assert_eq!(HERO.rgb(), [0xd5, 0x30, 0x0a]);
        assert!(!colours[1..].contains(&HERO));
        let squares: Vec<Squares> = board.vehicles().iter().map(|v| v.squares(board.lot())).collect();
        for i in 1..squares.len() {
            for j in 1..i {
                if squares[j].intersects(neighbourhood(board.lot(), squares[i])) {
                    assert_ne!(colours[i], colours[j], "vehicles {i} and {j}");
                }
            }
        }
    }
}
