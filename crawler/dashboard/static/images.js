// Marking picture after picture: the focus goes on by itself, the last mark can be taken back, arrows go through the wall.

const undo = document.getElementById("undo");
let last = null;

function cards() { return [...document.querySelectorAll(".picture[data-item]")]; }

function focus(card) {
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

// Whoever presses a key on a picture wants the next one; whoever presses its button stays there.
document.addEventListener("submit", (event) => {
  const card = event.target.closest("form.mark")?.closest(".picture");
  if (!card) return;
  const undoing = last?.undoing;
  last = undoing ? null : { id: card.id, before: card.dataset.mark };
  undo.hidden = last === null;
  if (document.activeElement === card && !undoing && event.submitter?.value !== "none") {
    const all = cards();
    focus(all[all.indexOf(card) + 1]);
  }
});

undo.addEventListener("click", () => {
  const card = last && document.getElementById(last.id);
  const button = card?.querySelector(`.mark button[value="${last.before}"]`);
  if (!button || button.disabled) return;
  last.undoing = true;
  focus(card);
  button.click();
});

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// The nearest picture that way; one straight ahead is nearer than one aside.
function beside(card, [right, down]) {
  const middle = (one) => { const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const [x, y] = middle(card);
  let [best, least] = [null, Infinity];
  for (const one of cards()) {
    const [ahead, aside] = [middle(one)[0] - x, middle(one)[1] - y].map((by, at) => ({ by, along: at === 0 ? right : down })).reduce(
      ([far, off], { by, along }) => along ? [by * along, off] : [far, Math.abs(by)], [0, 0]);
    if (ahead > 1 && ahead + 3 * aside < least) [best, least] = [one, ahead + 3 * aside];
  }
  return best;
}

document.addEventListener("keydown", (event) => {
  const [way, card] = [WAYS[event.key], document.activeElement];
  if (!way || !card?.matches(".picture[data-item]") || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const next = beside(card, way);
  if (next) { focus(next); event.preventDefault(); }
});
