use board::{anneal::*, cluster::*, job::*, space::*, *};
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
fn main() {
    let mut f = BoardSpace::usual(Lot::ORDINARY).unwrap().fields().clone();
    f.vehicles = 8..=14;
    let space = BoardSpace::new(f).unwrap();
    let frame = Frame {
        seed: 1,
        n_shards: 1,
        iterations_per_shard: 10000,
        max_states: 1000,
    };
    let spec = JobSpec::Anneal(
        AnnealSpec::new(
            space,
            frame,
            vec![],
            Temperatures {
                first: 100000,
                last: 100000,
            },
        )
        .unwrap(),
    );
    let mut ex = Explorer::new();
    let t = cpu();
    let o = spec.run_shard(0, &mut ex);
    println!("run {:.3}", cpu() - t);
    let boards: Vec<Board> = o.found.iter().map(|f| f.canonical.board()).collect();
    let pos: u64 = o.found.iter().map(|f| f.states).sum();
    let t = cpu();
    for b in &boards {
        std::hint::black_box(ex.entry(b, StateLimit::DEFAULT).unwrap());
    }
    println!("entry {:.3} {} boards {} pos", cpu() - t, boards.len(), pos);
    let t = cpu();
    for b in &boards {
        std::hint::black_box(ex.explore(b, StateLimit::DEFAULT).unwrap());
    }
    println!("explore {:.3}", cpu() - t);
    let t = cpu();
    for b in &boards {
        std::hint::black_box(b.canonical());
    }
    println!("canonical {:.3}", cpu() - t);
    let t = cpu();
    for f in &o.found {
        std::hint::black_box(f.canonical.board());
    }
    println!("parse {:.3}", cpu() - t);
}
