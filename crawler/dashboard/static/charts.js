// Charts: <figure class="chart" data-from="/api/..." data-live="SECONDS"> with a .plot in it. What comes as JSON is
// {"at": [seconds since 1970, ...], "series": [{"name": ..., "unit": ..., "values": [...]}, ...]}.

const COLOURS = ["--first", "--second", "--third", "--fourth", "--fifth"];
const drawn = new Map();

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

function shown(value, unit) {
  if (value == null) return "–";
  if (unit === "%") return `${(100 * value).toFixed(0)}%`;
  const digits = Math.abs(value) < 10 && !Number.isInteger(value) ? 1 : 0;
  return value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: digits }) + (unit ? ` ${unit}` : "");
}

function options(data, width) {
  const line = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "12px system-ui" };
  const unit = data.series[0]?.unit;
  const range = unit === "%" ? [0, 1] : (_, least, most) => [0, Math.max(1, most ?? 1) * 1.05];
  return {
    width, height: 190, legend: { live: true }, cursor: { y: false }, scales: { y: { range } },
    axes: [line, { ...line, size: 56, values: (_, ticks) => ticks.map((tick) => shown(tick, unit === "%" ? "%" : "")) }],
    series: [{}, ...data.series.map((one, at) => ({
      label: one.name, stroke: colour(COLOURS[at % COLOURS.length]), width: 2, spanGaps: true,
      points: { show: data.at.length < 2 }, value: (_, value) => shown(value, one.unit),
    }))],
  };
}

async function draw(figure) {
  const plot = figure.querySelector(".plot");
  try {
    const answer = await fetch(figure.dataset.from);
    if (!answer.ok) return;
    const data = await answer.json();
    const columns = [data.at, ...data.series.map((one) => one.values)];
    const names = data.series.map((one) => one.name).join("\n");
    const before = drawn.get(figure);
    if (before && before.names === names) {
      before.chart.setData(columns);
    } else {
      before?.chart.destroy();
      plot.replaceChildren();
      drawn.set(figure, { names, chart: new window.uPlot(options(data, plot.clientWidth || 400), columns, plot) });
    }
    figure.dataset.points = data.at.length;
  } catch { /* the dashboard was ended: it may come back */ }
}

function keep(figure) {
  if (!figure.isConnected) { drawn.get(figure)?.chart.destroy(); drawn.delete(figure); return; }
  const seconds = Number(figure.dataset.live);
  const next = () => { if (seconds) setTimeout(() => keep(figure), 1000 * seconds); };
  if (document.hidden) next(); else draw(figure).finally(next);
}

export function charts(root) {
  for (const figure of root.querySelectorAll("figure.chart[data-from]")) keep(figure);
}

addEventListener("resize", () => {
  for (const [figure, { chart }] of drawn) chart.setSize({ width: figure.querySelector(".plot").clientWidth, height: 190 });
});
