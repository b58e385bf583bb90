//! The style sheet, the script and the logo, compiled in; their paths carry the version.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;

/// Where the style sheet is.
pub(crate) const CSS_PATH: &str = concat!("/assets/", env!("CARGO_PKG_VERSION"), "/app.css");
/// Where the script is.
pub(crate) const SCRIPT_PATH: &str = concat!("/assets/", env!("CARGO_PKG_VERSION"), "/app.js");

const CSS: &str = include_str!("app.css");
const SCRIPT: &str = include_str!("app.js");
const ICON: &str = include_str!("icon.svg");

/// The mark beside the name.
pub(crate) const LOGO: &str = include_str!("logo.svg");

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let asset = |kind: &'static str, text: &'static str| {
        // Revalidated, not kept for good: a development build changes its assets without changing its version.
        get(async move || ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=60")], text).into_response())
    };
    Router::new()
        .route(CSS_PATH, asset("text/css; charset=utf-8", CSS))
        .route(SCRIPT_PATH, asset("text/javascript; charset=utf-8", SCRIPT))
        .route("/assets/icon.svg", asset("image/svg+xml", ICON))
}
