//! What `top` shows: a function of what was read.

use coordinator::store::{EventLine, FarmNow, FarmPoint, HuntLine, WorkerLine};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Paragraph, Row, Sparkline, Table};

use crate::commands::instant;
use crate::output::thousands;

/// What was read at one moment.
pub(super) struct Snapshot {
    pub(super) farm: FarmNow,
    pub(super) hunts: Vec<HuntLine>,
    pub(super) series: Vec<FarmPoint>,
    pub(super) workers: Vec<WorkerLine>,
    pub(super) events: Vec<EventLine>,
    /// Why what is shown is old; `None`: it is not.
    pub(super) trouble: Option<String>,
}

/// Draws everything; parts that find no room are left out, the figures last.
pub(super) fn draw(frame: &mut Frame<'_>, snapshot: &Snapshot, is_paused: bool) {
    let n_hunts = u16::try_from(snapshot.hunts.len().min(8)).unwrap_or(8);
    let [head, figures, rate, hunts, workers, events] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(4),
        Constraint::Length(5),
        Constraint::Length(n_hunts + 3),
        Constraint::Min(4),
        Constraint::Length(10),
    ])
    .areas(frame.area());
    draw_head(frame, head, snapshot, is_paused);
    frame.render_widget(
        Paragraph::new(farm_lines(&snapshot.farm)).block(titled("Farm")),
        figures,
    );
    draw_rate(frame, rate, &snapshot.series);
    frame.render_widget(hunt_table(&snapshot.hunts), hunts);
    frame.render_widget(worker_table(&snapshot.workers), workers);
    let lines: Vec<Line<'_>> = snapshot.events.iter().map(event_line).collect();
    frame.render_widget(
        Paragraph::new(lines).block(titled("Events, newest first")),
        events,
    );
}

fn titled(title: &str) -> Block<'_> {
    Block::bordered()
        .title(title)
        .border_style(Style::new().fg(Color::DarkGray))
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot, is_paused: bool) {
    let mut spans = vec![
        Span::styled(
            " parforce ",
            Style::new()
                .fg(Color::Black)
                .bg(Color::Cyan)
                .add_modifier(Modifier::BOLD),
        ),
        Span::raw(format!(" data as of {}", instant(snapshot.farm.now))),
    ];
    if is_paused {
        spans.push(Span::styled("  paused", Style::new().fg(Color::Yellow)));
    }
    if let Some(trouble) = &snapshot.trouble {
        spans.push(Span::styled(format!("  {trouble}"), Style::new().fg(Color::Red)));
    }
    spans.push(Span::styled(
        "   q ends · space pauses · + - how often",
        Style::new().fg(Color::DarkGray),
    ));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn farm_lines(farm: &FarmNow) -> Vec<Line<'static>> {
    let count = |n: i64| thousands(n.unsigned_abs());
    let bad = |n: i64, color| {
        if n > 0 {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    };
    vec![
        Line::from(vec![
            Span::raw(format!("boards {}   ", count(farm.n_boards))),
            Span::raw(format!("positions/s {}   ", figure(farm.positions_per_s))),
            Span::raw(format!(
                "cores {:.0} of {}   ",
                farm.n_busy_cores,
                count(farm.n_cores)
            )),
            Span::raw(format!(
                "jobs {} held, {} waiting, ",
                count(farm.n_leased),
                count(farm.n_queued)
            )),
            Span::styled(
                format!("{} parked", count(farm.n_parked)),
                bad(farm.n_parked, Color::Red),
            ),
        ]),
        Line::from(vec![
            Span::raw(format!("workers {} live, ", count(farm.n_live))),
            Span::styled(
                format!("{} stalled, ", count(farm.n_stalled)),
                bad(farm.n_stalled, Color::Yellow),
            ),
            Span::raw(format!("{} draining, ", count(farm.n_draining))),
            Span::styled(
                format!("{} quarantined", count(farm.n_quarantined)),
                bad(farm.n_quarantined, Color::Red),
            ),
        ]),
    ]
}

fn draw_rate(frame: &mut Frame<'_>, area: Rect, series: &[FarmPoint]) {
    let new: Vec<u64> = series
        .windows(2)
        .map(|pair| (pair[1].n_boards - pair[0].n_boards).max(0).unsigned_abs())
        .collect();
    let room = usize::from(area.width.saturating_sub(2));
    let shown = &new[new.len().saturating_sub(room)..];
    let title = format!(
        "New boards, the last hour (most {} in 20 s)",
        thousands(shown.iter().copied().max().unwrap_or(0))
    );
    let sparkline = Sparkline::default()
        .data(shown)
        .style(Style::new().fg(Color::Cyan))
        .block(titled(&title));
    frame.render_widget(sparkline, area);
}

fn hunt_table(hunts: &[HuntLine]) -> Table<'static> {
    let rows = hunts.iter().take(8).map(|hunt| {
        let totals = hunt.totals.as_ref();
        let count = |n: Option<i64>| n.map_or_else(|| "-".to_owned(), |n| thousands(n.unsigned_abs()));
        let style = match hunt.state.as_str() {
            "running" => Style::new().fg(Color::Cyan),
            "paused" => Style::new().fg(Color::Yellow),
            _ => Style::new().fg(Color::DarkGray),
        };
        Row::new(vec![
            Cell::from(hunt.name.clone()),
            Cell::from(hunt.state.clone()).style(style),
            Cell::from(format!("{} {}", hunt.subject(), hunt.strategy)),
            Cell::from(hunt.priority.to_string()),
            Cell::from(format!("{:.0}", hunt.n_cores)),
            Cell::from(count(totals.map(|t| t.n_new))),
            Cell::from(
                totals
                    .and_then(|t| t.best_par)
                    .map_or_else(|| "-".to_owned(), |par| par.to_string()),
            ),
            Cell::from(count(totals.map(|t| t.n_done))),
        ])
    });
    let widths = [
        Constraint::Fill(2),
        Constraint::Length(10),
        Constraint::Length(13),
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(14),
        Constraint::Length(8),
        Constraint::Length(10),
    ];
    Table::new(rows, widths)
        .header(head(&[
            "hunt",
            "state",
            "boards of",
            "priority",
            "cores",
            "new boards",
            "best par",
            "jobs done",
        ]))
        .block(titled("Hunts"))
}

fn worker_table(workers: &[WorkerLine]) -> Table<'static> {
    let rows = workers.iter().map(|worker| {
        let per_thread = worker.rate / f64::from(worker.n_threads);
        let against = match worker.expected_per_thread {
            Some(expected) if expected > 0.0 && worker.n_leases > 0 => {
                format!("{:.0} %", 100.0 * per_thread / expected)
            }
            _ => "-".to_owned(),
        };
        let style = match worker.state.as_str() {
            "live" => Style::new().fg(Color::Green),
            "quarantined" => Style::new().fg(Color::Red),
            _ => Style::new().fg(Color::Yellow),
        };
        Row::new(vec![
            Cell::from(worker.name.clone()),
            Cell::from(worker.state.clone()).style(style),
            Cell::from(worker.n_threads.to_string()),
            Cell::from(worker.n_leases.to_string()),
            Cell::from(figure(per_thread)),
            Cell::from(against),
            Cell::from(worker.strikes.to_string()),
        ])
    });
    let widths = [
        Constraint::Fill(2),
        Constraint::Length(12),
        Constraint::Length(8),
        Constraint::Length(6),
        Constraint::Length(14),
        Constraint::Length(10),
        Constraint::Length(8),
    ];
    Table::new(rows, widths)
        .header(head(&[
            "worker",
            "state",
            "threads",
            "jobs",
            "positions/s/thr",
            "expected",
            "strikes",
        ]))
        .block(titled("Workers, slowest against expected first"))
}

fn head(names: &[&'static str]) -> Row<'static> {
    Row::new(names.iter().map(|name| Cell::from(*name)).collect::<Vec<_>>())
        .style(Style::new().add_modifier(Modifier::BOLD))
}

fn event_line(event: &EventLine) -> Line<'_> {
    let about = event
        .hunt
        .as_deref()
        .or(event.worker.as_deref())
        .unwrap_or_default();
    Line::from(vec![
        Span::styled(instant(event.at), Style::new().fg(Color::DarkGray)),
        Span::styled(
            format!("  {}  ", event.kind.replace('_', " ")),
            Style::new().add_modifier(Modifier::BOLD),
        ),
        Span::raw(format!("{about}  {}", event.detail)),
        Span::styled(format!("  by {}", event.actor), Style::new().fg(Color::DarkGray)),
    ])
}

/// A figure in three digits.
fn figure(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} G", v / 1e9),
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e3 => format!("{:.1} k", v / 1e3),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use time::OffsetDateTime;

    use super::*;

    fn snapshot() -> Snapshot {
        let farm = FarmNow {
            now: OffsetDateTime::UNIX_EPOCH,
            n_live: 3,
            n_stalled: 1,
            n_draining: 0,
            n_quarantined: 0,
            n_cores: 128,
            n_busy_cores: 96.0,
            positions_per_s: 2.5e8,
            n_leased: 6,
            n_queued: 12,
            oldest_queued: None,
            n_parked: 2,
            n_boards: 35_021_774,
            boards_then: None,
            recent_boards: None,
            n_rejected: 0,
        };
        Snapshot {
            farm,
            hunts: vec![],
            series: vec![],
            workers: vec![],
            events: vec![],
            trouble: None,
        }
    }

    fn screen(width: u16, height: u16, snapshot: &Snapshot) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, snapshot, true)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn the_figures_of_the_farm_are_on_the_screen() {
        let screen = screen(120, 40, &snapshot());
        for text in [
            "boards 35,021,774",
            "positions/s 250.00 M",
            "cores 96 of 128",
            "2 parked",
            "1 stalled",
            "paused",
        ] {
            assert!(screen.contains(text), "{text} in\n{screen}");
        }
    }

    #[test]
    fn a_tiny_terminal_is_no_panic() {
        for (width, height) in [(1, 1), (10, 3), (40, 12)] {
            screen(width, height, &snapshot());
        }
    }

    #[test]
    fn what_is_shown_is_marked_as_old_while_the_database_is_away() {
        let away = Snapshot {
            trouble: Some("database: away".into()),
            ..snapshot()
        };
        assert!(screen(120, 40, &away).contains("database: away"));
    }
}
