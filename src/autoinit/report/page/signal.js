// The figure: variance (log) above mean, against the order of execution.
const CROWDED = 300; // above so many tensors in view a line through all of them is a smear: points, bands of weight layers
const ALL = [...Array(COUNT).keys()];
const OURS = data.checked ? "now" : "AutoInit";

function aboutTensor(i) {
  const lines = [placeOf(i), `${T.op[i]} · ${T.shape[i]}`];
  const row = (name, mean, variance, verdict) =>
    lines.push(`${name}: variance ${number(variance, verdict)}, mean ${number(mean)}${verdict ? `, ${verdict}` : ""}`);
  row(OURS, T.mean[i], T.variance[i], T.verdict[i]);
  if (data.measured && data.measured.variance[i] !== null) row("measured", data.measured.mean[i], data.measured.variance[i]);
  if (data.default) row("default", data.default.mean[i], data.default.variance[i], data.default.verdict[i]);
  if (T.std[i] !== null) lines.push(`std ${std(T.std[i])}`);
  if (T.status[i] !== "rule") lines.push(T.status[i] === "passed" ? "passed through" : T.status[i]);
  return lines;
}

function signalPanel(property, options) {
  const only = state.which === "layers" && LAYERS.length > 0;
  const crowded = !only && COUNT > CROWDED;
  const judged = (only || crowded) && LAYERS.length ? LAYERS : ALL;
  const many = judged.length > CROWDED;
  const pick = (values, indices) => indices.map((i) => values[i]);
  const series = [];
  const add = (name, kind, shade, indices, values, size) => series.push({ name, kind, shade, at: indices, values: pick(values, indices), size });
  if (property === "variance") series.push({ name: "scatter of draws", kind: "band", shade: "spread", at: judged, low: pick(T.low, judged), high: pick(T.high, judged) });
  if (data.default) add("default", many ? "dots" : "curve", "default", judged, data.default[property], many ? 3 : 1.5);
  if (crowded) add("other tensors", "dots", "predicted", ALL.filter((i) => T.weight[i] === null), T[property], 2.5);
  else add(OURS, "curve", "predicted", judged, T[property]);
  if (LAYERS.length) add("weight layers", "dots", "weight", LAYERS, T[property], LAYERS.length > CROWDED ? 3.5 : 6);
  if (data.measured) add("measured", many ? "dots" : "crosses", "measured", judged, data.measured[property], many ? 2.5 : 1);
  return { series, ...options };
}

function signalTitle() {
  const what = state.which === "layers" ? "every weight layer" : "every tensor";
  return `Variance and mean of ${what}${data.default ? `: ${OURS} against the default` : ""}`;
}

function describeSignal() {
  const seen = (values, indices) => indices.map((i) => values[i]).filter(finite);
  const span = (values) => {
    const found = seen(values, LAYERS.length ? LAYERS : ALL);
    return found.length ? `from ${number(found.reduce((a, b) => Math.min(a, b)))} to ${number(found.reduce((a, b) => Math.max(a, b)))}` : "unknown";
  };
  const other = data.default ? `; with the default ${span(data.default.variance)}` : "";
  return `${signalTitle()}. Variance of the weight layers ${span(T.variance)}${other}. Arrow keys go from point to point.`;
}

function startSignal() {
  const holder = byId("signal");
  const chart = new Chart(holder, { height: 420, across: "tensor, in the order of execution", told: aboutTensor, chosen: (i) => tell("select", i) });
  const edge = Math.max(0.5, 0.012 * COUNT);
  const draw = () => {
    byId("signal-title").textContent = signalTitle();
    chart.show([
      signalPanel("variance", { name: "variance", log: true, level: data.target, share: 2.1 }),
      signalPanel("mean", { name: "mean", log: false, level: 0, share: 1 }),
    ], [-edge, COUNT - 1 + edge], describeSignal());
  };
  follow(chart, draw);
  performance.mark("signal");
}
