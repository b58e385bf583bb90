//! What each strategy of a hunt brings for its processor time, as charts with their numbers.

use maud::{Markup, html};

use super::{real, seconds};
use crate::store::{HuntLine, Window, YieldPoint};
use crate::web::charts::{Line, LineChart, Unit, X, lines};

/// Boards this much easier than a hunt's best are hard ones.
const MARGIN: i16 = 12;

/// The par from which a hunt's boards count as hard.
pub(super) fn hard_from(hunt: &HuntLine) -> i16 {
    let best = hunt.totals.as_ref().and_then(|totals| totals.best_par);
    best.map_or(1, |best| (best - MARGIN).max(1))
}

pub(super) fn charts(yields: &[YieldPoint], hard: i16, window: Window) -> Markup {
    let cost = curves(yields, |point| {
        (point.n_new > 0).then(|| 1_000.0 * point.cpu_s / real(point.n_new))
    });
    let hard_ones = curves(yields, |point| Some(real(point.n_hard) / point.cpu_s));
    let chart = |title, note, lines| LineChart {
        title,
        note,
        x: X::Time,
        unit: Unit::Figure,
        lines,
        is_stepped: false,
        from_zero: true,
    };
    let note = format!("milliseconds, by strategy, over {}", window.in_words());
    let hard_note = format!("par {hard} or more, by strategy, over {}", window.in_words());
    html! {
        (lines(&chart("Processor time for a new board", &note, cost)))
        (lines(&chart("Hard boards a processor second", &hard_note, hard_ones)))
    }
}

/// A line a strategy. `yields` stand by strategy, then by time; each has taken processor time.
fn curves(yields: &[YieldPoint], value: impl Fn(&YieldPoint) -> Option<f64>) -> Vec<Line> {
    let of_strategies = yields.chunk_by(|a, b| a.strategy == b.strategy);
    let curve = |points: &[YieldPoint]| Line {
        name: points[0].strategy.clone(),
        points: points
            .iter()
            .filter_map(|point| Some((seconds(point.at), value(point)?)))
            .collect(),
    };
    of_strategies.map(curve).collect()
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    fn point(strategy: &str, at: i64, cpu_s: f64, n_new: i64, n_hard: i64) -> YieldPoint {
        YieldPoint {
            strategy: strategy.to_owned(),
            at: OffsetDateTime::from_unix_timestamp(at).unwrap(),
            n_jobs: 1,
            cpu_s,
            n_new,
            n_hard,
        }
    }

    #[test]
    fn each_strategy_has_a_line_and_what_brought_nothing_no_price() {
        let yields = [
            point("anneal", 0, 10.0, 5_000, 20),
            point("anneal", 60, 10.0, 0, 0),
            point("scatter", 0, 4.0, 40_000, 0),
            point("scatter", 60, 4.0, 20_000, 2),
        ];
        let html = charts(&yields, 39, Window::Hour).into_string();
        for words in [
            "anneal",
            "scatter",
            "Processor time for a new board",
            "par 39 or more",
        ] {
            assert!(html.contains(words), "{words}");
        }
        let cost = curves(&yields, |point| {
            (point.n_new > 0).then(|| 1_000.0 * point.cpu_s / real(point.n_new))
        });
        assert_eq!(cost.len(), 2);
        assert_eq!(cost[0].points, [(0.0, 2.0)]);
        assert_eq!(cost[1].points, [(0.0, 0.1), (60.0, 0.2)]);
    }
}
