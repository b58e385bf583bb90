//! Batches: boards, what is noted about them, and the answer, in one transaction.
//!
//! The answer is given only after the commit. A sender that did not hear it sends the batch again under the same id,
//! and hears the answer that was stored with the boards: nothing is counted twice.

use board::Par;
use proto::convert::{Ack, MAX_DETAIL_CHARS, MAX_SPELLING_BYTES, RejectCode, Rejection};
use proto::ids::{BatchId, FencingToken, JobId};
use uuid::Uuid;

use super::{BoardRow, EventKind, EventToWrite, LeaseOrigin, Memory, Store, StoreError, Tx, text};

/// Where a batch comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchOrigin {
    /// A worker found it under a lease, which may have been lost since.
    Lease(LeaseOrigin),
    /// It was imported from here.
    Import(String),
}

/// What is stored under the id of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Nothing.
    Nothing,
    /// This batch, which was answered so.
    Same(Ack),
    /// A batch of other boards.
    OtherBoards,
}

/// A board or jam that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectionToStore {
    /// The answer.
    pub rejection: Rejection,
    /// The canonical spelling as it was sent.
    pub canonical: String,
    /// The par as it was sent.
    pub stated_par: u32,
}

/// A batch, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchToStore {
    /// Repeated, it is answered alike.
    pub id: BatchId,
    /// Who found it.
    pub origin: BatchOrigin,
    /// Boards that may be new, sorted by (par, spelling), distinct.
    pub boards: Vec<BoardRow>,
    /// Whether they are expected to be new, all of them: a guess, which makes storing them faster if it is right.
    pub are_new: bool,
    /// Boards that are stored already, or stood in the batch before.
    pub n_known: u32,
    /// The largest par of all boards that were not refused.
    pub best_par: Option<Par>,
    /// Boards that were refused.
    pub rejections: Vec<RejectionToStore>,
    /// Of the boards, so many were believed without proof.
    pub n_believed: u32,
    /// Sum of the hashes of all its boards as they were sent, see [`board::tally::hash_board`]; `None`: an import.
    pub board_sum: Option<u128>,
    /// What is held against the sender; `None`: nothing.
    pub strike: Option<String>,
    /// With so many strikes a worker is quarantined.
    pub max_strikes: u32,
}

impl Store {
    /// What is stored under a batch's id. Its boards are compared by their sum, where there is one: an id is made by the
    /// sender, and two copies of one machine may draw the same.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn stored(&self, id: BatchId, board_sum: Option<u128>) -> Result<Stored, StoreError> {
        let row = sqlx::query!(
            r#"SELECT id, n_inserted, n_duplicate, board_sum::text AS board_sum FROM batches WHERE batch = $1"#,
            id.get()
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            return Ok(Stored::Nothing);
        };
        let sums = row.board_sum.zip(board_sum.map(|sum| sum.to_string()));
        if sums.is_some_and(|(stored, sent)| stored != sent) {
            return Ok(Stored::OtherBoards);
        }
        let count = |column, value: i32| super::narrow("batches", row.id, column, value.into());
        Ok(Stored::Same(Ack {
            n_inserted: count("n_inserted", row.n_inserted)?,
            n_duplicate: count("n_duplicate", row.n_duplicate)?,
            rejected: self.stored_rejections(row.id).await?,
            spell_out: false,
        }))
    }

    /// The same, where a batch with this id is known to be stored.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::IdTaken`] if it has other boards.
    pub(super) async fn stored_meanwhile(
        &self,
        id: BatchId,
        board_sum: Option<u128>,
    ) -> Result<Ack, StoreError> {
        match self.stored(id, board_sum).await? {
            Stored::Same(ack) => Ok(ack),
            Stored::OtherBoards => Err(StoreError::IdTaken),
            Stored::Nothing => unreachable!("its row was found, and batches are never deleted"),
        }
    }

    async fn stored_rejections(&self, batch_id: i64) -> Result<Vec<Rejection>, StoreError> {
        let rows = sqlx::query!(
            "SELECT board_idx, code, detail FROM rejections WHERE batch_id = $1 ORDER BY board_idx",
            batch_id,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let code = RejectCode::parse(&row.code).ok_or_else(|| StoreError::Unreadable {
                    table: "rejections",
                    id: batch_id,
                    reason: format!("code {:?}", row.code),
                })?;
                Ok(Rejection {
                    board_idx: super::narrow("rejections", batch_id, "board_idx", row.board_idx.into())?,
                    code,
                    detail: row.detail,
                })
            })
            .collect()
    }

    /// Stores a batch with all that follows from it, and gives the answer once it is committed. A batch that was stored
    /// meanwhile changes nothing and gets the stored answer.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn store_batch(&self, batch: &BatchToStore) -> Result<Ack, StoreError> {
        self.store_if(batch, None).await
    }

    /// What is remembered of the boards that are stored, for [`Store::store_judged`].
    pub fn memory(&self) -> Memory {
        self.known.memory()
    }

    /// The same for a batch whose boards were judged, and some perhaps set aside as known, with this memory.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored. [`StoreError::SetBack`] if the memory does not hold any more.
    pub async fn store_judged(&self, batch: &BatchToStore, memory: Memory) -> Result<Ack, StoreError> {
        self.store_if(batch, Some(memory)).await
    }

    async fn store_if(&self, batch: &BatchToStore, judged_by: Option<Memory>) -> Result<Ack, StoreError> {
        let memory = judged_by.unwrap_or_else(|| self.memory());
        let mut tx = self.begin().await?;
        // Waits for another call with the same id to end, then finds its row.
        let Some((batch_id, epoch)) = tx.open_batch(batch.id, &batch.origin).await? else {
            drop(tx);
            return self.stored_meanwhile(batch.id, batch.board_sum).await;
        };
        if !self.known.still_holds(memory, batch_id, epoch) && judged_by.is_some() {
            return Err(StoreError::SetBack);
        }
        let former_best = match &batch.origin {
            BatchOrigin::Lease(lease) if !batch.boards.is_empty() => {
                tx.best_par(lease.lot, lease.exit_row).await?
            }
            _ => None,
        };
        let inserted = tx.insert_boards(batch_id, &batch.boards, batch.are_new).await?;
        let n_offered = batch.boards.len() as u64;
        let n_known = u64::from(batch.n_known) + n_offered - inserted.n_inserted;
        let ack = Ack {
            n_inserted: u32::try_from(inserted.n_inserted).expect("a batch has at most 10,000 boards"),
            n_duplicate: u32::try_from(n_known).expect("a batch has at most 10,000 boards"),
            rejected: batch
                .rejections
                .iter()
                .map(|refused| refused.rejection.clone())
                .collect(),
            spell_out: false,
        };
        tx.store_rejections(batch_id, &batch.rejections).await?;
        if let BatchOrigin::Lease(lease) = &batch.origin {
            tx.note_records(lease, former_best, inserted.best_par).await?;
            Store::count_boards(&mut tx, lease.job, inserted.n_inserted, n_known, batch.best_par).await?;
            if let Some(par) = batch.best_par {
                tx.note_aim(lease, par).await?;
            }
            if let Some(reason) = &batch.strike {
                tx.note_strike(lease, reason, batch.max_strikes).await?;
            }
        }
        tx.close_batch(batch_id, &ack, batch.n_believed, batch.board_sum)
            .await?;
        tx.commit().await?;
        // Not before the commit: a board that is remembered and not stored would be lost.
        let keys = batch
            .boards
            .iter()
            .map(|row| (row.found.par.get(), row.found.canonical.as_str()));
        let keys = keys.filter_map(|(par, spelling)| Some((i16::try_from(par).ok()?, spelling)));
        self.known.committed(memory, batch_id, keys);
        Ok(ack)
    }
}

impl Tx {
    /// Claims a batch id; `None`: it is stored. Its number, and the database's epoch.
    pub(super) async fn open_batch(
        &mut self,
        id: BatchId,
        origin: &BatchOrigin,
    ) -> Result<Option<(i64, Uuid)>, StoreError> {
        let (lease, source) = match origin {
            BatchOrigin::Lease(lease) => (Some(lease), None),
            BatchOrigin::Import(source) => (None, Some(text(source, 1_000))),
        };
        let row = sqlx::query!(
            r#"
            INSERT INTO batches (batch, worker_id, job_id, token, source)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (batch) DO NOTHING
            RETURNING id, (SELECT epoch FROM farm_epoch) AS "epoch!"
            "#,
            id.get(),
            lease.map(|lease| lease.worker_id),
            lease.map(|lease| lease.job).map(JobId::get),
            lease.map(|lease| lease.token).map(FencingToken::get),
            source,
        )
        .fetch_optional(&mut *self.tx)
        .await?;
        Ok(row.map(|row| (row.id, row.epoch)))
    }

    pub(super) async fn close_batch(
        &mut self,
        batch_id: i64,
        ack: &Ack,
        n_believed: u32,
        board_sum: Option<u128>,
    ) -> Result<(), StoreError> {
        let done = sqlx::query!(
            r#"
            UPDATE batches SET n_inserted = $2, n_duplicate = $3, n_believed = $4, board_sum = $5::text::numeric
            WHERE id = $1
            "#,
            batch_id,
            i32::try_from(ack.n_inserted).expect("a batch has at most 10,000 boards"),
            i32::try_from(ack.n_duplicate).expect("a batch has at most 10,000 boards"),
            i32::try_from(n_believed).expect("a batch has at most 10,000 boards"),
            board_sum.map(|sum| sum.to_string()),
        )
        .execute(&mut *self.tx)
        .await?;
        assert_eq!(
            done.rows_affected(),
            1,
            "batch {batch_id} was opened in this transaction"
        );
        Ok(())
    }

    pub(super) async fn store_rejections(
        &mut self,
        batch_id: i64,
        refused: &[RejectionToStore],
    ) -> Result<(), StoreError> {
        if refused.is_empty() {
            return Ok(());
        }
        let index =
            |refused: &RejectionToStore| i32::try_from(refused.rejection.board_idx).unwrap_or(i32::MAX);
        let indices: Vec<i32> = refused.iter().map(index).collect();
        let codes: Vec<String> = refused
            .iter()
            .map(|r| r.rejection.code.as_str().to_owned())
            .collect();
        let spellings: Vec<String> = refused
            .iter()
            .map(|r| text(&r.canonical, MAX_SPELLING_BYTES))
            .collect();
        let pars: Vec<i32> = refused
            .iter()
            .map(|r| i32::try_from(r.stated_par).unwrap_or(i32::MAX))
            .collect();
        let details: Vec<String> = refused
            .iter()
            .map(|r| text(&r.rejection.detail, MAX_DETAIL_CHARS))
            .collect();
        sqlx::query!(
            r#"
            INSERT INTO rejections (batch_id, board_idx, code, canonical, stated_par, detail)
            SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::text[], $5::integer[], $6::text[])
            "#,
            batch_id,
            &indices,
            &codes,
            &spellings,
            &pars,
            &details,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }

    async fn note_records(
        &mut self,
        lease: &LeaseOrigin,
        former_best: Option<Par>,
        inserted_best: Option<i16>,
    ) -> Result<(), StoreError> {
        let Some(par) = inserted_best.map(|par| Par::new(par.cast_unsigned())) else {
            return Ok(());
        };
        if former_best.is_some_and(|former| par <= former) {
            return Ok(());
        }
        let (width, height) = lease.lot;
        let detail = format!("par {par} on {width}x{height}");
        self.write_event(&about(lease, EventKind::RecordFound, &detail))
            .await
    }

    async fn note_aim(&mut self, lease: &LeaseOrigin, par: Par) -> Result<(), StoreError> {
        if self.end_hunt_at_par(lease.hunt, par).await? {
            let detail = format!("a board of par {par} was found");
            self.write_event(&about(lease, EventKind::HuntDone, &detail))
                .await?;
        }
        Ok(())
    }

    pub(super) async fn note_strike(
        &mut self,
        lease: &LeaseOrigin,
        reason: &str,
        max_strikes: u32,
    ) -> Result<(), StoreError> {
        self.strike(lease.worker_id, Some(lease.job), reason, max_strikes)
            .await?;
        Ok(())
    }
}

fn about<'a>(lease: &LeaseOrigin, kind: EventKind, detail: &'a str) -> EventToWrite<'a> {
    EventToWrite {
        hunt: Some(lease.hunt),
        job: Some(lease.job),
        worker_id: Some(lease.worker_id),
        ..EventToWrite::new("coordinator", kind, detail)
    }
}
