// Curves over time, drawn as SVG: a legend, two axes, a mark that goes along, values where one points.
const DASHES = ["", "7 3", "2 2.5", "7 3 2 3", "12 4", "12 4 2 4", ""];
const CURVES = ["curve1", "curve2", "curve3", "curve4", "curve5", "curve6", "curve7"];
const LETTER_WIDTH = 6.6, PLOT = 168, RIGHT = 12, FOOT = 36;

// A factor and a prefix with which the largest of some values has one to three digits before its point.
function scaled(values) {
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b || 0)), 0);
  const steps = [["G", 1e9], ["M", 1e6], ["k", 1e3], ["", 1], ["m", 1e-3], ["\u00B5", 1e-6], ["n", 1e-9]];
  const [prefix, size] = most > 0 ? steps.find(([, one]) => most >= one) || steps[6] : steps[3];
  return [1 / size, prefix];
}

class Chart {
  // asked: what is done with a time at which one has clicked.
  constructor(label, asked) {
    this.box = make("div", { class: "curves", role: "img", "aria-label": label });
    this.asked = asked;
    this.time = 0;
    this.box.addEventListener("pointermove", (event) => this.point(event));
    this.box.addEventListener("pointerleave", () => this.told && (this.told.hidden = true));
    this.box.addEventListener("click", (event) => this.curves && this.asked(this.timeAt(event)));
    new ResizeObserver(() => this.curves && this.wide !== this.box.clientWidth && this.draw()).observe(this.box);
  }

  // t: times; curves: [[name, values] ...], with null where there is nothing; title: of the axis upwards.
  show(t, curves, title) {
    const [factor, prefix] = /\[[JNm]\]$/.test(title) ? scaled(curves.flatMap(([, values]) => values)) : [1, ""];
    const told = curves.map(([name, values]) => [name, values.map((value) => (value === null ? null : factor * value))]);
    Object.assign(this, { t, curves: told, title: title.replace(/\[(.)\]$/, `[${prefix}$1]`) });
    this.box.hidden = !curves.length;
    if (curves.length) this.draw();
  }

  draw() {
    const wide = (this.wide = this.box.clientWidth);
    const finite = this.curves.flatMap(([, values]) => values.filter((value) => value !== null));
    let low = finite.reduce((a, b) => Math.min(a, b), Infinity), high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(low <= high)) [low, high] = [0, 1];
    const room = 0.05 * (high - low) || 0.05 * Math.abs(high) || 1;
    [low, high] = [low - room, high + room];
    const numbers = ticks([low, high], 5), left = Math.max(62, 30 + LETTER_WIDTH * Math.max(...numbers.map((value) => said(value).length)));
    const legend = this.legend(left, wide), top = legend.high + 8, [first, last] = [this.t[0], Math.max(this.t[this.t.length - 1], this.t[0] + 1e-12)];
    this.x = (t) => left + ((t - first) / (last - first)) * (wide - left - RIGHT);
    this.y = (value) => top + PLOT - ((value - low) / (high - low)) * PLOT;
    Object.assign(this, { left, top, first, last });
    const picture = svg("svg", { width: wide, height: top + PLOT + FOOT, "aria-hidden": "true" });
    for (const value of numbers) picture.append(svg("path", { class: "grid", d: `M${left} ${this.y(value)}H${wide - RIGHT}` }), svg("text", { class: "end", x: left - 6, y: this.y(value) + 4 }, said(value)));
    for (const t of ticks([first, last], Math.max(2, Math.floor((wide - left) / 80)))) {
      picture.append(svg("path", { class: "grid", d: `M${this.x(t)} ${top}V${top + PLOT}` }), svg("text", { class: "middle", x: this.x(t), y: top + PLOT + 16 }, said(t)));
    }
    picture.append(svg("text", { class: "middle", x: 0.5 * (left + wide - RIGHT), y: top + PLOT + 32 }, "t [s]"),
      svg("text", { class: "middle", transform: `translate(12 ${top + 0.5 * PLOT}) rotate(-90)` }, this.title));
    this.curves.forEach(([, values], k) => picture.append(svg("path", { class: "curve", d: this.path(values), style: this.look(k) })));
    this.cursor = svg("path", { class: "cursor" });
    picture.append(this.cursor, ...legend.parts);
    this.told = make("div", { class: "told", hidden: true });
    this.box.replaceChildren(picture, this.told);
    this.box.style.height = `${top + PLOT + FOOT}px`;
    this.mark(this.time);
  }

  look(k) {
    return `stroke: var(--${CURVES[k % CURVES.length]}); stroke-dasharray: ${DASHES[k % DASHES.length] || "none"}`;
  }

  // Entries side by side, as many as have room in a row.
  legend(left, wide) {
    const entry = 44 + LETTER_WIDTH * Math.max(...this.curves.map(([name]) => name.length)), columns = Math.max(1, Math.floor((wide - left) / entry));
    const parts = this.curves.flatMap(([name], k) => {
      const x = left + entry * (k % columns), y = 12 + 18 * Math.floor(k / columns);
      return [svg("path", { class: "curve", d: `M${x} ${y}h26`, style: this.look(k) }), svg("text", { x: x + 32, y: y + 4 }, name)];
    });
    return { parts, high: 18 * Math.ceil(this.curves.length / columns) };
  }

  path(values) {
    let pen = "M";
    return values.map((value, k) => {
      if (value === null) { pen = "M"; return ""; }
      const piece = `${pen}${this.x(this.t[k]).toFixed(2)} ${this.y(value).toFixed(2)}`;
      pen = "L";
      return piece;
    }).join("");
  }

  mark(time) {
    this.time = time;
    if (!this.cursor) return;
    this.cursor.setAttribute("d", `M${this.x(time)} ${this.top}v${PLOT}`);
    this.cursor.dataset.t = time;
  }

  timeAt(event) {
    const share = (event.clientX - this.box.getBoundingClientRect().left - this.left) / (this.wide - this.left - RIGHT);
    return this.first + Math.max(0, Math.min(1, share)) * (this.last - this.first);
  }

  // What all curves are where one points.
  point(event) {
    if (!this.curves || !this.told) return;
    const time = this.timeAt(event), k = keyframeAt({ t: this.t }, time), j = Math.min(k + 1, this.t.length - 1);
    const share = this.t[j] > this.t[k] ? (time - this.t[k]) / (this.t[j] - this.t[k]) : 0;
    const at = (values) => (values[k] === null || values[j] === null ? values[k] : (1 - share) * values[k] + share * values[j]);
    this.told.replaceChildren(make("b", {}, withUnit(time, "s")), ...this.curves.map(([name, values]) => make("div", {}, `${name}: ${said(at(values))}`)));
    this.told.hidden = false;
    const right = this.x(time) > 0.5 * this.wide;
    this.told.style.cssText = `top: ${this.top + 4}px; ${right ? `right: ${this.wide - this.x(time) + 10}px` : `left: ${this.x(time) + 10}px`}`;
  }
}
