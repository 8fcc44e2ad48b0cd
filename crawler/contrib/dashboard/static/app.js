// What all pages share: times in the visitor's time zone, keys, forms that replace parts of the page, and parts that are
// refreshed.

import { charts } from "./charts.js";

const said = document.getElementById("said");

// Show a text at the edge of the window for four seconds; screen readers read it.
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
  for (const option of root.querySelectorAll("select.times option")) { // an <option> may not contain <time>
    option.textContent = option.textContent.replace(/^(\d+-\d\d-\d\d) (\d\d:\d\d) UTC/, (_, day, hour) => local(new Date(`${day}T${hour}Z`)));
  }
}

function local(moment) {
  return moment.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}

// A cookie keeps the chosen language. In the address, it would be chosen again on the way back and with each refresh.
const here = new URL(location.href);
if (here.searchParams.has("lang")) {
  here.searchParams.delete("lang");
  history.replaceState(history.state, "", here);
}

// Replace the parts with these ids by those of a new version of the page, its HTML `text`; the focus stays where it was.
function swap(text, ids) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const id of ids) {
    const oldPart = document.getElementById(id);
    const newPart = fresh.getElementById(id);
    if (!oldPart || !newPart) continue;
    const focused = oldPart.contains(document.activeElement) ? document.activeElement.id : "";
    oldPart.replaceWith(document.adoptNode(newPart));
    prepare(newPart);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

// Append the children that a new version of the page has in the part with this id.
function append(text, id) {
  const part = document.getElementById(id);
  const newPart = new DOMParser().parseFromString(text, "text/html").getElementById(id);
  for (const child of newPart ? [...newPart.children] : []) {
    part.append(document.adoptNode(child));
    prepare(child);
  }
}

// A form with data-goes-on, which continues a search, is sent as soon as it is visible.
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

// The result of a function that uses the session storage; null if the browser forbids to store anything.
function keeping(use) {
  try { return use(sessionStorage); } catch { return null; }
}

addEventListener("pagehide", () => { keeping((kept) => kept.setItem(location.pathname, location.search)); });

// A form with data-part="ID ..." is sent without leaving the page; the parts with these ids are replaced by those of the
// response. If a search is sent again before its response arrives, only the response to the last one is shown. With
// data-appends="ID", the children of that part in the response are added to it. With data-address, the search becomes the
// address of the page.
const latest = new Map(); // how often forms for these parts were sent
async function send(form, button) {
  if (form.dataset.appends !== undefined && form.hasAttribute("aria-busy")) return; // it would append everything twice
  const fields = new URLSearchParams(new FormData(form, button));
  const isChange = form.method.toLowerCase() === "post";
  const address = new URL(form.action);
  if (!isChange) {
    for (const [name, value] of [...fields]) if (value === "") fields.delete(name);
    address.search = fields;
  }
  form.setAttribute("aria-busy", "true");
  const number = (latest.get(form.dataset.part) ?? 0) + 1;
  latest.set(form.dataset.part, number);
  try {
    const answer = await fetch(address, isChange ? { method: "POST", body: fields } : {});
    const text = await answer.text();
    if (!form.isConnected && form.dataset.appends !== undefined) return; // another list was shown meanwhile
    if (!isChange && latest.get(form.dataset.part) !== number) return;
    if (answer.ok) {
      if (form.dataset.appends !== undefined) append(text, form.dataset.appends);
      swap(text, form.dataset.part.split(" "));
      if (!isChange && form.dataset.address !== undefined) history.replaceState(null, "", address);
      const done = document.querySelector(".note.done")?.textContent;
      if (done) tell(done); // the next refresh removes it from the page
    } else {
      refused(answer, text);
    }
  } catch (error) {
    tell(`${error.message}`);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

// Parts with data-live="SECONDS" are refreshed while the page is visible. A part stays as it is while one of its elements
// without an id has the focus, as that element could not be found again in the new version.
let liveTimer = 0;
const isFree = (part) => !part.contains(document.activeElement) || document.activeElement.id !== "";
function keepLive() {
  const parts = [...document.querySelectorAll("[data-live][id]:not(figure.chart)")];
  clearTimeout(liveTimer);
  if (!parts.length) return;
  const seconds = Math.min(...parts.map((part) => Number(part.dataset.live) || 5));
  liveTimer = setTimeout(async () => {
    try {
      if (!document.hidden) {
        const requested = location.href;
        const answer = await fetch(requested);
        const text = await answer.text();
        if (requested !== location.href) { /* the page shows something else by now */ }
        else if (!answer.ok) refused(answer, text); // what the page shows may have been deleted
        else swap(text, parts.filter(isFree).map((part) => part.id));
      }
    } catch { /* the dashboard was ended: it may come back */ }
    keepLive();
  }, 1000 * seconds);
}

// Filters would fill narrow screens, so they are folded there.
const isNarrow = matchMedia("(max-width: 40rem)");
function fold() { for (const filters of document.querySelectorAll(".more-filters")) filters.open = !isNarrow.matches; }
isNarrow.addEventListener("change", fold);

// What a new part of the page needs.
function prepare(root) {
  localTimes(root);
  charts(root);
  backLinks(root);
  for (const form of root.querySelectorAll("form[data-goes-on]")) seen.observe(form);
}

// The keys j and k move the focus through elements with data-item, and Enter opens one. Other keys press the element with
// their data-key, first of all in the item with the focus.
function items() { // the visible ones
  return [...document.querySelectorAll("[data-item]")].filter((item) => item.offsetParent !== null);
}

function step(by) {
  const all = items();
  const current = all.findIndex((item) => item.contains(document.activeElement));
  const next = all[Math.max(0, Math.min(all.length - 1, current < 0 ? 0 : current + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

// The link that Enter opens: if possible, a link to a page of the dashboard rather than to the web.
function linkOf(item) { return item.querySelector("a[href^='/']") || item.querySelector("a[href]"); }

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
  if (event.key === "Enter") {  // the browser itself presses a link or a button that has the focus
    if (event.target.matches("[data-item]:not(a, label)")) linkOf(event.target)?.click();
    return;
  }
  const selector = `[data-key="${CSS.escape(event.key)}"]`;
  const item = document.activeElement?.closest("[data-item]") || items()[0];
  const pressed = (item && item.querySelector(selector)) || document.querySelector(selector);
  if (pressed) { pressed.click(); event.preventDefault(); }
});

document.addEventListener("submit", (event) => {
  if (event.target.dataset.part === undefined) return;
  event.preventDefault();
  send(event.target, event.submitter);
  if (document.activeElement?.type === "search") document.activeElement.blur(); // so that keys move through the list
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
