//! The contract between coordinator, workers and operators.
//!
//! [`v1`] is the generated code of `parforce/v1/*.proto`; the comments there are the contract's text. [`convert`] is
//! the only place where a wire message becomes a type; whoever holds one of its types need not check it again. [`ids`]
//! are the names that calls use.

pub mod convert;
pub mod ids;

/// Protocol version 1, generated.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "generated code"
)]
pub mod v1 {
    tonic::include_proto!("parforce.v1");
}

/// The protocol version spoken by this crate.
pub const PROTOCOL: u32 = 1;

/// The most boards in one batch; a larger one is refused.
pub const MAX_BOARDS_PER_BATCH: usize = 10_000;

/// The longest a server waits in an acquire call for work to appear, in milliseconds.
pub const MAX_ACQUIRE_WAIT_MS: u32 = 20_000;

/// The largest message either side takes, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// In which trailer of a refusal the delay before the next try is told, in milliseconds.
pub const RETRY_AFTER_TRAILER: &str = "retry-after-ms";

/// The trailer that tells a refusal at the door (the token is not good for this call) from one further in (no such session,
/// no such lease).
pub const DOOR_TRAILER: &str = "parforce-door";
