//! Which programs may search: the version, the engine, and whether the self-test came to what it must.
//!
//! Who may not is leased nothing and told what to run. What it found before is taken all the same: a board is proved,
//! whoever hands it in.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use board::{ENGINE, SELF_TEST};

use proto::convert::Versions;
use thiserror::Error;
use time::OffsetDateTime;
use tokio::time::Instant;

use crate::config::Demands;
use crate::store::WorkerStanding;

/// A program's version: three numbers, such as 0.2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u32; 3]);

/// Why a text is no version.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("version {0:?}, expected three numbers such as 0.2.0")]
pub struct VersionError(String);

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        let refused = || VersionError(text.chars().take(60).collect());
        // What stands behind a hyphen or a plus sign names a build, not a version.
        let plain = text.trim().split(['-', '+']).next().unwrap_or_default();
        let mut parts = plain.split('.').map(|part| part.parse().map_err(|_| refused()));
        let mut next = || parts.next().unwrap_or_else(|| Err(refused()));
        let version = Version([next()?, next()?, next()?]);
        match parts.next() {
            None => Ok(version),
            Some(_) => Err(refused()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// What a farm asks of programs, at any moment.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    minimum: Option<Version>,
    /// With the moment, on the monotonic clock, at which it becomes the minimum.
    next: Option<(Version, Instant)>,
}

impl Gate {
    /// The gate of these demands, seen from the present moment on the database's clock.
    pub fn new(demands: &Demands, now: OffsetDateTime) -> Gate {
        Gate {
            minimum: demands.minimum,
            next: demands.next.map(|(version, at)| {
                let left = Duration::try_from(at - now).unwrap_or(Duration::ZERO);
                (version, Instant::now() + left)
            }),
        }
    }

    fn minimum(&self) -> Option<Version> {
        match self.next {
            Some((version, at)) if at <= Instant::now() => self.minimum.max(Some(version)),
            _ => self.minimum,
        }
    }

    /// What a worker is told of versions.
    pub fn versions(&self) -> Versions {
        let coming = self.next.filter(|(_, at)| *at > Instant::now());
        Versions {
            minimum: self
                .minimum()
                .map(|version| version.to_string())
                .unwrap_or_default(),
            next: coming.map(|(version, _)| version.to_string()).unwrap_or_default(),
            deadline: coming.map(|(_, at)| at - Instant::now()),
        }
    }

    /// Why nothing is leased to this worker; `None`: it may search.
    pub fn refusal(&self, worker: &WorkerStanding) -> Option<String> {
        let own = env!("CARGO_PKG_VERSION");
        if let Some(minimum) = self.minimum() {
            // What does not read as a version is older than any.
            let is_below = worker
                .program_version
                .parse::<Version>()
                .map_or(true, |version| version < minimum);
            if is_below {
                return Some(format!(
                    "program {} is below this farm's minimum: install parforce {minimum} or newer",
                    worker.program_version
                ));
            }
        }
        if worker.engine != ENGINE {
            return Some(format!(
                "engine {} is not this farm's, which is {ENGINE}: install parforce {own}",
                worker.engine
            ));
        }
        if worker.self_test != SELF_TEST {
            let came_to = if worker.self_test.is_empty() {
                "was not run".to_owned()
            } else {
                format!(
                    "came to {}, not {}",
                    hex::encode(&worker.self_test),
                    hex::encode(SELF_TEST)
                )
            };
            return Some(format!(
                "the self-test {came_to}: this machine or program computes wrongly; check its memory, install parforce {own}"
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proto::convert::Directive;
    use proto::ids::Session;
    use uuid::Uuid;

    use super::*;

    fn worker(version: &str) -> WorkerStanding {
        WorkerStanding {
            id: 1,
            name: "w".to_owned(),
            session: Session::new(Uuid::nil()),
            engine: ENGINE.to_owned(),
            program_version: version.to_owned(),
            self_test: SELF_TEST.to_vec(),
            directive: Directive::Run,
            is_quarantined: false,
            is_gone: false,
        }
    }

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("0.10.0") > version("0.9.9"));
        assert_eq!(version("1.2.3-rc1+4").to_string(), "1.2.3");
        for text in ["", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.-3"] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_version_becomes_the_minimum_at_its_deadline() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let demands = Demands {
            minimum: Some(version("0.2.0")),
            next: Some((version("0.3.0"), now + time::Duration::hours(1))),
        };
        let gate = Gate::new(&demands, now);
        assert!(
            gate.refusal(&worker("0.1.9"))
                .unwrap()
                .contains("install parforce 0.2.0")
        );
        assert!(gate.refusal(&worker("garbage")).is_some());
        assert_eq!(gate.refusal(&worker("0.2.0")), None);
        assert_eq!(gate.versions().next, "0.3.0");
        tokio::time::advance(Duration::from_hours(1)).await;
        assert!(
            gate.refusal(&worker("0.2.0"))
                .unwrap()
                .contains("install parforce 0.3.0")
        );
        assert_eq!(gate.versions().minimum, "0.3.0");
        assert_eq!(gate.versions().next, "");
    }

    #[test]
    fn another_engine_or_self_test_is_refused_with_what_to_do() {
        let gate = Gate::default();
        let own = env!("CARGO_PKG_VERSION");
        assert_eq!(gate.refusal(&worker(own)), None);
        let engine = WorkerStanding {
            engine: "parforce-0".to_owned(),
            ..worker(own)
        };
        assert!(gate.refusal(&engine).unwrap().contains("install parforce"));
        for self_test in [vec![], vec![1; 16]] {
            let broken = WorkerStanding {
                self_test,
                ..worker(own)
            };
            assert!(gate.refusal(&broken).unwrap().contains("self-test"));
        }
    }
}
