// Data, numbers and small pieces of the document. Names are text from strangers: they only ever become text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const T = data.tensors;
const COUNT = T.module.length;
const LAYERS = [...T.weight.keys()].filter((i) => T.weight[i] !== null);
const RANK = ["shared", "zero", "frozen", "ok", "low", "high", "vanishing", "exploding", "invalid"];
const PROBLEMS = new Set(["vanishing", "exploding", "invalid"]);

const byId = (id) => document.getElementById(id);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) made.addEventListener(event, handler);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function number(value, verdict) {
  if (value === null || value === undefined) return verdict === "exploding" ? "∞" : "nan";
  const size = Math.abs(value);
  if (size < 5e-17) return "0";
  return size >= 0.01 && size < 1000 ? value.toFixed(3) : value.toExponential(2);
}

const optional = (value, write = number) => (value === null || value === undefined ? "" : write(value));
const fan = (value) => Number(value.toPrecision(4)).toString();
const std = (value) => (value >= 1e-3 ? value.toFixed(4) : value.toExponential(2));
const placeOf = (i) => T.module[i] || "(model)";
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function worst(verdicts) {
  let found = -1;
  for (const word of verdicts) found = Math.max(found, RANK.indexOf(word));
  return found < 0 ? null : RANK[found];
}

function badge(verdict, text = verdict, words = VERDICTS) {
  return verdict ? element("span", { class: `badge ${verdict}`, title: words[verdict] }, text) : null;
}

function tally(verdicts) {
  const counts = new Map();
  for (const word of verdicts) if (word) counts.set(word, (counts.get(word) || 0) + 1);
  return [...counts].sort((a, b) => RANK.indexOf(b[0]) - RANK.indexOf(a[0]));
}

// What the parts of the page tell each other: select(tensor), focus(module, first, last), which("all" or "layers").
const listeners = { select: [], focus: [], which: [] };
const tell = (what, ...details) => listeners[what].forEach((listener) => listener(...details));

// A figure over all tensors: what is selected, where the tree points, and which tensors are wanted.
function follow(chart, draw) {
  draw();
  byId("reset").addEventListener("click", () => chart.zoom(null));
  listeners.select.push((i) => chart.mark(i));
  listeners.focus.push((module, first, last) => {
    const margin = Math.max(1, 0.05 * (last - first));
    chart.zoom(module === null ? null : [first - margin, last + margin]);
  });
  listeners.which.push(draw);
}

const state = { which: LAYERS.length && data.default ? "layers" : "all", selected: null };
