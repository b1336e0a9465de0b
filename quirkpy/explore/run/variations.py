"""Perturbations of an edge: starts, masses, forces and hinges that differ from their nominal
values."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quirkpy.explore.model.chances import Spread
from quirkpy.explore.model.graph import Node, Outcome
from quirkpy.explore.run.runner import begin, directions, rule_of
from quirkpy.explore.scope.choices import Choice
from quirkpy.explore.scope.options import freedoms_of
from quirkpy.explore.scope.scope import Scope
from quirkpy.kernels.base.arrays import UPPER
from quirkpy.kernels.base.states import quantities_of
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import rotate
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.engine import Layout
from quirkpy.mechanics.state import State
from quirkpy.motion.capture import FAR
from quirkpy.parts.event import SensorsMeet
from quirkpy.parts.part import PartError
from quirkpy.rest.newton import size_of
from quirkpy.rest.settle import nudge_along, settle
from quirkpy.rest.vicinity import Vicinity
from quirkpy.system.multibody import Multibody
from quirkpy.tables import Selection
from quirkpy.tables.tables import ANGLE, Tables
from quirkpy.tables.vary import VARIED, has_strength, vary

#: The numbers of the two bodies of a joint.
Bar: TypeAlias = tuple[int, int]
#: The quantity that a parameter perturbs.
What: TypeAlias = Literal["start", "speed", "mass", "strength", "hinge"]
#: Number of samples drawn at once.
BLOCK = 64
#: Largest number of times that a start beyond a stop is drawn again.
DRAWN_AGAIN = 1000
#: Largest displacement for which clearances are linear enough [m or rad]: derivatives of
#: coordinates change by less than half; step of their finite differences.
LINEAR_REACH, DIFFERENCE_STEP = 0.05, 1e-6
#: Distance of angles from half a turn [rad] that such displacements cannot pass.
HALF_TURN_MARGIN = 0.5


class Parameter(NamedTuple):
    """One perturbed number: its quantity, and its part, freedom or axis."""

    what: What
    of: str
    axis: int = 0

    @property
    def name(self) -> str:
        """The name of the parameter in answers."""
        axis = f" {'xyz'[self.axis]}" if self.what == "hinge" else ""
        return f"{self.what} of {self.of}{axis}" if self.of else f"{self.what} {self.axis + 1}"


class Variations:
    """A choice at a node, and the perturbed systems.

    A vector x has a number for each of `parameters`, in the units of `Spread`; zeros give the
    nominal system and start. nudge: the displacement of the edge from an unstable start. Everything
    is compiled once; only numbers are exchanged."""

    def __init__(
        self, study: Scope, node: Node, choice: Choice, nudge: tuple[float, int] | None
    ) -> None:
        begun = begin(study, node, choice, study.universe(node))
        if isinstance(begun, Outcome):
            raise PartError(
                f"robustness: {choice} cannot begin at {node.key}: {begun.reason}.", code="pose"
            )
        self.study, self.links, self.system = study, begun.links, begun.system
        self.start = _nudged_start(study, begun.system, nudge)
        self.around = Vicinity(self.system.clusters, replace(self.start, held=()))
        self.places = _places(self.system, self.start)
        self.parameters = self._parameters()
        self._known: list[tuple[Floats, State]] = []  # the starts of the last block

    def _parameters(self) -> tuple[Parameter, ...]:
        tables = self.system.tables
        free = range(self.around.freedoms)
        acting = [tables.force_names[k] for k in self.system.selection.forces]
        return (
            *(Parameter("start", "", k) for k in free),
            *(Parameter("speed", "", k) for k in free),
            *(Parameter("mass", body) for body in self.system.bodies),
            *(Parameter("strength", force) for force in acting if has_strength(tables, force)),
            *(Parameter("hinge", joint, axis) for joint in self.places for axis in range(3)),
        )

    def scale(self, spread: Spread) -> Floats:
        """The spread of each parameter (p,)."""
        return np.array([getattr(spread, parameter.what) for parameter in self.parameters])

    def draw(self, spread: Spread, seed: int, samples: range) -> Iterator[Floats]:
        """The parameters of some samples (p,), from `blocks`."""
        return (x for block in self.blocks(spread, seed, samples) for x in block)

    def blocks(self, spread: Spread, seed: int, samples: range) -> Iterator[list[Floats]]:
        """The parameters of some samples (p,), normally distributed; the same in every process.

        They are drawn in blocks that begin at multiples of `BLOCK`; the starts of a block are
        projected onto the joints together."""
        for block in range(samples.start // BLOCK, -(-samples.stop // BLOCK)):
            wanted = range(
                max(samples.start - block * BLOCK, 0), min(samples.stop - block * BLOCK, BLOCK)
            )
            found = self._block(spread, np.random.default_rng((seed, block)))
            self._known = list(zip(found, self._states(found), strict=True))
            yield [found[k] for k in wanted]

    def _block(self, spread: Spread, rng: np.random.Generator) -> list[Floats]:
        """A block of samples. A start in which closed faces would overlap is drawn again."""
        scale, free = self.scale(spread), self.around.freedoms
        made = scale * rng.standard_normal((BLOCK, len(scale)))
        for _ in range(DRAWN_AGAIN):
            refused = np.flatnonzero(~self.are_allowed(made))
            if not len(refused):
                return list(made)
            made[refused, :free] = scale[:free] * rng.standard_normal((len(refused), free))
        raise PartError(
            f"robustness: of {DRAWN_AGAIN} starts drawn none is free of the stops; give a smaller "
            "start= spread.",
            code="pose",
        )

    # --- starts -----------------------------------------------------------------------------------
    @cached_property
    def _steps(self) -> Floats:
        """The length along each freedom of a displacement of 1 m or 1 rad of the body that moves
        most (f,)."""
        return np.array([1.0 / size_of(self.around, unit) for unit in np.eye(self.around.freedoms)])

    def state(self, x: Floats) -> State:
        """The start for some parameters; only displacements and speeds matter."""
        for y, state in self._known:
            if y is x:
                return state
        self._known = [(x, self._states([x])[0])]
        return self._known[0][1]

    def _states(self, some: Sequence[Floats]) -> list[State]:
        """The starts at several parameters."""
        f = self.around.freedoms
        moves = np.array(some)[:, : 2 * f]
        if not moves.any():
            return [self.start] * len(moves)
        around = self.around
        rows = around.answers(
            around.states_at(self._steps * moves[:, :f], self._steps * moves[:, f:])
        ).rows
        ways, turns = (abs(some).sum(axis=1).tolist() for some in (moves, moves[:, :f]))
        lengths = zip(ways, turns, rows, strict=True)
        return [
            self.start
            if not any_way
            else self._displace(y)
            if self._plain and far <= LINEAR_REACH
            else around.state_of(y)
            for any_way, far, y in lengths
        ]

    def _displace(self, rows: Floats) -> State:
        """The state from rows so near that no angle has passed half a turn."""
        s = self.start
        r, q, v, omega = quantities_of(rows)
        return State(s.t, s.bodies, r, q, v, omega, s.joints, s.windings, further=s.further)

    @cached_property
    def _plain(self) -> bool:
        """Whether rows are bodies, and no angle is near half a turn."""
        s = self.around.state
        values = self.around.at.coordinates(np.arange(len(s.joints)))[:, 0]
        angles = values[self.system.tables.coordinate_kind == ANGLE]
        turns = abs(np.remainder(angles, 2.0 * np.pi) - np.pi)
        return self.around.entry.merger is None and bool((turns > HALF_TURN_MARGIN).all())

    def stands(self, x: Floats) -> bool:
        """Whether the start is the pose of the node itself, at rest, and so may be an
        equilibrium."""
        return self.start is self.system.initial and not x[: 2 * self.around.freedoms].any()

    def allows(self, x: Floats) -> bool:
        """Whether a start lies beyond no stop."""
        return bool(self.are_allowed(x[None])[0])

    def are_allowed(self, some: Floats) -> NDArray[np.bool_]:
        """Which of some samples (k, p) begin beyond no stop and no bound (k,)."""
        moves = some[:, : self.around.freedoms]
        out = np.ones(len(moves), dtype=bool)
        if not len(self._stops) or not moves.any():
            return out
        slopes, free = self._clearance_slopes
        nearly, moved = free + moves @ slopes.T, abs(moves) @ abs(slopes).T
        out &= (nearly >= -TOUCHING).all(axis=1)
        sure = (abs(moves).sum(axis=1) <= LINEAR_REACH) & (abs(nearly) >= 0.5 * moved).all(axis=1)
        for k in np.flatnonzero(~sure & moves.any(axis=1)):
            out[k] = (self._clearances(some[k]) >= -TOUCHING).all()
        return out

    @property
    def _stops(self) -> Any:
        return self.around.layout.stops.what

    def _clearances(self, x: Floats) -> Floats:
        """The distances of coordinates from their stops (ns,)."""
        stops = self.around.layout.stops
        here = self.state(x).instant(self.around.layout.selection)
        values = here.coordinates(stops.what[:, STOP_COORDINATE])[:, 0]
        free = stops.numbers[:, SIDE] * (values - stops.numbers[:, BOUND])
        return np.where(self.around.layout.bounding, free, FAR)

    @cached_property
    def _clearance_slopes(self) -> tuple[Floats, Floats]:
        """Clearances from bounds to first order, from a small step: derivatives (ns, f) and values
        at the start (ns,)."""
        f, here = self.around.freedoms, self._clearances(np.zeros(len(self.parameters)))
        steps = DIFFERENCE_STEP * np.eye(len(self.parameters))[:f]
        slopes = [
            (self._clearances(step) - self._clearances(-step)) / (2.0 * DIFFERENCE_STEP)
            for step in steps
        ]
        return np.array(slopes).T.reshape(len(here), f), here

    def play(self, x: Floats) -> float:
        """Upper bound of the displacement of bodies from their nominal poses [m]: half a turn about
        a displaced hinge moves what it carries by twice the displacement, and the displacements of
        hinges in series add up."""
        first = 2 * self.around.freedoms
        moved: dict[str, Floats] = {}
        for (what, name, axis), value in zip(
            self.parameters[first:], x[first:].tolist(), strict=True
        ):
            if what == "hinge":
                moved.setdefault(name, np.zeros(3))[axis] = value
        return 2.0 * math.fsum(float(np.linalg.norm(shift)) for shift in moved.values())

    # --- systems ----------------------------------------------------------------------------------
    def at(self, x: Floats) -> Multibody:
        """The system for some parameters, in its start; it is valid until the next call."""
        own, made = (
            self._own,
            self.system.on_tables(self._tables(self.system.tables, x), self.state(x)),
        )
        if own is not None:
            own.fit(made)
        return made

    def numbers(self, x: Floats) -> dict[str, Floats]:
        """The arrays of tables in which the perturbed system differs."""
        tables = self._tables(self.system.tables, x)
        return {name: getattr(tables, name) for name in VARIED}

    @property
    def plain(self) -> bool:
        """Whether the systems differ only in numbers of one layout, without Python code."""
        return self._own is not None

    def also(self, x: Floats, system: Multibody) -> Multibody:
        """Another system of these bodies and forces, with other joints, for the same parameters.

        A connector that has closed since moves the bodies to where it fits, which removes the play
        of all hinges in the loops that it closes: these have their nominal positions."""
        tables = self._tables(system.tables, x, self._drawn_tight(system))
        return system.on_tables(tables, system.initial)

    def _drawn_tight(self, system: Multibody) -> set[str]:
        """The hinges in loops closed by joints that the system of the start does not have."""
        t, acting = system.tables, system.selection.joints
        known = self.system.selection.joint_names
        ends = (t.site_body[sites[acting]].tolist() for sites in (t.joint_site1, t.joint_site2))
        present = dict(zip(system.selection.joint_names, zip(*ends, strict=True), strict=True))
        new = [bar for name, bar in present.items() if name not in known]
        return {
            name
            for name in present.keys() & self.places.keys()
            if any(share_a_loop(present[name], bar, tuple(present.values())) for bar in new)
        }

    def _tables(self, tables: Tables, x: Floats, tight: Container[str] = ()) -> Tables:
        """Tables with perturbed numbers, for the parameters whose parts they contain; tight: hinges
        in their nominal positions."""
        masses: dict[str, float] = {}
        strengths: dict[str, float] = {}
        shifts: dict[str, Floats] = {}
        first = 2 * self.around.freedoms
        for (what, name, axis), value in zip(
            self.parameters[first:], x[first:].tolist(), strict=True
        ):
            if value and what == "mass":
                masses[name] = math.exp(value)
            elif value and what == "strength" and name in tables.force_index:
                strengths[name] = math.exp(value)
            elif value and what == "hinge" and name in tables.joint_index and name not in tight:
                shifts.setdefault(name, np.zeros(3))[axis] = value
        if not (masses or strengths or shifts):
            return tables
        return vary(tables, masses, strengths, self._shift_sites(tables, shifts))

    def _shift_sites(self, tables: Tables, shifts: dict[str, Floats]) -> dict[int, Floats]:
        """Rows and points of the sites of joints that are shifted [m]."""
        out = {}
        for name, shift in shifts.items():
            k = tables.joint_index[name]
            for row, axes in zip(
                (tables.joint_site1[k], tables.joint_site2[k]), self.places[name], strict=True
            ):
                out[int(row)] = tables.site_point[row] + axes @ shift
        return out

    @cached_property
    def _own(self) -> _Own | None:
        """None where locks merge bodies, or users' Python code is active: then each system needs a
        new layout."""
        layout = Layout(self.system.selection)
        with layout.lend() as engine:
            plain = self.system.clusters.merger is None and not engine.conditions.hook.any()
        return _Own(self.system.selection) if plain else None


def share_a_loop(one: Bar, two: Bar, bars: Sequence[Bar]) -> bool:
    """Whether two bars of a framework lie in one closed loop that passes no joint twice (Menger):
    the two remain connected if any one joint of the framework is removed. Here bodies are the
    joints of the framework, and joints its bars."""
    places = {place for bar in bars for place in bar}
    return all(
        reachable(set(one) - {gone}, [bar for bar in bars if gone not in bar]) & (set(two) - {gone})
        for gone in places
    )


def reachable(begun: set[int], bars: Sequence[Bar]) -> set[int]:
    """All places connected with given ones by bars."""
    found, before = set(begun), 0
    while len(found) > before:
        before = len(found)
        for bar in bars:
            if not found.isdisjoint(bar):
                found |= set(bar)
    return found


class _Own:
    """One layout for all systems that differ only in numbers, with its own arrays for these."""

    def __init__(self, selection: Selection) -> None:
        self.layout = Layout(selection)
        p = self.layout.packed
        self.layout.packed = p._replace(
            sites=p.sites._replace(place=p.sites.place.copy()), bodies=p.bodies.copy(),
            elements=p.elements._replace(numbers=p.elements.numbers.copy()),
            schedules=p.schedules._replace(knots=p.schedules.knots.copy()),
        )  # fmt: skip

    def fit(self, system: Multibody) -> None:
        """Adapt the layout to another system that differs only in numbers."""
        t, p = system.tables, self.layout.packed
        p.sites.place[:, :3] = t.site_point
        p.bodies[:, 0], p.bodies[:, 1:] = t.body_mass, t.body_inertia.reshape(-1, 9)[:, UPPER]
        p.elements.numbers[:] = t.element_numbers
        p.schedules.knots[:, 1:] = t.knot_value
        vars(system)["clusters"] = Clusters(system.selection, self.layout.on(system.selection))


def _nudged_start(study: Scope, system: Multibody, nudge: tuple[float, int] | None) -> State:
    """The start of the motion of an edge: an unstable one is displaced along one of its
    directions."""
    if nudge is None:
        return system.initial
    first = settle(system, rule_of(study, 0.0, (SensorsMeet(),)))
    if first.run is not None:  # it came to rest on a saddle on its way
        return system.initial
    size, k = nudge
    state = nudge_along(Vicinity(system.clusters, first.state), directions(first)[k], size)
    if state is None:
        raise PartError(
            "robustness: a stop is in the way of the sense in which the edge leaves its start.",
            code="pose",
        )
    return state


def _places(system: Multibody, state: State) -> dict[str, tuple[Floats, Floats]]:
    """For the selected joints that move: axes of site 1, in the axes of each of its two bodies (3,
    3)."""
    t, out = system.tables, {}
    turns = np.concatenate([state.q, [(1.0, 0.0, 0.0, 0.0)]])
    for k in system.selection.joints:
        if freedoms_of(t.joints[k]) > 0:
            one, two = (t.site_body[row] for row in (t.joint_site1[k], t.joint_site2[k]))
            axes = t.site_axes[t.joint_site1[k]].reshape(3, 3)
            in_n = rotate(turns[one][None], axes.T).T
            there = rotate(turns[two][None] * (1.0, -1.0, -1.0, -1.0), in_n.T).T
            out[t.joint_names[k]] = axes, there
    return out
