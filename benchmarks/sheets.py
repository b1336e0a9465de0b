"""Map folds as a tree of panels and the creases that are cut: what programs without loops are
given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import quirkpy as qp

#: Panels [m], [kg]; a spring in every crease of the tree [N m/rad]; the fold at the start [rad].
SIDE, THICKNESS, MASS, STIFFNESS, FOLD = 2.0, 0.01, 1.0, 0.1, 3.0
#: How the whole spins about its mass centre at the start, lest symmetry close the creases [rad/s].
SPIN = (0.1, -0.2, 0.15)


class Panel(NamedTuple):
    """A panel at the start, all vectors in N: the number of its parent (-1: afloat); a point of the
    crease between them and its axis, about which the panel turns; the angle there and its spring;
    mass centre; inertia about it (3, 3)."""

    parent: int
    at: np.ndarray
    axis: np.ndarray
    angle: float
    stiffness: float
    centre: np.ndarray
    inertia: np.ndarray


class Cut(NamedTuple):
    """A crease that closes a loop: its two panels, a point and the axis."""

    panels: tuple[int, int]
    at: np.ndarray
    axis: np.ndarray


class Sheet(NamedTuple):
    """A folded sheet, afloat, that spins as a whole; creases that are cut have no springs, as in
    the paper of J. Fulton and H. Schaub. watched: the first panel that turns; sense: the sign of
    its turn against the crease's angle."""

    system: qp.Multibody
    panels: tuple[Panel, ...]
    cuts: tuple[Cut, ...]
    watched: int
    sense: float

    def velocity(self, k: int) -> np.ndarray:
        """Of a panel's mass centre at the start."""
        middle = np.mean([panel.centre for panel in self.panels], axis=0)
        return np.cross(SPIN, self.panels[k].centre - middle)


class Seen(NamedTuple):
    """The end of a run: the angle of the first crease [rad], the largest gap in a crease [m]."""

    angle: float
    gap: float


def map_fold(side: int) -> Sheet:
    """So many panels a side, rows shut and columns about to open."""
    fold = qp.origami.map_fold(
        side, side, side=SIDE, thickness=THICKNESS, mass=MASS, fold=FOLD
    )  # fmt: skip
    return sheet_of(fold, "x 0,0")


def sheet_of(fold: Any, watched: str) -> Sheet:
    """The tree that grows from the first panel along creases, in the order in which these are; each
    panel is followed by all that hangs on it, as Pinocchio needs."""
    numbers = {body.name: k for k, body in enumerate(fold.panels)}
    ends = [tuple(numbers[b.name] for b in hinge.bodies) for hinge in fold.hinges]
    tree: dict[int, tuple[int, float, Any]] = {0: (-1, 1.0, None)}
    order = [0]
    for one in order:
        for hinge, pair in zip(fold.hinges, ends, strict=True):
            if one in pair and (other := pair[pair[0] == one]) not in tree:
                tree[other] = (one, 1.0 if pair[0] == one else -1.0, hinge)
                order.append(other)
    order = list(_branch(tree, 0))
    place = {number: k for k, number in enumerate(order)}
    panels = tuple(_panel(fold, k, place, *tree[k]) for k in order)
    kept = {hinge.name for _, _, hinge in tree.values() if hinge is not None}
    cuts = tuple(
        Cut((place[pair[0]], place[pair[1]]), *_line(hinge))
        for hinge, pair in zip(fold.hinges, ends, strict=True)
        if hinge.name not in kept
    )
    springs = [
        qp.HingeSpring(f"spring {hinge.name}", hinge, stiffness=STIFFNESS)
        for hinge in fold.hinges
        if hinge.name in kept
    ]
    moved = next(k for k, (_, _, hinge) in tree.items() if hinge and hinge.name == watched)
    sheet = Sheet(fold.system.with_(*springs), panels, cuts, place[moved], tree[moved][1])
    spinning = {
        fold.panels[number].name: {
            "velocity": sheet.velocity(k),
            "angular_velocity": fold.panels[number].matrix.T @ SPIN,
        }
        for k, number in enumerate(order)
    }
    system = sheet.system
    return sheet._replace(system=system.at(system.initial.replace(spinning)))


def _branch(tree: dict[int, tuple[int, float, Any]], root: int) -> Iterator[int]:
    """A panel and all that hangs on it."""
    yield root
    for other, (parent, _, _) in tree.items():
        if parent == root:
            yield from _branch(tree, other)


def _panel(
    fold: Any, k: int, place: dict[int, int], parent: int, sense: float, hinge: Any
) -> Panel:
    body = fold.panels[k]
    centre, turn = np.array(body.position), body.matrix
    inertia = turn @ body.inertia_matrix @ turn.T
    if hinge is None:
        return Panel(-1, np.zeros(3), np.zeros(3), 0.0, 0.0, centre, inertia)
    at, axis = _line(hinge)
    angle = sense * float(fold.system.initial[hinge.name].angle)
    return Panel(place[parent], at, sense * axis, angle, STIFFNESS, centre, inertia)


def _line(hinge: qp.Revolute) -> tuple[np.ndarray, np.ndarray]:
    """A point of a crease and its axis, in N."""
    at, axes = hinge.sites[0].placed()
    return np.array(at), np.reshape(axes, (3, 3))[:, 2]


def seen(run: qp.Trajectory, crease: str = "x 0,0") -> Seen:
    """The end of one of our runs."""
    gap = float(abs(run.system.residual(run.final).position).max())
    return Seen(float(run.final[crease].angle), gap)
