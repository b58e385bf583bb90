//! The event log.

use time::OffsetDateTime;

use crate::store::{Store, StoreError};

/// Events on one page of a list.
pub const EVENTS_A_PAGE: usize = 100;

/// Which events are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Of one kind.
    pub kind: Option<String>,
    /// Of one hunt.
    pub hunt_id: Option<i64>,
    /// Of one worker.
    pub worker_id: Option<i64>,
    /// Older than this one.
    pub before: Option<i64>,
    /// So many at most.
    pub limit: i64,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: OffsetDateTime,
    /// Who.
    pub actor: String,
    /// What, as the database spells it.
    pub kind: String,
    /// Which hunt.
    pub hunt_id: Option<i64>,
    /// Its label.
    pub hunt: Option<String>,
    /// Which job.
    pub job_id: Option<i64>,
    /// Which worker.
    pub worker_id: Option<i64>,
    /// Its label.
    pub worker: Option<String>,
    /// In a sentence.
    pub detail: String,
}

impl Store {
    /// Events, the newest first.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn event_lines(&self, query: &EventQuery) -> Result<Vec<EventLine>, StoreError> {
        Ok(sqlx::query_as!(
            EventLine,
            r#"
            SELECT e.id AS "id!", e.at AS "at!", e.actor AS "actor!", e.kind AS "kind!", e.hunt_id, h.name AS "hunt?", e.job_id,
                e.worker_id, w.name AS "worker?", e.detail AS "detail!"
            FROM (
                SELECT * FROM events
                WHERE ($1::text IS NULL OR kind = $1) AND ($2::bigint IS NULL OR hunt_id = $2)
                    AND ($3::bigint IS NULL OR worker_id = $3) AND ($4::bigint IS NULL OR id < $4)
                ORDER BY id DESC LIMIT $5
            ) e
            LEFT JOIN hunts h ON h.id = e.hunt_id
            LEFT JOIN workers w ON w.id = e.worker_id
            ORDER BY e.id DESC
            "#,
            query.kind,
            query.hunt_id,
            query.worker_id,
            query.before,
            query.limit,
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
