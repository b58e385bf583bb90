//! The doors: who comes in, over what connection, and as what.
//!
//! On a loopback address a door stands open unless tokens are asked for: whoever is on the machine may act. On any other
//! it has TLS and asks for a token, or the coordinator does not start. A token is a secret of 256 random bits; what is
//! kept of it, here and in the database, is its digest, its role, and whose it is.

mod crowd;
mod guard;
mod listen;
mod tls;
mod token;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;

use crate::config::Config;
use crate::store::{Store, StoreError};

pub use crowd::max_connections;
pub(crate) use crowd::{Admission, Crowd};
pub use guard::Caller;
pub(crate) use guard::GuardLayer;
pub(crate) use listen::{Arrivals, Entrance, Peer};
pub(crate) use tls::Certificates;
pub use tls::TlsError;
pub use token::{Role, Secret, TokenDigest};

/// Tokens that are remembered at most; the rest is asked for again.
const MAX_REMEMBERED: usize = 10_000;

/// How the doors are shut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoorRules {
    /// Certificate and key of both doors; `None`: connections are plain.
    pub tls: Option<TlsFiles>,
    /// Tokens are asked for on a loopback address too.
    pub asks_always: bool,
    /// How long a token that was good is taken for good without another look: a revoked one ends within this time.
    pub memory: Duration,
    /// Where /healthz, /readyz and /metrics are served plainly, to this machine alone; `None`: nowhere else.
    pub probe: Option<SocketAddr>,
    /// Connections at once, all doors together, half of them at most of those who have not been let in yet.
    pub max_connections: usize,
}

impl Default for DoorRules {
    fn default() -> DoorRules {
        DoorRules {
            tls: None,
            asks_always: false,
            memory: Duration::from_secs(5),
            probe: None,
            // What the usual limit of 1,024 open files leaves to a coordinator within another program.
            max_connections: 768,
        }
    }
}

/// Files of the connection's encryption, all PEM. They are looked at again while the coordinator runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, with those between it and its authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authority of which workers and operators must show a certificate too; `None`: they need none.
    pub client_ca: Option<PathBuf>,
}

/// Why a coordinator does not open its doors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DoorError {
    /// What is said there could be read and changed on the way.
    #[error(
        "{what} {addr} is open to the network and needs a certificate: --tls-cert and --tls-key (parforce tls makes them), \
         or 127.0.0.1"
    )]
    NoTls {
        /// Which door.
        what: &'static str,
        /// Where it would be.
        addr: SocketAddr,
    },
    /// Nobody could come in.
    #[error(
        "{what} {addr} asks for tokens and there are none: make one with parforce token create NAME --role {role}"
    )]
    NoTokens {
        /// Which door.
        what: &'static str,
        /// Where it would be.
        addr: SocketAddr,
        /// For what.
        role: Role,
    },
    /// Health without a token is for this machine.
    #[error(
        "--probe {0} is served without TLS and tokens, and must be an address of this machine alone, e.g. 127.0.0.1:7402"
    )]
    Probe(SocketAddr),
}

impl DoorRules {
    /// Whether the workers' and operators' door asks for tokens.
    pub fn asks_calls(&self, config: &Config) -> bool {
        self.asks_always || !config.listen.ip().is_loopback()
    }

    /// Whether the pages ask for tokens.
    pub fn asks_pages(&self, config: &Config) -> bool {
        self.asks_always || config.web.is_some_and(|web| !web.ip().is_loopback())
    }

    /// Whether the pages go over TLS: wherever they ask for tokens, if there is a certificate. A page of this machine's own
    /// needs none, and browsers know nothing of an authority of one's own.
    pub fn encrypts_pages(&self, config: &Config) -> bool {
        self.tls.is_some() && self.asks_pages(config)
    }

    /// Whether doors may be opened like this, as far as that can be told without the database.
    ///
    /// # Errors
    /// [`DoorError`].
    pub fn check(&self, config: &Config) -> Result<(), DoorError> {
        if self.tls.is_none() && !config.listen.ip().is_loopback() {
            return Err(DoorError::NoTls {
                what: "--listen",
                addr: config.listen,
            });
        }
        // A proxy in front has TLS of its own, and signs visitors in.
        if let Some(web) = config.web
            && self.tls.is_none()
            && config.access.proxy.is_none()
            && !web.ip().is_loopback()
        {
            return Err(DoorError::NoTls {
                what: "--web",
                addr: web,
            });
        }
        match self.probe {
            Some(probe) if !probe.ip().is_loopback() => Err(DoorError::Probe(probe)),
            _ => Ok(()),
        }
    }

    /// Whether anybody could come in.
    ///
    /// # Errors
    /// [`DoorError::NoTokens`], [`StoreError`].
    pub(crate) async fn check_tokens(&self, config: &Config, store: &Store) -> Result<(), OpenError> {
        let tokens = store.list_tokens(false).await?;
        if self.asks_calls(config) && !tokens.iter().any(|token| token.role == Role::Worker) {
            return Err(OpenError::Door(DoorError::NoTokens {
                what: "--listen",
                addr: config.listen,
                role: Role::Worker,
            }));
        }
        let are_configured = config.access.proxy.is_some() || !config.access.tokens.is_empty();
        if let Some(web) = config.web
            && self.asks_pages(config)
            && !are_configured
            && !tokens.iter().any(|token| token.role.may_look())
        {
            return Err(OpenError::Door(DoorError::NoTokens {
                what: "--web",
                addr: web,
                role: Role::Operator,
            }));
        }
        Ok(())
    }
}

/// Why doors were not opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// They would stand open, or be shut to everybody.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// The database does not say.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks at tokens that are shown.
#[derive(Debug)]
pub(crate) struct Porter {
    store: Store,
    memory: Duration,
    remembered: Mutex<HashMap<TokenDigest, (Caller, Instant)>>,
}

/// Why a door stays shut.
#[derive(Debug, Error)]
pub(crate) enum Shut {
    #[error("this door asks for a token: authorization: Bearer TOKEN")]
    NoToken,
    #[error("this token opens nothing here")]
    Unknown,
    #[error("the token of {0} has expired")]
    Expired(String),
    #[error("the token of {0} was revoked")]
    Revoked(String),
    #[error("the token of {name} is for a {role}, which this is not for")]
    Role { name: String, role: Role },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Porter {
    pub(crate) fn new(store: Store, memory: Duration) -> Porter {
        Porter {
            store,
            memory,
            remembered: Mutex::default(),
        }
    }

    /// Whose token this is.
    pub(crate) async fn holder(&self, token: &str) -> Result<Caller, Shut> {
        // Digests, not tokens, are compared: how long it takes tells nothing about a token.
        let digest = TokenDigest::of(token);
        if let Some(caller) = self.recall(&digest) {
            return Ok(caller);
        }
        let record = self.store.token(&digest).await?.ok_or(Shut::Unknown)?;
        if record.revoked_at.is_some() {
            return Err(Shut::Revoked(record.name));
        }
        if !record.is_good {
            return Err(Shut::Expired(record.name));
        }
        let caller = Caller {
            name: record.name,
            role: record.role,
        };
        self.remember(digest, &caller);
        Ok(caller)
    }

    fn recall(&self, digest: &TokenDigest) -> Option<Caller> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let (caller, until) = remembered.get(digest)?;
        (*until > Instant::now()).then(|| caller.clone())
    }

    fn remember(&self, digest: TokenDigest, caller: &Caller) {
        let now = Instant::now();
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= MAX_REMEMBERED {
            remembered.retain(|_, (_, until)| *until > now);
        }
        if remembered.len() < MAX_REMEMBERED {
            remembered.insert(digest, (caller.clone(), now + self.memory));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::access::ProxyRule;

    fn at(listen: &str, web: &str) -> Config {
        Config {
            listen: listen.parse().unwrap(),
            web: Some(web.parse().unwrap()),
            ..Config::default()
        }
    }

    fn with_tls() -> DoorRules {
        DoorRules {
            tls: Some(TlsFiles {
                certificate: "c".into(),
                key: "k".into(),
                client_ca: None,
            }),
            ..DoorRules::default()
        }
    }

    #[test]
    fn off_loopback_no_door_is_opened_without_a_certificate() {
        let plain = DoorRules::default();
        assert_eq!(plain.check(&at("127.0.0.1:1", "[::1]:2")), Ok(()));
        let told = plain.check(&at("0.0.0.0:1", "[::1]:2")).unwrap_err().to_string();
        assert!(
            told.contains("--tls-cert") && told.contains("0.0.0.0:1"),
            "{told}"
        );
        assert!(plain.check(&at("127.0.0.1:1", "10.0.0.1:2")).is_err());
        assert_eq!(with_tls().check(&at("0.0.0.0:1", "0.0.0.0:2")), Ok(()));
    }

    #[test]
    fn a_proxy_that_signs_visitors_in_has_tls_of_its_own() {
        let mut config = at("127.0.0.1:1", "0.0.0.0:2");
        config.access.proxy = Some(ProxyRule {
            header: "x-user".to_owned(),
            from: vec!["10.0.0.1".parse().unwrap()],
            operators: Vec::new(),
        });
        assert_eq!(DoorRules::default().check(&config), Ok(()));
    }

    #[test]
    fn health_without_a_token_is_for_this_machine_alone() {
        let rules = |probe: &str| DoorRules {
            probe: Some(probe.parse().unwrap()),
            ..DoorRules::default()
        };
        assert!(rules("0.0.0.0:3").check(&Config::default()).is_err());
        assert_eq!(rules("127.0.0.1:3").check(&Config::default()), Ok(()));
    }

    #[test]
    fn tokens_are_asked_for_off_loopback_or_if_it_is_said() {
        let here = at("127.0.0.1:1", "127.0.0.1:2");
        assert!(!DoorRules::default().asks_calls(&here) && !DoorRules::default().asks_pages(&here));
        let always = DoorRules {
            asks_always: true,
            ..DoorRules::default()
        };
        assert!(always.asks_calls(&here) && always.asks_pages(&here));
        let there = at("0.0.0.0:1", "0.0.0.0:2");
        assert!(with_tls().asks_calls(&there) && with_tls().asks_pages(&there));
    }
}
