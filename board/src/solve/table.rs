//! The set of visited positions: open addressing over keys of one to four words.
//!
//! Two spare bits of each key hold the depth modulo 3. Positions a slide apart differ in depth by at most one,
//! so those two bits tell which neighbours lie nearer to the start, and no parents are stored.

/// A position: one field of bits for each lane, none in the two lowest bits of the first word.
pub(super) type Key<const N: usize> = [u64; N];

/// The bits of a key's first word that hold the depth in the table.
const TAG: u64 = 3;
/// How many bits of a key's first word stay free for the table.
pub(super) const TAG_BITS: u32 = 2;

/// An entry that holds no position: depths are stored as 1 to 3.
const FREE: u64 = 0;

/// Positions with their depths modulo 3.
pub(super) struct Visited<const N: usize> {
    /// A power of two of entries, at most three quarters of them in use.
    entries: Vec<Key<N>>,
    n_used: usize,
    /// What is left of a 64 bit hash after this shift is the index of an entry.
    shift: u32,
}

impl<const N: usize> Visited<N> {
    const INITIAL_BITS: u32 = 12;

    pub(super) fn new() -> Visited<N> {
        let entries = vec![[FREE; N]; 1 << Self::INITIAL_BITS];
        Visited {
            entries,
            n_used: 0,
            shift: u64::BITS - Self::INITIAL_BITS,
        }
    }

    /// How many positions are in the set.
    pub(super) fn len(&self) -> u64 {
        self.n_used as u64
    }

    /// Whether the first look already shows that the position is in the set.
    ///
    /// Most positions that a search comes upon are old ones that stand where their hash says. This look has
    /// no branch, so the memory accesses of many looks run side by side.
    pub(super) fn is_plainly_known(&self, key: Key<N>) -> bool {
        is_same(self.entries[self.home(key)], key)
    }

    /// Adds a position found at a depth. False, and nothing changed, if it is known.
    pub(super) fn insert(&mut self, key: Key<N>, depth: u32) -> bool {
        let idx = self.find(key);
        if self.entries[idx][0] != FREE {
            return false;
        }
        self.entries[idx] = tagged(key, depth);
        self.n_used += 1;
        if self.n_used > self.entries.len() / 4 * 3 {
            self.grow();
        }
        true
    }

    /// Whether the position is in the set with a depth that equals this one modulo 3.
    pub(super) fn is_at_depth(&self, key: Key<N>, depth: u32) -> bool {
        self.entries[self.find(key)] == tagged(key, depth)
    }

    /// The entry that holds the position, or the free one that it belongs into.
    fn find(&self, key: Key<N>) -> usize {
        let mut idx = self.home(key);
        while self.entries[idx][0] != FREE && !is_same(self.entries[idx], key) {
            idx = (idx + 1) & (self.entries.len() - 1);
        }
        idx
    }

    fn home(&self, key: Key<N>) -> usize {
        // Multiply and fold, a word at a time; what decides is in the high bits.
        let mut hash = 0_u64;
        for word in key {
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        let idx = hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift;
        usize::try_from(idx).expect("the table is in memory, so its indices fit")
    }

    fn grow(&mut self) {
        let larger = vec![[FREE; N]; self.entries.len() * 2];
        let old = std::mem::replace(&mut self.entries, larger);
        self.shift -= 1;
        for entry in old.into_iter().filter(|entry| entry[0] != FREE) {
            let mut key = entry;
            key[0] &= !TAG;
            let idx = self.find(key);
            self.entries[idx] = entry;
        }
    }
}

fn is_same<const N: usize>(entry: Key<N>, key: Key<N>) -> bool {
    // A free entry could look like the key of all zeros, but for its tag.
    (entry[0] & !TAG) == key[0] && entry[0] != FREE && entry[1..] == key[1..]
}

fn tagged<const N: usize>(key: Key<N>, depth: u32) -> Key<N> {
    let mut entry = key;
    debug_assert_eq!(entry[0] & TAG, 0, "the lowest bits of a key are the table's");
    entry[0] |= u64::from(depth % 3) + 1;
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<const N: usize>(i: u32) -> Key<N> {
        // Spread over the last word too, as the keys of large lots are.
        let i = u64::from(i);
        let mut key = [0; N];
        key[N - 1] = i / 7;
        key[0] += (i % 7) << TAG_BITS;
        if N == 1 {
            key[0] = i << TAG_BITS;
        }
        key
    }

    fn remembers<const N: usize>() {
        let mut visited = Visited::<N>::new();
        for i in 0..20_000 {
            assert!(!visited.is_plainly_known(key(i)));
            assert!(visited.insert(key(i), i));
            assert!(!visited.insert(key(i), i + 1));
        }
        assert_eq!(visited.len(), 20_000);
        for i in 0..20_000 {
            assert!(visited.is_at_depth(key(i), i));
            assert!(!visited.is_at_depth(key(i), i + 1));
        }
        assert!(!visited.is_at_depth(key(20_000), 20_000));
        let n_plainly_known = (0..20_000).filter(|&i| visited.is_plainly_known(key(i))).count();
        assert!(n_plainly_known > 10_000, "{n_plainly_known}");
    }

    #[test]
    fn the_table_remembers_keys_of_every_width_while_it_grows() {
        remembers::<1>();
        remembers::<2>();
        remembers::<4>();
    }
}
