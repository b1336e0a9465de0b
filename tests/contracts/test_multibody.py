"""A system is an immutable set of parts: variants are other systems, sites and joint zeros never
move."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.parts.joint import BaseJoint

HUB = qp.Body.box("hub", (0.1, 0.1, 0.1), mass=1.0, fixed=True)
ARM = qp.Body.box(
    "arm", (0.1, 0.1, 0.1), mass=2.0, position=(0.1, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.5)
)
TIP = qp.Body.box("tip", (0.1, 0.1, 0.1), mass=1.0, position=(0.2, 0.0, 0.0))
HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.05, -0.05, 0.0), axis=(0, 0, 1))
WRIST = qp.Revolute("wrist", ARM, TIP, at=(0.15, 0.05, 0.0), axis=(0, 0, 1))
#: Meets when the arm has rolled over the edge by half a turn.
CATCH = qp.Fixed(
    "catch",
    HUB.site("south", at=(0.0, -0.05, 0.0), z=(0, -1, 0), x=(1, 0, 0)),
    ARM.site("south", at=(0.0, -0.05, 0.0), z=(0, 1, 0), x=(-1, 0, 0)),
)
DOWN = qp.Gravity((0.0, 0.0, -9.81))
PULL = qp.PotentialWell("pull", ARM, (0.0, -0.1, 0.0), 0.05)
SYSTEM = qp.Multibody(HUB, ARM, TIP, HINGE, WRIST, DOWN)


def turned(angle: float) -> dict[str, dict[str, object]]:
    """Arm and tip turned about the hinge, as one."""
    turn = qp.rotation((0, 0, 1), angle)
    matrix = np.array(
        [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    )
    pivot = np.array([0.05, -0.05, 0.0])
    poses = {body.name: pivot + matrix @ (np.asarray(body.position) - pivot) for body in (ARM, TIP)}
    return {name: dict(position=position, orientation=turn) for name, position in poses.items()}


# --- made of parts --------------------------------------------------------------------------------
def test_rows_follow_the_order_of_the_moving_bodies() -> None:
    assert qp.Multibody(TIP, HUB, ARM).bodies == ("tip", "arm")
    assert qp.Multibody(TIP, HUB, ARM).initial.r.tolist() == [[0.2, 0.0, 0.0], [0.1, 0.0, 0.0]]


def test_parts_are_found_by_name() -> None:
    system = qp.Multibody(HUB, ARM, HINGE, candidates=[CATCH])
    assert (system["arm"], system["hinge"], system["catch"], system["ground"]) == (
        ARM,
        HINGE,
        CATCH,
        qp.GROUND,
    )


def test_ground_may_be_given_and_changes_nothing() -> None:
    rope = qp.Spring("rope", qp.GROUND, ARM, stiffness=1.0)
    system = qp.Multibody(qp.GROUND, ARM, rope)
    assert (
        system
        == qp.Multibody(ARM, rope)
        == qp.Multibody(pickle.loads(pickle.dumps(qp.GROUND)), ARM, rope)
    )
    assert system.bodies == ("arm",)


def test_equal_copies_of_parts_are_as_good_as_the_same() -> None:
    hinge = pickle.loads(pickle.dumps(HINGE))
    assert hinge.bodies[1] is not ARM
    assert qp.Multibody(HUB, ARM, hinge) == qp.Multibody(HUB, ARM, HINGE)


def test_immutable() -> None:
    for name in ("parts", "candidates", "mark"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(SYSTEM, name, ())


def test_equal_by_value() -> None:
    twin = qp.Multibody(HUB, ARM, TIP, HINGE, WRIST, DOWN)
    assert twin == SYSTEM
    assert hash(twin) == hash(SYSTEM)
    assert SYSTEM.without("gravity") != SYSTEM
    assert SYSTEM.at(SYSTEM.initial.replace(t=1.0)) != SYSTEM
    assert qp.Multibody(HUB, ARM, candidates=[CATCH]) != qp.Multibody(HUB, ARM)
    assert SYSTEM != "system"


def test_pickled_it_goes_on_as_before() -> None:
    for system in (
        SYSTEM,
        SYSTEM.at(SYSTEM.initial.replace(turned(0.3), t=2.0)),
        qp.Multibody(ARM, candidates=[PULL]),
    ):
        copy = pickle.loads(pickle.dumps(system))
        assert copy == system
        assert copy.initial == system.initial
        np.testing.assert_array_equal(copy.acceleration(), system.acceleration())


def test_repr_counts() -> None:
    assert repr(SYSTEM) == "Multibody(moving bodies: 2, joints: 2, forces: 1)"


# --- variants -------------------------------------------------------------------------------------
def test_with_adds_and_leaves_the_old_one_alone() -> None:
    more = SYSTEM.with_(PULL, qp.Sensor("eye", ARM.site("top")))
    assert more.parts == (*SYSTEM.parts, PULL, more["eye"])
    assert "pull" not in {part.name for part in SYSTEM.parts}
    assert more.without("pull", "eye") == SYSTEM


def test_without_takes_away_joints_forces_and_candidates() -> None:
    assert SYSTEM.without("wrist", "tip").bodies == ("arm",)
    assert qp.Multibody(HUB, ARM, candidates=[CATCH]).without("catch") == qp.Multibody(HUB, ARM)
    with pytest.raises(KeyError, match="'nose'"):
        SYSTEM.without("nose")


def test_variants_keep_the_state() -> None:
    later = SYSTEM.at(SYSTEM.initial.replace(turned(0.4), t=3.0))
    for variant in (
        later.with_(PULL),
        later.without("gravity"),
        later.without("tip", "wrist").with_(TIP),
    ):
        assert variant.initial.t == 3.0
        np.testing.assert_array_equal(
            variant.initial["arm"].position, later.initial["arm"].position
        )
        assert variant.initial["hinge"].angle == pytest.approx(0.4, abs=1e-15)
    added = SYSTEM.without("tip", "wrist").at(later.without("tip", "wrist").initial).with_(TIP)
    np.testing.assert_array_equal(added.initial["tip"].position, TIP.position)


def test_candidates_wait_and_then_act() -> None:
    system = qp.Multibody(HUB, ARM, HINGE, PULL, candidates=[CATCH, DOWN])
    assert (
        system.acceleration().tolist()
        == qp.Multibody(HUB, ARM, HINGE, PULL).acceleration().tolist()
    )
    assert system.tables.joint_names == ("hinge", "catch")
    assert system.selection.joint_names == ("hinge",)
    there = system.at(system.initial.replace({"arm": turned(-math.pi)["arm"]}))
    caught = there.with_(CATCH)
    assert caught.candidates == (DOWN,)
    assert isinstance(caught["catch"], BaseJoint)
    assert (there.mobility().degrees_of_freedom, caught.mobility().degrees_of_freedom) == (1, 0)
    assert abs(caught.acceleration()[:, 3:]).max() < 1e-12


def test_candidate_joints_tell_their_coordinates() -> None:
    waiting = qp.Revolute("later", HUB, ARM, at=(0, 0, 0), axis=(0, 0, 1))
    state = qp.Multibody(HUB, ARM, HINGE, candidates=[waiting]).initial.replace(
        {"arm": turned(0.3)["arm"]}
    )
    assert state["later"].angle == pytest.approx(0.3, abs=1e-15)


# --- poses ----------------------------------------------------------------------------------------
def test_at_moves_neither_sites_nor_zeros() -> None:
    state = SYSTEM.initial.replace(turned(0.7), t=5.0)
    moved = SYSTEM.at(state)
    assert moved.initial == state
    assert moved["hinge"].sites == HINGE.sites
    assert moved.initial["hinge"].angle == pytest.approx(0.7, abs=1e-15)
    assert moved.at(SYSTEM.initial) == SYSTEM
    for name in ("site_point", "site_axes"):
        np.testing.assert_array_equal(getattr(moved.tables, name), getattr(SYSTEM.tables, name))


def test_at_takes_a_state_that_belongs_to_nothing() -> None:
    state = SYSTEM.initial.replace(turned(0.7))
    assert SYSTEM.at(qp.from_json(qp.to_json(state))).initial["hinge"].angle == pytest.approx(
        0.7, abs=1e-15
    )


def test_at_takes_the_bodies_by_name() -> None:
    other = qp.Multibody(TIP, HUB, ARM).initial.replace(turned(0.2))
    assert SYSTEM.at(other).initial["hinge"].angle == pytest.approx(0.2, abs=1e-15)


def test_at_keeps_whole_turns() -> None:
    state = SYSTEM.initial
    for angle in (2.0, 4.0, 6.0):
        state = state.replace(turned(angle))
    again = SYSTEM.at(state).with_(PULL).at(SYSTEM.at(state).with_(PULL).initial)
    assert again.initial["hinge"].angle == pytest.approx(6.0, abs=1e-14)


def test_questions_take_another_state() -> None:
    state = SYSTEM.initial.replace(turned(0.7), t=5.0)
    moved = SYSTEM.at(state)
    np.testing.assert_array_equal(SYSTEM.acceleration(state), moved.acceleration())
    np.testing.assert_array_equal(SYSTEM.constraint_forces(state), moved.constraint_forces())
    assert SYSTEM.energy(state) == moved.energy()
    assert SYSTEM.mobility(state) == moved.mobility()
    assert SYSTEM.explain(state) == moved.explain()
    np.testing.assert_array_equal(SYSTEM.matrices(state).A, moved.matrices().A)
