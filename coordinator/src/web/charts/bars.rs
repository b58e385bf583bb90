//! Bars, one for each of a few classes; on a log axis where they differ by magnitudes.

use maud::{Markup, html};
use plotters::prelude::*;

use super::{HEIGHT, RULE, SOFT, TEXT, Unit, WIDTH, dressed, framed, line_colour};
use crate::web::words;

/// A chart of bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) note: &'a str,
    /// What the classes are.
    pub(crate) x: &'a str,
    /// What is counted.
    pub(crate) y: &'a str,
    /// Name of the class, and how many.
    pub(crate) bars: Vec<(String, u64)>,
    pub(crate) is_log: bool,
}

/// The chart; a card that says so where there is nothing.
pub(crate) fn bars(chart: &BarChart<'_>) -> Markup {
    let any = chart.bars.iter().any(|bar| bar.1 > 0);
    let picture = any.then(|| dressed(&draw(chart).unwrap_or_default(), &in_words(chart)));
    framed(chart.title, chart.note, &[], picture.as_deref(), &table(chart))
}

fn draw(chart: &BarChart<'_>) -> Result<String, Box<dyn std::error::Error>> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let most = chart.bars.iter().map(|bar| bar.1).max().unwrap_or(1).max(1);
        // On the log axis a bar of one must be seen: the axis begins below one, at a place that says "0".
        let height = |n: u64| {
            if chart.is_log {
                if n == 0 { 0.0 } else { to_f64(n).log10() + 0.3 }
            } else {
                to_f64(n)
            }
        };
        let n_bars = chart.bars.len();
        let mut axes = ChartBuilder::on(&area)
            .margin(6)
            .x_label_area_size(28)
            .y_label_area_size(58)
            .build_cartesian_2d(-0.5..to_f64(n_bars as u64) - 0.5, 0.0..height(most) * 1.06)?;
        axes.configure_mesh()
            .disable_mesh()
            .axis_style(RULE)
            .label_style(("sans-serif", TEXT).into_font().color(&SOFT))
            .x_labels(n_bars.min(11))
            .y_labels(0)
            .x_label_formatter(&|x| label_at(chart, *x))
            .draw()?;
        for (value, name) in ticks(chart, most) {
            let y = height(value);
            axes.draw_series(std::iter::once(PathElement::new(
                [(-0.5, y), (to_f64(n_bars as u64) - 0.5, y)],
                RULE,
            )))?;
            let (x, y) = axes.backend_coord(&(-0.5, y));
            let style =
                ("sans-serif", TEXT)
                    .into_font()
                    .color(&SOFT)
                    .pos(plotters::style::text_anchor::Pos::new(
                        plotters::style::text_anchor::HPos::Right,
                        plotters::style::text_anchor::VPos::Center,
                    ));
            area.draw(&Text::new(name, (x - 6, y), style))?;
        }
        axes.draw_series(
            chart
                .bars
                .iter()
                .enumerate()
                .filter(|(_, bar)| bar.1 > 0)
                .map(|(i, bar)| {
                    let x = to_f64(i as u64);
                    Rectangle::new(
                        [(x - 0.4, 0.0), (x + 0.4, height(bar.1))],
                        line_colour(0).filled(),
                    )
                }),
        )?;
        area.present()?;
    }
    Ok(svg)
}

#[expect(clippy::cast_precision_loss, reason = "a picture needs no more than 53 bits")]
fn to_f64(n: u64) -> f64 {
    n as f64
}

/// The class in whose middle the axis asks for a label.
fn label_at(chart: &BarChart<'_>, x: f64) -> String {
    let nearest = x.round();
    if (x - nearest).abs() > 0.01 || nearest < 0.0 {
        return String::new();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 or more, and a few dozen at most"
    )]
    let i = nearest as usize;
    chart.bars.get(i).map(|bar| bar.0.clone()).unwrap_or_default()
}

fn ticks(chart: &BarChart<'_>, most: u64) -> Vec<(u64, String)> {
    if chart.is_log {
        let decades = std::iter::successors(Some(1_u64), |n| n.checked_mul(10)).take_while(|n| *n <= most);
        let decades: Vec<u64> = decades.collect();
        let step = decades.len().div_ceil(6).max(1);
        return decades
            .into_iter()
            .step_by(step)
            .map(|n| (n, words::figure(to_f64(n))))
            .collect();
    }
    let rough = most.div_ceil(4).max(1);
    let magnitude = 10_u64.pow(rough.ilog10());
    let step = [1, 2, 5, 10]
        .iter()
        .map(|m| m * magnitude)
        .find(|step| *step >= rough)
        .unwrap_or(rough);
    (0..=most / step)
        .map(|i| (i * step, words::figure(to_f64(i * step))))
        .collect()
}

fn in_words(chart: &BarChart<'_>) -> String {
    let total: u64 = chart.bars.iter().map(|bar| bar.1).sum();
    let peak = chart.bars.iter().max_by_key(|bar| bar.1);
    let scale = if chart.is_log { ", logarithmic scale" } else { "" };
    match peak {
        Some((name, n)) => format!(
            "{}, {}{scale}: {} {}, most at {} {name}: {}",
            chart.title,
            chart.note,
            words::count(total),
            chart.y,
            chart.x,
            words::count(*n)
        ),
        None => chart.title.to_owned(),
    }
}

fn table(chart: &BarChart<'_>) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { (chart.x) } th.n scope="col" { (chart.y) } } }
            tbody {
                // Classes are few (a par, a length of time), and a distribution must not be thinned.
                @for (name, n) in &chart.bars {
                    tr { th scope="row" { (name) } td.n { (Unit::Count.table(to_f64(*n))) } }
                }
            }
        }
    }
}

/// Lengths of time in some twelve classes of whole seconds, minutes or hours.
pub(crate) fn classes_of_durations(seconds: &[f64]) -> Vec<(String, u64)> {
    let most = seconds.iter().copied().fold(0.0, f64::max);
    let step = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 43_200.0,
    ]
    .into_iter()
    .find(|step| most / step <= 14.0)
    .unwrap_or(86_400.0);
    if seconds.is_empty() {
        return Vec::new();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths of time are 0 or more, classes few"
    )]
    let class = |s: f64| (s.max(0.0) / step) as usize;
    let mut counts = vec![0_u64; class(most) + 1];
    for &s in seconds {
        counts[class(s)] += 1;
    }
    let name = |i: usize| {
        #[expect(clippy::cast_possible_truncation, reason = "a few days at most")]
        let from = (to_f64(i as u64) * step) as i64;
        match step {
            s if s < 60.0 => format!("{from} s"),
            s if s < 3_600.0 => format!("{} min", from / 60),
            _ => format!("{} h", from / 3_600),
        }
    };
    counts
        .into_iter()
        .enumerate()
        .map(|(i, n)| (name(i), n))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(bars: &[(&str, u64)], is_log: bool) -> BarChart<'static> {
        let bars = bars.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        BarChart {
            title: "Boards by par",
            note: "6x6",
            x: "par",
            y: "boards",
            bars,
            is_log,
        }
    }

    #[test]
    fn every_class_with_boards_has_a_bar_on_the_log_axis() {
        let page = bars(&chart(&[("1", 1), ("2", 0), ("3", 61_984)], true)).0;
        assert_eq!(page.matches("<rect").count(), 2, "{page}");
        assert!(page.contains("61,985 boards, most at par 3: 61,984"));
        assert!(page.contains("logarithmic"));
        assert!(!page.contains("style=\""));
    }

    #[test]
    fn nothing_makes_no_picture() {
        assert!(bars(&chart(&[], true)).0.contains("No data yet"));
    }

    #[test]
    fn durations_fall_into_a_dozen_classes() {
        let classes = classes_of_durations(&[0.5, 1.2, 9.9, 10.0]);
        assert_eq!(classes.len(), 11);
        assert_eq!(classes[0], ("0 s".to_owned(), 1));
        assert_eq!(classes_of_durations(&[1_000.0]).last().unwrap().0, "16 min");
        assert!(classes_of_durations(&[]).is_empty());
    }
}
