//! `parforce siren`: the jams of Siren Jam, solved, hinted, generated, checked and drawn.

pub(super) mod campaign;
mod check;
mod files;
mod generate;
mod hint;
mod show;
mod solve;

use super::Outcome;

/// Solve, hint, generate and check jams (Siren Jam)
///
/// A level is a JSON file; its form is described by siren/schema/level.schema.json, its rules by docs/siren.md. Moves
/// are spelled `tap N`, `tow N`, `swap` (the traffic lights) and `lower` (the drawbridge), where N is a piece's
/// number in the level's list, from 0.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Solve(solve::Arguments),
    Hint(hint::Arguments),
    Generate(generate::Arguments),
    Campaign(campaign::Arguments),
    Check(check::Arguments),
    Show(show::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::Solve(arguments) => solve::run(arguments),
        Command::Hint(arguments) => hint::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Campaign(arguments) => campaign::run(arguments),
        Command::Check(arguments) => check::run(arguments),
        Command::Show(arguments) => show::run(arguments),
    }
}
