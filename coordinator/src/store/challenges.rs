//! Challenges: boards set aside for a day to come, secret until then, never used twice.
//!
//! Secrecy is kept here and in the analysts' views: every list of boards that is shown to anybody leaves out what
//! `secret_boards` names. Who may read the table `challenges` itself sees them: that is the operators' role.

use board::geometry::Lot;
use board::{Canonical, Par};
use thiserror::Error;
use time::{Date, OffsetDateTime};

use super::{Store, StoreError, from_sql, narrow, text};

/// A challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Its number.
    pub id: i64,
    /// The day, in UTC.
    pub day: Date,
    /// Par of its board.
    pub par: Par,
    /// Its board; `None`: it is a secret, and nobody asked to see it.
    pub canonical: Option<Canonical>,
    /// When it was set aside.
    pub reserved_at: OffsetDateTime,
    /// When it was made known before its day.
    pub revealed_at: Option<OffsetDateTime>,
    /// Whether it is a secret now.
    pub is_secret: bool,
}

/// Which board to set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The day, in UTC.
    pub day: Date,
    /// The par.
    pub par: Par,
    /// The lot.
    pub lot: Lot,
    /// What it is for, for people.
    pub note: Option<String>,
}

/// Why no board was set aside.
#[derive(Debug, Error)]
pub enum ReserveError {
    /// The database did not go on.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The day has begun already.
    #[error("{0} is not a day to come")]
    NotToCome(Date),
    /// The day has a challenge of this par.
    #[error("{day} has a challenge of par {par} already")]
    Taken {
        /// The day.
        day: Date,
        /// The par.
        par: Par,
    },
    /// There is no board of this par and lot that was never used.
    #[error("no {lot} board of par {par} is left that was never used")]
    NoneLeft {
        /// The lot.
        lot: Lot,
        /// The par.
        par: Par,
    },
}

impl Store {
    /// Sets a board aside: of those of the par and lot that were never reserved, one by chance among at most 10,000.
    ///
    /// # Errors
    /// [`ReserveError`].
    pub async fn reserve_challenge(&self, reservation: &Reservation) -> Result<i64, ReserveError> {
        let Reservation { day, par, lot, note } = reservation;
        let inserted = sqlx::query!(
            r#"
            INSERT INTO challenges (day, par, canonical, note)
            SELECT $1, c.par, c.canonical, $5
            FROM (
                SELECT b.par, b.canonical
                FROM boards b
                WHERE b.par = $2 AND b.lot_width = $3 AND b.lot_height = $4 AND b.minimal IS NOT FALSE
                    AND NOT EXISTS (SELECT FROM challenges c WHERE c.par = b.par AND c.canonical = b.canonical)
                LIMIT 10000
            ) c
            WHERE $1 > (now() AT TIME ZONE 'UTC')::date
            ORDER BY random()
            LIMIT 1
            ON CONFLICT DO NOTHING
            RETURNING id
            "#,
            day,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
            i16::from(lot.width()),
            i16::from(lot.height()),
            note.as_deref().map(|note| text(note, 1000)),
        )
        .fetch_optional(&self.pool)
        .await
        .map_err(StoreError::from)?;
        match inserted {
            Some(row) => Ok(row.id),
            None => Err(self.why_not_reserved(reservation).await?),
        }
    }

    async fn why_not_reserved(&self, reservation: &Reservation) -> Result<ReserveError, StoreError> {
        let Reservation { day, par, lot, .. } = reservation;
        let row = sqlx::query!(
            r#"
            SELECT $1 > (now() AT TIME ZONE 'UTC')::date AS "is_to_come!",
                EXISTS (SELECT FROM challenges WHERE day = $1 AND par = $2) AS "is_taken!"
            "#,
            day,
            i16::try_from(par.get()).unwrap_or(i16::MAX),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(if !row.is_to_come {
            ReserveError::NotToCome(*day)
        } else if row.is_taken {
            ReserveError::Taken { day: *day, par: *par }
        } else {
            ReserveError::NoneLeft { lot: *lot, par: *par }
        })
    }

    /// All challenges by day and par; boards that are secret only if `with_secrets`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn challenges(&self, with_secrets: bool) -> Result<Vec<Challenge>, StoreError> {
        let rows = sqlx::query_as!(
            SqlChallenge,
            r#"
            SELECT c.id, c.day, c.par, c.canonical, c.reserved_at, c.revealed_at,
                (c.day > (now() AT TIME ZONE 'UTC')::date AND c.revealed_at IS NULL) AS "is_secret!"
            FROM challenges c
            ORDER BY c.day, c.par
            "#,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| row.into_challenge(with_secrets))
            .collect()
    }

    /// Makes a challenge known before its day, for good; `None` if there is no such challenge.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn reveal_challenge(&self, id: i64) -> Result<Option<Challenge>, StoreError> {
        let row = sqlx::query_as!(
            SqlChallenge,
            r#"
            UPDATE challenges c
            SET revealed_at = coalesce(c.revealed_at, now())
            WHERE c.id = $1
            RETURNING c.id, c.day, c.par, c.canonical, c.reserved_at, c.revealed_at, false AS "is_secret!"
            "#,
            id,
        )
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| row.into_challenge(true)).transpose()
    }

    /// How many boards are secret now.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn n_secret_boards(&self) -> Result<u64, StoreError> {
        let row = sqlx::query!(r#"SELECT count(*) AS "n!" FROM secret_boards"#)
            .fetch_one(&self.pool)
            .await?;
        Ok(from_sql(row.n))
    }
}

struct SqlChallenge {
    id: i64,
    day: Date,
    par: i16,
    canonical: String,
    reserved_at: OffsetDateTime,
    revealed_at: Option<OffsetDateTime>,
    is_secret: bool,
}

impl SqlChallenge {
    fn into_challenge(self, with_secrets: bool) -> Result<Challenge, StoreError> {
        let canonical = Canonical::parse(&self.canonical).map_err(|error| StoreError::Unreadable {
            table: "challenges",
            id: self.id,
            reason: error.to_string(),
        })?;
        Ok(Challenge {
            id: self.id,
            day: self.day,
            par: Par::new(narrow("challenges", self.id, "par", self.par.into())?),
            canonical: (with_secrets || !self.is_secret).then_some(canonical),
            reserved_at: self.reserved_at,
            revealed_at: self.revealed_at,
            is_secret: self.is_secret,
        })
    }
}
