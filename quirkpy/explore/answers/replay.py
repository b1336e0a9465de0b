"""`Replay`: a plan flown in one go, from state to state, with its ledger of energy and power."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quirkpy.explore.alike.cones import Cones
from quirkpy.explore.alike.symmetry import Exchange, Symmetry
from quirkpy.explore.answers.plan import Plan
from quirkpy.explore.model.assembly import holding
from quirkpy.explore.model.leaving import Leaving
from quirkpy.explore.reduce.holdings import Holdings, Matching
from quirkpy.explore.run.runner import Begun, Ended, begin, motions, record_of
from quirkpy.explore.scope.choices import Choice, Link
from quirkpy.explore.scope.identity import REPORTED_MISS, Shapes, poses_of
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.base.states import ledger_of, zero_rows
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Counts, Course, Happening, Waits
from quirkpy.motion.move import stand
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.explore.model.graph import Edge, Graph, Node


class Leg(NamedTuple):
    """One step of a plan as it was flown: the edge; when it begins [s]; the stretches of its
    motion, each with a time of its own from zero, the last one its rest alone; the work of
    switching [J] and the power that forces state [W]; energy that goes at the end of each stretch,
    to joints that take hold or as what is left of the motion is taken for rest [J]; how far its end
    lies from the node of the graph [m] or [rad]; what was chosen: the selection of the edge, said
    of the modules that stand in its places now; the unstable rests that it left."""

    edge: Edge
    t: float
    runs: tuple[Trajectory, ...]
    switching: float
    holding: float
    losses: tuple[float, ...]
    missed: float
    selection: Choice
    leavings: tuple[Leaving, ...] = ()

    @property
    def lasted(self) -> float:
        """Duration of the step [s]."""
        return float(self.runs[-1].t[-1])

    @property
    def supplied(self) -> float:
        """What the spacecraft supplied for it [J]; see `Plan.energies`."""
        put_in = math.fsum(float(run.work[-1]) for run in self.runs)
        return max(0.0, self.switching) + max(0.0, put_in) + self.holding * self.lasted


class Replay(Trajectory):
    """A run through all steps of a plan; a step begins where the one before has ended.

    What a `Trajectory` has, over all bodies and the joints of the system itself; and: legs;
    switched [J], what switching has put in so far (k,); lost [J], what joints have taken when they
    took hold and as states were put back onto them, and what was left of motions when they counted
    as over (k,); power [W], what the spacecraft supplies at each time, without the spikes of
    switching (k,). energy + dissipated + lost - work - switched stays what it was. The last row of
    each leg is the node of the graph that it reached."""

    legs: tuple[Leg, ...]

    def __init__(self, graph: Graph, legs: list[Leg]) -> None:
        self.graph, self.legs = graph, tuple(legs)
        system = graph.study.system
        super().__init__(
            system,
            legs[0].runs[0].start.on(system.selection),
            legs[0].runs[0].settings,
            join_courses(legs, system),
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
        """The replay with states at least every `step` [s]."""
        denser = [
            leg._replace(runs=tuple(run.sampled(step) for run in leg.runs)) for leg in self.legs
        ]
        return Replay(self.graph, denser)

    @cached_property
    def kinetic(self) -> Floats:
        """Kinetic energy [J] (k,)."""
        return np.concatenate([run.kinetic for leg in self.legs for run in leg.runs])

    @cached_property
    def potential(self) -> Floats:
        """Potential energy of all forces that acted then and have one [J] (k,)."""
        return np.concatenate([run.potential for leg in self.legs for run in leg.runs])

    @property
    def supplied(self) -> float:
        """What the spacecraft supplied in all [J]; `Plan.energy` foretells it."""
        return math.fsum(leg.supplied for leg in self.legs)

    @property
    def waiting(self) -> float:
        """How long it stayed near unstable rests [s]; the rest of the time `Plan.time`
        foretells."""
        return math.fsum(leaving.waiting for leg in self.legs for leaving in leg.leavings)

    @property
    def waits(self) -> Waits:
        """The times at which the motion waits near unstable rests, and how long [s]: films leave
        that out."""
        return tuple((leg.t + at.t, at.waiting) for leg in self.legs for at in leg.leavings)

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
        """What joints have taken so far [J] (k,): when they took hold, and as states were put back
        onto them."""
        ends = [loss for leg in self.legs for loss in leg.losses]
        return (
            super().lost
            + self.projected
            + self._stretches([0.0, *(float(x) for x in np.cumsum(ends)[:-1])])
        )

    @cached_property
    def power(self) -> Floats:
        """What the spacecraft supplies at each time [W] (k,): holding power, and the work of loads
        per second."""
        dt, dw = np.diff(self.t), np.diff(self.work)
        rate = np.append(0.0, np.where(dt > 0.0, dw / np.where(dt > 0.0, dt, 1.0), 0.0))
        return np.asarray(self._each([leg.holding for leg in self.legs]) + np.maximum(rate, 0.0))

    def _each(self, values: list[float]) -> Floats:
        """A value of each leg at all of its times (k,)."""
        return self._stretches(
            [value for leg, value in zip(self.legs, values, strict=True) for _ in leg.runs]
        )

    def _stretches(self, values: list[float]) -> Floats:
        """A value of each stretch at all of its times (k,)."""
        return np.repeat(values, [len(run.t) for leg in self.legs for run in leg.runs])


def join_courses(legs: list[Leg], system: Any) -> Course:
    """All stretches as one course, on the coordinates of the system itself."""
    t, states, angles, drift, tails, events = [], [], [], [], [], []
    counts, ledger = np.zeros(3, dtype=int), zero_rows()
    for leg in legs:
        for run in leg.runs:
            names = list(run.start.joints)
            which = [names.index(name) for name in system.initial.joints]
            rows = run.course.states.copy()
            ledger_of(rows)[:] += ledger
            ledger = ledger_of(rows)[-1].copy()
            t.append(run.t + leg.t)
            states.append(rows)
            angles.append(run.course.angles[:, which])
            drift.append(run.course.drift)
            tails.append(run.course.tail)
            events += [Happening(event.t + leg.t, *event[1:]) for event in run.events]
            counts += run.counts
    last = legs[-1].runs[-1].course
    return Course(
        np.concatenate(t), np.concatenate(states), np.concatenate(angles), np.concatenate(drift),
        last.stop, tuple(events), Counts(*(int(c) for c in counts)), last.step,
        tail=np.concatenate(tails) if last.tail.size else last.tail,
    )  # fmt: skip


def replay(graph: Graph, plan: Any) -> Replay:
    """A plan flown step by step, each from where the one before has ended, as
    `ReconfigurationGraph.replay` says."""
    _check_plan(plan)
    legs: list[Leg] = []
    goals = plan.nodes[1:] if isinstance(plan, Plan) else [str(edge.target) for edge in plan]
    node, t = graph.nodes[plan[0].source], 0.0
    cones, holdings = Cones(Symmetry(graph.study)), Holdings(graph.study)
    for edge, goal in zip(plan, goals, strict=True):
        choice = transfer_choice(
            cones, holdings, graph.nodes[edge.source], node, edge.selection, edge
        )
        leg, node = fly_step(graph, holdings, node, choice, edge, goal, t)
        legs.append(leg)
        t += leg.lasted
    return Replay(graph, legs)


def _check_plan(plan: Any) -> None:
    """Refuse what is no plan, and steps that lead to no node for certain."""
    if isinstance(plan, str) or not all(hasattr(step, "selection") for step in plan):
        raise PartError(f"replay: {show(plan)} is no plan; give one, or a list of edges.")
    if not len(plan):
        raise PartError("replay: the plan has no steps; plan a way from one node to another.")
    for edge in () if isinstance(plan, Plan) else plan:
        if edge.target is None:
            raise PartError(
                f"replay: {edge!r} leads to no node for certain; plan along it with "
                "ambiguous=True, if to any."
            )


def transfer_choice(
    cones: Cones, holdings: Holdings, known: Node, node: Node, choice: Choice, what: object
) -> Choice:
    """A choice at a node of the graph, said of the place where the step before has ended: modules
    that are alike may have changed places there, or stand otherwise turned.  What holds it open
    stands for what holds the node open. what: is refused where that cannot be said."""
    symmetry = cones.symmetry
    study = symmetry.study
    if node is known:
        return choice
    rolls, held = dict(study.open_pairs(known)), {link.pair: link for link in known.links}
    asked = [
        Link(study.numbers[name], rolls[study.numbers[name]], label)
        for name, label in choice.joints
    ]
    for exchange, _, _ in symmetry.carriers(
        known.state, node.state, REPORTED_MISS * study.shapes.tolerance
    ):
        potential = exchange.potentials.get(choice.potential)
        if potential is None or not (
            same_shape(study.shapes, exchange) and cones.is_invariant(exchange)
        ):
            continue
        matching = holdings.matching(exchange, known, node)
        if matching is None:
            continue
        links = (_transfer_link(symmetry, exchange, matching, held, link) for link in asked)
        made = sorted(link for link in links if link is not None)
        if [link[:2] for link in made] == study.open_pairs(node):
            return Choice(
                tuple((study.pairs[link.pair].name, link.option) for link in made), potential
            )
    raise _refusal_of(what)


def _transfer_link(
    symmetry: Symmetry, exchange: Exchange, matching: Matching, held: dict[int, Link], link: Link
) -> Link | None:
    """A link of a choice after an exchange: where it holds the node open, by what holds that open
    there; None where the exchange leaves no such pair."""
    open_here = matching.get(held.get(link.pair, link))
    if open_here is None:
        return symmetry.link(exchange, link)
    return open_here if link == held[link.pair] else open_here._replace(option=link.option)


def _refusal_of(what: object) -> PartError:
    """Why a step cannot begin where the one before has ended."""
    return PartError(
        f"replay: {what} cannot begin where the step before has ended: there modules stand for "
        "others that are not "
        "alike to the dynamics, or of which others must stay clear; declare only such as "
        "interchangeable."
    )


def same_shape(shapes: Shapes, exchange: Exchange) -> bool:
    """Whether modules stand for others, and are turned, as the study allows for what is one
    shape."""
    for a, (b, own) in enumerate(zip(exchange.to, exchange.own, strict=True)):
        off = min(
            float(np.linalg.norm(sign * turn - own))
            for turn in shapes.turns[b]
            for sign in (1.0, -1.0)
        )
        if shapes.kinds[a] != shapes.kinds[b] or off > shapes.tolerance:
            return False
    return True


def fly_step(
    graph: Graph, holdings: Holdings, node: Node, choice: Choice, edge: Edge, key: str, t: float
) -> tuple[Leg, Node]:
    """A step from where the one before has ended, left in whatever way leads to the target; and
    where it ends."""
    from quirkpy.explore.model.graph import Outcome

    study, goal = graph.study, graph.nodes[key]
    begun = begin(study, node, choice, study.universe(node))
    if isinstance(begun, Outcome):
        raise PartError(
            f"replay: {edge!r} cannot begin where the step before has ended: {begun.reason}."
        )
    ends = list(_ends_at(study, holdings, begun, choice, goal, edge))
    if not ends:
        raise PartError(
            f"replay: {edge!r} does not lead to {key} from where the step before has ended; "
            "explore again, with a "
            "smaller tolerance of shapes."
        )
    missed, _, ended, there = min(ends, key=lambda end: (end[0] > study.shapes.tolerance, *end[:2]))
    runs, losses = at_rest(ended, begun)
    held = holding(study, choice)
    return Leg(edge, t, runs, begun.switching, held, losses, missed, choice, ended.leavings), there


def _ends_at(
    study: Scope, holdings: Holdings, begun: Begun, choice: Choice, goal: Node, edge: Edge
) -> Iterator[tuple[float, bool, Ended, Node]]:
    """Motions of a choice that end at the shape of a node and are held alike: by how much they miss
    it, whether saddles were left in another way than by the edge, the motion, and its end."""
    from quirkpy.explore.model.graph import node_of

    for ended, nudge in motions(study, begun.system, begun.links, choice):
        if ended.violation is None and ended.found.verdict != "never settles":
            record = record_of(study, ended.found, ended.links, choice.potential)
            there = node_of(record, goal.number, goal.state.bodies)
            missed = study.shapes.distance(
                *(poses_of(end.state.r, end.state.q) for end in (goal, there))
            )
            near = missed <= REPORTED_MISS * study.shapes.tolerance
            if near and holdings.are_equivalent(goal, there):
                yield missed, nudge != edge.nudge, ended, there


def at_rest(ended: Ended, begun: Begun) -> tuple[tuple[Trajectory, ...], tuple[float, ...]]:
    """The stretches of a motion with its rest as the last one, joints taken hold, and the energy
    that goes at the end of each [J]."""
    found, runs = ended.found, ended.runs or (begun.run,)
    assert found.system is not None
    still = np.zeros_like(found.state.v)
    state = replace(found.state, t=float(runs[-1].t[-1]), v=still, omega=still)
    rest = stand(found.system.at(state))
    return (*runs, rest), (*ended.losses[:-1], float(runs[-1].energy[-1] - rest.energy[0]), 0.0)
