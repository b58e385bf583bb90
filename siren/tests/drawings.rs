//! Drawings show every piece, the lights, the ring road, its exits, the bridge and the crossings.

#![expect(clippy::unwrap_used, reason = "helpers of tests unwrap as tests do")]

use siren::draw::{svg, text};
use siren::jam::Jam;
use siren::level::Level;

fn example() -> Jam {
    let level = Level::parse(
        r#"{
          "format": 1, "name": "Drawn", "tows": 1,
          "lot": {"width": 4, "height": 5, "closed_sides": ["bottom"]},
          "ring": {
            "exits": [{"side": "top", "index": 3, "open": true}, {"side": "left", "index": 0, "open": false}],
            "lights": [{"side": "top", "index": 0, "colour": "green"}, {"side": "right", "index": 4, "colour": "red"}],
            "bridge": {"side": "right", "index": 1},
            "crossings": [{"side": "left", "index": 4}]
          },
          "pieces": [
            {"kind": "unit", "model": "police_car", "at": [1, 1], "size": [1, 2], "facing": "down"},
            {"kind": "vehicle", "at": [0, 0], "size": [3, 1], "facing": "right"},
            {"kind": "wreck", "at": [2, 1], "size": [1, 2], "facing": "up"},
            {"kind": "barricade", "at": [3, 2]},
            {"kind": "planter", "at": [0, 4]}
          ]
        }"#,
    );
    level.unwrap().jam
}

#[test]
fn text_shows_everything_in_its_place() {
    let drawing = text(&example());
    let lines: Vec<Vec<&str>> = drawing
        .lines()
        .take(11)
        .map(|line| line.split_whitespace().collect())
        .collect();
    let expected: [&[&str]; 11] = [
        &["]["],
        &["→", "→", "→", "→"],
        &["G", "·", "·", "·"],
        &["xx", "↑", "·", "--", "--", "1>", "·", "↓"],
        &["↑", "·", "|", "2w^", "·", "=="],
        &["↑", "·", "Uv", "|", "3b", "·", "↓"],
        &["↑", "·", "·", "↓"],
        &["::", "·", "##", "R", "↓"],
        &["XX", "XX", "XX", "XX"],
        &["←", "←", "←", "←"],
        &[],
    ];
    assert_eq!(lines, expected, "\n{drawing}");
    assert!(drawing.ends_with("tows: 1\n"));
}

#[test]
fn svg_shows_everything_and_loads_nothing() {
    let picture = svg(&example());
    let n = |what: &str| picture.matches(what).count();
    assert_eq!(n("<title>vehicle</title>"), 1);
    assert_eq!(n("<title>police car</title>"), 1);
    assert_eq!(n("<title>wreck</title>"), 1);
    assert_eq!(n("<title>barricade</title>"), 1);
    assert_eq!(n("<title>planter</title>"), 1);
    assert_eq!(
        (n("<title>green light</title>"), n("<title>red light</title>")),
        (1, 1)
    );
    assert_eq!(
        (n("<title>open exit</title>"), n("<title>closed exit</title>")),
        (1, 1)
    );
    assert_eq!(
        (n("<title>drawbridge</title>"), n("<title>crossing</title>")),
        (1, 1)
    );
    assert_eq!(n("<title>closed side</title>"), 4);
    assert_eq!(n("<polygon"), 3, "a nose for each facing");
    assert_eq!(n("http"), 1, "the name space only");
    assert!(!picture.contains("<script") && !picture.contains("href"));
}
