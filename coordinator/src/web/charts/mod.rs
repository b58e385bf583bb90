//! Charts, drawn by plotters as SVG, each with its numbers as a table beside it.
//!
//! plotters knows fixed colours only. It is given a palette of stand-ins, and each is replaced in the finished SVG by the
//! style sheet's variable, so that charts follow light and dark like everything else.

mod bars;
mod lines;

pub(crate) use bars::{BarChart, bars, classes_of_durations};
pub(crate) use lines::{Line, LineChart, X, lines};

use maud::{Markup, PreEscaped, html};
use plotters::style::RGBColor;

use super::words;

/// Width of a chart in its own units; it scales with the page.
const WIDTH: u32 = 520;
/// Height of a chart.
const HEIGHT: u32 = 240;
/// Size of its text.
const TEXT: u32 = 15;
/// The most rows in the table beside a chart.
const MAX_ROWS: usize = 60;
/// How many colours there are for lines.
const N_COLOURS: usize = 7;

/// Stand-ins: text, rules, then the lines' colours.
const SOFT: RGBColor = RGBColor(1, 2, 253);
const RULE: RGBColor = RGBColor(1, 3, 253);

const fn line_colour(i: usize) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, reason = "below seven")]
    let i = (i % N_COLOURS) as u8;
    RGBColor(2, i, 253)
}

/// How values are written at the axis and in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Whole numbers.
    Count,
    /// Measured figures.
    Figure,
    /// From 0 to 1.
    Share,
}

impl Unit {
    pub(crate) fn axis(self, value: f64) -> String {
        match self {
            Unit::Share => words::share(value),
            Unit::Count | Unit::Figure => words::figure(value),
        }
    }

    pub(crate) fn table(self, value: f64) -> String {
        match self {
            #[expect(clippy::cast_possible_truncation, reason = "counts are far below 2^63")]
            Unit::Count => words::count(value.round() as i64),
            Unit::Figure => words::figure(value),
            Unit::Share => words::share(value),
        }
    }
}

/// A chart in its frame: name, legend, picture, numbers.
fn framed(title: &str, note: &str, legend: &[&str], picture: Option<&str>, table: &Markup) -> Markup {
    html! {
        article.card {
            figure.chart {
                figcaption { h2 { (title) } span.small.soft { (note) } }
                @if legend.len() > 1 {
                    ul.legend {
                        @for (i, name) in legend.iter().enumerate() {
                            li {
                                svg.key viewBox="0 0 22 10" aria-hidden="true" { rect class={ "k" (i % N_COLOURS + 1) } width="22" height="10" rx="3" {} }
                                (name)
                            }
                        }
                    }
                }
                @match picture {
                    Some(svg) => (PreEscaped(svg)),
                    None => div.empty { p { "No data yet." } },
                }
            }
            @if picture.is_some() {
                details.numbers { summary { "Numbers" } div.scroll tabindex="0" role="region" aria-label={ "Numbers of the chart " (title) } { (table) } }
            }
        }
    }
}

/// The finished SVG: scaling, named, in the page's colours.
fn dressed(svg: &str, label: &str) -> String {
    let open = format!(r#"<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}""#);
    let label = label
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;");
    let named = format!(r#"<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}""#);
    let mut dressed = svg
        .replacen(&open, &named, 1)
        .replace(&hex(SOFT), "var(--soft)")
        .replace(&hex(RULE), "var(--line)");
    for i in 0..N_COLOURS {
        dressed = dressed.replace(&hex(line_colour(i)), &format!("var(--c{})", i + 1));
    }
    dressed
}

fn hex(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

/// At most [`MAX_ROWS`] of the rows, evenly chosen, the last always among them.
fn thinned<T>(rows: &[T]) -> impl Iterator<Item = &T> {
    let step = rows.len().div_ceil(MAX_ROWS).max(1);
    let offset = rows.len().saturating_sub(1) % step;
    rows.iter().skip(offset).step_by(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_are_thinned_and_end_with_the_last_row() {
        let rows: Vec<usize> = (0..200).collect();
        let thin: Vec<usize> = thinned(&rows).copied().collect();
        assert!(thin.len() <= MAX_ROWS);
        assert_eq!(thin.last(), Some(&199));
        assert_eq!(thinned(&[1, 2, 3]).count(), 3);
        assert_eq!(thinned::<u8>(&[]).count(), 0);
    }
}
