//! A farm behind the pages: a coordinator on this machine, a worker in this process, something of everything to show.

use std::net::SocketAddr;
use std::time::Duration;

use board::cluster::Explorer;
use board::{Board, StateLimit};
use coordinator::Coordinator;
use coordinator::config::{Config, Proving, Sizing};
use coordinator::store::{BatchOrigin, BatchToStore, BoardRow, Store};
use coordinator::web::access::AccessRules;
use proto::convert::{Budget, HuntPlan, NewHunt, Strategy};
use proto::ids::BatchId;
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The hardest 6x6 board without walls: the representative of its cluster of 4,780 positions.
pub(crate) const HARDEST: &str = "BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo";
pub(crate) const HARDEST_PAR: u16 = 51;

pub(crate) struct Farm {
    pool: PgPool,
    config: Config,
    coordinator: Option<Coordinator>,
}

/// A worker that runs in this process.
pub(crate) struct RunningWorker {
    shutdown: worker::Shutdown,
    task: JoinHandle<Result<worker::Departure, worker::WorkerError>>,
}

impl RunningWorker {
    pub(crate) async fn stop(self) {
        self.shutdown.drain.cancel();
        self.task.await.unwrap().unwrap();
    }
}

impl Farm {
    pub(crate) async fn start(pool: PgPool) -> Farm {
        Farm::start_guarded(pool, &[]).await
    }

    /// With tokens: name, role, token.
    pub(crate) async fn start_guarded(pool: PgPool, tokens: &[(&str, &str, &str)]) -> Farm {
        let rule = |&(name, role, token): &(&str, &str, &str)| {
            format!("{name}:{role}:{}", hex::encode(Sha256::digest(token)))
                .parse()
                .unwrap()
        };
        let config = Config {
            access: AccessRules {
                tokens: tokens.iter().map(rule).collect(),
                proxy: None,
            },
            beat_interval: Duration::from_secs(1),
            sizing: Sizing {
                target: Duration::from_secs(2),
                n_shards: 4,
                max_states: 50_000,
            },
            proving: Proving {
                share: 0.0,
                n_threads: 1,
                ..Proving::default()
            },
            ..Config::embedded()
        };
        let mut farm = Farm {
            pool,
            config,
            coordinator: None,
        };
        farm.up().await;
        farm
    }

    async fn up(&mut self) {
        let store = Store::from_pool(self.pool.clone());
        let coordinator = Coordinator::start(self.config.clone(), store, CancellationToken::new())
            .await
            .unwrap();
        // The next start is at the same addresses: an open page and a worker find it again.
        self.config.listen = coordinator.local_addr();
        self.config.web = coordinator.web_addr();
        self.coordinator = Some(coordinator);
    }

    async fn down(&mut self) {
        let coordinator = self.coordinator.take().unwrap();
        coordinator.shutdown();
        // Open pages must not keep it from ending.
        tokio::time::timeout(Duration::from_secs(9), coordinator.join())
            .await
            .unwrap();
    }

    pub(crate) async fn restart(&mut self) {
        self.down().await;
        self.up().await;
    }

    pub(crate) async fn stop(mut self) {
        self.down().await;
    }

    fn running(&self) -> &Coordinator {
        self.coordinator.as_ref().unwrap()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        let web: SocketAddr = self.running().web_addr().unwrap();
        format!("http://{web}{path}")
    }

    pub(crate) fn start_worker(&self) -> RunningWorker {
        let shutdown = worker::Shutdown::default();
        let config = worker::Config {
            n_threads: 1,
            n_slots: 1,
            ..worker::Config::new(format!("http://{}", self.running().local_addr()), "browser-test")
        };
        let (progress, _) = tokio::sync::watch::channel(worker::Progress::default());
        let task = tokio::spawn(worker::run(config, shutdown.clone(), progress));
        RunningWorker { shutdown, task }
    }

    pub(crate) async fn create_hunt(&self, name: &str) {
        let wish = NewHunt {
            name: name.to_owned(),
            space: board::space::BoardSpace::usual("6x6".parse().unwrap()).unwrap(),
            strategy: Strategy::Mixed,
            budget: Budget {
                time: None,
                n_jobs: Some(100),
                until_par: None,
            },
            priority: 0,
            seed: Some(1),
            census: None,
            plan: HuntPlan::default(),
        };
        self.running().create_hunt(&wish).await.unwrap();
    }

    pub(crate) async fn state_of(&self, hunt: &str) -> String {
        sqlx::query_scalar("SELECT state FROM hunts WHERE name = $1")
            .bind(hunt)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    /// Stores a board, proved here.
    pub(crate) async fn import(&self, spelling: &str) {
        let board = Board::parse(spelling).unwrap();
        let mut explorer = Explorer::new();
        let found = explorer
            .entry(&board, StateLimit::new(1_000_000))
            .unwrap()
            .unwrap();
        let batch = BatchToStore {
            id: BatchId::new(Uuid::new_v4()),
            origin: BatchOrigin::Import("a test".into()),
            boards: vec![BoardRow::from(found)],
            rejections: vec![],
            n_believed: 0,
            board_sum: None,
            are_new: false,
            n_known: 0,
            best_par: None,
            strike: None,
            max_strikes: 3,
        };
        self.running().store().store_batch(&batch).await.unwrap();
    }

    /// Something of everything: hunts, workers, jobs in every state, boards, refusals, samples.
    pub(crate) async fn fill(&self) {
        self.create_hunt("week 48").await;
        self.create_hunt("another").await;
        self.import(HARDEST).await;
        sqlx::raw_sql(include_str!("fill.sql"))
            .execute(&self.pool)
            .await
            .unwrap();
    }

    /// A name and an address for every page that [`Farm::fill`] gives something to show.
    pub(crate) fn pages() -> Vec<(&'static str, String)> {
        [
            ("overview", "/"),
            ("hunts", "/hunts"),
            ("hunt", "/hunts/1?window=6h"),
            ("hunt-new", "/hunts/new"),
            ("hunt-cancel", "/hunts/1/cancel"),
            ("census", "/census"),
            ("jobs", "/jobs"),
            ("workers", "/workers"),
            ("worker", "/workers/1"),
            ("worker-quarantine", "/workers/1/quarantine"),
            ("boards", "/boards"),
            ("trouble", "/trouble"),
            ("events", "/events"),
            ("nothing", "/nothing"),
        ]
        .into_iter()
        .map(|(name, path)| (name, path.to_owned()))
        .chain([
            ("board", format!("/boards/{HARDEST_PAR}/{HARDEST}")),
            // One that was audited.
            ("job", "/jobs/100001".to_owned()),
        ])
        .collect()
    }
}
