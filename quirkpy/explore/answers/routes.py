"""`Routes`: cheapest routes through a graph.

The energy of a step depends on the step before.  Switching changes the potential energy from that
under the joints and potential of the step before, which need not be those under which the shape was
first reached; and since joints may draw energy when they take hold or let go, it matters which
joints hold.  So the state of the search is (node, joints that hold, energy stored on arrival), not
the node alone."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from quirkpy.explore.model.changing import cost_of_choice, has_costs
from quirkpy.explore.model.costs import check_cost, price, time_of
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    import networkx

    from quirkpy.explore.model.graph import Edge, Graph, Outcome
    from quirkpy.explore.scope.choices import Arrival

#: Energies stored that differ by no more than this share of the largest one in the graph are the
#: same.
SAME_ENERGY = 1e-12


class Step(NamedTuple):
    """An edge as a step of routes: its target and outcome; its cost apart from what depends on the
    step before (see `price`), and the cost from the state in which its source was first reached;
    the potential energy after the selection and at the end [J]; and the number of the way in which
    its target is then held (see `Routes.holds`).  Energies and number are zero for costs other than
    energy."""

    edge: Any
    target: str
    outcome: Any
    price: float
    first: float
    start: float = 0.0
    end: float = 0.0
    held: int = 0

    def after(self, stored: float) -> float:
        """The cost of the step if so much energy is stored before it [J]."""
        return self.price + max(0.0, self.start - stored)


def steps(graph: Graph, ambiguous: bool) -> Iterator[tuple[str, str, Any, Any]]:
    """Edges that lead to another node: source, target, edge, and the first outcome that leads
    there; edges with several targets only if asked for."""
    for edge in graph.edges:
        if edge.kind == "moved" or (edge.kind == "ambiguous" and ambiguous):
            seen = {edge.source, None}
            for outcome in edge.outcomes:
                if outcome.target not in seen:
                    seen.add(outcome.target)
                    yield edge.source, str(outcome.target), edge, outcome


class Label(NamedTuple):
    """A partial route (in the sense of label setting): its cost, the energy stored at its end [J]
    (None: as when the node was first reached), the node, the last step, the label before it, and
    the number of the way in which the node is held (see `Routes.holds`)."""

    cost: float
    stored: float | None
    node: str
    step: Step | None = None
    before: Label | None = None
    held: int = 0

    @property
    def place(self) -> tuple[str, int]:
        """The node, and the number of the way in which it is held."""
        return self.node, self.held

    def way(self) -> list[Label]:
        """All labels along the route, from the first one."""
        out, label = [], self
        while label.before is not None:
            out.append(label)
            label = label.before
        return [label, *reversed(out)]

    def nodes(self) -> list[str]:
        """All nodes along the route, from the first one."""
        return [label.node for label in self.way()]

    def steps(self) -> list[Step]:
        """All steps along the route."""
        return [label.step for label in self.way() if label.step is not None]


class Routes:
    """All steps of a graph with costs, and searches for the cheapest routes."""

    def __init__(self, graph: Graph, cost: Any, ambiguous: bool) -> None:
        check_cost(cost)
        self.graph = graph
        self.leaving: dict[str, list[Step]] = {key: [] for key in graph.nodes}
        self._numbers: dict[tuple[Arrival, ...], int] = {(): 0}
        self._drawn: dict[tuple[int, int], float] = {}
        for source, target, edge, outcome in steps(graph, ambiguous):
            value = price(graph.study, cost, edge, outcome)
            if not value >= 0.0:
                raise PartError(
                    f"plan: the cost of {edge!r} is {value}, but must be a number from 0 up.",
                    code="yours",
                )
            if value < math.inf:
                self.leaving[source].append(self._step(cost, edge, target, outcome, value))
        every = [abs(step.end) for found in self.leaving.values() for step in found]
        self.same = SAME_ENERGY * max(every, default=0.0)
        #: The ways in which nodes are held, by number; the first: as when they were first reached,
        #: or in whatever way, where joints cost nothing.
        self.holds = list(self._numbers)

    # --- steps ------------------------------------------------------------------------------------
    def _step(self, cost: Any, edge: Edge, target: str, outcome: Outcome, value: float) -> Step:
        """An edge as a step with costs."""
        if cost != "energy":
            return Step(edge, target, outcome, value, value)
        first = value + max(0.0, outcome.switching)
        start, end = outcome.start_energy, outcome.end_energy
        if start is None or end is None:
            raise PartError(
                f"plan: {edge!r} tells nothing of energies; explore again for plans by energy.",
                code="answer",
            )
        held = self._numbers.setdefault(edge.arrival(outcome), len(self._numbers))
        return Step(edge, target, outcome, value, first, start, end, held)

    def cost_of(self, step: Step, stored: float | None, held: int) -> float:
        """The cost of a step, given the energy stored before it [J] (None: as when its source was
        first reached) and the number of the way in which its source is held."""
        if stored is None:
            return step.first
        return max(0.0, step.after(stored) + self._more(step, held))

    def _more(self, step: Step, held: int) -> float:
        """The additional energy that joints draw in a step [J], compared with a source held as when
        it was first reached."""
        key = id(step.edge), held
        if held and key not in self._drawn:
            self._drawn[key] = drawn_more(self.graph, step.edge, self.holds[held])
        return self._drawn[key] if held else 0.0

    def on(self, label: Label, step: Step) -> Label:
        """A label extended by a step."""
        cost = label.cost + self.cost_of(step, label.stored, label.held)
        return Label(cost, step.end, step.target, step, label, step.held)

    # --- ways -------------------------------------------------------------------------------------

    def cheapest(
        self,
        begun: Iterable[Label],
        goal: str,
        without: Collection[str] = (),
        never_next: Collection[str] = (),
        again: bool = False,
    ) -> Label | None:
        """The cheapest continuation to the goal of routes that have reached one node, by label
        setting.  A label is discarded if another one at the same node, held in the same way, has
        cost no more and left no less energy. without: excluded nodes; never_next: nodes to which
        the first step must not lead; again: whether a node may be passed twice, held in two
        ways."""
        count = itertools.count()
        queue = [(label.cost, next(count), label) for label in begun]
        roots = {id(label) for _, _, label in queue}
        heapq.heapify(queue)
        best: dict[tuple[str, int], float] = {}
        while queue:
            _, _, label = heapq.heappop(queue)
            if label.node == goal:
                return label
            if label.stored is not None:
                if label.stored <= best.get(label.place, -math.inf) + self.same:
                    continue
                best[label.place] = label.stored
            barred = {*without, *(never_next if id(label) in roots else ())}
            gone = {one.place if again else one.node for one in label.way()}
            for step in self.leaving[label.node]:
                there = (step.target, step.held) if again else step.target
                if step.target not in barred and there not in gone:
                    on = self.on(label, step)
                    if on.stored is None or on.stored > best.get(on.place, -math.inf) + self.same:
                        heapq.heappush(queue, (on.cost, next(count), on))
        return None

    def along(self, nodes: Sequence[str]) -> list[Label]:
        """The Pareto-optimal routes along a sequence of nodes, in cost and energy left, for each
        way in which the last node may be held."""
        labels = [Label(0.0, None, nodes[0])]
        for node in nodes[1:]:
            every = [
                self.on(label, step)
                for label in labels
                for step in self.leaving[label.node]
                if step.target == node
            ]
            labels, most = [], dict[int, float]()
            for label in sorted(every, key=lambda label: label.cost):
                above = most.get(label.held, -math.inf) + self.same
                if label.stored is not None and label.stored > above:
                    labels.append(label)
                    most[label.held] = label.stored
        return labels

    def best(self, start: str, goal: str, k: int) -> list[Label]:
        """The k cheapest routes without loops, one for each sequence of nodes (Yen 1971, with
        routes along a sequence as roots)."""
        found: list[Label] = []
        first = self.cheapest([Label(0.0, None, start)], goal, again=True)
        known: dict[tuple[str, ...], Label] = {} if first is None else {tuple(first.nodes()): first}
        while known and len(found) < k:
            row = min(
                known,
                key=lambda row: (known[row].cost, [self.graph.nodes[key].number for key in row]),
            )
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
        """All Pareto-optimal routes in energy and time, cheapest first (label setting, Martins
        1984); energies that differ by rounding are equal."""
        study, count = self.graph.study, itertools.count()
        queue: list[Any] = [(0.0, 0.0, next(count), Label(0.0, None, start))]
        settled: dict[tuple[str, int], list[tuple[float, float]]] = {}
        done: list[Label] = []
        while queue:
            _, time, _, label = heapq.heappop(queue)
            there = label.node == goal
            stored = 0.0 if there or label.stored is None else label.stored
            place = (goal, 0) if there else label.place
            if any(t <= time and u >= stored - self.same for t, u in settled.get(place, ())):
                continue
            settled.setdefault(place, []).append((time, stored))
            if label.node == goal:
                done.append(label)
                continue
            gone = label.nodes()
            for step in self.leaving[label.node]:
                if step.target not in gone:
                    on, later = self.on(label, step), time + time_of(study, step.outcome)
                    heapq.heappush(queue, (on.cost, later, next(count), on))
        pairs = itertools.pairwise(done)  # the second takes less time
        apart = max([self.same, *(SAME_ENERGY * label.cost for label in done)])
        return [one for one, two in pairs if two.cost - one.cost > apart] + done[-1:]


def drawn_more(graph: Graph, edge: Edge, arrivals: Sequence[Arrival]) -> float:
    """The additional energy that the joints of an edge draw [J] if its source is reached in one of
    several ways, compared with the way in which it was first reached."""
    if not arrivals or not has_costs(graph.study):
        return 0.0
    node, choice = graph.nodes[edge.source], edge.selection
    here = cost_of_choice(graph.study, node, choice, arrivals)
    return here - cost_of_choice(graph.study, node, choice)


def cheapest(graph: Graph, cost: Any, ambiguous: bool) -> networkx.DiGraph:
    """The cheapest step between each two nodes, the first in canonical order among equals; for
    energy, each step after the most expensive predecessor."""
    import networkx

    routes, out = Routes(graph, cost, ambiguous), networkx.DiGraph()
    out.add_nodes_from(graph.nodes)
    every = [(source, step) for source, found in routes.leaving.items() for step in found]
    least: dict[str, dict[int, float]] = {key: {} for key in graph.nodes}
    for _, step in every:
        there = least[step.target]
        there[step.held] = min(step.end, there.get(step.held, math.inf))
    for source, step in every:
        after = (routes.cost_of(step, end, held) for held, end in least[source].items())
        value = max([step.first, *after])
        if not out.has_edge(source, step.target) or value < out[source][step.target]["weight"]:
            out.add_edge(source, step.target, weight=value, edge=step.edge)
    return out
