//! Tokens: made, shown at a door, listed, revoked. Only digests of them are ever seen here.

use time::OffsetDateTime;

use super::{EventKind, EventToWrite, Store, StoreError};
use crate::doors::{Role, TokenDigest};

/// A token as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its number.
    pub id: i64,
    /// Whose it is.
    pub name: String,
    /// What it opens.
    pub role: Role,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// When it ends by itself; `None`: never.
    pub expires_at: Option<OffsetDateTime>,
    /// When it was ended; `None`: it was not.
    pub revoked_at: Option<OffsetDateTime>,
    /// When it opened a door last; `None`: never.
    pub used_at: Option<OffsetDateTime>,
    /// It opens its doors now.
    pub is_good: bool,
}

/// Which tokens are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichTokens {
    /// The one of this number.
    Id(i64),
    /// All of this name.
    Name(String),
}

impl Store {
    /// Takes a token's digest down; its number. It ends by itself after so many seconds; `None`: never.
    ///
    /// # Errors
    /// [`StoreError::Database`], also for a name that is none: 1 to 60 characters without `@`.
    pub async fn create_token(
        &self,
        name: &str,
        role: Role,
        digest: &TokenDigest,
        lasts_s: Option<f64>,
    ) -> Result<i64, StoreError> {
        let mut tx = self.begin().await?;
        let row = sqlx::query!(
            r#"
            INSERT INTO tokens (name, role, digest, expires_at)
            VALUES ($1, $2, $3, now() + make_interval(secs => $4))
            RETURNING id
            "#,
            name,
            role.as_str(),
            digest.as_bytes(),
            lasts_s as Option<f64>,
        )
        .fetch_one(&mut *tx.tx)
        .await?;
        let detail = format!("token {} for {name}, {}", row.id, role.as_str());
        tx.write_event(&EventToWrite::new(&self.actor, EventKind::TokenCreated, &detail))
            .await?;
        tx.commit().await?;
        Ok(row.id)
    }

    /// The token of this digest, whatever its state; `None`: there is none. That it was used is noted once a minute.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn token(&self, digest: &TokenDigest) -> Result<Option<TokenRecord>, StoreError> {
        let row = sqlx::query_as!(
            TokenRow,
            r#"
            WITH used AS (
                UPDATE tokens SET used_at = now()
                WHERE digest = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
                    AND (used_at IS NULL OR used_at < now() - interval '1 minute')
            )
            SELECT id, name, role, created_at, expires_at, revoked_at, used_at,
                (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())) AS "is_good!"
            FROM tokens
            WHERE digest = $1
            "#,
            digest.as_bytes(),
        )
        .fetch_optional(&self.reserve)
        .await?;
        row.map(TokenRecord::try_from).transpose()
    }

    /// All tokens, newest first; at most 1,000. With `also_ended` those that open nothing any more.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list_tokens(&self, also_ended: bool) -> Result<Vec<TokenRecord>, StoreError> {
        let rows = sqlx::query_as!(
            TokenRow,
            r#"
            SELECT id, name, role, created_at, expires_at, revoked_at, used_at,
                (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())) AS "is_good!"
            FROM tokens
            WHERE $1 OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()))
            ORDER BY id DESC
            LIMIT 1000
            "#,
            also_ended,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(TokenRecord::try_from).collect()
    }

    /// Ends tokens; how many.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn revoke_tokens(&self, which: &WhichTokens) -> Result<u64, StoreError> {
        let (id, name) = match which {
            WhichTokens::Id(id) => (Some(*id), None),
            WhichTokens::Name(name) => (None, Some(name.as_str())),
        };
        let mut tx = self.begin().await?;
        let rows = sqlx::query!(
            r#"
            UPDATE tokens SET revoked_at = now()
            WHERE revoked_at IS NULL AND (id = $1 OR name = $2)
            RETURNING id, name, role
            "#,
            id,
            name,
        )
        .fetch_all(&mut *tx.tx)
        .await?;
        for row in &rows {
            let detail = format!("token {} for {}, {}", row.id, row.name, row.role);
            tx.write_event(&EventToWrite::new(&self.actor, EventKind::TokenRevoked, &detail))
                .await?;
        }
        tx.commit().await?;
        Ok(rows.len() as u64)
    }
}

struct TokenRow {
    id: i64,
    name: String,
    role: String,
    created_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    used_at: Option<OffsetDateTime>,
    is_good: bool,
}

impl TryFrom<TokenRow> for TokenRecord {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<TokenRecord, StoreError> {
        let role = Role::parse(&row.role).ok_or_else(|| StoreError::Unreadable {
            table: "tokens",
            id: row.id,
            reason: format!("role {:?}", row.role),
        })?;
        Ok(TokenRecord {
            id: row.id,
            name: row.name,
            role,
            created_at: row.created_at,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            used_at: row.used_at,
            is_good: row.is_good,
        })
    }
}
