//! Exhaustive enumerations: what is counted, and what of that was counted twice alike, are different things, and shown
//! apart; what is missing is named.

use maud::{Markup, html};
use proto::ids::HuntId;
use time::OffsetDateTime;

use super::{lot, real};
use crate::store::{CensusCoverage, CensusLine, CensusTotal, StoreError};
use crate::web::charts::{BarChart, bars};
use crate::web::page::{Page, Tab};
use crate::web::parts::{self, Mood, Tile};
use crate::web::{Seat, words};

/// Censuses on the page; older ones are in the list of hunts.
const MAX_SHOWN: usize = 6;
/// The most characters of the gaps that are spelled out.
const MAX_GAPS: usize = 600;

pub(super) async fn load(seat: &Seat) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let lines = seat.store.census_lines().await?;
    let mut cards = Vec::new();
    for line in lines.iter().take(MAX_SHOWN) {
        let Ok(hunt) = HuntId::new(line.hunt_id) else {
            continue;
        };
        let coverage = seat.store.census_coverage(hunt).await?;
        let totals = seat.store.census_totals(hunt).await?;
        cards.push(card(line, coverage.as_ref(), &totals, now));
    }
    let content = html! {
        @if cards.is_empty() {
            article.card { (parts::empty(&html! {
                p { "Nothing is being enumerated on this farm." }
                p { "A census takes every board of a space, not some by chance: " code { "parforce census --help" } " says how to ask for one." }
            })) }
        }
        @for card in &cards { (card) }
    };
    Ok(Page::new("Census", Tab::Census, now)
        .still(parts::head(&html! {}, "Census", &html! {}, &html! {}))
        .live("census", content))
}

fn card(
    line: &CensusLine,
    coverage: Option<&CensusCoverage>,
    totals: &[CensusTotal],
    now: OffsetDateTime,
) -> Markup {
    let size = lot(line.lot_width, line.lot_height);
    let beside = html! { a href={ "/hunts/" (line.hunt_id) } { (size) ", its hunt" } };
    let jobs = html! {
        dl.facts {
            dt { "Ranges done" } dd { (words::count(line.n_done)) " of " (words::count(line.n_ranges)) " planned, second counts included" }
            dt { "At work" } dd { (words::count(line.n_leased)) }
            dt { "Waiting" } dd { (words::count(line.n_ranges - line.n_done - line.n_leased - line.n_parked)) }
            dt { "Parked" } dd { (words::count(line.n_parked)) }
            dt { "Last done" } dd { (parts::ago_or_nothing(line.last_done_at, now)) }
        }
    };
    html! {
        (parts::card(&line.hunt, &beside, &html! {
            @if let Some(coverage) = coverage { (covered(coverage)) }
            (jobs)
        }))
        @if !totals.is_empty() {
            div.grid.halves {
                (by_par("Solvable clusters by par", &size, "clusters", totals, |total| total.solvable))
                (by_par("Minimal clusters by par", &size, "clusters", totals, |total| total.minimal))
            }
            (export(line.hunt_id))
        }
    }
}

fn covered(coverage: &CensusCoverage) -> Markup {
    let share = |n: u64| {
        real(i64::try_from(n).unwrap_or(i64::MAX))
            / real(i64::try_from(coverage.n_units.max(1)).unwrap_or(i64::MAX))
    };
    let missing = coverage.n_units.saturating_sub(coverage.n_counted);
    let bar = |part: f64, words: &str| parts::bar(part, words);
    let gaps: String = coverage.missing.chars().take(MAX_GAPS).collect();
    html! {
        (parts::tiles(&[
            Tile::new("Counted", words::share(share(coverage.n_counted)))
                .note(format!("{} of {} units", words::count(coverage.n_counted), words::count(coverage.n_units))),
            Tile::new("Verified", words::share(share(coverage.n_verified)))
                .note(format!("{} units, counted twice alike", words::count(coverage.n_verified))),
            Tile::new("Disputed", words::count(coverage.n_disputed)).note("units, counted twice unlike")
                .mood(if coverage.n_disputed > 0 { Mood::Bad } else { Mood::Plain }),
            Tile::new("Missing", words::count(missing)).note("units, not counted yet")
                .mood(if missing > 0 { Mood::Plain } else { Mood::Good }),
            Tile::new("Overlapping", words::count(coverage.n_overlapping)).note("units in two ranges; must be 0")
                .mood(if coverage.n_overlapping > 0 { Mood::Bad } else { Mood::Plain }),
        ]))
        p.small { "Counted" } (bar(share(coverage.n_counted), "part counted"))
        p.small { "Verified" } (bar(share(coverage.n_verified), "part verified"))
        @if missing > 0 && missing < coverage.n_units {
            details { summary { "The gaps" } pre.small { (gaps) @if coverage.missing.len() > gaps.len() { " …" } } }
        }
    }
}

fn by_par(
    title: &str,
    size: &str,
    what: &str,
    totals: &[CensusTotal],
    value: fn(&CensusTotal) -> u64,
) -> Markup {
    let classes = totals.iter().map(|total| (total.par.to_string(), value(total)));
    bars(&BarChart {
        title,
        note: &format!("{size}, ranges counted so far"),
        x: "par",
        y: what,
        bars: classes.collect(),
        is_log: true,
    })
}

fn export(hunt_id: i64) -> Markup {
    let sql = format!("SELECT * FROM census_totals WHERE hunt_id = {hunt_id} ORDER BY par;");
    parts::card(
        "The totals in SQL",
        &html! {},
        &html! { (parts::copyable(&format!("census-{hunt_id}"), &sql)) },
    )
}
