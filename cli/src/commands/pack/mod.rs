//! `parforce pack`: packs of levels built from the database, checked, drawn.

mod build;
mod check;
mod file;
mod show;

use std::io::Write;

use super::Outcome;

/// The JSON Schema of pack files.
const SCHEMA: &str = include_str!("../../../schema/pack.json");

/// Build packs of levels from the database, check them, draw them.
///
/// A pack is picked, not designed: level by level the board whose par is nearest to a rising curve; of equal ones that
/// with fewer vehicles, then the smaller cluster, then the smaller spelling. See docs/packs.md.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce pack build --levels 200 --from 3 --to hardest --out pack.json
  parforce pack check pack.json
  parforce pack show pack.json --out pack.pdf")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Pick the levels of a pack from the database
    Build(build::Arguments),
    /// Prove every level of a pack anew, by plain search; one line a fault, exit status 1 if there is any
    Check(check::Arguments),
    /// Draw a pack as a contact sheet: SVG, PNG or PDF
    Show(show::Arguments),
    /// Print the JSON Schema of pack files
    Schema,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.action {
        Action::Build(arguments) => build::run(arguments),
        Action::Check(arguments) => check::run(arguments),
        Action::Show(arguments) => show::run(arguments),
        Action::Schema => {
            write!(std::io::stdout(), "{SCHEMA}")?;
            Ok(Outcome::Done)
        }
    }
}
