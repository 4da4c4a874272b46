// @ts-check
/* SQL in colours with what differs marked, and two results side by side. */

// SQL ----------------------------------------------------------------------------------------------------------
const KEYWORDS = new Set(("all and any as asc between by case cast collate cross current_date current_time current_timestamp desc " +
  "distinct else end escape except exists false fetch filter first following for from full group having ilike in inner intersect " +
  "interval into is join last lateral left like limit natural next not null nulls of offset on only or order outer over partition " +
  "pivot preceding qualify range recursive right row rows select similar then ties to true unbounded union unnest using values " +
  "when where window with within").split(" "));
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$))|(\b\d+(?:\.\d+)?\b)|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)|\s+|[^]/g;

/** A text in colours, with the parts that differ marked whole.
 * @param {string} text @param {Record<string, any>} [components] @param {string} [side] "missing" or "extra" @returns {HTMLElement} */
function sql(text, components, side) {
  const box = h("pre", { class: "sql untrusted", dir: "ltr", tabindex: "0" });
  const pieces = [...text.matchAll(TOKEN)];
  const marks = side ? marksOf(pieces.map((found) => found[0]), components, side) : new Map();
  /** @type {HTMLElement|null} */ let mark = null;
  pieces.forEach((found, at) => {
    const piece = found[0];
    let style = "";
    if (found[1]) style = "c";
    else if (found[2]) style = "s";
    else if (found[4]) style = "n";
    else if (found[5]) style = KEYWORDS.has(piece.toLowerCase()) ? "k" : text[(found.index || 0) + piece.length] === "(" ? "f" : "";
    const node = style ? h("span", { class: style }, piece) : document.createTextNode(piece);
    const label = marks.get(at);
    if (!label) { mark = null; box.append(node); return; }
    if (!mark || mark.title !== label) {
      mark = h("mark", { class: side, title: label });
      box.append(mark);
    }
    mark.append(node);
  });
  return box;
}

// Two tables side by side --------------------------------------------------------------------------------------
const SIGNS = /** @type {Record<string, [string, string]>} */ ({ same: ["", "equal"], differs: ["≠", "differs"], missing: ["−", "missing from the candidate"], extra: ["+", "not in the gold"],
  near: ["≈", "counts as equal"] });
/** @param {any} data @returns {HTMLElement} */
function grid(data) {
  /** @type {any[][]} */ const columns = data.cols;
  const alone = data.n[0] === null || data.n[1] === null;
  const left = columns.map((c, i) => i).filter((i) => columns[i][0] !== null);
  const right = columns.map((c, i) => i).filter((i) => columns[i][1] !== null);
  /** @type {Map<number, number>} */ const pairs = new Map();
  columns.forEach(([gold, candidate], i) => { if (gold !== null && candidate !== null) pairs.set(i, pairs.size + 1); });
  /** Both columns of a pair wear the same number.
   * @param {number} i */
  const badge = (i) => !alone && pairs.has(i) && h("span", { class: "pair", title: `pair ${pairs.get(i)}` }, pairs.get(i));
  /** @param {number|null} n */
  const rows = (n) => n === null ? "no result" : `${n.toLocaleString("en")} row${n === 1 ? "" : "s"}`;
  const head = h("thead", null,
    h("tr", null, h("th", { rowspan: 2, class: "sign" }, h("span", { class: "unseen" }, "difference")),
      h("th", { colspan: Math.max(1, left.length), rowspan: left.length ? 1 : 2, class: "side", scope: "colgroup" }, `Gold · ${rows(data.n[0])}`),
      h("td", { rowspan: 2, class: "gap" }),
      h("th", { colspan: Math.max(1, right.length), rowspan: right.length ? 1 : 2, class: "side", scope: "colgroup" }, `Candidate · ${rows(data.n[1])}`)),
    h("tr", null,
      left.map((i) => {
        const [name, other, by, key, numeric] = columns[i];
        return h("th", { scope: "col", class: `${other === null && !alone && by !== "optional" ? "lone g" : ""} ${key ? "key" : ""} ${numeric ? "num" : ""}` },
          badge(i), h("span", { class: "untrusted" }, name), h("span", { class: "by" }, alone ? "" : other === null ? (by === "optional" ? "optional, absent" : "not in the candidate") : `${key ? "key · " : ""}${by ? `by ${by}` : ""}`));
      }),
      right.map((i) => {
        const [other, name, by, , numeric] = columns[i];
        return h("th", { scope: "col", class: `${other === null && !alone ? "lone x" : ""} ${numeric ? "num" : ""}` },
          badge(i), h("span", { class: "untrusted" }, name), h("span", { class: "by" }, alone ? "" : other === null ? "not in the gold" : `↔ ${other}${by ? ` by ${by}` : ""}`));
      })));
  const body = h("tbody");
  for (const [mark, gold, candidate, differ, alike] of data.rows) {
    const off = new Set(differ), near = new Set(alike);
    const [sign, meaning] = SIGNS[alone ? "same" : mark === "same" && near.size ? "near" : mark];
    const row = h("tr", { class: mark }, h("td", { class: "sign", title: meaning }, sign && [h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, meaning)]));
    /** @param {number[]} places @param {any[]|null} cells @param {string} side */
    const add = (places, cells, side) => places.forEach((place, i) => {
      if (cells === null) { row.append(h("td", { class: "blank" })); return; }
      const lone = !alone && (mark === "missing" || mark === "extra");
      const style = off.has(place) ? `d ${side}` : near.has(place) ? "near" : lone ? `${mark === "missing" ? "m" : "e"} ${side}` : "";
      row.append(h("td", { class: `${style} ${columns[place][4] ? "num" : ""} untrusted`, dir: "auto" }, cells[i] === null ? h("span", { class: "null" }, "NULL") : cells[i]));
    });
    add(left, gold, "g");
    if (!left.length) row.append(h("td", { class: "blank" }));
    row.append(h("td", { class: "gap" }));
    add(right, candidate, "x");
    if (!right.length) row.append(h("td", { class: "blank" }));
    body.append(row);
  }
  return h("div", null, h("div", { class: "grid-box", tabindex: "0", role: "group", "aria-label": "Both results side by side" }, h("table", { class: "grid" }, head, body)),
    h("p", { class: "small soft" }, alone ? "Only one side has a result." : "≠ differs · − missing from the candidate · + not in the gold · ≈ counts as equal: within the tolerance, or the same value in another type · columns with one number are a pair", data.notes.map((/** @type {string} */ n) => ` · ${n}`)));
}
window.addEventListener("DOMContentLoaded", () => {
  for (const slot of document.querySelectorAll("script[data-grid]")) slot.replaceWith(grid(JSON.parse(slot.textContent || "")));
  for (const slot of document.querySelectorAll("pre[data-sql]")) slot.replaceWith(sql(slot.textContent || ""));
});
