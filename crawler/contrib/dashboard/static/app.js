// What all pages share: times in the visitor's time zone, keys, forms that replace a part of the page, live parts.

import { charts } from "./charts.js";

const said = document.getElementById("said");

function tell(text) {
  said.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { said.textContent = ""; }, 4000);
}

// Show the server's reason for refusing a request.
function refused(answer, text) {
  const isPlain = (answer.headers.get("Content-Type") ?? "").startsWith("text/plain");
  const why = new DOMParser().parseFromString(text, "text/html").querySelector("main .lead");
  tell(isPlain ? text.trim() : why ? why.textContent : `${answer.status}`);
}

// Show times, which the server writes in UTC, in the visitor's time zone.
function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    if (isNaN(moment)) continue;
    time.title = time.dateTime;
    time.textContent = local(moment);
  }
  for (const option of root.querySelectorAll("select.times option")) { // in which no <time> may stand
    option.textContent = option.textContent.replace(/^(\d+-\d\d-\d\d) (\d\d:\d\d) UTC/, (_, day, hour) => local(new Date(`${day}T${hour}Z`)));
  }
}

function local(moment) {
  return moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}

// A cookie has the chosen language by now. In the address, it would be chosen again on the way back and with each refresh.
const here = new URL(location.href);
if (here.searchParams.has("lang")) {
  here.searchParams.delete("lang");
  history.replaceState(history.state, "", here);
}

// Replace the parts with these ids by those of a new version of the page; the focus stays where it was.
function swap(text, ids) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const id of ids) {
    const [old, now] = [document.getElementById(id), fresh.getElementById(id)];
    if (!old || !now) continue;
    const at = old.contains(document.activeElement) ? document.activeElement.id : "";
    old.replaceWith(document.adoptNode(now));
    prepare(now);
    if (at) document.getElementById(at)?.focus({ preventScroll: true });
  }
}

// Append the children that a new version of the page has in the part with this id.
function append(text, id) {
  const [old, fresh] = [document.getElementById(id), new DOMParser().parseFromString(text, "text/html").getElementById(id)];
  for (const one of fresh ? [...fresh.children] : []) {
    old.append(document.adoptNode(one));
    prepare(one);
  }
}

// A form with data-goes-on is sent as soon as it is visible: it continues a search.
const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    if (target.isConnected) target.requestSubmit();
  }
});

// A link with data-back leads back to a list, with the parameters with which the visitor saw that list last.
function backLinks(root) {
  for (const link of root.querySelectorAll("a[data-back]")) {
    const before = new URLSearchParams(keeping((kept) => kept.getItem(link.pathname)) ?? "");
    const now = new URLSearchParams(link.search);
    if (before.has("crawl") && now.has("crawl") && before.get("crawl") !== now.get("crawl")) continue;
    link.search = new URLSearchParams({ ...Object.fromEntries(before), ...Object.fromEntries(now) });
  }
}

// Use the session storage; null if the browser throws an error because it stores nothing.
function keeping(use) {
  try { return use(sessionStorage); } catch { return null; }
}

addEventListener("pagehide", () => { keeping((kept) => kept.setItem(location.pathname, location.search)); });

// A form with data-part="ID ..." is sent without leaving the page; the parts with these ids are replaced by those of the
// response. If a form was sent again meanwhile, only the last response counts, whichever arrives first.
const latest = new Map();
async function send(form, button) {
  if (form.dataset.appends !== undefined && form.hasAttribute("aria-busy")) return; // it would append everything twice
  const fields = new URLSearchParams(new FormData(form, button));
  const change = form.method.toLowerCase() === "post";
  const address = new URL(form.action);
  if (!change) {
    for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
    address.search = fields;
  }
  form.setAttribute("aria-busy", "true");
  const mine = (latest.get(form.dataset.part) ?? 0) + 1;
  latest.set(form.dataset.part, mine);
  try {
    const answer = await fetch(address, change ? { method: "POST", body: fields } : {});
    const text = await answer.text();
    if (!form.isConnected && form.dataset.appends !== undefined) return; // another list is there by now
    if (!change && latest.get(form.dataset.part) !== mine) return;
    if (answer.ok) {
      if (form.dataset.appends !== undefined) append(text, form.dataset.appends);
      swap(text, form.dataset.part.split(" "));
      if (!change && form.dataset.address !== undefined) history.replaceState(null, "", address);
      const done = document.querySelector(".note.done")?.textContent;
      if (done) tell(done); // shown apart, as the next refresh removes it from the page
    } else {
      refused(answer, text);
    }
  } catch (error) {
    tell(`${error.message}`);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

// Parts with data-live="SECONDS" are refreshed while the page is visible. A part stays as it is while it has the focus on
// an element without an id, which cannot be found again in the new version.
let live = 0;
const isFree = (part) => !part.contains(document.activeElement) || document.activeElement.id !== "";
function keepLive() {
  const parts = [...document.querySelectorAll("[data-live][id]:not(figure.chart)")];
  clearTimeout(live);
  if (!parts.length) return;
  const seconds = Math.min(...parts.map((part) => Number(part.dataset.live) || 5));
  live = setTimeout(async () => {
    try {
      if (!document.hidden) {
        const asked = location.href;
        const answer = await fetch(asked);
        const text = await answer.text();
        if (asked !== location.href) { /* the page shows something else by now */ }
        else if (!answer.ok) refused(answer, text); // what the page shows may have been deleted
        else swap(text, parts.filter(isFree).map((part) => part.id));
      }
    } catch { /* the dashboard was ended: it may come back */ }
    keepLive();
  }, 1000 * seconds);
}

// Filters are folded on narrow screens, which they would fill.
const isNarrow = matchMedia("(max-width: 40rem)");
function fold() { for (const one of document.querySelectorAll(".more-filters")) one.open = !isNarrow.matches; }
isNarrow.addEventListener("change", fold);

function prepare(root) {
  localTimes(root);
  charts(root);
  backLinks(root);
  for (const form of root.querySelectorAll("form[data-goes-on]")) seen.observe(form);
}

// The keys j and k move the focus through elements with data-item, and Enter opens one. Other keys press the element with
// their data-key, first of all in the item with the focus.
function items() { return [...document.querySelectorAll("[data-item]")].filter((one) => one.offsetParent !== null); }

function step(by) {
  const all = items();
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

// The link that Enter opens: one to a page of the dashboard rather than one to the web.
function opens(item) { return item.querySelector("a[href^='/']") || item.querySelector("a[href]"); }

document.addEventListener("keydown", (event) => {
  const field = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (event.key === "Escape" && field) { field.blur(); return; }
  if (field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "j" || event.key === "k") { step(event.key === "j" ? 1 : -1); event.preventDefault(); return; }
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { search.focus(); search.select(); event.preventDefault(); }
    return;
  }
  if (event.key === "Enter") {  // where a link or a button has the focus, it presses that
    if (event.target.matches("[data-item]:not(a, label)")) opens(event.target)?.click();
    return;
  }
  const name = `[data-key="${CSS.escape(event.key)}"]`;
  const item = document.activeElement?.closest("[data-item]") || items()[0];
  const found = (item && item.querySelector(name)) || document.querySelector(name);
  if (found) { found.click(); event.preventDefault(); }
});

document.addEventListener("submit", (event) => {
  if (event.target.dataset.part === undefined) return;
  event.preventDefault();
  send(event.target, event.submitter);
  if (document.activeElement?.type === "search") document.activeElement.blur(); // from here on keys lead through the list
});

document.addEventListener("change", (event) => {
  if (event.target.dataset.submits !== undefined) event.target.form.requestSubmit();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
});

fold();
prepare(document);
keepLive();

// On a narrow screen the links to the views do not fit beside each other: scroll to the current one.
const view = document.querySelector("header nav [aria-current]");
if (view) view.parentElement.scrollLeft = view.offsetLeft - view.parentElement.offsetLeft - (view.parentElement.clientWidth - view.offsetWidth) / 2;

export { prepare, swap, tell };
