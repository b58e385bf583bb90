//! Slides: one vehicle moving any number of free squares along its lane.

use crate::board::Board;
use crate::geometry::Axis;

/// One vehicle moving a number of squares along its lane: one move of the puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slide {
    /// Index of the vehicle on its board.
    pub vehicle: usize,
    /// How far in squares: positive right or down, negative left or up, never 0.
    pub squares: i8,
}

/// Why a slide is not possible on a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlideError {
    /// The board has no such vehicle.
    #[error("no vehicle {vehicle}, the board has {n_vehicles}")]
    NoSuchVehicle {
        /// The index asked for.
        vehicle: usize,
        /// How many vehicles there are.
        n_vehicles: usize,
    },
    /// A slide of no squares.
    #[error("vehicle {letter} slides 0 squares, expected 1 or more")]
    NoSquares {
        /// Letter of the vehicle.
        letter: char,
    },
    /// The vehicle would leave the lot.
    #[error("vehicle {letter} cannot slide {squares:+} squares, it would leave the lot")]
    LeavesLot {
        /// Letter of the vehicle.
        letter: char,
        /// How far it was to go.
        squares: i8,
    },
    /// A square on the way is taken.
    #[error("vehicle {letter} cannot slide {squares:+} squares, square {square} is taken")]
    Blocked {
        /// Letter of the vehicle.
        letter: char,
        /// How far it was to go.
        squares: i8,
        /// The first square in the way.
        square: usize,
    },
}

impl Slide {
    /// The slide that takes this one back.
    #[must_use]
    pub const fn undo(self) -> Slide {
        Slide {
            vehicle: self.vehicle,
            squares: -self.squares,
        }
    }

    /// How many steps the slide is.
    pub const fn steps(self) -> u64 {
        self.squares.unsigned_abs() as u64
    }
}

impl Board {
    /// Every slide possible on the board, by vehicle, then the shortest first, right or down before left or up.
    ///
    /// ```
    /// # use board::Board;
    /// let board: Board = "ooooBoooooBoAAooBooooooooooooooooooo".parse().unwrap();
    /// let slides: Vec<String> = board.slides().into_iter().map(|s| board.spell_slide(s)).collect();
    /// assert_eq!(slides, ["A+1", "A+2", "B+1", "B+2", "B+3"]);
    /// ```
    pub fn slides(&self) -> Vec<Slide> {
        let occupied = self.occupied();
        let mut slides = Vec::new();
        for (i, vehicle) in self.vehicles().iter().enumerate() {
            let (start, end) = (vehicle.start(), vehicle.end());
            let length = self.lot().lane_length(vehicle.axis());
            let is_free = |place: u8| !occupied.contains(self.lane_square(i, place));
            let ahead = (end..length).take_while(|&place| is_free(place));
            let behind = (0..start).rev().take_while(|&place| is_free(place));
            let distances = (1..).zip(ahead).map(|(distance, _)| distance);
            slides.extend(distances.map(|squares| Slide { vehicle: i, squares }));
            let distances = (1..).zip(behind).map(|(distance, _): (i8, _)| -distance);
            slides.extend(distances.map(|squares| Slide { vehicle: i, squares }));
        }
        slides
    }

    /// The board after a slide.
    ///
    /// # Errors
    /// When the slide is not possible; the message names what is in the way.
    pub fn apply(&self, slide: Slide) -> Result<Board, SlideError> {
        let Slide { vehicle, squares } = slide;
        let n_vehicles = self.n_vehicles();
        let moving = *self
            .vehicles()
            .get(vehicle)
            .ok_or(SlideError::NoSuchVehicle { vehicle, n_vehicles })?;
        let letter = char::from(self.letters()[vehicle]);
        if squares == 0 {
            return Err(SlideError::NoSquares { letter });
        }
        let start = i16::from(moving.start()) + i16::from(squares);
        let end = start + i16::from(moving.length());
        if start < 0 || end > i16::from(self.lot().lane_length(moving.axis())) {
            return Err(SlideError::LeavesLot { letter, squares });
        }
        let start = u8::try_from(start).expect("the start was just found to be inside the lot");
        let occupied = self.occupied();
        let crossed: Vec<u8> = if squares > 0 {
            (moving.end()..start + moving.length()).collect()
        } else {
            (start..moving.start()).rev().collect()
        };
        let taken = crossed.into_iter().map(|place| self.lane_square(vehicle, place));
        if let Some(square) = taken.into_iter().find(|&square| occupied.contains(square)) {
            return Err(SlideError::Blocked {
                letter,
                squares,
                square,
            });
        }
        Ok(self.with_start_unchecked(vehicle, start))
    }

    /// A slide as answers spell it: the vehicle's letter and the squares, right or down positive.
    ///
    /// # Panics
    /// When the board has no such vehicle.
    pub fn spell_slide(&self, slide: Slide) -> String {
        format!("{}{:+}", char::from(self.letters()[slide.vehicle]), slide.squares)
    }

    /// The square at a place of a vehicle's lane.
    fn lane_square(&self, vehicle: usize, place: u8) -> usize {
        let lane = self.vehicles()[vehicle].lane();
        match self.vehicles()[vehicle].axis() {
            Axis::Horizontal => self.lot().square(lane, place),
            Axis::Vertical => self.lot().square(place, lane),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Board {
        "ooooBoooooBoAAooBoooxxoooooooooooooo".parse().unwrap()
    }

    #[test]
    fn a_slide_stops_at_vehicles_walls_and_edges() {
        let refusal = |vehicle, squares| board().apply(Slide { vehicle, squares }).unwrap_err();
        let blocked = |letter, squares, square| SlideError::Blocked {
            letter,
            squares,
            square,
        };
        assert_eq!(refusal(0, 3), blocked('A', 3, 16));
        assert_eq!(refusal(0, 4), blocked('A', 4, 16));
        assert_eq!(
            refusal(0, -1),
            SlideError::LeavesLot {
                letter: 'A',
                squares: -1
            }
        );
        assert_eq!(
            refusal(0, i8::MAX),
            SlideError::LeavesLot {
                letter: 'A',
                squares: i8::MAX
            }
        );
        assert_eq!(
            refusal(0, i8::MIN),
            SlideError::LeavesLot {
                letter: 'A',
                squares: i8::MIN
            }
        );
        assert_eq!(refusal(0, 0), SlideError::NoSquares { letter: 'A' });
        assert_eq!(
            refusal(2, 1),
            SlideError::NoSuchVehicle {
                vehicle: 2,
                n_vehicles: 2
            }
        );
        assert_eq!(
            refusal(1, -1).to_string(),
            "vehicle B cannot slide -1 squares, it would leave the lot"
        );
    }

    #[test]
    fn the_slides_of_a_board_are_those_that_can_be_applied() {
        for vehicle in 0..2 {
            for squares in -6..=6 {
                let slide = Slide { vehicle, squares };
                assert_eq!(
                    board().apply(slide).is_ok(),
                    board().slides().contains(&slide),
                    "{slide:?}"
                );
            }
        }
    }

    #[test]
    fn undo_after_apply_gives_the_board_back() {
        for slide in board().slides() {
            assert_eq!(
                board().apply(slide).unwrap().apply(slide.undo()).unwrap(),
                board()
            );
        }
    }
}
