//! Live pages: the blocks of any page, again and again, those that changed. One stream holds nothing but what it sent last.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{MissedTickBehavior, interval};

use super::access::Visitor;
use super::page::Page;
use super::route::{Fields, Route};
use super::{Seat, peer_of, route};

/// A page's blocks as a stream of events (`blocks`, an object of names and markup: first all of them, then those that
/// changed; `beat` when nothing could be read), or once as JSON with `once=1`.
pub(super) async fn live(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    uri: Uri,
    request: Request,
) -> Response {
    let fields = Fields::parse(uri.query().unwrap_or_default());
    let page = fields.get("page").unwrap_or_default();
    let query = page.split_once('?').map_or("", |(_, query)| query);
    let readable = route::misread(&Fields::parse(query)).is_none();
    let Some(route) = Route::parse_address(page).filter(|_| readable && !page.is_empty()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if fields.get("once").is_some() {
        return match seat.read(&seat.live_turns, &route, &visitor).await {
            Ok(Some(page)) => Json(blocks(&page)).into_response(),
            Ok(None) => StatusCode::NOT_FOUND.into_response(),
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        };
    }
    // Who gets no stream polls, or asks again later.
    let Ok(place) = Arc::clone(&seat.streams).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "30")]).into_response();
    };
    let shutdown = seat.shutdown.clone();
    // Without this a coordinator would wait for every open page before it ends.
    let asked = (request.headers().clone(), peer_of(&request));
    let events = changes(seat, route, asked, place).take_until(shutdown.cancelled_owned());
    // Proxies that collect answers before they pass them on are asked not to.
    (
        [("x-accel-buffering", "no")],
        Sse::new(events).keep_alive(KeepAlive::default()),
    )
        .into_response()
}

fn blocks(page: &Page) -> HashMap<&'static str, String> {
    let mut blocks: HashMap<_, _> = page
        .live_blocks()
        .map(|(id, html)| (id, html.to_owned()))
        .collect();
    blocks.insert("as-of", page.as_of_line().into_string());
    blocks
}

/// The stream of one page, until who looks at it may not look any more: a token may end before its page is closed.
fn changes(
    seat: Seat,
    route: Route,
    asked: (HeaderMap, Option<IpAddr>),
    place: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let mut ticks = interval(seat.refresh);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream::unfold(
        (ticks, HashMap::new(), place),
        move |(mut ticks, mut sent, place)| {
            let (seat, route, (headers, peer)) = (seat.clone(), route.clone(), asked.clone());
            async move {
                ticks.tick().await;
                let visitor = seat.visitor(&headers, peer).await?;
                let event = match seat.read(&seat.live_turns, &route, &visitor).await {
                    Ok(Some(page)) => {
                        let mut changed = blocks(&page);
                        changed.retain(|id, html| sent.get(id) != Some(html));
                        sent.extend(changed.iter().map(|(id, html)| (*id, html.clone())));
                        Event::default()
                            .event("blocks")
                            .data(serde_json::to_string(&changed).expect("text is JSON"))
                    }
                    // The page stays as it is, and says that there is no answer and of when its data are.
                    Ok(None) | Err(_) => Event::default().event("beat").data("-"),
                };
                Some((Ok(event), (ticks, sent, place)))
            }
        },
    )
}
