//! One worker: what it last achieved, how fast it is, what it is told.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::{feed, seconds};
use crate::store::{EventQuery, RejectedLine, StoreError, WorkerLine, WorkerPoint, WorkerQuery};
use crate::web::access::Visitor;
use crate::web::charts::{Line, LineChart, Unit, X, lines};
use crate::web::page::{Page, Tab};
use crate::web::parts::{self, Mood, Tile};
use crate::web::{Seat, words};

pub(super) async fn load(seat: &Seat, id: i64, visitor: &Visitor) -> Result<Option<Page>, StoreError> {
    let query = WorkerQuery {
        id: Some(id),
        ..WorkerQuery::default()
    };
    let Some(worker) = seat.store.worker_lines(&query).await?.pop() else {
        return Ok(None);
    };
    let now = seat.store.now().await?;
    let series = seat.store.worker_series(id).await?;
    let attempts = seat.store.attempts_of(id).await?;
    let rejected = seat.store.rejected_lines(Some(id)).await?;
    let events = seat
        .store
        .event_lines(&EventQuery {
            worker_id: Some(id),
            limit: 10,
            ..EventQuery::default()
        })
        .await?;
    let crumbs = html! { a href="/workers" { "Workers" } };
    let page = Page::new(worker.name.clone(), Tab::Workers, now)
        .live(
            "head",
            parts::head(
                &crumbs,
                &worker.name,
                &parts::state(&worker.state),
                &actions(&worker, visitor),
            ),
        )
        .live("now", tiles(&worker, now))
        .live(
            "rate",
            html! { div.grid.halves { (chart(&worker, &series)) (facts(&worker)) } },
        )
        .live(
            "attempts",
            parts::card(
                "Its attempts",
                &html! { span.small.soft { "newest first, at most 50" } },
                &super::job::attempts_table(&attempts, now),
            ),
        )
        .live("rejected", refused(&rejected, now))
        .live(
            "log",
            parts::card(
                "Its events",
                &html! { a href={ "/events?worker=" (id) } { "All of them" } },
                &feed(&events, now),
            ),
        );
    Ok(Some(page))
}

fn actions(worker: &WorkerLine, visitor: &Visitor) -> Markup {
    let ask = |what: &str| format!("/workers/{}/{what}", worker.id);
    html! {
        @if visitor.may_act() && worker.gone_at.is_some() && worker.quarantine_reason.is_some() {
            // Its next start would be in quarantine too.
            a.button href=(ask("trust")) { "Trust again" }
        }
        @if visitor.may_act() && worker.gone_at.is_none() {
            @if worker.directive == "run" { a.button href=(ask("drain")) { "Drain" } } @else { a.button href=(ask("run")) { "Let it run" } }
            a.button href=(ask("stop")) { "Stop" }
            @if worker.quarantine_reason.is_some() { a.button href=(ask("trust")) { "Trust again" } }
            @else { a.button.danger href=(ask("quarantine")) { "Quarantine" } }
        }
    }
}

fn tiles(worker: &WorkerLine, now: OffsetDateTime) -> Markup {
    let per_core = worker.rate / f64::from(worker.n_threads);
    let expected = worker.expected_per_thread.map_or_else(
        || "nobody like it is busy".to_owned(),
        |e| format!("expected {}", words::figure(e)),
    );
    let done = worker.last_done.zip(worker.last_done_at);
    html! {
        @if let Some(reason) = &worker.quarantine_reason {
            (parts::notice(Mood::Bad, &html! { p { strong { "It gets nothing: " } (reason) } }))
        }
        @if worker.state == "stalled" {
            (parts::notice(Mood::Warn, &html! { p { "It has not been heard of for " (words::duration(now - worker.last_seen)) ". Its jobs go to others when its leases run out; boards that it found are not lost." } }))
        }
        (parts::tiles(&[
            Tile::new("Last achieved", worker.last_batch_at.map_or_else(|| "nothing yet".to_owned(), |at| words::ago(at, now)))
                .note(worker.last_batch_new.map_or_else(String::new, |n| format!("{} handed in", words::counted(n.into(), "new board")))),
            Tile::new("Last job done", done.map_or_else(|| "none yet".to_owned(), |(_, at)| words::ago(at, now)))
                .note(done.map_or_else(String::new, |(id, _)| format!("job {id}"))),
            Tile::new("Positions a second a core", words::figure(per_core)).note(expected),
            Tile::new("Against expected", super::workers::against(worker)).note("of the middle of its kind of processor"),
            Tile::new("Jobs held", format!("{} of {}", worker.n_leases, worker.n_slots)).note(worker.jobs.iter().map(|id| format!("job {id}")).collect::<Vec<_>>().join(", ")),
            Tile::new("Last beat", words::ago(worker.last_seen, now)),
            Tile::new("Strikes", worker.strikes.to_string()).mood(if worker.strikes > 0 { Mood::Bad } else { Mood::Plain }),
            Tile::new("Stalls", worker.n_stalls.to_string()).note("leases whose work stood still").mood(if worker.n_stalls > 0 { Mood::Warn } else { Mood::Plain }),
        ]))
    }
}

fn chart(worker: &WorkerLine, series: &[WorkerPoint]) -> Markup {
    let points = series
        .iter()
        .map(|p| (seconds(p.at), p.positions_per_s / f64::from(worker.n_threads)))
        .collect();
    lines(&LineChart {
        title: "Positions a second a core",
        note: "every 5 minutes, the last week at most",
        x: X::Time,
        unit: Unit::Figure,
        lines: vec![Line {
            name: "a core".to_owned(),
            points,
        }],
        is_stepped: false,
        from_zero: true,
    })
}

fn facts(worker: &WorkerLine) -> Markup {
    parts::card(
        "What it is",
        &html! {},
        &html! {
            dl.facts {
                dt { "Processor" } dd { (worker.cpu) }
                dt { "Threads" } dd { (worker.n_threads) " over " (words::counted(worker.n_slots.into(), "slot")) }
                dt { "Program" } dd { (worker.program_version) }
                dt { "Engine" } dd { code { (worker.engine) } }
                dt { "Told to" } dd { (worker.directive) }
                dt { "There since" } dd { (words::instant(worker.first_seen)) }
                @if let Some(gone_at) = worker.gone_at { dt { "Gone since" } dd { (words::instant(gone_at)) } }
                dt { "This start" } dd { code { (worker.incarnation) } }
            }
        },
    )
}

/// Refused boards as a table.
pub(super) fn refused(rejected: &[RejectedLine], now: OffsetDateTime) -> Markup {
    if rejected.is_empty() {
        return html! {};
    }
    parts::card(
        "Refused boards",
        &html! { span.small.soft { "newest first, at most 30" } },
        &html! {
            div.scroll tabindex="0" role="region" aria-label="Refused boards" { table {
                thead { tr { th scope="col" { "Why" } th.n scope="col" { "Stated par" } th scope="col" { "As sent" } th scope="col" { "What was found" } th scope="col" { "From" } th scope="col" { "When" } } }
                tbody { @for line in rejected { tr {
                    td { (parts::badge(Mood::Bad, &line.code.replace('_', " "))) }
                    td.n { (line.stated_par) }
                    td.mono.spelling { (line.canonical) }
                    td { (line.detail) }
                    td { (line.worker.as_deref().unwrap_or("import")) @if let Some(id) = line.job_id { ", " a href={ "/jobs/" (id) } { "job " (id) } } }
                    td.nowrap { (parts::ago(line.stored_at, now)) }
                } } }
            } }
        },
    )
}
