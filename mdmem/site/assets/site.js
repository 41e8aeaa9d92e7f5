"use strict";
(() => {
  const up = document.body.dataset.up;
  const form = document.querySelector(".search"), box = document.getElementById("q");
  const hits = document.getElementById("hits"), count = document.getElementById("count");
  const MOST = 12, SHOWN = 150;
  const loaded = {};
  const load = (file) => loaded[file] ??= new Promise((done) => {
    const tag = document.createElement("script");
    tag.src = up + file; tag.onload = tag.onerror = done;
    document.head.append(tag);
  });

  const element = (name, text, kind = "") => {
    const made = document.createElement(name);
    made.textContent = text; made.className = kind.replace("under review", "under-review");
    return made;
  };
  // What is between backticks is code.
  const titled = (text, kind) => {
    const whole = element("span", "", kind), parts = text.replaceAll("``", "`").split("`");
    whole.append(...(parts.length % 2 ? parts.map((part, at) => at % 2 ? element("code", part) : part) : [text]));
    return whole;
  };
  const ended = (state) => state === "superseded" || state === "deprecated";
  const hit = (page, type, title, state) => {
    const link = document.createElement("a");
    link.href = up + page.split("/").map(encodeURIComponent).join("/");
    link.append(element("span", type, "type " + type), " ", titled(title, "name " + (ended(state) ? "ended" : state)));
    if (state !== "current") link.append(" ", element("span", state, "mark " + state));
    return link;
  };

  // The search: every entry with its text, loaded with the first letter.
  const LETTERS = { "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss" };
  const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/[\u0300-\u036f]/g, "").replace(/[øłđıæœß]/g, (one) => LETTERS[one]);
  let entries = null;
  window.mdmemSearch = (list) => {
    entries = list.map(([title, page, type, state, head, text, words]) =>
      ({ title, page, type, state, head, text, inTitle: fold(title), inText: fold(text), inWords: fold(words) }));
  };
  const pattern = (word) => {
    const plain = word.replace(/[.*+?^${}()|[\]\\\/-]/g, "\\$&");
    // Words of scripts without blanks may begin anywhere.
    return new RegExp(/[^\u0000-\u024f]/.test(word) ? plain : "(?<![\\p{L}\\p{N}])" + plain, "u");
  };
  const scored = (word) => {
    const wanted = pattern(word), found = new Map();
    entries.forEach((one, at) => {
      const score = (wanted.test(one.inTitle) ? 4 : 0) + (wanted.test(one.inText) ? 1 : wanted.test(one.inWords) ? 0.5 : 0);
      if (score) found.set(at, ended(one.state) ? score / 2 : score);
    });
    return found;
  };
  const search = (query) => {
    const scores = new Map(), unknown = [];
    for (const word of fold(query).match(/[\p{L}\p{N}]+(?:[._\/-]+[\p{L}\p{N}]+)*/gu) ?? []) {
      let found = scored(word);
      // Another form of the word: the same without its last letters.
      for (let cut = word.length - 1; !found.size && cut >= Math.max(4, word.length - 3); cut--) found = scored(word.slice(0, cut));
      if (!found.size) unknown.push(word);
      const rarity = Math.log(1 + entries.length / (found.size || 1));
      for (const [at, score] of found) scores.set(at, (scores.get(at) ?? 0) + score * rarity);
    }
    return [[...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([at]) => at), unknown];
  };
  const excerpt = (text, query) => {
    const word = fold(query).split(/\s+/).find((one) => one && pattern(one).test(fold(text)));
    const at = word ? Math.max(0, fold(text).search(pattern(word)) - 40) : 0;
    const start = at ? text.indexOf(" ", at) + 1 : 0;
    const end = text.length > start + SHOWN ? text.lastIndexOf(" ", start + SHOWN) : text.length;
    return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
  };
  const show = (query) => {
    const [order, unknown] = search(query), seen = new Set(), rows = [];
    for (const at of order) {
      const found = entries[at], shown = entries[found.head ?? at];
      if (seen.has(shown) || rows.length === MOST) continue;
      seen.add(shown);
      const row = hit(shown.page, shown.type, shown.title, shown.state);
      if (shown !== found) row.append(" ", element("span", "supersedes " + found.title, "detail"));
      row.append(" ", element("span", excerpt(shown.text, query), "detail"));
      rows.push(row);
    }
    if (unknown.length) rows.push(element("p", "No entry contains " + unknown.join(" or ")));
    if (!rows.length) rows.push(element("p", "Nothing found."));
    hits.replaceChildren(...rows);
    count.textContent = seen.size + " found";
  };
  let turn = 0;
  form.hidden = false;
  box.addEventListener("input", async () => {
    const mine = ++turn;
    if (!box.value.trim()) return hits.replaceChildren();
    await load("assets/search.js");
    if (mine === turn && entries) show(box.value.trim());
  });
  form.addEventListener("submit", (event) => {
    const first = hits.querySelector("a");
    if (first) { event.preventDefault(); location.href = first.href; }
  });
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

  // The box on the page about code: which rules apply to a path?
  const paths = document.querySelector(".pathbox");
  let rules = [];
  window.mdmemRules = (list) => { rules = list; paths.hidden = false; };
  if (paths) {
    load("assets/rules.js");
    const input = document.getElementById("path"), matches = document.getElementById("matches");
    const bytes = (text) => String.fromCharCode(...new TextEncoder().encode(text));
    const covers = (glob, path) => glob && (path === glob[0] || path.startsWith(glob[1])
      || (glob[3] !== null && path.startsWith(glob[2]) && new RegExp("^(?:" + glob[3] + ")$", "s").test(path.slice(glob[2].length))));
    // A path as the command reads it at the repository's top; null for one that lies above it.
    const normal = (text) => {
      const kept = [], parts = text.replaceAll("\\", "/").split("/");
      if (/^[\\/]|^[a-z]:[\\/]/i.test(text)) return null;
      for (const part of parts) if (part === "..") { if (kept.pop() === undefined) return null; } else if (part && part !== ".") kept.push(part);
      return kept.join("/") + (parts.at(-1) ? "" : "/");
    };
    const answer = (path) => {
      if (path === null) return [element("p", "A path counts from the repository's top.")];
      if (path.endsWith("/")) return [element("p", "This is a folder: open it below, or name a file in it.")];
      const found = rules.filter(([, , , globs]) => globs.some((glob) => covers(glob, bytes(path))));
      if (!found.length) return [element("p", "No rule names this file; the rules that apply everywhere are below.")];
      return found.map(([page, type, title, , amended]) => {
        const row = hit(page, type, title, "current");
        if (amended.length) row.append(" ", element("span", "amended by " + amended.join(", "), "detail"));
        return row;
      });
    };
    paths.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", () => matches.replaceChildren(...(input.value.trim() ? answer(normal(input.value)) : [])));
  }

  // The entry of the page is in the middle of its picture.
  const asked = document.querySelector(".picture .asked rect"), frame = asked?.closest(".scroll");
  if (frame) frame.scrollLeft = asked.x.baseVal.value - (frame.clientWidth - asked.width.baseVal.value) / 2;

  // A served page follows the files.
  const state = document.body.dataset.state;
  if (state) setInterval(async () => {
    const now = await fetch(up + "state").then((answer) => answer.ok ? answer.text() : state, () => state);
    if (now !== state) location.reload();
  }, 1500);
})();
