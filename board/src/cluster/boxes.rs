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
use crate::cluster::index::Index;
use crate::cluster::radix::{FIRST_DIGITS, MULTIPLES, Radix, digits, low_bits, lowest, nth_arrangement};
use crate::lane::MAX_LANE;
use crate::layout::Lanes;
use crate::packed::Packed;

/// The end of a list of edges.
pub(crate) const NO_EDGE: u32 = u32::MAX;

/// A state of the outer lanes and a part of each inner lane: one box, or several if lanes are pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// Its lowest position.
    pub(crate) key: Packed,
    /// The squares that the outer lanes take of each inner lane, a byte a lane.
    pub(super) taken: u64,
    /// The part of each inner lane, and its arrangements.
    pub(super) parts: [u16; MAX_LANE],
    pub(super) masks: [u16; MAX_LANE],
    /// What one rank of each inner lane is worth: in a bit's number, or, where pinned, in a box's.
    pub(super) strides: [u32; MAX_LANE],
    /// Its boxes are numbered from here.
    pub(crate) first_box: u32,
    pub(crate) n_boxes: u32,
    /// Inner lanes that are pinned.
    pub(super) pinned: u8,
    /// Inner lanes that can slide within a box.
    pub(super) sliding: u8,
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
    pub(super) index: Index,
    /// Positions of all boxes.
    pub(crate) n_positions: u64,
    /// No more positions than this are added.
    limit: u64,
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
            + self.index.n_bytes()
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
    pub(super) fn add(
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
