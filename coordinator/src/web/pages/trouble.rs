//! What needs somebody: jobs parked, grouped by what they failed with; claims that others do not come to; boards refused,
//! with samples.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::audits;
use super::worker::refused;
use crate::store::{AuditQuery, FarmPoint, ParkedGroup, RejectedGroup, StoreError, Window};
use crate::web::access::Visitor;
use crate::web::charts::{Line, LineChart, Unit, X, lines};
use crate::web::page::{Page, Tab};
use crate::web::parts::{self, Mood};
use crate::web::{Seat, words};

pub(super) async fn load(seat: &Seat, visitor: &Visitor) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let parked = seat.store.parked_groups().await?;
    let (n_audits, open) = (
        seat.store.audit_counts().await?,
        seat.store.audit_lines(AuditQuery::Open).await?,
    );
    let groups = seat.store.rejected_groups().await?;
    let samples = seat.store.rejected_lines(None).await?;
    let series = seat.store.farm_series(Window::Day).await?;
    Ok(Page::new("Trouble", Tab::Trouble, now)
        .still(parts::head(&html! {}, "Trouble", &html! { span.soft { "parked jobs, disputed claims and refused boards" } }, &html! {}))
        .live("parked", parts::card("Parked jobs, by what they failed with", &html! {}, &parked_table(&parked, visitor, now)))
        .live("trend", html! { div.grid.halves { (chart("Parked jobs", &series, |p| p.n_parked)) (chart("Failed and expired attempts", &series, |p| p.n_failures)) } })
        .live("audits", audits::card(&n_audits, &open, now))
        .live("groups", parts::card("Refused boards, by reason and worker", &html! { span.small.soft { "of the last 5,000" } }, &groups_table(&groups, now)))
        .live("samples", refused(&samples, now)))
}

fn parked_table(parked: &[ParkedGroup], visitor: &Visitor, now: OffsetDateTime) -> Markup {
    if parked.is_empty() {
        return parts::empty(
            &html! { p { (parts::badge(Mood::Good, "none")) " No job waits for somebody." } },
        );
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="Parked jobs" { table {
            thead { tr { th scope="col" { "Error" } th.n scope="col" { "Jobs" } th.n scope="col" { "Workers" } th scope="col" { "Hunt" } th scope="col" { "Newest jobs" } th scope="col" { "Last" } th scope="col" { "Act" } } }
            tbody { @for group in parked { tr {
                td { (parts::state(&group.outcome)) " " span.spelling { (if group.error.is_empty() { "nothing was said" } else { &group.sample }) } }
                td.n { (words::count(group.n_jobs)) }
                td.n { (words::count(group.n_workers)) }
                td { a href={ "/hunts/" (group.hunt_id) } { (group.hunt) } }
                td { @for (i, id) in group.jobs.iter().enumerate() { @if i > 0 { ", " } a href={ "/jobs/" (id) } { (id) } } }
                td.nowrap { (parts::ago(group.last_at, now)) }
                td { @if visitor.may_act() && group.may_go_on { a.button href=(requeue(group)) { "Requeue all" } } @else if !group.may_go_on { span.soft { "its hunt is over" } } }
            } } }
        } }
    }
}

fn requeue(group: &ParkedGroup) -> String {
    let hunt = group.hunt_id.to_string();
    format!(
        "/trouble/requeue?hunt={hunt}&outcome={}&error={}",
        words::escape(&group.outcome),
        words::escape(&group.error)
    )
}

fn groups_table(groups: &[RejectedGroup], now: OffsetDateTime) -> Markup {
    if groups.is_empty() {
        return parts::empty(
            &html! { p { (parts::badge(Mood::Good, "none")) " Every board that was handed in was proved." } },
        );
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label="Refused boards by reason" { table {
            thead { tr { th scope="col" { "Why" } th scope="col" { "From" } th.n scope="col" { "Boards" } th scope="col" { "Last" } } }
            tbody { @for group in groups { tr {
                td { (parts::badge(Mood::Bad, &group.code.replace('_', " "))) }
                td { @match (group.worker_id, &group.worker) { (Some(id), Some(name)) => a href={ "/workers/" (id) } { (name) }, _ => "import" } }
                td.n { (words::count(group.n_boards)) }
                td.nowrap { (parts::ago(group.last_at, now)) }
            } } }
        } }
    }
}

fn chart(title: &str, series: &[FarmPoint], value: fn(&FarmPoint) -> i64) -> Markup {
    let points = series
        .iter()
        .map(|p| (super::seconds(p.at), super::real(value(p))))
        .collect();
    let lines_of = vec![Line {
        name: "jobs".to_owned(),
        points,
    }];
    lines(&LineChart {
        title,
        note: Window::Day.in_words(),
        x: X::Time,
        unit: Unit::Count,
        lines: lines_of,
        is_stepped: true,
        from_zero: true,
    })
}
