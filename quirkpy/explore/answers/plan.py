"""Questions to a graph: plans, reachable nodes, nodes that every route passes, flight tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from quirkpy import doors
from quirkpy.explore.answers.routes import Routes, Step, cheapest, drawn_more
from quirkpy.explore.model.costs import check_cost, supplies_in_motion, time_of
from quirkpy.explore.scope.choices import Choice
from quirkpy.parts.checks import how_many, show
from quirkpy.parts.files import ending_of, plain_cell, write_text
from quirkpy.parts.part import PartError, UnknownName

if TYPE_CHECKING:
    import networkx

    from quirkpy.explore.model.graph import Edge, Graph, Node


class Spending(NamedTuple):
    """Where the energy of a step, or of a plan, goes [J].

    The spacecraft supplies three shares: switching, the work of exchanging joints and potential;
    driving, the work of loads in motion, and what joints draw to lock and to release; holding, the
    power of the fields over the time of the motion. dissipated: what dampers and stops take, of
    these shares and of what was stored before."""

    switching: float = 0.0
    driving: float = 0.0
    holding: float = 0.0
    dissipated: float = 0.0

    @property
    def supplied(self) -> float:
        """The sum of what the spacecraft supplies [J]."""
        return max(0.0, self.switching + self.driving + self.holding)

    @property
    def figures(self) -> tuple[float, ...]:
        """The sum that is supplied, and all of its shares [J]."""
        return (self.supplied, *self)


@dataclass(frozen=True)
class Plan(Sequence["Edge"]):
    """A route through the graph: consecutive edges and their costs.

    nodes: along the route, both ends included. spent [J]: what each step takes, where switching
    starts from the joints and potential of the step before; times [s]: durations of the steps (see
    `Study.disturbance`). energies [J]: what the spacecraft supplies for each step; energy, time,
    spending: the sums. switches: number of selections; probability that all steps succeed, None if
    that of a step is unknown."""

    edges: tuple[Any, ...]
    cost: float
    nodes: tuple[str, ...] = ()
    spent: tuple[Spending, ...] = ()
    times: tuple[float, ...] = ()

    @property
    def energies(self) -> tuple[float, ...]:
        """Energy that the spacecraft supplies for each step [J]."""
        return tuple(step.supplied for step in self.spent)

    @property
    def energy(self) -> float:
        """Energy that the spacecraft supplies [J]."""
        return math.fsum(self.energies)

    @property
    def spending(self) -> Spending:
        """Where the energy of all steps goes [J]."""
        return Spending(*map(math.fsum, zip(*self.spent, strict=True)))

    @property
    def time(self) -> float:
        """Sum of the durations of the motions [s]."""
        return math.fsum(self.times)

    @property
    def switches(self) -> int:
        """Number of selections."""
        return len(self.edges)

    @property
    def probability(self) -> float | None:
        """Product of the estimated probabilities of the steps, each for the node to which the plan
        uses it."""
        steps = zip(self.edges, self.nodes[1:])
        known = [
            edge.robustness.towards(node).probability
            for edge, node in steps
            if edge.robustness is not None
        ]
        return math.prod(known) if len(known) == len(self.edges) else None

    def record(self) -> dict[str, Any]:
        """The attributes that files store, as plain values."""
        chosen = [edge.selection for edge in self.edges]
        return {
            "nodes": list(self.nodes), "energy": self.energy, "time": self.time,
            "switches": self.switches, **self.spending._asdict(),
            "steps": [{"joints": dict(one.joints), "potential": one.potential} for one in chosen],
        }  # fmt: skip

    def __getitem__(self, k: Any) -> Any:
        return self.edges[k]

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def headline(self) -> str:
        """The route and its sums on one line."""
        return (
            f"{' -> '.join(self.nodes)}: {self.energy:.5g} J, {self.time:.5g} s, "
            f"{how_many(self.switches, 'switch', 'switches')}"
        )

    def __str__(self) -> str:
        return doors.listings.of_plan(self).text()

    def _repr_html_(self) -> str:
        return doors.listings.of_plan(self).html()

    def __repr__(self) -> str:
        return f"Plan({self.headline})"


def plan_of(graph: Graph, steps: Sequence[Step], cost: float, start: str) -> Plan:
    """A plan from consecutive steps."""
    spent = tuple(
        spending_after(graph, before, step) for before, step in zip((None, *steps), steps)
    )
    nodes = (start, *(step.target for step in steps))
    times = tuple(time_of(graph.study, step.outcome) for step in steps)
    return Plan(tuple(step.edge for step in steps), cost, nodes, spent, times)


def spending_after(graph: Graph, before: Step | None, step: Step) -> Spending:
    """Where the energy of a step goes [J], after another step or as the first."""
    now = step.outcome
    work, more = float(now.switching), 0.0
    if before is not None:
        then = before.outcome
        known = None not in (now.start_energy, then.end_energy)
        work = now.start_energy - then.end_energy if known else work
        more = drawn_more(graph, step.edge, before.edge.arrival(then))
    driven, held = supplies_in_motion(now)
    return Spending(max(0.0, work), driven + more, held, now.dissipated)


def plans(
    graph: Graph, start: str | Node, goal: str | Node, cost: Any, k: int, ambiguous: bool
) -> list[Plan]:
    """The k cheapest routes without loops; one for each sequence of nodes."""
    if type(k) is not int or k < 1:
        raise PartError(f"plan: k is {show(k)}, but must be a number of plans from 1 up.")
    source, target = graph[start].key, graph[goal].key
    check_cost(cost)
    if source == target:
        return [Plan((), 0.0, (source,))]
    found = Routes(graph, cost, ambiguous).best(source, target, k)
    if not found:
        simple = cheapest(graph, cost, ambiguous)
        raise PartError(
            unreachable(graph, simple, source, target) + explain_untried(graph, cost), code="answer"
        )
    return [plan_of(graph, label.steps(), label.cost, source) for label in found]


def unreachable(graph: Graph, simple: networkx.DiGraph, source: str, target: str) -> str:
    """A sentence that says why there is no route."""
    import networkx

    from_here = sorted(
        networkx.descendants(simple, source), key=lambda key: graph.nodes[key].number
    )
    shown_nodes = ", ".join([source, *from_here][:6]) + (" ..." if len(from_here) > 5 else "")
    into = len(networkx.ancestors(simple, target))
    return (
        f"plan: {target} cannot be reached from {source}: that leads to {len(from_here)} nodes "
        f"({shown_nodes}), and "
        f"{into} nodes lead to {target}; none is both."
    )


def explain_untried(graph: Graph, cost: Any) -> str:
    """A sentence about the edges that are left out because their probability is unknown; empty if
    there are none."""
    unknown = [edge for edge in graph.moves() if edge.robustness is None] if cost == "risk" else []
    if not unknown:
        return ""
    return (
        f"  The risk of {len(unknown)} edges is not known, of {unknown[0].source} -> "
        f"{unknown[0].target} among them; "
        "ask graph.robustness(edge) of those that matter."
    )


def pareto(graph: Graph, start: str | Node, goal: str | Node, ambiguous: bool) -> list[Plan]:
    """All Pareto-optimal routes in energy and time, cheapest first."""
    source, target = graph[start].key, graph[goal].key
    found = Routes(graph, "energy", ambiguous).front(source, target)
    if not found:
        raise PartError(
            unreachable(graph, cheapest(graph, "switches", ambiguous), source, target),
            code="answer",
        )
    return [plan_of(graph, label.steps(), label.cost, source) for label in found]


# --- what hangs on what ---------------------------------------------------------------------------
def dominators(graph: Graph, start: str | Node) -> dict[str, tuple[str, ...]]:
    """For every node reachable from a start: the nodes through which every route to it passes, in
    order."""
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


def without(graph: Graph, *lost: str) -> list[Any]:
    """The edges that remain when options or forces fail.  An edge is lost if it holds a named pair,
    or one by a named option ("pair" or "pair: option"), or uses a named potential, or one with a
    named force."""
    study, gone = graph.study, set(lost)
    _check_lost(graph, lost)
    dead = {
        name
        for name, group in study.potentials.items()
        if name in gone or any(f.name in gone for f in group)
    }

    def stays(edge: Any) -> bool:
        joined = (
            (pair, option)
            for pair, option in edge.selection.joints
            if not option.startswith("free")
        )
        used = any(pair in gone or f"{pair}: {option}" in gone for pair, option in joined)
        return not used and edge.selection.potential not in dead

    return [edge for edge in graph.edges if stays(edge)]


def _check_lost(graph: Graph, lost: Sequence[str]) -> None:
    """Refuse names that do not occur in the study."""
    study = graph.study
    pairs = {pair.name for pair in study.pairs}
    labels = {
        f"{pair.name}: {option.label}" for pair in study.pairs for option in study.options_of(pair)
    }
    forces = {force.name for group in study.potentials.values() for force in group}
    for name in lost:
        if name not in pairs | labels | forces | set(study.potentials):
            raise PartError(
                f"without: {name!r} is no pair, no option of one (pair: option), no potential and "
                "no force here.",
                code="name",
            )


# --- the table that flies -------------------------------------------------------------------------
@dataclass(frozen=True)
class FlightTable:
    """For every node from which a goal can be reached: the next selection, and the node to which it
    leads."""

    goal: str
    rows: tuple[tuple[str, Choice, str], ...]

    def __getitem__(self, node: str) -> Choice:
        for key, choice, _ in self.rows:
            if key == node:
                return choice
        raise UnknownName(f"the table has no way from {node!r} to {self.goal!r}.")

    def __str__(self) -> str:
        return doors.listings.of_flight_table(self).text()

    def _repr_html_(self) -> str:
        return doors.listings.of_flight_table(self).html()

    def __repr__(self) -> str:
        return f"FlightTable({how_many(len(self.rows), 'node')} with a way to {self.goal})"

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
            lines.append(
                ",".join(_quote_cell(cell) for cell in (key, target, choice.potential, joints))
            )
        return "\n".join(lines) + "\n"

    def header(self) -> str:
        """The table as a C header, with an array of distinct selections; nodes are numbers."""
        guard = "QUIRKPY_TABLE_" + re.sub(r"\W", "_", self.goal).upper()
        lines = [
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            f"/* From each node the selection that leads on to node {_number(self.goal)}. */",
            *self._c_arrays(),
            "",
            f"enum {{ QUIRKPY_ROWS = {len(self.rows)}, QUIRKPY_GOAL = {_number(self.goal)} }};",
            "",
            "#endif",
        ]
        return "\n".join(lines) + "\n"

    def _c_arrays(self) -> list[str]:
        """The C code of the distinct selections, and of the rows that refer to them by number."""
        chosen = list(dict.fromkeys(choice for _, choice, _ in self.rows))
        selections = [f"    {c_string(choice.key)}," for choice in chosen]
        rows = [
            f"    {{{_number(key)}, {chosen.index(choice)}, {_number(target)}}},"
            for key, choice, target in self.rows
        ]
        return [
            "static const char *const quirkpy_selections[] = {",
            *selections,
            "};",
            "",
            "static const struct { int node, selection, next; } quirkpy_table[] = {",
            *rows,
            "};",
        ]


def _quote_cell(cell: str) -> str:
    """A cell of a CSV file."""
    cell = plain_cell(cell)
    return '"' + cell.replace('"', '""') + '"' if re.search(r'[",\r\n]', cell) else cell


def c_string(text: str) -> str:
    """A text as a C string literal: UTF-8, in which bytes that C could read otherwise are written
    as three octal digits. (Fewer octal digits, and hexadecimal escapes, would absorb digits that
    follow.)"""
    plain = (
        chr(b)
        if chr(b).isascii() and chr(b) not in '"\\?' and b >= 32 and b != 127
        else f"\\{b:03o}"
        for b in text.encode("utf-8", "surrogatepass")
    )
    return '"' + "".join(plain) + '"'


def _number(key: str) -> int:
    return int(key[1:])


def table(graph: Graph, goal: str | Node, cost: Any) -> FlightTable:
    """The cheapest way to a goal from every node: Dijkstra's algorithm from the goal along reversed
    edges."""
    import networkx

    target = graph[goal].key
    simple = cheapest(graph, cost, False)
    if not simple.in_degree(target) and explain_untried(graph, cost):
        raise PartError(
            f"table: no way to {target} is known.{explain_untried(graph, cost)}", code="answer"
        )
    paths = networkx.single_source_dijkstra_path(
        simple.reverse(copy=False), target, weight="weight"
    )
    rows = []
    for key in graph.nodes:
        if key in paths and key != target:
            following = paths[key][-2]
            rows.append((key, simple[key][following]["edge"].selection, following))
    return FlightTable(target, tuple(rows))


def components(graph: Graph) -> list[tuple[str, ...]]:
    """Strongly connected components, the largest first."""
    import networkx

    number = {key: node.number for key, node in graph.nodes.items()}
    found: Iterable[set[str]] = networkx.strongly_connected_components(
        cheapest(graph, "switches", False)
    )
    sets = [tuple(sorted(keys, key=number.__getitem__)) for keys in found]
    return sorted(sets, key=lambda keys: (-len(keys), number[keys[0]]))
