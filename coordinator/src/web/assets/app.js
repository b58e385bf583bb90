// What a script adds to pages that work without one: live blocks, local times, stepping through a solution, copying.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("script");
  const stored = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch { /* Storage may be forbidden; the choice then lasts for the page. */ }
    return null;
  };
  const theme = stored("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  document.addEventListener("DOMContentLoaded", () => {
    const dark = () => root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      button.addEventListener("click", () => {
        root.dataset.theme = dark() ? "light" : "dark";
        stored("theme", root.dataset.theme);
      });
    }
    for (const button of document.querySelectorAll("[data-copy]")) copyButton(button);
    for (const stepper of document.querySelectorAll("[data-slides]")) stepThrough(stepper);
    for (const form of document.querySelectorAll("form.filters")) {
      form.addEventListener("change", (event) => {
        if (event.target.matches("select")) form.requestSubmit();
      });
    }
    // Where the tabs do not fit, the page's own is brought into sight.
    const tabs = document.querySelector(".nav");
    const tab = tabs?.querySelector("[aria-current]");
    if (tab) tabs.scrollLeft = tab.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;
    goLive();
  });

  function copyButton(button) {
    button.addEventListener("click", async () => {
      const said = button.textContent;
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        const range = document.createRange();
        const target = document.getElementById(button.dataset.from);
        if (target) { range.selectNodeContents(target); getSelection().removeAllRanges(); getSelection().addRange(range); }
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = said; }, 1500);
    });
  }

  // A board's solution. Every slide is [vehicle, columns, rows]; vehicles are moved, not drawn anew.
  function stepThrough(stepper) {
    const slides = JSON.parse(stepper.dataset.slides);
    const names = JSON.parse(stepper.dataset.names);
    const caption = stepper.querySelector("[data-caption]");
    const range = stepper.querySelector("input[type=range]");
    const vehicles = new Map();
    for (const vehicle of stepper.querySelectorAll(".stage .v")) vehicles.set(Number(vehicle.dataset.v), vehicle);
    const thumbs = document.querySelectorAll(".strip [data-step]");
    let at = 0;
    let playing = 0;

    function show(step) {
      at = Math.max(0, Math.min(slides.length, step));
      const moved = new Map();
      for (const [v, dx, dy] of slides.slice(0, at)) {
        const [x, y] = moved.get(v) || [0, 0];
        moved.set(v, [x + dx, y + dy]);
      }
      for (const [v, vehicle] of vehicles) {
        const [x, y] = moved.get(v) || [0, 0];
        vehicle.style.transform = `translate(${x * 100}px, ${y * 100}px)`;
        vehicle.classList.toggle("moved", at > 0 && slides[at - 1][0] === v);
      }
      range.value = at;
      const left = slides.length - at;
      caption.textContent = at === 0 ? `Start: ${slides.length} slides to go`
        : left === 0 ? `${at}. ${names[at - 1]}: solved`
          : `${at}. ${names[at - 1]}: ${left} to go`;
      range.setAttribute("aria-valuetext", caption.textContent);
      stepper.dataset.at = at;
      for (const thumb of thumbs) thumb.classList.toggle("now", Number(thumb.dataset.step) === at);
      stepper.querySelector("[data-go=back]").disabled = at === 0;
      stepper.querySelector("[data-go=first]").disabled = at === 0;
      stepper.querySelector("[data-go=on]").disabled = left === 0;
      stepper.querySelector("[data-go=last]").disabled = left === 0;
    }
    function stop() {
      clearInterval(playing);
      playing = 0;
      stepper.querySelector("[data-go=play]").textContent = "Play";
    }
    const go = {
      first: () => show(0),
      back: () => show(at - 1),
      on: () => show(at + 1),
      last: () => show(slides.length),
      play: () => {
        if (at === slides.length) show(0);
        stepper.querySelector("[data-go=play]").textContent = "Stop";
        playing = setInterval(() => { show(at + 1); if (at === slides.length) stop(); }, 450);
      },
    };
    for (const button of stepper.querySelectorAll("[data-go]")) {
      button.addEventListener("click", () => {
        const was = playing;
        if (was) stop();
        if (!(was && button.dataset.go === "play")) go[button.dataset.go]();
      });
    }
    range.addEventListener("input", () => { if (playing) stop(); show(Number(range.value)); });
    const keys = { ArrowRight: "on", ArrowLeft: "back", Home: "first", End: "last" };
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target.closest("input, select, textarea")) return;
      const what = keys[event.key];
      if (!what) return;
      event.preventDefault();
      if (playing) stop();
      go[what]();
    });
    for (const thumb of thumbs) {
      thumb.addEventListener("click", (event) => {
        event.preventDefault();
        if (playing) stop();
        show(Number(thumb.dataset.step));
        stepper.scrollIntoView({ block: "nearest" });
      });
    }
    show(0);
  }

  // Live blocks: a snapshot, then what changed; by polling where events do not get through; nothing while hidden.
  function goLive() {
    const url = document.body.dataset.live;
    if (!url) return;
    const pulse = document.getElementById("pulse");
    let source = null;
    let silence = 0;
    let retry = 0;
    let failures = 0;

    const say = (state, text) => { pulse.dataset.state = state; pulse.textContent = text; };
    const since = () => document.getElementById("as-of").textContent;

    function take(blocks) {
      failures = 0;
      for (const [id, html] of Object.entries(blocks)) {
        const block = document.getElementById(id);
        if (!block) continue;
        if (block.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) continue;
        const focused = block.contains(document.activeElement) ? keyOf(block, document.activeElement) : null;
        const open = [...block.querySelectorAll("details")].map((details) => details.open);
        const scrolled = [...block.querySelectorAll(".scroll")].map((part) => [part.scrollLeft, part.scrollTop]);
        block.innerHTML = html;
        [...block.querySelectorAll("details")].forEach((details, i) => { if (open[i]) details.open = true; });
        [...block.querySelectorAll(".scroll")].forEach((part, i) => { if (scrolled[i]) [part.scrollLeft, part.scrollTop] = scrolled[i]; });
        if (focused) {
          const again = [...block.querySelectorAll("a, button, summary")].find((part) => keyOf(block, part) === focused);
          if (again) again.focus({ preventScroll: true });
        }
      }
    }
    function keyOf(block, part) {
      if (part.tagName === "A") return part.getAttribute("href") + part.textContent.trim();
      return part.tagName + [...block.querySelectorAll(part.tagName)].indexOf(part);
    }
    function heard() {
      clearTimeout(silence);
      silence = setTimeout(lost, 35000);
    }
    function close() {
      if (source) source.close();
      source = null;
      clearTimeout(silence);
      clearTimeout(retry);
    }
    function lost() {
      close();
      failures += 1;
      // Polls in between: whether events are kept out by a proxy or nobody answers at all, this finds out.
      poll();
      const wait = Math.min(15000, 1000 * 2 ** Math.min(failures, 4));
      retry = setTimeout(open, wait * (0.5 + Math.random() / 2));
    }
    async function poll() {
      try {
        const answer = await fetch(url + "&once=1", { headers: { accept: "application/json" } });
        if (!answer.ok) throw new Error(answer.statusText);
        const blocks = await answer.json();
        const before = failures;
        take(blocks);
        failures = before;
        say("poll", "Polling");
      } catch {
        say("lost", "No answer; data as of " + since());
      }
    }
    function open() {
      close();
      if (document.hidden) return;
      source = new EventSource(url);
      source.addEventListener("blocks", (event) => { heard(); take(JSON.parse(event.data)); say("live", "Live"); });
      source.addEventListener("beat", () => { heard(); say("lost", "No answer; data as of " + since()); });
      source.addEventListener("error", () => lost());
      heard();
    }
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) { close(); say("off", "Paused"); } else { failures = 0; open(); }
    });
    addEventListener("pagehide", close);
    open();
  }
})();
