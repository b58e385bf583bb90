//! Builds levels on purpose: from a template and a seed, always the same one.
//!
//! An attempt takes four steps: it parks the unit with room for both lanes; covers every lane square with vehicles whose
//! own way out can be blocked, and boxes the unit in; locks the lane vehicles and grows chains of blockers behind them,
//! each lane to its own size; packs the rest. Then the ring road is dressed, the solver answers, [`unfit`] rejects, and
//! a score against the template decides among the survivors. A candidate is a pure function of (template, seed).

mod grow;
mod reject;
mod ring;
mod score;
pub(crate) mod site;
mod steps;
pub mod template;

pub use reject::{Unfit, unfit};
pub use score::Score;
pub use steps::Step;

use crate::blockers::Blockers;
use crate::closure::{Answer, solve_from};
use crate::jam::Jam;
use crate::lot::{Lot, LotError};
use crate::measure::Measures;
use crate::random::{Stream, derive_seed};
use crate::simulate::State;
use site::{Site, Spot};
use steps::Aim;
use template::{Range, Template};

/// Attempts for one seed.
pub const MAX_ATTEMPTS: u32 = 400;

/// Survivors that meet every range after which a seed is content.
const ENOUGH: u32 = 4;

/// Ring roads tried on one lot where lights or a bridge must fit.
const RING_TRIES: u32 = 24;

/// The best level of a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The jam.
    pub jam: Jam,
    /// Its figures.
    pub measures: Measures,
    /// Its score against the template.
    pub score: Score,
}

/// What became of a seed's attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Attempts made.
    pub attempts: u32,
    /// Attempts given up while building.
    pub stuck: u32,
    /// Jams rejected by [`unfit`] or for lights or a bridge that do not matter.
    pub rejected: u32,
    /// Jams that survived.
    pub survived: u32,
    /// Survivors that meet every range.
    pub in_range: u32,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.attempts += other.attempts;
        self.stuck += other.stuck;
        self.rejected += other.rejected;
        self.survived += other.survived;
        self.in_range += other.in_range;
    }
}

/// A template that no level can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A size that no lot has.
    #[error(transparent)]
    Lot(#[from] LotError),
    /// Nothing could leave.
    #[error("exits is 0, expected 1 or more")]
    NoExit,
    /// A range that holds nothing.
    #[error("{figure} is {range}, expected the first to be no larger than the second")]
    EmptyRange {
        /// Which.
        figure: &'static str,
        /// The range.
        range: Range,
    },
    /// More of a feature than a level may hold.
    #[error("features.{feature} is {value}, expected {most} or fewer")]
    TooMany {
        /// Which.
        feature: &'static str,
        /// How many.
        value: u8,
        /// The most.
        most: u8,
    },
}

impl Template {
    /// Whether some level could answer it.
    ///
    /// # Errors
    /// The first field that makes no sense.
    pub fn check(&self) -> Result<Lot, TemplateError> {
        let lot = Lot::new(self.width, self.height)?;
        let ranges = [
            ("par", self.par),
            ("vehicles", self.vehicles),
            ("chain_depth", self.chain_depth),
            ("locked", self.locked),
            ("fullness_percent", self.fullness_percent),
            ("gap", self.gap),
        ];
        if let Some((figure, range)) = ranges.into_iter().find(|(_, range)| range.from > range.to) {
            return Err(TemplateError::EmptyRange { figure, range });
        }
        if self.exits == 0 {
            return Err(TemplateError::NoExit);
        }
        let features = &self.features;
        let limits = [
            ("lights", features.lights, 12),
            ("crossings", features.crossings, 12),
            ("bridges", features.bridges, 1),
            ("wrecks", features.wrecks, 12),
            ("barricades", features.barricades, 12),
            ("planters", features.planters, 12),
            ("closed_sides", features.closed_sides, 2),
            ("closed_exits", features.closed_exits, 6),
            ("exits", self.exits, 6),
        ];
        match limits.into_iter().find(|(_, value, most)| value > most) {
            Some((feature, value, most)) => Err(TemplateError::TooMany { feature, value, most }),
            None => Ok(lot),
        }
    }
}

/// The best of up to [`MAX_ATTEMPTS`] attempts, `None` if none survives; and what became of them.
///
/// # Errors
/// If no level can answer the template.
pub fn candidate(template: &Template, seed: u64) -> Result<(Option<Candidate>, Tally), TemplateError> {
    let (best, tally, _) = candidate_while(template, seed, &mut |_| true)?;
    Ok((best, tally))
}

/// Asked before each attempt, with what became of those before: whether to go on.
pub type GoOn<'a> = &'a mut dyn FnMut(&Tally) -> bool;

/// As [`candidate`], for as long as `go_on` says so; true: to its end. What was found until it was stopped need not be
/// what the seed gives.
///
/// # Errors
/// If no level can answer the template.
pub fn candidate_while(
    template: &Template,
    seed: u64,
    go_on: GoOn<'_>,
) -> Result<(Option<Candidate>, Tally, bool), TemplateError> {
    let lot = template.check()?;
    let spots = Site::all_spots(lot);
    let mut tally = Tally::default();
    let mut best: Option<Candidate> = None;
    for attempt in 0..MAX_ATTEMPTS {
        if tally.in_range == ENOUGH {
            break;
        }
        if !go_on(&tally) {
            return Ok((best, tally, false));
        }
        tally.attempts += 1;
        let mut stream = Stream::new(derive_seed(&[seed, attempt.into()]));
        let Ok((site, aim)) = build(template, lot, &spots, &mut stream) else {
            tally.stuck += 1;
            continue;
        };
        let Some(found) = finish(template, &site, &aim, &mut stream) else {
            tally.rejected += 1;
            continue;
        };
        tally.survived += 1;
        tally.in_range += u32::from(found.score.meets_all());
        if best.as_ref().is_none_or(|best| found.score < best.score) {
            best = Some(found);
        }
    }
    Ok((best, tally, true))
}

/// The four steps.
fn build(template: &Template, lot: Lot, spots: &[Spot], stream: &mut Stream) -> Result<(Site, Aim), Step> {
    let aim = aim(template, stream);
    let mut site = steps::park(template, lot, spots, stream)?;
    steps::box_in(&mut site, &aim, stream)?;
    steps::cover(&mut site, stream)?;
    grow::lock(&mut site, &aim, stream)?;
    grow::grow(&mut site, &aim, template, stream)?;
    steps::pack(&mut site, &aim, template, stream);
    Ok((site, aim))
}

fn aim(template: &Template, stream: &mut Stream) -> Aim {
    let within = |stream: &mut Stream, range: Range| {
        let drawn = stream.within(range.from as usize, range.to as usize);
        u32::try_from(drawn).expect("between two numbers of 32 bits")
    };
    let features = &template.features;
    let swaps = if features.lights > 0 {
        stream.within(1, 2)
    } else {
        0
    };
    let extras = u32::from(features.bridges) + u32::try_from(swaps).expect("1 or 2");
    let cheap = within(stream, template.par).saturating_sub(extras);
    Aim {
        lane: stream.below(2),
        cheap,
        dear: Range::new(cheap + template.gap.from, cheap + template.gap.to),
        depth: template.chain_depth.from + 1,
        n_vehicles: within(stream, template.vehicles),
    }
}

/// Dresses the ring road until it fits, and lets the solver judge.
fn finish(template: &Template, site: &Site, aim: &Aim, stream: &mut Stream) -> Option<Candidate> {
    let features = &template.features;
    let tries = if features.lights > 0 || features.bridges > 0 {
        RING_TRIES
    } else {
        1
    };
    let mut best: Option<Candidate> = None;
    for _ in 0..tries {
        let jam =
            Jam::new(ring::dress(site, aim.lane, template, stream)).expect("a site keeps its pieces apart");
        let blockers = Blockers::new(&jam);
        let answer = solve_from(&blockers, &State::start(&jam));
        if !features_matter(template, &answer) || !unfit(&jam, &blockers, &answer).is_empty() {
            continue;
        }
        let measures = Measures::of(&jam, &answer)?;
        let score = Score::new(template, &measures);
        if best.as_ref().is_none_or(|best| score < best.score) {
            best = Some(Candidate { jam, measures, score });
        }
        if score.meets_all() {
            break;
        }
    }
    best
}

/// Whether the optimum swaps lights where there are any, and lowers the bridge where there is one.
fn features_matter(template: &Template, answer: &Answer) -> bool {
    let features = &template.features;
    answer.optimum().is_some_and(|optimum| {
        (features.lights == 0 || optimum.n_swaps > 0) && (features.bridges == 0 || optimum.lowers_bridge)
    })
}
