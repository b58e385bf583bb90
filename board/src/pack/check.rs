//! Whether a pack is what it says, by plain search alone: no stored answer is believed, no fast code is used.

use std::collections::HashMap;

use crate::{Board, Canonical, SpellingError, plain};

/// A level as its file states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Its number, from 1.
    pub number: u32,
    /// The board's spelling.
    pub board: String,
    /// Par, in slides.
    pub par: u16,
    /// Vehicles, hero included.
    pub n_vehicles: u64,
    /// Positions in the board's cluster.
    pub n_states: u64,
    /// Par in steps: the fewest squares moved, each move one square; `None`: not stated.
    pub steps: Option<u64>,
    /// A shortest solution, slides as `B+2`; `None`: not stated.
    pub solution: Option<Vec<String>>,
}

/// What is wrong with a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("level {level}: {kind}")]
pub struct Fault {
    /// The level's number as it should be: its place in the file, from 1.
    pub level: u32,
    /// What it is.
    pub kind: FaultKind,
}

/// The kinds of fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The level's number is not its place.
    #[error("it is numbered {0}")]
    Number(u32),
    /// The board is not legal, or not a spelling.
    #[error("not a board: {0}")]
    NotABoard(SpellingError),
    /// The spelling is not the canonical one.
    #[error("the spelling is not canonical, expected {expected}")]
    NotCanonical {
        /// The canonical spelling.
        expected: Canonical,
    },
    /// The board has no solution.
    #[error("the board is unsolvable")]
    Unsolvable,
    /// The board is not the one that stands for its cluster.
    #[error("the board does not stand for its cluster, expected {expected}")]
    NotRepresentative {
        /// The one that does.
        expected: Canonical,
    },
    /// The stated par is not the true minimum.
    #[error("par is {proved}, stated {stated}")]
    WrongPar {
        /// By the plain solver.
        proved: u16,
        /// By the file.
        stated: u16,
    },
    /// The stated number of vehicles is wrong.
    #[error("it has {counted} vehicles, stated {stated}")]
    WrongVehicles {
        /// On the board.
        counted: u64,
        /// By the file.
        stated: u64,
    },
    /// The stated size of the cluster is wrong.
    #[error("its cluster has {counted} positions, stated {stated}")]
    WrongCluster {
        /// By the plain search.
        counted: u64,
        /// By the file.
        stated: u64,
    },
    /// The stated par in steps is wrong.
    #[error("par in steps is {proved}, stated {stated}")]
    WrongSteps {
        /// By the plain solver.
        proved: u64,
        /// By the file.
        stated: u64,
    },
    /// The stated solution has a slide that cannot be made.
    #[error("the solution's slide {idx}, {slide:?}, cannot be made")]
    WrongSlide {
        /// Its place in the solution, from 1.
        idx: usize,
        /// As the file has it.
        slide: String,
    },
    /// The stated solution does not end at the exit.
    #[error("the solution does not end at the exit")]
    NotASolution,
    /// The stated solution is longer than par.
    #[error("the solution has {n_slides} slides, par is {proved}")]
    LongSolution {
        /// Slides in the file.
        n_slides: usize,
        /// By the plain solver.
        proved: u16,
    },
    /// Par falls from the level before.
    #[error("par falls from {before} to {par}")]
    Falls {
        /// Proved par of the level before.
        before: u16,
        /// Proved par of this one.
        par: u16,
    },
    /// Another level is the same puzzle, at this or another point of its solution, or mirrored.
    #[error("the same puzzle as level {0}")]
    SamePuzzle(u32),
    /// The board is not in the database.
    #[error("the board is not in the database")]
    NotInDatabase,
    /// The board is reserved for a challenge.
    #[error("the board is reserved for a challenge")]
    Reserved,
}

/// What was proved of one level, and the faults that it has on its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// Par of the board, in slides; `None`: unsolvable, or no board.
    pub par: Option<u16>,
    /// The spelling that the database has the board's puzzle under; `None`: unsolvable, or no board.
    pub entry: Option<Canonical>,
    /// What is wrong with the level, whatever the others are.
    pub faults: Vec<FaultKind>,
}

/// All faults of a pack, level by level.
pub fn check(levels: &[Level]) -> Vec<Fault> {
    check_together(levels, levels.iter().map(check_level).collect())
}

/// All faults of a pack, given what [`check_level`] says of each level; levels may be proved in any order.
///
/// # Panics
/// If there are not as many proofs as levels.
pub fn check_together(levels: &[Level], proved: Vec<Proved>) -> Vec<Fault> {
    assert_eq!(levels.len(), proved.len(), "a level was left out");
    let mut before = None;
    let mut known: HashMap<Canonical, u32> = HashMap::new();
    let mut faults = Vec::new();
    for ((place, level), proved) in (1..).zip(levels).zip(proved) {
        let mut found = |kind| faults.push(Fault { level: place, kind });
        if level.number != place {
            found(FaultKind::Number(level.number));
        }
        proved.faults.into_iter().for_each(&mut found);
        if let (Some(before), Some(par)) = (before, proved.par)
            && par < before
        {
            found(FaultKind::Falls { before, par });
        }
        before = proved.par.or(before);
        if let Some(entry) = proved.entry {
            let first = *known.entry(entry).or_insert(place);
            if first != place {
                found(FaultKind::SamePuzzle(first));
            }
        }
    }
    faults
}

/// What a cluster is, by the plain search.
struct Facts {
    /// Of the board itself.
    par: u16,
    n_states: u64,
    /// The spelling that the puzzle is stored under.
    entry: Canonical,
}

impl Facts {
    /// `None` if the board is unsolvable.
    fn of(board: &Board) -> Option<Facts> {
        let positions = plain::reachable(board);
        let mut pars: HashMap<&Board, u16> = HashMap::new();
        let mut layer: Vec<&Board> = positions.iter().filter(|board| board.is_solved()).collect();
        let mut deepest = Vec::new();
        for par in 0.. {
            layer.retain(|&board| {
                let is_new = !pars.contains_key(board);
                if is_new {
                    pars.insert(board, par);
                }
                is_new
            });
            if layer.is_empty() {
                break;
            }
            let next = layer.iter().flat_map(|board| {
                let apply = |slide| {
                    board
                        .apply(slide)
                        .expect("slides() lists slides that are possible")
                };
                board.slides().into_iter().map(apply)
            });
            let next = next
                .map(|next| positions.get(&next).expect("a cluster is closed under slides"))
                .collect();
            deepest = std::mem::replace(&mut layer, next);
        }
        Some(Facts {
            par: *pars.get(board)?,
            n_states: positions.len() as u64,
            entry: representative(&deepest)?,
        })
    }
}

/// The spelling of what stands for a cluster whose deepest positions these are.
fn representative(deepest: &[&Board]) -> Option<Canonical> {
    let first = deepest.first()?;
    let of = |boards: &mut dyn Iterator<Item = Board>| {
        boards.min_by_key(Board::masks).map(|board| board.canonical())
    };
    let as_found = || of(&mut deepest.iter().map(|&board| board.clone()));
    let mirrored = || of(&mut deepest.iter().map(|board| board.mirrored()));
    let (above, below) = (first.exit_row(), first.lot().height() - 1 - first.exit_row());
    match above.cmp(&below) {
        std::cmp::Ordering::Less => as_found(),
        std::cmp::Ordering::Greater => mirrored(),
        // Cluster and mirror image have their exits in the same row: the smaller of their representatives stands for both.
        std::cmp::Ordering::Equal => as_found().min(mirrored()),
    }
}

/// The spelling that a board's puzzle is stored under, by the plain search; `None` if it is unsolvable.
pub fn entry(board: &Board) -> Option<Canonical> {
    Facts::of(board).map(|facts| facts.entry)
}

/// Proves one level by the plain search, and says what is wrong with it on its own.
pub fn check_level(level: &Level) -> Proved {
    let mut proved = Proved::default();
    let faults = &mut proved.faults;
    let board = match Board::parse(&level.board) {
        Ok(board) => board,
        Err(error) => {
            faults.push(FaultKind::NotABoard(error));
            return proved;
        }
    };
    let canonical = board.canonical();
    if canonical.as_str() != level.board {
        faults.push(FaultKind::NotCanonical {
            expected: canonical.clone(),
        });
    }
    let (counted, stated) = (board.n_vehicles() as u64, level.n_vehicles);
    if counted != stated {
        faults.push(FaultKind::WrongVehicles { counted, stated });
    }
    let Some(Facts { par, n_states, entry }) = Facts::of(&board) else {
        faults.push(FaultKind::Unsolvable);
        return proved;
    };
    if par != level.par {
        faults.push(FaultKind::WrongPar {
            proved: par,
            stated: level.par,
        });
    }
    if entry != canonical {
        faults.push(FaultKind::NotRepresentative {
            expected: entry.clone(),
        });
    }
    if n_states != level.n_states {
        faults.push(FaultKind::WrongCluster {
            counted: n_states,
            stated: level.n_states,
        });
    }
    if let Some(stated) = level.steps {
        let proved = plain::fewest_steps(&board)
            .expect("it has a solution, and a slide is made of steps")
            .into();
        if proved != stated {
            faults.push(FaultKind::WrongSteps { proved, stated });
        }
    }
    faults.extend(
        level
            .solution
            .as_ref()
            .and_then(|solution| check_solution(&board, par, solution)),
    );
    (proved.par, proved.entry) = (Some(par), Some(entry));
    proved
}

fn check_solution(board: &Board, par: u16, solution: &[String]) -> Option<FaultKind> {
    let mut board = board.clone();
    for (idx, text) in (1..).zip(solution) {
        let slide = board
            .slides()
            .into_iter()
            .find(|&slide| board.spell_slide(slide) == *text);
        let Some(slide) = slide else {
            return Some(FaultKind::WrongSlide {
                idx,
                slide: text.clone(),
            });
        };
        board = board
            .apply(slide)
            .expect("slides() lists slides that are possible");
    }
    let n_slides = solution.len();
    if !board.is_solved() {
        Some(FaultKind::NotASolution)
    } else if n_slides != usize::from(par) {
        Some(FaultKind::LongSolution {
            n_slides,
            proved: par,
        })
    } else {
        None
    }
}
