//! What the dashboard's pages show: reads alone, each bounded so that a page is quick at any size of the farm.
//!
//! Boards are never counted for a page: `board_counts` is exact at every commit, and totals of hunts come from their
//! last sample.

mod audits;
mod boards;
mod census;
mod farm;
mod hunts;
mod jobs;
mod log;
mod trouble;
mod workers;

pub use audits::{AuditCounts, AuditLine, AuditQuery};
pub use boards::{BOARDS_A_PAGE, BoardLine, BoardPage, BoardQuery, Provenance};
pub use census::CensusLine;
pub use farm::{FarmNow, LotBest};
pub use hunts::{HuntLine, HuntTotals, YieldPoint};
pub use jobs::{AttemptLine, JOBS_A_PAGE, JobLine, JobQuery, JobSort};
pub use log::{EVENTS_A_PAGE, EventLine, EventQuery};
pub use trouble::{ParkedGroup, RejectedGroup, RejectedLine};
pub use workers::{WORKERS_A_PAGE, WorkerLine, WorkerQuery, WorkerSort};

use time::OffsetDateTime;

use super::{Store, StoreError};

impl Store {
    /// The database's clock.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn now(&self) -> Result<OffsetDateTime, StoreError> {
        Ok(sqlx::query_scalar!(r#"SELECT now() AS "now!""#)
            .fetch_one(&self.pool)
            .await?)
    }
}
