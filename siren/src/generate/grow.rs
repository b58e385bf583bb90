//! The third step: a lock on each lane vehicle, and chains of blockers behind them, each lane's closure to its own size.

use super::site::{Site, Spot};
use super::steps::{Aim, Chances, Step, is_allowed, length_weight, wanted_length};
use super::template::Template;
use crate::bits::Bits;
use crate::lot::Facing;
use crate::pieces::{Body, Piece};
use crate::random::Stream;

/// Spots drawn at each step, of which the one is taken that leaves the most room to grow.
const DRAWS: usize = 6;

/// Puts a vehicle in the way of each lane vehicle that could drive off.
pub(crate) fn lock(site: &mut Site, aim: &Aim, stream: &mut Stream) -> Result<(), Step> {
    loop {
        let lanes = site.growths[0].lane | site.growths[1].lane;
        let in_a_lane = |piece: &usize| site.squares(*piece).intersects(lanes);
        let Some(piece) = site.unlocked.iter().find(in_a_lane) else {
            return Ok(());
        };
        let path = site.path(piece);
        let spot = best_of_draws(site, aim, stream, |site, spot| {
            let fits = spot.squares.intersects(path) && is_allowed(site, aim, spot.squares);
            fits.then(|| 2 + 3 * spot.path.count())
        });
        site.put_vehicle(spot.ok_or(Step::Lock)?);
    }
}

/// Grows chains of blockers until both closures have the sizes aimed at, with the wrecks and barricades asked for among
/// them.
pub(crate) fn grow(site: &mut Site, aim: &Aim, template: &Template, stream: &mut Stream) -> Result<(), Step> {
    let mut still = still_pieces(template);
    stream.shuffle(&mut still);
    loop {
        let needs = Needs::of(site, aim);
        if needs.are_met() {
            return if still.is_empty() { Ok(()) } else { Err(Step::Grow) };
        }
        // Still pieces count as members like any other, so they are due before the closure is complete.
        let n_still = u32::try_from(still.len()).expect("a few");
        let due = needs.cheap <= n_still || stream.below(needs.cheap as usize + 1) < still.len();
        if let Some(wreck) = still.pop_if(|_| needs.cheap > 0 && due) {
            put_still(site, aim, wreck, stream).ok_or(Step::Grow)?;
            continue;
        }
        let wanted_length = wanted_length(site, aim, template);
        let spot = best_of_draws(site, aim, stream, |site, spot| {
            growth_weight(site, aim, needs, spot).map(|weight| weight * length_weight(spot, wanted_length))
        });
        site.put_vehicle(spot.ok_or(Step::Grow)?);
    }
}

/// Members that the closures still lack.
#[derive(Clone, Copy)]
struct Needs {
    cheap: u32,
    dear: u32,
}

impl Needs {
    fn of(site: &Site, aim: &Aim) -> Self {
        Self {
            cheap: aim.cheap.saturating_sub(site.growths[aim.lane].size),
            dear: aim.dear.from.saturating_sub(site.growths[1 - aim.lane].size),
        }
    }

    fn are_met(self) -> bool {
        self.cheap == 0 && self.dear == 0
    }
}

/// Of a few spots drawn with the chances that `weigh` gives, the one that leaves the most room to grow.
fn best_of_draws(
    site: &Site,
    aim: &Aim,
    stream: &mut Stream,
    weigh: impl Fn(&Site, &Spot) -> Option<u32>,
) -> Option<Spot> {
    let needs = Needs::of(site, aim);
    let mut best: Option<(u32, Spot)> = None;
    let chances = Chances::new(site, weigh)?;
    for _ in 0..DRAWS {
        let spot = chances.draw(stream);
        let room = room_after(site, aim, needs, &spot);
        if best.is_none_or(|(most, _)| room > most) {
            best = Some((room, spot));
        }
    }
    best.map(|(_, spot)| spot)
}

fn growth_weight(site: &Site, aim: &Aim, needs: Needs, spot: &Spot) -> Option<u32> {
    let [joins_cheap, joins_dear] = [aim.lane, 1 - aim.lane].map(|lane| site.joins(spot.squares, lane));
    let helps = (joins_cheap && needs.cheap > 0) || (joins_dear && needs.dear > 0);
    if !helps || !is_allowed(site, aim, spot.squares) {
        return None;
    }
    let path = spot.path.count();
    let early = needs.cheap + needs.dear > 6;
    let mut weight = if early { 2 + 2 * path } else { 14 - path };
    if joins_cheap && site.growths[aim.lane].depth < aim.depth {
        weight *= 1 + site.layer(spot.squares, aim.lane).pow(2);
    }
    // Where the vehicles still to come are fewer than both closures need, they must serve both.
    let budget = aim.n_vehicles.saturating_sub(site.n_vehicles);
    let sharing = 8 + 6 * (needs.cheap + needs.dear).saturating_sub(budget);
    Some(
        weight
            * match (joins_cheap, joins_dear) {
                (true, true) => sharing,
                (true, false) if needs.cheap < needs.dear => 1,
                (false, true) if needs.dear < needs.cheap => 1,
                _ => 6,
            },
    )
}

/// How far the closures could still grow after a vehicle has been put on a spot: the number of spots left for each,
/// shared out over what it lacks, whichever is worse off; spots that serve both count double.
fn room_after(site: &Site, aim: &Aim, needs: Needs, spot: &Spot) -> u32 {
    let reach = [aim.lane, 1 - aim.lane].map(|lane| {
        let growth = &site.growths[lane];
        if site.joins(spot.squares, lane) {
            growth.reach | spot.path
        } else {
            growth.reach
        }
    });
    let after = |need: u32, joins: bool| need.saturating_sub(u32::from(joins));
    let cheap = after(needs.cheap, site.joins(spot.squares, aim.lane));
    let dear = after(needs.dear, site.joins(spot.squares, 1 - aim.lane));
    let (mut for_cheap, mut for_dear) = (0, 0);
    for other in &site.spots {
        if (other.squares | other.path).intersects(spot.squares) {
            continue;
        }
        match reach.map(|reach| other.squares.intersects(reach)) {
            [true, true] if cheap > 0 && dear > 0 => {
                for_cheap += 2;
                for_dear += 2;
            }
            [true, false] => for_cheap += 1,
            [false, true] => for_dear += 1,
            // A spot that joins a complete closure is of no use to the other.
            _ => {}
        }
    }
    let share = |spots: u32, need: u32| (64 * spots).checked_div(need).unwrap_or(u32::MAX);
    share(for_cheap, cheap).min(share(for_dear, dear))
}

/// Which still pieces a template asks for: `true` for a wreck, `false` for a barricade.
fn still_pieces(template: &Template) -> Vec<bool> {
    let features = &template.features;
    let wrecks = std::iter::repeat_n(true, features.wrecks.into());
    wrecks
        .chain(std::iter::repeat_n(false, features.barricades.into()))
        .collect()
}

/// Puts a wreck or a barricade in the way of a member of the cheaper closure.
fn put_still(site: &mut Site, aim: &Aim, wreck: bool, stream: &mut Stream) -> Option<()> {
    let free = Bits::below(site.lot.n_squares()) - site.taken;
    let bodies: Vec<Body> = (site.growths[aim.lane].reach & free)
        .iter()
        .flat_map(|number| Facing::ALL.map(|facing| (site.square(number), facing)))
        .flat_map(|(front, facing)| {
            (1..=3).map(move |length| Body {
                front,
                facing,
                length,
            })
        })
        .filter(|body| {
            if wreck {
                body.length > 1
            } else {
                body.length == 1 && body.facing == Facing::Up
            }
        })
        .filter(|body| {
            let squares: Option<Bits> = body
                .squares(site.lot)
                .map(|square| Some(site.lot.number(square?)))
                .collect();
            squares.is_some_and(|squares| squares.is_subset(free) && is_allowed(site, aim, squares))
        })
        .collect();
    if bodies.is_empty() {
        return None;
    }
    let body = stream.pick(&bodies);
    let squares = body
        .squares(site.lot)
        .flatten()
        .map(|square| site.lot.number(square))
        .collect();
    site.put_still(
        if wreck {
            Piece::Wreck(body)
        } else {
            Piece::Barricade(body.front)
        },
        squares,
    );
    Some(())
}
