//! Words for the person at the terminal, beside the answer on standard output.

/// Writes a line to standard error, as `eprintln!` does; where nobody reads it any more (`parforce hunt 2>&1 | head`), it
/// is dropped, and the command goes on.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
