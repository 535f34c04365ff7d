// The table: sorted and filtered in memory; of the rows only those in sight are in the document.
const ROW = 28;
const box = byId("table");
const body = box.querySelector("tbody");

const table = { words: [], inside: null, verdict: null, by: COLUMNS.forward[0], down: false, rows: [], columns: COLUMNS.forward };

function within(i) {
  const { inside } = table;
  return inside === null || T.module[i] === inside || T.module[i].startsWith(inside + data.separator);
}

const haystack = T.module.map((module, i) => `${module} ${T.op[i]} ${T.weight[i] || ""}`.toLowerCase());

function refresh() {
  const rows = [];
  for (let i = 0; i < COUNT; i++) {
    if (state.which === "layers" && T.weight[i] === null) continue;
    if (table.verdict && T.verdict[i] !== table.verdict) continue;
    if (within(i) && table.words.every((word) => haystack[i].includes(word))) rows.push(i);
  }
  const { by, down } = table;
  if (by !== table.columns[0] || down) {
    const sign = down ? -1 : 1;
    const keys = new Map(rows.map((i) => [i, by.value(i)]));
    rows.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b; // what is not there comes last
      if (typeof x === "string") return sign * x.localeCompare(y, "en", { numeric: true }) || a - b;
      return sign * (x - y) || a - b;
    });
  }
  table.rows = rows;
  byId("count").textContent = `${rows.length.toLocaleString("en")} of ${plural(COUNT, "tensor")}`;
  box.scrollTop = 0;
  paint(true);
}

function cell(column, i) {
  const made = element("td", { class: column.left ? "left" : null });
  if (column.badge) made.append(badge(column.badge(i), undefined, column.words) || "");
  else {
    made.textContent = column.text(i);
    if (column.name) made.title = made.textContent;
    if (column.head === "op" && T.status[i] !== "rule") made.append(" ", element("span", { class: "tag" }, T.status[i]));
  }
  return made;
}

let painted = [-1, -1];
function paint(again = false) {
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
  const last = Math.min(table.rows.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 10);
  if (!again && first === painted[0] && last === painted[1]) return;
  painted = [first, last];
  const space = (count) => element("tr", { style: `height:${count * ROW}px`, "aria-hidden": "true" });
  const rows = table.rows.slice(first, last).map((i) =>
    element("tr", { "data-tensor": i, class: i === state.selected ? "current" : null }, ...table.columns.map((column) => cell(column, i))));
  body.replaceChildren(space(first), ...rows, space(table.rows.length - last));
}

function sortBy(column) {
  table.down = table.by === column ? !table.down : false;
  table.by = column;
  for (const head of box.querySelectorAll("th")) {
    const mine = head.dataset.head === column.head;
    head.setAttribute("aria-sort", mine ? (table.down ? "descending" : "ascending") : "none");
  }
  refresh();
}

function scrollToRow(i) {
  const at = table.rows.indexOf(i);
  if (at >= 0 && (at * ROW < box.scrollTop || (at + 2) * ROW > box.scrollTop + box.clientHeight)) {
    box.scrollTop = Math.max(0, at * ROW - box.clientHeight / 2);
  }
  paint(true);
}

function verdictChips() {
  const chip = (word, count) =>
    element("button", { type: "button", class: `chip ${word}`, "aria-pressed": "false", "data-verdict": word, on: { click: () => {
      table.verdict = table.verdict === word ? null : word;
      for (const other of byId("verdicts").children) other.setAttribute("aria-pressed", String(other.dataset.verdict === table.verdict));
      refresh();
    } } }, `${word} ${count.toLocaleString("en")}`);
  byId("verdicts").append(...tally(T.verdict).map(([word, count]) => chip(word, count)));
}

// Room to spare goes to the columns whose texts are longer than they are wide, as much as each lacks.
function widen() {
  const { columns } = table;
  const spare = Math.max(0, box.clientWidth - columns.reduce((sum, column) => sum + column.width, 0));
  const lacks = columns.map((column) => {
    if (!column.grows) return 0;
    column.longest ??= ALL.reduce((most, i) => Math.max(most, column.text(i).length), 0);
    return Math.max(0, 9.2 * column.longest + 14 - column.width);
  });
  const share = Math.min(1, spare / (lacks.reduce((sum, lack) => sum + lack, 0) || 1));
  const cols = box.querySelector("colgroup").children; // the module has the rest
  columns.forEach((column, k) => column.name || (cols[k].style.width = `${column.width + share * lacks[k]}px`));
}

// The columns of a direction, sorted by the order of execution.
function head(direction) {
  const columns = COLUMNS[direction];
  Object.assign(table, { columns, by: columns[0], down: false });
  box.style.setProperty("--wide", `${columns.reduce((sum, column) => sum + column.width, 0)}px`);
  box.querySelector("colgroup").replaceChildren(...columns.map(() => element("col")));
  widen();
  box.querySelector("thead").replaceChildren(element("tr", {}, ...columns.map((column, k) =>
    element("th", { scope: "col", class: column.left ? "left" : null, "data-head": column.head, "aria-sort": k ? "none" : "ascending", title: column.title },
      element("button", { type: "button", on: { click: () => sortBy(column) } }, column.head)))));
  byId("table-words").replaceChildren();
  explain("table-words", "What the columns mean", IN_TABLE[direction]);
}

function startDirection() {
  const buttons = [...byId("direction").children];
  const choose = (direction) => {
    head(direction);
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === direction)));
  };
  byId("direction").hidden = !data.gradients;
  buttons.forEach((b) => b.addEventListener("click", () => { choose(b.dataset.value); refresh(); }));
  choose("forward");
}

function startTable() {
  startDirection();
  verdictChips();
  box.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target !== box || !table.rows.length) return;
    const now = table.rows.indexOf(state.selected);
    tell("select", table.rows[Math.max(0, Math.min(table.rows.length - 1, now < 0 ? 0 : now + step))]);
    event.preventDefault();
  });
  box.addEventListener("scroll", () => requestAnimationFrame(() => paint()), { passive: true });
  new ResizeObserver(() => { widen(); paint(); }).observe(box);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-tensor]");
    if (row) tell("select", Number(row.dataset.tensor));
  });
  byId("filter").addEventListener("input", (event) => {
    table.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    refresh();
  });
  byId("inside").addEventListener("click", () => tell("focus", null));
  listeners.focus.push((module) => {
    table.inside = module;
    byId("inside").hidden = module === null;
    byId("inside").textContent = `inside ${module} ✕`;
    refresh();
  });
  listeners.which.push(refresh);
  listeners.select.push(scrollToRow);
  refresh();
}
