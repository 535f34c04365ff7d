// Gradients: what comes back to every tensor, and the weights' gradients over the weights.
function gradientTold() {
  const { problem, median } = data.gradients;
  const ratio = (one) => (one.ratio === null ? "" : `, |g|/|w| ${number(one.ratio)}`);
  if (problem) return element("p", { class: "hint" }, "First bad gradient on the way back: ", element("span", { class: "name" }, problem.name), `: |g| ${number(problem.weight)}${ratio(problem)}, `, badge(problem.verdict, problem.verdict, GRADIENT_VERDICTS));
  return element("p", { class: "hint" }, `No weight's gradient vanishes or explodes${median === null ? "" : `; median |g|/|w| of the weights ${number(median)}`}.`);
}

function aboutGradient(i) {
  const g = data.gradients;
  const lines = [placeOf(i), `${T.op[i]} · ${T.shape[i]}`];
  const row = (name, tensor, weight, ratio) => lines.push([`${name}: gradient ${number(tensor)}`, finite(weight) ? `weight's |g| ${number(weight)}` : "", finite(ratio) ? `|g|/|w| ${number(ratio)}` : ""].filter(Boolean).join(", "));
  row(OURS, g.tensor[i], g.weight[i], g.ratio[i]);
  if (g.measured && finite(g.measured[i])) lines.push(`measured: weight's |g| ${number(g.measured[i])}`);
  if (g.default) row("default", g.default.tensor[i], g.default.weight[i], g.default.ratio[i]);
  if (finite(g.chi[i])) lines.push(`chi ${g.chi[i].toFixed(3)}`);
  return lines;
}

function gradientPanels() {
  const g = data.gradients;
  const only = state.which === "layers" && LAYERS.length > 0;
  const crowded = !only && COUNT > CROWDED;
  const at = (only || crowded) && LAYERS.length ? LAYERS : ALL;
  const series = (name, kind, shade, indices, values, size) => ({ name, kind, shade, at: indices, values: indices.map((i) => values[i]), size });
  const few = LAYERS.length <= CROWDED;
  const tensors = [
    ...(g.default ? [series("default", few ? "curve" : "dots", "default", at, g.default.tensor, few ? 1.5 : 3)] : []),
    crowded ? series("other tensors", "dots", "predicted", ALL.filter((i) => T.weight[i] === null), g.tensor, 2.5) : series(OURS, "curve", "predicted", at, g.tensor),
    ...(LAYERS.length ? [series("weight layers", "dots", "weight", LAYERS, g.tensor, few ? 6 : 3.5)] : []),
  ];
  const ratios = [
    ...(g.default ? [series("default", few ? "curve" : "dots", "default", LAYERS, g.default.ratio, few ? 1.5 : 3)] : []),
    series("weight layers", "dots", "weight", LAYERS, g.ratio, few ? 6 : 3.5),
    ...(g.measured ? [series("measured", few ? "crosses" : "dots", "measured", LAYERS, g.measured_ratio, few ? 1 : 2.5)] : []),
  ];
  const panels = [{ name: "gradient", log: true, level: 1, share: 1.2, series: tensors }];
  if (g.median) panels.push({ name: "|g|/|w|", log: true, level: g.median, share: 1, series: ratios });
  return panels;
}

function startGradients() {
  if (!data.gradients) return;
  byId("gradients-part").hidden = false;
  byId("gradients-told").append(gradientTold());
  const chart = new Chart(byId("gradients"), { height: 380, across: "tensor, in the order of execution", told: aboutGradient, chosen: (i) => tell("select", i) });
  const edge = Math.max(0.5, 0.012 * COUNT);
  const draw = () => {
    const title = `Gradient of ${state.which === "layers" ? "every weight layer" : "every tensor"}, and |g|/|w| of the weights${data.gradients.default ? `: ${OURS} against the default` : ""}`;
    byId("gradients-title").textContent = title;
    chart.show(gradientPanels(), [-edge, COUNT - 1 + edge], `${title}. Arrow keys go from point to point.`);
  };
  follow(chart, draw);
}
