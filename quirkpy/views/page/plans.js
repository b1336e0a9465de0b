// Plans: the cheapest ways from one shape to another, by nodes.
class Planner {
  constructor(data) {
    this.data = data;
    this.words = Object.keys(data.costs);
    this.graphs = {};
  }

  // Of all edges between two shapes the cheapest, the first of those that cost the same.
  graph(word) {
    if (this.graphs[word]) return this.graphs[word];
    const ways = this.data.nodes.map(() => new Map());
    this.data.edges.forEach((edge, number) => {
      const cost = this.data.costs[word][number], target = edge.o[0].target;
      if (cost === null || target === null || target === edge.s) return;
      const known = ways[edge.s].get(target);
      if (!known || cost < known.cost) ways[edge.s].set(target, { cost, edge: number });
    });
    return (this.graphs[word] = ways);
  }

  // Dijkstra, around nodes and steps that are closed: nodes on the way, or null.
  shortest(ways, start, goal, closed, barred) {
    const far = new Map([[start, 0]]), from = new Map(), done = new Set(closed);
    while (true) {
      let node = null;
      for (const [key, cost] of far) if (!done.has(key) && (node === null || cost < far.get(node))) node = key;
      if (node === null) return null;
      if (node === goal) break;
      done.add(node);
      for (const [target, { cost }] of ways[node]) {
        if (done.has(target) || barred.has(`${node}>${target}`)) continue;
        const sum = far.get(node) + cost;
        if (!far.has(target) || sum < far.get(target)) { far.set(target, sum); from.set(target, node); }
      }
    }
    const path = [goal];
    while (path[0] !== start) path.unshift(from.get(path[0]));
    return path;
  }

  cost(ways, path) {
    let sum = 0;
    for (let k = 1; k < path.length; k++) sum += ways[path[k - 1]].get(path[k]).cost;
    return sum;
  }

  // The k cheapest ways without loops (Yen).
  best(word, start, goal, k) {
    const ways = this.graph(word), first = this.shortest(ways, start, goal, [], new Set());
    if (!first) return [];
    const found = [first], others = [];
    while (found.length < k) {
      const last = found[found.length - 1];
      for (let i = 0; i < last.length - 1; i++) {
        const root = last.slice(0, i + 1), barred = new Set();
        for (const path of found) if (root.every((node, j) => path[j] === node)) barred.add(`${path[i]}>${path[i + 1]}`);
        const spur = this.shortest(ways, last[i], goal, root.slice(0, -1), barred);
        if (!spur) continue;
        const path = root.slice(0, -1).concat(spur), name = path.join(">");
        if (!others.some((other) => other.name === name)) others.push({ name, path, cost: this.cost(ways, path) });
      }
      if (!others.length) break;
      others.sort((a, b) => a.cost - b.cost);
      found.push(others.shift().path);
    }
    return found.map((path) => this.plan(word, ways, path));
  }

  plan(word, ways, path) {
    const edges = path.slice(1).map((node, k) => ways[path[k]].get(node).edge), totals = {};
    for (const name of this.words) totals[name] = edges.reduce((sum, edge) => sum + (this.data.costs[name][edge] ?? NaN), 0);
    return { word, nodes: path, edges, totals };
  }

  reachable(start) {
    const ways = this.graph("switches" in this.data.costs ? "switches" : this.words[0]), seen = new Set([start]), waiting = [start];
    while (waiting.length) for (const target of ways[waiting.pop()].keys()) if (!seen.has(target)) { seen.add(target); waiting.push(target); }
    seen.delete(start);
    return [...seen].sort((a, b) => a - b);
  }
}
