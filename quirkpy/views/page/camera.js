// The eye of a scene: it turns about a vertical axis, comes nearer and goes aside, by mouse, fingers and keys.
const FIRST = { round: -0.998, rise: 0.537, distance: 4.2, aside: [0, 0, -0.17] };
const LENS = 0.42; // tangent of half the angle of view
const WIDE = 1.4; // width over height that is enough
const LIFT = 0.0015; // of lines towards the eye, as a share of the way there

// Lengths are in halves of the side of what is framed: one view for a satellite and for a grain.
class Camera {
  constructor(element, moved) {
    this.element = element;
    this.moved = moved;
    this.fingers = new Map();
    this.again();
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
    element.addEventListener("wheel", (event) => { event.preventDefault(); this.nearer(Math.exp(0.0012 * event.deltaY * (event.deltaMode ? 30 : 1))); }, { passive: false });
    element.addEventListener("dblclick", () => this.again());
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  // As at the beginning.
  again() {
    Object.assign(this, FIRST, { aside: [...FIRST.aside] });
    this.moved();
  }

  // From farther away where there is little room beside.
  get away() {
    return this.distance * Math.max(1, WIDE / (this.element.clientWidth / Math.max(1, this.element.clientHeight) || WIDE));
  }

  turn(round, rise) {
    this.round += round;
    this.rise = Math.max(-1.5, Math.min(1.5, this.rise + rise));
    this.moved();
  }

  nearer(share) {
    this.distance = Math.max(0.05, Math.min(60, this.distance * share));
    this.moved();
  }

  // By so many dots on the screen, what is looked at goes along.
  shift(x, y) {
    const { right, up } = this.axes(), much = (2 * LENS * this.away) / Math.max(1, this.element.clientHeight);
    this.aside = this.aside.map((at, i) => at - much * (x * right[i] - y * up[i]));
    this.moved();
  }

  down(event) {
    this.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    this.pans = event.button > 0 || event.shiftKey;
    this.element.focus({ preventScroll: true });
  }

  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const all = () => [...this.fingers.values()], mean = (k) => all().reduce((sum, at) => sum + at[k], 0) / this.fingers.size;
    const spread = () => (this.fingers.size > 1 ? Math.hypot(all()[0][0] - all()[1][0], all()[0][1] - all()[1][1]) : 1);
    const [x, y, apart] = [mean(0), mean(1), spread()];
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const [dx, dy] = [mean(0) - x, mean(1) - y];
    if (this.fingers.size > 1) { this.nearer(apart / Math.max(spread(), 1)); this.shift(dx, dy); } else if (this.pans) this.shift(dx, dy);
    else this.turn(-0.008 * dx, 0.008 * dy);
  }

  key(event) {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.12], ArrowDown: [0, -0.12] }[event.key];
    const zoom = { "+": 0.85, "=": 0.85, "-": 1 / 0.85 }[event.key];
    if (!turns && !zoom && event.key !== "0") return;
    event.preventDefault();
    if (turns && event.shiftKey) this.shift(200 * turns[0], -200 * turns[1]);
    else if (turns) this.turn(...turns);
    else if (zoom) this.nearer(zoom);
    else this.again();
  }

  // Unit vectors: to the right, upwards, and towards the eye.
  axes() {
    const [s, c, t, d] = [Math.sin(this.round), Math.cos(this.round), Math.sin(this.rise), Math.cos(this.rise)];
    return { right: [-s, c, 0], up: [-t * c, -t * s, d], back: [d * c, d * s, t] };
  }

  // The matrix of a perspective view, column by column, of a cube with this middle and half its side; and how much less deep lines are.
  sight(middle, half, aspect) {
    const { right, up, back } = this.axes(), away = this.away, far = away + 4, near = Math.max(0.02 * away, away - 4);
    const eye = middle.map((x, i) => x + half * (this.aside[i] + away * back[i]));
    const rows = [right.map((x) => x / (LENS * Math.max(aspect, 1e-6))), up.map((x) => x / LENS), back.map((x) => (-x * (far + near)) / (far - near)), back.map((x) => -x)];
    const ends = rows.map((row) => -row.reduce((sum, x, i) => sum + x * eye[i], 0) / half);
    const deep = (2 * far * near) / (far - near);
    ends[2] -= deep;
    return { sight: [0, 1, 2].flatMap((i) => rows.map((row) => row[i] / half)).concat(ends), lift: LIFT * deep };
  }
}

// Where a point is seen: shares of width and height from the upper left corner, and how deep; null behind the eye.
function seenAt(sight, [x, y, z]) {
  const [a, b, c, w] = [0, 1, 2, 3].map((i) => sight[i] * x + sight[4 + i] * y + sight[8 + i] * z + sight[12 + i]);
  return w > 0 ? [0.5 + (0.5 * a) / w, 0.5 - (0.5 * b) / w, c / w] : null;
}
