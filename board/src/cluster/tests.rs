use super::*;
use crate::plain;
use crate::{Axis, Squares, Vehicle};

fn explore(text: &str) -> Cluster {
    let board = Board::parse(text).unwrap();
    Explorer::new().explore(&board, StateLimit::DEFAULT).unwrap()
}

#[test]
fn published_clusters_have_their_depth_and_size() {
    for (board, depth, states) in [
        ("BBoCoooDoCEEoDAAFGHoIIFGHoJKKoLLJooo", 15, 541_934),
        ("BooCDDBEECoFoGoAAFoGHHIJKKLoIJooLoMM", 24, 278_666),
        ("BCDDEoBCFoEGBoFAAGHHHIoGooJIKKLLJMMo", 51, 4_780),
    ] {
        let cluster = explore(board);
        assert_eq!(
            (cluster.depth.unwrap().get(), cluster.states),
            (depth, states),
            "{board}"
        );
        assert_eq!(cluster.histogram.iter().sum::<u64>(), states);
    }
}

#[test]
fn a_cluster_over_the_limit_is_refused() {
    let board = Board::parse("BooCDDBEECoFoGoAAFoGHHIJKKLoIJooLoMM").unwrap();
    let mut explorer = Explorer::new();
    let limit = StateLimit::new(278_665);
    assert_eq!(
        explorer.explore(&board, limit),
        Err(ExploreError::StateLimit { limit })
    );
    assert!(explorer.explore(&board, StateLimit::new(278_666)).is_ok());
}

#[test]
#[ignore = "needs the shared folder of known boards"]
fn shared_reference_boards_are_found_whole() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/data/reference_small.txt"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let mut explorer = Explorer::new();
    let mut portable = Explorer::portable();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let board = Board::parse(fields[1]).unwrap();
        let cluster = explorer.explore(&board, StateLimit::DEFAULT).unwrap();
        assert_eq!(cluster, portable.explore(&board, StateLimit::DEFAULT).unwrap());
        assert_eq!(cluster.depth.unwrap().get(), fields[0].parse::<u16>().unwrap());
        assert_eq!(cluster.states.to_string(), fields[2]);
        let histogram: Vec<String> = cluster.histogram.iter().map(u64::to_string).collect();
        assert_eq!(histogram.join(","), fields[4]);
        let representative = cluster.representative.unwrap();
        assert_eq!(representative.to_string(), fields[1]);
        let minimal = explorer.is_minimal(&representative, cluster.depth.unwrap(), StateLimit::DEFAULT);
        assert!(minimal.unwrap());
    }
}

/// Boards by chance, of every lot up to 8x8, from a seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u8 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as u8
    }

    fn board(&mut self) -> Board {
        let lot = Lot::new(3 + self.below(6), 3 + self.below(6)).unwrap();
        let hero_length = 2 + u8::from(self.below(4) == 0);
        let hero_start = self.below(u64::from(lot.width() - hero_length + 1));
        let row = self.below(u64::from(lot.height()));
        let mut vehicles = vec![Vehicle::new(Axis::Horizontal, row, hero_start, hero_length)];
        let mut taken = vehicles[0].squares(lot);
        let mut walls = Squares::EMPTY;
        for _ in 0..self.below(3) {
            let square = usize::from(self.below(lot.n_squares() as u64));
            if !taken.contains(square) {
                walls.insert(square);
                taken.insert(square);
            }
        }
        for _ in 0..self.below(30) {
            let axis = if self.below(2) == 0 {
                Axis::Horizontal
            } else {
                Axis::Vertical
            };
            let length = 2 + u8::from(self.below(3) == 0) + self.below(2) * u8::from(self.below(5) == 0);
            let lane = self.below(u64::from(lot.n_lanes(axis)));
            let vehicle = Vehicle::new(axis, lane, self.below(u64::from(lot.lane_length(axis))), length);
            if vehicle.fits(lot) && !vehicle.squares(lot).intersects(taken) {
                taken = taken.union(vehicle.squares(lot));
                vehicles.push(vehicle);
            }
        }
        Board::new(lot, vehicles, walls).unwrap()
    }
}

#[test]
fn fast_equals_plain_on_boards_by_chance() {
    let mut explorer = Explorer::new();
    let mut portable = Explorer::portable();
    let limit = StateLimit::new(700);
    let mut chance = Chance(1);
    let (mut n_compared, mut n_minimal) = (0, 0);
    while n_compared < 3_000 {
        let board = chance.board();
        let Ok(cluster) = explorer.explore(&board, limit) else {
            continue;
        };
        n_compared += 1;
        assert_eq!(cluster, portable.explore(&board, limit).unwrap(), "{board}");
        let plain = plain::cluster(&board);
        assert_eq!(cluster.states, plain.n_states, "{board}");
        assert_eq!(cluster.depth.map(Par::get), plain.depth, "{board}");
        assert_eq!(cluster.histogram, plain.histogram, "{board}");
        assert_eq!(cluster.representative, plain.representative, "{board}");
        if let Some(representative) = &cluster.representative {
            let is_minimal = explorer
                .is_minimal(representative, cluster.depth.unwrap(), limit)
                .unwrap();
            assert_eq!(Some(is_minimal), plain.is_minimal, "{board}");
            n_minimal += u32::from(is_minimal);
        }
    }
    assert!(n_minimal > 30, "only {n_minimal} minimal clusters");
}

#[test]
fn large_open_clusters_equal_plain() {
    // Open boards have boxes of more than one word, whose lanes are pinned.
    for text in [
        "BBoooCoooooCAAooooooDDDoEEooooooFFoo",
        "7x7:BBoooooCCooooooDDooooAAoooooEEooooooooooooooooooo",
        "5x6:BBoooCCoooAAooDEEooDFFooDooooo",
    ] {
        let board = Board::parse(text).unwrap();
        let cluster = explore(text);
        let plain = plain::cluster(&board);
        assert_eq!(cluster.states, plain.n_states);
        assert_eq!(cluster.histogram, plain.histogram);
        assert_eq!(cluster.representative, plain.representative);
        assert_eq!(
            cluster,
            Explorer::portable().explore(&board, StateLimit::DEFAULT).unwrap()
        );
    }
}

#[test]
fn every_board_of_a_cluster_and_of_its_mirror_image_has_the_same_entry() {
    let mut explorer = Explorer::new();
    let mut chance = Chance(7);
    let limit = StateLimit::new(300);
    let mut n_compared = 0;
    while n_compared < 100 {
        let board = chance.board();
        let Ok(Some(entry)) = explorer.entry(&board, limit) else {
            continue;
        };
        n_compared += 1;
        for other in plain::reachable(&board).into_iter().take(20) {
            assert_eq!(explorer.entry(&other, limit).unwrap().unwrap(), entry, "{board}");
            assert_eq!(
                explorer.entry(&other.mirrored(), limit).unwrap().unwrap(),
                entry,
                "{board}"
            );
        }
        let kept = entry.canonical.board();
        assert_eq!(plain::par(&kept), Some(entry.par.get()));
        assert_eq!(Some(plain::is_minimal(&kept)), entry.minimal);
        assert_eq!(explorer.entry(&kept, limit).unwrap().unwrap(), entry);
    }
}
