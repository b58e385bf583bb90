//! The overview: what the farm does now, what it found, what needs somebody.

use maud::{Markup, html};
use time::Duration;

use super::{board_path, feed, lot, real, seconds, windows};
use crate::store::{
    EventLine, EventQuery, FarmNow, FarmPoint, HuntLine, HuntPoint, LotBest, StoreError, Window,
};
use crate::web::access::Visitor;
use crate::web::charts::{BarChart, Line, LineChart, Unit, X, bars, lines};
use crate::web::page::{Page, Tab};
use crate::web::parts::drawing::{Detail, draw};
use crate::web::parts::{self, Mood, Tile};
use crate::web::{Seat, words};

/// Hunts in the chart of cores.
const MAX_LINES: usize = 6;

pub(super) async fn load(seat: &Seat, window: Window, visitor: &Visitor) -> Result<Page, StoreError> {
    let farm = seat.store.farm_now().await?;
    let hunts = seat.store.hunt_lines(None).await?;
    let series = seat.store.farm_series(window).await?;
    let active: Vec<&HuntLine> = hunts
        .iter()
        .filter(|hunt| hunt.ended_at.is_none())
        .take(MAX_LINES)
        .collect();
    let ids: Vec<i64> = active.iter().map(|hunt| hunt.id).collect();
    let by_hunt = seat.store.hunt_series(&ids, window).await?;
    let pars = seat.store.par_counts(None).await?;
    let bests = seat.store.lot_bests().await?;
    let events = seat
        .store
        .event_lines(&EventQuery {
            limit: 8,
            ..EventQuery::default()
        })
        .await?;

    let actions = html! { @if visitor.may_act() { a.button.first href="/hunts/new" { "New hunt" } } };
    let page = Page::new("Overview", Tab::Overview, farm.now)
        .still(parts::head(&html! {}, "Overview", &html! {}, &actions))
        .live("now", now(&farm, &hunts))
        .live("hunts", running(&hunts, farm.now))
        .still(html! { div.head { h2 { "Over " (window.in_words()) } (windows("/", window)) } })
        .live("charts", charts(&series, &active, &by_hunt, window, &pars))
        .live("best", best(&bests))
        .live("log", log(&events, farm.now));
    Ok(page)
}

fn now(farm: &FarmNow, hunts: &[HuntLine]) -> Markup {
    let per_second = farm
        .recent_boards
        .filter(|(_, s)| *s > 0.0)
        .map(|(n, s)| real(n) / s);
    let (new, since) = match farm.boards_then {
        Some((then, at)) => (
            words::count((farm.n_boards - then).max(0)),
            words::duration(farm.now - at),
        ),
        None => (words::NOTHING.to_owned(), "no sample yet".to_owned()),
    };
    let waiting = farm.oldest_queued.map(|at| farm.now - at);
    let n_running = hunts.iter().filter(|hunt| hunt.state == "running").count();
    let idle = farm.n_live > 0 && farm.n_leased == 0 && n_running > 0;
    html! {
        @if n_running > 0 && farm.n_live == 0 {
            (parts::notice(Mood::Warn, &html! { p { strong { "No worker is ready." } " Hunts are running, but nobody works for them. Start one with " code { "parforce-worker" } " pointed at this coordinator, or see " a href="/workers" { "who is drained, stalled or in quarantine" } "." } }))
        }
        @if idle {
            (parts::notice(Mood::Warn, &html! { p { "Workers are there, but none holds a job. A job is handed out within seconds of being planned; see " a href="/events" { "the events" } " if this stays." } }))
        }
        @if farm.n_parked > 0 {
            (parts::notice(Mood::Bad, &html! { p { (words::counted(farm.n_parked, "job")) " failed too often and wait for somebody: " a href="/trouble" { "see what with" } "." } }))
        }
        (parts::tiles(&[
            Tile::new("Boards in the database", words::count(farm.n_boards)),
            Tile::new("New boards", new).note(format!("within {since}")),
            Tile::new("New boards a second", per_second.map_or_else(|| words::NOTHING.to_owned(), words::figure)).note("over the last 2 min"),
            Tile::new("Positions a second", words::figure(farm.positions_per_s)).note("by the last beats"),
            Tile::new("Cores at work", format!("{} of {}", words::figure(farm.n_busy_cores), words::count(farm.n_cores)))
                .note(format!("{} held, {} waiting", words::counted(farm.n_leased, "job"), words::count(farm.n_queued))),
            Tile::new("Workers live", words::count(farm.n_live))
                .note(format!("{} stalled, {} draining, {} quarantined", farm.n_stalled, farm.n_draining, farm.n_quarantined))
                .mood(if farm.n_stalled + farm.n_quarantined > 0 { Mood::Warn } else { Mood::Plain }),
            Tile::new("Oldest waiting job", waiting.map_or_else(|| "none".to_owned(), words::duration))
                .mood(if waiting.is_some_and(|w| w > Duration::hours(1)) { Mood::Warn } else { Mood::Plain }),
            Tile::new("Parked jobs", words::count(farm.n_parked)).mood(if farm.n_parked > 0 { Mood::Bad } else { Mood::Plain }),
        ]))
    }
}

fn running(hunts: &[HuntLine], now: time::OffsetDateTime) -> Markup {
    let active: Vec<&HuntLine> = hunts.iter().filter(|hunt| hunt.ended_at.is_none()).collect();
    let content = html! {
        @if active.is_empty() {
            (parts::empty(&html! { p { "No hunt is running." } a.button href="/hunts/new" { "Start one" } }))
        } @else {
            (super::hunts::table(&active, now))
        }
    };
    parts::card("Hunts", &html! { a href="/hunts" { "All hunts" } }, &content)
}

fn charts(
    series: &[FarmPoint],
    active: &[&HuntLine],
    by_hunt: &[HuntPoint],
    window: Window,
    pars: &[(i16, i64)],
) -> Markup {
    let note = window.in_words();
    let rates = rate_points(series);
    let hourly: Vec<(f64, f64)> = rates.iter().map(|(x, y)| (*x, y * 3_600.0)).collect();
    let failures = series
        .iter()
        .map(|p| (seconds(p.at), real(p.n_failures)))
        .collect();
    let cores = active.iter().map(|hunt| Line {
        name: hunt.name.clone(),
        points: by_hunt
            .iter()
            .filter(|p| p.hunt_id == hunt.id)
            .map(|p| (seconds(p.at), p.n_cores))
            .collect(),
    });
    let one = |title, note, unit, name: &str, points| {
        let lines = vec![Line {
            name: name.to_owned(),
            points,
        }];
        LineChart {
            title,
            note,
            x: X::Time,
            unit,
            lines,
            is_stepped: false,
            from_zero: true,
        }
    };
    html! {
        div.grid {
            (lines(&one("New boards a second", note, Unit::Figure, "boards a second", rates)))
            (lines(&one("New boards an hour", note, Unit::Count, "boards an hour", hourly)))
            (lines(&LineChart { title: "Cores by hunt", note, x: X::Time, unit: Unit::Figure, lines: cores.collect(), is_stepped: false, from_zero: true }))
            (lines(&one("Positions a second", note, Unit::Figure, "positions a second", series.iter().map(|p| (seconds(p.at), p.positions_per_s)).collect())))
            (lines(&one("Failed and expired attempts", note, Unit::Count, "attempts", failures)))
            (par_chart("all lots", pars))
        }
    }
}

/// How many boards there are of each par, from 0 to the largest.
pub(super) fn par_chart(note: &str, pars: &[(i16, i64)]) -> Markup {
    let most = pars.last().map_or(0, |par| par.0);
    let count = |par: i16| {
        pars.iter()
            .find(|entry| entry.0 == par)
            .map_or(0, |entry| entry.1)
    };
    let first = pars.first().map_or(0, |par| par.0);
    let classes = (first..=most)
        .filter(|_| !pars.is_empty())
        .map(|par| (par.to_string(), count(par).unsigned_abs()));
    bars(&BarChart {
        title: "Boards by par",
        note,
        x: "par",
        y: "boards",
        bars: classes.collect(),
        is_log: true,
    })
}

/// New boards a second between samples, at the later one.
fn rate_points(series: &[FarmPoint]) -> Vec<(f64, f64)> {
    let rate = |pair: &[FarmPoint]| {
        let s = (pair[1].at - pair[0].at).as_seconds_f64();
        (s > 0.0).then(|| {
            (
                seconds(pair[1].at),
                real((pair[1].n_boards - pair[0].n_boards).max(0)) / s,
            )
        })
    };
    series.windows(2).filter_map(rate).collect()
}

fn best(bests: &[LotBest]) -> Markup {
    let content = html! {
        @if bests.is_empty() {
            (parts::empty(&html! { p { "No board is stored yet." } }))
        } @else {
            ul.boards {
                @for best in bests {
                    @if let Some(canonical) = &best.canonical {
                        li { a href=(board_path(best.par, canonical)) {
                            @if let Ok(board) = board::Board::parse(canonical) {
                                (draw(&board, Detail::Small, &format!("Hardest board of {}", lot(best.lot_width, best.lot_height))))
                            }
                            span.par { "Par " (best.par) }
                            span.small.soft { (lot(best.lot_width, best.lot_height)) " · of " (words::count(best.n_boards)) }
                        } }
                    }
                }
            }
        }
    };
    parts::card(
        "Hardest board of each lot",
        &html! { a href="/boards" { "All boards" } },
        &content,
    )
}

fn log(events: &[EventLine], now: time::OffsetDateTime) -> Markup {
    let content = html! {
        @if events.is_empty() { (parts::empty(&html! { p { "Nothing has happened yet." } })) } @else { (feed(events, now)) }
    };
    parts::card(
        "Latest events",
        &html! { a href="/events" { "All events" } },
        &content,
    )
}
