//! The schema: documented, and brought up to date by any number of coordinators at once.

use coordinator::store::Store;
use sqlx::PgPool;

use crate::fixture::Farm;

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn every_table_and_column_has_a_comment(pool: PgPool) {
    let farm = Farm::new(pool);
    let bare = farm
        .text(
            "SELECT coalesce(string_agg(c.relname || '.' || a.attname, ', '), '')
            FROM pg_attribute a
            JOIN pg_class c ON c.oid = a.attrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'public' AND c.relkind IN ('r', 'v', 'p') AND NOT c.relispartition AND a.attnum > 0
                AND c.relname <> '_sqlx_migrations'
                AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)",
        )
        .await;
    assert_eq!(bare, "");
}

#[sqlx::test(migrations = false)]
async fn coordinators_that_start_at_once_migrate_once(pool: PgPool) {
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let store = Store::from_pool(pool.clone());
            tokio::spawn(async move { store.migrate().await })
        })
        .collect();
    for start in starts {
        start.await.unwrap().unwrap();
    }
    let n_partitions: i64 =
        sqlx::query_scalar("SELECT count(*) FROM pg_inherits WHERE inhparent = 'boards'::regclass")
            .fetch_one(&pool)
            .await
            .unwrap();
    assert_eq!(n_partitions, 101);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_look_up_by_par_touches_one_partition(pool: PgPool) {
    let plan: Vec<String> =
        sqlx::query_scalar("EXPLAIN SELECT * FROM boards WHERE par = 51 AND canonical = 'x'")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert!(plan.iter().any(|line| line.contains("boards_par_51")), "{plan:?}");
    assert!(
        !plan.iter().any(|line| line.contains("boards_par_50")),
        "{plan:?}"
    );
}
