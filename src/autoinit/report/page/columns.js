// What the columns of the table are: forward, and backward where there are gradients.
const G = data.gradients;
const FORWARD = [
  { head: "#", title: "order of execution", width: 46, value: (i) => i, text: (i) => String(i) },
  { head: "module", width: 156, left: true, value: (i) => T.module[i], text: placeOf, name: true, grows: true },
  { head: "op", width: 92, left: true, grows: true, value: (i) => T.op[i], text: (i) => T.op[i] },
  { head: "variance", title: "predicted variance of the output", width: 76, value: (i) => T.variance[i], text: (i) => number(T.variance[i], T.verdict[i]) },
  { head: "verdict", width: 88, left: true, value: (i) => RANK.indexOf(T.verdict[i]), badge: (i) => T.verdict[i] },
  { head: "measured", title: "measured variance of the output", width: 74, of: data.measured, value: (i) => data.measured.variance[i], text: (i) => optional(data.measured.variance[i]) },
  { head: "default", title: "variance of the output with the default initialization", width: 74, of: data.default, value: (i) => data.default.variance[i], text: (i) => optional(data.default.variance[i]) },
  { head: "its verdict", width: 88, left: true, of: data.default, value: (i) => RANK.indexOf(data.default.verdict[i]), badge: (i) => data.default.verdict[i] },
  { head: "std", title: "standard deviation that the weight is given", width: 66, value: (i) => T.std[i], text: (i) => optional(T.std[i], std) },
  { head: "fan", width: 58, value: (i) => T.fan[i], text: (i) => optional(T.fan[i], fan) },
  { head: "mean", title: "predicted mean of the output", width: 76, value: (i) => T.mean[i], text: (i) => number(T.mean[i]) },
  { head: "mean in", width: 76, value: (i) => T.mean_in[i], text: (i) => optional(T.mean_in[i]) },
  { head: "var. in", width: 70, value: (i) => T.variance_in[i], text: (i) => optional(T.variance_in[i]) },
  { head: "corr.", title: "correlation of two samples", width: 52, value: (i) => T.correlation[i], text: (i) => T.correlation[i].toFixed(2) },
  { head: "output", width: 104, left: true, grows: true, value: (i) => T.shape[i].split("×").reduce((a, b) => a * b, 1), text: (i) => T.shape[i] },
];

const same = (heads) => FORWARD.filter((column) => heads.includes(column.head));
const weights = (values, write = number) => ({ value: (i) => values[i], text: (i) => optional(values[i], write) });
const BACKWARD = !G ? [] : [
  ...same(["#", "module", "op"]),
  { head: "gradient", title: "root mean square of the gradient of the output", width: 82, ...weights(G.tensor) },
  ...(G.default ? [{ head: "its default", title: "the same with the default initialization", width: 92, ...weights(G.default.tensor) }] : []),
  { head: "|g|", title: "root mean square of the weight's gradient", width: 70, ...weights(G.weight) },
  ...(G.measured ? [{ head: "measured |g|", title: "the same by automatic differentiation", width: 112, ...weights(G.measured) }] : []),
  { head: "|g|/|w|", title: "gradient over weight", width: 78, ...weights(G.ratio) },
  ...(G.default ? [{ head: "default |g|/|w|", title: "gradient over weight with the default initialization", width: 120, ...weights(G.default.ratio) }] : []),
  { head: "its verdict", title: "of |g|/|w|: extremes only", width: 88, left: true, value: (i) => RANK.indexOf(G.verdict[i]), badge: (i) => G.verdict[i], words: GRADIENT_VERDICTS },
  { head: "chi", title: "slope of the correlation map", width: 56, ...weights(G.chi, (value) => value.toFixed(3)) },
  { head: "depth", title: "layers in which differences grow or shrink e-fold", width: 60, ...weights(G.depth, fan) },
  ...same(["output"]),
];

const filled = (columns) => columns.filter((column) => column.of !== null && (column.head === "#" || column.badge || LAYERS.length === 0 || ALL.some((i) => column.text(i) !== "")));
const COLUMNS = { forward: filled(FORWARD), backward: filled(BACKWARD) };
