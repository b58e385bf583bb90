//! Which boards are stored for certain, shared by all who ask: a set in memory that stands before the database.
//!
//! Most of what is handed in is known, and most of that was handed in lately. A row of `boards` is deleted only where its key
//! is wrong, its par or its spelling, and then forgotten here too; another coordinator that still remembers it takes a wrong
//! board for known, never a right one. Where a row is wrong beside its key, it is corrected and stays.
//!
//! A database can be set back, to a backup, under a coordinator that goes on. What is remembered of it is then wrong, and a
//! board that is answered as known would be lost. So memory holds for one start of the server, for one epoch of the database
//! (`farm_epoch`), and for as long as the numbers of batches grow ([`Memory`]); a batch that was judged by memory of another time
//! is not stored, and comes again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use board::Par;
use board::known::KnownBoards;
use uuid::Uuid;

/// The most boards that are remembered if nobody says otherwise: some 120 bytes each.
pub const MAX_KNOWN: usize = 1_000_000;

/// Boards that are stored. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct StoredBoards {
    inner: Arc<Mutex<Remembered>>,
}

/// What was remembered at a moment: good for storing as long as nothing was forgotten since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Counts how often everything was forgotten.
    n_losses: u64,
    /// The largest number of a batch that was committed by then.
    last_batch: i64,
}

#[derive(Debug)]
struct Remembered {
    max_boards: usize,
    boards: KnownBoards,
    memory: Memory,
    /// Which start of the server all of it is about.
    server: Option<String>,
    /// Which epoch of the database; until it is known, nothing is remembered.
    epoch: Option<Uuid>,
}

impl StoredBoards {
    /// Remembers nothing yet, and never more than so many boards.
    pub(super) fn new(max_boards: usize) -> StoredBoards {
        let remembered = Remembered {
            max_boards,
            boards: KnownBoards::new(max_boards),
            memory: Memory {
                n_losses: 0,
                last_batch: 0,
            },
            server: None,
            epoch: None,
        };
        StoredBoards {
            inner: Arc::new(Mutex::new(remembered)),
        }
    }

    /// What a batch is judged by from now on.
    pub(super) fn memory(&self) -> Memory {
        self.lock().memory
    }

    /// A connection was made to this start of the server. Of another one nothing is remembered.
    pub(super) fn connected_to(&self, server: String) {
        let mut remembered = self.lock();
        if remembered.server.as_ref().is_some_and(|former| *former != server) {
            remembered.forget_all();
        }
        remembered.server = Some(server);
    }

    /// Whether a batch that was judged by this memory may be stored under this number, drawn later, in this epoch. If not,
    /// the database is not the one that is remembered, and all is forgotten.
    pub(super) fn still_holds(&self, memory: Memory, batch_id: i64, epoch: Uuid) -> bool {
        let mut remembered = self.lock();
        let is_another = remembered
            .epoch
            .replace(epoch)
            .is_some_and(|former| former != epoch);
        let is_older = batch_id <= memory.last_batch && remembered.memory.n_losses == memory.n_losses;
        if is_another || is_older {
            remembered.forget_all();
        }
        remembered.memory.n_losses == memory.n_losses
    }

    /// A batch was committed that was judged by this memory: its boards are stored for certain.
    pub(super) fn committed<'a>(
        &self,
        memory: Memory,
        batch_id: i64,
        boards: impl IntoIterator<Item = (i16, &'a str)>,
    ) {
        let mut remembered = self.lock();
        if remembered.memory.n_losses != memory.n_losses {
            return;
        }
        remembered.memory.last_batch = remembered.memory.last_batch.max(batch_id);
        remembered.insert(boards);
    }

    /// Whether each of these boards is stored for certain.
    pub(super) fn are_known(&self, pars: &[i16], spellings: &[String]) -> Vec<bool> {
        let mut remembered = self.lock();
        let known = &mut remembered.boards;
        let keys = pars.iter().zip(spellings);
        keys.map(|(&par, spelling)| par_of(par).is_some_and(|par| known.contains(par, spelling)))
            .collect()
    }

    /// The largest par of the boards of these hashes (of none: 0); `None`: not all of them are known to be stored.
    pub(super) fn best_par(&self, hashes: &[u128]) -> Option<Par> {
        let mut remembered = self.lock();
        let mut pars = hashes.iter().map(|&hash| remembered.boards.par_of(hash));
        pars.try_fold(Par::ZERO, |best, par| Some(best.max(par?)))
    }

    /// Remembers boards whose rows were seen, unless all was forgotten since `memory`.
    pub(super) fn remember<'a>(&self, memory: Memory, boards: impl IntoIterator<Item = (i16, &'a str)>) {
        let mut remembered = self.lock();
        if remembered.memory.n_losses == memory.n_losses && remembered.epoch.is_some() {
            remembered.insert(boards);
        }
    }

    /// Forgets a board whose row was taken back.
    pub(super) fn forget(&self, par: i16, spelling: &str) {
        if let Some(par) = par_of(par) {
            self.lock().boards.forget(par, spelling);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Remembered {
    fn forget_all(&mut self) {
        self.boards = KnownBoards::new(self.max_boards);
        self.memory = Memory {
            n_losses: self.memory.n_losses + 1,
            last_batch: 0,
        };
    }

    fn insert<'a>(&mut self, boards: impl IntoIterator<Item = (i16, &'a str)>) {
        if self.max_boards == 0 {
            return;
        }
        for (par, spelling) in boards {
            if let Some(par) = par_of(par) {
                self.boards.insert(par, spelling);
            }
        }
    }
}

/// A par as the database holds it.
fn par_of(par: i16) -> Option<Par> {
    u16::try_from(par).ok().map(Par::new)
}

#[cfg(test)]
mod tests {
    use board::tally::hash_board;

    use super::*;

    const EPOCH: Uuid = Uuid::nil();

    /// A set that knows its epoch.
    fn open(max_boards: usize) -> StoredBoards {
        let set = StoredBoards::new(max_boards);
        assert!(set.still_holds(set.memory(), 1, EPOCH));
        set
    }

    fn known(set: &StoredBoards, par: i16, spelling: &str) -> bool {
        set.are_known(&[par], &[spelling.to_owned()])[0]
    }

    #[test]
    fn hashes_are_known_all_or_not_at_all() {
        let stored = open(10);
        stored.remember(stored.memory(), [(3, "abc"), (5, "abd")]);
        let hash = |par, spelling| hash_board(Par::new(par), spelling);
        let both = [hash(3, "abc"), hash(5, "abd")];
        assert_eq!(stored.best_par(&both), Some(Par::new(5)));
        assert_eq!(stored.best_par(&[both[0], both[1], hash(4, "abc")]), None);
        assert_eq!(stored.best_par(&[]), Some(Par::ZERO));
        stored.forget(5, "abd");
        assert_eq!(stored.best_par(&both), None);
    }

    #[test]
    fn a_database_that_was_set_back_is_not_the_one_that_is_remembered() {
        let set = open(10);
        let before = set.memory();
        set.committed(before, 7, [(3, "abc")]);
        let memory = set.memory();
        assert!(set.still_holds(memory, 8, EPOCH));
        // Numbers grow; one that was there before was drawn from a backup.
        assert!(!set.still_holds(memory, 7, EPOCH));
        assert!(!known(&set, 3, "abc"));
        // Who judged before that may not store, nor remember what it saw.
        assert!(!set.still_holds(memory, 9, EPOCH));
        set.remember(memory, [(3, "abc")]);
        set.committed(memory, 9, [(3, "abc")]);
        assert!(!known(&set, 3, "abc"));
        assert!(set.still_holds(set.memory(), 1, EPOCH));
    }

    #[test]
    fn another_epoch_is_another_database() {
        let set = open(10);
        set.committed(set.memory(), 7, [(3, "abc")]);
        let memory = set.memory();
        assert!(!set.still_holds(memory, 1_000, Uuid::max()));
        assert!(!known(&set, 3, "abc"));
        assert!(set.still_holds(set.memory(), 1_001, Uuid::max()));
        let not_yet = StoredBoards::new(10);
        not_yet.remember(not_yet.memory(), [(3, "abc")]);
        assert!(
            !known(&not_yet, 3, "abc"),
            "which epoch it was seen in is not known"
        );
    }

    #[test]
    fn nothing_is_remembered_beyond_a_start_of_the_server() {
        let set = open(10);
        set.connected_to("first".to_owned());
        set.remember(set.memory(), [(3, "abc")]);
        set.connected_to("first".to_owned());
        assert!(known(&set, 3, "abc"));
        let memory = set.memory();
        set.connected_to("second".to_owned());
        assert!(!known(&set, 3, "abc"));
        assert!(!set.still_holds(memory, 100, EPOCH));
    }
}
