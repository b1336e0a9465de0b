"""Whether all equilibria have been found, by the sum of their signs.

Over all equilibria of a smooth energy that grows at infinity, the sum of (-1)^(number of modes
along which the energy falls) is the Euler characteristic of the configuration space (Poincare and
Hopf): one where bodies only slide or drift, zero where an angle is periodic, as for a circle. A
cusp, where the ends of a spring with a rest length coincide, counts as a maximum if all other
forces there are weaker than the push of the spring, and is not counted otherwise. If the sum of the
known equilibria differs, some are missing; if it agrees, equilibria of opposite signs may still be
missing.

Between stops the configuration space is a box, and the same sum holds: an equilibrium pressed on
stops counts with the modes that the stops leave free, and a pose counts as many times as it is
repeated, within the joint ranges, by whole turns of joints whose turns no force depends on."""

from __future__ import annotations

import math

import numpy as np

from quirkpy.kernels.base.arrays import (
    ELEMENT_COORDINATE,
    ELEMENT_SITE1,
    ELEMENT_SITE2,
    KIND,
    SCHEDULE1,
    SCHEDULE2,
)
from quirkpy.kernels.base.states import angular_of, halves_of
from quirkpy.kernels.place.sites import offsets
from quirkpy.kernels.tree.stops import STOP_COORDINATE
from quirkpy.kernels.tree.tree import (
    BALL_NODE,
    CARRIER,
    COUNT,
    FIXED_NODE,
    FREE_NODE,
    GENERAL_NODE,
    LOOP_ROW,
    MOTION,
    NODE,
    PARENT,
    SLIDE_NODE,
    TURN_NODE,
)
from quirkpy.maths.types import Bools, Floats, Ints
from quirkpy.mechanics.rigid_motion import displacement_between
from quirkpy.rest.cusps import STIFFNESS, TENSION, UNMOVED_ENDS, Cusps, distance, springs_of
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.rest.faces import RangeBox
from quirkpy.rest.kinks import walls_of
from quirkpy.rest.modes import LEVEL_BEND, bends_beyond, gradients
from quirkpy.rest.starts import values_of
from quirkpy.rest.vicinity import Vicinity
from quirkpy.tables.tables import COORDINATE, PAIR, SCREW, SLIDE, STOP, UNIFORM

TURN = 2.0 * math.pi
#: The energy grows at infinity if its least growth exceeds this share of its largest [1].
LEAST_GROWTH = 1e-9
#: A motion that turns bodies by less than this share of the distance that it moves them is a
#: translation; a point no farther than this [m] from the centre is at the centre.
NO_TURNING = 1e-9
#: Poses in which the ends of a spring coincide are the same if no body differs by more [m], [rad].
SAME_CUSP = 1e-3
#: Whether a cusp is a maximum is left open where the other forces equal the push to within this
#: share [1].
CUSP_BALANCE = 1e-3


class Census:
    """The sum of the signs of all equilibria of a system; `sum` is None where it is not known."""

    def __init__(self, around: Vicinity, cusps: Cusps) -> None:
        self.cusps, self.spinning = cusps, spinning(around)
        self.box = RangeBox(around)
        between = characteristic_between_stops(around, self.box) if self.box.bounded else None
        self.sum = between if self.box.bounded else characteristic(around, self.spinning)
        self.turns = {} if between is None else turns_of(around, self.box)
        self.most_images = math.prod(
            math.floor((high - low) / TURN) + 1 for low, high in self.turns.values()
        )
        self.neutral = 3 * int(self.spinning.sum())
        self.freedoms = around.freedoms - self.neutral
        self.met: list[list[Vicinity]] = [[] for _ in cusps.springs]
        self.tops = 0

    def look(self, place: Vicinity, rng: np.random.Generator) -> None:
        """Search from a place for poses in which the ends of a spring coincide, and find whether
        these are maxima."""
        for k, (ends, known) in enumerate(zip(self.cusps.springs, self.met, strict=True)):
            if self.sum is None or (self.sum and known):  # only translations: one meeting
                continue
            pose, across = self.cusps.meeting(place, k, rng)
            if pose is None or any(self.distance(pose, other) <= SAME_CUSP for other in known):
                continue
            share = push(pose, *ends, self.cusps.rest(*ends))
            if across != self.freedoms or abs(share - 1.0) < CUSP_BALANCE:
                self.sum = None
                return
            known.append(pose)
            self.tops += share < 1.0

    def excess(self, found: list[Equilibrium], around: list[Vicinity]) -> int | None:
        """The sum of signs of the equilibria found and of the maxima at cusps, minus the sum for
        all equilibria; None where this decides nothing."""
        if self.sum is None or any(self.unclear(e) for e in found):
            return None
        if self.box.bounded and any(len(walls_of(a)[0]) for a in around):
            return None
        signs = sum(sign_of(a) * self.images(a) for a in around)
        return signs + self.tops * (-1) ** self.freedoms - self.sum

    def unclear(self, found: Equilibrium) -> bool:
        """Whether the number of modes along which energy falls at an equilibrium is uncertain."""
        degenerate = found.marginal or len(found.neutral) != self.neutral
        return bool(degenerate or "jumps" in found.reason)

    def images(self, around: Vicinity) -> int:
        """Number of poses, equal up to whole turns, that lie within the ranges of the joints."""
        here, stops = values_of(around), self.box.stops.what[:, STOP_COORDINATE].tolist()
        labels = around.layout.labels
        held = {c for c, name in zip(stops, labels, strict=True) if name in around.state.held}
        return math.prod(
            math.floor((high - here[c]) / TURN) + math.floor((here[c] - low) / TURN) + 1
            for c, (low, high) in self.turns.items()
            if c not in held
        )

    def distance(self, one: Vicinity, two: Vicinity) -> float:
        """The distance between two poses [m], [rad], without angles on which no force depends."""
        ways = halves_of(displacement_between(one.rows, two.rows))
        ways[self.spinning, 1] = 0.0
        return float(np.linalg.norm(ways, axis=2).max(initial=0.0))


def sign_of(around: Vicinity) -> int:
    """The sign (-1)^(number of modes along which the energy falls)."""
    return 1 - 2 * (int(((around.bends[0] < 0.0) & bends_beyond(around, LEVEL_BEND)).sum()) % 2)


def push(around: Vicinity, one: int, two: int, rest: tuple[float, float]) -> float:
    """The force at a cusp of all but its own spring, of given stiffness and rest length, as a share
    of the push of that spring."""
    (stiffness, length), (apart_, slope) = rest, distance(around, one, two)
    r = float(np.linalg.norm(apart_))
    others = around.pull + stiffness * (1.0 - length / r) * (apart_ @ slope)
    force: Floats = np.asarray(
        np.linalg.lstsq(slope.T, others, rcond=UNMOVED_ENDS)[0], dtype=np.float64
    )
    return float(np.linalg.norm(force)) / (stiffness * length)


# --- which systems --------------------------------------------------------------------------------
def characteristic(around: Vicinity, spins: Bools) -> int | None:
    """The Euler characteristic of the configuration space, without the angles of bodies on which no
    force depends; None where it is not known, or where the energy is not known to grow at
    infinity."""
    layout, counted = around.layout, find_sprung(around)
    kinds, motions = layout.tree.nodes[:-1, NODE], layout.tree.motions
    if not plain(around) or (
        counted[kinds == TURN_NODE].any() and springs_of(around)
    ):  # one cusp for each whole turn
        return None
    turning = False
    for b, kind in enumerate(kinds.tolist()):
        node = layout.tree.nodes[b]
        mine = (
            motions[node[MOTION] : node[MOTION] + node[COUNT], 0]
            if node[CARRIER] >= 0
            else np.zeros(0)
        )
        if kind == SLIDE_NODE and not straight(layout.tree.nodes, b):
            return None
        if kind in (BALL_NODE, GENERAL_NODE) and (
            counted[b] or np.isin(mine, (SLIDE, SCREW)).any()
        ):
            return None
        turning |= kind in (BALL_NODE, GENERAL_NODE) or (kind == TURN_NODE and not counted[b])
        turning |= kind == FREE_NODE and not spins[b]
    far = int((kinds == SLIDE_NODE).sum()) + 3 * int((kinds == FREE_NODE).sum())
    return None if not grows(around, far) else int(not turning)


def characteristic_between_stops(around: Vicinity, box: RangeBox) -> int | None:
    """The Euler characteristic of the configuration space between stops, for a tree whose hinges
    and sliders have bounds on both sides; hinges held by springs need no bounds, and freely turning
    ones make it zero. None where it is not known."""
    layout, counted = around.layout, find_sprung(around)
    kinds, turning = layout.tree.nodes[:-1, NODE], False
    single = np.isin(kinds, (TURN_NODE, SLIDE_NODE))
    known = (single | (kinds == FIXED_NODE)).all() and single.sum() == around.freedoms
    if not plain(around) or not known or springs_of(around):
        return None
    for b in np.flatnonzero(single):
        within = [math.isfinite(bound) for c in coordinates_of(around, int(b))
                  for bound in box.bounds(c)]  # fmt: skip
        if all(within) or (kinds[b] == TURN_NODE and counted[b]):
            continue
        if kinds[b] == SLIDE_NODE or any(within):
            return None
        turning = True
    return int(not turning)


def turns_of(around: Vicinity, box: RangeBox) -> dict[int, tuple[float, float]]:
    """The bounds [rad] of hinges between stops on whose whole turns no spring depends."""
    kinds, counted = around.layout.tree.nodes[:-1, NODE], find_sprung(around)
    free = np.flatnonzero((kinds == TURN_NODE) & ~counted)
    bounds = {c: box.bounds(c) for b in free for c in coordinates_of(around, int(b))}
    return {c: ends for c, ends in bounds.items() if all(map(math.isfinite, ends))}


def coordinates_of(around: Vicinity, b: int) -> list[int]:
    """The coordinates of the joint that connects a body to its parent."""
    joint = around.layout.tree.nodes[b, CARRIER]
    return np.flatnonzero(around.layout.selection.tables.coordinate_joint == joint).tolist()


def plain(around: Vicinity) -> bool:
    """Whether a system is a tree with a fixed base, loaded by weight and by springs that both push
    and pull."""
    layout, what, numbers = around.layout, *acting(around)
    known = np.isin(what[:, KIND], (UNIFORM, PAIR, COORDINATE)) & (
        what[:, [SCHEDULE1, SCHEDULE2]] < 0
    ).all(axis=1)
    rope = (what[:, KIND] == PAIR) & (numbers[:, TENSION] != 0.0) & (numbers[:, STIFFNESS] > 0.0)
    odd = (what[:, KIND] == COORDINATE) & (numbers[:, STIFFNESS] < 0.0)
    whole = around.whole
    floats = len(whole.directions(around.rows)) > 0 or whole.turning.any() or whole.velocity.any()
    closed = (layout.tree.loops[:, LOOP_ROW] >= 0).any() or around.entry.merger is not None
    closed = closed or around.flexible
    return bool(known.all() and not (rope | odd).any() and not floats and not closed)


def acting(around: Vicinity) -> tuple[Ints, Floats]:
    """Active elements other than stops: rows of the table of elements, and their numbers."""
    elements, chosen = around.layout.packed.elements, around.layout.selection.elements
    chosen = chosen[elements.what[chosen, KIND] != STOP]
    return elements.what[chosen], elements.numbers[chosen]


def spinning(around: Vicinity) -> Bools:
    """Which bodies turn freely, that is, have an angle on which no joint and no force depends
    (nb,)."""
    layout, (what, _) = around.layout, acting(around)
    out = np.asarray(layout.tree.nodes[:-1, NODE] == FREE_NODE)
    out[layout.tree.nodes[:-1, PARENT][layout.tree.nodes[:-1, PARENT] < len(out)]] = False
    sites, off = layout.packed.sites, offsets(layout.packed.sites)
    for site in np.unique(what[what[:, KIND] == PAIR][:, [ELEMENT_SITE1, ELEMENT_SITE2]]):
        if sites.body[site] < len(out) and off[site] > NO_TURNING:
            out[sites.body[site]] = False
    return out


def find_sprung(around: Vicinity) -> Bools:
    """Which bodies have a hinge or slider with a spring of its own (nb,)."""
    layout, (what, numbers) = around.layout, acting(around)
    chosen = what[
        (what[:, KIND] == COORDINATE) & (numbers[:, STIFFNESS] != 0.0), ELEMENT_COORDINATE
    ]
    return np.isin(
        layout.tree.nodes[:-1, CARRIER], layout.selection.tables.coordinate_joint[chosen]
    )


def straight(nodes: Ints, b: int) -> bool:
    """Whether a body and all its ancestors only translate, each in a direction that is constant in
    N."""
    while b < len(nodes) - 1:
        if nodes[b, NODE] not in (SLIDE_NODE, FIXED_NODE):
            return False
        b = int(nodes[b, PARENT])
    return True


def grows(around: Vicinity, far: int) -> bool:
    """Whether the energy grows at infinity, tested in a number of directions."""
    if not around.freedoms:
        return True
    turning = angular_of(around.basis).reshape(around.freedoms, -1)
    U, sigma, _ = np.linalg.svd(turning)
    ways: Floats = U[:, int((sigma > NO_TURNING * np.linalg.norm(around.basis)).sum()) :]
    if ways.shape[1] != far or not far:
        return ways.shape[1] == far
    what, numbers = acting(around)
    bend, along = np.zeros((far, far)), gradients(around)
    for row, k in zip(what, numbers[:, STIFFNESS].tolist(), strict=True):
        if row[KIND] in (PAIR, COORDINATE) and k > 0.0:
            paired, ends = row[KIND] == PAIR, (int(row[ELEMENT_SITE1]), int(row[ELEMENT_SITE2]))
            slope = (
                distance(around, *ends)[1] if paired else along[row[ELEMENT_COORDINATE]][None]
            ) @ ways
            bend += k * slope.T @ slope
    values = np.linalg.eigvalsh(bend)
    return bool(values[0] > LEAST_GROWTH * values[-1])
