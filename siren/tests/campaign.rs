//! The shipped plan and the campaign generated from it.

#![expect(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

use siren::campaign::{Entry, assemble, move_limit};
use siren::check::{Fault, check_level, coverage, duplicates};
use siren::generate::candidate;
use siren::level::Level;
use siren::plan::{LevelSpec, Plan, SHIPPED_PLAN};
use std::sync::atomic::{AtomicUsize, Ordering};

fn shipped() -> Plan {
    Plan::parse(SHIPPED_PLAN).unwrap()
}

/// Candidates of the first few seeds of some levels; fewer seeds than a campaign takes, to be quick.
fn entries(specs: &[LevelSpec], n_seeds: usize) -> Vec<Entry> {
    let find = |(level, spec): (usize, &LevelSpec)| {
        let seeds = spec.seeds[..n_seeds].to_vec();
        let template = spec.template.clone();
        seeds.into_iter().filter_map(move |seed| {
            let (found, _) = candidate(&template, seed).unwrap();
            found.map(|candidate| Entry {
                level,
                seed,
                candidate,
            })
        })
    };
    specs.iter().enumerate().flat_map(find).collect()
}

/// All candidates of a plan, found by so many threads that take the tasks as they come.
fn all_entries(specs: &[LevelSpec], n_threads: usize) -> Vec<Entry> {
    let tasks: Vec<(usize, u64)> = specs
        .iter()
        .enumerate()
        .flat_map(|(level, spec)| spec.seeds.map(|seed| (level, seed)))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some((level, seed)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (best, _) = candidate(&specs[*level].template, *seed).unwrap();
            found.extend(best.map(|candidate| Entry {
                level: *level,
                seed: *seed,
                candidate,
            }));
        }
        found
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
#[ignore = "takes a minute or two"]
fn the_whole_campaign_is_alike_on_one_thread_and_three_and_passes_every_check() {
    let specs = shipped().levels();
    let start = std::time::Instant::now();
    let levels = assemble(&specs, &all_entries(&specs, 1)).unwrap();
    println!(
        "160 levels on one thread in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    let spelled = |levels: &[Level]| levels.iter().map(Level::spell).collect::<Vec<_>>();
    let again = assemble(&specs, &all_entries(&specs, 3)).unwrap();
    assert_eq!(spelled(&again), spelled(&levels));
    for (spec, level) in specs.iter().zip(&levels) {
        let read = Level::parse(&level.spell()).unwrap();
        assert_eq!(
            check_level(&read, &specs),
            Vec::<Fault>::new(),
            "{}",
            spec.file_stem()
        );
    }
    let named: Vec<(String, &Level)> = specs.iter().map(LevelSpec::file_stem).zip(&levels).collect();
    let named = || named.iter().map(|(name, level)| (name.as_str(), *level));
    assert_eq!(duplicates(named()), []);
    assert_eq!(coverage(named(), &specs), []);
}

#[test]
fn the_shipped_plan_has_the_figures_of_the_game() {
    let levels = shipped().levels();
    assert_eq!(levels.len(), 160);
    let at = |world: u32, number: u32| {
        levels
            .iter()
            .find(|spec| spec.world_number == world && spec.number == number)
            .unwrap()
    };
    let first = &at(1, 1).template;
    assert_eq!((first.par.from, first.par.to), (8, 8));
    assert_eq!((first.vehicles.from, first.vehicles.to), (17, 17));
    assert_eq!((at(1, 20).template.par.from, at(1, 20).template.par.to), (14, 14));
    assert_eq!(at(1, 1).world, "Downtown");
    assert_eq!(at(8, 1).world, "Frontline Valley");
    assert_eq!((at(8, 1).template.par.from, at(8, 1).template.par.to), (31, 31));
    assert_eq!((at(8, 20).template.par.from, at(8, 20).template.par.to), (36, 38));
    for number in 1..=20 {
        let template = &at(8, number).template;
        assert_eq!((template.width, template.height), (9, 12));
        assert!(template.vehicles.from > 40);
    }
    for world in 2..=8 {
        let (end, start) = (&at(world - 1, 20).template, &at(world, 1).template);
        assert!(
            start.par.to < end.par.from,
            "world {world} opens below the end of the one before"
        );
        assert!(start.par.from + 5 > end.par.from, "but only a little");
        assert!(at(world, 1).slack_percent < at(world - 1, 1).slack_percent);
    }
    assert_eq!((at(1, 1).slack_percent, at(8, 20).slack_percent), (40, 20));
    for pair in levels.windows(2).filter(|pair| pair[0].world == pair[1].world) {
        assert!(
            pair[0].template.par.from <= pair[1].template.par.from,
            "the shortest solution climbs"
        );
    }
}

#[test]
fn move_limits_leave_the_margin_of_the_seed() {
    assert_eq!(move_limit(8, 40), 12);
    assert_eq!(move_limit(3, 20), 5);
    assert_eq!(move_limit(37, 20), 45);
}

#[test]
fn a_candidate_is_a_function_of_template_and_seed() {
    for spec in shipped().levels().iter().step_by(70) {
        let first = candidate(&spec.template, spec.seeds[1]).unwrap();
        assert_eq!(candidate(&spec.template, spec.seeds[1]).unwrap(), first);
        assert_ne!(candidate(&spec.template, spec.seeds[2]).unwrap().0, first.0);
    }
}

#[test]
fn some_levels_of_the_shipped_plan_generates_and_passes_every_check() {
    let specs: Vec<LevelSpec> = shipped().levels().into_iter().step_by(31).collect();
    let levels = assemble(&specs, &entries(&specs, 1)).unwrap();
    for (spec, level) in specs.iter().zip(&levels) {
        let read = Level::parse(&level.spell()).unwrap();
        assert_eq!(&read, level);
        assert_eq!(
            check_level(&read, &specs),
            Vec::<Fault>::new(),
            "{}",
            spec.file_stem()
        );
    }
    let named: Vec<(String, &Level)> = specs.iter().map(LevelSpec::file_stem).zip(&levels).collect();
    assert_eq!(
        duplicates(named.iter().map(|(name, level)| (name.as_str(), *level))),
        []
    );
}

#[test]
fn a_campaign_does_not_depend_on_the_order_of_its_candidates() {
    let specs: Vec<LevelSpec> = shipped().levels().into_iter().take(4).collect();
    let mut entries = entries(&specs, 3);
    let levels = assemble(&specs, &entries).unwrap();
    entries.reverse();
    assert_eq!(assemble(&specs, &entries).unwrap(), levels);
    entries.rotate_left(5);
    assert_eq!(assemble(&specs, &entries).unwrap(), levels);
}

#[test]
fn the_same_jam_is_not_chosen_twice() {
    let spec = shipped().levels()[0].clone();
    let specs = vec![spec.clone(), spec];
    let mut entries = entries(&specs[..1], 2);
    let again: Vec<Entry> = entries
        .iter()
        .map(|entry| Entry {
            level: 1,
            ..entry.clone()
        })
        .collect();
    entries.extend(again);
    let levels = assemble(&specs, &entries).unwrap();
    assert_ne!(levels[0].jam, levels[1].jam);
    let only = entries[0].seed;
    entries.retain(|entry| entry.seed == only);
    assert!(assemble(&specs, &entries).is_err());
}

#[test]
fn check_names_what_is_wrong_with_a_level() {
    let specs: Vec<LevelSpec> = shipped().levels().into_iter().take(1).collect();
    let level = assemble(&specs, &entries(&specs, 1)).unwrap().remove(0);
    let faults = |change: &dyn Fn(&mut Level)| {
        let mut changed = level.clone();
        change(&mut changed);
        let faults = check_level(&changed, &specs);
        faults.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(faults(&|_| {}), Vec::<String>::new());
    assert_eq!(faults(&|level| level.moves = None), ["no move limit"]);
    assert_eq!(
        faults(&|level| level.moves = Some(20)),
        ["the move limit is 20, expected 12 to 12 for a shortest solution of 8"]
    );
    let star_times = faults(&|level| level.star_seconds = None);
    assert!(
        star_times[0].starts_with("star times are None, expected"),
        "{star_times:?}"
    );
    assert_eq!(
        faults(&|level| level.campaign.as_mut().unwrap().level = 99),
        ["the plan has no level 99 in a world \"Downtown\"",]
    );
    // Without its last vehicle the level has one too few for the plan, whatever else.
    let fewer = faults(&|level| {
        let mut parts = level.jam.parts().clone();
        parts.pieces.pop();
        level.jam = siren::jam::Jam::new(parts).unwrap();
    });
    assert!(
        fewer
            .iter()
            .any(|fault| fault == "the number of vehicles is 16, expected 17 to 17"),
        "{fewer:?}"
    );
    let one = [("a.json", &level), ("b.json", &level)];
    let same = duplicates(one);
    assert_eq!(
        same[0].1.to_string(),
        "the same jam as a.json up to turning and mirroring"
    );
}
