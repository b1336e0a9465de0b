"""Whether all equilibria are there, by the sum of their signs.

Over all equilibria of an energy that is smooth and grows far away the sum of (-1)^(modes along
which it falls) is the Euler characteristic of all poses (Poincare and Hopf): one where bodies only
slide or drift, zero where something turns freely, as that of a circle is.  A cusp, where the ends
of a spring with a rest length meet, counts as a top where all else pulls less than the spring
pushes, and as nothing elsewhere.  Where the sum is another, some are missing; where it is right,
some of both signs may be.

Between stops the poses are a box, over which the sum runs alike: a rest that is pressed on stops
counts with the modes that these leave it, and a pose as often as whole turns of its joints, that no
force counts, lead to it again within their ranges."""

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
#: Energy grows in all directions far away where it does in the least by this share of the most.
LEAST_GROWTH = 1e-9
#: What turns bodies by less than this share of what it moves does not turn them; no farther [m] off
#: is at the centre.
NO_TURNING = 1e-9
#: Poses in which the ends of a spring meet are one where no body is farther apart [m], [rad].
SAME_CUSP = 1e-3
#: Whether a cusp is a top is not told where what pulls is as strong as the push but for this share.
CUSP_BALANCE = 1e-3


class Census:
    """What the signs of all equilibria of a system add up to, if that is known: `sum` is None where
    it is not."""

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
        """Look from a place for poses in which the ends of each spring meet, and whether these are
        tops."""
        for k, (ends, known) in enumerate(zip(self.cusps.springs, self.met, strict=True)):
            if self.sum is None or (self.sum and known):  # what only slides and drifts meets once
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
        """By how much the signs of some equilibria, and of the tops of cusps, add up to more than
        those of all; None where that tells nothing."""
        if self.sum is None or any(self.unclear(e) for e in found):
            return None
        if self.box.bounded and any(len(walls_of(a)[0]) for a in around):
            return None
        signs = sum(sign_of(a) * self.images(a) for a in around)
        return signs + self.tops * (-1) ** self.freedoms - self.sum

    def unclear(self, found: Equilibrium) -> bool:
        """Whether modes of an equilibrium do not tell along how many energy falls."""
        degenerate = found.marginal or len(found.neutral) != self.neutral
        return bool(degenerate or "jumps" in found.reason)

    def images(self, around: Vicinity) -> int:
        """How often a pose lies within the ranges of its joints, whole turns on."""
        here, stops = values_of(around), self.box.stops.what[:, STOP_COORDINATE].tolist()
        labels = around.layout.labels
        held = {c for c, name in zip(stops, labels, strict=True) if name in around.state.held}
        return math.prod(
            math.floor((high - here[c]) / TURN) + math.floor((here[c] - low) / TURN) + 1
            for c, (low, high) in self.turns.items()
            if c not in held
        )

    def distance(self, one: Vicinity, two: Vicinity) -> float:
        """How far apart two poses are, but for what spins without any force [m], [rad]."""
        ways = halves_of(displacement_between(one.rows, two.rows))
        ways[self.spinning, 1] = 0.0
        return float(np.linalg.norm(ways, axis=2).max(initial=0.0))


def sign_of(around: Vicinity) -> int:
    """(-1)^(modes along which energy falls)."""
    return 1 - 2 * (int(((around.bends[0] < 0.0) & bends_beyond(around, LEVEL_BEND)).sum()) % 2)


def push(around: Vicinity, one: int, two: int, rest: tuple[float, float]) -> float:
    """What pulls beside a cusp, but for its own spring of some stiffness and rest length, as a
    share of its push."""
    (stiffness, length), (apart_, slope) = rest, distance(around, one, two)
    r = float(np.linalg.norm(apart_))
    others = around.pull + stiffness * (1.0 - length / r) * (apart_ @ slope)
    force: Floats = np.asarray(
        np.linalg.lstsq(slope.T, others, rcond=UNMOVED_ENDS)[0], dtype=np.float64
    )
    return float(np.linalg.norm(force)) / (stiffness * length)


# --- which systems --------------------------------------------------------------------------------
def characteristic(around: Vicinity, spins: Bools) -> int | None:
    """The Euler characteristic of all poses, with that of bodies that spin as they like left out;
    None where it is not known, or where energy is not known to grow in all directions far away."""
    layout, counted = around.layout, find_sprung(around)
    kinds, motions = layout.tree.nodes[:-1, NODE], layout.tree.motions
    if not plain(around) or (
        counted[kinds == TURN_NODE].any() and springs_of(around)
    ):  # a cusp for each whole turn
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
    """The Euler characteristic of all poses between stops, of a tree whose hinges and slides these
    bound to both sides; hinges that springs hold need none, and freely turning ones make it zero.
    None where it is not known."""
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
    """The bounds of hinges between stops of which no spring counts whole turns [rad]."""
    kinds, counted = around.layout.tree.nodes[:-1, NODE], find_sprung(around)
    free = np.flatnonzero((kinds == TURN_NODE) & ~counted)
    bounds = {c: box.bounds(c) for b in free for c in coordinates_of(around, int(b))}
    return {c: ends for c, ends in bounds.items() if all(map(math.isfinite, ends))}


def coordinates_of(around: Vicinity, b: int) -> list[int]:
    """The coordinates of the joint on which a body hangs."""
    joint = around.layout.tree.nodes[b, CARRIER]
    return np.flatnonzero(around.layout.selection.tables.coordinate_joint == joint).tolist()


def plain(around: Vicinity) -> bool:
    """Whether a system is a tree that does not float, under weight and springs that
    push and pull."""
    layout, what, numbers = around.layout, *acting(around)
    known = np.isin(what[:, KIND], (UNIFORM, PAIR, COORDINATE)) & (
        what[:, [SCHEDULE1, SCHEDULE2]] < 0
    ).all(axis=1)
    rope = (what[:, KIND] == PAIR) & (numbers[:, TENSION] != 0.0) & (numbers[:, STIFFNESS] > 0.0)
    odd = (what[:, KIND] == COORDINATE) & (numbers[:, STIFFNESS] < 0.0)
    whole = around.whole
    floats = len(whole.directions(around.rows)) > 0 or whole.turning.any() or whole.velocity.any()
    closed = (layout.tree.loops[:, LOOP_ROW] >= 0).any() or around.entry.merger is not None
    return bool(known.all() and not (rope | odd).any() and not floats and not closed)


def acting(around: Vicinity) -> tuple[Ints, Floats]:
    """What acts, but for stops: rows of the table of elements, and their numbers."""
    elements, chosen = around.layout.packed.elements, around.layout.selection.elements
    chosen = chosen[elements.what[chosen, KIND] != STOP]
    return elements.what[chosen], elements.numbers[chosen]


def spinning(around: Vicinity) -> Bools:
    """Which bodies turn as they like, as no joint and no force sees it (nb,)."""
    layout, (what, _) = around.layout, acting(around)
    out = np.asarray(layout.tree.nodes[:-1, NODE] == FREE_NODE)
    out[layout.tree.nodes[:-1, PARENT][layout.tree.nodes[:-1, PARENT] < len(out)]] = False
    sites, off = layout.packed.sites, offsets(layout.packed.sites)
    for site in np.unique(what[what[:, KIND] == PAIR][:, [ELEMENT_SITE1, ELEMENT_SITE2]]):
        if sites.body[site] < len(out) and off[site] > NO_TURNING:
            out[sites.body[site]] = False
    return out


def find_sprung(around: Vicinity) -> Bools:
    """Which bodies hang on a hinge or a slide that a spring of its own holds (nb,)."""
    layout, (what, numbers) = around.layout, acting(around)
    chosen = what[
        (what[:, KIND] == COORDINATE) & (numbers[:, STIFFNESS] != 0.0), ELEMENT_COORDINATE
    ]
    return np.isin(
        layout.tree.nodes[:-1, CARRIER], layout.selection.tables.coordinate_joint[chosen]
    )


def straight(nodes: Ints, b: int) -> bool:
    """Whether a body slides as its parents do: always the same way in N."""
    while b < len(nodes) - 1:
        if nodes[b, NODE] not in (SLIDE_NODE, FIXED_NODE):
            return False
        b = int(nodes[b, PARENT])
    return True


def grows(around: Vicinity, far: int) -> bool:
    """Whether energy grows however the bodies of a system go far away, in so many directions."""
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
