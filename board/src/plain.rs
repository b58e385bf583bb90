//! The slow, plain truth that every fast search is compared with.
//!
//! Everything here is breadth-first search over whole [`Board`] values in ordered or hashed collections, one
//! [`Board::apply`] a slide: no packing, no tables, no short cuts, no limits. It serves tests and nothing else.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::board::Board;
use crate::slide::Slide;

/// Everything there is to know about the positions reachable from a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainCluster {
    /// The largest par of any position; `None` if none is solvable.
    pub depth: Option<u16>,
    /// The number of positions.
    pub n_states: u64,
    /// The number of positions at each par from 0; empty if none is solvable.
    pub histogram: Vec<u64>,
    /// The position that stands for the cluster; `None` if none is solvable.
    pub representative: Option<Board>,
    /// Whether no vehicle or wall can go from the representative without its par falling; `None` if there is none.
    pub is_minimal: Option<bool>,
}

/// The fewest slides to a solved position, `None` if there is no way.
///
/// # Panics
/// When the par is more than 65,535.
pub fn par(board: &Board) -> Option<u16> {
    fewest(board, &Board::slides)
}

/// The fewest steps (vehicles moving one square) to a solved position, which can take more slides than par.
///
/// # Panics
/// When they are more than 65,535.
pub fn fewest_steps(board: &Board) -> Option<u16> {
    fewest(board, &|board| {
        board
            .slides()
            .into_iter()
            .filter(|slide| slide.steps() == 1)
            .collect()
    })
}

/// Every position reachable from a board.
pub fn reachable(board: &Board) -> FxHashSet<Board> {
    let mut seen = FxHashSet::from_iter([board.clone()]);
    let mut frontier = vec![board.clone()];
    while let Some(board) = frontier.pop() {
        for next in neighbours(&board, &Board::slides) {
            if seen.insert(next.clone()) {
                frontier.push(next);
            }
        }
    }
    seen
}

/// The cluster of a board, found by walking from every solved position outwards.
///
/// # Panics
/// When the depth is more than 65,535.
pub fn cluster(board: &Board) -> PlainCluster {
    let positions = reachable(board);
    let n_states = positions.len() as u64;
    let mut frontier: Vec<&Board> = positions.iter().filter(|board| board.is_solved()).collect();
    let mut pars: FxHashMap<&Board, u16> = frontier.iter().map(|&board| (board, 0)).collect();
    let mut layers = Vec::new();
    while !frontier.is_empty() {
        let par = u16::try_from(layers.len() + 1).expect("tests stay far below 65,535 slides");
        let mut next = Vec::new();
        for neighbour in frontier
            .iter()
            .flat_map(|board| neighbours(board, &Board::slides))
        {
            // Slides can be taken back, so whatever is next to a reachable position is reachable.
            let neighbour = positions
                .get(&neighbour)
                .expect("a cluster is closed under slides");
            if !pars.contains_key(neighbour) {
                pars.insert(neighbour, par);
                next.push(neighbour);
            }
        }
        layers.push(std::mem::replace(&mut frontier, next));
    }
    let histogram: Vec<u64> = layers.iter().map(|layer| layer.len() as u64).collect();
    let Some(deepest) = layers.last() else {
        return PlainCluster {
            depth: None,
            n_states,
            histogram,
            representative: None,
            is_minimal: None,
        };
    };
    let depth = u16::try_from(layers.len() - 1).expect("tests stay far below 65,535 slides");
    let representative = deepest
        .iter()
        .min_by_key(|board| board.masks())
        .map(|&board| board.clone());
    let is_minimal = representative.as_ref().map(is_minimal);
    PlainCluster {
        depth: Some(depth),
        n_states,
        histogram,
        representative,
        is_minimal,
    }
}

/// Whether taking away any one vehicle or wall makes the board's par fall.
///
/// # Panics
/// When the board is unsolvable or its par is more than 65,535.
pub fn is_minimal(board: &Board) -> bool {
    let before = par(board).expect("only solvable boards are minimal or not");
    let vehicles = (1..board.n_vehicles()).filter_map(|i| board.without_vehicle(i));
    let walls = board.walls().iter().map(|square| board.without_wall(square));
    vehicles
        .chain(walls)
        .all(|less| par(&less).expect("taking away shuts no way") < before)
}

/// Whether a solution solves a board, each slide possible on the board before it.
pub fn solves(board: &Board, solution: &[Slide]) -> bool {
    let end = solution
        .iter()
        .try_fold(board.clone(), |board, &slide| board.apply(slide));
    end.is_ok_and(|end| end.is_solved())
}

type Moves<'a> = &'a dyn Fn(&Board) -> Vec<Slide>;

fn neighbours(board: &Board, moves: Moves) -> Vec<Board> {
    let apply = |slide| {
        board
            .apply(slide)
            .expect("slides() lists slides that are possible")
    };
    moves(board).into_iter().map(apply).collect()
}

fn fewest(board: &Board, moves: Moves) -> Option<u16> {
    if board.is_solved() {
        return Some(0);
    }
    let mut seen = FxHashSet::from_iter([board.clone()]);
    let mut layer = vec![board.clone()];
    for n_moves in 1..=u16::MAX {
        let mut next_layer = Vec::new();
        for next in layer.iter().flat_map(|board| neighbours(board, moves)) {
            if next.is_solved() {
                return Some(n_moves);
            }
            if seen.insert(next.clone()) {
                next_layer.push(next);
            }
        }
        if next_layer.is_empty() {
            return None;
        }
        layer = next_layer;
    }
    panic!("more than 65,535 moves")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two vehicles of which everything can be counted by hand.
    ///
    /// ```text
    /// o o o B      The hero has places 0, 1, 2; the car in the last column has 0, 1, 2.
    /// A A o B      Together they are nine positions, less those in which the hero at
    /// o o o o      place 2 meets the car in row 1 (places 0 and 1): seven.
    /// o o o o
    /// ```
    #[test]
    fn a_cluster_that_can_be_counted_by_hand() {
        let board: Board = "oooBAAoBoooooooo".parse().unwrap();
        let cluster = cluster(&board);
        assert_eq!(cluster.n_states, 7);
        // Solved is one position; two positions are one slide away from it, the other four two.
        assert_eq!(cluster.histogram, [1, 2, 4]);
        assert_eq!(cluster.depth, Some(2));
        // Of the four the smallest mask has the hero left-most and the car top-most.
        assert_eq!(cluster.representative, Some(board.clone()));
        assert_eq!(cluster.is_minimal, Some(true));
        assert_eq!((par(&board), fewest_steps(&board)), (Some(2), Some(4)));
    }

    #[test]
    fn a_truck_that_fills_the_lane_shuts_the_way() {
        let board: Board = "ooBAABooB".parse().unwrap();
        assert_eq!((par(&board), fewest_steps(&board)), (None, None));
        let cluster = cluster(&board);
        assert_eq!((cluster.depth, cluster.n_states), (None, 1));
        assert_eq!(
            (cluster.histogram, cluster.representative, cluster.is_minimal),
            (vec![], None, None)
        );
    }

    #[test]
    fn a_vehicle_out_of_the_way_makes_a_board_not_minimal() {
        assert!(!is_minimal(&"oooBAAoBooooCCoo".parse().unwrap()));
        assert!(!is_minimal(&"oooBAAoBooooxooo".parse().unwrap()));
    }
}
