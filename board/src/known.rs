//! Which boards are known: a bounded set in memory that stands before whatever is slower, a network or a database.
//!
//! A key of this set is the whole of what tells boards apart, par and spelling, not a hash of it: a hit is exact, so no
//! board is ever lost to it. A miss says nothing. Keys are filed under their hashes (see [`hash_board`]), so that a hash
//! alone can be asked about too.

use rustc_hash::FxHashMap;

use crate::Par;
use crate::tally::hash_board;

/// A bounded set of boards by par and spelling, which keeps those asked for lately longer than others.
///
/// Two generations, each of half the keys that may be remembered. Keys come into the young one; when it is full it
/// becomes the old one, whose keys are forgotten. A key that is found in the old one moves to the young.
#[derive(Clone, Debug)]
pub struct KnownBoards {
    half: usize,
    young: FxHashMap<u128, Key>,
    old: FxHashMap<u128, Key>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    par: Par,
    spelling: Box<str>,
}

impl Key {
    fn is(&self, par: Par, spelling: &str) -> bool {
        self.par == par && *self.spelling == *spelling
    }
}

impl KnownBoards {
    /// A set that remembers nothing yet, and never more than so many keys.
    pub fn new(max_keys: usize) -> KnownBoards {
        KnownBoards {
            half: max_keys / 2,
            young: FxHashMap::default(),
            old: FxHashMap::default(),
        }
    }

    /// Whether this board is remembered.
    pub fn contains(&mut self, par: Par, spelling: &str) -> bool {
        let hash = hash_board(par, spelling);
        self.find(hash).is_some_and(|key| key.is(par, spelling))
    }

    /// The par of the remembered board of this hash; `None`: none is.
    pub fn par_of(&mut self, hash: u128) -> Option<Par> {
        self.find(hash).map(|key| key.par)
    }

    /// Remembers a board.
    pub fn insert(&mut self, par: Par, spelling: &str) {
        let hash = hash_board(par, spelling);
        let spelling = spelling.into();
        self.keep(hash, Key { par, spelling });
    }

    /// Forgets a board.
    pub fn forget(&mut self, par: Par, spelling: &str) {
        let hash = hash_board(par, spelling);
        for generation in [&mut self.young, &mut self.old] {
            if generation.get(&hash).is_some_and(|key| key.is(par, spelling)) {
                generation.remove(&hash);
            }
        }
    }

    /// How many keys are remembered.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find(&mut self, hash: u128) -> Option<&Key> {
        if let Some(key) = self.old.remove(&hash) {
            self.keep(hash, key);
        }
        self.young.get(&hash)
    }

    fn keep(&mut self, hash: u128, key: Key) {
        if self.half == 0 {
            return;
        }
        if self.young.len() >= self.half && !self.young.contains_key(&hash) {
            self.old = std::mem::take(&mut self.young);
        }
        self.old.remove(&hash);
        // Of two boards with one hash, which nobody has seen yet, the later is known and the other is a miss.
        self.young.insert(hash, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn par(slides: u16) -> Par {
        Par::new(slides)
    }

    #[test]
    fn a_hit_is_the_par_and_the_whole_spelling() {
        let mut set = KnownBoards::new(10);
        set.insert(par(3), "abc");
        assert!(set.contains(par(3), "abc"));
        assert!(!set.contains(par(4), "abc"));
        assert!(!set.contains(par(3), "abd"));
        assert_eq!(set.par_of(hash_board(par(3), "abc")), Some(par(3)));
        assert_eq!(set.par_of(hash_board(par(4), "abc")), None);
    }

    #[test]
    fn a_board_taken_back_is_forgotten_and_its_namesake_is_not() {
        let mut set = KnownBoards::new(10);
        set.insert(par(3), "abc");
        set.insert(par(3), "abd");
        set.insert(par(4), "abd");
        set.forget(par(4), "abc");
        set.forget(par(3), "abd");
        assert!(set.contains(par(3), "abc"));
        assert!(!set.contains(par(3), "abd"));
        assert!(set.contains(par(4), "abd"));
    }

    #[test]
    fn it_never_holds_more_keys_than_it_may() {
        let mut set = KnownBoards::new(100);
        for idx in 0..10_000 {
            set.insert(par(1), &idx.to_string());
            assert!(set.len() <= 100, "{}", set.len());
        }
        assert!(set.contains(par(1), "9999"));
        assert!(!set.contains(par(1), "0"));
        let mut none = KnownBoards::new(0);
        none.insert(par(1), "a");
        assert!(!none.contains(par(1), "a"));
        assert!(none.is_empty());
    }

    #[test]
    fn what_is_asked_for_is_kept_longer() {
        let mut set = KnownBoards::new(100);
        set.insert(par(1), "often");
        for idx in 0..10_000 {
            set.insert(par(1), &idx.to_string());
            assert!(set.contains(par(1), "often"), "{idx}");
        }
    }
}
