// The page of a study.

// How long an outcome moves, without its waiting near unstable rests [s].
const moving = (outcome) => (outcome.leavings || []).reduce((left, leaving) => left - leaving[1], outcome.duration || 0);

class Study {
  constructor(data) {
    this.data = data;
    const energies = data.edges.map(() => null);
    data.energies.forEach((three, k) => { energies[data.costs.of[k]] = three; });
    data.energies = energies;
    for (const [word, costs] of Object.entries(data.costs)) {
      if (word === "of") continue;
      data.costs[word] = data.edges.map(() => null);
      costs.forEach((cost, k) => { data.costs[word][data.costs.of[k]] = cost; });
    }
    delete data.costs.of;
    for (const edge of data.edges) {
      edge.j = Array.from({ length: edge.j.length / 2 }, (_, k) => edge.j.slice(2 * k, 2 * k + 2));
      edge.o = edge.o.map((outcome) => ({ kind: edge.k, target: null, ...outcome, reason: data.tables.reasons[outcome.reason] }));
    }
    this.unpacked = new Map();
    this.planner = new Planner(data);
    this.panels = new Panels(this);
    this.scene = new Scene(data);
    this.player = new Player(this.scene);
    this.net = new Net(data, this.ways(), (what) => this.choose(what));
    this.panel = make("section", { class: "box", id: "panel", "aria-live": "polite", "aria-label": "What is chosen" });
    window.quirkpyBeside = (motions) => { Object.assign(this.data.motions, motions); };
    window.addEventListener("hashchange", () => this.panel.isConnected && this.follow());
  }

  // All arrows: pairs of shapes with the edges between them, the quickest first.
  ways() {
    const found = new Map();
    this.data.edges.forEach((edge, number) => edge.o.forEach((outcome) => {
      if (outcome.target === null || outcome.target === edge.s) return;
      const key = `${edge.s}>${outcome.target}`;
      if (!found.has(key)) found.set(key, { source: edge.s, target: outcome.target, edges: [] });
      if (!found.get(key).edges.includes(number)) found.get(key).edges.push(number);
    }));
    return [...found.values()].map((way) => {
      way.edges.sort((a, b) => (this.data.edges[a].k === "moved" ? 0 : 1) - (this.data.edges[b].k === "moved" ? 0 : 1) || moving(this.data.edges[a].o[0]) - moving(this.data.edges[b].o[0]));
      const first = this.data.edges[way.edges[0]], time = said(moving(first.o[0])), names = [way.source, way.target].map((k) => called(this.data.nodes[k]));
      way.certain = way.edges.some((edge) => this.data.edges[edge].k === "moved");
      way.label = `${this.data.tables.potentials[first.u]}, ${time} s`;
      way.words = `from ${names[0]} to ${names[1]}: ${way.edges.length} ${way.edges.length === 1 ? "choice" : "choices"}, in ${time} s${way.certain ? "" : ", not for certain"}`;
      return way;
    });
  }

  between(edge) {
    const way = this.net.ways.find((one) => one.source === edge.s && one.target === edge.o[0].target);
    return way ? way.edges : [];
  }

  motion(number, k) {
    const packed = (this.data.motions[number] || [])[k];
    if (!packed) return null;
    const key = `${number}.${k}`;
    if (!this.unpacked.has(key)) this.unpacked.set(key, unpacked(packed));
    return this.unpacked.get(key);
  }

  play(number, k, begin) {
    const motion = this.motion(number, k);
    if (motion) this.player.show(motion, begin); else if (this.data.live && this.data.edges[number].o[k].duration) this.wait(number, k, begin); else { const node = this.data.nodes[this.data.edges[number].s]; this.player.rest({ r: node.r, q: node.q }); }
  }

  // Ask for the motions of a choice, and show one of them.
  async wait(number, k, begin) {
    const node = this.data.nodes[this.data.edges[number].s];
    this.player.rest({ r: node.r, q: node.q });
    this.asked = number;
    try {
      this.data.motions[number] = (await ask({ do: "motion", edge: number })).motion;
      if (this.asked !== number || !this.motion(number, k)) return;
      this.player.show(this.motion(number, k), begin);
      this.player.ended = this.onwardsFrom;
    } catch (error) { this.panel.append(make("p", { class: "bad", role: "alert" }, error.message)); }
  }

  // What is known once a choice was flown.
  replace({ data, edge, motion }) {
    const study = new Study({ ...data, motions: { ...this.data.motions, [edge]: motion } });
    study.lay(document.getElementById("page"));
    setTimeout(() => study.choose({ edge }), 50);
  }

  // Read the file beside the page, as a script, for a page from a disk may read nothing else.
  fetch(number, k) {
    const script = make("script", { src: this.data.side });
    script.onload = () => { this.choose({ edge: number }); this.play(number, k, true); };
    script.onerror = () => this.panel.append(make("p", { class: "bad", role: "alert" }, `${this.data.side} is not beside this page.`));
    document.head.append(script);
  }

  // --- choosing
  choose(what, keep) {
    clearTimeout(this.onwards);
    this.asked = this.onwardsFrom = null;
    let words;
    if (what.plan) {
      this.net.mark(what.plan.nodes, what.plan.edges, true);
      this.fly(what.plan, what.step || 0);
      words = this.panels.edge(what.plan.edges[what.step || 0]);
    } else if (what.edge !== undefined) {
      const edge = this.data.edges[what.edge], ends = [edge.s, ...edge.o.map((outcome) => outcome.target)].filter((k) => k !== null);
      this.net.mark(ends, this.between(edge).length ? this.between(edge) : [what.edge], false);
      this.play(what.edge, 0, true);
      words = this.panels.edge(what.edge);
      this.address = `#e${what.edge}`;
    } else {
      const node = this.data.nodes[what.node];
      this.net.mark([what.node], this.net.ways.filter((way) => way.source === what.node).flatMap((way) => way.edges), false);
      this.player.rest({ r: node.r, q: node.q });
      words = this.panels.node(what.node);
      this.address = `#${node.key}`;
    }
    this.panel.replaceChildren(...words.filter((part) => part !== null));
    if (!keep && !what.plan) history.replaceState(null, "", this.address);
    if (!keep && !what.step && window.matchMedia("(max-width: 860px)").matches) this.view.scrollIntoView({ block: "start" });
  }

  // The motions of a plan, one after the other.
  fly(plan, step) {
    this.play(plan.edges[step], 0, true);
    this.onwardsFrom = null;
    this.player.ended = this.onwardsFrom = step + 1 < plan.edges.length ? () => { this.onwards = setTimeout(() => this.choose({ plan, step: step + 1 }), 400); } : null;
  }

  follow() {
    const asked = decodeURIComponent(location.hash.slice(1)), edge = /^e(\d+)$/.exec(asked);
    const node = this.data.nodes.findIndex((one) => one.key === asked || one.name === asked);
    if (edge && Number(edge[1]) < this.data.edges.length) this.choose({ edge: Number(edge[1]) }, true);
    else this.choose({ node: Math.max(node, 0) }, true);
  }

  // --- the page
  lay(page) {
    const kinds = {};
    for (const edge of this.data.edges) kinds[edge.k] = (kinds[edge.k] || 0) + 1;
    const counts = Object.entries(kinds).sort().map(([kind, n]) => `${n} ${kind}`).join(", ");
    this.view = make("section", { class: "box", "aria-label": "In space" }, this.scene.box, this.player.bar, this.player.below);
    const tabs = [["Graph", this.net.box], ["Shapes", this.shapes()], ["Choices", this.choices()], ["Assumptions", this.assumptions()]];
    const bodies = tabs.map(([name, body], k) => make("div", { role: "tabpanel", id: `tab${k}`, "aria-label": name, hidden: k > 0 }, body));
    const buttons = tabs.map(([name], k) => make("button", { type: "button", role: "tab", "aria-selected": String(k === 0), "aria-controls": `tab${k}`, onclick: () => {
      buttons.forEach((button, j) => { button.setAttribute("aria-selected", String(j === k)); bodies[j].hidden = j !== k; });
    } }, name));
    page.replaceChildren(
      make("header", {}, make("h1", {}, this.data.title), make("p", {}, `${counted(this.data.nodes.length, "shape")}, ${counted(this.data.edges.length, "choice")} tried (${counts}), ${said(100 * this.data.coverage)} % of all at these shapes`)),
      make("main", { class: "columns" },
        make("div", {}, make("section", { class: "box", "aria-label": "Search" }, this.search()), make("section", { class: "box", "aria-label": "Plan" }, this.planning()),
          make("section", { class: "box", "aria-label": "The study" }, make("div", { class: "row", role: "tablist" }, buttons), ...bodies)),
        make("div", { class: "sticky" }, this.view, this.panel)));
    requestAnimationFrame(() => setTimeout(() => this.follow())); // the graph is to be seen before the bodies are
  }

  // What the study takes for granted.
  assumptions() {
    return make("div", { class: "scroll" }, this.data.assumed.filter(([, lines]) => lines.length).map(([name, lines]) => [make("h3", {}, name), make("ul", {}, lines.map((line) => make("li", {}, line)))]).flat());
  }

  search() {
    const hits = make("ul", { class: "hits" });
    const field = make("input", { type: "search", placeholder: "a name, a pair, a potential, a reason ...", "aria-label": "Search shapes and choices", oninput: () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean), found = [];
      if (words.length) {
        this.data.nodes.forEach((node, k) => { if (words.every((word) => this.wordsOf(node).includes(word))) found.push([{ node: k }, `shape ${called(node)}, ${node.verdict}`]); });
        this.data.edges.forEach((edge, k) => { if (words.every((word) => this.wordsOfEdge(edge).includes(word))) found.push([{ edge: k }, `${called(this.data.nodes[edge.s])} to ${this.panels.to(edge)}: ${this.panels.line(edge)}`]); });
      }
      hits.replaceChildren(...found.slice(0, 40).map(([what, text]) => make("li", {}, this.panels.link(what, text))),
        ...(words.length ? [make("li", { class: "pale", role: "status" }, found.length > 40 ? `and ${found.length - 40} more` : found.length ? "" : "nothing has all of these words")] : []));
    } });
    return make("div", {}, make("div", { class: "row" }, field), hits);
  }

  wordsOf(node) { return [node.key, node.name, node.id, node.verdict, node.reason, node.potential, ...node.links.flat()].join(" ").toLowerCase(); }

  wordsOfEdge(edge) {
    const ends = [edge.s, ...edge.o.map((outcome) => outcome.target)].filter((k) => k !== null).map((k) => `${this.data.nodes[k].key} ${this.data.nodes[k].name || ""}`);
    return [edge.k, this.panels.line(edge), ...ends, ...edge.o.map((outcome) => `${outcome.reason} ${(outcome.parts || []).join(" ")}`)].join(" ").toLowerCase();
  }

  planning() {
    const nodes = (label, first) => make("select", { "aria-label": label }, this.data.nodes.map((node, k) => make("option", { value: k, selected: k === first }, node.name ? `${node.name} (${node.key})` : node.key)));
    const start = nodes("Start", 0), goal = nodes("Goal", Math.min(1, this.data.nodes.length - 1));
    const by = make("select", { "aria-label": "By" }, this.planner.words.map((word) => make("option", { value: word }, word)));
    const out = make("ul", { class: "plans", "aria-live": "polite" });
    const find = () => {
      const [from, to] = [Number(start.value), Number(goal.value)], plans = from === to ? [] : this.planner.best(by.value, from, to, 3);
      out.replaceChildren(...plans.map((plan, k) => this.plan(plan, k)));
      if (plans.length) return this.choose({ plan: plans[0] });
      out.append(make("li", { role: "status" }, from === to ? "Start and goal are the same shape." : `${called(this.data.nodes[to])} cannot be reached from ${called(this.data.nodes[from])}${by.value === "risk" ? " along edges of known robustness; graph.robustness(edge) finds it" : " for certain"}.`));
      this.net.mark([from, to], [], false);
    };
    return make("div", {}, make("div", { class: "row" }, make("label", {}, "from ", start), make("label", {}, "to ", goal), make("label", {}, "by ", by),
      make("button", { type: "button", onclick: find }, "Find the best plans")), out);
  }

  plan(plan, k) {
    const words = { energy: (sum) => `energy ${withUnit(sum, "J")}`, time: (sum) => `time ${withUnit(sum, "s")}`, risk: (sum) => `succeeds with a probability of at least ${said(Math.exp(-sum))}` };
    const shares = Object.entries(plan.shares).map(([word, sum]) => `${word} ${withUnit(sum, "J")}`).join(", ");
    const totals = Object.entries(plan.totals).filter(([, sum]) => Number.isFinite(sum)).map(([word, sum]) => (words[word] ? words[word](sum) : `${said(sum)} ${sum === 1 ? word.replace(/es$/, "") : word}`)).join(", ");
    return make("li", {}, make("button", { type: "button", class: "plain", onclick: () => this.choose({ plan }) }, `${k + 1}. ${plan.nodes.map((node) => called(this.data.nodes[node])).join(" \u2192 ")}`),
      make("div", { class: "pale" }, totals), make("div", { class: "pale" }, shares),
      plan.edges.length > 1 ? make("div", {}, plan.edges.map((edge, step) => [make("button", { type: "button", class: "plain", onclick: () => this.choose({ plan, step }) }, `step ${step + 1}`), " "]).flat()) : null);
  }

  shapes() {
    return table(["shape", "verdict", "energy [J]", "slowest [rad/s]", "why"], this.data.nodes.map((node, k) => [
      this.panels.link({ node: k }, called(node)), node.verdict, said(node.energy), said(node.frequencies.find((value) => value > 0) ?? null), node.reason]));
  }

  // All choices; what is shown can be narrowed by kind and sorted by a column.
  choices() {
    const columns = [["from", (edge) => edge.s], ["to", (edge) => this.panels.to(edge)], ["kind", (edge) => edge.k], ["time [s]", (edge) => moving(edge.o[0])],
      ["switched [J]", (edge) => edge.o[0].switching || 0], ["m/s", (edge) => edge.o[0].peak_speed || 0], ["choice or reason", (edge) => this.panels.line(edge)]];
    const kinds = [...new Set(this.data.edges.map((edge) => edge.k))].sort(), body = make("tbody", {}), more = make("button", { type: "button", onclick: () => { most += 300; fill(); } }, "Show more");
    let kind = "", by = null, falling = false, most = 100;
    const fill = () => {
      let rows = this.data.edges.map((_, k) => k).filter((k) => !kind || this.data.edges[k].k === kind);
      if (by) rows.sort((a, b) => { const [x, y] = [by(this.data.edges[a]), by(this.data.edges[b])]; return (falling ? -1 : 1) * (x < y ? -1 : x > y ? 1 : a - b); });
      more.hidden = rows.length <= most;
      body.replaceChildren(...rows.slice(0, most).map((k) => {
        const edge = this.data.edges[k], first = edge.o[0], number = (value) => make("td", { class: "number" }, value ? said(value) : "");
        return make("tr", {}, make("td", {}, called(this.data.nodes[edge.s])), make("td", {}, this.panels.to(edge)), make("td", { class: TONES[edge.k] }, edge.k),
          number(moving(first)), number(first.switching), number(first.peak_speed),
          make("td", {}, this.panels.link({ edge: k }, this.panels.line(edge)), ["moved", "stayed"].includes(edge.k) ? null : ` ${first.reason}`));
      }));
    };
    const select = make("select", { "aria-label": "Kind", onchange: () => { kind = select.value; fill(); } }, make("option", { value: "" }, "all kinds"), kinds.map((word) => make("option", { value: word }, word)));
    const heads = columns.map(([name, value], k) => make("th", { scope: "col", class: k > 2 && k < 6 ? "number" : null }, make("button", { type: "button", onclick: () => { falling = by === value && !falling; by = value; fill(); } }, name)));
    fill();
    return make("div", {}, make("div", { class: "row" }, make("label", {}, "show ", select)), make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, heads)), body)), more);
  }
}
