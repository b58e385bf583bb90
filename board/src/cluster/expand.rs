//! The edges of a family of boxes: where each slide of an outer lane leads, and with which of the positions.
//!
//! A slide of an outer lane changes the squares that it takes of some inner lanes. Of each of these the
//! arrangements that let it pass stay as they are, and may afterwards lie in several parts: the slide then leads to
//! one family for each combination of parts.

use crate::cluster::bits::Bits;
use crate::cluster::boxes::{BoxGraph, Edge, Family, OverLimit, byte_of};
use crate::cluster::radix::{digits, low_bits, lowest};
use crate::lane::MAX_LANE;
use crate::layout::Lanes;
use crate::packed::Packed;

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

/// An edge in the making: lanes of `pinned` are still to be chosen.
#[derive(Clone, Copy, Debug)]
struct Link {
    from_box: u32,
    to_box: u32,
    from: u64,
    to: u64,
    pinned: u8,
}

impl BoxGraph {
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
}
