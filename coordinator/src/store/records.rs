//! Records: the hardest board known of each kind, and which of them two solvers have proved.

use board::Par;
use board::canonical::Canonical;
use board::geometry::Lot;
use proto::ids::JobId;
use time::OffsetDateTime;

use super::{Store, StoreError, from_sql, narrow, planning::parse_start};

/// The hardest board known of a lot, exit row, number of walls and of vehicles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRow {
    /// The lot.
    pub lot: Lot,
    /// The exit row.
    pub exit_row: u8,
    /// Walls.
    pub n_walls: u8,
    /// Vehicles, the hero included.
    pub n_vehicles: u8,
    /// Its par.
    pub par: Par,
    /// The board of it that was found first.
    pub canonical: Canonical,
    /// Positions in its cluster.
    pub n_states: u64,
    /// When it was found; `None`: its batch is not known.
    pub found_at: Option<OffsetDateTime>,
    /// The job that found it first; `None`: it was imported.
    pub job: Option<JobId>,
    /// What it was imported from; `None`: it was not.
    pub source: Option<String>,
    /// When two solvers agreed on it; `None`: they were not asked.
    pub proved_at: Option<OffsetDateTime>,
}

impl Store {
    /// The records, of one lot or of all, in the order of lot, exit row, walls and vehicles.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn records(&self, lot: Option<Lot>) -> Result<Vec<RecordRow>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT lot AS "lot!", exit_row AS "exit_row!", n_walls AS "n_walls!", n_vehicles AS "n_vehicles!",
                par AS "par!", canonical AS "canonical!", n_states AS "n_states!", found_at, job_id, source, proved_at
            FROM analysis.records
            WHERE $1::text IS NULL OR lot = $1
            ORDER BY lot, exit_row, n_walls, n_vehicles
            "#,
            lot.map(|lot| lot.to_string()),
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let small = |column, value: i16| narrow::<u8>("records", 0, column, value.into());
                Ok(RecordRow {
                    lot: row.lot.parse().map_err(|_| StoreError::Unreadable {
                        table: "records",
                        id: 0,
                        reason: format!("lot {:?}", row.lot),
                    })?,
                    exit_row: small("exit_row", row.exit_row)?,
                    n_walls: small("n_walls", row.n_walls)?,
                    n_vehicles: small("n_vehicles", row.n_vehicles)?,
                    par: Par::new(narrow("records", 0, "par", row.par.into())?),
                    canonical: parse_start(&row.canonical)?,
                    n_states: from_sql(row.n_states),
                    found_at: row.found_at,
                    job: row.job_id.map(super::leases::job_id),
                    source: row.source,
                    proved_at: row.proved_at,
                })
            })
            .collect()
    }

    /// Notes that these solvers agreed on a board.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn note_proof(&self, par: Par, canonical: &Canonical, solvers: &str) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO record_proofs (par, canonical, solvers)
            VALUES ($1, $2, $3)
            ON CONFLICT (par, canonical) DO UPDATE SET solvers = EXCLUDED.solvers, proved_at = now()
            "#,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
            canonical.as_str(),
            solvers,
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
