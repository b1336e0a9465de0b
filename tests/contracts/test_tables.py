"""Tables: compiled once; a selection is a slice of them, and means what the same parts mean when
built alone."""

from __future__ import annotations

import dataclasses
import pickle
from typing import get_args

import numpy as np
import pytest

import quirkpy as qp
from quirkpy.maths.types import Floats
from quirkpy.mechanics import equation
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import Evaluator
from quirkpy.tables import Selection, Tables, compile
from tests.contracts.universe import Universe, rebuilt
from tests.random_systems import seeds

BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)
LID = qp.Body.box("lid", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 0.0, 0.2))
BASE = qp.Body.box(
    "base",
    (1, 1, 0.1),
    fixed=True,
    position=(0.0, 0.0, -0.2),
    orientation=qp.rotation((0, 0, 1), 0.5),
)
HINGE = qp.Revolute("hinge", BAR, LID, at=(0.05, 0.0, 0.15), axis=(0, 1, 0))
FOOT = qp.Fixed("foot", BASE, BAR)
LATER = qp.Spherical("later", BASE.site("top", at=(0.0, 0.0, 0.05)), LID.site("west"))
COIL = qp.HingeSpring("coil", HINGE, stiffness=2.0, rest_angle=0.3)
DOWN = qp.Gravity((0.0, 0.0, -9.81))
PARTS = (BAR, BASE, LID, HINGE, FOOT, LATER, COIL, DOWN)


@pytest.fixture(scope="module")
def tables() -> Tables:
    return compile(PARTS)


def arrays(tables: Tables) -> dict[str, Floats]:
    values = {field.name: getattr(tables, field.name) for field in dataclasses.fields(tables)}
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


def at_work(selection: Selection) -> Instant:
    return dataclasses.replace(State.written(selection), t=0.6).instant()


def accelerations(selection: Selection) -> Floats:
    return equation.solve_dense(at_work(selection)).acceleration


# --- the law --------------------------------------------------------------------------------------
@seeds(60, 20)
def test_a_selection_is_the_system_built_from_its_parts(seed: int) -> None:
    universe = Universe(seed)
    joints, forces = universe.some(universe.joints), universe.some(universe.forces)
    parameters = universe.parameters()
    selection = compile(universe.parts).select(
        [joint.name for joint in joints], [force.name for force in forces], parameters
    )
    acting = [
        force for force in forces if getattr(force, "joint", None) is None or force.joint in joints
    ]
    alone = [
        rebuilt(part, parameters) for part in (*universe.bodies, universe.fixed, *joints, *acting)
    ]
    built = compile(alone).select()
    expected, found = accelerations(built), accelerations(selection)
    assert abs(expected).max() > 1e-3
    assert abs(found - expected).max() <= 1e-13 * abs(expected).max()
    np.testing.assert_allclose(
        at_work(selection).rows.phi, at_work(built).rows.phi, rtol=1e-13, atol=1e-15
    )
    np.testing.assert_allclose(
        at_work(selection).loads.potential, at_work(built).loads.potential, rtol=1e-13
    )


def test_random_universes_are_not_all_alike() -> None:
    """The law above sees every class and every kind of element."""
    universes = [Universe(seed) for seed in range(60)]
    kinds = {type(part).__name__ for universe in universes for part in universe.parts}
    assert {
        "Revolute",
        "Prismatic",
        "Spherical",
        "Fixed",
        "Distance",
        "Slot",
        "SlotByHand",
    } <= kinds
    assert {
        "Gravity",
        "Spring",
        "Damper",
        "PotentialWell",
        "Load",
        "HingeSpring",
        "Wind",
        "Attraction",
    } <= kinds


# --- names and numbers ----------------------------------------------------------------------------
def test_names_and_rows_lead_to_each_other(tables: Tables) -> None:
    for names, index in (
        (tables.joint_names, tables.joint_index),
        (tables.force_names, tables.force_index),
        (tables.body_names, {name: tables.body_index[name] for name in tables.body_names}),
    ):
        assert [index[name] for name in names] == list(range(len(names)))
        assert set(names) == set(index)
    assert tables.body_names == ("bar", "lid")
    assert tables.joint_names == ("hinge", "foot", "later")
    assert tables.force_names == ("coil", "gravity")


def test_fixed_bodies_share_the_row_of_the_ground(tables: Tables) -> None:
    assert tables.n_bodies == 2
    assert {name: tables.body_index[name] for name in ("base", "ground")} == {
        "base": 2,
        "ground": 2,
    }
    assert len(tables.body_mass) == len(tables.body_position) == 2
    foot = tables.joint_site1[tables.joint_index["foot"]]
    assert tables.site_body[foot] == 2
    origin, axes = FOOT.sites[0].written_pose()
    np.testing.assert_array_equal(tables.site_point[foot], origin)
    np.testing.assert_array_equal(tables.site_axes[foot].reshape(3, 3), axes)


def test_fixed_bodies_have_no_columns() -> None:
    system = qp.Multibody(*PARTS[:-3])
    assert system.bodies == ("bar", "lid")
    assert system.acceleration().shape == (2, 6)
    assert system.matrices().A.shape[1] == 14
    pinned = qp.Multibody(BASE)
    for evaluator in get_args(Evaluator):
        assert pinned.acceleration(evaluator=evaluator).shape == (0, 6)
    assert pinned.mobility() == (0, 0, 0, (), 1.0)
    locked = qp.Multibody(BASE, qp.Fixed("bolt", qp.GROUND, BASE))
    assert locked.mobility() == (0, 0, 6, ("bolt",), 1.0)
    assert not any(locked.reactions()["bolt"].force)


def test_row_blocks_are_those_of_each_joint(tables: Tables) -> None:
    assert tables.joint_row.tolist() == [0, 5, 11, 14]
    assert tables.row_joint.tolist() == [0] * 5 + [1] * 6 + [2] * 3
    assert tables.joint_freedom.tolist() == [0, 1, 1, 4]
    assert tables.force_element.tolist() == [0, 1, 2]


def test_sensors_accept_each_other_both_ways() -> None:
    def eye(name: str, kind: str, *accepts: str) -> qp.Sensor:
        return qp.Sensor(name, BAR.site(name), kind=kind, accepts=accepts, reach=0.2, roll=None)

    tables = compile(
        (BAR, eye("a", "plug", "socket"), eye("b", "socket", "plug"), eye("c", "socket", "hook"))
    )
    assert tables.sensor_accepts.tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert tables.sensor_reach.tolist() == [0.2] * 3
    assert tables.sensor_roll.tolist() == [0.0] * 3


# --- frozen ---------------------------------------------------------------------------------------
def test_arrays_are_read_only(tables: Tables) -> None:
    changed = tables.with_parameters({"coil": {"stiffness": 3.0}})
    unpickled = pickle.loads(pickle.dumps(tables))
    for one in (tables, changed, unpickled):
        assert [name for name, array in arrays(one).items() if array.flags.writeable] == []
    with pytest.raises(ValueError, match="read-only"):
        tables.body_mass[0] = 7.0


def test_fields_are_fixed(tables: Tables) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        tables.body_mass = np.ones(2)
    selection = tables.select()
    with pytest.raises(dataclasses.FrozenInstanceError):
        selection.joints = np.zeros(0)
    for copy in (selection, pickle.loads(pickle.dumps(selection))):
        assert not copy.joints.flags.writeable
        assert not copy.forces.flags.writeable


# --- selections -----------------------------------------------------------------------------------
def test_selection_shares_the_tables(tables: Tables) -> None:
    for selection in (tables.select(), tables.select([], []), tables.select(["hinge"], None, {})):
        assert selection.tables is tables


def test_parameters_share_what_they_leave_alone(tables: Tables) -> None:
    changed = tables.select(parameters={"coil": {"stiffness": 3.0}}).tables
    other = [
        name
        for name, array in arrays(tables).items()
        if not np.array_equal(array, getattr(changed, name))
    ]
    assert other == ["element_numbers"]
    assert changed.row_kind is tables.row_kind
    assert changed.joint_row is tables.joint_row
    assert tables.forces[0].stiffness == 2.0
    assert changed.forces[0].stiffness == 3.0


def test_order_and_repetition_of_names_do_not_matter(tables: Tables) -> None:
    one, two = tables.select(["later", "hinge"]), tables.select(iter(["hinge", "later", "hinge"]))
    assert one.joints.tolist() == two.joints.tolist() == [0, 2]
    assert one.joint_names == ("hinge", "later")
    assert one.rows.tolist() == [*range(5), *range(11, 14)]


def test_forces_on_inactive_joints_drop_out(tables: Tables) -> None:
    assert tables.select(["foot"]).elements.tolist() == [1]
    assert tables.select(["hinge"]).elements.tolist() == [0, 1]
    assert tables.select([], []).elements.tolist() == []
    loads = State.written(tables.select(["foot"], ["coil"])).instant().loads
    assert not loads.wrench.any()
    assert loads.potential.tolist() == []


def test_nothing_selected_is_free_fall(tables: Tables) -> None:
    np.testing.assert_array_equal(
        accelerations(tables.select([], ["gravity"])), [[0, 0, -9.81, 0, 0, 0]] * 2
    )
    np.testing.assert_array_equal(accelerations(tables.select([], [])), np.zeros((2, 6)))
