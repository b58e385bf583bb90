//! The program `parforce`.
fn main() {}
