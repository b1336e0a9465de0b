"""A user's own joints and forces have no second-class life: they work wherever a built-in works."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.mechanics import equation
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import Evaluator
from tests.contracts import own_parts
from tests.contracts.own_parts import (
    Attraction,
    Breeze,
    Bungee,
    Compass,
    Lift,
    Slot,
    SlotByHand,
    Well,
    Wind,
)

HUB = qp.Body(
    "hub",
    mass=3.0,
    inertia=(0.4, 0.5, 0.6),
    velocity=(0.1, -0.2, 0.3),
    angular_velocity=(0.5, 0.2, -0.1),
)
ARM = qp.Body(
    "arm",
    mass=2.0,
    inertia=((0.2, 0.01, 0.0), (0.01, 0.3, 0.02), (0.0, 0.02, 0.4)),
    position=(0.4, 0.3, 0.9),
    orientation=qp.rotation((1, 2, 3), 0.7),
    velocity=(0.0, 0.4, 0.1),
    angular_velocity=(-0.3, 0.6, 0.2),
)
GROOVE = HUB.site("groove", at=(0.1, 0.2, 0.0), z=(0.2, 0.1, 1.0))
#: The pin sits where the groove's line passes, 0.8 m up, and has the groove's axes there.
ALONG = GROOVE.axes[:, 2]
PIN = ARM.site_at("pin", np.asarray(GROOVE.at) + 0.8 * ALONG, GROOVE.axes)

SLOT = Slot("slot", GROOVE, PIN)
BY_HAND = SlotByHand("slot", GROOVE, PIN)
WIND = Wind("wind", ARM, 1.5)
PULL = Attraction("pull", GROOVE, ARM.site("nose", at=(0.1, -0.2, 0.1)), 2.5)
COMPASS = Compass("compass", ARM.site("needle", z=(1.0, 1.0, 0.0)), (0.3, -0.1, 0.2))
BAND = Bungee("band", GROOVE, PIN, 3.0, 0.4, 0.5)
WELL, BREEZE = Well("well", ARM, (0.2, 0.1, -0.3), 5.0), Breeze("breeze", PIN, 2.0)
OWN: tuple[Any, ...] = (SLOT, BY_HAND, WIND, PULL, COMPASS, BAND, WELL, BREEZE)

own = pytest.mark.parametrize("part", OWN, ids=lambda part: type(part).__name__)


class LineOnly(qp.Joint):
    """What `SlotByHand` says, in primitives."""

    def primitives(self) -> tuple[qp.Primitive, ...]:
        return (qp.OriginOnLine("z"),)


def system_with(part: qp.Part) -> qp.Multibody:
    return qp.Multibody(HUB, ARM, part, qp.Gravity((0.0, 0.0, -9.81)))


def lawful(system: qp.Multibody) -> State:
    """Two seconds on, with the velocities nearest to the written ones that the joints allow."""
    at = system.initial.instant()
    J = equation.constraint_matrix(at)
    u = np.hstack([at.v, at.omega]).reshape(-1)
    u = (u - np.linalg.pinv(J) @ (J @ u)).reshape(-1, 6)
    rates = {
        name: dict(velocity=row[:3], angular_velocity=row[3:])
        for name, row in zip(system.bodies, u)
    }
    return system.initial.replace(rates, t=2.0)


# --- they act -------------------------------------------------------------------------------------
@own
def test_acts_alike_in_every_evaluator(part: qp.Part) -> None:
    system = system_with(part)
    state = lawful(system)
    dense, *others = (
        system.acceleration(state, evaluator) for evaluator in ("dense", *get_args(Evaluator))
    )
    assert len(others) >= 3
    for other in others:
        np.testing.assert_allclose(other, dense, rtol=1e-9, atol=1e-10)
    assert abs(dense - system.without(part.name).acceleration(state)).max() > 1e-3


def test_equations_by_hand_equal_the_primitive() -> None:
    by_hand, by_primitive = (system_with(j) for j in (BY_HAND, LineOnly("slot", GROOVE, PIN)))
    np.testing.assert_allclose(
        by_hand.acceleration(), by_primitive.acceleration(), rtol=1e-13, atol=1e-13
    )
    one, two = by_hand.residual(), by_primitive.residual()
    np.testing.assert_allclose(one.velocity, two.velocity, atol=1e-15)
    assert one.gaps["slot"].size < 1e-15
    assert one.joints == ("slot", "slot")


@pytest.mark.parametrize("t", [0.0, 0.5])
def test_prescribed_motion_is_followed(t: float) -> None:
    """Position, velocity and acceleration of a point on a turning body that a lift carries."""
    body = qp.Body("body", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.0, 0.0, -0.5))
    lift = Lift("lift", qp.GROUND.site("floor"), body.site("eye", at=(0.0, 0.0, 0.5)), 3.0)
    system = qp.Multibody(body, lift, qp.Gravity((0.0, 0.0, -9.81)))
    height, speed = 3.0 * t + 2.0 * t**2 - 0.5, 3.0 + 4.0 * t
    now = dict(position=(0, 0, height), velocity=(1, 2, speed), angular_velocity=(2, 1, 0))
    state = system.initial.replace({"body": now}, t=t)
    residual = system.residual(state)
    assert abs(residual.position).max() < 1e-15
    assert abs(residual.velocity).max() < 1e-15
    for evaluator in get_args(Evaluator):
        assert system.acceleration(state, evaluator)[0, 2] == pytest.approx(
            4.0 + 0.5 * 5.0, rel=1e-12
        )


def test_slot_hangs_with_both_its_freedoms() -> None:
    assert system_with(SLOT).mobility().degrees_of_freedom == 8
    assert SLOT.coordinate is None


def test_load_acts_at_its_point() -> None:
    system = qp.Multibody(HUB, ARM, WIND)
    motion = system.initial.instant().view[ARM]
    loads = system.initial.replace(t=2.0).instant().loads
    force = np.array([3.0, 0.0, 0.0]) - 0.1 * motion.velocity
    np.testing.assert_allclose(loads.wrench[1, :3], force, rtol=1e-15)
    torque = np.cross(motion.axes[:, 0], force) - 0.2 * motion.angular_velocity
    np.testing.assert_allclose(loads.wrench[1, 3:], torque, rtol=1e-14)
    assert not loads.wrench[0].any()
    assert loads.potential.tolist() == [0.0]


def test_gradient_of_an_attraction_is_its_closed_form() -> None:
    at = qp.Multibody(HUB, ARM, PULL).initial.instant()
    one, two = at.view[PULL.first].position, at.view[PULL.second].position
    d = two - one
    f = -PULL.strength * d / np.linalg.norm(d) ** 3
    exact = np.array(
        [[*-f, *np.cross(one - HUB.position, -f)], [*f, *np.cross(two - ARM.position, f)]]
    )
    assert abs(at.loads.wrench - exact).max() < 1e-9 * abs(exact).max()
    assert at.loads.potential.sum() == pytest.approx(-PULL.strength / np.linalg.norm(d), rel=1e-15)


def test_gradient_of_a_compass_is_its_closed_form() -> None:
    at = qp.Multibody(HUB, ARM, COMPASS).initial.instant()
    exact = np.cross(at.view[COMPASS.needle].axes[:, 2], COMPASS.field)
    np.testing.assert_allclose(
        at.loads.wrench[1, 3:], exact, rtol=1e-9, atol=1e-10 * abs(exact).max()
    )
    assert abs(at.loads.wrench[:, :3]).max() < 1e-10
    assert abs(at.loads.wrench[0]).max() < 1e-10


def test_load_beside_a_potential_is_taken_as_written() -> None:
    class Both(qp.Force):
        body: qp.Body

        def potential(self, at: qp.MotionView) -> float:
            return 7.0 * float(at[self.body].position[0])

        def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
            motion = at[self.body]
            return {self.body: qp.Wrench(force=(-7.0, 5.0 * motion.velocity[1], 0.0))}

    at = qp.Multibody(HUB, ARM, Both("both", ARM)).initial.instant()
    assert at.loads.wrench[1].tolist() == [-7.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    assert at.loads.potential.tolist() == [7.0 * 0.4]


def test_a_load_may_touch_ground_and_fixed_bodies() -> None:
    class Tug(qp.Force):
        one: qp.Body
        two: qp.Body

        def load(self, at: qp.MotionView) -> Mapping[qp.Body, qp.Wrench]:
            d = at[self.two].position - at[self.one].position
            return {self.one: qp.Wrench(d), self.two: qp.Wrench(-d)}

    at = qp.Multibody(ARM, Tug("tug", ARM, qp.GROUND)).initial.instant()
    np.testing.assert_array_equal(at.loads.wrench[0, :3], -np.asarray(ARM.position))


def test_a_built_in_joint_may_be_refined() -> None:
    class Labelled(qp.Revolute):
        serial: str = "none"

    joint = Labelled("hinge", HUB, ARM, at=(0, 0, 0), axis=(0, 0, 1), serial="A7")
    plain = qp.Revolute("hinge", HUB, ARM, at=(0, 0, 0), axis=(0, 0, 1))
    assert joint != plain
    np.testing.assert_array_equal(
        system_with(joint).acceleration(), system_with(plain).acceleration()
    )


def test_parameters_reach_them() -> None:
    tables = qp.Multibody(HUB, ARM, WIND).tables
    state = qp.Multibody(HUB, ARM, WIND).initial.replace(t=1.0)
    strong = state.instant(tables.select(parameters={"wind": {"strength": 4.0}}))
    assert strong.loads.wrench[1, 0] == pytest.approx(4.0 - 0.1 * 0.0)


# --- they are values ------------------------------------------------------------------------------
@own
def test_pickled(part: qp.Part) -> None:
    system = system_with(part)
    copy = pickle.loads(pickle.dumps(system))
    assert copy == system
    np.testing.assert_array_equal(copy.acceleration(), system.acceleration())


@own
def test_json_with_the_readers_consent_only(part: qp.Part) -> None:
    system = system_with(part)
    text = qp.to_json(system)
    copy = qp.from_json(text, modules=[own_parts.__name__])
    assert copy == system
    np.testing.assert_array_equal(copy.acceleration(), system.acceleration())
    with pytest.raises(qp.PartError, match=r"name its module: from_json\(text, modules=") as caught:
        qp.from_json(text)
    assert f"{own_parts.__name__}:{type(part).__name__}" in str(caught.value)
    assert f"--study {own_parts.__name__}.py" in str(caught.value)
    with pytest.raises(qp.PartError, match="name its module"):
        qp.from_json(text, modules=["os", "tests"])


def accelerations_of(text: str) -> Any:
    """What a worker process is asked."""
    return qp.from_json(text, modules=[own_parts.__name__]).acceleration()


def test_in_a_worker_process() -> None:
    """Spawned, so that nothing comes along: classes are imported, laws compiled there."""
    systems = [system_with(part) for part in OWN]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        by_pickle = list(pool.map(qp.Multibody.acceleration, systems))
        by_text = list(pool.map(accelerations_of, map(qp.to_json, systems)))
        moved = pool.submit(system_with(BAND).simulate, 0.2).result()
    for system, *there in zip(systems, by_pickle, by_text, strict=True):
        for one in there:
            np.testing.assert_array_equal(one, system.acceleration())
    np.testing.assert_array_equal(moved.final.r, system_with(BAND).simulate(0.2).final.r)


def test_lists_and_arrays_are_kept_as_tuples() -> None:
    field = np.array([0.3, -0.1, 0.2])
    needle = Compass("compass", COMPASS.needle, field)
    field[0] = 9.0
    assert needle == COMPASS
    assert hash(needle) == hash(COMPASS)
    nested = Compass("compass", COMPASS.needle, [[1, 2], np.eye(2)])
    assert nested.field == ((1, 2), ((1.0, 0.0), (0.0, 1.0)))


def test_fields_may_be_called_like_the_words_of_the_document() -> None:
    part = Words("words", ARM, "spin")
    assert qp.from_json(qp.to_json(part), modules=[__name__]) == part


class Words(qp.Force):
    part: qp.Body
    quaternion: str

    def potential(self, at: qp.MotionView) -> float:
        return 0.0


def test_bodies_are_found_by_name() -> None:
    """As by the body itself; what is none is told in a sentence."""
    fixed = qp.Body.sphere("anchor", radius=0.1, mass=1.0, position=(0, 0, 1.0), fixed=True)
    ball = qp.Body.sphere("ball", radius=0.1, mass=2.0, position=(0.3, 0.2, 0.1))

    def energy(at: qp.MotionView, one: Any, two: Any) -> float:
        way = at[one].position - at[two].position
        return float(0.5 * way @ way)

    by_name, by_body = (
        qp.Multibody(fixed, ball, qp.Potential("pull", lambda at, k=keys: energy(at, *k)))
        for keys in (("ball", "anchor"), (ball, fixed))
    )
    np.testing.assert_array_equal(by_name.acceleration(), by_body.acceleration())
    for wrong in ("boom", 3):
        lost = qp.Potential("lost", lambda at, k=wrong: at[k].position[0])
        system = qp.Multibody(fixed, ball, lost)
        with pytest.raises(KeyError, match="is no body; give a body, a site, or one of: ball"):
            system.acceleration()
