//! One job: its attempts with who, when and why, what it found, how to run it again.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::board_path;
use crate::store::{AttemptLine, AuditQuery, JobLine, JobQuery, StoreError};
use crate::web::access::Visitor;
use crate::web::page::{Page, Tab};
use crate::web::parts::drawing::{Detail, draw};
use crate::web::parts::{self, Mood, Tile};
use crate::web::{Seat, words};

pub(super) async fn load(seat: &Seat, id: i64, visitor: &Visitor) -> Result<Option<Page>, StoreError> {
    let query = JobQuery {
        after: id.checked_add(1),
        ..JobQuery::default()
    };
    let Some(job) = seat
        .store
        .job_lines(&query)
        .await?
        .into_iter()
        .next()
        .filter(|job| job.id == id)
    else {
        return Ok(None);
    };
    let now = seat.store.now().await?;
    let attempts = seat.store.attempt_lines(id).await?;
    let audits = seat.store.audit_lines(AuditQuery::OfJob(id)).await?;
    let boards = match job.best_par {
        Some(par) => seat.store.boards_of_job(id, par).await?,
        None => Vec::new(),
    };
    let hunt = html! { a href="/jobs" { "Jobs" } " · " a href={ "/hunts/" (job.hunt_id) } { (job.hunt) } };
    let actions = html! {
        @if visitor.may_act() && job.state == "parked" { a.button.first href={ "/jobs/" (id) "/requeue" } { "Requeue" } }
    };
    let page = Page::new(format!("Job {id}"), Tab::Jobs, now)
        .live(
            "head",
            parts::head(&hunt, &format!("Job {id}"), &parts::state(&job.state), &actions),
        )
        .live("now", tiles(&job, now))
        .live(
            "attempts",
            parts::card(
                "Attempts",
                &html! { span.small.soft { "newest first" } },
                &attempts_table(&attempts, now),
            ),
        )
        .live("audits", super::audits::of_job(id, &audits, now))
        .still(replay(&job))
        .live("best", best(&job, &boards));
    Ok(Some(page))
}

fn tiles(job: &JobLine, now: OffsetDateTime) -> Markup {
    let holder = html! { @if let (Some(id), Some(name)) = (job.worker_id, &job.worker) { p { "Held by " a href={ "/workers/" (id) } { (name) } ", " (words::figure(job.rate)) " positions a second." } } };
    html! {
        @if job.state == "parked" {
            (parts::notice(Mood::Bad, &html! { p { "It failed " (job.n_failures) " times and waits for somebody: see its attempts, then requeue it, or leave it: its siblings go on." } }))
        }
        (parts::tiles(&[
            Tile::new("Work", words::share(super::real(job.work_done) / super::real(job.n_work.max(1)))).note(format!("{} of {} iterations", words::count(job.work_done), words::count(job.n_work))),
            Tile::new("Best par", words::or_nothing(job.best_par)).note(if job.kind == "siren" { "moves, proved" } else { "slides, proved" }),
            Tile::new(if job.kind == "siren" { "New jams" } else { "New boards" }, words::count(job.n_new)).note(format!("{} were known", words::count(job.n_known))),
            Tile::new("Attempts", words::count(job.n_attempts)).note(format!("{} failed", job.n_failures)),
            Tile::new("Planned", words::ago(job.created_at, now)).note(words::instant(job.created_at)),
        ]))
        article.card { (super::jobs::work(job)) (holder) }
    }
}

/// Attempts as a table.
pub(super) fn attempts_table(attempts: &[AttemptLine], now: OffsetDateTime) -> Markup {
    let longest = attempts
        .iter()
        .map(|a| (a.ended_at.unwrap_or(now) - a.started_at).as_seconds_f64())
        .fold(1.0, f64::max);
    html! {
        @if attempts.is_empty() { (parts::empty(&html! { p { "Nobody has taken it yet." } })) } @else {
            div.scroll tabindex="0" role="region" aria-label="Attempts" { table {
                thead { tr {
                    th.n scope="col" { "Token" } th scope="col" { "Job" } th scope="col" { "Worker" } th scope="col" { "Outcome" } th scope="col" { "Began" }
                    th scope="col" { "Lasted" } th scope="col" { "Why" }
                } }
                tbody { @for attempt in attempts {
                    @let lasted = attempt.ended_at.unwrap_or(now) - attempt.started_at;
                    tr {
                        td.n { (attempt.token) }
                        td { a href={ "/jobs/" (attempt.job_id) } { (attempt.job_id) } }
                        td { a href={ "/workers/" (attempt.worker_id) } { (attempt.worker) } }
                        td { (parts::state(&attempt.outcome)) }
                        td.nowrap { (parts::ago(attempt.started_at, now)) }
                        td { (parts::bar(lasted.as_seconds_f64() / longest, &words::duration(lasted))) span.small.soft { (words::duration(lasted)) } }
                        td.spelling { (attempt.detail.as_deref().unwrap_or(words::NOTHING)) }
                    }
                } }
            } }
        }
    }
}

fn replay(job: &JobLine) -> Markup {
    parts::card(
        "Run it again",
        &html! {},
        &html! {
            p { "Its result is a function of its specification and the engine: this gives the same boards, on any machine, on any number of threads." }
            (parts::copyable("replay", &format!("parforce replay {}", job.id)))
        },
    )
}

fn best(job: &JobLine, boards: &[String]) -> Markup {
    let Some(par) = job.best_par else { return html! {} };
    if job.kind == "siren" {
        let query = format!(
            "SELECT world, level, seed, par, canonical FROM analysis.jams WHERE job_id = {}",
            job.id
        );
        return parts::card(
            "What its seeds gave",
            &html! {},
            &html! { p { code { (query) } } },
        );
    }
    let content = html! {
        @if boards.is_empty() {
            (parts::empty(&html! { p { "Its hardest boards were known before, or are too many to look through here." } }))
        } @else {
            ul.boards { @for canonical in boards { li { a href=(board_path(par, canonical)) {
                @if let Ok(board) = board::Board::parse(canonical) { (draw(&board, Detail::Small, "Board found by this job")) }
                span.par { "Par " (par) }
            } } } }
        }
    };
    parts::card("Hardest boards that it found first", &html! {}, &content)
}
