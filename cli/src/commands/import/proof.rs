//! What a line states is taken at its word, or proved.

use board::cluster::{Explorer, Found};
use board::{Board, Par, StateLimit, solve};
use coordinator::store::BoardRow;

use super::Arguments;
use super::source::{Line, Stated};

/// What was proved of a line.
pub(super) struct Proved {
    pub(super) row: BoardRow,
    /// What the line states and is not so.
    pub(super) mismatch: Option<String>,
}

/// The board of a line, or why it is refused.
pub(super) fn judge(arguments: &Arguments, explorer: &mut Explorer, line: &Line) -> Result<Proved, String> {
    let stated = line.read(arguments.exit.into())?;
    if arguments.trust && !is_sampled(line.bytes(), arguments.sample) {
        believe(&stated)
    } else {
        prove(arguments, explorer, &stated)
    }
}

/// Whether a line is proved although its file is trusted: by its own bytes, so that the same lines are at every run.
fn is_sampled(line: &[u8], one_in: u64) -> bool {
    let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = line.iter().fold(0xcbf2_9ce4_8422_2325, fnv);
    (hash ^ hash >> 32).is_multiple_of(one_in)
}

/// Takes a line at its word.
fn believe(line: &Stated) -> Result<Proved, String> {
    let board = &line.board;
    let par = line.par.ok_or("the line states no par")?;
    let states = line.states.ok_or("the line states no cluster size")?;
    let found = Found {
        par: Par::new(
            i16::try_from(par)
                .map_err(|_| format!("par {par} is too large"))?
                .cast_unsigned(),
        ),
        canonical: board.canonical(),
        states: states.max(1),
        minimal: line.minimal,
        n_vehicles: u8::try_from(board.n_vehicles()).expect("a board has at most 50 vehicles"),
        n_walls: u8::try_from(board.n_walls())
            .expect("a board has at most 256 squares, two of them the hero's"),
    };
    Ok(Proved {
        row: BoardRow::of(found, board),
        mismatch: None,
    })
}

/// Proves a line: explores the cluster of its board, and compares what it states.
fn prove(arguments: &Arguments, explorer: &mut Explorer, stated: &Stated) -> Result<Proved, String> {
    let board = &stated.board;
    let limit = arguments.limits.states();
    let found = explorer.entry(board, limit).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| String::from("the board is unsolvable"))?;
    let mut wrong = Vec::new();
    if arguments.trust && board.canonical() != found.canonical {
        wrong.push(format!(
            "does not stand for its cluster, expected {}",
            found.canonical
        ));
    }
    if let Some(stated) = stated.par {
        let par = par_of(board, &found, limit)?;
        if stated != u64::from(par.get()) {
            wrong.push(format!("states par {stated}, proved {par}"));
        }
    }
    if let Some(stated) = stated.states.filter(|&stated| stated != found.states) {
        wrong.push(format!(
            "states a cluster of {stated} positions, proved {}",
            found.states
        ));
    }
    if let (Some(stated), Some(proved)) = (stated.minimal, found.minimal)
        && stated != proved
    {
        wrong.push(format!("states minimal {stated}, proved {proved}"));
    }
    let mismatch = (!wrong.is_empty()).then(|| wrong.join("; "));
    Ok(Proved {
        row: BoardRow::of(found, board),
        mismatch,
    })
}

/// The par of the board as it stands, which is its cluster's only if it is the representative.
fn par_of(board: &Board, found: &Found, limit: StateLimit) -> Result<Par, String> {
    if board.canonical() == found.canonical {
        return Ok(found.par);
    }
    let answer = solve::solve(board, limit).map_err(|error| error.to_string())?;
    Ok(answer.par.expect("a board of a solvable cluster is solvable"))
}
