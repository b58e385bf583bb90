//! Boxes: the nodes that a search walks over, each holding up to 64 positions as the bits of one word.
//!
//! With the outer lanes fixed, the inner lanes do not disturb each other: each may stand in any arrangement
//! that the outer lanes leave, and slides within it join those into *parts*. A **box** is one state of the outer
//! lanes together with one part of each inner lane: every combination of arrangements from these parts is a
//! legal position, and all of them are in one cluster. A position of a box is a bit, numbered in mixed radix by
//! the ranks of its arrangements within the parts, the first inner lane counting fastest.
//!
//! Where the product of the parts exceeds 64, some inner lanes are *pinned*: such a box holds one arrangement
//! of each, and slides of those lanes lead to other boxes. The lanes to pin follow from the sizes of the parts
//! alone, so the boxes divide the positions, and a box is known by its lowest corner (see [`Packed`]).

use crate::cluster::bits::Bits;
use crate::lane::MAX_LANE;
use crate::layout::Lanes;
use crate::packed::Packed;

/// [`Node::first_edge`] of a box whose edges have not been looked for.
pub(crate) const UNEXPANDED: u32 = u32::MAX;

/// The positions of one box, and of one word.
const WORD_BITS: u32 = 64;

/// `FIRST_DIGITS[stride][radix]`: the bits whose digit of that stride and radix is 0.
static FIRST_DIGITS: [[u64; 16]; 65] = first_digits();
/// `MULTIPLES[stride]`: the bits at multiples of the stride.
static MULTIPLES: [u64; 65] = multiples();

const fn multiples() -> [u64; 65] {
    let mut all = [1; 65];
    let mut stride = 1;
    while stride <= 64 {
        let mut at = stride;
        while at < 64 {
            all[stride] |= 1 << at;
            at += stride;
        }
        stride += 1;
    }
    all
}

const fn first_digits() -> [[u64; 16]; 65] {
    let mut all = [[0; 16]; 65];
    let mut stride = 1;
    while stride <= 64 {
        let mut radix = 1;
        while radix < 16 {
            let mut bit = 0;
            while bit < 64 {
                if bit / stride % radix == 0 {
                    all[stride][radix] |= 1 << bit;
                }
                bit += 1;
            }
            radix += 1;
        }
        stride += 1;
    }
    all
}

/// The word with the lowest `size` bits set.
#[inline(always)]
pub(crate) fn low_bits(size: u8) -> u64 {
    u64::MAX >> (WORD_BITS - u32::from(size))
}

/// One box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Its lowest corner.
    pub(crate) key: Packed,
    /// The squares that the outer lanes take of each inner lane, a byte a lane.
    pub(crate) taken: u64,
    /// The part of each inner lane, also where the lane is pinned.
    pub(crate) parts: [u16; MAX_LANE],
    /// What one rank of each inner lane is worth in a bit's number; of no meaning where pinned.
    pub(crate) strides: [u8; MAX_LANE],
    /// Inner lanes that are pinned.
    pub(crate) pinned: u8,
    /// How many positions the box holds, 1 to 64.
    pub(crate) size: u8,
    /// Its edges, once it has been expanded.
    pub(crate) first_edge: u32,
    pub(crate) n_edges: u32,
}

/// What a search by distance knows of a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Positions that it has not reached.
    pub(crate) unseen: u64,
    /// Positions that it reaches next.
    pub(crate) next: u64,
}

/// The slides of one vehicle by one distance that lead from a box to another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// The positions of this box that have the slide; their order is kept.
    pub(crate) from: u64,
    /// The positions of the other box that they lead to.
    pub(crate) to: u64,
    /// The other box.
    pub(crate) node: u32,
}

/// The boxes found so far of one layout, with their edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxGraph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) words: Vec<Words>,
    pub(crate) edges: Vec<Edge>,
    index: Index,
}

/// Where the boxes are that an edge can lead to: one slide's outcome before it is split by parts.
struct Landing {
    /// Outer lanes after the slide, inner lanes as they were in the box's key.
    key: Packed,
    taken: u64,
    /// Per inner lane the arrangements that let the slide pass.
    passing: [u16; MAX_LANE],
    /// Inner lanes of which the slide took or freed a square.
    changed: u8,
}

impl BoxGraph {
    /// Forgets all boxes, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.words.clear();
        self.edges.clear();
        self.index.clear();
    }

    /// Bytes that the boxes and edges found so far take.
    pub(crate) fn n_bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + size_of::<Words>())
            + self.edges.len() * size_of::<Edge>()
            + self.index.slots.len() * size_of::<Slot>()
    }

    /// The box with this lowest corner, if it has been found.
    #[inline]
    pub(crate) fn find(&self, key: Packed) -> Option<u32> {
        self.index.find(key)
    }

    /// The box and the bit of a position; the box is added if it is new.
    pub(crate) fn locate(&mut self, lanes: &Lanes<'_>, position: Packed) -> (u32, u8) {
        let taken = (0..lanes.n_outer).fold(0, |taken, o| {
            taken | column_of(lanes.outer[o].squares[usize::from(position.outer(o))], o)
        });
        let parts: [u16; MAX_LANE] = std::array::from_fn(|i| {
            if i >= lanes.n_inner {
                return 0;
            }
            let here = 1_u16 << position.inner(i);
            let part = lanes.inner[i]
                .split(byte_of(taken, i))
                .iter()
                .find(|part| part.mask & here != 0);
            part.expect("the position is legal").id
        });
        let node = self.box_at(lanes, position, taken, &parts);
        (node, self.bit_of(lanes, node, position))
    }

    /// The box of these parts that holds `position`; added if it is new.
    pub(crate) fn box_at(
        &mut self,
        lanes: &Lanes<'_>,
        position: Packed,
        taken: u64,
        parts: &[u16; MAX_LANE],
    ) -> u32 {
        let pinned = pins(&sizes_of(lanes, parts));
        let mut key = position;
        for i in (0..lanes.n_inner).filter(|&i| pinned >> i & 1 == 0) {
            key = key.with_inner(i, lowest(lanes.inner[i].parts[usize::from(parts[i])].mask));
        }
        match self.find(key) {
            Some(node) => node,
            None => self.add(lanes, key, taken, parts, pinned),
        }
    }

    /// The bit of a position of a box.
    fn bit_of(&self, lanes: &Lanes<'_>, node: u32, position: Packed) -> u8 {
        let node = &self.nodes[node as usize];
        (0..lanes.n_inner)
            .filter(|&i| node.pinned >> i & 1 == 0)
            .map(|i| {
                let mask = lanes.inner[i].parts[usize::from(node.parts[i])].mask;
                let rank = (mask & ((1 << position.inner(i)) - 1)).count_ones() as u8;
                rank * node.strides[i]
            })
            .sum()
    }

    /// The position of a bit of a box.
    pub(crate) fn position_of(&self, lanes: &Lanes<'_>, node: u32, bit: u32) -> Packed {
        let node = &self.nodes[node as usize];
        let mut position = node.key;
        for i in (0..lanes.n_inner).filter(|&i| node.pinned >> i & 1 == 0) {
            let part = &lanes.inner[i].parts[usize::from(node.parts[i])];
            let rank = bit / u32::from(node.strides[i]) % u32::from(part.size);
            position = position.with_inner(i, nth_arrangement(part.mask, rank));
        }
        position
    }

    /// The positions of a box that are solved.
    #[inline(always)]
    pub(crate) fn solved<B: Bits>(&self, bits: B, lanes: &Lanes<'_>, node: u32) -> u64 {
        let node = &self.nodes[node as usize];
        let hero = lanes.hero;
        let all = low_bits(node.size);
        if !hero.is_inner {
            return if hero.solved >> node.key.outer(hero.lane) & 1 == 0 {
                0
            } else {
                all
            };
        }
        if node.pinned >> hero.lane & 1 != 0 {
            return if hero.solved >> node.key.inner(hero.lane) & 1 == 0 {
                0
            } else {
                all
            };
        }
        let part = &lanes.inner[hero.lane].parts[usize::from(node.parts[hero.lane])];
        let solved = part.mask & hero.solved;
        if solved == 0 {
            return 0;
        }
        all & digits(bits, solved, part.mask, node.strides[hero.lane], part.size)
    }

    #[inline(always)]
    fn add(
        &mut self,
        lanes: &Lanes<'_>,
        key: Packed,
        taken: u64,
        parts: &[u16; MAX_LANE],
        pinned: u8,
    ) -> u32 {
        let mut strides = [1; MAX_LANE];
        let mut size = 1;
        for i in 0..lanes.n_inner {
            if pinned >> i & 1 == 0 {
                strides[i] = size;
                size *= lanes.inner[i].parts[usize::from(parts[i])].size;
            }
        }
        let id = u32::try_from(self.nodes.len()).expect("the state limit comes first");
        self.nodes.push(Node {
            key,
            taken,
            parts: *parts,
            strides,
            pinned,
            size,
            first_edge: UNEXPANDED,
            n_edges: 0,
        });
        self.words.push(Words {
            unseen: low_bits(size),
            next: 0,
        });
        self.index.insert(key, id, &self.nodes);
        id
    }

    /// Finds all edges of a box, adding the boxes that they lead to.
    #[inline(always)]
    pub(crate) fn expand<B: Bits>(&mut self, bits: B, lanes: &Lanes<'_>, id: u32) {
        let node = self.nodes[id as usize];
        let first_edge = self.edges.len();
        if node.pinned != 0 {
            self.expand_pinned(lanes, &node);
        }
        let own: [u16; MAX_LANE] = std::array::from_fn(|i| {
            if i >= lanes.n_inner {
                0
            } else if node.pinned >> i & 1 != 0 {
                1 << node.key.inner(i)
            } else {
                lanes.inner[i].parts[usize::from(node.parts[i])].mask
            }
        });
        for o in 0..lanes.n_outer {
            let lane = lanes.outer[o];
            let mut landing = Landing {
                key: node.key,
                taken: node.taken,
                passing: own,
                changed: 0,
            };
            let mut is_blocked = false;
            for step in lane.steps(node.key.outer(o)) {
                if step.begins {
                    landing = Landing {
                        key: node.key,
                        taken: node.taken,
                        passing: own,
                        changed: 0,
                    };
                    is_blocked = false;
                } else if is_blocked {
                    continue;
                }
                let (enters, leaves) = (
                    usize::from(step.enters) % MAX_LANE,
                    usize::from(step.leaves) % MAX_LANE,
                );
                landing.taken = landing.taken & !(1 << (8 * leaves + o)) | 1 << (8 * enters + o);
                landing.passing[enters] &=
                    lanes.inner[enters].allowed[usize::from(byte_of(landing.taken, enters))];
                if landing.passing[enters] == 0 {
                    is_blocked = true;
                    continue;
                }
                landing.changed |= 1 << enters | 1 << leaves;
                landing.key = node.key.with_outer(o, step.to);
                self.connect(bits, lanes, &node, &own, &landing);
            }
        }
        let node = &mut self.nodes[id as usize];
        node.first_edge = first_edge as u32;
        node.n_edges = (self.edges.len() - first_edge) as u32;
    }

    /// Adds the edges along pinned inner lanes.
    #[inline(never)]
    fn expand_pinned(&mut self, lanes: &Lanes<'_>, node: &Node) {
        let all = low_bits(node.size);
        for i in (0..lanes.n_inner).filter(|&i| node.pinned >> i & 1 != 0) {
            let part = &lanes.inner[i].parts[usize::from(node.parts[i])];
            let rank = (part.mask & ((1 << node.key.inner(i)) - 1)).count_ones();
            for line in part.lines.iter().filter(|&&line| line >> rank & 1 != 0) {
                for other in (0..16).filter(|&r| r != rank && line >> r & 1 != 0) {
                    let key = node.key.with_inner(i, nth_arrangement(part.mask, other));
                    let to = match self.find(key) {
                        Some(to) => to,
                        None => self.add(lanes, key, node.taken, &node.parts, node.pinned),
                    };
                    self.edges.push(Edge {
                        from: all,
                        to: all,
                        node: to,
                    });
                }
            }
        }
    }

    /// Adds the edges of one slide: one for each combination of parts that it leads to.
    #[inline(always)]
    fn connect<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        node: &Node,
        own: &[u16; MAX_LANE],
        landing: &Landing,
    ) {
        let mut parts = node.parts;
        let mut key = landing.key;
        let mut is_split = false;
        let mut left = landing.changed;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let passing = landing.passing[i];
            let split = lanes.inner[i].split(byte_of(landing.taken, i));
            let mut at = 0;
            while split[at].mask & passing == 0 {
                at += 1;
            }
            let part = split[at];
            is_split |= passing & !part.mask != 0;
            parts[i] = part.id;
            key = key.with_inner(i, lowest(part.mask));
        }
        if is_split {
            self.connect_split(bits, lanes, node, own, landing, &mut parts, landing.changed);
        } else {
            self.link(bits, lanes, node, own, landing, key, &parts);
        }
    }

    /// Adds the edges of a slide that leads to several parts of some lane: one choice a lane of `left`.
    #[inline(never)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a recursion over what `connect` has at hand"
    )]
    fn connect_split<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        node: &Node,
        own: &[u16; MAX_LANE],
        landing: &Landing,
        parts: &mut [u16; MAX_LANE],
        left: u8,
    ) {
        if left == 0 {
            let mut key = landing.key;
            for i in (0..lanes.n_inner).filter(|&i| landing.changed >> i & 1 != 0) {
                key = key.with_inner(i, lowest(lanes.inner[i].parts[usize::from(parts[i])].mask));
            }
            self.link(bits, lanes, node, own, landing, key, parts);
            return;
        }
        let i = left.trailing_zeros() as usize;
        for part in lanes.inner[i].split(byte_of(landing.taken, i)) {
            if part.mask & landing.passing[i] != 0 {
                parts[i] = part.id;
                self.connect_split(bits, lanes, node, own, landing, parts, left & (left - 1));
            }
        }
    }

    /// Adds the edge to the box of these parts, or the edges if boxes are pinned.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "the innermost step of `connect`, on what that has at hand"
    )]
    fn link<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        node: &Node,
        own: &[u16; MAX_LANE],
        landing: &Landing,
        key: Packed,
        parts: &[u16; MAX_LANE],
    ) {
        if node.pinned != 0 {
            return self.link_pinned(bits, lanes, node, own, landing, parts);
        }
        // The key of a box without pins, and of the first box of a family with pins.
        let to_id = match self.find(key) {
            Some(id) => id,
            None => {
                let size: u32 = sizes_of(lanes, parts)
                    .iter()
                    .map(|&size| u32::from(size))
                    .product();
                if size > WORD_BITS {
                    return self.link_pinned(bits, lanes, node, own, landing, parts);
                }
                self.add(lanes, key, landing.taken, parts, 0)
            }
        };
        let to_node = &self.nodes[to_id as usize];
        if to_node.pinned != 0 {
            return self.link_pinned(bits, lanes, node, own, landing, parts);
        }
        let mut from = low_bits(node.size);
        let mut to = low_bits(to_node.size);
        let mut left = landing.changed;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let part = lanes.inner[i].parts[usize::from(parts[i])].mask;
            let both = landing.passing[i] & part;
            if both != own[i] {
                from &= digits(bits, both, own[i], node.strides[i], own[i].count_ones() as u8);
            }
            if both != part {
                to &= digits(bits, both, part, to_node.strides[i], part.count_ones() as u8);
            }
        }
        self.edges.push(Edge {
            from,
            to,
            node: to_id,
        });
    }

    /// The same where one of the boxes is pinned: one edge for each choice of the pinned arrangements.
    #[inline(never)]
    fn link_pinned<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        node: &Node,
        own: &[u16; MAX_LANE],
        landing: &Landing,
        parts: &[u16; MAX_LANE],
    ) {
        let pinned = pins(&sizes_of(lanes, parts));
        let masks: [u16; MAX_LANE] = std::array::from_fn(|i| {
            if i < lanes.n_inner {
                lanes.inner[i].parts[usize::from(parts[i])].mask
            } else {
                0
            }
        });
        let mut key = landing.key;
        // Arrangements of pinned lanes that are still to be tried together with those before them.
        let mut left = [0_u16; MAX_LANE];
        for i in 0..lanes.n_inner {
            if pinned >> i & 1 != 0 {
                left[i] = landing.passing[i] & masks[i];
                key = key.with_inner(i, lowest(left[i]));
            } else {
                key = key.with_inner(i, lowest(masks[i]));
            }
        }
        loop {
            let to_id = match self.find(key) {
                Some(id) => id,
                None => self.add(lanes, key, landing.taken, parts, pinned),
            };
            let to_node = &self.nodes[to_id as usize];
            let mut from = low_bits(node.size);
            let mut to = low_bits(to_node.size);
            for i in 0..lanes.n_inner {
                let is_pinned = pinned >> i & 1 != 0;
                let both = if is_pinned {
                    1 << key.inner(i)
                } else {
                    landing.passing[i] & masks[i]
                };
                if node.pinned >> i & 1 == 0 && both != own[i] {
                    from &= digits(bits, both, own[i], node.strides[i], own[i].count_ones() as u8);
                }
                if !is_pinned && both != masks[i] {
                    to &= digits(
                        bits,
                        both,
                        masks[i],
                        to_node.strides[i],
                        masks[i].count_ones() as u8,
                    );
                }
            }
            self.edges.push(Edge {
                from,
                to,
                node: to_id,
            });
            // Count on, as an odometer does.
            let mut i = 0;
            loop {
                if i == lanes.n_inner {
                    return;
                }
                if pinned >> i & 1 != 0 {
                    left[i] &= left[i] - 1;
                    if left[i] != 0 {
                        key = key.with_inner(i, lowest(left[i]));
                        break;
                    }
                    left[i] = landing.passing[i] & masks[i];
                    key = key.with_inner(i, lowest(left[i]));
                }
                i += 1;
            }
        }
    }

    /// All positions that one slide of an inner lane within the box reaches from the positions `word`.
    #[inline(always)]
    pub(crate) fn slide_inside<B: Bits>(bits: B, lanes: &Lanes<'_>, node: &Node, word: u64) -> u64 {
        let mut reached = 0;
        for i in 0..lanes.n_inner {
            let part = &lanes.inner[i].parts[usize::from(node.parts[i])];
            if part.size == 1 || node.pinned >> i & 1 != 0 {
                continue;
            }
            let stride = node.strides[i];
            let first = FIRST_DIGITS[usize::from(stride)][usize::from(part.size)];
            let multiples = MULTIPLES[usize::from(stride)];
            if part.is_one_line {
                let mut folded = word;
                let mut shifted = word;
                for _ in 1..part.size {
                    shifted >>= stride;
                    folded |= shifted;
                }
                let spread = bits.scatter((1 << part.size) - 1, multiples);
                reached |= (folded & first).wrapping_mul(spread);
            } else {
                for &line in &part.lines {
                    let mut folded = 0;
                    let mut left = line;
                    while left != 0 {
                        folded |= word >> (left.trailing_zeros() * u32::from(stride));
                        left &= left - 1;
                    }
                    let spread = bits.scatter(u64::from(line), multiples);
                    reached |= (folded & first).wrapping_mul(spread);
                }
            }
        }
        reached
    }
}

/// The bits whose digit is the rank within `mask` of an arrangement in `some`.
#[inline(always)]
fn digits<B: Bits>(bits: B, some: u16, mask: u16, stride: u8, radix: u8) -> u64 {
    let ranks = bits.gather(u64::from(some), u64::from(mask));
    // Each rank moves the bits of digit 0 to places that no other rank moves them to: nothing carries.
    FIRST_DIGITS[usize::from(stride)][usize::from(radix)]
        .wrapping_mul(bits.scatter(ranks, MULTIPLES[usize::from(stride)]))
}

#[inline(always)]
fn sizes_of(lanes: &Lanes<'_>, parts: &[u16; MAX_LANE]) -> [u8; MAX_LANE] {
    let mut sizes = [1; MAX_LANE];
    for i in 0..lanes.n_inner {
        sizes[i] = lanes.inner[i].parts[usize::from(parts[i])].size;
    }
    sizes
}

/// The lanes to pin so that the others' product fits a word: the larger ones.
#[inline(always)]
fn pins(sizes: &[u8; MAX_LANE]) -> u8 {
    let product: u32 = sizes.iter().map(|&size| u32::from(size)).product();
    if product <= WORD_BITS {
        0
    } else {
        pins_of_large(sizes)
    }
}

#[inline(never)]
fn pins_of_large(sizes: &[u8; MAX_LANE]) -> u8 {
    let mut order: [usize; MAX_LANE] = std::array::from_fn(|i| i);
    order.sort_by_key(|&i| sizes[i]);
    let mut product = 1;
    let mut pinned = 0;
    for i in order {
        product *= u32::from(sizes[i]);
        if product > WORD_BITS {
            pinned |= 1 << i;
        }
    }
    pinned
}

#[inline(always)]
pub(crate) fn byte_of(taken: u64, lane: usize) -> u8 {
    (taken >> (8 * lane)) as u8
}

/// The squares that an outer lane takes, as a bit in the byte of each inner lane.
#[inline(always)]
pub(crate) fn column_of(squares: u8, outer: usize) -> u64 {
    // Bit i of `squares` goes to bit 8 i: three doublings of the gaps.
    let mut spread = u64::from(squares);
    spread = (spread | spread << 28) & 0x0000_000f_0000_000f;
    spread = (spread | spread << 14) & 0x0003_0003_0003_0003;
    spread = (spread | spread << 7) & 0x0101_0101_0101_0101;
    spread << outer
}

#[inline(always)]
fn lowest(mask: u16) -> u8 {
    mask.trailing_zeros() as u8
}

/// The arrangement of this rank within a mask.
pub(crate) fn nth_arrangement(mask: u16, rank: u32) -> u8 {
    let mut left = mask;
    for _ in 0..rank {
        left &= left - 1;
    }
    lowest(left)
}

/// A hash table from keys to boxes, cleared by starting a new generation.
#[derive(Clone, Debug, Default)]
struct Index {
    slots: Vec<Slot>,
    /// Slots in use are the first `1 << bits`.
    bits: u32,
    n_keys: usize,
    generation: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    node: u32,
    /// A slot of another generation is empty.
    generation: u32,
}

impl Index {
    /// A small table stays in the nearest cache; most clusters need no more.
    const FIRST_BITS: u32 = 8;

    fn clear(&mut self) {
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

    #[inline(always)]
    fn slot_of(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.bits)) as usize
    }

    #[inline(always)]
    fn find(&self, key: Packed) -> Option<u32> {
        let mut at = self.slot_of(key.0);
        loop {
            let slot = &self.slots[at];
            if slot.generation != self.generation {
                return None;
            }
            if slot.key == key.0 {
                return Some(slot.node);
            }
            at = (at + 1) & ((1 << self.bits) - 1);
        }
    }

    /// Adds a key that is not there. `nodes` holds all keys, this one included.
    fn insert(&mut self, key: Packed, node: u32, nodes: &[Node]) {
        self.n_keys += 1;
        if 2 * self.n_keys > 1 << self.bits {
            self.bits += 2;
            self.next_generation();
            if self.slots.len() < 1 << self.bits {
                self.slots.resize(1 << self.bits, Slot::default());
            }
            for (id, node) in nodes.iter().enumerate() {
                self.place(node.key, id as u32);
            }
        } else {
            self.place(key, node);
        }
    }

    fn place(&mut self, key: Packed, node: u32) {
        let mut at = self.slot_of(key.0);
        while self.slots[at].generation == self.generation {
            at = (at + 1) & ((1 << self.bits) - 1);
        }
        self.slots[at] = Slot {
            key: key.0,
            node,
            generation: self.generation,
        };
    }
}
