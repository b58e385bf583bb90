//! The dashboard: pages rendered here, readable without a script, live with one.
//!
//! Decides how the farm is shown and who may act through the pages. All state is in Postgres: a page is a function of what
//! [`Store`] reads, so any coordinator can serve any page, and a restart loses nothing.

pub mod access;
mod actions;
mod assets;
mod charts;
mod live;
mod machine;
mod page;
mod pages;
mod parts;
mod route;
mod sampler;
mod solved;
mod words;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use proto::convert::NewHunt;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::Shared;
use crate::doors::{self, Peer, Porter};
use crate::grpc::operator::drawn_seed;
use crate::store::{CreateHuntError, HuntRecord, Store, StoreError};

use access::{AccessRules, Role, TOKEN_COOKIE, Visitor};
use page::{Page, Tab};
use route::{Fields, Route};

pub(crate) use sampler::keep_samples;

/// The most bytes of a form.
const MAX_FORM_BYTES: usize = 64 * 1024;
/// How long a reader waits for its turn.
const TURN_PATIENCE: Duration = Duration::from_secs(10);
/// Pages that may look again by themselves at once.
const MAX_STREAMS: usize = 300;

/// What the pages need. Cheap to clone.
#[derive(Clone)]
struct Seat {
    pub(crate) store: Store,
    pub(crate) access: Arc<AccessRules>,
    /// Knows tokens.
    porter: Arc<Porter>,
    /// Tokens are asked for, even on this machine.
    asks: bool,
    /// Pages go over an encrypted connection.
    is_tls: bool,
    pub(crate) solver: solved::Solver,
    /// Ends every stream that is open.
    pub(crate) shutdown: CancellationToken,
    /// How often a live page looks again.
    pub(crate) refresh: Duration,
    /// Pages that are read at once: a part of the connections, so that the farm's own calls never wait behind readers.
    turns: Arc<Semaphore>,
    /// The same for pages that look again by themselves.
    live_turns: Arc<Semaphore>,
    /// Streams that may be open.
    streams: Arc<Semaphore>,
    /// Tells calls that wait for work that there may be some.
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Seat {
    /// The seat of a farm. Its shutdown ends the streams of open pages, without which a server never closes.
    fn new(shared: &Arc<Shared>) -> Seat {
        let config = &shared.config;
        let connections = shared.store.max_connections();
        let waking = Arc::clone(shared);
        Seat {
            store: shared.store.clone(),
            access: Arc::new(config.access.clone()),
            porter: Arc::clone(&shared.porter),
            asks: config.doors.asks_pages(config),
            is_tls: config.doors.encrypts_pages(config),
            solver: solved::Solver::default(),
            shutdown: shared.shutdown.clone(),
            refresh: Duration::from_secs(2),
            turns: Arc::new(Semaphore::new((connections / 4).max(1))),
            live_turns: Arc::new(Semaphore::new((connections / 8).max(1))),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            wake: Arc::new(move || waking.work.tell()),
        }
    }

    /// Who makes this request; `None`: nobody that may look.
    async fn visitor(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<Visitor> {
        let known = match access::shown(headers) {
            Some((token, _)) => self.holder(token).await,
            None => None,
        };
        self.access.visitor(headers, peer, known, self.asks)
    }

    /// Whose token this is, if it opens the pages.
    async fn holder(&self, token: &str) -> Option<(String, Role)> {
        if let Some((name, role)) = self.access.holder(token) {
            return Some((name.to_owned(), role));
        }
        match self.porter.holder(token).await {
            Ok(caller) if caller.role == doors::Role::Operator => Some((caller.name, Role::Operator)),
            Ok(caller) if caller.role.may_look() => Some((caller.name, Role::Viewer)),
            Ok(_) => None,
            Err(shut) => {
                tracing::debug!(%shut, "the pages stay shut");
                None
            }
        }
    }

    /// Creates a hunt as this visitor asks for it. One that is there is not touched: a form that is sent twice, or under
    /// a name that somebody else has chosen, must not change a hunt that runs.
    async fn create(&self, actor: &str, wish: &NewHunt) -> Result<HuntRecord, CreateHuntError> {
        let hunt = self
            .store
            .acting_as(actor)
            .create_new_hunt(wish, drawn_seed())
            .await?;
        self.work_may_wait();
        Ok(hunt)
    }

    /// Reads a page when it is its turn; who waits too long for one hears what there is to hear when the database is away.
    async fn read(
        &self,
        turns: &Semaphore,
        route: &Route,
        visitor: &Visitor,
    ) -> Result<Option<Page>, StoreError> {
        let Ok(_turn) = tokio::time::timeout(TURN_PATIENCE, turns.acquire()).await else {
            return Err(sqlx::Error::PoolTimedOut.into());
        };
        pages::load(self, route, visitor).await
    }

    fn work_may_wait(&self) {
        (self.wake)();
    }
}

/// Everything that the web address answers: pages for people, health and figures for machines.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let seat = Seat::new(&shared);
    let machine = machine::health(Arc::clone(&shared))
        .merge(machine::figures(shared).layer(middleware::from_fn_with_state(seat.clone(), only_visitors)));
    let asks = seat.asks;
    let everything = machine.merge(dashboard(seat));
    if asks {
        return everything;
    }
    everything.layer(middleware::from_fn(admit_all))
}

/// What the probe's address answers, to this machine alone: health and figures.
pub(crate) fn probe_router(shared: Arc<Shared>) -> Router {
    let all = machine::health(Arc::clone(&shared)).merge(machine::figures(shared));
    all.layer(middleware::from_fn(admit_all))
}

/// Lets only who may look at the pages look at figures.
async fn only_visitors(State(seat): State<Seat>, request: Request, next: Next) -> Response {
    if seat.visitor(request.headers(), peer_of(&request)).await.is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    admit(&request);
    next.run(request).await
}

fn peer_of(request: &Request) -> Option<IpAddr> {
    request
        .extensions()
        .get::<ConnectInfo<Peer>>()
        .map(|peer| peer.0.addr.ip())
}

/// Its connection is no stranger's any more.
fn admit(request: &Request) {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<Peer>>() {
        peer.admission.admit();
    }
}

/// Every request is let in where nobody is asked for a token.
async fn admit_all(request: Request, next: Next) -> Response {
    admit(&request);
    next.run(request).await
}

/// The dashboard's routes, to be served with the peer's address, without which no proxy is trusted.
fn dashboard(seat: Seat) -> Router {
    let guarded = Router::new()
        .route("/live", get(live::live))
        .route("/leave", post(leave))
        .route("/hunts/new", get(show).post(actions::create_hunt))
        .route("/hunts/{id}/{question}", get(show).post(actions::act_on_hunt))
        .route("/workers/{id}/{question}", get(show).post(actions::act_on_worker))
        .route("/jobs/{id}/requeue", get(show).post(actions::requeue_job))
        .route("/trouble/requeue", get(show).post(actions::requeue_alike))
        .fallback(get(show))
        .layer(middleware::from_fn_with_state(seat.clone(), guard));
    Router::new()
        .route("/sign-in", get(sign_in_page).post(sign_in))
        .merge(assets::router())
        .merge(guarded)
        .layer(axum::extract::DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(middleware::map_response(secured))
        .with_state(seat)
}

/// Lets nobody pass that may not look.
async fn guard(State(seat): State<Seat>, mut request: Request, next: Next) -> Response {
    let Some(visitor) = seat.visitor(request.headers(), peer_of(&request)).await else {
        let wants_page = request.method() == axum::http::Method::GET && request.uri().path() != "/live";
        return if wants_page {
            Redirect::to("/sign-in").into_response()
        } else {
            StatusCode::UNAUTHORIZED.into_response()
        };
    };
    admit(&request);
    let cookie = visitor.new_cookie(seat.is_tls);
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// The headers that keep a page to itself.
async fn secured(mut response: Response) -> Response {
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
        form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
    let headers = response.headers_mut();
    let mut set = |name: &'static str, value: &'static str| {
        headers
            .entry(HeaderName::from_static(name))
            .or_insert(HeaderValue::from_static(value));
    };
    set("content-security-policy", policy);
    set("x-content-type-options", "nosniff");
    set("referrer-policy", "same-origin");
    set(CACHE_CONTROL.as_str(), "no-store");
    response
}

/// Any page.
async fn show(
    State(seat): State<Seat>,
    uri: Uri,
    axum::Extension(visitor): axum::Extension<Visitor>,
) -> Response {
    let address = uri.path_and_query().map_or("/", |address| address.as_str());
    let query = uri.query().unwrap_or_default();
    if let Some(why) = route::misread(&Fields::parse(query)) {
        return misread(&visitor, &why, uri.path(), address);
    }
    let Some(route) = Route::parse(uri.path(), query) else {
        return not_found(&seat, &visitor, address).await;
    };
    match seat.read(&seat.turns, &route, &visitor).await {
        Ok(Some(page)) => page.framed(address, &visitor).into_response(),
        Ok(None) => not_found(&seat, &visitor, address).await,
        Err(error) => away(&error, &visitor, address),
    }
}

/// A filter that cannot be read is not left out in silence: what would be shown looks like an answer.
fn misread(visitor: &Visitor, why: &str, path: &str, address: &str) -> Response {
    let content = html! {
        article.card {
            h1 { "This address cannot be read" }
            p { (why) }
            div.actions { a.button.first href=(path) { "Without it" } }
        }
    };
    let page = Page::notice("Not read").still(content);
    (StatusCode::BAD_REQUEST, page.framed(address, visitor)).into_response()
}

async fn not_found(seat: &Seat, visitor: &Visitor, address: &str) -> Response {
    let now = match seat.store.now().await {
        Ok(now) => now,
        Err(error) => return away(&error, visitor, address),
    };
    let content = html! {
        article.card {
            h1 { "Nothing here" }
            p { "There is no page at " code { (address) } ". It may have been mistyped, or what it showed was never stored." }
            div.actions { a.button.first href="/" { "To the overview" } }
        }
    };
    let page = Page {
        tab: None,
        ..Page::new("Nothing here", Tab::Overview, now)
    }
    .still(content);
    (StatusCode::NOT_FOUND, page.framed(address, visitor)).into_response()
}

/// The database did not answer. The page says so and comes back by itself.
fn away(error: &StoreError, visitor: &Visitor, address: &str) -> Response {
    tracing::error!(%error, address, "a page could not be read");
    let content = html! {
        article.card {
            h1 { "The database does not answer" }
            p { "Nothing is lost: what was acknowledged is stored, and workers keep what is not. This page tries again when it is loaded again." }
            div.actions { a.button.first href=(address) { "Try again" } }
        }
    };
    let page = Page::notice("Away").still(content);
    (StatusCode::SERVICE_UNAVAILABLE, page.framed(address, visitor)).into_response()
}

/// Where a token is asked for.
async fn sign_in_page() -> Markup {
    sign_in_form(None)
}

fn sign_in_form(wrong: Option<&str>) -> Markup {
    html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Sign in · Parforce" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href=(assets::CSS_PATH);
            }
            body {
                header.top { div.top-row { a.brand href="/" { (maud::PreEscaped(assets::LOGO)) "Parforce" } } }
                main #main {
                    article.card {
                        h1 { "Sign in" }
                        form.form method="post" action="/sign-in" {
                            (parts::forms::field("token", "Token", &html! {
                                input #token type="password" name="token" required autocomplete="current-password" autofocus
                                    aria-invalid=[wrong.map(|_| "true")] aria-describedby=[wrong.map(|_| "token-wrong")];
                            }, Some("Whoever runs this farm gives it out."), wrong))
                            div.actions { button.first type="submit" { "Sign in" } }
                        }
                    }
                }
            }
        }
    }
}

async fn sign_in(State(seat): State<Seat>, headers: HeaderMap, body: String) -> Response {
    let fields = Fields::parse(&body);
    let token = fields.get("token").unwrap_or_default();
    // The cookie holds the token itself, out of reach of scripts: every coordinator can check it, and revoking the token
    // ends every visit.
    let is_plain = token
        .bytes()
        .all(|b| b.is_ascii_graphic() && !b"\";,\\".contains(&b));
    if !is_plain || seat.holder(token).await.is_none() {
        tracing::warn!("a sign-in with an unknown token");
        return (
            StatusCode::FORBIDDEN,
            sign_in_form(Some("This token opens nothing here.")),
        )
            .into_response();
    }
    let is_tls = seat.is_tls
        || headers
            .get("x-forwarded-proto")
            .is_some_and(|proto| proto == "https");
    let secure = if is_tls { "; Secure" } else { "" };
    let cookie =
        format!("{TOKEN_COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000{secure}");
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

async fn leave(
    axum::Extension(visitor): axum::Extension<Visitor>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if !visitor.sent(&headers, Fields::parse(&body).get(access::CSRF_FIELD)) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let cookie = format!("{TOKEN_COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    ([(SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response()
}
