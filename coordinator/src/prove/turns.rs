//! Whose proof is next: the provers' time is shared among those who wait for it.
//!
//! What is to be proved lies in lines, one a worker, piece by piece (a board is a piece). A thread that is free takes from
//! the line whose credential keeps the fewest threads busy, then the one that keeps the fewest itself, then the one that waited
//! longest since its last turn. So whoever hands in what takes long holds up itself: others wait for one piece at most.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::ids::Session;

/// Batches of one worker that may be in its line: the one it waits for, and one that it gave up waiting for.
const MAX_BATCHES_A_WORKER: usize = 2;
/// Batches in all, as a multiple of what one credential may have.
const ALL_TO_ONE: usize = 4;

/// For whom something is proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Party {
    pub(super) credential: Credential,
    pub(super) session: Option<Session>,
}

/// By what it came in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Credential {
    /// The farm's own questions.
    Farm,
    /// A token of this name.
    Token(Arc<str>),
    /// The door stands open: each session for itself.
    Session(Session),
}

/// The pieces of a batch: called once with the number of each.
type Pieces = Arc<dyn Fn(usize) + Send + Sync>;

/// A batch that has its place. Dropped, what was not begun of it is not proved any more.
#[derive(Debug)]
pub(super) struct Place {
    turns: Arc<Turns>,
    id: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.turns.leave(self.id);
    }
}

/// A piece to be proved now.
pub(super) struct Turn {
    party: Party,
    pieces: Pieces,
    idx: usize,
}

/// The lines of those who wait.
#[derive(Debug)]
pub(super) struct Turns {
    max_batches: usize,
    lines: Mutex<Lines>,
}

#[derive(Debug, Default)]
struct Lines {
    of: HashMap<Party, Line>,
    /// Threads that each credential keeps busy.
    busy: HashMap<Credential, usize>,
    /// Batches that have a place, each with whose it is.
    places: HashMap<u64, Party>,
    n_turns: u64,
    n_places: u64,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<Waiting>,
    n_busy: usize,
    last_turn: u64,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("n_batches", &self.waiting.len())
            .field("n_busy", &self.n_busy)
            .finish_non_exhaustive()
    }
}

struct Waiting {
    id: u64,
    pieces: Pieces,
    next: usize,
    n_pieces: usize,
}

impl Turns {
    pub(super) fn new(max_batches: usize) -> Turns {
        Turns {
            max_batches: max_batches.max(1),
            lines: Mutex::default(),
        }
    }

    /// A place for a batch; `None`: its party has as many as it may, or there are as many as there may be at all.
    pub(super) fn place(self: &Arc<Turns>, party: &Party) -> Option<Place> {
        let mut lines = self.lock();
        let mine = lines.places.values().filter(|other| *other == party).count();
        let ours = lines.places.values();
        let ours = ours.filter(|other| other.credential == party.credential).count();
        let is_crowded = party.session.is_some() && mine >= MAX_BATCHES_A_WORKER;
        if is_crowded || ours >= self.max_batches || lines.places.len() >= ALL_TO_ONE * self.max_batches {
            return None;
        }
        lines.n_places += 1;
        let id = lines.n_places;
        lines.places.insert(id, party.clone());
        drop(lines);
        Some(Place {
            turns: Arc::clone(self),
            id,
        })
    }

    /// Puts the pieces of a batch in its party's line. As many turns are to be taken.
    pub(super) fn line_up(&self, place: &Place, n_pieces: usize, pieces: Pieces) {
        let mut lines = self.lock();
        let Some(party) = lines.places.get(&place.id).cloned() else {
            return;
        };
        let line = lines.of.entry(party).or_default();
        line.waiting.push_back(Waiting {
            id: place.id,
            pieces,
            next: 0,
            n_pieces,
        });
    }

    /// The piece that is next; `None`: those who wanted the rest have left.
    pub(super) fn take(&self) -> Option<Turn> {
        let mut lines = self.lock();
        let Lines {
            of: all,
            busy,
            n_turns,
            ..
        } = &mut *lines;
        let (party, line) = all
            .iter_mut()
            .filter(|(_, line)| !line.waiting.is_empty())
            .min_by_key(|(party, line)| {
                let ours = busy.get(&party.credential).copied().unwrap_or(0);
                (ours, line.n_busy, line.last_turn)
            })?;
        *n_turns += 1;
        line.last_turn = *n_turns;
        line.n_busy += 1;
        *busy.entry(party.credential.clone()).or_default() += 1;
        let first = line.waiting.front_mut().expect("the line is not empty");
        let turn = Turn {
            party: party.clone(),
            pieces: Arc::clone(&first.pieces),
            idx: first.next,
        };
        first.next += 1;
        if first.next == first.n_pieces {
            line.waiting.pop_front();
        }
        Some(turn)
    }

    /// Proves a piece.
    pub(super) fn run(&self, turn: Turn) {
        let Turn { party, pieces, idx } = turn;
        pieces(idx);
        let mut lines = self.lock();
        if let Some(n_busy) = lines.busy.get_mut(&party.credential) {
            *n_busy -= 1;
            if *n_busy == 0 {
                lines.busy.remove(&party.credential);
            }
        }
        if let Some(line) = lines.of.get_mut(&party) {
            line.n_busy -= 1;
            if line.n_busy == 0 && line.waiting.is_empty() {
                lines.of.remove(&party);
            }
        }
    }

    /// Gives a batch's place back; once more does nothing.
    pub(super) fn leave(&self, id: u64) {
        let mut lines = self.lock();
        let Some(party) = lines.places.remove(&id) else {
            return;
        };
        if let Some(line) = lines.of.get_mut(&party) {
            line.waiting.retain(|waiting| waiting.id != id);
            if line.n_busy == 0 && line.waiting.is_empty() {
                lines.of.remove(&party);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn id(&self) -> u64 {
        self.id
    }
}

/// Batches that are under way, so that one that is sent again meanwhile is not proved twice at once.
#[derive(Debug)]
pub(crate) struct UnderWay<K>(Mutex<HashSet<K>>);

/// A batch under way; dropped, it is no more.
#[derive(Debug)]
pub(crate) struct OnItsWay<'a, K: Copy + Eq + std::hash::Hash> {
    under_way: &'a UnderWay<K>,
    key: K,
}

impl<K> Default for UnderWay<K> {
    fn default() -> UnderWay<K> {
        UnderWay(Mutex::default())
    }
}

impl<K: Copy + Eq + std::hash::Hash> UnderWay<K> {
    /// `None`: it is under way already.
    pub(crate) fn begin(&self, key: K) -> Option<OnItsWay<'_, K>> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        is_new.then_some(OnItsWay { under_way: self, key })
    }
}

impl<K: Copy + Eq + std::hash::Hash> Drop for OnItsWay<'_, K> {
    fn drop(&mut self) {
        let mut keys = self.under_way.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn worker(token: &str, n: u128) -> Party {
        Party {
            credential: Credential::Token(token.into()),
            session: Some(Session::new(Uuid::from_u128(n))),
        }
    }

    /// Ten pieces, which say whose they are.
    fn line_up(turns: &Arc<Turns>, party: &Party) -> Place {
        let place = turns.place(party).unwrap();
        turns.line_up(&place, 10, Arc::new(|_| {}));
        place
    }

    #[test]
    fn who_has_much_to_prove_does_not_hold_up_who_has_little() {
        let turns = Arc::new(Turns::new(8));
        let (greedy, modest) = (worker("a", 1), worker("b", 2));
        let _places = [line_up(&turns, &greedy), line_up(&turns, &greedy)];
        // Both threads are the greedy one's when the other comes.
        let [first, second] = [turns.take().unwrap(), turns.take().unwrap()];
        assert!(first.party == greedy && second.party == greedy);
        let _place = line_up(&turns, &modest);
        turns.run(first);
        let third = turns.take().unwrap();
        assert!(third.party == modest, "the first thread that is free is its");
        turns.run(second);
        assert!(turns.take().unwrap().party == greedy);
        turns.run(third);
        assert!(turns.take().unwrap().party == modest);
    }

    #[test]
    fn many_workers_of_one_credential_have_one_credentials_share() {
        let turns = Arc::new(Turns::new(8));
        let _many: Vec<_> = (0..6).map(|n| line_up(&turns, &worker("a", n))).collect();
        let one = worker("b", 9);
        let _place = line_up(&turns, &one);
        // Four threads: two each.
        let taken: Vec<_> = (0..4).map(|_| turns.take().unwrap()).collect();
        assert_eq!(taken.iter().filter(|turn| turn.party == one).count(), 2);
    }

    #[test]
    fn nobody_takes_all_places() {
        let turns = Arc::new(Turns::new(4));
        let greedy = worker("a", 0);
        let _two = [line_up(&turns, &greedy), line_up(&turns, &greedy)];
        assert!(turns.place(&greedy).is_none());
        let _more: Vec<_> = (1..3).map(|n| line_up(&turns, &worker("a", n))).collect();
        assert!(
            turns.place(&worker("a", 3)).is_none(),
            "four are the credential's"
        );
        let other = turns.place(&worker("b", 4)).unwrap();
        drop(other);
        assert!(turns.place(&worker("b", 4)).is_some());
    }

    #[test]
    fn what_nobody_waits_for_is_not_proved() {
        let turns = Arc::new(Turns::new(4));
        let place = line_up(&turns, &worker("a", 0));
        let turn = turns.take().unwrap();
        drop(place);
        assert!(turns.take().is_none());
        turns.run(turn);
        let lines = turns.lock();
        assert!(lines.of.is_empty() && lines.busy.is_empty() && lines.places.is_empty());
    }

    #[test]
    fn a_batch_is_under_way_once() {
        let under_way = UnderWay::default();
        let first = under_way.begin(1);
        assert!(first.is_some() && under_way.begin(1).is_none() && under_way.begin(2).is_some());
        drop(first);
        assert!(under_way.begin(1).is_some());
    }
}
