//! Which boards are stored for certain: a bounded set in memory that stands before the database.
//!
//! Most of what is handed in is known, and most of that was handed in lately. A key of this set is the whole of what
//! tells boards apart, par and spelling, not a hash of it: a hit is exact, so no board is ever lost to it. A miss says
//! nothing; the database is then asked. A row of `boards` is deleted only where it is wrong, and then forgotten here too;
//! another coordinator that still remembers it takes a wrong board for known, never a right one, as par is in the key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most keys that are remembered if nobody says otherwise: some 90 bytes each.
pub const MAX_KNOWN: usize = 1_000_000;

/// Remembers keys, the ones asked for lately longer than others. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct KnownBoards {
    inner: Arc<Mutex<Generations>>,
}

/// Two generations, each of half the keys that may be remembered. Keys come into the young one; when it is full it
/// becomes the old one, whose keys are forgotten. A key that is found in the old one moves to the young.
#[derive(Debug)]
struct Generations {
    half: usize,
    young: HashMap<Box<str>, i16>,
    old: HashMap<Box<str>, i16>,
}

impl KnownBoards {
    /// Remembers nothing yet, and never more than so many keys.
    pub(super) fn new(max_keys: usize) -> KnownBoards {
        let generations = Generations {
            half: max_keys / 2,
            young: HashMap::new(),
            old: HashMap::new(),
        };
        KnownBoards {
            inner: Arc::new(Mutex::new(generations)),
        }
    }

    /// Whether each of these keys is stored for certain.
    pub(super) fn are_known(&self, pars: &[i16], spellings: &[String]) -> Vec<bool> {
        let mut generations = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = pars.iter().zip(spellings);
        keys.map(|(&par, spelling)| generations.find(par, spelling))
            .collect()
    }

    /// Remembers a key whose row is committed.
    pub(super) fn remember<'a>(&self, keys: impl IntoIterator<Item = (i16, &'a str)>) {
        let mut generations = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        for (par, spelling) in keys {
            generations.insert(par, spelling.into());
        }
    }

    /// Forgets a key whose row was taken back.
    pub(super) fn forget(&self, par: i16, spelling: &str) {
        let mut generations = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let Generations { young, old, .. } = &mut *generations;
        for generation in [young, old] {
            if generation.get(spelling) == Some(&par) {
                generation.remove(spelling);
            }
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let generations = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        generations.young.len() + generations.old.len()
    }
}

impl Generations {
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

    fn known(set: &KnownBoards, par: i16, spelling: &str) -> bool {
        set.are_known(&[par], &[spelling.to_owned()])[0]
    }

    #[test]
    fn a_hit_is_the_par_and_the_whole_spelling() {
        let set = KnownBoards::new(10);
        set.remember([(3, "abc")]);
        assert!(known(&set, 3, "abc"));
        assert!(!known(&set, 4, "abc"));
        assert!(!known(&set, 3, "abd"));
    }

    #[test]
    fn a_board_taken_back_is_forgotten_and_its_namesake_is_not() {
        let set = KnownBoards::new(10);
        set.remember([(3, "abc"), (3, "abd")]);
        set.forget(4, "abc");
        set.forget(3, "abd");
        assert!(known(&set, 3, "abc"));
        assert!(!known(&set, 3, "abd"));
    }

    #[test]
    fn it_never_holds_more_keys_than_it_may() {
        let set = KnownBoards::new(100);
        for idx in 0..10_000 {
            set.remember([(1, idx.to_string().as_str())]);
            assert!(set.len() <= 100, "{}", set.len());
        }
        assert!(known(&set, 1, "9999"));
        assert!(!known(&set, 1, "0"));
        let none = KnownBoards::new(0);
        none.remember([(1, "a")]);
        assert!(!known(&none, 1, "a"));
    }

    #[test]
    fn what_is_asked_for_is_kept_longer() {
        let set = KnownBoards::new(100);
        set.remember([(1, "often")]);
        for idx in 0..10_000 {
            set.remember([(1, idx.to_string().as_str())]);
            assert!(known(&set, 1, "often"), "{idx}");
        }
    }
}
