//! Reading and spelling boards as text.

use std::fmt;

use crate::board::Board;

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lot = self.lot();
        let mut text = vec![b'o'; lot.n_squares()];
        for square in self.walls().iter() {
            text[square] = b'x';
        }
        for (vehicle, &letter) in self.vehicles().iter().zip(self.letters()) {
            for square in vehicle.squares(lot).iter() {
                text[square] = letter;
            }
        }
        if !lot.is_square() {
            write!(f, "{lot}:")?;
        }
        f.write_str(str::from_utf8(&text).expect("letters are ASCII"))
    }
}
