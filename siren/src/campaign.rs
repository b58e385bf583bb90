//! A campaign from a plan and the candidates found for its levels.
//!
//! Finding candidates is the costly part and may happen anywhere in any order; [`assemble`] is a pure function of the
//! plan and the *set* of candidates, so the same candidates always give the same campaign.

use crate::blockers::Blockers;
use crate::canonical::Canonical;
use crate::closure::solve_from;
use crate::generate::{Candidate, Score};
use crate::jam::Jam;
use crate::level::{Level, Origin};
use crate::measure::Measures;
use crate::plan::LevelSpec;
use crate::rating::Rating;
use crate::simulate::State;
use std::collections::HashSet;

/// The least margin of a move limit, in moves.
pub const LEAST_MARGIN: u32 = 2;

/// The move limit: the optimum and a margin in percent of it, rounded up, of [`LEAST_MARGIN`] or more.
pub fn move_limit(par: u32, slack_percent: u32) -> u32 {
    par + LEAST_MARGIN.max((par * slack_percent).div_ceil(100))
}

/// A candidate for a level of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The level's number in the plan, from 0.
    pub level: usize,
    /// The seed that gave it.
    pub seed: u64,
    /// What it gave.
    pub candidate: Candidate,
}

/// A level that no candidate is left for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{world}, level {number}: none of its seeds gave a level that meets every range of the plan ({found} gave one at all)"
)]
pub struct NoLevel {
    /// Its world.
    pub world: String,
    /// Its number in the world, from 1.
    pub number: u32,
    /// Candidates that miss a range, or are the same up to turning and mirroring as an earlier level.
    pub found: usize,
}

impl Candidate {
    /// A jam as a candidate for a template's level, its figures worked out anew; `None` unless both escapes can be
    /// cleared.
    pub fn new(template: &crate::generate::template::Template, jam: Jam) -> Option<Self> {
        let answer = solve_from(&Blockers::new(&jam), &State::start(&jam));
        let measures = Measures::of(&jam, &answer)?;
        let score = Score::new(template, &measures);
        Some(Self { jam, measures, score })
    }
}

/// For each level the best of its candidates: the best score, then the smallest canonical spelling, then the smallest
/// seed; never one that is the same up to turning and mirroring as that of an earlier level.
///
/// # Errors
/// The first level for which no candidate meets every range.
pub fn assemble(specs: &[LevelSpec], entries: &[Entry]) -> Result<Vec<Level>, NoLevel> {
    let mut taken: HashSet<Canonical> = HashSet::new();
    let choose = |(level, spec): (usize, &LevelSpec)| {
        let mut found: Vec<(Score, Canonical, u64, &Candidate)> = entries
            .iter()
            .filter(|entry| entry.level == level)
            .map(|Entry { seed, candidate, .. }| {
                (candidate.score, Canonical::new(&candidate.jam), *seed, candidate)
            })
            .collect();
        found.sort_unstable_by(|a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
        let best = found
            .iter()
            .find(|(score, canonical, ..)| score.meets_all() && !taken.contains(canonical));
        let Some((_, canonical, seed, candidate)) = best else {
            return Err(NoLevel {
                world: spec.world.clone(),
                number: spec.number,
                found: found.len(),
            });
        };
        taken.insert(canonical.clone());
        Ok(level_of(spec, *seed, &candidate.jam))
    };
    specs.iter().enumerate().map(choose).collect()
}

/// A candidate's jam as a level of the plan.
pub fn level_of(spec: &LevelSpec, seed: u64, jam: &Jam) -> Level {
    let blockers = Blockers::new(jam);
    let answer = solve_from(&blockers, &State::start(jam));
    let optimum = answer.optimum().expect("a candidate can be solved");
    Level {
        name: format!("{} {}", spec.world, spec.number),
        campaign: Some(Origin {
            world: spec.world.clone(),
            level: spec.number,
            seed,
        }),
        tutorial: spec.tutorial.clone(),
        moves: Some(move_limit(optimum.cost(), spec.slack_percent)),
        star_seconds: Some(Rating::new(jam, &blockers, optimum).star_seconds),
        jam: jam.clone(),
    }
}
