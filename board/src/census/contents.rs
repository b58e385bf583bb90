//! What a lane can hold under the rules of a census.

use std::collections::BTreeSet;

use crate::census::{CensusSpec, Scope};
use crate::lane::LaneContent;

/// What the exit row can hold, and which of its vehicles is the hero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExitRowContent {
    pub(crate) content: LaneContent,
    pub(crate) hero_index: usize,
}

/// A vehicle by first square and length.
type Placed = (u8, u8);

/// Contents of a row other than the exit row.
pub(crate) fn rows(spec: &CensusSpec, length: u8, walls: u8) -> Vec<LaneContent> {
    let is_in = |placed: &[Placed]| {
        spec.scope == Scope::Every || taken(placed) + walls.count_ones() < u32::from(length)
    };
    distinct(&spec.lengths, length, walls, is_in, |placed| {
        content(length, walls, placed)
    })
}

/// Contents of a column.
pub(crate) fn columns(spec: &CensusSpec, length: u8, walls: u8) -> Vec<LaneContent> {
    // The reference enumeration counts walls as pieces of rows: a column is full by its vehicles alone.
    let is_in = |placed: &[Placed]| spec.scope == Scope::Every || taken(placed) < u32::from(length);
    distinct(&spec.lengths, length, walls, is_in, |placed| {
        content(length, walls, placed)
    })
}

/// Contents of the exit row.
pub(crate) fn exit_rows(spec: &CensusSpec, length: u8, walls: u8) -> Vec<ExitRowContent> {
    let walls_are_left = |&(start, _): &Placed| walls >> start == 0;
    if spec.scope == Scope::Standard {
        let is_in = |placed: &[Placed]| {
            placed.len() == 1
                && walls_are_left(&placed[0])
                && taken(placed) + walls.count_ones() < u32::from(length)
        };
        return distinct(&[spec.hero_length], length, walls, is_in, |placed| {
            ExitRowContent {
                content: content(length, walls, placed),
                hero_index: 0,
            }
        });
    }
    let mut lengths: Vec<u8> = spec.lengths.clone();
    lengths.push(spec.hero_length);
    lengths.sort_unstable();
    lengths.dedup();
    let mut found = BTreeSet::new();
    for index in 0..usize::from(length) / 2 {
        // Vehicles of the hero's length may be forbidden to all others.
        let is_in = |placed: &[Placed]| {
            placed.get(index).is_some_and(|hero| {
                let is_last = index + 1 == placed.len() && walls_are_left(hero);
                let others = placed.iter().enumerate().filter(|&(i, _)| i != index);
                hero.1 == spec.hero_length
                    && others
                        .into_iter()
                        .all(|(_, other)| spec.lengths.contains(&other.1))
                    && (spec.count_unsolvable || is_last)
            })
        };
        found.extend(distinct(&lengths, length, walls, is_in, |placed| {
            ExitRowContent {
                content: content(length, walls, placed),
                hero_index: index,
            }
        }));
    }
    found.into_iter().collect()
}

fn taken(placed: &[Placed]) -> u32 {
    placed.iter().map(|&(_, length)| u32::from(length)).sum()
}

fn content(length: u8, walls: u8, placed: &[Placed]) -> LaneContent {
    LaneContent::new(length, walls, placed.iter().copied())
}

/// What `name` makes of every way to place vehicles in a lane that is `is_in`, each once, in ascending order.
fn distinct<T: Ord>(
    lengths: &[u8],
    length: u8,
    walls: u8,
    is_in: impl Fn(&[Placed]) -> bool,
    name: impl Fn(&[Placed]) -> T,
) -> Vec<T> {
    let mut found = BTreeSet::new();
    let mut placed = Vec::new();
    each_way(lengths, length, walls, 0, &mut placed, &mut |placed| {
        if is_in(placed) {
            found.insert(name(placed));
        }
    });
    found.into_iter().collect()
}

fn each_way(
    lengths: &[u8],
    length: u8,
    walls: u8,
    from: u8,
    placed: &mut Vec<Placed>,
    visit: &mut dyn FnMut(&[Placed]),
) {
    visit(placed);
    for start in from..length {
        for &vehicle in lengths {
            let end = start + vehicle;
            let squares = ((1_u32 << vehicle) - 1) << start;
            if end <= length && squares & u32::from(walls) == 0 {
                placed.push((start, vehicle));
                each_way(lengths, length, walls, end, placed, visit);
                placed.pop();
            }
        }
    }
}
