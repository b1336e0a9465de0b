"""Random studies, written down by many hands: turned, shifted, renamed and reordered copies ask one
question.

`random_study(seed, copy)` draws boxes side by side, sensors on their faces, options, wells and
springs, before the copy touches any of it: the same seed in two copies is the same study written by
two hands.  `differences` compares two graphs of one question up to the numbers of their nodes:
nodes are matched along edges, selections by where in space what they hold stands on the bodies."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

import quirkpy as qp
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.graph import Edge, Node, Outcome, rest_at
from quirkpy.explore.run.runner import run_choice
from quirkpy.explore.scope.identity import poses_of
from quirkpy.explore.scope.safety import APART
from quirkpy.maths import quat
from quirkpy.maths.rotations import product, rotate
from quirkpy.maths.types import Floats

SIDE = 0.1  # of a module [m]
LETTERS = "ABCDEFGH"
#: Between modules that pins hold [m]; their magnets [A m2] and rings [m], and how much spinning
#: costs [N m s/rad].
GAP, MAGNET, RING, SPIN = 0.03, 5.7, 0.03, 3e-3
#: Integration errors well below what is compared; what flies about for good is given up early.
EXACT = qp.SettleRule(rtol=1e-12, atol=1e-14, evaluations=3e5)
#: The same for many motions of three, of which those that never end are given up sooner.
SOONER = qp.SettleRule(rtol=1e-12, atol=1e-14, evaluations=5e4)
#: What is said of a motion in numbers, and the powers of length, mass and time of each.
DIMENSIONS = {
    "duration": (0, 0, 1), "switching": (2, 1, -2), "holding": (2, 1, -3), "dissipated": (2, 1, -2),
    "put_in": (2, 1, -2), "lost": (2, 1, -2), "peak_speed": (1, 0, -1), "peak_load": (1, 1, -2),
    "clearance": (1, 0, 0), "t": (0, 0, 1),
}  # fmt: skip
FIGURES = tuple(DIMENSIONS)
#: How near sensors meet [m].
REACH = qp.Sensor("any", qp.GROUND.site("any")).reach
#: Of these, what a motion is given up with that never comes to rest, and is told of where its steps
#: are used up.
AT_THE_END = ("duration", "dissipated", "put_in", "lost")
#: A motion with so many evaluations is a long one: by what a start changes in it that is so far
#: aside, a share of a module, copies may differ so many times.
LONG, HAIR, FEW = 2e4, 1e-13, 10.0
#: How slow a motion is decides when it rests: that is known so many times less well than other
#: figures.
LATER = 100.0
#: The outward normals of the faces that have sensors, and what they are called.
FACES = {"east": (1, 0, 0), "north": (0, 1, 0), "west": (-1, 0, 0), "south": (0, -1, 0)}
#: Edges of a face whose site has z outwards and x up, and which axis of the site leads to each.
EDGES = {1: (0.0, 1.0), 2: (0.0, -1.0), 3: (1.0, 0.0), 4: (-1.0, 0.0)}


@cache
def cube_turns() -> tuple[Floats, ...]:
    """The 24 rotation matrices that carry a cube onto itself, the identity first."""
    signed = (
        np.array(signs)[:, None] * np.eye(3)[list(order)]
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
    )
    return tuple(matrix for matrix in signed if np.linalg.det(matrix) > 0.0)


@dataclass(frozen=True)
class Copy:
    """How a study is written down.

    turn, shift [m]: of the whole; frames: of each body, by which of the turns of a cube its axes
    are written; faces: by how many quarter turns x of the sites of each body's faces is written
    away from up; order: in which bodies and their sensors are listed; names: what bodies are
    called; units: how many units of length, mass and time it is written in are a metre, a kilogram
    and a second."""

    turn: Any = field(default_factory=lambda: qp.rotation((0, 0, 1), 0.0))
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    frames: tuple[int, ...] = ()
    faces: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    units: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def unit(self, length: float = 0.0, mass: float = 0.0, time: float = 0.0) -> float:
        """What one of something is in the units of the copy, whose dimension is a product of
        powers."""
        return math.prod(
            unit**power for unit, power in zip(self.units, (length, mass, time), strict=True)
        )

    def frame(self, k: int) -> Floats:
        """Axes of body k as written, in those as drawn (3, 3)."""
        return cube_turns()[self.frames[k] if self.frames else 0]

    def name(self, k: int) -> str:
        """What body k is called."""
        return self.names[k] if self.names else LETTERS[k]

    @property
    def matrix(self) -> Floats:
        """The turn of the whole (3, 3)."""
        q = self.turn
        return np.reshape(quat.rotation_matrix(q.w, q.x, q.y, q.z), (3, 3))

    def point(self, p: Any) -> tuple[float, ...]:
        """A place in N."""
        return tuple(
            (self.unit(1) * (self.matrix @ np.asarray(p, dtype=float) + self.shift)).tolist()
        )

    def vector(self, a: Any) -> tuple[float, ...]:
        """A direction in N."""
        return tuple((self.matrix @ np.asarray(a, dtype=float)).tolist())

    def own(self, k: int, a: Any) -> tuple[float, ...]:
        """A vector in axes of body k as drawn, in those as written."""
        return tuple((self.frame(k).T @ np.asarray(a, dtype=float)).tolist())

    def at(self, k: int, p: Any) -> tuple[float, ...]:
        """A place on body k, from its centre."""
        return self.own(k, self.unit(1) * np.asarray(p, dtype=float))

    def orientation(self, k: int) -> Any:
        """Of body k."""
        return self.turn * quat.from_array(quaternion_of(self.frame(k)))


def quaternion_of(matrix: Floats) -> Floats:
    """The quaternion w x y z of a rotation matrix (3, 3)."""
    K = np.array([
        [matrix[0, 0] - matrix[1, 1] - matrix[2, 2], 0.0, 0.0, 0.0], [matrix[1, 0] + matrix[0, 1],
        matrix[1, 1] - matrix[0, 0] - matrix[2, 2], 0.0, 0.0], [matrix[2, 0] + matrix[0, 2],
        matrix[2, 1] + matrix[1, 2], matrix[2, 2] - matrix[0, 0] - matrix[1, 1], 0.0], [matrix[2,
        1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1],
        np.trace(matrix)],
    ])  # fmt: skip
    x, y, z, w = np.linalg.eigh(K / 3.0)[1][:, 3]
    return np.array([w, x, y, z]) * (-1.0 if w < 0.0 else 1.0)


def random_copy(seed: int, modules: int = 3, *, order: bool = False, names: bool = False) -> Copy:
    """Any turn and shift of the whole, any axes of bodies and faces; order, names: of modules, at
    random too."""
    rng = np.random.default_rng([seed, 77])
    q = rng.normal(size=4)
    frames, faces = rng.integers(24, size=modules), rng.integers(4, size=modules)
    called = rng.permutation(
        [f"{noun} module" for noun in ("red", "blue", "old", "new", "left")][:modules]
    )
    return Copy(
        qp.Quaternion(*(q / np.linalg.norm(q))), tuple(rng.uniform(-3.0, 3.0, 3).tolist()),
        tuple(frames.tolist()), tuple(faces.tolist()),
        tuple(rng.permutation(modules).tolist()) if order else (),
        tuple(called.tolist()) if names else (),
    )  # fmt: skip


# --- drawing --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Drawn:
    """What was drawn of a study: sizes and places of modules, and the generator that goes on from
    there."""

    rng: np.random.Generator
    sizes: list[Floats]
    places: list[Floats]
    fixed: bool
    gap: float


def random_study(
    seed: int, copy: Copy | None = None, *, modules: int | None = None, safety: bool | None = None,
    lock: bool | None = None, alike: bool = False, collisions: bool = False,
    turned_inertia: bool | None = None, settle: qp.SettleRule = EXACT,
    choosing: Sequence[qp.Choosing] = (), coils: bool = False, pins: bool = False,
) -> qp.Study:  # fmt: skip
    """A study of two or three boxes side by side.

    modules: how many; safety: whether there are criteria; lock: whether pairs may lock; alike: all
    are the same cubes, with the same sensors, and forces tell none from another, so that they are
    interchangeable; collisions: whether `NoCollision` is among the criteria; turned_inertia:
    whether mass is spread unevenly.  What is None is drawn. coils: one on every body, which may
    act; pins: modules stand a gap apart, and flux pins hold them, no joints."""
    copy = Copy() if copy is None else copy
    rng = np.random.default_rng([seed, 5])
    n = int(rng.integers(2, 4)) if modules is None else modules
    drawn = _drawn(rng, n, alike, GAP if pins else 0.0)
    uneven = bool(rng.random() < 0.5) if turned_inertia is None else turned_inertia
    masses, spread = rng.uniform(0.5, 2.0, n), rng.uniform(0.2, 0.4, (n, 3))
    axes = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(n)]
    bodies = []
    for k in range(n):
        inertia = (axes[k] * (1.0 - spread[k])) @ axes[k].T if uneven and not alike else None
        bodies.append(_module(copy, drawn, k, 1.0 if alike else float(masses[k]), inertia))
    sensors = _sensors(copy, drawn, bodies, alike)
    order = list(copy.order) if copy.order else list(range(n))
    may_lock = bool(rng.random() < 0.5) if lock is None else lock
    return qp.Study(
        qp.Multibody(*(bodies[k] for k in order)),
        sensors=[sensor for k in order for sensor in sensors[k]],
        options=pinned(n) if pins else _options(copy, drawn, sensors, may_lock, alike),
        choosing=choosing,
        potentials=_potentials(copy, drawn, bodies, alike)
        | (_coils(copy, seed, bodies) if coils else {}),
        always=[qp.ViscousHinges(copy.unit(2, 1, -1) * float(rng.uniform(1e-4, 4e-4)))],
        safety=_safety(copy, drawn, bodies, alike, safety, collisions),
        settle=replace(settle, duration=copy.unit(time=1) * settle.duration),
        same=qp.SameShape(interchangeable=[bodies] if alike else (), tolerance=1e-4 * copy.unit(1)),
    )


def _drawn(rng: np.random.Generator, n: int, alike: bool, gap: float) -> Drawn:
    """Boxes in a row or round a corner, faces on faces, or a gap apart."""
    fixed = bool(rng.random() < 0.5) and not alike
    cubes = alike or rng.random() < 0.5
    sizes = [np.full(3, SIDE) if cubes else SIDE * rng.choice([0.6, 1.0, 1.5], 3) for _ in range(n)]
    places = [np.zeros(3)]
    taken = {(0, 0)}
    cell = (0, 0)
    for k in range(1, n):
        ways = [
            way
            for way in ((1, 0), (0, 1), (-1, 0), (0, -1))
            if (cell[0] + way[0], cell[1] + way[1]) not in taken
        ]
        way = ways[int(rng.integers(len(ways)))]
        axis = 0 if way[0] else 1
        step = np.zeros(3)
        step[axis] = (0.5 * (sizes[k - 1][axis] + sizes[k][axis]) + gap) * way[axis]
        places.append(places[-1] + step)
        cell = cell[0] + way[0], cell[1] + way[1]
        taken.add(cell)
    return Drawn(rng, sizes, places, fixed, gap)


def _module(copy: Copy, drawn: Drawn, k: int, mass: float, spread: Floats | None) -> qp.Body:
    """A box; spread: by how much its inertia differs from that of a uniform one (3, 3)."""
    x, y, z = drawn.sizes[k]
    F = copy.frame(k)
    inertia = mass / 12.0 * np.diag([y * y + z * z, z * z + x * x, x * x + y * y])
    if spread is not None:  # a mass distribution within the box: second moments, turned
        inertia = mass * SIDE**2 / 6.0 * spread
    fixed = drawn.fixed and k == 0
    inertia = copy.unit(2, 1) * inertia
    own: dict[str, Any] = {"mass": copy.unit(0, 1) * mass, "inertia": (F.T @ inertia @ F).tolist()}
    weight = {} if fixed else own
    if not fixed and spread is None:
        weight["inertia"] = tuple(abs(F.T @ np.diag(inertia)).tolist())
    return qp.Body(
        copy.name(k), **weight, shape=qp.Box((copy.unit(1) * abs(F.T @ drawn.sizes[k])).tolist()),
        fixed=fixed, position=copy.point(drawn.places[k]), orientation=copy.orientation(k),
    )  # fmt: skip


def _sensors(copy: Copy, drawn: Drawn, bodies: list[qp.Body], alike: bool) -> list[list[qp.Sensor]]:
    """One in the middle of every upright face, body by body; x up, but for quarter turns of the
    copy."""
    out = []
    for k, body in enumerate(bodies):
        mine = []
        for name, z in FACES.items():
            at = 0.5 * drawn.sizes[k] * np.array(z)
            quarter = copy.faces[k] if copy.faces else 0
            up, aside = np.array((0.0, 0.0, 1.0)), np.cross(z, (0.0, 0.0, 1.0))
            c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarter]
            site = body.site(
                name, at=copy.at(k, at), z=copy.own(k, z), x=copy.own(k, c * up + s * aside)
            )
            kind = "face" if alike else LETTERS[k]
            accepts = (
                ("face",)
                if alike
                else tuple(other for j, other in enumerate(LETTERS[: len(bodies)]) if j != k)
            )
            reach, turns = copy.unit(1) * (REACH + 1.5 * drawn.gap), qp.parts.sensor.QUARTER_TURNS
            called = f"{body.name} {name}"
            mine.append(
                qp.Sensor(called, site, kind=kind, accepts=accepts, roll=turns, reach=reach)
            )
        out.append(mine)
    return out


def turned_edge(edge: int, quarter: int) -> int:
    """What an edge of a face is called where x of its site is turned by so many quarter turns."""
    x, y = EDGES[edge]
    for _ in range(quarter):
        x, y = y, -x
    return next(e for e, at in EDGES.items() if at == (x, y))


def _options(
    copy: Copy, drawn: Drawn, sensors: list[list[qp.Sensor]], lock: bool, alike: bool
) -> dict[tuple[str, str], list[qp.Option]]:
    """Free, hinges about upright edges, seldom about others, perhaps locks; edges are those of the
    face as drawn."""
    rng, n = drawn.rng, len(sensors)
    kinds = [("face", "face", 0)] if alike else [
        (LETTERS[i], LETTERS[j], i) for i, j in itertools.combinations(range(n), 2)
    ]  # fmt: skip
    out: dict[tuple[str, str], list[qp.Option]] = {}
    for one, two, first in kinds:
        upright = [1, 2] if alike or rng.random() < 0.6 else [int(rng.integers(1, 3))]
        edges = [
            *upright,
            *([int(rng.integers(3, 5))] if rng.random() < 0.15 and not alike else []),
        ]
        quarter = 0 if alike or not copy.faces else copy.faces[first]
        hinges = [qp.Hinge(edge=turned_edge(edge, quarter)) for edge in edges]
        out[one, two] = [qp.Free(), *([qp.Lock()] if lock else []), *hinges]
    return out


def pinned(n: int) -> dict[tuple[str, str], list[qp.Option]]:
    """Flux pins that hold, or let spin, or nothing."""
    pairs = itertools.combinations(LETTERS[:n], 2)
    return {
        pair: [qp.Free(), qp.Pin(MAGNET, spin=SPIN), qp.Pin(MAGNET, ring=RING)] for pair in pairs
    }


def _coils(copy: Copy, seed: int, bodies: list[qp.Body]) -> dict[str, list[qp.Force]]:
    """Electromagnets somewhere in every body."""
    rng, coils = np.random.default_rng([seed, 9]), []
    for k, body in enumerate(bodies):
        at, moment = 0.2 * SIDE * rng.uniform(-1.0, 1.0, 3), rng.normal(size=3)
        site = body.site("coil", at=copy.at(k, at), z=copy.own(k, moment))
        coils.append(qp.Electromagnet(f"coil {body.name}", site, float(np.linalg.norm(moment))))
    return {"coils": [qp.Dipoles(coils)]}


def _potentials(
    copy: Copy, drawn: Drawn, bodies: list[qp.Body], alike: bool
) -> dict[str, list[qp.Force]]:
    """One without forces, and one or two with wells, where a body stands fixed, or springs."""
    rng, n = drawn.rng, len(bodies)
    out: dict[str, list[qp.Force]] = {"none": []}
    for name in ("one", "two")[: int(rng.integers(1, 3))]:
        if alike:
            stiffness, rest = float(rng.uniform(0.01, 0.04)), float(rng.choice([0.0, 4.0 * SIDE]))
            pairs = list(itertools.combinations(range(n), 2))
        elif drawn.fixed:
            moving = int(rng.integers(1, n))
            centre = drawn.places[moving] + SIDE * rng.uniform(-2.0, 2.0, 3) * (1.0, 1.0, 0.0)
            stiffness = copy.unit(0, 1, -2) * float(rng.uniform(0.02, 0.1))
            out[name] = [
                qp.PotentialWell(f"well {name}", bodies[moving], copy.point(centre), stiffness)
            ]
            continue
        else:
            stiffness, rest = float(rng.uniform(0.01, 0.04)), float(rng.uniform(0.0, 4.0 * SIDE))
            pairs = list(itertools.combinations(range(n), 2))
        ends = (
            0.4 * SIDE * rng.uniform(-1.0, 1.0, (n, 3))
        )  # springs tell sides of modules apart, unless all are alike
        points = [drawn.places[k] + (0.0 if alike else ends[k]) for k in range(n)]
        out[name] = [
            qp.Spring(
                f"spring {name} {i}{j}", bodies[i], bodies[j], at1=copy.point(points[i]),
                at2=copy.point(points[j]), stiffness=copy.unit(0, 1, -2) * stiffness,
                rest_length=copy.unit(1) * rest, damping=copy.unit(0, 1, -1) * 2e-3,
            )
            for i, j in pairs
        ]  # fmt: skip
    return out


def _safety(
    copy: Copy,
    drawn: Drawn,
    bodies: list[qp.Body],
    alike: bool,
    wanted: bool | None,
    collisions: bool,
) -> list[qp.Safety]:
    rng, out = drawn.rng, list[qp.Safety]()
    chances, limit = rng.random(4), float(rng.uniform(0.02, 0.08))
    half, far, eye = (
        float(rng.uniform(0.1, 2.8)),
        float(rng.uniform(0.3, 1.2) * SIDE),
        int(rng.integers(len(bodies))),
    )
    z = rng.normal(size=3)
    if wanted is not False:
        out += [qp.StayTogether()] if wanted or chances[0] < 0.8 else []
        out += [qp.Limit("speed", copy.unit(1, 0, -1) * limit)] if chances[1] < 0.5 else []
        out += (
            [qp.Limit("load", copy.unit(1, 1, -2) * limit)]
            if chances[2] < 0.15 and not alike
            else []
        )
        if chances[3] < 0.2 and not alike:
            site = bodies[eye].site(
                "eye", at=copy.at(eye, 0.5 * drawn.sizes[eye]), z=copy.own(eye, z)
            )
            out.append(
                qp.KeepOut(
                    site, half, copy.unit(1) * far, of="balls" if chances[3] < 0.1 else "centres"
                )
            )
    return [*out, qp.NoCollision()] if collisions else out


# --- comparing ------------------------------------------------------------------------------------
class Seen:
    """A graph as anyone sees it, whoever has written its study: bodies by number, places in axes as
    drawn."""

    def __init__(self, graph: ReconfigurationGraph, copy: Copy) -> None:
        self.graph, self.copy, self.study = graph, copy, graph.study
        bodies = [part for part in self.study.system.parts if isinstance(part, qp.Body)]
        self.count = len(bodies)
        self.number = {copy.name(k): k for k in range(self.count)} | {"ground": -1}
        self.fixed = {body.name: body for body in bodies if body.fixed}
        self._marks: dict[Any, Any] = {}

    def body(self, name: str) -> str:
        """A body's name, as it is called where nobody renames."""
        return LETTERS[self.number[name]] if name in self.number and name != "ground" else name

    def part(self, name: str) -> Any:
        """A body, or the pair that a joint holds."""
        return self.pair(name.partition(":")[0]) if " | " in name else self.body(name)

    def said(self, text: str) -> str:
        """A name or a sentence with bodies called as where nobody renames."""
        for name in sorted(self.number, key=len, reverse=True):
            text = text.replace(name, self.body(name)) if self.copy.names else text
        return text

    def reason(self, text: str) -> str:
        """The same without numbers, which are in units."""
        return re.sub(r"[-+.0-9]+(e[-+]?[0-9]+)?", "#", self.said(text))

    def figure(self, outcome: Outcome, name: str) -> float | None:
        """A figure of an outcome in units of SI."""
        value = getattr(outcome, name)
        return None if value is None else float(value) / self.copy.unit(*DIMENSIONS[name])

    def pair(self, name: str) -> frozenset[str]:
        """A pair of sensors, whichever comes first."""
        return frozenset(self.said(end) for end in name.split(" | "))

    def frame(self, body: qp.Body, state: qp.State) -> tuple[Floats, Floats]:
        """Place, and axes as drawn, of a body in N."""
        k = self.number[body.name]
        if body.fixed:
            return np.array(body.position), body.matrix @ self.copy.frame(k).T
        at = state.bodies.index(body.name)
        R = rotate(np.broadcast_to(state.q[at], (3, 4)), np.eye(3)).T
        return state.r[at], R @ self.copy.frame(k).T

    def held(self, node: Node, pair: int, roll: int, label: str) -> Any:
        """What an option holds together, as numbers on the body that comes first: a lock, or point
        and axis."""
        key = node.id, pair, roll, label
        if key not in self._marks:
            self._marks[key] = self._held(node, pair, label)
        return self._marks[key]

    def _held(self, node: Node, pair: int, label: str) -> Any:
        p = self.study.pairs[pair]
        option = self.study.option(p, label)
        if not isinstance(option, qp.Hinge):
            return label
        one, two = (self.study.sensors[k].site for k in p[:2])
        at, axis, most = option.placed(one)
        place, R = self.frame(one.body, node.state)
        inside = R @ self.copy.frame(self.number[one.body.name])  # axes as written
        point = place + inside @ (np.array(one.at) + one.axes @ at)
        about = inside @ one.axes @ np.array(axis)
        low = one if self.number[one.body.name] < self.number[two.body.name] else two
        place, R = self.frame(low.body, node.state)
        sense = 1.0 if low is one else -1.0
        numbers = np.concatenate([R.T @ (point - place) / self.copy.unit(1), sense * R.T @ about])
        return "hinge", tuple((np.round(numbers, 6) + 0.0).tolist()), most

    def selection(self, node: Node, edge: Edge) -> Any:
        """A selection, told apart by what is held where."""
        rolls = dict(self.study.open_pairs(node))
        pairs = [(self.study.numbers[name], label) for name, label in edge.selection.joints]
        return frozenset(
            self.joined(node, k, rolls[k], label) for k, label in pairs
        ), edge.selection.potential

    def links(self, node: Node) -> Any:
        """What holds at a node."""
        return sorted(self.joined(node, *link) for link in node.links)

    def joined(self, node: Node, pair: int, roll: int, label: str) -> Any:
        """A pair, and what an option holds together.  Where faces stand open two hinges of the same
        bodies about one line say the same, and the one that was found first speaks for both: there
        bodies are named, and the line."""
        name, held = self.study.pairs[pair].name, self.held(node, pair, roll, label)
        if pair in {near for near, _ in self.study.in_range(node.state)}:
            return tuple(sorted(self.pair(name))), held
        bodies = tuple(sorted(map(self.body, self.study.ends(pair))))
        if held[0] != "hinge":
            return bodies, held
        point, axis = np.split(np.array(held[1]), 2)
        line = np.round(np.concatenate([point - (point @ axis) * axis, abs(axis)]), 5) + 0.0
        return bodies, ("hinge", tuple(line.tolist()))

    def gave_up(self, outcome: Outcome) -> bool:
        """Whether some part of a motion has used up the steps that it may take."""
        return outcome.target is None and outcome.evaluations >= self.study.settle.evaluations

    def pose(self, node: Node) -> Floats:
        """The pose as it would be where nobody turns anything: bodies in the order in which they
        were drawn (n, 7)."""
        moving = [k for k in range(self.count) if self.copy.name(k) in node.state.bodies]
        rows = [node.state.bodies.index(self.copy.name(k)) for k in moving]
        back = quat.to_array(self.copy.turn) * (1.0, -1.0, -1.0, -1.0)
        r = (node.state.r[rows] / self.copy.unit(1) - self.copy.shift) @ self.copy.matrix
        own = np.array([quaternion_of(self.copy.frame(k).T) for k in moving])
        q = product(product(np.broadcast_to(back, own.shape), node.state.q[rows]), own)
        return poses_of(r, q)

    def edges(self, node: Node) -> dict[Any, Edge]:
        """The edges of a node by selection."""
        return {
            self.selection(node, edge): edge for edge in self.graph.edges if edge.source == node.key
        }


def differences(
    one: ReconfigurationGraph, two: ReconfigurationGraph, first: Copy | None = None,
    second: Copy | None = None, *, tolerance: float = 1e-9, figures: bool = True,
) -> list[str]:  # fmt: skip
    """What tells the graphs of two copies of one study apart, in words; nothing where they are one.

    Nodes are matched from the start along edges with the same selection.  Compared are kinds,
    targets, reasons, parts, contacts, verdicts, links and poses, and figures to a relative
    tolerance, except those of motions that pass a saddle, for what leaves it is decided by
    rounding, and those that never settle, which end where that is noticed.  Where several outcomes
    belong to an edge their order means nothing."""
    a, b = Seen(one, first or Copy()), Seen(two, second or Copy())
    return list(_differences(a, b, tolerance, figures))


def _differences(a: Seen, b: Seen, tolerance: float, figures: bool) -> Iterator[str]:
    match, todo = {"n0": "n0"}, ["n0"]
    while todo:
        here = todo.pop(0)
        one, two = a.graph.nodes[here], b.graph.nodes[match[here]]
        where = f"{here} ~ {two.key}"
        yield from (f"{where}: {told}" for told in _unlike_nodes(a, b, one, two, tolerance))
        mine, theirs = a.edges(one), b.edges(two)
        whole = a.graph.coverage == b.graph.coverage == 1.0
        if whole and mine.keys() != theirs.keys():
            yield f"{where}: other selections, {len(mine)} and {len(theirs)}"
        for key in (key for key in mine if key in theirs):
            e, f = mine[key], theirs[key]
            said = f"{where}, {e.selection}"
            if e.kind != f.kind:
                yield f"{said}: {e.kind} ({e.reason}) and {f.kind} ({f.reason})"
                continue
            for o, p in _paired(a, b, e, f):
                unlike = list(_unlike_outcomes(a, b, o, p, tolerance, figures))
                if unlike and rounding_decides(a, one, e, o, p):
                    continue
                yield from (f"{said}: {told}" for told in unlike)
                if o.target is not None and p.target is not None:
                    if o.target not in match and p.target not in match.values():
                        match[o.target] = p.target
                        todo.append(o.target)
                    elif match.get(o.target) != p.target:
                        yield f"{said}: to {o.target} ~ {match.get(o.target)} and {p.target}"
    if a.graph.coverage == b.graph.coverage == 1.0:
        counts = [len(seen.graph.nodes) for seen in (a, b)]
        if counts[0] != counts[1]:
            yield f"{counts[0]} and {counts[1]} nodes"


def rounding_decides(seen: Seen, node: Node, edge: Edge, o: Outcome, p: Outcome) -> bool:
    """Whether two outcomes of a long motion are no farther apart than others of it that begin a
    hair aside: in every figure, by no more than a few times what such a start changes; measured,
    motion by motion."""
    if len(edge.outcomes) > 1 or min(o.evaluations, p.evaluations) < LONG:
        return False
    aside = [begun_aside(seen, node, edge, seed) for seed in range(4)]
    if any(
        (o.kind, o.reason, o.parts) != (other.kind, other.reason, other.parts) for other in aside
    ):
        return True
    if (o.kind, len(o.contacts)) != (p.kind, len(p.contacts)):
        return False
    most = [max(moved) for moved in zip(*(figures_apart(o, other) for other in aside), strict=True)]
    return all(
        one <= FEW * two for one, two in zip(figures_apart(o, p), most, strict=True) if one > 0.0
    )


def begun_aside(seen: Seen, node: Node, edge: Edge, seed: int) -> Outcome:
    """What comes of an edge where every body begins a hair aside."""
    rng, s = np.random.default_rng([seed, 13]), node.state
    r, q = (x + HAIR * unit * rng.normal(size=x.shape) for x, unit in ((s.r, SIDE), (s.q, 1.0)))
    moved = rest_at(s.bodies, r, q / np.linalg.norm(q, axis=1)[:, None])
    return run_choice(seen.study, replace(node, state=moved), edge.selection).outcomes[0]


def figures_apart(o: Outcome, p: Outcome) -> list[float]:
    """By how much every figure of two outcomes differs."""
    pairs = ((getattr(o, name), getattr(p, name)) for name in FIGURES)
    return [0.0 if one is two is None else abs((one or 0.0) - (two or 0.0)) for one, two in pairs]


def _unlike_nodes(a: Seen, b: Seen, one: Node, two: Node, tolerance: float) -> Iterator[str]:
    apart = distance_of(a, b, one, two)
    if apart > a.study.same.tolerance:
        yield f"poses are {apart:.3g} apart"
    told = [
        (node.verdict, seen.reason(node.reason), node.potential)
        for seen, node in ((a, one), (b, two))
    ]
    if told[0] != told[1]:
        said = (f"{n.verdict} ({n.reason}, {n.potential})" for n in (one, two))
        yield " and ".join(said)
    if a.links(one) != b.links(two):
        yield f"held by {a.links(one)} and {b.links(two)}"
    if not close(one.energy / a.copy.unit(2, 1, -2), two.energy / b.copy.unit(2, 1, -2), 1e-6):
        yield f"energies {one.energy!r} and {two.energy!r}"


def distance_of(a: Seen, b: Seen, one: Node, two: Node) -> float:
    """How far the shapes of two nodes are apart [m] or [rad], modulo what forces do not notice;
    bodies are those that have the same number, whether or not others may stand for them."""
    mine, theirs = a.pose(one), b.pose(two)
    group = a.study.shapes.group
    if group != "none":
        R = [matrices(p) for p in (mine, theirs)]
        M = R[1][0] @ R[0][0].T if group == "rigid" else np.eye(3)
        shifted = (mine[:, :3] - mine[0, :3]) @ M.T + theirs[0, :3]
        moved, rotations = shifted, M @ R[0]
    else:
        moved, rotations = mine[:, :3], matrices(mine)
    off = np.linalg.norm(moved - theirs[:, :3], axis=1)
    angle = [
        math.acos(min(1.0, max(-1.0, 0.5 * (np.trace(x.T @ y) - 1.0))))
        for x, y in zip(rotations, matrices(theirs))
    ]
    return float(max([*off, *angle], default=0.0))


def matrices(pose: Floats) -> Floats:
    """Rotation matrices of poses (n, 3, 3)."""
    return np.array([np.reshape(quat.rotation_matrix(*q), (3, 3)) for q in pose[:, 3:].tolist()])


def _paired(a: Seen, b: Seen, e: Edge, f: Edge) -> list[tuple[Outcome, Outcome]]:
    """Outcomes of two edges, each with the one of the other that is nearest in what it came to."""
    left, out = list(f.outcomes), []
    for o in e.outcomes:
        if not left:
            break
        best = min(left, key=lambda p: _unlikeness(a, b, o, p))
        left.remove(best)
        out.append((o, best))
    return out


def _unlikeness(a: Seen, b: Seen, o: Outcome, p: Outcome) -> tuple[float, ...]:
    where = 0.0
    if o.target is not None and p.target is not None:
        where = distance_of(a, b, a.graph.nodes[o.target], b.graph.nodes[p.target])
    return (
        float(o.kind != p.kind),
        float((o.target is None) != (p.target is None)),
        where,
        abs(o.duration - p.duration),
    )


def _unlike_outcomes(
    a: Seen, b: Seen, o: Outcome, p: Outcome, tolerance: float, figures: bool
) -> Iterator[str]:
    if o.kind != p.kind or (o.kind != "never settles" and a.reason(o.reason) != b.reason(p.reason)):
        yield f"{o.kind} ({o.reason}) and {p.kind} ({p.reason})"
        return
    renamed = (
        o.reason == APART and a.copy.names != b.copy.names
    )  # of pieces as small the first by name is named
    if not renamed and Counter(map(a.part, o.parts)) != Counter(map(b.part, p.parts)):
        yield f"parts {o.parts} and {p.parts}"
    met = [Counter(seen.pair(name) for _, name in out.contacts) for seen, out in ((a, o), (b, p))]
    if met[0] != met[1]:
        yield f"contacts {o.contacts} and {p.contacts}"
    if figures and o.nudge is None and p.nudge is None and o.kind != "never settles":
        given_up = a.gave_up(o) and b.gave_up(p)
        for name in FIGURES:
            if given_up and name in AT_THE_END:
                continue
            if (
                name == "duration" and a.copy.units != b.copy.units
            ):  # what stands still does so in m/s and rad/s
                continue
            mine, theirs = a.figure(o, name), b.figure(p, name)
            if not close(mine, theirs, LATER * tolerance if name == "duration" else tolerance):
                yield f"{name} {mine!r} and {theirs!r}"


def close(one: float | None, two: float | None, tolerance: float) -> bool:
    """Whether two figures agree, to a share of the larger of one and themselves."""
    if one is None or two is None:
        return one is two
    return abs(one - two) <= tolerance * max(1.0, abs(one))
