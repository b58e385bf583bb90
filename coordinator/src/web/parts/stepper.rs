//! A board's shortest solution, to step through: one board whose vehicles move, with buttons and keys; and a strip
//! of every position, which is all there is without a script.

use board::{Axis, Board, Slide};
use maud::{Markup, html};

use super::drawing::{Detail, draw, draw_moved};

/// Solutions longer than this get their first positions in the strip only.
const MAX_STRIP: usize = 120;

/// The board, its buttons and its strip.
///
/// # Panics
/// If the slides are not possible one after the other: the solver made them for this board.
pub(crate) fn stepper(board: &Board, solution: &[Slide]) -> Markup {
    let mut positions = vec![board.clone()];
    for &slide in solution {
        let last = positions.last().expect("there is the first position");
        positions.push(
            last.apply(slide)
                .expect("a solution's slides are possible in turn"),
        );
    }
    let names: Vec<String> = solution.iter().map(|&slide| board.spell_slide(slide)).collect();
    let slides: Vec<(usize, i8, i8)> = solution.iter().map(|&slide| moved(board, slide)).collect();
    let total = solution.len();
    html! {
        div.stepper data-slides=(json(&slides)) data-names=(json(&names)) {
            div.stage { (draw(board, Detail::Full, &format!("The board at its start, {total} slides from solved"))) }
            p.caption data-caption aria-live="polite" { "Start: " (total) " slides to go" }
            div.actions.needs-script role="group" aria-label="Step through the solution" {
                button type="button" data-go="first" { "First" }
                button type="button" data-go="back" { "← Back" }
                button type="button" data-go="play" { "Play" }
                button.first type="button" data-go="on" { "Next →" }
                button type="button" data-go="last" { "Last" }
            }
            input.needs-script type="range" min="0" max=(total) value="0" aria-label="Position in the solution";
            p.small.soft.needs-script { "Arrow keys step, Home and End jump." }
        }
        @if total > 0 {
            details open[total <= 60] {
                summary { "Every position" }
                ol.strip {
                    @for (step, position) in positions.iter().enumerate().take(MAX_STRIP) {
                        li { (thumb(position, step, &names, solution)) }
                    }
                }
            }
            p.small.mono { (names.join(" ")) }
        }
    }
}

fn thumb(position: &Board, step: usize, names: &[String], solution: &[Slide]) -> Markup {
    let (name, slid) = match step {
        0 => ("Start".to_owned(), None),
        _ => (
            format!("{step}. {}", names[step - 1]),
            Some(solution[step - 1].vehicle),
        ),
    };
    html! {
        a.step href={ "#step-" (step) } id={ "step-" (step) } data-step=(step) {
            (draw_moved(position, Detail::Small, &format!("Position after {step} slides"), slid))
            span { (name) }
        }
    }
}

/// A slide as the script wants it: vehicle, columns, rows.
fn moved(board: &Board, slide: Slide) -> (usize, i8, i8) {
    match board.vehicles()[slide.vehicle].axis() {
        Axis::Horizontal => (slide.vehicle, slide.squares, 0),
        Axis::Vertical => (slide.vehicle, 0, slide.squares),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("numbers and strings are JSON")
}
