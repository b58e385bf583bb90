//! `parforce show`: boards drawn, in the terminal or as SVG.

use std::io::{self, BufWriter, IsTerminal, Write};

use board::draw::{self, Style};
use board::{Board, StateLimit, solve};

use super::Outcome;
use crate::input::BoardArguments;

/// Positions searched for a title's par before the title goes without it.
const TITLE_LIMIT: StateLimit = StateLimit::new(2_000_000);

/// Draw boards: in colour on a terminal, in plain characters elsewhere, or as SVG.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce show GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo
  parforce show --svg GBBoLoGHIoLMGHIAAMCCCKoMooJKDDEEJFFo > board.svg
  parforce export --par 50.. | parforce show -")]
pub(crate) struct Arguments {
    #[command(flatten)]
    boards: BoardArguments,
    /// Write SVG; for one board, an image to save as it is
    #[arg(long)]
    svg: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value = "auto")]
    color: When,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum When {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let style = match arguments.color {
        When::Auto => usual_style(),
        When::Always => Style::Ansi,
        When::Never => Style::Plain,
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut n_refused, mut n_shown) = (0_u64, 0_u64);
    for entry in arguments.boards.read()? {
        let entry = entry?;
        match entry.board() {
            Ok(board) if arguments.svg => {
                n_shown += 1;
                write!(out, "{}", draw::svg(&board, &title(&board)))?;
            }
            Ok(board) => {
                let gap = if n_shown > 0 { "\n" } else { "" };
                n_shown += 1;
                writeln!(out, "{gap}{}{board}", draw::text(&board, style))?;
            }
            Err(error) => {
                n_refused += 1;
                out.flush()?;
                say!("parforce: {}: {error}", entry.place);
            }
        }
    }
    out.flush()?;
    Ok(if n_refused == 0 {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// What an image is called: for those who cannot see it, and in the browser.
fn title(board: &Board) -> String {
    let lot = board.lot();
    match solve::solve(board, TITLE_LIMIT).map(|answer| answer.par) {
        Ok(Some(par)) => format!("A {lot} board of par {par}: {board}"),
        Ok(None) => format!("An unsolvable {lot} board: {board}"),
        Err(_) => format!("A {lot} board: {board}"),
    }
}

/// A board for standard output, in colour where that is wanted; ends without a line end.
pub(crate) fn picture(board: &Board) -> String {
    draw::text(board, usual_style()).trim_end_matches('\n').to_owned()
}

/// A board for standard error.
pub(crate) fn picture_for_errors(board: &Board) -> String {
    draw::text(board, style_for(io::stderr().is_terminal()))
        .trim_end_matches('\n')
        .to_owned()
}

fn usual_style() -> Style {
    style_for(io::stdout().is_terminal())
}

fn style_for(is_terminal: bool) -> Style {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_terminal && !is_unwanted {
        Style::Ansi
    } else {
        Style::Plain
    }
}
