//! Boards as lines of text, in colour or without.

use std::fmt::Write;

use super::colours::{self, Colour};
use crate::board::Board;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Letters, lines and shades only.
    Plain,
    /// The 256 colours of ordinary terminals, by escape sequences.
    Ansi,
}

/// Draws the board as lines of text, each ending in a line feed.
///
/// A square is three columns wide and one line high. An arrow marks the exit.
///
/// ```
/// use board::draw;
/// let drawing = draw::text(&"BBoCAAoCooxooooo".parse().unwrap(), draw::Style::Plain);
/// assert_eq!(drawing, "\
/// ┌────────────┐
/// │ B──B  ·  C │
/// │ A══A  ·  C →
/// │ ·  · ▒▒▒ · │
/// │ ·  ·  ·  · │
/// └────────────┘
/// ");
/// ```
pub fn text(board: &Board, style: Style) -> String {
    let lot = board.lot();
    let squares = squares_of(board);
    let edge = "─".repeat(usize::from(lot.width()) * 3);
    let mut drawing = format!("{}\n", style.faint(&format!("┌{edge}┐")));
    for row in 0..lot.height() {
        drawing.push_str(&style.faint("│"));
        for column in 0..lot.width() {
            let at = |column: u8| squares[lot.square(row, column)];
            let joins = Joins {
                before: column > 0 && at(column - 1).is_same_vehicle(at(column)),
                after: column + 1 < lot.width() && at(column + 1).is_same_vehicle(at(column)),
            };
            drawing.push_str(&style.square(at(column), joins));
        }
        let is_exit = row == board.exit_row();
        drawing.push_str(&if is_exit {
            style.arrow()
        } else {
            style.faint("│")
        });
        drawing.push('\n');
    }
    drawing.push_str(&style.faint(&format!("└{edge}┘")));
    drawing.push('\n');
    drawing
}

#[derive(Clone, Copy)]
enum Square {
    Empty,
    Wall,
    Vehicle {
        idx: usize,
        letter: char,
        colour: Colour,
    },
}

impl Square {
    fn is_same_vehicle(self, other: Square) -> bool {
        let idx = |square| match square {
            Square::Vehicle { idx, .. } => Some(idx),
            Square::Empty | Square::Wall => None,
        };
        idx(self).is_some() && idx(self) == idx(other)
    }
}

/// Whether the squares to the left and right are the same vehicle's.
#[derive(Clone, Copy)]
struct Joins {
    before: bool,
    after: bool,
}

fn squares_of(board: &Board) -> Vec<Square> {
    let mut squares = vec![Square::Empty; board.lot().n_squares()];
    for wall in board.walls().iter() {
        squares[wall] = Square::Wall;
    }
    let colours = colours::of_vehicles(board);
    for (idx, (vehicle, colour)) in board.vehicles().iter().zip(colours).enumerate() {
        let letter = char::from(board.letters()[idx]);
        for square in vehicle.squares(board.lot()).iter() {
            squares[square] = Square::Vehicle { idx, letter, colour };
        }
    }
    squares
}

impl Style {
    fn square(self, square: Square, joins: Joins) -> String {
        match (square, self) {
            (Square::Empty, _) => self.faint(" · "),
            (Square::Wall, Style::Plain) => "▒▒▒".to_owned(),
            (Square::Wall, Style::Ansi) => "\x1b[38;5;244;48;5;238m▒▒▒\x1b[0m".to_owned(),
            (Square::Vehicle { letter, idx, .. }, Style::Plain) => {
                let bar = if idx == 0 { '═' } else { '─' };
                let end = |joined| if joined { bar } else { ' ' };
                format!("{}{letter}{}", end(joins.before), end(joins.after))
            }
            (Square::Vehicle { letter, idx, colour }, Style::Ansi) => {
                let ink = if colour.is_dark { 231 } else { 16 };
                let weight = if idx == 0 { "1;" } else { "" };
                let mut cell = String::new();
                write!(
                    cell,
                    "\x1b[{weight}38;5;{ink};48;5;{}m {letter} \x1b[0m",
                    colour.ansi
                )
                .expect("writing to a string cannot fail");
                cell
            }
        }
    }

    fn faint(self, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Ansi => format!("\x1b[38;5;244m{text}\x1b[0m"),
        }
    }

    fn arrow(self) -> String {
        match self {
            Style::Plain => "→".to_owned(),
            Style::Ansi => format!("\x1b[1;38;5;{}m→\x1b[0m", colours::HERO.ansi),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_plain_drawing_is_equally_wide() {
        let board: Board = "7x6:BBBoooCoooooxCAAooooCooDEEEoooDooooooooxxo".parse().unwrap();
        let drawing = text(&board, Style::Plain);
        assert_eq!(drawing.lines().count(), 8);
        assert!(
            drawing.lines().all(|line| line.chars().count() == 7 * 3 + 2),
            "{drawing}"
        );
        assert_eq!(drawing.matches('→').count(), 1);
        assert!(drawing.lines().nth(3).unwrap().ends_with('→'));
    }

    #[test]
    fn colours_are_taken_back_and_the_text_beneath_them_is_the_board() {
        let board: Board = "ooZoooooZoooAAZBoooooBoooooooooxxooo".parse().unwrap();
        let drawing = text(&board, Style::Ansi);
        for line in drawing.lines() {
            assert!(line.ends_with("\x1b[0m"), "{line:?}");
        }
        let mut bare = String::new();
        for part in drawing.split("\x1b[") {
            bare.push_str(part.split_once('m').map_or(part, |(_, text)| text));
        }
        let letters: String = bare.chars().filter(char::is_ascii_alphabetic).collect();
        assert_eq!(letters, "ZZAAZBB");
        assert_eq!(bare.matches("▒▒▒").count(), 2);
    }
}
