// What the words of the page mean, where they stand.
const VERDICTS = {
  ok: "the variance is within a factor of 2 of the target (of its own, where a residual branch is meant to be small)",
  low: "below the target, by a factor of 2 to 10",
  high: "above the target, by a factor of 2 to 10",
  vanishing: "less than a tenth of the target: the signal dies out",
  exploding: "more than ten times the target, or infinite",
  invalid: "not a number",
  zero: "switched off: the weight is exactly zero",
  shared: "the weight was set for another layer that uses it, too",
  frozen: "off, but not trained: a fixed weight stays as it is",
};

const IN_FIGURE = {
  variance: "x.var() over the whole output of an operation, as predicted before any weight is drawn; the dashed line is the target.",
  "scatter of draws": "where x.var() of one draw of the weights is expected: two standard deviations of its logarithm, from finite width and size. Networks that are deep and narrow scatter more.",
  gap: "a line has none where the variance is zero (a log axis has no place for it), infinite or not a number, and where nothing was measured.",
};

const GRADIENT_VERDICTS = {
  ok: "no extreme; more is not said, as no size of |g|/|w| tells how well a network will train",
  zero: "nothing comes back",
  vanishing: "|g|/|w| below 0.0001: networks do not train there",
  exploding: "|g|/|w| above a million",
  invalid: "not a number",
};

const IN_GRADIENTS = {
  gradient: "root mean square of the loss's derivatives by the entries of an output, as predicted before any weight is drawn, for a loss whose gradients at the outputs are independent N(0, 1). The dashed line is that 1.",
  "|g|/|w|": "root mean square of a weight's gradient over that of the weight. The dashed line is the median of the layers. Sizes relative to each other count: a layer far below the others learns last.",
  measured: "by automatic differentiation on the real model.",
  default: "with the weights that the model had.",
};

const BACKWARD_COLUMNS = {
  gradient: "root mean square of what comes back to the output.",
  "|g|": "root mean square of the weight's gradient: a sum over the batch and over places, so that correlations decide it, too.",
  "|g|/|w|": "the same over the root mean square of the weight.",
  "its verdict": "extremes only: vanishing below 0.0001, exploding above a million, zero where nothing comes back.",
  chi: "slope of the correlation map: by how much a small difference of two inputs grows from the layer before to this one. Below 1 differences die out, above 1 they grow, and so do gradients.",
  depth: "1/|log chi|: after how many such layers a difference has grown or shrunk e-fold.",
  "default, measured": "the same with the weights that the model had; by automatic differentiation.",
};

const FORWARD_COLUMNS = {
  std: "standard deviation that the weight is drawn with.",
  fan: "how many independent inputs one output has, in effect: output variance over weight variance and mean square of the input. Inputs that vary together, padding and sharing make it differ from the count.",
  "mean, mean in, var. in": "predicted mean of the output, and mean and variance of what comes in.",
  "corr.": "correlation of the outputs for two samples of a batch: 0, they are unrelated; 1, the layer no longer tells them apart.",
  measured: "the same number from a run of the real model.",
  default: "the same tensor with the weights that the model had.",
};

const IN_TABLE = { forward: FORWARD_COLUMNS, backward: BACKWARD_COLUMNS };

function explain(home, heading, words, write = (word) => word) {
  const items = Object.entries(words).flatMap(([word, text]) => [element("dt", {}, write(word)), element("dd", {}, text)]);
  byId(home).append(element("details", { class: "words" }, element("summary", {}, heading), element("dl", {}, ...items)));
}

function startWords() {
  explain("overview", "What the verdicts mean", VERDICTS, (word) => badge(word));
  explain("signal-words", "What the figure shows", IN_FIGURE);
  if (data.gradients) explain("gradients-words", "What the figure shows", IN_GRADIENTS);
}
