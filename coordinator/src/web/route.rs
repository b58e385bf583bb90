//! Addresses of pages: read once, here, into what they ask for. The live endpoint takes the same addresses.

use crate::store::{BoardQuery, EventQuery, JobQuery, JobSort, Window, WorkerQuery, WorkerSort};

use super::words;

/// A page that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Overview(Window),
    Hunts,
    NewHunt,
    Hunt(i64, Window),
    /// A question about a hunt: pause, resume, cancel, priority.
    AskHunt(i64, HuntQuestion),
    Census,
    Jobs(JobQuery),
    Job(i64),
    Workers(WorkerQuery),
    Worker(i64),
    AskWorker(i64, WorkerQuestion),
    Boards(BoardQuery),
    Board(i16, String),
    Trouble,
    AskRequeue(Requeue),
    Events(EventQuery),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HuntQuestion {
    Pause,
    Resume,
    Cancel,
    Priority,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerQuestion {
    Run,
    Drain,
    Stop,
    Quarantine,
    Trust,
}

/// Which parked jobs are to be requeued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Requeue {
    Job(i64),
    /// All jobs of a hunt that failed alike.
    Alike {
        hunt_id: i64,
        outcome: String,
        error: String,
    },
}

impl HuntQuestion {
    pub(crate) fn parse(text: &str) -> Option<HuntQuestion> {
        Some(match text {
            "pause" => HuntQuestion::Pause,
            "resume" => HuntQuestion::Resume,
            "cancel" => HuntQuestion::Cancel,
            "priority" => HuntQuestion::Priority,
            _ => return None,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            HuntQuestion::Pause => "pause",
            HuntQuestion::Resume => "resume",
            HuntQuestion::Cancel => "cancel",
            HuntQuestion::Priority => "priority",
        }
    }
}

impl WorkerQuestion {
    pub(crate) fn parse(text: &str) -> Option<WorkerQuestion> {
        Some(match text {
            "run" => WorkerQuestion::Run,
            "drain" => WorkerQuestion::Drain,
            "stop" => WorkerQuestion::Stop,
            "quarantine" => WorkerQuestion::Quarantine,
            "trust" => WorkerQuestion::Trust,
            _ => return None,
        })
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            WorkerQuestion::Run => "run",
            WorkerQuestion::Drain => "drain",
            WorkerQuestion::Stop => "stop",
            WorkerQuestion::Quarantine => "quarantine",
            WorkerQuestion::Trust => "trust",
        }
    }
}

/// Names and values of a query or form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=b&c=d`.
    pub(crate) fn parse(text: &str) -> Fields {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (words::unescape(name), words::unescape(value))
        });
        // No text in the database holds a zero, and asking for one is an error there.
        Fields(pairs.filter(|pair| !pair.1.contains('\0')).collect())
    }

    /// The value of a name; `None`: it is absent or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|pair| pair.0 == name)
            .map(|pair| pair.1.trim())
            .filter(|value| !value.is_empty())
    }

    /// The value as a number; `None` also where it is none.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }
}

impl Route {
    /// The page at a path with a query; `None`: there is none.
    pub(crate) fn parse(path: &str, query: &str) -> Option<Route> {
        let fields = Fields::parse(query);
        let window = fields
            .get("window")
            .and_then(Window::parse)
            .unwrap_or(Window::Hour);
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let id = |text: &str| text.parse::<i64>().ok().filter(|id| *id > 0);
        Some(match parts.as_slice() {
            [] => Route::Overview(window),
            ["hunts"] => Route::Hunts,
            ["hunts", "new"] => Route::NewHunt,
            ["hunts", hunt] => Route::Hunt(id(hunt)?, window),
            ["hunts", hunt, question] => Route::AskHunt(id(hunt)?, HuntQuestion::parse(question)?),
            ["census"] => Route::Census,
            ["jobs"] => Route::Jobs(job_query(&fields)),
            ["jobs", job] => Route::Job(id(job)?),
            ["jobs", job, "requeue"] => Route::AskRequeue(Requeue::Job(id(job)?)),
            ["workers"] => Route::Workers(worker_query(&fields)),
            ["workers", worker] => Route::Worker(id(worker)?),
            ["workers", worker, question] => Route::AskWorker(id(worker)?, WorkerQuestion::parse(question)?),
            ["boards"] => Route::Boards(board_query(&fields)),
            ["boards", par, canonical] => Route::Board(par.parse().ok()?, words::unescape(canonical)),
            ["trouble"] => Route::Trouble,
            ["trouble", "requeue"] => Route::AskRequeue(Requeue::Alike {
                hunt_id: fields.number("hunt")?,
                outcome: fields.get("outcome")?.to_owned(),
                error: fields.get("error").unwrap_or_default().to_owned(),
            }),
            ["events"] => Route::Events(EventQuery {
                kind: fields.get("kind").map(str::to_owned),
                hunt_id: fields.number("hunt"),
                worker_id: fields.number("worker"),
                before: fields.number("before"),
                limit: 0,
            }),
            _ => return None,
        })
    }

    /// The page at an address with or without a query.
    pub(crate) fn parse_address(address: &str) -> Option<Route> {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        Route::parse(path, query)
    }
}

/// What of a query cannot be read: the name, the value, and what it should be; `None`: all of it can.
pub(crate) fn misread(fields: &Fields) -> Option<String> {
    fn is_number(value: &str) -> bool {
        value.parse::<i64>().is_ok()
    }
    fn is_small(value: &str) -> bool {
        value.parse::<i16>().is_ok()
    }
    fn is_lot(value: &str) -> bool {
        value.parse::<board::Lot>().is_ok()
    }
    fn is_window(value: &str) -> bool {
        Window::parse(value).is_some()
    }
    type Check = fn(&str) -> bool;
    let checks: [(&str, Check, &str); 9] = [
        ("hunt", is_number, "a hunt's number"),
        ("worker", is_number, "a worker's number"),
        ("before", is_number, "an event's number"),
        ("skip", is_number, "a whole number"),
        ("par", is_small, "a par"),
        ("vehicles", is_small, "a number of vehicles"),
        ("walls", is_small, "a number of walls"),
        ("lot", is_lot, "a lot such as 6x6"),
        ("window", is_window, "a stretch of time"),
    ];
    checks.into_iter().find_map(|(name, is_so, what)| {
        let value = fields.get(name).filter(|value| !is_so(value))?;
        Some(format!("{name} is {value:?}, which is not {what}."))
    })
}

fn job_query(fields: &Fields) -> JobQuery {
    JobQuery {
        hunt_id: fields.number("hunt"),
        state: fields.get("state").map(str::to_owned),
        kind: fields.get("kind").map(str::to_owned),
        sort: if fields.get("sort") == Some("oldest") {
            JobSort::Oldest
        } else {
            JobSort::Newest
        },
        after: fields.number("after"),
    }
}

fn worker_query(fields: &Fields) -> WorkerQuery {
    WorkerQuery {
        state: fields.get("state").map(str::to_owned),
        name: fields.get("name").map(str::to_owned),
        sort: match fields.get("sort") {
            Some("rate") => WorkerSort::Rate,
            Some("slow") => WorkerSort::Slow,
            Some("strikes") => WorkerSort::Strikes,
            Some("seen") => WorkerSort::Seen,
            _ => WorkerSort::Name,
        },
        skip: fields.number("skip").unwrap_or(0).clamp(0, 1_000_000),
        id: None,
    }
}

fn board_query(fields: &Fields) -> BoardQuery {
    let lot = fields.get("lot").and_then(|lot| lot.parse::<board::Lot>().ok());
    let after = fields.get("after").and_then(|after| {
        let (par, canonical) = after.split_once('~')?;
        Some((par.parse().ok()?, canonical.to_owned()))
    });
    BoardQuery {
        par: fields.number("par"),
        lot: lot.map(|lot| (lot.width().into(), lot.height().into())),
        n_vehicles: fields.number("vehicles"),
        n_walls: fields.number("walls"),
        is_minimal: fields.get("minimal").is_some(),
        hunt_id: fields.number("hunt"),
        after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_into_what_they_ask_for() {
        assert_eq!(Route::parse("/", ""), Some(Route::Overview(Window::Hour)));
        assert_eq!(
            Route::parse("/", "window=7d"),
            Some(Route::Overview(Window::Week))
        );
        assert_eq!(
            Route::parse("/hunts/12/pause", ""),
            Some(Route::AskHunt(12, HuntQuestion::Pause))
        );
        assert_eq!(
            Route::parse("/boards/9/7x6:ooA", ""),
            Some(Route::Board(9, "7x6:ooA".into()))
        );
        let Some(Route::Boards(query)) = Route::parse_address("/boards?lot=7x6&par=9&after=9~7x6%3AooA")
        else {
            panic!("boards")
        };
        assert_eq!((query.lot, query.par), (Some((7, 6)), Some(9)));
        assert_eq!(query.after, Some((9, "7x6:ooA".into())));
    }

    #[test]
    fn a_filter_that_cannot_be_read_is_named_with_its_value() {
        for (query, name) in [
            ("hunt=abc", "hunt"),
            ("par=abc", "par"),
            ("par=99999", "par"),
            ("vehicles=1e9", "vehicles"),
            ("lot=%27%3Bdrop", "lot"),
            ("window=zzz", "window"),
            ("worker=99999999999999999999", "worker"),
        ] {
            let why = misread(&Fields::parse(query)).unwrap();
            assert!(why.starts_with(name), "{query}: {why}");
        }
        let fine = "hunt=3&par=12&vehicles=&lot=6x6&window=7d&state=done&after=9~ooA";
        assert_eq!(misread(&Fields::parse(fine)), None);
        assert_eq!(
            Fields::parse("state=%00&name=a%00b&kind=x"),
            Fields::parse("kind=x")
        );
    }

    #[test]
    fn what_is_no_page_is_none() {
        for path in [
            "/nothing",
            "/hunts/x",
            "/hunts/0",
            "/hunts/-1",
            "/hunts/1/explode",
            "/boards/9",
            "/a/b/c/d",
        ] {
            assert_eq!(Route::parse(path, ""), None, "{path}");
        }
        assert_eq!(
            Route::parse("/jobs", "hunt=x&after=y"),
            Some(Route::Jobs(JobQuery::default()))
        );
    }
}
