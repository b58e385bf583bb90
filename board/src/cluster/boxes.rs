//! Boxes: the nodes that a search walks over, each holding up to 64 positions as the bits of one word.
//!
//! With the outer lanes fixed, the inner lanes do not disturb each other: each may stand in any arrangement
//! that the outer lanes leave, and slides within it join those into *parts*. A **box** is one state of the outer
//! lanes together with one part of each inner lane: every combination of arrangements from these parts is a
//! legal position, and all of them are in one cluster. A position of a box is a bit, numbered in mixed radix by
//! the ranks of its arrangements within the parts, the first inner lane counting fastest.
//!
//! Where the product of the parts exceeds 64, they are a *family* of boxes: some inner lanes are *pinned*, each
//! box of the family holds one arrangement of these, and their slides lead to other boxes of the family. Which
//! lanes are pinned follows from the sizes of the parts alone. A family (mostly of one box) is known by the
//! lowest of its positions (see [`Packed`]).

use crate::cluster::bits::Bits;
use crate::lane::MAX_LANE;
use crate::layout::Lanes;
use crate::packed::Packed;

/// The end of a list of edges.
pub(crate) const NO_EDGE: u32 = u32::MAX;

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

/// A state of the outer lanes and a part of each inner lane: one box, or several if lanes are pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// Its lowest position.
    pub(crate) key: Packed,
    /// The squares that the outer lanes take of each inner lane, a byte a lane.
    taken: u64,
    /// The part of each inner lane, and its arrangements.
    parts: [u16; MAX_LANE],
    masks: [u16; MAX_LANE],
    /// What one rank of each inner lane is worth: in a bit's number, or, where pinned, in a box's.
    strides: [u32; MAX_LANE],
    /// Its boxes are numbered from here.
    pub(crate) first_box: u32,
    pub(crate) n_boxes: u32,
    /// Inner lanes that are pinned.
    pinned: u8,
    /// Inner lanes that can slide within a box.
    sliding: u8,
    /// How many positions a box holds, 1 to 64.
    pub(crate) size: u8,
    /// Whether its edges have been looked for.
    pub(crate) is_expanded: bool,
}

impl Family {
    /// How many positions all its boxes hold.
    pub(crate) fn n_positions(&self) -> u64 {
        u64::from(self.size) * u64::from(self.n_boxes)
    }
}

/// One box: what a search by distance knows of it, and where its edges are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Positions that the search has not reached.
    pub(crate) unseen: u64,
    /// Positions that it reaches next.
    pub(crate) next: u64,
    /// The family that it is of.
    pub(crate) family: u32,
    /// The first of its edges.
    pub(crate) first_edge: u32,
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
    /// The next edge of this box.
    pub(crate) next: u32,
}

/// The boxes found so far of one layout, with their edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxGraph {
    pub(crate) families: Vec<Family>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    index: Index,
    /// Positions of all boxes.
    pub(crate) n_positions: u64,
    /// No more positions than this are added.
    limit: u64,
}

/// How edges are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    /// All families of a cluster will be expanded: each slide is found from the side where it goes forward, and
    /// taken down for both; backward, boxes are found by steps.
    Whole,
    /// This family may be the only one: all its slides are taken down, for it alone.
    Single,
}

/// One slide's outcome before it is split by parts.
struct Landing {
    /// Outer lanes after the slide, inner lanes as in the family's key.
    key: Packed,
    taken: u64,
    /// Per inner lane the arrangements that let the slide pass.
    passing: [u16; MAX_LANE],
    /// Inner lanes of which the slide took or freed a square.
    changed: u8,
    /// Whether edges are taken down, or boxes found only.
    has_edges: bool,
}

/// More positions than the limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverLimit;

impl BoxGraph {
    /// Forgets all boxes, keeping the memory.
    pub(crate) fn clear(&mut self, limit: u64) {
        self.families.clear();
        self.nodes.clear();
        self.edges.clear();
        self.index.clear();
        self.n_positions = 0;
        self.limit = limit;
    }

    /// Bytes that the boxes and edges take.
    pub(crate) fn n_bytes(&self) -> usize {
        self.families.len() * size_of::<Family>()
            + self.nodes.len() * size_of::<Node>()
            + self.edges.len() * size_of::<Edge>()
            + (size_of::<Slot>() << self.index.bits)
    }

    /// Slides from all positions together.
    pub(crate) fn n_slides(&self, lanes: &Lanes<'_>) -> u64 {
        let between: u64 = self
            .edges
            .iter()
            .map(|edge| u64::from(edge.from.count_ones()))
            .sum();
        let within = |family: &Family| -> u64 {
            let sliding = (0..lanes.n_inner).filter(|&i| family.sliding >> i & 1 != 0);
            let slides = sliding.map(|i| {
                let part = &lanes.inner[i].parts[usize::from(family.parts[i])];
                // Each arrangement of a line reaches each other one.
                let of_line = |line: &u16| u64::from(line.count_ones() * (line.count_ones() - 1));
                let n_slides: u64 = part.lines.iter().map(of_line).sum();
                n_slides * family.n_positions() / u64::from(part.size)
            });
            slides.sum()
        };
        between + self.families.iter().map(within).sum::<u64>()
    }

    /// The box and the bit of a position; the box is added if it is new.
    pub(crate) fn locate(&mut self, lanes: &Lanes<'_>, position: Packed) -> Result<(u32, u8), OverLimit> {
        let Address {
            key,
            taken,
            parts,
            box_offset,
            bit,
        } = address(lanes, position);
        let family = match self.index.find(key) {
            Some(family) => family,
            None => self.add(lanes, key, taken, &parts)?,
        };
        Ok((self.families[family as usize].first_box + box_offset, bit))
    }

    /// The family of these parts; added if it is new. `position` tells the outer lanes.
    pub(crate) fn family_at(
        &mut self,
        lanes: &Lanes<'_>,
        position: Packed,
        taken: u64,
        parts: &[u16; MAX_LANE],
    ) -> Result<u32, OverLimit> {
        let mut key = position;
        for i in 0..lanes.n_inner {
            key = key.with_inner(i, lowest(lanes.inner[i].parts[usize::from(parts[i])].mask));
        }
        match self.index.find(key) {
            Some(family) => Ok(family),
            None => self.add(lanes, key, taken, parts),
        }
    }

    /// The position of a bit of a box.
    pub(crate) fn position_of(&self, lanes: &Lanes<'_>, node: u32, bit: u32) -> Packed {
        let family = &self.families[self.nodes[node as usize].family as usize];
        let mut position = family.key;
        for i in 0..lanes.n_inner {
            let radix = family.masks[i].count_ones();
            if radix > 1 {
                let number = if family.pinned >> i & 1 != 0 {
                    node - family.first_box
                } else {
                    bit
                };
                let rank = number / family.strides[i] % radix;
                position = position.with_inner(i, nth_arrangement(family.masks[i], rank));
            }
        }
        position
    }

    /// Of the positions `word` of a box those with the lowest arrangement of an inner lane.
    pub(crate) fn lowest_in_lane<B: Bits>(&self, bits: B, node: u32, lane: usize, word: u64) -> u64 {
        let family = &self.families[self.nodes[node as usize].family as usize];
        if family.sliding >> lane & 1 == 0 {
            return word;
        }
        let mut left = family.masks[lane];
        loop {
            let lowest = left & left.wrapping_neg();
            let some = word & digits(bits, lowest, family.masks[lane], family.strides[lane]);
            if some != 0 || lowest == 0 {
                return some;
            }
            left &= left - 1;
        }
    }

    /// The positions of a box that are solved.
    #[inline(always)]
    pub(crate) fn solved<B: Bits>(&self, bits: B, lanes: &Lanes<'_>, node: u32) -> u64 {
        let family = &self.families[self.nodes[node as usize].family as usize];
        let hero = lanes.hero;
        let all = low_bits(family.size);
        if !hero.is_inner {
            return if hero.solved >> family.key.outer(hero.lane) & 1 == 0 {
                0
            } else {
                all
            };
        }
        let mask = family.masks[hero.lane];
        let solved = mask & hero.solved;
        if solved == 0 {
            return 0;
        }
        let stride = family.strides[hero.lane];
        if family.pinned >> hero.lane & 1 != 0 {
            let rank = (node - family.first_box) / stride % mask.count_ones();
            return if solved >> nth_arrangement(mask, rank) & 1 == 0 {
                0
            } else {
                all
            };
        }
        all & digits(bits, solved, mask, stride)
    }

    #[inline(always)]
    fn add(
        &mut self,
        lanes: &Lanes<'_>,
        key: Packed,
        taken: u64,
        parts: &[u16; MAX_LANE],
    ) -> Result<u32, OverLimit> {
        let mut masks = [1; MAX_LANE];
        let mut sizes = [1; MAX_LANE];
        let mut product = 1;
        for i in 0..lanes.n_inner {
            let part = &lanes.inner[i].parts[usize::from(parts[i])];
            masks[i] = part.mask;
            sizes[i] = part.size;
            product *= u32::from(part.size);
        }
        self.n_positions += u64::from(product);
        if self.n_positions > self.limit {
            return Err(OverLimit);
        }
        let Radix {
            strides,
            pinned,
            sliding,
            size,
            n_boxes,
        } = Radix::new(&sizes);
        let family = self.families.len() as u32;
        let first_box = self.nodes.len() as u32;
        let size = size as u8;
        self.families.push(Family {
            key,
            taken,
            parts: *parts,
            masks,
            strides,
            first_box,
            n_boxes,
            pinned,
            sliding,
            size,
            is_expanded: false,
        });
        for _ in 0..n_boxes {
            self.nodes.push(Node {
                unseen: low_bits(size),
                next: 0,
                family,
                first_edge: NO_EDGE,
            });
        }
        self.index.insert(key, family, &self.families);
        Ok(family)
    }

    /// Finds the edges of a family, adding the families that they lead to.
    #[inline(always)]
    pub(crate) fn expand<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        id: u32,
        expansion: Expansion,
    ) -> Result<(), OverLimit> {
        self.families[id as usize].is_expanded = true;
        let family = self.families[id as usize];
        if family.pinned != 0 {
            self.expand_pinned(lanes, &family);
        }
        for o in 0..lanes.n_outer {
            let here = family.key.outer(o);
            let mut landing = Landing {
                key: family.key,
                taken: family.taken,
                passing: family.masks,
                changed: 0,
                has_edges: true,
            };
            let mut is_blocked = true;
            for step in lanes.outer[o].steps(here) {
                if step.begins {
                    landing.taken = family.taken;
                    landing.passing = family.masks;
                    landing.changed = 0;
                    landing.has_edges = expansion == Expansion::Single || step.to > here;
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
                landing.key = family.key.with_outer(o, step.to);
                self.connect(bits, lanes, &family, &landing, expansion)?;
                // Backward, one step finds the neighbours; they find those further on.
                is_blocked = !landing.has_edges;
            }
        }
        Ok(())
    }

    /// Adds the edges along pinned inner lanes.
    #[inline(never)]
    fn expand_pinned(&mut self, lanes: &Lanes<'_>, family: &Family) {
        let all = low_bits(family.size);
        for i in (0..lanes.n_inner).filter(|&i| family.pinned >> i & 1 != 0) {
            let stride = family.strides[i];
            let radix = family.masks[i].count_ones();
            for line in &lanes.inner[i].parts[usize::from(family.parts[i])].lines {
                for number in 0..family.n_boxes {
                    let rank = number / stride % radix;
                    if line >> rank & 1 == 0 {
                        continue;
                    }
                    for other in (0..radix).filter(|&other| other != rank && line >> other & 1 != 0) {
                        let from = family.first_box + number;
                        let to = from + other * stride - rank * stride;
                        self.push_edge(from, to, all, all);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn push_edge(&mut self, from_box: u32, to_box: u32, from: u64, to: u64) {
        let node = &mut self.nodes[from_box as usize];
        let edge = Edge {
            from,
            to,
            node: to_box,
            next: node.first_edge,
        };
        node.first_edge = self.edges.len() as u32;
        self.edges.push(edge);
    }

    /// Adds the edges of one slide: one for each combination of parts that it leads to.
    #[inline(always)]
    fn connect<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        family: &Family,
        landing: &Landing,
        expansion: Expansion,
    ) -> Result<(), OverLimit> {
        let mut parts = family.parts;
        let mut key = landing.key;
        let mut is_split = false;
        let mut left = landing.changed;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let passing = landing.passing[i];
            let lane = lanes.inner[i];
            let taken = byte_of(landing.taken, i);
            let mut part = lane.first_part[usize::from(taken)];
            if part.mask & passing == 0 {
                part = lane.part_with(taken, passing);
            }
            is_split |= passing & !part.mask != 0;
            parts[i] = part.id;
            key = key.with_inner(i, lowest(part.mask));
        }
        if is_split {
            self.connect_split(
                bits,
                lanes,
                family,
                landing,
                expansion,
                &mut parts,
                landing.changed,
            )
        } else {
            self.link(bits, lanes, family, landing, expansion, key, &parts)
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
        family: &Family,
        landing: &Landing,
        expansion: Expansion,
        parts: &mut [u16; MAX_LANE],
        left: u8,
    ) -> Result<(), OverLimit> {
        if left == 0 {
            let mut key = landing.key;
            for i in (0..lanes.n_inner).filter(|&i| landing.changed >> i & 1 != 0) {
                key = key.with_inner(i, lowest(lanes.inner[i].parts[usize::from(parts[i])].mask));
            }
            return self.link(bits, lanes, family, landing, expansion, key, parts);
        }
        let i = left.trailing_zeros() as usize;
        for part in lanes.inner[i].split(byte_of(landing.taken, i)) {
            if part.mask & landing.passing[i] != 0 {
                parts[i] = part.id;
                self.connect_split(bits, lanes, family, landing, expansion, parts, left & (left - 1))?;
            }
        }
        Ok(())
    }

    /// Adds the edges to the family of these parts.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "the innermost step of `connect`, on what that has at hand"
    )]
    fn link<B: Bits>(
        &mut self,
        bits: B,
        lanes: &Lanes<'_>,
        family: &Family,
        landing: &Landing,
        expansion: Expansion,
        key: Packed,
        parts: &[u16; MAX_LANE],
    ) -> Result<(), OverLimit> {
        let to_id = match self.index.find(key) {
            Some(id) => id,
            None => self.add(lanes, key, landing.taken, parts)?,
        };
        if !landing.has_edges {
            return Ok(());
        }
        let to_family = &self.families[to_id as usize];
        let mut from = low_bits(family.size);
        let mut to = low_bits(to_family.size);
        let pinned = family.pinned | to_family.pinned;
        let mut left = landing.changed & !pinned;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let part = to_family.masks[i];
            let both = landing.passing[i] & part;
            if both != family.masks[i] {
                from &= digits(bits, both, family.masks[i], family.strides[i]);
            }
            if both != part {
                to &= digits(bits, both, part, to_family.strides[i]);
            }
        }
        let (from_box, to_box) = (family.first_box, to_family.first_box);
        if pinned == 0 {
            self.push_edge(from_box, to_box, from, to);
            if expansion == Expansion::Whole {
                self.push_edge(to_box, from_box, to, from);
            }
        } else if family.pinned == to_family.pinned && landing.changed & pinned == 0 {
            // The same lanes are pinned in the same parts: the boxes correspond one to one.
            for number in 0..family.n_boxes {
                self.push_edge(from_box + number, to_box + number, from, to);
                if expansion == Expansion::Whole {
                    self.push_edge(to_box + number, from_box + number, to, from);
                }
            }
        } else {
            let to_family = *to_family;
            self.link_pinned(
                bits,
                family,
                &to_family,
                landing,
                expansion,
                Link {
                    from_box,
                    to_box,
                    from,
                    to,
                    pinned,
                },
            );
        }
        Ok(())
    }

    /// The same where lanes are pinned, at either end: one edge for each choice of their arrangements.
    #[inline(never)]
    fn link_pinned<B: Bits>(
        &mut self,
        bits: B,
        family: &Family,
        to_family: &Family,
        landing: &Landing,
        expansion: Expansion,
        link: Link,
    ) {
        if link.pinned == 0 {
            self.push_edge(link.from_box, link.to_box, link.from, link.to);
            if expansion == Expansion::Whole {
                self.push_edge(link.to_box, link.from_box, link.to, link.from);
            }
            return;
        }
        let i = link.pinned.trailing_zeros() as usize;
        let pinned = link.pinned & (link.pinned - 1);
        let mut left = landing.passing[i] & to_family.masks[i];
        while left != 0 {
            let one = left & left.wrapping_neg();
            left &= left - 1;
            let mut next = Link { pinned, ..link };
            if family.pinned >> i & 1 != 0 {
                next.from_box += (family.masks[i] & (one - 1)).count_ones() * family.strides[i];
            } else {
                next.from &= digits(bits, one, family.masks[i], family.strides[i]);
            }
            if to_family.pinned >> i & 1 != 0 {
                next.to_box += (to_family.masks[i] & (one - 1)).count_ones() * to_family.strides[i];
            } else {
                next.to &= digits(bits, one, to_family.masks[i], to_family.strides[i]);
            }
            self.link_pinned(bits, family, to_family, landing, expansion, next);
        }
    }

    /// All positions that one slide of an inner lane within a box reaches from its positions `word`.
    #[inline(always)]
    pub(crate) fn slide_inside<B: Bits>(bits: B, lanes: &Lanes<'_>, family: &Family, word: u64) -> u64 {
        let mut reached = 0;
        let mut left = family.sliding;
        while left != 0 {
            let i = left.trailing_zeros() as usize;
            left &= left - 1;
            let part = &lanes.inner[i].parts[usize::from(family.parts[i])];
            let stride = family.strides[i];
            let first = FIRST_DIGITS[stride as usize][usize::from(part.size)];
            let multiples = MULTIPLES[stride as usize];
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
                        folded |= word >> (left.trailing_zeros() * stride);
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

/// How the positions of a family are numbered.
struct Radix {
    strides: [u32; MAX_LANE],
    pinned: u8,
    sliding: u8,
    size: u32,
    n_boxes: u32,
}

impl Radix {
    #[inline(always)]
    fn new(sizes: &[u8; MAX_LANE]) -> Radix {
        let product: u32 = sizes.iter().map(|&size| u32::from(size)).product();
        let pinned = if product <= WORD_BITS { 0 } else { pins(sizes) };
        let mut radix = Radix {
            strides: [1; MAX_LANE],
            pinned,
            sliding: 0,
            size: 1,
            n_boxes: 1,
        };
        for i in 0..MAX_LANE {
            let is_pinned = pinned >> i & 1 != 0;
            let worth = if is_pinned {
                &mut radix.n_boxes
            } else {
                &mut radix.size
            };
            radix.strides[i] = *worth;
            *worth *= u32::from(sizes[i]);
            radix.sliding |= u8::from(sizes[i] > 1) << i;
        }
        radix.sliding &= !pinned;
        radix
    }
}

/// Where a position is: its family, which of the family's boxes, which bit of that.
pub(crate) struct Address {
    pub(crate) key: Packed,
    taken: u64,
    parts: [u16; MAX_LANE],
    pub(crate) box_offset: u32,
    pub(crate) bit: u8,
}

/// The address of a position.
pub(crate) fn address(lanes: &Lanes<'_>, position: Packed) -> Address {
    let taken = (0..lanes.n_outer).fold(0, |taken, o| {
        taken | column_of(lanes.outer[o].squares[usize::from(position.outer(o))], o)
    });
    let mut key = position;
    let mut parts = [0; MAX_LANE];
    let mut sizes = [1; MAX_LANE];
    let mut ranks = [0; MAX_LANE];
    for i in 0..lanes.n_inner {
        let here = 1_u16 << position.inner(i);
        let part = lanes.inner[i]
            .split(byte_of(taken, i))
            .iter()
            .find(|part| part.mask & here != 0);
        let part = part.expect("the position is legal");
        parts[i] = part.id;
        sizes[i] = part.mask.count_ones() as u8;
        ranks[i] = (part.mask & (here - 1)).count_ones();
        key = key.with_inner(i, lowest(part.mask));
    }
    let radix = Radix::new(&sizes);
    let (mut box_offset, mut bit) = (0, 0);
    for i in 0..lanes.n_inner {
        let worth = ranks[i] * radix.strides[i];
        if radix.pinned >> i & 1 != 0 {
            box_offset += worth;
        } else {
            bit += worth as u8;
        }
    }
    Address {
        key,
        taken,
        parts,
        box_offset,
        bit,
    }
}

/// An edge in the making: lanes of `pinned` are still to be chosen.
#[derive(Clone, Copy, Debug)]
struct Link {
    from_box: u32,
    to_box: u32,
    from: u64,
    to: u64,
    pinned: u8,
}

/// The bits whose digit is the rank within `mask` of an arrangement in `some`.
#[inline(always)]
fn digits<B: Bits>(bits: B, some: u16, mask: u16, stride: u32) -> u64 {
    let ranks = bits.gather(u64::from(some), u64::from(mask));
    // Each rank moves the bits of digit 0 to places that no other rank moves them to: nothing carries.
    FIRST_DIGITS[stride as usize][mask.count_ones() as usize]
        .wrapping_mul(bits.scatter(ranks, MULTIPLES[stride as usize]))
}

/// The lanes to pin so that the others' product fits a word: the larger ones.
#[inline(never)]
fn pins(sizes: &[u8; MAX_LANE]) -> u8 {
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

/// A hash table from keys to families, cleared by starting a new generation.
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
    family: u32,
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
                return Some(slot.family);
            }
            at = (at + 1) & ((1 << self.bits) - 1);
        }
    }

    /// Adds a key that is not there. `families` holds all keys, this one included.
    fn insert(&mut self, key: Packed, family: u32, families: &[Family]) {
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
