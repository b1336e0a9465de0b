"""What every force keeps: its load is the gradient of its potential, dampers take energy, nothing
is ever NaN."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics.instant import Instant, Loads
from quirkpy.tables import Tables, compile
from tests.contracts.catalogue import ARM, BOWL, CHARGES, FORCES, HINGE, HUB, ROPE, label
from tests.contracts.stage import (
    Pose,
    allowed,
    at_poses,
    moved,
    random_pose,
    turn,
    written,
)

SEEDS = range(5)
every_force = pytest.mark.parametrize("force", FORCES, ids=label)
many = pytest.mark.parametrize("seed", SEEDS)

#: Forces without a potential, and forces whose wrenches on the two bodies do not balance.
WITHOUT_POTENTIAL = (
    qp.Damper, qp.Load, qp.JointDamper, qp.ViscousHinges, qp.JointFriction, qp.Thruster,
    qp.ReactionWheel, qp.GravityGradient, qp.Motor,
)  # fmt: skip
DRIVEN = ("coils", "field on the way", "spark", "lead")
#: All forces, and kinds of them that the catalogue does not have: potentials of one's own, charges
#: that nothing screens, springs on a length.
KINDS: tuple[qp.Force, ...] = (
    *FORCES,
    BOWL,
    qp.Coulomb(CHARGES, name="bare"),
    qp.JointSpring("stretch", ROPE, stiffness=3.0, rest=0.4),
)
FROM_OUTSIDE = (
    qp.Gravity, qp.PotentialWell, qp.Load, qp.Thruster, qp.ReactionWheel, qp.PointGravity,
    qp.GravityGradient, qp.HillFrame, qp.PlanetField,
)  # fmt: skip


def joint_of(force: qp.Force) -> qp.Joint:
    """The joint on which it acts, or the hinge."""
    return getattr(force, "joint", HINGE)


def tables_of(force: qp.Force) -> Tables:
    return compile((HUB, ARM, joint_of(force), force))


def at(force: qp.Force, seed: int, **rates: Floats) -> Instant:
    """A random pose with the hinge closed (its spring acts on an angle), body 1 anywhere."""
    rng = np.random.default_rng(seed)
    one = random_pose(rng)
    return at_poses(tables_of(force).select(), poses_of(joint_of(force), one, rng), **rates)


def poses_of(joint: qp.Joint, one: Pose, rng: np.random.Generator) -> dict[str, Pose]:
    if isinstance(joint, qp.Rope):
        return {"hub": one, "arm": random_pose(rng)}
    return {"hub": one, "arm": allowed(joint, one, rng.uniform(-2.0, 2.0, len(joint.freedoms)))}


def displaced(at: Instant, b: int, k: int, step: float) -> Instant:
    """Body b moved along (k < 3) or turned about (k >= 3) an axis of N."""
    axes = at.frames.axes[:-1].reshape(-1, 3, 3)
    poses = dict(zip(at.selection.tables.body_names, zip(at.r, axes, strict=True), strict=True))
    name = at.selection.tables.body_names[b]
    shift = step * np.eye(3)[k] if k < 3 else np.zeros(3)
    rotation = np.eye(3) if k < 3 else turn(np.eye(3)[k - 3], step)
    return at_poses(
        at.selection, {**poses, name: moved(poses[name], poses[name][0], shift, rotation)}
    )


def power(loads: Loads, at: Instant) -> float:
    """What the loads do to the moving bodies [W]."""
    return float(np.sum(loads.wrench * np.hstack([at.frames.velocity[:-1], at.frames.spin[:-1]])))


@many
@every_force
def test_load_is_finite_and_has_one_row_per_body(force: qp.Force, seed: int) -> None:
    rng = np.random.default_rng(seed)
    loads = at(force, seed, v=rng.normal(size=(2, 3)), omega=rng.normal(size=(2, 3))).loads
    assert loads.wrench.shape == (2, 6)
    assert np.isfinite(loads.wrench).all()
    assert np.isfinite(loads.potential).all()


@pytest.mark.kernels
@many
@pytest.mark.parametrize("force", KINDS, ids=label)
def test_load_is_minus_the_gradient_of_the_potential(force: qp.Force, seed: int) -> None:
    here, h = at(force, seed), 1e-4
    if isinstance(force, WITHOUT_POTENTIAL) or force.name in DRIVEN:
        assert here.loads.potential.tolist() == [0.0] * len(here.selection.elements)
        return
    gradient = np.empty((2, 6))
    for b, k in np.ndindex(2, 6):
        u = [displaced(here, b, k, s * h).loads.potential.sum() for s in (-2.0, -1.0, 1.0, 2.0)]
        gradient[b, k] = (8.0 * (u[2] - u[1]) - (u[3] - u[0])) / (12.0 * h)
    size = abs(here.loads.wrench).max()
    assert (size > 1e-3) != isinstance(force, qp.JointStop | qp.Latch)  # that acts in runs alone
    found, known = here.loads.wrench.reshape(-1), -gradient.reshape(-1)
    # They act as the joint leaves them to do
    if isinstance(force, (qp.HingeSpring, qp.JointSpring, qp.Servo, qp.TapeSpring)):
        found, known = as_allowed(here, found), as_allowed(here, known)
    np.testing.assert_allclose(found, known, rtol=0.0, atol=1e-10 * size)


def test_every_class_has_a_potential_or_says_that_it_has_none() -> None:
    """And no class is only there as one that has none."""
    with_one = {
        type(f) for f in KINDS if not isinstance(f, WITHOUT_POTENTIAL) and f.name not in DRIVEN
    }
    assert with_one == {
        qp.Gravity, qp.Spring, qp.String, qp.HingeSpring, qp.JointSpring, qp.SprungHinges,
        qp.JointStop, qp.Latch, qp.PotentialWell, qp.Bushing, qp.PointGravity, qp.HillFrame,
        qp.Coulomb, qp.Dipoles, qp.PlanetField, qp.FluxPinning, qp.Potential, qp.Servo,
        qp.TapeSpring,
    }  # fmt: skip
    assert {type(f) for f in KINDS} == with_one | set(WITHOUT_POTENTIAL)


def as_allowed(here: Instant, wrench: Floats) -> Floats:
    """The part of loads over displacements and turns (12,) that works when the joint moves."""
    J = here.rows.jacobian
    return wrench - np.linalg.pinv(J) @ (J @ wrench)


@many
@pytest.mark.parametrize("force", [f for f in FORCES if not isinstance(f, FROM_OUTSIDE)], ids=label)
def test_internal_forces_balance(force: qp.Force, seed: int) -> None:
    rng = np.random.default_rng(seed)
    here = at(force, seed, v=rng.normal(size=(2, 3)), omega=rng.normal(size=(2, 3)))
    wrench = here.loads.wrench
    moment = wrench[:, 3:] + np.cross(here.r, wrench[:, :3])
    assert abs(wrench).max() > 0.0 or isinstance(
        force, qp.JointStop | qp.Latch
    )  # that acts in runs alone
    size = 1e-14 * max(1.0, abs(wrench).max())
    np.testing.assert_allclose(wrench[:, :3].sum(axis=0), 0.0, atol=size)
    np.testing.assert_allclose(moment.sum(axis=0), 0.0, atol=size)


def takes_energy(force: qp.Force) -> bool:
    """Against what does not move: a motor that leads damps what is beside its target."""
    leads = isinstance(getattr(force, "target", 0.0), qp.TimeFunction)
    return isinstance(force, qp.JointFriction) or bool(getattr(force, "damping", 0.0) and not leads)


@many
@pytest.mark.parametrize("force", [f for f in FORCES if takes_energy(f)], ids=label)
def test_dampers_take_energy(force: qp.Force, seed: int) -> None:
    """Their power beside that of the spring is never positive, and the same when all velocities are
    reversed."""
    rng = np.random.default_rng(seed)
    v, omega = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    still, forth, back = (at(force, seed, v=s * v, omega=s * omega) for s in (0.0, 1.0, -1.0))
    spring = power(still.loads, forth)
    taken = [power(forth.loads, forth) - spring, power(back.loads, back) + spring]
    assert max(taken) < 0.0
    if not getattr(force, "tension_only", False):
        assert taken[0] == pytest.approx(taken[1], rel=1e-12)


# --- one by one -----------------------------------------------------------------------------------
def single(force: qp.Force, t: float = 0.0) -> Loads:
    system = qp.Multibody(HUB, ARM, force)
    return system.initial.replace(t=t).instant().loads


def test_gravity_pulls_at_the_mass_centre() -> None:
    loads = single(qp.Gravity((0.0, 1.0, -9.81)))
    np.testing.assert_array_equal(loads.wrench[:, 3:], 0.0)
    np.testing.assert_allclose(
        loads.wrench[:, :3], np.outer([3.0, 2.0], [0.0, 1.0, -9.81]), rtol=1e-15
    )


def test_rope_hangs_loose_below_its_length() -> None:
    loose = qp.Spring(
        "rope", HUB, ARM, stiffness=5.0, rest_length=3.0, damping=1.0, tension_only=True
    )
    loads = single(loose)
    assert not loads.wrench.any()
    assert loads.potential.tolist() == [0.0]


@pytest.mark.kernels
def test_rope_never_pushes_while_it_goes_slack_fast() -> None:
    rope = qp.Spring(
        "rope", HUB, ARM, stiffness=1.0, rest_length=0.0, damping=50.0, tension_only=True
    )
    together = ARM.position - np.asarray(HUB.position)
    state = qp.Multibody(HUB, ARM, rope).initial.replace({"arm": dict(velocity=-together)})
    assert not state.instant().loads.wrench.any()


def test_spring_at_zero_length_makes_no_force() -> None:
    ends = qp.GROUND.site("here", at=HUB.position), HUB.site("centre")
    loads = single(qp.Spring("s", *ends, stiffness=5.0, rest_length=0.5))
    assert not loads.wrench.any()
    assert loads.potential.tolist() == [0.5 * 5.0 * 0.25]


def test_spring_rests_at_its_written_length() -> None:
    spring = qp.Spring("s", HUB, ARM, at1=(0, 0, 0), at2=(3, 0, 4), stiffness=5.0)
    assert spring.pair_numbers() == pytest.approx((5.0, 5.0, *[0.0] * 4), rel=1e-15)


def test_hinge_spring_counts_whole_turns() -> None:
    joint = qp.Revolute("hinge", HUB, ARM, at=(0.1, 0.1, 0.2), axis=(0, 0, 1))
    system = qp.Multibody(
        HUB, ARM, joint, qp.HingeSpring("t", joint, stiffness=2.0, rest_angle=0.5)
    )
    state = system.initial
    for angle in (2.0, 4.0, 6.0, 8.0):
        r, _ = allowed(joint, written(HUB), np.array([angle]))
        state = state.replace(
            {"arm": dict(position=r, orientation=qp.rotation((0, 0, 1), angle) * ARM.orientation)}
        )
    assert state["hinge"].angle == pytest.approx(8.0, abs=1e-12)
    assert system.energy(state).potential == pytest.approx(7.5**2, rel=1e-12)


@pytest.mark.parametrize("frame", ["inertial", "body"])
@pytest.mark.parametrize("at", [None, (0.1, 0.2, 0.3)])
def test_load_is_the_same_in_numbers_and_in_functions(frame: Any, at: Any) -> None:
    force, torque = (1.0, -2.0, 3.0), (0.3, 0.2, -0.1)
    numbers = qp.Load("push", ARM, force=force, torque=torque, at=at, frame=frame)
    python = qp.Load(
        "push", ARM, force=lambda t: force, torque=lambda t: torque, at=at, frame=frame
    )
    held = qp.Load(
        "push",
        ARM,
        force=qp.Schedule((0.0,), (force,)),
        torque=lambda t: torque,
        at=at,
        frame=frame,
    )
    turned = dict(orientation=qp.rotation((1, 1, 0), 1.0), position=(2.0, 1.0, 0.0))
    wrenches = []
    for one in (numbers, python, held):
        wrenches.append(
            qp.Multibody(HUB, ARM, one).initial.replace({"arm": turned}).instant().loads.wrench
        )
    np.testing.assert_allclose(wrenches[1], wrenches[0], atol=1e-15)
    np.testing.assert_allclose(wrenches[2], wrenches[0], atol=1e-15)
    e = qp.quat.matrix(turned["orientation"]) if frame == "body" else np.eye(3)
    np.testing.assert_allclose(wrenches[0][1, :3], e @ force, atol=1e-15)


@pytest.mark.kernels
@pytest.mark.parametrize("interpolation", ["hold", "linear", "smooth"])
def test_kernel_and_part_agree_on_a_schedule(interpolation: Any) -> None:
    schedule = qp.Schedule(
        (0.5, 1.0, 2.5), ((1.0, 0.0, 2.0), (0.0, -2.0, 0.0), (3.0, 3.0, 3.0)), interpolation
    )
    for t in (-1.0, 0.5, 0.6, np.nextafter(1.0, 0.0), 1.0, 1.7, 2.5, 9.0):
        loads = single(qp.Load("push", ARM, force=schedule), t=float(t))
        np.testing.assert_allclose(loads.wrench[1, :3], schedule.at(float(t)), atol=1e-15)


def test_schedule_says_what_it_means() -> None:
    knots = (0.0, 1.0), ((0.0, 0.0, 0.0), (2.0, 4.0, 6.0))
    assert qp.Schedule(*knots).at(0.999).tolist() == [0.0, 0.0, 0.0]
    assert qp.Schedule(*knots).at(1.0).tolist() == [2.0, 4.0, 6.0]
    assert qp.Schedule(*knots, "linear").at(0.25).tolist() == [0.5, 1.0, 1.5]
    assert qp.Schedule(*knots, "linear").at(-3.0).tolist() == [0.0, 0.0, 0.0]


class Curious(qp.Force):
    """Draws a body to the origin, and looks at others without need."""

    body: qp.Body
    others: tuple[qp.Body, ...]

    def potential(self, at: qp.MotionView) -> float:
        ASKED[self.others] += 1
        return 0.5 * sum(x * x for x in at[self.body].position) + 0.0 * sum(
            at[body].position[0] for body in self.others
        )


ASKED = Counter[tuple[qp.Body, ...]]()


def test_a_potential_is_not_asked_how_bodies_change_it_that_it_does_not_read() -> None:
    """Once for the energy, once to see what it reads, and at six places for each of six freedoms;
    where it reads all bodies the answer is the same to the bit, after many more questions."""
    bodies = tuple(qp.Body.sphere(f"b{k}", 0.1, 1.0, position=(k, 0.5, 0.2)) for k in range(5))
    near, far = (
        qp.Multibody(*bodies, Curious("pull", bodies[0], others)) for others in ((), bodies)
    )
    before = ASKED.copy()
    np.testing.assert_array_equal(near.acceleration(), far.acceleration())
    asked = ASKED - before
    assert asked[()] == 38
    assert asked[bodies] == 182
