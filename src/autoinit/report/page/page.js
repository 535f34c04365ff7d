// The page: headline and comparison, the selected tensor, notes, parameters, light and dark.
function headline() {
  const bad = LAYERS.find((i) => PROBLEMS.has(T.verdict[i]));
  if (bad === undefined) {
    const text = LAYERS.length ? "No weight layer vanishes or explodes" : "No weight layers to judge";
    return element("p", { class: "headline fine" }, text);
  }
  const link = element("button", { type: "button", class: "link", on: { click: () => tell("select", bad) } }, placeOf(bad));
  return element("p", { class: "headline trouble" }, "First problem: ", link, ` (${T.op[bad]}): variance ${number(T.variance[bad], T.verdict[bad])}, `, badge(T.verdict[bad]));
}

function bar(label, verdicts) {
  const counts = tally(verdicts);
  const all = counts.reduce((sum, [, count]) => sum + count, 0);
  const strip = element("div", { class: "strip" }, ...counts.map(([word, count]) =>
    element("span", { class: word, style: `flex-grow:${count}`, title: `${word}: ${count} of ${all}` })));
  const words = counts.map(([word, count]) => element("span", { class: "share" }, badge(word), ` ${count.toLocaleString("en")}`));
  return element("div", { class: "shares" }, element("span", { class: "label" }, label), strip, element("span", { class: "words" }, ...words));
}

function overview() {
  const { default: other, measured } = data;
  byId("overview").append(headline());
  const told = (bad) => (bad ? `first problem at ${bad.name || "(model)"} (${bad.op}), ${bad.verdict}` : "no weight layer vanishes or explodes");
  if (measured && measured.problem) byId("overview").append(element("p", { class: "hint" }, `Measured: ${told(measured.problem)}.`));
  if (other) byId("overview").append(element("p", { class: "hint" }, `Default initialization${other.real ? " (measured)" : ""}: ${told(other.problem)}.`));
  if (LAYERS.length) byId("overview").append(bar(OURS, T.verdict));
  if (measured) byId("overview").append(bar("measured", measured.verdict));
  if (other) byId("overview").append(bar("default", other.verdict));
  byId("overview").append(element("p", { class: "hint" }, `${data.summary}.`));
}

function showSelected(i) {
  const facts = [
    ["op", T.op[i] + (T.call[i] > 1 ? `, call ${T.call[i]}` : "")], ["output", T.shape[i]], ["mean", number(T.mean[i])],
    ["variance", number(T.variance[i], T.verdict[i])], ["draws scatter between", T.low[i] === null ? "" : `${number(T.low[i])} and ${number(T.high[i])}`],
    ["measured", data.measured ? optional(data.measured.variance[i]) : ""], ["default", data.default ? optional(data.default.variance[i]) : ""],
    ["correlation of two samples", T.correlation[i].toFixed(3)], ["weight", T.weight[i] || ""], ["std", optional(T.std[i], std)],
    ["fan", optional(T.fan[i], fan)], ["mean in", optional(T.mean_in[i])], ["variance in", optional(T.variance_in[i])],
    ["gradient", data.gradients ? optional(data.gradients.tensor[i]) : ""], ["weight's |g|", data.gradients ? optional(data.gradients.weight[i]) : ""],
    ["|g|/|w|", data.gradients ? optional(data.gradients.ratio[i]) : ""],
    ["how", T.status[i] === "rule" ? "by a rule" : T.status[i] === "passed" ? "passed through" : T.status[i]],
  ].filter(([, text]) => text !== "");
  byId("selected").replaceChildren(element("strong", { class: "name" }, placeOf(i)), badge(T.verdict[i]) || "",
    ...facts.map(([name, text]) => element("span", { class: "fact" }, element("span", { class: "label" }, name), ` ${text}`)));
}

const KINDS = { warning: "Warnings", simulated: "Simulated with the real operation", passed: "Passed through unchanged", gradient: "Gradients passed on as they are", info: "Remarks" };

function notes() {
  const home = byId("notes");
  for (const [kind, heading] of Object.entries(KINDS)) {
    const found = data.notes.filter((note) => note.kind === kind);
    if (!found.length) continue;
    const items = () => found.map((note) => element("li", {}, element("span", { class: "name" }, note.place), element("span", {}, note.message)));
    home.append(folding(`${heading}: ${found.length.toLocaleString("en")}`, kind, items, kind !== "info" && kind !== "gradient" && found.length <= 50));
  }
  if (!home.children.length) home.append(element("p", { class: "hint" }, "Every operation has a rule: nothing was simulated or passed through, and there are no warnings."));
}

const ACTIONS = {
  set: "Set", gain: "Gains set", zero: "Set to zero", centre: "Set to cancel a mean", shared: "Shared", kept: "Kept as they are", unreached: "Not reached",
};

function parameters() {
  for (const action of [...new Set([...Object.keys(ACTIONS), ...data.parameters.map((p) => p.action)])]) {
    const found = data.parameters.filter((p) => p.action === action);
    if (!found.length) continue;
    const items = () => found.map((p) => element("li", {}, element("span", { class: "name" }, p.name),
      element("span", {}, [p.shape, p.std === null || action === "zero" ? "" : `std ${std(p.std)}`, p.reason].filter(Boolean).join(", "))));
    byId("parameters").append(folding(`${ACTIONS[action] || action}: ${found.length.toLocaleString("en")}`, action, items, action === "unreached" && found.length <= 50));
  }
}

// A heading whose list is made when it is opened.
function folding(heading, kind, items, opened) {
  const made = element("details", { class: kind }, element("summary", {}, heading));
  const make = () => made.open && made.children.length === 1 && made.append(element("ul", {}, ...items()));
  made.addEventListener("toggle", make);
  made.open = opened;
  make();
  return made;
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const home = document.documentElement;
  let chosen = null;
  try { chosen = localStorage.getItem("autoinit-theme"); } catch { /* a page without storage follows the system */ }
  const apply = () => {
    const now = chosen || (dark.matches ? "dark" : "light");
    home.dataset.theme = now;
    byId("theme").textContent = now === "dark" ? "☀ light" : "☾ dark";
  };
  apply();
  dark.addEventListener("change", () => { apply(); });
  byId("theme").addEventListener("click", () => {
    chosen = home.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("autoinit-theme", chosen); } catch { /* kept for this visit only */ }
    apply();
  });
}

function startChoice() {
  const buttons = [...byId("which").children];
  const mark = () => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === state.which)));
  buttons.forEach((b) => b.addEventListener("click", () => {
    state.which = b.dataset.value;
    mark();
    tell("which");
  }));
  mark();
}

byId("model").textContent = data.model;
byId("subtitle").textContent = data.subtitle;
listeners.select.push((i) => { state.selected = i; showSelected(i); });
startTheme();
startChoice();
overview();
startWords();
startSignal();
startGradients();
startResidual();
startTree();
startTable();
notes();
parameters();
performance.mark("page");
