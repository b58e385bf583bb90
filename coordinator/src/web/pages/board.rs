//! One board: drawn, stepped through to solved, with its cluster and where it comes from.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::lot;
use crate::store::{Provenance, StoreError};
use crate::web::charts::{BarChart, bars};
use crate::web::page::{Page, Tab};
use crate::web::parts;
use crate::web::parts::drawing::{Detail, draw};
use crate::web::parts::stepper::stepper;
use crate::web::solved::{MAX_STATES, Solved};
use crate::web::{Seat, words};

pub(super) async fn load(seat: &Seat, par: i16, canonical: &str) -> Result<Option<Page>, StoreError> {
    let Some(row) = seat.store.provenance(par, canonical).await? else {
        return Ok(None);
    };
    let now = seat.store.now().await?;
    let name = format!("Par {par}");
    let page = Page::new(name.clone(), Tab::Boards, now);
    let Ok(board) = board::Board::parse(canonical) else {
        let content = html! { article.card { p { "This version cannot read the spelling." } (parts::copyable("spelling", canonical)) } };
        return Ok(Some(page.still(content)));
    };
    let solved = seat.solver.solved(canonical, &board).await;
    let size = lot(board.lot().width().into(), board.lot().height().into());
    let crumbs = html! { a href="/boards" { "Boards" } " · " a href={ "/boards?lot=" (size) } { (size) } " · " a href={ "/boards?lot=" (size) "&par=" (par) } { "par " (par) } };
    let beside =
        html! { @if row.line.minimal == Some(true) { (parts::badge(parts::Mood::Good, "minimal")) } };
    Ok(Some(
        page.still(parts::head(
            &crumbs,
            &format!("{name} on {size}"),
            &beside,
            &html! {},
        ))
        .still(html! { div.grid.split {
            article.card { (solution(&board, &solved, canonical)) }
            div.side { (facts(&row, &board, &solved)) (spelling(canonical)) }
        } })
        .still(html! { div.grid.halves { (cluster(&row, &solved, canonical)) (provenance(&row, now)) } }),
    ))
}

fn solution(board: &board::Board, solved: &Solved, canonical: &str) -> Markup {
    let Some(slides) = &solved.solution else {
        return html! {
            div.stage { (draw(board, Detail::Full, "The board")) }
            p { "Its solution takes longer than a page should. On the command line:" }
            (parts::copyable("solve", &format!("parforce solve {canonical}")))
        };
    };
    stepper(board, slides)
}

fn facts(row: &Provenance, board: &board::Board, solved: &Solved) -> Markup {
    parts::card(
        "The board",
        &html! {},
        &html! {
            dl.facts {
                dt { "Par" } dd { (row.line.par) " slides" }
                @if solved.solution.is_some() { dt { "Steps" } dd { (words::count(solved.steps)) " squares in the solution shown" } }
                dt { "Vehicles" } dd { (row.line.n_vehicles) ", hero included" }
                dt { "Walls" } dd { (row.line.n_walls) }
                dt { "Exit row" } dd { (board.exit_row() + 1) " from the top" }
                dt { "Cluster" } dd { (words::count(row.line.n_states)) " positions" }
                dt { "Minimal" } dd { (match row.line.minimal { Some(true) => "yes: nothing can be taken away without its par falling", Some(false) => "no: something is superfluous", None => "not examined" }) }
            }
        },
    )
}

fn spelling(canonical: &str) -> Markup {
    parts::card("Spelling", &html! {}, &parts::copyable("spelling", canonical))
}

fn cluster(row: &Provenance, solved: &Solved, canonical: &str) -> Markup {
    match &solved.histogram {
        Some(histogram) => bars(&BarChart {
            title: "Its cluster by par",
            note: "all positions that can be reached from it",
            x: "par",
            y: "positions",
            bars: histogram
                .iter()
                .enumerate()
                .map(|(par, n)| (par.to_string(), *n))
                .collect(),
            is_log: true,
        }),
        None => parts::card(
            "Its cluster by par",
            &html! {},
            &html! {
                p { "Its " (words::count(row.line.n_states)) " positions are more than the " (words::count(MAX_STATES)) " that a page explores. On the command line:" }
                (parts::copyable("cluster", &format!("parforce cluster {canonical}")))
            },
        ),
    }
}

fn provenance(row: &Provenance, now: OffsetDateTime) -> Markup {
    let sql = format!(
        "SELECT * FROM boards WHERE par = {} AND canonical = '{}';",
        row.line.par, row.line.canonical
    );
    parts::card(
        "Where it comes from",
        &html! {},
        &html! {
            dl.facts {
                dt { "Stored" } dd { @match row.stored_at { Some(at) => { (words::instant(at)) " (" (parts::ago(at, now)) ")" }, None => (words::NOTHING) } }
                @if let Some(source) = &row.source { dt { "Imported from" } dd { (source) } }
                @if let (Some(id), Some(name)) = (row.hunt_id, &row.hunt) { dt { "Hunt" } dd { a href={ "/hunts/" (id) } { (name) } } }
                @if let Some(id) = row.job_id { dt { "Job" } dd { a href={ "/jobs/" (id) } { (id) } @if let Some(token) = row.token { ", token " (token) } } }
                @if let (Some(id), Some(name)) = (row.worker_id, &row.worker) { dt { "Worker" } dd { a href={ "/workers/" (id) } { (name) } } }
                dt { "Batch" } dd { (row.batch_id) }
            }
            @if let Some(id) = row.job_id {
                h3 { "Find it again" }
                (parts::copyable("replay", &format!("parforce replay {id}")))
            }
            h3 { "The same row in SQL" }
            (parts::copyable("sql", &sql))
        },
    )
}
