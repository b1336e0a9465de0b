"""Draws bodies, joints and forces at random, and writes them into a world that may be turned, moved
and rescaled.

Numbers are drawn before the world touches them: the same seed in two worlds is the same system seen
by two observers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.parts.part import Part
from tests.user_parts import Attraction, Compass, Cylindrical, Drag, Slot, Table, Universal, Wave

#: The instant at which random systems are looked at [s]; waves stand at their written height then.
INSTANT = 0.7
JOINTS = (
    qp.Spherical, qp.Revolute, qp.Fixed, qp.Prismatic, qp.Distance, Universal, Cylindrical, Slot,
    Table, Wave,
)  # fmt: skip
#: Joints that are looked at away from their zero, and along which axes they have moved.
SLIDING = {
    qp.Prismatic: (0.0, 0.0, 1.0),
    Cylindrical: (0.0, 0.0, 1.0),
    Slot: (0.0, 0.0, 1.0),
    Table: (1.0, 1.0, 0.0),
    Universal: (0.0, 0.0, 0.0),
}
#: Joints whose two ends play the same part.
SYMMETRIC = (qp.Spherical, qp.Revolute, qp.Fixed, qp.Prismatic, qp.Distance)


@dataclass(frozen=True)
class World:
    """Where everything is written down: turned, then moved, with lengths measured in another
    unit."""

    turn: Any = field(default_factory=lambda: qp.rotation((0, 0, 1), 0.0))
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    metre: float = 1.0  # how many units of length a metre has
    swap: bool = False  # the two bodies of symmetric joints and forces change places

    @property
    def matrix(self) -> Floats:
        """The turn as a matrix."""
        w, x, y, z = self.turn.w, self.turn.x, self.turn.y, self.turn.z
        lever = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + 2.0 * w * lever + 2.0 * lever @ lever

    def direction(self, a: Floats) -> Floats:
        """A direction in N."""
        return self.matrix @ a

    def vector(self, a: Floats) -> Floats:
        """A displacement, velocity, acceleration or force in N: one metre in it."""
        return self.metre * (self.matrix @ a)

    def point(self, p: Floats) -> Floats:
        """A place in N."""
        return self.vector(p) + self.metre * np.asarray(self.shift)

    def pair(self, one: Any, two: Any) -> tuple[Any, Any]:
        """Two ends, swapped where this world swaps them."""
        return (two, one) if self.swap else (one, two)


class Workshop:
    """Parts drawn from one seed.  `centre` remembers where each body stands, as drawn."""

    def __init__(
        self, seed: Sequence[int], world: World, *, driven: bool, conservative: bool
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.world, self.driven, self.conservative = world, driven, conservative
        self.parts: list[Part] = []
        self.centre: dict[qp.Body, Floats] = {qp.GROUND: np.zeros(3)}

    # --- numbers ----------------------------------------------------------------------------------
    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def decades(self, low: float, high: float) -> float:
        """A number whose logarithm is uniform between two powers of ten."""
        return 10.0 ** self.between(low, high)

    def cube(self, size: float = 1.0) -> Floats:
        """A point in the cube from -size to size."""
        return self.rng.uniform(-size, size, 3)

    def unit(self) -> Floats:
        """A direction."""
        a = self.rng.normal(size=3)
        return a / math.hypot(*a)

    def turn(self) -> Any:
        """Any rotation."""
        a = self.rng.normal(size=4)
        return qp.Quaternion(*(a / math.hypot(*a)))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choose(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def name(self, noun: str) -> str:
        return f"{noun}{len(self.parts)}"

    def add(self, part: Any) -> Any:
        self.parts.append(part)
        return part

    # --- bodies -----------------------------------------------------------------------------------
    @property
    def bodies(self) -> list[qp.Body]:
        """All bodies but the ground."""
        return [p for p in self.parts if isinstance(p, qp.Body)]

    @property
    def moving(self) -> list[qp.Body]:
        """The bodies that move."""
        return [b for b in self.bodies if not b.fixed]

    def body(self, centre: Floats | None = None, *, fixed: bool = False) -> qp.Body:
        """A box of any size, turned in its own axes so that its inertia is a full matrix; three
        decades of mass."""
        centre = self.cube() if centre is None else centre
        mass = self.decades(-1.5, 1.5)
        squares = (self.decades(-1.2, 0.2) * self.rng.uniform(0.3, 1.0, 3)) ** 2
        principal = mass / 12.0 * (squares.sum() - squares)
        axes = World(self.turn()).matrix
        turn = self.turn()
        made = qp.Body(
            self.name("fixed" if fixed else "body"), mass=mass,
            inertia=self.world.metre**2 * (axes * principal) @ axes.T,
            position=self.world.point(centre), orientation=self.world.turn * turn, fixed=fixed,
        )  # fmt: skip
        self.centre[made] = centre
        return self.add(made)

    def root(self) -> qp.Body:
        """Where a tree begins: on the ground, on a fixed body or on a floating one."""
        return self.choose((lambda: qp.GROUND, lambda: self.body(fixed=True), self.body))()

    def box(self, centre: Floats, side: float) -> qp.Body:
        """A uniform cube that stands square to the world, two decades of mass."""
        made = qp.Body.box(
            self.name("cube"), [self.world.metre * side] * 3, self.decades(-1.0, 1.0),
            position=self.world.point(centre), orientation=self.world.turn,
        )  # fmt: skip
        self.centre[made] = centre
        return self.add(made)

    # --- joints -----------------------------------------------------------------------------------
    def join(
        self, one: qp.Body, two: qp.Body, kinds: Sequence[type] = JOINTS,
        axis: Floats | None = None, at: Floats | None = None,
    ) -> Any:  # fmt: skip
        """A joint of one of the kinds, somewhere between the two bodies."""
        kind = self.choose(kinds)
        middle = 0.5 * (self.centre[one] + self.centre[two]) + self.cube(0.3)
        point, axis = middle if at is None else at, self.unit() if axis is None else axis
        name = self.name(kind.__name__)
        if kind is Wave:
            return self.add(self._wave(name, one, two, point, axis))
        ends = self.world.pair(one, two) if kind in SYMMETRIC else (one, two)
        if kind in SLIDING:
            return self.add(
                kind(
                    name, *self._apart(name, one, two, point, SLIDING[kind], swap=kind in SYMMETRIC)
                )
            )
        if kind is qp.Distance:
            outward = self.world.pair(point, self.centre[two] + self.cube(0.3))
            return self.add(kind(name, *ends, **self._ends(*outward)))
        place: dict[str, Any] = {"at": self.world.point(point)}
        if kind.takes_axis:
            place["axis"] = self.world.direction(axis)
        return self.add(kind(name, *ends, **place))

    def _ends(self, one: Floats, two: Floats) -> dict[str, Any]:
        return {"at1": self.world.point(one), "at2": self.world.point(two)}

    def _site(self, body: qp.Body, name: str, point: Floats, axes: Floats) -> qp.Site:
        """A frame drawn in N, on a body."""
        return body.site_at(name, self.world.point(point), self.world.matrix @ axes)

    def _apart(
        self,
        name: str,
        one: qp.Body,
        two: qp.Body,
        point: Floats,
        free: Sequence[float],
        *,
        swap: bool,
    ) -> tuple[qp.Site, qp.Site]:
        """Two sites with the same axes, the second moved along those that are free."""
        axes = World(self.turn()).matrix
        other = point + axes @ (free * self.cube(0.5))
        sites = self._site(one, name, point, axes), self._site(two, name, other, axes)
        return self.world.pair(*sites) if swap else sites

    def _wave(self, name: str, one: qp.Body, two: qp.Body, point: Floats, axis: Floats) -> Wave:
        """Site 2 starts off the top of the bent surface, so that every term counts."""
        across = np.cross(axis, self.unit())
        across /= math.hypot(*across)
        axes = np.column_stack([across, np.cross(axis, across), axis])
        bend, x, y = self.between(-1.0, 1.0), self.between(-0.5, 0.5), self.between(-0.5, 0.5)
        swing = self.between(0.1, 0.5)
        touch = point + axes @ [x, y, bend * (x * x + y * y)]
        sites = self._site(one, name, point, axes), self._site(two, name, touch, axes)
        return Wave(
            name, *sites, bend=bend / self.world.metre,
            swing=self.world.metre * swing if self.driven else 0.0, pace=2.0 * math.pi / INSTANT,
        )  # fmt: skip

    # --- forces -----------------------------------------------------------------------------------
    def any_two(self) -> tuple[qp.Body, qp.Body]:
        """Two bodies, the ground among them; at least one of them moves."""
        one = self.choose(self.moving)
        return self.world.pair(one, self.choose([b for b in (*self.bodies, qp.GROUND) if b != one]))

    def damping(self, low: float, high: float) -> float:
        """A damping coefficient; none in a conservative system."""
        value = self.decades(low, high)
        return 0.0 if self.conservative else value

    def points(self, one: qp.Body, two: qp.Body) -> dict[str, Any]:
        """A point near each of two bodies, in the order in which they are not swapped."""
        made = [self.centre[b] + self.cube(0.3) for b in self.world.pair(one, two)]
        return self._ends(*self.world.pair(*made))

    def gravity(self) -> None:
        self.add(qp.Gravity(self.world.vector(9.81 * self.unit())))

    def spring(self, *, tension_only: bool = False) -> None:
        """A spring, or a rope: taut about as often as slack."""
        ends = self.any_two()
        self.add(
            qp.Spring(
                self.name("spring"),
                *ends,
                **self.points(*ends),
                stiffness=self.decades(0, 2),
                rest_length=self.world.metre * self.between(0.2, 1.5),
                damping=self.damping(-1, 1),
                tension_only=tension_only,
            )
        )

    def damper(self) -> None:
        ends = self.any_two()
        self.add(
            qp.Damper(self.name("damper"), *ends, **self.points(*ends), damping=self.decades(-1, 1))
        )

    def hinge_springs(self) -> None:
        """One on every hinge; a swapped hinge counts its angle the other way."""
        sign = -1.0 if self.world.swap else 1.0
        for hinge in [p for p in self.parts if isinstance(p, qp.Revolute)]:
            self.add(
                qp.HingeSpring(
                    self.name("torsion"),
                    hinge,
                    rest_angle=sign * self.between(-2, 2),
                    stiffness=self.world.metre**2 * self.decades(-2, 1),
                    damping=self.world.metre**2 * self.damping(-2, 0),
                )
            )

    def well(self) -> None:
        body = self.choose(self.moving)
        self.add(
            qp.PotentialWell(
                self.name("well"), body, self.world.point(self.cube()), self.decades(-1, 2)
            )
        )

    def load(self, form: Callable[..., Any]) -> None:
        """A push and a couple in N or in body axes, as numbers, a schedule or a function of
        time."""
        body = self.choose(self.moving)
        inertial = self.chance(0.5)
        turn = self.world.matrix if inertial else np.eye(3)
        force, torque = (
            self.world.metre * turn @ self.cube(5.0),
            self.world.metre**2 * turn @ self.cube(2.0),
        )
        self.add(
            qp.Load(
                self.name("load"),
                body,
                force=form(force),
                torque=form(torque),
                at=self.world.point(self.centre[body] + self.cube(0.3)),
                frame="inertial" if inertial else "body",
            )
        )

    def drag(self) -> None:
        angular = self.world.metre**2 * self.decades(-2, 0)
        self.add(Drag(self.name("drag"), self.choose(self.moving), self.decades(-1, 1), angular))

    def compass(self) -> None:
        field, strength = (
            tuple(self.world.direction(self.unit())),
            self.world.metre**2 * self.decades(-1, 1),
        )
        self.add(
            Compass(
                self.name("compass"), self.choose(self.moving), field, tuple(self.unit()), strength
            )
        )

    def attraction(self) -> None:
        if len(self.moving) > 1:
            one = self.choose(self.moving)
            two = self.choose([b for b in self.moving if b != one])
            strength = self.world.metre**3 * self.decades(-1, 1)
            self.add(
                Attraction(self.name("attraction"), one, two, strength, 0.5 * self.world.metre)
            )

    def forces(self) -> None:
        """About half of all kinds of force."""
        kinds: list[Callable[[], None]] = [
            self.gravity,
            self.hinge_springs,
            self.well,
            self.compass,
            self.attraction,
        ]
        kinds += [
            self.spring,
            self.spring,
            lambda: self.spring(tension_only=True),
            lambda: self.spring(tension_only=True),
        ]
        if not self.conservative:
            kinds += [
                self.damper,
                self.drag,
                *(lambda form=form: self.load(form) for form in (constant, knots, wavy)),
            ]
        for make in kinds:
            if self.chance(0.5):
                make()


# --- forms of a vector in time --------------------------------------------------------------------
def constant(a: Floats) -> Floats:
    """Plain numbers."""
    return a


def knots(a: Floats) -> qp.Schedule:
    """A schedule whose middle is `a` at about the instant that is looked at."""
    return qp.Schedule((0.0, INSTANT + 0.1, 2.0), (0.5 * a, a, -a), "linear")


def wavy(a: Floats) -> Callable[[float], Floats]:
    """A Python function of time."""
    return lambda t: math.cos(3.0 * t) * a
