//! Words of the contract: enumerations, as the wire numbers them and as the database and the command line spell them.

use super::WireError;
use crate::v1;

macro_rules! wire_enum {
    ($(#[$doc:meta])* $name:ident = $wire:path, $field:literal { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// As the database and the command line spell it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// The value of this spelling.
            pub fn parse(text: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }

            /// As the wire numbers it.
            pub fn to_wire(self) -> i32 {
                match self {
                    $($name::$variant => <$wire>::$variant.into(),)+
                }
            }

            /// The value of this number.
            ///
            /// # Errors
            /// [`WireError`] if the number is 0 or unknown.
            pub fn from_wire(value: i32) -> Result<$name, WireError> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|known| known.to_wire() == value)
                    .ok_or(WireError::UnknownValue { field: $field, value })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

wire_enum!(
    /// Kinds of job.
    JobKind = v1::JobKind, "kind" {
        /// Random boards.
        Scatter = "scatter",
        /// Simulated annealing.
        Anneal = "anneal",
        /// Exhaustive.
        Census = "census",
        /// Proves again.
        Audit = "audit",
        /// Levels of Siren Jam.
        Siren = "siren",
        /// Measures difficulty.
        Difficulty = "difficulty",
        /// All changes of hard boards.
        Sweep = "sweep",
    }
);
wire_enum!(
    /// What a hunt is after.
    Aim = v1::HuntAim, "aim" {
        /// Boards of every par.
        Broad = "broad",
        /// The hardest boards alone.
        Deep = "deep",
    }
);
wire_enum!(
    /// What a whole worker is to do.
    Directive = v1::Directive, "directive" {
        /// Go on.
        Run = "run",
        /// Finish what is running, take nothing more.
        Drain = "drain",
        /// Release everything and leave.
        Stop = "stop",
        /// As stop; a newer program is needed.
        Upgrade = "upgrade",
    }
);
wire_enum!(
    /// What the holder of a lease is to do.
    LeaseAction = v1::LeaseAction, "action" {
        /// Go on; the lease is renewed.
        Continue = "continue",
        /// Send a checkpoint with the next beat.
        Checkpoint = "checkpoint",
        /// Checkpoint and release.
        Pause = "pause",
        /// Stop and release.
        Cancel = "cancel",
        /// The lease is another's: stop and claim nothing.
        Lost = "lost",
    }
);
wire_enum!(
    /// What became of a write under a lease.
    LeaseOutcome = v1::LeaseOutcome, "outcome" {
        /// It was done.
        Accepted = "accepted",
        /// The lease was another's; nothing changed.
        Lost = "lost",
    }
);
wire_enum!(
    /// Why a worker gives a job back.
    ReleaseReason = v1::ReleaseReason, "reason" {
        /// It leaves.
        Drain = "drain",
        /// It was told to pause.
        Paused = "paused",
        /// It was told to cancel.
        Cancelled = "cancelled",
        /// The job failed.
        Error = "error",
        /// It cannot run the specification.
        Unsupported = "unsupported",
    }
);
wire_enum!(
    /// Why a board was refused.
    RejectCode = v1::RejectCode, "code" {
        /// It is not a legal board.
        NotABoard = "not_a_board",
        /// It is spelled another way.
        NotCanonical = "not_canonical",
        /// It does not stand for its cluster.
        NotRepresentative = "not_representative",
        /// Its par is another.
        WrongPar = "wrong_par",
        /// It has no solution.
        Unsolvable = "unsolvable",
        /// Its cluster is too large to prove.
        TooLarge = "too_large",
        /// Its cluster's size or its minimality is another.
        WrongCluster = "wrong_cluster",
        /// It does not lie in the job's space.
        OutsideJob = "outside_job",
        /// It breaks a rule of every level.
        Unfit = "unfit",
        /// The seed gives another jam.
        NotOfSeed = "not_of_seed",
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_enumerations_are_read_back() {
        for &code in RejectCode::ALL {
            assert_eq!(RejectCode::parse(code.as_str()), Some(code));
            assert_eq!(RejectCode::from_wire(code.to_wire()), Ok(code));
        }
        assert!(LeaseAction::from_wire(0).is_err());
    }
}
