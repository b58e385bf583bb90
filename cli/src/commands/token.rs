//! `parforce token`: who may come in, and as what.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use coordinator::doors::{Role, Secret};
use coordinator::store::{TokenRecord, WhichTokens};
use proto::convert::is_plain;
use serde::Serialize;

use super::{DatabaseArguments, Outcome, instant};
use crate::output::counted;
use crate::output::table::{Align, Table};
use crate::store::OpenStore;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Make, list and revoke the tokens that open a farm's doors.
///
/// A coordinator that can be reached from other machines asks everybody for a token: workers
/// (parforce-worker --token-file FILE), people at the dashboard's sign-in, programs (Authorization: Bearer TOKEN). Of a
/// token only its digest is kept, so it is shown once, when it is made. Give each worker and each person one of their own:
/// strikes and quarantine follow it, and it can be revoked alone.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  parforce token create node-3 --role worker --file node-3.token
  parforce token create anna --role operator --days 365
  parforce token list
  parforce token revoke node-3")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token and print it, this once
    Create(Create),
    /// List tokens that open something, or with --all also those that do no more
    List(List),
    /// End tokens: all of a name, or one by its number; every door is shut to them within seconds
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Create {
    /// Whose it is: a worker, a person, a program; 1 to 60 characters
    #[arg(value_parser = parse_name)]
    name: String,
    /// What it opens. worker: the workers' service; operator: everything an operator does, and looking; analyst: the
    /// operators' questions, and looking; viewer: looking at the pages
    #[arg(long, value_parser = parse_role, value_name = "ROLE")]
    role: Role,
    /// Days until it ends by itself [default: it does not]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// Write it into this file, which must not exist and which only its owner may read, instead of printing it
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct List {
    /// Also those that expired or were revoked
    #[arg(long)]
    all: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// The name, or the number with --id
    #[arg(required_unless_present = "id")]
    name: Option<String>,
    /// One token by its number, as `parforce token list` shows it
    #[arg(long, value_name = "N", conflicts_with = "name")]
    id: Option<i64>,
    #[command(flatten)]
    database: DatabaseArguments,
}

#[derive(Debug, Serialize)]
struct Listed {
    id: i64,
    name: String,
    role: &'static str,
    /// good, expired or revoked.
    state: &'static str,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    used_at: Option<String>,
}

impl From<TokenRecord> for Listed {
    fn from(token: TokenRecord) -> Listed {
        Listed {
            id: token.id,
            state: match (token.revoked_at, token.is_good) {
                (Some(_), _) => "revoked",
                (None, true) => "good",
                (None, false) => "expired",
            },
            name: token.name,
            role: token.role.as_str(),
            created_at: instant(token.created_at),
            expires_at: token.expires_at.map(instant),
            revoked_at: token.revoked_at.map(instant),
            used_at: token.used_at.map(instant),
        }
    }
}

fn parse_role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| String::from("expected worker, operator, analyst or viewer"))
}

fn parse_name(text: &str) -> Result<String, String> {
    let is_name = (1..=60).contains(&text.chars().count())
        && text.trim() == text
        && !text.contains('@')
        && is_plain(text);
    is_name.then(|| text.to_owned()).ok_or_else(|| {
        String::from("expected 1 to 60 visible characters without @, and no blank at either end")
    })
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.action {
        Action::Create(create) => make(create),
        Action::List(list) => show(list),
        Action::Revoke(revoke) => end(revoke),
    }
}

fn make(create: &Create) -> anyhow::Result<Outcome> {
    let secret = Secret::draw();
    // The file comes first: a token that is made and cannot be written down is lost.
    if let Some(path) = &create.file {
        write_secret(path, secret.reveal())?;
    }
    let store = OpenStore::open(&create.database)?;
    let lasts_s = create.days.map(|days| f64::from(days) * DAY_S);
    let made = store.wait(
        store
            .store
            .create_token(&create.name, create.role, &secret.digest(), lasts_s),
    );
    store.close()?;
    let id = made?;
    if let Some(path) = &create.file {
        say!(
            "token {id} for {}, {}, is in {}",
            create.name,
            create.role,
            path.display()
        );
    } else {
        say!(
            "token {id} for {}, {}; it is shown this once:",
            create.name,
            create.role
        );
        writeln!(std::io::stdout(), "{}", secret.reveal())?;
    }
    Ok(Outcome::Done)
}

/// Writes a secret into a new file that only its owner may read.
pub(crate) fn write_secret(path: &Path, secret: &str) -> anyhow::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| writeln!(file, "{}", secret.trim_end()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn show(list: &List) -> anyhow::Result<Outcome> {
    let store = OpenStore::open(&list.database)?;
    let tokens = store.wait(store.store.list_tokens(list.all));
    store.close()?;
    let listed = tokens?.into_iter().map(Listed::from);
    let mut out = std::io::stdout().lock();
    if list.json {
        for token in listed {
            writeln!(out, "{}", serde_json::to_string(&token)?)?;
        }
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("token", Align::Right),
        ("name", Align::Left),
        ("role", Align::Left),
        ("state", Align::Left),
        ("expires", Align::Left),
        ("used last", Align::Left),
    ]);
    for token in listed {
        table.row(vec![
            token.id.to_string(),
            token.name,
            token.role.to_owned(),
            token.state.to_owned(),
            token.expires_at.unwrap_or_else(|| String::from("never")),
            token.used_at.unwrap_or_else(|| String::from("never")),
        ]);
    }
    if table.is_empty() {
        writeln!(out, "no tokens")?;
    } else {
        write!(out, "{table}")?;
    }
    Ok(Outcome::Done)
}

fn end(revoke: &Revoke) -> anyhow::Result<Outcome> {
    let which = match (&revoke.name, revoke.id) {
        (_, Some(id)) => WhichTokens::Id(id),
        (Some(name), None) => WhichTokens::Name(name.clone()),
        (None, None) => unreachable!("the argument parser asks for one of them"),
    };
    let store = OpenStore::open(&revoke.database)?;
    let revoked = store.wait(store.store.revoke_tokens(&which));
    store.close()?;
    let n_tokens = revoked?;
    if n_tokens == 0 {
        say!("parforce: there is no such token");
        return Ok(Outcome::Refused);
    }
    writeln!(std::io::stdout(), "{} revoked", counted(n_tokens, "token"))?;
    Ok(Outcome::Done)
}
