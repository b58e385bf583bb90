//! A copy of the database in itself, and the way back.

use sqlx::PgPool;

/// What a farm remembers, in the order in which rows may refer to each other; triggers are left out on the way back.
const TABLES: [&str; 19] = [
    "hunts",
    "workers",
    "jobs",
    "job_attempts",
    "batches",
    "rejections",
    "boards",
    "board_counts",
    "board_tallies",
    "hunt_tallies",
    "events",
    "censuses",
    "census_ranges",
    "census_counts",
    "audits",
    "job_yields",
    "job_paces",
    "token_quarantines",
    "hunt_sweeps",
];

/// Tables whose rows are numbered.
const NUMBERED: [&str; 4] = ["hunts", "workers", "jobs", "batches"];

/// Where the numbers were.
#[derive(Clone, Debug)]
pub(crate) struct Numbers([(i64, bool); 4]);

pub(crate) async fn back_up(pool: &PgPool) -> Numbers {
    for table in TABLES {
        run(
            pool,
            &format!("CREATE TABLE IF NOT EXISTS backup_{table} (LIKE {table})"),
        )
        .await;
        run(pool, &format!("DELETE FROM backup_{table}")).await;
        run(pool, &format!("INSERT INTO backup_{table} SELECT * FROM {table}")).await;
    }
    let mut numbers = [(1, false); 4];
    for (table, number) in NUMBERED.iter().zip(&mut numbers) {
        let query = format!("SELECT last_value, is_called FROM {table}_id_seq");
        *number = sqlx::query_as(sqlx::AssertSqlSafe(query))
            .fetch_one(pool)
            .await
            .unwrap();
    }
    Numbers(numbers)
}

pub(crate) async fn put_back(pool: &PgPool, numbers: &Numbers) {
    let mut tx = pool.begin().await.unwrap();
    let mut statements = vec!["SET LOCAL session_replication_role = replica".to_owned()];
    statements.extend(TABLES.map(|table| format!("DELETE FROM {table}")));
    for table in TABLES {
        // Columns that the database computes are computed again.
        let query = "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
            WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''";
        let columns: String = sqlx::query_scalar(query)
            .bind(table)
            .fetch_one(pool)
            .await
            .unwrap();
        statements.push(format!(
            "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM backup_{table}"
        ));
    }
    for (table, (value, is_called)) in NUMBERED.iter().zip(numbers.0) {
        statements.push(format!("SELECT setval('{table}_id_seq', {value}, {is_called})"));
    }
    for statement in statements {
        let done = sqlx::query(sqlx::AssertSqlSafe(statement.clone()))
            .execute(&mut *tx)
            .await;
        done.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    tx.commit().await.unwrap();
}

async fn run(pool: &PgPool, statement: &str) {
    sqlx::query(sqlx::AssertSqlSafe(statement.to_owned()))
        .execute(pool)
        .await
        .unwrap_or_else(|error| panic!("{statement}: {error}"));
}
