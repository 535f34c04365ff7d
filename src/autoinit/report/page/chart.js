// A figure in SVG: panels above each other that share the horizontal axis. Drag to zoom, double-click for everything.
// A quantity more is a panel more; what is in a panel is a curve, dots, crosses or a band, each with a shade of the style.
const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { left: 58, right: 12, top: 8, bottom: 40, between: 22 };
const NEAR = 40; // pixels from the pointer within which a point is told about

function drawn(tag, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

const finite = (value) => value !== null && value !== undefined && Number.isFinite(value);
const round = (value) => Math.round(value * 10) / 10;

// Powers of ten (every so many that about eight fit; over a few decades numbers between them, too), or round numbers.
function ticks(log, low, high, count = 4) {
  if (!log) {
    const raw = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= 0.999 * raw);
    const first = Math.ceil(low / step);
    return [...Array(Math.max(0, Math.floor(high / step) - first + 1)).keys()].map((k) => Number(((first + k) * step).toPrecision(10)));
  }
  const [a, b] = [Math.log10(low), Math.log10(high)];
  const step = Math.max(1, Math.ceil((b - a) / 8));
  const made = [];
  for (let power = Math.floor(a / step) * step; power <= b; power += step) made.push(...(b - a < 2 ? [1, 2, 5] : b - a < 4 ? [1, 3] : [1]).map((m) => m * 10 ** power));
  return made.filter((value) => value >= low && value <= high);
}

const tickText = (value, log) => (value === 0 ? "0" : log && (value < 0.01 || value >= 1000) ? value.toExponential(0).replace("+", "") : String(Number(value.toPrecision(6))));

class Chart {
  // told: lines of text about a point; chosen: a point was clicked; across: label of the horizontal axis.
  constructor(holder, { height, across, told, chosen }) {
    Object.assign(this, { holder, height, across, told, chosen, panels: [], view: null, marked: null, hidden: new Set() });
    this.legend = element("div", { class: "legend", role: "group", "aria-label": "Show or hide" });
    this.stage = element("div", { class: "stage", tabindex: "0", role: "group" });
    this.tip = element("div", { class: "tip", hidden: true });
    holder.replaceChildren(this.legend, this.stage, this.tip);
    holder.chart = this;
    this.stage.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.stage.clientWidth !== this.width && this.panels.length && this.draw()).observe(this.stage);
  }

  // panels: { name, log, level, share of the height, series: { name, kind, at, values, [low, high] } }; extent: of the horizontal axis.
  show(panels, extent, description) {
    Object.assign(this, { panels, extent });
    this.stage.setAttribute("aria-label", description);
    const names = [...new Set(panels.flatMap((panel) => panel.series.map((one) => one.name)))];
    this.legend.replaceChildren(...names.map((name) => {
      const kind = panels.flatMap((panel) => panel.series).filter((one) => one.name === name).pop();
      return element("button", { type: "button", class: "entry", "aria-pressed": String(!this.hidden.has(name)), on: { click: () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        this.show(this.panels, this.extent, description);
      } } }, element("span", { class: `swatch ${kind.kind} ${kind.shade}`, "aria-hidden": "true" }), name);
    }));
    this.draw();
  }

  range() { return this.view || this.extent; }

  zoom(range) {
    this.view = range;
    this.draw();
  }

  mark(at) {
    this.marked = at;
    this.draw();
  }

  x(at) {
    const [low, high] = this.range();
    return MARGIN.left + ((at - low) / (high - low)) * this.inner;
  }

  // The value at a horizontal place on the screen.
  at(pixel) {
    const [low, high] = this.range();
    return low + ((pixel - MARGIN.left) / this.inner) * (high - low);
  }

  draw() {
    this.width = this.stage.clientWidth;
    this.inner = Math.max(10, this.width - MARGIN.left - MARGIN.right);
    const svg = drawn("svg", { width: this.width, height: this.height, "aria-hidden": "true" });
    const room = this.height - MARGIN.top - MARGIN.bottom - MARGIN.between * (this.panels.length - 1);
    const all = this.panels.reduce((sum, panel) => sum + panel.share, 0);
    let top = MARGIN.top;
    this.panels.forEach((panel, k) => {
      panel.top = top;
      panel.tall = (room * panel.share) / all;
      top += panel.tall + MARGIN.between;
      this.scale(panel);
      this.axes(svg, panel, k === this.panels.length - 1);
      this.curves(svg, panel, k);
    });
    if (this.marked !== null) svg.append(drawn("path", { class: "marked", d: `M${round(this.x(this.marked))} ${MARGIN.top}V${this.height - MARGIN.bottom}` }));
    svg.append(drawn("text", { class: "axis", x: MARGIN.left + this.inner / 2, y: this.height - 6, "text-anchor": "middle" }, this.across));
    const plane = drawn("rect", { class: "plane", x: MARGIN.left, y: MARGIN.top, width: this.inner, height: this.height - MARGIN.top - MARGIN.bottom });
    svg.append(plane);
    this.listen(svg, plane);
    this.stage.replaceChildren(svg);
  }

  // As high as what is in sight, and at least a decade (log) around the level.
  scale(panel) {
    const [first, last] = this.range();
    const seen = [];
    const add = (value) => finite(value) && (!panel.log || value > 1e-30) && seen.push(panel.log ? Math.log10(value) : value);
    for (const one of panel.series) {
      if (this.hidden.has(one.name)) continue;
      one.at.forEach((at, k) => at >= first && at <= last && (one.kind === "band" ? (add(one.low[k]), add(one.high[k])) : add(one.values[k])));
    }
    const level = panel.log ? Math.log10(panel.level) : panel.level;
    const least = panel.log ? 0.5 : 0;
    let low = seen.reduce((a, b) => Math.min(a, b), level - least);
    let high = seen.reduce((a, b) => Math.max(a, b), level + least);
    const space = 0.06 * (high - low) || 0.5;
    [low, high] = [low - space, high + space];
    Object.assign(panel, { low, high });
    panel.y = (value) => panel.top + panel.tall * (1 - ((panel.log ? Math.log10(value) : value) - low) / (high - low));
    panel.ticks = ticks(panel.log, panel.log ? 10 ** low : low, panel.log ? 10 ** high : high);
  }

  axes(svg, panel, isLast) {
    const right = MARGIN.left + this.inner;
    const lines = panel.ticks.map((value) => `M${MARGIN.left} ${round(panel.y(value))}H${right}`).join("");
    svg.append(drawn("path", { class: "grid", d: `${lines}M${MARGIN.left} ${panel.top}V${panel.top + panel.tall}H${right}` }));
    for (const value of panel.ticks) svg.append(drawn("text", { class: "tick", x: MARGIN.left - 6, y: round(panel.y(value)) + 4, "text-anchor": "end" }, tickText(value, panel.log)));
    svg.append(drawn("text", { class: "axis", transform: `translate(12 ${panel.top + panel.tall / 2}) rotate(-90)`, "text-anchor": "middle" }, panel.name));
    svg.append(drawn("path", { class: "level", d: `M${MARGIN.left} ${round(panel.y(panel.level))}H${right}` }));
    if (!isLast) return;
    const [low, high] = this.range();
    for (const value of ticks(false, low, high, this.inner / 90).filter((v) => Number.isInteger(v) && v >= 0)) {
      svg.append(drawn("text", { class: "tick", x: round(this.x(value)), y: panel.top + panel.tall + 16, "text-anchor": "middle" }, value.toLocaleString("en")));
    }
  }

  curves(svg, panel, k) {
    const id = `${this.holder.id}-clip-${k}`;
    const clip = drawn("clipPath", { id });
    clip.append(drawn("rect", { x: MARGIN.left, y: panel.top - 4, width: this.inner, height: panel.tall + 8 }));
    const group = drawn("g", { "clip-path": `url(#${id})` });
    for (const one of panel.series) {
      if (this.hidden.has(one.name)) continue;
      const path = one.kind === "band" ? this.band(panel, one) : this.path(panel, one);
      group.append(drawn("path", { class: `${one.kind} ${one.shade}`, d: path, "stroke-width": one.size || 1.5 }));
    }
    svg.append(clip, group);
  }

  path(panel, { kind, at, values }) {
    let before = false; // whether the point before is there: a line has gaps
    return at.map((place, k) => {
      const value = values[k];
      const there = finite(value) && (!panel.log || value > 1e-30);
      const starts = !before;
      before = there;
      if (!there) return "";
      const [x, y] = [round(this.x(place)), round(panel.y(value))];
      if (kind === "dots") return `M${x} ${y}h0`;
      if (kind === "crosses") return `M${x - 2.5} ${y - 2.5}l5 5m-5 0l5 -5`;
      const alone = starts && !(k + 1 < at.length && finite(values[k + 1])) ? "h0" : "";
      return `${starts ? "M" : "L"}${x} ${y}${alone}`;
    }).join("");
  }

  // Neighbours whose ranges have nothing in common are no curve: each is a bar.
  band(panel, { at, low, high }) {
    const there = at.map((_, k) => k).filter((k) => [low[k], high[k]].every((v) => finite(v) && (!panel.log || v > 1e-30)));
    const runs = [];
    for (const k of there) {
      const [run] = runs.slice(-1);
      const before = run && run[run.length - 1];
      if (run && low[k] <= high[before] && low[before] <= high[k]) run.push(k);
      else runs.push([k]);
    }
    const corner = (k, value, aside) => `${round(this.x(at[k]) + aside)} ${round(panel.y(value))}`;
    return runs.map((run) => {
      const aside = run.length > 1 ? 0 : 2;
      const [above, below] = [run.map((k) => corner(k, high[k], -aside)), run.map((k) => corner(k, low[k], aside)).reverse()];
      if (aside) [above, below].forEach((edge, k) => edge.push(corner(run[0], k ? low[run[0]] : high[run[0]], k ? -aside : aside)));
      return `M${[...above, ...below].join("L")}Z`;
    }).join("");
  }

  // The point nearest to a place on the screen: its panel's number and its place in order.
  nearest(x, y) {
    let [best, far] = [null, NEAR];
    for (const panel of this.panels) {
      for (const one of panel.series) {
        if (one.kind === "band" || this.hidden.has(one.name)) continue;
        one.at.forEach((at, k) => {
          const across = Math.abs(this.x(at) - x);
          if (across >= far || !finite(one.values[k]) || (panel.log && one.values[k] <= 1e-30)) return;
          const distance = Math.hypot(across, panel.y(one.values[k]) - y);
          if (distance < far) [best, far] = [at, distance];
        });
      }
    }
    return best;
  }

  listen(svg, plane) {
    const where = (event) => {
      const box = svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let begin = null;
    let frame = null;
    plane.addEventListener("pointerdown", (event) => {
      begin = where(event)[0];
      plane.setPointerCapture(event.pointerId);
    });
    plane.addEventListener("pointermove", (event) => {
      const [x, y] = where(event);
      if (begin === null) { this.tell(this.nearest(x, y), x, y); return; }
      if (Math.abs(x - begin) < 5) return;
      this.tip.hidden = true;
      if (!frame) svg.append((frame = drawn("rect", { class: "frame", y: MARGIN.top, height: this.height - MARGIN.top - MARGIN.bottom })));
      frame.setAttribute("x", Math.min(x, begin));
      frame.setAttribute("width", Math.abs(x - begin));
    });
    plane.addEventListener("pointerup", (event) => {
      const [x, y] = where(event);
      const [from, dragged] = [begin, frame !== null];
      begin = null;
      if (dragged) {
        const [low, high] = [this.at(Math.min(x, from)), this.at(Math.max(x, from))];
        this.zoom(high - low >= 1 ? [low, high] : [low - 0.5, high + 0.5]);
        return;
      }
      const found = this.nearest(x, y);
      if (found !== null) this.chosen(found);
    });
    plane.addEventListener("pointercancel", () => { begin = null; this.draw(); });
    plane.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    plane.addEventListener("dblclick", () => this.zoom(null));
  }

  tell(at, x, y) {
    this.tip.hidden = at === null;
    if (at === null) return;
    this.tip.replaceChildren(...this.told(at).map((line, k) => element(k ? "div" : "strong", {}, line)));
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(x + 14, this.width - wide - 4))}px`;
    this.tip.style.top = `${y + this.stage.offsetTop + 18}px`;
  }

  // Arrow keys go from point to point, Home and End to the ends; Escape shows everything.
  key(event) {
    const places = [...new Set(this.panels[0].series.flatMap((one) => (one.kind === "band" ? [] : one.at)))].sort((a, b) => a - b);
    const now = places.indexOf(this.marked);
    const next = { ArrowRight: now + 1, ArrowLeft: now < 0 ? places.length - 1 : now - 1, Home: 0, End: places.length - 1 }[event.key];
    if (event.key === "Escape") this.zoom(null);
    else if (next === undefined || !places.length) return;
    else this.chosen(places[Math.max(0, Math.min(places.length - 1, next))]);
    event.preventDefault();
  }
}
