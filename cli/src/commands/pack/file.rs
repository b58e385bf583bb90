//! The file of a pack: JSON, as `cli/schema/pack.json` describes it.

use std::path::Path;

use anyhow::Context;
use board::difficulty::Difficulty;
use board::pack::Level;
use serde::{Deserialize, Serialize};

/// The format's name; another format gets another name.
pub(super) const FORMAT: &str = "parforce-pack-1";

/// The largest file that is read, in bytes: thousands of levels.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PackFile {
    pub(super) format: String,
    /// What the levels were picked by, for people.
    pub(super) curve: String,
    pub(super) lot: String,
    pub(super) levels: Vec<LevelEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelEntry {
    pub(super) level: u32,
    pub(super) board: String,
    pub(super) par: u16,
    pub(super) vehicles: u64,
    pub(super) states: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) difficulty: Option<DifficultyEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) solution: Option<Vec<String>>,
}

/// Measures for people; see `board::difficulty`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DifficultyEntry {
    pub(super) solutions: u64,
    pub(super) branching: f64,
    pub(super) against: u32,
    pub(super) movers: u32,
    pub(super) repeat_movers: u32,
    pub(super) dead_end_share: f64,
    pub(super) luck_bits: f64,
}

impl From<Difficulty> for DifficultyEntry {
    fn from(d: Difficulty) -> DifficultyEntry {
        DifficultyEntry {
            solutions: d.n_solutions,
            branching: thousandths(d.n_way_slides, d.n_way_positions),
            against: d.n_against,
            movers: d.n_movers,
            repeat_movers: d.n_repeat_movers,
            dead_end_share: thousandths(d.n_dead_ends, d.n_unsolved),
            luck_bits: f64::from(d.luck_tenths) / 10.0,
        }
    }
}

/// A ratio to three decimals, rounded down; 0 of 0 is 0.
fn thousandths(count: u64, of: u64) -> f64 {
    let thousandths = u128::from(count) * 1000 / u128::from(of.max(1));
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1000.0
}

impl LevelEntry {
    /// What is checked of it.
    pub(super) fn to_level(&self) -> Level {
        Level {
            number: self.level,
            board: self.board.clone(),
            par: self.par,
            n_vehicles: self.vehicles,
            n_states: self.states,
            steps: self.steps,
            solution: self.solution.clone(),
        }
    }
}

impl PackFile {
    /// Reads a pack; everything in it is still to be proved.
    ///
    /// # Errors
    /// When it cannot be read, is no JSON, or has other fields than a pack.
    pub(super) fn read(path: &Path) -> anyhow::Result<PackFile> {
        let name = path.display();
        let size = std::fs::metadata(path)
            .with_context(|| format!("reading {name}"))?
            .len();
        anyhow::ensure!(
            size <= MAX_BYTES,
            "{name} has {size} bytes, expected at most {MAX_BYTES}"
        );
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {name}"))?;
        let pack: PackFile = serde_json::from_str(&text).with_context(|| format!("{name} is no pack"))?;
        let format = &pack.format;
        anyhow::ensure!(
            format == FORMAT,
            "{name} has the format {format:?}, expected {FORMAT:?}"
        );
        Ok(pack)
    }

    /// As JSON, a level a line, so that packs can be compared line by line.
    pub(super) fn to_json(&self) -> String {
        let text = |value: &str| serde_json::to_string(value).expect("texts can be written as JSON");
        let level = |level: &LevelEntry| serde_json::to_string(level).expect("levels can be written as JSON");
        let levels: Vec<String> = self.levels.iter().map(level).collect();
        format!(
            "{{\n\"format\": {},\n\"curve\": {},\n\"lot\": {},\n\"levels\": [\n{}\n]\n}}\n",
            text(&self.format),
            text(&self.curve),
            text(&self.lot),
            levels.join(",\n")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> LevelEntry {
        let difficulty = DifficultyEntry {
            solutions: 4,
            branching: 8.25,
            against: 0,
            movers: 2,
            repeat_movers: 0,
            dead_end_share: 0.125,
            luck_bits: 5.5,
        };
        LevelEntry {
            level: 1,
            board: "oooooooooBooAAoBoooooooooooooooooooo".into(),
            par: 2,
            vehicles: 2,
            states: 20,
            steps: Some(5),
            difficulty: Some(difficulty),
            solution: Some(vec!["B+1".into(), "A+4".into()]),
        }
    }

    fn pack() -> PackFile {
        PackFile {
            format: FORMAT.into(),
            curve: "even".into(),
            lot: "6x6".into(),
            levels: vec![entry()],
        }
    }

    #[test]
    fn a_pack_is_read_back_as_it_was_written() {
        let text = pack().to_json();
        let back: PackFile = serde_json::from_str(&text).unwrap();
        assert_eq!(back.to_json(), text);
        assert_eq!(back.levels[0].to_level(), entry().to_level());
    }

    #[test]
    fn the_schema_names_the_fields_of_the_file() {
        let schema: serde_json::Value = serde_json::from_str(super::super::SCHEMA).unwrap();
        let names = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let written: serde_json::Value = serde_json::from_str(&pack().to_json()).unwrap();
        let level = &schema["properties"]["levels"]["items"];
        assert_eq!(names(&schema["properties"]), names(&written));
        assert_eq!(names(&level["properties"]), names(&written["levels"][0]));
        assert_eq!(
            names(&level["properties"]["difficulty"]["properties"]),
            names(&written["levels"][0]["difficulty"])
        );
        assert_eq!(schema["properties"]["format"]["const"], FORMAT);
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let text = pack()
            .to_json()
            .replace("\"par\":2", "\"par\":2,\"theme\":\"snow\"");
        let error = serde_json::from_str::<PackFile>(&text).unwrap_err();
        assert!(error.to_string().contains("unknown field `theme`"), "{error}");
    }
}
