//! The names that calls use: numbers and uuids that must not be taken for one another.

use std::fmt;

use uuid::Uuid;

use crate::convert::WireError;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// Checks that the number is 1 or more.
            ///
            /// # Errors
            /// [`WireError::OutOfRange`] otherwise.
            pub fn new(value: i64) -> Result<Self, WireError> {
                if value < 1 {
                    return Err(WireError::OutOfRange { field: $field, value: value.into(), low: 1, high: i64::MAX.into() });
                }
                Ok(Self(value))
            }

            /// The number.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The name with this uuid.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Reads a uuid in its usual spelling.
            ///
            /// # Errors
            /// [`WireError::NotAUuid`] if it is none.
            pub fn parse(text: &str) -> Result<Self, WireError> {
                Uuid::try_parse(text).map(Self).map_err(|_| WireError::not_a_uuid($field, text))
            }

            /// The uuid.
            pub const fn get(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

number!(
    /// A hunt.
    HuntId,
    "hunt_id"
);
number!(
    /// A job.
    JobId,
    "job_id"
);
number!(
    /// A lease of a job: grows with every grant, so that a former holder is known by its smaller one.
    FencingToken,
    "token"
);
name!(
    /// One start of a worker process, named by itself.
    Incarnation,
    "incarnation"
);
name!(
    /// What a worker shows with every call, given to its incarnation by the coordinator.
    Session,
    "session"
);
name!(
    /// One wish for jobs; repeated, it is answered alike.
    RequestId,
    "request_id"
);
name!(
    /// One batch of boards; repeated, it is answered alike.
    BatchId,
    "batch_id"
);
