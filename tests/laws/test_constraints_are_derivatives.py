"""A x'' - b is the second time derivative of every constraint along the motion, and A x' + phi_t
the first.

The constraints are stated a second time in Taylor arithmetic (tests/constraints.py), which
differentiates exactly."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import analysis, equation
from quirkpy.parts.checks import instance as instance_of
from tests.constraints import all_demands
from tests.inputs import OPEN, numbers
from tests.jets import Jet, dot, frames, quaternion_product
from tests.jets import turning as turned
from tests.random_systems import FAMILIES, instant, random_system, seeds
from tests.user_parts import Wave
from tests.workshop import Workshop, World

PRIMITIVES = (
    qp.CoincidentPoints(),
    *(qp.OriginOnLine(axis) for axis in "xyz"),
    *(qp.OriginOnPlane(axis, 0.3) for axis in "xyz"),
    *(qp.ParallelAxes(axis) for axis in "xyz"),
    *(qp.PerpendicularAxes(one, two) for one in "xyz" for two in "xyz"),
    qp.SameOrientation(),
    qp.FixedDistance(0.7),
)


class Bare(qp.Joint):
    """A joint of one primitive."""

    made: qp.Primitive = qp.checked(instance_of(qp.Primitive), kw_only=True)

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (self.made,)


def quaternion_accelerations(state: qp.State, acceleration: Floats) -> Floats:
    """x'' over (r, q), body by body."""
    turns = [turned(q, w, a).dd for q, w, a in zip(state.q, state.omega, acceleration[:, 3:])]
    return np.hstack([acceleration[:, :3], np.array(turns).reshape(-1, 4)]).reshape(-1)


def close(left: Floats, rows: Sequence[Any], scale: Floats) -> bool:
    """Equal up to the rounding of the largest terms."""
    return bool((abs(left - np.array(rows, dtype=float)) <= 1e-12 * (1.0 + scale)).all())


def check(system: qp.Multibody, state: qp.State, selection: Any, acceleration: Floats) -> None:
    """Rows, rates and second derivatives of all active joints, against their second statement."""
    at = state.instant(selection)
    joints = [selection.tables.joints[k] for k in selection.joints]
    rows = [
        row
        for joint in joints
        for row in all_demands(joint, frames(system, state, acceleration), state.t)
    ]
    residual, (A, b, _, _) = analysis.residual(at), equation.matrices(at)
    m, x = len(rows), quaternion_accelerations(state, acceleration)
    size = np.abs(A[:m]) @ np.abs(x) + np.abs(b[:m])
    assert m == len(A) - len(system.bodies)
    assert close(residual.position, [row.f for row in rows], np.abs(residual.position))
    assert close(residual.velocity, [row.d for row in rows], size)
    assert close(A[:m] @ x - b[:m], [row.dd for row in rows], size)


def pair(seed: int, place: str) -> tuple[qp.Body, qp.Body]:
    """Two bodies at random poses; one of them may be the ground or fixed."""
    shop = Workshop([seed], World(), driven=True, conservative=False)
    one, two = shop.body(), shop.body()
    still = shop.body(fixed=True)
    return {"free": (one, two), "ground": (qp.GROUND, two), "fixed": (one, still)}[place]


def anywhere(seed: int, bodies: Sequence[qp.Body], joint: Any) -> None:
    """Check a joint of two moving bodies at poses at which it is far from closed."""
    rng = np.random.default_rng(seed)
    system = qp.Multibody(*(b for b in bodies if b != qp.GROUND), candidates=[joint])
    n = len(system.bodies)
    state = dataclasses.replace(
        system.initial, t=0.4, v=rng.uniform(-1, 1, (n, 3)), omega=rng.uniform(-3, 3, (n, 3))
    )  # fmt: skip
    check(system, state, system.tables.select([joint.name]), rng.uniform(-5, 5, (n, 6)))


def sites(bodies: Sequence[qp.Body], points: Sequence[Any], axes: Sequence[Any]) -> list[qp.Site]:
    return [body.site("end", p, z) for body, p, z in zip(bodies, points, axes)]


@pytest.mark.kernels
@pytest.mark.parametrize("place", ["free", "ground", "fixed"])
@pytest.mark.parametrize("primitive", PRIMITIVES, ids=repr)
def test_rows_of_a_primitive_are_derivatives_of_its_meaning(
    primitive: qp.Primitive, place: str
) -> None:
    bodies = pair(3, place)
    ends = sites(bodies, [(0.3, -0.2, 0.5), (-0.4, 0.1, 0.2)], [(1, 2, 3), (-2, 1, 0.5)])
    anywhere(5, bodies, Bare("bare", *ends, made=primitive))


@OPEN
@given(
    primitive=st.sampled_from(PRIMITIVES), points=st.tuples(numbers(3), numbers(3)),
    axes=st.tuples(numbers(3, away=0.1), numbers(3, away=0.1)), seed=st.integers(0, 1000),
)  # fmt: skip
def test_rows_are_derivatives_wherever_the_sites_are(
    primitive: qp.Primitive, points: Sequence[Any], axes: Sequence[Any], seed: int
) -> None:
    bodies = pair(seed, "free")
    anywhere(seed, bodies, Bare("bare", *sites(bodies, points, axes), made=primitive))


@pytest.mark.kernels
@pytest.mark.parametrize("place", ["free", "ground", "fixed"])
def test_rows_of_a_moving_surface_are_derivatives_of_its_meaning(place: str) -> None:
    bodies = pair(7, place)
    ends = sites(bodies, [(0.3, -0.2, 0.5), (-0.4, 0.1, 0.2)], [(1, 2, 3), (-2, 1, 0.5)])
    anywhere(9, bodies, Wave("wave", *ends, bend=0.8, swing=0.3, pace=5.0))


def turning(t: float) -> tuple[float, float, float]:
    """0.3 sin 2 t with its derivatives."""
    return 0.3 * math.sin(2.0 * t), 0.6 * math.cos(2.0 * t), -1.2 * math.sin(2.0 * t)


SLEW = qp.Schedule((-1.0, 2.0), (0.2, 1.7), "smooth")
#: What acts on the coordinates of joints: two cylinders and a cross, between four bodies.
RELATIONS: dict[str, Callable[[qp.Joint, qp.Joint, qp.Joint], Any]] = {
    "gear of four bodies": lambda a, b, c: qp.Gear(
        "g", a, b, ratio=-0.7, first_coordinate="angle", second_coordinate="angle", offset=0.2
    ),
    "rack": lambda a, b, c: qp.Gear(
        "g", b, a, ratio=0.3, first_coordinate="angle", second_coordinate="travel"
    ),
    "cross and rod": lambda a, b, c: qp.Gear(
        "g", c, a, ratio=2.0, first_coordinate="angle_y", second_coordinate="travel"
    ),
    "both angles of a cross": lambda a, b, c: qp.Gear(
        "g", c, c, ratio=0.5, first_coordinate="angle_x", second_coordinate="angle_y"
    ),
    "slew": lambda a, b, c: qp.Prescribed("g", a, SLEW, first_coordinate="angle"),
    "drive of a travel": lambda a, b, c: qp.Prescribed("g", b, turning, first_coordinate="travel"),
    "drive of a cross": lambda a, b, c: qp.Prescribed("g", c, turning, first_coordinate="angle_y"),
}


def relation_system(seed: int, kind: str) -> tuple[list[qp.Body], list[Any]]:
    """Four bodies, the last one fixed, at random poses, with joints whose ends are apart and what
    acts on them."""
    shop = Workshop([seed], World(), driven=True, conservative=False)
    bodies = [shop.body(), shop.body(), shop.body(), shop.body(fixed=True)]

    def ends(k: int, m: int) -> list[qp.Site]:
        return sites(
            (bodies[k], bodies[m]), [(0.3, -0.2, 0.5), (-0.4, 0.1, 0.2)], [(1, 2, 3), (-2, 1, 0.5)]
        )

    joints = (
        qp.Cylindrical("a", *ends(0, 1)),
        qp.Cylindrical("b", *ends(2, 3)),
        qp.Universal("c", *ends(1, 2)),
    )
    return bodies, [*joints, RELATIONS[kind](*joints)]


@pytest.mark.kernels
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", RELATIONS)
def test_rows_of_relations_are_derivatives_of_their_meaning(kind: str, seed: int) -> None:
    bodies, joints = relation_system(seed, kind)
    rng, n = np.random.default_rng(seed), 3
    system = qp.Multibody(*bodies, candidates=joints)
    v, omega = rng.uniform(-1, 1, (n, 3)), rng.uniform(-3, 3, (n, 3))
    state = dataclasses.replace(system.initial, t=0.4, v=v, omega=omega)
    check(
        system,
        state,
        system.tables.select([joint.name for joint in joints]),
        rng.uniform(-5, 5, (n, 6)),
    )


@pytest.mark.kernels
@pytest.mark.parametrize("place", ["free", "ground", "fixed"])
def test_rows_of_a_screw_are_derivatives_of_its_meaning(place: str) -> None:
    bodies = pair(7, place)
    ends = sites(bodies, [(0.3, -0.2, 0.5), (-0.4, 0.1, 0.2)], [(1, 2, 3), (-2, 1, 0.5)])
    anywhere(9, bodies, qp.Screw("bolt", *ends, pitch=-0.2))


@seeds(8, 3)
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_whole_systems_are_derivatives_of_their_meaning(family: str, seed: int) -> None:
    system = random_system(family, seed)
    acceleration = np.random.default_rng(seed).uniform(-5.0, 5.0, (len(system.bodies), 6))
    check(system, system.initial, system.selection, acceleration)


@pytest.mark.parametrize("family", FAMILIES)
def test_accelerations_keep_every_constraint(family: str) -> None:
    system = random_system(family, 11)
    motion = frames(system, system.initial, system.acceleration())
    for k in system.selection.joints:
        for row in all_demands(system.tables.joints[k], motion, system.initial.t):
            assert abs(row.f) < 1e-12
            assert abs(row.d) < 1e-12
            assert abs(row.dd) < 1e-11 * (1.0 + abs(system.acceleration()).max())


def test_quaternion_rows_keep_the_length_of_any_quaternion_motion() -> None:
    system = random_system("trees", 1)
    rng, n = np.random.default_rng(4), len(system.bodies)
    A, b, _, _ = system.matrices()
    x = rng.uniform(-5.0, 5.0, (n, 7))
    square = [
        dot(q, q)
        for q in (
            Jet(q, 0.5 * quaternion_product(q, np.array([0.0, *w])), dd)
            for q, w, dd in zip(system.initial.q, system.initial.omega, x[:, 3:])
        )
    ]
    np.testing.assert_allclose(
        (A @ x.reshape(-1) - b)[-n:], [s.dd for s in square], rtol=1e-13, atol=1e-12
    )


def test_velocities_of_random_systems_keep_their_joints() -> None:
    for family in FAMILIES:
        system = random_system(family, 2)
        assert len(system.residual().velocity) == len(instant(system).rows.phi)
        assert abs(system.residual().velocity).max(initial=0.0) < 1e-12
