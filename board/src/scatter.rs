//! Random boards: hero, walls and vehicles thrown on the lot, and the cluster of each explored.
//!
//! What is hopeless at sight (see [`crate::hopeless`]) is thrown away before a search is spent on it.

use crate::cluster::Explorer;
use crate::finds::Finds;
use crate::hopeless::is_hopeless;
use crate::job::{Frame, GoOn, ShardEnd, SpecError};
use crate::places::Places;
use crate::space::BoardSpace;
use crate::stream::Stream;
use crate::{Axis, Board, Squares, Vehicle};

/// How often another place is drawn for a vehicle or wall that did not fit, before the board is given up.
const MAX_TRIES_A_PIECE: u32 = 24;

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
    let mut finds = Finds::new(explorer, spec.frame.max_states);
    for _ in 0..spec.frame.iterations_per_shard {
        if !go_on(&finds.counters) {
            return ShardEnd::Stopped(finds.into_outcome());
        }
        finds.counters.iterations += 1;
        if let Some(board) = scatterer.draw(&mut stream) {
            finds.counters.legal += 1;
            if !is_hopeless(&board) {
                finds.prove(&board);
            }
        }
    }
    ShardEnd::Complete(finds.into_outcome())
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
