//! A page: a title, and blocks in their order. Live blocks are sent again when they change; still ones are not,
//! so that a form or a stepper is never pulled away under the reader.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use time::OffsetDateTime;

use super::access::Visitor;
use super::{parts, words};

/// What the navigation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Hunts,
    Census,
    Jobs,
    Workers,
    Boards,
    Trouble,
    Events,
}

const TABS: [(Tab, &str, &str); 8] = [
    (Tab::Overview, "/", "Overview"),
    (Tab::Hunts, "/hunts", "Hunts"),
    (Tab::Census, "/census", "Census"),
    (Tab::Jobs, "/jobs", "Jobs"),
    (Tab::Workers, "/workers", "Workers"),
    (Tab::Boards, "/boards", "Boards"),
    (Tab::Trouble, "/trouble", "Trouble"),
    (Tab::Events, "/events", "Events"),
];

/// A part of a page.
#[derive(Debug)]
pub(crate) enum Block {
    /// Sent once.
    Still(Markup),
    /// Sent again when it has changed.
    Live {
        /// Its name on the page.
        id: &'static str,
        /// What is in it.
        markup: Markup,
    },
}

/// A page before it is framed.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) title: String,
    /// The tab it stands under; `None` on pages outside of them.
    pub(crate) tab: Option<Tab>,
    /// When its data were read, on the database's clock; `None`: it shows none.
    pub(crate) as_of: Option<OffsetDateTime>,
    pub(crate) blocks: Vec<Block>,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, tab: Tab, as_of: OffsetDateTime) -> Page {
        Page {
            title: title.into(),
            tab: Some(tab),
            as_of: Some(as_of),
            blocks: Vec::new(),
        }
    }

    /// A page about no data: why something was not done.
    pub(crate) fn notice(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            tab: None,
            as_of: None,
            blocks: Vec::new(),
        }
    }

    /// With one more block that is sent once.
    pub(crate) fn still(mut self, markup: Markup) -> Page {
        self.blocks.push(Block::Still(markup));
        self
    }

    /// With one more block that is sent again when it changes.
    pub(crate) fn live(mut self, id: &'static str, markup: Markup) -> Page {
        debug_assert!(!self.live_blocks().any(|(other, _)| other == id));
        self.blocks.push(Block::Live { id, markup });
        self
    }

    /// The live blocks by name, with the line that says when the data were read.
    pub(crate) fn live_blocks(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Live { id, markup } => Some((*id, markup.0.as_str())),
            Block::Still(_) => None,
        })
    }

    /// What stands in the page's foot about the age of its data.
    pub(crate) fn as_of_line(&self) -> Markup {
        html! { @if let Some(as_of) = self.as_of { time datetime=(words::machine(as_of)) { (words::instant(as_of)) } } }
    }

    /// The whole document. `path` is where it is, for links back to it and for its live blocks.
    pub(crate) fn framed(&self, path: &str, visitor: &Visitor) -> Markup {
        let is_live = self.live_blocks().next().is_some();
        let live = is_live.then(|| format!("/live?page={}", words::escape(path)));
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Parforce" }
                    link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                    link rel="stylesheet" href=(super::assets::CSS_PATH);
                    script src=(super::assets::SCRIPT_PATH) {}
                }
                body data-live=[live] {
                    a.skip href="#main" { "Skip to content" }
                    header.top { div.top-row {
                        a.brand href="/" { (PreEscaped(super::assets::LOGO)) "Parforce" }
                        nav.nav aria-label="Pages" {
                            @for (tab, href, name) in TABS {
                                a href=(href) aria-current=[(self.tab == Some(tab)).then_some("page")] { (name) }
                            }
                        }
                        div.who {
                            @if is_live {
                                span.pulse #pulse role="status" data-state="off" { "As loaded" }
                            }
                            button type="button" class="needs-script" data-theme-button
                                aria-label="Switch between light and dark" { "◐" }
                            @if visitor.may_leave() {
                                (parts::leave(visitor))
                            }
                        }
                    } }
                    main #main {
                        @for block in &self.blocks {
                            @match block {
                                Block::Still(markup) => section { (markup) },
                                Block::Live { id, markup } => section id=(id) { (markup) },
                            }
                        }
                    }
                    footer.foot {
                        @if self.as_of.is_some() { span { "Data as of " span #as-of { (self.as_of_line()) } } }
                        span { (visitor.in_words()) }
                        span { "All of it is in Postgres: "
                            code { "parforce sql" } " opens it" }
                    }
                }
            }
        }
    }
}
