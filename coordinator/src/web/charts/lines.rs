//! Lines over time, or over a count.

use std::ops::Range;

use maud::{Markup, html};
use plotters::prelude::*;
use time::OffsetDateTime;

use super::{HEIGHT, RULE, SOFT, TEXT, Unit, WIDTH, dressed, framed, line_colour, thinned};
use crate::web::words;

/// What runs to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum X {
    /// Seconds since 1970.
    Time,
    /// A count of this.
    Count(&'static str),
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Ascending in x.
    pub(crate) points: Vec<(f64, f64)>,
}

/// A chart of lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineChart<'a> {
    pub(crate) title: &'a str,
    /// What window or unit it is.
    pub(crate) note: &'a str,
    pub(crate) x: X,
    pub(crate) unit: Unit,
    pub(crate) lines: Vec<Line>,
    /// Values hold until the next one.
    pub(crate) is_stepped: bool,
    /// Whether the axis begins at 0.
    pub(crate) from_zero: bool,
}

/// The chart; a card that says so where there are no two points to join.
pub(crate) fn lines(chart: &LineChart<'_>) -> Markup {
    let drawn = chart
        .lines
        .iter()
        .any(|line| line.points.len() > 1)
        .then(|| draw(chart).unwrap_or_default());
    let names: Vec<&str> = chart.lines.iter().map(|line| line.name.as_str()).collect();
    let picture = drawn.map(|svg| dressed(&svg, &in_words(chart)));
    framed(chart.title, chart.note, &names, picture.as_deref(), &table(chart))
}

fn draw(chart: &LineChart<'_>) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let (x, y) = (
            span(
                chart
                    .lines
                    .iter()
                    .flat_map(|line| line.points.iter().map(|p| p.0)),
            ),
            y_span(chart),
        );
        let mut axes = ChartBuilder::on(&area)
            .margin(6)
            .margin_right(14)
            .x_label_area_size(26)
            .y_label_area_size(58)
            .build_cartesian_2d(x.clone(), y)?;
        let length = x.end - x.start;
        axes.configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(("sans-serif", TEXT).into_font().color(&SOFT))
            .x_labels(5)
            .y_labels(5)
            .x_label_formatter(&|x| match chart.x {
                X::Time => clock(*x, length),
                X::Count(_) => words::figure(*x),
            })
            .y_label_formatter(&|y| chart.unit.axis(*y))
            .draw()?;
        for (i, line) in chart.lines.iter().enumerate() {
            let points = if chart.is_stepped {
                stepped(&line.points)
            } else {
                line.points.clone()
            };
            let colour = line_colour(i);
            if chart.lines.len() == 1 && chart.from_zero {
                axes.draw_series(AreaSeries::new(points.clone(), 0.0, colour.mix(0.12)))?;
            }
            axes.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// From the least to the most, never empty.
fn span(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    if low.is_finite() && high > low {
        low..high
    } else {
        flat(low)
    }
}

/// Around a value that stands alone; around 0 where there is none.
fn flat(value: f64) -> Range<f64> {
    let value = if value.is_finite() { value } else { 0.0 };
    value.min(0.0)..value.max(0.0) + 1.0
}

fn y_span(chart: &LineChart<'_>) -> Range<f64> {
    let values = chart
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(|p| p.1));
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let low = if chart.from_zero { 0.0 } else { low };
    let room = ((high - low) * 0.08).max(if chart.unit == Unit::Share { 0.02 } else { 0.5 });
    if chart.from_zero {
        0.0..high + room
    } else {
        (low - room).max(0.0)..high + room
    }
}

fn stepped(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut steps = Vec::with_capacity(points.len() * 2);
    for (i, &(x, y)) in points.iter().enumerate() {
        if i > 0 {
            steps.push((x, points[i - 1].1));
        }
        steps.push((x, y));
    }
    steps
}

/// An instant at the axis: the time of day, or the day where the span is long.
fn clock(x: f64, length: f64) -> String {
    let at = instant(x);
    if length > 3.0 * 86_400.0 {
        format!("{} {}", at.day(), short_month(at.month()))
    } else if length < 300.0 {
        format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
    } else {
        format!("{:02}:{:02}", at.hour(), at.minute())
    }
}

fn short_month(month: time::Month) -> String {
    month.to_string().chars().take(3).collect()
}

fn instant(x: f64) -> OffsetDateTime {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "seconds since 1970 are far below 2^63"
    )]
    let seconds = x as i64;
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn in_words(chart: &LineChart<'_>) -> String {
    let ends = chart.lines.iter().filter_map(|line| {
        let last = line.points.last()?;
        Some(format!("{} {} at the end", line.name, chart.unit.table(last.1)))
    });
    format!(
        "{}, {}: {}",
        chart.title,
        chart.note,
        ends.collect::<Vec<_>>().join(", ")
    )
}

/// The numbers: a row for each x of the first line that is shown, the values of the others at or before it.
fn table(chart: &LineChart<'_>) -> Markup {
    let mut xs: Vec<f64> = chart
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(|p| p.0))
        .collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let head = match chart.x {
        X::Time => "Time (UTC)",
        X::Count(what) => what,
    };
    html! {
        table {
            thead { tr { th scope="col" { (head) } @for line in &chart.lines { th.n scope="col" { (line.name) } } } }
            tbody {
                @for &x in thinned(&xs) {
                    tr {
                        th scope="row" { @match chart.x { X::Time => (words::stamp(instant(x))), X::Count(_) => (Unit::Count.table(x)) } }
                        @for line in &chart.lines { td.n { (value_at(line, x).map_or_else(|| words::NOTHING.to_owned(), |y| chart.unit.table(y))) } }
                    }
                }
            }
        }
    }
}

fn value_at(line: &Line, x: f64) -> Option<f64> {
    let after = line.points.partition_point(|p| p.0 <= x);
    after.checked_sub(1).map(|i| line.points[i].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> LineChart<'static> {
        LineChart {
            title: "Boards \"found\"",
            note: "the last hour",
            x: X::Time,
            unit: Unit::Count,
            lines: vec![Line {
                name: "new".into(),
                points,
            }],
            is_stepped: false,
            from_zero: true,
        }
    }

    #[test]
    fn a_chart_is_drawn_in_the_pages_colours_and_says_its_last_value() {
        let page = lines(&chart(vec![(1_800_000_000.0, 1.0), (1_800_000_060.0, 1500.0)])).0;
        assert!(page.contains("var(--c1)"), "{page}");
        assert!(!page.contains("#02"), "a stand-in was left: {page}");
        assert!(
            !page.contains("style=\""),
            "the content-security-policy forbids inline styles: {page}"
        );
        assert!(page.contains("new 1,500 at the end"));
        assert!(page.contains("Boards &quot;found&quot;"));
        assert!(page.contains("<td class=\"n\">1,500</td>"));
    }

    #[test]
    fn too_few_points_make_no_picture() {
        assert!(lines(&chart(vec![])).0.contains("No data yet"));
        assert!(lines(&chart(vec![(1.0, 1.0)])).0.contains("No data yet"));
    }

    #[test]
    fn a_flat_line_is_drawn_too() {
        assert!(
            lines(&chart(vec![(0.0, 0.0), (60.0, 0.0)]))
                .0
                .contains("<polyline")
        );
    }
}
