//! The way of found boards to the coordinator: spooled, sent, acknowledged, forgotten.
//!
//! Boards are facts: they are sent whatever became of the lease they were found under, and again for as long as nobody
//! says that they are stored.

use std::sync::Arc;

use proto::convert::{Ack, Batch};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use crate::backoff::Backoff;
use crate::client::CallError;
use crate::clock;
use crate::link::Link;
use crate::progress::Reporter;
use crate::spool::{Spool, SpoolError};

/// Batches that may wait to be sent before whoever found more must wait.
const MAX_QUEUED_BATCHES: usize = 64;

/// The entrance: batches go in, and come out when they are acknowledged.
#[derive(Clone, Debug)]
pub struct Uploads {
    spool: Arc<Spool>,
    queue: mpsc::Sender<Upload>,
    room: Arc<Notify>,
}

/// Resolves when a batch is acknowledged or refused for good; to an error when the uploads end before that.
pub type Acknowledged = oneshot::Receiver<()>;

#[derive(Debug)]
struct Upload {
    batch: Batch,
    done: oneshot::Sender<()>,
}

/// The other end: sends what stands in the queue.
#[derive(Debug)]
pub struct Uploader {
    spool: Arc<Spool>,
    queue: mpsc::Receiver<Upload>,
    room: Arc<Notify>,
}

/// The entrance to a spool, and the uploader behind it.
pub fn new(spool: Spool) -> (Uploads, Uploader) {
    let (spool, room) = (Arc::new(spool), Arc::new(Notify::new()));
    let (sender, queue) = mpsc::channel(MAX_QUEUED_BATCHES);
    let uploads = Uploads {
        spool: Arc::clone(&spool),
        queue: sender,
        room: Arc::clone(&room),
    };
    (uploads, Uploader { spool, queue, room })
}

impl Uploads {
    /// Spools a batch and puts it in the queue. Waits while the spool is full; that is what holds the search back while
    /// the coordinator is away.
    pub async fn hand_in(&self, batch: Batch) -> Acknowledged {
        loop {
            let room = self.room.notified();
            match self.spool_one(batch.clone()).await {
                Ok(()) => break,
                Err(error) if error.is_full() => {
                    warn!(%error, "waiting for the coordinator to take boards");
                    room.await;
                }
                Err(error) => {
                    // Sending may still succeed, and then nothing is lost.
                    error!(%error, "boards are not on disk until they are sent");
                    break;
                }
            }
        }
        self.send_again(batch).await
    }

    /// Puts a batch in the queue that stands in the spool already.
    pub async fn send_again(&self, batch: Batch) -> Acknowledged {
        let (done, acknowledged) = oneshot::channel();
        // A closed queue drops `done`, which is how the receiver hears of it.
        let _ = self.queue.send(Upload { batch, done }).await;
        acknowledged
    }

    async fn spool_one(&self, batch: Batch) -> Result<(), SpoolError> {
        let spool = Arc::clone(&self.spool);
        // Syncing a file may take long enough to hold up every other task of the thread.
        tokio::task::spawn_blocking(move || spool.put(&batch))
            .await
            .expect("spooling does not panic")
    }
}

impl Uploader {
    /// Sends batches in order until the queue is closed and empty, or `abandoned`: what is unsent then stays in the
    /// spool.
    pub async fn run(
        mut self,
        link: Arc<Link>,
        mut backoff: Backoff,
        reporter: Reporter,
        abandoned: CancellationToken,
    ) {
        loop {
            let upload = tokio::select! {
                upload = self.queue.recv() => upload,
                () = abandoned.cancelled() => return,
            };
            let Some(Upload { batch, done }) = upload else {
                return;
            };
            tokio::select! {
                () = self.send_one(&link, &mut backoff, &reporter, batch) => {}
                () = abandoned.cancelled() => return,
            }
            // Nobody may be waiting any more, and need not be.
            let _ = done.send(());
        }
    }

    async fn send_one(&self, link: &Link, backoff: &mut Backoff, reporter: &Reporter, batch: Batch) {
        let outcome = loop {
            match link.submit(batch.clone()).await {
                Err(error) if error.is_retryable() => {
                    let delay = backoff.next(error.retry_after());
                    warn!(%error, batch.id = %batch.id, delay_ms = delay.as_millis(), "boards not taken yet");
                    clock::sleep(delay).await;
                }
                outcome => break outcome,
            }
        };
        backoff.reset();
        let forgotten = match outcome {
            Ok(ack) => {
                note(&batch, &ack);
                reporter.acknowledged(&ack);
                self.spool.remove(&batch)
            }
            Err(error) => {
                note_refusal(&batch, &error);
                reporter.refused(batch.boards.len() + batch.jams.len());
                self.spool.refuse(&batch)
            }
        };
        if let Err(error) = forgotten {
            // It will be sent again at the next start, and answered as before.
            warn!(%error, batch.id = %batch.id, "an acknowledged batch stays in the spool");
        }
        self.room.notify_waiters();
    }
}

fn note_refusal(batch: &Batch, refusal: &CallError) {
    let n_boards = batch.boards.len() + batch.jams.len();
    error!(%refusal, batch.id = %batch.id, n_boards, "a batch was refused for good and set aside");
}

fn note(batch: &Batch, ack: &Ack) {
    debug!(batch.id = %batch.id, inserted = ack.n_inserted, duplicate = ack.n_duplicate, "boards stored");
    for rejection in &ack.rejected {
        let idx = rejection.board_idx as usize;
        let (board, jam) = (batch.boards.get(idx), batch.jams.get(idx));
        error!(code = %rejection.code, detail = rejection.detail, ?board, ?jam, "the coordinator rejected a find");
    }
}
