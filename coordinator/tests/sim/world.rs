//! The farm under simulation: coordinators on one real database, workers, and all that is under way between them.
//!
//! Nothing here sleeps, draws or looks at a clock: what happens is the list of operations, time is what an operation
//! adds to the database's.

use std::sync::Arc;

use board::StateLimit;
use board::cluster::Explorer;
use coordinator::config::Config;
use coordinator::grpc::farm::FarmService;
use coordinator::jobs::waiting::Waiting;
use coordinator::reaper::reap;
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, WorkerAction};
use coordinator::{Shared, Store};
use futures_util::future::join_all;
use proto::convert::{Budget, Directive, NewHunt};
use proto::ids::{BatchId, HuntId, JobId};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::backup::{Numbers, back_up, put_back};
use crate::book::{Book, Broken, ensure};
use crate::call::{Answer, Call, Letter, Reply};
use crate::ground::{Ground, LEASE, config};
use crate::lies::{self, Overheard};
use crate::ops::{Act, Fate, N_COORDINATORS, N_HONEST, N_WORKERS, Op, TOKENS};
use crate::torn::torn;
use crate::wishes::wanted;
use crate::worker::{Worker, name};

/// Rounds after which a farm without faults must have ended everything.
const MAX_ROUNDS: usize = 400;

struct Site {
    service: FarmService,
    config: Config,
    is_up: bool,
}

/// One simulation.
pub(crate) struct World<'a> {
    ground: &'a mut Ground,
    sites: Vec<Site>,
    workers: Vec<Worker>,
    requests: Vec<Letter>,
    answers: Vec<Reply>,
    wishes: Vec<(HuntId, NewHunt)>,
    has_tokens: bool,
    pub(crate) book: Book,
    /// What was promised when the backup was made, how many hunts were asked for by then, and where numbers were.
    backup: Option<(Book, usize, Numbers)>,
    n_calls: usize,
    /// The present operation reached the database.
    is_touched: bool,
    /// Time passed while no coordinator was up, and none has looked for lost leases since.
    is_unwatched: bool,
}

impl<'a> World<'a> {
    pub(crate) async fn new(ground: &'a mut Ground) -> World<'a> {
        ground.clear().await;
        let site = |_| {
            let shared = Shared::new(
                config(),
                // Of its own: a coordinator may remember what it saw, and another one's memory is not its.
                Store::from_pool(ground.pool.clone()),
                ground.prover.clone(),
                CancellationToken::new(),
            );
            Site {
                service: FarmService::new(Arc::new(shared)),
                config: config(),
                is_up: true,
            }
        };
        World {
            sites: (0..N_COORDINATORS).map(site).collect(),
            workers: (0..N_WORKERS).map(|idx| Worker::new(idx, 1)).collect(),
            requests: Vec::new(),
            answers: Vec::new(),
            wishes: Vec::new(),
            has_tokens: false,
            book: Book::default(),
            backup: None,
            n_calls: 0,
            is_touched: false,
            is_unwatched: false,
            ground,
        }
    }

    /// Does one operation and looks whether everything still holds.
    pub(crate) async fn step(&mut self, op: Op) -> Result<(), Broken> {
        self.is_touched = false;
        self.apply(op).await?;
        if self.is_touched {
            self.look().await
        } else {
            Ok(())
        }
    }

    async fn look(&mut self) -> Result<(), Broken> {
        let Ground { pool, truth, .. } = &mut *self.ground;
        self.book.check(pool, truth).await
    }

    async fn apply(&mut self, op: Op) -> Result<(), Broken> {
        match op {
            Op::Do(who, act, fate) => {
                if let Some(letter) = self.workers[usize::from(who) % N_WORKERS].act(act) {
                    return self.send(letter, fate).await;
                }
            }
            Op::Lie(_, lie, fate) => {
                // Leases of others: one is its own though the answer that granted it was lost.
                let liar = self.workers[N_WORKERS - 1].process.as_ref();
                let own = liar.and_then(|process| process.session.as_ref());
                let granted = self.book.granted.iter();
                let leases: Vec<_> = granted
                    .filter(|&(_, holder)| Some(holder) != own)
                    .map(|(&lease, _)| lease)
                    .collect();
                let batches: Vec<_> = self.book.acks.keys().cloned().collect();
                let overheard = Overheard {
                    leases: &leases,
                    batches: &batches,
                };
                if let Some(letter) = lies::letter(&mut self.workers[N_WORKERS - 1], lie, &overheard) {
                    return self.send(letter, fate).await;
                }
            }
            Op::Request(n) => {
                if !self.requests.is_empty() {
                    let letter = self.requests.remove(usize::from(n) % self.requests.len());
                    return self.deliver(letter, Fate::Well).await;
                }
            }
            Op::Answer(n) => {
                if !self.answers.is_empty() {
                    let reply = self.answers.remove(usize::from(n) % self.answers.len());
                    self.hear(reply);
                }
            }
            Op::Tokens => self.has_tokens = true,
            Op::Kill(who) => self.workers[usize::from(who) % N_WORKERS].kill(),
            Op::Cut(who) => self.workers[usize::from(who) % N_WORKERS].is_cut = true,
            Op::Mend(who) => self.workers[usize::from(who) % N_WORKERS].is_cut = false,
            Op::Fall(which) => {
                let which = usize::from(which) % N_COORDINATORS;
                self.sites[which].is_up = false;
                self.answers.retain(|reply| reply.coordinator != which);
            }
            Op::Rise(which) => self.sites[usize::from(which) % N_COORDINATORS].is_up = true,
            Op::Reap(which) => {
                let which = usize::from(which) % N_COORDINATORS;
                if self.sites[which].is_up {
                    self.is_touched = true;
                    let reaped = self.reap(which).await;
                    self.is_unwatched = false;
                    return reaped;
                }
            }
            Op::Backup => {
                // What is not looked at yet is looked at before it is believed again.
                self.look().await?;
                let numbers = back_up(&self.ground.pool).await;
                self.backup = Some((self.book.clone(), self.wishes.len(), numbers));
            }
            Op::Restore => {
                if let Some((book, n_wishes, numbers)) = &self.backup {
                    put_back(&self.ground.pool, numbers).await;
                    self.ground.store.begin_after_restore().await.unwrap();
                    self.book = book.clone();
                    self.book.n_unaware = N_COORDINATORS;
                    let mark: Option<i64> =
                        sqlx::query_scalar("SELECT max(token) FROM jobs WHERE state IN ('queued', 'parked')")
                            .fetch_one(&self.ground.pool)
                            .await
                            .unwrap();
                    self.book.marks.extend(mark);
                    self.wishes.truncate(*n_wishes);
                    self.is_touched = true;
                }
            }
            Op::Storm(n_waits) => {
                self.is_touched = true;
                return self.storm(usize::from(n_waits)).await;
            }
            op => {
                self.is_touched = true;
                self.by_operator(op).await;
            }
        }
        Ok(())
    }

    async fn by_operator(&mut self, op: Op) {
        let store = self.ground.store.clone();
        let hunt = |n: u8| {
            self.wishes
                .get(usize::from(n) % self.wishes.len().max(1))
                .map(|(id, _)| *id)
        };
        match op {
            Op::Hunt(wish) => {
                let wish = wanted(self.wishes.len(), wish);
                let hunt = store.create_hunt(&wish, 7).await.unwrap();
                self.wishes.push((hunt.id, wish));
            }
            Op::Extend(n) => {
                if let Some((_, wish)) = self.wishes.get(usize::from(n) % self.wishes.len().max(1)) {
                    store.create_hunt(wish, 7).await.unwrap();
                }
            }
            Op::Pause(n) => {
                if let Some(id) = hunt(n) {
                    store.pause_hunt(id).await.unwrap();
                }
            }
            Op::Resume(n) => {
                if let Some(id) = hunt(n) {
                    store.resume_hunt(id).await.unwrap();
                }
            }
            Op::Cancel(n) => {
                if let Some(id) = hunt(n) {
                    store.cancel_hunt(id).await.unwrap();
                }
            }
            Op::Boost(n, priority) => {
                if let Some(id) = hunt(n) {
                    store.set_priority(id, priority.into()).await.unwrap();
                }
            }
            Op::Requeue => self.requeue().await,
            Op::Import => self.import().await,
            Op::Drain(who) => {
                let id: Option<i64> = sqlx::query_scalar(
                    "SELECT id FROM workers WHERE name = $1 AND gone_at IS NULL ORDER BY id DESC LIMIT 1",
                )
                .bind(name(usize::from(who) % N_WORKERS))
                .fetch_optional(&self.ground.pool)
                .await
                .unwrap();
                if let Some(id) = id {
                    let action = WorkerAction::Direct(Directive::Drain);
                    store.act_on_worker(id, &action).await.unwrap();
                }
            }
            Op::Jump(seconds) => self.jump(seconds.into()).await,
            op => unreachable!("{op:?} is no operator's"),
        }
    }

    /// Breaks the database, and says what the checks make of it.
    pub(crate) async fn sabotage(&mut self, statement: &'static str) -> Result<(), Broken> {
        let done = sqlx::query(statement).execute(&self.ground.pool).await.unwrap();
        assert!(done.rows_affected() > 0, "nothing was broken by {statement}");
        self.look().await?;
        let Ground { pool, truth, .. } = &mut *self.ground;
        self.book.check_all_boards(pool, truth).await
    }

    /// Time passes: everything that is measured against the database's clock is that much older.
    async fn jump(&mut self, seconds: f64) {
        self.is_unwatched |= self.sites.iter().all(|site| !site.is_up);
        for statement in [
            "UPDATE jobs SET expires_at = expires_at - make_interval(secs => $1) WHERE state = 'leased'",
            "UPDATE jobs SET created_at = created_at - make_interval(secs => $1)",
            "UPDATE job_attempts SET started_at = started_at - make_interval(secs => $1),
                ended_at = ended_at - make_interval(secs => $1)",
            "UPDATE workers SET last_seen = last_seen - make_interval(secs => $1),
                lone_failure_at = lone_failure_at - make_interval(secs => $1)",
            "UPDATE farm_watch SET since = since - make_interval(secs => $1)",
            "UPDATE hunts SET ends_at = ends_at - make_interval(secs => $1) WHERE ends_at IS NOT NULL",
        ] {
            sqlx::query(statement)
                .bind(seconds)
                .execute(&self.ground.pool)
                .await
                .unwrap();
        }
    }

    async fn requeue(&self) {
        let parked: Vec<i64> = sqlx::query_scalar("SELECT id FROM jobs WHERE state = 'parked' ORDER BY id")
            .fetch_all(&self.ground.pool)
            .await
            .unwrap();
        for id in parked {
            self.ground.store.requeue(JobId::new(id).unwrap()).await.unwrap();
        }
    }

    async fn import(&mut self) {
        let n_imports = self.n_calls;
        let boards = [
            "4x4:oooooAAooBoooBoo",
            "4x4:ooBoAABooooooooo",
            "4x4:oooBAAoBoooooooo",
        ];
        let rows = boards.iter().filter_map(|board| {
            let board: board::Board = board.parse().unwrap();
            let found = Explorer::new().entry(&board, StateLimit::DEFAULT).unwrap()?;
            Some(BoardRow::from(found))
        });
        let mut rows: Vec<BoardRow> = rows.collect();
        rows.sort_by(|a, b| (a.found.par, &a.found.canonical).cmp(&(b.found.par, &b.found.canonical)));
        rows.dedup_by(|a, b| a.found.canonical == b.found.canonical);
        let batch = BatchToStore {
            id: BatchId::new(Uuid::from_u64_pair(7, n_imports as u64)),
            origin: BatchOrigin::Import("a file".to_owned()),
            best_par: None,
            boards: rows,
            are_new: true,
            n_known: 0,
            rejections: Vec::new(),
            n_believed: 0,
            board_sum: None,
            strike: None,
            max_strikes: 3,
        };
        self.ground.store.store_batch(&batch).await.unwrap();
    }

    async fn reap(&self, which: usize) -> Result<(), Broken> {
        // Looks go on all the time, in between the operations too, while a coordinator is up.
        let last_round = if self.is_unwatched {
            "UPDATE farm_watch SET last_round = clock_timestamp() - interval '1 hour'"
        } else {
            "UPDATE farm_watch SET last_round = clock_timestamp()"
        };
        sqlx::query(last_round).execute(&self.ground.pool).await.unwrap();
        reap(&self.ground.store, &self.sites[which].config, &Waiting::default())
            .await
            .map_err(|error| format!("reaping failed: {error}"))
    }

    async fn send(&mut self, letter: Letter, fate: Fate) -> Result<(), Broken> {
        if self.workers[letter.worker].is_cut {
            return Ok(());
        }
        match fate {
            Fate::RequestLost => Ok(()),
            Fate::RequestLate => {
                self.requests.push(letter);
                Ok(())
            }
            Fate::Twice => {
                self.requests.push(letter.clone());
                self.deliver(letter, Fate::Well).await
            }
            Fate::Well | Fate::AnswerLost | Fate::AnswerLate => self.deliver(letter, fate).await,
        }
    }

    /// A letter reaches a coordinator that is up, if there is one.
    async fn deliver(&mut self, letter: Letter, fate: Fate) -> Result<(), Broken> {
        self.n_calls += 1;
        self.is_touched = true;
        let at = self.n_calls % N_COORDINATORS;
        let Some(which) = (at..at + N_COORDINATORS)
            .map(|which| which % N_COORDINATORS)
            .find(|&which| self.sites[which].is_up)
        else {
            return Ok(());
        };
        let answer = letter
            .call
            .clone()
            .carry_out(&self.sites[which].service, self.token(letter.worker))
            .await;
        self.book.note(&letter, &answer, &mut self.ground.truth)?;
        self.check_idle(&letter, &answer).await?;
        let reply = Reply {
            coordinator: which,
            letter,
            answer,
        };
        match fate {
            Fate::AnswerLost => {}
            Fate::AnswerLate => self.answers.push(reply),
            _ => self.hear(reply),
        }
        Ok(())
    }

    fn token(&self, worker: usize) -> Option<&'static str> {
        self.has_tokens.then_some(TOKENS[worker])
    }

    fn hear(&mut self, reply: Reply) {
        let worker = &mut self.workers[reply.letter.worker];
        if !worker.is_cut {
            worker.hear(&reply.letter, reply.answer, &mut self.ground.results);
        }
    }

    /// Who asked for work and got none, got none because there is none.
    async fn check_idle(&self, letter: &Letter, answer: &Answer) -> Result<(), Broken> {
        let (Call::Acquire(wish), Answer::Acquire(granted)) = (&letter.call, answer) else {
            return Ok(());
        };
        let is_willing = letter.worker < N_HONEST && granted.directive == Directive::Run.to_wire();
        if !granted.leases.is_empty() || !is_willing || self.book.was_granted(&wish.request_id) {
            return Ok(());
        }
        // Whoever was gone by then; or it was granted something by a call that was torn off, and lost it since.
        let is_spent: bool = sqlx::query_scalar(
            "SELECT gone_at IS NOT NULL OR EXISTS (SELECT FROM job_attempts WHERE request_id::text = $2)
            FROM workers WHERE session::text = $1",
        )
        .bind(&wish.session)
        .bind(&wish.request_id)
        .fetch_one(&self.ground.pool)
        .await
        .unwrap();
        let kinds = self.workers[letter.worker].kinds();
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
        let is_left = !is_spent
            && self
                .book
                .is_work_left(
                    &self.ground.pool,
                    letter.worker,
                    self.token(letter.worker),
                    &kinds,
                )
                .await;
        ensure(!is_left, "a worker that asked got nothing, and there was work")
    }

    /// Everybody's next calls at once, and the reapers.
    async fn storm(&mut self, n_waits: usize) -> Result<(), Broken> {
        let workers = self.workers.iter_mut().filter(|worker| !worker.is_cut);
        let letters: Vec<Letter> = workers.filter_map(|worker| worker.act(Act::Next)).collect();
        let (sites, has_tokens) = (&self.sites, self.has_tokens);
        let calls = letters.iter().enumerate().map(|(idx, letter)| async move {
            let which = idx % N_COORDINATORS;
            let call = letter
                .call
                .clone()
                .carry_out(&sites[which].service, has_tokens.then_some(TOKENS[letter.worker]));
            // Every other call may be torn off: its coordinator died over it.
            if idx % 2 == 0 {
                Some(call.await)
            } else {
                torn(call, n_waits).await
            }
        });
        let this = &*self;
        let reaps = join_all((0..N_COORDINATORS).map(|which| this.reap(which)));
        let (answers, reaped) = futures_util::future::join(join_all(calls), reaps).await;
        self.is_unwatched = false;
        reaped.into_iter().collect::<Result<Vec<()>, Broken>>()?;
        self.ground.settle().await;
        for (letter, answer) in letters.into_iter().zip(answers) {
            let Some(answer) = answer else { continue };
            if let Answer::Refused(status) = &answer
                && status.code() == tonic::Code::Unavailable
            {
                // Of two transactions in each other's way the database ends one; its caller comes again.
                continue;
            }
            self.book.note(&letter, &answer, &mut self.ground.truth)?;
            self.hear(Reply {
                coordinator: 0,
                letter,
                answer,
            });
        }
        Ok(())
    }

    /// The faults cease, and honest workers must bring everything to its end.
    pub(crate) async fn finish(&mut self) -> Result<(), Broken> {
        for site in &mut self.sites {
            site.is_up = true;
        }
        for worker in &mut self.workers {
            worker.is_cut = false;
        }
        self.workers[N_WORKERS - 1].kill();
        while let Some(letter) = self.requests.pop() {
            self.deliver(letter, Fate::Well).await?;
            self.look().await?;
        }
        self.answers.clear();
        for (id, wish) in self.wishes.clone() {
            self.ground.store.resume_hunt(id).await.unwrap();
            let is_endless = wish.budget == Budget::default() && wish.census.is_none();
            if is_endless || wish.budget.until_par.is_some() {
                self.ground.store.cancel_hunt(id).await.unwrap();
            }
        }
        self.requeue().await;
        for round in 0.. {
            ensure(
                round < MAX_ROUNDS,
                "a farm without faults does not come to its end",
            )?;
            if round % 10 == 0 {
                self.look().await?;
                // Whatever nobody holds any more runs out; whoever still works beats before it is looked for.
                self.jump(LEASE.as_secs_f64() + 1.0).await;
                for who in 0..N_HONEST {
                    if let Some(beat) = self.workers[who].act(Act::Beat) {
                        self.send(beat, Fate::Well).await?;
                    }
                }
                self.reap(0).await?;
                self.is_unwatched = false;
                if self.is_over().await {
                    break;
                }
            }
            for who in 0..N_HONEST {
                if let Some(letter) = self.workers[who].act(Act::Next) {
                    self.send(letter, Fate::Well).await?;
                }
            }
        }
        self.look().await?;
        let n_left: usize = self.workers[..N_HONEST]
            .iter()
            .map(|worker| worker.disk.len())
            .sum();
        ensure(n_left == 0, "batches of honest workers were never taken")?;
        let Ground {
            pool, truth, census, ..
        } = &mut *self.ground;
        self.book.check_end(pool, truth, census).await
    }

    async fn is_over(&self) -> bool {
        let n_open: i64 = sqlx::query_scalar("SELECT count(*) FROM hunts WHERE state = 'running'")
            .fetch_one(&self.ground.pool)
            .await
            .unwrap();
        n_open == 0
            && self.workers[..N_HONEST]
                .iter()
                .all(|worker| worker.disk.is_empty())
    }
}
