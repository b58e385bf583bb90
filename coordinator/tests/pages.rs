//! The dashboard over plain HTTP: every page answers, nobody acts who may not, streams end with the coordinator.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "browser/farm.rs"]
#[allow(dead_code, reason = "the browser tests use more of it")]
mod farm;

use std::time::Duration;

use coordinator::store::{Store, Window};
use sqlx::{AssertSqlSafe, PgPool};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use farm::{Farm, HARDEST, HARDEST_PAR};

/// Long enough for anything that is going to happen; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// Sends a request and reads the answer to its end.
async fn ask(farm: &Farm, request: &str) -> String {
    let mut stream = send(farm, request).await;
    let mut answer = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();
    String::from_utf8(answer).unwrap()
}

async fn send(farm: &Farm, request: &str) -> TcpStream {
    let url = farm.url("");
    let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap())
        .await
        .unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

#[sqlx::test(migrations = false)]
async fn every_page_answers_with_a_policy_that_allows_no_foreign_content(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.fill().await;
    for (name, path) in Farm::pages() {
        let answer = ask(&farm, &get(&path, "")).await;
        assert_eq!(
            status(&answer),
            if name == "nothing" { 404 } else { 200 },
            "{path}: {answer}"
        );
        assert!(
            answer.contains("content-security-policy: default-src 'none'"),
            "{path}"
        );
        assert!(
            !answer.contains(" style=\""),
            "{path} has an inline style, which the policy forbids"
        );
        assert!(!answer.contains("NaN"), "{path} shows a figure that is none");
    }
    for path in ["/assets/icon.svg", "/healthz", "/sign-in"] {
        assert_eq!(status(&ask(&farm, &get(path, "")).await), 200, "{path}");
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn audits_are_shown_with_the_jobs_that_they_check(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.fill().await;
    let trouble = ask(&farm, &get("/trouble", "")).await;
    // What differs, what is disputed and what waits; not what agrees.
    for (job, is_shown) in [
        (100_001, false),
        (100_002, true),
        (100_003, true),
        (100_004, true),
    ] {
        let link = format!("<a href=\"/jobs/{job}\">");
        assert_eq!(trouble.contains(&link), is_shown, "{job}: {trouble}");
    }
    let checked = ask(&farm, &get("/jobs/100002", "")).await;
    assert!(
        checked.contains("Checked by others") && checked.contains("disputed"),
        "{checked}"
    );
    let unchecked = ask(&farm, &get("/jobs/100050", "")).await;
    assert!(!unchecked.contains("Checked by others"), "{unchecked}");
    let audits = ask(&farm, &get("/jobs?kind=audit", "")).await;
    assert_eq!(audits.matches("audit of").count(), 4, "{audits}");
    let audit = audits.split("<th scope=\"row\"><a href=\"/jobs/").nth(1).unwrap();
    let audit = audit.split('"').next().unwrap();
    let page = ask(&farm, &get(&format!("/jobs/{audit}"), "")).await;
    assert!(page.contains("It checks another job"), "{page}");
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn pages_of_an_empty_farm_say_so_and_do_not_fail(pool: PgPool) {
    let farm = Farm::start(pool).await;
    for path in [
        "/", "/hunts", "/census", "/jobs", "/workers", "/boards", "/trouble", "/events",
    ] {
        assert_eq!(status(&ask(&farm, &get(path, "")).await), 200, "{path}");
    }
    for path in [
        "/hunts/1",
        "/jobs/1",
        "/workers/1",
        "/boards/51/ooo",
        "/hunts/1/pause",
        "/jobs/9223372036854775807",
    ] {
        assert_eq!(status(&ask(&farm, &get(path, "")).await), 404, "{path}");
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn what_people_wrote_is_escaped(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.create_hunt("<script>alert(1)</script>").await;
    for path in [
        "/",
        "/hunts",
        "/hunts/1",
        "/events",
        "/hunts/1/pause",
        "/workers?name=%3Cscript%3E",
        "/%3Cscript%3E",
    ] {
        let answer = ask(&farm, &get(path, "")).await;
        assert!(
            !answer.contains("<script>alert") && !answer.contains("value=\"<script"),
            "{path}: {answer}"
        );
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_form_acts_only_if_a_page_of_ours_sent_it(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.create_hunt("a").await;
    let token = "0123456789abcdef0123456789abcdef";
    let body = format!("form_token={token}");
    let cookie = format!("Cookie: parforce_form={token}\r\n");
    for (headers, body) in [
        ("", ""),
        ("", body.as_str()),
        (cookie.as_str(), ""),
        (cookie.as_str(), "form_token=00000000000000000000000000000000"),
    ] {
        let answer = ask(&farm, &post("/hunts/1/pause", headers, body)).await;
        assert_eq!(status(&answer), 403, "{headers}{body}");
    }
    let cross = format!("{cookie}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(
        status(&ask(&farm, &post("/hunts/1/pause", &cross, &body)).await),
        403
    );
    assert_eq!(farm.state_of("a").await, "running");
    let answer = ask(&farm, &post("/hunts/1/pause", &cookie, &body)).await;
    assert_eq!(status(&answer), 303, "{answer}");
    assert_eq!(farm.state_of("a").await, "paused");
    // What has happened meanwhile is said, not done twice.
    assert_eq!(
        status(&ask(&farm, &post("/hunts/1/pause", &cookie, &body)).await),
        409
    );
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_viewer_looks_and_an_operator_acts_and_both_are_named(pool: PgPool) {
    let farm = Farm::start_guarded(pool, &[("anna", "operator", "hound"), ("bert", "viewer", "hare")]).await;
    farm.create_hunt("a").await;
    assert_eq!(status(&ask(&farm, &get("/", "")).await), 303);
    assert_eq!(status(&ask(&farm, &get("/live?page=/", "")).await), 401);
    assert_eq!(status(&ask(&farm, &post("/hunts/1/cancel", "", "")).await), 401);
    let viewer = "Authorization: Bearer hare\r\n";
    assert_eq!(status(&ask(&farm, &get("/", viewer)).await), 200);
    assert_eq!(
        status(&ask(&farm, &post("/hunts/1/cancel", viewer, "")).await),
        403
    );
    let operator = "Authorization: Bearer hound\r\n";
    assert_eq!(
        status(&ask(&farm, &post("/hunts/1/priority", operator, "priority=5")).await),
        303
    );
    assert_eq!(
        status(&ask(&farm, &post("/hunts/1/cancel", operator, "")).await),
        303
    );
    let events = ask(&farm, &get("/events", operator)).await;
    assert!(
        events.contains("operator anna") && events.contains("priority 0 to 5"),
        "{events}"
    );
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn workers_are_drained_quarantined_and_trusted_and_parked_jobs_requeued(pool: PgPool) {
    let farm = Farm::start_guarded(pool.clone(), &[("anna", "operator", "hound")]).await;
    farm.fill().await;
    let operator = "Authorization: Bearer hound\r\n";
    let worker = async |column: &str| -> String {
        let sql = format!("SELECT {column}::text FROM workers WHERE id = 2");
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
            .fetch_one(&pool)
            .await
            .unwrap()
    };
    for (path, body) in [
        ("/workers/2/drain", ""),
        ("/workers/2/quarantine", "reason=memory+errors"),
        ("/workers/1/trust", ""),
    ] {
        assert_eq!(
            status(&ask(&farm, &post(path, operator, body)).await),
            303,
            "{path}"
        );
    }
    assert_eq!(worker("directive").await, "drain");
    assert_eq!(worker("quarantine_reason").await, "memory errors");
    let body = "hunt=1&outcome=failed&error=out+of+memory+at+%23+MiB";
    assert_eq!(
        status(&ask(&farm, &post("/trouble/requeue", operator, body)).await),
        303
    );
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE state = 'parked'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(left, 6, "of nine parked jobs three had failed like this");
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_live_page_is_a_snapshot_then_changes_and_ends_with_the_coordinator(pool: PgPool) {
    let farm = Farm::start(pool).await;
    let mut stream = send(&farm, &get("/live?page=%2Fevents", "")).await;
    let mut heard = String::new();
    let until = async |stream: &mut TcpStream, heard: &mut String, text: &str| {
        tokio::time::timeout(PATIENCE, async {
            let mut part = [0; 4096];
            while !heard.contains(text) {
                let n = stream.read(&mut part).await.unwrap();
                assert!(n > 0, "the stream ended before {text:?}: {heard}");
                heard.push_str(&String::from_utf8_lossy(&part[..n]));
            }
        })
        .await
        .unwrap();
    };
    until(&mut stream, &mut heard, "Nothing like that has happened").await;
    farm.create_hunt("while the page is open").await;
    until(&mut stream, &mut heard, "while the page is open").await;
    farm.stop().await;
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_live_page_can_be_polled_where_streams_do_not_get_through(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.create_hunt("polled").await;
    let answer = ask(&farm, &get("/live?page=%2Fevents&once=1", "")).await;
    let blocks: serde_json::Value =
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1.trim()).unwrap();
    assert!(blocks["events"].as_str().unwrap().contains("polled"), "{blocks}");
    assert!(blocks["as-of"].as_str().unwrap().contains("UTC"), "{blocks}");
    for path in [
        "/live",
        "/live?page=%2Fnothing",
        "/live?page=%2Fhunts%2F99&once=1",
    ] {
        assert_eq!(status(&ask(&farm, &get(path, "")).await), 404, "{path}");
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn samples_are_taken_once_however_many_coordinators_there_are(pool: PgPool) {
    let store = Store::from_pool(pool.clone());
    store.migrate().await.unwrap();
    let (a, b, c) = tokio::join!(store.sample(), store.sample(), store.sample());
    for done in [a, b, c] {
        done.unwrap();
    }
    store.sample().await.unwrap();
    let most: i64 = sqlx::query_scalar("SELECT count(*) FROM farm_samples WHERE grain_s = 10")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert!(
        (1..=2).contains(&most),
        "{most} samples within one or two slots of ten seconds"
    );
    assert!(!store.farm_series(Window::Hour).await.unwrap().is_empty());
}

#[sqlx::test(migrations = false)]
async fn what_comes_after_a_hunts_end_is_in_its_last_sample(pool: PgPool) {
    let store = Store::from_pool(pool.clone());
    store.migrate().await.unwrap();
    let run = async |sql: &'static str| {
        sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    };
    run("INSERT INTO hunts (name, lot_width, lot_height, exit_row, hero_length, first_vehicles, last_vehicles, first_walls,
            last_walls, lengths, weights, strategy, seed, state, ended_at, end_reason)
            VALUES ('a', 6, 6, 2, 2, 2, 3, 0, 0, '{2}', '{1}', 'scatter', 1, 'done', now() - interval '1 hour', 'time');
        INSERT INTO jobs (hunt_id, number, kind, seed, spec, n_work, state, ended_at)
            VALUES (1, 0, 'scatter', 1, '', 1, 'cancelled', now() - interval '1 hour');
        INSERT INTO workers (name, session, incarnation, engine, program_version, protocol, n_threads, n_slots, cpu)
            VALUES ('w', gen_random_uuid(), gen_random_uuid(), 'e', 'v', 1, 1, 1, 'h')")
        .await;
    store.sample().await.unwrap();
    let n_new = async || {
        store.hunt_lines(Some(1)).await.unwrap()[0]
            .totals
            .as_ref()
            .unwrap()
            .n_new
    };
    assert_eq!(n_new().await, 0);
    // The samples so far are of an hour ago, the coordinator ran no more; then a spool was handed in, and then nothing.
    run("UPDATE hunt_samples SET at = at - interval '1 hour'; UPDATE farm_samples SET at = at - interval '1 hour';
        UPDATE jobs SET n_new = 7;
        INSERT INTO batches (batch, worker_id, job_id, token, stored_at, n_inserted)
            VALUES (gen_random_uuid(), 1, 1, 1, now() - interval '30 minutes', 7)")
        .await;
    store.sample().await.unwrap();
    assert_eq!(n_new().await, 7);
    // Nothing came since: no more samples of it.
    run("UPDATE farm_samples SET at = at - interval '1 minute'; UPDATE jobs SET n_new = 8").await;
    let before = store.hunt_lines(Some(1)).await.unwrap()[0]
        .totals
        .as_ref()
        .unwrap()
        .at;
    run("UPDATE hunt_samples SET at = at - interval '1 minute'").await;
    store.sample().await.unwrap();
    assert_eq!(
        store.hunt_lines(Some(1)).await.unwrap()[0]
            .totals
            .as_ref()
            .unwrap()
            .at,
        before - Duration::from_mins(1)
    );
}

#[sqlx::test(migrations = false)]
async fn boards_are_found_by_filter_and_page_after_page_without_a_gap(pool: PgPool) {
    let farm = Farm::start(pool.clone()).await;
    farm.import(HARDEST).await;
    sqlx::query("INSERT INTO boards SELECT 100, 1, 9, 6, 6, 2, 8 + i % 3, 0, true, 'AA' || lpad(i::text, 34, '0') FROM generate_series(1, 200) i")
        .execute(&pool).await.unwrap();
    sqlx::query("INSERT INTO board_counts VALUES (6, 6, 2, 0, 9, 200)")
        .execute(&pool)
        .await
        .unwrap();
    let answer = ask(&farm, &get("/boards", "")).await;
    assert!(
        answer.contains(&format!("/boards/{HARDEST_PAR}/{HARDEST}"))
            && answer.contains("201 boards, hardest first"),
        "{answer}"
    );
    let (mut path, mut seen) = ("/boards?par=9&vehicles=8".to_owned(), 0);
    loop {
        let answer = ask(&farm, &get(&path, "")).await;
        seen += answer.matches("href=\"/boards/9/").count();
        let Some((before, _)) = answer.split_once("\" rel=\"next\"") else {
            break;
        };
        path = before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&");
    }
    assert_eq!(seen, 66, "every board of the filter, each once");
    farm.stop().await;
}

/// A query of the crate as it is checked against the database: the one that holds `part`.
fn checked_query(part: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/.sqlx");
    let mut found = std::fs::read_dir(folder).unwrap().filter_map(|file| {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let query: serde_json::Value = serde_json::from_str(&text).unwrap();
        let sql = query["query"].as_str().unwrap().to_owned();
        sql.contains(part).then_some(sql)
    });
    let sql = found.next().unwrap();
    assert!(found.next().is_none(), "only one query holds {part}");
    sql
}

/// Its index by number has the right order too, but a worker that never handed in anything would have all of it read.
#[sqlx::test(migrations = false)]
async fn the_list_of_workers_looks_for_the_last_batch_of_each_by_worker(pool: PgPool) {
    let farm = Farm::start(pool.clone()).await;
    farm.fill().await;
    let mut connection = pool.acquire().await.unwrap();
    for sql in [
        "INSERT INTO workers (name, incarnation, session, engine, program_version, protocol, n_slots, n_threads, cpu)
         SELECT 'idle-' || i, gen_random_uuid(), gen_random_uuid(), 'e', '0.1.0', 1, 1, 2, 'a processor' FROM generate_series(1, 200) i",
        "INSERT INTO batches (batch, worker_id, job_id, token)
         SELECT gen_random_uuid(), 1, 1, 1 FROM generate_series(1, 20000)",
        "ANALYZE workers, batches",
    ] {
        sqlx::query(sql).execute(&mut *connection).await.unwrap();
    }
    let prepare = format!("PREPARE lines AS {}", checked_query("last_batch_at?"));
    sqlx::raw_sql(AssertSqlSafe(prepare))
        .execute(&mut *connection)
        .await
        .unwrap();
    let plan: Vec<String> = sqlx::query_scalar("EXPLAIN EXECUTE lines (NULL, NULL, 'name', 0, NULL, 101)")
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    let plan = plan.join("\n");
    assert!(
        plan.contains("using batches_by_worker") && !plan.contains("batches_pkey"),
        "{plan}"
    );
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_form_under_the_name_of_a_hunt_changes_nothing(pool: PgPool) {
    let farm = Farm::start(pool.clone()).await;
    farm.create_hunt("a").await;
    let hunt = "SELECT strategy || ' ' || priority || ' ' || state FROM hunts WHERE name = 'a'";
    let before: String = sqlx::query_scalar(hunt).fetch_one(&pool).await.unwrap();
    let token = "0123456789abcdef0123456789abcdef";
    let cookie = format!("Cookie: parforce_form={token}\r\n");
    let form = |name: &str| {
        format!("form_token={token}&name={name}&width=6&height=6&scatter=on&minutes=1&priority=9&aim=broad")
    };
    let answer = ask(&farm, &post("/hunts/new", &cookie, &form("a"))).await;
    assert_eq!(status(&answer), 422, "{answer}");
    assert!(answer.contains("hunt 1 has this name and is running"), "{answer}");
    assert_eq!(
        sqlx::query_scalar::<_, String>(hunt)
            .fetch_one(&pool)
            .await
            .unwrap(),
        before
    );
    // The same form sent eight times at once asks for one hunt.
    let (farm, request) = (std::sync::Arc::new(farm), post("/hunts/new", &cookie, &form("b")));
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let (farm, request) = (farm.clone(), request.clone());
            tokio::spawn(async move { status(&ask(&farm, &request).await) })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers.sort_unstable();
    assert_eq!(answers, [303, 422, 422, 422, 422, 422, 422, 422]);
    std::sync::Arc::into_inner(farm).unwrap().stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_filter_that_cannot_be_read_is_named_and_a_zero_is_no_error_of_the_database(pool: PgPool) {
    let farm = Farm::start(pool).await;
    for (path, what) in [
        ("/boards?par=abc", "par is &quot;abc&quot;"),
        ("/jobs?hunt=1e9", "hunt is &quot;1e9&quot;"),
        ("/?window=zzz", "window is &quot;zzz&quot;"),
    ] {
        let answer = ask(&farm, &get(path, "")).await;
        assert_eq!(status(&answer), 400, "{path}");
        assert!(
            answer.contains(what) && !answer.contains("1970"),
            "{path}: {answer}"
        );
    }
    for path in ["/jobs?state=%00", "/workers?name=%00", "/events?kind=%00"] {
        assert_eq!(status(&ask(&farm, &get(path, "")).await), 200, "{path}");
    }
    farm.stop().await;
}

#[sqlx::test(migrations = false)]
async fn of_more_open_pages_than_there_may_be_the_rest_poll(pool: PgPool) {
    let farm = Farm::start(pool).await;
    let live = get("/live?page=%2Fhunts", "");
    let mut open = Vec::new();
    for _ in 0..300 {
        open.push(send(&farm, &live).await);
        let mut head = [0; 12];
        let stream = open.last_mut().unwrap();
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
    }
    assert_eq!(status(&ask(&farm, &live).await), 503);
    let polled = ask(&farm, &get("/live?page=%2Fhunts&once=1", "")).await;
    assert_eq!(status(&polled), 200, "{polled}");
    assert_eq!(status(&ask(&farm, &get("/hunts", "")).await), 200);
    drop(open);
    farm.stop().await;
}
