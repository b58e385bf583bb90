//! The pages, one file each: what is read from the store, and how it is put.

mod ask;
mod audits;
mod board;
mod boards;
mod census;
mod events;
mod hunt;
mod hunts;
mod job;
mod jobs;
pub(super) mod new_hunt;
mod overview;
mod trouble;
mod worker;
mod workers;
mod yields;

use maud::{Markup, html};

use super::Seat;
use super::access::Visitor;
use super::page::Page;
use super::route::Route;
use super::{parts, words};
use crate::store::{EventLine, StoreError, Window};

/// The page that is asked for; `None`: what it is about does not exist.
pub(super) async fn load(seat: &Seat, route: &Route, visitor: &Visitor) -> Result<Option<Page>, StoreError> {
    let page = match route {
        Route::Overview(window) => overview::load(seat, *window, visitor).await?,
        Route::Hunts => hunts::load(seat, visitor).await?,
        Route::NewHunt => new_hunt::load(seat, visitor).await?,
        Route::Hunt(id, window) => return hunt::load(seat, *id, *window, visitor).await,
        Route::AskHunt(id, question) => return ask::hunt(seat, *id, *question, visitor).await,
        Route::Census => census::load(seat).await?,
        Route::Jobs(query) => jobs::load(seat, query).await?,
        Route::Job(id) => return job::load(seat, *id, visitor).await,
        Route::Workers(query) => workers::load(seat, query).await?,
        Route::Worker(id) => return worker::load(seat, *id, visitor).await,
        Route::AskWorker(id, question) => return ask::worker(seat, *id, *question, visitor).await,
        Route::Boards(query) => boards::load(seat, query).await?,
        Route::Board(par, canonical) => return board::load(seat, *par, canonical).await,
        Route::Trouble => trouble::load(seat, visitor).await?,
        Route::AskRequeue(what) => return ask::requeue(seat, what, visitor).await,
        Route::Events(query) => events::load(seat, query).await?,
    };
    Ok(Some(page))
}

/// The choice of how far back the charts look.
fn windows(path: &str, now: Window) -> Markup {
    let options: Vec<_> = Window::ALL
        .into_iter()
        .map(|window| {
            (
                format!("{path}?window={}", window.as_str()),
                window.as_str(),
                window == now,
            )
        })
        .collect();
    parts::lists::tabs("How far back the charts look", &options)
}

/// The same address with one more field in its query.
fn with_field(address: &str, name: &str, value: &str) -> String {
    let joint = if address.contains('?') { '&' } else { '?' };
    format!("{address}{joint}{name}={}", words::escape(value))
}

/// Address of a board's page.
fn board_path(par: i16, canonical: &str) -> String {
    format!("/boards/{par}/{}", words::escape(canonical))
}

/// A lot as its size: `7x6`.
fn lot(width: i16, height: i16) -> String {
    format!("{width}x{height}")
}

/// Events as a list.
fn feed(events: &[EventLine], now: time::OffsetDateTime) -> Markup {
    html! {
        ul.feed {
            @for event in events {
                li {
                    (parts::ago(event.at, now))
                    span {
                        strong { (words_of(&event.kind)) }
                        @if let (Some(id), Some(name)) = (event.hunt_id, &event.hunt) { " · " a href={ "/hunts/" (id) } { (name) } }
                        @if let Some(id) = event.job_id { " · " a href={ "/jobs/" (id) } { "job " (id) } }
                        @if let (Some(id), Some(name)) = (event.worker_id, &event.worker) { " · " a href={ "/workers/" (id) } { (name) } }
                        @if !event.detail.is_empty() { " · " span.spelling { (event.detail) } }
                        span.soft { " · by " (event.actor) }
                    }
                }
            }
        }
    }
}

/// A kind of event in words.
fn words_of(kind: &str) -> String {
    let text = kind.replace('_', " ");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

/// A count of seconds since 1970, where charts want one.
#[expect(clippy::cast_precision_loss, reason = "seconds since 1970 are far below 2^53")]
fn seconds(at: time::OffsetDateTime) -> f64 {
    at.unix_timestamp() as f64
}

/// A count, where charts and shares want a figure.
#[expect(
    clippy::cast_precision_loss,
    reason = "a picture or a share needs no more than 53 bits"
)]
fn real(n: i64) -> f64 {
    n as f64
}
