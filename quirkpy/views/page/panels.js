// What is said of a shape and of a choice.
const UNITS = { duration: "s", switching: "J", holding: "W", dissipated: "J", put_in: "J", lost: "J", peak_speed: "m/s", peak_load: "N or N m", clearance: "m", t: "s", start_energy: "J", end_energy: "J" };
const MEANINGS = {
  duration: "time", start_energy: "energy stored at the start", end_energy: "energy stored at the end", switching: "work of switching", holding: "power to hold it", dissipated: "taken by dampers", put_in: "put in by loads",
  lost: "taken by joints that took hold", peak_speed: "highest speed", peak_load: "highest joint load", clearance: "least clearance",
  t: "rejected at", parts: "by", nudge: "left by a nudge", evaluations: "evaluations", contacts: "locked on the way",
};
const TONES = { moved: "good", stayed: "pale", ambiguous: "warn", rejected: "bad", jammed: "bad", "never settles": "warn", failed: "bad", stable: "good", unstable: "bad", marginal: "warn" };

const badge = (word) => make("span", { class: `badge ${TONES[word] || "pale"}` }, word);

function table(heads, rows, properties) {
  const numbers = heads.map((head) => head.endsWith("]"));
  return make("div", { class: "scroll" }, make("table", properties || {},
    make("thead", {}, make("tr", {}, heads.map((head, k) => make("th", { scope: "col", class: numbers[k] ? "number" : null }, head)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, k) => make("td", { class: numbers[k] ? "number" : null }, cell)))))));
}

const facts = (pairs) => make("table", { class: "facts" }, make("tbody", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
  .map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)))));

const counted = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
const withUnit = (value, unit) => `${said(value)} ${unit}`;

class Panels {
  constructor(study) { this.study = study; this.data = study.data; }

  link(what, words) {
    return make("button", { type: "button", class: "plain", onclick: () => this.study.choose(what) }, words);
  }

  selection(edge) {
    const { pairs, options } = this.data.tables;
    return edge.j.map(([pair, option]) => [pairs[pair], options[option]]);
  }

  // A choice in a line: what is held, and the potential.
  line(edge) {
    const held = this.selection(edge).filter(([, option]) => option !== "free").map(([pair, option]) => `${pair} ${option}`);
    return `${held.join(", ") || "nothing held"}; potential ${this.data.tables.potentials[edge.u]}`;
  }

  to(edge) {
    const targets = [...new Set(edge.o.map((outcome) => (outcome.target === null ? outcome.kind : called(this.data.nodes[outcome.target]))))];
    return targets.join(" or ");
  }

  // Where a choice leads, as words and links; nothing where it leads nowhere.
  ends(edge) {
    const targets = [...new Set(edge.o.map((outcome) => outcome.target))].filter((target) => target !== null);
    return targets.flatMap((target, k) => [k ? " or " : " to ", this.link({ node: target }, called(this.data.nodes[target]))]);
  }

  // --- a shape
  node(k) {
    const node = this.data.nodes[k], reach = this.study.planner.reachable(k);
    return [
      make("h2", {}, `Shape ${called(node)} `, badge(node.verdict)),
      make("p", {}, `Why it rests here: ${node.reason}.`),
      facts([
        ["number, id", `${node.key}, ${node.id.slice(0, 12)}`], ["energy", withUnit(node.energy, "J")],
        ["first reached under", node.potential === null ? "nothing: the start" : `potential ${node.potential}`],
        ["holds together", node.links.length ? node.links.map(([pair, option]) => `${pair}: ${option}`).join("; ") : "nothing"],
        ["leads on to", reach.length ? [`${reach.length} of ${this.data.nodes.length - 1} others: `, ...reach.slice(0, 12).map((other) => [this.link({ node: other }, called(this.data.nodes[other])), " "]).flat(), reach.length > 12 ? "..." : ""] : "no other shape"],
      ]),
      this.data.live ? new Offer(this.study, node.key).box : null,
      ...this.modes(node), ...this.forces(node), ...this.leaving(k),
    ];
  }

  modes(node) {
    const modes = node.modes || [];
    const head = make("h3", {}, "Motions around it");
    const free = node.free ? make("p", { class: "pale" }, `${node.free} motions that no force sees: the whole drifts or turns.`) : null;
    if (!modes.length) return [head, make("p", {}, node.free ? "None of the parts can move beside each other." : "None: nothing in it can move."), free];
    const rows = modes.map((mode) => [
      make("button", { type: "button", class: "plain", onclick: () => this.study.player.sway({ r: node.r, q: node.q }, mode.shape, 2.5) }, "show"),
      mode.moving + (mode.grows ? " (grows)" : ""),
      said(mode.frequency), said(mode.period), said(mode.damping),
    ]);
    return [head, table(["", "what moves", "frequency [rad/s]", "period [s]", "damping [1]"], rows), free];
  }

  forces(node) {
    if (!node.forces || !node.forces.length) return [];
    const vector = (values) => values.map(said).join(", ");
    const rows = node.forces.map(([body, source, load, note]) => [body, source + (note ? ` (${note})` : ""), vector(load.slice(0, 3)), vector(load.slice(3))]);
    return [make("h3", {}, "What pulls on it, in the axes x, y, z"), table(["on", "from", "force [N]", "torque about its mass centre [N m]"], rows)];
  }

  leaving(k) {
    const groups = new Map();
    this.data.edges.forEach((edge, number) => { if (edge.s === k) groups.set(edge.k, [...(groups.get(edge.k) || []), number]); });
    return [make("h3", {}, "What each choice makes of it"), ...["moved", "ambiguous", "rejected", "jammed", "never settles", "failed", "stayed"].filter((kind) => groups.has(kind)).map((kind) => {
      const found = groups.get(kind);
      return make("details", { open: kind === "moved" }, make("summary", {}, badge(kind), ` ${found.length}`),
        make("ul", { class: "hits" }, found.slice(0, 60).map((number) => {
          const edge = this.data.edges[number];
          return make("li", {}, this.link({ edge: number }, `${kind === "moved" || kind === "ambiguous" ? `to ${this.to(edge)}: ` : ""}${this.line(edge)}`));
        }), found.length > 60 ? make("li", { class: "pale" }, `and ${found.length - 60} more, in the table of choices`) : null));
    })];
  }

  // --- a choice
  edge(number) {
    const edge = this.data.edges[number], source = this.data.nodes[edge.s];
    const alike = this.study.between(edge);
    return [
      make("h2", {}, "From ", this.link({ node: edge.s }, called(source)), ...this.ends(edge), " ", badge(edge.k)),
      edge.k === "moved" ? make("p", {}, make("strong", {}, "Robustness: "), edge.robust || make("span", { class: "pale" }, "not known; graph.robustness(edge) flies it many times.")) : null,
      make("h3", {}, "What is chosen"),
      facts([...this.selection(edge), ["potential", this.data.tables.potentials[edge.u]]]),
      ...edge.o.flatMap((outcome, k) => this.outcome(edge, number, outcome, k)),
      ...(alike.length > 1 ? [make("details", {}, make("summary", {}, `${alike.length} choices lead the same way`), make("ul", { class: "hits" },
        alike.slice(0, 60).map((other) => make("li", {}, other === number ? make("strong", {}, this.line(edge)) : this.link({ edge: other }, this.line(this.data.edges[other]))))))] : []),
    ];
  }

  outcome(edge, number, outcome, k) {
    const several = edge.o.length > 1;
    const shown = Object.keys(MEANINGS).filter((name) => name in outcome && !["parts", "nudge", "contacts"].includes(name));
    const rows = shown.map((name) => [MEANINGS[name], UNITS[name] ? withUnit(outcome[name], UNITS[name]) : said(outcome[name])]);
    const others = Object.keys(outcome).filter((name) => !(name in MEANINGS) && !["kind", "target", "reason", "leavings"].includes(name));
    rows.push(...others.map((name) => [name.replace(/_/g, " "), typeof outcome[name] === "number" ? said(outcome[name]) : JSON.stringify(outcome[name])]));
    if (outcome.parts) rows.push([MEANINGS.parts, outcome.parts.join(", ")]);
    if (outcome.nudge) rows.push([MEANINGS.nudge, `${said(outcome.nudge[0])} along direction ${outcome.nudge[1]}`]);
    for (const [t, waiting, growth, bodies] of outcome.leavings || []) rows.push(["of that, near an unstable rest", `${said(waiting)} s from ${said(t)} s on: ${bodies.join(", ")} left it at ${said(growth)} 1/s`]);
    if (outcome.contacts) rows.push([MEANINGS.contacts, outcome.contacts.map(([t, pair]) => `${pair} at ${said(t)} s`).join("; ")]);
    for (const [word, costs] of Object.entries(this.data.costs)) if (costs[number] !== null && !["time", "switches", "risk"].includes(word)) rows.push([`${word}, as plans count it`, withUnit(costs[number], word === "energy" ? "J" : "")]);
    const where = outcome.target === null ? outcome.kind : `${outcome.kind}, at ${called(this.data.nodes[outcome.target])}`;
    return [
      make("h3", {}, several ? `Outcome ${k + 1} of ${edge.o.length}: ${where}` : ["moved", "stayed"].includes(outcome.kind) ? "What comes of it" : "Why not"),
      make("p", {}, `${["moved", "stayed"].includes(outcome.kind) ? "It rests: " : ""}${outcome.reason}.`), facts(rows), this.play(number, outcome, k, several),
    ];
  }

  // What plays a motion, or says where it is.
  play(number, outcome, k, several) {
    if (!outcome.duration || (this.data.live && !several)) return null;
    if (this.data.live) return make("button", { type: "button", onclick: () => this.study.play(number, k, true) }, "Play this outcome");
    if (this.study.motion(number, k)) return several ? make("button", { type: "button", onclick: () => this.study.play(number, k, true) }, "Play this outcome") : null;
    if (this.data.beside.includes(number)) return make("button", { type: "button", onclick: () => this.study.fetch(number, k) }, `Fetch its motion from ${this.data.side}`);
    return make("p", { class: "pale" }, "Its motion is not in this page; graph.report(..., side=\"motions.js\") writes it beside.");
  }
}
