//! How many may stand at the doors, and who.
//!
//! A connection is a stranger's until it has made a call that its door lets in. Strangers are few, from one address few of
//! them, and they have a deadline; whoever is known is only counted. So strangers use up neither the files that a process may
//! open nor the places of those who are known, and thousands of workers behind one address still come in, a few at a time.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};
use tracing::warn;

/// Within this time of its arrival a connection must have made a call that its door lets in; the handshake counts.
pub(crate) const STRANGER_DEADLINE: Duration = Duration::from_secs(30);
/// Strangers at once, if there are files enough.
const MAX_STRANGERS: usize = 4_096;
/// Strangers from one address at once, if there are files enough.
const MAX_STRANGERS_AN_ADDRESS: usize = 256;
/// Files kept for the system, certificates and listeners.
const RESERVED_FILES: u64 = 64;
/// Connections that are let in at least, however few files there may be.
const MIN_CONNECTIONS: u64 = 16;
/// Connections that are let in at most.
const MAX_CONNECTIONS: u64 = 200_000;
/// How often it is told that connections were sent away.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// How many connections a coordinator takes that may open so many files, of which its database has some.
pub fn max_connections(max_open_files: u64, database_connections: u32) -> usize {
    let left = max_open_files.saturating_sub(RESERVED_FILES + u64::from(database_connections));
    let left = left.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
    usize::try_from(left).expect("at most 200,000")
}

/// Where a connection comes from, as far as one party may choose it freely: an IPv6 /64 is one customer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin {
    V4(Ipv4Addr),
    V6(u64),
}

impl Origin {
    fn of(address: IpAddr) -> Origin {
        match address.to_canonical() {
            IpAddr::V4(address) => Origin::V4(address),
            IpAddr::V6(address) => Origin::V6(upper_half(address)),
        }
    }
}

fn upper_half(address: Ipv6Addr) -> u64 {
    let [a, b, c, d, ..] = address.segments();
    [a, b, c, d]
        .iter()
        .fold(0, |upper, &part| upper << 16 | u64::from(part))
}

/// Everybody at the doors of a coordinator.
#[derive(Debug)]
pub(crate) struct Crowd {
    max: usize,
    max_strangers: usize,
    max_strangers_an_address: usize,
    /// Addresses of proxies, which bring many visitors and are nobody's but the operator's.
    proxies: Vec<IpAddr>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    n_all: usize,
    n_strangers: usize,
    strangers: HashMap<Origin, usize>,
    n_sent_away: u64,
    told_at: Option<Instant>,
}

impl Crowd {
    /// Of so many connections at most half are strangers', of those a quarter from one address.
    pub(crate) fn new(max: usize, proxies: Vec<IpAddr>) -> Crowd {
        let max_strangers = (max / 2).clamp(1, MAX_STRANGERS);
        Crowd {
            max: max.max(1),
            max_strangers,
            max_strangers_an_address: (max_strangers / 4).clamp(1, MAX_STRANGERS_AN_ADDRESS),
            proxies,
            counts: Mutex::default(),
        }
    }

    /// A place for a connection that arrives; `None`: it is to be sent away. Where no token is asked for (`is_asked` is false)
    /// everybody is on this machine, and one address may have all places of strangers.
    pub(crate) fn arrive(self: &Arc<Crowd>, address: IpAddr, is_asked: bool) -> Option<Admission> {
        let origin = Origin::of(address);
        let has_limit = is_asked && !self.proxies.contains(&address.to_canonical());
        let mut counts = self.lock();
        let n_of_address = counts.strangers.get(&origin).copied().unwrap_or(0);
        if counts.n_all >= self.max
            || counts.n_strangers >= self.max_strangers
            || (has_limit && n_of_address >= self.max_strangers_an_address)
        {
            counts.n_sent_away += 1;
            // Not a line each: that would be another thing to fill.
            if counts.told_at.is_none_or(|at| at.elapsed() >= TELL_EVERY) {
                warn!(
                    last = %address,
                    n_sent_away = counts.n_sent_away,
                    n_connections = counts.n_all,
                    n_strangers = counts.n_strangers,
                    "too many connections, some were sent away"
                );
                counts.told_at = Some(Instant::now());
                counts.n_sent_away = 0;
            }
            return None;
        }
        counts.n_all += 1;
        counts.n_strangers += 1;
        *counts.strangers.entry(origin).or_default() += 1;
        drop(counts);
        Some(Admission(Arc::new(Visit {
            crowd: Arc::clone(self),
            origin,
            is_known: AtomicBool::new(false),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn no_stranger(&mut self, origin: Origin) {
        self.n_strangers -= 1;
        if let Some(n) = self.strangers.get_mut(&origin) {
            *n -= 1;
            if *n == 0 {
                self.strangers.remove(&origin);
            }
        }
    }
}

/// A connection's place at the doors. Cheap to clone; given back with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct Admission(Arc<Visit>);

#[derive(Debug)]
struct Visit {
    crowd: Arc<Crowd>,
    origin: Origin,
    is_known: AtomicBool,
}

impl Admission {
    /// A call of this connection was let in: it is a stranger's no more.
    pub(crate) fn admit(&self) {
        if !self.0.is_known.swap(true, Ordering::Relaxed) {
            self.0.crowd.lock().no_stranger(self.0.origin);
        }
    }

    fn is_known(&self) -> bool {
        self.0.is_known.load(Ordering::Relaxed)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut counts = self.crowd.lock();
        counts.n_all -= 1;
        if !*self.is_known.get_mut() {
            counts.no_stranger(self.origin);
        }
    }
}

/// The deadline of a connection that nobody has admitted yet.
#[derive(Debug)]
pub(crate) struct Deadline {
    admission: Admission,
    /// `None`: it was admitted in time.
    until: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    pub(crate) fn new(admission: Admission) -> Deadline {
        Deadline {
            admission,
            until: Some(Box::pin(sleep(STRANGER_DEADLINE))),
        }
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Whether the connection may still be used; looks again by itself at the deadline.
    pub(crate) fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(until) = &mut self.until else {
            return Ok(());
        };
        if self.admission.is_known() {
            self.until = None;
        } else if let Poll::Ready(()) = until.as_mut().poll(context) {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "no call was let in within the deadline",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_has_its_share_of_the_strangers_and_no_more() {
        let crowd = Arc::new(Crowd::new(32, vec![at("10.0.0.9")]));
        let mut strangers: Vec<_> = (0..4)
            .map(|_| crowd.arrive(at("10.0.0.1"), true).unwrap())
            .collect();
        assert!(crowd.arrive(at("10.0.0.1"), true).is_none());
        assert!(
            crowd.arrive(at("::ffff:10.0.0.1"), true).is_none(),
            "the same address"
        );
        assert!(crowd.arrive(at("10.0.0.2"), true).is_some());
        strangers.pop();
        assert!(crowd.arrive(at("10.0.0.1"), true).is_some());
        let proxied: Vec<_> = (0..8).map(|_| crowd.arrive(at("10.0.0.9"), true)).collect();
        assert!(proxied.iter().all(Option::is_some));
    }

    #[test]
    fn an_ipv6_customer_is_one_address() {
        let crowd = Arc::new(Crowd::new(8, Vec::new()));
        let _first = crowd.arrive(at("2001:db8:1:2::1"), true).unwrap();
        assert!(crowd.arrive(at("2001:db8:1:2:ffff::2"), true).is_none());
        assert!(crowd.arrive(at("2001:db8:1:3::1"), true).is_some());
    }

    #[test]
    fn known_ones_of_one_address_are_only_counted() {
        let crowd = Arc::new(Crowd::new(8, Vec::new()));
        let known: Vec<_> = (0..8)
            .map(|_| {
                let admission = crowd.arrive(at("10.0.0.1"), true).unwrap();
                admission.admit();
                admission.admit();
                admission
            })
            .collect();
        assert!(crowd.arrive(at("10.0.0.2"), true).is_none(), "eight are all");
        drop(known);
        let counts = crowd.lock();
        assert!(counts.n_all == 0 && counts.n_strangers == 0 && counts.strangers.is_empty());
    }

    #[test]
    fn strangers_of_many_addresses_leave_room_for_the_known() {
        let crowd = Arc::new(Crowd::new(8, Vec::new()));
        let arrive = |n: u8| crowd.arrive(IpAddr::from([10, 0, 0, n]), true);
        let known = arrive(0).unwrap();
        known.admit();
        let strangers: Vec<_> = (1..5).map(|n| arrive(n).unwrap()).collect();
        assert!(arrive(5).is_none());
        strangers[0].admit();
        assert!(arrive(5).is_some());
    }

    #[test]
    fn where_no_token_is_asked_for_one_address_may_bring_all() {
        let crowd = Arc::new(Crowd::new(32, Vec::new()));
        let all: Vec<_> = (0..16).map(|_| crowd.arrive(at("127.0.0.1"), false)).collect();
        assert!(all.iter().all(Option::is_some));
    }

    #[test]
    fn connections_leave_files_for_the_database_and_the_system() {
        assert_eq!(max_connections(1_024, 16), 944);
        assert_eq!(max_connections(10, 16), 16);
        assert_eq!(max_connections(u64::MAX, 16), 200_000);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_thirty_seconds_and_a_known_one_any_time() {
        let crowd = Arc::new(Crowd::new(32, Vec::new()));
        let stranger = crowd.arrive(at("10.0.0.1"), true).unwrap();
        let known = crowd.arrive(at("10.0.0.1"), true).unwrap();
        let (mut of_stranger, mut of_known) = (Deadline::new(stranger), Deadline::new(known.clone()));
        let check =
            |deadline: &mut Deadline| deadline.check(&mut Context::from_waker(std::task::Waker::noop()));
        assert!(check(&mut of_stranger).is_ok() && check(&mut of_known).is_ok());
        known.admit();
        tokio::time::advance(STRANGER_DEADLINE).await;
        assert!(check(&mut of_stranger).is_err() && check(&mut of_known).is_ok());
    }
}
