//! Audits: jobs run again by other workers, and what follows when two runs of one job differ.
//!
//! Whose word counts as another's: that of another party, which is to say token, since a worker chooses its name. Workers
//! of one token stand for each other only where the farm has no other (see `may_compare` in migration 0210).
//!
//! A job's result is a function of its specification and the engine, so two honest runs are equal bit for bit. Where they
//! are not, more are asked for until two workers agree; who differs from them is struck, and its claim is void: the job
//! goes back to the queue as if it had never been done. An audit itself is never a hunt's job and never coverage.

use std::collections::{BTreeMap, BTreeSet};

use proto::ids::JobId;

use super::{EventKind, EventToWrite, Store, StoreError, Tx};
use crate::config::Auditing;

/// After so many runs that do not agree nobody is asked any more: an operator has to look.
const MAX_RUNS: usize = 6;

/// Where audits of a hunt that is done wait longer than so, they are given up: nobody is there to make them.
const PATIENCE_HOURS: i32 = 48;

/// Whether a claim is to be checked by running its job again.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// Which share of them is.
    pub auditing: &'a Auditing,
    /// A number from 0 to 1 that no worker can know.
    pub lot: f64,
}

/// What two or more runs of a job came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// There are not two runs yet.
    Nothing,
    /// All are equal.
    Agreed,
    /// They differ, and another run was asked for.
    Disputed,
    /// They differ, and most agree: who does not was struck, its claims are void.
    Disproved,
}

/// A run of a job that came to its end.
struct Run {
    job: i64,
    worker_id: i64,
    identity: String,
    /// Whose token it showed; empty: the door asked for none.
    party: String,
    digest: Vec<u8>,
    is_audit: bool,
    /// It was found wrong before.
    is_wrong: bool,
}

impl Store {
    /// Has a job that was done run again by another worker, if its lot says so. `None`: not this time, or there is no other
    /// worker.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn sample_audit(
        &self,
        job: JobId,
        sampling: &Sampling<'_>,
    ) -> Result<Option<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let audit = tx.sample_audit(job, sampling).await?;
        tx.commit().await?;
        Ok(audit)
    }

    /// Has a job that was done run again, because an operator asks for it. `None`: it is not done, or is being audited.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn ask_for_audit(&self, job: JobId) -> Result<Option<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let row = sqlx::query!(
            r#"
            SELECT id FROM jobs j
            WHERE id = $1 AND state = 'done' AND audit_of IS NULL
                AND NOT EXISTS (SELECT FROM jobs a WHERE a.audit_of = j.id AND a.state IN ('queued', 'leased'))
            FOR UPDATE
            "#,
            job.get()
        )
        .fetch_optional(&mut *tx.tx)
        .await?;
        if row.is_none() {
            return Ok(None);
        }
        let audit = tx.insert_audit(job.get(), "operator").await?;
        tx.commit().await?;
        Ok(Some(audit))
    }

    /// Compares the runs of a job of which one has just ended (or of the job that it audits or repeats).
    ///
    /// # Errors
    /// [`StoreError::Database`]; then nothing was decided.
    pub async fn settle(&self, job: JobId, max_strikes: u32) -> Result<Settled, StoreError> {
        let mut tx = self.begin().await?;
        let settled = tx.settle(job.get(), max_strikes).await?;
        tx.commit().await?;
        Ok(settled)
    }

    /// Audits and second counts that ended and were not compared, since a coordinator died in between; at most 100.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn unsettled(&self) -> Result<Vec<JobId>, StoreError> {
        let ids = sqlx::query_scalar!(
            r#"
            SELECT j.id AS "id!" FROM audits a
            JOIN jobs j ON j.id = a.job_id
            JOIN jobs audited ON audited.id = j.audit_of
            WHERE a.verdict IS NULL AND j.state = 'done' AND audited.state = 'done' AND j.engine = audited.engine
            UNION
            SELECT r.job_id FROM census_ranges r
            WHERE r.verdict = 'disputed' AND r.repeat_of IS NULL
                AND NOT EXISTS (SELECT FROM jobs a WHERE a.audit_of = r.job_id AND a.state <> 'cancelled')
            LIMIT 100
            "#,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(ids.into_iter().map(super::leases::job_id).collect())
    }

    /// Gives up audits that wait for nobody: of hunts that were cancelled, or are done for long; how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn give_up_audits(&self) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE jobs SET state = 'cancelled', ended_at = now()
            FROM hunts, audits
            WHERE hunts.id = jobs.hunt_id AND audits.job_id = jobs.id AND jobs.state = 'queued'
                AND (hunts.state = 'cancelled'
                    OR (hunts.state = 'done' AND audits.asked_at < now() - make_interval(hours => $1)))
            "#,
            PATIENCE_HOURS,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }
}

impl Tx {
    /// The same within the transaction that takes the claim: no claim is taken without its lot being drawn.
    pub(super) async fn sample_audit(
        &mut self,
        job: JobId,
        sampling: &Sampling<'_>,
    ) -> Result<Option<JobId>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT CASE WHEN w.strikes > 0 OR w.quarantined_at IS NOT NULL THEN 'suspect'
                WHEN (SELECT count(*) FROM (
                    SELECT FROM job_attempts d JOIN workers v ON v.id = d.worker_id
                    WHERE v.identity = w.identity AND d.outcome = 'done' LIMIT $2) few) < $2 THEN 'new_worker'
                ELSE 'sample' END AS "reason!"
            FROM jobs j
            JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token AND a.outcome = 'done'
            JOIN workers w ON w.id = a.worker_id
            WHERE j.id = $1 AND j.state = 'done' AND j.audit_of IS NULL
                AND NOT EXISTS (SELECT FROM jobs other WHERE other.audit_of = j.id AND other.state <> 'cancelled')
                -- A range that is counted twice anyway needs no third count.
                AND NOT EXISTS (SELECT FROM census_ranges r WHERE r.repeat_of = j.id OR (r.job_id = j.id AND r.repeat_of IS NOT NULL))
                AND EXISTS (SELECT FROM workers other WHERE other.identity <> w.identity AND other.gone_at IS NULL
                    AND other.quarantined_at IS NULL AND other.directive = 'run')
            "#,
            job.get(),
            i64::from(sampling.auditing.n_new),
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let share = match row.reason.as_str() {
            "suspect" => sampling.auditing.suspect_share,
            "new_worker" => sampling.auditing.new_share,
            _ => sampling.auditing.share,
        };
        if sampling.lot >= share {
            return Ok(None);
        }
        Ok(Some(self.insert_audit(job.get(), &row.reason).await?))
    }

    async fn insert_audit(&mut self, job: i64, reason: &str) -> Result<JobId, StoreError> {
        let row = sqlx::query!(
            r#"
            WITH audit AS (
                INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, audit_of)
                SELECT hunt_id, number, kind, seed, spec, n_work, id FROM jobs WHERE id = $1
                RETURNING id
            )
            INSERT INTO audits (job_id, reason) SELECT id, $2 FROM audit
            RETURNING job_id
            "#,
            job,
            reason,
        )
        .fetch_one(&mut *self.tx)
        .await?;
        Ok(super::leases::job_id(row.job_id))
    }

    /// Puts the claims of a worker on the queue, or of its whole token, that nobody has confirmed: ranges of censuses, and so
    /// many of the latest others.
    pub(super) async fn audit_worker(
        &mut self,
        worker_id: i64,
        is_all_of_token: bool,
        n_latest: i64,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            WITH claimed AS (
                SELECT j.id, j.kind, row_number() OVER (PARTITION BY j.kind = 'census' ORDER BY j.id DESC) AS nth
                FROM workers me
                JOIN workers w ON w.identity = me.identity OR $3 AND w.credential = me.credential
                JOIN job_attempts a ON a.worker_id = w.id AND a.outcome = 'done'
                JOIN jobs j ON j.id = a.job_id AND j.token = a.token AND j.state = 'done' AND j.audit_of IS NULL
                JOIN hunts h ON h.id = j.hunt_id AND h.state <> 'cancelled'
                WHERE me.id = $1
                    AND NOT EXISTS (SELECT FROM jobs other WHERE other.audit_of = j.id AND other.state <> 'cancelled')
                    AND NOT EXISTS (SELECT FROM census_ranges r WHERE r.job_id = j.id AND (r.verdict IS NOT NULL OR r.repeat_of IS NOT NULL))
            ), audit AS (
                INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, audit_of)
                SELECT j.hunt_id, j.number, j.kind, j.seed, j.spec, j.n_work, j.id
                FROM claimed
                JOIN jobs j ON j.id = claimed.id
                WHERE claimed.kind = 'census' OR claimed.nth <= $2
                RETURNING id
            )
            INSERT INTO audits (job_id, reason) SELECT id, 'quarantine' FROM audit
            "#,
            worker_id,
            n_latest,
            is_all_of_token,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    async fn settle(&mut self, job: i64, max_strikes: u32) -> Result<Settled, StoreError> {
        let Some(root) = self.lock_root(job).await? else {
            return Ok(Settled::Nothing);
        };
        let runs = self.runs(root).await?;
        let standing: Vec<&Run> = runs.iter().filter(|run| !run.is_wrong).collect();
        let [first, others @ ..] = standing.as_slice() else {
            return Ok(Settled::Nothing);
        };
        if others.is_empty() {
            return Ok(Settled::Nothing);
        }
        if others.iter().all(|run| run.digest == first.digest) {
            self.note_verdict(root, &first.digest, "agrees").await?;
            return Ok(Settled::Agreed);
        }
        let Some(right) = majority(&standing) else {
            self.dispute(root, &standing).await?;
            return Ok(Settled::Disputed);
        };
        let right = right.to_vec();
        for wrong in standing.iter().filter(|run| run.digest != right) {
            self.disprove(wrong, max_strikes).await?;
        }
        self.note_verdict(root, &right, "agrees").await?;
        Ok(Settled::Disproved)
    }

    /// The job that this one audits or repeats, or itself, locked: whoever compares its runs is alone.
    async fn lock_root(&mut self, job: i64) -> Result<Option<i64>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT root.id
            FROM jobs j
            LEFT JOIN census_ranges r ON r.job_id = coalesce(j.audit_of, j.id)
            JOIN jobs root ON root.id = coalesce(r.repeat_of, j.audit_of, j.id)
            WHERE j.id = $1
            FOR UPDATE OF root
            "#,
            job,
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        Ok(row.map(|row| row.id))
    }

    /// Runs of a job that were done by its engine, the first one first.
    async fn runs(&mut self, root: i64) -> Result<Vec<Run>, StoreError> {
        Ok(sqlx::query_as!(
            Run,
            r#"
            WITH family AS (
                SELECT id FROM jobs WHERE id = $1
                UNION SELECT job_id FROM census_ranges WHERE repeat_of = $1
            )
            SELECT j.id AS "job!", w.id AS "worker_id!", w.identity AS "identity!",
                coalesce(w.credential, '') AS "party!", j.digest AS "digest!",
                j.audit_of IS NOT NULL AS "is_audit!", coalesce(v.verdict = 'differs', false) AS "is_wrong!"
            FROM jobs j
            JOIN job_attempts a ON a.job_id = j.id AND a.token = j.token AND a.outcome = 'done'
            JOIN workers w ON w.id = a.worker_id
            LEFT JOIN audits v ON v.job_id = j.id
            WHERE j.state = 'done' AND (j.id IN (SELECT id FROM family) OR j.audit_of IN (SELECT id FROM family))
                -- Another engine may come to another result; a job is compared with runs of its own.
                AND j.engine = (SELECT max(engine) FROM jobs WHERE id IN (SELECT id FROM family))
            ORDER BY j.id
            "#,
            root,
        )
        .fetch_all(&mut *self.tx)
        .await?)
    }

    /// Notes of every audit with this result that it is right, and of a range that it was confirmed.
    async fn note_verdict(&mut self, root: i64, digest: &[u8], verdict: &str) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            WITH family AS (
                SELECT id FROM jobs WHERE id = $1
                UNION SELECT job_id FROM census_ranges WHERE repeat_of = $1
            ), judged AS (
                UPDATE audits SET verdict = $3, judged_at = now()
                FROM jobs j
                WHERE j.id = audits.job_id AND j.audit_of IN (SELECT id FROM family) AND j.state = 'done' AND j.digest = $2
                    AND audits.verdict IS DISTINCT FROM 'differs' AND audits.verdict IS DISTINCT FROM $3
            )
            UPDATE census_ranges SET verdict = 'verified'
            FROM jobs j
            WHERE census_ranges.job_id IN (SELECT id FROM family) AND j.id = census_ranges.job_id
                AND census_ranges.counted_at IS NOT NULL AND j.digest = $2
            "#,
            root,
            digest,
            verdict,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    /// Two runs differ: asks for one more, unless one is coming.
    async fn dispute(&mut self, root: i64, runs: &[&Run]) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            UPDATE audits SET verdict = 'disputed', judged_at = now()
            FROM jobs j
            WHERE j.id = audits.job_id AND j.audit_of = $1 AND j.state = 'done' AND audits.verdict IS NULL
            "#,
            root,
        )
        .execute(&mut *self.tx)
        .await?;
        let coming = sqlx::query!(
            r#"
            SELECT EXISTS (SELECT FROM jobs WHERE audit_of = $1 AND state IN ('queued', 'leased')) AS "is_coming!"
            "#,
            root,
        )
        .fetch_one(&mut *self.tx)
        .await?;
        if coming.is_coming {
            return Ok(());
        }
        let what_next = if runs.len() < MAX_RUNS {
            self.insert_audit(root, "dispute").await?;
            "another worker is asked"
        } else {
            "nobody else is asked: an operator has to look"
        };
        let who: Vec<&str> = runs.iter().map(|run| run.identity.as_str()).collect();
        let detail = format!("the runs of {} differ; {what_next}", who.join(" and "));
        self.write_event(&EventToWrite {
            job: Some(super::leases::job_id(root)),
            ..EventToWrite::new("coordinator", EventKind::ClaimDisputed, &detail)
        })
        .await
    }

    /// A run is wrong: its worker is struck, and what it claimed is void.
    async fn disprove(&mut self, wrong: &Run, max_strikes: u32) -> Result<(), StoreError> {
        let job = super::leases::job_id(wrong.job);
        let detail = format!("others agree on another result of job {job}");
        self.write_event(&EventToWrite {
            job: Some(job),
            worker_id: Some(wrong.worker_id),
            ..EventToWrite::new("coordinator", EventKind::ClaimDisproved, &detail)
        })
        .await?;
        if wrong.is_audit {
            sqlx::query!(
                "UPDATE audits SET verdict = 'differs', judged_at = now() WHERE job_id = $1",
                wrong.job
            )
            .execute(&mut *self.tx)
            .await?;
        } else {
            self.make_void(wrong.job).await?;
        }
        self.strike(wrong.worker_id, Some(job), &detail, max_strikes)
            .await?;
        Ok(())
    }

    /// Puts a job that was done wrongly back on the queue, and takes its counts out of the ledger. A census that was
    /// over is not over.
    async fn make_void(&mut self, job: i64) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            WITH reopened AS (
                UPDATE hunts SET state = 'running', ended_at = NULL, end_reason = NULL
                FROM jobs
                WHERE jobs.id = $1 AND hunts.id = jobs.hunt_id AND hunts.state = 'done' AND jobs.kind = 'census'
            ), voided AS (
                UPDATE jobs SET
                    state = CASE WHEN hunts.state IN ('running', 'paused') OR jobs.kind = 'census' THEN 'queued' ELSE 'cancelled' END,
                    ended_at = CASE WHEN hunts.state IN ('running', 'paused') OR jobs.kind = 'census' THEN NULL ELSE now() END,
                    digest = NULL, engine = NULL, checkpoint = NULL, n_iterations = 0, n_legal = 0, n_clusters = 0, n_solvable = 0,
                    n_too_large = 0, n_positions = 0, n_accepted = 0, n_duplicates = 0, n_found = 0
                FROM hunts
                WHERE jobs.id = $1 AND jobs.state = 'done' AND hunts.id = jobs.hunt_id
                RETURNING jobs.id, jobs.token
            ), attempt AS (
                UPDATE job_attempts SET outcome = 'disproved'
                FROM voided
                WHERE job_attempts.job_id = voided.id AND job_attempts.token = voided.token
            ), unpaced AS (
                DELETE FROM job_paces USING voided WHERE job_paces.job_id = voided.id
            ), uncounted AS (
                DELETE FROM census_counts USING voided WHERE census_counts.job_id = voided.id
            )
            UPDATE census_ranges SET counted_at = NULL, verdict = NULL, n_layouts = NULL, n_unsolvable = NULL,
                unsolvable_positions = NULL, digest = NULL
            FROM voided
            WHERE census_ranges.job_id = voided.id
            "#,
            job,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}

/// The result on which two parties or more agree, and more of them than on any other. If all runs are one party's, its
/// workers are counted instead: there is nobody else to ask. Two parties that contradict each other prove nothing, however
/// many workers each of them has or says that it has.
fn majority<'r>(runs: &[&'r Run]) -> Option<&'r [u8]> {
    let (first, others) = runs.split_first()?;
    let is_one_party = others.iter().all(|run| run.party == first.party);
    let voice = |run: &'r Run| if is_one_party { &run.identity } else { &run.party };
    let mut voices: BTreeMap<&[u8], BTreeSet<&str>> = BTreeMap::new();
    for &run in runs {
        voices.entry(&run.digest).or_default().insert(voice(run));
    }
    let mut counted: Vec<(&[u8], usize)> = voices
        .into_iter()
        .map(|(digest, who)| (digest, who.len()))
        .collect();
    counted.sort_by_key(|&(_, n_voices)| std::cmp::Reverse(n_voices));
    match counted.as_slice() {
        [(digest, n_voices), (_, n_next), ..] if *n_voices >= 2 && n_voices > n_next => Some(digest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(identity: &str, digest: u8) -> Run {
        let party = identity.split_once('@').map_or("", |(_, token)| token);
        Run {
            job: 1,
            worker_id: 1,
            identity: identity.to_owned(),
            party: party.to_owned(),
            digest: vec![digest],
            is_audit: false,
            is_wrong: false,
        }
    }

    fn of(runs: &[Run]) -> Option<Vec<u8>> {
        majority(&runs.iter().collect::<Vec<_>>()).map(<[u8]>::to_vec)
    }

    #[test]
    fn two_workers_outweigh_one_and_nobody_outweighs_by_repeating_himself() {
        assert_eq!(of(&[run("a", 1), run("b", 2)]), None);
        assert_eq!(of(&[run("a", 1), run("b", 2), run("c", 2)]), Some(vec![2]));
        assert_eq!(of(&[run("a", 1), run("a", 1), run("b", 2)]), None);
        assert_eq!(of(&[run("a", 1), run("b", 1), run("c", 2), run("d", 2)]), None);
        assert_eq!(
            of(&[run("a", 1), run("b", 1), run("c", 1), run("d", 2), run("e", 2)]),
            Some(vec![1])
        );
    }

    #[test]
    fn a_token_is_one_party_however_many_names_its_workers_have() {
        let liars = [run("a@x", 1), run("b@x", 1), run("c@x", 1)];
        let [one, two, three] = liars;
        assert_eq!(of(&[one, two, three, run("d@y", 2)]), None);
        assert_eq!(
            of(&[run("a@x", 1), run("b@x", 1), run("d@y", 2), run("e@z", 2)]),
            Some(vec![2])
        );
        // A bad machine of a party is told by the others of it.
        assert_eq!(of(&[run("a@x", 1), run("b@x", 2), run("d@y", 2)]), Some(vec![2]));
        assert_eq!(of(&[run("a@x", 1), run("b@x", 2), run("c@x", 2)]), Some(vec![2]));
    }
}
