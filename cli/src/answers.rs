//! Answering many boards: in parallel, in order, each in one line.

use std::io::{self, BufWriter, Write};
use std::sync::mpsc;

use board::Board;
use board::cluster::Explorer;
use rayon::prelude::*;
use serde::Serialize;

use crate::commands::Outcome;
use crate::input::{BoardArguments, Entry};

/// Boards answered together, at most; then their answers are written.
const MAX_BATCH: usize = 512;

/// An answer to one board.
pub(crate) trait Answer: Serialize + Send {
    /// The line, or lines, for people. `alone`: the only board asked about, so there is room.
    fn for_people(&self, board: &Board, alone: bool) -> String;
}

/// What every refused line becomes in JSON.
#[derive(Debug, Serialize)]
struct Refusal<'a> {
    error: &'a str,
    #[serde(flatten)]
    place: JsonPlace,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum JsonPlace {
    Argument(u64),
    Line(u64),
}

impl From<crate::input::Place> for JsonPlace {
    fn from(place: crate::input::Place) -> JsonPlace {
        match place {
            crate::input::Place::Argument(number) => JsonPlace::Argument(number),
            crate::input::Place::Line(number) => JsonPlace::Line(number),
        }
    }
}

/// Reads all boards and prints an answer for each, in order. Refused lines become an object with `error` in JSON;
/// for people they go to standard error.
///
/// # Errors
/// Input that cannot be read, output that cannot be written.
pub(crate) fn answer_all<A: Answer>(
    boards: &BoardArguments,
    json: bool,
    answer: impl Fn(&mut Explorer, &Board) -> Result<A, String> + Sync,
) -> anyhow::Result<Outcome> {
    let alone = boards.is_single_board();
    let entries = boards.read()?;
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut n_read, mut n_refused) = (0_u64, 0_u64);
    while let Some(batch) = next_batch(&entries)? {
        let answers: Vec<Result<(Board, A), String>> = batch
            .par_iter()
            .map_init(Explorer::new, |explorer, entry| {
                let board = entry.board()?;
                answer(explorer, &board).map(|answer| (board, answer))
            })
            .collect();
        for (entry, answer) in batch.iter().zip(answers) {
            n_read += 1;
            n_refused += u64::from(answer.is_err());
            match answer {
                Ok((_, answer)) if json => writeln!(out, "{}", serde_json::to_string(&answer)?)?,
                Ok((board, answer)) => writeln!(out, "{}", answer.for_people(&board, alone))?,
                Err(error) if json => {
                    writeln!(
                        out,
                        "{}",
                        serde_json::to_string(&Refusal {
                            error: &error,
                            place: entry.place.into()
                        })?
                    )?;
                }
                Err(error) => {
                    // Answers so far come first where both go to one terminal.
                    out.flush()?;
                    say!("parforce: {}: {error}", entry.place);
                }
            }
        }
        out.flush()?;
    }
    if n_refused > 0 && n_read > 1 {
        say!("parforce: {n_refused} of {n_read} refused");
    }
    Ok(if n_refused == 0 {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// At least one entry, and those that are there already; `None` at the end.
fn next_batch(entries: &mpsc::Receiver<io::Result<Entry>>) -> io::Result<Option<Vec<Entry>>> {
    let Ok(first) = entries.recv() else {
        return Ok(None);
    };
    let mut batch = vec![first?];
    while batch.len() < MAX_BATCH {
        match entries.try_recv() {
            Ok(entry) => batch.push(entry?),
            Err(_) => break,
        }
    }
    Ok(Some(batch))
}
