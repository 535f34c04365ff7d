// Residual trunks: how large the sum of trunk and branches is after each addition, and what its branch adds.
function trunkTitle({ n, skip, norm }) {
  const norms = { inside: "a norm inside of the branches", end: "a norm at the end of the branches", after: "a norm after each addition", none: "no norm" };
  return `${plural(n, "branch").replace("branchs", "branches")}, ${skip} skips, ${norms[norm] || norm}`;
}

function growth(values) {
  const found = values.filter(finite);
  return found.length ? `variance ${number(found[0])} after the first addition, ${number(found[found.length - 1])} after the last` : "";
}

function trunkFigure(trunk, k) {
  const at = trunk.tensors.map((_, place) => place + 1);
  const ours = trunk.tensors.map((i) => T.variance[i]);
  const other = data.default ? trunk.tensors.map((i) => data.default.variance[i]) : null;
  const told = [`${OURS}: ${growth(ours)}`, other && growth(other) ? `default: ${growth(other)}` : ""].filter(Boolean).join("; ");
  const holder = element("div", { class: "figure", id: `trunk-${k}` });
  byId("residual").append(element("p", { class: "figure-title" }, `Growth along trunk ${k + 1}: ${trunkTitle(trunk)}`), element("p", { class: "hint" }, `${told}.`), holder);
  const curve = (name, shade, values) => ({ name, kind: "curve", shade, at, values });
  const dots = (name, shade, values) => ({ name, kind: "dots", shade, at, values, size: at.length > CROWDED ? 3 : 5 });
  const both = (mine, theirs) => [
    ...(theirs ? [curve("default", "default", theirs), dots("default", "default", theirs)] : []), curve(OURS, "predicted", mine), dots(OURS, "predicted", mine),
  ];
  const about = (place) => {
    const i = trunk.tensors[place - 1];
    return [placeOf(i), `addition ${place} of ${at.length}`, `${OURS}: variance ${number(T.variance[i])}, branch ${percent(trunk.share[place - 1])}`,
      ...(other ? [`default: variance ${number(other[place - 1])}, branch ${percent(trunk.default_share[place - 1])}`] : [])];
  };
  const chart = new Chart(holder, { height: 300, across: "addition along the trunk", told: about, chosen: (place) => { chart.mark(place); tell("select", trunk.tensors[place - 1]); } });
  chart.show([
    { name: "variance", log: true, level: data.target, share: 1.6, series: both(ours, other) },
    { name: "branch's share", log: false, level: 0, share: 1, series: both(trunk.share, data.default ? trunk.default_share : null) },
  ], [0.5, at.length + 0.5], `Growth along trunk ${k + 1}. ${told}. Arrow keys go from addition to addition.`);
}

const percent = (share) => (finite(share) ? `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} % of the sum` : "unknown");

function startResidual() {
  if (!data.residual.length) return;
  byId("residual-part").hidden = false;
  data.residual.forEach(trunkFigure);
}
