// @ts-check
"use strict";
/* The pages of cases: list, filters, keys, one case. Everything shown is made with textContent, never as markup. */
(() => {
  /** @typedef {{id: string, p: number, r: number, q: string, v: boolean|null, m: (number|null)[], cat?: string, dif?: string,
   *   tag?: string[], db?: string, tab?: string[], st?: string, b?: string, why?: string, sh?: string, ce?: string[], fs?: string, dis?: boolean}} Entry */
  /** @typedef {{run: string, metrics: string[], units: string[], buckets: Record<string, string[]>, ceilings: Record<string, string>,
   *   shapes: Record<string, string>, reasons: Record<string, string>, cases: Entry[]}} Index */

  const PAGE = 100;
  /** @param {string} id @returns {HTMLElement} */
  const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

  /** @param {string} tag @param {Record<string, any>|null} [attributes] @param {...any} children @returns {HTMLElement} */
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false && child !== "") element.append(child);
    }
    return element;
  }

  // Theme --------------------------------------------------------------------------------------------------------
  const root = document.documentElement;
  /** @param {string} [value] @returns {string|null} */
  function remembered(value) {
    try {
      if (value) localStorage.setItem("sqlassay-theme", value);
      return localStorage.getItem("sqlassay-theme");
    } catch { return value || null; }
  }
  const chosen = remembered();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const themeButton = document.getElementById("theme");
  if (themeButton) themeButton.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remembered(root.dataset.theme);
  });

  // SQL ----------------------------------------------------------------------------------------------------------
  const KEYWORDS = new Set(("all and any as asc between by case cast collate cross current_date current_time current_timestamp desc " +
    "distinct else end escape except exists false fetch filter first following for from full group having ilike in inner intersect " +
    "interval into is join last lateral left like limit natural next not null nulls of offset on only or order outer over partition " +
    "pivot preceding qualify range recursive right row rows select similar then ties to true unbounded union unnest using values " +
    "when where window with within").split(" "));
  const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$))|(\b\d+(?:\.\d+)?\b)|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\s+|[^]/g;

  /** @param {string} text @param {Set<string>} [marked] @param {string} [kind] @returns {HTMLElement} */
  function sql(text, marked, kind) {
    const box = h("pre", { class: "sql untrusted", dir: "ltr", tabindex: "0" });
    for (const found of text.matchAll(TOKEN)) {
      const piece = found[0];
      let style = "";
      if (found[1]) style = "c";
      else if (found[2]) style = "s";
      else if (found[4]) style = "n";
      else if (found[5]) style = KEYWORDS.has(piece.toLowerCase()) ? "k" : text[(found.index || 0) + piece.length] === "(" ? "f" : "";
      const bare = piece.replace(/^["'`]|["'`]$/g, "").toLowerCase();
      const node = style ? h("span", { class: style }, piece) : document.createTextNode(piece);
      box.append(marked && marked.has(bare) && piece.trim() ? h("mark", { class: kind, title: kind === "extra" ? "not in the gold" : "missing from the candidate" }, node) : node);
    }
    return box;
  }

  /** Words of some canonical items, for marking them in the text they came from. @param {string[]} items @returns {Set<string>} */
  function words(items) {
    const found = new Set();
    for (const item of items) {
      for (const word of item.toLowerCase().matchAll(/'([^']*)'|[\w\u0080-\uffff.]+/g)) {
        const name = word[1] === undefined ? word[0].split(".").pop() || "" : word[1];
        if (name && !KEYWORDS.has(name)) found.add(name);
      }
    }
    return found;
  }

  /** @param {Record<string, any>|undefined} components @param {string} side "missing" or "extra" @returns {Set<string>} */
  function differing(components, side) {
    const own = side === "missing" ? "gold" : "candidate";
    /** @type {string[]} */ const apart = [], common = [];
    for (const sets of Object.values(components || {})) {
      const items = sets[side] || [];
      apart.push(...items);
      common.push(...(sets[own] || []).filter((/** @type {string} */ item) => !items.includes(item)));
    }
    const shared = words(common);
    return new Set([...words(apart)].filter((word) => !shared.has(word)));
  }

  // Two tables side by side --------------------------------------------------------------------------------------
  const SIGNS = /** @type {Record<string, [string, string]>} */ ({ same: ["", "equal"], differs: ["≠", "differs"], missing: ["−", "missing from the candidate"], extra: ["+", "not in the gold"] });
  /** @param {any} data @returns {HTMLElement} */
  function grid(data) {
    /** @type {any[][]} */ const columns = data.cols;
    const alone = data.n[0] === null || data.n[1] === null;
    const left = columns.map((c, i) => i).filter((i) => columns[i][0] !== null);
    const right = columns.map((c, i) => i).filter((i) => columns[i][1] !== null);
    /** @param {number|null} n */
    const rows = (n) => n === null ? "no result" : `${n.toLocaleString("en")} row${n === 1 ? "" : "s"}`;
    const head = h("thead", null,
      h("tr", null, h("th", { rowspan: 2, class: "sign" }, h("span", { class: "skip" }, "difference")),
        h("th", { colspan: Math.max(1, left.length), rowspan: left.length ? 1 : 2, class: "side", scope: "colgroup" }, `Gold · ${rows(data.n[0])}`),
        h("td", { rowspan: 2, class: "gap" }),
        h("th", { colspan: Math.max(1, right.length), rowspan: right.length ? 1 : 2, class: "side", scope: "colgroup" }, `Candidate · ${rows(data.n[1])}`)),
      h("tr", null,
        left.map((i) => {
          const [name, other, by, key, numeric] = columns[i];
          return h("th", { scope: "col", class: `${other === null && !alone ? "lone g" : ""} ${key ? "key" : ""} ${numeric ? "num" : ""}` },
            h("span", { class: "untrusted" }, name), h("span", { class: "by" }, alone ? "" : other === null ? "not in the candidate" : `${key ? "key · " : ""}${by ? `by ${by}` : ""}`));
        }),
        right.map((i) => {
          const [other, name, by, , numeric] = columns[i];
          return h("th", { scope: "col", class: `${other === null && !alone ? "lone x" : ""} ${numeric ? "num" : ""}` },
            h("span", { class: "untrusted" }, name), h("span", { class: "by" }, alone ? "" : other === null ? "not in the gold" : `↔ ${other}${by ? ` by ${by}` : ""}`));
        })));
    const body = h("tbody");
    for (const [mark, gold, candidate, differ] of data.rows) {
      const [sign, meaning] = SIGNS[alone ? "same" : mark];
      const off = new Set(differ);
      const row = h("tr", { class: mark }, h("td", { class: "sign", title: meaning }, sign && h("span", { "aria-label": meaning }, sign)));
      /** @param {number[]} places @param {any[]|null} cells @param {string} side */
      const add = (places, cells, side) => places.forEach((place, i) => {
        if (cells === null) { row.append(h("td", { class: "blank" })); return; }
        const lone = !alone && (mark === "missing" || mark === "extra");
        const style = off.has(place) ? `d ${side}` : lone ? `${mark === "missing" ? "m" : "e"} ${side}` : "";
        row.append(h("td", { class: `${style} ${columns[place][4] ? "num" : ""} untrusted`, dir: "auto" }, cells[i] === null ? h("span", { class: "null" }, "NULL") : cells[i]));
      });
      add(left, gold, "g");
      if (!left.length) row.append(h("td", { class: "blank" }));
      row.append(h("td", { class: "gap" }));
      add(right, candidate, "x");
      if (!right.length) row.append(h("td", { class: "blank" }));
      body.append(row);
    }
    return h("div", null, h("div", { class: "grid-box", tabindex: "0", role: "region", "aria-label": "Both results side by side" }, h("table", { class: "grid" }, head, body)),
      h("p", { class: "small soft" }, alone ? "Only one side has a result." : "≠ differs · − missing from the candidate · + not in the gold", data.notes.map((/** @type {string} */ n) => ` · ${n}`)));
  }
  /** What overflows can be scrolled from the keyboard too. */
  function reachable() {
    for (const box of document.querySelectorAll(".scroll")) {
      if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    }
  }
  window.addEventListener("DOMContentLoaded", () => {
    reachable();
    for (const slot of document.querySelectorAll("script[data-grid]")) slot.replaceWith(grid(JSON.parse(slot.textContent || "")));
    for (const slot of document.querySelectorAll("pre[data-sql]")) slot.replaceWith(sql(slot.textContent || ""));
  });
  if (document.body.dataset.page !== "report") return;

  // State --------------------------------------------------------------------------------------------------------
  /** @type {Index} */ const index = JSON.parse(at("index").textContent || "");
  const live = document.body.dataset.live || "";
  /** @type {Record<string, number>} */ const places = {};
  index.cases.forEach((c, i) => { places[`${c.id}\n${c.p}\n${c.r}`] = i; });
  const haystacks = index.cases.map((c) => [c.id, c.q, c.why, c.cat, c.db, ...(c.tag || []), ...(c.tab || [])].join("\n").toLowerCase());
  /** @type {number[]} */ let shown = [];
  let selected = -1;
  /** @type {number|null} */ let opened = null;
  let listParameters = new URLSearchParams();

  const collator = new Intl.Collator("en", { numeric: true });
  /** @param {Entry} c */
  const verdict = (c) => c.v === null ? "unscored" : c.v ? "passed" : "failed";
  /** @param {(c: Entry) => any} pick @returns {string[]} */
  const distinct = (pick) => [...new Set(index.cases.flatMap((c) => pick(c) ?? []))].sort(collator.compare);
  const FILTERS = /** @type {[string, string, (c: Entry) => string|string[]|undefined][]} */ ([
    ["verdict", "Verdict", verdict], ["bucket", "Cause", (c) => c.b], ["category", "Category", (c) => c.cat], ["difficulty", "Difficulty", (c) => c.dif],
    ["tag", "Tag", (c) => c.tag], ["table", "Table", (c) => c.tab], ["tables", "Tables read", (c) => c.tab && String(c.tab.length)], ["database", "Database", (c) => c.db],
    ["ceiling", "Ceiling", (c) => c.ce], ["shape", "Shape", (c) => c.sh], ["stage", "Broke first", (c) => c.fs], ["status", "Status", (c) => c.st],
    ["check", "Self-check", (c) => c.dis ? "scorer_disagreements" : undefined],
  ]);
  const COLUMNS = /** @type {[string, string, (c: Entry) => string|number|null|undefined][]} */ ([
    ["id", "Case", (c) => c.id], ["verdict", "Verdict", (c) => ({ failed: 0, unscored: 1, passed: 2 })[verdict(c)]], ["cause", "Cause", (c) => c.b], ["q", "Question", (c) => c.q],
    ["category", "Category", (c) => c.cat],
  ]);
  /** @param {string} name */
  const metricOf = (name) => { const i = index.metrics.indexOf(name); return (/** @type {Entry} */ c) => i < 0 ? null : c.m[i]; };

  // Filters ------------------------------------------------------------------------------------------------------
  /** @param {URLSearchParams} parameters @returns {number[]} */
  function matching(parameters) {
    const active = FILTERS.filter(([name]) => parameters.has(name)).map(([name, , pick]) => /** @type {const} */ ([parameters.get(name), pick]));
    const terms = (parameters.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const metric = parameters.get("metric"), pick = metric ? metricOf(metric) : null;
    const low = parseFloat(parameters.get("min") || ""), high = parseFloat(parameters.get("max") || "");
    const undefinedOnly = parameters.get("undefined") === "1";
    /** @type {number[]} */ const found = [];
    index.cases.forEach((c, i) => {
      for (const [wanted, of] of active) {
        const value = of(c);
        if (Array.isArray(value) ? !value.includes(/** @type {string} */ (wanted)) : value !== wanted) return;
      }
      if (terms.some((term) => !haystacks[i].includes(term))) return;
      if (pick && (!isNaN(low) || !isNaN(high) || undefinedOnly)) {
        const value = pick(c);
        if (undefinedOnly ? value !== null : value === null || value < low || value > high) return;
      }
      found.push(i);
    });
    const [by, down] = (parameters.get("sort") || "").split(":");
    const column = COLUMNS.find(([name]) => name === by);
    const key = column ? column[2] : by === "metric" && pick ? pick : null;
    if (key) {
      const sign = down === "desc" ? -1 : 1;
      found.sort((a, b) => {
        const x = key(index.cases[a]), y = key(index.cases[b]);
        if (x === y) return a - b;
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        return sign * (typeof x === "number" && typeof y === "number" ? x - y : collator.compare(String(x), String(y)));
      });
    }
    return found;
  }

  /** @param {string} view @param {URLSearchParams} parameters */
  const address = (view, parameters) => `#${view}${String(parameters) ? `?${parameters}` : ""}`;
  /** @param {(p: URLSearchParams) => void} change */
  function refine(change) {
    const parameters = new URLSearchParams(listParameters);
    change(parameters);
    if (!parameters.has("page") || parameters.get("page") === "1") parameters.delete("page");
    history.replaceState(null, "", address("cases", parameters));
    list(parameters);
  }
  /** @param {URLSearchParams} parameters @param {string} name @param {string} value */
  function put(parameters, name, value) {
    if (value) parameters.set(name, value); else parameters.delete(name);
    parameters.delete("page");
  }

  function buildFilters() {
    const form = at("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.append(h("label", null, "Search", h("input", { type: "search", id: "search", name: "q", autocomplete: "off", placeholder: "id, question, table …",
      oninput: (/** @type {any} */ e) => refine((p) => put(p, "q", e.target.value)) })));
    for (const [name, title, pick] of FILTERS) {
      const values = distinct(pick);
      if (values.length < (name === "verdict" ? 1 : 2) && name !== "bucket" && name !== "ceiling" && name !== "stage" && name !== "check") continue;
      if (!values.length) continue;
      form.append(h("label", null, title, h("select", { name, onchange: (/** @type {any} */ e) => refine((p) => put(p, name, e.target.value)) },
        h("option", { value: "" }, "all"), values.map((v) => h("option", { value: v }, v)))));
    }
    if (index.metrics.length) {
      form.append(h("label", null, "Metric", h("select", { name: "metric", onchange: (/** @type {any} */ e) => refine((p) => { put(p, "metric", e.target.value); if (!e.target.value) { p.delete("min"); p.delete("max"); } }) },
        h("option", { value: "" }, "none"), index.metrics.map((m) => h("option", { value: m }, m)))));
      const bound = (/** @type {string} */ name) => h("input", { type: "number", step: "any", name, "aria-label": name === "min" ? "from" : "to", placeholder: name === "min" ? "from" : "to", oninput: (/** @type {any} */ e) => refine((p) => put(p, name, e.target.value)) });
      form.append(h("span", { class: "range" }, bound("min"), bound("max")));
    }
    form.append(h("button", { type: "button", id: "clear", onclick: () => refine((p) => { for (const name of [...p.keys()]) p.delete(name); }) }, "Clear"));
  }

  // The list -----------------------------------------------------------------------------------------------------
  /** @param {Entry} c */
  const tagOf = (c) => h("span", { class: `tag ${c.v === null ? "warn" : c.v ? "good" : "bad"}` }, verdict(c));
  /** @param {number} i */
  function caseAddress(i) {
    const c = index.cases[i], parameters = new URLSearchParams(listParameters);
    parameters.delete("page");
    parameters.set("id", c.id); parameters.set("p", String(c.p)); parameters.set("r", String(c.r));
    return address("case", parameters);
  }

  /** @param {URLSearchParams} parameters */
  function list(parameters) {
    listParameters = new URLSearchParams(parameters);
    for (const name of ["id", "p", "r"]) listParameters.delete(name);
    shown = matching(listParameters);
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const page = Math.min(pages, Math.max(1, parseInt(listParameters.get("page") || "1", 10) || 1));
    for (const field of at("filters").querySelectorAll("input, select")) {
      const input = /** @type {HTMLInputElement} */ (field), value = listParameters.get(input.name) || "";
      if (input.value !== value) input.value = value;
    }
    const counts = { passed: 0, failed: 0, unscored: 0 };
    for (const i of shown) counts[/** @type {"passed"} */ (verdict(index.cases[i]))]++;
    at("count").textContent = `${shown.length.toLocaleString("en")} of ${index.cases.length.toLocaleString("en")} · ${counts.passed} passed, ${counts.failed} failed, ${counts.unscored} unscored`;
    const table = at("list"), metric = listParameters.get("metric");
    const pick = metric ? metricOf(metric) : null;
    const [by, down] = (listParameters.get("sort") || "").split(":");
    const heads = metric ? [...COLUMNS, /** @type {[string, string, any]} */ (["metric", metric, pick])] : COLUMNS;
    /** @type {HTMLElement} */ (table.querySelector("thead")).replaceChildren(h("tr", null, heads.map(([name, title]) =>
      h("th", { scope: "col", class: `${name === "metric" ? "num" : ""} ${name === "category" ? "hide-small" : ""}`, "aria-sort": by === name ? (down === "desc" ? "descending" : "ascending") : null },
        h("button", { type: "button", onclick: () => refine((p) => put(p, "sort", by !== name ? `${name}:asc` : down === "asc" ? `${name}:desc` : "")) }, title)))));
    const rows = shown.slice((page - 1) * PAGE, page * PAGE).map((i) => {
      const c = index.cases[i], again = c.p || c.r ? ` (wording ${c.p}, repeat ${c.r})` : "";
      return h("tr", { "data-i": i, onclick: (/** @type {any} */ e) => { if (!e.target.closest("a")) location.hash = caseAddress(i); } },
        h("td", { class: "id untrusted" }, h("a", { href: caseAddress(i) }, c.id), again && h("span", { class: "soft small" }, again)),
        h("td", null, tagOf(c)),
        h("td", { class: "small" }, c.b ? index.buckets[c.b][0] : "", c.why && h("span", { class: "out untrusted" }, c.why)),
        h("td", { class: "q untrusted", dir: "auto" }, c.q),
        h("td", { class: "small hide-small untrusted" }, c.cat || ""),
        pick && h("td", { class: "num" }, pick(c) === null ? "–" : String(pick(c))));
    });
    /** @type {HTMLElement} */ (table.querySelector("tbody")).replaceChildren(...rows);
    at("page").textContent = pages > 1 ? `page ${page} of ${pages}` : "";
    const earlier = /** @type {HTMLButtonElement} */ (at("previous")), later = /** @type {HTMLButtonElement} */ (at("next"));
    earlier.hidden = later.hidden = pages < 2;
    earlier.disabled = page <= 1; later.disabled = page >= pages;
    earlier.onclick = () => refine((p) => p.set("page", String(page - 1)));
    later.onclick = () => refine((p) => p.set("page", String(page + 1)));
    selected = Math.min(Math.max(selected, (page - 1) * PAGE), Math.max(0, Math.min(shown.length, page * PAGE) - 1));
    mark(false);
  }

  /** @param {boolean} scroll */
  function mark(scroll) {
    for (const row of at("list").querySelectorAll("tbody tr")) row.removeAttribute("aria-selected");
    const row = at("list").querySelector(`tr[data-i="${shown[selected]}"]`);
    if (!row) return;
    row.setAttribute("aria-selected", "true");
    if (scroll) {
      row.scrollIntoView({ block: "nearest" });
      const link = row.querySelector("a");
      if (link) link.focus({ preventScroll: true });
    }
  }
  /** @param {number} step */
  function move(step) {
    if (!shown.length) return;
    selected = Math.min(shown.length - 1, Math.max(0, selected + step));
    const page = Math.floor(selected / PAGE) + 1;
    if (page !== (parseInt(listParameters.get("page") || "1", 10) || 1)) refine((p) => p.set("page", String(page)));
    mark(true);
  }

  // One case -----------------------------------------------------------------------------------------------------
  /** @param {number} i @returns {Promise<any>} */
  async function detailsOf(i) {
    if (live) {
      const c = index.cases[i];
      const answer = await fetch(`${live}/case?${new URLSearchParams({ id: c.id, p: String(c.p), r: String(c.r) })}`);
      return answer.ok ? answer.json() : null;
    }
    const holder = document.getElementById(`d${i}`);
    return holder ? JSON.parse(holder.textContent || "null") : null;
  }

  /** @param {string} title @param {...any} content */
  const block = (title, ...content) => h("section", { class: "block" }, h("h2", null, title), ...content);
  /** @param {string} text */
  const prose = (text) => h("pre", { class: "text untrusted", dir: "auto", tabindex: "0" }, text);
  /** @param {string} text */
  const pretty = (text) => { try { return JSON.stringify(JSON.parse(text), null, 1); } catch { return text; } };
  /** @param {string[]|undefined} names @param {string} [style] */
  const tags = (names, style) => (names || []).length ? (names || []).map((n) => h("span", { class: `tag untrusted ${style || ""}` }, n)) : h("span", { class: "soft" }, "none");

  /** @param {number} i */
  async function open(i) {
    const c = index.cases[i], main = at("case");
    opened = i;
    document.title = `${c.id} · ${index.run}`;
    const place = shown.indexOf(i);
    if (place >= 0) selected = place;
    const d = await detailsOf(i);
    if (opened !== i) return;
    const style = c.v === null ? "maybe" : c.v ? "ok" : "no";
    const words = c.b ? index.buckets[c.b] : null;
    const previous = shown[place - 1], next = shown[place + 1];
    main.replaceChildren(
      h("p", { class: "no-print small" }, h("a", { href: address("cases", listParameters) }, `‹ Cases`), " · ",
        previous === undefined ? h("span", { class: "soft" }, "k earlier") : h("a", { href: caseAddress(previous) }, "k earlier"), " · ",
        next === undefined ? h("span", { class: "soft" }, "j later") : h("a", { href: caseAddress(next) }, "j later"),
        place >= 0 ? h("span", { class: "soft" }, ` · ${place + 1} of ${shown.length}`) : ""),
      h("div", { class: `card verdict ${style}` },
        h("h1", { class: "small mono untrusted" }, c.id, c.p || c.r ? ` · wording ${c.p} · repeat ${c.r}` : ""),
        h("p", { class: "question untrusted", dir: "auto" }, c.q),
        h("p", null, tagOf(c), words && h("b", null, ` ${words[0]}. `), c.why && h("span", { class: "untrusted" }, c.why)),
        words && h("p", { class: "small soft" }, words[2].split("`").map((part, k) => k % 2 ? h("code", null, part) : part)),
        h("p", { class: "small" }, [c.cat, c.dif, c.db, ...(c.tag || [])].filter(Boolean).map((t) => h("span", { class: "tag untrusted" }, t)),
          (c.ce || []).map((x) => h("span", { class: "tag warn", title: index.ceilings[x] }, x)),
          c.sh && c.sh !== "exact" && h("span", { class: "tag", title: index.shapes[c.sh] }, index.shapes[c.sh]))),
      ...(d ? parts(c, d) : [h("p", { class: "card" }, "The details of this case did not fit into this file. See it with ", h("code", null, "sqlassay view"), " or ", h("code", null, `sqlassay show ${index.run} ${c.id}`), ".")]));
    const box = main.querySelector(".grid-box"), first = main.querySelector(".grid tbody tr:not(.same)");
    if (box && first) box.scrollTop = Math.max(0, /** @type {HTMLElement} */ (first).offsetTop - 140);
    reachable();
    if (live) reviewForm(main, c);
  }

  /** @param {Entry} c @param {any} d @returns {HTMLElement[]} */
  function parts(c, d) {
    const out = [];
    if ((d.wordings || []).length > 1) out.push(h("details", null, h("summary", null, `${d.wordings.length} wordings`), h("ol", null, d.wordings.map((/** @type {string} */ w, /** @type {number} */ k) => h("li", { class: k === c.p ? "good untrusted" : "untrusted" }, w)))));
    if ((d.history || []).length) out.push(block("Conversation before", d.history.map((/** @type {string[]} */ m) => h("p", { class: "untrusted" }, h("b", null, `${m[0]}: `), m[1]))));
    const both = h("div", { class: "two" },
      h("div", null, h("h2", null, "Gold SQL"), d.used ? sql(d.used, differing(d.components, "missing"), "missing") : h("p", { class: "soft" }, d.expected ? `none: it should end as ${d.expected}` : "none"),
        d.gold_error && h("p", { class: "bad untrusted" }, `${d.gold_error[0]}: ${d.gold_error[1]}`),
        (d.golds || []).length > 1 && h("details", null, h("summary", null, `${d.golds.length} accepted queries`), d.golds.map((/** @type {string} */ g) => sql(g)))),
      h("div", null, h("h2", null, "Candidate SQL ", d.source && h("span", { class: "soft small" }, d.source.replace(/_/g, " "))), d.sql ? sql(d.sql, differing(d.components, "extra"), "extra") : h("p", { class: "soft" }, "none"),
        d.error && h("p", { class: "bad untrusted" }, `${d.error[0]}: ${d.error[1]}`)));
    out.push(h("section", { class: "block" }, both));
    const apart = Object.entries(d.components || {}).filter(([, s]) => (s.missing || []).length || (s.extra || []).length);
    if (apart.length) out.push(block("What differs in the SQL", h("div", { class: "card scroll" }, h("table", null, h("thead", null, h("tr", null, h("th", null, "Part"), h("th", null, "− missing"), h("th", null, "+ extra"))),
      h("tbody", null, apart.map(([name, s]) => h("tr", null, h("th", { scope: "row" }, name.replace(/_/g, " ")), h("td", { class: "mono" }, tags(s.missing, "bad")), h("td", { class: "mono" }, tags(s.extra, "warn")))))))));
    if (d.grid) out.push(block("Results", grid(d.grid)));
    if (d.answer || d.status || d.turn_error) out.push(block("Final answer", h("p", { class: "small soft" }, d.status ? `ended as ${d.status} (${(d.status_source || "").replace(/_/g, " ")})` : "no status", d.expected && d.status && d.expected !== d.status ? h("b", { class: "bad" }, `, expected ${d.expected}`) : ""),
      d.turn_error && h("p", { class: "bad untrusted" }, `${d.turn_error[0]}: ${d.turn_error[1]}`), d.answer && answerText(d.answer, d.ungrounded || [])));
    if ((d.trail || []).length) out.push(block(`What the agent sent (${d.trail.length + (d.trail_cut || 0)})`, h("ol", { class: "trail" }, d.trail.map((/** @type {any} */ s) => step(s, d)))));
    if (d.retrieval) out.push(retrieval(d.retrieval));
    if ((d.stages || []).length) out.push(block("Stages", h("div", { class: "card scroll" }, h("table", null, h("thead", null, h("tr", null, ["Stage", "State", "Expected", "Recorded"].map((t) => h("th", null, t)))),
      h("tbody", null, d.stages.map((/** @type {any[]} */ s) => h("tr", null, h("th", { scope: "row", class: "untrusted" }, s[0], s[0] === c.fs ? h("span", { class: "tag bad" }, "broke first") : ""), h("td", { class: s[1] === "pass" ? "good" : s[1] === "fail" ? "bad" : "soft" }, s[1]), h("td", { class: "mono untrusted" }, s[2] || ""), h("td", { class: "mono untrusted" }, s[3] || ""))))))));
    const measured = index.metrics.map((name, k) => /** @type {const} */ ([name, c.m[k]])).filter(([name, value]) => value !== null || (d.undefined || {})[name]);
    out.push(h("details", { class: "block" }, h("summary", null, `Metrics (${measured.length})`), h("div", { class: "card scroll" }, h("table", null, h("tbody", null, measured.map(([name, value]) =>
      h("tr", null, h("th", { scope: "row", class: "mono" }, name), h("td", { class: "num" }, value === null ? "–" : String(value)), h("td", { class: "small soft" }, value === null ? index.reasons[d.undefined[name]] || d.undefined[name] : ""))))))));
    if (d.raw) out.push(h("details", { class: "block" }, h("summary", null, "Raw records"), Object.entries(d.raw).map(([name, text]) => h("div", null, h("h3", null, name), prose(pretty(text))))));
    out.push(block("See it again", h("pre", { class: "text" }, d.command || "")));
    if (d.notes) out.push(block("Notes", h("p", { class: "untrusted" }, d.notes)));
    return out;
  }

  /** @param {string} text @param {string[]} ungrounded */
  function answerText(text, ungrounded) {
    const box = h("pre", { class: "text untrusted", dir: "auto", tabindex: "0" });
    const marked = ungrounded.filter(Boolean).map((n) => n.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const pattern = marked.length ? new RegExp(`(?<![\\d.])(${marked.join("|")})(?![\\d])`, "g") : null;
    let from = 0;
    for (const found of pattern ? text.matchAll(pattern) : []) {
      box.append(text.slice(from, found.index), h("mark", { class: "missing", title: "not found in the result" }, found[0]));
      from = (found.index || 0) + found[0].length;
    }
    box.append(text.slice(from));
    return h("div", null, box, ungrounded.length ? h("p", { class: "small bad" }, `Numbers not found in the result: ${ungrounded.join(", ")}`) : "");
  }

  /** @param {any} s @param {any} d */
  function step(s, d) {
    const failed = s.ok === false;
    const facts = [s.role, s.tool, ...(s.path || []), s.ran === false ? "not run" : s.ran === undefined ? "perhaps run" : "", s.rows !== undefined ? `${s.rows} rows` : "", s.s !== undefined ? `${s.s.toFixed(3)} s` : "", s.cut ? "the agent saw a part" : ""];
    return h("li", { class: failed ? "failed" : s.sql === d.sql ? "answer" : "" }, h("span", { class: "small soft untrusted" }, facts.filter(Boolean).join(" · ")), sql(s.sql),
      s.written && h("details", null, h("summary", { class: "small" }, "as the agent wrote it"), sql(s.written)), s.error && h("p", { class: "bad small untrusted" }, s.error),
      s.seen && h("details", null, h("summary", { class: "small" }, "what it saw"), prose(s.seen)));
  }

  /** @param {any} r */
  function retrieval(r) {
    const required = new Set(r.required);
    return block("Retrieval", h("div", { class: "card" }, h("p", null, "Required: ", tags(r.required)), Object.entries(r.measured).map(([way, lists]) =>
      h("div", null, h("h3", null, way.replace(/_/g, " ")), Object.entries(/** @type {Record<string, string[]>} */ (lists)).map(([name, names]) =>
        h("p", null, `${name.replace(/_/g, " ")}: `, name === "offered" ? names.map((n) => h("span", { class: `tag untrusted ${required.has(n) ? "good" : ""}` }, n)) : tags(names, name === "missing" ? "bad" : name === "spurious" ? "warn" : "")))))));
  }

  // Review (only where a server takes it) ------------------------------------------------------------------------
  let reviewer = "";
  /** @param {HTMLElement} main @param {Entry} c */
  async function reviewForm(main, c) {
    const which = new URLSearchParams({ id: c.id, p: String(c.p), r: String(c.r) });
    const answer = await fetch(`${live}/reviews?${which}`);
    if (!answer.ok || opened === null || index.cases[opened] !== c) return;
    const state = await answer.json();
    const note = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "note", maxlength: "2000", "aria-label": "why", placeholder: "why (optional)" }));
    const who = /** @type {HTMLInputElement} */ (h("input", { type: "text", id: "who", maxlength: "100", "aria-label": "your name", placeholder: "your name", value: reviewer }));
    const said = h("div", { role: "status" }, state.reviews.map((/** @type {any} */ r) => h("p", { class: "small untrusted" }, `${r.who || "someone"}: ${r.verdict.replace("_", " ")}${r.note ? `, ${r.note}` : ""} (${r.at})`)));
    /** @param {string} verdict */
    const send = (verdict) => async () => {
      const reply = await fetch(`${live}/reviews?${which}`, { method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ verdict, note: note.value, who: who.value }) });
      reviewer = who.value;
      if (reply.ok) { section.remove(); reviewForm(main, c); } else said.append(h("p", { class: "bad" }, "The review could not be kept."));
    };
    const section = block("Review", h("div", { class: "card no-print" }, h("p", { class: "small soft" }, "Is this verdict right? Kept in the run folder, with who and when."), said,
      h("p", null, who, " ", note, " ", h("button", { type: "button", id: "right", onclick: send("right") }, "✓ Right"), " ", h("button", { type: "button", id: "wrong", onclick: send("wrong") }, "✗ Wrong"), " ", h("button", { type: "button", id: "gold", onclick: send("gold_wrong") }, "The gold is wrong"))));
    main.append(section);
  }

  // Routes and keys ----------------------------------------------------------------------------------------------
  /** @param {boolean} focus */
  function route(focus) {
    const [view, query] = location.hash.slice(1).split(/\?(.*)/s);
    const parameters = new URLSearchParams(query || "");
    const name = view === "cases" || view === "case" ? view : "overview";
    for (const id of ["overview", "cases", "case"]) at(id).hidden = id !== name;
    for (const link of document.querySelectorAll(".top nav a[data-view]")) {
      if (link.getAttribute("data-view") === (name === "case" ? "cases" : name)) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (name !== "case") { opened = null; document.title = `${index.run} · sqlassay`; }
    if (name === "cases") list(parameters);
    if (name === "case") {
      list(new URLSearchParams(parameters));
      const i = places[`${parameters.get("id")}\n${parameters.get("p") || 0}\n${parameters.get("r") || 0}`];
      if (i === undefined) at("case").replaceChildren(h("h1", null, "No such case"), h("p", null, h("a", { href: "#cases" }, "All cases")));
      else open(i);
    }
    if (focus && name !== "overview") { window.scrollTo(0, 0); at(name).focus({ preventScroll: true }); }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.key === "Escape") {
      if (typing) target.blur();
      else if (opened !== null) location.hash = address("cases", listParameters);
      return;
    }
    if (typing) return;
    if (event.key === "/") {
      event.preventDefault();
      if (at("cases").hidden) location.hash = address("cases", listParameters);
      setTimeout(() => at("search").focus(), 0);
    } else if (event.key === "j" || event.key === "k") {
      const by = event.key === "j" ? 1 : -1;
      if (opened !== null) {
        const next = shown[shown.indexOf(opened) + by];
        if (next !== undefined) location.hash = caseAddress(next);
      } else if (!at("cases").hidden) move(by);
      else location.hash = "#cases";
    } else if (event.key === "Enter" && !at("cases").hidden && shown[selected] !== undefined && !/^(A|BUTTON|SUMMARY)$/.test(target.tagName)) {
      location.hash = caseAddress(shown[selected]);
    }
  });

  buildFilters();
  window.addEventListener("hashchange", () => route(true));
  route(false);

  // A run that is going on ---------------------------------------------------------------------------------------
  if (live && document.body.dataset.state === "started") {
    let known = index.cases.length;
    const poll = async () => {
      try {
        const state = await (await fetch(`${live}/state`)).json();
        if (state.scored !== known || state.state !== "started") {
          known = state.scored;
          if (!at("overview").hidden) { location.reload(); return; }
          at("news").hidden = false;
          at("news").replaceChildren(`${state.scored} cases are scored now. `, h("a", { href: "", onclick: () => location.reload() }, "Show them"));
        }
        if (state.state !== "started") return;
      } catch { /* The server went away: what is shown stays. */ }
      setTimeout(poll, 2000);
    };
    setTimeout(poll, 2000);
  }
})();
