"""`Replay`: a plan flown in one go, from state to state, with its ledger of energy and power."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quirkpy.explore.answers.plan import Plan
from quirkpy.explore.model.assembly import holding
from quirkpy.explore.model.changing import (
    OnTheWay,
    changes_of,
    cost_of_choice,
    has_costs,
    held_at,
)
from quirkpy.explore.model.leaving import Leaving
from quirkpy.explore.reduce.holdings import Holdings
from quirkpy.explore.reduce.transfers import Transfers
from quirkpy.explore.run.runner import Begun, Ended, begin, motions, record_of
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.identity import REPORTED_MISS
from quirkpy.explore.scope.scope import Scope
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import Change, Waits
from quirkpy.motion.joined import JoinedTrajectory
from quirkpy.motion.move import stand
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Graph, Node


class Leg(NamedTuple):
    """One step of a plan as flown.

    edge; t: when it begins [s]. runs: pieces of its motion, each with time from zero; the last is
    the final rest alone. switching: work of switching [J]; holding: power of the forces [W];
    losses: energy lost at the end of each piece, when joints take hold or the remaining motion is
    neglected at rest [J]; missed: distance of its end from the node of the graph [m] or [rad].
    selection: that of the edge, in terms of the modules now at its places; leavings: unstable rests
    that it left; changes: joints that took hold or let go, in time of the leg, and their energy."""

    edge: Edge
    t: float
    runs: tuple[Trajectory, ...]
    switching: float
    holding: float
    losses: tuple[float, ...]
    missed: float
    selection: Choice
    leavings: tuple[Leaving, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def lasted(self) -> float:
        """Duration of the step [s]."""
        return float(self.runs[-1].t[-1])

    @property
    def supplied(self) -> float:
        """Energy that the spacecraft supplied for this step [J]; see `Plan.energies`."""
        put_in = math.fsum(float(run.work[-1]) for run in self.runs)
        drawn = math.fsum(change.energy for change in self.changes)
        return max(0.0, self.switching) + max(0.0, put_in) + self.holding * self.lasted + drawn


class Replay(JoinedTrajectory):
    """A flight through all steps of a plan; each step begins where the one before has ended.

    It has what a `Trajectory` has, for all bodies and the joints of the system itself, and in
    addition: legs; switched (k,): work of switching so far [J]; lost (k,): energy lost so far [J]
    when joints took hold, when states were projected onto joints, and when a remaining motion was
    neglected at rest; power (k,): power supplied [W], without the spikes of switching. energy +
    dissipated + lost - work - switched is constant.  The last row of each leg is the node that it
    reached. changes: joints that took hold or let go, and their energy."""

    legs: tuple[Leg, ...]

    def __init__(self, system: System, legs: Sequence[Leg]) -> None:
        self.legs = tuple(legs)
        pieces = tuple((leg.t, run) for leg in legs for run in leg.runs)
        works = [leg.switching * (k == 0) for leg in legs for k in range(len(leg.runs))]
        super().__init__(system, pieces, works)

    def over(self, change: Callable[[Trajectory], Trajectory]) -> Replay:
        """A copy with a function applied to each piece."""
        legs = [leg._replace(runs=tuple(map(change, leg.runs))) for leg in self.legs]
        return Replay(self.system, legs)

    def _told(self, state: State, begins: float) -> State:
        """A state of a piece as a state of the study's own system."""
        there = state.on(self.system.selection)
        return replace(there, t=state.t + begins, step=None, held=(), merged=None)

    @property
    def beginnings(self) -> Ints:
        """The pieces that begin with a selection (s,): the first of each leg."""
        counts = [len(leg.runs) for leg in self.legs]
        return np.cumsum([0, *counts[:-1]])

    @property
    def supplied(self) -> float:
        """Energy that the spacecraft supplied in total [J]; `Plan.energy` predicts it."""
        return math.fsum(leg.supplied for leg in self.legs)

    @property
    def waiting(self) -> float:
        """Total time near unstable rests [s]; `Plan.time` predicts the remaining time."""
        return math.fsum(leaving.waiting for leg in self.legs for leaving in leg.leavings)

    @property
    def waits(self) -> Waits:
        """Begin and duration of each time near an unstable rest [s]; films omit these."""
        return tuple((leg.t + at.t, at.waiting) for leg in self.legs for at in leg.leavings)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The joints that took hold or let go, with times and energies."""
        return tuple(one._replace(t=leg.t + one.t) for leg in self.legs for one in leg.changes)

    @cached_property
    def lost(self) -> Floats:
        """Energy lost so far [J] (k,): when joints took hold, and when states were projected onto
        them."""
        ends = np.cumsum([loss for leg in self.legs for loss in leg.losses])
        return super().lost + self.projected + self.each(np.append(0.0, ends[:-1]))

    @cached_property
    def power(self) -> Floats:
        """Power that the spacecraft supplies [W] (k,): holding power, and the rate of work of
        loads."""
        dt, dw = np.diff(self.t), np.diff(self.work)
        rate = np.append(0.0, np.where(dt > 0.0, dw / np.where(dt > 0.0, dt, 1.0), 0.0))
        held = self.each([leg.holding for leg in self.legs for _ in leg.runs])
        return np.asarray(held + np.maximum(rate, 0.0))


def replay(graph: Graph, plan: Any) -> Replay:
    """A plan flown step by step, each from where the one before has ended, as
    `ReconfigurationGraph.replay` says."""
    _check_plan(plan)
    legs: list[Leg] = []
    goals = plan.nodes[1:] if isinstance(plan, Plan) else [str(edge.target) for edge in plan]
    node, t = graph.nodes[plan[0].source], 0.0
    transfers = Transfers(graph.study)
    for edge, goal in zip(plan, goals, strict=True):
        known = graph.nodes[edge.source]
        choice = transfer_choice(transfers, known, node, edge.selection, edge)
        leg, node = fly_step(graph, transfers.holdings, node, choice, edge, goal, t)
        legs.append(leg)
        t += leg.lasted
    return Replay(graph.study.system, legs)


def _check_plan(plan: Any) -> None:
    """Refuse what is no plan, and steps without a unique target."""
    known = isinstance(plan, Iterable) and not isinstance(plan, str)
    if not known or not all(hasattr(step, "selection") for step in plan):
        raise PartError(f"replay: {show(plan)} is no plan; give one, or a list of edges.")
    if not len(plan):
        raise PartError(
            "replay: the plan has no steps; plan a way from one node to another.", code="answer"
        )
    for edge in () if isinstance(plan, Plan) else plan:
        if edge.target is None:
            raise PartError(
                f"replay: {edge!r} leads to no node for certain; plan along it with "
                "ambiguous=True, if to any.",
                code="answer",
            )


def transfer_choice(
    transfers: Transfers, known: Node, node: Node, choice: Choice, what: object
) -> Choice:
    """A choice at a node of the graph, translated to the place where the step before has ended: of
    all translations the first that changes the fewest joints. what: names the step in the error
    that is raised if there is none."""
    study, ways = transfers.study, transfers.choices(known, node, choice)
    if not has_costs(study):
        found = next(ways, None)
    else:
        found = min(ways, key=lambda way: cost_of_choice(study, node, way), default=None)
    if found is None:
        raise _refusal_of(what)
    return found


def _refusal_of(what: object) -> PartError:
    """The error for a step that cannot begin where the one before has ended."""
    return PartError(
        f"replay: {what!r} cannot begin where the step before has ended: there modules stand for "
        "others that are not "
        "alike to the dynamics or in what their options cost, or of which others must stay clear; "
        "declare only such as interchangeable.",
        code="pose",
    )


def fly_step(
    graph: Graph, holdings: Holdings, node: Node, choice: Choice, edge: Edge, key: str, t: float
) -> tuple[Leg, Node]:
    """A step flown from where the one before has ended, leaving unstable rests in any way that
    leads to the target; and its end."""
    from quirkpy.explore.model.graph import Outcome

    study, goal = graph.study, graph.nodes[key]
    begun = begin(study, node, choice, study.universe(node))
    if isinstance(begun, Outcome):
        raise PartError(
            f"replay: {edge!r} cannot begin where the step before has ended: {begun.reason}.",
            code="pose",
        )
    ends = list(_ends_at(study, holdings, begun, choice, goal, edge))
    if not ends:
        raise PartError(
            f"replay: {edge!r} does not lead to {key} from where the step before has ended; "
            "explore again, with a "
            "smaller tolerance of shapes.",
            code="pose",
        )
    missed, _, ended, there = min(ends, key=lambda end: (end[0] > study.shapes.tolerance, *end[:2]))
    runs, losses = at_rest(ended, begun)
    held = holding(study, choice)
    changes = changes_of(study, held_at(study, node), choice, on_the_way(study, ended, there))
    return Leg(
        edge, t, runs, begun.switching, held, losses, missed, choice, ended.leavings, changes
    ), there


def on_the_way(study: Scope, ended: Ended, there: Node) -> OnTheWay:
    """The joints that changed along a motion, including its end in a node."""
    lasted = float(ended.runs[-1].t[-1]) if ended.runs else 0.0
    left = (link for link in ended.links if link not in there.links)
    gone = tuple((lasted, study.pairs[link.pair].name) for link in left)
    return OnTheWay(ended.contacts, (*ended.opened, *gone))


def _ends_at(
    study: Scope, holdings: Holdings, begun: Begun, choice: Choice, goal: Node, edge: Edge
) -> Iterator[tuple[float, bool, Ended, Node]]:
    """The motions of a choice that end in the shape of a node with equivalent links: for each its
    distance from the node, whether it left saddles in another way than the edge did, the motion,
    and its end."""
    from quirkpy.explore.model.graph import node_of

    for ended, nudge in motions(study, begun.system, begun.links, choice):
        if ended.violation is None and ended.found.verdict != "never settles":
            record = record_of(study, ended.found, ended.links, choice.potential)
            there = node_of(record, goal.number, goal.state.bodies)
            missed = study.distance(goal.state, there.state)
            near = missed <= REPORTED_MISS * study.shapes.tolerance
            if near and holdings.are_equivalent(goal, there):
                yield missed, nudge != edge.nudge, ended, there


def at_rest(ended: Ended, begun: Begun) -> tuple[tuple[Trajectory, ...], tuple[float, ...]]:
    """The pieces of a motion with its final rest as the last one, joints taken hold, and the energy
    lost at the end of each [J]."""
    found, runs = ended.found, ended.runs or (begun.run,)
    assert found.system is not None
    still = np.zeros_like(found.state.v)
    state = replace(found.state, t=float(runs[-1].t[-1]), v=still, omega=still)
    rest = stand(found.system.at(state))
    return (*runs, rest), (*ended.losses[:-1], float(runs[-1].energy[-1] - rest.energy[0]), 0.0)
