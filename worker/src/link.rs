//! The worker's standing with its coordinator: the client, the session, and hello said again when it is forgotten.

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use board::ENGINE;
use proto::PROTOCOL;
use proto::convert::{Ack, Batch, Hello, Welcome};
use proto::ids::{Incarnation, Session};
use tracing::{info, warn};

use crate::backoff::Backoff;
use crate::client::{CallError, Client};
use crate::clock;
use crate::config::Config;
use crate::driver::Shutdown;

/// A session, renewed when the coordinator does not know it any more.
#[derive(Debug)]
pub struct Link {
    client: Client,
    hello: Hello,
    welcome: Mutex<Welcome>,
    /// Held while hello is said, so that many calls that meet a forgotten session say it once.
    renewing: tokio::sync::Mutex<()>,
}

/// What this process says of itself.
pub fn introduce(config: &Config, incarnation: Incarnation, n_threads: usize, self_test: Vec<u8>) -> Hello {
    Hello {
        worker_name: config.name.clone(),
        incarnation,
        protocol: PROTOCOL..=PROTOCOL,
        engine: ENGINE.to_owned(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        n_slots: config.n_slots,
        n_threads: u32::try_from(n_threads).unwrap_or(u32::MAX),
        cpu: std::env::consts::ARCH.to_owned(),
        self_test,
    }
}

impl Link {
    /// Says hello until it is answered; `None` if `leaving` came first.
    ///
    /// # Errors
    /// When the coordinator answers that it does not want this worker.
    pub async fn open(
        client: Client,
        hello: Hello,
        backoff: &mut Backoff,
        leaving: &Shutdown,
    ) -> Result<Option<Link>, CallError> {
        loop {
            let answer = tokio::select! {
                answer = client.hello(hello.clone()) => answer,
                () = leaving.told() => return Ok(None),
            };
            match answer {
                Ok(welcome) => {
                    tell(&welcome);
                    let welcome = Mutex::new(welcome);
                    return Ok(Some(Link {
                        client,
                        hello,
                        welcome,
                        renewing: tokio::sync::Mutex::new(()),
                    }));
                }
                // A token that was good before may be renewed meanwhile; one that never was is a mistake to be told.
                Err(error) if error.is_retryable() && !matches!(error, CallError::Shut(_)) => {
                    let delay = backoff.next(error.retry_after());
                    warn!(%error, delay_ms = delay.as_millis(), "no hello yet, trying again");
                    tokio::select! {
                        () = clock::sleep(delay) => {}
                        () = leaving.told() => return Ok(None),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// What the coordinator said to the last hello.
    pub fn welcome(&self) -> Welcome {
        self.welcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The present session.
    pub fn session(&self) -> Session {
        self.welcome().session
    }

    /// How often to beat.
    pub fn beat_interval(&self) -> Duration {
        self.welcome().beat_interval
    }

    /// Makes a call with the session; if the coordinator has forgotten it, says hello and makes the call once more. If
    /// the door is shut, the token is read again and, if it is another one, the call made once more.
    ///
    /// # Errors
    /// Whatever the call, or the hello, ended with.
    pub async fn call<T, F>(&self, make: impl Fn(Client, Session) -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        self.call_over(&self.client, make).await
    }

    /// The same over another connection.
    ///
    /// # Errors
    /// Whatever the call, or the hello, ended with.
    pub async fn call_over<T, F>(
        &self,
        client: &Client,
        make: impl Fn(Client, Session) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let session = self.session();
        match make(client.clone(), session).await {
            Err(CallError::NoSession(message)) => {
                warn!(message, "the coordinator forgot this session, saying hello again");
                self.renew(client, session).await?;
                make(client.clone(), self.session()).await
            }
            Err(CallError::Shut(_)) if client.token_is_renewed() => {
                info!("the door was shut to the token, and there is a new one");
                make(client.clone(), self.session()).await
            }
            answer => answer,
        }
    }

    /// Hands in a batch under the session that its boards were found in: that of an earlier process, if one left it in the
    /// spool, since the lease was granted to that one.
    ///
    /// # Errors
    /// Whatever the call ended with.
    pub async fn submit(&self, batch: Batch) -> Result<Ack, CallError> {
        match self.client.submit_boards(batch.clone()).await {
            Err(CallError::NoSession(message)) => {
                warn!(message, "the coordinator forgot the session of a batch");
                self.call(|client, session| {
                    let batch = Batch {
                        session,
                        ..batch.clone()
                    };
                    async move { client.submit_boards(batch).await }
                })
                .await
            }
            Err(CallError::Shut(_)) if self.client.token_is_renewed() => {
                self.client.submit_boards(batch).await
            }
            answer => answer,
        }
    }

    /// Another connection to the coordinator, served by the runtime that this is called in.
    pub(crate) fn another_client(&self) -> Client {
        self.client.another()
    }

    async fn renew(&self, client: &Client, forgotten: Session) -> Result<(), CallError> {
        let _only_one = self.renewing.lock().await;
        if self.session() != forgotten {
            return Ok(());
        }
        let welcome = client.hello(self.hello.clone()).await?;
        tell(&welcome);
        *self.welcome.lock().unwrap_or_else(PoisonError::into_inner) = welcome;
        Ok(())
    }
}

/// What people should know of the coordinator's answer.
fn tell(welcome: &Welcome) {
    info!(directive = %welcome.directive, "the coordinator took this worker");
    if let Some(refusal) = &welcome.refusal {
        warn!(
            refusal,
            "nothing is leased to this program; what it found is handed in"
        );
    }
    let versions = &welcome.versions;
    if !versions.next.is_empty() {
        let days_left = versions.deadline.map(|left| left.as_secs() / 86_400);
        warn!(
            next = versions.next,
            days_left, "this farm will ask for another version"
        );
    }
}
