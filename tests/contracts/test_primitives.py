"""What every constraint primitive keeps, alone between two sites."""

from __future__ import annotations

import math

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import gaps
from tests.contracts.catalogue import EAST, PRIMITIVES, WEST, label
from tests.contracts.stage import Pose, between, random_pose, turn

#: What has no row is met by a bound.
every_primitive = pytest.mark.parametrize(
    "primitive", [p for p in PRIMITIVES if p.rows()], ids=repr
)


class Alone(qp.Joint):
    """A joint of one primitive."""

    primitive: qp.Primitive

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (self.primitive,)


def placed(primitive: qp.Primitive, one: Pose, d: Floats, relative: Floats) -> Instant:
    """Site 2 at d, turned by `relative`, both in the axes of site 1."""
    centre, axes = one
    origin, e1 = centre + axes @ np.asarray(EAST.at), axes @ EAST.axes
    body = e1 @ relative @ WEST.axes.T
    two = origin + e1 @ d - body @ np.asarray(WEST.at), body
    return between(Alone("alone", EAST, WEST, primitive), one, two)


def gap(at: Instant) -> qp.Gap:
    (only,) = gaps(at, at.selection.tables.joints[0])
    return only


@every_primitive
def test_full_rank_where_the_gap_is_below_a_right_angle(primitive: qp.Primitive) -> None:
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(100):
        relative = turn(rng.normal(size=3), rng.uniform(0.0, 0.95 * math.pi / 2))
        at = placed(primitive, random_pose(rng), rng.uniform(-1.0, 1.0, 3), relative)
        if gap(at).unit == "rad" and gap(at).size > 0.9 * math.pi / 2:
            continue
        J = at.rows.jacobian / np.linalg.norm(at.rows.jacobian, axis=1, keepdims=True)
        assert np.linalg.svd(J, compute_uv=False)[-1] > 1e-2
        seen += 1
    assert seen > 20


@every_primitive
def test_rows_vanish_with_the_gap_and_grow_with_it(primitive: qp.Primitive) -> None:
    """Below a tenth of a metre or radian, gap and residual say the same within a small factor."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        d, relative = rng.uniform(-1.0, 1.0, 3), turn(rng.normal(size=3), rng.uniform(0.0, 3.0))
        at = placed(primitive, random_pose(rng), d, relative)
        size, residual = gap(at).size, math.hypot(*at.rows.phi)
        assert residual <= 1.5 * size + 1e-14
        assert size <= 1.5 * residual + 1e-14 or size > 0.1


@every_primitive
def test_unit_is_that_of_the_rows(primitive: qp.Primitive) -> None:
    at = placed(
        primitive,
        random_pose(np.random.default_rng(3)),
        np.array([0.3, -0.2, 0.9]),
        turn((1, 2, 3), 0.4),
    )
    assert gap(at).unit == ("rad" if primitive.rows()[0].kind == "dot" else "m")
    assert str(gap(at)).endswith(f" {gap(at).unit}")


MET = [
    (qp.CoincidentPoints(), (0.0, 0.0, 0.0), turn((1, 2, 3), 2.0)),
    (qp.OriginOnLine("z"), (0.0, 0.0, -2.0), turn((1, 2, 3), 2.0)),
    (qp.OriginOnLine("y"), (0.0, 3.0, 0.0), turn((1, 2, 3), 2.0)),
    (qp.OriginOnPlane("x", offset=0.4), (0.4, 3.0, -2.0), turn((1, 2, 3), 2.0)),
    (qp.ParallelAxes("z"), (1.0, 2.0, 3.0), turn((0, 0, 1), 2.0)),
    (qp.ParallelAxes("x"), (1.0, 2.0, 3.0), turn((1, 0, 0), 2.0)),
    (qp.PerpendicularAxes("x", "y"), (1.0, 2.0, 3.0), turn((0, 1, 0), 2.0)),
    (qp.PerpendicularAxes("z", "z"), (1.0, 2.0, 3.0), turn((1, 0, 0), math.pi / 2)),
    (qp.SameOrientation(), (1.0, 2.0, 3.0), np.eye(3)),
    (qp.FixedDistance(3.0), (2.0, -1.0, 2.0), turn((1, 2, 3), 2.0)),
]


@pytest.mark.parametrize(("primitive", "d", "relative"), MET, ids=lambda value: repr(value)[:24])
def test_met_where_geometry_says_so(
    primitive: qp.Primitive, d: tuple[float, ...], relative: Floats
) -> None:
    at = placed(primitive, random_pose(np.random.default_rng(4)), np.array(d), relative)
    assert abs(at.rows.phi).max() < 1e-15 * 10
    assert gap(at).size < 1e-14


@pytest.mark.parametrize(
    ("primitive", "d", "relative", "size"),
    [
        (qp.CoincidentPoints(), (2.0, -1.0, 2.0), np.eye(3), 3.0),
        (qp.OriginOnLine("z"), (0.3, -0.4, 9.0), np.eye(3), 0.5),
        (qp.OriginOnPlane("y", offset=-1.0), (7.0, 0.5, 9.0), np.eye(3), 1.5),
        (qp.ParallelAxes("z"), (1.0, 1.0, 1.0), turn((1, 0, 0), 2.5), 2.5),
        (qp.PerpendicularAxes("x", "y"), (1.0, 1.0, 1.0), turn((0, 0, 1), 0.3), 0.3),
        (qp.SameOrientation(), (1.0, 1.0, 1.0), turn((1, -2, 3), 2.9), 2.9),
        (qp.FixedDistance(3.5), (2.0, -1.0, 2.0), np.eye(3), 0.5),
    ],
    ids=lambda value: label(value) if isinstance(value, qp.Part) else "",
)
def test_gap_is_the_distance_or_the_angle(
    primitive: qp.Primitive, d: tuple[float, ...], relative: Floats, size: float
) -> None:
    at = placed(primitive, random_pose(np.random.default_rng(5)), np.array(d), relative)
    assert gap(at).size == pytest.approx(size, abs=1e-13)


@pytest.mark.parametrize(
    "primitive", [p for p in PRIMITIVES if isinstance(p, qp.ParallelAxes | qp.SameOrientation)]
)
def test_opposite_axes_are_half_a_turn_apart(primitive: qp.Primitive) -> None:
    """The rows vanish there as well: only the gap tells the branches apart."""
    own = getattr(primitive, "axis", None)
    for k, axis in enumerate("xyz"):
        at = placed(
            primitive,
            random_pose(np.random.default_rng(6)),
            np.zeros(3),
            turn(np.eye(3)[k], math.pi),
        )
        assert abs(at.rows.phi).max() < 1e-15
        assert gap(at).size == pytest.approx(0.0 if axis == own else math.pi, abs=1e-15)
