//! Workers: who is there, and what is held against them.

use proto::convert::{Directive, Hello};
use proto::ids::{FencingToken, HuntId, JobId, Session};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Store, StoreError, narrow};

/// What a call needs to know of who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerStanding {
    /// `workers.id`.
    pub id: i64,
    /// Its label.
    pub name: String,
    /// What it showed.
    pub session: Session,
    /// Its engine version.
    pub engine: String,
    /// Its program version.
    pub program_version: String,
    /// What its self-test came to; empty: not run.
    pub self_test: Vec<u8>,
    /// What it is to do.
    pub directive: Directive,
    /// Nothing is leased to it.
    pub is_quarantined: bool,
    /// It has taken its leave.
    pub is_gone: bool,
}

/// Under which lease a board was found; the lease may have been lost since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseOrigin {
    /// Who held it, `workers.id`.
    pub worker_id: i64,
    /// The holder's label.
    pub worker_name: String,
    /// The job.
    pub job: JobId,
    /// The lease.
    pub token: FencingToken,
    /// The job's hunt.
    pub hunt: HuntId,
    /// Whether it is a job over jams.
    pub is_siren: bool,
    /// The hunt's lot, in squares; zeros: a campaign, which has none.
    pub lot: (u8, u8),
    /// The hunt's exit row; 0: a campaign.
    pub exit_row: u8,
}

/// A worker, as operators see it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRecord {
    /// Its label.
    pub name: String,
    /// This start of its process.
    pub incarnation: Uuid,
    /// Engine version.
    pub engine: String,
    /// Program version.
    pub program_version: String,
    /// Jobs at once.
    pub n_slots: u32,
    /// Threads, over all slots.
    pub n_threads: u32,
    /// The processor's name.
    pub cpu: String,
    /// `None`: it is there.
    pub gone_at: Option<OffsetDateTime>,
    /// First call.
    pub first_seen: OffsetDateTime,
    /// Last call.
    pub last_seen: OffsetDateTime,
    /// Jobs it holds.
    pub n_leases: u64,
    /// What is held against it.
    pub strikes: u32,
    /// `None`: it is trusted.
    pub quarantine_reason: Option<String>,
    /// What it was last told.
    pub directive: Directive,
    /// Boards it found first.
    pub n_new: u64,
}

impl WorkerRecord {
    /// Its state in one word.
    pub fn state(&self) -> &'static str {
        match (&self.gone_at, &self.quarantine_reason, self.directive) {
            (_, Some(_), _) => "quarantined",
            (Some(_), None, _) => "gone",
            (None, None, Directive::Run) => "live",
            (None, None, Directive::Drain) => "draining",
            (None, None, Directive::Stop | Directive::Upgrade) => "stopping",
        }
    }
}

impl Store {
    /// Takes down a worker's start, or finds it again by its incarnation. True: it is new. A new start of a worker begins
    /// with the strikes and the quarantine of the one before: who is in quarantine does not leave it by a restart.
    /// `None`: the incarnation is that of another worker, and so is its session.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn join_as(
        &self,
        hello: &Hello,
        credential: Option<&str>,
        protocol: u32,
        session: Session,
    ) -> Result<Option<(WorkerStanding, bool)>, StoreError> {
        let row = sqlx::query!(
            r#"
            INSERT INTO workers (name, incarnation, session, engine, program_version, protocol, n_slots, n_threads, cpu,
                credential, self_test, strikes, quarantined_at, quarantine_reason, n_lone_failures, lone_failure_at)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce(former.strikes, 0),
                coalesce(former.quarantined_at, token.since), coalesce(former.quarantine_reason, token.reason),
                coalesce(former.n_lone_failures, 0), former.lone_failure_at
            FROM (VALUES ($1::text || coalesce('@' || $10::text, ''))) AS me (identity)
            LEFT JOIN LATERAL (
                SELECT strikes, quarantined_at, quarantine_reason, n_lone_failures, lone_failure_at FROM workers w
                WHERE w.identity = me.identity
                ORDER BY w.id DESC LIMIT 1
            ) former ON true
            LEFT JOIN token_quarantines token ON token.credential = $10
            ON CONFLICT (incarnation) DO UPDATE SET last_seen = now(), gone_at = NULL
                WHERE workers.identity = EXCLUDED.name || coalesce('@' || EXCLUDED.credential, '')
            RETURNING id, name, session, engine, program_version, self_test, directive, quarantined_at,
                (xmax = 0) AS "is_new!"
            "#,
            hello.worker_name,
            hello.incarnation.get(),
            session.get(),
            hello.engine,
            hello.program_version,
            i32::try_from(protocol).unwrap_or(i32::MAX),
            i32::try_from(hello.n_slots).unwrap_or(i32::MAX),
            i32::try_from(hello.n_threads).unwrap_or(i32::MAX),
            hello.cpu,
            credential,
            hello.self_test,
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            let standing = WorkerStanding {
                id: row.id,
                name: row.name,
                session: Session::new(row.session),
                engine: row.engine,
                program_version: row.program_version,
                self_test: row.self_test.unwrap_or_default(),
                directive: directive(row.id, &row.directive)?,
                is_quarantined: row.quarantined_at.is_some(),
                is_gone: false,
            };
            Ok((standing, row.is_new))
        })
        .transpose()
    }

    /// The same for a worker that showed no token.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    ///
    /// # Panics
    /// If the incarnation is another worker's.
    pub async fn join(
        &self,
        hello: &Hello,
        protocol: u32,
        session: Session,
    ) -> Result<(WorkerStanding, bool), StoreError> {
        let joined = self.join_as(hello, None, protocol, session).await?;
        Ok(joined.expect("whoever calls this drew the incarnation"))
    }

    /// Who shows this session; `None`: nobody that we know.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn worker(&self, session: Session) -> Result<Option<WorkerStanding>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT id, name, engine, program_version, self_test, directive, quarantined_at, gone_at
            FROM workers
            WHERE session = $1
            "#,
            session.get(),
        )
        .fetch_optional(&self.reserve)
        .await?;
        row.map(|row| {
            Ok(WorkerStanding {
                id: row.id,
                name: row.name,
                session,
                engine: row.engine,
                program_version: row.program_version,
                self_test: row.self_test.unwrap_or_default(),
                directive: directive(row.id, &row.directive)?,
                is_quarantined: row.quarantined_at.is_some(),
                is_gone: row.gone_at.is_some(),
            })
        })
        .transpose()
    }

    /// The lease that this worker held, in this start of its process or an earlier one, whether it still does or not;
    /// `None`: it never did.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn lease_origin(
        &self,
        session: Session,
        job: JobId,
        token: FencingToken,
    ) -> Result<Option<LeaseOrigin>, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT w.id, w.name, j.hunt_id, j.kind = 'siren' AS "is_siren!", coalesce(h.lot_width, 0::smallint) AS "lot_width!",
                coalesce(h.lot_height, 0::smallint) AS "lot_height!", coalesce(h.exit_row, 0::smallint) AS "exit_row!"
            FROM job_attempts a
            JOIN workers w ON w.id = a.worker_id
            JOIN jobs j ON j.id = a.job_id
            JOIN hunts h ON h.id = j.hunt_id
            WHERE a.job_id = $1 AND a.token = $2 AND (w.session = $3 OR EXISTS (
                SELECT FROM workers me WHERE me.session = $3 AND me.identity = w.identity))
            "#,
            job.get(),
            token.get(),
            session.get(),
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            let hunt = row.hunt_id;
            let side = |column, value: i16| narrow("hunts", hunt, column, value.into());
            Ok(LeaseOrigin {
                worker_id: row.id,
                worker_name: row.name,
                job,
                token,
                hunt: HuntId::new(hunt).expect("identities start at 1"),
                is_siren: row.is_siren,
                lot: (
                    side("lot_width", row.lot_width)?,
                    side("lot_height", row.lot_height)?,
                ),
                exit_row: side("exit_row", row.exit_row)?,
            })
        })
        .transpose()
    }

    /// Takes a worker for gone: it said so, or was not heard of.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn leave(&self, session: Session) -> Result<(), StoreError> {
        sqlx::query!(
            "UPDATE workers SET gone_at = now() WHERE session = $1 AND gone_at IS NULL",
            session.get()
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Gives up workers that hold nothing and were not heard of for so long; how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn give_up_silent_workers(&self, silence_s: f64) -> Result<u64, StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE workers SET gone_at = now()
            WHERE gone_at IS NULL AND last_seen < now() - make_interval(secs => $1)
                AND NOT EXISTS (SELECT FROM jobs WHERE jobs.worker_id = workers.id AND jobs.state = 'leased')
            "#,
            silence_s,
        )
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected())
    }

    /// Workers, newest first; those that are there, or all; at most 1,000.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn list_workers(&self, also_gone: bool) -> Result<Vec<WorkerRecord>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT w.id, w.name, w.incarnation, w.engine, w.program_version, w.n_slots, w.n_threads, w.cpu, w.gone_at,
                w.first_seen, w.last_seen, w.strikes, w.quarantine_reason, w.directive,
                (SELECT count(*) FROM jobs j WHERE j.worker_id = w.id AND j.state = 'leased') AS "n_leases!",
                (SELECT coalesce(sum(b.n_inserted), 0) FROM batches b WHERE b.worker_id = w.id)::bigint AS "n_new!"
            FROM workers w
            WHERE $1 OR w.gone_at IS NULL
            ORDER BY w.id DESC
            LIMIT 1000
            "#,
            also_gone,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let count = |column, value: i32| narrow("workers", row.id, column, value.into());
                Ok(WorkerRecord {
                    n_slots: count("n_slots", row.n_slots)?,
                    n_threads: count("n_threads", row.n_threads)?,
                    strikes: count("strikes", row.strikes)?,
                    name: row.name,
                    incarnation: row.incarnation,
                    engine: row.engine,
                    program_version: row.program_version,
                    cpu: row.cpu,
                    gone_at: row.gone_at,
                    first_seen: row.first_seen,
                    last_seen: row.last_seen,
                    n_leases: super::from_sql(row.n_leases),
                    quarantine_reason: row.quarantine_reason,
                    directive: directive(row.id, &row.directive)?,
                    n_new: super::from_sql(row.n_new),
                })
            })
            .collect()
    }
}

pub(super) fn directive(worker_id: i64, spelling: &str) -> Result<Directive, StoreError> {
    Directive::parse(spelling).ok_or_else(|| StoreError::Unreadable {
        table: "workers",
        id: worker_id,
        reason: format!("directive {spelling:?}"),
    })
}
