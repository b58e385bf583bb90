//! Packed positions: four bits a lane, so that any position of a lot up to 8x8 is one `u64`.

/// Where every vehicle of a known layout stands: the number of each lane's arrangement.
///
/// The lower half holds the *inner* lanes, the upper half the *outer* ones; which axis is which is the
/// layout's choice, so a packed position means something only together with its layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Packed(pub(crate) u64);

impl Packed {
    /// The arrangement of an inner lane.
    #[inline]
    pub(crate) const fn inner(self, lane: usize) -> u8 {
        (self.0 >> (4 * lane) & 15) as u8
    }

    /// The arrangement of an outer lane.
    #[inline]
    pub(crate) const fn outer(self, lane: usize) -> u8 {
        (self.0 >> (32 + 4 * lane) & 15) as u8
    }

    /// The arrangements of all inner lanes, four bits each.
    #[inline]
    pub(crate) const fn inner_lanes(self) -> u32 {
        self.0 as u32
    }

    /// The arrangements of all outer lanes, four bits each.
    #[inline]
    pub(crate) const fn outer_lanes(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The same position where inner lanes are outer ones and the reverse.
    #[inline]
    pub(crate) const fn turned(self) -> Packed {
        Packed(self.0.rotate_left(32))
    }

    /// The same with another arrangement of an inner lane.
    #[inline]
    pub(crate) const fn with_inner(self, lane: usize, arrangement: u8) -> Packed {
        let shift = 4 * lane;
        Packed(self.0 & !(15 << shift) | (arrangement as u64) << shift)
    }

    /// The same with another arrangement of an outer lane.
    #[inline]
    pub(crate) const fn with_outer(self, lane: usize, arrangement: u8) -> Packed {
        let shift = 32 + 4 * lane;
        Packed(self.0 & !(15 << shift) | (arrangement as u64) << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_lanes_keep_apart() {
        let mut packed = Packed::default();
        for lane in 0..8 {
            packed = packed
                .with_inner(lane, lane as u8 + 1)
                .with_outer(lane, 14 - lane as u8);
        }
        for lane in 0..8 {
            assert_eq!(packed.inner(lane), lane as u8 + 1);
            assert_eq!(packed.outer(lane), 14 - lane as u8);
        }
        assert_eq!(packed.with_inner(3, 0).with_inner(3, 4), packed);
    }
}
