"""States of clusters from states of their locked bodies, and back.

Every row is computed by the same operations, so that its bits do not depend on the other rows."""

from __future__ import annotations

from quirkpy.kernels.base.arrays import Vec
from quirkpy.kernels.base.compiled import inner, kernel
from quirkpy.kernels.base.states import OMEGA, STATE_WIDTH, Q, R, V
from quirkpy.kernels.base.vectors import Four, add, cross, get3, get4, put3, scale
from quirkpy.maths.types import Floats, Ints


@inner
def turn_by(q: Four, a: Vec) -> Vec:
    """A vector turned by a unit quaternion w x y z."""
    u = q[1], q[2], q[3]
    across = cross(u, a)
    return add(a, scale(2.0, add(scale(q[0], across), cross(u, across))))


@inner
def put_moved(row: Floats, i: int, r: Vec, q: Four, v: Vec, omega: Vec, place: Vec) -> None:
    """Write place and velocity of the point that lies at `place` [m], in body axes, from a mass
    centre."""
    put3(row, i, R, add(r, turn_by(q, place)))
    put3(row, i, V, add(v, turn_by(q, cross(omega, place))))


@kernel
def spread(
    states: Floats, cluster: Ints, place: Floats, turn: Floats, clusters: int, out: Floats
) -> None:
    """States of all bodies (k, nb + m, STATE_WIDTH) from those of their clusters (k, n + m,
    STATE_WIDTH); the m last rows are no bodies and are copied.  Bodies of cluster n stand on the
    ground."""
    still = 0.0, 0.0, 0.0
    for k in range(states.shape[0]):
        for i in range(cluster.shape[0]):
            c = cluster[i]
            r, q, v, omega = still, (1.0, 0.0, 0.0, 0.0), still, still
            if c < clusters:
                y = states[k]
                r, q, v, omega = get3(y, c, R), get4(y, c, Q), get3(y, c, V), get3(y, c, OMEGA)
            put_moved(out[k], i, r, q, v, omega, get3(place, i, 0))
            w, u, t, x = q[0], (q[1], q[2], q[3]), turn[i, 0], get3(turn, i, 1)
            out[k, i, Q] = w * t - (u[0] * x[0] + u[1] * x[1] + u[2] * x[2])
            put3(out[k], i, Q + 1, add(add(scale(w, x), scale(t, u)), cross(u, x)))
            put3(out[k], i, OMEGA, turn_by((t, -x[0], -x[1], -x[2]), omega))
        for m in range(states.shape[1] - clusters):
            for j in range(STATE_WIDTH):
                out[k, cluster.shape[0] + m, j] = states[k, clusters + m, j]


@kernel
def gather(states: Floats, leader: Ints, place: Floats, bodies: int, out: Floats) -> None:
    """The inverse of `spread`, except for rounding: each cluster moves with its leader, which lies
    at `place` in it."""
    for k in range(states.shape[0]):
        for c in range(leader.shape[0]):
            i, y = leader[c], states[k]
            q, p = get4(y, i, Q), get3(place, c, 0)
            r, v, omega = get3(y, i, R), get3(y, i, V), get3(y, i, OMEGA)
            put_moved(out[k], c, r, q, v, omega, (-p[0], -p[1], -p[2]))
            for j in range(4):
                out[k, c, Q + j] = q[j]
            put3(out[k], c, OMEGA, omega)
        for m in range(states.shape[1] - bodies):
            for j in range(STATE_WIDTH):
                out[k, leader.shape[0] + m, j] = states[k, bodies + m, j]
