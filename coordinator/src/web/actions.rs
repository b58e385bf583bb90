//! Forms that act: who may, whether the form is ours, then the store, then back to where it was asked.

use std::fmt::Display;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use proto::convert::{Directive, PRIORITIES};
use proto::ids::{HuntId, JobId};

use super::access::{CSRF_FIELD, Visitor};
use super::page::Page;
use super::pages::new_hunt;
use super::parts::{self, Mood};
use super::route::{Fields, HuntQuestion, WorkerQuestion};
use super::{Seat, away};
use crate::store::{CreateHuntError, StoreError, WorkerAction};

/// The longest reason for a quarantine, in characters.
const MAX_REASON_CHARS: usize = 200;

/// The form's fields, if the visitor may act and the form is ours.
fn accepted(visitor: &Visitor, headers: &HeaderMap, body: &str) -> Result<Fields, Box<Response>> {
    let fields = Fields::parse(body);
    if !visitor.may_act() {
        return Err(Box::new(refusal(
            visitor,
            StatusCode::FORBIDDEN,
            "You may look, but not act. An operator can.",
            None,
        )));
    }
    if !visitor.sent(headers, fields.get(CSRF_FIELD)) {
        let why = "This form was not sent from a page of this dashboard, or has lain open for too long. Nothing was done.";
        return Err(Box::new(refusal(visitor, StatusCode::FORBIDDEN, why, None)));
    }
    Ok(fields)
}

fn refusal(visitor: &Visitor, status: StatusCode, why: impl Display, back: Option<&str>) -> Response {
    let page = Page::notice("Not done").still(html! {
        (parts::notice(Mood::Bad, &html! { p { (why.to_string()) } }))
        div.actions {
            @if let Some(back) = back { a.button.first href=(back) { "Back" } }
            a.button href="/" { "To the overview" }
        }
    });
    (status, page.framed("/", visitor)).into_response()
}

fn ended(done: Result<bool, StoreError>, visitor: &Visitor, back: &str) -> Response {
    match done {
        Ok(true) => Redirect::to(back).into_response(),
        Ok(false) => refusal(
            visitor,
            StatusCode::CONFLICT,
            "Nothing was done: it is not in a state for that (any more), or there is no such thing.",
            Some(back),
        ),
        Err(error) => away(&error, visitor, back),
    }
}

pub(super) async fn create_hunt(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = match accepted(&visitor, &headers, &body) {
        Ok(fields) => fields,
        Err(refused) => return *refused,
    };
    let wrong = match new_hunt::read(&fields) {
        Ok(wish) => match seat.create(&visitor.actor(), &wish).await {
            Ok(hunt) => return Redirect::to(&format!("/hunts/{}", hunt.id)).into_response(),
            Err(CreateHuntError::Store(error)) => return away(&error, &visitor, "/hunts/new"),
            Err(
                taken @ (CreateHuntError::NameTaken { .. }
                | CreateHuntError::NameInUse { .. }
                | CreateHuntError::SeedFixed { .. }),
            ) => {
                vec![("name", taken.to_string())]
            }
            Err(
                refused @ (CreateHuntError::Census(_)
                | CreateHuntError::Engine { .. }
                | CreateHuntError::NoLevels),
            ) => {
                vec![("form", refused.to_string())]
            }
        },
        Err(wrong) => wrong,
    };
    match new_hunt::form(&seat, &visitor, &fields, &wrong).await {
        Ok(page) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            page.framed("/hunts/new", &visitor),
        )
            .into_response(),
        Err(error) => away(&error, &visitor, "/hunts/new"),
    }
}

pub(super) async fn act_on_hunt(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    Path((id, question)): Path<(i64, String)>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = match accepted(&visitor, &headers, &body) {
        Ok(fields) => fields,
        Err(refused) => return *refused,
    };
    let (Ok(hunt), Some(question)) = (HuntId::new(id), HuntQuestion::parse(&question)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let store = seat.store.acting_as(&visitor.actor());
    let done = match question {
        HuntQuestion::Pause => store.pause_hunt(hunt).await,
        HuntQuestion::Resume => store.resume_hunt(hunt).await,
        HuntQuestion::Cancel => store.cancel_hunt(hunt).await,
        HuntQuestion::Priority => match fields
            .number::<i32>("priority")
            .filter(|priority| PRIORITIES.contains(priority))
        {
            Some(priority) => store.set_priority(hunt, priority).await,
            None => {
                return refusal(
                    &visitor,
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "A priority is a whole number from −1000 to 1000.",
                    Some(&format!("/hunts/{id}/priority")),
                );
            }
        },
    };
    seat.work_may_wait();
    ended(done, &visitor, &format!("/hunts/{id}"))
}

pub(super) async fn act_on_worker(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    Path((id, question)): Path<(i64, String)>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = match accepted(&visitor, &headers, &body) {
        Ok(fields) => fields,
        Err(refused) => return *refused,
    };
    let Some(question) = WorkerQuestion::parse(&question) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let action = match question {
        WorkerQuestion::Run => WorkerAction::Direct(Directive::Run),
        WorkerQuestion::Drain => WorkerAction::Direct(Directive::Drain),
        WorkerQuestion::Stop => WorkerAction::Direct(Directive::Stop),
        WorkerQuestion::Trust => WorkerAction::Trust,
        WorkerQuestion::Quarantine => {
            let Some(reason) = fields.get("reason") else {
                return refusal(
                    &visitor,
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "Say why: it is shown to everybody who wonders.",
                    Some(&format!("/workers/{id}/quarantine")),
                );
            };
            WorkerAction::Quarantine(reason.chars().take(MAX_REASON_CHARS).collect())
        }
    };
    let done = seat
        .store
        .acting_as(&visitor.actor())
        .act_on_worker(id, &action)
        .await;
    ended(done, &visitor, &format!("/workers/{id}"))
}

pub(super) async fn requeue_job(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<i64>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Err(refused) = accepted(&visitor, &headers, &body) {
        return *refused;
    }
    let Ok(job) = JobId::new(id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let done = seat
        .store
        .acting_as(&visitor.actor())
        .requeue_jobs(&[job])
        .await
        .map(|n| n == 1);
    seat.work_may_wait();
    ended(done, &visitor, &format!("/jobs/{id}"))
}

pub(super) async fn requeue_alike(
    State(seat): State<Seat>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let fields = match accepted(&visitor, &headers, &body) {
        Ok(fields) => fields,
        Err(refused) => return *refused,
    };
    let hunt = fields.number("hunt").and_then(|id| HuntId::new(id).ok());
    let (Some(hunt), Some(outcome)) = (hunt, fields.get("outcome")) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let done = match seat
        .store
        .parked_alike(hunt, outcome, fields.get("error").unwrap_or_default())
        .await
    {
        Ok(jobs) => seat
            .store
            .acting_as(&visitor.actor())
            .requeue_jobs(&jobs)
            .await
            .map(|n| n > 0),
        Err(error) => Err(error),
    };
    seat.work_may_wait();
    ended(done, &visitor, "/trouble")
}
