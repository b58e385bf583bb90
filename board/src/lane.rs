//! Lanes: the arrangements of the vehicles of one lane, numbered, and tables of what each can do.
//!
//! A lane of up to eight squares has at most fifteen arrangements of its vehicles, so a set of arrangements is
//! a 16 bit number and an arrangement is four bits. Everything that a search asks of a lane is here a look-up:
//! which arrangements cross traffic leaves possible, how those fall apart into *parts* that no slide along the
//! lane joins, and which squares a slide passes.

use std::collections::HashMap;

/// The most squares a lane can have here.
pub(crate) const MAX_LANE: usize = 8;

/// Which vehicles and walls a lane holds, in which order: the key of a [`Lane`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LaneContent {
    /// Number of squares.
    length: u8,
    /// Squares that hold walls.
    walls: u8,
    /// From the start of the lane, four bits a piece, first piece lowest: a vehicle's length, or 1 for a wall.
    pieces: u64,
}

impl LaneContent {
    /// The content of a lane of `length` squares with walls on `walls` and, between them, `vehicles` given as
    /// (start, length) in order of their starts. Only the order matters, not the exact starts.
    pub(crate) fn new(length: u8, walls: u8, vehicles: impl Iterator<Item = (u8, u8)>) -> LaneContent {
        let mut pieces = 0;
        let mut shift = 0;
        let mut push = |piece: u8| {
            pieces |= u64::from(piece) << shift;
            shift += 4;
        };
        let mut next_square = 0;
        let walls_in = |from: u8, to: u8| (from..to).filter(|&s| walls >> s & 1 != 0).count();
        for (start, vehicle_length) in vehicles {
            (0..walls_in(next_square, start)).for_each(|_| push(1));
            push(vehicle_length);
            next_square = start + vehicle_length;
        }
        (0..walls_in(next_square, length)).for_each(|_| push(1));
        LaneContent {
            length,
            walls,
            pieces,
        }
    }

    /// The content of a lane without walls.
    #[cfg(test)]
    pub(crate) fn open(length: u8, vehicle_lengths: &[u8]) -> LaneContent {
        let mut start = 0;
        LaneContent::new(
            length,
            0,
            vehicle_lengths.iter().map(|&l| {
                let vehicle = (start, l);
                start += l;
                vehicle
            }),
        )
    }

    /// The squares that hold walls.
    pub(crate) const fn walls(self) -> u8 {
        self.walls
    }

    /// The pieces in order: a vehicle's length, or 1 for a wall.
    pub(crate) fn pieces(self) -> impl Iterator<Item = u8> {
        (0..16)
            .map(move |i| (self.pieces >> (4 * i) & 15) as u8)
            .take_while(|&p| p != 0)
    }

    /// The lengths of the vehicles in order.
    pub(crate) fn vehicle_lengths(self) -> impl Iterator<Item = u8> {
        self.pieces().filter(|&p| p > 1)
    }

    /// The same lane without its `index`th vehicle.
    pub(crate) fn without_vehicle(self, index: usize) -> LaneContent {
        let mut seen = 0;
        let mut pieces = 0;
        let mut shift = 0;
        for piece in self.pieces() {
            let is_it = piece > 1 && seen == index;
            seen += usize::from(piece > 1);
            if !is_it {
                pieces |= u64::from(piece) << shift;
                shift += 4;
            }
        }
        LaneContent { pieces, ..self }
    }

    /// The same lane without the wall on `square`.
    pub(crate) fn without_wall(self, square: u8) -> LaneContent {
        debug_assert!(self.walls >> square & 1 != 0, "no wall on square {square}");
        let rank = (self.walls & ((1 << square) - 1)).count_ones() as usize;
        let mut seen = 0;
        let mut pieces = 0;
        let mut shift = 0;
        for piece in self.pieces() {
            let is_it = piece == 1 && seen == rank;
            seen += usize::from(piece == 1);
            if !is_it {
                pieces |= u64::from(piece) << shift;
                shift += 4;
            }
        }
        LaneContent {
            length: self.length,
            walls: self.walls & !(1 << square),
            pieces,
        }
    }
}

/// One step of one vehicle along its lane, as part of a slide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneStep {
    /// The arrangement after it.
    pub(crate) to: u8,
    /// The square that the vehicle enters.
    pub(crate) enters: u8,
    /// The square that it leaves.
    pub(crate) leaves: u8,
    /// Whether a new slide begins here; otherwise it goes on from the step before.
    pub(crate) begins: bool,
}

/// A set of arrangements that slides along the lane join.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The arrangements.
    pub(crate) mask: u16,
    /// How many they are.
    pub(crate) size: u8,
    /// Whether each reaches each other in one slide, as with a single vehicle.
    pub(crate) is_one_line: bool,
    /// The *lines*: sets of arrangements that one slide of one vehicle joins, each arrangement being named by
    /// its rank within `mask`.
    pub(crate) lines: Vec<u16>,
}

/// A part of what cross traffic leaves of a lane, by mask and by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartRef {
    /// The arrangements.
    pub(crate) mask: u16,
    /// Number of the part in [`Lane::parts`].
    pub(crate) id: u16,
}

/// The tables of one lane content.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) content: LaneContent,
    /// Lengths of the vehicles, in order.
    pub(crate) lengths: Vec<u8>,
    /// Squares that the vehicles take, by arrangement, ascending as numbers.
    pub(crate) squares: Vec<u8>,
    /// First squares of the vehicles, by arrangement.
    pub(crate) starts: Vec<[u8; 4]>,
    /// Every part that occurs.
    pub(crate) parts: Vec<Part>,
    /// Allowed arrangements by the squares that cross traffic takes.
    pub(crate) allowed: Vec<u16>,
    /// The first part of the allowed arrangements, by the squares taken; of no arrangements if there is none.
    pub(crate) first_part: Vec<PartRef>,
    /// All parts of the allowed arrangements, by the squares taken: a range of `split`.
    split_start: Vec<u16>,
    split: Vec<PartRef>,
    /// The slides from each arrangement: a range of `steps`.
    step_start: Vec<u16>,
    steps: Vec<LaneStep>,
}

impl Lane {
    /// Builds the tables.
    pub(crate) fn new(content: LaneContent) -> Lane {
        let lengths: Vec<u8> = content.vehicle_lengths().collect();
        let mut arrangements = Vec::new();
        place(
            content,
            &content.pieces().collect::<Vec<_>>(),
            0,
            &mut Vec::new(),
            &mut arrangements,
        );
        arrangements.sort_unstable();
        assert!(
            arrangements.len() <= 15,
            "a lane of eight squares has at most fifteen arrangements"
        );
        let squares: Vec<u8> = arrangements.iter().map(|&(squares, _)| squares).collect();
        let starts: Vec<[u8; 4]> = arrangements.iter().map(|&(_, starts)| starts).collect();
        let mut lane = Lane {
            content,
            lengths,
            squares,
            starts,
            parts: Vec::new(),
            allowed: Vec::new(),
            first_part: Vec::new(),
            split_start: vec![0],
            split: Vec::new(),
            step_start: vec![0],
            steps: Vec::new(),
        };
        lane.fill_steps();
        lane.fill_parts();
        lane
    }

    /// How many arrangements there are.
    pub(crate) fn n_arrangements(&self) -> usize {
        self.squares.len()
    }

    /// The arrangement that takes exactly these squares.
    pub(crate) fn arrangement(&self, squares: u8) -> Option<u8> {
        self.squares.binary_search(&squares).ok().map(|i| i as u8)
    }

    /// The parts that the squares `taken` by cross traffic leave.
    #[inline]
    pub(crate) fn split(&self, taken: u8) -> &[PartRef] {
        let taken = usize::from(taken);
        &self.split[usize::from(self.split_start[taken])..usize::from(self.split_start[taken + 1])]
    }

    /// The first part with one of the arrangements `some`, which are allowed.
    #[inline(never)]
    pub(crate) fn part_with(&self, taken: u8, some: u16) -> PartRef {
        let part = self.split(taken).iter().find(|part| part.mask & some != 0);
        *part.expect("what is allowed is in some part")
    }

    /// The steps of all slides from an arrangement.
    #[inline]
    pub(crate) fn steps(&self, arrangement: u8) -> &[LaneStep] {
        let a = usize::from(arrangement);
        &self.steps[usize::from(self.step_start[a])..usize::from(self.step_start[a + 1])]
    }

    /// The arrangements in which the `index`th vehicle stands at the far end of the lane.
    pub(crate) fn at_far_end(&self, index: usize) -> u16 {
        let length = self.lengths[index];
        (0..self.n_arrangements())
            .filter(|&a| self.starts[a][index] + length == self.content.length)
            .fold(0, |mask, a| mask | 1 << a)
    }

    /// The vehicle that stands elsewhere in two arrangements that one slide joins.
    pub(crate) fn moved_vehicle(&self, from: u8, to: u8) -> usize {
        (0..self.lengths.len())
            .find(|&v| self.starts[usize::from(from)][v] != self.starts[usize::from(to)][v])
            .expect("the arrangements differ")
    }

    fn with_vehicle_at(&self, arrangement: usize, vehicle: usize, start: u8) -> Option<usize> {
        let mut starts = self.starts[arrangement];
        starts[vehicle] = start;
        self.starts.iter().position(|&s| s == starts)
    }

    fn fill_steps(&mut self) {
        for a in 0..self.n_arrangements() {
            for vehicle in 0..self.lengths.len() {
                for forward in [true, false] {
                    let mut begins = true;
                    let mut start = self.starts[a][vehicle];
                    loop {
                        let length = self.lengths[vehicle];
                        let (enters, leaves, next) = if forward {
                            (start + length, start, start + 1)
                        } else if start == 0 {
                            break;
                        } else {
                            (start - 1, start + length - 1, start - 1)
                        };
                        let Some(to) = self.with_vehicle_at(a, vehicle, next) else {
                            break;
                        };
                        self.steps.push(LaneStep {
                            to: to as u8,
                            enters,
                            leaves,
                            begins,
                        });
                        begins = false;
                        start = next;
                    }
                }
            }
            self.step_start.push(self.steps.len() as u16);
        }
    }

    fn fill_parts(&mut self) {
        let mut ids: HashMap<u16, u16> = HashMap::new();
        for taken in 0..1_u16 << self.content.length {
            let mut left = (0..self.n_arrangements())
                .filter(|&a| u16::from(self.squares[a]) & taken == 0)
                .fold(0_u16, |mask, a| mask | 1 << a);
            self.allowed.push(left);
            while left != 0 {
                let mask = self.part_of(left.trailing_zeros() as usize, left);
                let id = *ids.entry(mask).or_insert_with(|| {
                    self.parts.push(self.part(mask));
                    (self.parts.len() - 1) as u16
                });
                self.split.push(PartRef { mask, id });
                left &= !mask;
            }
            let first = usize::from(self.split_start[usize::from(taken)]);
            self.first_part.push(
                self.split
                    .get(first)
                    .copied()
                    .unwrap_or(PartRef { mask: 0, id: 0 }),
            );
            self.split_start.push(self.split.len() as u16);
        }
    }

    /// The arrangements of `allowed` that slides along the lane reach from `arrangement`.
    fn part_of(&self, arrangement: usize, allowed: u16) -> u16 {
        let mut part = 1_u16 << arrangement;
        loop {
            let mut grown = part;
            for a in (0..self.n_arrangements()).filter(|&a| part >> a & 1 != 0) {
                for step in self.steps(a as u8).iter().filter(|step| step.begins) {
                    grown |= 1 << step.to & allowed;
                }
            }
            if grown == part {
                return part;
            }
            part = grown;
        }
    }

    fn part(&self, mask: u16) -> Part {
        let rank = |a: usize| (mask & ((1 << a) - 1)).count_ones();
        let mut lines: Vec<u16> = Vec::new();
        for vehicle in 0..self.lengths.len() {
            let mut done = 0_u16;
            for a in (0..self.n_arrangements()).filter(|&a| mask >> a & 1 != 0) {
                if done >> a & 1 != 0 {
                    continue;
                }
                // Arrangements ascend with the vehicle's start, so `a` is where its line begins.
                let mut line = 0_u16;
                let mut ranks = 0_u16;
                let mut at = Some(a);
                while let Some(here) = at.filter(|&b| mask >> b & 1 != 0) {
                    line |= 1 << here;
                    ranks |= 1 << rank(here);
                    at = self.with_vehicle_at(here, vehicle, self.starts[here][vehicle] + 1);
                }
                done |= line;
                if ranks.count_ones() > 1 {
                    lines.push(ranks);
                }
            }
        }
        let size = mask.count_ones() as u8;
        let is_one_line = lines.len() == 1 && lines[0].count_ones() == u32::from(size);
        Part {
            mask,
            size,
            is_one_line,
            lines,
        }
    }
}

/// Places the pieces that are left from square `from` on, in every way.
fn place(content: LaneContent, pieces: &[u8], from: u8, starts: &mut Vec<u8>, out: &mut Vec<(u8, [u8; 4])>) {
    let wall_from = |square: u8| (square..content.length).find(|&s| content.walls >> s & 1 != 0);
    let Some((&piece, rest)) = pieces.split_first() else {
        let mut squares = 0;
        let mut all = [0; 4];
        for ((&start, length), slot) in starts.iter().zip(content.vehicle_lengths()).zip(&mut all) {
            squares |= (((1_u16 << length) - 1) << start) as u8;
            *slot = start;
        }
        out.push((squares, all));
        return;
    };
    let wall = wall_from(from);
    if piece == 1 {
        let wall = wall.expect("the content has as many walls as the lane");
        return place(content, rest, wall + 1, starts, out);
    }
    let end = wall.unwrap_or(content.length);
    for start in from..=end.saturating_sub(piece) {
        if start + piece <= end {
            starts.push(start);
            place(content, rest, start + piece, starts, out);
            starts.pop();
        }
    }
}

/// Lanes built so far, by content.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaneStore {
    lanes: Vec<Lane>,
    ids: rustc_hash::FxHashMap<LaneContent, u32>,
}

impl LaneStore {
    /// A store holds this many lanes before it is emptied: some 20 MB.
    pub(crate) const CAPACITY: usize = 4096;

    /// The number of the lane with this content, which is built if need be.
    pub(crate) fn id(&mut self, content: LaneContent) -> u32 {
        if let Some(&id) = self.ids.get(&content) {
            return id;
        }
        let id = self.lanes.len() as u32;
        self.lanes.push(Lane::new(content));
        self.ids.insert(content, id);
        id
    }

    /// The lane of a number that [`LaneStore::id`] gave.
    #[inline]
    pub(crate) fn lane(&self, id: u32) -> &Lane {
        &self.lanes[id as usize]
    }

    /// Empties the store if it has grown over its capacity; all numbers become void.
    pub(crate) fn trim(&mut self) {
        if self.lanes.len() > LaneStore::CAPACITY {
            self.lanes.clear();
            self.ids.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_of_eight_squares_has_at_most_fifteen_arrangements() {
        let lane = |vehicles: &[u8]| Lane::new(LaneContent::open(8, vehicles)).n_arrangements();
        assert_eq!(lane(&[]), 1);
        assert_eq!(lane(&[2]), 7);
        assert_eq!(lane(&[2, 2]), 15);
        assert_eq!(lane(&[2, 2, 2]), 10);
        assert_eq!(lane(&[2, 2, 2, 2]), 1);
        assert_eq!(lane(&[3, 2]), 10);
    }

    #[test]
    fn walls_keep_vehicles_on_their_side() {
        // Two squares, a wall, three squares: a car on either side.
        let content = LaneContent::new(6, 0b100, [(0, 2), (4, 2)].into_iter());
        let lane = Lane::new(content);
        assert_eq!(lane.squares, [0b01_1011, 0b11_0011]);
        let freed = Lane::new(content.without_wall(2));
        assert_eq!(freed.n_arrangements(), 6);
        assert_eq!(
            Lane::new(content.without_vehicle(0)).squares,
            [0b01_1000, 0b11_0000]
        );
        assert_eq!(Lane::new(content.without_vehicle(1)).squares, [0b00_0011]);
    }

    #[test]
    fn taken_squares_split_a_lane_into_parts() {
        let lane = Lane::new(LaneContent::open(6, &[2]));
        assert_eq!(lane.split(0).len(), 1);
        assert!(lane.parts[usize::from(lane.split(0)[0].id)].is_one_line);
        let parts: Vec<u16> = lane.split(0b00_0100).iter().map(|p| p.mask).collect();
        assert_eq!(parts, [0b0_0001, 0b1_1000]);
        assert!(lane.split(0b01_0101).is_empty());
    }

    #[test]
    fn a_slide_enters_and_leaves_one_square_a_step() {
        let lane = Lane::new(LaneContent::open(6, &[3]));
        let steps = lane.steps(1);
        let seen: Vec<_> = steps
            .iter()
            .map(|s| (s.to, s.enters, s.leaves, s.begins))
            .collect();
        assert_eq!(seen, [(2, 4, 1, true), (3, 5, 2, false), (0, 0, 3, true)]);
    }

    #[test]
    fn lines_are_slides_of_one_vehicle() {
        let lane = Lane::new(LaneContent::open(6, &[2, 2]));
        let whole = &lane.parts[usize::from(lane.split(0)[0].id)];
        // The left car has a line for each place of the right one but the first, and the reverse.
        assert_eq!((whole.size, whole.lines.len(), whole.is_one_line), (6, 4, false));
    }
}
