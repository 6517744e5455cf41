// What the pages do by script. Everything works without it: it refreshes what has data-refresh, previews forms, pauses that, and shows times in the viewer's zone.
"use strict";

(() => {
  const policy = window.trustedTypes ? trustedTypes.createPolicy("prescient", { createHTML: (text) => text }) : { createHTML: (text) => text };
  const kept = {
    get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
    set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* a browser that keeps nothing */ } },
  };
  const byID = (id) => document.getElementById(id);
  const say = (text) => { const told = byID("told"); if (told && told.textContent !== text) { told.textContent = text; } };

  // Times: the page has them in UTC. Its own text stays in data-utc.
  let local = kept.get("prescient.zone") === "local";
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  const two = (n) => String(n).padStart(2, "0");
  const localStamp = (at) => {
    const parts = new Intl.DateTimeFormat("en", { timeZoneName: "short" }).formatToParts(at);
    const name = (parts.find((part) => part.type === "timeZoneName") || { value: zone }).value;
    return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())} ${name}`;
  };
  const showTimes = (root) => {
    for (const time of root.querySelectorAll("time[datetime]")) {
      if (!time.dataset.utc) { time.dataset.utc = time.textContent; }
      const at = new Date(time.getAttribute("datetime"));
      const text = local && !Number.isNaN(at.getTime()) ? localStamp(at) : time.dataset.utc;
      if (time.textContent !== text) { time.textContent = text; }
      time.title = local ? time.dataset.utc : "";
    }
  };

  // Refresh: the page says after how long it is worth looking again. A tab that nobody sees asks for nothing.
  let paused = kept.get("prescient.paused") === "yes";
  let timer = 0;
  let asking = false;
  const again = () => Number((byID("main") || { dataset: {} }).dataset.again || 0);
  const plan = (wait) => {
    clearTimeout(timer);
    timer = 0;
    if (!paused && !document.hidden && wait > 0) { timer = setTimeout(refresh, Math.min(Math.max(wait, 1000), 3600000)); }
  };
  const busy = (part) => part.querySelector("input[type=checkbox]:checked") || (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea"));
  const take = (text) => {
    const fresh = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
    const main = fresh.getElementById("main");
    if (!main) { return; }
    for (const part of document.querySelectorAll("[data-refresh][id]")) {
      const now = fresh.getElementById(part.id);
      if (!now || busy(part)) { continue; }
      const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
      const open = new Set(Array.from(part.querySelectorAll("details[open][id]"), (one) => one.id));
      const node = document.importNode(now, true);
      showTimes(node);
      for (const one of node.querySelectorAll("details[id]")) { if (open.has(one.id)) { one.open = true; } }
      part.replaceWith(node);
      if (focused && byID(focused)) { byID(focused).focus(); }
    }
    byID("main").dataset.again = main.dataset.again || "0";
  };
  const refresh = async () => {
    if (asking) { return; }
    asking = true;
    try {
      const got = await fetch(location.href, { credentials: "same-origin", headers: { "Prescient-Refresh": "1" }, redirect: "error" });
      if (got.ok) {
        take(await got.text());
        say("");
      } else if (got.status === 401 || got.status === 403) {
        say("You are not logged in any more: load the page again.");
        paused = true;
      } else {
        say("The page could not be refreshed: what it shows is old.");
      }
    } catch {
      say("The page could not be refreshed: what it shows is old.");
    } finally {
      asking = false;
      plan(again() || 0);
    }
  };

  const zoneButton = byID("zone");
  const pauseButton = byID("pause");
  const showButtons = () => {
    if (zoneButton) { zoneButton.textContent = local ? `Times in ${zone}` : "Times in UTC"; zoneButton.setAttribute("aria-pressed", String(local)); }
    if (pauseButton) { pauseButton.textContent = paused ? "Paused" : "Pause"; pauseButton.setAttribute("aria-pressed", String(paused)); pauseButton.hidden = again() === 0; }
  };
  if (zoneButton) {
    zoneButton.addEventListener("click", () => {
      local = !local;
      kept.set("prescient.zone", local ? "local" : "utc");
      showButtons();
      showTimes(document);
    });
  }
  if (pauseButton) {
    pauseButton.addEventListener("click", () => {
      paused = !paused;
      kept.set("prescient.paused", paused ? "yes" : "no");
      showButtons();
      plan(paused ? 0 : 1);
    });
  }
  document.addEventListener("visibilitychange", () => { if (document.hidden) { plan(0); } else { plan(1); } });
  // Previews: what a form comes to is shown while it is filled in. The values of some of its fields go to a view, of which the part of the same id is taken.
  for (const part of document.querySelectorAll("[data-preview][id]")) {
    const fields = part.dataset.previewOf.split(" ").map(byID).filter((one) => one);
    let wait = 0;
    let round = 0;
    const preview = async () => {
      const mine = ++round;
      const query = new URLSearchParams();
      for (const one of fields) { if (one.type !== "checkbox" || one.checked) { query.set(one.name, one.value); } }
      try {
        const got = await fetch(`${part.dataset.preview}?${query}`, { credentials: "same-origin", headers: { "Prescient-Refresh": "1" }, redirect: "error" });
        const now = got.ok ? new DOMParser().parseFromString(policy.createHTML(await got.text()), "text/html").getElementById(part.id) : null;
        if (!now || mine !== round) { return; }
        part.replaceChildren(...document.importNode(now, true).childNodes);
        showTimes(part);
      } catch { /* it is shown before it is done, too */ }
    };
    for (const one of fields) { one.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(preview, 400); }); }
    if (fields.some((one) => one.value && one.tagName === "TEXTAREA")) { preview(); }
  }

  if (byID("tools")) { byID("tools").hidden = false; }
  showButtons();
  showTimes(document);
  plan(again());
})();
