"use strict";
(() => {
  const up = document.body.dataset.up, shards = {}, waiting = {};
  let titles = null, names = null;
  const load = (file) => waiting[file] ??= new Promise((done) => {
    const tag = document.createElement("script");
    tag.src = up + file; tag.onload = tag.onerror = done;
    document.head.append(tag);
  });
  window.mdmemShard = (name, terms) => { shards[name] = terms; };
  window.mdmemTitles = (list) => { titles = list; };
  window.mdmemNames = (list) => { names = list; };
  // As the index has it: no accents, no case, and pairs of neighbours where a script has no blanks.
  const LETTERS = { "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss" };
  const UNSPACED = /[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
  const fold = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFC").toLowerCase().replace(/[øłđıæœß]/g, (one) => LETTERS[one]);
  const pairs = (word) => [...word].slice(1).map((one, at) => [...word][at] + one);
  const words = (text) => (fold(text).match(/\.?[\p{L}\p{M}\p{N}]+(?:[._\-\/:]+[\p{L}\p{M}\p{N}]+)*(?:\+\+|#)?/gu) ?? [])
    .flatMap((word) => UNSPACED.test(word) && [...word].length > 2 ? pairs(word) : [word]);
  const code = (letter) => /[a-z0-9]/.test(letter) ? letter : "-" + letter.codePointAt(0).toString(16);
  const begin = (word, n) => [...word].slice(0, n).map(code).join("").padEnd(2, "_");
  const meets = (term, word) => term.startsWith(word) || (word.startsWith(term) && term.length > 2 && word.length - term.length < 5);
  const found = async (query) => {
    const scores = new Map(), unknown = [];
    await Promise.all([load("index/titles.js"), load("index/names.js")]);
    for (const word of words(query)) {
      const near = [1, 2, 3].map((n) => begin(word, n));
      const files = (names ?? []).filter((n) => near.includes(n) || (word.length < 3 && n.startsWith(near[1])));
      await Promise.all(files.map((n) => load(`index/${n}.js`)));
      const best = new Map();
      for (const n of files) for (const [term, flat] of Object.entries(shards[n] ?? {})) {
        if (!meets(term, word)) continue;
        for (let at = 0; at < flat.length; at += 2) best.set(flat[at], Math.max(best.get(flat[at]) ?? 0, flat[at + 1]));
      }
      if (!best.size) unknown.push(word);
      for (const [number, weight] of best) scores.set(number, (scores.get(number) ?? 0) + weight / (titles[number][3] === "ended" ? 2 : 1));
    }
    return [[...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([number]) => number), unknown];
  };
  const element = (name, text, kind = "") => { const e = document.createElement(name); e.textContent = text; e.className = kind.replace("under review", "under-review"); return e; };
  const titled = (text, kind) => {
    const whole = element("span", "", kind), parts = text.replaceAll("``", "`").split("`");
    whole.append(...(parts.length % 2 ? parts.map((part, at) => at % 2 ? element("code", part) : part) : [text]));
    return whole;
  };
  const hit = ([title, href, type, state, head]) => {
    const a = document.createElement("a"); a.href = up + href.split("/").map(encodeURIComponent).join("/");
    a.append(element("span", type, "type " + type), " ", titled(title, "name " + state));
    if (head) a.append(" ", element("span", "replaced by " + head, "said")); else if (state !== "in force") a.append(" ", element("span", state, "mark " + state));
    return a;
  };
  const form = document.querySelector(".search"), box = document.getElementById("q"), hits = document.getElementById("hits"), told = document.getElementById("told");
  form.hidden = false;
  let turn = 0;
  box.addEventListener("input", async () => {
    const mine = ++turn, query = box.value.trim();
    if (!query) return hits.replaceChildren();
    const [order, unknown] = await found(query);
    if (mine !== turn) return;
    const seen = new Set(), rows = [];
    for (const number of order) {
      const row = titles[number], key = row[5] ?? number;
      if (seen.has(key) || rows.length >= 12) continue;
      seen.add(key); rows.push(hit(row[5] === undefined ? row : [titles[row[5]][0], titles[row[5]][1], titles[row[5]][2], titles[row[5]][3]]));
      if (row[5] !== undefined) rows[rows.length - 1].append(" ", element("span", "replaced " + row[0], "said"));
    }
    if (unknown.length) rows.push(element("p", "Finds nothing, being in no entry or in most: " + unknown.join(", ")));
    if (!order.length && !unknown.length) rows.push(element("p", "Nothing found."));
    hits.replaceChildren(...rows);
    told.textContent = seen.size + " found";
  });
  form.addEventListener("submit", (event) => { const first = hits.querySelector("a"); if (first) { event.preventDefault(); location.href = first.href; } });
  document.addEventListener("keydown", (event) => {
    const here = document.activeElement;
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(here.tagName)) { event.preventDefault(); box.focus(); }
    if (!form.contains(here)) return;
    if (event.key === "Escape") { hits.replaceChildren(); box.focus(); }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const stops = [box, ...hits.querySelectorAll("a")];
      stops[(stops.indexOf(here) + step + stops.length) % stops.length].focus(); event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) hits.replaceChildren(); });
  const paths = document.querySelector(".pathbox");
  if (paths) {
    const input = document.getElementById("path"), bound = document.getElementById("bound");
    const bytes = (text) => String.fromCharCode(...new TextEncoder().encode(text));
    const covers = (glob, path) => glob && (path === glob[0] || path.startsWith(glob[1])
      || (glob[3] !== null && path.startsWith(glob[2]) && new RegExp("^(?:" + glob[3] + ")$", "s").test(path.slice(glob[2].length))));
    const binding = (path) => window.mdmemRuleList.filter(([, , , globs]) => globs.some((glob) => covers(glob, bytes(path))));
    paths.hidden = !window.mdmemRuleList;
    paths.addEventListener("submit", (event) => event.preventDefault());
    // As the command reads what is typed at the top; null for what lies above it.
    const counted = (text) => {
      const kept = [], parts = text.replaceAll("\\", "/").split("/");
      if (/^[\\/]|^[a-z]:[\\/]/i.test(text)) return null;
      for (const part of parts) if (part === "..") { if (kept.pop() === undefined) return null; } else if (part && part !== ".") kept.push(part);
      return kept.join("/") + (parts.at(-1) ? "" : "/");
    };
    input.addEventListener("input", () => {
      const path = counted(input.value);
      if (!input.value.trim()) return bound.replaceChildren();
      const rows = path === null ? [element("p", "A path counts from the repository's top.")] : path.endsWith("/") ? [element("p", "A folder: choose it below, or name a file.")]
        : binding(path).map(([page, type, title]) => hit([title, page, type, "in force"]));
      bound.replaceChildren(...(rows.length ? rows : [element("p", "Nothing names this file; the rules that hold everywhere are below.")]));
    });
  }
  const asked = document.querySelector(".picture .asked rect"), frame = asked?.closest(".scroll");
  if (frame) frame.scrollLeft = asked.x.baseVal.value - (frame.clientWidth - asked.width.baseVal.value) / 2;
  const state = document.body.dataset.state;
  if (state) new EventSource(up + "changes").onmessage = (event) => { if (event.data !== state) location.reload(); };
})();
