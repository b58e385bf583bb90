//! Level and plan files: what is read, what is refused and how it is said, and that schema and reader agree.

#![expect(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

mod schema;

use schema::Schema;
use serde_json::{Value, json};
use siren::level::{LEVEL_SCHEMA, Level, LevelError};
use siren::plan::{PLAN_SCHEMA, Plan, PlanError, SHIPPED_PLAN};
use siren::random::{Stream, derive_seed};
use siren::sample::Sample;

fn example() -> Value {
    json!({
        "format": 1,
        "name": "Example",
        "campaign": { "world": "Downtown", "level": 3, "seed": "18446744073709551615" },
        "tutorial": "tap",
        "moves": 9,
        "star_seconds": { "three": 20, "two": 30 },
        "lot": { "width": 5, "height": 6, "closed_sides": ["left"] },
        "tows": 1,
        "ring": {
            "exits": [{ "side": "top", "index": 4, "open": true }, { "side": "left", "index": 0, "open": false }],
            "lights": [{ "side": "right", "index": 2, "colour": "red" }],
            "bridge": { "side": "bottom", "index": 1 },
            "crossings": [{ "side": "left", "index": 5 }]
        },
        "pieces": [
            { "kind": "unit", "model": "fire_engine", "at": [2, 1], "size": [1, 3], "facing": "up" },
            { "kind": "vehicle", "at": [1, 0], "size": [3, 1], "facing": "right" },
            { "kind": "wreck", "at": [3, 1], "size": [1, 2], "facing": "down" },
            { "kind": "barricade", "at": [2, 5] },
            { "kind": "planter", "at": [0, 5] }
        ]
    })
}

fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut file = example();
    change(&mut file);
    Level::parse(&file.to_string()).unwrap_err().to_string()
}

#[test]
fn a_level_is_read_as_it_is_spelled() {
    let level = Level::parse(&example().to_string()).unwrap();
    let spelled = level.spell();
    assert_eq!(Level::parse(&spelled).unwrap(), level);
    assert_eq!(serde_json::from_str::<Value>(&spelled).unwrap(), example());
    assert_eq!(spelled.lines().count(), 18, "one piece a line:\n{spelled}");
}

#[test]
fn random_jams_are_read_as_they_are_spelled() {
    for number in 0..500 {
        let jam = Sample::SMALL.draw(&mut Stream::new(derive_seed(&[20, number])));
        let level = Level {
            name: String::new(),
            campaign: None,
            tutorial: None,
            moves: None,
            star_seconds: None,
            jam,
        };
        assert_eq!(Level::parse(&level.spell()).unwrap(), level);
        let value = serde_json::from_str(&level.spell()).unwrap();
        assert_eq!(Schema::new(LEVEL_SCHEMA).faults(&value), Vec::<String>::new());
    }
}

#[test]
fn refusals_name_the_place_and_the_value() {
    let cases: Vec<(String, &str)> = vec![
        (
            refusal(|file| file["pieces"][3]["at"] = json!([2, 2])),
            "pieces[3]: overlaps pieces[0] at column 2, row 2",
        ),
        (
            refusal(|file| file["pieces"][1]["at"] = json!([3, 0])),
            "pieces[1]: vehicle at column 5, row 0 does not lie inside the 5x6 lot",
        ),
        (
            refusal(|file| file["pieces"][4] = file["pieces"][0].clone()),
            "pieces[4]: a second unit at column 2, row 1; the first is pieces[0]",
        ),
        (
            refusal(|file| file["pieces"][0]["facing"] = json!("left")),
            "pieces[0]: unit of size [1, 3] at column 2, row 1 does not lie along its facing, Left",
        ),
        (
            refusal(|file| file["pieces"] = json!([])),
            "pieces: there is no unit",
        ),
        (
            refusal(|file| file["pieces"][0]["size"] = json!([1, 1])),
            "pieces[0]: unit has length 1, expected 2 or 3",
        ),
        (
            refusal(|file| file["pieces"][1]["size"] = json!([4, 1])),
            "pieces[1]: vehicle has length 4, expected 1 to 3",
        ),
        (
            refusal(|file| file["ring"]["exits"][1]["index"] = json!(6)),
            "ring.exits[1]: no place left 6 on a 5x6 lot, whose left side has places 0 to 5",
        ),
        (
            refusal(|file| file["ring"]["lights"][0]["index"] = json!(9)),
            "ring.lights[0]: no place right 9 on a 5x6 lot, whose right side has places 0 to 5",
        ),
        (
            refusal(|file| file["ring"]["bridge"]["index"] = json!(5)),
            "ring.bridge[0]: no place bottom 5 on a 5x6 lot, whose bottom side has places 0 to 4",
        ),
        (
            refusal(|file| file["ring"]["exits"][1] = file["ring"]["exits"][0].clone()),
            "ring.exits[1]: a second one at top 4",
        ),
        (
            refusal(|file| file["lot"]["closed_sides"] = json!(["left", "left"])),
            "lot.closed_sides[1]: left is closed already",
        ),
        (
            refusal(|file| file["lot"]["width"] = json!(13)),
            "lot: lot is 13x6, expected 3 to 12 squares each way",
        ),
        (
            refusal(|file| file["format"] = json!(2)),
            "format is 2, expected 1",
        ),
        (
            refusal(|file| file["solution"] = json!([])),
            "unknown field `solution`, expected one of `format`, `name`, `campaign`, `tutorial`, `moves`, `star_seconds`, \
             `lot`, `tows`, `ring`, `pieces` at line 1 column ",
        ),
        (
            refusal(|file| file["pieces"][3]["facing"] = json!("up")),
            "unknown field `facing`, expected `at`",
        ),
        (
            refusal(|file| file["campaign"]["seed"] = json!("-1")),
            "seed is \"-1\", expected a number of 64 bits in decimal",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.starts_with(expected), "{found:?}, expected {expected:?}");
    }
}

#[test]
fn a_field_given_twice_is_refused() {
    let text = example()
        .to_string()
        .replacen("\"tows\":1", "\"tows\":1,\"tows\":1", 1);
    assert!(
        Level::parse(&text)
            .unwrap_err()
            .to_string()
            .starts_with("duplicate field `tows`")
    );
}

#[test]
fn the_schema_of_levels_and_the_reader_refuse_the_same_forms() {
    let reads = |value: &Value| match Level::parse(&value.to_string()) {
        Ok(_) => Verdict::Read,
        Err(LevelError::Json(_) | LevelError::Format(_)) => Verdict::WrongForm,
        Err(_) => Verdict::NotLegal,
    };
    compare(&example(), LEVEL_SCHEMA, reads);
}

#[test]
fn the_schema_of_plans_and_the_reader_refuse_the_same_forms() {
    let reads = |value: &Value| match Plan::parse(&value.to_string()) {
        Ok(_) => Verdict::Read,
        Err(PlanError::Json(_) | PlanError::Format(_)) => Verdict::WrongForm,
        Err(_) => Verdict::NotLegal,
    };
    let mut plan: Value = serde_json::from_str(SHIPPED_PLAN).unwrap();
    // One world is enough to change every field of.
    plan["worlds"].as_array_mut().unwrap().truncate(1);
    let features = json!({ "lights": 1, "crossings": 1, "bridges": 1, "wrecks": 1, "barricades": 1, "planters": 1,
        "closed_sides": 1, "closed_exits": 1 });
    plan["worlds"][0]["features"] = json!([{ "levels": [2], "tutorial": "all", "features": features }]);
    compare(&plan, PLAN_SCHEMA, reads);
}

enum Verdict {
    Read,
    /// Refused while the text was read.
    WrongForm,
    /// Of the right form, but senseless.
    NotLegal,
}

/// Changes every part of a document in every way of a list, and compares what the schema and the reader say.
fn compare(example: &Value, schema: &str, reads: impl Fn(&Value) -> Verdict) {
    let schema = Schema::new(schema);
    assert_eq!(schema.faults(example), Vec::<String>::new());
    assert!(matches!(reads(example), Verdict::Read));
    let (mut n_kept, mut n_refused) = (0, 0);
    for changed in schema::changes(example) {
        let faults = schema.faults(&changed);
        match reads(&changed) {
            Verdict::Read => assert!(
                faults.is_empty(),
                "read, but the schema says {faults:?}: {changed}"
            ),
            Verdict::WrongForm => assert!(
                !faults.is_empty(),
                "not read, but the schema has no fault: {changed}"
            ),
            Verdict::NotLegal => {}
        }
        if faults.is_empty() {
            n_kept += 1;
        } else {
            n_refused += 1;
        }
    }
    assert!(
        n_kept > 20 && n_refused > 200,
        "{n_kept} changes kept the form, {n_refused} broke it"
    );
}
