//! Boards that can be seen to be unsolvable, without a search.
//!
//! Vehicles never turn and never pass one another in their lane, so what stands between hero and exit must be able to
//! make way within its own lane. That is necessary, not sufficient: a board that is not hopeless may still be
//! unsolvable.

use crate::Board;
use crate::geometry::{Axis, Lot};

/// Whether a wall or horizontal vehicle bars the hero's row, or a column cannot be cleared where it crosses the row.
///
/// ```text
/// o o o B o o
/// o o o B o o   B and C fill their column but for one square: whatever else
/// A A o B o o   moves, one of them bars the hero's row
/// o o o C o o
/// o o o C o o
/// ```
pub fn is_hopeless(board: &Board) -> bool {
    let (lot, hero, exit_row) = (board.lot(), board.hero(), board.exit_row());
    let barred = board.vehicles()[1..].iter().any(|vehicle| {
        vehicle.axis() == Axis::Horizontal && vehicle.lane() == exit_row && vehicle.start() > hero.start()
    });
    barred || (hero.end()..lot.width()).any(|column| !can_clear(board, lot, column, exit_row))
}

/// Whether the vehicles of the column, taken alone, can stand so that its square in the exit row is free.
fn can_clear(board: &Board, lot: Lot, column: u8, exit_row: u8) -> bool {
    let walls = board.walls();
    let is_wall = |row: u8| walls.contains(lot.square(row, column));
    if is_wall(exit_row) {
        return false;
    }
    // The stretch between walls that holds the crossing; vehicles elsewhere in the column are no matter.
    let first = (0..exit_row)
        .rev()
        .find(|&row| is_wall(row))
        .map_or(0, |row| row + 1);
    let end = (exit_row..lot.height())
        .find(|&row| is_wall(row))
        .unwrap_or(lot.height());
    let (above, below) = (exit_row - first, end - exit_row - 1);
    let mut lengths: [u8; 16] = [0; 16];
    for vehicle in board.vehicles() {
        let in_stretch = vehicle.axis() == Axis::Vertical && vehicle.lane() == column;
        if in_stretch && (first..end).contains(&vehicle.start()) {
            lengths[usize::from(vehicle.start())] = vehicle.length();
        }
    }
    // As many of the upper vehicles as fit go above the crossing; the order within the lane never changes.
    let mut room = above;
    let mut rest = lengths
        .iter()
        .copied()
        .filter(|&length| length > 0)
        .skip_while(|&length| {
            let fits = length <= room;
            if fits {
                room -= length;
            }
            fits
        });
    rest.by_ref().map(u32::from).sum::<u32>() <= u32::from(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_hopeless_spelling(spelling: &str) -> bool {
        is_hopeless(&Board::parse(&spelling.replace(' ', "")).unwrap())
    }

    #[test]
    fn walls_and_vehicles_in_the_heros_row_bar_it_for_good() {
        assert!(is_hopeless_spelling("4x4: oooo AAox oooo oooo"));
        assert!(is_hopeless_spelling("4x4: oooo AABB oooo oooo"));
        assert!(!is_hopeless_spelling("4x4: ooox AAoo ooox oooo"));
        assert!(!is_hopeless_spelling("5x5: ooooo ooooo BBAAo ooooo ooooo"));
    }

    #[test]
    fn a_column_too_full_to_make_way_bars_the_row() {
        // A truck of three needs three squares below the second row; a square more and it can make way.
        assert!(is_hopeless_spelling("4x4: oooB AAoB oooB oooo"));
        assert!(!is_hopeless_spelling("4x5: oooB AAoB oooB oooo oooo"));
        // Two vehicles of which neither fits above: both must go below.
        assert!(is_hopeless_spelling(
            "6x6: oooBoo oooBoo AAoBoo oooCoo oooCoo oooooo"
        ));
        assert!(!is_hopeless_spelling(
            "6x6: oooBoo oooBoo AAoCoo oooCoo oooooo oooooo"
        ));
        // Columns the hero has passed do not matter.
        assert!(!is_hopeless_spelling("4x4: Booo BAAo Booo oooo"));
    }

    #[test]
    fn a_wall_takes_the_room_and_what_lies_beyond_it_does_not_matter() {
        assert!(!is_hopeless_spelling(
            "6x6: oooooo oooooo AAoBoo oooBoo oooBoo oooooo"
        ));
        assert!(is_hopeless_spelling(
            "6x6: oooooo oooooo AAoBoo oooBoo oooBoo oooxoo"
        ));
        assert!(!is_hopeless_spelling(
            "6x6: oooooo oooBoo AAoBoo oooxoo oooCoo oooCoo"
        ));
    }
}
