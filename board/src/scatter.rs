//! Random boards.
