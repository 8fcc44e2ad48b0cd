// Charts: <figure class="chart" data-from="/api/..." data-live="SECONDS"> with a .plot in it. The address in data-from
// returns JSON: {"at": [seconds since 1970, ...], "series": [{"name": ..., "unit": ..., "values": [...]}, ...]}.
// - data-series="NAME ..." chooses some of the series, data-names="A|B" and data-colours="--first ..." set the names and
//   colours of the chosen ones.
// - For screen readers, data-says="{name}: latest {last}, highest {most}." is filled in for each line, in the element that
//   aria-describedby of the .plot names, and a <details> with .values in it gets a table.
// - data-none="..." is shown instead of lines that have only zeros.
// - data-cut="... {most}." is shown in .cut if the axis ends below the highest value.

const COLOURS = ["--first", "--second", "--third", "--fourth", "--fifth"];
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2]]; // so that lines also differ without colours
const FEW = 12; // with fewer values, a line has a dot at each, because short lines are hardly visible
// If a line has LEAST_TO_CUT values or more, the axis may end below the highest one: at ROOM times the HIGH quantile, if the
// highest value is more than FAR times this quantile.
const LEAST_TO_CUT = 8, HIGH = 0.98, FAR = 3, ROOM = 1.5;
const HEIGHT = 190; // pixels
const SHARED = 500; // milliseconds in which figures with the same address share a response
const DAY = 86400;
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, ...[1, 2, 5, 10, 30, 90, 365].map((days) => days * DAY)]; // seconds between marks
const drawn = new Map(); // by figure: its chart, the data, and the kind, which says whether the chart fits new data
const answers = new Map(); // by address: the last response, and when it was requested
const language = document.documentElement.lang;

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function amount(value, digits, short) {
  return value.toLocaleString(language, { maximumFractionDigits: digits, notation: short ? "compact" : "standard" });
}

// A value with its unit, e.g. "49%", "1.5 kB/s" or "0.2/s"; without the unit of time if it is short.
function shown(value, unit, short = false) {
  if (value == null) return "–";
  if (unit === "%") return `${amount(100 * value, 0)}%`;
  if (unit.startsWith("B")) {
    const step = Math.min(4, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
    const size = value / 1000 ** step;
    return `${amount(size, size < 10 && step ? 1 : 0)} ${["", "k", "M", "G", "T"][step]}${short ? "B" : unit}`;
  }
  const number = amount(value, Math.abs(value) < 10 ? (Math.abs(value) < 0.1 ? 3 : 1) : 0, short);
  return short || !unit ? number : `${number}${unit.startsWith("/") ? "" : " "}${unit}`;
}

function moment(seconds) {
  return new Date(1000 * seconds).toLocaleString(language, { dateStyle: "medium", timeStyle: "medium" });
}

// The labels below the axis: days if the marks are at least a day apart, otherwise times, with the day where it changes.
// `apart` is the number of seconds between two marks.
function times(chart, marks, _axis, _space, apart) {
  let before = "";
  return marks.map((mark) => {
    const at = new Date(1000 * mark);
    const day = at.toLocaleDateString(language, { month: "short", day: "numeric" });
    if (apart >= DAY) return day;
    const time = at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: apart < 60 ? "2-digit" : undefined, hourCycle: "h23" });
    const isKnownDay = day === before || (!before && new Date().toDateString() === at.toDateString());
    before = day;
    return isKnownDay ? time : `${time}\n${day}`;
  });
}

// The series of a response that a figure shows, with its names and colours.
function chosen(figure, data) {
  const names = figure.dataset.series?.split(" ");
  const shownNames = figure.dataset.names?.split("|") ?? [];
  const colours = figure.dataset.colours?.split(" ") ?? COLOURS;
  const series = names ? names.map((name) => data.series.find((line) => line.name === name)).filter(Boolean) : data.series;
  return series.map((line, at) => ({ ...line, unit: line.unit || "", name: shownNames[at] ?? line.name, colour: colours[at % colours.length] }));
}

// The axis of a single moment: a minute with this moment in its middle.
function around(seconds) { return [seconds - 30, seconds + 30]; }

// The indexes of values without neighbours, to which no line leads.
function alone(values) {
  return values.map((_, at) => at).filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null);
}

// Where the axis ends: at the highest value, or below it if a few odd values would flatten everything else.
function upTo(columns) {
  const most = Math.max(0, ...columns.flat());
  const high = Math.max(0, ...columns.map((values) => {
    const sorted = values.filter((value) => value != null).sort((one, other) => one - other);
    return sorted.length < LEAST_TO_CUT ? sorted.at(-1) ?? 0 : sorted[Math.min(Math.floor(HIGH * (sorted.length - 1)), sorted.length - 2)];
  }));
  return high > 0 && most > FAR * high ? ROOM * high : most;
}

function options(figure, at, lines, width) {
  const line = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px system-ui, 'Noto Sans CJK SC', sans-serif" };
  const unit = lines[0]?.unit ?? "";
  const least = unit === "%" ? 1 : unit.startsWith("/") ? 0.1 : 1;
  return {
    width, height: HEIGHT, legend: { live: true }, cursor: { y: false }, padding: [10, 12, 0, 0],
    scales: {
      x: { range: (chart, first, last) => (chart.data[0].length === 1 ? around(chart.data[0][0]) : [first, last]) },
      y: { range: (chart) => [0, unit === "%" ? 1 : Math.max(least, upTo(chart.data.slice(1))) * 1.05] },
    },
    axes: [{ ...line, space: 70, incrs: STEPS, values: times }, { ...line, size: 58, space: 34, values: (_, ticks) => ticks.map((tick) => shown(tick, unit, true)) }],
    series: [{ label: figure.dataset.time ?? "", value: (_, seconds) => (seconds == null ? "–" : moment(seconds)) }, ...lines.map((one, place) => ({
      label: one.name, stroke: colour(one.colour), width: 2, dash: DASHES[place % DASHES.length], spanGaps: false,
      points: { show: at.length < FEW, size: 6, filter: (chart, place, show) => (show ? null : alone(chart.data[place])) }, value: (_, value) => shown(value, one.unit),
    }))],
  };
}

// The chart for screen readers: a sentence for each line, and, once it is opened, a table of all values.
function tell(figure, at, lines) {
  const plot = figure.querySelector(".plot");
  const says = document.getElementById(plot.getAttribute("aria-describedby"));
  if (says && figure.dataset.says) {
    says.textContent = lines.map((one) => {
      const known = one.values.filter((value) => value != null);
      const words = { name: one.name, last: shown(known.at(-1), one.unit), most: shown(known.length ? Math.max(...known) : null, one.unit) };
      return figure.dataset.says.replace(/\{(name|last|most)\}/g, (_, word) => words[word]);
    }).join(" ");
  }
  const details = figure.querySelector("details");
  if (details?.open) fill(details.querySelector(".values"), figure, at, lines);
}

function fill(place, figure, at, lines) {
  const table = document.createElement("table");
  const cell = (row, kind, text, scope) => {
    const made = row.appendChild(document.createElement(kind));
    made.textContent = text;
    if (scope) made.scope = scope;
    made.className = kind === "td" || scope === "col" ? "number" : "";
  };
  const head = table.createTHead().insertRow();
  cell(head, "th", figure.dataset.time ?? "", "col");
  for (const one of lines) cell(head, "th", one.name, "col");
  const body = table.createTBody();
  for (let index = at.length - 1; index >= 0; index--) { // the latest first
    const row = body.insertRow();
    cell(row, "th", moment(at[index]), "row");
    for (const one of lines) cell(row, "td", shown(one.values[index], one.unit));
  }
  const top = place.scrollTop;
  place.replaceChildren(table);
  place.scrollTop = top;
}

// Say whether the axis ends below the highest value.
function tellCut(figure, columns, lines) {
  const cut = figure.querySelector(".cut");
  const unit = lines[0]?.unit ?? "";
  const most = Math.max(0, ...columns.flat());
  if (!cut) return;
  cut.hidden = unit === "%" || upTo(columns) >= most;
  cut.textContent = cut.hidden ? "" : figure.dataset.cut.replace("{most}", shown(most, unit));
}

// Show a text instead of the chart.
function nothing(figure, plot, why) {
  forget(figure);
  const said = document.createElement("p");
  said.className = "dim";
  said.textContent = why ?? "–";
  plot.replaceChildren(said);
}

function render(figure, data) {
  const plot = figure.querySelector(".plot");
  const lines = chosen(figure, data);
  figure.dataset.points = data.at.length;
  tell(figure, data.at, lines);
  if (!data.at.length) { nothing(figure, plot, figure.dataset.nothing); return; }
  if (figure.dataset.none && lines.every((one) => one.values.every((value) => !value))) { nothing(figure, plot, figure.dataset.none); return; }
  const columns = [data.at, ...lines.map((one) => one.values)];
  tellCut(figure, columns.slice(1), lines);
  const kind = lines.map((one) => `${one.name} ${one.unit}`).join("\n") + (data.at.length < FEW ? "\nfew" : "");
  const before = drawn.get(figure);
  if (before && before.kind === kind) {
    before.data = data;
    before.chart.setData(columns);
    return;
  }
  forget(figure);
  plot.replaceChildren();
  const chart = new window.uPlot(options(figure, data.at, lines, plot.clientWidth || 400), columns, plot);
  drawn.set(figure, { kind, chart, data });
  widths.observe(plot);
}

function forget(figure) {
  drawn.get(figure)?.chart.destroy();
  drawn.delete(figure);
}

// The data from an address, null if the server refuses them; figures that show parts of them share the response.
function answer(address) {
  const before = answers.get(address);
  if (before && Date.now() - before.asked < SHARED) return before.data;
  const data = fetch(address).then((found) => (found.ok ? found.json() : null));
  answers.set(address, { asked: Date.now(), data });
  return data;
}

async function draw(figure) {
  try {
    const data = await answer(figure.dataset.from);
    if (data && figure.isConnected) render(figure, data);
  } catch { /* the dashboard was ended: it may come back */ }
}

// Draw a figure, and again every data-live seconds while it is in the page.
function keep(figure) {
  if (!figure.isConnected) { forget(figure); return; }
  const seconds = Number(figure.dataset.live);
  const next = () => { if (seconds) setTimeout(() => keep(figure), 1000 * seconds); };
  if (document.hidden) next(); else draw(figure).finally(next);
}

export function charts(root) {
  for (const figure of root.querySelectorAll("figure.chart[data-from]")) {
    keep(figure);
    figure.querySelector("details")?.addEventListener("toggle", () => draw(figure));
  }
}

const widths = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const found = drawn.get(target.closest("figure"));
    if (found && target.clientWidth && found.chart.width !== target.clientWidth) {
      requestAnimationFrame(() => found.chart.setSize({ width: target.clientWidth, height: HEIGHT }));
    }
  }
});

// Colours are part of the drawn image: when they change, it is drawn again.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [figure, { data }] of [...drawn]) { forget(figure); render(figure, data); }
});
