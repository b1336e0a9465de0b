"""The motions that a pose allows, one by one, where branches of motion meet.

In a singular pose, such as a flat four-bar or a folded map, joints allow to first order directions
that no motion follows. Motions begin in the tangent cone: directions w with Q(w) = 0 for all
quadratic forms Q of the second order (`branch_points`). It is a union of pieces, each a linear
subspace or a curved surface of the dimension of its tangent space; an `AllowedMotion` is one of
them. Pieces are found by Newton's method from random directions, most of them outside of the pieces
known so far, and each is followed over a small distance, since the cone may be narrower to higher
orders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import (
    angular_of,
    linear_of,
)
from quirkpy.maths.cached import cached_property
from quirkpy.maths.rotations import cross
from quirkpy.maths.types import Floats, Ints
from quirkpy.mechanics import equation
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.state import State, at_standstill
from quirkpy.rest.branch_points import forms_at
from quirkpy.rest.vicinity import Vicinity

#: Directions in vain, one after the other, with which the search ends, and Newton's steps of each.
IN_VAIN, NEWTON_STEPS = 24, 200
#: Forms of length one are zero along a direction of length one below this; over a plane below this.
ON_CONE, LEVEL_PLANE = 1e-12, 1e-8
#: Singular values of the slopes of all forms that count, and such as tell that two pieces meet.
RANK, MEETING = 1e-6, 1e-3
#: Planes are one where their projectors differ by less than this.
SAME = 1e-6
#: A branch is followed so far [m], [rad]; there its cosine with the direction is at least this.
FOLLOWED_FOR, TRUE = 1e-3, 0.95
#: Rates below this share of the largest are none; so are pulls below this share of all.
STANDS, PULLS_NOT = 1e-7, 1e-9
#: Rows whose independent part is below this are dependent in the very pose.
EXACTLY_DEPENDENT = 1e-9
#: Of the way from one direction of a bent piece to another a step is this share, and all at most so
#: many.
SHARE_OF_WAY, STEPS_OF_WAY = 0.1, 60
#: Third directions that are tried where the direct path from one to another stops.
DETOURS = 12


@dataclass(frozen=True, eq=False)
class AllowedMotion:
    """A motion that a pose allows.

    direction: initial velocities (n, 6), in N, angular ones in body axes; momenta of floating
    systems are zero. The fastest joint moves at 1 rad/s or 1 m/s. rates: those of the joints that
    move [rad/s] or [m/s], by name, or "joint: coordinate". bodies: names of the bodies that move,
    in floating systems relative to the first body. freedoms: the dimension of the branch; the
    direction is then the one of the loads, or that of its first joint. pull: the acceleration along
    the direction by the loads, from rest [rad/s2] or [m/s2]."""

    direction: Floats
    rates: dict[str, float]
    bodies: tuple[str, ...]
    freedoms: int
    pull: float

    def __repr__(self) -> str:
        ways = "one way" if self.freedoms == 1 else f"{self.freedoms} ways"
        return f"<AllowedMotion: {', '.join(self.bodies)} move, in {ways}>"


class ConePiece(NamedTuple):
    """A piece of a tangent cone, in coordinates of a vicinity: the tangent space (d, f), of a
    curved piece at a direction (f,); no direction for a linear subspace."""

    tangent: Floats
    at: Floats | None

    def nearest(self, forms: Floats, aim: Floats) -> Floats:
        """The direction in this piece, not of length one, that is closest to a given one (f,)."""
        if self.at is None:
            return np.asarray(self.tangent.T @ (self.tangent @ aim))
        w = self.at
        for _ in range(NEWTON_STEPS):
            tangent = tangent_at(forms, w)
            within = tangent.T @ (tangent @ aim)
            found = zero_of(
                forms, w + SHARE_OF_WAY * within / max(float(np.linalg.norm(within)), ON_CONE)
            )
            if found is None or np.linalg.norm(found - w) < LEVEL_PLANE:
                break
            w = found
        return np.asarray(w * (w @ aim))


def zero_of(forms: Floats, w: Floats) -> Floats | None:
    """A direction of length one near w along which all forms vanish, by Newton's method with the
    damping of Levenberg and Marquardt far from it."""
    for _ in range(NEWTON_STEPS):
        w = w / np.linalg.norm(w)
        slopes = forms @ w
        missed = slopes @ w
        if abs(missed).max() <= ON_CONE:
            return np.asarray(w)
        damped = slopes.T @ slopes + np.linalg.norm(missed) * np.eye(len(w))
        w = w - 0.5 * np.linalg.solve(damped, slopes.T @ missed)
        if not np.linalg.norm(w) > LEVEL_PLANE:
            break
    return None


def tangent_at(forms: Floats, w: Floats) -> Floats:
    """The tangent space of the cone at one of its directions (d, f)."""
    _, sigma, Vt = np.linalg.svd(forms @ w)
    return np.asarray(Vt[int((sigma > RANK).sum()) :])


def piece_at(forms: Floats, w: Floats) -> ConePiece | None:
    """The piece of the cone that contains a direction; None where several meet."""
    sigma = np.linalg.svd(forms @ w, compute_uv=False)
    if ((sigma > RANK) & (sigma < MEETING)).any():
        return None
    tangent = tangent_at(forms, w)
    flat = abs(np.einsum("af,kfg,bg->kab", tangent, forms, tangent)).max() <= LEVEL_PLANE
    return ConePiece(tangent, None if flat else w)


def is_within(piece: ConePiece, w: Floats, forms: Floats) -> bool:
    """Whether a direction belongs to a known piece."""
    if piece.at is None:
        return bool(np.linalg.norm(piece.tangent @ w) > 1.0 - SAME)
    ends = (w, -w)
    return any(leads_to(forms, piece.at, end) for end in ends) or any(
        leads_around(forms, piece.at, end) for end in ends
    )


def leads_to(forms: Floats, start: Floats, end: Floats) -> bool:
    """Whether a path along the cone connects two directions."""
    w: Floats | None = start
    for _ in range(STEPS_OF_WAY):
        if w is None or np.linalg.norm(end - w) < 2.0 * SHARE_OF_WAY:
            break
        w = zero_of(forms, w + SHARE_OF_WAY * (end - w) / np.linalg.norm(end - w))
    return w is not None and bool(np.linalg.norm(end - w) < 2.0 * SHARE_OF_WAY)


def leads_around(forms: Floats, start: Floats, end: Floats) -> bool:
    """Whether a path by way of a third direction connects two: around a hole of the cone the direct
    one may stop."""
    rng = np.random.default_rng(0)
    for _ in range(DETOURS):
        third = zero_of(forms, rng.normal(size=len(start)))
        if third is not None and leads_to(forms, start, third) and leads_to(forms, third, end):
            return True
    return False


def starts(found: list[ConePiece], f: int) -> Iterator[Floats]:
    """Initial directions: outside of all known pieces, outside of one piece, and any."""
    rng = np.random.default_rng(0)
    while True:
        yield rng.normal(size=f)
        for known in (found, found[-1:]):
            beside = rng.normal(size=f)
            for piece in known:
                beside = beside - piece.tangent.T @ (piece.tangent @ beside)
            yield beside + RANK * rng.normal(size=f)


def pieces_of(forms: Floats) -> list[ConePiece]:
    """All pieces of the cone of directions along which forms (k, f, f) are zero."""
    found: list[ConePiece] = []
    vain = 0
    for start in starts(found, forms.shape[1]):
        w = zero_of(forms, start)
        piece = None if w is None else piece_at(forms, w)
        if w is None or piece is None or any(is_within(known, w, forms) for known in found):
            vain += 1
        else:
            found.append(piece)
            vain = 0
        if vain == IN_VAIN:
            return found
    return found


# --- branches -------------------------------------------------------------------------------------
class Beginning(NamedTuple):
    """A branch, its initial direction, of length one, in coordinates (f,), and its piece of the
    cone."""

    branch: AllowedMotion
    along: Floats
    piece: ConePiece


class Meeting:
    """A pose at rest, and the branches that begin there.

    Beside a singular pose, however near, the rows alone tell the motion (`EXACTLY_DEPENDENT`)."""

    def __init__(self, clusters: Clusters, state: State) -> None:
        still = at_standstill(state)
        self.around = Vicinity(clusters, still)
        exactly = equation.decompose(self.around.at, EXACTLY_DEPENDENT)
        if exactly.rank > self.around.decomposition.rank:
            self.around.__dict__["decomposition"] = exactly
        self.at: Instant = still.instant(clusters.selection)
        which = clusters.selection.coordinates
        names = clusters.selection.tables.coordinate_names
        self.which, self.names = which, tuple(names[k] for k in which)
        shapes = self.around.shapes(np.eye(self.around.freedoms))
        self.rates = np.array([self._rates(speeds) for speeds in shapes])

    def bodies(self, w: Floats) -> Floats:
        """Velocities of all bodies as coordinates move by w (n, 6)."""
        return np.asarray(self.around.shapes(w[None])[0])

    @cached_property
    def forms(self) -> Floats | None:
        """The quadratic forms of the cone (k, f, f); None at a regular pose."""
        return forms_at(self.around)

    def _rates(self, speeds: Floats) -> Floats:
        return self.rates_of(self.which, speeds)

    def rates_of(self, which: Ints, speeds: Floats) -> Floats:
        """Rates of some coordinates as all bodies move (n, 6)."""
        if self.around.flexible:
            moving = self.around.instant_of(self.around.with_speeds(speeds))
        else:
            moving = dataclasses.replace(self.at, v=linear_of(speeds), omega=angular_of(speeds))
        return moving.coordinates(which)[:, 1]

    def find_ways(self) -> list[Beginning]:
        """Find all branches, in an order that depends neither on names nor on the position of the
        system."""
        f, forms = self.around.freedoms, self.forms
        if f == 0:
            return []
        pieces = [ConePiece(np.eye(f), None)] if forms is None else pieces_of(forms)
        none = np.zeros((1, f, f))
        made = [self._begin(piece, none if forms is None else forms) for piece in pieces]
        true = [begun for begun in made if forms is None or self.is_true(begun.along)]
        return sorted(true, key=self._order)

    def _begin(self, piece: ConePiece, forms: Floats) -> Beginning:
        pull, wide = self.around.pull, float(np.linalg.norm(self.around.pull))
        within = piece.nearest(forms, pull) if wide > 0.0 else 0.0 * pull
        pulled = bool(np.linalg.norm(within) > PULLS_NOT * wide)
        for aim in () if pulled else (*self.rates.T, *np.eye(len(pull))):
            within = piece.nearest(forms, aim)
            if np.linalg.norm(within) > STANDS * np.linalg.norm(aim):
                break
        along = within / np.linalg.norm(within)
        rates = along @ self.rates
        scale = float(abs(rates).max(initial=0.0)) or float(abs(self.bodies(along)).max())
        named = {
            name: float(rate / scale)
            for name, rate in zip(self.names, rates, strict=True)
            if abs(rate) > STANDS * scale
        }
        direction, pulled_by = self.bodies(along) / scale, float(along @ pull) * scale
        moving = self._moving(direction)
        return Beginning(
            AllowedMotion(direction, named, moving, len(piece.tangent), pulled_by), along, piece
        )

    def _moving(self, speeds: Floats) -> tuple[str, ...]:
        """Names of the bodies that move; in a floating island relative to its first."""
        islands, cluster = self.around.layout.model.islands, self.around.entry.merger
        of = islands if cluster is None else islands[cluster.cluster]
        n, v, omega = self.at.frames.axes[: len(of)], linear_of(speeds), angular_of(speeds)
        spin = np.einsum("nij,nj->ni", n, omega)
        moving = np.zeros(len(of), dtype=bool)
        for island in np.unique(of):
            mine = np.flatnonzero(of == island)
            first = mine[0]
            own = 0.0 if island < 0 else 1.0
            turned = spin[mine] - own * spin[first]
            arms = self.at.r[mine] - self.at.r[first]
            shifted = v[mine] - own * (v[first] + cross(spin[first], arms))
            fastest = abs(np.hstack([shifted, turned])).max(axis=1)
            moving[mine] = fastest > STANDS * abs(speeds).max()
        return tuple(np.array(self.at.selection.tables.body_names)[moving].tolist())

    def is_true(self, w: Floats) -> bool:
        """Whether a motion follows a direction over a small distance."""
        way = FOLLOWED_FOR / float(abs(self.bodies(w)).max()) * w[None]
        went = self.around.coordinates(self.around.answers(self.around.states_at(way)).rows)[0]
        return bool(went @ w > TRUE * np.linalg.norm(went))

    def _order(self, begun: Beginning) -> tuple[object, ...]:
        rates = begun.along @ self.rates
        shares = np.round(abs(rates) / max(float(abs(rates).max(initial=0.0)), ON_CONE), 6)
        return -begun.branch.freedoms, tuple((-shares).tolist()), tuple((-rates).tolist())


def branches(clusters: Clusters, state: State) -> tuple[AllowedMotion, ...]:
    """The motions that a pose allows."""
    return tuple(begun.branch for begun in Meeting(clusters, state).find_ways())
