//! The positions of a board as keys, and the slides between them as single flips of bits.

use std::cmp::Ordering;

use super::lanes::{Arrangement, Lane};
use super::table::{Key, TAG_BITS};
use crate::board::Board;
use crate::geometry::Axis;
use crate::slide::Slide;

/// The most lanes that a board can have: sixteen rows and sixteen columns.
const MAX_LANES: usize = 32;

/// Squares by lane: sixteen fields of sixteen bits, field `l` the squares of lane `l` of one axis.
type Crossed = [u64; 4];

/// Where a lane's arrangement is in a key.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    #[expect(clippy::cast_possible_truncation, reason = "a field holds an index below 495")]
    fn of<const N: usize>(self, key: Key<N>) -> usize {
        (key[self.word] >> self.shift & self.mask) as usize
    }
}

/// A slide from an arrangement of a lane.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The difference between the two positions in the field's word of the key.
    flip: u64,
    /// Squares of the lane that cross traffic must not take.
    needs: u16,
    /// Squares of the lane that the vehicle takes before, on the way and afterwards.
    span: u16,
    /// The lane's place among the lanes that can move.
    lane: u8,
    vehicle: u8,
    /// Whether the hero is at the exit afterwards.
    is_solving: bool,
}

/// What a search needs to know of one lane that can move.
#[derive(Clone, Debug)]
struct MovingLane {
    axis: Axis,
    /// The row or column.
    index: u8,
    /// The word and shift of this lane in the squares crossed.
    crossed_word: usize,
    crossed_shift: u32,
    field: Field,
    /// For each arrangement the range of its moves.
    ranges: Vec<(u32, u32)>,
    /// For each arrangement the squares that it takes from the lanes of the other axis.
    crossing: Vec<Crossed>,
}

/// All positions of a board's vehicles in their lanes.
pub(super) struct Space<const N: usize> {
    lanes: Vec<MovingLane>,
    moves: Vec<Move>,
    /// The slide of each move.
    slides: Vec<Slide>,
    /// Squares that lanes which cannot move take from rows and from columns.
    fixed: [Crossed; 2],
    initial: Key<N>,
}

/// A position reached by one move.
#[derive(Clone, Copy)]
pub(super) struct Next<const N: usize> {
    pub(super) key: Key<N>,
    pub(super) move_idx: u32,
    pub(super) is_solving: bool,
}

/// How many words a key of these lanes has.
pub(super) fn n_key_words(lanes: &[Lane]) -> usize {
    fields(lanes).last().map_or(1, |field| field.word + 1)
}

/// Gives each lane a field of bits that lies in one word.
fn fields(lanes: &[Lane]) -> Vec<Field> {
    let (mut word, mut shift) = (0, TAG_BITS);
    let mut fields = Vec::new();
    for lane in lanes {
        let n_bits = usize::BITS - (lane.arrangements.len() - 1).leading_zeros();
        if shift + n_bits > u64::BITS {
            (word, shift) = (word + 1, 0);
        }
        // A full word has no room for a further bit, but a lane of one arrangement needs none.
        fields.push(Field {
            word,
            shift: shift.min(u64::BITS - 1),
            mask: (1 << n_bits) - 1,
        });
        shift += n_bits;
    }
    fields
}

impl<const N: usize> Space<N> {
    /// The space of a board's lanes, the hero's row first among them.
    ///
    /// # Panics
    /// When keys need more than `N` words.
    pub(super) fn new(board: &Board, lanes: &[Lane]) -> Space<N> {
        let mut space = Space {
            lanes: Vec::new(),
            moves: Vec::new(),
            slides: Vec::new(),
            fixed: [[0; 4]; 2],
            initial: [0; N],
        };
        for (i, (lane, field)) in lanes.iter().zip(fields(lanes)).enumerate() {
            let crossing: Vec<Crossed> = lane.arrangements.iter().map(|a| crossing(lane, a)).collect();
            if lane.arrangements.len() == 1 {
                let fixed = &mut space.fixed[usize::from(lane.axis == Axis::Vertical)];
                *fixed = either(*fixed, crossing[0]);
                continue;
            }
            space.initial[field.word] |= (lane.initial as u64) << field.shift;
            let is_solved = |to: u16| i == 0 && lane.is_solved(board.lot(), usize::from(to));
            let ranges = lane.arrangements.iter().enumerate().map(|(from, arrangement)| {
                let first = space.moves.len();
                for slide in &arrangement.slides {
                    let flip = (from as u64 ^ u64::from(slide.target)) << field.shift;
                    let is_solving = is_solved(slide.target);
                    let lane = u8::try_from(space.lanes.len()).expect("a lot has at most 32 lanes");
                    let vehicle = u8::try_from(slide.slide.vehicle).expect("a board has at most 50 vehicles");
                    let (needs, span) = (slide.needs, slide.span);
                    space.moves.push(Move {
                        flip,
                        needs,
                        span,
                        lane,
                        vehicle,
                        is_solving,
                    });
                    space.slides.push(slide.slide);
                }
                (index(first), index(space.moves.len()))
            });
            let ranges = ranges.collect();
            let (crossed_word, crossed_shift) = (usize::from(lane.index / 4), u32::from(lane.index % 4) * 16);
            let (axis, index) = (lane.axis, lane.index);
            space.lanes.push(MovingLane {
                axis,
                index,
                crossed_word,
                crossed_shift,
                field,
                ranges,
                crossing,
            });
        }
        assert!(space.lanes.len() <= MAX_LANES, "a lot has at most 32 lanes");
        space
    }

    /// The board's own position.
    pub(super) fn initial(&self) -> Key<N> {
        self.initial
    }

    /// The slide that a move is.
    pub(super) fn slide(&self, move_idx: u32) -> Slide {
        self.slides[move_idx as usize]
    }

    /// Calls `found` for the positions a slide away from `key`, always in the same order: lane by lane.
    ///
    /// After the move `last`, slides that could as well have been made before it are left out. A breadth-first
    /// search that handles positions in the order in which it finds them loses nothing by that: of the shortest
    /// paths to a position, it comes along the first one in the order of lanes, and that path never makes a
    /// slide in a later lane before one in an earlier lane that did not have to wait for it. (Were there such
    /// a pair, exchanging the two would give an equally long path that comes before it.) For the same reason
    /// each beginning of such a path is the first one to where it leads, so the last move by which a position
    /// was found is the one that counts.
    pub(super) fn for_each_next(&self, key: Key<N>, last: Option<u32>, mut found: impl FnMut(Next<N>)) {
        let mut arrangements = [0_usize; MAX_LANES];
        // What horizontal vehicles take from columns, and vertical ones from rows.
        let [mut of_columns, mut of_rows] = self.fixed;
        for (arrangement, lane) in arrangements.iter_mut().zip(&self.lanes) {
            *arrangement = lane.field.of(key);
            let crossing = lane.crossing[*arrangement];
            match lane.axis {
                Axis::Horizontal => of_columns = either(of_columns, crossing),
                Axis::Vertical => of_rows = either(of_rows, crossing),
            }
        }
        let last = last.map(|move_idx| &self.moves[move_idx as usize]);
        for (i, (&arrangement, lane)) in arrangements.iter().zip(&self.lanes).enumerate() {
            let Some(waited) = last.map_or(Some(Waited::All), |last| self.waited(i, last)) else {
                continue;
            };
            let crossed = match lane.axis {
                Axis::Horizontal => of_rows,
                Axis::Vertical => of_columns,
            };
            let taken = (crossed[lane.crossed_word] >> lane.crossed_shift & 0xffff) as u16;
            let (first, end) = lane.ranges[arrangement];
            for (move_idx, a_move) in (first..end).zip(&self.moves[first as usize..end as usize]) {
                if a_move.needs & taken == 0 && waited.includes(a_move) {
                    let mut key = key;
                    key[lane.field.word] ^= a_move.flip;
                    found(Next {
                        key,
                        move_idx,
                        is_solving: a_move.is_solving,
                    });
                }
            }
        }
    }

    /// Which slides of the `i`th lane had to wait for the move `last`, or come in order after it.
    fn waited(&self, i: usize, last: &Move) -> Option<Waited> {
        let (lane, last_lane) = (&self.lanes[i], &self.lanes[usize::from(last.lane)]);
        match i.cmp(&usize::from(last.lane)) {
            Ordering::Greater => Some(Waited::All),
            Ordering::Equal => Some(Waited::OtherVehicles(last.vehicle)),
            // Lanes that do not cross never wait for each other, those that cross only at one square.
            Ordering::Less if lane.axis == last_lane.axis || last.span >> lane.index & 1 == 0 => None,
            Ordering::Less => Some(Waited::Over(1 << last_lane.index)),
        }
    }
}

/// Slides of a lane that are worth making after the last move.
#[derive(Clone, Copy)]
enum Waited {
    All,
    /// Those of vehicles other than the one that has just moved: two slides of one vehicle are one.
    OtherVehicles(u8),
    /// Those over this square of the lane.
    Over(u16),
}

impl Waited {
    fn includes(self, a_move: &Move) -> bool {
        match self {
            Waited::All => true,
            Waited::OtherVehicles(vehicle) => a_move.vehicle != vehicle,
            Waited::Over(square) => a_move.needs & square != 0,
        }
    }
}

/// The squares that an arrangement takes from the lanes which cross it.
fn crossing(lane: &Lane, arrangement: &Arrangement) -> Crossed {
    let mut crossed = [0; 4];
    for crossing in (0..16).filter(|crossing| arrangement.taken >> crossing & 1 != 0) {
        crossed[crossing / 4] |= 1 << (crossing % 4 * 16 + usize::from(lane.index));
    }
    crossed
}

fn either(a: Crossed, b: Crossed) -> Crossed {
    std::array::from_fn(|i| a[i] | b[i])
}

fn index(n: usize) -> u32 {
    u32::try_from(n).expect("a board has far fewer than four billion slides within lanes")
}
