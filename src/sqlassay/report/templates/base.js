// @ts-check
/* What every page needs: elements made with textContent, never as markup, and the theme. */

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

/** Control and direction characters, which notes hold as people sent them and JSON hides behind escapes. */
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
/** A text with them shown, as the server shows them.
 * @param {string} text */
const inert = (text) => text.replace(UNSEEN, (found) => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);

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

// Reach and print ----------------------------------------------------------------------------------------------
/** What overflows can be scrolled from the keyboard too. */
function reachable() {
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}
window.addEventListener("DOMContentLoaded", reachable);
window.addEventListener("resize", reachable);
/** @type {HTMLDetailsElement[]} */ let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [.../** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details:not(.no-print, [open])"))];
  for (const box of unfolded) box.open = true;
});
window.addEventListener("afterprint", () => {
  for (const box of unfolded) box.open = false;
});
