//! What pages are put together from: small pieces of markup, each a function of plain values.

pub(crate) mod drawing;
pub(crate) mod forms;
pub(crate) mod lists;
pub(crate) mod stepper;

use maud::{Markup, html};
use time::OffsetDateTime;

use super::access::Visitor;
use super::words;

/// How a thing is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    Plain,
    Busy,
    Good,
    Warn,
    Bad,
}

impl Mood {
    const fn class(self) -> &'static str {
        match self {
            Mood::Plain => "plain",
            Mood::Busy => "busy",
            Mood::Good => "good",
            Mood::Warn => "warn",
            Mood::Bad => "bad",
        }
    }
}

/// A state in a pill.
pub(crate) fn badge(mood: Mood, text: &str) -> Markup {
    html! { span.badge.(mood.class()) { (text) } }
}

/// A state as the database spells it, in a pill of its mood.
pub(crate) fn state(name: &str) -> Markup {
    let mood = match name {
        "running" | "leased" => Mood::Busy,
        "done" | "live" => Mood::Good,
        "paused" | "draining" | "stalled" | "expired" | "outage" | "drained" => Mood::Warn,
        "parked" | "quarantined" | "failed" => Mood::Bad,
        _ => Mood::Plain,
    };
    badge(mood, name)
}

/// A line that must be read, with what to do about it.
pub(crate) fn notice(mood: Mood, content: &Markup) -> Markup {
    html! { div.notice.(mood.class()) { (content) } }
}

/// One figure of a row of tiles.
#[derive(Debug)]
pub(crate) struct Tile {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) note: Option<String>,
    pub(crate) mood: Mood,
}

impl Tile {
    pub(crate) fn new(label: &'static str, value: impl Into<String>) -> Tile {
        Tile {
            label,
            value: value.into(),
            note: None,
            mood: Mood::Plain,
        }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Tile {
        Tile {
            note: Some(note.into()),
            ..self
        }
    }

    pub(crate) fn mood(self, mood: Mood) -> Tile {
        Tile { mood, ..self }
    }
}

/// Figures side by side.
pub(crate) fn tiles(tiles: &[Tile]) -> Markup {
    html! {
        dl.tiles {
            @for tile in tiles {
                div.tile.(tile.mood.class()) {
                    dt { (tile.label) }
                    dd { (tile.value) }
                    @if let Some(note) = &tile.note { dd.note { (note) } }
                }
            }
        }
    }
}

/// A page's head: its name, what stands beside it, and what can be done.
pub(crate) fn head(crumbs: &Markup, name: &str, beside: &Markup, actions: &Markup) -> Markup {
    html! {
        div.head {
            div {
                @if !crumbs.0.is_empty() { nav.crumbs aria-label="Where this is" { (crumbs) } }
                div.line { h1 { (name) } (beside) }
            }
            div.actions { (actions) }
        }
    }
}

/// A card with its name.
pub(crate) fn card(name: &str, beside: &Markup, content: &Markup) -> Markup {
    html! {
        article.card {
            header { h2 { (name) } (beside) }
            (content)
        }
    }
}

/// An instant as the time since then, with the full instant for who asks.
pub(crate) fn ago(at: OffsetDateTime, now: OffsetDateTime) -> Markup {
    html! { time datetime=(words::machine(at)) title=(words::instant(at)) { (words::ago(at, now)) } }
}

/// The same, or a dash.
pub(crate) fn ago_or_nothing(at: Option<OffsetDateTime>, now: OffsetDateTime) -> Markup {
    at.map_or_else(|| html! { (words::NOTHING) }, |at| ago(at, now))
}

/// A share from 0 to 1 as a bar, with the words that it stands for.
pub(crate) fn bar(part: f64, words: &str) -> Markup {
    let width = (part.clamp(0.0, 1.0) * 1000.0).round();
    html! {
        svg.bar viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=(words) {
            rect width=(width) height="10" {}
        }
    }
}

/// Spelled text with a button that copies it (with a script; without one it can still be selected).
pub(crate) fn copyable(id: &str, text: &str) -> Markup {
    html! {
        pre.spelling id=(id) { (text) }
        div.actions {
            button.needs-script type="button" data-copy=(text) data-from=(id) { "Copy" }
        }
    }
}

/// What is said where a list is empty.
pub(crate) fn empty(content: &Markup) -> Markup {
    html! { div.empty { (content) } }
}

/// The button that ends a visit.
pub(crate) fn leave(visitor: &Visitor) -> Markup {
    html! {
        form method="post" action="/leave" {
            (forms::token(visitor))
            button type="submit" { "Sign out" }
        }
    }
}
