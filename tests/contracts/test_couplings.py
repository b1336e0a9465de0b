"""What acts on coordinates: candidates, parameters, files, clusters, states, and sentences of
systems."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quirkpy as qp
from tests.faults.sentence import check_refused
from tests.user_parts import Onlooker

ONE = qp.Body("one", 1.0, (0.5, 0.5, 0.5), angular_velocity=(0, 0, 1.0))
TWO = qp.Body("two", 1.0, (0.2, 0.2, 0.2), position=(1.0, 0, 0), velocity=(0, 0, 0.3))
AXLE = qp.Revolute("axle", qp.GROUND, ONE, at=(0, 0, 0), axis=(0, 0, 1))
ROD = qp.Cylindrical("rod", qp.GROUND, TWO, at=(1.0, 0, 0), axis=(0, 0, 1))
MESH = qp.Gear("mesh", AXLE, ROD, ratio=-2.0, second_coordinate="angle")
SLEW = qp.Prescribed(
    "slew", ROD, qp.Schedule((0.0, 1.0, 2.0), (0.0, 0.4, 0.1), "smooth"), first_coordinate="travel"
)
PARTS = ONE, TWO, AXLE, ROD, MESH, SLEW


def test_a_gear_acts_only_while_its_joints_do() -> None:
    tables = qp.Multibody(ONE, TWO, candidates=[AXLE, ROD, MESH, SLEW]).tables
    assert tables.select(["axle", "mesh"]).joint_names == ("axle",)
    assert tables.select(["axle", "rod", "mesh"]).joint_names == ("axle", "rod", "mesh")
    assert tables.select(["rod", "slew", "mesh"]).joint_names == ("rod", "slew")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("mesh", {"ratio": -0.7}),
        ("slew", {"motion": qp.Schedule((0.0, 0.5, 2.0), (0.0, 0.9, 0.3), "smooth")}),
        ("bolt", {"pitch": 0.3}),
        ("tether", {"length": 3.0}),
        ("coil", {"stiffness": 9.0}),
    ],
)
def test_parameters_are_what_the_part_would_be_with_them(
    name: str, changes: dict[str, Any]
) -> None:
    three = qp.Body("three", 1.0, (0.2, 0.2, 0.2), position=(2.0, 0, 0))
    parts = {
        part.name: part
        for part in (
            *PARTS,
            three,
            qp.Screw("bolt", ONE, three, at=(2.0, 0, 0), axis=(0, 0, 1), pitch=0.1),
            qp.Rope("tether", TWO, three),
            qp.JointSpring("coil", ROD, coordinate="travel", stiffness=2.0),
        )
    }
    changed = qp.Multibody(*parts.values()).tables.with_parameters({name: changes})
    rebuilt = qp.Multibody(
        *(parts | {name: dataclasses.replace(parts[name], **changes)}).values()
    ).tables
    for field in ("row_value", "row_factor", "element_numbers", "knot_time", "knot_value"):
        np.testing.assert_array_equal(getattr(changed, field), getattr(rebuilt, field))


def test_a_parameter_does_not_change_what_a_gear_couples() -> None:
    tables = qp.Multibody(*PARTS).tables
    check_refused(
        lambda: tables.with_parameters({"mesh": {"second_coordinate": "travel"}}), "'mesh'",
        ("what the part acts on",)
    )  # fmt: skip


def test_a_run_comes_back_from_its_file(tmp_path: Path) -> None:
    three = qp.Body("three", 1.0, (0.2, 0.2, 0.2), position=(1.5, 0, 0), velocity=(1.0, 0, 0))
    run = qp.Multibody(*PARTS, three, qp.Rope("tether", TWO, three, length=1.0)).simulate(1.5)
    assert run.events
    run.save(tmp_path / "run.npz")
    copy = qp.Trajectory.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(copy["rod"].angle, run["rod"].angle)
    assert copy.events == run.events
    assert copy.final == run.final
    assert qp.from_json(qp.to_json(run.system)) == run.system
    again = run.system.at(run.final).simulate(0.5)
    twice = copy.system.at(copy.final).simulate(0.5)
    np.testing.assert_array_equal(again.course.states, twice.course.states)


def test_locked_clusters_move_as_their_members_do() -> None:
    """An onlooker keeps the bodies apart; gears and drives act the same on clusters."""
    outer = [
        qp.Body(
            f"outer {body.name}",
            0.5,
            (0.1, 0.2, 0.2),
            position=np.add(body.position, (0.3, 0.2, 0.4)),
        )
        for body in (ONE, TWO)
    ]
    locks = [
        qp.Fixed(f"lock {body.name}", body, inner)
        for body, inner in zip((ONE, TWO), outer, strict=True)
    ]
    idle = qp.Cylindrical("idle", ONE, outer[0], at=(0, 0, 0), axis=(0, 1, 0))
    coil = qp.JointSpring("coil", idle, coordinate="travel", stiffness=3.0, rest=0.1)
    system = qp.Multibody(*PARTS, *outer, *locks, idle, coil)
    together = system.simulate(1.2, rtol=1e-11, atol=1e-13)
    apart = system.with_(Onlooker("watch")).simulate(1.2, rtol=1e-11, atol=1e-13)
    assert system.clusters.merger is not None
    np.testing.assert_allclose(together.final.r, apart.final.r, atol=1e-9)
    np.testing.assert_allclose(together.final.omega, apart.final.omega, atol=1e-9)
    assert together.work[-1] == pytest.approx(apart.work[-1], abs=1e-9)
    assert together.potential[0] == pytest.approx(0.5 * 3.0 * 0.1**2)


def test_a_state_of_another_system_with_the_same_bodies_is_read_by_name() -> None:
    turned = qp.Multibody(ONE, AXLE).simulate(9.0, step=0.1).final
    assert turned["axle"].angle == pytest.approx(9.0, abs=1e-9)
    more = qp.Multibody(ONE, qp.Rope("tether", qp.GROUND, ONE, length=1.0), AXLE)
    here = turned.instant(more.selection)
    assert here.coordinates(np.array([1]))[0, 0] == pytest.approx(9.0, abs=1e-9)


def test_several_coordinates_go_on_past_half_a_turn() -> None:
    bodies = ONE, dataclasses.replace(TWO, angular_velocity=(0, 0, 3.0))
    rod = dataclasses.replace(ROD, second=bodies[1])
    run = qp.Multibody(*bodies, AXLE, rod).simulate(5.0)
    assert run["rod"].angle[-1] == pytest.approx(15.0, abs=1e-6)
    assert run["axle"].angle[-1] == pytest.approx(5.0, abs=1e-6)
    np.testing.assert_allclose(run["rod"].rate[-1], (3.0, 0.3), atol=1e-9)
    assert run.final.windings.tolist() == [
        round(5.0 / (2.0 * math.pi)),
        round(15.0 / (2.0 * math.pi)),
        0,
    ]


# --- sentences ------------------------------------------------------------------------------------
def test_a_gear_that_does_not_fit_is_refused() -> None:
    gear = dataclasses.replace(MESH, offset=0.3)
    check_refused(
        lambda: qp.Multibody(ONE, TWO, AXLE, ROD, gear), "'mesh'", ("0.3 rad apart", "candidates=")
    )


def test_a_drive_that_begins_elsewhere_is_refused() -> None:
    drive = qp.Prescribed("drive", AXLE, lambda t: (0.5 + t, 1.0, 0.0))
    check_refused(lambda: qp.Multibody(ONE, AXLE, drive), "'drive'", ("0.5 rad apart",))


def test_a_gear_of_a_joint_that_is_not_there_is_refused() -> None:
    check_refused(
        lambda: qp.Multibody(ONE, TWO, AXLE, MESH),
        "'mesh'",
        ("the joint 'rod'", "not in the system"),
    )


def test_a_rope_that_is_too_short_is_refused() -> None:
    check_refused(
        lambda: qp.Multibody(ONE, TWO, qp.Rope("r", ONE, TWO, length=0.9)), "'r'", ("0.1 m apart",)
    )


def test_a_motion_that_fails_later_ends_the_run_with_its_name() -> None:
    drive = qp.Prescribed("drive", AXLE, lambda t: (t, 1.0, 0.0) if t < 0.5 else (t, math.nan, 0.0))
    with pytest.raises(qp.PartError, match=r"drive.*motion at t") as caught:
        qp.Multibody(ONE, AXLE, drive).simulate(1.0)
    assert caught.value.trajectory.t[-1] < 0.5  # type: ignore[attr-defined]


def test_axes_of_reactions_are_one_of_two_words() -> None:
    check_refused(
        lambda: qp.Multibody(ONE, AXLE).reactions(axes="body"),
        "reactions",
        ("axes is 'body'",),  # type: ignore[arg-type]
    )
