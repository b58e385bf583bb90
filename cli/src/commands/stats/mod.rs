//! `parforce stats`: the analysts' views as tables with bars, and as pictures.

mod chart;

use std::io::Write;
use std::path::PathBuf;

use coordinator::store::{AnalysisView, ViewRows};
use serde_json::{Map, Value};

use super::{DatabaseArguments, Outcome, UsageError};
use crate::output::table::{Align, Table};
use crate::output::thousands;
use crate::sheet;
use crate::store::OpenStore;
use chart::Chart;

/// The widest bar of a table, in characters.
const BAR: u32 = 40;

/// Show what the database knows: the par distribution, or any other of the analysts' views.
///
/// A table with a bar for one of its number columns (logarithmic, unless --linear), or the same as a picture. The
/// views are those of docs/analysts.md.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce stats
  parforce stats recall --bar found_percent --linear
  parforce stats par-distribution --out pars.svg")]
pub(crate) struct Arguments {
    /// The view
    #[arg(value_enum, default_value = "par-distribution")]
    view: View,
    /// At most this many rows
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u64,
    /// The column that bars are drawn for [default: the first count of boards, else the last number]
    #[arg(long, value_name = "COLUMN")]
    bar: Option<String>,
    /// Draw bars in proportion, not by the logarithm
    #[arg(long)]
    linear: bool,
    /// Print one JSON object a line
    #[arg(long, conflicts_with = "out")]
    json: bool,
    /// Write a bar chart instead: .svg, .png or .pdf
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum View {
    ParDistribution,
    Tallies,
    ParByHunt,
    HardestBoards,
    DiscoveryCurve,
    YieldByStrategy,
    Duplicates,
    Recall,
    Difficulty,
    Challenges,
    Storage,
    YieldByHunt,
    YieldCurve,
    Records,
}

impl From<View> for AnalysisView {
    fn from(view: View) -> AnalysisView {
        match view {
            View::ParDistribution => AnalysisView::ParDistribution,
            View::Tallies => AnalysisView::Tallies,
            View::ParByHunt => AnalysisView::ParByHunt,
            View::HardestBoards => AnalysisView::HardestBoards,
            View::DiscoveryCurve => AnalysisView::DiscoveryCurve,
            View::YieldByStrategy => AnalysisView::YieldByStrategy,
            View::Duplicates => AnalysisView::Duplicates,
            View::Recall => AnalysisView::Recall,
            View::Difficulty => AnalysisView::Difficulty,
            View::Challenges => AnalysisView::Challenges,
            View::Storage => AnalysisView::Storage,
            View::YieldByHunt => AnalysisView::YieldByHunt,
            View::YieldCurve => AnalysisView::YieldCurve,
            View::Records => AnalysisView::Records,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&arguments.database)?;
    let rows = store.wait(store.store.view_rows(arguments.view.into(), arguments.limit));
    store.close()?;
    let rows = rows?;
    let mut out = std::io::stdout().lock();
    if arguments.json {
        for line in json_lines(&rows) {
            writeln!(out, "{line}")?;
        }
        return Ok(Outcome::Done);
    }
    let bar = bar_column(&rows, arguments.bar.as_deref())?;
    if let Some(path) = &arguments.out {
        let bar = bar.ok_or_else(|| UsageError(String::from("the view has no number to draw bars for")))?;
        let labels = rows.rows.iter().map(|row| label(&rows, row, bar));
        let chart = Chart {
            title: format!("{} by {}", rows.columns[bar], label_heads(&rows, bar)),
            bars: labels.zip(values(&rows, bar)).collect(),
            is_linear: arguments.linear,
        };
        sheet::save(&[chart.draw()], path, None)?;
    } else {
        write!(out, "{}", table(&rows, bar, arguments.linear))?;
    }
    Ok(Outcome::Done)
}

fn json_lines(rows: &ViewRows) -> impl Iterator<Item = String> {
    rows.rows.iter().map(|row| {
        let cells = rows
            .columns
            .iter()
            .cloned()
            .zip(row.iter().map(|cell| match cell {
                None => Value::Null,
                // Numbers as they are, whatever their size: nothing is rounded on the way.
                Some(text) if is_number(text) => {
                    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
                }
                Some(text) => Value::from(text.as_str()),
            }));
        Value::Object(cells.collect::<Map<String, Value>>()).to_string()
    })
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-')
}

fn is_number_column(rows: &ViewRows, column: usize) -> bool {
    let mut cells = rows
        .rows
        .iter()
        .filter_map(|row| row[column].as_deref())
        .peekable();
    cells.peek().is_some() && cells.all(is_number)
}

/// The column that bars are drawn for; `None`: there is no number.
fn bar_column(rows: &ViewRows, wanted: Option<&str>) -> Result<Option<usize>, UsageError> {
    let is_number = |&column: &usize| is_number_column(rows, column);
    let Some(wanted) = wanted else {
        let boards = rows
            .columns
            .iter()
            .position(|name| name == "n_boards")
            .filter(is_number);
        return Ok(boards.or_else(|| (0..rows.columns.len()).rev().find(is_number)));
    };
    match rows.columns.iter().position(|name| name == wanted) {
        Some(column) if is_number(&column) || rows.rows.is_empty() => Ok(Some(column)),
        Some(_) => Err(UsageError(format!("column {wanted} holds no numbers"))),
        None => Err(UsageError(format!(
            "there is no column {wanted}, but {}",
            rows.columns.join(", ")
        ))),
    }
}

fn values(rows: &ViewRows, column: usize) -> Vec<f64> {
    let number = |row: &Vec<Option<String>>| row[column].as_deref().and_then(|text| text.parse().ok());
    rows.rows.iter().map(|row| number(row).unwrap_or(0.0)).collect()
}

/// What a bar is labelled by: the cells before its column that are short.
fn label(rows: &ViewRows, row: &[Option<String>], bar: usize) -> String {
    let short = (0..bar).filter(|&column| is_label(rows, column));
    short
        .filter_map(|column| row[column].as_deref())
        .collect::<Vec<_>>()
        .join(" ")
}

fn label_heads(rows: &ViewRows, bar: usize) -> String {
    let short = (0..bar).filter(|&column| is_label(rows, column));
    short
        .map(|column| rows.columns[column].as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether a column's cells are short and not all alike.
fn is_label(rows: &ViewRows, column: usize) -> bool {
    let mut cells = rows.rows.iter().map(|row| row[column].as_deref());
    let first = cells.clone().next().flatten();
    cells.clone().all(|cell| cell.is_none_or(|cell| cell.len() <= 20)) && cells.any(|cell| cell != first)
}

/// The share of the widest bar that a value gets, from 0 to 1.
fn share(value: f64, largest: f64, is_linear: bool) -> f64 {
    if value <= 0.0 || largest <= 0.0 {
        0.0
    } else if is_linear {
        value / largest
    } else {
        // A value of 1 gets a bar too.
        (1.0 + value).ln() / (1.0 + largest).ln()
    }
}

fn table(rows: &ViewRows, bar: Option<usize>, is_linear: bool) -> Table {
    let align = |column: usize| {
        if is_number_column(rows, column) {
            Align::Right
        } else {
            Align::Left
        }
    };
    let mut heads: Vec<(&str, Align)> = rows
        .columns
        .iter()
        .enumerate()
        .map(|(column, name)| (name.as_str(), align(column)))
        .collect();
    let scale = if is_linear { "" } else { "(log scale)" };
    heads.extend(bar.map(|_| (scale, Align::Left)));
    let mut table = Table::new(&heads);
    let values = bar.map_or_else(Vec::new, |bar| values(rows, bar));
    let largest = values.iter().copied().fold(0.0, f64::max);
    for (i, row) in rows.rows.iter().enumerate() {
        let cells = row
            .iter()
            .enumerate()
            .map(|(column, cell)| shown(rows, column, cell.as_deref()));
        let width = values
            .get(i)
            .map(|&value| share(value, largest, is_linear) * f64::from(BAR));
        let bar = width.map(|width| {
            (0..BAR)
                .take_while(|&n| f64::from(n) < width)
                .map(|_| '█')
                .collect()
        });
        table.row(cells.chain(bar).collect());
    }
    table
}

/// A cell for people: counts with their thousands set apart.
fn shown(rows: &ViewRows, column: usize, cell: Option<&str>) -> String {
    let Some(cell) = cell else { return String::new() };
    let is_count = rows.columns[column].starts_with("n_") || rows.columns[column].ends_with("_bytes");
    match cell.parse() {
        Ok(count) if is_count => thousands(count),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> ViewRows {
        let row = |par: &str, n: &str| vec![Some("6x6".into()), Some(par.into()), Some(n.into()), None];
        ViewRows {
            columns: ["lot", "par", "n_boards", "note"].map(Into::into).to_vec(),
            rows: vec![row("3", "1234"), row("51", "1")],
        }
    }

    #[test]
    fn a_table_has_a_bar_for_the_boards() {
        let rows = rows();
        let text = table(&rows, bar_column(&rows, None).unwrap(), false).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with("lot") && lines[0].contains("(log scale)"),
            "{text}"
        );
        assert!(
            lines[1].contains("1,234") && lines[1].ends_with(&"█".repeat(40)),
            "{text}"
        );
        assert!(lines[2].contains('█'), "{text}");
    }

    #[test]
    fn json_keeps_numbers_and_nulls() {
        let lines: Vec<String> = json_lines(&rows()).collect();
        let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(
            first,
            serde_json::json!({"lot": "6x6", "n_boards": 1234, "note": null, "par": 3})
        );
    }

    #[test]
    fn a_column_that_is_not_there_is_refused() {
        let refused = bar_column(&rows(), Some("size")).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "there is no column size, but lot, par, n_boards, note"
        );
        let refused = bar_column(&rows(), Some("lot")).unwrap_err();
        assert_eq!(refused.to_string(), "column lot holds no numbers");
        assert_eq!(label(&rows(), &rows().rows[0], 2), "3");
    }
}
