"""Rotations at the surface: the only module that knows numpy-quaternion.

Users hold numpy-quaternion objects or scipy Rotations; everything behind this module holds float64
(w, x, y, z): scalar first, Hamilton product, active rotation from body axes to the inertial frame
N."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import quaternion as numpy_quaternion
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from quirkpy.maths.constants import EPS
from quirkpy.maths.warnings import doubt_any, doubt_degrees

Quaternion: Any = numpy_quaternion.quaternion
Floats: TypeAlias = NDArray[np.float64]

#: A quaternion whose length differs from one by more than this is a mistake, not rounding.
UNIT_TOLERANCE = 1e-6

#: A squared length this near to one is one, but for rounding.
UNIT_ROUNDING = 4.0 * EPS

#: As many characters of what is no rotation are shown.
LONGEST = 100

#: No rotation.
IDENTITY = Quaternion(1.0, 0.0, 0.0, 0.0)

BARE_ARRAY = (
    "is four bare numbers, which do not say whether the scalar comes first or last; give "
    "qp.rotation(axis, angle), a scipy Rotation or a numpy-quaternion np.quaternion(w, x, y, z)"
)


def rotation(axis: Sequence[float] | Floats, angle: float) -> Any:
    """The rotation by `angle` [rad] about `axis` (any length but zero), right-handed; degrees are
    `angle * qp.deg`."""
    direction = np.asarray(axis, dtype=float)
    if direction.shape != (3,):
        raise ValueError(f"rotation: axis has shape {direction.shape}, but must be three numbers.")
    largest = abs(direction).max()
    if not (0.0 < largest < math.inf and math.isfinite(angle)):
        raise ValueError(
            f"rotation: axis {tuple(direction.tolist())} must be finite and not zero, and angle "
            f"{angle} finite."
        )
    doubt_degrees("rotation: angle", angle)
    x, y, z = (direction / largest).tolist()  # first: its square may be out of range
    s = math.sin(0.5 * angle) / math.hypot(x, y, z)
    return Quaternion(math.cos(0.5 * angle), s * x, s * y, s * z)


def unit_quaternion(value: Any) -> Any:
    """What a user gives as an orientation -> a unit quaternion; None stands for no rotation.

    A quaternion that is unit to the last digits is kept bit for bit, so that writing and reading
    change nothing."""
    if value is None:
        return IDENTITY
    w, x, y, z = _components(value)
    square = w * w + x * x + y * y + z * z
    if not abs(square - 1.0) <= 2.0 * UNIT_TOLERANCE:
        raise ValueError(
            f"is the quaternion ({w}, {x}, {y}, {z}), whose length is not 1; normalise it"
        )
    if abs(square - 1.0) <= UNIT_ROUNDING:
        return Quaternion(w, x, y, z)
    scale = 1.0 / math.sqrt(square)
    return Quaternion(w * scale, x * scale, y * scale, z * scale)


def _components(value: Any) -> tuple[float, float, float, float]:
    """w, x, y, z of what a user gives as an orientation, of any length."""
    if isinstance(value, Rotation) and value.single:
        x, y, z, w = (float(c) for c in value.as_quat())
        return w, x, y, z
    if isinstance(value, Quaternion):
        return value.w, value.x, value.y, value.z
    if (
        isinstance(value, Sequence | np.ndarray)
        and len(value) == 4
        and all(map(np.isscalar, value))
    ):
        raise TypeError(BARE_ARRAY)
    line = " ".join(repr(value).split())
    line = line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
    raise TypeError(
        f"is {line}, but must be qp.rotation(axis, angle), one scipy Rotation or a numpy-quaternion"
    )


def to_array(q: Any) -> Floats:
    """One quaternion object -> (w, x, y, z), float64, shape (4,)."""
    return np.array([q.w, q.x, q.y, q.z])


def from_array(wxyz: Floats) -> Any:
    """(..., 4) floats -> numpy-quaternion: one object for one row, an array of them for more."""
    out = numpy_quaternion.as_quat_array(np.array(wxyz, dtype=float))
    return out if out.ndim else out[()]


def from_euler(sequence: str, angles: Sequence[float] | Floats) -> Any:
    """The rotation by Euler angles [rad] about the axes of a sequence: "ZYX" turns about z first,
    then about the y and the x so turned; "zyx" about the axes of N, which stay."""
    _check_sequence("from_euler", sequence)
    given = np.asarray(angles, dtype=float)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise ValueError(f"from_euler: angles are {angles}, but must be three finite numbers.")
    doubt_any("from_euler: angle", given.tolist())
    return unit_quaternion(Rotation.from_euler(sequence, given))


def to_euler(q: Any, sequence: str) -> Floats:
    """Euler angles [rad] of a rotation, in the order of a sequence (3,), or of an array of n
    rotations (n, 3), such as ``run["arm"].orientation``. Where the first and the last axis fall
    together the last angle is zero."""
    _check_sequence("to_euler", sequence)
    turn: Any = Rotation.from_quat(np.roll(numpy_quaternion.as_float_array(q), -1, axis=-1))
    with warnings.catch_warnings():  # of axes that fall together
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(turn.as_euler(sequence))


def _check_sequence(who: str, sequence: str) -> None:
    """Refuse what is no sequence of three axes, neighbours different, all of one kind."""
    known = isinstance(sequence, str) and re.fullmatch("[xyz]{3}|[XYZ]{3}", sequence)
    if not known or any(one == two for one, two in itertools.pairwise(sequence)):
        raise ValueError(
            f"{who}: {sequence!r} is no sequence of three axes; give one such as 'ZYX' (about axes "
            "that turn along) or 'xyz' (about axes of N)."
        )


def rotation_matrix(w: float, x: float, y: float, z: float) -> tuple[float, ...]:
    """The nine entries, row by row, of the matrix Q that turns body components into N components.

    Exact for a unit quaternion; deliberately does not normalise, so that drift of |q| shows.
    """
    return (
        w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z,
    )  # fmt: skip


def matrix(q: Any) -> Floats:
    """Rotation matrix (3, 3), body components -> N components, of one quaternion object."""
    return np.array(rotation_matrix(q.w, q.x, q.y, q.z)).reshape(3, 3)
