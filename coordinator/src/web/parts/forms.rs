//! Forms: fields with their labels, and the question before anything is done.

use maud::{Markup, html};

use crate::web::access::{CSRF_FIELD, Visitor};

/// The hidden field that shows a form is ours.
pub(crate) fn token(visitor: &Visitor) -> Markup {
    html! { input type="hidden" name=(CSRF_FIELD) value=(visitor.csrf()); }
}

/// A field with its label, a line of advice, and what was wrong with what was put in.
pub(crate) fn field(
    id: &str,
    label: &str,
    input: &Markup,
    hint: Option<&str>,
    wrong: Option<&str>,
) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            (input)
            @if let Some(hint) = hint { span.hint id={ (id) "-hint" } { (hint) } }
            @if let Some(wrong) = wrong { span.wrong id={ (id) "-wrong" } role="alert" { (wrong) } }
        }
    }
}

/// A choice of one; `options` are value and words.
pub(crate) fn select(id: &str, options: &[(String, String)], chosen: &str) -> Markup {
    html! {
        select id=(id) name=(id) {
            @for (value, words) in options {
                option value=(value) selected[value == chosen] { (words) }
            }
        }
    }
}

/// A question, with what it means to say yes.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) ask: &'a str,
    pub(crate) meaning: Markup,
    /// Further fields of the form.
    pub(crate) fields: Markup,
    /// Where the answer goes.
    pub(crate) action: String,
    pub(crate) yes: &'a str,
    /// Whether it takes something away.
    pub(crate) is_grave: bool,
    /// Where no leads.
    pub(crate) back: String,
}

/// The question as a page's content.
pub(crate) fn question(question: &Question<'_>, visitor: &Visitor) -> Markup {
    html! {
        article.card {
            h1 { (question.ask) }
            div { (question.meaning) }
            form.form method="post" action=(question.action) {
                (token(visitor))
                (question.fields)
                div.actions {
                    button.danger[question.is_grave].sure[question.is_grave].first[!question.is_grave] type="submit" { (question.yes) }
                    a.button href=(question.back) { "No, go back" }
                }
            }
        }
    }
}
