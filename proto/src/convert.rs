//! Wire to type and back: the only place where a message becomes a type.
//!
//! Whoever holds one of these types need not check it again: ids are positive, uuids are uuids, texts and lists are
//! within their limits, specifications are runnable. What a *board* claims is not checked here: a [`StatedBoard`] is
//! evidence, and the coordinator proves it.

mod boards;
mod census;
mod difficulty;
mod endings;
mod jams;
mod leases;
mod names;
mod operator;
mod sessions;
mod spec;
mod work;

use std::ops::RangeInclusive;
use std::time::Duration;

use board::census::CensusError;
use board::job::SpecError;
use board::space::SpaceError;
use thiserror::Error;

pub use boards::{Ack, Batch, Rejection, StatedBoard};
pub use census::{ALL_REPEATED, CensusTerms, census_spec};
pub use endings::{Completion, Release};
pub use jams::{jam_counters, jam_tally};
pub use leases::{Acquire, Beat, Lease, LeaseBeat, LeaseOrder};
pub use names::{Aim, Directive, JobKind, LeaseAction, LeaseOutcome, RejectCode, ReleaseReason};
pub use operator::{Budget, HuntPlan, NewCampaign, NewHunt, Strategy, Wish};
pub use sessions::{Hello, Versions, Welcome};
pub use siren::proof::StatedJam;
pub use work::{Work, WorkError};

/// The longest text of a label or version, in characters.
pub const MAX_LABEL_CHARS: usize = 100;
/// The longest spelling of a board that is looked at, in bytes.
pub const MAX_SPELLING_BYTES: usize = 300;
/// The longest spelling of a jam that is looked at, in bytes.
pub const MAX_JAM_SPELLING_BYTES: usize = 1_000;
/// The longest file of a jam that is looked at, in bytes: the largest lot full of vehicles has some 12,000.
pub const MAX_JAM_BYTES: usize = 32 * 1024;
/// The longest plan of a campaign, in bytes.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;
/// The longest explanation that is kept, in characters; what is longer is cut off.
pub const MAX_DETAIL_CHARS: usize = 1_000;
/// The most leases in one beat, and the most slots of a worker.
pub const MAX_LEASES: u32 = 1_024;
/// The largest checkpoint, in bytes.
pub const MAX_CHECKPOINT_BYTES: usize = 1024 * 1024;

/// The largest count that a claim may hold. What a job does in its minutes stays far below; sums of very many of them
/// still fit 63 bits, so that no claim can break a statistic.
pub const MAX_COUNT: u64 = 100_000_000_000_000;
/// The highest rate that is noted, in positions a second; what is beyond is noted as this.
pub const MAX_RATE: f64 = 1e12;
/// The priorities that a hunt may have.
pub const PRIORITIES: RangeInclusive<i32> = -1_000..=1_000;
/// The most threads of one worker.
pub const MAX_THREADS: u32 = 4_096;

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A field that every message of its kind has is absent.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A number lies outside its range.
    #[error("{field} is {value}, expected {low} to {high}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// As it was sent.
        value: i128,
        /// The least that is taken.
        low: i128,
        /// The most that is taken.
        high: i128,
    },
    /// A text should be a uuid.
    #[error("{field} is {value:?}, expected a uuid")]
    NotAUuid {
        /// The field.
        field: &'static str,
        /// As it was sent, cut off.
        value: String,
    },
    /// A census that cannot be numbered.
    #[error(transparent)]
    Census(#[from] CensusError),
    /// An enumeration's number is unknown to this version.
    #[error("{field} has the unknown value {value}")]
    UnknownValue {
        /// The field.
        field: &'static str,
        /// As it was sent.
        value: i32,
    },
    /// A text or list is too long, or too short.
    #[error("{field} has {len} {unit}, expected {low} to {high}")]
    Length {
        /// The field.
        field: &'static str,
        /// As it was sent.
        len: usize,
        /// What is counted.
        unit: &'static str,
        /// The least that is taken.
        low: usize,
        /// The most that is taken.
        high: usize,
    },
    /// A label holds characters that no label needs.
    #[error("{0} holds control characters")]
    Control(&'static str),
    /// The space of boards is inconsistent.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The specification is out of bounds.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A text should be a board, in canonical spelling where that is asked for.
    #[error("board {spelling:?}: {reason}")]
    StartBoard {
        /// As it was sent, cut off.
        spelling: String,
        /// Why.
        reason: String,
    },
    /// Seeds and template of a level make no job.
    #[error(transparent)]
    JamJob(#[from] siren::job::JamJobError),
    /// A campaign's plan is none.
    #[error("plan: {0}")]
    Plan(String),
    /// The kind of job is unknown to this version.
    #[error("a job of a kind that this version does not know")]
    UnknownKind,
}

impl WireError {
    pub(crate) fn not_a_uuid(field: &'static str, value: &str) -> WireError {
        WireError::NotAUuid {
            field,
            value: cut(value, 60),
        }
    }
}

/// The text's first characters.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    text.chars().filter(|c| *c != '\0').take(max_chars).collect()
}

fn small<T>(field: &'static str, value: u32) -> Result<T, WireError>
where
    T: TryFrom<u32> + Into<i128> + Bounded,
{
    T::try_from(value).map_err(|_| WireError::OutOfRange {
        field,
        value: value.into(),
        low: 0,
        high: T::MAX.into(),
    })
}

/// Numbers with a largest value.
trait Bounded {
    const MAX: Self;
}

impl Bounded for u8 {
    const MAX: u8 = u8::MAX;
}

impl Bounded for u16 {
    const MAX: u16 = u16::MAX;
}

fn within(field: &'static str, value: u32, low: u32, high: u32) -> Result<u32, WireError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(WireError::OutOfRange {
        field,
        value: value.into(),
        low: low.into(),
        high: high.into(),
    })
}

fn priority(value: i32) -> Result<i32, WireError> {
    if PRIORITIES.contains(&value) {
        return Ok(value);
    }
    Err(WireError::OutOfRange {
        field: "priority",
        value: value.into(),
        low: (*PRIORITIES.start()).into(),
        high: (*PRIORITIES.end()).into(),
    })
}

fn count(field: &'static str, value: u64) -> Result<u64, WireError> {
    count_up_to(field, value, MAX_COUNT)
}

fn count_up_to(field: &'static str, value: u64, high: u64) -> Result<u64, WireError> {
    if value <= high {
        return Ok(value);
    }
    Err(WireError::OutOfRange {
        field,
        value: value.into(),
        low: 0,
        high: high.into(),
    })
}

fn label(field: &'static str, text: String, low: usize) -> Result<String, WireError> {
    let len = text.chars().count();
    if !(low..=MAX_LABEL_CHARS).contains(&len) {
        return Err(WireError::Length {
            field,
            len,
            unit: "characters",
            low,
            high: MAX_LABEL_CHARS,
        });
    }
    if !is_plain(&text) {
        return Err(WireError::Control(field));
    }
    Ok(text)
}

/// Whether a name shows as it is: no control characters, and none of those that are invisible or turn the direction of
/// what follows, in a terminal or on a page.
pub fn is_plain(text: &str) -> bool {
    let is_hidden = |c| matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !text.chars().any(|c| c.is_control() || is_hidden(c))
}

fn list<T>(field: &'static str, list: Vec<T>, high: usize) -> Result<Vec<T>, WireError> {
    if list.len() > high {
        return Err(WireError::Length {
            field,
            len: list.len(),
            unit: "elements",
            low: 0,
            high,
        });
    }
    Ok(list)
}

fn checkpoint(bytes: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, WireError> {
    match bytes {
        Some(bytes) if bytes.len() > MAX_CHECKPOINT_BYTES => Err(WireError::Length {
            field: "checkpoint",
            len: bytes.len(),
            unit: "bytes",
            low: 0,
            high: MAX_CHECKPOINT_BYTES,
        }),
        bytes => Ok(bytes),
    }
}

fn millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}

fn duration(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}
