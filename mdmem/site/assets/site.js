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
  const fold = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  const words = (text) => fold(text).match(/[\p{L}\p{N}]+(?:[._\-\/:][\p{L}\p{N}]+)*/gu) ?? [];
  const code = (letter) => /[a-z0-9]/.test(letter) ? letter : "-" + letter.codePointAt(0).toString(16);
  const begin = (word, n) => [...word].slice(0, n).map(code).join("").padEnd(2, "_");
  const meets = (term, word) => term.startsWith(word) || (word.startsWith(term) && term.length > 2 && word.length - term.length < 5);
  const found = async (query) => {
    const scores = new Map(), unknown = [];
    await Promise.all([load("index/titles.js"), load("index/names.js")]);
    for (const word of words(query)) {
      const two = begin(word, 2), three = begin(word, 3);
      const files = (names ?? []).filter((n) => n === two || n === three || (word.length < 3 && n.startsWith(two)));
      await Promise.all(files.map((n) => load(`index/${n}.js`)));
      const best = new Map();
      for (const n of files) for (const [term, flat] of Object.entries(shards[n] ?? {})) {
        if (!meets(term, word)) continue;
        for (let at = 0; at < flat.length; at += 2) best.set(flat[at], Math.max(best.get(flat[at]) ?? 0, flat[at + 1]));
      }
      if (!best.size) unknown.push(word);
      for (const [number, weight] of best) scores.set(number, (scores.get(number) ?? 0) + weight);
    }
    return [[...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([number]) => number), unknown];
  };
  const element = (name, text, kind) => { const e = document.createElement(name); e.textContent = text; if (kind) e.className = kind; return e; };
  const hit = ([title, href, type, state, head]) => {
    const a = document.createElement("a"); a.href = up + href;
    a.append(element("span", type, "type " + type), " ", element("span", title, state === "ended" ? "ended name" : "name"));
    if (head) a.append(" ", element("span", "replaced by " + head, "said")); else if (state !== "in force") a.append(" ", element("span", state, "mark"));
    return a;
  };
  const form = document.querySelector(".search"), box = document.getElementById("q"), hits = document.getElementById("hits");
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
    if (unknown.length) rows.push(element("p", "In no entry: " + unknown.join(", ")));
    if (!order.length && !unknown.length) rows.push(element("p", "Nothing found."));
    hits.replaceChildren(...rows);
  });
  form.addEventListener("submit", (event) => { const first = hits.querySelector("a.on") ?? hits.querySelector("a"); if (first) { event.preventDefault(); location.href = first.href; } });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
    if (event.key === "Escape") { hits.replaceChildren(); box.blur(); }
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && document.activeElement === box) {
      const all = [...hits.querySelectorAll("a")], now = all.findIndex((a) => a.classList.contains("on"));
      const next = all[(now + (event.key === "ArrowDown" ? 1 : all.length - (now < 0 ? 0 : 1))) % all.length];
      all.forEach((a) => a.classList.toggle("on", a === next)); event.preventDefault();
    }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) hits.replaceChildren(); });
  const paths = document.querySelector(".pathbox");
  if (paths) {
    const input = document.getElementById("path"), bound = document.getElementById("bound");
    const bytes = (text) => String.fromCharCode(...new TextEncoder().encode(text));
    const covers = (glob, path) => glob && (path === glob[0] || path.startsWith(glob[1])
      || (glob[3] !== null && path.startsWith(glob[2]) && new RegExp("^(?:" + glob[3] + ")$", "s").test(path.slice(glob[2].length))));
    window.mdmemBinding = (path) => window.mdmemRuleList.filter(([, , , globs]) => !globs.length || globs.some((g) => covers(g, bytes(path)))).map(([address]) => address);
    paths.hidden = !window.mdmemRuleList;
    paths.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", () => {
      const path = input.value.trim().replace(/^\.\//, "");
      if (!path) return bound.replaceChildren();
      const rows = window.mdmemRuleList.filter(([, , , globs]) => globs.some((g) => covers(g, bytes(path))))
        .map(([address, type, title]) => hit([title, "entries/" + address.split("/").map(encodeURIComponent).join("/") + ".html", type, "in force"]));
      bound.replaceChildren(...(rows.length ? rows : [element("p", "No rule names this file; those that hold everywhere are below.")]));
    });
  }
  if (document.querySelector('meta[http-equiv*="Security"]').content.includes("connect-src")) new EventSource(up + "changes").onmessage = () => location.reload();
})();
