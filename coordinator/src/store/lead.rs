//! What only one coordinator does at a time, and how the others hear of work.
//!
//! Nobody is elected: whoever gets the lock does it this time, and gives the lock back with the end of the transaction,
//! whatever becomes of the coordinator.

use sqlx::postgres::PgListener;

use super::{Store, StoreError, Tx};

/// What is done by one coordinator at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lead {
    /// Looking for leases that ran out, hunts that are spent, audits to be judged.
    Reaper,
    /// Proving what workers in quarantine found.
    Suspects,
}

impl Lead {
    /// The lock's number. Locks are of the database; sqlx takes another for migrations.
    fn key(self) -> i64 {
        match self {
            Lead::Reaper => 0x7061_7266_0001,
            Lead::Suspects => 0x7061_7266_0002,
        }
    }
}

/// Word of new work.
#[derive(Debug)]
pub struct WordOfWork {
    listener: PgListener,
}

impl Store {
    /// Takes the lead, until the transaction ends. `None`: another coordinator has it.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn lead(&self, lead: Lead) -> Result<Option<Tx>, StoreError> {
        let mut tx = self.begin().await?;
        let row = sqlx::query!(r#"SELECT pg_try_advisory_xact_lock($1) AS "has_it!""#, lead.key())
            .fetch_one(&mut *tx.tx)
            .await?;
        Ok(row.has_it.then_some(tx))
    }

    /// Begins to listen for word of new work, over a connection of its own.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn word_of_work(&self) -> Result<WordOfWork, StoreError> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen("parforce_work").await?;
        Ok(WordOfWork { listener })
    }
}

impl WordOfWork {
    /// Waits for word, or until word may have been missed (the connection broke and is there again).
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn next(&mut self) -> Result<(), StoreError> {
        self.listener.try_recv().await?;
        Ok(())
    }
}
