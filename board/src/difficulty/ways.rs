//! What can be counted along the shortest ways.

use super::MOST_SOLUTIONS;
use super::chance::Chance;
use super::graph::{Graph, Key, moved};
use crate::{Axis, Board};

/// Measures of the shortest ways; see [`Difficulty`](super::Difficulty).
pub(super) struct Ways {
    pub(super) n_solutions: u64,
    pub(super) n_positions: u64,
    pub(super) n_slides: u64,
    pub(super) n_right_slides: u64,
    pub(super) n_against: u32,
    pub(super) n_movers: u32,
    pub(super) n_repeat_movers: u32,
    pub(super) luck_tenths: u32,
}

/// The same for the rest of the way from one position.
#[derive(Clone)]
struct Rest {
    n_solutions: u64,
    n_against: u32,
    /// For each vehicle the fewest slides of its own in a shortest solution.
    slides: Vec<u16>,
    chance: Chance,
}

/// Measures the ways from position 0, which must be solvable.
pub(super) fn follow<const N: usize>(board: &Board, graph: &Graph<N>) -> Ways {
    let (way, places) = positions(graph);
    let mut sums = (0, 0, 0);
    let mut rests: Vec<Option<Rest>> = vec![None; way.len()];
    // Par falls along the list, so from its end the rest of every way is known when it is needed.
    for (i, &position) in way.iter().enumerate().rev() {
        let Some(right_par) = graph
            .par(position)
            .expect("all of the way is solvable")
            .checked_sub(1)
        else {
            rests[i] = Some(Rest::solved(board.n_vehicles()));
            continue;
        };
        let neighbours = graph.neighbours(position);
        let mut rest = Rest::unknown(board.n_vehicles());
        for &next in neighbours
            .iter()
            .filter(|&&next| graph.par(next as usize) == Some(right_par))
        {
            let next_rest = rests[places[next as usize] as usize].as_ref();
            let next_rest = next_rest.expect("what is nearer stands later in the list");
            rest.take(next_rest, board, graph.key(position), graph.key(next as usize));
            sums.2 += 1;
        }
        rest.chance = rest.chance.over(neighbours.len());
        sums = (sums.0 + 1, sums.1 + neighbours.len() as u64, sums.2);
        rests[i] = Some(rest);
    }
    let whole = rests[0].take().expect("the list begins with position 0");
    let count = |fewest: u16| whole.slides.iter().filter(|&&slides| slides >= fewest).count();
    Ways {
        n_solutions: whole.n_solutions,
        n_positions: sums.0,
        n_slides: sums.1,
        n_right_slides: sums.2,
        n_against: whole.n_against,
        n_movers: u32::try_from(count(1)).expect("a board has at most 50 vehicles"),
        n_repeat_movers: u32::try_from(count(2)).expect("a board has at most 50 vehicles"),
        luck_tenths: whole.chance.tenths_of_bits(),
    }
}

const NOWHERE: u32 = u32::MAX;

/// The positions on shortest ways, par falling, and for each position of the graph its place in that list.
fn positions<const N: usize>(graph: &Graph<N>) -> (Vec<usize>, Vec<u32>) {
    let mut places = vec![NOWHERE; graph.n_positions()];
    let mut way = vec![0];
    places[0] = 0;
    let mut i = 0;
    while let Some(&position) = way.get(i) {
        let right_par = graph.par(position).and_then(|par| par.checked_sub(1));
        for &next in graph.neighbours(position) {
            let next = next as usize;
            if places[next] == NOWHERE && right_par.is_some() && graph.par(next) == right_par {
                places[next] =
                    u32::try_from(way.len()).expect("a cluster has fewer than four billion positions");
                way.push(next);
            }
        }
        i += 1;
    }
    (way, places)
}

impl Rest {
    fn solved(n_vehicles: usize) -> Rest {
        Rest {
            n_solutions: 1,
            n_against: 0,
            slides: vec![0; n_vehicles],
            chance: Chance::ONE,
        }
    }

    /// Of a position none of whose ways has been looked at.
    fn unknown(n_vehicles: usize) -> Rest {
        Rest {
            n_solutions: 0,
            n_against: u32::MAX,
            slides: vec![u16::MAX; n_vehicles],
            chance: Chance::ZERO,
        }
    }

    /// Adds the ways that begin with the slide from `from` to `to`.
    fn take<const N: usize>(&mut self, rest: &Rest, board: &Board, from: Key<N>, to: Key<N>) {
        let (vehicle, before, after) = moved(from, to);
        let is_against = is_against(board, from, vehicle, before, after);
        self.n_solutions = self
            .n_solutions
            .saturating_add(rest.n_solutions)
            .min(MOST_SOLUTIONS);
        self.n_against = self.n_against.min(rest.n_against + u32::from(is_against));
        for (i, (mine, theirs)) in self.slides.iter_mut().zip(&rest.slides).enumerate() {
            *mine = (*mine).min(theirs + u16::from(i == vehicle));
        }
        self.chance = self.chance.plus(rest.chance);
    }
}

/// Whether a slide makes it worse to the eye: the hero goes away from the exit, or a vehicle gets in its way.
fn is_against<const N: usize>(board: &Board, from: Key<N>, vehicle: usize, before: u8, after: u8) -> bool {
    if vehicle == 0 {
        return after < before;
    }
    let vehicle = board.vehicles()[vehicle];
    let hero_end = super::graph::start(from, 0) + board.hero().length();
    let covers = |start: u8| (start..start + vehicle.length()).contains(&board.exit_row());
    vehicle.axis() == Axis::Vertical && vehicle.lane() >= hero_end && covers(after) && !covers(before)
}
