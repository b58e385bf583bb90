//! Lists: heads that sort, pages that follow each other, tabs that choose.

use maud::{Markup, html};

/// One choice among a few, as links.
pub(crate) fn tabs(label: &str, options: &[(String, &str, bool)]) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            @for (href, name, is_now) in options {
                a href=(href) aria-current=[is_now.then_some("true")] { (name) }
            }
        }
    }
}

/// Links to the list's start and to what follows.
pub(crate) fn pager(start: Option<&str>, next: Option<&str>) -> Markup {
    html! {
        @if start.is_some() || next.is_some() {
            nav.pager aria-label="Pages of this list" {
                @if let Some(start) = start { a.button href=(start) { "From the start" } }
                @if let Some(next) = next { a.button href=(next) rel="next" { "Next page" } }
            }
        }
    }
}

/// A column's head; a link where the list can be sorted by it.
pub(crate) fn column(name: &str, is_number: bool, href: Option<&str>, is_sorted: bool) -> Markup {
    html! {
        th scope="col" class=[is_number.then_some("n")] aria-sort=[is_sorted.then_some("descending")] {
            @match href {
                Some(href) => a href=(href) { (name) @if is_sorted { " ↓" } },
                None => (name),
            }
        }
    }
}
