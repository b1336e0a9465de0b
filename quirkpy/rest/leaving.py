"""Along which branch a run leaves a pose at rest where branches of motion meet.

Each branch answers to the loads by itself: its accelerations are those that Gauss's principle gives
among the motions of that branch alone, and where it lies at stops, among those that run into none.
A run takes the branch that it is given. Else it takes the one along which loads pull; where they
pull along several, mechanics does not say which. That is told, and the run takes the branch along
which they pull most, in the metric of kinetic energy, of equal ones the first in the order of
`branches`; so rounding has no part in it."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from quirkpy.kernels.base.states import speeds_of
from quirkpy.kernels.step.batch import AT_REST
from quirkpy.kernels.tree.stops import BOUND, RESTITUTION, SETTLE, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import Jump
from quirkpy.motion.departure import BranchChoice, BranchStart
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError
from quirkpy.rest.branches import PULLS_NOT, STANDS, AllowedMotion, Beginning, Meeting

#: Loads that pull along several branches within this share pull alike.
ALIKE = 1e-6
#: A branch that is given is the one whose direction has this cosine with it.
THIS_BRANCH = 1.0 - 1e-6
#: What moves no faster after an impact [m/s], [rad/s] stands.
STANDING_STILL = 1e-6
#: Stops this near to their bounds [rad] or [m] are struck together in a singular pose; velocities
#: of which a branch has less than the second share are not on it.
STRUCK_TOGETHER, ON_BRANCH = 1e-6, 0.999
#: So many joints of a branch are named.
MOST_NAMED = 6


class Pulled(NamedTuple):
    """A branch under the loads: its number, the branch, its accelerations in coordinates (f,), and
    the touched stops on which they press (ns,)."""

    number: int
    branch: AllowedMotion
    accelerations: Floats
    pressed: Bools

    @property
    def size(self) -> float:
        """The size of the accelerations, in the metric of kinetic energy."""
        return float(np.linalg.norm(self.accelerations))


class Rest:
    """A pose at rest, with what loads do along each of its branches. Of the stops that hold in the
    state only latches do; others are asked."""

    def __init__(self, clusters: Clusters, state: State, touching: float = TOUCHING) -> None:
        self.touching = touching
        latches = set(clusters.merged_layout.latches)
        held = tuple(label for label in state.held if label in latches)
        self.meeting = Meeting(clusters, dataclasses.replace(state, held=held))
        self.around = self.meeting.around
        self.begun = self.meeting.find_ways()
        self.leaves = self._leaves()

    def _leaves(self) -> Floats:
        """The rates with which the stops that are touched are left, for unit rates of coordinates
        (ns, f); nothing for the others."""
        stops, shapes = self.around.layout.stops, self.around.shapes(np.eye(self.around.freedoms))
        which, side = stops.what[:, STOP_COORDINATE], stops.numbers[:, SIDE]
        if not len(which):
            return np.zeros((0, self.around.freedoms))
        free = side * (self.meeting.at.coordinates(which)[:, 0] - stops.numbers[:, BOUND])
        touched = self.around.layout.bounding & (free <= self.touching)
        rates = np.array([self.meeting.rates_of(which, speeds) for speeds in shapes])
        return np.asarray((side * touched)[:, None] * rates.reshape(-1, len(which)).T)

    def pulled(self, number: int) -> Pulled:
        """What loads do along a branch."""
        begun, none = self.begun[number], np.zeros(len(self.leaves), dtype=bool)
        pull = self.around.pull
        if begun.piece.at is not None:
            along = (begun.along @ pull) * begun.along
            into = self.leaves @ along < -STANDS * abs(self.leaves @ along).max(initial=0.0)
            return Pulled(number, begun.branch, 0.0 * along if into.any() else along, none)
        tangent = begun.piece.tangent
        free, leaves = tangent @ pull, self.leaves @ tangent.T
        pressed = none
        if len(leaves) and (leaves @ free < 0.0).any():
            forces = nnls(leaves.T, -free)[0]
            free, pressed = free + leaves.T @ forces, forces > 0.0
        return Pulled(number, begun.branch, tangent.T @ free, pressed)

    @property
    def least(self) -> float:
        """Accelerations below this are rounding."""
        return PULLS_NOT * max(float(np.linalg.norm(self.around.pull)), PULLS_NOT)

    def most_pulled(self) -> Pulled | None:
        """The branch along which loads pull most; None if they pull along none."""
        pulled = [self.pulled(number) for number in range(len(self.begun))]
        most = max((some.size for some in pulled), default=0.0)
        some = (some for some in pulled if some.size >= (1.0 - ALIKE) * most)
        return next(some) if most > self.least else None

    def way(self, pulled: Pulled) -> BranchStart:
        """The accelerations of what a run moves, along a branch."""
        whole = self.around.whole
        carried = self.around.carried_state[None].copy()
        felt = np.einsum("f,fni->ni", pulled.accelerations, self.around.basis)
        still = whole.relative_accelerations(carried, np.zeros((1, *felt.shape)))[0]
        speeds = self.meeting.bodies(pulled.accelerations)
        fastest = float(abs(self.meeting.rates_of(self.meeting.which, speeds)).max(initial=0.0))
        labels = zip(self.around.layout.labels, pulled.pressed.tolist(), strict=True)
        held = tuple(label for label, on in labels if on)
        joints = tuple(pulled.branch.rates)
        return BranchStart(felt - still, fastest or float(abs(speeds).max()), held, joints)

    def struck(self, before: Floats) -> BranchStart | None:
        """The branch on which velocities (n, 6) were that stops have met, with those after the
        impact; None if they belong to no branch, or nothing moves after it."""
        eta = self.around.along(before, np.zeros(0))
        shares = [self._share(begun, eta) for begun in self.begun]
        sizes = [float(np.linalg.norm(share)) for share in shares]
        number = int(np.argmax(sizes))
        if sizes[number] < ON_BRANCH * float(np.linalg.norm(eta)):
            return None
        after, pressed = self._rebound(number, shares[number])
        speeds = self.meeting.bodies(after)
        speed = float(abs(self.meeting.rates_of(self.meeting.which, speeds)).max(initial=0.0))
        if speed < STANDING_STILL:
            return None
        start = self.way(self.pulled(number))
        velocities = np.einsum("f,fni->ni", after, self.around.basis)
        velocities += speeds_of(self.around.carried_state)
        labels = zip(self.around.layout.labels, pressed.tolist(), strict=True)
        held = tuple(label for label, on in labels if on)
        return start._replace(held=held, velocities=velocities, speed=speed)

    def _rebound(self, number: int, eta: Floats) -> tuple[Floats, Bools]:
        """Velocities along a branch after an impact (f,), by Newton's law for contacts that do not
        pull, as in `hold_what_presses`; and the stops that go on holding (ns,)."""
        begun, numbers = self.begun[number], self.around.layout.stops.numbers
        tangent = begun.piece.tangent if begun.piece.at is None else begun.along[None]
        u, leaves = tangent @ eta, self.leaves @ tangent.T
        if not len(leaves):
            return eta, np.zeros(0, dtype=bool)
        met = leaves @ u
        bounce = np.where(-numbers[:, RESTITUTION] * met > numbers[:, SETTLE], 1.0, 0.0)
        wanted = (1.0 + bounce * numbers[:, RESTITUTION]) * met
        aim = np.linalg.lstsq(leaves, wanted, rcond=None)[0]
        pushes = nnls(leaves.T, -aim)[0]
        return tangent.T @ (u + leaves.T @ pushes), (pushes > 0.0) & (bounce == 0.0)

    def _share(self, begun: Beginning, eta: Floats) -> Floats:
        """The part of velocities in coordinates (f,) that belongs to a branch."""
        if begun.piece.at is not None:
            return np.asarray((begun.along @ eta) * begun.along)
        return np.asarray(begun.piece.tangent.T @ (begun.piece.tangent @ eta))


def leave(clusters: Clusters, state: State, jump: Jump | None = None) -> BranchChoice:
    """The branch that a run takes by itself; jump: the impact in this pose, if there was one."""
    rest = Rest(clusters, state, TOUCHING if jump is None else STRUCK_TOGETHER)
    if not rest.begun:
        return BranchChoice(None, ())
    if jump is not None and set(jump.held) & set(clusters.merged_layout.latches):
        return BranchChoice(None, ())
    if jump is not None:
        way = rest.struck(speeds_of(jump.before))
        if way is not None:
            return BranchChoice(way, ())
    best = rest.most_pulled()
    names = tuple(name_branch(begun.branch) for begun in rest.begun) if len(rest.begun) > 1 else ()
    return BranchChoice(None if best is None else rest.way(best), names)


class Given:
    """Chooses the branch with which a run is to begin; later ones by the loads. branch: its number,
    or the branch itself, as `branches` gives them."""

    def __init__(self, system: System, branch: object) -> None:
        state = system.initial
        if abs(state.v).max(initial=0.0) + abs(state.omega).max(initial=0.0) > AT_REST:
            raise PartError(
                "simulate: branch is for a start at rest, but this state moves: its velocities say "
                "which branch it is on; leave branch out, or take all velocities away."
            )
        self.t, self.rest = state.t, Rest(system.clusters, state)
        self.number = self._find(branch)
        self.pulled = self.rest.pulled(self.number)
        if self.pulled.size <= self.rest.least:
            raise PartError(
                f"simulate: no load pulls along branch {self.number} "
                f"({name_branch(self.pulled.branch)}) or a stop is in the way, so that nothing "
                "would move; take another one, or give the state velocities along its direction."
            )

    def _find(self, branch: object) -> int:
        """The number of a branch; an error where there is none such."""
        known = [begun.branch for begun in self.rest.begun]
        if isinstance(branch, AllowedMotion):
            for number, other in enumerate(known):
                if is_same(branch, other):
                    return number
        elif type(branch) is int and 0 <= branch < len(known):
            return branch
        there = ", ".join(f"{k} ({name_branch(some)})" for k, some in enumerate(known)) or "none"
        raise PartError(
            f"simulate: branch is {show(branch)}, but must be one of the branches of this state, "
            f"or its number: {there}."
        )

    def __call__(self, clusters: Clusters, state: State, jump: Jump | None = None) -> BranchChoice:
        """The branch at the start, and what loads choose later."""
        if state.t != self.t:
            return leave(clusters, state, jump)
        return BranchChoice(self.rest.way(self.pulled), ())


def name_branch(branch: AllowedMotion) -> str:
    """A branch by the joints that move, at most a few."""
    joints = list(branch.rates)
    more = f" and {len(joints) - MOST_NAMED} more" if len(joints) > MOST_NAMED else ""
    return ", ".join(joints[:MOST_NAMED]) + more


def is_same(one: AllowedMotion, other: AllowedMotion) -> bool:
    """Whether two branches begin alike, in either sense."""
    if one.direction.shape != other.direction.shape:
        return False
    a, b = one.direction.reshape(-1), other.direction.reshape(-1)
    return bool(abs(a @ b) >= THIS_BRANCH * np.linalg.norm(a) * np.linalg.norm(b))
