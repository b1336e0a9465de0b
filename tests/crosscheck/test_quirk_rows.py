"""QuIRK's own redundant joint rows give the same motion as ours (Shoer and Peck, errata to eqs.
(7), (18), (19)).

QuIRK writes quaternions scalar last; here every column block is turned to scalar first when it is
done.  What the errata print as (..)^x Q T q-dot in the last terms of b must read T-dot q-dot, which
is zero; it is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from tests.random_systems import compatible, free_acceleration, instant
from tests.workshop import Workshop, World

#: Scalar last -> scalar first.
SCALAR_FIRST = [3, 0, 1, 2]


def cross_matrix(a: Floats) -> Floats:
    """a^x of the paper."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def T(q: Floats) -> Floats:
    """Eq. (7) of the errata, scalar last: omega in body axes = T(q) q-dot."""
    return 2.0 * np.column_stack([-cross_matrix(q[:3]) + q[3] * np.eye(3), -q[:3]])


def ball_rows(
    states: Sequence[tuple[Floats, Floats, Floats]], points: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Eq. (18): A over (r_B, q_B, r_C, q_C) with q scalar first, and b.

    states: q scalar last, rotation matrix and body-axes angular velocity of B and C; points: p_BC
    and p_CB, body axes."""
    blocks, b = [], np.zeros(3)
    for sign, (q, Q, omega), p in zip((1.0, -1.0), states, points):
        spin = cross_matrix(Q @ omega)
        blocks += [sign * np.eye(3), -sign * (cross_matrix(Q @ p) @ Q @ T(q))[:, SCALAR_FIRST]]
        b -= sign * spin @ spin @ Q @ p
    return np.hstack(blocks), b


def hinge_rows(
    states: Sequence[tuple[Floats, Floats, Floats]],
    points: Sequence[Floats],
    axis: Floats,
    lever: float,
) -> tuple[Floats, Floats]:
    """Eq. (19): two balls, one lever [m] along the axis (body axes of B) to either side.  6 rows of
    rank 5."""
    (_, Q_B, _), (_, Q_C, _) = states
    other = Q_C.T @ Q_B @ axis
    made = [
        ball_rows(states, (points[0] + s * axis, points[1] + s * other)) for s in (lever, -lever)
    ]
    return np.vstack([A for A, _ in made]), np.concatenate([b for _, b in made])


def pair(seed: int, kind: type[qp.Joint]) -> qp.Multibody:
    """Two tumbling bodies with one joint between them, pulled about."""
    shop = Workshop([20, seed], World(), driven=False, conservative=False)
    one, two = shop.body(), shop.body()
    shop.join(one, two, (kind,))
    shop.forces()
    system = qp.Multibody(*shop.parts)
    v, omega = shop.rng.uniform(-1, 1, (2, 3)), shop.rng.uniform(-3, 3, (2, 3))
    return system.at(compatible(system, dataclasses.replace(system.initial, v=v, omega=omega)))


def with_quirk_rows(system: qp.Multibody, lever: float | None, *, scaled: bool) -> Floats:
    """Accelerations (2, 6) when the rows of the joint are exchanged for QuIRK's."""
    at = instant(system)
    matrices = [axes.reshape(3, 3) for axes in at.frames.axes[:2]]
    states = [(np.roll(q, -1), Q, omega) for q, Q, omega in zip(at.q, matrices, at.omega)]
    sites = system.tables.joints[0].sites
    points = [np.array(site.at) for site in sites]
    if lever is None:
        A, b = ball_rows(states, points)
    else:
        A, b = hinge_rows(states, points, sites[0].axes[:, 2], lever)
    ours = system.matrices()
    A, b = np.vstack([A, ours.A[-2:]]), np.concatenate([b, ours.b[-2:]])
    x = equation.literal(
        A, b, ours.M, ours.F, metric=kinetic_metric(ours.M, at.q) if scaled else None
    )
    turned = [equation.rate_matrix(q) @ dd for q, dd in zip(at.q, x.reshape(2, 7)[:, 3:])]
    return np.hstack([x.reshape(2, 7)[:, :3], turned])


def kinetic_metric(M: Floats, quaternions: Floats) -> Floats:
    """M with something of its own size along each quaternion, where it is singular."""
    out = M.copy()
    for k, q in enumerate(quaternions):
        block = slice(7 * k + 3, 7 * k + 7)
        out[block, block] += np.trace(M[block, block]) / 3.0 * np.outer(q, q)
    return out


def assert_same(system: qp.Multibody, made: Floats) -> None:
    ours = system.acceleration()
    scale = max(abs(ours).max(), abs(free_acceleration(system)).max())
    assert abs(made - ours).max() <= 1e-9 * scale


@pytest.mark.parametrize("seed", range(20))
def test_ball_joint_of_quirk_moves_like_ours(seed: int) -> None:
    system = pair(seed, qp.Spherical)
    assert_same(system, with_quirk_rows(system, None, scaled=True))


@pytest.mark.parametrize("lever", [1.0, 0.1, 0.02])
@pytest.mark.parametrize("seed", range(20))
def test_two_displaced_balls_of_quirk_move_like_our_hinge(seed: int, lever: float) -> None:
    system = pair(seed, qp.Revolute)
    assert_same(system, with_quirk_rows(system, lever, scaled=True))


def cubes(kind: type[qp.Joint]) -> qp.Multibody:
    """Two metre cubes of the paper's kind: masses, moments and lengths of one size."""
    one = qp.Body.box("B", (1, 1, 1), 1.0, angular_velocity=(0.3, -0.2, 0.5))
    two = qp.Body.box(
        "C", (1, 1, 1), 1.5, position=(1, 0, 0), orientation=qp.rotation((1, 2, 3), 0.4)
    )
    place = {"axis": (0, 0, 1)} if kind is qp.Revolute else {}
    system = qp.Multibody(
        one,
        two,
        kind("joint", one, two, at=(0.5, -0.5, 0), **place),
        qp.Load("p", two, force=(1, 2, 3)),
    )
    return system.at(compatible(system, system.initial))


@pytest.mark.parametrize(("kind", "lever"), [(qp.Spherical, None), (qp.Revolute, 1.0)])
def test_quirk_exactly_as_printed_moves_metre_cubes_like_ours(
    kind: type[qp.Joint], lever: float | None
) -> None:
    system = cubes(kind)
    assert_same(system, with_quirk_rows(system, lever, scaled=False))


def test_hinge_of_quirk_has_one_row_too_many() -> None:
    system = cubes(qp.Revolute)
    states = [
        (np.roll(q, -1), qp_matrix, w)
        for q, qp_matrix, w in zip(
            system.initial.q, np.eye(3)[None].repeat(2, 0), system.initial.omega
        )
    ]
    A, _ = hinge_rows(states, (np.ones(3), np.zeros(3)), np.array([0.0, 0.0, 1.0]), 0.5)
    assert A.shape == (6, 14)
    assert np.linalg.matrix_rank(A) == 5
    assert len(system.residual().position) == 5


@pytest.mark.parametrize("seed", range(5))
def test_rate_of_T_times_rate_of_q_is_zero(seed: int) -> None:
    """T is linear in q, so T-dot = T(q-dot); the term that the errata misprint vanishes, the
    printed one does not."""
    q, q_dot = np.random.default_rng(seed).normal(size=(2, 4))
    assert abs(T(q_dot) @ q_dot).max() < 1e-14
    assert abs(T(q) @ q_dot).max() > 0.1


def test_scalar_last_and_scalar_first_are_the_same_matrix() -> None:
    q = np.array([0.1, -0.5, 0.7, 0.5])
    np.testing.assert_array_equal(T(np.roll(q, -1))[:, SCALAR_FIRST], equation.rate_matrix(q))
