// The module tree. Children are made when their parent is opened for the first time.
const CHUNK = 200;

function moduleTree() {
  const root = { name: data.model, path: "", children: new Map(), items: [], tensors: [] };
  for (let i = 0; i < COUNT; i++) {
    let node = root;
    node.tensors.push(i);
    for (const name of T.module[i] ? T.module[i].split(data.separator) : []) {
      if (!node.children.has(name)) {
        const path = node.path ? node.path + data.separator + name : name;
        const child = { name, path, children: new Map(), items: [], tensors: [], parent: node };
        node.children.set(name, child);
        node.items.push(child);
      }
      node = node.children.get(name);
      node.tensors.push(i);
    }
    node.items.push(i);
  }
  return root;
}
const root = moduleTree();

function moduleItem(node) {
  const layers = node.tensors.filter((i) => T.weight[i] !== null);
  const toggle = element("button", { type: "button", class: "toggle", "aria-expanded": "false", on: { click: () => open(node) } },
    element("span", { class: "caret", "aria-hidden": "true" }), element("span", { class: "name", title: node.path }, node.name));
  const facts = element("span", { class: "facts" }, layers.length ? plural(layers.length, "layer") : plural(node.tensors.length, "tensor"));
  const odd = node.tensors.filter((i) => T.status[i] !== "rule").length;
  const show = element("button", { type: "button", class: "focus", title: `show ${node.path || "everything"} in the figure and the table`,
    on: { click: () => tell("focus", node.path || null, node.tensors[0], node.tensors[node.tensors.length - 1]) } }, "show");
  const before = data.default ? badge(worst(layers.map((i) => data.default.verdict[i]))) : null;
  if (before) before.classList.add("before");
  const line = element("div", { class: "line" }, toggle, show, facts,
    odd ? element("span", { class: "tag", title: "tensors of simulated ops, or passed through" }, `${odd} without rule`) : null,
    before, before ? element("span", { class: "facts" }, "→") : null, badge(worst(layers.map((i) => T.verdict[i]))));
  node.view = element("li", { "data-path": node.path }, line);
  node.toggle = toggle;
  return node.view;
}

function tensorItem(i) {
  const line = element("button", { type: "button", class: "line tensor", "data-tensor": i, on: { click: () => tell("select", i) } },
    element("span", { class: "name" }, T.op[i]), element("span", { class: "facts" }, T.shape[i]),
    T.status[i] === "rule" ? null : element("span", { class: "tag" }, T.status[i]),
    element("span", { class: "value", title: "predicted variance" }, number(T.variance[i], T.verdict[i])), badge(T.verdict[i]));
  return element("li", {}, line);
}

function fill(node, upTo) {
  const list = node.list;
  if (list.lastChild && list.lastChild.classList.contains("more")) list.lastChild.remove();
  const end = Math.min(node.items.length, upTo);
  for (const item of node.items.slice(node.filled, end)) list.append(typeof item === "number" ? tensorItem(item) : moduleItem(item));
  node.filled = end;
  const rest = node.items.length - end;
  if (rest > 0) {
    const more = element("button", { type: "button", on: { click: () => fill(node, end + CHUNK) } }, `${Math.min(rest, CHUNK)} more of ${rest}`);
    list.append(element("li", { class: "more" }, more));
  }
}

function open(node, wanted = node.toggle.getAttribute("aria-expanded") !== "true") {
  node.toggle.setAttribute("aria-expanded", String(wanted));
  if (wanted && !node.list) {
    node.list = element("ul");
    node.filled = 0;
    fill(node, CHUNK);
    node.view.append(node.list);
  }
  if (node.list) node.list.hidden = !wanted;
}

function reveal(i) {
  let node = root;
  open(node, true);
  for (const name of T.module[i] ? T.module[i].split(data.separator) : []) {
    const child = node.children.get(name);
    fill(node, Math.max(node.filled, node.items.indexOf(child) + 1));
    open(child, true);
    node = child;
  }
  fill(node, Math.max(node.filled, node.items.indexOf(i) + 1));
  for (const marked of byId("tree").querySelectorAll(".current")) marked.classList.remove("current");
  const line = byId("tree").querySelector(`[data-tensor="${i}"]`);
  line.classList.add("current");
  const box = byId("tree");
  box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
}

function startTree() {
  byId("tree").append(element("ul", { class: "root" }, moduleItem(root)));
  if (data.default) byId("tree-hint").textContent = `worst verdict: default → ${data.checked ? "now" : "AutoInit"}`;
  let only = root; // open what has a single way down
  open(only, true);
  while (only.items.length === 1 && typeof only.items[0] !== "number") open((only = only.items[0]), true);
  listeners.select.push(reveal);
}
