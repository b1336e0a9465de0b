"""Answers from a graph: plans, what can be reached, what every route passes through, the table that flies.

What a step of a plan costs in energy depends on the step before: switching changes the potential energy from that of
the joints and the potential that hold and act there, not of those under which the shape was first reached.  So a route
is followed over (node, energy stored on arrival), and not over nodes alone.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from quirkpy.explore.choices import Choice
from quirkpy.parts.checks import shown
from quirkpy.parts.files import ending_of, write_text
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    import networkx

    from quirkpy.explore.graph import Edge, Outcome, ReconfigurationGraph
    from quirkpy.explore.study import Study

#: What a plan may be cheapest in, by word.
CostWord: TypeAlias = Literal["energy", "time", "switches", "risk"]
Cost: TypeAlias = "CostWord | Callable[[Edge], float]"
COST_WORDS: tuple[str, ...] = get_args(CostWord)
#: Energies stored that differ by no more than this share of the largest one in the graph are the same.
SAME_ENERGY = 1e-12


# --- what a step costs ------------------------------------------------------------------------------------------------
def supplied(outcome: Any) -> float:
    """What the spacecraft supplies for a motion [J] that follows what the node was first reached with: the work of
    switching, where it is not given back, and what `supplied_in_motion` says."""
    return max(0.0, float(outcome.switching)) + supplied_in_motion(outcome)


def supplied_in_motion(outcome: Any) -> float:
    """What the spacecraft supplies while a motion lasts [J]: what loads put in, and the power that forces state."""
    return max(0.0, float(outcome.put_in)) + float(outcome.holding * outcome.duration)


def time_of(study: Study | None, outcome: Outcome) -> float:
    """How long a motion counts [s]: without the waiting near unstable rests, which follows from the nudge; or with the
    waiting that a disturbance of the size that the study states would leave."""
    disturbance = None if study is None else study.disturbance
    if study is None or disturbance is None:
        return outcome.moving
    later = math.log(study.nudge / disturbance) if study.nudge else 0.0
    return outcome.moving + math.fsum(max(0.0, at.waiting + later / at.growth) for at in outcome.leavings)


def risk(edge: Edge) -> float:
    """Minus the logarithm of the probability that a step succeeds, at the lower end of its interval; infinite where
    that is not known."""
    low = 0.0 if edge.robustness is None else edge.robustness.interval()[0]
    return -math.log(low) if low > 0.0 else math.inf


def price(study: Study | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """What a step costs whatever comes before it; in energy, beside the work of switching."""
    if callable(cost):
        return float(cost(edge))
    prices: dict[str, Callable[[], float]] = {
        "energy": lambda: supplied_in_motion(outcome), "time": lambda: time_of(study, outcome),
        "switches": lambda: 1.0, "risk": lambda: risk(edge),
    }  # fmt: skip
    return prices[cost]()


def price_of(study: Study | None, cost: Any, edge: Edge, outcome: Outcome) -> float:
    """What an edge costs after what its source was first reached with."""
    return supplied(outcome) if cost == "energy" else price(study, cost, edge, outcome)


class Step(NamedTuple):
    """An edge as a step of routes: where it leads, by which outcome, what it costs whatever comes before (see `price`)
    and after what its source was first reached with; the potential energy once its selection is made, and at its end
    [J], both zero where the cost knows no energy."""

    edge: Any
    target: str
    outcome: Any
    price: float
    first: float
    start: float = 0.0
    end: float = 0.0

    def after(self, stored: float) -> float:
        """What it costs where so much energy is stored before [J]."""
        return self.price + max(0.0, self.start - stored)


@dataclass(frozen=True)
class Plan(Sequence["Edge"]):
    """A route through the graph: edges one after the other, and what they cost.

    nodes: those on the way, both ends included.  energies [J], times [s]: what the spacecraft supplies for each step,
    switched from what the step before has left; how long each takes (see `Study.disturbance`).  energy, time: of all.
    switches: how many selections; probability that all steps succeed, None where that of one is not known.
    """

    edges: tuple[Any, ...]
    cost: float
    nodes: tuple[str, ...] = ()
    energies: tuple[float, ...] = ()
    times: tuple[float, ...] = ()

    @property
    def energy(self) -> float:
        """What the spacecraft supplies [J]."""
        return math.fsum(self.energies)

    @property
    def time(self) -> float:
        """How long the motions take [s]."""
        return math.fsum(self.times)

    @property
    def switches(self) -> int:
        """How many selections are made."""
        return len(self.edges)

    @property
    def probability(self) -> float | None:
        """The product of the estimates for its steps."""
        known = [edge.robustness.probability for edge in self.edges if edge.robustness is not None]
        return math.prod(known) if len(known) == len(self.edges) else None

    def __getitem__(self, k: Any) -> Any:
        return self.edges[k]

    def __len__(self) -> int:
        return len(self.edges)

    def __str__(self) -> str:
        lines = [f"{' -> '.join(self.nodes)}: {self.energy:.5g} J, {self.time:.5g} s, {self.switches} switches"]
        ends = itertools.pairwise(self.nodes)
        lines += [f"  {one} -> {two}: {edge.selection}" for (one, two), edge in zip(ends, self.edges, strict=True)]
        return "\n".join(lines)


def plan_of(study: Study | None, steps: Sequence[Step], cost: float, start: str) -> Plan:
    """A plan of some steps, one after the other."""
    energies, before = [], None
    for step in steps:
        o = step.outcome
        work = o.switching if before is None or None in (o.start_energy, before) else o.start_energy - before
        energies.append(max(0.0, work) + supplied_in_motion(o))
        before = o.end_energy
    nodes = (start, *(step.target for step in steps))
    times = tuple(time_of(study, step.outcome) for step in steps)
    return Plan(tuple(step.edge for step in steps), cost, nodes, tuple(energies), times)


# --- routes -----------------------------------------------------------------------------------------------------------
def steps(graph: ReconfigurationGraph, ambiguous: bool) -> Iterator[tuple[str, str, Any, Any]]:
    """Edges that lead somewhere else: source, target, edge and the first outcome that leads there; where several
    outcomes are possible only when asked."""
    for edge in graph.edges:
        if edge.kind == "moved" or (edge.kind == "ambiguous" and ambiguous):
            seen = {edge.source, None}
            for outcome in edge.outcomes:
                if outcome.target not in seen:
                    seen.add(outcome.target)
                    yield edge.source, str(outcome.target), edge, outcome


def check_cost(cost: Any) -> None:
    """Refuse what is no cost."""
    if not (callable(cost) or cost in COST_WORDS):
        raise PartError(
            f"plan: cost is {shown(cost)}, but must be one of {', '.join(map(repr, COST_WORDS))}, or a function."
        )


class Label(NamedTuple):
    """A way to a node: what it has cost, the energy stored there [J] (None: that with which the node was first
    reached), the node, the last step, and the label before it."""

    cost: float
    stored: float | None
    node: str
    step: Step | None = None
    before: Label | None = None

    def on(self, step: Step) -> Label:
        """The way that goes on by a step."""
        more = step.first if self.stored is None else step.after(self.stored)
        return Label(self.cost + more, step.end, step.target, step, self)

    def way(self) -> list[Label]:
        """The labels on the way, the first one first."""
        out, label = [], self
        while label.before is not None:
            out.append(label)
            label = label.before
        return [label, *reversed(out)]

    def nodes(self) -> list[str]:
        """The nodes on the way, the first one first."""
        return [label.node for label in self.way()]

    def steps(self) -> list[Step]:
        """The steps on the way."""
        return [label.step for label in self.way() if label.step is not None]


class Routes:
    """All steps of a graph, priced by one cost, and the cheapest ways along them."""

    def __init__(self, graph: ReconfigurationGraph, cost: Any, ambiguous: bool) -> None:
        check_cost(cost)
        self.graph = graph
        self.leaving: dict[str, list[Step]] = {key: [] for key in graph.nodes}
        for source, target, edge, outcome in steps(graph, ambiguous):
            value = price(graph.study, cost, edge, outcome)
            if not value >= 0.0:
                raise PartError(f"plan: the cost of {edge!r} is {value}, but must be a number from 0 up.")
            if value < math.inf:
                self.leaving[source].append(_step(cost, edge, target, outcome, value))
        every = [abs(step.end) for found in self.leaving.values() for step in found]
        self.same = SAME_ENERGY * max(every, default=0.0)

    def cheapest(
        self, begun: Iterable[Label], goal: str, without: Collection[str] = (), never_next: Collection[str] = ()
    ) -> Label | None:
        """The cheapest way on from some ways to one node, as far as a goal, past no node of some and to none of others
        by its first step (label setting; a label is dropped where another has cost no more and left no less)."""
        count = itertools.count()
        queue = [(label.cost, next(count), label) for label in begun]
        roots = {id(label) for _, _, label in queue}
        heapq.heapify(queue)
        best: dict[str, float] = {}
        while queue:
            _, _, label = heapq.heappop(queue)
            if label.node == goal:
                return label
            if label.stored is not None:
                if label.stored <= best.get(label.node, -math.inf) + self.same:
                    continue
                best[label.node] = label.stored
            gone = {*without, *label.nodes()}
            barred = gone.union(never_next) if id(label) in roots else gone
            for step in self.leaving[label.node]:
                if step.target not in barred:
                    on = label.on(step)
                    if on.stored is None or on.stored > best.get(on.node, -math.inf) + self.same:
                        heapq.heappush(queue, (on.cost, next(count), on))
        return None

    def along(self, nodes: Sequence[str]) -> list[Label]:
        """The ways along a row of nodes that none beats in both cost and energy left."""
        labels = [Label(0.0, None, nodes[0])]
        for node in nodes[1:]:
            every = [label.on(step) for label in labels for step in self.leaving[label.node] if step.target == node]
            labels, most = [], -math.inf
            for label in sorted(every, key=lambda label: label.cost):
                if label.stored is not None and label.stored > most + self.same:
                    labels.append(label)
                    most = label.stored
        return labels

    def best(self, start: str, goal: str, k: int) -> list[Label]:
        """The k cheapest routes without loops, one for each row of nodes (Yen 1971, with ways along rows as roots)."""
        found: list[Label] = []
        first = self.cheapest([Label(0.0, None, start)], goal)
        known: dict[tuple[str, ...], Label] = {} if first is None else {tuple(first.nodes()): first}
        while known and len(found) < k:
            row = min(known, key=lambda row: (known[row].cost, [self.graph.nodes[key].number for key in row]))
            found.append(known.pop(row))
            rows = [label.nodes() for label in found]
            if len(found) == k:
                break
            for end in range(1, len(row)):
                root = list(row[:end])
                never = {other[end] for other in rows if other[:end] == root}
                other = self.cheapest(self.along(root), goal, root[:-1], never)
                if other is not None:
                    known.setdefault(tuple(other.nodes()), other)
        return found

    def front(self, start: str, goal: str) -> list[Label]:
        """All routes by energy that no other beats in both energy and time, cheapest first (label setting, Martins
        1984)."""
        study, count = self.graph.study, itertools.count()
        queue: list[Any] = [(0.0, 0.0, next(count), Label(0.0, None, start))]
        settled: dict[str, list[tuple[float, float]]] = {}
        done: list[Label] = []
        while queue:
            _, time, _, label = heapq.heappop(queue)
            stored = 0.0 if label.node == goal or label.stored is None else label.stored
            if any(t <= time and u >= stored - self.same for t, u in settled.get(label.node, ())):
                continue
            settled.setdefault(label.node, []).append((time, stored))
            if label.node == goal:
                done.append(label)
                continue
            gone = label.nodes()
            for step in self.leaving[label.node]:
                if step.target not in gone:
                    on = label.on(step)
                    heapq.heappush(queue, (on.cost, time + time_of(study, step.outcome), next(count), on))
        return done


def _step(cost: Any, edge: Edge, target: str, outcome: Outcome, value: float) -> Step:
    """An edge as a step, priced."""
    if cost != "energy":
        return Step(edge, target, outcome, value, value)
    first = value + max(0.0, outcome.switching)
    start, end = outcome.start_energy, outcome.end_energy
    if start is None or end is None:
        raise PartError(f"plan: {edge!r} tells nothing of energies; explore again for plans by energy.")
    return Step(edge, target, outcome, value, first, start, end)


def cheapest(graph: ReconfigurationGraph, cost: Any, ambiguous: bool) -> networkx.DiGraph:
    """The cheapest step between every two nodes, first in canonical order where several cost the same; by energy, where
    each is made after whatever costs most."""
    import networkx

    routes, out = Routes(graph, cost, ambiguous), networkx.DiGraph()
    out.add_nodes_from(graph.nodes)
    every = [(source, step) for source, found in routes.leaving.items() for step in found]
    least: dict[str, float] = {}
    for _, step in every:
        least[step.target] = min(step.end, least.get(step.target, math.inf))
    for source, step in every:
        value = max(step.first, step.after(least.get(source, math.inf)))
        if not out.has_edge(source, step.target) or value < out[source][step.target]["weight"]:
            out.add_edge(source, step.target, weight=value, edge=step.edge)
    return out


def plans(graph: ReconfigurationGraph, start: str, goal: str, cost: Any, k: int, ambiguous: bool) -> list[Plan]:
    """The k cheapest routes without loops; one for each row of nodes."""
    source, target = graph[start].key, graph[goal].key
    check_cost(cost)
    if source == target:
        return [Plan((), 0.0, (source,))]
    found = Routes(graph, cost, ambiguous).best(source, target, k)
    if not found:
        simple = cheapest(graph, cost, ambiguous)
        raise PartError(unreachable(graph, simple, source, target) + untried(graph, cost))
    return [plan_of(graph.study, label.steps(), label.cost, source) for label in found]


def unreachable(graph: ReconfigurationGraph, simple: networkx.DiGraph, source: str, target: str) -> str:
    """Why there is no route, in a sentence."""
    import networkx

    from_here = sorted(networkx.descendants(simple, source), key=lambda key: graph.nodes[key].number)
    shown_nodes = ", ".join([source, *from_here][:6]) + (" ..." if len(from_here) > 5 else "")
    into = len(networkx.ancestors(simple, target))
    return (
        f"plan: {target} cannot be reached from {source}: that leads to {len(from_here)} nodes ({shown_nodes}), and "
        f"{into} nodes lead to {target}; none is both."
    )


def untried(graph: ReconfigurationGraph, cost: Any) -> str:
    """Which edges are no part of the answer because their risk is not known, in a sentence of its own."""
    unknown = [edge for edge in graph.moves() if edge.robustness is None] if cost == "risk" else []
    if not unknown:
        return ""
    return (
        f"  The risk of {len(unknown)} edges is not known, of {unknown[0].source} -> {unknown[0].target} among them; "
        "ask graph.robustness(edge) of those that matter."
    )


def pareto(graph: ReconfigurationGraph, start: str, goal: str, ambiguous: bool) -> list[Plan]:
    """All routes that no other beats in both energy and time, cheapest first."""
    source, target = graph[start].key, graph[goal].key
    found = Routes(graph, "energy", ambiguous).front(source, target)
    if not found:
        raise PartError(unreachable(graph, cheapest(graph, "switches", ambiguous), source, target))
    return [plan_of(graph.study, label.steps(), label.cost, source) for label in found]


# --- what hangs on what -----------------------------------------------------------------------------------------------
def dominators(graph: ReconfigurationGraph, start: str) -> dict[str, tuple[str, ...]]:
    """For every node that can be reached from a start: the nodes through which every route to it passes, in order."""
    import networkx

    source = graph[start].key
    parents = networkx.immediate_dominators(cheapest(graph, "switches", False), source)
    out = {}
    for key in graph.nodes:
        if key in parents or key == source:
            way = [key]
            while way[-1] != source:
                way.append(parents[way[-1]])
            out[key] = tuple(reversed(way))
    return out


def without(graph: ReconfigurationGraph, *lost: str) -> list[Any]:
    """The edges that remain when options or forces are lost: none that holds a pair named so, by an option named so
    ("pair" or "pair: option"), or uses a potential, or a force of one, of that name."""
    study = graph.study
    pairs = {pair.name for pair in study.pairs}
    labels = {f"{pair.name}: {option.label}" for pair in study.pairs for option in study.options_of(pair)}
    forces = {force.name for group in study.potentials.values() for force in group}
    for name in lost:
        if name not in pairs | labels | forces | set(study.potentials):
            raise PartError(
                f"without: {name!r} is no pair, no option of one (pair: option), no potential and no force here."
            )
    gone = set(lost)
    dead = {name for name, group in study.potentials.items() if name in gone or any(f.name in gone for f in group)}

    def stays(edge: Any) -> bool:
        joined = ((pair, option) for pair, option in edge.selection.joints if not option.startswith("free"))
        used = any(pair in gone or f"{pair}: {option}" in gone for pair, option in joined)
        return not used and edge.selection.potential not in dead

    return [edge for edge in graph.edges if stays(edge)]


#: With these a spreadsheet begins a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


# --- the table that flies ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlightTable:
    """For every node from which a goal can be reached: the selection to make next, and the node to which it leads."""

    goal: str
    rows: tuple[tuple[str, Choice, str], ...]

    def __getitem__(self, node: str) -> Choice:
        for key, choice, _ in self.rows:
            if key == node:
                return choice
        raise KeyError(f"the table has no way from {node!r} to {self.goal!r}")

    def save(self, path: Any) -> None:
        """Write the table: .json, .csv, or .h for a program in C."""
        writers = {".json": self.json, ".csv": self.csv, ".h": self.header}
        place = ending_of(path, "save", tuple(writers))
        write_text(place, writers[place.suffix](), "save")

    def json(self) -> str:
        """The table as JSON."""
        rows = {
            key: {"joints": dict(choice.joints), "potential": choice.potential, "next": target}
            for key, choice, target in self.rows
        }
        return json.dumps({"goal": self.goal, "rows": rows}, indent=1) + "\n"

    def csv(self) -> str:
        """The table as lines of node, next node, potential, joints."""
        lines = ["node,next,potential,joints"]
        for key, choice, target in self.rows:
            joints = "; ".join(f"{pair}: {option}" for pair, option in choice.joints)
            lines.append(",".join(_quoted(cell) for cell in (key, target, choice.potential, joints)))
        return "\n".join(lines) + "\n"

    def header(self) -> str:
        """The table as a C header: selections are written once, nodes are their numbers."""
        chosen = list(dict.fromkeys(choice for _, choice, _ in self.rows))
        guard = "QUIRKPY_TABLE_" + re.sub(r"\W", "_", self.goal).upper()
        selections = [f"    {c_string(choice.key)}," for choice in chosen]
        rows = [
            f"    {{{_number(key)}, {chosen.index(choice)}, {_number(target)}}}," for key, choice, target in self.rows
        ]
        lines = [
            f"#ifndef {guard}", f"#define {guard}", "",
            f"/* From each node the selection that leads on to node {_number(self.goal)}. */",
            "static const char *const quirkpy_selections[] = {", *selections, "};", "",
            "static const struct { int node, selection, next; } quirkpy_table[] = {", *rows, "};", "",
            f"enum {{ QUIRKPY_ROWS = {len(self.rows)}, QUIRKPY_GOAL = {_number(self.goal)} }};", "", "#endif",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"


def _quoted(cell: str) -> str:
    """A cell of a CSV file; one that a spreadsheet would take for a formula has an apostrophe before it."""
    cell = "'" + cell if cell.startswith(FORMULA) else cell
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[",\r\n]', cell) else cell


def c_string(text: str) -> str:
    """A text as a string of C: its bytes in UTF-8, of which those that C might read otherwise stand as three octal
    digits: after fewer, and after hexadecimal ones, what follows could be taken for more of them."""
    plain = (chr(b) if chr(b).isascii() and chr(b) not in '"\\?' and b >= 32 and b != 127 else f"\\{b:03o}"
             for b in text.encode("utf-8", "surrogatepass"))  # fmt: skip
    return '"' + "".join(plain) + '"'


def _number(key: str) -> int:
    return int(key[1:])


def table(graph: ReconfigurationGraph, goal: str, cost: Any) -> FlightTable:
    """The cheapest way to a goal from everywhere: Dijkstra from the goal, along edges turned round."""
    import networkx

    target = graph[goal].key
    simple = cheapest(graph, cost, False)
    paths = networkx.single_source_dijkstra_path(simple.reverse(copy=False), target, weight="weight")
    rows = []
    for key in graph.nodes:
        if key in paths and key != target:
            following = paths[key][-2]
            rows.append((key, simple[key][following]["edge"].selection, following))
    return FlightTable(target, tuple(rows))


def components(graph: ReconfigurationGraph) -> list[tuple[str, ...]]:
    """Nodes that can all be reached from each other, the largest set first."""
    import networkx

    number = {key: node.number for key, node in graph.nodes.items()}
    found: Iterable[set[str]] = networkx.strongly_connected_components(cheapest(graph, "switches", False))
    sets = [tuple(sorted(keys, key=number.__getitem__)) for keys in found]
    return sorted(sets, key=lambda keys: (-len(keys), number[keys[0]]))
