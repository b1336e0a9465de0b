// Pages that ask the program that opened them.

// A coordinate below this is zero [rad] or [m]: poses are found to rounding.
const ROUNDING = 1e-9;

async function ask(what) {
  const reply = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what) });
  const told = await reply.json();
  if (!reply.ok) throw new Error(told.error);
  return told;
}

// Say that the page is open, for as long as it is.
function stay() {
  const line = new EventSource("stay");
  line.onerror = () => document.body.classList.add("alone");
  line.onopen = () => document.body.classList.remove("alone");
}

// A system: a slider for each coordinate, and what becomes of it from there.
class LiveSystem {
  constructor(data) {
    this.data = data;
    this.scene = new Scene(data);
    this.player = new Player(this.scene);
    this.words = make("p", { role: "status", "aria-live": "polite" });
    this.energy = make("output", {});
    this.more = make("div", {});
    this.sliders = data.sliders.map((slider, k) => this.slider(slider, k));
    this.waiting = new Map();
  }

  slider({ name, unit, low, high }, k) {
    const value = make("output", { class: "number" });
    const knob = make("input", { type: "range", min: low, max: high, step: "any", class: "grow", "aria-label": `${name} [${unit}]`, oninput: () => this.move(k, Number(knob.value)) });
    return { knob, value, unit, row: make("label", { class: "slider" }, make("span", {}, name), knob, value) };
  }

  // Only the last of several values is asked for, once the answer before it is there.
  async move(k, value) {
    this.waiting.set(k, value);
    if (this.busy) return;
    this.busy = true;
    while (this.waiting.size) {
      const [which, wanted] = this.waiting.entries().next().value;
      this.waiting.delete(which);
      await this.tell({ do: "move", name: this.data.sliders[which].name, value: wanted }, which);
    }
    this.busy = false;
  }

  async tell(what, moving) {
    try {
      const told = await ask(what);
      if (what.do !== "move") { this.words.textContent = told.words || ""; this.list(told.rest); }
      if (told.motion) { this.player.show(unpacked(told.motion), true); this.values(told.pose); } else this.place(told.pose, moving);
    } catch (error) { this.words.textContent = error.message; }
  }

  async long(what) {
    this.words.textContent = "Computing ...";
    await this.tell(what);
  }

  place(pose, moving) {
    this.player.stop();
    this.player.motion = null;
    this.player.hide();
    this.scene.show(pose, this.scene.half && this.inside(pose) ? null : [pose, this.data.pose]);
    this.values(pose, moving);
  }

  // Whether all mass centres are within what is framed.
  inside(pose) {
    return pose.r.every((at) => at.every((x, axis) => Math.abs(x - this.scene.middle[axis]) < 0.9 * this.scene.half));
  }

  values(pose, moving) {
    this.sliders.forEach(({ knob, value, unit }, k) => {
      const here = Math.abs(pose.values[k]) < ROUNDING ? 0 : pose.values[k];
      if (here < Number(knob.min)) knob.min = here;
      if (here > Number(knob.max)) knob.max = here;
      if (k !== moving && !this.waiting.has(k)) knob.value = here;
      value.textContent = unit === "rad" ? `${said((180 * here) / Math.PI)}\u00B0` : withUnit(here, unit);
    });
    this.energy.textContent = `potential energy ${withUnit(pose.energy, "J")}`;
  }

  list(rest) {
    const rows = ((rest || {}).modes || []).map((mode) => [mode.moving + (mode.grows ? " (grows)" : ""), said(mode.frequency), said(mode.damping)]);
    this.more.replaceChildren(...(rows.length ? [make("h3", {}, "Motions around it"), table(["what moves", "frequency [rad/s]", "damping [1]"], rows)] : []));
  }

  lay(page) {
    const seconds = make("input", { type: "number", value: 10, min: 0, step: "any", "aria-label": "Seconds" });
    const button = (words, asked) => make("button", { type: "button", onclick: () => this.long(asked()) }, words);
    page.replaceChildren(
      make("header", {}, make("h1", {}, this.data.title), make("p", {}, this.data.words)),
      make("main", { class: "columns" },
        make("section", { class: "box", "aria-label": "In space" }, this.scene.box, this.player.bar),
        make("section", { class: "box", id: "panel", "aria-label": "Coordinates" },
          make("h3", {}, "Coordinates of joints"),
          this.sliders.length ? this.sliders.map(({ row }) => row) : make("p", { class: "pale" }, this.data.bends ? "Bodies that bend are not placed by sliders." : "No joint here has a coordinate."),
          make("p", { class: "pale" }, this.energy),
          make("div", { class: "row" }, button("Let go", () => ({ do: "let go", seconds: Number(seconds.value) })), make("label", {}, "for ", seconds, " s"),
            button("Settle", () => ({ do: "settle" })), button("Begin anew", () => ({ do: "begin anew" }))),
          this.words, this.more, this.player.below)));
    this.place(this.data.pose);
  }
}

// What can be chosen at a shape, and a button that flies it.
class Offer {
  constructor(study, node) {
    this.study = study;
    this.node = node;
    this.box = make("div", {});
    this.fill();
  }

  async fill() {
    try {
      const { pairs, potentials } = await ask({ do: "offer", node: this.node });
      const list = (label, words) => make("select", { "aria-label": label }, words.map((word) => make("option", { value: word }, word)));
      this.pairs = Object.entries(pairs).map(([pair, options]) => [pair, list(pair, options)]);
      this.potential = list("potential", potentials);
      this.box.replaceChildren(make("h3", {}, "Try a choice"),
        facts([...this.pairs, ["potential", this.potential]]),
        make("button", { type: "button", class: "fly", onclick: () => this.fly() }, "Fly it"), this.words = make("p", { role: "status" }));
    } catch (error) { this.box.replaceChildren(make("p", { class: "bad" }, error.message)); }
  }

  async fly() {
    this.words.textContent = "Flying ...";
    try {
      const options = Object.fromEntries(this.pairs.map(([pair, list]) => [pair, list.value]));
      const told = await ask({ do: "fly", node: this.node, options, potential: this.potential.value });
      this.study.replace(told);
    } catch (error) { this.words.textContent = error.message; }
  }
}
