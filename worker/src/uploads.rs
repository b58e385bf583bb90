//! The way of found boards to the coordinator: spooled, sent, acknowledged, forgotten.
//!
//! Boards are facts: they are sent whatever became of the lease they were found under, and again for as long as nobody
//! says that they are stored. A board that this process was told is stored is known by its hash afterwards, and spelled out
//! again only for a coordinator that asks for it.

use std::collections::HashSet;
use std::sync::Arc;

use board::Par;
use board::known::KnownBoards;
use board::tally::hash_board;
use proto::convert::{Ack, Batch, StatedBoard};
use proto::ids::BatchId;
use tokio::sync::{Notify, RwLock, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};
use uuid::Uuid;

use crate::backoff::Backoff;
use crate::client::CallError;
use crate::clock;
use crate::link::Link;
use crate::progress::Reporter;
use crate::spool::{Spool, SpoolError};

/// Batches that may wait to be sent before whoever found more must wait.
const MAX_QUEUED_BATCHES: usize = 64;

/// The most boards remembered as stored: some 120 bytes each, and no more than a coordinator remembers.
const MAX_KNOWN: usize = 200_000;

/// The entrance: batches go in, and come out when they are acknowledged.
#[derive(Clone, Debug)]
pub struct Uploads {
    spool: Arc<Spool>,
    queue: mpsc::Sender<Upload>,
    room: Arc<Notify>,
    /// Read while a batch is on its way to the disk.
    writes: Arc<RwLock<()>>,
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
    /// Boards that a coordinator said are stored.
    known: KnownBoards,
}

/// The entrance to a spool, and the uploader behind it.
pub fn new(spool: Spool) -> (Uploads, Uploader) {
    let (spool, room) = (Arc::new(spool), Arc::new(Notify::new()));
    let (sender, queue) = mpsc::channel(MAX_QUEUED_BATCHES);
    let uploads = Uploads {
        spool: Arc::clone(&spool),
        queue: sender,
        room: Arc::clone(&room),
        writes: Arc::default(),
    };
    let uploader = Uploader {
        spool,
        queue,
        room,
        known: KnownBoards::new(MAX_KNOWN),
    };
    (uploads, uploader)
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
        let writing = Arc::clone(&self.writes).read_owned().await;
        // Syncing a file may take long enough to hold up every other task of the thread.
        tokio::task::spawn_blocking(move || {
            let _writing = writing;
            spool.put(&batch)
        })
        .await
        .expect("spooling does not panic")
    }

    /// Waits until what is on its way to the disk is there, whether or not whoever handed it in still waits: a worker that is
    /// told to stop leaves no batch half written.
    pub async fn settle(&self) {
        drop(self.writes.write().await);
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

    async fn send_one(&mut self, link: &Link, backoff: &mut Backoff, reporter: &Reporter, batch: Batch) {
        let mut sent = batch.clone();
        if link.welcome().takes_hashes {
            sent = self.shorten(sent);
        }
        let outcome = loop {
            match link.submit(sent.clone()).await {
                Err(error) if error.is_retryable() => {
                    let delay = backoff.next(error.retry_after());
                    warn!(%error, batch.id = %batch.id, delay_ms = delay.as_millis(), "boards not taken yet");
                    clock::sleep(delay).await;
                }
                // This coordinator does not remember what it, or another one, was told.
                Ok(ack) if ack.spell_out && !sent.known.is_empty() => sent = batch.clone(),
                Ok(ack) if is_short(&sent, &ack) => {
                    // One that knows nothing of hashes, behind the address of one that does: what it passed over is handed
                    // in as another batch.
                    reporter.acknowledged(&ack);
                    sent = passed_over(&batch, &sent);
                }
                outcome => break outcome,
            }
        };
        backoff.reset();
        let forgotten = match outcome {
            Ok(ack) => {
                note(&sent, &ack);
                self.remember(&sent, &ack);
                reporter.acknowledged(&ack);
                reporter.named_by_hash(sent.known.len());
                self.spool.remove(&batch)
            }
            Err(error) => {
                note_refusal(&sent, &error);
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

    /// The batch with known boards named by their hashes.
    fn shorten(&mut self, mut batch: Batch) -> Batch {
        let known = &mut self.known;
        batch.boards.retain(|board| {
            let is_known = par_of(board).is_some_and(|par| known.contains(par, &board.canonical));
            if is_known {
                batch.known.push(hash_of(board));
            }
            !is_known
        });
        batch
    }

    /// Remembers what stood in a batch and is stored now.
    fn remember(&mut self, sent: &Batch, ack: &Ack) {
        let rejected: HashSet<u32> = ack.rejected.iter().map(|rejection| rejection.board_idx).collect();
        for (idx, board) in (0..).zip(&sent.boards) {
            if let Some(par) = par_of(board).filter(|_| !rejected.contains(&idx)) {
                self.known.insert(par, &board.canonical);
            }
        }
    }
}

/// Whether an answer passes over boards that were named by their hashes.
fn is_short(sent: &Batch, ack: &Ack) -> bool {
    let n_answered = ack.n_inserted as usize + ack.n_duplicate as usize + ack.rejected.len();
    !sent.known.is_empty() && n_answered == sent.boards.len()
}

/// The boards of a batch that were named by their hashes, spelled out.
fn passed_over(batch: &Batch, sent: &Batch) -> Batch {
    let mut boards = batch.boards.clone();
    boards.retain(|board| sent.known.contains(&hash_of(board)));
    Batch {
        id: BatchId::new(Uuid::new_v4()),
        boards,
        known: Vec::new(),
        ..sent.clone()
    }
}

fn par_of(board: &StatedBoard) -> Option<Par> {
    u16::try_from(board.par).ok().map(Par::new)
}

fn hash_of(board: &StatedBoard) -> u128 {
    hash_board(par_of(board).unwrap_or(Par::ZERO), &board.canonical)
}

fn note_refusal(batch: &Batch, refusal: &CallError) {
    let n_boards = batch.boards.len() + batch.known.len() + batch.jams.len();
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
