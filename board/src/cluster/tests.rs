use super::*;

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
