//! Health and figures, for machines. All state is read from the store, at most once a request.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tracing::error;

use crate::Shared;
use crate::store::StoreError;

/// For who keeps the process running: open to everybody, tells nothing else.
pub(super) fn health(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .with_state(shared)
}

/// For who draws charts and sends alerts.
pub(super) fn figures(shared: Arc<Shared>) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(shared)
}

/// Whether calls are served: the database answers, and no shutdown has begun.
async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.shutdown.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n").into_response();
    }
    match shared.store.ping().await {
        Ok(()) => "ready\n".into_response(),
        Err(error) => {
            error!(%error, "not ready");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response()
        }
    }
}

/// Figures in the Prometheus text format, from the store: they outlive the process, and two coordinators agree.
async fn metrics(State(shared): State<Arc<Shared>>) -> Result<Response, PageError> {
    let figures = shared.store.figures().await?;
    let text = format!(
        "# HELP parforce_boards Boards stored.\n# TYPE parforce_boards gauge\nparforce_boards {}\n\
         # HELP parforce_jobs Jobs, by state.\n# TYPE parforce_jobs gauge\n\
         parforce_jobs{{state=\"queued\"}} {}\nparforce_jobs{{state=\"leased\"}} {}\nparforce_jobs{{state=\"parked\"}} {}\n\
         # HELP parforce_workers Workers that are there.\n# TYPE parforce_workers gauge\nparforce_workers {}\n\
         # HELP parforce_boards_beyond Whether boards lie in the default partition, which is to stay empty.\n\
         # TYPE parforce_boards_beyond gauge\nparforce_boards_beyond {}\n",
        figures.n_boards,
        figures.n_queued,
        figures.n_leased,
        figures.n_parked,
        figures.n_workers,
        u8::from(figures.has_boards_beyond),
    );
    Ok((
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response())
}

/// A page that could not be made.
struct PageError(StoreError);

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> PageError {
        PageError(error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        error!(error = %self.0, "a page failed in the database");
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "the database is away, come again\n",
        )
            .into_response()
    }
}
