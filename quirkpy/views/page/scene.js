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
// The drawing library reads some tags in texts; names are no tags.
const plainly = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const SETTINGS = { displayModeBar: false, displaylogo: false, responsive: true, scrollZoom: true, showTips: false };
const FIRST_EYE = { x: 1.0, y: -1.55, z: 1.1 }, LOWER = { x: 0, y: 0, z: -0.17 };

// Round numbers for an axis, none near its ends, where those of two axes meet.
function scale([low, high]) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 6)), step = power * [1, 2, 5, 10].find((k) => k * power >= (high - low) / 6);
  const inner = 0.08 * (high - low), first = Math.ceil((low + inner) / step);
  const tickvals = Array.from({ length: Math.floor((high - inner) / step) - first + 1 }, (_, k) => step * (first + k));
  return { range: [low, high], tickvals, ticktext: tickvals.map(said) };
}

class Scene {
  constructor(data) {
    this.bodies = data.bodies;
    this.meshes = data.meshes;
    this.box = make("div", { class: "space", tabindex: "0", role: "img",
      "aria-label": "The bodies in space. Drag to turn; arrow keys turn, plus and minus zoom, 0 begins anew." });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.busy = false;
    this.waiting = null;
    this.begin();
    dark.addEventListener("change", () => this.drawn && Plotly.update(this.box, { lighting: this.light() }, this.theme(), [0]));
  }

  // What never changes: triangles with their colours, and which corners belong to which body.
  begin() {
    const i = [], j = [], k = [], colours = [];
    let first = 0;
    for (const body of this.bodies) {
      const mesh = this.meshes[body.mesh];
      for (const [a, b, c] of mesh.triangles) {
        i.push(first + a); j.push(first + b); k.push(first + c); colours.push(body.colour);
      }
      first += mesh.corners.length;
    }
    this.solid = { type: "mesh3d", i, j, k, facecolor: colours, flatshading: true, hoverinfo: "skip", showscale: false,
      lightposition: { x: 2000, y: -5500, z: 9500 } };
    this.lines = { type: "scatter3d", mode: "lines", line: { width: 3, color: "#2b2f36" }, hoverinfo: "skip" };
    this.names = { type: "scatter3d", mode: "text", text: this.bodies.map((body) => shortened(body.name.replace(/</g, "\u2039").replace(/>/g, "\u203A"), 16)), hoverinfo: "skip",
      textfont: { size: 12 }, visible: this.bodies.length <= 12 };
  }

  placed(poses) {
    return this.bodies.map((body) => (body.row === null ? { r: body.r, q: body.q } : { r: poses.r[body.row], q: poses.q[body.row] }));
  }

  corners(poses) {
    const solid = [[], [], []], lines = [[], [], []], names = [[], [], []];
    this.placed(poses).forEach(({ r, q }, b) => {
      const mesh = this.meshes[this.bodies[b].mesh];
      const at = mesh.corners.map((corner) => turnedPoint(q, corner).map((x, axis) => x + r[axis]));
      const top = Math.max(...at.map((corner) => corner[2]));
      for (let axis = 0; axis < 3; axis++) {
        for (const corner of at) solid[axis].push(corner[axis]);
        for (const [one, two] of mesh.edges) lines[axis].push(at[one][axis], at[two][axis], null);
        names[axis].push(axis < 2 ? r[axis] : top + 0.12 * (top - r[2]));
      }
    });
    return { x: [solid[0], lines[0], names[0]], y: [solid[1], lines[1], names[1]], z: [solid[2], lines[2], names[2]] };
  }

  // A cube around all poses of a list, so that nothing leaves the view and lengths are alike along all axes.
  frame(list) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const poses of list) {
      const all = this.corners(poses);
      [all.x[0], all.y[0], all.z[0]].forEach((values, axis) => {
        for (const value of values) { low[axis] = Math.min(low[axis], value); high[axis] = Math.max(high[axis], value); }
      });
    }
    const half = 0.53 * Math.max(...low.map((value, axis) => high[axis] - value), 1e-9);
    this.ranges = low.map((value, axis) => [0.5 * (value + high[axis]) - half, 0.5 * (value + high[axis]) + half]);
  }

  theme() {
    const axis = { color: ink("pale"), gridcolor: ink("line"), zerolinecolor: ink("line"), showbackground: false };
    const out = { paper_bgcolor: "rgba(0,0,0,0)", "font.color": ink("ink") };
    for (const name of ["xaxis", "yaxis", "zaxis"]) for (const [key, value] of Object.entries(axis)) out[`scene.${name}.${key}`] = value;
    return out;
  }

  // In the dark bodies are darker, so that pale names can be read on them.
  light() {
    const [ambient, diffuse] = dark.matches ? [0.3, 0.36] : [0.62, 0.55];
    return { ambient, diffuse, specular: 0.05, roughness: 0.9, vertexnormalsepsilon: 0, facenormalsepsilon: 0 };
  }

  // Show poses; a new frame where `list` says all that will be seen.
  show(poses, list) {
    if (list) this.frame(list);
    if (!this.drawn) return this.draw(poses);
    if (this.busy) { this.waiting = poses; this.reframe = this.reframe || Boolean(list); return; }
    const layout = {};
    if (list || this.reframe) ["xaxis", "yaxis", "zaxis"].forEach((name, axis) => { 
      for (const [key, value] of Object.entries(scale(this.ranges[axis]))) layout[`scene.${name}.${key}`] = value;
    });
    this.busy = true;
    this.reframe = false;
    Plotly.update(this.box, this.corners(poses), layout, [0, 1, 2]).then(() => {
      this.busy = false;
      const next = this.waiting;
      this.waiting = null;
      if (next) this.show(next);
    });
  }

  draw(poses) {
    const all = this.corners(poses);
    const axis = (title, range) => ({ title: { text: title, font: { size: 12 } }, ...scale(range), autorange: false,
      color: ink("pale"), gridcolor: ink("line"), zerolinecolor: ink("line"), showbackground: false, showspikes: false, tickfont: { size: 10 } });
    const layout = {
      margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", font: { color: ink("ink") },
      scene: { dragmode: "turntable", aspectmode: "cube", camera: { eye: this.firstEye(), center: LOWER },
        xaxis: axis("x [m]", this.ranges[0]), yaxis: axis("y [m]", this.ranges[1]), zaxis: axis("z [m]", this.ranges[2]) },
    };
    const traces = [this.solid, this.lines, this.names].map((trace, n) => ({ ...trace, x: all.x[n], y: all.y[n], z: all.z[n] }));
    traces[0].lighting = this.light();
    Plotly.newPlot(this.box, traces, layout, SETTINGS);
    this.drawn = true;
  }

  // From farther away where there is little room beside.
  firstEye() {
    const far = this.box.clientWidth < 480 ? 1.2 : 1;
    return { x: far * FIRST_EYE.x, y: far * FIRST_EYE.y, z: far * FIRST_EYE.z };
  }

  key(event) {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] }[event.key];
    const zoom = { "+": 0.85, "=": 0.85, "-": 1 / 0.85 }[event.key];
    if (!turns && !zoom && event.key !== "0") return;
    event.preventDefault();
    const { x, y, z } = this.box.layout.scene.camera.eye;
    let distance = Math.hypot(x, y, z), round = Math.atan2(y, x), up = Math.asin(z / distance);
    if (turns) { round += turns[0]; up = Math.max(-1.5, Math.min(1.5, up + turns[1])); }
    if (zoom) distance *= zoom;
    const eye = event.key === "0" ? this.firstEye()
      : { x: distance * Math.cos(up) * Math.cos(round), y: distance * Math.cos(up) * Math.sin(round), z: distance * Math.sin(up) };
    Plotly.relayout(this.box, { "scene.camera.eye": { ...eye } });
  }
}
