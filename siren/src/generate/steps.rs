//! The four steps that build a jam: park, cover and box in, lock and grow, pack.

use super::site::{Site, Spot};
use super::template::{Range, Template};
use crate::bits::Bits;
use crate::lot::{Facing, Lot, Side, Square};
use crate::pieces::{Body, Piece};
use crate::random::Stream;

/// The step at which an attempt could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// No place for the unit with room for both lanes.
    Park,
    /// A square of a lane that nothing lockable could cover.
    Cover,
    /// A square beside the unit that nothing could fill.
    BoxIn,
    /// A lane vehicle that could not be locked.
    Lock,
    /// A chain that could not grow on.
    Grow,
}

/// The sizes that an attempt aims at; `lane` is the escape that is to be cheaper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    pub(crate) lane: usize,
    /// Closure sizes of the cheaper and the dearer lane, the latter from and to.
    pub(crate) cheap: u32,
    pub(crate) dear: Range,
    pub(crate) depth: u32,
    pub(crate) n_vehicles: u32,
}

/// Parks the unit with two squares or more in each lane and one beside it on both sides, closes sides beside the lanes,
/// and sets down the planters.
pub(crate) fn park(template: &Template, lot: Lot, spots: &[Spot], stream: &mut Stream) -> Result<Site, Step> {
    let length = template.unit_length();
    let fits: Vec<Facing> = Facing::ALL
        .into_iter()
        .filter(|facing| along(lot, *facing) >= length + 4)
        .collect();
    if fits.is_empty() {
        return Err(Step::Park);
    }
    let facing = stream.pick(&fits);
    let width = usize::from(along(lot, facing.turned()));
    let across = stream.within(1.max(width / 4), (width - 2).min(width - 1 - width / 4));
    // Near the middle, so that neither lane is a matter of course.
    let room = usize::from(along(lot, facing) - length);
    let (least, most) = (2.max(room / 3), (room - 2).min(room - room / 3));
    let ahead = stream.within(least, most.max(least));
    let unit = parked(lot, facing, byte(across), byte(ahead), length);

    // The nearer side is closed first: towards it there is less room for chains anyway.
    let mut beside: Vec<Side> = vec![facing.turned().side(), facing.turned().back().side()];
    beside.sort_by_key(|side| match side {
        Side::Top | Side::Left => across,
        Side::Right | Side::Bottom => width - 1 - across,
    });
    beside.truncate(template.features.closed_sides.into());
    let mut site = Site::new(lot, unit, template.unit, beside, spots);
    let kept_free = site.growths[0].lane | site.growths[1].lane | site.flanks();
    for _ in 0..template.features.planters {
        let free = Bits::below(lot.n_squares()) - site.taken - kept_free;
        let free: Vec<usize> = free.iter().collect();
        if !free.is_empty() {
            let number = stream.pick(&free);
            site.put_still(Piece::Planter(site.square(number)), Bits::one(number));
        }
    }
    Ok(site)
}

fn along(lot: Lot, facing: Facing) -> u8 {
    if facing.is_vertical() {
        lot.height()
    } else {
        lot.width()
    }
}

fn byte(number: usize) -> u8 {
    u8::try_from(number).expect("within a lot")
}

/// A body so many squares from the edge ahead of it.
fn parked(lot: Lot, facing: Facing, across: u8, ahead: u8, length: u8) -> Body {
    let front = match facing {
        Facing::Up => Square {
            column: across,
            row: ahead,
        },
        Facing::Down => Square {
            column: across,
            row: lot.height() - 1 - ahead,
        },
        Facing::Left => Square {
            column: ahead,
            row: across,
        },
        Facing::Right => Square {
            column: lot.width() - 1 - ahead,
            row: across,
        },
    };
    Body {
        front,
        facing,
        length,
    }
}

/// Covers each square of both lanes, from the unit outwards, with a vehicle that something can still be put before.
pub(crate) fn cover(site: &mut Site, stream: &mut Stream) -> Result<(), Step> {
    let mut order: Vec<usize> = vec![0, 1];
    stream.shuffle(&mut order);
    for lane in order {
        let mut squares: Vec<usize> = site.growths[lane].lane.iter().collect();
        let unit = site.lot.number(site.unit.front);
        squares.sort_unstable_by_key(|square| square.abs_diff(unit));
        for square in squares {
            if site.taken.contains(square) {
                continue;
            }
            let spot = choose(site, stream, |site, spot| {
                // What looks along the lane will be locked by the lane's next vehicle.
                let along_lane = spot.body.facing.is_vertical() == site.unit.facing.is_vertical();
                let fits = spot.squares.contains(square) && !spot.path.is_empty();
                fits.then(|| {
                    if along_lane {
                        6
                    } else {
                        14 - 2 * u32::from(spot.body.length.abs_diff(2))
                    }
                })
            });
            site.put_vehicle(spot.ok_or(Step::Cover)?);
        }
    }
    Ok(())
}

/// Fills the squares beside the unit.
pub(crate) fn box_in(site: &mut Site, aim: &Aim, stream: &mut Stream) -> Result<(), Step> {
    loop {
        let Some(square) = (site.flanks() - site.taken).first() else {
            return Ok(());
        };
        let spot = choose(site, stream, |site, spot| {
            let fits = spot.squares.contains(square) && is_allowed(site, aim, spot.squares);
            fits.then(|| 4 + spot.path.count())
        });
        site.put_vehicle(spot.ok_or(Step::BoxIn)?);
    }
}

/// Packs the rest of the lot without making either closure larger than aimed at.
pub(crate) fn pack(site: &mut Site, aim: &Aim, template: &Template, stream: &mut Stream) {
    while site.n_vehicles < aim.n_vehicles {
        let wanted_length = wanted_length(site, aim, template);
        let spot = choose(site, stream, |site, spot| {
            is_allowed(site, aim, spot.squares)
                .then(|| (1 + 3 * spot.path.count()) * length_weight(spot, wanted_length))
        });
        let Some(spot) = spot else { return };
        site.put_vehicle(spot);
    }
}

/// Whether a piece on these squares leaves both closures within what is aimed at.
pub(super) fn is_allowed(site: &Site, aim: &Aim, squares: Bits) -> bool {
    let (cheap, dear) = (aim.lane, 1 - aim.lane);
    (site.growths[cheap].size < aim.cheap || !site.joins(squares, cheap))
        && (site.growths[dear].size < aim.dear.to || !site.joins(squares, dear))
}

/// Squares, in tenths, that each vehicle still to come should take for the lot to be as full as asked.
pub(super) fn wanted_length(site: &Site, aim: &Aim, template: &Template) -> u32 {
    let percent = u32::midpoint(
        template.fullness_percent.from,
        template.fullness_percent.to.min(100),
    );
    let squares =
        (Bits::below(site.lot.n_squares()).count() * percent / 100).saturating_sub(site.taken.count());
    squares * 10 / aim.n_vehicles.saturating_sub(site.n_vehicles).max(1)
}

pub(super) fn length_weight(spot: &Spot, wanted_tenths: u32) -> u32 {
    match (u32::from(spot.body.length) * 10).abs_diff(wanted_tenths.clamp(10, 30)) {
        0..=5 => 8,
        6..=10 => 4,
        11..=15 => 2,
        _ => 1,
    }
}

/// Draws one of the spots with the chances that `weigh` gives; `None` if it gives none a chance.
fn choose(site: &Site, stream: &mut Stream, weigh: impl Fn(&Site, &Spot) -> Option<u32>) -> Option<Spot> {
    Some(Chances::new(site, weigh)?.draw(stream))
}

/// Spots, each with its chance.
pub(super) struct Chances<'a> {
    /// Each spot with the sum of the weights up to it, itself included.
    sums: Vec<(u64, &'a Spot)>,
}

impl<'a> Chances<'a> {
    /// The site's spots with the chances that `weigh` gives; `None` if it gives none a chance.
    pub(super) fn new(site: &'a Site, weigh: impl Fn(&Site, &Spot) -> Option<u32>) -> Option<Self> {
        let mut sum = 0;
        let mut sums = Vec::new();
        for spot in &site.spots {
            if let Some(weight) = weigh(site, spot) {
                sum += u64::from(weight);
                sums.push((sum, spot));
            }
        }
        (sum > 0).then_some(Self { sums })
    }

    /// One of them.
    pub(super) fn draw(&self, stream: &mut Stream) -> Spot {
        let (total, _) = self.sums.last().expect("chances are of something");
        let drawn = stream.below(usize::try_from(*total).expect("a sum of small weights")) as u64;
        *self.sums[self.sums.partition_point(|(sum, _)| *sum <= drawn)].1
    }
}
