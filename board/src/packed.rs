//! Packed positions of boards up to 8x8.
