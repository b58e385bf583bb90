//! Every worker, idle or busy.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::with_field;
use crate::store::{StoreError, WORKERS_A_PAGE, WorkerLine, WorkerQuery, WorkerSort};
use crate::web::page::{Page, Tab};
use crate::web::parts::forms::{field, select};
use crate::web::parts::lists::{column, pager};
use crate::web::{Seat, parts, words};

const SORTS: [(WorkerSort, &str, &str); 5] = [
    (WorkerSort::Name, "", "name"),
    (WorkerSort::Rate, "rate", "fastest a core"),
    (WorkerSort::Slow, "slow", "slowest against expected"),
    (WorkerSort::Strikes, "strikes", "most strikes"),
    (WorkerSort::Seen, "seen", "longest unheard of"),
];

pub(super) async fn load(seat: &Seat, query: &WorkerQuery) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let workers = seat.store.worker_lines(query).await?;
    let shown = &workers[..workers.len().min(WORKERS_A_PAGE)];
    let skip = |n: i64| with_field(&address(query), "skip", &n.to_string());
    let page = i64::try_from(WORKERS_A_PAGE).expect("a hundred");
    let next = (workers.len() > WORKERS_A_PAGE).then(|| skip(query.skip + page));
    let start = (query.skip > 0).then(|| address(query));
    Ok(Page::new("Workers", Tab::Workers, now)
        .still(parts::head(&html! {}, "Workers", &html! {}, &html! {}))
        .still(html! { article.card { (filters(query)) } })
        .live("workers", html! { article.card {
            @if shown.is_empty() { (parts::empty(&html! { p { "No worker is like that." } p { "Start one with " code { "parforce-worker" } " pointed at this coordinator." } })) }
            @else { (table(shown, query, now)) }
            (pager(start.as_deref(), next.as_deref()))
        } }))
}

fn address(query: &WorkerQuery) -> String {
    let sort = SORTS
        .iter()
        .find(|entry| entry.0 == query.sort)
        .map_or("", |entry| entry.1);
    let fields = [
        ("state", query.state.as_deref()),
        ("name", query.name.as_deref()),
        ("sort", Some(sort).filter(|s| !s.is_empty())),
    ];
    let mut address = "/workers".to_owned();
    for (name, value) in fields {
        if let Some(value) = value {
            address = with_field(&address, name, value);
        }
    }
    address
}

fn filters(query: &WorkerQuery) -> Markup {
    let states = [
        ("", "that are there"),
        ("live", "live"),
        ("stalled", "stalled"),
        ("draining", "draining"),
        ("quarantined", "quarantined"),
        ("gone", "gone"),
    ]
    .map(|(value, words)| (value.to_owned(), words.to_owned()));
    let sorts = SORTS.map(|(_, value, words)| (value.to_owned(), words.to_owned()));
    let sort = SORTS
        .iter()
        .find(|entry| entry.0 == query.sort)
        .map_or("", |entry| entry.1);
    html! {
        form.filters method="get" action="/workers" {
            (field("state", "Workers", &select("state", &states, query.state.as_deref().unwrap_or_default()), None, None))
            (field("sort", "Order", &select("sort", &sorts, sort), None, None))
            (field("name", "Name has", &html! { input #name name="name" type="search" value=[query.name.as_deref()]; }, None, None))
            button type="submit" { "Show" }
        }
    }
}

fn table(workers: &[WorkerLine], query: &WorkerQuery, now: OffsetDateTime) -> Markup {
    let sorted = |sort| query.sort == sort;
    let by = |value: &str| with_field("/workers", "sort", value);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Workers" { table {
            thead { tr {
                (column("Worker", false, Some("/workers"), sorted(WorkerSort::Name))) th scope="col" { "State" } th.n scope="col" { "Cores" }
                (column("Positions a second a core", true, Some(&by("rate")), sorted(WorkerSort::Rate)))
                (column("Against expected", true, Some(&by("slow")), sorted(WorkerSort::Slow)))
                th scope="col" { "Jobs" } th scope="col" { "Last achieved" } (column("Last beat", false, Some(&by("seen")), sorted(WorkerSort::Seen)))
                (column("Strikes", true, Some(&by("strikes")), sorted(WorkerSort::Strikes))) th scope="col" { "Version" } th scope="col" { "Processor" }
            } }
            tbody { @for worker in workers { tr {
                th scope="row" { a href={ "/workers/" (worker.id) } { (worker.name) } }
                td { (parts::state(&worker.state)) }
                td.n { (worker.n_threads) }
                td.n { (words::figure(worker.rate / f64::from(worker.n_threads))) }
                td.n { (against(worker)) }
                td { @if worker.jobs.is_empty() { span.soft { "idle" } } @for (i, job) in worker.jobs.iter().enumerate() { @if i > 0 { ", " } a href={ "/jobs/" (job) } { (job) } } }
                td { (achieved(worker, now)) }
                td.nowrap { (parts::ago(worker.last_seen, now)) }
                td.n { (worker.strikes) }
                td.nowrap { (worker.program_version) }
                td { (worker.cpu) }
            } } }
        } }
    }
}

/// A worker's rate against the middle rate of its kind of processor.
pub(super) fn against(worker: &WorkerLine) -> String {
    match worker.expected_per_thread {
        Some(expected) if expected > 0.0 && worker.n_leases > 0 => {
            words::share(worker.rate / f64::from(worker.n_threads) / expected)
        }
        _ => words::NOTHING.to_owned(),
    }
}

/// What a worker last did that counts: not that it lives, but what came of it.
pub(super) fn achieved(worker: &WorkerLine, now: OffsetDateTime) -> Markup {
    html! {
        @match (worker.last_batch_at, worker.last_done_at) {
            (None, None) => span.soft { "nothing yet" },
            (Some(at), done) if done.is_none_or(|done| done < at) => {
                (words::counted(worker.last_batch_new.unwrap_or(0).into(), "new board")) " " span.soft { (parts::ago(at, now)) }
            },
            (_, Some(at)) => { "a job done " span.soft { (parts::ago(at, now)) } },
            (Some(at), None) => { "boards handed in " span.soft { (parts::ago(at, now)) } },
        }
    }
}
