//! Questions before anything is done: what it means, and where no leads.

use maud::html;
use proto::convert::PRIORITIES;

use crate::store::{HuntLine, StoreError, WorkerQuery};
use crate::web::access::Visitor;
use crate::web::page::{Page, Tab};
use crate::web::parts::forms::{Question, field, question};
use crate::web::parts::{self, Mood};
use crate::web::route::{HuntQuestion, Requeue, WorkerQuestion};
use crate::web::{Seat, words};

pub(super) async fn hunt(
    seat: &Seat,
    id: i64,
    ask: HuntQuestion,
    visitor: &Visitor,
) -> Result<Option<Page>, StoreError> {
    let Some(hunt) = seat.store.hunt_lines(Some(id)).await?.pop() else {
        return Ok(None);
    };
    let now = seat.store.now().await?;
    let (title, meaning, yes, is_grave) = match ask {
        HuntQuestion::Pause => (
            "Pause",
            "Nothing more of it is handed out; workers give back what they have within two beats, with a checkpoint. Its time stops. Nothing is lost.",
            "Pause it",
            false,
        ),
        HuntQuestion::Resume => (
            "Resume",
            "Its jobs are handed out again, and its time goes on.",
            "Resume it",
            false,
        ),
        HuntQuestion::Cancel => (
            "Cancel",
            "It ends: its waiting jobs are dropped, and running ones stop within two beats. The boards it found stay, all of them. It can be taken up again by asking for a hunt of the same name and boards.",
            "Cancel it",
            true,
        ),
        HuntQuestion::Priority => (
            "Change the priority of",
            "Hunts of higher priority get workers first. Jobs that run are not stopped for it.",
            "Change it",
            false,
        ),
    };
    let fields = html! {
        @if ask == HuntQuestion::Priority {
            (field("priority", "Priority", &html! { input #priority name="priority" type="number" min=(PRIORITIES.start()) max=(PRIORITIES.end()) value=(hunt.priority) required; }, Some("0 is usual"), None))
        }
    };
    let back = format!("/hunts/{id}");
    let title = format!("{title} {}?", hunt.name);
    let form = Question {
        ask: &title,
        meaning: html! { p { (meaning) } (state_of(&hunt)) },
        fields,
        action: format!("/hunts/{id}/{}", ask.as_str()),
        yes,
        is_grave,
        back,
    };
    Ok(Some(asked(Tab::Hunts, now, &form, visitor)))
}

fn state_of(hunt: &HuntLine) -> maud::Markup {
    html! { p.soft { "It is " (hunt.state) ", has " (words::counted(hunt.n_leased, "job")) " at work and priority " (hunt.priority) "." } }
}

pub(super) async fn worker(
    seat: &Seat,
    id: i64,
    ask: WorkerQuestion,
    visitor: &Visitor,
) -> Result<Option<Page>, StoreError> {
    let query = WorkerQuery {
        id: Some(id),
        ..WorkerQuery::default()
    };
    let Some(worker) = seat.store.worker_lines(&query).await?.pop() else {
        return Ok(None);
    };
    let now = seat.store.now().await?;
    let (title, meaning, yes, is_grave) = match ask {
        WorkerQuestion::Run => (
            "Let run:",
            "It is told with its next beat to take jobs again.",
            "Let it run",
            false,
        ),
        WorkerQuestion::Drain => (
            "Drain",
            "It finishes the jobs it has and takes no more until it is told to run again. Its program stays. No attempt is counted against its jobs.",
            "Drain it",
            false,
        ),
        WorkerQuestion::Stop => (
            "Stop",
            "It gives its jobs back with a checkpoint, and its program ends; if that is `parforce hunt`, so does what else it runs. Somebody must start it again on its machine.",
            "Stop it",
            true,
        ),
        WorkerQuestion::Quarantine => (
            "Quarantine",
            "It gets no more jobs until somebody trusts it again; its program stays. What it found was proved and stays.",
            "Quarantine it",
            true,
        ),
        WorkerQuestion::Trust => (
            "Trust again:",
            "It gets jobs again, and its strikes are forgotten.",
            "Trust it",
            false,
        ),
    };
    let fields = html! {
        @if ask == WorkerQuestion::Quarantine {
            (field("reason", "Why", &html! { input #reason name="reason" required maxlength="200" size="40"; }, Some("shown on its page and in the events"), None))
        }
    };
    let title = format!("{title} {}?", worker.name);
    let form = Question {
        ask: &title,
        meaning: html! { p { (meaning) } p.soft { "It is " (worker.state) " and holds " (words::counted(worker.n_leases, "job")) "." } },
        fields,
        action: format!("/workers/{id}/{}", ask.as_str()),
        yes,
        is_grave,
        back: format!("/workers/{id}"),
    };
    Ok(Some(asked(Tab::Workers, now, &form, visitor)))
}

pub(super) async fn requeue(
    seat: &Seat,
    what: &Requeue,
    visitor: &Visitor,
) -> Result<Option<Page>, StoreError> {
    let now = seat.store.now().await?;
    let (title, action, back, hidden) = match what {
        Requeue::Job(id) => (
            format!("Requeue job {id}?"),
            format!("/jobs/{id}/requeue"),
            format!("/jobs/{id}"),
            html! {},
        ),
        Requeue::Alike {
            hunt_id,
            outcome,
            error,
        } => {
            let Ok(hunt) = proto::ids::HuntId::new(*hunt_id) else {
                return Ok(None);
            };
            let n = seat.store.parked_alike(hunt, outcome, error).await?.len();
            let hidden = html! {
                input type="hidden" name="hunt" value=(hunt_id);
                input type="hidden" name="outcome" value=(outcome);
                input type="hidden" name="error" value=(error);
            };
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            (
                format!("Requeue {}?", words::counted(n, "job")),
                "/trouble/requeue".to_owned(),
                "/trouble".to_owned(),
                hidden,
            )
        }
    };
    let form = Question {
        ask: &title,
        meaning: html! { p { "Back on the queue, failures forgotten: it may fail five times more. Worth it when what it failed with is mended, or was a worker's fault." } },
        fields: hidden,
        action,
        yes: "Requeue",
        is_grave: false,
        back,
    };
    Ok(Some(asked(Tab::Trouble, now, &form, visitor)))
}

fn asked(tab: Tab, now: time::OffsetDateTime, form: &Question<'_>, visitor: &Visitor) -> Page {
    let content = if visitor.may_act() {
        question(form, visitor)
    } else {
        parts::notice(
            Mood::Warn,
            &html! { p { "You may look, but not act. An operator can." } },
        )
    };
    Page::new(form.ask, tab, now).still(content)
}
