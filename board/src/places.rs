//! The places that a vehicle of a space may take on an empty lot.

use crate::geometry::{Axis, Lot, Squares};
use crate::space::BoardSpace;
use crate::stream::Stream;
use crate::vehicle::Vehicle;

/// A vehicle at a place, with the squares it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) vehicle: Vehicle,
    pub(crate) squares: Squares,
}

/// All places of the space's vehicles other than the hero, by length.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// (weight, places) of each length, in the order of the space's lengths.
    by_length: Vec<(u32, Vec<Place>)>,
    total_weight: u32,
}

impl Places {
    pub(crate) fn new(space: &BoardSpace) -> Places {
        let lot = space.lot();
        let weighted = |length: u8, weight: u16| (u32::from(weight), places_of_length(lot, length));
        let lengths = &space.fields().lengths;
        let by_length: Vec<_> = lengths
            .iter()
            .map(|entry| weighted(entry.length, entry.weight))
            .collect();
        let total_weight = by_length.iter().map(|&(weight, _)| weight).sum();
        Places {
            by_length,
            total_weight,
        }
    }

    /// A random place: the length by its weight, then each place of that length as likely as the others.
    pub(crate) fn draw(&self, stream: &mut Stream) -> Place {
        let mut ticket = stream.below(self.total_weight);
        for (weight, places) in &self.by_length {
            if ticket < *weight {
                return places[stream.index(places.len())];
            }
            ticket -= weight;
        }
        unreachable!("a ticket lies below the sum of the weights");
    }

    /// The places of one length, horizontal ones first, in reading order; none if the space has no such vehicles.
    pub(crate) fn of_length(&self, length: u8) -> &[Place] {
        let places = self.by_length.iter().map(|(_, places)| places.as_slice());
        places
            .into_iter()
            .find(|places| {
                places
                    .first()
                    .is_some_and(|place| place.vehicle.length() == length)
            })
            .unwrap_or(&[])
    }

    /// Every place, by length, horizontal ones first, in reading order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Place> + '_ {
        self.by_length
            .iter()
            .flat_map(|(_, places)| places.iter().copied())
    }
}

fn places_of_length(lot: Lot, length: u8) -> Vec<Place> {
    let mut places = Vec::new();
    for axis in [Axis::Horizontal, Axis::Vertical] {
        for lane in 0..lot.n_lanes(axis) {
            for start in 0..(lot.lane_length(axis) + 1).saturating_sub(length) {
                let vehicle = Vehicle::new(axis, lane, start, length);
                places.push(Place {
                    vehicle,
                    squares: vehicle.squares(lot),
                });
            }
        }
    }
    places
}
