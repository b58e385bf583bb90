//! Calls that wait for work, and which of them look when there may be some.
//!
//! Ten thousand may wait while one job comes free. If all of them looked, each at the cost of a grant, they would be in the
//! way of those that work. So word of work wakes those that have waited longest, a few at a time: who finds something
//! wakes two others, who finds nothing one other, and after so many looks in a row that found nothing they stop. Rounds
//! have a pause between them, however much word there is, and a round comes now and then without word, which may get lost.

use std::future::Future;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

/// Calls that a round begins with.
const N_WOKEN: u32 = 4;

/// A round ends with so many looks in a row that found nothing.
const MAX_MISSES: u32 = 16;

/// Looks under way at once, of all calls: a part of the connections to the database.
const MAX_LOOKS: usize = 8;

/// From a round to the next at least.
const PAUSE: Duration = Duration::from_millis(200);

/// A round comes after so long without word.
const ROUND_INTERVAL: Duration = Duration::from_secs(5);

/// A call that is not let look for so long beyond its wait is answered that there is nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// Calls that wait for work.
#[derive(Debug)]
pub struct Waiting {
    /// There is word that no round was begun for.
    word: Notify,
    /// Counts rounds.
    n_rounds: AtomicU64,
    /// Looks in a row that found nothing.
    n_misses: AtomicU32,
    /// Who has waited longest comes first.
    queue: Notify,
    looks: Semaphore,
    n_calls: AtomicUsize,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting {
            word: Notify::new(),
            n_rounds: AtomicU64::new(0),
            n_misses: AtomicU32::new(0),
            queue: Notify::new(),
            looks: Semaphore::new(MAX_LOOKS),
            n_calls: AtomicUsize::new(0),
        }
    }
}

impl Waiting {
    /// There may be work.
    pub fn tell(&self) {
        self.word.notify_one();
    }

    /// Holds rounds until the shutdown. Without this, calls look once.
    pub(crate) async fn hold_rounds(&self, shutdown: &CancellationToken) {
        let rounds = async {
            loop {
                tokio::select! {
                    () = self.word.notified() => {}
                    () = sleep(ROUND_INTERVAL) => {}
                }
                self.begin_round();
                sleep(PAUSE).await;
            }
        };
        tokio::select! {
            () = rounds => {}
            () = shutdown.cancelled() => {}
        }
    }

    fn begin_round(&self) {
        self.n_rounds.fetch_add(1, Ordering::SeqCst);
        self.n_misses.store(0, Ordering::SeqCst);
        for _ in 0..N_WOKEN {
            self.queue.notify_one();
        }
    }

    /// Calls that look or wait just now.
    pub(crate) fn n_calls(&self) -> usize {
        self.n_calls.load(Ordering::Relaxed)
    }

    /// Looks, and again whenever it is this call's turn, until it finds something or the wait is over (`None`).
    ///
    /// # Errors
    /// What looking fails with.
    pub(crate) async fn look<T, E, F>(
        &self,
        wait: Duration,
        shutdown: &CancellationToken,
        look: impl Fn() -> F,
    ) -> Result<Option<T>, E>
    where
        F: Future<Output = Result<Option<T>, E>>,
    {
        let give_up_at = Instant::now() + wait;
        let _counted = Counted::new(&self.n_calls);
        let mut turn = None;
        loop {
            let Ok(permit) = timeout_at(give_up_at + PATIENCE, self.looks.acquire()).await else {
                return Ok(None);
            };
            // Before the look: work that appears meanwhile is not slept through.
            let round = self.n_rounds.load(Ordering::SeqCst);
            let found = look().await?;
            drop(permit);
            if let Some(turn) = turn.take() {
                Turn::end(turn, found.is_some());
            }
            if found.is_some() {
                return Ok(found);
            }
            if give_up_at <= Instant::now() {
                return Ok(None);
            }
            tokio::select! {
                next = self.turn(round) => turn = Some(next),
                () = tokio::time::sleep_until(give_up_at) => return Ok(None),
                () = shutdown.cancelled() => return Ok(None),
            }
        }
    }

    /// Waits for a round later than the one that this call looked in, and for its turn in it.
    async fn turn(&self, round: u64) -> Turn<'_> {
        while self.n_rounds.load(Ordering::SeqCst) == round {
            // Woken in the round that it has looked in, it was the last in the queue that had not: nobody else is woken.
            self.queue.notified().await;
        }
        Turn {
            waiting: self,
            n_next: 1,
        }
    }
}

/// A call, for as long as it goes on.
struct Counted<'a>(&'a AtomicUsize);

impl Counted<'_> {
    fn new(n_calls: &AtomicUsize) -> Counted<'_> {
        n_calls.fetch_add(1, Ordering::Relaxed);
        Counted(n_calls)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call that was woken. Whatever becomes of it (its client may go away), the next one is woken.
struct Turn<'a> {
    waiting: &'a Waiting,
    n_next: u32,
}

impl Turn<'_> {
    fn end(mut self, has_found: bool) {
        let n_misses = &self.waiting.n_misses;
        if has_found {
            n_misses.store(0, Ordering::SeqCst);
            self.n_next = 2;
        } else if n_misses.fetch_add(1, Ordering::SeqCst) + 1 >= MAX_MISSES {
            self.n_next = 0;
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        for _ in 0..self.n_next {
            self.waiting.queue.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use tokio::task::{JoinSet, yield_now};

    use super::*;

    const WAIT: Duration = Duration::from_secs(20);

    /// So many calls that wait for one of the `jobs` each; `n_looks` counts.
    struct Hall {
        waiting: Arc<Waiting>,
        n_jobs: Arc<AtomicU32>,
        n_looks: Arc<AtomicU32>,
        calls: JoinSet<bool>,
        shutdown: CancellationToken,
    }

    impl Hall {
        async fn of(n_calls: usize) -> Hall {
            let mut hall = Hall {
                waiting: Arc::default(),
                n_jobs: Arc::default(),
                n_looks: Arc::default(),
                calls: JoinSet::new(),
                shutdown: CancellationToken::new(),
            };
            for _ in 0..n_calls {
                let (waiting, jobs) = (Arc::clone(&hall.waiting), Arc::clone(&hall.n_jobs));
                let (looks, shutdown) = (Arc::clone(&hall.n_looks), hall.shutdown.clone());
                hall.calls.spawn(async move {
                    let look = || {
                        let (jobs, looks) = (Arc::clone(&jobs), Arc::clone(&looks));
                        async move {
                            looks.fetch_add(1, Ordering::SeqCst);
                            yield_now().await;
                            let take = |n: u32| n.checked_sub(1);
                            let taken = jobs.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take);
                            Ok::<_, Infallible>(taken.ok())
                        }
                    };
                    waiting.look(WAIT, &shutdown, look).await.unwrap().is_some()
                });
            }
            hall.settle().await;
            hall.n_looks.store(0, Ordering::SeqCst);
            hall
        }

        /// Until nothing moves but time.
        async fn settle(&self) {
            // On a clock that stands still, a sleep ends when every other task waits for something.
            sleep(Duration::from_millis(1)).await;
        }

        fn n_looks(&self) -> u32 {
            self.n_looks.load(Ordering::SeqCst)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn word_of_nothing_costs_a_few_looks_however_many_wait() {
        let hall = Hall::of(1_000).await;
        hall.waiting.begin_round();
        hall.settle().await;
        let n_looks = hall.n_looks();
        assert!((MAX_MISSES..MAX_MISSES + N_WOKEN).contains(&n_looks), "{n_looks}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_word_of_much_work_reaches_all_of_them() {
        let mut hall = Hall::of(1_000).await;
        hall.n_jobs.store(1_000, Ordering::SeqCst);
        hall.waiting.begin_round();
        hall.settle().await;
        assert_eq!(hall.n_looks(), 1_000);
        while let Some(has_found) = hall.calls.join_next().await {
            assert!(has_found.unwrap());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_alone_looks_once_a_round() {
        let hall = Hall::of(1).await;
        for n_rounds in 1..4 {
            hall.waiting.begin_round();
            hall.settle().await;
            assert_eq!(hall.n_looks(), n_rounds);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn rounds_come_by_word_and_by_themselves_and_never_close_to_each_other() {
        let hall = Hall::of(1).await;
        let (waiting, shutdown) = (Arc::clone(&hall.waiting), hall.shutdown.clone());
        let holding = tokio::spawn(async move { waiting.hold_rounds(&shutdown).await });
        for _ in 0..100 {
            hall.waiting.tell();
            hall.settle().await;
        }
        assert_eq!(hall.n_looks(), 1, "a hundred words in a tenth of a second");
        sleep(PAUSE).await;
        assert_eq!(hall.n_looks(), 2, "the words that came in the pause");
        sleep(PAUSE + ROUND_INTERVAL).await;
        assert_eq!(hall.n_looks(), 3, "no word");
        hall.shutdown.cancel();
        holding.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_goes_away_over_its_turn_holds_nobody_up() {
        let waiting = Waiting::default();
        let (told, shutdown) = (AtomicU32::new(0), CancellationToken::new());
        let stuck = || {
            waiting.look(WAIT, &shutdown, || async {
                if waiting.n_rounds.load(Ordering::SeqCst) > 0 {
                    std::future::pending::<()>().await;
                }
                Ok::<Option<()>, Infallible>(None)
            })
        };
        let last = waiting.look(WAIT, &shutdown, || async {
            told.fetch_add(1, Ordering::SeqCst);
            Ok::<Option<()>, Infallible>(None)
        });
        let mut gone: Vec<_> = (0..N_WOKEN).map(|_| Box::pin(stuck())).collect();
        let mut last = Box::pin(last);
        let step = Duration::from_millis(1);
        for call in &mut gone {
            assert!(tokio::time::timeout(step, call).await.is_err());
        }
        assert!(tokio::time::timeout(step, &mut last).await.is_err());
        waiting.begin_round();
        for call in &mut gone {
            assert!(tokio::time::timeout(step, call).await.is_err());
        }
        drop(gone);
        assert!(tokio::time::timeout(step, &mut last).await.is_err());
        assert_eq!(told.load(Ordering::SeqCst), 2);
    }
}
