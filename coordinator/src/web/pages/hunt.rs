//! One hunt: how far it is, why it gets what it gets, what it found, what can be done.

use maud::{Markup, html};
use time::{Duration, OffsetDateTime};

use super::{feed, real, seconds, windows, yields};
use crate::store::{EventLine, EventQuery, FarmNow, HuntLine, HuntPoint, StoreError, Window};
use crate::web::access::Visitor;
use crate::web::charts::{BarChart, Line, LineChart, Unit, X, bars, classes_of_durations, lines};
use crate::web::page::{Page, Tab};
use crate::web::parts::{self, Mood, Tile};
use crate::web::{Seat, words};

pub(super) async fn load(
    seat: &Seat,
    id: i64,
    window: Window,
    visitor: &Visitor,
) -> Result<Option<Page>, StoreError> {
    let all = seat.store.hunt_lines(None).await?;
    let hunt = match all.iter().find(|hunt| hunt.id == id) {
        Some(hunt) => hunt.clone(),
        None => match seat.store.hunt_lines(Some(id)).await?.pop() {
            Some(hunt) => hunt,
            None => return Ok(None),
        },
    };
    let farm = seat.store.farm_now().await?;
    let series = seat.store.hunt_series(&[id], window).await?;
    let recent = match window {
        Window::Hour => series.clone(),
        _ => seat.store.hunt_series(&[id], Window::Hour).await?,
    };
    let durations = seat.store.job_durations(id).await?;
    // A job of another version may not be readable; the chart then does without its temperature.
    let anneal = seat.store.newest_anneal(id).await.unwrap_or_default();
    let hard = yields::hard_from(&hunt);
    let brought = seat.store.hunt_yields(id, window, hard).await?;
    let pars = match hunt.lot_width.zip(hunt.lot_height) {
        Some(lot) => Some(seat.store.par_counts(Some(lot)).await?),
        None => None,
    };
    let events = seat
        .store
        .event_lines(&EventQuery {
            hunt_id: Some(id),
            limit: 12,
            ..EventQuery::default()
        })
        .await?;

    let crumbs = html! { a href="/hunts" { "Hunts" } };
    let path = format!("/hunts/{id}");
    let page = Page::new(hunt.name.clone(), Tab::Hunts, farm.now)
        .live("head", parts::head(&crumbs, &hunt.name, &parts::state(&hunt.state), &actions(&hunt, visitor)))
        .live("now", now(&hunt, &all, &farm, &recent))
        .still(html! { div.head { h2 { "Over " (window.in_words()) } (windows(&path, window)) } })
        .live("charts", html! { div.grid {
            (time_charts(&series, anneal.as_ref(), window))
            @if hunt.is_search() { (yields::charts(&brought, hard, window)) }
            (bars(&BarChart { title: "How long its last jobs took", note: "at most 1,000 jobs", x: "from", y: "jobs", bars: classes_of_durations(&durations), is_log: false }))
            @if let Some(pars) = &pars { (super::overview::par_chart(&format!("all {} boards, whoever found them", hunt.subject()), pars)) }
        } })
        .still(asked(&hunt))
        .live("log", log(&events, farm.now, id));
    Ok(Some(page))
}

fn actions(hunt: &HuntLine, visitor: &Visitor) -> Markup {
    let ask = |what: &str| format!("/hunts/{}/{what}", hunt.id);
    html! {
        @if visitor.may_act() && hunt.ended_at.is_none() {
            @if hunt.state == "paused" { a.button.first href=(ask("resume")) { "Resume" } } @else { a.button href=(ask("pause")) { "Pause" } }
            a.button href=(ask("priority")) { "Priority" }
            a.button.danger href=(ask("cancel")) { "Cancel" }
        }
    }
}

fn now(hunt: &HuntLine, all: &[HuntLine], farm: &FarmNow, recent: &[HuntPoint]) -> Markup {
    let totals = hunt.totals.as_ref();
    let count = |n: Option<i64>| n.map_or_else(|| words::NOTHING.to_owned(), words::count);
    let tried = totals.map(|t| t.n_new + t.n_known).filter(|n| *n > 0);
    let share = totals.zip(tried).map(|(t, tried)| {
        format!(
            "{} of all it handed in",
            words::share(real(t.n_new) / real(tried))
        )
    });
    let n_jobs = totals.map(|t| {
        format!(
            "{} waiting, {} parked",
            words::count(t.n_queued),
            words::count(t.n_parked)
        )
    });
    html! {
        @for reason in why_no_workers(hunt, all, farm) { (parts::notice(Mood::Warn, &html! { p { (reason) } })) }
        (parts::tiles(&[
            Tile::new("Best par", words::or_nothing(totals.and_then(|t| t.best_par)))
                .note(hunt.until_par.map_or_else(|| "slides".to_owned(), |aim| format!("slides; it aims at {aim}"))),
            Tile::new("New boards", count(totals.map(|t| t.n_new))).note(share.unwrap_or_default()),
            Tile::new("New boards a second", rate(recent).map_or_else(|| words::NOTHING.to_owned(), words::figure)).note("over the last 5 min"),
            Tile::new("Jobs done", count(totals.map(|t| t.n_done))).note(n_jobs.unwrap_or_default()),
            Tile::new("Cores", words::figure(hunt.n_cores)).note(share_of(hunt, all, farm)),
            Tile::new("Positions a second", words::figure(hunt.positions_per_s)).note("by the last beats"),
            eta(hunt, recent, farm.now),
        ]))
        @if let Some((part, words)) = super::hunts::progress_of(hunt, farm.now).filter(|_| hunt.ended_at.is_none()) {
            article.card { (parts::bar(part, &words)) p.small.soft { (words) } }
        }
    }
}

/// What a hunt gets of the cores at work, and what is owed to it by its priority.
fn share_of(hunt: &HuntLine, all: &[HuntLine], farm: &FarmNow) -> String {
    if farm.n_busy_cores <= 0.0 {
        return "no core is at work".to_owned();
    }
    let got = words::share(hunt.n_cores / farm.n_busy_cores);
    let rivals = all.iter().filter(|other| other.state == "running");
    let (above, equal) = rivals.fold((0, 0), |(above, equal), other| {
        match other.priority.cmp(&hunt.priority) {
            std::cmp::Ordering::Greater => (above + 1, equal),
            std::cmp::Ordering::Equal => (above, equal + 1),
            std::cmp::Ordering::Less => (above, equal),
        }
    });
    let owed = match (above, equal) {
        _ if hunt.state != "running" => "nothing while it does not run".to_owned(),
        (0, n) => words::share(1.0 / f64::from(n.max(1))),
        (n, _) => format!(
            "what {} of higher priority leave",
            words::counted(n.into(), "hunt")
        ),
    };
    format!("{got} of all at work; owed: {owed}")
}

/// Why nobody works for a hunt, in sentences; empty where somebody does, or it is over.
fn why_no_workers(hunt: &HuntLine, all: &[HuntLine], farm: &FarmNow) -> Vec<String> {
    if hunt.ended_at.is_some() || hunt.n_leased > 0 {
        return Vec::new();
    }
    if hunt.state == "paused" {
        return vec!["It is paused, so no job of it is handed out. Resume it to go on.".to_owned()];
    }
    let mut reasons = Vec::new();
    if farm.n_live == 0 {
        reasons.push(match farm.n_stalled + farm.n_draining + farm.n_quarantined {
            0 => "It gets no workers because there are none.".to_owned(),
            _ => format!(
                "It gets no workers because none is live: {} stalled, {} draining, {} quarantined.",
                farm.n_stalled, farm.n_draining, farm.n_quarantined
            ),
        });
    }
    let above = all
        .iter()
        .filter(|other| other.state == "running" && other.priority > hunt.priority && other.n_leased > 0);
    let above: Vec<&str> = above.map(|other| other.name.as_str()).collect();
    if !above.is_empty() {
        reasons.push(format!(
            "Hunts of higher priority take the workers first: {}.",
            above.join(", ")
        ));
    }
    if let (Some(end), Some(totals)) = (hunt.end_number, &hunt.totals)
        && hunt.next_number >= end
    {
        reasons.push(format!(
            "All of its {} are planned; {} of them are parked and wait for somebody.",
            words::counted(end, "job"),
            words::count(totals.n_parked)
        ));
    }
    if reasons.is_empty() {
        let busy = farm.n_busy_cores + 0.5 >= farm.n_cores.to_string().parse().unwrap_or(0.0);
        reasons.push(if busy {
            "All workers are busy with other hunts; its turn comes when a job of theirs ends.".to_owned()
        } else {
            "Nobody holds a job of it at this moment; one is planned and handed out within seconds."
                .to_owned()
        });
    }
    reasons
}

/// New boards a second over the last five minutes; `None`: too few samples.
fn rate(recent: &[HuntPoint]) -> Option<f64> {
    let last = recent.last()?;
    let first = recent
        .iter()
        .find(|point| last.at - point.at <= Duration::minutes(5))?;
    let s = (last.at - first.at).as_seconds_f64();
    (s >= 20.0).then(|| real((last.n_new - first.n_new).max(0)) / s)
}

/// When it is over, with a band; nothing is made up where nothing can be known.
fn eta(hunt: &HuntLine, recent: &[HuntPoint], now: OffsetDateTime) -> Tile {
    if let Some(ended_at) = hunt.ended_at {
        let reason = match hunt.end_reason.as_deref() {
            Some("time") => "its time was up",
            Some("jobs") => "its jobs were done",
            Some("par") => "its aim was reached",
            _ => "an operator ended it",
        };
        return Tile::new("Ended", words::ago(ended_at, now)).note(reason);
    }
    if let Some(ends_at) = hunt.ends_at {
        return Tile::new("Ends", words::ago(ends_at, now)).note(words::instant(ends_at));
    }
    let nothing = |why: &str| Tile::new("Ends", words::NOTHING).note(why);
    let Some(end) = hunt.end_number else {
        return nothing(if hunt.until_par.is_some() {
            "when its aim is found; nobody can say when"
        } else {
            "when somebody ends it"
        });
    };
    let left = real(end - hunt.totals.as_ref().map_or(0, |t| t.n_done));
    match jobs_per_second(recent) {
        Some((low, high)) if low > 0.0 => {
            let soon = words::duration(Duration::seconds_f64(left / high));
            let late = words::duration(Duration::seconds_f64(left / low));
            Tile::new(
                "Ends in",
                if soon == late {
                    soon
                } else {
                    format!("{soon} – {late}")
                },
            )
            .note("from the pace of the last hour, two deviations each way")
        }
        _ => nothing("too few jobs have ended to say"),
    }
}

/// Jobs a second over the last hour: the mean of its parts less and more two of its standard errors.
fn jobs_per_second(recent: &[HuntPoint]) -> Option<(f64, f64)> {
    let step = (recent.len() / 8).max(1);
    let parts: Vec<&HuntPoint> = recent.iter().step_by(step).collect();
    let rates: Vec<f64> = parts
        .windows(2)
        .map(|pair| {
            real(pair[1].n_done - pair[0].n_done) / (pair[1].at - pair[0].at).as_seconds_f64().max(1.0)
        })
        .collect();
    if rates.len() < 4 || rates.iter().filter(|rate| **rate > 0.0).count() < 3 {
        return None;
    }
    let n = real(i64::try_from(rates.len()).expect("a few"));
    let mean = rates.iter().sum::<f64>() / n;
    let error = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    Some((mean - 2.0 * error, mean + 2.0 * error))
}

fn time_charts(series: &[HuntPoint], anneal: Option<&board::job::JobSpec>, window: Window) -> Markup {
    let note = window.in_words();
    let points = |value: fn(&HuntPoint) -> f64| {
        series
            .iter()
            .map(|p| (seconds(p.at), value(p)))
            .collect::<Vec<_>>()
    };
    let best = series
        .iter()
        .filter_map(|p| Some((seconds(p.at), f64::from(p.best_par?))))
        .collect();
    let discovery = series
        .iter()
        .map(|p| (real(p.n_new + p.n_known), real(p.n_new)))
        .collect::<Vec<_>>();
    let between = |value: fn(&HuntPoint, &HuntPoint) -> Option<f64>| {
        series
            .windows(2)
            .filter_map(|pair| Some((seconds(pair[1].at), value(&pair[0], &pair[1])?)))
            .collect::<Vec<_>>()
    };
    let new = between(|a, b| Some(real(b.n_new - a.n_new) / (b.at - a.at).as_seconds_f64().max(1.0)));
    let known = between(|a, b| Some(real(b.n_known - a.n_known) / (b.at - a.at).as_seconds_f64().max(1.0)));
    let accepted = between(|a, b| {
        (b.n_changes > a.n_changes)
            .then(|| real(b.n_accepted - a.n_accepted) / real(b.n_changes - a.n_changes))
    });
    let line = |name: &str, points| Line {
        name: name.to_owned(),
        points,
    };
    let chart = |title, unit, lines| LineChart {
        title,
        note,
        x: X::Time,
        unit,
        lines,
        is_stepped: false,
        from_zero: true,
    };
    html! {
        (lines(&LineChart { is_stepped: true, from_zero: false, ..chart("Best par", Unit::Count, vec![line("best par", best)]) }))
        (lines(&LineChart { x: X::Count("boards handed in"), note: "new boards against all that it handed in", ..chart("Discovery", Unit::Count, vec![line("new boards", dedup(discovery))]) }))
        (lines(&chart("New against known, a second", Unit::Figure, vec![line("new", new), line("known", known)])))
        (lines(&chart("Cores", Unit::Figure, vec![line("cores", points(|p| p.n_cores))])))
        (lines(&chart("Changes taken by annealing", Unit::Share, vec![line("share taken", accepted)])))
        (temperature(anneal))
    }
}

/// Points of a count that stood still are one point.
fn dedup(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.dedup_by(|a, b| a.0 <= b.0);
    points
}

/// The temperature over an annealing job: of the newest, for all are planned alike.
fn temperature(anneal: Option<&board::job::JobSpec>) -> Markup {
    let points = match anneal {
        Some(board::job::JobSpec::Anneal(spec)) => {
            let (temperatures, n) = (spec.temperatures(), spec.frame().iterations_per_shard);
            vec![
                (0.0, f64::from(temperatures.first) / 1_000.0),
                (f64::from(n), f64::from(temperatures.last) / 1_000.0),
            ]
        }
        _ => Vec::new(),
    };
    let line = Line {
        name: "slides".to_owned(),
        points,
    };
    lines(&LineChart {
        title: "Annealing temperature",
        note: "over each chain of its newest annealing job",
        x: X::Count("changes tried"),
        unit: Unit::Figure,
        lines: vec![line],
        is_stepped: false,
        from_zero: true,
    })
}

fn asked(hunt: &HuntLine) -> Markup {
    let budget = match (hunt.ends_at, hunt.end_number, hunt.until_par) {
        (None, None, None) => "none: it runs until somebody ends it".to_owned(),
        (time, jobs, par) => [
            time.map(|at| format!("until {}", words::instant(at))),
            jobs.map(|n| format!("{} jobs", words::count(n))),
            par.map(|par| format!("until par {par}")),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", "),
    };
    let content = html! {
        dl.facts {
            dt { "Number" } dd { (hunt.id) }
            dt { "Asked for" } dd { (words::instant(hunt.created_at)) @if let Some(owner) = &hunt.owner { " by " (owner) } }
            @if let Some(exit_row) = hunt.exit_row {
                dt { "Boards" } dd { (hunt.subject()) ", exit in row " (exit_row + 1) " from the top" }
            } @else {
                dt { "Levels" } dd { "a campaign of Siren Jam, one job a level: " code { "SELECT * FROM analysis.jams WHERE hunt_id = " (hunt.id) } }
            }
            dt { "Strategy" } dd { (hunt.strategy) @if hunt.strategy == "mixed" { ": " (hunt.mix.join(", ")) } }
            @if hunt.is_search() { dt { "Aim" } dd { (hunt.aim) @if hunt.aim == "deep" { ", the hardest boards alone" } @else { ", boards of every par" } } }
            dt { "Budget" } dd { (budget) }
            dt { "Priority" } dd { (hunt.priority) }
            @if hunt.exit_row.is_some() { dt { "Its boards" } dd { a href={ "/boards?hunt=" (hunt.id) } { "those it found first" } } }
            dt { "Its jobs" } dd { a href={ "/jobs?hunt=" (hunt.id) } { "all of them" } }
            dt { "Replay a job" } dd { code { "parforce replay JOB" } " runs it again, bit for bit" }
        }
    };
    parts::card("What was asked for", &html! {}, &content)
}

fn log(events: &[EventLine], now: OffsetDateTime, id: i64) -> Markup {
    let content = html! {
        @if events.is_empty() { (parts::empty(&html! { p { "Nothing has happened to it yet." } })) } @else { (feed(events, now)) }
    };
    parts::card(
        "Its events",
        &html! { a href={ "/events?hunt=" (id) } { "All of them" } },
        &content,
    )
}
