"""Where stiffness jumps: planes through an equilibrium with different stiffness on either side, as
for a rope that is just taut, and walls, stops that are touched there without force.

The change of a smooth force is odd in the displacement up to terms of second order. An even part of
first order reveals a plane. On a small circle of displacements the derivative of the forces along
the circle changes its direction at the plane, along the plane's normal a, as the stiffness on both
sides differs by b a a'."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares

from quirkpy.kernels.base.arrays import Joints
from quirkpy.kernels.base.states import vectors_from, zero_vectors
from quirkpy.kernels.place.kinematics import ground_frames, trace_coordinates
from quirkpy.kernels.tree.stops import BOUND, SIDE, STOP_COORDINATE, TOUCHING
from quirkpy.maths.constants import EPS
from quirkpy.maths.differences import DOUBTS, JUMP
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.analysis import pulls
from quirkpy.rest.cones import Bends
from quirkpy.rest.vicinity import Vicinity

#: The radius of the circle, as a share of a probe; the number of its points; and the factor of
#: refinement where planes lie close together.
CIRCLE_RADIUS, CIRCLE, FINER = 1e-2, 512, 8
#: Between planes the circle shows the size of rounding: a derivative turns where it does so by more
#: than this factor times the given quantile of all points.
SCATTER, MOSTLY = 20.0, 0.9
#: Jumps are also fitted to this number of points of half a circle: along coordinates alone the fit
#: can be undetermined. These points have a small weight beside coordinates, along which jumps are
#: known more accurately.
SEEN, CIRCLE_WEIGHT = 64, 1e-2
#: Planes explain jumps if they leave no more than this share; normals are equal to within the
#: second.
EXPLAINED, SAME_NORMAL = 1e-4, 1e-3


class Kinks(NamedTuple):
    """Normals of planes, of length one (m, f), with half the jump of the stiffness across each
    [1/s2] (m,), and the residual of the observed jumps [1/s2]; whether the residual is small; names
    of the forces that jump."""

    normals: Floats
    jumps: Floats
    left: float
    explained: bool
    names: tuple[str, ...]


class Circle(NamedTuple):
    """Directions of length one (n, f), the even part of the change of force for displacements along
    them, per length (n, f), and its rounding error (f,)."""

    directions: Floats
    uneven: Floats
    rounding: Floats

    def left_by(self, normals: Floats, jumps: Floats) -> Floats:
        """The residual after the contribution of planes (n, f)."""
        shown = np.einsum("k,kf,nk->nf", jumps, normals, abs(self.directions @ normals.T))
        return np.asarray(self.uneven - shown)

    def is_explained(self, normals: Floats, jumps: Floats) -> bool:
        """Whether planes leave a small residual."""
        most = EXPLAINED * abs(self.uneven).max(initial=0.0)
        return bool((abs(self.left_by(normals, jumps)) <= most + self.rounding).all())


def kinks_of(around: Vicinity) -> Kinks | None:
    """Planes through a state at which stiffness jumps; None where forces are smooth."""
    f = around.freedoms
    if not around.jumps.counts.any():
        return None
    forth, back, error = around.jumps.one_sided_stiffness
    uneven = 0.5 * (forth - back)
    normals = _normals(around)
    if normals is None or not len(normals):
        return Kinks(np.zeros((0, f)), np.zeros(0), 0.0, False, jumping_forces(around))
    round_about = _circle(around)
    normals, jumps = _fit(uneven, normals, round_about)
    left = abs(uneven - _jumps_of(normals, jumps))
    explained = bool((left <= EXPLAINED * abs(uneven).max() + error).all())
    explained = explained and round_about.is_explained(normals, jumps)
    return Kinks(
        normals,
        jumps,
        float(left.max()),
        explained,
        jumping_forces(around),
    )


def jumping_forces(around: Vicinity) -> tuple[str, ...]:
    """Names of the forces whose stiffness jumps at a state."""
    counts = around.jumps.counts
    return _jumping(around, np.asarray(counts.any(axis=0))) if counts.any() else ()


def _jumps_of(normals: Floats, jumps: Floats) -> Floats:
    """The even part of the change of force for a displacement along each coordinate, per length (f,
    f)."""
    return np.asarray(np.einsum("k,kf,kg->fg", jumps, normals, abs(normals)))


def _fit(uneven: Floats, normals: Floats, circle: Circle) -> tuple[Floats, Floats]:
    """Normals close to some initial ones (m, f), and jumps, that best fit the changes of force
    along coordinates (f, f) and, where these leave the fit undetermined, on a circle."""
    every = np.concatenate([np.eye(normals.shape[1]), circle.directions])
    shown = np.concatenate([uneven.T, circle.uneven])
    shapes = np.einsum("kf,nk->knf", normals, abs(every @ normals.T)).reshape(len(normals), -1).T
    jumps = np.linalg.lstsq(shapes, shown.reshape(-1), rcond=None)[0]
    sizes = np.sqrt(abs(jumps))[:, None]

    def residual_of(x: Floats) -> Floats:
        scaled, signs = x.reshape(normals.shape), np.sign(jumps)
        left = uneven - _jumps_of(scaled, signs)
        beside = CIRCLE_WEIGHT * circle.left_by(scaled, signs)
        return np.concatenate([left.reshape(-1), beside.reshape(-1)])

    found: Any = least_squares(
        residual_of,
        (sizes * normals).reshape(-1),
        x_scale=max(float(sizes.max()), EPS),
        xtol=EPS,
        ftol=EPS,
        gtol=None,
    )
    made = found.x.reshape(normals.shape)
    return _unit(made), np.sign(jumps) * (made * made).sum(axis=1)


def even_stiffness(around: Vicinity, kinks: Kinks | None) -> tuple[Floats, Floats]:
    """The mean of the stiffnesses on the two sides of all planes, and its errors [1/s2] (f, f)."""
    if kinks is None:
        return around.stiffness.values, around.stiffness_error
    forth, back, error = (
        around.jumps.one_sided_stiffness
    )  # differences of high order are wrong across a plane
    return 0.5 * (forth + back), error


def bends_of(around: Vicinity, kinks: Kinks | None, walls: Floats, rest: Floats) -> Bends:
    """The curvatures of the energy in the complement of the neutral directions."""
    K, error = even_stiffness(around, kinks)
    normals, jumps = np.zeros((0, len(rest))), np.zeros(0)
    if kinks is not None:
        error = error + DOUBTS * kinks.left
        normals, jumps = kinks.normals @ rest.T, kinks.jumps
        lengths = np.linalg.norm(normals, axis=1)
        normals, jumps = normals / np.maximum(lengths, EPS)[:, None], jumps * lengths**2
    K = rest @ K @ rest.T
    error = abs(rest) @ error @ abs(rest).T
    return Bends(0.5 * (K + K.T), error, normals, jumps, _unit(walls @ rest.T))


def bend_along(around: Vicinity, xi: Floats) -> tuple[float, float]:
    """The curvature of energy along coordinates of length one, on one side, and its error [1/s2]:
    by one-sided differences of fourth order, compared with those of third."""
    places = np.array([1.0, 2.0, 3.0, 4.0])
    step = 1.0 / np.sqrt(((xi / around.reach) ** 2).sum())
    pulled = (
        around.reduce(around.answers(around.states_at(np.outer(places * step, xi))).felt)
        - around.pull
    )
    fourth, third = (
        np.linalg.inv(places[:n, None] ** places[:n])[0] @ (pulled[:n] @ xi) / step for n in (4, 3)
    )
    rounding = abs(xi) @ around.rounding / step
    return -float(fourth), DOUBTS * (abs(float(fourth - third)) + DOUBTS * float(rounding))


def walls_of(around: Vicinity) -> tuple[Floats, tuple[str, ...]]:
    """The gradients along coordinates of the gaps of stops that are touched without force, each of
    length one (w, f), and the names of these stops."""
    labels = around.layout.labels
    if not labels or not around.freedoms:
        return np.zeros((0, around.freedoms)), ()
    held = np.array([label in around.state.held for label in labels])
    near = abs(gaps_of(around, around.here.rows)[0]) <= TOUCHING
    touched = ~held & around.layout.bounding & near
    if not touched.any():
        return np.zeros((0, around.freedoms)), ()
    rates = around.slopes_of(gaps_of(around, around.probes.rows))[touched]
    moved = np.linalg.norm(rates, axis=1) > SAME_NORMAL**2
    names = [label for label, is_touched in zip(labels, touched, strict=True) if is_touched]
    return _unit(rates[moved]), tuple(
        name for name, moves in zip(names, moved, strict=True) if moves
    )


def gaps_of(around: Vicinity, rows: Floats) -> Floats:
    """The gaps of states near by (k, nb, STATE_WIDTH) to each stop, positive on the free side (k,
    ns)."""
    stops, packed, n = around.layout.stops, around.layout.packed, around.points.states.bodies
    joints = Joints(packed.ends, packed.coordinates, around.near)
    frames, lines = ground_frames(n + len(packed.modes.stations)), around.points.lines(rows)
    which, out = stops.what[:, STOP_COORDINATE].copy(), np.empty((len(rows), len(stops.what)))
    trace_coordinates(lines, packed.modes, which, joints, packed.sites, frames, out)
    return np.asarray((out - stops.numbers[:, BOUND]) * stops.numbers[:, SIDE])


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1), EPS)[:, None])


def _normals(around: Vicinity) -> Floats | None:
    """Normals of all planes: each plane crosses any circle about the state at two opposite points.
    None: some lie too close together to be separated."""
    if around.freedoms < 2:
        return np.ones((1, 1))
    plane = _plane(around)
    for steps in (CIRCLE, FINER * CIRCLE):
        turning = _turning(around, plane, steps)
        found = _runs(turning)
        if found is not None:
            return found
    return None


def _plane(around: Vicinity) -> Floats:
    """Two orthonormal directions in general position (2, f)."""
    return np.asarray(np.linalg.qr(np.random.default_rng(0).normal(size=(around.freedoms, 2)))[0].T)


def _circle(around: Vicinity) -> Circle:
    """The even part, of first order, of the change of force on a half circle of displacements; a
    second circle of half the radius removes terms of second order."""
    f = around.freedoms
    if f < 2:
        return Circle(np.zeros((0, f)), np.zeros((0, f)), np.zeros(f))
    angles = np.linspace(0.0, np.pi, SEEN, endpoint=False)
    xi = np.column_stack([np.cos(angles), np.sin(angles)]) @ _plane(around)
    xi = xi * CIRCLE_RADIUS * around.reach
    ways = np.concatenate([xi, -xi, 0.5 * xi, -0.5 * xi])
    pulled = around.reduce(around.answers(around.states_at(ways)).felt) - around.pull
    forth, back, near, far = pulled.reshape(4, SEEN, f)
    lengths = np.linalg.norm(xi, axis=1)[:, None]
    uneven = -0.5 * (4.0 * (near + far) - (forth + back)) / lengths
    return Circle(xi / lengths, uneven, 1e3 * around.rounding / float(lengths.min()))


def _turning(around: Vicinity, plane: Floats, steps: int) -> Floats:
    """At each point of half a circle, the second difference of the forces: their deviation from the
    line through both neighbours (steps, f); zero where that is rounding."""
    angles = np.linspace(0.0, 2.0 * np.pi, 2 * steps, endpoint=False)
    size = CIRCLE_RADIUS * around.reach
    xi = np.column_stack([np.cos(angles), np.sin(angles)]) @ plane * size
    pulled = around.reduce(around.answers(around.states_at(xi)).felt) - around.pull
    left = (
        np.roll(pulled, -1, axis=0)
        + np.roll(pulled, 1, axis=0)
        - 2.0 * np.cos(np.pi / steps) * pulled
    )
    left = left[:steps]
    noise = SCATTER * np.quantile(abs(left), MOSTLY, axis=0) + 1e3 * around.rounding
    return np.asarray(np.where(abs(left) > noise, left, 0.0))


def _runs(turning: Floats) -> Floats | None:
    """Directions in which derivatives turn, each at one point or at two neighbouring points (m,
    f)."""
    steps = len(turning)
    turns: Bools = np.asarray(turning.any(axis=1))
    if turns.all():
        return None
    start = int(np.argmin(turns))  # half a circle closes onto itself with the opposite sign
    order = (start + np.arange(steps)) % steps
    found: list[Floats] = []
    k = 0
    while k < steps:
        run = []
        while k < steps and turns[order[k]]:
            run.append(turning[order[k]])
            k += 1
        k += 1
        if not run:
            continue
        largest = max(run, key=lambda row: float(np.linalg.norm(row)))
        normal = largest / np.linalg.norm(largest)
        lines = [row - (row @ normal) * normal for row in run]
        if len(run) > 2 or any(
            np.linalg.norm(x) > 0.1 * np.linalg.norm(y) for x, y in zip(lines, run, strict=True)
        ):
            return None
        found.append(normal)
    return np.array(found).reshape(-1, turning.shape[1])


def _jumping(around: Vicinity, along: Bools) -> tuple[str, ...]:
    """The names of forces whose change has an even part along some coordinates."""
    names = dict[str, None]()
    here = _by_force(around, around.here.rows[0])
    for j in np.flatnonzero(along):
        xi = np.zeros((4, around.freedoms))
        xi[:, j] = CIRCLE_RADIUS * around.reach[j] * np.array([1.0, -1.0, 0.5, -0.5])
        ways = [_by_force(around, rows) for rows in around.answers(around.states_at(xi)).rows]
        for name in dict.fromkeys(name for way in ways for name in way):
            full, half = (
                _of(ways[i], name) + _of(ways[i + 1], name) - 2.0 * _of(here, name) for i in (0, 2)
            )  # fmt: skip
            change = abs(_of(ways[0], name) - _of(ways[1], name)).max() + abs(full).max()
            if (
                change > 0.0
                and abs(full).max() > JUMP * change
                and abs(full - 2.0 * half).max() < 0.1 * abs(full).max()
            ):
                names[name] = None
    return tuple(names)


def _by_force(around: Vicinity, rows: Floats) -> dict[str, Floats]:
    """The loads of each force on all bodies, concatenated."""
    at = around.state_of(rows).instant(around.clusters.selection)
    out: dict[str, Floats] = {}
    bodies = at.selection.tables.body_names
    for k, (_, found) in enumerate(pulls(at).items()):
        for pull in found:
            mine = out.setdefault(pull.source, zero_vectors(len(bodies)))
            mine[k] = vectors_from(pull.force, pull.torque)
    return out


def _of(way: dict[str, Floats], name: str) -> Floats:
    return way.get(name, zero_vectors(1))
