// Labels the blocks of a page. A click with Shift labels all blocks from the last changed one to the clicked one. The keys J
// and K label the next or the previous block like the current one. The key a chooses all from the last changed one to it.
// After each change, the text of the chosen blocks is shown.

const form = document.getElementById("sheet");
const boxes = [...form.querySelectorAll(".labels-blocks input")];
let last = -1; // the block that was changed last
let shift = false; // whether Shift was held at the last click
let timer = 0;
let requests = 0; // how often the text was requested

function set(from, to, kept) {
  for (let at = Math.min(from, to); at <= Math.max(from, to); at++) boxes[at].checked = kept;
}

async function preview() {
  const number = ++requests;
  const fields = new URLSearchParams(new FormData(form));
  try {
    const answer = await fetch(document.getElementById("show-preview").formAction, { method: "POST", body: fields });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== requests) return; // it was requested again meanwhile
    const found = page.getElementById("preview") || page.querySelector("main .lead");
    if (found) document.getElementById("preview").textContent = found.textContent;
  } catch { /* the dashboard was ended: saving says so */ }
}

function changed(at) {
  last = at;
  clearTimeout(timer);
  timer = setTimeout(preview, 300);
}

// The keys j and k focus the label of a block; the focus moves on to its checkbox, which handles the other keys.
form.addEventListener("focusin", (event) => {
  if (event.target.matches(".labels-blocks label")) event.target.control.focus({ preventScroll: true });
});

form.addEventListener("mousedown", (event) => {
  if (event.shiftKey && event.target.closest(".labels-blocks label")) event.preventDefault(); // no text is selected
});

form.addEventListener("click", (event) => {
  if (event.isTrusted && event.target.closest(".labels-blocks label")) shift = event.shiftKey;
}, true);

form.addEventListener("change", (event) => {
  const at = boxes.indexOf(event.target);
  if (at < 0) return;
  if (shift && last >= 0) set(last, at, event.target.checked);
  shift = false;
  changed(at);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const at = boxes.indexOf(document.activeElement);
  if (at < 0 || !["J", "K", "a"].includes(event.key)) return;
  event.preventDefault();
  if (event.key === "a") {
    set(last < 0 ? at : last, at, true);
    changed(at);
    return;
  }
  const next = Math.max(0, Math.min(boxes.length - 1, at + (event.key === "J" ? 1 : -1)));
  boxes[next].checked = boxes[at].checked;
  boxes[next].closest("label").scrollIntoView({ block: "nearest" });
  boxes[next].focus({ preventScroll: true });
  changed(next);
});

document.getElementById("show-preview").addEventListener("click", (event) => {
  event.preventDefault();
  preview().then(() => document.getElementById("preview").scrollIntoView({ block: "nearest" }));
});
