//! Exhaustive enumerations: coverage by range. Done and verified are different things, and shown apart.

use maud::{Markup, html};

use super::{lot, real};
use crate::store::{CensusLine, StoreError};
use crate::web::page::{Page, Tab};
use crate::web::{Seat, parts, words};

pub(super) async fn load(seat: &Seat) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let lines = seat.store.census_lines().await?;
    let content = html! {
        @if lines.is_empty() {
            article.card { (parts::empty(&html! {
                p { "Nothing is being enumerated on this farm." }
                p { "A census takes every board of a space, not some by chance. " code { "parforce census" } " runs one on this machine." }
            })) }
        } @else {
            @for line in &lines { (card(line, now)) }
        }
    };
    Ok(Page::new("Census", Tab::Census, now)
        .still(parts::head(&html! {}, "Census", &html! {}, &html! {}))
        .live("census", content))
}

fn card(line: &CensusLine, now: time::OffsetDateTime) -> Markup {
    let part = real(line.n_work_done) / real(line.n_work.max(1));
    let words = format!(
        "{} of {} work units",
        words::count(line.n_work_done),
        words::count(line.n_work)
    );
    let missing = line.n_ranges - line.n_done - line.n_leased - line.n_parked;
    let beside = html! { a href={ "/hunts/" (line.hunt_id) } { (lot(line.lot_width, line.lot_height)) } };
    parts::card(
        &line.hunt,
        &beside,
        &html! {
            (parts::bar(part, &words))
            p.small.soft { (words) ", " (words::share(part)) }
            dl.facts {
                dt { "Ranges done" } dd { (words::count(line.n_done)) " of " (words::count(line.n_ranges)) " planned" }
                dt { "At work" } dd { (words::count(line.n_leased)) }
                dt { "Waiting" } dd { (words::count(missing)) }
                dt { "Parked" } dd { (words::count(line.n_parked)) }
                dt { "Last done" } dd { (parts::ago_or_nothing(line.last_done_at, now)) }
            }
        },
    )
}
