//! Layouts and positions with one vehicle or wall taken away.

use crate::geometry::Axis;
use crate::lane::LaneStore;
use crate::layout::{Layout, VehiclePlace};
use crate::packed::Packed;

/// The layout without a vehicle, which is not the hero, and the position that is left.
pub(crate) fn vehicle(
    store: &mut LaneStore,
    layout: &Layout,
    packed: Packed,
    place: VehiclePlace,
) -> (Layout, Packed) {
    let lane_id = if place.is_inner {
        layout.inner[place.lane]
    } else {
        layout.outer[place.lane]
    };
    let arrangement = if place.is_inner {
        packed.inner(place.lane)
    } else {
        packed.outer(place.lane)
    };
    let lane = store.lane(lane_id);
    let length = lane.lengths[place.index];
    let start = lane.starts[usize::from(arrangement)][place.index];
    let gone = (((1_u16 << length) - 1) << start) as u8;
    let content = lane.content.without_vehicle(place.index);
    let mut fewer = Emptier {
        store,
        layout: layout.clone(),
        packed,
    };
    fewer.replace(place.is_inner, place.lane, content, gone);
    (fewer.layout, fewer.packed)
}

/// The layout without the wall on `square`, and the position that is left.
pub(crate) fn wall(
    store: &mut LaneStore,
    layout: &Layout,
    packed: Packed,
    square: usize,
) -> (Layout, Packed) {
    let (row, column) = (layout.lot.row(square), layout.lot.column(square));
    let rows_are_inner = layout.inner_axis == Axis::Horizontal;
    let mut fewer = Emptier {
        store,
        layout: layout.clone(),
        packed,
    };
    for (is_inner, lane, along) in [(rows_are_inner, row, column), (!rows_are_inner, column, row)] {
        let lane = usize::from(lane);
        let id = if is_inner {
            layout.inner[lane]
        } else {
            layout.outer[lane]
        };
        let content = fewer.store.lane(id).content.without_wall(along);
        fewer.replace(is_inner, lane, content, 0);
    }
    (fewer.layout, fewer.packed)
}

struct Emptier<'a> {
    store: &'a mut LaneStore,
    layout: Layout,
    packed: Packed,
}

impl Emptier<'_> {
    /// Puts other content in a lane, whose vehicles stay where they are but for those on the squares `gone`.
    fn replace(&mut self, is_inner: bool, lane: usize, content: crate::lane::LaneContent, gone: u8) {
        let (old_id, old) = if is_inner {
            (self.layout.inner[lane], self.packed.inner(lane))
        } else {
            (self.layout.outer[lane], self.packed.outer(lane))
        };
        let id = self.store.id(content);
        let old_lane = self.store.lane(old_id);
        let new_lane = self.store.lane(id);
        let squares = old_lane.squares[usize::from(old)] & !gone;
        let arrangement = new_lane
            .arrangement(squares)
            .expect("vehicles left are where they were");
        let hero = &mut self.layout.hero;
        if hero.is_inner == is_inner && hero.lane == lane {
            // The hero is home where the lane's last square is taken by it: it is the last vehicle of its row in
            // any solvable layout, and stays the last.
            hero.solved = new_lane.at_far_end(new_lane.lengths.len() - 1);
        }
        if is_inner {
            self.layout.inner[lane] = id;
            self.packed = self.packed.with_inner(lane, arrangement);
        } else {
            self.layout.outer[lane] = id;
            self.packed = self.packed.with_outer(lane, arrangement);
        }
    }
}
