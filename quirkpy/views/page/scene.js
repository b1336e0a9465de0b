// Elements of the page, and the bodies in space.
function make(kind, properties, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const LIGHT = [0.179, -0.493, 0.852]; // towards it
const NAMED = 12; // bodies: names of more would hide them
const METRE = { corners: [[0, 0, 0], [0, 0, 1]], edges: [[0, 1]] }; // a line
const DASHED = { corners: [], edges: [] }; // a line of eight dashes
for (let k = 0; k < 8; k++) { DASHED.corners.push([0, 0, k / 8], [0, 0, (k + 0.6) / 8]); DASHED.edges.push([2 * k, 2 * k + 1]); }
const HERE = { r: [0, 0, 0], q: [1, 0, 0, 0] };

// Round numbers within a range: multiples of 1, 2 or 5 times a power of ten, about so many.
function ticks([low, high], many = 6) {
  const power = 10 ** Math.floor(Math.log10((high - low) / many)), step = power * [1, 2, 5, 10].find((k) => k * power >= 0.999 * (high - low) / many);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => step * (first + k));
}

class Scene {
  constructor(data) {
    this.bodies = data.bodies;
    this.meshes = data.meshes;
    this.emblems = data.emblems;
    this.ties = data.ties;
    const drawn = make("canvas"), written = make("canvas", { class: "over" });
    this.box = make("div", { class: "space", tabindex: "0", role: "img",
      "aria-label": "The bodies in space. Drag to turn, with shift to move aside, the wheel comes nearer; arrow keys turn, plus and minus zoom, 0 begins anew." }, drawn, written);
    this.canvas = new Canvas(drawn);
    this.pen = written.getContext("2d");
    this.walls = [];
    this.box.camera = new Camera(this.box, () => this.paint());
    if (!this.canvas.gl) this.box.append(make("p", { class: "wait warn" }, "The bodies are not drawn: this browser has no WebGL 2."));
    new ResizeObserver(() => this.resize()).observe(this.box);
    drawn.addEventListener("restored", () => this.paint());
    dark.addEventListener("change", () => this.paint());
  }

  placed() {
    return this.bodies.map((body) => (body.row === null ? body : { r: this.poses.r[body.row], q: this.poses.q[body.row] }));
  }

  // A cube around all poses of a list, so that nothing leaves the view and lengths are alike along all axes.
  frame(list) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const poses of list) {
      this.bodies.forEach((body) => {
        const { r, q } = body.row === null ? body : { r: poses.r[body.row], q: poses.q[body.row] };
        for (const corner of this.meshes[body.mesh].corners) {
          turnedPoint(q, corner).forEach((x, axis) => {
            low[axis] = Math.min(low[axis], x + r[axis]);
            high[axis] = Math.max(high[axis], x + r[axis]);
          });
        }
      });
    }
    this.middle = low.map((value, axis) => 0.5 * (value + high[axis]));
    this.half = 0.53 * Math.max(...low.map((value, axis) => high[axis] - value), 1e-9);
    this.ranges = this.middle.map((value) => [value - this.half, value + this.half]);
    this.canvas.forget(this.walls.flat());
    this.marks = this.ranges.map((range) => ticks(range));
    this.walls = [0, 1, 2].map((axis) => this.ranges[axis].map((at) => this.wall(axis, at)));
  }

  // A side of the cube with its grid.
  wall(axis, at) {
    const corners = [], edges = [], across = [0, 1, 2].filter((other) => other !== axis);
    across.forEach((along, k) => {
      const other = across[1 - k];
      for (const tick of [...this.marks[along], ...this.ranges[along]]) {
        for (const end of this.ranges[other]) { const corner = [at, at, at]; corner[along] = tick; corner[other] = end; corners.push(corner); }
        edges.push([corners.length - 2, corners.length - 1]);
      }
    });
    return { corners, edges };
  }

  // Show poses; a new frame where `list` says all that will be seen.
  show(poses, list) {
    this.poses = poses;
    if (list) this.frame(list);
    this.paint();
  }

  resize() {
    const dots = window.devicePixelRatio || 1;
    for (const element of [this.canvas.element, this.pen.canvas]) {
      element.width = Math.max(1, Math.round(dots * this.box.clientWidth));
      element.height = Math.max(1, Math.round(dots * this.box.clientHeight));
    }
    this.draw();
  }

  // Once before the browser's next picture, however often it is asked for.
  paint() {
    if (!this.asked) this.asked = requestAnimationFrame(() => { this.asked = null; this.draw(); });
  }

  draw() {
    if (!this.poses || !this.half) return;
    const camera = this.box.camera, { clientWidth: wide, clientHeight: high } = this.box;
    const view = camera.sight(this.middle, this.half, wide / Math.max(1, high)), back = camera.axes().back;
    const eye = this.middle.map((x, i) => x + this.half * (camera.aside[i] + camera.away * back[i]));
    const places = this.placed(), line = colour(ink("line")), edge = colour(dark.matches ? "#0f1216" : "#2b2f36");
    const things = [0, 1, 2].map((axis) => ({ ...HERE, mesh: this.walls[axis][eye[axis] > this.middle[axis] ? 0 : 1], line, width: 1 }));
    places.forEach(({ r, q }, b) => things.push({ r, q, mesh: this.meshes[this.bodies[b].mesh], colour: colour(this.bodies[b].colour), line: edge, width: 1.6 }));
    for (const { body, mesh, colour: name, covers, line } of this.emblems) {
      things.push({ ...(body === null ? HERE : places[body]), mesh, colour: colour(name, covers), line: colour(name, line), width: 1.6 });
    }
    for (const [one, two, name] of this.ties) things.push({ ...this.tie([one, two], places), ...this.pull(name) });
    // In the dark bodies are darker, so that pale names can be read on them.
    this.canvas.draw(things, view, LIGHT, dark.matches ? [0.3, 0.36] : [0.56, 0.46]);
    this.write(view.sight, eye, places);
    this.box.dataset.drawn = Number(this.box.dataset.drawn || 0) + 1;
  }

  // How a spring, a bar or a string is drawn: the fuller and wider the more it pulls, beside the most in this motion; dashed where slack.
  pull(name) {
    const { values, most } = this.poses.pulls || { values: {} }, tension = values[name];
    if (tension === undefined || tension === null) return { mesh: METRE, line: colour(ink("pale")), width: 1.4 };
    if (tension <= 0) return { mesh: DASHED, line: colour(ink("pale")), width: 1.4 };
    const share = most > 0 ? tension / most : 0, pale = colour(ink("pale")), full = colour(ink("curve2"));
    return { mesh: METRE, line: pale.map((x, i) => x + (0.25 + 0.75 * share) * (full[i] - x)), width: 1.4 + 1.6 * share };
  }

  // The line between two points, each on a body or on none, as one of a metre that is turned and stretched.
  tie(ends, places) {
    const [a, b] = ends.map(([body, point]) => {
      const { r, q } = body === null ? HERE : places[body];
      return turnedPoint(q, point).map((x, i) => x + r[i]);
    });
    const way = b.map((x, i) => x - a[i]), stretch = Math.hypot(...way), [x, y, z] = way.map((w) => w / (stretch || 1));
    const turn = z > -0.999999 ? [1 + z, -y, x, 0] : [0, 1, 0, 0], size = Math.hypot(...turn);
    return { r: a, q: turn.map((w) => w / size), stretch };
  }

  // Names of bodies and numbers along axes.
  write(sight, eye, places) {
    const pen = this.pen, dots = window.devicePixelRatio || 1, { width, height } = pen.canvas;
    const at = (point) => { const seen = seenAt(sight, point); return seen && [seen[0] * width, seen[1] * height]; };
    const put = (text, point, colour, size) => {
      if (!point) return;
      pen.font = `${size * dots}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
      pen.lineWidth = 3 * dots;
      pen.strokeStyle = ink("paper");
      pen.fillStyle = ink(colour);
      pen.strokeText(text, ...point);
      pen.fillText(text, ...point);
    };
    pen.clearRect(0, 0, width, height);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    this.axes(eye, at).forEach(({ points, words }) => points.forEach((point, k) => put(words[k], point, "pale", k ? 10 : 12)));
    if (this.bodies.filter(({ name }) => name).length > NAMED) return;
    places.forEach(({ r, q }, b) => put(shortened(this.bodies[b].name, 16), at(this.above(b, r, q)), "ink", 12));
  }

  // A point just over the highest of a body, or in the middle of those that are about as high.
  above(b, r, q) {
    const points = this.meshes[this.bodies[b].mesh].corners.map((corner) => turnedPoint(q, corner));
    const top = points.reduce((most, [, , z]) => Math.max(most, z), -Infinity);
    let all = 0, x = 0, y = 0;
    for (const point of points) {
      const much = Math.exp((point[2] - top) / (0.1 * Math.abs(top) || 1));
      all += much; x += much * point[0]; y += much * point[1];
    }
    return [r[0] + x / all, r[1] + y / all, r[2] + top + 0.12 * Math.min(top, 0.2 * this.half)];
  }

  // Along the sides of what one sees of the cube: the name of each axis, then its numbers.
  axes(eye, at) {
    const near = (axis) => this.ranges[axis][eye[axis] > this.middle[axis] ? 1 : 0], below = this.ranges[2][eye[2] > this.middle[2] ? 0 : 1];
    const corners = [[0, 1], [1, 0], [0, 0], [1, 1]].map(([i, j]) => [this.ranges[0][i], this.ranges[1][j]]);
    const side = ([x, y]) => (at([x, y, this.middle[2]]) || [Infinity])[0];
    const left = corners.reduce((one, two) => (side(two) < side(one) ? two : one));
    const lines = [(x) => [x, near(1), below], (y) => [near(0), y, below], (z) => [...left, z]];
    return lines.map((line, axis) => {
      const inner = this.marks[axis].filter((tick) => Math.abs(tick - this.middle[axis]) < 0.9 * this.half);
      // Away from the cube, as far as letters need
      const out = (value, far) => {
        const edge = at(line(value)), middle = at(this.middle);
        if (!edge || !middle) return null;
        const way = axis < 2 ? [edge[0] - middle[0], edge[1] - middle[1]] : [-1, 0], size = Math.hypot(...way) || 1;
        return edge.map((x, i) => x + (far * (window.devicePixelRatio || 1) * way[i]) / size);
      };
      const end = axis < 2 ? out(this.middle[axis], 46) : out(this.ranges[2][1], 0);
      if (end && axis === 2) end[1] -= 12 * (window.devicePixelRatio || 1);
      return { points: [end, ...inner.map((tick) => out(tick, 16))], words: [`${"xyz"[axis]} [m]`, ...inner.map(said)] };
    });
  }
}
