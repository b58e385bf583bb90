//! `parforce siren show`: levels drawn, in the terminal or as SVG.

use std::path::PathBuf;

use siren::draw;

use super::super::Outcome;
use super::files;

/// Draw levels: pieces with their facings and numbers, lights, the ring road with exits, bridge and crossings
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Level files, or folders of them (`-`: standard input)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print an SVG picture of a single level instead
    #[arg(long)]
    svg: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let files = files::level_files(&arguments.files)?;
    if arguments.svg && files.len() != 1 {
        return Err(super::super::UsageError(format!("--svg draws one level, not {}", files.len())).into());
    }
    let mut outcome = Outcome::Done;
    for file in files {
        match files::read_level(&file)? {
            Err(why) => {
                say!("{}: {why}", file.display());
                outcome = Outcome::Refused;
            }
            Ok(level) if arguments.svg => print!("{}", draw::svg(&level.jam)),
            Ok(level) => println!("{}\n{}", level.name, draw::text(&level.jam)),
        }
    }
    Ok(outcome)
}
