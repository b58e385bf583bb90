//! What makes a page hard to use for some: axe-core's rules in the browser itself, where `PARFORCE_AXE` names its script
//! (`.ci/need-chromium` gets it), and rules of our own in any case.

use crate::browser::Browser;

/// Names, labels, landmarks, headings, ids, and the contrast of all text with what is behind it.
const OWN_RULES: &str = r#"
const problems = [];
const say = (what, part) => problems.push(what + ": " + part.outerHTML.slice(0, 120));
const nameOf = (part) => (part.getAttribute("aria-label") || part.textContent || part.getAttribute("title") || "").trim();
if (!document.documentElement.lang) problems.push("the page names no language");
if (!document.title) problems.push("the page has no title");
for (const [what, css] of [["main", "main"], ["h1", "main h1"]]) {
  const n = document.querySelectorAll(css).length;
  if (n !== 1) problems.push(`${n} of ${what}, expected 1`);
}
for (const part of document.querySelectorAll("a[href], button, summary")) if (!nameOf(part)) say("no name", part);
for (const part of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (!part.labels?.length && !part.getAttribute("aria-label")) say("no label", part);
}
for (const part of document.querySelectorAll("main svg")) {
  if (part.getAttribute("aria-hidden") !== "true" && !part.getAttribute("aria-label")) say("a picture without words", part);
}
for (const part of document.querySelectorAll("th")) if (!part.getAttribute("scope")) say("a head of nothing", part);
const ids = [...document.querySelectorAll("[id]")].map((part) => part.id);
for (const id of new Set(ids)) if (ids.filter((other) => other === id).length > 1) problems.push("twice the id " + id);
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const plain = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return { rgb: [d[0], d[1], d[2]], a: d[3] / 255 }; };
const light = ({ rgb }) => { const [r, g, b] = rgb.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (part) => { for (let p = part; p; p = p.parentElement) { const c = plain(getComputedStyle(p).backgroundColor); if (c.a > 0.9) return c; } return plain("white"); };
for (const part of document.querySelectorAll("body *")) {
  if (part.closest("svg") || !part.checkVisibility({ visibilityProperty: true })) continue;
  if (![...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
  if (part.closest(".skip, .visually-hidden, :disabled")) continue;
  const style = getComputedStyle(part);
  const [a, b] = [light(plain(style.color)), light(behind(part))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}`, part);
}
return problems;
"#;

/// Everything that is wrong with the page that is open, in words.
pub(crate) async fn problems(browser: &Browser) -> Vec<String> {
    let mut problems: Vec<String> = serde_json::from_value(browser.run(OWN_RULES).await).unwrap();
    let Some(path) = std::env::var_os("PARFORCE_AXE") else {
        println!("PARFORCE_AXE names no axe-core: pages are checked by the tests' own rules alone");
        return problems;
    };
    let axe = std::fs::read_to_string(path).unwrap();
    browser.run(&format!("{axe}; return 1")).await;
    let found = browser
        .run_async(
            r#"
            const done = arguments[arguments.length - 1];
            axe.run(document, { resultTypes: ["violations"] }).then(
              (result) => done(result.violations
                .filter((v) => v.impact === "serious" || v.impact === "critical")
                .map((v) => `axe ${v.id} (${v.impact}): ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`)),
              (error) => done(["axe failed: " + error]));
            "#,
        )
        .await;
    problems.extend(serde_json::from_value::<Vec<String>>(found).unwrap());
    problems
}
