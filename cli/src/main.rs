//! The program `parforce`.
//!
//! Decides: how commands are spelled, what they print and with which status they end. Everything else is in the
//! libraries. Only this crate's `main.rs`, `commands/` and `embedded/` read the environment and the terminal.
//!
//! Exit statuses: 0 all read and answered; 1 a line was not a legal board, a check failed, or something could not
//! be done; 2 wrong usage.

#[macro_use]
mod say;

mod answers;
mod commands;
mod embedded;
mod input;
mod output;
mod sheet;
mod store;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use commands::Outcome;

/// Hunts for hard sliding-block boards, proves every answer, and keeps all it finds in Postgres.
///
/// Start with `parforce hunt`. Boards are spelled row by row, one character a square: `o` empty, `x` wall,
/// `A` the hero, other vehicles by letter; lots that are not square as `WxH:` before the squares.
#[derive(Debug, Parser)]
#[command(
    name = "parforce",
    version,
    arg_required_else_help = true,
    subcommand_required = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hunt(Box<commands::hunt::Arguments>),
    Census(Box<commands::census::Arguments>),
    Solve(commands::solve::Arguments),
    Hint(commands::hint::Arguments),
    Cluster(commands::cluster::Arguments),
    Canon(commands::canon::Arguments),
    Show(commands::show::Arguments),
    Import(commands::import::Arguments),
    Export(commands::export::Arguments),
    Pack(Box<commands::pack::Arguments>),
    Challenge(commands::challenge::Arguments),
    Difficulty(commands::difficulty::Arguments),
    Stats(commands::stats::Arguments),
    Replay(commands::replay::Arguments),
    Restored(commands::restored::Arguments),
    Grade(commands::grade::Arguments),
    Records(commands::records::Arguments),
    Benchmark(commands::benchmark::Arguments),
    Hunts(commands::hunts::Arguments),
    Jobs(commands::jobs::Arguments),
    Workers(commands::workers::Arguments),
    Events(commands::events::Arguments),
    Top(commands::top::Arguments),
    Siren(commands::siren::Arguments),
    Token(commands::token::Arguments),
    Tls(commands::tls::Arguments),
    Sql(commands::sql::Arguments),
    Database(commands::database::Arguments),
    Completions(commands::completions::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Hunt(arguments) => commands::hunt::run(&arguments),
        Command::Census(arguments) => commands::census::run(&arguments),
        Command::Solve(arguments) => commands::solve::run(&arguments),
        Command::Cluster(arguments) => commands::cluster::run(&arguments),
        Command::Hint(arguments) => commands::hint::run(&arguments),
        Command::Show(arguments) => commands::show::run(&arguments),
        Command::Canon(arguments) => commands::canon::run(&arguments),
        Command::Import(arguments) => commands::import::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Pack(arguments) => commands::pack::run(&arguments),
        Command::Challenge(arguments) => commands::challenge::run(&arguments),
        Command::Difficulty(arguments) => commands::difficulty::run(&arguments),
        Command::Stats(arguments) => commands::stats::run(&arguments),
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Restored(arguments) => commands::restored::run(&arguments),
        Command::Grade(arguments) => commands::grade::run(&arguments),
        Command::Records(arguments) => commands::records::run(&arguments),
        Command::Benchmark(arguments) => commands::benchmark::run(&arguments),
        Command::Hunts(arguments) => commands::hunts::run(&arguments),
        Command::Jobs(arguments) => commands::jobs::run(&arguments),
        Command::Workers(arguments) => commands::workers::run(&arguments),
        Command::Events(arguments) => commands::events::run(&arguments),
        Command::Top(arguments) => commands::top::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments, Arguments::command()),
        Command::Database(arguments) => commands::database::run(&arguments),
        Command::Token(arguments) => commands::token::run(&arguments),
        Command::Tls(arguments) => commands::tls::run(&arguments),
        Command::Siren(arguments) => commands::siren::run(&arguments),
        Command::Sql(arguments) => commands::sql::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Refused) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say!("parforce: {error:#}");
            ExitCode::from(if error.is::<commands::UsageError>() { 2 } else { 1 })
        }
    }
}

/// The reader of our output has gone (`| head`): that is its right, and no failure of ours.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
