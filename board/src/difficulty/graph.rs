//! The graph of a cluster's positions: their keys, the slides between them, the par of each.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::DifficultyError;
use crate::{Axis, Board, StateLimit};

/// Where every vehicle stands: four bits a vehicle, the first square along its lane.
pub(super) type Key<const N: usize> = [u64; N];

/// All positions reachable from a board. Position 0 is the board's own.
pub(super) struct Graph<const N: usize> {
    keys: Vec<Key<N>>,
    /// Where the neighbours of each position begin; one more than there are positions.
    first_neighbours: Vec<usize>,
    neighbours: Vec<u32>,
    /// [`UNSOLVABLE`] where there is no way.
    pars: Vec<u16>,
}

const UNSOLVABLE: u16 = u16::MAX;

impl<const N: usize> Graph<N> {
    pub(super) fn of(board: &Board, limit: StateLimit) -> Result<Graph<N>, DifficultyError> {
        let parking = Parking::<N>::of(board);
        let own = parking.key(board);
        let mut numbers = FxHashMap::from_iter([(own, 0_u32)]);
        let mut graph = Graph {
            keys: vec![own],
            first_neighbours: vec![0],
            neighbours: Vec::new(),
            pars: Vec::new(),
        };
        let mut next_position = 0;
        while let Some(&key) = graph.keys.get(next_position) {
            parking.for_each_next(key, |next| {
                let fresh =
                    u32::try_from(graph.keys.len()).expect("a cluster has fewer than four billion positions");
                let number = *numbers.entry(next).or_insert(fresh);
                if number == fresh {
                    graph.keys.push(next);
                }
                graph.neighbours.push(number);
            });
            if graph.keys.len() as u64 > limit.get() {
                return Err(DifficultyError::TooLarge(limit));
            }
            graph.first_neighbours.push(graph.neighbours.len());
            next_position += 1;
        }
        graph.pars = graph.distances(&parking);
        Ok(graph)
    }

    pub(super) fn n_positions(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn key(&self, position: usize) -> Key<N> {
        self.keys[position]
    }

    /// Slides to a solved position; `None` if there is no way.
    pub(super) fn par(&self, position: usize) -> Option<u16> {
        Some(self.pars[position]).filter(|&par| par != UNSOLVABLE)
    }

    /// The positions one slide away, each once: two slides never lead to the same position.
    pub(super) fn neighbours(&self, position: usize) -> &[u32] {
        &self.neighbours[self.first_neighbours[position]..self.first_neighbours[position + 1]]
    }

    /// Breadth-first from all solved positions at once: slides can be taken back.
    fn distances(&self, parking: &Parking<N>) -> Vec<u16> {
        let mut pars = vec![UNSOLVABLE; self.keys.len()];
        let mut queue: VecDeque<usize> = (0..self.keys.len())
            .filter(|&p| parking.is_solved(self.keys[p]))
            .collect();
        for &solved in &queue {
            pars[solved] = 0;
        }
        while let Some(position) = queue.pop_front() {
            for &next in self.neighbours(position) {
                let next = next as usize;
                if pars[next] == UNSOLVABLE {
                    pars[next] = pars[position] + 1;
                    assert!(pars[next] < UNSOLVABLE, "par is below 65,535 slides");
                    queue.push_back(next);
                }
            }
        }
        pars
    }
}

/// Which vehicle differs between two positions a slide apart, and its places before and after.
pub(super) fn moved<const N: usize>(from: Key<N>, to: Key<N>) -> (usize, u8, u8) {
    let word = (0..N)
        .find(|&w| from[w] != to[w])
        .expect("two positions a slide apart differ");
    let vehicle = word * 16 + ((from[word] ^ to[word]).trailing_zeros() / 4) as usize;
    (vehicle, start(from, vehicle), start(to, vehicle))
}

pub(super) fn start<const N: usize>(key: Key<N>, vehicle: usize) -> u8 {
    let word = key[vehicle / 16].to_le_bytes();
    word[vehicle % 16 / 2] >> (vehicle % 2 * 4) & 15
}

/// What stays the same in all positions: lanes, lengths, walls.
struct Parking<const N: usize> {
    vehicles: Vec<Vehicle>,
    /// Walls by row and by column, one bit a square.
    walls: Lanes,
    width: u8,
}

struct Vehicle {
    axis: usize,
    lane: u8,
    length: u8,
    /// Squares in its lane.
    lane_length: u8,
}

/// Squares by lane, for rows and for columns.
type Lanes = [[u16; 16]; 2];

impl<const N: usize> Parking<N> {
    fn of(board: &Board) -> Parking<N> {
        let lot = board.lot();
        let vehicle = |v: &crate::Vehicle| Vehicle {
            axis: usize::from(v.axis() == Axis::Vertical),
            lane: v.lane(),
            length: v.length(),
            lane_length: lot.lane_length(v.axis()),
        };
        let mut walls = [[0; 16]; 2];
        for square in board.walls().iter() {
            let (row, column) = (lot.row(square), lot.column(square));
            walls[0][usize::from(row)] |= 1 << column;
            walls[1][usize::from(column)] |= 1 << row;
        }
        Parking {
            vehicles: board.vehicles().iter().map(vehicle).collect(),
            walls,
            width: lot.width(),
        }
    }

    fn key(&self, board: &Board) -> Key<N> {
        let mut key = [0; N];
        for (i, vehicle) in board.vehicles().iter().enumerate() {
            debug_assert!(i < self.vehicles.len());
            key[i / 16] |= u64::from(vehicle.start()) << (i % 16 * 4);
        }
        key
    }

    fn is_solved(&self, key: Key<N>) -> bool {
        start(key, 0) + self.vehicles[0].length == self.width
    }

    fn taken(&self, key: Key<N>) -> Lanes {
        let mut taken = self.walls;
        for (i, vehicle) in self.vehicles.iter().enumerate() {
            let start = start(key, i);
            let squares = u16::MAX >> (16 - vehicle.length) << start;
            taken[vehicle.axis][usize::from(vehicle.lane)] |= squares;
            for place in start..start + vehicle.length {
                taken[1 - vehicle.axis][usize::from(place)] |= 1 << vehicle.lane;
            }
        }
        taken
    }

    /// Calls `found` for each position a slide away, always in the same order.
    fn for_each_next(&self, key: Key<N>, mut found: impl FnMut(Key<N>)) {
        let taken = self.taken(key);
        for (i, vehicle) in self.vehicles.iter().enumerate() {
            let lane = taken[vehicle.axis][usize::from(vehicle.lane)];
            let is_free = |place: &u8| lane >> place & 1 == 0;
            let (word, shift) = (i / 16, i % 16 * 4);
            let at = start(key, i);
            let mut go = |to: u8| {
                let mut next = key;
                next[word] = next[word] & !(15 << shift) | u64::from(to) << shift;
                found(next);
            };
            for end in (at + vehicle.length..vehicle.lane_length).take_while(is_free) {
                go(end + 1 - vehicle.length);
            }
            for to in (0..at).rev().take_while(is_free) {
                go(to);
            }
        }
    }
}
