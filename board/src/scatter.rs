//! Random boards: hero, walls and vehicles thrown on the lot, and the cluster of each explored.
//!
//! Most thrown boards are hopeless at sight, unsolvable, or of huge clusters. The neighbours of a board that is none of
//! these mostly are none either, so each good throw is followed by a short random walk: one piece changed at a time,
//! staying where a change leads to a solvable cluster within the limit. Whether a board is hard plays no part.

use crate::cluster::Explorer;
use crate::finds::Finds;
use crate::hopeless::is_hopeless;
use crate::job::{Frame, GoOn, ShardEnd, SpecError};
use crate::mutate::Mutator;
use crate::places::Places;
use crate::space::BoardSpace;
use crate::stream::Stream;
use crate::{Axis, Board, Squares, Vehicle};

/// How often another place is drawn for a vehicle or wall that did not fit, before the board is given up.
const MAX_TRIES_A_PIECE: u32 = 24;

/// Iterations of a walk, its throw included: long enough to pay for the throw, short enough not to stay in one region.
const WALK_ITERATIONS: u32 = 32;

/// The least limit on the positions of a walk's clusters; see [`Finds`].
const LEAST_LIMIT: u64 = 500;

/// A scatter job: random boards of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScatterSpec {
    space: BoardSpace,
    frame: Frame,
}

impl ScatterSpec {
    /// A job that draws `iterations_per_shard` boards of this space in each shard.
    ///
    /// # Errors
    /// A [`SpecError`] if a number of the frame is out of bounds.
    pub fn new(space: BoardSpace, frame: Frame) -> Result<ScatterSpec, SpecError> {
        frame.check()?;
        Ok(ScatterSpec { space, frame })
    }

    /// Which boards are drawn.
    pub fn space(&self) -> &BoardSpace {
        &self.space
    }

    /// Seed, shards, iterations and limits.
    pub fn frame(&self) -> Frame {
        self.frame
    }
}

/// Draws and explores the boards of one shard; see [`JobSpec::run_shard_while`](crate::job::JobSpec::run_shard_while).
pub fn run_shard_while(spec: &ScatterSpec, shard: u32, explorer: &mut Explorer, go_on: GoOn<'_>) -> ShardEnd {
    let mut stream = spec.frame.stream(shard);
    let scatterer = Scatterer::new(&spec.space);
    let mutator = Mutator::new(&spec.space);
    let mut finds = Finds::new(explorer, spec.frame.max_states);
    let mut walker: Option<Walker> = None;
    for _ in 0..spec.frame.iterations_per_shard {
        if !go_on(&finds.counters) {
            return ShardEnd::Stopped(finds.into_outcome());
        }
        finds.counters.iterations += 1;
        walker = if let Some(walker) = walker {
            walker.advance(&mutator, &mut finds, &mut stream)
        } else {
            finds.draw_limit(LEAST_LIMIT, &mut stream);
            let thrown = scatterer.draw(&mut stream);
            let reached = thrown.and_then(|board| reach(&mut finds, &board));
            reached.and_then(|board| Walker::new(board, WALK_ITERATIONS - 1))
        };
    }
    ShardEnd::Complete(finds.into_outcome())
}

/// Explores a legal board; the representative of its cluster, if it is solvable and within the limit.
fn reach(finds: &mut Finds<'_>, board: &Board) -> Option<Board> {
    finds.counters.legal += 1;
    if is_hopeless(board) {
        return None;
    }
    let idx = finds.prove(board)?;
    Some(finds.get(idx).canonical.board())
}

/// Where a walk stands, and how many iterations it has left, 1 or more.
struct Walker {
    board: Board,
    n_left: u32,
}

impl Walker {
    /// `None` when the walk is over.
    fn new(board: Board, n_left: u32) -> Option<Walker> {
        (n_left > 0).then_some(Walker { board, n_left })
    }

    /// Changes one piece and stays where that leads, if it can.
    fn advance(self, mutator: &Mutator, finds: &mut Finds<'_>, stream: &mut Stream) -> Option<Walker> {
        let change = mutator.draw(&self.board, stream);
        let changed = change.map(|change| {
            change
                .apply(&self.board)
                .expect("the change was made for this board")
        });
        let reached = changed.and_then(|board| reach(finds, &board));
        finds.counters.accepted += u64::from(reached.is_some());
        Walker::new(reached.unwrap_or(self.board), self.n_left - 1)
    }
}

/// Draws random boards of one space.
pub(crate) struct Scatterer<'a> {
    space: &'a BoardSpace,
    places: Places,
}

impl Scatterer<'_> {
    pub(crate) fn new(space: &BoardSpace) -> Scatterer<'_> {
        Scatterer {
            space,
            places: Places::new(space),
        }
    }

    /// A random board, its hero not at the exit; `None` if a piece found no room.
    ///
    /// The hero starts unsolved, so a solvable board drawn here has a depth of 1 or more.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Option<Board> {
        let lot = self.space.lot();
        let vehicles = self.space.vehicles();
        let walls = self.space.walls();
        let n_vehicles = stream.between(*vehicles.start(), *vehicles.end());
        let n_walls = stream.between(*walls.start(), *walls.end());
        let hero_length = self.space.fields().hero_length;
        let hero_start = stream.between(0, lot.width() - hero_length - 1);
        let hero = Vehicle::new(Axis::Horizontal, self.space.exit_row(), hero_start, hero_length);

        let mut taken = hero.squares(lot);
        let mut standing = Squares::EMPTY;
        for _ in 0..n_walls {
            let wall = retry(|| {
                let square = stream.index(lot.n_squares());
                (!taken.contains(square)).then_some(square)
            })?;
            taken.insert(wall);
            standing.insert(wall);
        }
        let mut board = Vec::with_capacity(usize::from(n_vehicles));
        board.push(hero);
        for _ in 1..n_vehicles {
            let place = retry(|| {
                let place = self.places.draw(stream);
                (!place.squares.intersects(taken)).then_some(place)
            })?;
            taken = taken.union(place.squares);
            board.push(place.vehicle);
        }
        Some(Board::new(lot, board, standing).expect("every piece stands on squares that were free"))
    }
}

fn retry<T>(mut draw: impl FnMut() -> Option<T>) -> Option<T> {
    (0..MAX_TRIES_A_PIECE).find_map(|_| draw())
}
