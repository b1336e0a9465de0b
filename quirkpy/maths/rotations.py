"""Rotations of many vectors at once, by quaternions w x y z, row by row."""

from __future__ import annotations

import numpy as np

from quirkpy.maths.types import Floats

#: Cyclic permutations of the coordinates.
YZX, ZXY = np.array([1, 2, 0]), np.array([2, 0, 1])


def cross(a: Floats, b: Floats) -> Floats:
    """a x b."""
    return np.asarray(a.take(YZX, -1) * b.take(ZXY, -1) - a.take(ZXY, -1) * b.take(YZX, -1))


def product(p: Floats, q: Floats) -> Floats:
    """Hamilton's product of quaternions w x y z."""
    a, u, b, v = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    scalar = a * b - (u[..., :1] * v[..., :1] + u[..., 1:2] * v[..., 1:2] + u[..., 2:] * v[..., 2:])
    return np.concatenate([scalar, a * v + b * u + cross(u, v)], axis=-1)


def rotate(q: Floats, a: Floats) -> Floats:
    """Vectors rotated by unit quaternions w x y z."""
    u = q[..., 1:]
    across = cross(u, a)
    return np.asarray(a + 2.0 * (q[..., :1] * across + cross(u, across)))


def quaternion_of(turn: Floats) -> Floats:
    """The quaternion w x y z of a rotation matrix (3, 3), its largest component positive (4,)."""
    xx, yy, zz = np.diag(turn)
    sizes = np.array(
        [1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz]
    )
    k = int(sizes.argmax())
    (a, b, c), (d, e, f) = (
        (turn[2, 1], turn[0, 2], turn[1, 0]),
        (turn[1, 2], turn[2, 0], turn[0, 1]),
    )
    lines = ((sizes[0], a - d, b - e, c - f), (a - d, sizes[1], c + f, b + e),
             (b - e, c + f, sizes[2], a + d), (c - f, b + e, a + d, sizes[3]))  # fmt: skip
    q = np.array(lines[k])
    return np.asarray(q / np.linalg.norm(q))
