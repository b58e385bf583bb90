//! Cuts hunts into jobs, no sooner than somebody asks for one: what a job starts from should be the hardest there is at
//! that moment.

use std::collections::HashSet;

use board::anneal::{AnnealSpec, ROUND_ITERATIONS, Temperatures};
use board::job::{Frame, JobSpec};
use board::mutate::Mutator;
use board::scatter::ScatterSpec;
use board::space::BoardSpace;
use board::sweep::{self, SweepSpec};
use board::{Axis, Board, Canonical};
use proto::convert::{Aim, JobKind, Strategy};

use crate::config::Sizing;
use crate::jobs::arms::{Arm, choose};
use crate::jobs::size::{cut, n_iterations};
use crate::jobs::{campaign, census, difficulty};
use crate::store::{HuntToPlan, JobToInsert, StartsQuery, Store, StoreError, Tx, Unswept};

/// The most jobs planned at once.
pub(super) const MAX_PLANNED: u64 = 64;

/// From how many of the hardest boards annealing's starts are drawn: by turns from the very top and from a wide pool,
/// since a summit's neighbours have been seen by the jobs before, and the highest summits stand alone: what leads to the
/// hardest 6x6 board with walls (par 60) is of par 37 and less.
const POOLS: [u64; 4] = [100, 1_000, 10_000, 50_000];

/// Of so many boards drawn from the pool for each start, those of layouts that differ are taken first.
const DRAWN_A_START: u32 = 3;

/// Boards this much easier than the hardest still count in a deep hunt.
const DEEP_MARGIN: u16 = 24;

/// A board swept from so many of its positions is swept from another after boards that are so many slides easier, times the
/// number. A broad hunt goes round its hard boards, to find what is left near them; a deep one goes down first, where the
/// way to a summit that stands alone begins.
const BROAD_STEP: i16 = 2;
const DEEP_STEP: i16 = 8;

/// Iterations of the first scatter job, and the fewest of a shard: seconds of work on most lots, so that the next can be
/// sized.
const FIRST_SCATTER: u64 = 6_400;
const LEAST_SCATTER: u32 = 100;

/// Rounds of the first annealing job.
const FIRST_ROUNDS: u64 = 4;

/// Changes that the first sweep tries, and the most boards of any: what a sweep finds is to be swept soon.
const FIRST_SWEEP: u64 = 4_000;
const MAX_SWEPT: u32 = 200;

/// A sweep gives up on clusters of more positions than this, or this much more than the middle one of its starts: what
/// is harder than a board is seldom much larger, and a few huge neighbours would take most of the time.
const SWEEP_LIMIT: u64 = 20_000;
const SWEEP_LIMIT_FACTOR: u64 = 4;

/// Puts jobs of the hunt that comes next on the queue, until so many wait there; how many were added.
///
/// # Errors
/// [`StoreError`]; then nothing was planned.
pub async fn top_up(
    store: &Store,
    sizing: &Sizing,
    kinds: &[JobKind],
    n_wanted: u32,
) -> Result<u64, StoreError> {
    let order = store.hunt_order().await?;
    let mut tx = store.begin().await?;
    let Some(hunt) = tx.next_hunt_to_plan(kinds, &order).await? else {
        return Ok(0);
    };
    if hunt.strategy == Strategy::Census {
        let n_jobs = census::plan(&mut tx, &hunt, sizing, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    if hunt.strategy == Strategy::Siren {
        let n_jobs = campaign::plan(&mut tx, &hunt, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    if hunt.strategy == Strategy::Difficulty {
        let n_jobs = difficulty::plan(&mut tx, &hunt, sizing, n_wanted).await?;
        tx.commit().await?;
        return Ok(n_jobs);
    }
    let space = hunt.space.as_ref().expect("only a campaign has no space");
    let n_left = hunt
        .end_number
        .map_or(u64::MAX, |end| end.saturating_sub(hunt.next_number));
    let n_jobs = u64::from(n_wanted)
        .min(MAX_PLANNED)
        .saturating_sub(hunt.n_queued)
        .min(n_left);
    let mut n_planned = 0;
    for number in hunt.next_number..hunt.next_number + n_jobs {
        let planner = Planner {
            hunt: &hunt,
            space,
            number,
            sizing,
            kinds,
        };
        let Some(job) = planner.plan(&mut tx).await? else {
            break;
        };
        tx.insert_jobs(hunt.hunt, &[job]).await?;
        n_planned += 1;
    }
    tx.commit().await?;
    Ok(n_planned)
}

/// Plans one job.
struct Planner<'a> {
    hunt: &'a HuntToPlan,
    space: &'a BoardSpace,
    number: u64,
    sizing: &'a Sizing,
    kinds: &'a [JobKind],
}

impl Planner<'_> {
    /// The job; `None`: there is none of the kinds that are asked for.
    async fn plan(&self, tx: &mut Tx) -> Result<Option<JobToInsert>, StoreError> {
        let Some(arm) = self.choose(tx).await? else {
            return Ok(None);
        };
        let spec = match arm {
            Arm::Scatter => self.scatter(tx).await?,
            Arm::Anneal(temperatures) => self.anneal(tx, temperatures).await?,
            Arm::Sweep => match self.sweep(tx).await? {
                Some(spec) => spec,
                // All there is has been swept, and what a sweep could start from is yet to be found.
                None if self.kinds.contains(&JobKind::Scatter) => {
                    let spec = self.scatter(tx).await?;
                    return Ok(Some(self.job(spec, Arm::Scatter)));
                }
                None => return Ok(None),
            },
        };
        Ok(Some(self.job(spec, arm)))
    }

    fn job(&self, spec: JobSpec, arm: Arm) -> JobToInsert {
        JobToInsert {
            number: self.number,
            spec: spec.into(),
            arm: Some(arm.name()),
        }
    }

    async fn choose(&self, tx: &mut Tx) -> Result<Option<Arm>, StoreError> {
        let arms = Arm::all(self.hunt.strategy, &self.hunt.plan, self.kinds);
        if arms.len() < 2 {
            return Ok(arms.first().copied());
        }
        let fields = self.space.fields();
        let lot = (fields.lot.width(), fields.lot.height());
        let Some(best) = tx.best_par(lot, fields.exit_row).await? else {
            // Scatter finds what the others start from.
            return Ok(arms
                .iter()
                .find(|arm| **arm == Arm::Scatter)
                .or(arms.first())
                .copied());
        };
        let least_par = match self.hunt.plan.aim {
            Aim::Broad => 1,
            Aim::Deep => best.get().saturating_sub(DEEP_MARGIN).max(1),
        };
        let yields = tx.arm_yields(self.hunt.hunt, self.space, least_par).await?;
        Ok(choose(&arms, &yields, ticket(self.hunt.seed, self.number)))
    }

    fn seed(&self) -> u64 {
        job_seed(self.hunt.seed, self.number)
    }

    async fn scatter(&self, tx: &mut Tx) -> Result<JobSpec, StoreError> {
        let measured = tx.measured(self.hunt.hunt, JobKind::Scatter).await?;
        let total = n_iterations(measured, self.sizing.target, FIRST_SCATTER);
        let frame = self.frame(cut(total, self.sizing.n_shards, LEAST_SCATTER));
        let spec = ScatterSpec::new(self.space.clone(), frame);
        Ok(JobSpec::Scatter(
            spec.expect("the frame is within bounds by its configuration"),
        ))
    }

    async fn anneal(&self, tx: &mut Tx, temperatures: Temperatures) -> Result<JobSpec, StoreError> {
        let measured = tx.measured(self.hunt.hunt, JobKind::Anneal).await?;
        let round = u64::from(ROUND_ITERATIONS);
        // A round that is cut short has not cooled, and is worth little.
        let total = n_iterations(measured, self.sizing.target, FIRST_ROUNDS * round).max(round);
        let frame = self.frame(cut(total, self.sizing.n_shards, ROUND_ITERATIONS));
        let query = StartsQuery {
            space: self.space,
            n_pool: POOLS[usize::try_from(self.number / 2 % POOLS.len() as u64).expect("a small number")],
            n_starts: frame.n_shards * DRAWN_A_START,
            seed: frame.seed,
        };
        let starts = diverse(tx.starts(&query).await?, frame.n_shards as usize);
        let spec = AnnealSpec::new(self.space.clone(), frame, starts, temperatures);
        Ok(JobSpec::Anneal(spec.expect(
            "the frame is within bounds by its configuration, and starts are of the hunt's lot and exit row",
        )))
    }

    /// `None`: every board there is was swept, from as many positions as it is worth.
    async fn sweep(&self, tx: &mut Tx) -> Result<Option<JobSpec>, StoreError> {
        let measured = tx.measured(self.hunt.hunt, JobKind::Sweep).await?;
        let wanted = n_iterations(measured, self.sizing.target, FIRST_SWEEP);
        let space = self.space;
        let step = match self.hunt.plan.aim {
            Aim::Broad => BROAD_STEP,
            Aim::Deep => DEEP_STEP,
        };
        let mut boards = tx.unswept(self.hunt.hunt, space, MAX_SWEPT, step).await?;
        let mutator = Mutator::new(space);
        let mut n_changes = 0;
        let mut starts = Vec::new();
        for board in &boards {
            if n_changes >= wanted {
                break;
            }
            let position = sweep::position(&board.canonical, board.n_passes.into(), self.hunt.seed);
            n_changes += mutator.all(&position.board()).len() as u64;
            starts.push(position);
        }
        boards.truncate(starts.len());
        if boards.is_empty() {
            return Ok(None);
        }
        tx.note_sweeps(self.hunt.hunt, self.number, &boards).await?;
        let n_shards =
            u32::try_from(starts.len()).map_or(self.sizing.n_shards, |n| n.min(self.sizing.n_shards));
        let limit = sweep_limit(&boards).min(self.sizing.max_states);
        let spec = SweepSpec::new(space.clone(), starts, n_shards, limit);
        Ok(Some(JobSpec::Sweep(spec.expect(
            "the limit is within bounds by its configuration, and starts are distinct and of the hunt's lot and exit row",
        ))))
    }

    fn frame(&self, (n_shards, iterations_per_shard): (u32, u32)) -> Frame {
        Frame {
            seed: self.seed(),
            n_shards,
            iterations_per_shard,
            max_states: self.sizing.max_states,
        }
    }
}

fn sweep_limit(boards: &[Unswept]) -> u64 {
    let mut sizes: Vec<u64> = boards.iter().map(|board| board.n_states).collect();
    sizes.sort_unstable();
    let middle = sizes.get(sizes.len() / 2).copied().unwrap_or(0);
    SWEEP_LIMIT.max(middle * SWEEP_LIMIT_FACTOR)
}

/// So many of the boards, in their order, those first whose layout none before has: chains that start from boards of one
/// layout, mostly changes of each other, climb the same hill.
fn diverse(boards: Vec<Canonical>, n_wanted: usize) -> Vec<Canonical> {
    let mut seen = HashSet::new();
    let (mut chosen, others): (Vec<_>, Vec<_>) = boards
        .into_iter()
        .partition(|board| seen.insert(layout_of(&board.board())));
    chosen.extend(others);
    chosen.truncate(n_wanted);
    chosen
}

/// Which vehicles lie in which lane in which order.
fn layout_of(board: &Board) -> Vec<(bool, u8, u8)> {
    let mut vehicles: Vec<_> = board.vehicles().iter().collect();
    vehicles.sort_by_key(|vehicle| (vehicle.axis() == Axis::Vertical, vehicle.lane(), vehicle.start()));
    let of_lane =
        |vehicle: &&board::Vehicle| (vehicle.axis() == Axis::Vertical, vehicle.lane(), vehicle.length());
    vehicles.iter().map(of_lane).collect()
}

/// The seed of a hunt's job. Different for every number of a hunt, since each step is a permutation of the 64-bit
/// numbers (`SplitMix64`: Steele, Lea and Flood 2014).
pub(super) fn job_seed(hunt_seed: u64, number: u64) -> u64 {
    let mut z = hunt_seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from 0 to 1 that decides which strategy a hunt's job is of.
fn ticket(hunt_seed: u64, number: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    let ticket = (job_seed(!hunt_seed, number) >> 11) as f64 / (1_u64 << 53) as f64;
    ticket
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_jobs_of_a_hunt_share_a_seed() {
        let seeds: HashSet<u64> = (0..100_000).map(|number| job_seed(7, number)).collect();
        assert_eq!(seeds.len(), 100_000);
        assert_ne!(job_seed(7, 0), job_seed(8, 0));
    }

    #[test]
    fn tickets_fill_their_range_evenly() {
        let tickets = (0..10_000).map(|number| ticket(7, number));
        let n_low = tickets.filter(|&ticket| (0.0..0.25).contains(&ticket)).count();
        assert!((2_350..2_650).contains(&n_low), "{n_low}");
    }

    #[test]
    fn starts_of_other_layouts_come_first() {
        let board = |text: &str| Canonical::parse(text).unwrap();
        // The first two are positions of one layout, the third is another.
        let boards = ["ooBoAABooooooooo", "ooooAABoooBooooo", "oooBAAoBoooooooo"].map(board);
        let spelled = |boards: Vec<Canonical>| boards.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            spelled(diverse(boards.to_vec(), 2)),
            ["ooBoAABooooooooo", "oooBAAoBoooooooo"]
        );
        assert_eq!(diverse(boards.to_vec(), 9).len(), 3);
    }
}
