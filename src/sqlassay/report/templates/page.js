// @ts-check
/* Which page the address asks for, the keys, and news of a run that is going on. */

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
    else openCase(i);
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
