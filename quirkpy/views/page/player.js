// What moves in the scene: a clock, a scrubber, and curves in step with them.
const FITTED = 6; // seconds in which a whole motion is shown unless one asks otherwise

class Player {
  constructor(scene) {
    this.scene = scene;
    this.motion = null;
    this.time = 0;
    this.playing = false;
    this.button = make("button", { type: "button", "aria-label": "Play", onclick: () => this.toggle() }, "\u25B6 Play");
    this.scrubber = make("input", { type: "range", min: 0, max: 1000, value: 0, step: 1, class: "grow", "aria-label": "Time of the motion",
      oninput: () => { this.pause(); this.go((this.scrubber.value / 1000) * this.length()); } });
    this.speed = make("select", { "aria-label": "Speed" }, [["fit", "all in 6 s"], ["0.1", "0.1 x"], ["1", "real time"], ["10", "10 x"], ["100", "100 x"]]
      .map(([value, words]) => make("option", { value }, words)));
    this.clock = make("output", { class: "pale", "aria-live": "off" });
    this.bar = make("div", { class: "row player" }, this.button, this.scrubber, this.speed, this.clock);
    const asked = (time) => { this.pause(); this.go(time); };
    this.energy = new Chart("Energies over time", asked);
    this.joints = new Chart("Joint coordinates over time", asked);
    this.note = make("p", { class: "pale" });
    this.below = make("div", {}, this.energy.box, this.joints.box, this.note);
    this.hide();
  }

  hide() {
    for (const part of [this.bar, this.energy.box, this.joints.box, this.note]) part.hidden = true;
  }

  length() { return this.motion ? duration(this.motion) : 1; }

  // A motion with its curves; `play`: begin at once, unless one wants things to keep still.
  show(motion, play) {
    this.stop();
    this.motion = motion;
    this.bar.hidden = this.note.hidden = false;
    const list = [];
    for (let k = 0; k <= 60; k++) list.push(posesAt(motion, (k / 60) * duration(motion)));
    this.scene.show(list[0], list);
    this.note.textContent = `Shown from ${motion.t.length} keyframes: bodies miss their way by less than ${said(motion.missed[0] * 1e3)} mm and ${said(motion.missed[1])} rad.`;
    this.curves();
    this.go(0);
    if (play && !still.matches) this.toggle();
  }

  // A shape at rest.
  rest(poses) {
    this.stop();
    this.motion = null;
    this.hide();
    this.scene.show(poses, [poses]);
  }

  // A motion around a shape, large enough to be seen, over and over.
  sway(poses, shape, seconds) {
    this.rest(poses);
    const furthest = Math.max(...shape.map((v) => Math.max(Math.hypot(v[0], v[1], v[2]), 0.1 * Math.hypot(v[3], v[4], v[5]))), 1e-9);
    const much = (0.24 * this.scene.half) / furthest, begun = performance.now();
    const ends = [swung(poses.r, poses.q, shape, much), swung(poses.r, poses.q, shape, -much), poses];
    this.scene.show(poses, ends);
    const step = (now) => {
      if (this.ticket !== ticket) return;
      const phase = Math.sin((2 * Math.PI * (now - begun)) / (1000 * seconds));
      this.scene.show(swung(poses.r, poses.q, shape, much * phase));
      ticket = this.ticket = requestAnimationFrame(step);
    };
    let ticket = (this.ticket = requestAnimationFrame(step));
  }

  stop() {
    this.pause();
    cancelAnimationFrame(this.ticket);
    this.ticket = null;
    this.ended = null;
  }

  pause() {
    this.playing = false;
    this.label();
  }

  label() {
    this.button.textContent = this.playing ? "\u275A\u275A Pause" : "\u25B6 Play";
    this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
  }

  toggle() {
    if (!this.motion) return;
    this.playing = !this.playing;
    this.label();
    if (!this.playing) return;
    if (this.time >= this.length()) this.go(0);
    let before = performance.now();
    const step = (now) => {
      if (!this.playing) return;
      const rate = this.speed.value === "fit" ? this.length() / FITTED : Number(this.speed.value);
      const time = this.time + (rate * Math.max(0, now - before)) / 1000;
      before = now;
      this.go(Math.min(time, this.length()));
      if (time < this.length()) { this.ticket = requestAnimationFrame(step); return; }
      this.pause();
      if (this.ended) this.ended();
    };
    this.ticket = requestAnimationFrame(step);
  }

  go(time) {
    this.time = time;
    this.scrubber.value = (1000 * time) / (this.length() || 1);
    this.clock.textContent = `${said(time)} s of ${said(this.length())} s`;
    this.scrubber.setAttribute("aria-valuetext", this.clock.textContent);
    this.scene.show(posesAt(this.motion, time));
    for (const chart of [this.energy, this.joints]) chart.mark(time);
  }

  curves() {
    const names = Object.keys(this.motion.curves), energies = names.filter((name) => name.endsWith(" [J]"));
    const coordinates = names.filter((name) => !energies.includes(name) && !name.endsWith(TENSION)).slice(0, 5);
    const units = [...new Set(coordinates.map((name) => name.match(/\[([^\]]*)\]$/)[1]))];
    const t = Array.from(this.motion.t), of = (names, length) => names.map((name) => [name.slice(0, name.length - length), this.motion.curves[name]]);
    this.energy.show(t, of(energies, 4), "energy [J]");
    this.joints.show(t, of(coordinates, 0), `joints [${units.join(", ")}]`);
  }
}

// A number as one says it: four digits, no more zeros than it needs.
function said(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "\u2013";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(4)));
  return text.replace(/\.?0+e/, "e").replace(/-/g, "\u2212");
}
