// @ts-check
/* Where in a SQL text the parts stand that the component family names: whole parts, not single words. */

/** A word or sign of SQL in its canonical spelling, and which pieces of the text it covers.
 * @typedef {{name: string, from: number, to: number}} Word */

/** Words of a text times words of a part beyond which a part that does not stand there as it is named is not looked for. */
const SEARCHED = 8000;

/** @param {string} piece */
const bareWord = (piece) => piece.replace(/^["'`[]|["'`\]]$/g, "").toLowerCase();

/** The pieces of a text put together to words: `"f" . year` is one word. Blanks and comments are left out.
 * @param {string[]} pieces @returns {Word[]} */
function wordsOf(pieces) {
  /** @type {Word[]} */ const found = [];
  let dotted = false;
  pieces.forEach((piece, at) => {
    if (!piece.trim() || piece.startsWith("--") || piece.startsWith("/*")) return;
    const last = found[found.length - 1];
    if (piece === "." && last) { last.name += "."; last.to = at; dotted = true; return; }
    if (dotted) { last.name += bareWord(piece); last.to = at; dotted = false; return; }
    const sign = last && last.to === at - 1 && /^[<>!=]$/.test(piece) && /^[<>!]$/.test(last.name);
    if (sign) { last.name += piece; last.to = at; return; }
    found.push({ name: bareWord(piece), from: at, to: at });
  });
  for (const word of found) if (word.name === "<>") word.name = "!=";
  return found;
}

/** What the aliases of a text stand for.
 * @param {Word[]} words @returns {Map<string, string>} */
function aliasesOf(words) {
  const found = new Map();
  let tables = false;
  words.forEach(({ name }, k) => {
    if (name === "from" || name === "join") tables = true;
    else if (KEYWORDS.has(name) && name !== "as") tables = false;
    const before = k ? words[k - 1].name : "";
    if (!tables || !/^[\w\u0080-\uffff.]+$/.test(name) || !["from", "join", ","].includes(before)) return;
    const table = name.split(".").pop() || name;
    found.set(table, table);
    const next = words[k + 1] && words[k + 1].name === "as" ? words[k + 2] : words[k + 1];
    if (next && /^[a-z_\u0080-\uffff][\w\u0080-\uffff]*$/.test(next.name) && !KEYWORDS.has(next.name)) found.set(next.name, table);
  });
  return found;
}

/** Whether a word of the text can be the word of a part.
 * @param {string} here @param {string} wanted @param {Map<string, string>} aliases */
function isWord(here, wanted, aliases) {
  if (here === wanted) return true;
  const at = here.lastIndexOf(".");
  if (at < 0) return wanted.includes(".") && wanted.endsWith(`.${here}`);
  const owner = here.slice(0, at).split(".").pop() || "";
  return `${aliases.get(owner) || owner}.${here.slice(at + 1)}` === wanted;
}

/** The places of the words of one part: side by side, turned round an equals sign, or as close together as they are.
 * @param {Word[]} words @param {string[]} part @param {Map<string, string>} aliases @returns {number[][]} */
function placesOf(words, part, aliases) {
  /** @param {string[]} wanted */
  const inOrder = (wanted) => words.flatMap((_, k) =>
    wanted.every((name, n) => k + n < words.length && isWord(words[k + n].name, name, aliases)) ? [wanted.map((__, n) => k + n)] : []);
  let found = inOrder(part);
  const equals = part.indexOf("=");
  if (!found.length && equals > 0) found = inOrder([...part.slice(equals + 1), "=", ...part.slice(0, equals)]);
  const there = part.every((name) => words.some((word) => isWord(word.name, name, aliases)));
  if (found.length || part.length < 2 || !there || words.length * part.length > SEARCHED) return found;
  for (let width = part.length; width <= 2 * part.length + 4; width++) {
    for (let k = 0; k + width <= words.length; k++) {
      const window = Array.from({ length: width }, (_, n) => k + n), left = [...window];
      const all = part.every((name) => {
        const hit = left.findIndex((n) => isWord(words[n].name, name, aliases));
        return hit >= 0 && left.splice(hit, 1).length > 0;
      });
      if (all) return [window];
    }
  }
  return [];
}

/** Words of a text that stand in a select list of no inner query.
 * @param {Word[]} words @returns {Set<number>} */
function selectList(words) {
  const found = new Set();
  let depth = 0, inside = false;
  words.forEach(({ name }, k) => {
    if (name === "(") depth++;
    if (name === ")") depth--;
    if (!depth && name === "select") inside = true;
    else if (!depth && name === "from") inside = false;
    else if (inside) found.add(k);
  });
  return found;
}

/** Which pieces of a text belong to parts that differ, each with what it is.
 * @param {string[]} pieces @param {Record<string, any>|undefined} components @param {string} side "missing" or "extra"
 * @returns {Map<number, string>} */
function marksOf(pieces, components, side) {
  const words = wordsOf(pieces), aliases = aliasesOf(words), marks = new Map();
  const listed = selectList(words);
  for (const [set, sets] of Object.entries(components || {})) {
    for (const item of /** @type {string[]} */ (sets[side] || [])) {
      const bare = item.replace(set === "joins" ? /^(left|right|full|inner|cross): / : set === "ordering" ? /^\d+\. / : /^$/, "");
      const part = wordsOf([...bare.matchAll(TOKEN)].map((found) => found[0])).map((word) => word.name);
      let places = placesOf(words, part, aliases);
      if (set === "tables") places = places.filter(([k]) => k > 0 && ["from", "join", ","].includes(words[k - 1].name));
      if (set === "columns" && places.some(([k]) => listed.has(k))) places = places.filter(([k]) => listed.has(k));
      const label = `${side === "extra" ? "not in the gold" : "missing from the candidate"}: ${set.replace(/_/g, " ")}, ${item}`;
      for (const place of places) {
        const from = words[place[0]].from, to = words[place[place.length - 1]].to;
        for (let at = from; at <= to; at++) if (!marks.has(at)) marks.set(at, label);
      }
    }
  }
  return marks;
}
