//! The beat: tells the coordinator at intervals that this worker lives and how far its jobs are, and hears what to do.
//!
//! It runs on a thread, a runtime and a connection of its own: a beat is never late because a cluster is large, a disk is
//! slow or a batch fills the connection. A beat that fails is not repeated; the next one says the same and more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use board::stream::Stream;
use proto::convert::{Beat, Directive, LeaseAction, LeaseBeat};
use proto::ids::{FencingToken, JobId};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{debug, info, warn};

use crate::client::{CallError, Client, Orders};
use crate::clock::{self, Moment};
use crate::config::Beats;
use crate::leases::{Held, Roster, Verdict};
use crate::link::Link;

/// Beats come this many percent early or late, so that workers started together do not beat together.
const JITTER_PERCENT: u32 = 20;

/// Starts to beat, for as long as the returned guard lives.
pub fn start(
    beats: Beats,
    link: Arc<Link>,
    roster: Arc<Roster>,
    directive: watch::Sender<Directive>,
    jitter: Stream,
) -> DropGuard {
    let ended = CancellationToken::new();
    let until = ended.clone();
    let ended = ended.drop_guard();
    if beats == Beats::OwnThread {
        let (their_link, their_roster) = (Arc::clone(&link), Arc::clone(&roster));
        let (their_directive, their_jitter, until) = (directive.clone(), jitter.clone(), until.clone());
        let beating = thread::Builder::new().name("beat".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(async {
                    let client = their_link.another_client();
                    tokio::select! {
                        () = beat(client, their_link, their_roster, their_directive, their_jitter) => {}
                        () = until.cancelled() => {}
                    }
                }),
                Err(error) => warn!(%error, "no runtime for the beats: the leases will be lost"),
            }
        });
        match beating {
            Ok(_detached) => return ended,
            Err(error) => warn!(%error, "no thread for the beats: they share the runtime"),
        }
    }
    tokio::spawn(async move {
        let client = link.another_client();
        tokio::select! {
            () = beat(client, link, roster, directive, jitter) => {}
            () = until.cancelled() => {}
        }
    });
    ended
}

/// Beats until it is dropped.
pub async fn beat(
    client: Client,
    link: Arc<Link>,
    roster: Arc<Roster>,
    directive: watch::Sender<Directive>,
    mut jitter: Stream,
) {
    let mut pulse = Pulse {
        seq: 0,
        last: BTreeMap::new(),
    };
    loop {
        clock::sleep(around(link.beat_interval(), &mut jitter)).await;
        let asked_at = clock::now();
        match pulse.beat_once(&client, &link, &roster, asked_at).await {
            Ok(orders) => obey(&orders, &roster, asked_at, &directive),
            // The fence watches the leases meanwhile: a coordinator that stays away costs them by itself.
            Err(error) => warn!(%error, "beat failed"),
        }
    }
}

/// What must be remembered from beat to beat.
struct Pulse {
    seq: u64,
    /// Positions explored and the moment, at the last beat of each lease.
    last: BTreeMap<(JobId, FencingToken), (u64, Moment)>,
}

impl Pulse {
    async fn beat_once(
        &mut self,
        client: &Client,
        link: &Link,
        roster: &Roster,
        now: Moment,
    ) -> Result<Orders, CallError> {
        self.seq += 1;
        let all = roster.all();
        let leases: Vec<LeaseBeat> = all.iter().map(|held| self.describe(held, now)).collect();
        self.last
            .retain(|&(job, token), _| roster.get(job, token).is_some());
        let seq = self.seq;
        link.call_over(client, |client, session| {
            let beat = Beat {
                session,
                seq,
                leases: leases.clone(),
            };
            async move { client.heartbeat(beat).await }
        })
        .await
    }

    fn describe(&mut self, held: &Held, now: Moment) -> LeaseBeat {
        let gauge = held.gauge();
        let positions = gauge.positions();
        let before = self.last.insert((held.job(), held.token()), (positions, now));
        LeaseBeat {
            job: held.job(),
            token: held.token(),
            work_done: gauge.iterations(),
            rate: before.map_or(0.0, |(then, moment)| per_second(positions - then, now - moment)),
            best_par: gauge.best_par(),
            checkpoint: None,
        }
    }
}

fn obey(orders: &Orders, roster: &Roster, asked_at: Moment, directive: &watch::Sender<Directive>) {
    for order in &orders.leases {
        // An answer about a lease that ended meanwhile is no news.
        let Some(held) = roster.get(order.job, order.token) else {
            continue;
        };
        match order.action {
            LeaseAction::Continue => held.renew(asked_at, order.expires_in),
            // Shards are short and a released job loses at most them, so there is nothing to write down.
            LeaseAction::Checkpoint => {
                debug!(job.id = %order.job, "asked for a checkpoint, which jobs of shards do not have");
                held.renew(asked_at, order.expires_in);
            }
            LeaseAction::Pause => held.decree(Verdict::Pause),
            LeaseAction::Cancel => held.decree(Verdict::Cancel),
            LeaseAction::Lost => held.decree(Verdict::Lost),
        }
        if order.action != LeaseAction::Continue {
            info!(job.id = %order.job, lease.token = %order.token, action = %order.action, "the coordinator decided");
        }
    }
    directive.send_if_modified(|last| std::mem::replace(last, orders.directive) != orders.directive);
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate for people and for the sizing of jobs, good to a percent"
)]
fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() {
        0.0
    } else {
        count as f64 / time.as_secs_f64()
    }
}

fn around(interval: Duration, jitter: &mut Stream) -> Duration {
    interval * (100 - JITTER_PERCENT + jitter.below(2 * JITTER_PERCENT + 1)) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beats_stay_within_a_fifth_of_their_interval() {
        let mut jitter = Stream::new("beat", 1, 0);
        for _ in 0..1000 {
            let interval = around(Duration::from_secs(15), &mut jitter);
            assert!((Duration::from_secs(12)..=Duration::from_secs(18)).contains(&interval));
        }
    }
}
