//! All hunts.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::real;
use crate::store::{HuntLine, StoreError};
use crate::web::access::Visitor;
use crate::web::page::{Page, Tab};
use crate::web::{Seat, parts, words};

pub(super) async fn load(seat: &Seat, visitor: &Visitor) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let hunts = seat.store.hunt_lines(None).await?;
    let actions = html! { @if visitor.may_act() { a.button.first href="/hunts/new" { "New hunt" } } };
    let all: Vec<&HuntLine> = hunts.iter().collect();
    let list = html! {
        article.card {
            @if all.is_empty() {
                (parts::empty(&html! { p { "No hunt was asked for yet." } }))
            } @else {
                (table(&all, now))
            }
        }
    };
    Ok(Page::new("Hunts", Tab::Hunts, now)
        .still(parts::head(&html! {}, "Hunts", &html! {}, &actions))
        .live("hunts", list))
}

/// Hunts as a table.
pub(super) fn table(hunts: &[&HuntLine], now: OffsetDateTime) -> Markup {
    let total: f64 = hunts.iter().map(|hunt| hunt.n_cores).sum();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Hunts" { table {
            thead { tr {
                th scope="col" { "Hunt" } th scope="col" { "State" } th scope="col" { "Boards of" } th.n scope="col" { "Priority" }
                th.n scope="col" { "Cores" } th scope="col" { "Progress" } th.n scope="col" { "New boards" } th.n scope="col" { "Best par" }
                th scope="col" { "Asked for" }
            } }
            tbody {
                @for hunt in hunts {
                    tr {
                        th scope="row" { a href={ "/hunts/" (hunt.id) } { (hunt.name) } }
                        td { (parts::state(&hunt.state)) }
                        td.nowrap { (hunt.subject()) ", " (hunt.strategy) }
                        td.n { (hunt.priority) }
                        td.n { (words::figure(hunt.n_cores)) @if total > 0.0 && hunts.len() > 1 { span.soft { " · " (words::share(hunt.n_cores / total)) } } }
                        td { (progress(hunt, now)) }
                        td.n { (hunt.totals.as_ref().map_or_else(|| words::NOTHING.to_owned(), |t| words::count(t.n_new))) }
                        td.n { (words::or_nothing(hunt.totals.as_ref().and_then(|t| t.best_par))) }
                        td.nowrap { (parts::ago(hunt.created_at, now)) }
                    }
                }
            }
        } }
    }
}

/// How far a hunt is, where its budget lets that be said.
pub(super) fn progress(hunt: &HuntLine, now: OffsetDateTime) -> Markup {
    if let Some(ended_at) = hunt.ended_at {
        return html! { span.soft { "ended " (parts::ago(ended_at, now)) } };
    }
    let Some((part, words)) = progress_of(hunt, now) else {
        return html! { span.soft { "until it is ended" } };
    };
    html! { (parts::bar(part, &words)) span.small.soft.nowrap { (words) } }
}

/// The part done and what it means; `None`: nothing limits it.
pub(super) fn progress_of(hunt: &HuntLine, now: OffsetDateTime) -> Option<(f64, String)> {
    if let Some(ends_at) = hunt.ends_at {
        let (whole, past) = (
            (ends_at - hunt.created_at).as_seconds_f64(),
            (now - hunt.created_at).as_seconds_f64(),
        );
        let left = words::duration(ends_at - now);
        return Some((
            if whole > 0.0 { past / whole } else { 1.0 },
            format!("{left} left"),
        ));
    }
    if let (Some(end), Some(totals)) = (hunt.end_number, &hunt.totals) {
        let part = if end > 0 {
            real(totals.n_done) / real(end)
        } else {
            1.0
        };
        return Some((
            part,
            format!("{} of {} jobs", words::count(totals.n_done), words::count(end)),
        ));
    }
    let (aim, best) = (
        hunt.until_par?,
        hunt.totals.as_ref().and_then(|t| t.best_par).unwrap_or(0),
    );
    Some((
        f64::from(best) / f64::from(aim.max(1)),
        format!("par {best}, aims at {aim}"),
    ))
}
