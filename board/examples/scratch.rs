use board::{anneal::*, cluster::*, job::*, scatter::*, space::*, *};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let kind = a[1].as_str();
    let seed: u64 = a[2].parse().unwrap();
    let iters: u32 = a[3].parse().unwrap();
    let n_shards: u32 = a[4].parse().unwrap();
    let max: u64 = a.get(5).map_or(100_000, |s| s.parse().unwrap());
    let lo: Option<u8> = a.get(6).map(|s| s.parse().unwrap());
    let hi: Option<u8> = a.get(7).map(|s| s.parse().unwrap());
    let t0: u32 = a.get(8).map_or(2000, |s| s.parse().unwrap());
    let t1: u32 = a.get(9).map_or(400, |s| s.parse().unwrap());
    let mut f = BoardSpace::usual(Lot::ORDINARY).unwrap().fields().clone();
    if let (Some(l), Some(h)) = (lo, hi) {
        f.vehicles = l..=h;
    }
    let space = BoardSpace::new(f).unwrap();
    println!("{:?}", space.fields().vehicles);
    let frame = Frame {
        seed,
        n_shards,
        iterations_per_shard: iters,
        max_states: max,
    };
    let spec = if kind == "scatter" {
        JobSpec::Scatter(ScatterSpec::new(space, frame).unwrap())
    } else {
        JobSpec::Anneal(AnnealSpec::new(space, frame, vec![], Temperatures { first: t0, last: t1 }).unwrap())
    };
    let mut ex = Explorer::new();
    let mut tally = Tally::default();
    let t = std::time::Instant::now();
    let mut hist = [0u32; 70];
    for s in 0..n_shards {
        let ts = std::time::Instant::now();
        let o = spec.run_shard(s, &mut ex);
        let c = o.counters;
        let best = o.found.last().map(|f| (f.par, f.canonical.to_string()));
        let fresh = tally.absorb(o);
        for f in &fresh {
            hist[usize::from(f.par.get())] += 1;
        }
        if kind != "scatter" || s + 1 == n_shards {
            println!(
                "shard {s} {:.2}s best {:?} fresh {} {:?}",
                ts.elapsed().as_secs_f64(),
                best,
                fresh.len(),
                c
            );
        }
    }
    let dt = t.elapsed().as_secs_f64();
    let c = tally.counters();
    println!(
        "{:.2}s {:.0} boards/s {:.0} clusters/s {:.2} Mpos/s digest {} {:?}",
        dt,
        c.found as f64 / dt,
        c.clusters as f64 / dt,
        c.positions as f64 / dt / 1e6,
        tally.digest(),
        c
    );
    println!("{:?}", hist);
}
