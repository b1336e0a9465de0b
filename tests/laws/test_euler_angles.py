"""Euler angles by named sequences, against turns one after another."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

import quirkpy as qp

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
ORDERS = [
    "".join(order)
    for order in itertools.product("xyz", repeat=3)
    if order[0] != order[1] != order[2]
]


def turns(sequence: str, angles: np.ndarray) -> np.ndarray:
    """The matrix of turns about axes that turn along; about axes of N they come the other way
    round."""
    each = [
        qp.quat.matrix(qp.rotation(AXES[axis.lower()], angle))
        for axis, angle in zip(sequence, angles, strict=True)
    ]
    return functools.reduce(np.matmul, each if sequence.isupper() else each[::-1])


@pytest.mark.parametrize("sequence", [*ORDERS, *map(str.upper, ORDERS)])
def test_a_sequence_is_its_turns_one_by_one(sequence: str) -> None:
    rng = np.random.default_rng(sum(map(ord, sequence)))
    for angles in rng.uniform(-3.0, 3.0, (5, 3)):
        q = qp.quat.from_euler(sequence, angles)
        np.testing.assert_allclose(qp.quat.matrix(q), turns(sequence, angles), atol=1e-14)
        back = qp.quat.to_euler(q, sequence)
        np.testing.assert_allclose(turns(sequence, back), turns(sequence, angles), atol=1e-13)


def test_angles_of_a_run_come_as_rows() -> None:
    ball = qp.Body.sphere("ball", 0.1, 1.0, angular_velocity=(0, 0, 0.5))
    run = qp.Multibody(ball).simulate(2.0)
    rows = qp.quat.to_euler(run["ball"].orientation, "ZYX")
    assert rows.shape == (len(run.t), 3)
    np.testing.assert_allclose(rows[:, 0], 0.5 * run.t, atol=1e-9)


def test_where_axes_fall_together_the_last_angle_is_zero() -> None:
    q = qp.quat.from_euler("ZYX", (0.3, 0.5 * np.pi, 0.1))
    back = qp.quat.to_euler(q, "ZYX")
    assert back[2] == 0.0
    np.testing.assert_allclose(turns("ZYX", back), qp.quat.matrix(q), atol=1e-7)


def test_wrong_sequences_and_degrees_are_told() -> None:
    for sequence in ("zz", "zzx", "zYx", "abc", 3):
        with pytest.raises(ValueError, match="is no sequence of three axes"):
            qp.quat.from_euler(sequence, (0, 0, 0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be three finite numbers"):
        qp.quat.from_euler("xyz", (0.0, np.nan, 0.0))
    with pytest.warns(qp.PartWarning, match="qp.deg"):
        qp.quat.from_euler("xyz", (90, 0, 0))
