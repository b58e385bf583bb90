//! Dresses a packed lot's ring road: exits, lights, the drawbridge, crossings.

use super::site::Site;
use super::template::Template;
use crate::jam::{Colour, Exit, JamParts, Light};
use crate::lot::Place;
use crate::pieces::Piece;
use crate::random::Stream;

/// The lot with a random ring road of the kind that the template asks for; lights stand where members of the closure of
/// `lane` leave.
pub(crate) fn dress(site: &Site, lane: usize, template: &Template, stream: &mut Stream) -> JamParts {
    let features = &template.features;
    let mut places: Vec<Place> = site.lot.ring().collect();
    stream.shuffle(&mut places);
    let mut exits: Vec<Exit> = places
        .iter()
        .take(usize::from(template.exits) + usize::from(features.closed_exits))
        .enumerate()
        .map(|(number, place)| Exit {
            place: *place,
            open: number < template.exits.into(),
        })
        .collect();
    exits.sort_unstable_by_key(|exit| site.lot.ring_position(exit.place));
    stream.shuffle(&mut places);
    let bridge = (features.bridges > 0).then(|| places[0]);
    stream.shuffle(&mut places);
    let mut crossings = places[..features.crossings.into()].to_vec();
    crossings.sort_unstable_by_key(|place| site.lot.ring_position(*place));
    let tows = site
        .pieces
        .iter()
        .filter(|piece| matches!(piece, Piece::Wreck(_)))
        .count();
    JamParts {
        lot: site.lot,
        closed_sides: site.closed.clone(),
        pieces: site.pieces.clone(),
        exits,
        lights: lights(site, lane, features.lights.into(), stream),
        bridge,
        crossings,
        tows: u8::try_from(tows).expect("144 pieces at most"),
    }
}

fn lights(site: &Site, lane: usize, n: usize, stream: &mut Stream) -> Vec<Light> {
    if n == 0 {
        return Vec::new();
    }
    let mut places: Vec<Place> = site.growths[lane]
        .members
        .iter()
        .filter_map(|member| match site.pieces[member] {
            Piece::Vehicle(body) => Some(site.lot.leaves_at(body.front, body.facing)),
            _ => None,
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    stream.shuffle(&mut places);
    places.truncate(n);
    places.sort_unstable_by_key(|place| site.lot.ring_position(*place));
    let colour = |stream: &mut Stream| {
        if stream.percent(50) {
            Colour::Green
        } else {
            Colour::Red
        }
    };
    places
        .into_iter()
        .map(|place| Light {
            place,
            start: colour(stream),
        })
        .collect()
}
