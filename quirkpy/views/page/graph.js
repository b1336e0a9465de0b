// The graph: a card for every shape, an arrow for every pair of shapes between which something moves.
const SVG = "http://www.w3.org/2000/svg";
const CARD = { left: -1.35, right: 1.35, top: -1.25, bottom: 1.9 };
const LABELLED = 24; // up to so many arrows say their time, where there is room
const FAINT = 60; // more arrows than this are faint, but for those that are chosen
const LETTER = 0.17, LINE = 0.36; // of what an arrow says

function svg(kind, properties, ...children) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(properties)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Keys that press a thing which is no button by birth.
function pressed(element, act) {
  element.addEventListener("click", act);
  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(event); }
  });
}

class Net {
  constructor(data, ways, chosen) {
    this.data = data;
    this.chosen = chosen;
    this.picture = svg("svg", { class: "net", role: "group", "aria-label": "The graph: shapes and the motions between them" });
    this.drawing = svg("g", {});
    this.picture.append(this.drawing);
    this.taken = data.nodes.map(({ place: [x, y] }) => [x + CARD.left, -y + CARD.top, x + CARD.right, -y + CARD.bottom]);
    this.ways = ways.map((way) => this.arrow(way));
    if (ways.length > FAINT) this.picture.classList.add("crowded");
    if (ways.length <= LABELLED) this.ways.forEach((way) => this.label(way));
    this.nodes = data.nodes.map((node, k) => this.card(node, k));
    this.lit = svg("g", { class: "way chosen", "aria-hidden": true, "pointer-events": "none" });
    this.drawing.append(this.lit);
    this.fit();
    this.handle();
    const button = (words, label, act) => make("button", { type: "button", "aria-label": label, onclick: act }, words);
    this.box = make("div", {}, this.picture, make("div", { class: "row" },
      button("+", "Zoom in", () => this.zoom(0.8)), button("\u2212", "Zoom out", () => this.zoom(1.25)), button("All", "Show all of the graph", () => this.fit()),
      make("span", { class: "pale" }, "Drag to move, wheel or two fingers to zoom.")));
  }

  card(node, k) {
    const [x, y] = node.place;
    const group = svg("g", { class: "node", tabindex: 0, role: "button", transform: `translate(${x} ${-y})`,
      "aria-label": `shape ${called(node)}, ${node.verdict}` });
    group.append(svg("rect", { class: "card", x: CARD.left, y: CARD.top, width: CARD.right - CARD.left, height: CARD.bottom - CARD.top, rx: 0.15 }));
    for (const [number, light, corners, edges] of node.patches) {
      const points = [], lines = [];
      for (let i = 0; i < corners.length; i += 2) points.push(`${corners[i]} ${-corners[i + 1]}`);
      edges.forEach((edge, i) => { if (edge) lines.push(`M${points[i]}L${points[(i + 1) % points.length]}`); });
      const colour = this.data.bodies[number].colour, patch = svg("path", { d: `M${points.join("L")}Z`, fill: colour, stroke: colour, "stroke-width": 0.01 });
      patch.style.fill = patch.style.stroke = `color-mix(in srgb, ${colour} ${55 + 45 * light}%, black)`;
      group.append(patch, svg("path", { d: lines.join(""), stroke: "#2b2f36", "stroke-width": 0.035, "stroke-linecap": "round" }));
    }
    const name = svg("text", { x: 0, y: 1.4 }), verdict = svg("text", { class: "small", x: 0, y: 1.72 });
    name.textContent = shortened(called(node), 14);
    verdict.textContent = node.verdict;
    group.append(name, verdict);
    pressed(group, () => this.chosen({ node: k }));
    this.drawing.append(group);
    return group;
  }

  arrow(way) {
    const [one, two] = [way.source, way.target].map((k) => this.data.nodes[k].place).map(([x, y]) => [x, -y]);
    const along = [two[0] - one[0], two[1] - one[1]], size = Math.hypot(...along) || 1;
    const bend = Math.min(0.9, 0.17 * size), middle = [0.5 * (one[0] + two[0]) + (2 * bend * along[1]) / size, 0.5 * (one[1] + two[1]) - (2 * bend * along[0]) / size];
    const at = (s) => [0, 1].map((i) => (1 - s) ** 2 * one[i] + 2 * s * (1 - s) * middle[i] + s ** 2 * two[i]);
    const inside = (point, centre) => point[0] - centre[0] > CARD.left - 0.08 && point[0] - centre[0] < CARD.right + 0.08
      && point[1] - centre[1] > CARD.top - 0.08 && point[1] - centre[1] < CARD.bottom + 0.08;
    const points = Array.from({ length: 101 }, (_, k) => at(k / 100)).filter((point) => !inside(point, one) && !inside(point, two));
    const group = svg("g", { class: `way${way.certain ? "" : " doubtful"}`, tabindex: 0, role: "button", "aria-label": way.words });
    const title = svg("title", {});
    title.textContent = way.words;
    group.append(title);
    if (points.length > 4) {
      const line = "M" + points.slice(0, -1).map((point) => point.map((x) => x.toFixed(3)).join(" ")).join("L");
      const tip = points[points.length - 1], back = points[Math.max(0, points.length - 12)], length = Math.hypot(tip[0] - back[0], tip[1] - back[1]) || 1;
      const u = [(tip[0] - back[0]) / length, (tip[1] - back[1]) / length];
      const head = `M${tip[0]} ${tip[1]}L${tip[0] - 0.42 * u[0] + 0.16 * u[1]} ${tip[1] - 0.42 * u[1] - 0.16 * u[0]}L${tip[0] - 0.42 * u[0] - 0.16 * u[1]} ${tip[1] - 0.42 * u[1] + 0.16 * u[0]}Z`;
      group.append(svg("path", { class: "wide", d: line }), svg("path", { class: "line", d: line }), svg("path", { class: "head", d: head }));
    }
    pressed(group, () => this.chosen({ edge: way.edges[0] }));
    this.drawing.append(group);
    return { ...way, group, points };
  }

  // What an arrow says, beside or upon it, in the first of some places where nothing else is; else only when it is
  // pointed at.
  label(way) {
    const half = [0.5 * LETTER * way.label.length, 0.5 * LINE], meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    const others = this.ways.filter((other) => other !== way).flatMap((other) => other.points), last = way.points.length - 1;
    for (const share of last < 4 ? [] : [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74]) for (const side of [1, -1, 0]) {
      const k = Math.round(share * last), on = way.points[k], [one, two] = [way.points[k - 1], way.points[k + 1]];
      const size = Math.hypot(two[0] - one[0], two[1] - one[1]), out = [(side * (two[1] - one[1])) / size, (side * (one[0] - two[0])) / size];
      const off = 0.12 + Math.abs(out[0]) * half[0] + Math.abs(out[1]) * half[1], at = [on[0] + off * out[0], on[1] + off * out[1]];
      const box = [at[0] - half[0], at[1] - half[1], at[0] + half[0], at[1] + half[1]];
      if ([...this.taken, ...others.map(([x, y]) => [x, y, x, y])].some((other) => meets(box, other))) continue;
      this.taken.push(box);
      const words = svg("text", { x: at[0], y: at[1] + 0.1 });
      words.textContent = way.label;
      way.group.append(svg("rect", { class: "behind", x: box[0], y: box[1], width: 2 * half[0], height: 2 * half[1] }), words);
      return;
    }
  }

  // Which shapes and arrows stand out; with a plan all others fade.
  mark(nodes, edges, fade) {
    this.lit.replaceChildren();
    this.nodes.forEach((group, k) => {
      group.classList.toggle("chosen", nodes.includes(k));
      group.classList.toggle("faded", fade && !nodes.includes(k));
    });
    for (const way of this.ways) {
      const lit = way.edges.some((edge) => edges.includes(edge));
      way.group.classList.toggle("chosen", lit);
      if (lit && this.ways.length > FAINT) this.lit.append(...[...way.group.querySelectorAll(".line, .head")].map((path) => path.cloneNode()));
      way.group.classList.toggle("faded", fade && !lit);
    }
  }

  fit() {
    const x = this.data.nodes.map((node) => node.place[0]), y = this.data.nodes.map((node) => -node.place[1]);
    const low = [Math.min(...x) - 2, Math.min(...y) - 2.2], high = [Math.max(...x) + 2, Math.max(...y) + 2.6];
    this.window = [low[0], low[1], Math.max(high[0] - low[0], 8), Math.max(high[1] - low[1], 6)];
    if (this.window[2] === 8) this.window[0] = 0.5 * (low[0] + high[0]) - 4;
    this.look();
  }

  look() { this.picture.setAttribute("viewBox", this.window.join(" ")); }

  zoom(factor, at) {
    const [x, y, w, h] = this.window, centre = at || [x + w / 2, y + h / 2];
    this.window = [centre[0] + (x - centre[0]) * factor, centre[1] + (y - centre[1]) * factor, w * factor, h * factor];
    this.look();
  }

  point(event) {
    const matrix = this.picture.getScreenCTM();
    return [(event.clientX - matrix.e) / matrix.a, (event.clientY - matrix.f) / matrix.d];
  }

  handle() {
    const fingers = new Map();
    let moved = 0;
    this.picture.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY > 0 ? 1.12 : 0.89, this.point(event)); }, { passive: false });
    this.picture.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, this.point(event)); moved = 0; });
    window.addEventListener("pointerup", (event) => fingers.delete(event.pointerId));
    window.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
    this.picture.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = this.point(event), others = [...fingers].filter(([id]) => id !== event.pointerId);
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]) / this.window[2];
      if (others.length) {
        const fixed = others[0][1];
        this.zoom(Math.hypot(before[0] - fixed[0], before[1] - fixed[1]) / Math.max(Math.hypot(now[0] - fixed[0], now[1] - fixed[1]), 1e-9), fixed);
      } else {
        this.window[0] -= now[0] - before[0];
        this.window[1] -= now[1] - before[1];
        this.look();
      }
      fingers.set(event.pointerId, this.point(event));
    });
    this.picture.addEventListener("click", (event) => { if (moved > 0.015) { event.stopPropagation(); event.preventDefault(); } }, true);
  }
}

const called = (node) => node.name || node.key;
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
