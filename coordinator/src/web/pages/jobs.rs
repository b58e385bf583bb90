//! Jobs: filtered, sorted and paged by the database.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::{real, with_field};
use crate::store::{JOBS_A_PAGE, JobLine, JobQuery, JobSort, JobState, StoreError};
use crate::web::page::{Page, Tab};
use crate::web::parts::forms::{field, select};
use crate::web::parts::lists::{column, pager};
use crate::web::{Seat, parts, words};

pub(super) async fn load(seat: &Seat, query: &JobQuery) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let jobs = seat.store.job_lines(query).await?;
    let hunt = match query.hunt_id {
        Some(id) => seat.store.hunt_lines(Some(id)).await?.pop().map(|hunt| hunt.name),
        None => None,
    };
    let beside = html! { @if let (Some(id), Some(name)) = (query.hunt_id, &hunt) { span { "of " a href={ "/hunts/" (id) } { (name) } } } };
    let next = jobs.get(JOBS_A_PAGE - 1).filter(|_| jobs.len() > JOBS_A_PAGE);
    let next = next.map(|job| with_field(&address(query), "after", &job.id.to_string()));
    let start = query.after.map(|_| address(query));
    let shown = &jobs[..jobs.len().min(JOBS_A_PAGE)];
    Ok(Page::new("Jobs", Tab::Jobs, now)
        .still(parts::head(&html! {}, "Jobs", &beside, &html! {}))
        .still(html! { article.card { (filters(query)) } })
        .live("jobs", html! { article.card {
            @if shown.is_empty() { (parts::empty(&html! { p { "No job is like that." } })) } @else { (table(shown, query, now)) }
            (pager(start.as_deref(), next.as_deref()))
        } }))
}

/// The list's address without its place.
fn address(query: &JobQuery) -> String {
    let mut address = "/jobs".to_owned();
    let fields = [
        ("hunt", query.hunt_id.map(|id| id.to_string())),
        ("state", query.state.clone()),
        ("kind", query.kind.clone()),
        (
            "sort",
            (query.sort == JobSort::Oldest).then(|| "oldest".to_owned()),
        ),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            address = with_field(&address, name, &value);
        }
    }
    address
}

fn filters(query: &JobQuery) -> Markup {
    let any = (String::new(), "any".to_owned());
    let states = std::iter::once(any.clone())
        .chain(JobState::ALL.map(|s| (s.as_str().to_owned(), s.as_str().to_owned())));
    let kinds = std::iter::once(any).chain(
        [
            "scatter",
            "anneal",
            "sweep",
            "census",
            "difficulty",
            "audit",
            "siren",
        ]
        .map(|k| (k.to_owned(), k.to_owned())),
    );
    let sorts = [
        (String::new(), "newest first".to_owned()),
        ("oldest".to_owned(), "oldest first".to_owned()),
    ];
    let sort = if query.sort == JobSort::Oldest {
        "oldest"
    } else {
        ""
    };
    html! {
        form.filters method="get" action="/jobs" {
            @if let Some(id) = query.hunt_id { input type="hidden" name="hunt" value=(id); }
            (field("state", "State", &select("state", &states.collect::<Vec<_>>(), query.state.as_deref().unwrap_or_default()), None, None))
            (field("kind", "Kind", &select("kind", &kinds.collect::<Vec<_>>(), query.kind.as_deref().unwrap_or_default()), None, None))
            (field("sort", "Order", &select("sort", &sorts, sort), None, None))
            button type="submit" { "Show" }
        }
    }
}

fn table(jobs: &[JobLine], query: &JobQuery, now: OffsetDateTime) -> Markup {
    let newest = query.sort == JobSort::Newest;
    html! {
        div.scroll tabindex="0" role="region" aria-label="Jobs" { table {
            thead { tr {
                (column("Job", false, None, newest)) th scope="col" { "Hunt" } th scope="col" { "Kind" } th scope="col" { "State" }
                th scope="col" { "Worker" } th scope="col" { "Work" } th.n scope="col" { "Attempts" } th.n scope="col" { "Failed" }
                th.n scope="col" { "New" } th.n scope="col" { "Known" } th.n scope="col" { "Best par" } th scope="col" { "Planned" } th scope="col" { "Ended" }
            } }
            tbody {
                @for job in jobs {
                    tr {
                        th scope="row" { a href={ "/jobs/" (job.id) } { (job.id) } }
                        td { a href={ "/hunts/" (job.hunt_id) } { (job.hunt) } span.soft { " #" (job.number) } }
                        td { (job.kind) @if let Some(id) = job.audit_of { " " span.small.soft.nowrap { "audit of " a href={ "/jobs/" (id) } { (id) } } } }
                        td { (parts::state(&job.state)) }
                        td { @if let (Some(id), Some(name)) = (job.worker_id, &job.worker) { a href={ "/workers/" (id) } { (name) } } @else { (words::NOTHING) } }
                        td { (work(job)) }
                        td.n { (job.n_attempts) }
                        td.n { (job.n_failures) }
                        td.n { (words::count(job.n_new)) }
                        td.n { (words::count(job.n_known)) }
                        td.n { (words::or_nothing(job.best_par)) }
                        td.nowrap { (parts::ago(job.created_at, now)) }
                        td.nowrap { (parts::ago_or_nothing(job.ended_at, now)) }
                    }
                }
            }
        } }
    }
}

/// How much of a job its running or last attempt has done.
pub(super) fn work(job: &JobLine) -> Markup {
    let part = real(job.work_done) / real(job.n_work.max(1));
    let words = format!("{} of {}", words::count(job.work_done), words::count(job.n_work));
    html! { (parts::bar(part, &words)) span.small.soft.nowrap { (words::share(part)) } }
}
