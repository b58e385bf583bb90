//! Carrying out a range of a census.

use std::ops::Range;

use crate::board::Board;
use crate::census::{Census, Choices, Keep, RangeOutcome, UNIT_COLUMNS};
use crate::cluster::{ClusterView, ExploreError, Explorer, Found, Visit};
use crate::geometry::{Axis, Lot, Squares};
use crate::lane::MAX_LANE;
use crate::layout::Layout;
use crate::packed::Packed;
use crate::par::Par;
use crate::vehicle::Vehicle;

/// Counts a range of units. After each unit `go_on` is asked with what has been counted so far; if it says no,
/// the outcome ends there, and the rest of the range is a range of its own.
///
/// # Errors
/// When a cluster holds more positions than the specification's limit: the range cannot be counted.
///
/// # Panics
/// When the range reaches past the census' units.
pub fn run_range(
    census: &Census,
    range: Range<u64>,
    explorer: &mut Explorer,
    go_on: &mut dyn FnMut(&RangeOutcome) -> bool,
) -> Result<RangeOutcome, ExploreError> {
    let images = if census.spec.has_mirror_images() {
        Images::Together
    } else {
        Images::Apart
    };
    run_range_with(census, range, explorer, images, go_on)
}

/// How a layout and its mirror image are counted, where both are of the census.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Images {
    /// Each by itself.
    Apart,
    /// The clusters of one answer for those of the other.
    Together,
}

/// [`run_range`] with the images counted either way; the sums over all units are the same.
pub(super) fn run_range_with(
    census: &Census,
    range: Range<u64>,
    explorer: &mut Explorer,
    images: Images,
    go_on: &mut dyn FnMut(&RangeOutcome) -> bool,
) -> Result<RangeOutcome, ExploreError> {
    assert!(
        range.end <= census.n_units(),
        "range {range:?} reaches past the census"
    );
    let mut run = Run {
        census,
        explorer,
        images,
        outcome: RangeOutcome {
            units: range.start..range.start,
            ..RangeOutcome::default()
        },
        rows: [u32::MAX; MAX_LANE],
        partial: std::array::from_fn(|_| Vec::new()),
    };
    let mut unit = range.start;
    while unit < range.end {
        let set = census.wall_set_of(unit);
        let walls = census.wall_sets[set].walls;
        let first = census.wall_sets[set].first_unit;
        let choices = census.spec.choices(walls);
        let end = first + choices.n_units().expect("the census has numbered its units");
        let lanes = run.number_lanes(&choices);
        while unit < range.end.min(end) {
            run.count_unit(walls, &lanes, unit - first)?;
            unit += 1;
            run.outcome.units.end = unit;
            if !go_on(&run.outcome) {
                return Ok(run.finish());
            }
        }
        run.explorer.store().trim();
    }
    Ok(run.finish())
}

/// The choices of a set of walls by the numbers of their lanes.
struct LaneChoices {
    rows: Vec<Vec<u32>>,
    /// Lane and the hero's index in it.
    exit_row: Vec<(u32, usize)>,
    columns: Vec<Vec<u32>>,
}

struct Run<'a> {
    census: &'a Census,
    explorer: &'a mut Explorer,
    images: Images,
    outcome: RangeOutcome,
    /// Rows of the unit before.
    rows: [u32; MAX_LANE],
    /// By number of columns filled: the squares of each row that columns take, a byte a row, for every way to
    /// arrange these columns that leaves a solved position possible.
    partial: [Vec<u64>; MAX_LANE + 1],
}

/// A layout in the making.
struct Filling<'a> {
    rows: [u32; MAX_LANE],
    columns: [u32; MAX_LANE],
    hero_index: usize,
    walls: Squares,
    /// The walls of the mirror images that its clusters are counted for too.
    image: Option<Squares>,
    /// What each row's arrangement must be among for a position to count as a start.
    must: [u16; MAX_LANE],
    lanes: &'a LaneChoices,
}

impl Run<'_> {
    fn number_lanes(&mut self, choices: &Choices) -> LaneChoices {
        let store = self.explorer.store();
        let mut ids = |contents: &Vec<_>| contents.iter().map(|&content| store.id(content)).collect();
        let rows = choices.rows.iter().map(&mut ids).collect();
        let columns = choices.columns.iter().map(&mut ids).collect();
        let exit_row = choices
            .exit_row
            .iter()
            .map(|c| (store.id(c.content), c.hero_index))
            .collect();
        LaneChoices {
            rows,
            exit_row,
            columns,
        }
    }

    /// Counts one unit, numbered from 0 within its set of walls.
    fn count_unit(&mut self, walls: Squares, lanes: &LaneChoices, unit: u64) -> Result<(), ExploreError> {
        let spec = &self.census.spec;
        let (width, height) = (usize::from(spec.lot.width()), usize::from(spec.lot.height()));
        let exit_row = usize::from(spec.exit_row);
        let mut rest = unit;
        // The last digit counts fastest: columns from the last to the first, the exit row, the rows upwards.
        let mut digit = |n: usize| {
            let digit = (rest % n as u64) as usize;
            rest /= n as u64;
            digit
        };
        let n_fixed = UNIT_COLUMNS.min(width);
        let mut columns = [0; MAX_LANE];
        for column in (0..n_fixed).rev() {
            columns[column] = lanes.columns[column][digit(lanes.columns[column].len())];
        }
        let mut rows = [0; MAX_LANE];
        let mut choices = [0; MAX_LANE];
        let (lane, hero_index) = lanes.exit_row[digit(lanes.exit_row.len())];
        rows[exit_row] = lane;
        for row in (0..height).rev().filter(|&row| row != exit_row) {
            choices[row] = digit(lanes.rows[row].len());
            rows[row] = lanes.rows[row][choices[row]];
        }
        let image = match self.images {
            Images::Apart => None,
            Images::Together => match image_of(spec.lot, walls, &choices[..height]) {
                Image::CountedHere(walls) => Some(walls),
                Image::CountsThis => return Ok(()),
                Image::SameRows => None,
            },
        };
        if rows != self.rows {
            self.explorer.clear_archive();
            self.rows = rows;
        }
        let mut must = [u16::MAX; MAX_LANE];
        if !spec.count_unsolvable {
            must[exit_row] = self.explorer.store().lane(lane).at_far_end(hero_index);
        }
        let mut filling = Filling {
            rows,
            columns,
            hero_index,
            walls,
            image,
            must,
            lanes,
        };
        self.partial[0].clear();
        self.partial[0].push(0);
        for column in 0..n_fixed {
            if !self.extend(&filling, column, filling.columns[column]) {
                return Ok(());
            }
        }
        self.fill(&mut filling, n_fixed)
    }

    /// Lists the ways to arrange one column more. Returns whether there are any.
    fn extend(&mut self, filling: &Filling<'_>, column: usize, lane: u32) -> bool {
        let height = usize::from(self.census.spec.lot.height());
        let store = self.explorer.store();
        let rows: [&[u16]; MAX_LANE] = std::array::from_fn(|row| {
            store
                .lane(filling.rows[if row < height { row } else { 0 }])
                .allowed
                .as_slice()
        });
        let (before, after) = self.partial.split_at_mut(column + 1);
        let (before, after) = (&before[column], &mut after[0]);
        after.clear();
        for &squares in &store.lane(lane).squares {
            let column_squares = crate::cluster::column_of(squares, column);
            for &taken in before {
                let taken = taken | column_squares;
                let mut left = squares;
                let mut is_open = true;
                while left != 0 {
                    let row = left.trailing_zeros() as usize % MAX_LANE;
                    left &= left - 1;
                    let byte = (taken >> (8 * row)) as u8;
                    is_open &= rows[row][usize::from(byte)] & filling.must[row] != 0;
                }
                if is_open {
                    after.push(taken);
                }
            }
        }
        !after.is_empty()
    }

    /// Fills the columns from `column` on in every way, and counts the layouts.
    fn fill(&mut self, filling: &mut Filling<'_>, column: usize) -> Result<(), ExploreError> {
        if column == usize::from(self.census.spec.lot.width()) {
            return self.count_layout(filling);
        }
        for at in 0..filling.lanes.columns[column].len() {
            let lane = filling.lanes.columns[column][at];
            if self.extend(filling, column, lane) {
                filling.columns[column] = lane;
                self.fill(filling, column + 1)?;
            }
        }
        Ok(())
    }

    fn count_layout(&mut self, filling: &Filling<'_>) -> Result<(), ExploreError> {
        let spec = &self.census.spec;
        let lot = spec.lot;
        let layout = Layout::new(
            self.explorer.store(),
            lot,
            &filling.rows[..usize::from(lot.height())],
            &filling.columns[..usize::from(lot.width())],
            usize::from(spec.exit_row),
            filling.hero_index,
        );
        let visit = if spec.count_unsolvable {
            Visit::All
        } else {
            Visit::Solvable
        };
        let outcome = &mut self.outcome;
        outcome.layouts += filling.n_images();
        self.explorer
            .each_cluster(&layout, visit, spec.limit, &mut |cluster| {
                count_cluster(spec.keep, filling, cluster, outcome)
            })
    }

    fn finish(mut self) -> RangeOutcome {
        self.outcome
            .boards
            .sort_unstable_by(|a, b| (a.par, &a.canonical).cmp(&(b.par, &b.canonical)));
        self.outcome
    }
}

/// What a unit is to the one that holds the mirror images of its layouts, top to bottom.
enum Image {
    /// The other unit comes later and counts nothing: its clusters, which have these walls, are counted here.
    CountedHere(Squares),
    /// The other unit comes first, and has counted the clusters of this one.
    CountsThis,
    /// Both have the same walls and rows: each layout of them is counted by itself.
    SameRows,
}

/// Compares a unit, by its walls and the number of each row's choice, with its mirror image. Mirrored rows have the
/// same walls, so the same choices; the exit row is its own image.
fn image_of(lot: Lot, walls: Squares, rows: &[usize]) -> Image {
    let mirrored: Squares = walls
        .iter()
        .map(|square| lot.square(lot.height() - 1 - lot.row(square), lot.column(square)))
        .collect();
    let here = (walls.words(), rows.iter().copied());
    let there = (mirrored.words(), rows.iter().rev().copied());
    match here.0.cmp(&there.0).then_with(|| here.1.cmp(there.1)) {
        std::cmp::Ordering::Less => Image::CountedHere(mirrored),
        std::cmp::Ordering::Greater => Image::CountsThis,
        std::cmp::Ordering::Equal => Image::SameRows,
    }
}

impl Filling<'_> {
    /// How many layouts are counted where this one is explored: itself, and its mirror image.
    fn n_images(&self) -> u64 {
        1 + u64::from(self.image.is_some())
    }
}

fn count_cluster(
    keep: Keep,
    filling: &Filling<'_>,
    cluster: &mut ClusterView<'_>,
    outcome: &mut RangeOutcome,
) -> Result<(), ExploreError> {
    let n_images = filling.n_images();
    let n_positions = cluster.n_positions();
    let Some(depth) = cluster.depth() else {
        outcome.unsolvable += n_images;
        outcome.unsolvable_positions += n_images * n_positions;
        return Ok(());
    };
    for distance in (0..=depth).rev() {
        outcome.at(distance).positions_at += n_images * cluster.n_positions_at(distance);
    }
    let counts = outcome.at(depth);
    counts.solvable += n_images;
    counts.positions += n_images * n_positions;
    let mut representative = None;
    let mut is_minimal = false;
    if cluster.can_be_minimal(depth) {
        let packed = cluster.representative(false);
        representative = Some(packed);
        is_minimal = cluster.is_minimal(packed)?;
        if is_minimal {
            count_minimal(cluster, depth, packed, false, filling.walls, outcome);
        }
    }
    let mut image_is_minimal = false;
    if let Some(walls) = filling.image.filter(|_| cluster.can_be_minimal(depth)) {
        // The mirror image of the cluster is represented by the mirror image of another position.
        let packed = cluster.representative(true);
        image_is_minimal = cluster.is_minimal(packed)?;
        if image_is_minimal {
            count_minimal(cluster, depth, packed, true, walls, outcome);
        }
    }
    let is_kept = match keep {
        Keep::Nothing => false,
        Keep::Minimal => is_minimal || image_is_minimal,
        Keep::ParAtLeast(par) => depth >= usize::from(par.get()),
        Keep::Solvable => true,
    };
    if is_kept {
        let packed = representative.unwrap_or_else(|| cluster.representative(false));
        outcome
            .boards
            .push(found(filling, cluster, depth, packed, is_minimal)?);
    }
    Ok(())
}

/// Counts a cluster with the minimal representative `packed`, or the mirror image of one.
fn count_minimal(
    cluster: &ClusterView<'_>,
    depth: usize,
    packed: Packed,
    is_mirrored: bool,
    walls: Squares,
    outcome: &mut RangeOutcome,
) {
    let n_positions = cluster.n_positions();
    let counts = outcome.at(depth);
    counts.minimal += 1;
    counts.minimal_positions += n_positions;
    let (horizontal, vertical) = cluster.masks(packed, is_mirrored);
    outcome
        .digest
        .add([depth as u64, n_positions, horizontal, vertical, walls.words()[0]]);
}

/// The row that is kept of a cluster.
fn found(
    filling: &Filling<'_>,
    cluster: &mut ClusterView<'_>,
    depth: usize,
    packed: Packed,
    is_minimal: bool,
) -> Result<Found, ExploreError> {
    // As in `Explorer::entry`: with the exit in the lower half, the mirror image is what is kept; with the exit
    // in the middle, the smaller of the two.
    let layout = cluster.layout;
    let twice_from_top = 2 * layout.hero.lane + 1;
    let mut board = board_of(filling, cluster, packed);
    let mut canonical = board.canonical();
    let mut minimal = is_minimal;
    if twice_from_top >= usize::from(layout.lot.height()) {
        let other = cluster.representative(true);
        let other_board = board_of(filling, cluster, other);
        let other_canonical = other_board.canonical();
        if twice_from_top > usize::from(layout.lot.height()) || other_canonical < canonical {
            (board, canonical) = (other_board, other_canonical);
            minimal = cluster.is_minimal(other)?;
        }
    }
    Ok(Found {
        par: Par::new(depth as u16),
        canonical,
        states: cluster.n_positions(),
        minimal: Some(minimal),
        n_vehicles: board.n_vehicles() as u8,
        n_walls: board.n_walls() as u8,
    })
}

/// The board of a position, its hero first.
fn board_of(filling: &Filling<'_>, cluster: &ClusterView<'_>, packed: Packed) -> Board {
    let layout = cluster.layout;
    let lanes = cluster.lanes();
    let mut vehicles = Vec::new();
    for (axis, lane, arrangement, lane_idx) in (0..lanes.n_inner)
        .map(|i| (layout.inner_axis, lanes.inner[i], packed.inner(i), i))
        .chain((0..lanes.n_outer).map(|o| (layout.inner_axis.across(), lanes.outer[o], packed.outer(o), o)))
    {
        let starts = &lane.starts[usize::from(arrangement)];
        for (index, (&length, &start)) in lane.lengths.iter().zip(starts).enumerate() {
            let vehicle = Vehicle::new(axis, lane_idx as u8, start, length);
            let is_hero =
                axis == Axis::Horizontal && lane_idx == layout.hero.lane && index == filling.hero_index;
            if is_hero {
                vehicles.insert(0, vehicle);
            } else {
                vehicles.push(vehicle);
            }
        }
    }
    Board::new(layout.lot, vehicles, filling.walls).expect("a search reaches legal positions only")
}
