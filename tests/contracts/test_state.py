"""A state is a value: read by name, replaced but not changed, and it knows what a run needs to go
on."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from quirkpy.maths import quat
from quirkpy.mechanics.state import State

HUB = qp.Body.box(
    "hub",
    (0.1, 0.1, 0.1),
    fixed=True,
    position=(0.0, 0.0, 1.0),
    orientation=qp.rotation((1, 0, 0), 0.3),
)
WHEEL = qp.Body.cylinder(
    "wheel", 0.1, 0.02, mass=1.0, position=(0.3, 0.0, 0.0), angular_velocity=(2.0, 0.0, 0.0)
)
CART = qp.Body.box(
    "cart", (0.1, 0.2, 0.1), mass=1.0, position=(0.0, 1.0, 0.0), velocity=(0.0, 0.5, 0.0)
)
AXLE = qp.Revolute("axle", qp.GROUND, WHEEL, at=(0.3, 0.0, 0.0), axis=(1, 0, 0))
RAIL = qp.Prismatic("rail", qp.GROUND, CART, at=(0.0, 1.0, 0.0), axis=(0, 1, 0))
SYSTEM = qp.Multibody(HUB, WHEEL, CART, AXLE, RAIL)
STATE = SYSTEM.initial


def spun(state: State, angle: float) -> State:
    return state.replace({"wheel": dict(orientation=qp.rotation((1, 0, 0), angle))})


# --- reading --------------------------------------------------------------------------------------
def test_bodies_are_read_by_name() -> None:
    cart = STATE["cart"]
    assert cart.position.tolist() == [0.0, 1.0, 0.0]
    assert cart.velocity.tolist() == [0.0, 0.5, 0.0]
    assert isinstance(cart.orientation, qp.Quaternion)
    assert STATE["wheel"].angular_velocity.tolist() == [2.0, 0.0, 0.0]


def test_fixed_bodies_and_the_ground_stand_still() -> None:
    for name, body in (("hub", HUB), ("ground", qp.GROUND)):
        position, orientation, velocity, omega = STATE[name]
        assert tuple(position) == body.position
        assert orientation == body.orientation
        assert not velocity.any()
        assert not omega.any()


def test_joints_are_read_by_name() -> None:
    assert STATE["axle"] == (0.0, None, 2.0)
    assert STATE["rail"] == (None, 0.0, 0.5)
    moved = STATE.replace({"cart": dict(position=(0.0, 1.7, 0.0))})
    assert moved["rail"].travel == pytest.approx(0.7, abs=1e-15)


def test_repr_is_short() -> None:
    assert repr(STATE) == "State(t=0, bodies=['wheel', 'cart'])"


# --- a value --------------------------------------------------------------------------------------
def test_nothing_can_be_written() -> None:
    for state in (STATE, STATE.replace(t=1.0), pickle.loads(pickle.dumps(STATE))):
        for array in (
            state.r,
            state.q,
            state.v,
            state.omega,
            state.windings,
            state["cart"].position,
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
        with pytest.raises(dataclasses.FrozenInstanceError):
            state.t = 3.0


def test_equal_by_value_without_the_system() -> None:
    assert SYSTEM.with_(qp.Gravity((0, 0, 1))).initial == STATE
    assert STATE.replace(t=1.0) != STATE
    assert STATE.replace({"cart": dict(velocity=(0, 1, 0))}) != STATE
    assert SYSTEM.without("axle").initial != STATE
    assert STATE != "state"
    with pytest.raises(TypeError, match="unhashable"):
        hash(STATE)


def test_pickled_it_still_knows_its_system() -> None:
    state = spun(spun(STATE, 3.0), 5.0)
    copy = pickle.loads(pickle.dumps(state))
    assert copy == state
    assert copy["axle"] == state["axle"]
    assert copy.replace(t=2.0)["axle"].angle == pytest.approx(5.0, abs=1e-14)


# --- replacing ------------------------------------------------------------------------------------
def test_replace_leaves_the_rest_and_the_old_alone() -> None:
    new = STATE.replace(
        {"cart": dict(velocity=(0.0, 9.0, 0.0)), "wheel": dict(angular_velocity=(1, 0, 0))}, t=4.0
    )
    assert (STATE.t, new.t) == (0.0, 4.0)
    assert STATE["cart"].velocity.tolist() == [0.0, 0.5, 0.0]
    assert new.v.tolist() == [[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]
    assert new.omega.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(new.r, STATE.r)
    np.testing.assert_array_equal(new.q, STATE.q)
    assert STATE.replace() == STATE.replace({}) == STATE


@pytest.mark.parametrize(
    "orientation",
    [
        qp.rotation((1, 0, 0), 1.1),
        Rotation.from_rotvec([1.1, 0.0, 0.0]),
        quat.numpy_quaternion.from_rotation_vector([1.1, 0.0, 0.0]),
        qp.Quaternion(-math.cos(0.55), -math.sin(0.55), 0.0, 0.0),
    ],
    ids=["qp.rotation", "scipy", "numpy-quaternion", "its negative"],
)
def test_orientations_of_every_kind(orientation: object) -> None:
    body = dataclasses.replace(WHEEL, orientation=orientation)
    np.testing.assert_allclose(
        body.matrix, Rotation.from_rotvec([1.1, 0, 0]).as_matrix(), atol=1e-15
    )
    assert STATE.replace({"wheel": dict(orientation=orientation)})["axle"].angle == pytest.approx(
        1.1, abs=1e-15
    )


def test_no_orientation_is_no_rotation() -> None:
    body = qp.Body("b", mass=1.0, inertia=(1, 1, 1), orientation=None)
    assert body.orientation == qp.Quaternion(1, 0, 0, 0)
    assert body.orientation == qp.rotation((0, 0, 1), 0.0)


@pytest.mark.filterwarnings("ignore::quirkpy.PartWarning")  # some of them are round
@pytest.mark.parametrize("step", [3.1, 1.0, -2.5])
def test_angles_go_on_past_half_a_turn(step: float) -> None:
    state = STATE
    for k in range(1, 12):
        state = spun(state, k * step)
        assert state["axle"].angle == pytest.approx(k * step, abs=1e-13)
    assert state.windings[0] == round(11 * step / (2 * math.pi))


def test_of_all_whole_turns_the_nearest_is_taken() -> None:
    assert spun(STATE, 3.5)["axle"].angle == pytest.approx(3.5 - 2 * math.pi, abs=1e-14)
    assert spun(spun(STATE, 1.0), 3.5)["axle"].angle == pytest.approx(3.5, abs=1e-14)


def test_a_step_inside_the_tolerance_is_taken() -> None:
    STATE.replace({"cart": dict(position=(9e-7, 1.0, 0.0))})
    with pytest.raises(qp.PartError, match=r"'rail'.* 1.1e-06 m apart"):
        STATE.replace({"cart": dict(position=(1.1e-6, 1.0, 0.0))})
