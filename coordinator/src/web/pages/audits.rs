//! Audits: jobs that others ran again, and what came of it. Shown among troubles and on the page of each job.

use maud::{Markup, html};
use time::OffsetDateTime;

use crate::store::{AuditCounts, AuditLine};
use crate::web::parts::{self, Mood, Tile};
use crate::web::words;

/// How audits came out, and those that are not settled.
pub(super) fn card(counts: &AuditCounts, open: &[AuditLine], now: OffsetDateTime) -> Markup {
    let mood = |n: i64, mood| if n > 0 { mood } else { Mood::Plain };
    parts::card(
        "Audits: jobs run again by another worker",
        &html! { span.small.soft { "of the last 5,000" } },
        &html! {
            (parts::tiles(&[
                Tile::new("Agree", words::count(counts.n_agree)).note("bit for bit as claimed"),
                Tile::new("Disputed", words::count(counts.n_disputed)).note("two runs differ, a third decides").mood(mood(counts.n_disputed, Mood::Warn)),
                Tile::new("Wrong themselves", words::count(counts.n_differ)).note("others agree with the claim").mood(mood(counts.n_differ, Mood::Bad)),
                Tile::new("Waiting", words::count(counts.n_waiting)).note("for a worker that made no other run"),
                Tile::new("Given up", words::count(counts.n_given_up)).note("nobody was there to make them"),
            ]))
            @if open.is_empty() { (parts::empty(&html! { p { (parts::badge(Mood::Good, "none")) " No audit is open, and none differs." } })) }
            @else { (table(open, now)) }
        },
    )
}

/// What a job is an audit of, and what it was checked by.
pub(super) fn of_job(job: i64, audits: &[AuditLine], now: OffsetDateTime) -> Markup {
    if audits.is_empty() {
        return html! {};
    }
    let is_audit = audits.iter().any(|audit| audit.job_id == job);
    let title = if is_audit {
        "It checks another job"
    } else {
        "Checked by others"
    };
    parts::card(title, &html! {}, &table(audits, now))
}

fn table(audits: &[AuditLine], now: OffsetDateTime) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Audits" { table {
            thead { tr {
                th.n scope="col" { "Audit" } th.n scope="col" { "Of job" } th scope="col" { "Hunt" } th scope="col" { "Why" } th scope="col" { "Verdict" }
                th scope="col" { "Claimed by" } th scope="col" { "Run again by" } th scope="col" { "Asked for" } th scope="col" { "Compared" }
            } }
            tbody { @for audit in audits { tr {
                th.n scope="row" { a href={ "/jobs/" (audit.job_id) } { (audit.job_id) } }
                td.n { a href={ "/jobs/" (audit.audit_of) } { (audit.audit_of) } }
                td { a href={ "/hunts/" (audit.hunt_id) } { (audit.hunt) } }
                td { (audit.reason.replace('_', " ")) }
                td { (verdict(audit)) }
                td { (worker(audit.claimed_by_id, audit.claimed_by.as_deref())) }
                td { (worker(audit.audited_by_id, audit.audited_by.as_deref())) }
                td.nowrap { (parts::ago(audit.asked_at, now)) }
                td.nowrap { (parts::ago_or_nothing(audit.judged_at, now)) }
            } } }
        } }
    }
}

fn verdict(audit: &AuditLine) -> Markup {
    match audit.verdict.as_deref() {
        Some("agrees") => parts::badge(Mood::Good, "agrees"),
        Some("disputed") => parts::badge(Mood::Warn, "disputed"),
        Some("differs") => parts::badge(Mood::Bad, "wrong itself"),
        Some(other) => parts::badge(Mood::Plain, other),
        None => parts::state(&audit.state),
    }
}

fn worker(id: Option<i64>, name: Option<&str>) -> Markup {
    html! { @if let (Some(id), Some(name)) = (id, name) { a href={ "/workers/" (id) } { (name) } } @else { (words::NOTHING) } }
}
