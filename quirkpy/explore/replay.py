"""`Replay`: a plan flown in one go, from state to state, with its ledger of energy and power."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quirkpy.analysis import Energy
from quirkpy.course import Counts, Course, Happening
from quirkpy.explore.choices import Choice, Link, holding
from quirkpy.explore.cones import Cones
from quirkpy.explore.identity import NEAR, Shapes, poses_of
from quirkpy.explore.runner import begin, motions, record_of
from quirkpy.explore.symmetry import Exchange, Symmetry
from quirkpy.kernels.arrays import STATE_WIDTH
from quirkpy.parts.checks import Floats
from quirkpy.parts.part import PartError
from quirkpy.state import State
from quirkpy.trajectory import Trajectory

if TYPE_CHECKING:
    from quirkpy.explore.graph import Edge, Node, ReconfigurationGraph


class Leg(NamedTuple):
    """One step of a plan as it was flown: the edge; when it begins [s]; the stretches of its motion, each with a time
    of its own from zero; the work of switching [J] and the power that forces state [W]; energy that joints took at the
    end of each stretch, where they took hold [J]; how far its end lies from the node of the graph [m] or [rad]; what
    was chosen: the selection of the edge, said of the modules that stand in its places now."""

    edge: Edge
    t: float
    runs: tuple[Trajectory, ...]
    switching: float
    holding: float
    losses: tuple[float, ...]
    missed: float
    selection: Choice


class Replay(Trajectory):
    """A run through all steps of a plan; a step begins where the one before has ended.

    What a `Trajectory` has, over all bodies and the joints of the system itself; and: legs; switched [J], what
    switching has put in so far (k,); lost [J], what joints have taken when they took hold (k,); power [W], what the
    spacecraft supplies at each time, without the spikes of switching (k,).  energy + dissipated + lost - work -
    switched stays what it was.
    """

    legs: tuple[Leg, ...]

    def __init__(self, graph: ReconfigurationGraph, legs: list[Leg]) -> None:
        self.graph, self.legs = graph, tuple(legs)
        system = graph.study.system
        super().__init__(
            system, legs[0].runs[0].start.on(system.selection), legs[0].runs[0].settings, joined(legs, system)
        )

    def at(self, t: float) -> State:
        """The state at any time, under the joints and the potential that acted then."""
        if t in self.t or not self.t[0] <= t <= self.t[-1]:
            return super().at(t)
        begun = [(leg.t + float(run.t[0]), leg, run) for leg in self.legs for run in leg.runs]
        _, leg, run = [entry for entry in begun if entry[0] <= t][-1]
        there = run.at(min(t - leg.t, float(run.t[-1]))).on(self.system.selection)
        return replace(there, t=t, step=None, held=(), merged=None)

    def sampled(self, step: float) -> Replay:
        """The same with states at least every `step` [s]."""
        denser = [leg._replace(runs=tuple(run.sampled(step) for run in leg.runs)) for leg in self.legs]
        return Replay(self.graph, denser)

    @cached_property
    def _energies(self) -> list[Energy]:
        return [energy for leg in self.legs for run in leg.runs for energy in run._energies]

    @property
    def pieces(self) -> tuple[tuple[float, Trajectory], ...]:
        """The stretches of all legs, each with the time at which its own begins [s]."""
        return tuple((leg.t, run) for leg in self.legs for run in leg.runs)

    @cached_property
    def switched(self) -> Floats:
        """Work that switching has put in so far [J] (k,)."""
        return self._each([float(work) for work in np.cumsum([leg.switching for leg in self.legs])])

    @cached_property
    def lost(self) -> Floats:
        """What joints have taken so far when they took hold [J] (k,)."""
        ends = [loss for leg in self.legs for loss in leg.losses]
        return super().lost + self._stretches([0.0, *(float(x) for x in np.cumsum(ends)[:-1])])

    @cached_property
    def power(self) -> Floats:
        """What the spacecraft supplies at each time [W] (k,): holding power, and the work of loads per second."""
        dt, dw = np.diff(self.t), np.diff(self.work)
        rate = np.append(0.0, np.where(dt > 0.0, dw / np.where(dt > 0.0, dt, 1.0), 0.0))
        return np.asarray(self._each([leg.holding for leg in self.legs]) + np.maximum(rate, 0.0))

    def _each(self, values: list[float]) -> Floats:
        """A value of each leg at all of its times (k,)."""
        return self._stretches([value for leg, value in zip(self.legs, values, strict=True) for _ in leg.runs])

    def _stretches(self, values: list[float]) -> Floats:
        """A value of each stretch at all of its times (k,)."""
        return np.repeat(values, [len(run.t) for leg in self.legs for run in leg.runs])


def joined(legs: list[Leg], system: Any) -> Course:
    """All stretches as one course, on the coordinates of the system itself."""
    t, states, angles, drift, events = [], [], [], [], []
    counts, ledger = np.zeros(3, dtype=int), np.zeros(STATE_WIDTH)
    for leg in legs:
        for run in leg.runs:
            names = list(run.start.joints)
            which = [names.index(name) for name in system.initial.joints]
            rows = run.course.states.copy()
            rows[:, -1] += ledger
            ledger = rows[-1, -1].copy()
            t.append(run.t + leg.t)
            states.append(rows)
            angles.append(run.course.angles[:, which])
            drift.append(run.course.drift)
            events += [Happening(event.t + leg.t, *event[1:]) for event in run.events]
            counts += run.counts
    last = legs[-1].runs[-1].course
    return Course(
        np.concatenate(t), np.concatenate(states), np.concatenate(angles), np.concatenate(drift), last.stop,
        tuple(events), Counts(*(int(c) for c in counts)), last.step,
    )  # fmt: skip


def replay(graph: ReconfigurationGraph, plan: Any) -> Replay:
    """See `ReconfigurationGraph.replay`."""
    legs: list[Leg] = []
    if not len(plan):
        raise PartError("replay: the plan has no steps; plan a way from one node to another.")
    node, t = graph.nodes[plan[0].source], 0.0
    cones = Cones(Symmetry(graph.study))
    for edge in plan:
        leg, node = flown(graph, *said_here(cones, graph.nodes[edge.source], node, edge), edge, t)
        legs.append(leg)
        t += float(leg.runs[-1].t[-1])
    return Replay(graph, legs)


def said_here(cones: Cones, known: Node, node: Node, edge: Edge) -> tuple[Node, Choice]:
    """Where the step before has ended, held as the node of the graph that has this shape; and the selection of an edge
    there: modules that are alike may have changed places, or stand otherwise turned, and an edge that two pairs of
    faces share may be held by either."""
    symmetry, choice = cones.symmetry, edge.selection
    study = symmetry.study
    if node is known:
        return node, choice
    rolls = dict(study.open_pairs(known))

    def said(exchange: Exchange, pair: int, roll: int, label: str) -> Link:
        return Link(symmetry.pair(exchange, pair), roll, str(symmetry.label(exchange, pair, roll, label)))

    for exchange, _, _ in symmetry.carriers(known.state, node.state, NEAR * study.shapes.tolerance):
        if not (same_shape(study.shapes, exchange) and cones.kept(exchange)):
            continue
        stands = replace(node, links=tuple(said(exchange, *link) for link in known.links))
        pairs = ((study.numbers[name], label) for name, label in choice.joints)
        asked = sorted(said(exchange, pair, rolls[pair], label) for pair, label in pairs)
        potential = exchange.potentials.get(choice.potential)
        made = Choice(tuple((study.pairs[link.pair].name, link.option) for link in asked), str(potential))
        if potential is not None and [link[:2] for link in asked] == study.open_pairs(stands):
            return stands, made
    raise PartError(
        f"replay: {edge!r} cannot begin where the step before has ended: there modules stand for others that are not "
        "alike to the dynamics, or of which others must stay clear; declare only such as interchangeable."
    )


def same_shape(shapes: Shapes, exchange: Exchange) -> bool:
    """Whether modules stand for others, and are turned, as the study allows for what is one shape."""
    for a, (b, own) in enumerate(zip(exchange.to, exchange.own, strict=True)):
        off = min(float(np.linalg.norm(sign * turn - own)) for turn in shapes.turns[b] for sign in (1.0, -1.0))
        if shapes.kinds[a] != shapes.kinds[b] or off > shapes.tolerance:
            return False
    return True


def flown(graph: ReconfigurationGraph, node: Node, choice: Choice, edge: Edge, t: float) -> tuple[Leg, Node]:
    """A step from where the one before has ended, left in whatever way leads to the target; and where it ends."""
    from quirkpy.explore.graph import Outcome, node_of

    study = graph.study
    begun = begin(study, node, choice, study.universe(node))
    if isinstance(begun, Outcome):
        raise PartError(f"replay: {edge!r} cannot begin where the step before has ended: {begun.reason}.")
    goal, ends = graph.nodes[str(edge.target)], []
    for ended, nudge in motions(study, begun.system, begun.links, choice):
        if ended.runs and ended.violation is None:
            there = node_of(
                record_of(study, ended.found, ended.links, choice.potential), goal.number, node.state.bodies
            )
            poses = (poses_of(end.state.r, end.state.q) for end in (goal, there))
            ends.append((study.shapes.distance(*poses), nudge != edge.nudge, ended, there))
    if not ends:
        raise PartError(f"replay: {edge!r} does not move where the step before has ended; explore again.")
    missed, _, ended, there = min(ends, key=lambda end: (end[0] > study.shapes.tolerance, *end[:2]))
    return Leg(edge, t, ended.runs, begun.switching, holding(study, choice), ended.losses, missed, choice), there
