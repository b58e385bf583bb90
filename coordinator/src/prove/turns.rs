//! Whose proof is next: the provers' time is shared among those who wait for it.
//!
//! What is to be proved lies in lines, one a worker, piece by piece (a board is a piece). A thread that is free takes from
//! the line whose credential keeps the fewest threads busy, then the one that keeps the fewest itself, then the one that waited
//! longest since its last turn. So whoever hands in what takes long holds up itself: others wait for one piece at most.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::ids::Session;

/// Batches of one worker that may be in its line: the one it waits for, and one that it gave up waiting for.
const MAX_BATCHES_A_WORKER: usize = 2;
/// Batches in all, as a multiple of what one credential may have.
const ALL_TO_ONE: usize = 4;

/// For whom something is proved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asker {
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
    asker: Asker,
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
    of: HashMap<Asker, Line>,
    /// Threads that each credential keeps busy.
    busy: HashMap<Credential, usize>,
    /// Batches that have a place, each with whose it is.
    places: HashMap<u64, Asker>,
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

    /// A place for a batch; `None`: its asker has as many as it may, or there are as many as there may be at all.
    pub(super) fn place(self: &Arc<Turns>, asker: &Asker) -> Option<Place> {
        let mut lines = self.lock();
        let mine = lines.places.values().filter(|other| *other == asker).count();
        let ours = lines.places.values();
        let ours = ours.filter(|other| other.credential == asker.credential).count();
        let is_crowded = asker.session.is_some() && mine >= MAX_BATCHES_A_WORKER;
        if is_crowded || ours >= self.max_batches || lines.places.len() >= ALL_TO_ONE * self.max_batches {
            return None;
        }
        lines.n_places += 1;
        let id = lines.n_places;
        lines.places.insert(id, asker.clone());
        drop(lines);
        Some(Place {
            turns: Arc::clone(self),
            id,
        })
    }

    /// Puts the pieces of a batch in its asker's line. As many turns are to be taken.
    pub(super) fn line_up(&self, place: &Place, n_pieces: usize, pieces: Pieces) {
        let mut lines = self.lock();
        let Some(asker) = lines.places.get(&place.id).cloned() else {
            return;
        };
        let line = lines.of.entry(asker).or_default();
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
        let (asker, line) = all
            .iter_mut()
            .filter(|(_, line)| !line.waiting.is_empty())
            .min_by_key(|(asker, line)| {
                let ours = busy.get(&asker.credential).copied().unwrap_or(0);
                (ours, line.n_busy, line.last_turn)
            })?;
        *n_turns += 1;
        line.last_turn = *n_turns;
        line.n_busy += 1;
        *busy.entry(asker.credential.clone()).or_default() += 1;
        let first = line.waiting.front_mut().expect("the line is not empty");
        let turn = Turn {
            asker: asker.clone(),
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
        let Turn { asker, pieces, idx } = turn;
        pieces(idx);
        let mut lines = self.lock();
        if let Some(n_busy) = lines.busy.get_mut(&asker.credential) {
            *n_busy -= 1;
            if *n_busy == 0 {
                lines.busy.remove(&asker.credential);
            }
        }
        if let Some(line) = lines.of.get_mut(&asker) {
            line.n_busy -= 1;
            if line.n_busy == 0 && line.waiting.is_empty() {
                lines.of.remove(&asker);
            }
        }
    }

    /// Gives a batch's place back; once more does nothing.
    pub(super) fn leave(&self, id: u64) {
        let mut lines = self.lock();
        let Some(asker) = lines.places.remove(&id) else {
            return;
        };
        if let Some(line) = lines.of.get_mut(&asker) {
            line.waiting.retain(|waiting| waiting.id != id);
            if line.n_busy == 0 && line.waiting.is_empty() {
                lines.of.remove(&asker);
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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn worker(token: &str, n: u128) -> Asker {
        Asker {
            credential: Credential::Token(token.into()),
            session: Some(Session::new(Uuid::from_u128(n))),
        }
    }

    /// Ten pieces, which say whose they are.
    fn line_up(turns: &Arc<Turns>, asker: &Asker) -> Place {
        let place = turns.place(asker).unwrap();
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
        assert!(first.asker == greedy && second.asker == greedy);
        let _place = line_up(&turns, &modest);
        turns.run(first);
        let third = turns.take().unwrap();
        assert!(third.asker == modest, "the first thread that is free is its");
        turns.run(second);
        assert!(turns.take().unwrap().asker == greedy);
        turns.run(third);
        assert!(turns.take().unwrap().asker == modest);
    }

    #[test]
    fn many_workers_of_one_credential_have_one_credentials_share() {
        let turns = Arc::new(Turns::new(8));
        let _many: Vec<_> = (0..6).map(|n| line_up(&turns, &worker("a", n))).collect();
        let one = worker("b", 9);
        let _place = line_up(&turns, &one);
        // Four threads: two each.
        let taken: Vec<_> = (0..4).map(|_| turns.take().unwrap()).collect();
        assert_eq!(taken.iter().filter(|turn| turn.asker == one).count(), 2);
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
}
