//! `parforce grade`: how much of what there is a hunt has found.

use std::io::Write;

use anyhow::Context;
use coordinator::Store;
use coordinator::store::{FoundOfPar, HuntRecord, Whole};
use proto::ids::HuntId;
use serde::Serialize;
use time::OffsetDateTime;

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::table::{Align, Table};
use crate::output::{in_seconds, thousands};
use crate::store::OpenStore;

/// Boards of this par or more are called hard.
const HARD: u16 = 40;

/// Grade a hunt by recall: of all boards there are of each par, how many it has found first.
///
/// All there are is what a finished census of this database has counted, else what a published enumeration has: for
/// 6x6 lots (row 2) without walls all solvable clusters, with up to two walls the minimal ones with the hero alone in its
/// row. Begin with an empty database: a board that was known before counts for whoever found it.
///
/// Below the table stands when the hunt had found what, in seconds since it was asked for and in processor time.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce grade --hunt 1 --against census
  parforce grade --hunt 1 --json")]
pub(crate) struct Arguments {
    /// The hunt's number, as `parforce hunts` lists it
    #[arg(long, value_name = "N")]
    hunt: i64,
    /// What the hunt is set against
    #[arg(long, value_enum, default_value = "census")]
    against: Against,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Against {
    /// A census of this database, or a published one
    Census,
}

/// A hunt, graded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Grade {
    hunt: i64,
    name: String,
    /// What all there are is known from; null: it is not known.
    against: Option<String>,
    /// By par: what there is (null: not known) and what was found.
    pars: Vec<OfPar>,
    /// Distinct boards that the hunt found first.
    pub(crate) boards: u64,
    pub(crate) best_par: Option<u16>,
    /// Of boards of par 40 or more: there are, found.
    pub(crate) hard: (Option<u64>, u64),
    pub(crate) milestones: Vec<Milestone>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct OfPar {
    par: u16,
    there_are: Option<u64>,
    found: u64,
}

/// When a hunt had found something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Milestone {
    pub(crate) what: String,
    /// Seconds since the hunt was asked for; null: not yet.
    pub(crate) seconds: Option<f64>,
    /// Processor time of its search threads by then, in seconds.
    pub(crate) cpu_seconds: Option<f64>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let Against::Census = arguments.against;
    let id = HuntId::new(arguments.hunt).map_err(|error| UsageError(error.to_string()))?;
    let store = OpenStore::open(&arguments.database)?;
    let graded = store.wait(async {
        let hunt = store
            .store
            .hunt(id)
            .await?
            .with_context(|| format!("there is no hunt {id}"))?;
        grade(&store.store, &hunt, 0).await
    });
    store.close()?;
    let graded = graded?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&graded)?)?;
    } else {
        for_people(&mut out, &graded)?;
    }
    Ok(Outcome::Done)
}

/// Grades a hunt. One milestone is when it had found more than `n_boards`; 0: none is.
pub(crate) async fn grade(store: &Store, hunt: &HuntRecord, n_boards: u64) -> anyhow::Result<Grade> {
    let space = hunt.space.as_ref().context("a campaign finds no boards")?;
    let whole = store.whole(space).await?;
    let is_minimal = whole.as_ref().is_some_and(|(whole, _)| whole.is_minimal());
    let found = store.found_by_hunt(hunt, is_minimal).await?;
    let progress = store
        .hunt_progress(hunt.id)
        .await?
        .context("the hunt has vanished")?;
    let counts = whole.as_ref().map(|(_, counts)| counts.as_slice());
    let pars = by_par(counts, &found);
    let hard = |n: fn(&OfPar) -> u64| pars.iter().filter(|of| of.par >= HARD).map(n).sum::<u64>();
    let there_are_hard = counts.map(|_| hard(|of| of.there_are.unwrap_or(0)));
    let found_hard = hard(|of| of.found);

    let mut moments = Vec::new();
    if n_boards > 0 {
        let at = store.found_more_than(hunt.id, n_boards).await?;
        moments.push((format!("more than {} boards", thousands(n_boards)), at));
    }
    if counts.is_some() {
        moments.push((String::from("every par there is"), every_par(&pars, &found)));
        let hardest = pars.last().map_or(0, |of| of.par);
        let first = found
            .iter()
            .find(|of| of.par.get() == hardest)
            .map(|of| of.first_at);
        moments.push((format!("par {hardest}, the hardest"), first));
        let last = found
            .iter()
            .filter(|of| of.par.get() >= HARD)
            .map(|of| of.last_at)
            .max();
        let all = last.filter(|_| there_are_hard.is_some_and(|n| n > 0 && n <= found_hard));
        if there_are_hard != Some(0) {
            moments.push((format!("every board of par {HARD} or more"), all));
        }
    } else if let Some(best) = found.last() {
        moments.push((
            format!("par {}, the hardest it found", best.par),
            Some(best.first_at),
        ));
    }
    let mut milestones = Vec::new();
    for (what, at) in moments {
        let cpu = match at {
            Some(at) => Some(store.cpu_until(hunt.id, at).await?),
            None => None,
        };
        milestones.push(Milestone {
            what,
            seconds: at.map(|at| (at - hunt.created_at).as_seconds_f64()),
            cpu_seconds: cpu,
        });
    }
    Ok(Grade {
        hunt: hunt.id.get(),
        name: hunt.name.clone(),
        against: whole.as_ref().map(|(whole, _)| in_words(whole)),
        boards: progress.n_new,
        best_par: found.last().map(|of| of.par.get()),
        hard: (there_are_hard, found_hard),
        pars,
        milestones,
    })
}

fn by_par(counts: Option<&[(board::Par, u64)]>, found: &[FoundOfPar]) -> Vec<OfPar> {
    let largest = counts.into_iter().flatten().map(|(par, _)| *par);
    let largest = largest
        .chain(found.iter().map(|of| of.par))
        .max()
        .map_or(0, board::Par::get);
    (1..=largest)
        .map(|par| {
            let of_par = |counts: &[(board::Par, u64)]| {
                counts
                    .iter()
                    .find(|(of, _)| of.get() == par)
                    .map_or(0, |(_, n)| *n)
            };
            OfPar {
                par,
                there_are: counts.map(of_par),
                found: found
                    .iter()
                    .find(|of| of.par.get() == par)
                    .map_or(0, |of| of.n_found),
            }
        })
        .collect()
}

/// When a board of every par that there is was found; `None`: one is missing.
fn every_par(pars: &[OfPar], found: &[FoundOfPar]) -> Option<OffsetDateTime> {
    let wanted = pars.iter().filter(|of| of.there_are.is_some_and(|n| n > 0));
    let firsts = wanted.map(|wanted| {
        let of_par = found.iter().find(|of| of.par.get() == wanted.par);
        of_par.map(|of| of.first_at)
    });
    firsts.collect::<Option<Vec<_>>>()?.into_iter().max()
}

fn in_words(whole: &Whole) -> String {
    match whole {
        Whole::CensusOfAll(hunt) => format!("all solvable clusters, by the census of hunt {hunt}"),
        Whole::CensusOfMinimal(hunt) => format!("minimal clusters, by the census of hunt {hunt}"),
        Whole::PublishedOfAll => String::from("all solvable clusters, as published"),
        Whole::PublishedOfMinimal => String::from("minimal clusters, as published"),
    }
}

fn for_people(out: &mut impl Write, grade: &Grade) -> std::io::Result<()> {
    writeln!(out, "hunt {}: {}", grade.hunt, grade.name)?;
    match &grade.against {
        Some(against) => writeln!(out, "against {against}\n")?,
        None => writeln!(
            out,
            "against nothing: how many boards there are of this lot is not known\n"
        )?,
    }
    let mut table = Table::new(&[
        ("par", Align::Right),
        ("there are", Align::Right),
        ("found", Align::Right),
        ("recall", Align::Right),
    ]);
    for of in &grade.pars {
        table.row(vec![
            of.par.to_string(),
            of.there_are.map_or(String::from("?"), thousands),
            thousands(of.found),
            recall(of.there_are, of.found),
        ]);
    }
    write!(out, "{table}")?;
    writeln!(
        out,
        "\n{} boards found first by this hunt",
        thousands(grade.boards)
    )?;
    if let (Some(there_are @ 1..), found) = grade.hard {
        writeln!(
            out,
            "{found} of {there_are} of par {HARD} or more ({})",
            recall(Some(there_are), found)
        )?;
    }
    for milestone in &grade.milestones {
        match (milestone.seconds, milestone.cpu_seconds) {
            (Some(seconds), Some(cpu)) => {
                writeln!(
                    out,
                    "{}: after {}, {} of processor time",
                    milestone.what,
                    in_seconds(seconds),
                    in_seconds(cpu)
                )?;
            }
            _ => writeln!(out, "{}: not yet", milestone.what)?,
        }
    }
    Ok(())
}

/// A share in percent; more than all there are is possible where the hunt has a wider scope than the census.
fn recall(there_are: Option<u64>, found: u64) -> String {
    match there_are {
        None | Some(0) => String::from("-"),
        Some(there_are) => {
            let tenths = u128::from(found) * 1_000 / u128::from(there_are);
            format!("{}.{} %", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use board::Par;

    use super::*;

    fn found(par: u16, n_found: u64, at: i64) -> FoundOfPar {
        let at = OffsetDateTime::from_unix_timestamp(at).unwrap();
        FoundOfPar {
            par: Par::new(par),
            n_found,
            first_at: at,
            last_at: at,
        }
    }

    #[test]
    fn every_par_is_found_when_the_last_of_them_is() {
        let counts = [(Par::new(1), 5), (Par::new(3), 2)];
        let all = [found(1, 5, 100), found(2, 1, 900), found(3, 1, 300)];
        let pars = by_par(Some(&counts), &all);
        assert_eq!(every_par(&pars, &all), Some(all[2].first_at));
        let pars = by_par(Some(&counts), &all[..2]);
        assert_eq!(every_par(&pars, &all[..2]), None);
        assert_eq!(pars.len(), 3);
    }

    #[test]
    fn recall_is_never_rounded_up() {
        assert_eq!(recall(Some(144), 143), "99.3 %");
        assert_eq!(recall(Some(144), 144), "100.0 %");
        assert_eq!(recall(Some(0), 0), "-");
        assert_eq!(recall(None, 7), "-");
    }
}
