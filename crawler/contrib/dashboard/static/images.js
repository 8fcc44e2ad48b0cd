// Labels images one after another: the focus moves to the next image, the last label can be undone, and the arrow keys move
// the focus through the list.

const undo = document.getElementById("undo");
let last = null; // the id of the image that was labelled last, its earlier label, and whether that is being restored

function cards() { return [...document.querySelectorAll(".image[data-item]")]; }

function focus(card) {
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

// After a key on an image, the focus moves to the next image; after a click on its button, it stays.
document.addEventListener("submit", (event) => {
  const card = event.target.closest("form.label")?.closest(".image");
  if (!card) return;
  const undoing = last?.undoing;
  last = undoing ? null : { id: card.id, before: card.dataset.label };
  undo.hidden = last === null;
  if (document.activeElement === card && !undoing && event.submitter?.value !== "none") {
    const all = cards();
    focus(all[all.indexOf(card) + 1]);
  }
});

undo.addEventListener("click", () => {
  const card = last && document.getElementById(last.id);
  const button = card?.querySelector(`.label button[value="${last.before}"]`);
  if (!button || button.disabled) return;
  last.undoing = true;
  focus(card);
  button.click();
});

// For each arrow: the edge of the current image that it points from, the facing edge of images ahead, and the direction.
const WAYS = {
  ArrowLeft: ["left", "right", -1], ArrowRight: ["right", "left", 1],
  ArrowUp: ["top", "bottom", -1], ArrowDown: ["bottom", "top", 1],
};

// The nearest image that lies wholly in the direction of an arrow, one of WAYS; a distance to the side counts three times.
function beside(card, [edge, begin, way]) {
  const [across, long] = edge === "left" || edge === "right" ? ["y", "height"] : ["x", "width"];
  const middle = (box) => box[across] + box[long] / 2;
  const here = card.getBoundingClientRect();
  let [best, least] = [null, Infinity];
  for (const one of cards()) {
    const box = one.getBoundingClientRect();
    const ahead = way * (box[begin] - here[edge]);
    const far = ahead + 3 * Math.abs(middle(box) - middle(here));
    if (ahead > -1 && far < least) [best, least] = [one, far];
  }
  return best;
}

document.addEventListener("keydown", (event) => {
  const [way, card] = [WAYS[event.key], document.activeElement];
  if (!way || !card?.matches(".image[data-item]") || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const next = beside(card, way);
  if (next) { focus(next); event.preventDefault(); }
});
