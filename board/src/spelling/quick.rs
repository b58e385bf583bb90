//! The quick way to read what nearly every text is: a legal board on a square lot, on one line, its exit to the right.

use crate::board::{Board, LETTERS};
use crate::geometry::{Axis, Lot, Squares};
use crate::vehicle::Vehicle;

/// What is known of a letter so far.
#[derive(Clone, Copy)]
struct Seen {
    first: usize,
    last: usize,
    /// From one of its squares to the next; 0: it has one so far.
    stride: usize,
    length: u8,
}

/// The board that the text spells; `None`: it has to be read at length, which knows what is wrong with it.
pub(super) fn board(text: &str) -> Option<Board> {
    let side = text.len().isqrt();
    if side * side != text.len() {
        return None;
    }
    let narrow = u8::try_from(side).ok()?;
    let lot = Lot::new(narrow, narrow).ok()?;
    let width = side;

    let mut walls = Squares::EMPTY;
    let mut places = [u8::MAX; 128];
    let mut seen: Vec<(u8, Seen)> = Vec::with_capacity(LETTERS.len().min(text.len() / 2));
    let mut column = 0;
    for (square, &byte) in text.as_bytes().iter().enumerate() {
        let is_first_column = column == 0;
        column = if column + 1 == width { 0 } else { column + 1 };
        match byte {
            b'o' | b'.' => {}
            b'x' | b'#' => walls.insert(square),
            b'A'..=b'Z' | b'a'..=b'z' => {
                let place = &mut places[usize::from(byte)];
                if let Some((_, vehicle)) = seen.get_mut(usize::from(*place)) {
                    let stride = square - vehicle.last;
                    let follows = match vehicle.stride {
                        0 => stride == 1 || stride == width,
                        known => stride == known,
                    };
                    // In reading order the square before the first of a row is the last of the row above.
                    if !follows || stride == 1 && is_first_column {
                        return None;
                    }
                    *vehicle = Seen {
                        last: square,
                        stride,
                        length: vehicle.length + 1,
                        ..*vehicle
                    };
                } else {
                    *place = u8::try_from(seen.len()).expect("there are fewer letters than 256");
                    let vehicle = Seen {
                        first: square,
                        last: square,
                        stride: 0,
                        length: 1,
                    };
                    seen.push((byte, vehicle));
                }
            }
            _ => return None,
        }
    }

    // The hero first, the others in reading order of their first squares.
    let hero = seen.iter().position(|&(letter, _)| letter == LETTERS[0])?;
    seen[..=hero].rotate_right(1);
    if seen[0].1.stride != 1 {
        return None;
    }
    let vehicle = |&(
        _,
        Seen {
            first,
            stride,
            length,
            ..
        },
    ): &(u8, Seen)| {
        let (row, column) = (lot.row(first), lot.column(first));
        match stride {
            0 => None,
            1 => Some(Vehicle::new(Axis::Horizontal, row, column, length)),
            _ => Some(Vehicle::new(Axis::Vertical, column, row, length)),
        }
    };
    let vehicles = seen.iter().map(vehicle).collect::<Option<Vec<Vehicle>>>()?;
    let letters = seen.iter().map(|&(letter, _)| letter).collect();
    Board::with_letters(lot, vehicles, walls, letters).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spelling::Exit;
    use crate::stream::Stream;

    /// Both ways to read a text agree: what the quick one reads the long one reads alike, letters and all, and it reads every
    /// legal board on one line of a square lot.
    fn agree(text: &str) -> bool {
        let at_length = Board::parse_at_length(text, Exit::Right).ok();
        let quick = board(text);
        let is_plain = at_length.as_ref().is_some_and(|board| board.lot().is_square())
            && !text.contains([':', '\n', '\r']);
        assert_eq!(quick.is_some(), is_plain, "{text:?}");
        if let (Some(quick), Some(at_length)) = (&quick, &at_length) {
            assert_eq!(
                (quick, quick.letters()),
                (at_length, at_length.letters()),
                "{text:?}"
            );
        }
        quick.is_some()
    }

    #[test]
    fn it_reads_what_is_read_at_length_and_nothing_else() {
        let boards = [
            "GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo",
            "GooBBBGooIoKAAoIJKCCCoJKooHoDDEEHFFo",
            "AAo......",
            "#AA.BB.B.B.....B",
            "ooooooooooooAAooooooooooooooooooooooooooooooooooo",
        ];
        let mut stream = Stream::new("spelling", 1, 0);
        let alphabet = b"oooo..x#AABCDzq1: \n";
        let (mut n_read, mut n_refused) = (0, 0);
        for _ in 0..40_000 {
            let mut text = boards[stream.index(boards.len())].as_bytes().to_vec();
            for _ in 0..stream.below(4) {
                let at = stream.index(text.len());
                text[at] = match stream.below(3) {
                    0 => alphabet[stream.index(alphabet.len())],
                    1 => text[(at + 1) % text.len()],
                    _ => text[(at + 6) % text.len()],
                };
            }
            let text = String::from_utf8(text).unwrap();
            if agree(&text) {
                n_read += 1;
            } else {
                n_refused += 1;
            }
        }
        assert!(
            n_read > 5_000 && n_refused > 5_000,
            "{n_read} read, {n_refused} refused"
        );
    }

    #[test]
    fn every_fault_is_left_to_the_long_way() {
        for text in [
            "",
            "A",
            "oooo",
            "ooooooooo",
            "AooAooooo",
            "oAAoBooooooooooo",
            "AABoBooooooBoooo",
            "oAAoooBBoooBoooo",
            "AAoBBooooooooooo",
            "AAAAAAAAA",
            "AAoBBoooB",
            "ooooooéoo",
            "3x3:AAooooooo",
            "AAo\nooo\nooo",
        ] {
            agree(text);
        }
        assert!(!agree("AooAooooo") && agree("AAooooooo"));
    }
}
