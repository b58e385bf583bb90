//! A hash table from keys to families, for one cluster or layout at a time.

use crate::cluster::boxes::Family;
use crate::packed::Packed;

/// A hash table from keys to families, cleared by starting a new generation.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    slots: Vec<Slot>,
    /// Slots in use are the first `1 << bits`.
    bits: u32,
    n_keys: usize,
    generation: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    family: u32,
    /// A slot of another generation is empty.
    generation: u32,
}

impl Index {
    /// A small table stays in the nearest cache; most clusters need no more.
    const FIRST_BITS: u32 = 8;

    pub(super) fn clear(&mut self) {
        self.bits = Index::FIRST_BITS;
        self.n_keys = 0;
        if self.slots.len() < 1 << self.bits {
            self.slots.resize(1 << self.bits, Slot::default());
        }
        self.next_generation();
    }

    /// Makes every slot an empty one.
    fn next_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.slots.fill(Slot::default());
            self.generation = 1;
        }
    }

    /// Bytes of the slots in use.
    pub(super) fn n_bytes(&self) -> usize {
        size_of::<Slot>() << self.bits
    }

    #[inline(always)]
    fn slot_of(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.bits)) as usize
    }

    #[inline(always)]
    pub(super) fn find(&self, key: Packed) -> Option<u32> {
        let mut at = self.slot_of(key.0);
        loop {
            let slot = &self.slots[at];
            if slot.generation != self.generation {
                return None;
            }
            if slot.key == key.0 {
                return Some(slot.family);
            }
            at = (at + 1) & ((1 << self.bits) - 1);
        }
    }

    /// Adds a key that is not there. `families` holds all keys, this one included.
    pub(super) fn insert(&mut self, key: Packed, family: u32, families: &[Family]) {
        self.n_keys += 1;
        if 2 * self.n_keys > 1 << self.bits {
            self.bits += 2;
            self.next_generation();
            if self.slots.len() < 1 << self.bits {
                self.slots.resize(1 << self.bits, Slot::default());
            }
            for (id, family) in families.iter().enumerate() {
                self.place(family.key, id as u32);
            }
        } else {
            self.place(key, family);
        }
    }

    fn place(&mut self, key: Packed, family: u32) {
        let mut at = self.slot_of(key.0);
        while self.slots[at].generation == self.generation {
            at = (at + 1) & ((1 << self.bits) - 1);
        }
        self.slots[at] = Slot {
            key: key.0,
            family,
            generation: self.generation,
        };
    }
}
