"""What every joint keeps: rows of full rank, a motion subspace that fits them, a gap that sees what
the rows don't."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.maths.types import AXES, Floats
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import MEETING_TOLERANCE, gaps
from quirkpy.parts.joint import BaseJoint
from tests.contracts.catalogue import ARM, HUB, JOINTS, label
from tests.contracts.stage import (
    Pose,
    allowed,
    between,
    moved,
    pitch_of,
    random_pose,
    site_frame,
    turn,
    written,
)

SEEDS = range(6)
#: Joints that no displacement opens.
FAR_APART = (qp.Parallel, qp.Perpendicular)
KINEMATIC = [joint for joint in JOINTS if joint.freedoms is not None]
LOOSE = [joint for joint in JOINTS if joint.freedoms is None]
WITH_COORDINATE = [joint for joint in JOINTS if joint.coordinate is not None]

every_joint = pytest.mark.parametrize("joint", JOINTS, ids=label)
kinematic_joint = pytest.mark.parametrize("joint", KINEMATIC, ids=label)
coordinate_joint = pytest.mark.parametrize("joint", WITH_COORDINATE, ids=label)
several_coordinates = pytest.mark.parametrize(
    "joint", [j for j in KINEMATIC if len(j.coordinates) > 1], ids=label
)
every_coordinate_joint = pytest.mark.parametrize(
    "joint", [j for j in JOINTS if j.coordinates], ids=label
)
many = pytest.mark.parametrize("seed", SEEDS)


def satisfied(joint: qp.Joint, seed: int) -> tuple[Pose, Pose]:
    """Random poses at which the ends meet."""
    rng = np.random.default_rng(seed)
    one = random_pose(rng)
    if joint.freedoms is not None:
        return one, allowed(joint, one, rng.uniform(-1.5, 1.5, len(joint.freedoms)))
    return one, settled(joint, one, random_pose(rng))


def settled(joint: BaseJoint, one: Pose, two: Pose) -> Pose:
    """Newton's method on the rows, for joints without freedoms: body 2 moves until they are
    satisfied."""
    for _ in range(60):
        rows = between(joint, one, two).rows
        step = -np.linalg.lstsq(rows.jacobian[:, 6:], rows.phi, rcond=None)[0]
        two = by_twist(two, two[0], step, 1.0)
    assert abs(rows.phi).max() < 1e-14
    return two


def by_twist(pose: Pose, pivot: Floats, twist: Floats, amount: float) -> Pose:
    """A pose moved along (v of the pivot, w) in N."""
    angle = amount * math.hypot(*twist[3:])
    rotation = turn(twist[3:], angle) if angle else np.eye(3)
    return moved(pose, pivot, amount * twist[:3], rotation)


def worst(at: Instant) -> float:
    """The largest gap of the only joint."""
    return max(gap.size for gap in gaps(at, at.selection.tables.joints[0]))


def unit_rows(jacobian: Floats) -> Floats:
    return jacobian / np.linalg.norm(jacobian, axis=1, keepdims=True)


def subspace(joint: qp.Joint, one: Pose, two: Pose) -> Floats:
    """Columns (v2, w2) in N of body 2 for each freedom, body 1 at rest: about and along axes of
    their sites at site 2."""
    _, axes = site_frame(joint.sites[0], one)
    origin, axes2 = site_frame(joint.sites[1], two)
    columns = []
    for freedom in joint.freedoms or ():
        axis = (axes if freedom.site == 1 else axes2)[:, AXES.index(freedom.axis)]
        slide = np.concatenate([axis, np.zeros(3)])
        about = np.concatenate([np.cross(axis, two[0] - origin), axis])
        if freedom.kind == "screw":
            about += pitch_of(joint) * slide
        columns.append(slide if freedom.kind == "slide" else about)
    return np.array(columns).reshape(-1, 6).T


# --- rows -----------------------------------------------------------------------------------------
@every_joint
def test_rows_are_those_of_the_primitives(joint: qp.Joint) -> None:
    count = sum(len(primitive.rows()) for primitive in joint.primitives()) + len(joint.relations())
    assert len(between(joint, written(HUB), written(ARM)).rows.phi) == count
    assert joint.freedoms is None or count == 6 - len(joint.freedoms)


@many
@every_joint
@pytest.mark.parametrize("drift", [0.0, 1e-6])
def test_rows_have_full_rank(joint: qp.Joint, seed: int, drift: float) -> None:
    one, two = satisfied(joint, seed)
    twist = drift * np.random.default_rng(seed + 100).normal(size=6)
    rows = between(joint, one, by_twist(two, two[0], twist, 1.0)).rows
    assert abs(rows.phi).max() < max(10.0 * drift, 1e-13)
    sigma = np.linalg.svd(unit_rows(rows.jacobian), compute_uv=False)
    assert sigma[-1] > 1e-2 * sigma[0]


@many
@every_joint
def test_rows_do_not_feel_a_motion_of_the_whole(joint: qp.Joint, seed: int) -> None:
    (r1, _), (r2, _) = one, two = satisfied(joint, seed)
    v, w, point = np.random.default_rng(seed).normal(size=(3, 3))
    u = np.concatenate([v + np.cross(w, r1 - point), w, v + np.cross(w, r2 - point), w])
    assert abs(between(joint, one, two).rows.jacobian @ u).max() < 1e-13


@pytest.mark.kernels
@many
@every_joint
def test_jacobian_is_the_derivative_of_the_residual(joint: qp.Joint, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, two = satisfied(joint, seed)
    twists, h = rng.normal(size=(2, 6)), 1e-5
    ends = []
    for s in (-h, h):
        poses = [by_twist(pose, pose[0], twist, s) for pose, twist in zip((one, two), twists)]
        ends.append(between(joint, *poses).rows.phi)
    exact = between(joint, one, two).rows.jacobian @ twists.reshape(-1)
    np.testing.assert_allclose((ends[1] - ends[0]) / (2.0 * h), exact, rtol=0.0, atol=1e-8)


@pytest.mark.kernels
@many
@every_joint
def test_gamma_is_minus_the_bend_at_steady_velocities(joint: qp.Joint, seed: int) -> None:
    """Where no velocity changes, the second derivative of the residual is -gamma: here by
    differences."""
    one, two = satisfied(joint, seed)
    twists, h = np.random.default_rng(seed).normal(size=(2, 6)), 1e-3
    phi = []
    for s in (-2, -1, 0, 1, 2):
        poses = [by_twist(pose, pose[0], twist, s * h) for pose, twist in zip((one, two), twists)]
        phi.append(between(joint, *poses).rows.phi)
    bend = (-phi[0] + 16.0 * phi[1] - 30.0 * phi[2] + 16.0 * phi[3] - phi[4]) / (12.0 * h**2)
    omega = np.array([pose[1].T @ twist[3:] for pose, twist in zip((one, two), twists)])
    exact = -between(joint, one, two, v=twists[:, :3], omega=omega).rows.gamma
    np.testing.assert_allclose(bend, exact, rtol=0.0, atol=1e-8 * max(1.0, abs(exact).max()))


# --- the motion subspace --------------------------------------------------------------------------
@many
@kinematic_joint
def test_freedoms_are_what_the_rows_leave(joint: qp.Joint, seed: int) -> None:
    one, two = satisfied(joint, seed)
    J, S = between(joint, one, two).rows.jacobian[:, 6:], subspace(joint, one, two)
    if S.size:
        assert abs(J @ S).max() < 1e-13
    together = np.hstack([unit_rows(J).T, S / np.linalg.norm(S, axis=0)])
    sigma = np.linalg.svd(together, compute_uv=False)
    assert together.shape == (6, 6)
    assert sigma[-1] > 1e-2 * sigma[0]


# --- the gap --------------------------------------------------------------------------------------
@every_joint
def test_gap_is_zero_at_the_written_pose(joint: qp.Joint) -> None:
    assert worst(between(joint, written(HUB), written(ARM))) < 1e-14


@many
@every_joint
def test_gap_is_zero_wherever_the_ends_meet(joint: qp.Joint, seed: int) -> None:
    one, two = satisfied(joint, seed)
    assert worst(between(joint, one, two)) < 1e-13


@many
@every_joint
def test_gap_grows_as_the_ends_part(joint: qp.Joint, seed: int) -> None:
    """Along what the rows forbid, the gap rises from zero at a fair rate."""
    one, two = satisfied(joint, seed)
    origin, _ = site_frame(joint.sites[1], two)
    lever = two[0] - origin
    for row in between(joint, one, two).rows.jacobian[:, 6:]:
        twist = row / np.linalg.norm(row)
        of_pivot = np.concatenate([twist[:3] - np.cross(twist[3:], lever), twist[3:]])
        sizes = [
            worst(between(joint, one, by_twist(two, origin, of_pivot, s)))
            for s in (0.0, 1e-5, 1e-3, 0.05, 0.2)
        ]
        assert sizes == sorted(sizes)
        assert sizes[1] > 1e-6 > MEETING_TOLERANCE - 1e-15
        assert sizes[4] > 0.02


@many
@every_joint
@pytest.mark.parametrize("k", range(3), ids=AXES)
def test_gap_sees_the_wrong_branch(joint: qp.Joint, seed: int, k: int) -> None:
    """Half a turn about an axis of site 2 satisfies the rows; unless the joint allows that turn,
    the gap is pi."""
    one, two = satisfied(joint, seed)
    if any(isinstance(primitive, qp.PerpendicularAxes) for primitive in joint.primitives()):
        pytest.skip("half a turn leaves axes perpendicular")
    if isinstance(joint, qp.Screw) and k > 0:
        pytest.skip("half a turn of a screw that moves its x axis is half a turn of its angle")
    origin, axes = site_frame(joint.sites[1], two)
    about = np.concatenate([np.cross(axes[:, k], two[0] - origin), axes[:, k]])
    resists = abs(between(joint, one, two).rows.jacobian[:, 6:] @ about).max() > 1e-6
    flipped = between(
        joint, one, by_twist(two, origin, np.concatenate([np.zeros(3), axes[:, k]]), math.pi)
    )
    assert abs(flipped.rows.phi).max() < 1e-12
    assert worst(flipped) == pytest.approx(math.pi if resists else 0.0, abs=1e-7)


@pytest.mark.parametrize("joint", [j for j in JOINTS if not isinstance(j, FAR_APART)], ids=label)
def test_system_refuses_ends_that_do_not_meet(joint: qp.Joint) -> None:
    system = qp.Multibody(HUB, ARM, candidates=[joint])
    away = system.initial.replace(
        {"arm": dict(position=np.asarray(ARM.position) + (0.3, 0.2, -0.4))}
    )
    with pytest.raises(qp.PartError, match=r"apart") as caught:
        system.with_(joint).at(away)
    assert repr(joint.name) in str(caught.value)
    assert str(
        max(gaps(away.instant(system.tables.select()), joint), key=lambda gap: gap.size)
    ) in str(caught.value)
    system.with_(joint)


# --- coordinates ----------------------------------------------------------------------------------
def coordinate(at: Instant) -> tuple[float, float]:
    value, rate = at.coordinates(np.array([0]))[0]
    return float(value), float(rate)


@many
@coordinate_joint
def test_coordinate_is_right_handed_from_first_to_second(joint: qp.Joint, seed: int) -> None:
    one = random_pose(np.random.default_rng(seed))
    for amount in (-2.5, -0.3, 0.0, 1e-9, 0.7, 3.1):
        value, _ = coordinate(between(joint, one, allowed(joint, one, np.array([amount]))))
        assert value == pytest.approx(amount, abs=1e-14)


@pytest.mark.kernels
@many
@coordinate_joint
def test_rate_is_the_derivative_of_the_coordinate(joint: qp.Joint, seed: int) -> None:
    """Both bodies move; the second as the joint allows, with a rate of its own."""
    rng = np.random.default_rng(seed)
    (r1, e1), (r2, e2) = one, two = satisfied(joint, seed)
    (v1, w1), own = rng.normal(size=(2, 3)), rng.uniform(0.5, 2.0)
    dv, dw = own * subspace(joint, one, two)[:, 0].reshape(2, 3)
    v2, w2 = v1 + np.cross(w1, r2 - r1) + dv, w1 + dw
    v, omega = np.array([v1, v2]), np.array([e1.T @ w1, e2.T @ w2])
    assert coordinate(between(joint, one, two, v=v, omega=omega))[1] == pytest.approx(
        own, abs=1e-13
    )


@many
@pytest.mark.parametrize(
    "joint", [j for j in WITH_COORDINATE if j.coordinate == "travel"], ids=label
)
def test_travel_has_its_rate_also_where_the_ends_are_apart(joint: qp.Joint, seed: int) -> None:
    """As in a candidate: the way along z of site 1, differentiated while both bodies move."""
    rng = np.random.default_rng(seed)
    one, two, h = random_pose(rng), random_pose(rng), 1e-5
    twists = rng.normal(size=(2, 6))
    ends = []
    for s in (-h, h):
        poses = [by_twist(pose, pose[0], twist, s) for pose, twist in zip((one, two), twists)]
        ends.append(coordinate(between(joint, *poses))[0])
    omega = np.array([pose[1].T @ twist[3:] for pose, twist in zip((one, two), twists)])
    rate = coordinate(between(joint, one, two, v=twists[:, :3], omega=omega))[1]
    assert rate == pytest.approx((ends[1] - ends[0]) / (2.0 * h), abs=1e-8)


@pytest.mark.filterwarnings("ignore::quirkpy.PartWarning")  # some angles are round
@coordinate_joint
def test_coordinate_stays_continuous_on_a_long_way(joint: qp.Joint) -> None:
    system = qp.Multibody(HUB, ARM, joint)
    state = system.initial
    for amount in (*np.arange(0.0, 15.0, 1.5), *np.arange(15.0, -15.0, -2.0)):
        r, e = allowed(joint, written(HUB), np.array([amount]))
        state = state.replace({"arm": dict(position=r, orientation=Rotation.from_matrix(e))})
        assert getattr(state[joint.name], joint.coordinate or "") == pytest.approx(
            amount, abs=1e-12
        )


@pytest.mark.parametrize("joint", [j for j in JOINTS if not j.coordinates], ids=label)
def test_joint_without_a_coordinate_says_so(joint: qp.Joint) -> None:
    assert qp.Multibody(HUB, ARM, joint).initial[joint.name] == (None, None, None)


def all_coordinates(joint: qp.Joint, one: Pose, two: Pose, **rates: Floats) -> Floats:
    """Values and rates (n, 2)."""
    return between(joint, one, two, **rates).coordinates(np.arange(len(joint.coordinates)))


@many
@several_coordinates
def test_coordinates_are_the_freedoms_gone_through(joint: qp.Joint, seed: int) -> None:
    """In the order of the freedoms; several turns have no angles, and here they go through none."""
    rng = np.random.default_rng(seed)
    one, freedoms = random_pose(rng), joint.freedoms or ()
    turns = [f for f in freedoms if f.kind == "turn"]
    each = len(turns) == 1 or any(f.site == 2 for f in freedoms)
    counted = np.array([f.kind != "turn" or each for f in freedoms])
    amounts = rng.uniform(-2.0, 2.0, len(freedoms)) * counted
    values = all_coordinates(joint, one, allowed(joint, one, amounts))[:, 0]
    if freedoms[0].kind == "screw":
        amounts, counted = amounts * [1.0, pitch_of(joint)], np.array([True, True])
    np.testing.assert_allclose(values, amounts[counted], rtol=0.0, atol=1e-13)


@pytest.mark.kernels
@many
@every_coordinate_joint
def test_rates_are_the_derivatives_of_all_coordinates(joint: qp.Joint, seed: int) -> None:
    """Both bodies move as the rows allow."""
    one, two = satisfied(joint, seed)
    J = between(joint, one, two).rows.jacobian
    u = np.random.default_rng(seed).normal(size=12)
    u -= np.linalg.pinv(J) @ (J @ u)
    twists, h = u.reshape(2, 6), 1e-4
    ends = []
    for s in (-2.0 * h, -h, h, 2.0 * h):
        poses = [by_twist(pose, pose[0], twist, s) for pose, twist in zip((one, two), twists)]
        ends.append(all_coordinates(joint, *poses)[:, 0])
    slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * h)
    omega = np.array([pose[1].T @ twist[3:] for pose, twist in zip((one, two), twists)])
    rates = all_coordinates(joint, one, two, v=twists[:, :3], omega=omega)[:, 1]
    np.testing.assert_allclose(rates, slope, rtol=0.0, atol=1e-9)


@every_coordinate_joint
def test_coordinates_are_read_by_kind(joint: qp.Joint) -> None:
    state, kinds = qp.Multibody(HUB, ARM, joint).initial, [c.kind for c in joint.coordinates]
    read = state[joint.name]
    assert np.size(read.rate) == len(kinds)
    for value, count in (
        (read.angle, kinds.count("angle")),
        (read.travel, len(kinds) - kinds.count("angle")),
    ):
        assert (value is None) == (count == 0)
        assert count == 0 or np.size(value) == count
