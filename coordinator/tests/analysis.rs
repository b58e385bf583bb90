//! What analysts, packs and challenges see, against a real Postgres: `DATABASE_URL` names a server.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;

use board::cluster::{Explorer, Found};
use board::geometry::Lot;
use board::pack::{self, Curve};
use board::{Board, Par, StateLimit, difficulty};
use coordinator::store::{
    AnalysisView, BatchOrigin, BatchToStore, BoardFilter, BoardRow, Measure, PackFilter, PackSort,
    Reservation, ReserveError, Store, Unmeasured,
};
use proto::ids::BatchId;
use sqlx::{AssertSqlSafe, PgPool};
use time::{Date, Duration, OffsetDateTime};
use uuid::Uuid;

/// Some hundred boards of many pars: all that take one step from these, and what stands for their clusters.
fn some_boards() -> Vec<Found> {
    let mut explorer = Explorer::new();
    let mut found = Vec::new();
    let seeds = [
        "BCCoDoBEFoDGBEFAAGHHHIoGooJIKKLLJMMo",
        "IoBBCCIoKxoMIoKAAMJoxFFMJooLGGHHHLoo",
        "IBBCCxIoKEEoAAKoooooKoLMJFFFLMJGGoxo",
        "BBICCCooIooKHoIAAKHDDEEKoooJFFGGGJoo",
    ];
    for seed in seeds {
        let board: Board = seed.parse().unwrap();
        let mut less = vec![board.clone()];
        for i in 1..board.n_vehicles() {
            let without = board.without_vehicle(i).unwrap();
            less.extend((1..without.n_vehicles()).filter_map(|i| without.without_vehicle(i)));
            less.push(without);
        }
        for board in less {
            found.extend(explorer.entry(&board, StateLimit::new(20_000)).ok().flatten());
        }
    }
    found.sort_by(|a, b| (a.par, &a.canonical).cmp(&(b.par, &b.canonical)));
    found.dedup_by(|a, b| a.canonical == b.canonical);
    found
}

async fn stocked(pool: &PgPool) -> (Store, Vec<Found>) {
    let store = Store::from_pool(pool.clone());
    let found = some_boards();
    let batch = BatchToStore {
        id: BatchId::new(Uuid::from_u128(1)),
        origin: BatchOrigin::Import("corpus.txt".into()),
        best_par: found.last().map(|found| found.par),
        boards: found.iter().cloned().map(BoardRow::from).collect(),
        are_new: false,
        n_known: 0,
        rejections: Vec::new(),
        n_believed: 0,
        board_sum: None,
        strike: None,
        max_strikes: 0,
    };
    store.store_batch(&batch).await.unwrap();
    (store, found)
}

fn lot() -> Lot {
    Lot::new(6, 6).unwrap()
}

fn anything() -> PackFilter {
    PackFilter {
        lot: lot(),
        least_walls: 0,
        most_walls: 64,
        is_minimal: false,
    }
}

fn unmeasured(par: Par) -> Unmeasured<'static> {
    Unmeasured {
        par,
        lot: lot(),
        exit_row: None,
        vehicles: 1..=50,
        walls: 0..=36,
        after: "",
        limit: 1000,
    }
}

async fn number(pool: &PgPool, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
        .fetch_one(pool)
        .await
        .unwrap()
}

async fn today(pool: &PgPool) -> Date {
    let now: OffsetDateTime = sqlx::query_scalar("SELECT now()").fetch_one(pool).await.unwrap();
    now.to_offset(time::UtcOffset::UTC).date()
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn tallies_are_what_counting_gives(pool: PgPool) {
    let (store, found) = stocked(&pool).await;
    let (n_tallied, n_hunts) = (
        "SELECT sum(n_boards)::bigint FROM board_tallies",
        "SELECT sum(n_boards)::bigint FROM hunt_tallies",
    );
    assert_eq!(
        number(&pool, n_tallied).await,
        i64::try_from(found.len()).unwrap()
    );
    assert_eq!(number(&pool, n_hunts).await, i64::try_from(found.len()).unwrap());
    let differences = "SELECT count(*) FROM (
        SELECT lot_width, lot_height, exit_row, n_walls, n_vehicles, par, count(*) AS n, count(*) FILTER (WHERE minimal) AS m,
            sum(n_states) AS s
        FROM boards GROUP BY 1, 2, 3, 4, 5, 6
        EXCEPT
        SELECT lot_width, lot_height, exit_row, n_walls, n_vehicles, par, n_boards, n_minimal, n_states FROM board_tallies) d";
    assert_eq!(number(&pool, differences).await, 0);
    // A batch of known boards changes nothing.
    let again = BatchToStore {
        id: BatchId::new(Uuid::from_u128(2)),
        origin: BatchOrigin::Import("again.txt".into()),
        best_par: None,
        boards: found.iter().cloned().map(BoardRow::from).collect(),
        are_new: false,
        n_known: 0,
        rejections: Vec::new(),
        n_believed: 0,
        board_sum: None,
        strike: None,
        max_strikes: 0,
    };
    assert_eq!(store.store_batch(&again).await.unwrap().n_inserted, 0);
    assert_eq!(
        number(&pool, n_tallied).await,
        i64::try_from(found.len()).unwrap()
    );
    assert_eq!(number(&pool, differences).await, 0);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_pack_is_what_choosing_among_all_boards_gives(pool: PgPool) {
    let (store, found) = stocked(&pool).await;
    let counts = store.pack_counts(&anything(), PackSort::None).await.unwrap();
    let n_boards: u64 = counts.values().sum();
    assert_eq!(n_boards, found.len() as u64);
    let (from, to) = (*counts.keys().next().unwrap(), *counts.keys().last().unwrap());
    let levels = pack::allot(&Curve::FALLING.targets(40, from, to), &counts).unwrap();
    let mut candidates = Vec::new();
    for (&par, &n) in &levels {
        candidates.extend(
            store
                .pack_candidates(par, &anything(), PackSort::None, n)
                .await
                .unwrap(),
        );
    }
    let all = found.iter().map(|found| pack::Candidate {
        sort: 0,
        par: found.par,
        n_vehicles: found.n_vehicles.into(),
        n_states: found.states,
        canonical: found.canonical.clone(),
    });
    let expected = pack::choose(&levels, all.collect()).unwrap();
    assert_eq!(pack::choose(&levels, candidates).unwrap(), expected);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_pack_reads_one_partition_along_the_index_by_size(pool: PgPool) {
    stocked(&pool).await;
    let explain = "EXPLAIN SELECT canonical FROM boards b WHERE par = 14 AND lot_width = 6 AND lot_height = 6
        AND n_walls BETWEEN 0 AND 64 ORDER BY n_vehicles, n_states, canonical LIMIT 7";
    let mut connection = pool.acquire().await.unwrap();
    sqlx::query("SET enable_seqscan = off")
        .execute(&mut *connection)
        .await
        .unwrap();
    let plan: Vec<String> = sqlx::query_scalar(explain)
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    let plan = plan.join("\n");
    assert!(
        plan.contains("boards_par_14_lot_width_lot_height_n_vehicles_n_states_idx"),
        "{plan}"
    );
    assert!(!plan.contains("boards_par_15"), "{plan}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn difficulty_is_stored_once_and_sorts_packs(pool: PgPool) {
    let (store, _) = stocked(&pool).await;
    let sort = PackSort::Hardest(Measure::Luck);
    assert!(store.pack_counts(&anything(), sort).await.unwrap().is_empty());
    let par = *store
        .pack_counts(&anything(), PackSort::None)
        .await
        .unwrap()
        .iter()
        .max_by_key(|(_, n)| **n)
        .unwrap()
        .0;
    let boards = store.unmeasured(&unmeasured(par)).await.unwrap();
    let measure = |canonical: board::Canonical| {
        let measured = difficulty::measure(&canonical.board(), StateLimit::DEFAULT)
            .unwrap()
            .unwrap();
        (canonical, measured)
    };
    let measured: Vec<_> = boards.into_iter().map(measure).collect();
    assert!(measured.len() > 2);
    assert_eq!(
        store.store_difficulty(&measured).await.unwrap(),
        measured.len() as u64
    );
    assert_eq!(store.store_difficulty(&measured).await.unwrap(), 0);
    assert!(store.unmeasured(&unmeasured(par)).await.unwrap().is_empty());
    assert_eq!(store.n_measured().await.unwrap(), measured.len() as u64);
    let hardest = store.pack_candidates(par, &anything(), sort, 1).await.unwrap();
    let most = measured.iter().map(|(_, d)| d.luck_tenths).max().unwrap();
    assert_eq!(hardest[0].sort, -i64::from(most));
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_reserved_board_is_nowhere_to_be_seen_until_it_is_revealed(pool: PgPool) {
    let (store, found) = stocked(&pool).await;
    let par = found.last().unwrap().par;
    let secret = found.last().unwrap().canonical.clone();
    assert_eq!(
        found.iter().filter(|found| found.par == par).count(),
        1,
        "the test needs a par with one board"
    );
    let day = today(&pool).await + Duration::days(3);
    let reservation = |par, day| Reservation {
        day,
        par,
        lot: lot(),
        note: None,
    };
    let id = store.reserve_challenge(&reservation(par, day)).await.unwrap();
    assert_eq!(store.n_secret_boards().await.unwrap(), 1);

    let exported = || async {
        let mut all = BTreeSet::new();
        let each = |row: BoardRow| {
            all.insert(row.found.canonical);
            Ok(())
        };
        store.export(&BoardFilter::default(), each).await.unwrap();
        all
    };
    let n_in = |view: &'static str| {
        let schema = if view.contains('.') { "" } else { "analysis." };
        let sql = format!("SELECT count(*) FROM {schema}{view} WHERE canonical = '{secret}'");
        let pool = pool.clone();
        async move { number(&pool, &sql).await }
    };
    assert!(!exported().await.contains(&secret));
    assert_eq!(
        (
            n_in("boards").await,
            n_in("hardest_boards").await,
            n_in("challenges").await
        ),
        (0, 0, 0)
    );
    // The older views, for whoever reads the tables.
    assert_eq!(
        (
            n_in("public.hardest_boards").await,
            n_in("public.discoveries").await
        ),
        (0, 0)
    );
    assert_eq!(
        store
            .provenance(i16::try_from(par.get()).unwrap(), secret.as_str())
            .await
            .unwrap(),
        None
    );
    assert!(
        store
            .pack_candidates(par, &anything(), PackSort::None, 9)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        store.pack_counts(&anything(), PackSort::None).await.unwrap()[&par],
        0
    );
    assert_eq!(store.challenges(false).await.unwrap()[0].canonical, None);
    assert_eq!(
        store.challenges(true).await.unwrap()[0].canonical.as_ref(),
        Some(&secret)
    );

    // Neither another day nor another try gets it again.
    let again = store
        .reserve_challenge(&reservation(par, day + Duration::days(1)))
        .await;
    assert!(matches!(again, Err(ReserveError::NoneLeft { .. })), "{again:?}");
    let yesterday = store
        .reserve_challenge(&reservation(par, day - Duration::days(9)))
        .await;
    assert!(
        matches!(yesterday, Err(ReserveError::NotToCome(_))),
        "{yesterday:?}"
    );
    // Only boards that are, or may be, minimal are taken.
    let other = found
        .iter()
        .find(|found| found.par != par && found.minimal != Some(false))
        .unwrap()
        .par;
    store.reserve_challenge(&reservation(other, day)).await.unwrap();
    let taken = store.reserve_challenge(&reservation(other, day)).await;
    assert!(matches!(taken, Err(ReserveError::Taken { .. })), "{taken:?}");

    let revealed = store.reveal_challenge(id).await.unwrap().unwrap();
    assert_eq!(revealed.canonical.as_ref(), Some(&secret));
    assert!(exported().await.contains(&secret));
    assert_eq!(
        (
            n_in("boards").await,
            n_in("hardest_boards").await,
            n_in("challenges").await
        ),
        (1, 1, 1)
    );
    // A pack still does not take it: it was used.
    assert!(
        store
            .pack_candidates(par, &anything(), PackSort::None, 9)
            .await
            .unwrap()
            .is_empty()
    );
    let standing = store
        .pack_standing(&[i16::try_from(par.get()).unwrap()], &[secret.to_string()])
        .await
        .unwrap();
    assert!(standing[0].is_stored && standing[0].is_reserved);
    assert!(store.reveal_challenge(999).await.unwrap().is_none());
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn an_analyst_reads_the_views_and_nothing_else(pool: PgPool) {
    stocked(&pool).await;
    let mut connection = pool.acquire().await.unwrap();
    sqlx::query("SET ROLE analyst")
        .execute(&mut *connection)
        .await
        .unwrap();
    let mut refused = Vec::new();
    for sql in [
        "SELECT count(*) FROM public.boards",
        "SELECT count(*) FROM public.challenges",
        "SELECT count(*) FROM public.secret_boards",
        "SELECT count(*) FROM public.boards_par_14",
        "DELETE FROM analysis.boards",
        "INSERT INTO public.challenges (day, par, canonical) VALUES (now(), 1, 'x')",
        "CREATE TABLE public.mine (x int)",
        "CREATE TABLE analysis.mine (x int)",
    ] {
        let error = sqlx::query(sql).execute(&mut *connection).await.unwrap_err();
        refused.push(error.into_database_error().unwrap().code().unwrap().into_owned());
    }
    // 42501: no right; 55000: the view cannot be written to.
    assert!(
        refused.iter().all(|code| code == "42501" || code == "55000"),
        "{refused:?}"
    );
    let n: i64 = sqlx::query_scalar("SELECT count(*) FROM analysis.boards")
        .fetch_one(&mut *connection)
        .await
        .unwrap();
    assert!(n > 0);
    sqlx::query("RESET ROLE").execute(&mut *connection).await.unwrap();
    let settings: Vec<String> =
        sqlx::query_scalar("SELECT unnest(setconfig) FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole WHERE rolname = 'analyst'")
            .fetch_all(&mut *connection)
            .await
            .unwrap();
    for setting in [
        "statement_timeout=60s",
        "default_transaction_read_only=on",
        "search_path=analysis",
    ] {
        assert!(settings.iter().any(|is| is == setting), "{setting}: {settings:?}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_filter_by_par_reads_one_partition_through_the_views(pool: PgPool) {
    for sql in [
        "SELECT * FROM analysis.boards WHERE par = 14",
        "SELECT count(*) FROM analysis.boards WHERE par = 14 AND n_vehicles > 9 AND minimal",
        "SELECT * FROM analysis.boards WHERE par = 14 AND canonical = 'x'",
    ] {
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!("EXPLAIN {sql}")))
            .fetch_all(&pool)
            .await
            .unwrap();
        let plan = plan.join("\n");
        let read: BTreeSet<&str> = plan
            .split_whitespace()
            .filter(|word| word.starts_with("boards_par_"))
            .map(|word| &word[..13])
            .collect();
        assert_eq!(read, BTreeSet::from(["boards_par_14"]), "{plan}");
    }
    for (condition, n_partitions) in [
        ("par BETWEEN 40 AND 44", 5),
        ("par IN (3, 30, 50)", 3),
        ("par > 97 AND par < 100", 2),
        ("par = 30 OR par = 31", 2),
        (
            "par = 30 AND n_vehicles BETWEEN 9 AND 11 AND minimal AND canonical LIKE 'BB%'",
            1,
        ),
        ("par = (SELECT 1) AND par = 30", 1),
    ] {
        let explain = format!("EXPLAIN SELECT count(*) FROM analysis.boards WHERE {condition}");
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(explain))
            .fetch_all(&pool)
            .await
            .unwrap();
        let n_read = (0..100)
            .filter(|par| plan.join("\n").contains(&format!("boards_par_{par:02}")))
            .count();
        assert_eq!(n_read, n_partitions, "{condition}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_par_that_is_known_only_when_the_query_runs_prunes_then(pool: PgPool) {
    stocked(&pool).await;
    let mut connection = pool.acquire().await.unwrap();
    for sql in [
        "SET plan_cache_mode = force_generic_plan",
        "PREPARE of_par (smallint) AS SELECT count(*) FROM analysis.boards WHERE par = $1",
    ] {
        sqlx::query(sql).execute(&mut *connection).await.unwrap();
    }
    let plan: Vec<String> = sqlx::query_scalar("EXPLAIN EXECUTE of_par (14)")
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    let plan = plan.join("\n");
    assert!(plan.contains("Subplans Removed: 100"), "{plan}");
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn the_hardest_boards_come_in_order_and_plan_no_partition(pool: PgPool) {
    let (_, found) = stocked(&pool).await;
    let mut expected: Vec<(i16, String)> = found
        .iter()
        .map(|found| (found.par.get().cast_signed(), found.canonical.to_string()))
        .collect();
    expected.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
    for view in ["analysis.hardest_boards", "public.hardest_boards"] {
        let sql = format!("SELECT par, canonical FROM {view}");
        let rows: Vec<(i16, String)> = sqlx::query_as(AssertSqlSafe(sql)).fetch_all(&pool).await.unwrap();
        assert_eq!(rows, expected, "{view}");
        let explain = format!("EXPLAIN SELECT * FROM {view} ORDER BY par DESC LIMIT 10");
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(explain))
            .fetch_all(&pool)
            .await
            .unwrap();
        let plan = plan.join("\n");
        assert!(!plan.contains("boards_par_"), "{plan}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn a_random_sample_is_of_the_par_and_without_repeats(pool: PgPool) {
    stocked(&pool).await;
    // Enough boards of one par that places are drawn by chance.
    sqlx::query(
        "INSERT INTO boards (n_states, batch_id, par, lot_width, lot_height, exit_row, n_vehicles, n_walls, canonical)
        SELECT 1, 1, 60, 6, 6, 2, 5, 0, md5(i::text) || 'oooo' FROM generate_series(1, 40000) i",
    )
    .execute(&pool)
    .await
    .unwrap();
    for (par, n, least) in [(60, 1000, 900), (60, 10_000, 9_000), (14, 3, 3)] {
        let sql = format!(
            "SELECT count(DISTINCT canonical) FROM analysis.random_boards({par}, {n}) WHERE par = {par}"
        );
        let got = number(&pool, &sql).await;
        assert!((least..=n).contains(&got), "{par} {n}: {got}");
    }
    assert_eq!(
        number(&pool, "SELECT count(*) FROM analysis.random_boards(99, 10)").await,
        0
    );
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn every_query_in_the_analysts_document_runs(pool: PgPool) {
    stocked(&pool).await;
    let document = include_str!("../../docs/analysts.md");
    let queries: Vec<&str> = document
        .split("```sql\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(queries.len() >= 15, "{} queries", queries.len());
    let mut connection = pool.acquire().await.unwrap();
    sqlx::raw_sql("SET ROLE analyst; SET search_path = analysis; SET default_transaction_read_only = on")
        .execute(&mut *connection)
        .await
        .unwrap();
    for query in queries {
        let run = sqlx::raw_sql(AssertSqlSafe(query.to_owned()))
            .execute(&mut *connection)
            .await;
        assert!(run.is_ok(), "{query}\n{run:?}");
    }
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn every_view_can_be_shown_and_has_comments(pool: PgPool) {
    let (store, _) = stocked(&pool).await;
    let views = [
        AnalysisView::ParDistribution,
        AnalysisView::Tallies,
        AnalysisView::ParByHunt,
        AnalysisView::HardestBoards,
        AnalysisView::DiscoveryCurve,
        AnalysisView::YieldByStrategy,
        AnalysisView::Duplicates,
        AnalysisView::Recall,
        AnalysisView::Difficulty,
        AnalysisView::Challenges,
        AnalysisView::Storage,
    ];
    for view in views {
        let rows = store.view_rows(view, 3).await.unwrap();
        assert!(!rows.columns.is_empty() && rows.rows.len() <= 3, "{view:?}");
        assert!(
            rows.rows.iter().all(|row| row.len() == rows.columns.len()),
            "{view:?}"
        );
    }
    let hardest = store.view_rows(AnalysisView::HardestBoards, 3).await.unwrap();
    assert_eq!(hardest.rows[0][0].as_deref(), Some("51"));
    let bare = "SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'analysis'::regnamespace AND a.attnum > 0
            AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)";
    assert_eq!(number(&pool, bare).await, 0);
}

#[sqlx::test(migrator = "coordinator::store::MIGRATOR")]
async fn the_published_counts_add_up(pool: PgPool) {
    for (n_walls, n) in [(0, 476_118), (1, 1_109_498), (2, 991_796)] {
        let sql = format!("SELECT sum(n_minimal)::bigint FROM reference_counts WHERE n_walls = {n_walls}");
        assert_eq!(number(&pool, &sql).await, n);
    }
}
