//! Who did what and when.

use maud::{Markup, html};

use super::{feed, with_field, words_of};
use crate::store::{EVENTS_A_PAGE, EventKind, EventQuery, StoreError};
use crate::web::page::{Page, Tab};
use crate::web::parts::forms::{field, select};
use crate::web::parts::lists::pager;
use crate::web::{Seat, parts};

pub(super) async fn load(seat: &Seat, query: &EventQuery) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let limit = i64::try_from(EVENTS_A_PAGE + 1).expect("a hundred and one");
    let events = seat
        .store
        .event_lines(&EventQuery {
            limit,
            ..query.clone()
        })
        .await?;
    let shown = &events[..events.len().min(EVENTS_A_PAGE)];
    let next = shown.last().filter(|_| events.len() > EVENTS_A_PAGE);
    let next = next.map(|event| with_field(&address(query), "before", &event.id.to_string()));
    let start = query.before.map(|_| address(query));
    Ok(Page::new("Events", Tab::Events, now)
        .still(parts::head(&html! {}, "Events", &html! {}, &html! {}))
        .still(html! { article.card { (filters(query)) } })
        .live("events", html! { article.card {
            @if shown.is_empty() { (parts::empty(&html! { p { "Nothing like that has happened." } })) } @else { (feed(shown, now)) }
            (pager(start.as_deref(), next.as_deref()))
        } }))
}

fn address(query: &EventQuery) -> String {
    let fields = [
        ("kind", query.kind.clone()),
        ("hunt", query.hunt_id.map(|id| id.to_string())),
        ("worker", query.worker_id.map(|id| id.to_string())),
    ];
    let mut address = "/events".to_owned();
    for (name, value) in fields {
        if let Some(value) = value {
            address = with_field(&address, name, &value);
        }
    }
    address
}

fn filters(query: &EventQuery) -> Markup {
    let kinds = std::iter::once((String::new(), "everything".to_owned())).chain(
        EventKind::ALL
            .iter()
            .map(|kind| (kind.as_str().to_owned(), words_of(kind.as_str()))),
    );
    html! {
        form.filters method="get" action="/events" {
            @if let Some(id) = query.hunt_id { input type="hidden" name="hunt" value=(id); }
            @if let Some(id) = query.worker_id { input type="hidden" name="worker" value=(id); }
            (field("kind", "What", &select("kind", &kinds.collect::<Vec<_>>(), query.kind.as_deref().unwrap_or_default()), None, None))
            button type="submit" { "Show" }
        }
    }
}
