//! Boards, hardest first.

use maud::{Markup, html};

use super::{board_path, lot, with_field};
use crate::store::{BoardLine, BoardPage, BoardQuery, StoreError};
use crate::web::page::{Page, Tab};
use crate::web::parts::drawing::{Detail, draw};
use crate::web::parts::forms::{field, select};
use crate::web::parts::lists::pager;
use crate::web::{Seat, parts, words};

pub(super) async fn load(seat: &Seat, query: &BoardQuery) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let lots = seat.store.lots().await?;
    let found = seat.store.board_page(query).await?;
    let pars = seat.store.par_counts(query.lot).await?;
    let hunt = match query.hunt_id {
        Some(id) => seat.store.hunt_lines(Some(id)).await?.pop().map(|hunt| hunt.name),
        None => None,
    };
    let beside = html! { @if let (Some(id), Some(name)) = (query.hunt_id, &hunt) { span { "found first by " a href={ "/hunts/" (id) } { (name) } } } };
    let start = query.after.is_some().then(|| address(query));
    let next = found
        .next
        .as_ref()
        .map(|(par, canonical)| with_field(&address(query), "after", &format!("{par}~{canonical}")));
    let scope = query
        .lot
        .map_or_else(|| "all lots".to_owned(), |(w, h)| lot(w, h));
    Ok(Page::new("Boards", Tab::Boards, now)
        .still(parts::head(&html! {}, "Boards", &beside, &html! {}))
        .still(html! { article.card { (filters(query, &lots)) p.small.soft { (summary(query, &found)) } } })
        .still(html! {
            @if found.boards.is_empty() {
                article.card { (parts::empty(&html! { p { @if found.next.is_some() { "None among the boards looked at so far." } @else { "No board is like that." } } })) }
            } @else {
                ul.boards { @for board in &found.boards { li { (tile(board)) } } }
            }
            (pager(start.as_deref(), next.as_deref()))
        })
        .still(html! { div.grid.halves { (super::overview::par_chart(&scope, &pars)) (ask_sql(query)) } }))
}

fn address(query: &BoardQuery) -> String {
    let mut address = "/boards".to_owned();
    let number = |n: Option<i16>| n.map(|n| n.to_string());
    let fields = [
        ("par", number(query.par)),
        ("lot", query.lot.map(|(w, h)| lot(w, h))),
        ("vehicles", number(query.n_vehicles)),
        ("walls", number(query.n_walls)),
        ("minimal", query.is_minimal.then(|| "1".to_owned())),
        ("hunt", query.hunt_id.map(|id| id.to_string())),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            address = with_field(&address, name, &value);
        }
    }
    address
}

fn filters(query: &BoardQuery, lots: &[(i16, i16)]) -> Markup {
    let lots = std::iter::once((String::new(), "any".to_owned()))
        .chain(lots.iter().map(|(w, h)| (lot(*w, *h), lot(*w, *h))));
    let chosen = query.lot.map_or_else(String::new, |(w, h)| lot(w, h));
    let minimal = [
        (String::new(), "all".to_owned()),
        ("1".to_owned(), "minimal ones".to_owned()),
    ];
    let number = |id: &'static str, label: &'static str, value: Option<i16>| {
        field(
            id,
            label,
            &html! { input id=(id) name=(id) type="number" min="0" max="999" inputmode="numeric" value=[value]; },
            None,
            None,
        )
    };
    html! {
        form.filters method="get" action="/boards" {
            @if let Some(id) = query.hunt_id { input type="hidden" name="hunt" value=(id); }
            (number("par", "Par", query.par))
            (field("lot", "Lot", &select("lot", &lots.collect::<Vec<_>>(), &chosen), None, None))
            (number("vehicles", "Vehicles", query.n_vehicles))
            (number("walls", "Walls", query.n_walls))
            (field("minimal", "Which", &select("minimal", &minimal, if query.is_minimal { "1" } else { "" }), None, None))
            button type="submit" { "Show" }
        }
    }
}

fn summary(query: &BoardQuery, found: &BoardPage) -> String {
    let counted = words::counted(found.n_counted, "board");
    let narrowed = query.n_vehicles.is_some() || query.is_minimal || query.hunt_id.is_some();
    if narrowed {
        format!(
            "Among {counted}, hardest first. {} looked at for this page.",
            words::count(found.n_looked_at)
        )
    } else {
        format!("{counted}, hardest first.")
    }
}

fn tile(board: &BoardLine) -> Markup {
    let label = format!(
        "Par {}, {} vehicles, {} walls",
        board.par, board.n_vehicles, board.n_walls
    );
    html! {
        a href=(board_path(board.par, &board.canonical)) {
            @match board::Board::parse(&board.canonical) {
                Ok(drawn) => (draw(&drawn, Detail::Small, &label)),
                Err(_) => span.mono.small.spelling { (board.canonical) },
            }
            span.par { "Par " (board.par) }
            span.small.soft {
                (board.n_vehicles) " vehicles" @if board.n_walls > 0 { ", " (words::counted(board.n_walls.into(), "wall")) }
                @if board.minimal == Some(true) { ", minimal" }
            }
        }
    }
}

fn ask_sql(query: &BoardQuery) -> Markup {
    let mut wheres = Vec::new();
    if let Some(par) = query.par {
        wheres.push(format!("par = {par}"));
    }
    if let Some((w, h)) = query.lot {
        wheres.push(format!("lot_width = {w} AND lot_height = {h}"));
    }
    if let Some(n) = query.n_vehicles {
        wheres.push(format!("n_vehicles = {n}"));
    }
    if let Some(n) = query.n_walls {
        wheres.push(format!("n_walls = {n}"));
    }
    if query.is_minimal {
        wheres.push("minimal".to_owned());
    }
    let condition = if wheres.is_empty() {
        String::new()
    } else {
        format!("\nWHERE {}", wheres.join(" AND "))
    };
    let sql =
        format!("SELECT par, canonical, n_states\nFROM boards{condition}\nORDER BY par DESC, canonical;");
    parts::card(
        "The same in SQL",
        &html! {},
        &html! {
            p { "All boards are rows of one table, by par: " code { "parforce sql" } " opens it." }
            (parts::copyable("sql", &sql))
        },
    )
}
