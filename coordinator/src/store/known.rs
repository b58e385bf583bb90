//! Which boards are stored for certain: a bounded set in memory that stands before the database.
//!
//! Most of what is handed in is known, and most of that was handed in lately. A key of this set is the whole of what
//! tells boards apart, par and spelling, not a hash of it: a hit is exact, so no board is ever lost to it. A miss says
//! nothing; the database is then asked. A row of `boards` is deleted only where it is wrong, and then forgotten here too;
//! another coordinator that still remembers it takes a wrong board for known, never a right one, as par is in the key.
//!
//! A database can be set back, to a backup, under a coordinator that goes on. What is remembered of it is then wrong, and a
//! board that is answered as known would be lost. So memory holds for one start of the server, for one epoch of the database
//! (`farm_epoch`), and for as long as the numbers of batches grow ([`Memory`]); a batch that was judged by memory of another time
//! is not stored, and comes again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

/// The most keys that are remembered if nobody says otherwise: some 90 bytes each.
pub const MAX_KNOWN: usize = 1_000_000;

/// Remembers keys, the ones asked for lately longer than others. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct KnownBoards {
    inner: Arc<Mutex<Generations>>,
}

/// What was remembered at a moment: good for storing as long as nothing was forgotten since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Counts how often everything was forgotten.
    n_losses: u64,
    /// The largest number of a batch that was committed by then.
    last_batch: i64,
}

/// Two generations, each of half the keys that may be remembered. Keys come into the young one; when it is full it
/// becomes the old one, whose keys are forgotten. A key that is found in the old one moves to the young.
#[derive(Debug)]
struct Generations {
    half: usize,
    young: HashMap<Box<str>, i16>,
    old: HashMap<Box<str>, i16>,
    memory: Memory,
    /// Which start of the server all of it is about.
    server: Option<String>,
    /// Which epoch of the database; until it is known, nothing is remembered.
    epoch: Option<Uuid>,
}

impl KnownBoards {
    /// Remembers nothing yet, and never more than so many keys.
    pub(super) fn new(max_keys: usize) -> KnownBoards {
        let generations = Generations {
            half: max_keys / 2,
            young: HashMap::new(),
            old: HashMap::new(),
            memory: Memory {
                n_losses: 0,
                last_batch: 0,
            },
            server: None,
            epoch: None,
        };
        KnownBoards {
            inner: Arc::new(Mutex::new(generations)),
        }
    }

    /// What a batch is judged by from now on.
    pub(super) fn memory(&self) -> Memory {
        self.lock().memory
    }

    /// A connection was made to this start of the server. Of another one nothing is remembered.
    pub(super) fn connected_to(&self, server: String) {
        let mut generations = self.lock();
        if generations
            .server
            .as_ref()
            .is_some_and(|former| *former != server)
        {
            generations.forget_all();
        }
        generations.server = Some(server);
    }

    /// Whether a batch that was judged by this memory may be stored under this number, drawn later, in this epoch. If not,
    /// the database is not the one that is remembered, and all is forgotten.
    pub(super) fn still_holds(&self, memory: Memory, batch_id: i64, epoch: Uuid) -> bool {
        let mut generations = self.lock();
        let is_another = generations
            .epoch
            .replace(epoch)
            .is_some_and(|former| former != epoch);
        let is_older = batch_id <= memory.last_batch && generations.memory.n_losses == memory.n_losses;
        if is_another || is_older {
            generations.forget_all();
        }
        generations.memory.n_losses == memory.n_losses
    }

    /// A batch was committed that was judged by this memory: its boards are stored for certain.
    pub(super) fn committed<'a>(
        &self,
        memory: Memory,
        batch_id: i64,
        keys: impl IntoIterator<Item = (i16, &'a str)>,
    ) {
        let mut generations = self.lock();
        if generations.memory.n_losses != memory.n_losses {
            return;
        }
        generations.memory.last_batch = generations.memory.last_batch.max(batch_id);
        for (par, spelling) in keys {
            generations.insert(par, spelling.into());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each of these keys is stored for certain.
    pub(super) fn are_known(&self, pars: &[i16], spellings: &[String]) -> Vec<bool> {
        let mut generations = self.lock();
        let keys = pars.iter().zip(spellings);
        keys.map(|(&par, spelling)| generations.find(par, spelling))
            .collect()
    }

    /// Remembers a key whose row was seen, unless all was forgotten since `memory`.
    pub(super) fn remember<'a>(&self, memory: Memory, keys: impl IntoIterator<Item = (i16, &'a str)>) {
        let mut generations = self.lock();
        if generations.memory.n_losses != memory.n_losses || generations.epoch.is_none() || generations.half == 0 {
            return;
        }
        for (par, spelling) in keys {
            generations.insert(par, spelling.into());
        }
    }

    /// Forgets a key whose row was taken back.
    pub(super) fn forget(&self, par: i16, spelling: &str) {
        let mut generations = self.lock();
        let Generations { young, old, .. } = &mut *generations;
        for generation in [young, old] {
            if generation.get(spelling) == Some(&par) {
                generation.remove(spelling);
            }
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let generations = self.lock();
        generations.young.len() + generations.old.len()
    }
}

impl Generations {
    fn forget_all(&mut self) {
        (self.young, self.old) = (HashMap::new(), HashMap::new());
        self.memory = Memory {
            n_losses: self.memory.n_losses + 1,
            last_batch: 0,
        };
    }

    fn find(&mut self, par: i16, spelling: &str) -> bool {
        if self.young.get(spelling) == Some(&par) {
            return true;
        }
        if self.old.get(spelling) != Some(&par) {
            return false;
        }
        if let Some((key, par)) = self.old.remove_entry(spelling) {
            self.insert(par, key);
        }
        true
    }

    fn insert(&mut self, par: i16, spelling: Box<str>) {
        if self.half == 0 {
            return;
        }
        if self.young.len() >= self.half && !self.young.contains_key(&spelling) {
            self.old = std::mem::take(&mut self.young);
        }
        // A spelling stored with two pars (one not proved, and wrong) is known by the later one alone: the other is
        // looked up.
        self.young.insert(spelling, par);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: Uuid = Uuid::nil();

    /// A set that knows its epoch.
    fn open(max_keys: usize) -> KnownBoards {
        let set = KnownBoards::new(max_keys);
        assert!(set.still_holds(set.memory(), 1, EPOCH));
        set
    }

    fn known(set: &KnownBoards, par: i16, spelling: &str) -> bool {
        set.are_known(&[par], &[spelling.to_owned()])[0]
    }

    #[test]
    fn a_hit_is_the_par_and_the_whole_spelling() {
        let set = open(10);
        set.remember(set.memory(), [(3, "abc")]);
        assert!(known(&set, 3, "abc"));
        assert!(!known(&set, 4, "abc"));
        assert!(!known(&set, 3, "abd"));
    }

    #[test]
    fn a_board_taken_back_is_forgotten_and_its_namesake_is_not() {
        let set = open(10);
        set.remember(set.memory(), [(3, "abc"), (3, "abd")]);
        set.forget(4, "abc");
        set.forget(3, "abd");
        assert!(known(&set, 3, "abc"));
        assert!(!known(&set, 3, "abd"));
    }

    #[test]
    fn it_never_holds_more_keys_than_it_may() {
        let set = open(100);
        for idx in 0..10_000 {
            set.remember(set.memory(), [(1, idx.to_string().as_str())]);
            assert!(set.len() <= 100, "{}", set.len());
        }
        assert!(known(&set, 1, "9999"));
        assert!(!known(&set, 1, "0"));
        let none = open(0);
        none.remember(none.memory(), [(1, "a")]);
        assert!(!known(&none, 1, "a"));
    }

    #[test]
    fn what_is_asked_for_is_kept_longer() {
        let set = open(100);
        set.remember(set.memory(), [(1, "often")]);
        for idx in 0..10_000 {
            set.remember(set.memory(), [(1, idx.to_string().as_str())]);
            assert!(known(&set, 1, "often"), "{idx}");
        }
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
        let not_yet = KnownBoards::new(10);
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
