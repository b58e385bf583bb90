//! A browser to drive: a chromedriver of our own on a free port, a fresh profile, everything waited for, nothing slept for
//! but the pause between two looks.

use std::fmt::Debug;
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::prelude::*;

/// How long anything may take that is going to happen.
const PATIENCE: Duration = Duration::from_secs(90);
/// Between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// How a page is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) dark: bool,
    pub(crate) script: bool,
}

impl Look {
    pub(crate) const DESKTOP: Look = Look {
        width: 1440,
        height: 1000,
        dark: false,
        script: true,
    };
    pub(crate) const PHONE: Look = Look {
        width: 390,
        height: 844,
        dark: false,
        script: true,
    };

    pub(crate) fn name(self) -> String {
        let size = if self.width < 600 { "phone" } else { "desktop" };
        format!("{size}-{}", if self.dark { "dark" } else { "light" })
    }
}

/// A browser that is open.
pub(crate) struct Browser {
    driver: WebDriver,
    process: Process,
    _profile: TempDir,
}

/// Our chromedriver; it ends with us, also when a test fails.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Browser {
    /// Opens a browser; `None`, with a line that says so, where there is none.
    pub(crate) async fn start(look: Look) -> Option<Browser> {
        let started = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = started else {
            println!("chromedriver is not installed: browser tests are skipped");
            return None;
        };
        let output = BufReader::new(child.stdout.take().unwrap());
        let process = Process(child);
        let port = output.lines().find_map(|line| {
            let line = line.ok()?;
            let port = line
                .strip_suffix('.')?
                .rsplit_once("on port ")?
                .1
                .parse::<u16>()
                .ok()?;
            line.contains("started successfully").then_some(port)
        });
        let profile = tempfile::tempdir().unwrap();
        let driver = WebDriver::new(
            format!("http://127.0.0.1:{}", port.unwrap()),
            capabilities(look, profile.path()),
        )
        .await;
        let driver = match driver {
            Ok(driver) => driver,
            Err(error) if error.to_string().contains("cannot find") => {
                println!("chromium is not installed: browser tests are skipped");
                return None;
            }
            Err(error) => panic!("the browser does not start: {error}"),
        };
        driver
            .set_window_rect(0, 0, look.width, look.height)
            .await
            .unwrap();
        Some(Browser {
            driver,
            process,
            _profile: profile,
        })
    }

    pub(crate) async fn stop(self) {
        self.driver.quit().await.unwrap();
        drop(self.process);
    }

    pub(crate) async fn open(&self, url: &str) {
        self.driver.goto(url).await.unwrap();
    }

    pub(crate) async fn address(&self) -> String {
        self.driver.current_url().await.unwrap().to_string()
    }

    pub(crate) async fn source(&self) -> String {
        self.driver.source().await.unwrap()
    }

    /// Looks again and again until it is so.
    pub(crate) async fn wait_until<F: Future<Output = bool>>(
        &self,
        what: impl Debug,
        mut is_so: impl FnMut() -> F,
    ) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !is_so().await {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        });
        if waited.await.is_err() {
            let text = self.text_of("body").await;
            panic!("{what:?} did not come, {} shows:\n{text}", self.address().await);
        }
    }

    pub(crate) async fn wait_for(&self, css: &str) {
        self.wait_until(css, || async { self.count(css).await > 0 }).await;
    }

    pub(crate) async fn wait_for_text(&self, css: &str, text: &str) {
        self.wait_until((css, text), || async { self.text_of(css).await.contains(text) })
            .await;
    }

    /// The text of the first such element; empty if there is none, or it is being replaced.
    pub(crate) async fn text_of(&self, css: &str) -> String {
        match self.driver.find(By::Css(css)).await {
            Ok(element) => element.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    pub(crate) async fn count(&self, css: &str) -> usize {
        self.driver
            .find_all(By::Css(css))
            .await
            .map_or(0, |found| found.len())
    }

    pub(crate) async fn is_shown(&self, css: &str) -> bool {
        match self.driver.find(By::Css(css)).await {
            Ok(element) => element.is_displayed().await.unwrap_or(false),
            Err(_) => false,
        }
    }

    /// Clicks once it is there; again if it was replaced under the pointer.
    pub(crate) async fn click(&self, css: &str) {
        self.wait_until(css, || async {
            match self.driver.find(By::Css(css)).await {
                Ok(element) => element.click().await.is_ok(),
                Err(_) => false,
            }
        })
        .await;
    }

    pub(crate) async fn fill(&self, css: &str, text: &str) {
        self.wait_for(css).await;
        let input = self.driver.find(By::Css(css)).await.unwrap();
        input.clear().await.unwrap();
        input.send_keys(text).await.unwrap();
    }

    pub(crate) async fn choose(&self, css: &str, value: &str) {
        self.wait_for(css).await;
        self.driver
            .find(By::Css(format!("{css} option[value='{value}']")))
            .await
            .unwrap()
            .click()
            .await
            .unwrap();
    }

    pub(crate) async fn press(&self, key: Key) {
        self.driver.action_chain().send_keys(key).perform().await.unwrap();
    }

    /// Runs a script in the page.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.driver.execute(script, vec![]).await.unwrap().json().clone()
    }

    /// Runs a script that calls its last argument with the result.
    pub(crate) async fn run_async(&self, script: &str) -> Value {
        self.driver
            .execute_async(script, vec![])
            .await
            .unwrap()
            .json()
            .clone()
    }

    pub(crate) async fn picture(&self, path: &Path) {
        self.driver.screenshot(path).await.unwrap();
    }
}

fn capabilities(look: Look, profile: &Path) -> Capabilities {
    let mut arguments = vec![
        "--headless".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--hide-scrollbars".to_owned(),
        format!("--window-size={},{}", look.width, look.height),
        format!("--user-data-dir={}", profile.display()),
        format!("--blink-settings=preferredColorScheme={}", u8::from(!look.dark)),
    ];
    arguments.retain(|argument| !argument.is_empty());
    let mut options = json!({ "args": arguments });
    if !look.script {
        options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
    }
    if look.width < 600 {
        // A window is never narrower than some 500 pixels; a phone is.
        options["mobileEmulation"] = json!({ "deviceMetrics": { "width": look.width, "height": look.height, "pixelRatio": 2.0, "mobile": true } });
    }
    let mut capabilities = Capabilities::new();
    capabilities.set("browserName", "chrome").unwrap();
    capabilities.set("goog:chromeOptions", options).unwrap();
    capabilities
}
