"""Clusters of locked bodies, written twice: body by body, and with one body for each cluster,
composed by hand.

`assembly(seed)` draws both from the same numbers.  By hand means: mass, mass centre and moments of
inertia summed in N over the members, axes along N at the written pose, which are those of no
member; no locks."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import quirkpy as qp
from tests.random_systems import compatible
from tests.user_parts import Onlooker
from tests.workshop import Workshop, World

SIDE = 0.1  # [m]


@dataclass(frozen=True)
class Assembly:
    """The system with its locks, the one written by hand, and which body of that each member
    belongs to."""

    locked: qp.Multibody
    by_hand: qp.Multibody
    owner: dict[str, str]


def moving(system: qp.Multibody) -> int:
    """How many bodies a run of the system moves."""
    return len(system.clusters.enter(system.initial, True).rows)


def kept_apart(system: qp.Multibody) -> qp.Multibody:
    """The same motion, computed body by body."""
    return system.with_(Onlooker("onlooker"))


def composed(name: str, members: Sequence[qp.Body]) -> qp.Body:
    """One body that is all of its members, with its axes along N."""
    masses = np.array([body.mass for body in members])
    centres = np.array([body.position for body in members])
    centre = masses @ centres / masses.sum()
    inertia = np.zeros((3, 3))
    for body, d in zip(members, centres - centre):
        inertia += body.matrix @ body.inertia_matrix @ body.matrix.T
        inertia += body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return qp.Body(name, masses.sum(), 0.5 * (inertia + inertia.T), position=centre)


class _Drawn:
    """Both systems while they are drawn; `own` finds the body by hand of a member."""

    def __init__(self, seed: int, *, grounded: bool, conservative: bool) -> None:
        self.w = Workshop([77, seed], World(), driven=False, conservative=conservative)
        self.hand: list[Any] = []
        self.own: dict[qp.Body, qp.Body] = {qp.GROUND: qp.GROUND}
        sizes = [int(self.w.choose((1, 2, 3, 5))) for _ in range(3)]
        sizes[1] = max(sizes[1], 3)
        self.clusters = [self.cluster(k, size) for k, size in enumerate(sizes)]
        if grounded:
            self.clusters.insert(0, self.standing())

    # --- clusters ---------------------------------------------------------------------------------
    def cluster(self, number: int, size: int) -> list[qp.Body]:
        """Members locked one to another, any to any before it, and some twice."""
        members = [self.w.body() for _ in range(size)]
        self.lock(members)
        whole = composed(f"cluster{number}", members)
        self.hand.append(whole)
        self.own |= dict.fromkeys(members, whole)
        return members

    def standing(self) -> list[qp.Body]:
        """Members locked to the ground and to a fixed body."""
        members = [qp.GROUND, self.w.body(fixed=True), self.w.body(), self.w.body()]
        self.lock(members)
        self.own |= dict.fromkeys(members, qp.GROUND)
        return members

    def lock(self, members: Sequence[qp.Body]) -> None:
        for k, body in enumerate(members[1:], 1):
            if not body.fixed:
                self.fix(members[int(self.w.rng.integers(k))], body)
        for one, two in itertools.combinations(members, 2):
            if not (one.fixed and two.fixed) and self.w.chance(0.3):
                self.fix(two, one)

    def fix(self, one: qp.Body, two: qp.Body) -> None:
        """A lock in the shorthand, or between two sites that stand askew."""
        name, point = self.w.name("lock"), self.w.cube()
        if self.w.chance(0.5):
            self.w.add(qp.Fixed(name, one, two, at=point))
            return
        axes = World(self.w.turn()).matrix
        self.w.add(qp.Fixed(name, *(body.site_at(name, point, axes) for body in (one, two))))

    # --- what acts on members ---------------------------------------------------------------------
    def both(self, make: Any) -> Any:
        """A part of the locked system, and its twin by hand: make(body of member) writes it."""
        part = self.w.add(make(lambda body: body))
        self.hand.append(make(lambda body: self.own[body]))
        return part

    def member(self, k: int | None = None) -> qp.Body:
        """Of cluster k, or of any that moves."""
        return self.w.choose(self.clusters[-1 - int(self.w.rng.integers(3)) if k is None else k])

    def hinges(self) -> None:
        """A joint between each cluster and the next, and a bar across that may close a loop."""
        for k, kind in enumerate(
            [qp.Revolute, qp.Spherical, qp.Prismatic][: len(self.clusters) - 1]
        ):
            ends, name = (self.member(k), self.member(k + 1)), self.w.name("joint")
            at, place = self.w.cube(), {} if kind is qp.Spherical else {"axis": self.w.unit()}
            joint = self.w.add(kind(name, *ends, at=at, **place))
            self.hand.append(kind(name, *(self.own[body] for body in ends), at=at, **place))
            if kind is qp.Revolute:
                name, numbers = (
                    self.w.name("torsion"),
                    {"stiffness": self.w.decades(-1, 1), "rest_angle": 0.5},
                )
                self.hand.append(qp.HingeSpring(name, self.hand[-1], **numbers))
                self.w.add(qp.HingeSpring(name, joint, **numbers))
        if self.w.chance(0.5):
            ends, name, points = (
                (self.member(0), self.member(-1)),
                self.w.name("bar"),
                (self.w.cube(), self.w.cube()),
            )
            self.both(lambda of: qp.Distance(name, *map(of, ends), at1=points[0], at2=points[1]))

    def forces(self) -> None:
        """Gravity, springs across and within clusters, a well; where energy may change a damper and
        two loads."""
        w = self.w
        gravity = qp.Gravity(9.81 * w.unit())
        w.add(gravity)
        self.hand.append(gravity)
        self.spring(self.member(0), self.member(-1))
        one, two = self.w.rng.choice(len(self.clusters[-2]), 2, replace=False)
        w.add(
            qp.Spring(
                w.name("inside"), self.clusters[-2][one], self.clusters[-2][two], stiffness=3.0
            )
        )
        body, name, stiffness = self.member(), w.name("well"), w.decades(0, 1)
        self.spring(qp.GROUND, body)
        w.add(qp.PotentialWell(name, body, (0.1, 0.2, 0.3), stiffness))
        self.hand.append(
            qp.Spring(
                name,
                qp.GROUND,
                self.own[body],
                at1=(0.1, 0.2, 0.3),
                at2=body.position,
                rest_length=0.0,
                stiffness=stiffness,
            )
        )
        if not w.conservative:
            self.loads()

    def spring(self, one: qp.Body, two: qp.Body) -> None:
        name, points = self.w.name("spring"), (self.w.cube(), self.w.cube())
        stiffness, damping = self.w.decades(0, 1), self.w.damping(-1, 0)
        self.both(
            lambda of: qp.Spring(
                name,
                of(one),
                of(two),
                at1=points[0],
                at2=points[1],
                rest_length=0.5,
                stiffness=stiffness,
                damping=damping,
            )
        )

    def loads(self) -> None:
        """One in N, and one that turns with its body: by hand in the axes of N, along which the
        body is written."""
        w = self.w
        body, name, at, force = self.member(), w.name("push"), w.cube(), w.cube(3.0)
        self.both(lambda of: qp.Load(name, of(body), force=force, at=at))
        body, name, at, force, torque = (
            self.member(),
            w.name("jet"),
            w.cube(),
            w.cube(3.0),
            w.cube(),
        )
        times = (0.0, 0.6, 1.2)  # no bend within the runs of the tests: steps would feel it
        for turn, mine, target in (
            (np.eye(3), w.parts, body),
            (body.matrix, self.hand, self.own[body]),
        ):
            turns = qp.Schedule(times, [k * turn @ torque for k in (1.0, -0.5, 2.0)], "linear")
            mine.append(
                qp.Load(name, target, force=turn @ force, torque=turns, at=at, frame="body")
            )


def assembly(seed: int, *, grounded: bool = False, conservative: bool = False) -> Assembly:
    """Three clusters, on a fourth that stands on the ground or afloat; moving at random, as the
    joints allow."""
    drawn = _Drawn(seed, grounded=grounded, conservative=conservative)
    drawn.hinges()
    drawn.forces()
    locked, by_hand = qp.Multibody(*drawn.w.parts), qp.Multibody(*drawn.hand)
    shape = (len(by_hand.bodies), 3)
    v, omega = drawn.w.rng.uniform(-1, 1, shape), drawn.w.rng.uniform(-1, 1, shape)
    by_hand = by_hand.at(
        compatible(by_hand, dataclasses.replace(by_hand.initial, v=v, omega=omega))
    )
    owner = {
        body.name: whole.name for body, whole in drawn.own.items() if body.name in locked.bodies
    }
    both = Assembly(locked, by_hand, owner)
    return dataclasses.replace(both, locked=locked.at(as_members(both, by_hand.initial)))


def as_members(both: Assembly, state: qp.State) -> qp.State:
    """What the members do when the bodies by hand are in the given state."""
    written = both.locked.initial
    rows = []
    for k, name in enumerate(both.locked.bodies):
        r, q = written.r[k], qp.Quaternion(*written.q[k])
        if both.owner[name] == "ground":
            rows.append((r, [q.w, q.x, q.y, q.z], np.zeros(3), np.zeros(3)))
            continue
        whole: Any = both.by_hand[both.owner[name]]
        now = state[whole.name]
        turn, member = World(now.orientation).matrix, World(q).matrix
        arm, spin, here = (
            turn @ (r - whole.position),
            turn @ now.angular_velocity,
            now.orientation * q,
        )
        own = (turn @ member).T @ spin
        rows.append(
            (
                now.position + arm,
                [here.w, here.x, here.y, here.z],
                now.velocity + np.cross(spin, arm),
                own,
            )
        )
    r, q, v, omega = (np.array(column) for column in zip(*rows, strict=True))
    return dataclasses.replace(written, t=state.t, r=r, q=q, v=v, omega=omega)


def bolted_cubes(n: int = 3) -> qp.Multibody:
    """n^3 cubes of unlike masses, each locked to all neighbours, and a bar on one hinge; turning
    against each other."""
    cells = list(itertools.product(range(n), repeat=3))
    cubes = {
        cell: qp.Body.box(
            f"cube{''.join(map(str, cell))}",
            (SIDE,) * 3,
            1.0 + 0.1 * k,
            position=SIDE * np.array(cell),
        )
        for k, cell in enumerate(cells)
    }
    locks = [
        qp.Fixed(f"{cubes[one].name}-{cubes[two].name}", cubes[one], cubes[two])
        for one, two in itertools.combinations(cells, 2)
        if sum(abs(a - b) for a, b in zip(one, two)) == 1
    ]
    corner = np.array([SIDE * (n - 0.5), 0.0, 0.0])
    bar = qp.Body.box(
        "bar",
        (3 * SIDE, SIDE, SIDE),
        2.0,
        position=corner + (1.5 * SIDE, 0, 0),
        velocity=(0, 1.5 * SIDE, 0),
        angular_velocity=(0, 0, 1),
    )
    hinge = qp.Revolute("hinge", cubes[n - 1, 0, 0], bar, at=corner, axis=(0, 0, 1))
    return qp.Multibody(
        *cubes.values(), bar, *locks, hinge, qp.HingeSpring("torsion", hinge, stiffness=0.5)
    )
