//! The dashboard in a real browser: Debian's chromium and chromedriver, where they are installed (`.ci/need-chromium`
//! installs them). `DATABASE_URL` names a server; each test gets a database of its own there. Pictures of every page
//! go to `target/dashboard-pictures`.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod browser;
mod checks;
mod farm;

use std::path::{Path, PathBuf};

use sqlx::PgPool;
use thirtyfour::prelude::*;

use browser::{Browser, Look};
use farm::{Farm, HARDEST, HARDEST_PAR};

/// Where pictures go.
fn pictures() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../dashboard-pictures");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

async fn sign_of_life(browser: &Browser) {
    browser.wait_for("#pulse[data-state=live]").await;
}

#[sqlx::test(migrations = false)]
async fn a_hunt_is_made_watched_paused_resumed_and_its_record_stepped_through(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let farm = Farm::start(pool).await;
    let worker = farm.start_worker();

    // From the form, defaults kept but for the name and a smaller lot, so that boards come at once.
    browser.open(&farm.url("/hunts/new")).await;
    browser.fill("#name", "the browser's hunt").await;
    browser.choose("#width", "5").await;
    browser.choose("#height", "5").await;
    browser.click("main form button.first").await;
    browser.wait_for_text("h1", "the browser's hunt").await;
    let hunt = browser.address().await;

    // It progresses before our eyes: the page is not loaded again.
    sign_of_life(&browser).await;
    browser.run("window.stillTheSamePage = true; return 1").await;
    browser
        .wait_until("a new board is counted", || async {
            let tile = browser.text_of("dl.tiles").await;
            !tile.contains("New boards\n–") && !tile.contains("New boards\n0\n")
        })
        .await;
    assert_eq!(browser.run("return window.stillTheSamePage === true").await, true);

    // Paused: only after the question.
    browser.click("main .head .actions a[href$='/pause']").await;
    browser.wait_for_text("h1", "Pause the browser's hunt?").await;
    assert_eq!(farm.state_of("the browser's hunt").await, "running");
    browser.click("main form button[type=submit]").await;
    browser.wait_for_text(".head .badge", "paused").await;
    assert_eq!(farm.state_of("the browser's hunt").await, "paused");
    browser.wait_for_text("#now", "It is paused").await;
    browser.click("main .head .actions a[href$='/resume']").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for_text(".head .badge", "running").await;
    browser.wait_for_text("#log", "Hunt resumed").await;
    assert_eq!(browser.address().await, hunt);

    // The hardest board there is, stepped through with the keyboard.
    farm.import(HARDEST).await;
    browser.open(&farm.url("/boards?lot=6x6")).await;
    browser
        .click(&format!("a[href='/boards/{HARDEST_PAR}/{HARDEST}']"))
        .await;
    browser
        .wait_for_text(".caption", &format!("Start: {HARDEST_PAR} slides to go"))
        .await;
    for step in 1..=HARDEST_PAR {
        browser.press(Key::Right).await;
        browser.wait_for(&format!(".stepper[data-at='{step}']")).await;
    }
    browser.wait_for_text(".caption", "solved").await;
    // Vehicles glide, so the hero is not there at once.
    let gap = "const end = (css) => document.querySelector(css).getBoundingClientRect().right; \
               return end('.stage .lot') - end('.stage .v.hero')";
    browser
        .wait_until("the hero at the exit", || async {
            browser.run(gap).await.as_f64().unwrap().abs() < 40.0
        })
        .await;
    browser.picture(&pictures().join("board-solved.png")).await;
    browser.press(Key::Home).await;
    browser.wait_for(".stepper[data-at='0']").await;

    worker.stop().await;
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn an_open_page_goes_on_when_the_coordinator_comes_back(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let mut farm = Farm::start(pool).await;
    farm.fill().await;
    browser.open(&farm.url("/events")).await;
    sign_of_life(&browser).await;
    browser.run("window.stillTheSamePage = true; return 1").await;
    farm.restart().await;
    farm.create_hunt("asked for after the restart").await;
    browser
        .wait_for_text("#events", "asked for after the restart")
        .await;
    sign_of_life(&browser).await;
    assert_eq!(browser.run("return window.stillTheSamePage === true").await, true);
    farm.stop().await;
    browser.stop().await;
}

/// Lets the page believe that it is hidden, or shown again, as a browser does when its tab is.
async fn set_hidden(browser: &Browser, is_hidden: bool) {
    let script = format!(
        "Object.defineProperty(document, 'hidden', {{ configurable: true, get: () => {is_hidden} }});
         document.dispatchEvent(new Event('visibilitychange')); return 1"
    );
    browser.run(&script).await;
}

#[sqlx::test(migrations = false)]
async fn a_hidden_page_closes_its_stream_and_catches_up_when_it_is_shown(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let farm = Farm::start(pool).await;
    browser.open(&farm.url("/events")).await;
    sign_of_life(&browser).await;
    // Streams that the page opens from here on are remembered, so that it can be asked whether they are closed.
    browser
        .run(
            "window.streams = []; const Plain = EventSource;
             window.EventSource = class extends Plain { constructor(url) { super(url); streams.push(this); } }; return 1",
        )
        .await;
    set_hidden(&browser, true).await;
    set_hidden(&browser, false).await;
    sign_of_life(&browser).await;
    set_hidden(&browser, true).await;
    browser.wait_for("#pulse[data-state=off]").await;
    let states = browser
        .run("return streams.map((stream) => stream.readyState)")
        .await;
    assert_eq!(states, serde_json::json!([2]), "the one stream is closed");
    farm.create_hunt("asked for while nobody looked").await;
    assert_eq!(
        browser.run("return streams.length").await,
        1,
        "no other one is open"
    );
    set_hidden(&browser, false).await;
    browser
        .wait_for_text("#events", "asked for while nobody looked")
        .await;
    sign_of_life(&browser).await;
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn where_events_do_not_get_through_the_page_polls(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let farm = Farm::start(pool).await;
    browser.open(&farm.url("/events")).await;
    sign_of_life(&browser).await;
    // As behind a proxy that cuts streams: each one fails as soon as it is opened.
    browser
        .run(
            "window.EventSource = class {
               addEventListener(name, tell) { if (name === 'error') setTimeout(tell, 0); }
               close() {}
             }; return 1",
        )
        .await;
    set_hidden(&browser, true).await;
    farm.create_hunt("seen by polling").await;
    set_hidden(&browser, false).await;
    browser.wait_for("#pulse[data-state=poll]").await;
    browser.wait_for_text("#events", "seen by polling").await;
    farm.create_hunt("and seen again").await;
    browser.wait_for_text("#events", "and seen again").await;
    assert!(browser.is_shown("#pulse[data-state=poll]").await);
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn pages_are_read_and_acted_on_without_a_script(pool: PgPool) {
    let Some(browser) = Browser::start(Look {
        script: false,
        ..Look::DESKTOP
    })
    .await
    else {
        return;
    };
    let farm = Farm::start(pool).await;
    farm.fill().await;
    browser.open(&farm.url("/")).await;
    assert!(browser.text_of("#now").await.contains("Boards in the database"));
    browser
        .open(&farm.url(&format!("/boards/{HARDEST_PAR}/{HARDEST}")))
        .await;
    let strip = browser.count(".strip .step").await;
    assert_eq!(
        strip,
        usize::from(HARDEST_PAR) + 1,
        "every position is in the strip"
    );
    assert!(
        !browser.is_shown("[data-go=on]").await,
        "what needs a script is not shown without one"
    );
    browser.open(&farm.url("/hunts/new")).await;
    browser.fill("#name", "without a script").await;
    browser.click("main form button.first").await;
    browser.wait_for_text("h1", "without a script").await;
    browser.click("main .head .actions a[href$='/cancel']").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for_text(".head .badge", "cancelled").await;
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn a_form_that_is_wrong_says_what_and_keeps_what_was_put_in(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let farm = Farm::start(pool).await;
    browser.open(&farm.url("/hunts/new")).await;
    browser.fill("#name", "too many").await;
    browser.fill("#first_vehicles", "49").await;
    browser.click("main form button.first").await;
    browser.wait_for("[role=alert]").await;
    assert_eq!(
        browser.run("return document.querySelector('#name').value").await,
        "too many"
    );
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn nobody_sees_a_page_without_a_token_and_a_viewer_cannot_act(pool: PgPool) {
    let Some(browser) = Browser::start(Look::DESKTOP).await else {
        return;
    };
    let farm = Farm::start_guarded(pool, &[("anna", "operator", "hound"), ("bert", "viewer", "hare")]).await;
    farm.fill().await;
    browser.open(&farm.url("/hunts")).await;
    browser.wait_for_text("h1", "Sign in").await;
    browser.fill("#token", "fox").await;
    browser.click("main button").await;
    browser.wait_for_text(".wrong", "opens nothing").await;
    browser.fill("#token", "hare").await;
    browser.click("main button").await;
    browser.wait_for_text("h1", "Overview").await;
    browser.open(&farm.url("/hunts/1")).await;
    assert_eq!(browser.count("a[href$='/cancel']").await, 0);
    browser.open(&farm.url("/hunts/1/cancel")).await;
    assert_eq!(browser.count("main form").await, 0);
    browser.click(".who form button").await;
    browser.fill("#token", "hound").await;
    browser.click("main button").await;
    browser.open(&farm.url("/hunts/1/priority")).await;
    browser.fill("#priority", "7").await;
    browser.click("main form button[type=submit]").await;
    browser.wait_for_text("#log", "priority 0 to 7").await;
    assert!(browser.text_of("#log").await.contains("by operator anna"));
    assert!(
        !browser.source().await.contains("hound"),
        "no secret is in a page"
    );
    farm.stop().await;
    browser.stop().await;
}

#[sqlx::test(migrations = false)]
async fn every_page_passes_the_accessibility_checker_in_light_and_dark_on_phone_and_desktop(pool: PgPool) {
    let farm = Farm::start(pool).await;
    farm.fill().await;
    let mut found = Vec::new();
    for look in [
        Look::DESKTOP,
        Look::PHONE,
        Look {
            dark: true,
            ..Look::DESKTOP
        },
        Look {
            dark: true,
            ..Look::PHONE
        },
    ] {
        let Some(browser) = Browser::start(look).await else {
            return;
        };
        for (name, path) in Farm::pages() {
            browser.open(&farm.url(&path)).await;
            browser.wait_for("main h1").await;
            browser
                .picture(&pictures().join(format!("{name}-{}.png", look.name())))
                .await;
            for problem in checks::problems(&browser).await {
                found.push(format!("{path} ({}): {problem}", look.name()));
            }
            let width = browser
                .run("return document.documentElement.scrollWidth")
                .await
                .as_i64()
                .unwrap();
            if width > i64::from(look.width) {
                found.push(format!("{path} ({}): {width} pixels wide", look.name()));
            }
        }
        browser.stop().await;
    }
    println!("pictures of every page are in {}", pictures().display());
    assert!(found.is_empty(), "{}", found.join("\n"));
    farm.stop().await;
}
