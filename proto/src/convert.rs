//! Wire to type and back.
