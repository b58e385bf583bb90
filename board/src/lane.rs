//! Lanes: arrangements of the vehicles of one lane, and their slide tables.
