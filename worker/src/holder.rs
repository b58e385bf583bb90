//! The holder of one job: starts its search, hands in what its shards find, and ends it by a claim or a release.

use std::sync::Arc;

use board::census::RangeOutcome;
use board::cluster::Found;
use board::difficulty::job::Measured;
use board::job::{Counters, JobDigest, JobSpec, ShardEnd, ShardOutcome, Tally};
use proto::convert::{
    Batch, Completion, Lease, LeaseOutcome, Release, ReleaseReason, StatedBoard, StatedJam, Work,
    jam_counters,
};
use proto::ids::BatchId;
use siren::job::{JamJob, JamTally};
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use crate::backoff::Backoff;
use crate::client::{CallError, Client};
use crate::clock;
use crate::leases::{Held, Verdict};
use crate::link::Link;
use crate::progress::Reporter;
use crate::run::SearchPool;
use crate::run::seeds::{self, SeedNews};
use crate::run::shards::{self, ShardNews};
use crate::uploads::{Acknowledged, Uploads};

/// What every holder works with.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The search threads.
    pub pool: Arc<SearchPool>,
    /// The coordinator.
    pub link: Arc<Link>,
    /// The way of boards.
    pub uploads: Uploads,
    /// Where totals go.
    pub reporter: Reporter,
    /// Cancelled when nothing more is to be tried.
    pub abandoned: CancellationToken,
}

/// Runs a leased job to its end, whatever that is. `room` is given back as soon as the last shard has begun.
pub async fn hold(tools: Tools, lease: Lease, held: Arc<Held>, room: OwnedSemaphorePermit, backoff: Backoff) {
    let kind = lease.spec.kind();
    info!(job.id = %lease.job, hunt.id = %lease.hunt, lease.token = %lease.token, kind, "job begins");
    let abandoned = tools.abandoned.clone();
    let mut holder = Holder {
        tools,
        held,
        measures: matches!(&lease.spec, Work::Boards(JobSpec::Difficulty(_))),
        sum: match &lease.spec {
            Work::Boards(_) => Sum::Boards(Box::default()),
            Work::Jams(_) => Sum::Jams(JamTally::default()),
        },
        pending: Vec::new(),
        failure: None,
        backoff,
    };
    let to_its_end = async {
        let is_complete = match lease.spec {
            Work::Boards(spec) => holder.search(Arc::new(spec), room).await,
            Work::Jams(job) => holder.try_seeds(Arc::new(job), room).await,
        };
        holder.end(is_complete).await;
    };
    // The search too may wait without end: for room in the spool, while the coordinator is away.
    tokio::select! {
        () = to_its_end => {}
        () = abandoned.cancelled() => warn!(job.id = %lease.job, "left without a word: the lease will expire"),
    }
}

struct Holder {
    tools: Tools,
    held: Arc<Held>,
    /// Whether the job measures boards.
    measures: bool,
    sum: Sum,
    /// Batches handed in and not acknowledged.
    pending: Vec<Acknowledged>,
    failure: Option<String>,
    backoff: Backoff,
}

/// What came of the parts of the job that have ended.
enum Sum {
    Boards(Box<Tally>),
    Jams(JamTally),
}

impl Sum {
    fn counters(&self) -> Counters {
        match self {
            Sum::Boards(tally) => tally.counters(),
            Sum::Jams(tally) => jam_counters(tally.attempts(), tally.n_found()),
        }
    }

    fn digest(&self) -> JobDigest {
        match self {
            Sum::Boards(tally) => tally.digest(),
            Sum::Jams(tally) => JobDigest::from_bytes(tally.digest()),
        }
    }

    fn census(&self) -> Option<&RangeOutcome> {
        match self {
            Sum::Boards(tally) => tally.census(),
            Sum::Jams(_) => None,
        }
    }

    fn measured(&self) -> &[Measured] {
        match self {
            Sum::Boards(tally) => tally.measured(),
            Sum::Jams(_) => &[],
        }
    }
}

impl Holder {
    /// Runs the shards of a job over boards, handing in what each finds. True: all came to their end.
    async fn search(&mut self, spec: Arc<JobSpec>, room: OwnedSemaphorePermit) -> bool {
        let mut n_complete = 0;
        let mut news = shards::start(&self.tools.pool, &spec, self.held.gauge(), room);
        while let Some(news) = news.recv().await {
            match news {
                ShardNews::Ended(ShardEnd::Complete(outcome)) => {
                    n_complete += 1;
                    self.report(&outcome);
                    let Sum::Boards(tally) = &mut self.sum else {
                        unreachable!("the sum is of the job's kind")
                    };
                    let fresh = tally.absorb(outcome);
                    self.hand_in(fresh).await;
                }
                // Facts all the same; only the claim is not made.
                ShardNews::Ended(ShardEnd::Stopped(outcome)) => {
                    self.report(&outcome);
                    self.hand_in(outcome.found).await;
                }
                ShardNews::Failed(message) | ShardNews::Ended(ShardEnd::Failed(message)) => {
                    self.fail(message);
                }
            }
        }
        n_complete == spec.n_shards()
    }

    /// Tries the seeds of a job over jams, and hands in together what they gave: a level file a seed, at most 64. True: all
    /// came to their end.
    async fn try_seeds(&mut self, job: Arc<JamJob>, room: OwnedSemaphorePermit) -> bool {
        let mut n_complete = 0;
        let mut found = Vec::new();
        let mut news = seeds::start(&self.tools.pool, &job, self.held.gauge(), room);
        while let Some(news) = news.recv().await {
            match news {
                SeedNews::Complete(outcome) => {
                    n_complete += 1;
                    let Sum::Jams(tally) = &mut self.sum else {
                        unreachable!("the sum is of the job's kind")
                    };
                    found.extend(tally.absorb(&outcome));
                    let n_found = u64::from(outcome.candidate.is_some());
                    let counters = jam_counters(outcome.tally, n_found);
                    self.tools.reporter.shard_ended(&counters, None);
                }
                SeedNews::Stopped => {}
                SeedNews::Failed(message) => self.fail(message),
            }
        }
        if !found.is_empty() {
            self.hand_in_one(Vec::new(), found).await;
        }
        n_complete == job.seeds().len()
    }

    fn fail(&mut self, message: String) {
        error!(job.id = %self.held.job(), message, "a part of the job failed");
        self.failure = Some(message);
        self.held.decree(Verdict::Fail);
    }

    fn report(&self, outcome: &ShardOutcome) {
        self.tools
            .reporter
            .shard_ended(&outcome.counters, outcome.found.last());
    }

    async fn hand_in(&mut self, found: Vec<Found>) {
        let welcome = self.tools.link.welcome();
        for boards in found.chunks(welcome.max_boards_per_batch.max(1)) {
            self.hand_in_one(boards.iter().map(StatedBoard::from).collect(), Vec::new())
                .await;
        }
    }

    async fn hand_in_one(&mut self, boards: Vec<StatedBoard>, jams: Vec<StatedJam>) {
        let batch = Batch {
            session: self.tools.link.welcome().session,
            id: BatchId::new(Uuid::new_v4()),
            job: self.held.job(),
            token: self.held.token(),
            boards,
            jams,
            known: Vec::new(),
        };
        let acknowledged = self.tools.uploads.hand_in(batch).await;
        self.pending.push(acknowledged);
    }

    async fn end(&mut self, is_complete: bool) {
        for acknowledged in self.pending.drain(..) {
            if acknowledged.await.is_err() {
                // The uploads ended first; boards not sent are in the spool, and a claim would be a lie.
                return;
            }
        }
        match self.held.verdict() {
            Verdict::Lost => self.tools.reporter.lost(),
            // A job that was carried out is claimed even if the worker is to leave: the claim costs one call.
            Verdict::GoOn | Verdict::Leave | Verdict::Pause if is_complete => self.complete().await,
            Verdict::GoOn => unreachable!("a search that nobody stopped runs to its end"),
            Verdict::Leave => self.release(ReleaseReason::Drain).await,
            Verdict::Pause => self.release(ReleaseReason::Paused).await,
            Verdict::Cancel => self.release(ReleaseReason::Cancelled).await,
            Verdict::Fail => self.release(ReleaseReason::Error).await,
        }
    }

    async fn complete(&mut self) {
        let (job, token) = (self.held.job(), self.held.token());
        let (counters, digest) = (self.sum.counters(), self.sum.digest());
        let census = self.sum.census().cloned();
        let measures = self.measures.then(|| self.sum.measured().to_vec());
        let cpu = self.held.gauge().cpu();
        let make = |client: Client, session| {
            let claim = Completion {
                session,
                job,
                token,
                counters,
                digest,
                census: census.clone(),
                measures: measures.clone(),
                cpu,
            };
            async move { client.complete_job(claim).await }
        };
        let outcome = loop {
            match self.tools.link.call(make).await {
                Err(error) if error.is_retryable() && self.held.verdict() != Verdict::Lost => {
                    self.wait(&error).await;
                }
                outcome => break outcome,
            }
        };
        match outcome {
            Ok(LeaseOutcome::Accepted) => {
                info!(job.id = %job, found = counters.found, %digest, "job completed");
                self.tools.reporter.completed();
            }
            Ok(LeaseOutcome::Lost) => {
                warn!(job.id = %job, "job was done, but the lease was another's");
                self.tools.reporter.lost();
            }
            Err(error) => {
                error!(job.id = %job, %error, "the claim was not taken");
                self.tools.reporter.lost();
            }
        }
    }

    async fn release(&mut self, reason: ReleaseReason) {
        let (job, token) = (self.held.job(), self.held.token());
        let counters = self.sum.counters();
        let detail = self.failure.take().unwrap_or_default();
        let make = |client: Client, session| {
            let release = Release {
                session,
                job,
                token,
                reason,
                detail: detail.clone(),
                checkpoint: None,
                counters,
            };
            async move { client.release_job(release).await }
        };
        loop {
            match self.tools.link.call(make).await {
                Err(error) if error.is_retryable() && self.held.verdict() != Verdict::Lost => {
                    self.wait(&error).await;
                }
                Ok(_) => break info!(job.id = %job, %reason, "job released"),
                Err(error) => break warn!(job.id = %job, %error, "job not released: the lease will expire"),
            }
        }
        self.tools.reporter.released();
    }

    async fn wait(&mut self, error: &CallError) {
        let delay = self.backoff.next(error.retry_after());
        warn!(job.id = %self.held.job(), %error, delay_ms = delay.as_millis(), "trying again");
        clock::sleep(delay).await;
    }
}
