//! What operators do to a farm, each with the event that says who did it, in one transaction.

use std::collections::BTreeMap;

use proto::convert::Directive;
use proto::ids::{HuntId, JobId};

use super::{EventKind, EventToWrite, Store, StoreError, Tx};

/// What can be done to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerAction {
    /// Tell it to run, to finish what it has, or to stop.
    Direct(Directive),
    /// Give it nothing more, for this reason.
    Quarantine(String),
    /// Trust it again: its strikes are forgotten.
    Trust,
}

impl Store {
    /// Gives a hunt another priority. False: there is none of this number, or it is over.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn set_priority(&self, id: HuntId, priority: i32) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let former = sqlx::query_scalar!(
            r#"
            UPDATE hunts SET priority = $2
            FROM (SELECT id, priority FROM hunts WHERE id = $1 FOR NO KEY UPDATE) former
            WHERE hunts.id = former.id AND hunts.state IN ('running', 'paused')
            RETURNING former.priority AS "former!"
            "#,
            id.get(),
            priority,
        )
        .fetch_optional(&mut *tx.tx)
        .await?;
        let Some(former) = former else { return Ok(false) };
        let detail = format!("priority {former} to {priority}");
        let event = EventToWrite {
            hunt: Some(id),
            ..EventToWrite::new(&self.actor, EventKind::HuntPriority, &detail)
        };
        tx.write_event(&event).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Gives a hunt another share of the cores, 1 to 1,000, against the other hunts of its priority. False: there is none
    /// of this number, or it is over.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn set_weight(&self, id: HuntId, weight: u16) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let former = sqlx::query_scalar!(
            r#"
            UPDATE hunts SET weight = $2
            FROM (SELECT id, weight FROM hunts WHERE id = $1 FOR NO KEY UPDATE) former
            WHERE hunts.id = former.id AND hunts.state IN ('running', 'paused')
            RETURNING former.weight AS "former!"
            "#,
            id.get(),
            i16::try_from(weight.clamp(1, 1_000)).expect("at most a thousand"),
        )
        .fetch_optional(&mut *tx.tx)
        .await?;
        let Some(former) = former else { return Ok(false) };
        let detail = format!("weight {former} to {weight}");
        let event = EventToWrite {
            hunt: Some(id),
            ..EventToWrite::new(&self.actor, EventKind::HuntPriority, &detail)
        };
        tx.write_event(&event).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Does something to a worker. False: there is none of this number, or it is gone and would not hear of it.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn act_on_worker(&self, id: i64, action: &WorkerAction) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let is_there = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM workers WHERE id = $1 AND (gone_at IS NULL OR NOT $2)) AS "is_there!""#,
            id,
            matches!(action, WorkerAction::Direct(_)),
        )
        .fetch_one(&mut *tx.tx)
        .await?;
        if !is_there {
            return Ok(false);
        }
        match action {
            WorkerAction::Direct(directive) => tx.direct(id, *directive).await?,
            WorkerAction::Quarantine(reason) => tx.quarantine(id, reason).await?,
            WorkerAction::Trust => tx.trust(id).await?,
        }
        let (kind, detail) = match action {
            WorkerAction::Direct(directive) => (EventKind::WorkerDirected, directive.as_str().to_owned()),
            WorkerAction::Quarantine(reason) => (EventKind::WorkerQuarantined, reason.clone()),
            WorkerAction::Trust => (EventKind::WorkerTrusted, "its strikes are forgotten".to_owned()),
        };
        tx.write_event(&EventToWrite {
            worker_id: Some(id),
            ..EventToWrite::new(&self.actor, kind, &detail)
        })
        .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Puts parked jobs back on the queue, their failures forgotten; how many. Jobs of hunts that are over stay.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn requeue_jobs(&self, jobs: &[JobId]) -> Result<u64, StoreError> {
        let ids: Vec<i64> = jobs.iter().map(|job| job.get()).collect();
        let mut tx = self.begin().await?;
        let done = sqlx::query!(
            r#"
            UPDATE jobs SET state = 'queued', n_failures = 0, n_outages = 0, ended_at = NULL
            FROM hunts
            WHERE jobs.id = ANY ($1) AND jobs.state = 'parked' AND hunts.id = jobs.hunt_id
                AND hunts.state IN ('running', 'paused')
            RETURNING jobs.id, jobs.hunt_id
            "#,
            &ids,
        )
        .fetch_all(&mut *tx.tx)
        .await?;
        let mut by_hunt: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for row in &done {
            by_hunt.entry(row.hunt_id).or_default().push(row.id);
        }
        for (hunt, mut ids) in by_hunt {
            ids.sort_unstable();
            let named: Vec<String> = ids.iter().take(10).map(i64::to_string).collect();
            let more = if ids.len() > named.len() { ", .." } else { "" };
            let detail = match ids.as_slice() {
                [id] => format!("job {id}"),
                _ => format!("{} jobs: {}{more}", ids.len(), named.join(", ")),
            };
            let job = match ids.as_slice() {
                [id] => JobId::new(*id).ok(),
                _ => None,
            };
            tx.write_event(&EventToWrite {
                job,
                hunt: HuntId::new(hunt).ok(),
                ..EventToWrite::new(&self.actor, EventKind::JobRequeued, &detail)
            })
            .await?;
        }
        if !done.is_empty() {
            tx.commit().await?;
        }
        Ok(done.len() as u64)
    }

    /// The parked jobs of a hunt whose last attempt failed like this; at most 5,000.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn parked_alike(
        &self,
        hunt_id: HuntId,
        outcome: &str,
        error: &str,
    ) -> Result<Vec<JobId>, StoreError> {
        let ids = sqlx::query_scalar!(
            r#"
            SELECT j.id AS "id!"
            FROM (SELECT id FROM jobs WHERE state = 'parked' AND hunt_id = $1 ORDER BY id DESC LIMIT 5000) j
            JOIN LATERAL (
                SELECT outcome, left(regexp_replace(coalesce(detail, ''), '\d+', '#', 'g'), 200) AS error
                FROM job_attempts WHERE job_id = j.id ORDER BY token DESC LIMIT 1
            ) a ON true
            WHERE a.outcome = $2 AND a.error = $3
            "#,
            hunt_id.get(),
            outcome,
            error,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(ids.into_iter().map(super::leases::job_id).collect())
    }
}

impl Tx {
    async fn direct(&mut self, worker_id: i64, directive: Directive) -> Result<(), StoreError> {
        sqlx::query!(
            "UPDATE workers SET directive = $2 WHERE id = $1",
            worker_id,
            directive.as_str()
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}
