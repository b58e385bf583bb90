//! The form that asks for a hunt, with defaults that make sense.

use std::ops::RangeInclusive;
use std::time::Duration;

use board::space::{BoardSpace, LengthWeight, SpaceFields};
use board::{Lot, Par};
use maud::{Markup, html};
use proto::convert::{Aim, Budget, HuntPlan, MAX_LABEL_CHARS, NewHunt, PRIORITIES, Strategy, is_plain};

use crate::store::StoreError;
use crate::web::Seat;
use crate::web::access::Visitor;
use crate::web::page::{Page, Tab};
use crate::web::parts::forms::{field, select, token};
use crate::web::parts::{self, Mood};
use crate::web::route::Fields;

/// The longest time a form may ask for, in minutes: a year.
const MAX_MINUTES: u64 = 366 * 24 * 60;
/// What ends a hunt.
const ENDS: [&str; 3] = ["minutes", "jobs", "until_par"];
/// The boxes to tick: a strategy as the database spells it, and what it does.
const STRATEGIES: [(&str, &str); 3] = [
    ("scatter", "Scatter: random boards"),
    ("anneal", "Anneal: changes to hard boards"),
    ("sweep", "Sweep: every change of the hardest"),
];
/// The most jobs a form may ask for.
const MAX_JOBS: u64 = 1_000_000_000;

pub(super) async fn load(seat: &Seat, visitor: &Visitor) -> Result<Page, StoreError> {
    form(seat, visitor, &Fields::default(), &[]).await
}

/// The form with what was put in and what was wrong with it, by field.
pub(in crate::web) async fn form(
    seat: &Seat,
    visitor: &Visitor,
    filled: &Fields,
    wrong: &[(&'static str, String)],
) -> Result<Page, StoreError> {
    let now = seat.store.now().await?;
    let crumbs = html! { a href="/hunts" { "Hunts" } };
    let content = html! {
        (parts::head(&crumbs, "New hunt", &html! {}, &html! {}))
        @if visitor.may_act() {
            article.card { (inputs(visitor, filled, wrong, now)) }
        } @else {
            (parts::notice(Mood::Warn, &html! { p { "You may look, but not ask for hunts. An operator can." } }))
        }
    };
    Ok(Page::new("New hunt", Tab::Hunts, now).still(content))
}

fn inputs(
    visitor: &Visitor,
    filled: &Fields,
    wrong: &[(&'static str, String)],
    now: time::OffsetDateTime,
) -> Markup {
    let wrong_of = |name: &str| {
        wrong
            .iter()
            .find(|entry| entry.0 == name)
            .map(|entry| entry.1.as_str())
    };
    let value = |name: &str, default: &str| filled.get(name).unwrap_or(default).to_owned();
    let suggestion = format!(
        "hunt {} {:02}{:02}{:02}",
        now.date(),
        now.hour(),
        now.minute(),
        now.second()
    );
    let number = |id: &'static str, label: &str, default: &str, hint: Option<&str>| {
        let input = html! { input id=(id) name=(id) type="number" min="0" inputmode="numeric" value=(value(id, default))
        aria-invalid=[wrong_of(id).map(|_| "true")]; };
        field(id, label, &input, hint, wrong_of(id))
    };
    let sides: Vec<(String, String)> = (3..=8).map(|n| (n.to_string(), format!("{n} squares"))).collect();
    let aims = [
        ("broad", "Broad: boards of every par"),
        ("deep", "Deep: the hardest boards alone"),
    ]
    .map(|(value, words)| (value.to_owned(), words.to_owned()));
    // A form sent with no box ticked comes back with none ticked.
    let is_untouched = *filled == Fields::default();
    let is_ticked = |name: &str| is_untouched || filled.get(name).is_some();
    html! {
        form.form method="post" action="/hunts/new" {
            (token(visitor))
            @if let Some(wrong) = wrong_of("form") { (parts::notice(Mood::Bad, &html! { p role="alert" { (wrong) } })) }
            (field("name", "Name", &html! { input #name name="name" required maxlength=(MAX_LABEL_CHARS) size="40" value=(value("name", &suggestion))
                aria-invalid=[wrong_of("name").map(|_| "true")]; }, Some("One that no other hunt has."), wrong_of("name")))
            fieldset {
                legend { "Boards" }
                div.row {
                    (field("width", "Width", &select("width", &sides, &value("width", "6")), None, wrong_of("width")))
                    (field("height", "Height", &select("height", &sides, &value("height", "6")), None, wrong_of("height")))
                    (number("first_vehicles", "Fewest vehicles", "", Some("hero included; empty: usual")))
                    (number("last_vehicles", "Most vehicles", "", None))
                    (number("first_walls", "Fewest walls", "0", None))
                    (number("last_walls", "Most walls", "0", None))
                }
                div.row {
                    (number("row", "Hero's row", "", Some("from 0 at the top; empty: the middle one")))
                    (number("hero", "Hero's length", "2", None))
                    (field("lengths", "Lengths of the others", &html! { input #lengths name="lengths" size="16" value=(value("lengths", ""))
                        aria-invalid=[wrong_of("lengths").map(|_| "true")]; },
                        Some("with weights: 2:3,3:1 is three cars to a truck; empty: usual"), wrong_of("lengths")))
                }
            }
            (field("aim", "Aim", &select("aim", &aims, &value("aim", "broad")), None, wrong_of("aim")))
            fieldset {
                legend { "Strategies" }
                p.small.soft { "Of several, each gets jobs by what it brings for its processor time, and none fewer than 6 %." }
                div.row {
                    @for (name, words) in STRATEGIES {
                        label.tick { input id=(name) name=(name) type="checkbox" value="on" checked[is_ticked(name)]; " " (words) }
                    }
                }
                @if let Some(wrong) = wrong_of("strategy") { span.wrong role="alert" { (wrong) } }
            }
            fieldset {
                legend { "Budget" }
                p.small.soft { "It is over at the first of these; with none, when somebody ends it." }
                div.row {
                    (number("minutes", "Minutes", "60", None))
                    (number("jobs", "Jobs", "", None))
                    (number("until_par", "Until par", "", None))
                }
            }
            div.row {
                (field("priority", "Priority", &html! { input #priority name="priority" type="number" value=(value("priority", "0")) min=(PRIORITIES.start()) max=(PRIORITIES.end()); },
                    Some("higher goes first; 0 is usual"), wrong_of("priority")))
                (field("seed", "Seed", &html! { input #seed name="seed" inputmode="numeric" value=(value("seed", "")) size="22"; },
                    Some("empty: drawn"), wrong_of("seed")))
            }
            div.actions {
                button.first type="submit" { "Start the hunt" }
                a.button href="/hunts" { "Back" }
            }
        }
    }
}

/// Reads the form; what is wrong, by field.
pub(in crate::web) fn read(fields: &Fields) -> Result<NewHunt, Vec<(&'static str, String)>> {
    let mut form = Form {
        fields,
        wrong: Vec::new(),
    };
    let name = fields.get("name").unwrap_or_default().to_owned();
    if name.is_empty() || name.chars().count() > MAX_LABEL_CHARS || !is_plain(&name) {
        form.refuse(
            "name",
            format!("A name of 1 to {MAX_LABEL_CHARS} characters is needed, none of which is invisible."),
        );
    }
    let space = form.space();
    let budget = Budget {
        time: form
            .number("minutes", MAX_MINUTES)
            .map(|minutes| Duration::from_secs(minutes * 60)),
        n_jobs: form.number("jobs", MAX_JOBS),
        until_par: form
            .number("until_par", 999)
            .and_then(|par| u16::try_from(par).ok())
            .map(Par::new),
    };
    let seed = fields.get("seed").map(str::parse::<u64>);
    if let Some(Err(_)) = seed {
        form.refuse("seed", "A whole number below 2^64 is needed.");
    }
    let priority = fields.get("priority").map_or(Ok(0), str::parse::<i32>);
    let priority = priority.ok().filter(|priority| PRIORITIES.contains(priority));
    if priority.is_none() {
        form.refuse("priority", "A whole number from −1000 to 1000 is needed.");
    }
    // Censuses, campaigns and measuring are asked for by the command line: they have terms of their own.
    let ticked = STRATEGIES.iter().filter(|(name, _)| fields.get(name).is_some());
    let mix: Vec<Strategy> = ticked.filter_map(|(name, _)| Strategy::parse(name)).collect();
    let strategy = match mix[..] {
        [] => None,
        [single] => Some(single),
        _ => Some(Strategy::Mixed),
    };
    if strategy.is_none() {
        form.refuse("strategy", "Choose one of the strategies at least.");
    }
    let aim = Aim::parse(fields.get("aim").unwrap_or("broad"));
    if aim.is_none() {
        form.refuse("aim", "Choose broad or deep.");
    }
    match (space, strategy.zip(aim), priority) {
        (Ok(space), Some((strategy, aim)), Some(priority)) if form.wrong.is_empty() => Ok(NewHunt {
            name,
            space,
            strategy,
            budget,
            priority,
            seed: seed.and_then(Result::ok),
            census: None,
            plan: HuntPlan::new(aim, &mix),
        }),
        (space, ..) => {
            if let Err(reason) = space {
                form.refuse("form", reason);
            }
            Err(form.wrong)
        }
    }
}

/// A form being read.
struct Form<'a> {
    fields: &'a Fields,
    wrong: Vec<(&'static str, String)>,
}

impl Form<'_> {
    fn refuse(&mut self, name: &'static str, reason: impl Into<String>) {
        self.wrong.push((name, reason.into()));
    }

    /// A field that is empty or a number up to `most`.
    fn number(&mut self, name: &'static str, most: u64) -> Option<u64> {
        match self.fields.get(name)?.parse::<u64>() {
            Ok(0) if ENDS.contains(&name) => {
                self.refuse(name, "At least 1; leave it empty for no such end.");
                None
            }
            Ok(n) if n <= most => Some(n),
            _ => {
                self.refuse(name, format!("A whole number up to {most} is needed."));
                None
            }
        }
    }

    fn small(&mut self, name: &'static str, most: u8) -> Option<u8> {
        self.number(name, most.into()).and_then(|n| u8::try_from(n).ok())
    }

    /// The usual space of the lot, with what was asked for.
    fn space(&mut self) -> Result<BoardSpace, String> {
        let (width, height) = (self.small("width", 8), self.small("height", 8));
        let vehicles = (self.small("first_vehicles", 50), self.small("last_vehicles", 50));
        let first_walls = self.small("first_walls", 60).unwrap_or(0);
        let last_walls = self.small("last_walls", 60).unwrap_or(0).max(first_walls);
        let (exit_row, hero_length) = (self.small("row", 7), self.small("hero", 8));
        let lengths = self.fields.get("lengths").map(LengthWeight::parse_list);
        let lengths = lengths.transpose().unwrap_or_else(|error| {
            self.refuse("lengths", format!("{error}."));
            None
        });
        let lot = Lot::new(width.unwrap_or(6), height.unwrap_or(6)).map_err(|error| error.to_string())?;
        let usual = BoardSpace::usual(lot).map_err(|error| error.to_string())?;
        let usual = usual.fields().clone();
        let space = SpaceFields {
            vehicles: vehicle_range(&usual, vehicles),
            walls: first_walls..=last_walls,
            exit_row: exit_row.unwrap_or(usual.exit_row),
            hero_length: hero_length.unwrap_or(usual.hero_length),
            lengths: lengths.unwrap_or_else(|| usual.lengths.clone()),
            ..usual
        };
        BoardSpace::new(space).map_err(|error| error.to_string())
    }
}

/// How many vehicles: where only one end was asked for, the other is the usual one or the same.
fn vehicle_range(usual: &SpaceFields, (first, last): (Option<u8>, Option<u8>)) -> RangeInclusive<u8> {
    let first = first.unwrap_or(*usual.vehicles.start().min(&last.unwrap_or(u8::MAX)));
    first..=last.unwrap_or(*usual.vehicles.end().max(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_untouched_form_is_a_hunt_of_the_usual_boards() {
        let wish = read(&Fields::parse(
            "name=a&width=6&height=6&minutes=60&priority=0&aim=broad&scatter=on&anneal=on&sweep=on",
        ))
        .unwrap();
        assert_eq!(wish.space, BoardSpace::usual(Lot::new(6, 6).unwrap()).unwrap());
        assert_eq!(wish.budget.time, Some(Duration::from_hours(1)));
        assert_eq!((wish.strategy, wish.plan), (Strategy::Mixed, HuntPlan::default()));
        assert_eq!((wish.seed, wish.priority, wish.budget.n_jobs), (None, 0, None));
    }

    #[test]
    fn strategies_are_ticked_and_one_at_least_is_needed() {
        let of = |boxes: &str| read(&Fields::parse(&format!("name=a&width=6&height=6&{boxes}")));
        let wish = of("aim=deep&anneal=on&sweep=on").unwrap();
        let plan = HuntPlan::new(Aim::Deep, &[Strategy::Anneal, Strategy::Sweep]);
        assert_eq!((wish.strategy, wish.plan), (Strategy::Mixed, plan));
        assert_eq!(of("sweep=on").unwrap().strategy, Strategy::Sweep);
        assert_eq!(of("aim=broad").unwrap_err()[0].0, "strategy");
        assert_eq!(of("aim=high&sweep=on").unwrap_err()[0].0, "aim");
    }

    #[test]
    fn row_and_lengths_are_those_that_were_asked_for() {
        let of = |more: &str| {
            read(&Fields::parse(&format!(
                "name=a&width=6&height=7&sweep=on&{more}"
            )))
        };
        let wish = of("row=2&hero=3&lengths=2:1,4:5").unwrap();
        let fields = wish.space.fields();
        let lengths: Vec<String> = fields.lengths.iter().map(ToString::to_string).collect();
        assert_eq!((fields.exit_row, fields.hero_length), (2, 3));
        assert_eq!(lengths, ["2:1", "4:5"]);
        let usual = BoardSpace::usual(Lot::new(6, 7).unwrap()).unwrap();
        assert_eq!(of("row=&lengths=").unwrap().space, usual);
        for (more, name, said) in [
            ("lengths=2:x", "lengths", "\"2:x\" is no length"),
            ("row=8", "row", "up to 7"),
            ("row=7", "form", "exit row 7"),
            ("hero=6", "form", "hero of length 6"),
            ("lengths=9", "form", "vehicle length 9"),
        ] {
            let wrong = of(more).unwrap_err();
            assert_eq!(wrong[0].0, name, "{more}");
            assert!(wrong[0].1.contains(said), "{more}: {}", wrong[0].1);
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_field() {
        let wrong = read(&Fields::parse(
            "name=&minutes=x&priority=-2147483648&seed=-1&aim=luck",
        ))
        .unwrap_err();
        let names: Vec<&str> = wrong.iter().map(|entry| entry.0).collect();
        for name in ["name", "minutes", "priority", "seed", "strategy", "aim"] {
            assert!(names.contains(&name), "{name} in {names:?}");
        }
        let wrong = read(&Fields::parse(
            "name=%E2%80%AEevil&minutes=0&jobs=0&until_par=0&sweep=on",
        ))
        .unwrap_err();
        let names: Vec<&str> = wrong.iter().map(|entry| entry.0).collect();
        assert_eq!(names, ["name", "minutes", "jobs", "until_par"]);
    }

    #[test]
    fn more_vehicles_than_fit_are_refused_in_words() {
        let wrong = read(&Fields::parse(
            "name=a&width=3&height=3&first_vehicles=40&last_vehicles=41&scatter=on",
        ))
        .unwrap_err();
        assert_eq!(wrong[0].0, "form");
        assert!(!wrong[0].1.is_empty());
    }
}
