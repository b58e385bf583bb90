//! Jams: what stands in `jams` and `jam_finds` was handed over by [`crate::jams`], which proved it.

use proto::convert::Ack;
use proto::ids::{BatchId, HuntId};
use siren::pieces::Piece;
use siren::proof::ProvedJam;

use super::batches::BatchOrigin;
use super::{LeaseOrigin, RejectionToStore, Store, StoreError, Tx, to_sql};

/// A jam to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JamRow {
    /// The jam and all that was found out about it.
    pub proved: ProvedJam,
    /// The seed was tried again and gave it: it takes the place of what another said of the seed.
    pub is_tried_again: bool,
}

/// A batch of jams, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JamBatchToStore {
    /// Repeated, it is answered alike.
    pub id: BatchId,
    /// Who found it.
    pub lease: LeaseOrigin,
    /// The number of the job, and with it of the level.
    pub number: u64,
    /// Jams that may be new, one a seed.
    pub jams: Vec<JamRow>,
    /// Finds that are stored already, or stood in the batch before.
    pub n_known: u32,
    /// Jams that were refused.
    pub rejections: Vec<RejectionToStore>,
    /// What is held against the sender; `None`: nothing.
    pub strike: Option<String>,
    /// With so many strikes a worker is quarantined.
    pub max_strikes: u32,
}

impl Store {
    /// What the seeds of a level gave so far: seed and level file.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn level_finds(&self, hunt: HuntId, number: u64) -> Result<Vec<(u64, String)>, StoreError> {
        let rows = sqlx::query!(
            "SELECT seed, level FROM jam_finds WHERE hunt_id = $1 AND number = $2 ORDER BY seed",
            hunt.get(),
            to_sql(number),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (row.seed.cast_unsigned(), row.level))
            .collect())
    }

    /// Takes back what was said of some seeds of a level and turned out to be false. The jams stay: they are good ones.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn remove_finds(&self, hunt: HuntId, number: u64, seeds: &[u64]) -> Result<(), StoreError> {
        let seeds: Vec<i64> = seeds.iter().map(|seed| seed.cast_signed()).collect();
        sqlx::query!(
            "DELETE FROM jam_finds WHERE hunt_id = $1 AND number = $2 AND seed = ANY ($3)",
            hunt.get(),
            to_sql(number),
            &seeds,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Stores a batch of jams with all that follows from it, and gives the answer once it is committed. A batch that was
    /// stored meanwhile changes nothing and gets the stored answer.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was stored.
    pub async fn store_jams(&self, batch: &JamBatchToStore) -> Result<Ack, StoreError> {
        let mut tx = self.begin().await?;
        let origin = BatchOrigin::Lease(batch.lease.clone());
        // Waits for another call with the same id to end, then finds its row.
        let Some((batch_id, _)) = tx.open_batch(batch.id, &origin).await? else {
            drop(tx);
            return self.stored_meanwhile(batch.id, None).await;
        };
        let mut n_inserted = 0_u32;
        for jam in &batch.jams {
            n_inserted += u32::from(tx.insert_jam(batch_id, &jam.proved).await?);
            tx.insert_find(batch_id, batch.lease.hunt, batch.number, jam)
                .await?;
        }
        let n_offered = u32::try_from(batch.jams.len()).expect("a batch has at most 64 jams");
        let ack = Ack {
            n_inserted,
            n_duplicate: batch.n_known + n_offered - n_inserted,
            rejected: batch
                .rejections
                .iter()
                .map(|refused| refused.rejection.clone())
                .collect(),
            spell_out: false,
        };
        tx.store_rejections(batch_id, &batch.rejections).await?;
        let best_par = batch
            .jams
            .iter()
            .map(|jam| jam.proved.candidate.measures.par)
            .max();
        let best_par = best_par.map(|par| board::Par::new(u16::try_from(par).unwrap_or(u16::MAX)));
        let (n_new, n_known) = (u64::from(ack.n_inserted), u64::from(ack.n_duplicate));
        Store::count_boards(&mut tx, batch.lease.job, n_new, n_known, best_par).await?;
        if let Some(reason) = &batch.strike {
            tx.note_strike(&batch.lease, reason, batch.max_strikes).await?;
        }
        tx.close_batch(batch_id, &ack, 0, None).await?;
        tx.commit().await?;
        Ok(ack)
    }

    /// Holds something against the holder of a lease that is no batch.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn strike_holder(
        &self,
        lease: &LeaseOrigin,
        reason: &str,
        max_strikes: u32,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        tx.note_strike(lease, reason, max_strikes).await?;
        tx.commit().await
    }
}

impl Tx {
    /// True: nobody had found it before.
    async fn insert_jam(&mut self, batch_id: i64, proved: &ProvedJam) -> Result<bool, StoreError> {
        let measures = &proved.candidate.measures;
        let parts = proved.candidate.jam.parts();
        let lot = proved.canonical.jam().lot();
        let small = |count: u32| i16::try_from(count).unwrap_or(i16::MAX);
        let few = |count: usize| i16::try_from(count).unwrap_or(i16::MAX);
        let n_pieces =
            |wanted: fn(&Piece) -> bool| few(parts.pieces.iter().filter(|piece| wanted(piece)).count());
        let done = sqlx::query!(
            r#"
            INSERT INTO jams (batch_id, par, lot_width, lot_height, n_vehicles, chain_depth, n_locked, fullness_percent,
                forward_cost, reverse_cost, n_swaps, lowers_bridge, n_lights, n_wrecks, n_barricades, n_planters, canonical)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            ON CONFLICT (par, canonical) DO NOTHING
            "#,
            batch_id,
            small(measures.par),
            i16::from(lot.width()),
            i16::from(lot.height()),
            small(measures.vehicles),
            small(measures.chain_depth),
            small(measures.locked),
            small(measures.fullness_percent),
            small(proved.costs[0]),
            small(proved.costs[1]),
            small(proved.n_swaps),
            proved.lowers_bridge,
            few(parts.lights.len()),
            n_pieces(|piece| matches!(piece, Piece::Wreck(_))),
            n_pieces(|piece| matches!(piece, Piece::Barricade(_))),
            n_pieces(|piece| matches!(piece, Piece::Planter(_))),
            proved.canonical.as_str(),
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// What a seed gave. Said before, it stays as it is, unless the seed was tried again.
    async fn insert_find(
        &mut self,
        batch_id: i64,
        hunt: HuntId,
        number: u64,
        jam: &JamRow,
    ) -> Result<(), StoreError> {
        let (score, rating) = (&jam.proved.candidate.score, &jam.proved.rating);
        let whole = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        sqlx::query!(
            r#"
            INSERT INTO jam_finds AS known (hunt_id, number, seed, batch_id, par, score_misses, score_merit,
                difficulty_hundredths, time_tenths, three_stars_s, two_stars_s, is_tried_again, canonical, level)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
            ON CONFLICT (hunt_id, number, seed) DO UPDATE SET batch_id = EXCLUDED.batch_id, par = EXCLUDED.par,
                score_misses = EXCLUDED.score_misses, score_merit = EXCLUDED.score_merit,
                difficulty_hundredths = EXCLUDED.difficulty_hundredths, time_tenths = EXCLUDED.time_tenths,
                three_stars_s = EXCLUDED.three_stars_s, two_stars_s = EXCLUDED.two_stars_s,
                is_tried_again = EXCLUDED.is_tried_again, canonical = EXCLUDED.canonical, level = EXCLUDED.level
            WHERE EXCLUDED.is_tried_again AND NOT known.is_tried_again
            "#,
            hunt.get(),
            to_sql(number),
            jam.proved.seed.cast_signed(),
            batch_id,
            i16::try_from(jam.proved.candidate.measures.par).unwrap_or(i16::MAX),
            whole(score.misses),
            whole(score.merit),
            i16::try_from(rating.difficulty_hundredths).unwrap_or(i16::MAX),
            whole(rating.time_tenths),
            whole(rating.star_seconds.three),
            whole(rating.star_seconds.two),
            jam.is_tried_again,
            jam.proved.canonical.as_str(),
            jam.proved.level,
        )
        .execute(&mut *self.tx)
        .await?;
        Ok(())
    }
}
