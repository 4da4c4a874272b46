// @ts-check
/* All cases of a run: what is known of each, the filters that the address holds, and the list. */

/** @typedef {{id: string, p: number, r: number, q: string, v: boolean|null, m: (number|null)[], cat?: string, dif?: string,
 *   tag?: string[], db?: string, tab?: string[], st?: string, b?: string, why?: string, sh?: string, ce?: string[], fs?: string, dis?: boolean, ex?: string}} Entry */
/** @typedef {{run: string, metrics: string[], units: string[], buckets: Record<string, string[]>, ceilings: Record<string, string>,
 *   shapes: Record<string, string>, reasons: Record<string, string>, cases: Entry[]}} Index */

const PAGE = 100;

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
  ["ceiling", "Ceiling", (c) => c.ce], ["shape", "Shape", (c) => c.sh], ["stage", "Broke first", (c) => c.fs], ["expected", "Should end as", (c) => c.ex], ["status", "Ended as", (c) => c.st || "NONE"],
  ["check", "Self-check", (c) => c.dis ? "scorer_disagreements" : undefined],
]);
const COLUMNS = /** @type {[string, string, (c: Entry) => string|number|null|undefined][]} */ ([
  ["id", "Case", (c) => c.id], ["verdict", "Verdict", (c) => ({ failed: 0, unscored: 1, passed: 2 })[verdict(c)]], ["cause", "Cause", (c) => c.b], ["q", "Question", (c) => c.q],
  ["category", "Category", (c) => c.cat],
]).filter(([name]) => name !== "category" || index.cases.some((c) => c.cat));
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
  const box = h("div", { class: "tools" });
  for (const [name, title, pick] of FILTERS) {
    const values = distinct(pick);
    const tells = values.length > 1 || name === "verdict" || index.cases.some((c) => ![pick(c) ?? []].flat().length);
    if (!values.length || !tells) continue;
    box.append(h("label", null, title, h("select", { name, onchange: (/** @type {any} */ e) => refine((p) => put(p, name, e.target.value)) },
      h("option", { value: "" }, "all"), values.map((v) => h("option", { value: v }, v)))));
  }
  if (index.metrics.length) {
    box.append(h("label", null, "Metric", h("select", { name: "metric", onchange: (/** @type {any} */ e) => refine((p) => { put(p, "metric", e.target.value); if (!e.target.value) { p.delete("min"); p.delete("max"); } }) },
      h("option", { value: "" }, "none"), index.metrics.map((m) => h("option", { value: m }, m)))));
    const bound = (/** @type {string} */ name) => h("input", { type: "number", step: "any", name, class: "bound", "aria-label": name === "min" ? "from" : "to", placeholder: name === "min" ? "from" : "to", oninput: (/** @type {any} */ e) => refine((p) => put(p, name, e.target.value)) });
    box.append(h("span", { class: "range" }, bound("min"), bound("max")));
  }
  box.append(h("button", { type: "button", id: "clear", onclick: () => refine((p) => { for (const name of [...p.keys()]) p.delete(name); }) }, "Clear"));
  const folded = /** @type {HTMLDetailsElement} */ (h("details", { class: "filters" }, h("summary", null, "Filters"), box));
  const wide = matchMedia("(min-width: 40.01rem)"), fit = () => { folded.open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
  form.append(folded);
}

// The list -----------------------------------------------------------------------------------------------------
/** @param {Entry} c */
const tagOf = (c) => h("span", { class: `tag ${c.v === null ? "warn" : c.v ? "good" : "bad"}` }, verdict(c));
/** Which wording and repeat, where it is not the first of both.
 * @param {Entry} c */
const whichOf = (c) => [c.p && `wording ${c.p}`, c.r && `repeat ${c.r}`].filter(Boolean).join(", ");
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
    const c = index.cases[i], again = whichOf(c);
    return h("tr", { "data-i": i, onclick: (/** @type {any} */ e) => { if (!e.target.closest("a")) location.hash = caseAddress(i); } },
      h("td", { class: "id untrusted" }, h("a", { href: caseAddress(i) }, c.id), again && h("span", { class: "soft small" }, ` ${again}`)),
      h("td", null, tagOf(c)),
      h("td", { class: "small" }, c.b ? index.buckets[c.b][0] : "", c.why && h("span", { class: "out untrusted" }, c.why)),
      h("td", { class: "q untrusted", dir: "auto" }, c.q),
      COLUMNS.length > 4 && h("td", { class: "small hide-small untrusted" }, c.cat || ""),
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
