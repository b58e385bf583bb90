//! What simulations share, one after the other.

use std::time::Duration;

use board::StateLimit;
use board::census::RangeOutcome;
use coordinator::config::{Config, Proving, Sizing};
use coordinator::{Prover, Store};
use sqlx::PgPool;

use crate::book::Truth;
use crate::wishes::whole_census;
use crate::worker::Results;

/// Lease time; [`crate::ops::Op::Jump`] is measured against it.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// Looks after which a statement that still runs will never end.
const MAX_LOOKS: usize = 20_000;

/// What outlives a simulation: the database, and what was found out about boards and jobs.
pub(crate) struct Ground {
    pub(crate) pool: PgPool,
    pub(crate) store: Store,
    pub(crate) prover: Prover,
    pub(crate) truth: Truth,
    pub(crate) results: Results,
    /// What a census must come to.
    pub(crate) census: RangeOutcome,
}

impl Ground {
    pub(crate) fn new(pool: PgPool) -> Ground {
        Ground {
            store: Store::from_pool(pool.clone()),
            prover: Prover::start(config().proving).unwrap(),
            truth: Truth::default(),
            results: Results::default(),
            census: whole_census(),
            pool,
        }
    }

    /// Waits until the database is done with what nobody waits for any more: statements of calls that were torn off.
    pub(crate) async fn settle(&self) {
        // Asked each time: connections that nobody uses are closed meanwhile.
        while self.pool.num_idle() < self.pool.size() as usize {
            tokio::task::yield_now().await;
        }
        let n_connections = self.pool.size().max(1);
        // A connection answers only when it has done what it was given before.
        let mut connections = Vec::new();
        for _ in 0..n_connections {
            let mut connection = self.pool.acquire().await.unwrap();
            sqlx::query("SELECT 1").execute(&mut *connection).await.unwrap();
            connections.push(connection);
        }
        // One that was closed over its statement is not among them: the server ends that statement all the same.
        for _ in 0..MAX_LOOKS {
            let n_busy: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
                    AND backend_type = 'client backend'",
            )
            .fetch_one(&mut *connections[0])
            .await
            .unwrap();
            if n_busy == 0 {
                return;
            }
        }
        panic!("a transaction is left open that nobody will end");
    }

    /// Empties the database. (TRUNCATE would write a hundred files.)
    pub(crate) async fn clear(&mut self) {
        for statement in CLEAR {
            sqlx::query(statement).execute(&self.pool).await.unwrap();
        }
        // It is another farm's database now.
        self.store = Store::from_pool(self.pool.clone());
    }
}

const CLEAR: [&str; 18] = [
    "DELETE FROM events",
    "DELETE FROM rejections",
    "DELETE FROM batches",
    "DELETE FROM census_counts",
    "DELETE FROM census_ranges",
    "DELETE FROM censuses",
    "DELETE FROM job_attempts",
    "DELETE FROM audits",
    "DELETE FROM job_paces",
    "DELETE FROM jobs",
    "DELETE FROM workers",
    "DELETE FROM token_quarantines",
    "DELETE FROM hunts",
    "UPDATE farm_watch SET since = now() - interval '1 day', last_round = now()",
    "DELETE FROM board_counts",
    "DELETE FROM boards",
    "SELECT setval(pg_get_serial_sequence('jobs', 'id'), 1, false), setval(pg_get_serial_sequence('hunts', 'id'), 1, false)",
    "SELECT setval(pg_get_serial_sequence('batches', 'id'), 1, false), setval(pg_get_serial_sequence('workers', 'id'), 1, false)",
];

pub(crate) fn config() -> Config {
    Config {
        lease_ttl: LEASE,
        max_failures: 3,
        sizing: Sizing {
            // No job is sized by the time that others took: that would differ from run to run.
            target: Duration::ZERO,
            n_shards: 4,
            max_states: 20_000,
        },
        proving: Proving {
            share: 1.0,
            n_threads: 1,
            max_batches: 64,
            limit: StateLimit::new(100_000),
        },
        ..Config::default()
    }
}
