//! A farm to try things on: a database, hunts, workers, boards.

use std::time::Duration;

use board::cluster::{Explorer, Found};
use board::geometry::Lot;
use board::job::{Counters, JobDigest};
use board::space::BoardSpace;
use board::{Board, ENGINE, StateLimit};
use coordinator::Prover;
use coordinator::config::{Config, Proving, Sizing};
use coordinator::jobs::plan::top_up;
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, HuntRecord, Store};
use coordinator::submit::{SubmitError, submit};
use proto::convert::{
    Ack, Acquire, Batch, Beat, Budget, Completion, Hello, HuntPlan, JobKind, Lease, LeaseAction, LeaseBeat,
    NewHunt, Release, ReleaseReason, StatedBoard, Strategy,
};
use proto::ids::{BatchId, Incarnation, JobId, RequestId, Session};
use sqlx::PgPool;
use uuid::Uuid;

/// The hardest 6x6 board without walls, par 51: the representative of its cluster of 4,780 positions.
pub(crate) const HARDEST: &str = "BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo";

pub(crate) const TTL: Duration = Duration::from_mins(1);

pub(crate) struct Farm {
    pub(crate) store: Store,
    pub(crate) pool: PgPool,
    pub(crate) config: Config,
    pub(crate) prover: Prover,
}

impl Farm {
    pub(crate) fn new(pool: PgPool) -> Farm {
        Farm::proving(pool, 1.0)
    }

    pub(crate) fn proving(pool: PgPool, share: f64) -> Farm {
        let proving = Proving {
            share,
            n_threads: 2,
            max_batches: 4,
            limit: StateLimit::new(1_000_000),
        };
        let sizing = Sizing {
            target: Duration::from_secs(1),
            n_shards: 2,
            max_states: 100_000,
        };
        let config = Config {
            proving,
            sizing,
            ..Config::embedded()
        };
        let prover = Prover::start(proving).unwrap();
        Farm {
            store: Store::from_pool(pool.clone()),
            pool,
            config,
            prover,
        }
    }

    pub(crate) async fn hunt(&self, name: &str) -> HuntRecord {
        self.store.create_hunt(&wish(name), 1).await.unwrap()
    }

    /// A hunt with so many jobs on the queue.
    pub(crate) async fn hunt_of(&self, n_jobs: u32) -> HuntRecord {
        let hunt = self.hunt("a").await;
        self.plan(n_jobs).await;
        hunt
    }

    pub(crate) async fn plan(&self, n_jobs: u32) -> u64 {
        top_up(&self.store, &self.config.sizing, &kinds(), n_jobs)
            .await
            .unwrap()
    }

    pub(crate) async fn join(&self, name: &str) -> Session {
        let (standing, _) = self
            .store
            .join(&hello(name), 1, Session::new(Uuid::new_v4()))
            .await
            .unwrap();
        standing.session
    }

    /// The same with a token.
    pub(crate) async fn join_with(&self, name: &str, token: &str) -> Session {
        let session = Session::new(Uuid::new_v4());
        let joined = self
            .store
            .join_as(&hello(name), Some(token), 1, session)
            .await
            .unwrap();
        joined.expect("the incarnation is new").0.session
    }

    pub(crate) async fn acquire(&self, session: Session, n_jobs: u32) -> Vec<Lease> {
        self.store
            .grant(&acquire(session, n_jobs), TTL)
            .await
            .unwrap()
            .unwrap()
    }

    /// A hunt, a worker and its lease of the hunt's only job.
    pub(crate) async fn leased(&self) -> (Session, Lease) {
        self.hunt_of(1).await;
        let session = self.join("w").await;
        let mut leases = self.acquire(session, 1).await;
        (session, leases.remove(0))
    }

    /// Lets a lease run out, as far as the database's clock can tell.
    pub(crate) async fn let_run_out(&self, job: JobId) {
        sqlx::query(
            "UPDATE jobs SET expires_at = now() - interval '1 second' WHERE id = $1 AND state = 'leased'",
        )
        .bind(job.get())
        .execute(&self.pool)
        .await
        .unwrap();
    }

    pub(crate) async fn submit(&self, batch: Batch) -> Result<Ack, SubmitError> {
        submit(&self.store, &self.prover, self.config.max_strikes, batch).await
    }

    /// Stores the representatives of these boards' clusters, as an import does.
    pub(crate) async fn import(&self, boards: &[String]) -> Ack {
        self.store.store_batch(&imported(boards)).await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn text(&self, sql: &'static str) -> String {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn beat_one(&self, session: Session, seq: u64, lease: &Lease) -> LeaseAction {
        let beat = beat(session, seq, lease);
        self.store.beat(&beat, TTL).await.unwrap().orders[0].action
    }
}

pub(crate) fn beat(session: Session, seq: u64, lease: &Lease) -> Beat {
    Beat {
        session,
        seq,
        leases: vec![LeaseBeat {
            job: lease.job,
            token: lease.token,
            work_done: 1,
            rate: 10.0,
            best_par: None,
            checkpoint: None,
        }],
    }
}

pub(crate) fn space() -> BoardSpace {
    BoardSpace::usual(Lot::new(6, 6).unwrap()).unwrap()
}

pub(crate) fn wish(name: &str) -> NewHunt {
    NewHunt {
        name: name.to_owned(),
        space: space(),
        strategy: Strategy::Mixed,
        budget: Budget::default(),
        priority: 0,
        seed: Some(7),
        census: None,
        plan: HuntPlan::default(),
    }
}

pub(crate) fn hello(name: &str) -> Hello {
    Hello {
        worker_name: name.to_owned(),
        incarnation: Incarnation::new(Uuid::new_v4()),
        protocol: 1..=1,
        engine: ENGINE.to_owned(),
        program_version: "0.1.0".to_owned(),
        n_slots: 4,
        n_threads: 4,
        cpu: "test".to_owned(),
        self_test: board::SELF_TEST.to_vec(),
    }
}

pub(crate) fn kinds() -> Vec<JobKind> {
    vec![JobKind::Scatter, JobKind::Anneal]
}

pub(crate) fn acquire(session: Session, n_jobs: u32) -> Acquire {
    Acquire {
        request: RequestId::new(Uuid::new_v4()),
        session,
        n_free_slots: n_jobs,
        kinds: kinds(),
        wait: Duration::ZERO,
    }
}

pub(crate) fn completion(session: Session, lease: &Lease) -> Completion {
    Completion {
        session,
        job: lease.job,
        token: lease.token,
        counters: Counters {
            iterations: 200,
            ..Counters::default()
        },
        digest: JobDigest::from_bytes([7; 16]),
        census: None,
        measures: None,
        cpu: Duration::from_secs(2),
    }
}

pub(crate) fn release(session: Session, lease: &Lease, reason: ReleaseReason) -> Release {
    Release {
        session,
        job: lease.job,
        token: lease.token,
        reason,
        detail: "because".to_owned(),
        checkpoint: None,
        counters: Counters::default(),
    }
}

pub(crate) fn batch(session: Session, lease: &Lease, boards: Vec<StatedBoard>) -> Batch {
    Batch {
        session,
        id: BatchId::new(Uuid::new_v4()),
        job: lease.job,
        token: lease.token,
        boards,
        jams: Vec::new(),
        known: Vec::new(),
    }
}

/// What an honest worker states of a board's cluster.
pub(crate) fn stated(board: &str) -> StatedBoard {
    StatedBoard::from(&found(board))
}

pub(crate) fn found(board: &str) -> Found {
    let board: Board = board.parse().unwrap();
    Explorer::new()
        .entry(&board, StateLimit::DEFAULT)
        .unwrap()
        .unwrap()
}

/// Some 6x6 boards of different clusters: the hardest one with one vehicle or another taken away.
pub(crate) fn some_boards() -> Vec<StatedBoard> {
    let hardest: Board = HARDEST.parse().unwrap();
    let mut explorer = Explorer::new();
    let mut boards: Vec<StatedBoard> = (1..hardest.n_vehicles())
        .filter_map(|idx| hardest.without_vehicle(idx))
        .filter_map(|board| explorer.entry(&board, StateLimit::DEFAULT).unwrap())
        .map(|found| StatedBoard::from(&found))
        .collect();
    boards.sort_by(|a, b| a.canonical.cmp(&b.canonical));
    boards.dedup();
    assert!(
        boards.len() > 5,
        "{} boards are too few to try anything",
        boards.len()
    );
    boards
}

/// A batch of the representatives of these boards' clusters, as an import hands it in.
pub(crate) fn imported(boards: &[String]) -> BatchToStore {
    let mut rows: Vec<BoardRow> = boards.iter().map(|board| BoardRow::from(found(board))).collect();
    rows.sort_by(|a, b| (a.found.par, &a.found.canonical).cmp(&(b.found.par, &b.found.canonical)));
    BatchToStore {
        id: BatchId::new(Uuid::new_v4()),
        origin: BatchOrigin::Import("corpus.txt".to_owned()),
        best_par: rows.last().map(|row| row.found.par),
        boards: rows,
        are_new: true,
        n_known: 0,
        rejections: Vec::new(),
        n_believed: 0,
        board_sum: None,
        strike: None,
        max_strikes: 3,
    }
}
