//! `parforce challenge`: boards set aside for days to come.

use std::io::Write;

use anyhow::Context;
use board::{Lot, Par};
use coordinator::store::{Challenge, Reservation, ReserveError};
use serde::Serialize;
use time::format_description::well_known::Iso8601;
use time::{Date, Duration};

use super::{DatabaseArguments, Outcome, instant};
use crate::output::table::{Align, Table};
use crate::store::OpenStore;

/// Set boards aside for days to come.
///
/// A reserved board is a secret until its day begins (UTC): packs, exports, the dashboard and the analysts' views leave
/// it out. A board is never used twice, neither in two challenges nor in a challenge and a pack.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce challenge reserve --day 2027-01-01 --par 30
  parforce challenge reserve --day 2027-01-01 --days 31 --par 25
  parforce challenge list
  parforce challenge reveal 3")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Set a board aside for a day to come, by chance among those of a par that were never used
    Reserve(Reserve),
    /// List challenges; the boards of those to come only with --secrets
    List(List),
    /// Make a challenge known before its day, for good, and print its board
    Reveal(Reveal),
}

#[derive(Debug, clap::Args)]
struct Reserve {
    /// The day, e.g. 2027-01-01
    #[arg(long, value_parser = parse_day)]
    day: Date,
    /// As many days, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    days: u16,
    /// The par
    #[arg(long)]
    par: u16,
    /// The lot
    #[arg(long, value_name = "WxH", default_value = "6x6")]
    lot: Lot,
    /// What it is for
    #[arg(long)]
    note: Option<String>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct List {
    /// Show the boards of challenges to come
    #[arg(long)]
    secrets: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct Reveal {
    /// The challenge's number
    id: i64,
    #[command(flatten)]
    database: DatabaseArguments,
}

fn parse_day(text: &str) -> Result<Date, String> {
    Date::parse(text, &Iso8601::DATE).map_err(|_| format!("{text:?} is no day, expected e.g. 2027-01-01"))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.action {
        Action::Reserve(arguments) => reserve(arguments),
        Action::List(arguments) => list(arguments),
        Action::Reveal(arguments) => reveal(arguments),
    }
}

fn reserve(arguments: &Reserve) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let mut outcome = Ok(Outcome::Done);
    for n in 0..arguments.days {
        let day = arguments
            .day
            .checked_add(Duration::days(n.into()))
            .context("the last day is too far away")?;
        let reservation = Reservation {
            day,
            par: Par::new(arguments.par),
            lot: arguments.lot,
            note: arguments.note.clone(),
        };
        match store.wait(store.store.reserve_challenge(&reservation)) {
            // The board itself is not printed: it is a secret from now on.
            Ok(id) => writeln!(std::io::stdout(), "challenge {id}: par {}, {day}", arguments.par)?,
            Err(ReserveError::Store(error)) => {
                outcome = Err(error.into());
                break;
            }
            Err(refusal) => {
                say!("parforce: {refusal}");
                outcome = Ok(Outcome::Refused);
            }
        }
    }
    store.close()?;
    outcome
}

#[derive(Serialize)]
struct Line {
    id: i64,
    day: String,
    par: u16,
    board: Option<String>,
    secret: bool,
    revealed_at: Option<String>,
}

impl From<&Challenge> for Line {
    fn from(challenge: &Challenge) -> Line {
        Line {
            id: challenge.id,
            day: challenge.day.to_string(),
            par: challenge.par.get(),
            board: challenge.canonical.as_ref().map(ToString::to_string),
            secret: challenge.is_secret,
            revealed_at: challenge.revealed_at.map(instant),
        }
    }
}

fn list(arguments: &List) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let challenges = store.wait(store.store.challenges(arguments.secrets));
    store.close()?;
    let lines: Vec<Line> = challenges?.iter().map(Line::from).collect();
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for line in &lines {
            writeln!(out, "{}", serde_json::to_string(line)?)?;
        }
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("id", Align::Right),
        ("day", Align::Left),
        ("par", Align::Right),
        ("board", Align::Left),
    ]);
    for line in lines {
        let board = line.board.unwrap_or_else(|| String::from("secret"));
        table.row(vec![line.id.to_string(), line.day, line.par.to_string(), board]);
    }
    write!(out, "{table}")?;
    Ok(Outcome::Done)
}

fn reveal(arguments: &Reveal) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let challenge = store.wait(store.store.reveal_challenge(arguments.id));
    store.close()?;
    let Some(challenge) = challenge? else {
        say!("parforce: there is no challenge {}", arguments.id);
        return Ok(Outcome::Refused);
    };
    let board = challenge
        .canonical
        .as_ref()
        .map_or(String::new(), ToString::to_string);
    writeln!(std::io::stdout(), "{board}")?;
    Ok(Outcome::Done)
}
