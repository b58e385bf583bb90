//! The worker's life: self-test, hello, jobs one after the other, goodbye.
//!
//! Everything is passed in: no signal, environment, or global is looked at here, so that a worker runs as well inside
//! another program.

use std::sync::Arc;
use std::time::Duration;

use board::stream::Stream;
use proto::MAX_ACQUIRE_WAIT_MS;
use proto::convert::{Acquire, Directive, JobKind, Lease, Release, ReleaseReason};
use proto::ids::{Incarnation, RequestId};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use crate::backoff::Backoff;
use crate::client::{Acquired, AddressError, CallError, Client, UnreadableLease};
use crate::clock::{self, Moment};
use crate::config::{Beats, Config, ConfigError};
use crate::holder::{self, Tools};
use crate::leases::{Held, Roster, Verdict};
use crate::link::{self, Link};
use crate::progress::{Progress, Reporter};
use crate::run::{SearchPool, SearchPoolError};
use crate::spool::{Spool, SpoolError};
use crate::uploads::{self, Uploads};
use crate::{heartbeat, self_test};

/// The kinds of job that this worker runs.
const KINDS: [JobKind; 6] = [
    JobKind::Scatter,
    JobKind::Anneal,
    JobKind::Census,
    JobKind::Siren,
    JobKind::Difficulty,
    JobKind::Sweep,
];

/// The least time between two acquire calls that bring nothing, for coordinators that answer at once.
const MIN_ACQUIRE_INTERVAL: Duration = Duration::from_secs(1);

/// How a worker is told to leave.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Cancelled: finish the jobs that are held, take no more, then as `drain`.
    pub finish: CancellationToken,
    /// Cancelled: stop searching, hand in, release, say goodbye, within the drain grace.
    pub drain: CancellationToken,
    /// Cancelled: return at once. What is unsent stays in the spool, leases expire by themselves.
    pub stop: CancellationToken,
}

/// Why a worker left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// Its [`Shutdown`] said so.
    Told,
    /// The coordinator stopped it.
    Stopped,
    /// The coordinator wants a newer program.
    Upgrade,
}

/// Why a worker could not work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// Its settings.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The coordinator's address.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Its spool.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// Its search threads.
    #[error(transparent)]
    Threads(#[from] SearchPoolError),
    /// Its engine gives wrong answers on this machine.
    #[error(transparent)]
    SelfTest(#[from] self_test::SelfTestError),
    /// The coordinator does not want it.
    #[error("the coordinator does not take this worker")]
    Unwelcome(#[source] CallError),
}

/// Runs a worker until it is told to leave.
///
/// # Errors
/// A [`WorkerError`], before any job was taken.
pub async fn run(
    config: Config,
    shutdown: Shutdown,
    progress: watch::Sender<Progress>,
) -> Result<Departure, WorkerError> {
    config.check()?;
    let reporter = Reporter::new(progress);
    let client = Client::new(&config.coordinator, &config.door)?;
    let (spool, left) = Spool::open(config.spool_dir.clone(), config.max_spool_bytes)?;
    let pool = Arc::new(SearchPool::start(config.threads())?);
    let digest = tokio::task::spawn_blocking(self_test::run)
        .await
        .expect("the self-test reports, it does not panic")?;

    let incarnation = Uuid::new_v4();
    let hello = link::introduce(
        &config,
        Incarnation::new(incarnation),
        pool.n_threads(),
        digest.to_bytes().to_vec(),
    );
    let mut backoff = Backoff::new(incarnation, 0);
    let link = Link::open(client, hello, &mut backoff, &shutdown)
        .await
        .map_err(WorkerError::Unwelcome)?;
    let Some(link) = link else {
        return Ok(Departure::Told);
    };
    reporter.welcomed();

    let (uploads, uploader) = uploads::new(spool);
    let abandoned = shutdown.stop.child_token();
    let tools = Tools {
        pool,
        link: Arc::new(link),
        uploads,
        reporter,
        abandoned,
    };
    let upload_backoff = Backoff::new(incarnation, 1);
    let uploading = tokio::spawn(uploader.run(
        Arc::clone(&tools.link),
        upload_backoff,
        tools.reporter.clone(),
        tools.abandoned.clone(),
    ));
    let left = tokio::spawn(send_left(tools.uploads.clone(), left));
    let mut driver = Driver {
        directive: watch::Sender::new(tools.link.welcome().directive),
        roster: Arc::default(),
        slots: Arc::new(Semaphore::new(config.n_slots as usize)),
        room: Arc::new(Semaphore::new(1)),
        holders: JoinSet::new(),
        left,
        beats: config.beats,
        n_taken: 0,
        incarnation,
        backoff,
        shutdown,
        tools,
    };
    let departure = driver.work(config.drain_grace).await;
    let reporter = driver.tools.reporter.clone();
    driver.left.abort();
    // The entrance closes with the driver, and the uploads end with it.
    drop(driver);
    let _ = uploading.await;
    let totals = reporter.totals();
    info!(
        inserted = totals.boards_inserted,
        duplicate = totals.boards_duplicate,
        by_hash = totals.boards_by_hash,
        "handed in"
    );
    Ok(departure)
}

async fn send_left(uploads: Uploads, left: Vec<proto::convert::Batch>) {
    if !left.is_empty() {
        info!(
            n_batches = left.len(),
            "sending what an earlier process left in the spool"
        );
    }
    let mut waiting = Vec::new();
    for batch in left {
        waiting.push(uploads.send_again(batch).await);
    }
    for acknowledged in waiting {
        // An error is the end of the uploads: what was not sent stays where it is.
        let _ = acknowledged.await;
    }
}

struct Driver {
    tools: Tools,
    directive: watch::Sender<Directive>,
    roster: Arc<Roster>,
    /// One permit a job that may be held.
    slots: Arc<Semaphore>,
    /// One permit: taken by a job until its last shard has begun.
    room: Arc<Semaphore>,
    holders: JoinSet<()>,
    /// Sends what an earlier process left in the spool.
    left: JoinHandle<()>,
    beats: Beats,
    n_taken: u32,
    incarnation: Uuid,
    backoff: Backoff,
    shutdown: Shutdown,
}

impl Shutdown {
    /// Waits until any is cancelled.
    pub async fn told(&self) {
        tokio::select! {
            () = self.finish.cancelled() => {}
            () = self.told_to_release() => {}
        }
    }

    /// Waits until jobs are not to be finished any more.
    pub async fn told_to_release(&self) {
        tokio::select! {
            () = self.drain.cancelled() => {}
            () = self.stop.cancelled() => {}
        }
    }
}

impl Driver {
    async fn work(&mut self, drain_grace: Duration) -> Departure {
        let jitter = Stream::new("beat", self.incarnation.as_u64_pair().1, 0);
        let beating = heartbeat::start(
            self.beats,
            Arc::clone(&self.tools.link),
            Arc::clone(&self.roster),
            self.directive.clone(),
            jitter,
        );
        let mut directives = self.directive.subscribe();
        let departure = loop {
            let shutdown = self.shutdown.clone();
            tokio::select! {
                biased;
                () = shutdown.told() => break Departure::Told,
                departure = departure(&mut directives) => break departure,
                () = self.take_job() => {}
            }
        };
        info!(?departure, "leaving");
        self.leave(departure, drain_grace).await;
        drop(beating);
        departure
    }

    /// Waits for a free slot and for idle search threads, then for a job, and starts it. A job is not taken before its
    /// search can begin: one that waits behind another shows no work, and looks like a stall. Dropping this between
    /// grant and answer loses nothing: the goodbye gives back what this worker does not know that it holds.
    ///
    /// A worker that is drained, or in quarantine, takes none until it is told to run again: it finishes what it has, and
    /// stays within call.
    async fn take_job(&mut self) {
        let mut directives = self.directive.subscribe();
        // The sender is this worker's own.
        let _ = directives
            .wait_for(|directive| *directive == Directive::Run)
            .await;
        let never_closed = "the semaphores are never closed";
        let slot = Arc::clone(&self.slots).acquire_owned().await.expect(never_closed);
        let room = Arc::clone(&self.room).acquire_owned().await.expect(never_closed);
        while self.holders.try_join_next().is_some() {}
        let (acquired, asked_at) = self.acquire().await;
        self.directive
            .send_if_modified(|last| std::mem::replace(last, acquired.directive) != acquired.directive);
        for unreadable in acquired.unreadable {
            self.refuse(unreadable);
        }
        if acquired.leases.is_empty() {
            clock::sleep_until(asked_at + MIN_ACQUIRE_INTERVAL).await;
        }
        // One lease was asked for; more would be the coordinator's bug, and expire.
        if let Some(lease) = acquired.leases.into_iter().next() {
            self.start(lease, asked_at, slot, room);
        }
    }

    /// Asks until there is an answer, under one request id: if an answer was lost on the way, the next brings it again.
    async fn acquire(&mut self) -> (Acquired, Moment) {
        let request = RequestId::new(Uuid::new_v4());
        loop {
            let asked_at = clock::now();
            let answer = self.tools.link.call(|client, session| {
                let acquire = Acquire {
                    request,
                    session,
                    n_free_slots: 1,
                    kinds: KINDS.to_vec(),
                    wait: Duration::from_millis(MAX_ACQUIRE_WAIT_MS.into()),
                };
                async move { client.acquire(acquire).await }
            });
            match answer.await {
                Ok(acquired) => {
                    self.backoff.reset();
                    return (acquired, asked_at);
                }
                Err(error) => {
                    // Even a refusal is waited out: only the operator or another release can mend it, and a worker that
                    // leaves would drop the boards it still has to hand in.
                    let delay = self.backoff.next(error.retry_after());
                    warn!(%error, delay_ms = delay.as_millis(), "no jobs, trying again");
                    clock::sleep(delay).await;
                }
            }
        }
    }

    fn start(
        &mut self,
        lease: Lease,
        asked_at: Moment,
        slot: OwnedSemaphorePermit,
        room: OwnedSemaphorePermit,
    ) {
        let Some(held) = self.roster.add(Held::new(&lease, asked_at)) else {
            return warn!(job.id = %lease.job, "this lease is held already");
        };
        self.n_taken += 1;
        let (tools, roster) = (self.tools.clone(), Arc::clone(&self.roster));
        let backoff = Backoff::new(self.incarnation, 1 + self.n_taken);
        self.holders.spawn(async move {
            let fence = tokio::spawn({
                let held = Arc::clone(&held);
                async move { held.fence().await }
            });
            holder::hold(tools, lease, Arc::clone(&held), room, backoff).await;
            fence.abort();
            roster.remove(&held);
            drop(slot);
        });
    }

    fn refuse(&mut self, lease: UnreadableLease) {
        error!(%lease, "a job that this worker cannot read");
        let link = Arc::clone(&self.tools.link);
        self.holders.spawn(async move {
            let make = |client: Client, session| {
                let release = Release {
                    session,
                    job: lease.job,
                    token: lease.token,
                    reason: ReleaseReason::Unsupported,
                    detail: lease.reason.to_string(),
                    checkpoint: None,
                    counters: board::job::Counters::default(),
                };
                async move { client.release_job(release).await }
            };
            if let Err(error) = link.call(make).await {
                warn!(%error, "job not released: the lease will expire");
            }
        });
    }

    /// Ends the jobs, hands in what they and earlier processes found, says goodbye; all within the grace.
    async fn leave(&mut self, departure: Departure, drain_grace: Duration) {
        let shutdown = self.shutdown.clone();
        if departure == Departure::Told && shutdown.finish.is_cancelled() {
            let mut directives = self.directive.subscribe();
            let stopped =
                directives.wait_for(|directive| matches!(directive, Directive::Stop | Directive::Upgrade));
            tokio::select! {
                () = join_all(&mut self.holders) => {}
                () = shutdown.told_to_release() => {}
                _ = stopped => {}
            }
        }
        self.roster.decree(Verdict::Leave);
        let handed_in = async {
            join_all(&mut self.holders).await;
            // It was told of before, if it broke.
            let _ = (&mut self.left).await;
        };
        tokio::select! {
            () = handed_in => {}
            () = clock::sleep(drain_grace) => warn!("the drain took too long"),
            () = shutdown.stop.cancelled() => {}
        }
        if !shutdown.stop.is_cancelled() {
            let goodbye = self
                .tools
                .link
                .call(|client, session| async move { client.goodbye(session).await });
            if let Err(error) = goodbye.await {
                warn!(%error, "left without a goodbye");
            }
        }
        self.tools.abandoned.cancel();
        join_all(&mut self.holders).await;
        self.tools.uploads.settle().await;
    }
}

/// Waits until the coordinator wants this worker to leave.
async fn departure(directives: &mut watch::Receiver<Directive>) -> Departure {
    let wanted = directives
        .wait_for(|directive| matches!(directive, Directive::Stop | Directive::Upgrade))
        .await;
    match wanted.map(|directive| *directive) {
        Ok(Directive::Upgrade) => Departure::Upgrade,
        _ => Departure::Stopped,
    }
}

async fn join_all(holders: &mut JoinSet<()>) {
    while let Some(ended) = holders.join_next().await {
        if let Err(panic) = ended {
            error!(%panic, "a holder panicked");
        }
    }
}
