// @ts-check
/* One case: everything known of it, and what people say about its verdict. */

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
const pretty = (text) => { try { return inert(JSON.stringify(JSON.parse(text), null, 1)); } catch { return inert(text); } };
/** @param {string[]|undefined} names @param {string} [style] */
const tags = (names, style) => (names || []).length ? (names || []).map((n) => h("span", { class: `tag untrusted ${style || ""}` }, n)) : h("span", { class: "soft" }, "none");

/** @param {number} i */
async function openCase(i) {
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
      h("h1", { class: "small mono untrusted" }, c.id, whichOf(c) && ` · ${whichOf(c)}`),
      h("p", { class: "question untrusted", dir: "auto" }, c.q),
      h("p", null, tagOf(c), words && h("b", null, ` ${words[0]}. `), c.why && h("span", { class: "untrusted" }, c.why)),
      words && h("p", { class: "small soft" }, words[2].split("`").map((part, k) => k % 2 ? h("code", null, part) : part)),
      h("p", { class: "small" }, [c.cat, c.dif, c.db, ...(c.tag || [])].filter(Boolean).map((t) => h("span", { class: "tag untrusted" }, t)),
        (c.ce || []).map((x) => h("span", { class: "tag warn", title: index.ceilings[x] }, x)),
        c.sh && c.sh !== "exact" && h("span", { class: "tag", title: index.shapes[c.sh] }, index.shapes[c.sh]))),
    ...(d ? parts(c, d) : [h("p", { class: "card" }, "The details of this case did not fit into this file. See it with ", h("code", null, "sqlassay view"), " or ", h("code", null, `sqlassay show ${index.run} ${c.id}`), ".")]));
  const box = main.querySelector(".grid-box"), head = main.querySelector(".grid thead"), first = main.querySelector(".grid tbody tr:not(.same)");
  if (box && head && first) {
    const above = /** @type {HTMLElement} */ (first.previousElementSibling || first);
    box.scrollTop = Math.max(0, above.offsetTop - /** @type {HTMLElement} */ (head).offsetHeight);
  }
  reachable();
  if (live) reviewForm(main, c);
}

/** @param {Entry} c @param {any} d @returns {HTMLElement[]} */
function parts(c, d) {
  const out = [];
  if ((d.wordings || []).length > 1) out.push(h("details", null, h("summary", null, `${d.wordings.length} wordings`), h("ol", null, d.wordings.map((/** @type {string} */ w, /** @type {number} */ k) => h("li", { class: k === c.p ? "good untrusted" : "untrusted" }, w)))));
  if ((d.history || []).length) out.push(block("Conversation before", d.history.map((/** @type {string[]} */ m) => h("p", { class: "untrusted" }, h("b", null, `${m[0]}: `), m[1]))));
  const both = h("div", { class: "two" },
    h("div", null, h("h2", null, "Gold SQL"), d.used ? sql(d.used, d.components, "missing") : h("p", { class: "soft" }, d.expected ? `none: it should end as ${d.expected}` : "none"),
      d.gold_error && h("p", { class: "bad untrusted" }, `${d.gold_error[0]}: ${d.gold_error[1]}`),
      (d.golds || []).length > 1 && h("details", null, h("summary", null, `${d.golds.length} accepted queries`), d.golds.map((/** @type {string} */ g) => sql(g)))),
    h("div", null, h("h2", null, "Candidate SQL ", d.source && h("span", { class: "soft small" }, d.source.replace(/_/g, " "))), d.sql ? sql(d.sql, d.components, "extra") : h("p", { class: "soft" }, "none"),
      d.error && h("p", { class: "bad untrusted" }, `${d.error[0]}: ${d.error[1]}`)));
  out.push(h("section", { class: "block" }, both));
  const apart = Object.entries(d.components || {}).filter(([, s]) => (s.missing || []).length || (s.extra || []).length);
  if (apart.length) out.push(block("What differs in the SQL", h("div", { class: "card scroll" }, h("table", { class: "stack" }, h("thead", null, h("tr", null, h("th", null, "Part"), h("th", null, "− missing"), h("th", null, "+ extra"))),
    h("tbody", null, apart.map(([name, s]) => h("tr", null, h("th", { scope: "row" }, name.replace(/_/g, " ")), h("td", { class: "mono" }, h("span", { class: "label" }, "− missing "), tags(s.missing, "bad")), h("td", { class: "mono" }, h("span", { class: "label" }, "+ extra "), tags(s.extra, "warn")))))))));
  if (d.grid) out.push(block("Results", grid(d.grid)));
  if (d.answer || d.status || d.turn_error) out.push(block("Final answer", h("p", { class: "small soft" }, d.status ? `ended as ${d.status} (${(d.status_source || "").replace(/_/g, " ")})` : "no status", d.expected && d.status && d.expected !== d.status ? h("b", { class: "bad" }, `, expected ${d.expected}`) : ""),
    d.turn_error && h("p", { class: "bad untrusted" }, `${d.turn_error[0]}: ${d.turn_error[1]}`), d.answer && answerText(d.answer, d.ungrounded || [])));
  if ((d.trail || []).length) out.push(block(`What the agent sent (${d.trail.length + (d.trail_cut || 0)})`, h("ol", { class: "trail" }, d.trail.map((/** @type {any} */ s) => step(s, d)))));
  if (d.retrieval) out.push(retrieval(d.retrieval));
  if ((d.stages || []).length) out.push(block("Stages", h("div", { class: "card scroll" }, h("table", { class: "stack" }, h("thead", null, h("tr", null, ["Stage", "State", "Expected", "Recorded"].map((t) => h("th", null, t)))),
    h("tbody", null, d.stages.map((/** @type {any[]} */ s) => h("tr", null, h("th", { scope: "row", class: "untrusted" }, s[0], s[0] === c.fs ? h("span", { class: "tag bad" }, "broke first") : ""), h("td", { class: s[1] === "pass" ? "good" : s[1] === "fail" ? "bad" : "soft" }, s[1]), h("td", { class: "mono untrusted" }, s[2] && h("span", { class: "label" }, "expected "), s[2] || ""), h("td", { class: "mono untrusted" }, s[3] && h("span", { class: "label" }, "recorded "), s[3] || ""))))))));
  const measured = index.metrics.map((name, k) => /** @type {const} */ ([name, c.m[k]])).filter(([name, value]) => value !== null || (d.undefined || {})[name]);
  out.push(h("details", { class: "block" }, h("summary", null, `Metrics (${measured.length})`), h("div", { class: "card scroll" }, h("table", null, h("tbody", null, measured.map(([name, value]) =>
    h("tr", null, h("th", { scope: "row", class: "mono" }, name), h("td", { class: "num" }, value === null ? "–" : String(value)), h("td", { class: "small soft" }, value === null ? index.reasons[d.undefined[name]] || d.undefined[name] : ""))))))));
  if (d.raw) out.push(h("details", { class: "block no-print" }, h("summary", null, "Raw records"), Object.entries(d.raw).map(([name, text]) => h("div", null, h("h3", null, name), prose(pretty(text))))));
  out.push(block("See it again", h("p", { class: "small soft" }, "From what was recorded:"), h("pre", { class: "text", tabindex: "0" }, d.command || ""),
    d.again && [h("p", { class: "small soft" }, "Ask the agent again, and score the answer:"), h("pre", { class: "text", tabindex: "0" }, d.again)]));
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
  const facts = [s.role, s.tool, ...(s.path || []), s.sql === d.sql ? "the query that was scored" : "", s.ran === false ? "not run" : s.ran === undefined ? "perhaps run" : "", s.rows !== undefined ? `${s.rows} rows` : "", s.s !== undefined ? `${s.s.toFixed(3)} s` : "", s.cut ? "the agent saw a part" : ""];
  return h("li", { class: failed ? "failed" : s.sql === d.sql ? "answer" : "" }, h("span", { class: "small soft untrusted" }, facts.filter(Boolean).join(" · ")), sql(s.sql),
    s.written && h("details", null, h("summary", { class: "small" }, "as the agent wrote it"), sql(s.written)), s.error && h("p", { class: "bad small untrusted" }, s.error),
    s.seen && h("details", null, h("summary", { class: "small" }, "what it saw"), prose(s.seen)));
}

/** @param {any} r */
function retrieval(r) {
  const required = new Set(r.required);
  return block("Retrieval", h("div", { class: "card" }, h("p", null, "Required: ", tags(r.required)), Object.entries(r.measured).map(([way, lists]) =>
    h("div", null, h("h3", null, way.replace(/_/g, " ")), Object.entries(/** @type {Record<string, string[]>} */ (lists)).map(([name, names]) =>
      h("p", null, `${name.replace(/_/g, " ")}: `, name === "offered" ? names.map((n) => h("span", { class: `tag untrusted ${required.has(n) ? "good" : ""}` }, required.has(n) ? `✓ ${n}` : n)) : tags(names, name === "missing" ? "bad" : name === "spurious" ? "warn" : "")))))));
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
  const said = h("div", { role: "status" }, state.reviews.map((/** @type {any} */ r) => h("p", { class: "small untrusted" }, inert(`${r.who || "someone"}: ${r.verdict.replace("_", " ")}${r.note ? `, ${r.note}` : ""} (${r.at})`))));
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
