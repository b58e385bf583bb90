//! `parforce pack check`: a pack proved anew, without anything that built it.

use std::io::Write;
use std::path::PathBuf;

use board::pack::{self, Fault, FaultKind, Proved};
use rayon::prelude::*;

use super::super::{DatabaseArguments, Outcome};
use super::file::PackFile;
use crate::output::counted;
use crate::store::OpenStore;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The pack
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Do not ask the database whether each board is in it and none is reserved
    #[arg(long)]
    no_database: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let pack = PackFile::read(&arguments.file)?;
    let levels: Vec<_> = pack
        .levels
        .iter()
        .map(super::file::LevelEntry::to_level)
        .collect();
    let proved: Vec<Proved> = levels.par_iter().map(pack::check_level).collect();
    let standing = if arguments.no_database {
        Vec::new()
    } else {
        ask(arguments, &proved)?
    };
    let mut faults = pack::check_together(&levels, proved);
    faults.extend(standing);
    // A stable sort: the faults of a level stay in the order in which they were found.
    faults.sort_by_key(|fault| fault.level);
    let mut out = std::io::stdout().lock();
    for fault in &faults {
        writeln!(out, "{fault}")?;
    }
    let n_levels = counted(levels.len() as u64, "level");
    say!("{n_levels} checked: {}", counted(faults.len() as u64, "fault"));
    Ok(if faults.is_empty() {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

/// What the database says of the boards that were proved: under the par and spelling that the plain search found, not
/// under what the file states.
fn ask(arguments: &Arguments, proved: &[Proved]) -> anyhow::Result<Vec<Fault>> {
    let keys = proved.iter().map(|proved| (proved.par, proved.entry.as_ref()));
    let mut places = Vec::new();
    let (mut pars, mut spellings) = (Vec::new(), Vec::new());
    for (place, (par, entry)) in (1..).zip(keys) {
        if let (Some(par), Some(entry)) = (par, entry) {
            places.push(place);
            pars.push(i16::try_from(par).unwrap_or(i16::MAX));
            spellings.push(entry.to_string());
        }
    }
    let store = OpenStore::open(&arguments.database)?;
    let standing = store.wait(store.store.pack_standing(&pars, &spellings));
    store.close()?;
    let mut faults = Vec::new();
    for standing in standing? {
        let level = places[standing.idx];
        if !standing.is_stored {
            faults.push(Fault {
                level,
                kind: FaultKind::NotInDatabase,
            });
        }
        if standing.is_reserved {
            faults.push(Fault {
                level,
                kind: FaultKind::Reserved,
            });
        }
    }
    Ok(faults)
}
