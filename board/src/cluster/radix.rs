//! How the positions of a family of boxes are numbered: in mixed radix, by the rank of each inner lane's
//! arrangement within its part, over the bits of a word or, for pinned lanes, over the boxes of the family.

use crate::cluster::bits::Bits;
use crate::lane::MAX_LANE;

/// The positions of one box, and of one word.
const WORD_BITS: u32 = 64;

/// `FIRST_DIGITS[stride][radix]`: the bits whose digit of that stride and radix is 0.
pub(super) static FIRST_DIGITS: [[u64; 16]; 65] = first_digits();

/// `MULTIPLES[stride]`: the bits at multiples of the stride.
pub(super) static MULTIPLES: [u64; 65] = multiples();

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

/// How the positions of a family are numbered.
pub(super) struct Radix {
    pub(super) strides: [u32; MAX_LANE],
    pub(super) pinned: u8,
    pub(super) sliding: u8,
    pub(super) size: u32,
    pub(super) n_boxes: u32,
}

impl Radix {
    #[inline(always)]
    pub(super) fn new(sizes: &[u8; MAX_LANE]) -> Radix {
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

/// The word with the lowest `size` bits set.
#[inline(always)]
pub(super) fn low_bits(size: u8) -> u64 {
    u64::MAX >> (WORD_BITS - u32::from(size))
}

/// The bits whose digit is the rank within `mask` of an arrangement in `some`.
#[inline(always)]
pub(super) fn digits<B: Bits>(bits: B, some: u16, mask: u16, stride: u32) -> u64 {
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
pub(super) fn lowest(mask: u16) -> u8 {
    mask.trailing_zeros() as u8
}

/// The arrangement of this rank within a mask.
pub(super) fn nth_arrangement(mask: u16, rank: u32) -> u8 {
    let mut left = mask;
    for _ in 0..rank {
        left &= left - 1;
    }
    lowest(left)
}
