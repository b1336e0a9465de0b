// A queue whose first element costs least; of those that cost the same, the one that came first.
class Queue {
  constructor() { this.heap = []; this.count = 0; }

  before(a, b) { return a.cost < b.cost || (a.cost === b.cost && a.number < b.number); }

  put(cost, value) {
    const heap = this.heap, one = { cost, value, number: this.count++ };
    let k = heap.push(one) - 1;
    for (let up; k > 0 && this.before(one, heap[up = (k - 1) >> 1]); k = up) heap[k] = heap[up];
    heap[k] = one;
  }

  take() {
    const heap = this.heap, first = heap[0], last = heap.pop();
    if (!heap.length) return first.value;
    let k = 0;
    for (let down; (down = 2 * k + 1) < heap.length; k = down) {
      if (down + 1 < heap.length && this.before(heap[down + 1], heap[down])) down += 1;
      if (!this.before(heap[down], last)) break;
      heap[k] = heap[down];
    }
    heap[k] = last;
    return first.value;
  }

  get empty() { return !this.heap.length; }
}

// Plans: the cheapest ways from one shape to another.  Energy is switched from what the step before has left stored, so
// ways are followed over shapes and the energy stored on arrival.
class Planner {
  constructor(data) {
    this.data = data;
    this.words = Object.keys(data.costs);
    this.known = {};
  }

  // The steps that leave each shape: cost after what the shape was first reached with, cost beside switching, and the
  // energies stored once the selection is made and at the end, which are zero where the cost knows none.
  leaving(word) {
    if (this.known[word]) return this.known[word];
    const steps = this.data.nodes.map(() => []);
    this.data.edges.forEach((edge, number) => {
      const cost = this.data.costs[word][number], target = edge.o[0].target;
      if (cost === null || target === null || target === edge.s) return;
      const [price, start, end] = word === "energy" ? this.data.energies[number] : [cost, 0, 0];
      steps[edge.s].push({ edge: number, target, first: cost, price, start, end });
    });
    return (this.known[word] = steps);
  }

  on(label, step) {
    const more = label.stored === null ? step.first : step.price + Math.max(0, step.start - label.stored);
    return { cost: label.cost + more, stored: step.end, node: step.target, step, before: label };
  }

  way(label) {
    const out = [];
    for (let at = label; at; at = at.before) out.unshift(at);
    return out;
  }

  // The cheapest way on from some ways to one shape, past none of some shapes and to none of others by its first step.
  cheapest(steps, begun, goal, without, never) {
    const queue = new Queue(), best = new Map(), roots = new Set(begun);
    for (const label of begun) queue.put(label.cost, label);
    while (!queue.empty) {
      const label = queue.take();
      if (label.node === goal) return label;
      if (label.stored !== null) {
        if (best.has(label.node) && label.stored <= best.get(label.node)) continue;
        best.set(label.node, label.stored);
      }
      const gone = new Set([...without, ...this.way(label).map((at) => at.node)]);
      for (const step of steps[label.node]) {
        if (gone.has(step.target) || (roots.has(label) && never.has(step.target))) continue;
        const on = this.on(label, step);
        if (!best.has(on.node) || on.stored > best.get(on.node)) queue.put(on.cost, on);
      }
    }
    return null;
  }

  // The ways along a row of shapes that none beats in both cost and energy left.
  along(steps, row) {
    let labels = [{ cost: 0, stored: null, node: row[0] }];
    for (const node of row.slice(1)) {
      const every = labels.flatMap((label) => steps[label.node].filter((step) => step.target === node).map((step) => this.on(label, step)));
      let most = -Infinity;
      labels = every.sort((a, b) => a.cost - b.cost).filter((label) => label.stored > most && ((most = label.stored), true));
    }
    return labels;
  }

  // The k cheapest ways without loops, one for each row of shapes (Yen).
  best(word, start, goal, k) {
    const steps = this.leaving(word), found = [], known = new Map(), row = (label) => this.way(label).map((at) => at.node);
    const note = (label) => { if (label && !known.has(row(label).join(">"))) known.set(row(label).join(">"), label); };
    note(this.cheapest(steps, [{ cost: 0, stored: null, node: start }], goal, [], new Set()));
    while (known.size && found.length < k) {
      const [name, next] = [...known].sort((a, b) => a[1].cost - b[1].cost)[0], last = row(next);
      known.delete(name);
      found.push(next);
      const rows = found.map(row);
      for (let end = 1; end < last.length && found.length < k; end++) {
        const root = last.slice(0, end), never = new Set();
        for (const other of rows) if (root.every((node, j) => other[j] === node)) never.add(other[end]);
        note(this.cheapest(steps, this.along(steps, root), goal, root.slice(0, -1), never));
      }
    }
    return found.map((label) => this.plan(word, label));
  }

  plan(word, label) {
    const way = this.way(label), edges = way.slice(1).map((at) => at.step.edge), totals = {};
    for (const name of this.words) totals[name] = edges.reduce((sum, edge) => sum + (this.data.costs[name][edge] ?? NaN), 0);
    let stored = null;
    totals.energy = edges.reduce((sum, edge) => {
      const [price, start, end] = this.data.energies[edge];
      const more = stored === null ? this.data.costs.energy[edge] : price + Math.max(0, start - stored);
      stored = end;
      return sum + more;
    }, 0);
    return { word, nodes: way.map((at) => at.node), edges, totals, shares: this.shares(edges, totals.energy) };
  }

  // Where the energy of a plan goes; switching is what neither loads and joints nor holding take.
  shares(edges, energy) {
    const all = (share) => edges.reduce((sum, edge) => sum + share(this.data.edges[edge].o[0]), 0);
    const driving = all((o) => Math.max(0, o.put_in || 0) + (o.changing || 0)), holding = all((o) => (o.holding || 0) * (o.duration || 0));
    return { switching: Math.max(0, energy - driving - holding), driving, holding, dissipated: all((o) => o.dissipated || 0) };
  }

  reachable(start) {
    const steps = this.leaving("switches" in this.data.costs ? "switches" : this.words[0]), seen = new Set([start]), waiting = [start];
    while (waiting.length) for (const { target } of steps[waiting.pop()]) if (!seen.has(target)) { seen.add(target); waiting.push(target); }
    seen.delete(start);
    return [...seen].sort((a, b) => a - b);
  }
}
