// The figure: variance (log) above mean, against the order of execution.
const CROWDED = 300; // above so many tensors in view a line through all of them is a smear: points, bands of weight layers
const MOST = 400; // points of one kind at a time; zooming in shows more
const holder = byId("signal");

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const harmless = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const positive = (value) => (value !== null && value > 1e-30 ? value : null);

function hoverText(i) {
  const lines = [`<b>${harmless(placeOf(i))}</b>`, `${harmless(T.op[i])} · ${T.shape[i]}`];
  const row = (name, mean, variance, verdict) =>
    lines.push(`${name}: variance ${number(variance, verdict)}, mean ${number(mean)}${verdict ? `, ${verdict}` : ""}`);
  row("predicted", T.mean[i], T.variance[i], T.verdict[i]);
  if (data.measured && data.measured.variance[i] !== null) row("measured", data.measured.mean[i], data.measured.variance[i]);
  if (data.default) row("default", data.default.mean[i], data.default.variance[i], data.default.verdict[i]);
  if (T.std[i] !== null) lines.push(`std ${std(T.std[i])}`);
  if (T.status[i] !== "rule") lines.push(T.status[i] === "passed" ? "passed through" : T.status[i]);
  return lines.join("<br>");
}
const hover = [...Array(COUNT).keys()].map(hoverText);

const ALL = [...Array(COUNT).keys()];
const view = { xaxis: null, yaxis: null, yaxis2: null }; // ranges that were zoomed to; null: everything
const visible = (i) => !view.xaxis || (i >= view.xaxis[0] && i <= view.xaxis[1]);
const crowd = (indices) => indices.filter(visible).length > CROWDED;

// Of many points those that matter: of each stretch the lowest, the highest and two at random (no period is preferred).
function thinned(indices, values) {
  const seen = indices.filter(visible);
  if (!crowd(indices)) return view.xaxis ? seen : indices;
  const step = Math.ceil((4 * seen.length) / MOST);
  const kept = new Set();
  for (let start = 0; start < seen.length; start += step) {
    const stretch = seen.slice(start, start + step).filter((i) => values[i] !== null);
    if (!stretch.length) continue;
    kept.add(stretch.reduce((a, b) => (values[b] < values[a] ? b : a)));
    kept.add(stretch.reduce((a, b) => (values[b] > values[a] ? b : a)));
    for (const salt of [7919, 104729]) kept.add(stretch[((start + 1) * salt) % stretch.length]);
  }
  return seen.filter((i) => kept.has(i));
}

function traces() {
  const only = state.which === "layers" && LAYERS.length > 0;
  const crowded = !only && crowd(ALL);
  const judged = (only || crowded) && LAYERS.length ? LAYERS : ALL;
  const many = crowd(judged);
  const made = [];
  const add = (indices, values, axis, options) =>
    made.push({
      type: "scatter", x: indices, y: indices.map((i) => values[i]), yaxis: axis, text: indices.map((i) => hover[i]),
      hoverinfo: "text", legendgroup: options.name, showlegend: axis === "y", ...options,
    });
  const dots = (indices, values, axis, name, shade, size, more = {}) =>
    add(thinned(indices, values), values, axis, { name, mode: "markers", marker: { color: shade, size, line: { width: 0 }, ...more } });
  const edge = { mode: "lines", line: { width: 0 }, hoverinfo: "skip", connectgaps: true, name: "scatter of draws" };
  const inBand = judged.filter((i) => positive(T.low[i]) && positive(T.high[i]));
  add(inBand, T.low, "y", { ...edge, showlegend: false });
  add(inBand, T.high, "y", { ...edge, fill: "tonexty", fillcolor: colour("band") });
  for (const [axis, property] of [["y", "variance"], ["y2", "mean"]]) {
    const shown = (values) => (axis === "y" ? values.map(positive) : values);
    const line = (indices, values, name, shade, width) => add(indices, values, axis, { name, mode: "lines", line: { color: shade, width } });
    if (data.default) {
      const values = shown(data.default[property]);
      if (many || crowded) dots(judged, values, axis, "default", colour("default"), 3);
      else line(judged, values, "default", colour("default"), 1.2);
    }
    const predicted = shown(T[property]);
    if (crowded) dots(ALL.filter((i) => T.weight[i] === null), predicted, axis, "predicted", colour("predicted"), 2.5);
    else line(judged, predicted, "predicted", colour("predicted"), 1.5);
    dots(LAYERS, predicted, axis, "weight layers", colour("weight"), crowd(LAYERS) ? 3.5 : 6);
    if (data.measured) {
      const mark = many ? { opacity: 0.6 } : { symbol: "x-thin-open", line: { width: 1, color: colour("ink") } };
      dots(judged, shown(data.measured[property]), axis, "measured", colour("ink"), many ? 2.5 : 5, mark);
    }
  }
  return made;
}

function layout() {
  const grid = { gridcolor: colour("grid"), zeroline: false, linecolor: colour("grid"), tickfont: { size: 11 } };
  const line = (axis, y) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, yref: axis, y0: y, y1: y, layer: "below",
    line: { color: colour("faint"), width: 1, dash: "dash" },
  });
  const shapes = [line("y", data.target), line("y2", 0)];
  if (state.selected !== null) {
    const at = state.selected;
    shapes.push({ type: "line", yref: "paper", y0: 0, y1: 1, x0: at, x1: at, line: { color: colour("accent"), width: 1 } });
  }
  return {
    height: 430, margin: { l: 62, r: 14, t: 8, b: 42 }, hovermode: "closest", dragmode: "zoom",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("ink"), family: "system-ui, sans-serif", size: 12 },
    hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("edge"), font: { color: colour("ink"), size: 12, family: "system-ui, sans-serif" }, align: "left" },
    legend: { orientation: "h", y: 1.0, yanchor: "bottom", x: 0, itemsizing: "constant", font: { size: 11 } },
    xaxis: { ...grid, ...ranged("xaxis"), anchor: "y2", title: { text: "tensor, in the order of execution", font: { size: 11 } } },
    yaxis: { ...grid, ...ranged("yaxis"), type: "log", domain: [0.36, 1], title: { text: "variance", font: { size: 11 } }, exponentformat: "e", dtick: decades() },
    yaxis2: { ...grid, ...ranged("yaxis2"), domain: [0, 0.3], title: { text: "mean", font: { size: 11 } } },
    shapes,
  };
}

// Ticks at powers of ten alone, every so many that about eight fit.
function decades() {
  const values = [T.variance, data.default ? data.default.variance : [], data.measured ? data.measured.variance : []].flat();
  const logs = values.filter(positive).map(Math.log10);
  const range = logs.length ? logs.reduce((a, b) => Math.max(a, b)) - logs.reduce((a, b) => Math.min(a, b)) : 1;
  return range < 2 ? undefined : Math.max(1, Math.ceil(range / 8));
}

const draw = () => Plotly.react(holder, traces(), layout(), { responsive: true, displaylogo: false, displayModeBar: false, doubleClick: "autosize" });

const EDGE = Math.max(0.5, 0.012 * COUNT);

function ranged(axis) {
  const range = view[axis] || (axis === "xaxis" ? [-EDGE, COUNT - 1 + EDGE] : null);
  return range ? { range: [...range], autorange: false } : { autorange: true };
}

// Show the tensors from first to last, as high as they are.
function zoomTo(first, last) {
  const margin = Math.max(1, 0.05 * (last - first));
  view.xaxis = [first - margin, last + margin];
  const inside = (values) => values.slice(first, last + 1);
  for (const [axis, property] of [["yaxis", "variance"], ["yaxis2", "mean"]]) {
    let values = [T, data.measured, data.default].filter(Boolean).flatMap((source) => inside(source[property]));
    values = axis === "yaxis" ? [...values.filter(positive), data.target].map(Math.log10) : [...values.filter((v) => v !== null), 0];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const space = Math.max(0.08 * (high - low), axis === "yaxis" ? 0.15 : 0.05);
    view[axis] = [low - space, high + space];
  }
  draw();
}

function resetZoom() {
  Object.assign(view, { xaxis: null, yaxis: null, yaxis2: null });
  draw();
}

// After zooming by hand: more detail, or less.
function zoomed(event) {
  const axes = Object.keys(view).filter((axis) => Object.keys(event).some((key) => key.startsWith(`${axis}.`)));
  if (!axes.length) return;
  for (const axis of axes) view[axis] = holder.layout[axis].autorange ? null : [...holder.layout[axis].range];
  draw();
}

// The library is large: the rest of the page is there before it is run.
function loadPlotly() {
  const stored = byId("plotly");
  document.head.append(element("script", {}, stored.textContent));
  stored.remove();
  holder.replaceChildren();
}

function startSignal() {
  loadPlotly();
  draw();
  holder.on("plotly_click", (event) => tell("select", event.points[0].x));
  byId("reset").addEventListener("click", resetZoom);
  listeners.select.push(() => Plotly.relayout(holder, { shapes: layout().shapes }));
  listeners.focus.push((module, first, last) => (module === null ? resetZoom() : zoomTo(first, last)));
  holder.on("plotly_relayout", zoomed);
  listeners.which.push(draw);
  listeners.theme.push(draw);
  performance.mark("signal");
}
