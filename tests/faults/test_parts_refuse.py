"""Parts that cannot be, and the sentence that each of them gets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import quirkpy as qp
from tests.faults.sentence import case, check_refused

NAN, INF = math.nan, math.inf
BAR = qp.Body.box("bar", (0.1, 0.1, 0.3), mass=1.0)
LID = qp.Body.box("lid", (0.1, 0.1, 0.1), mass=1.0, position=(0.0, 0.0, 0.2))
TIP = BAR.site("tip", at=(0.0, 0.0, 0.15))
HINGE = qp.Revolute("hinge", BAR, LID, at=(0.05, 0.0, 0.15), axis=(0, 1, 0))
SLIDE = qp.Prismatic("slide", BAR, LID, at=(0.0, 0.0, 0.15), axis=(0, 0, 1))
ROD = qp.Cylindrical("rod", BAR, LID, at=(0.0, 0.0, 0.15), axis=(0, 0, 1))


def body(**changes: Any) -> qp.Body:
    return qp.Body(**{"name": "bob", "mass": 1.0, "inertia": (1.0, 1.0, 1.0)} | changes)


def box(**changes: Any) -> qp.Body:
    return qp.Body.box(**{"name": "bob", "size": (1, 1, 1), "mass": 1.0} | changes)


def rod(**changes: Any) -> qp.Body:
    return qp.Body.rod(
        **{"name": "bob", "start": (0, 0, 0), "end": (1, 0, 0), "mass": 1.0} | changes
    )


def hinge(**changes: Any) -> qp.Revolute:
    return qp.Revolute(
        **{"name": "pin", "first": BAR, "second": LID, "at": (0, 0, 0), "axis": (0, 0, 1)} | changes
    )


BODIES = [
    case(lambda: body(mass=0.0), "'bob'", "mass is 0.0", "positive", id="mass zero"),
    case(lambda: body(mass=-1), "'bob'", "mass is -1.0", "positive", id="mass negative"),
    case(lambda: body(mass=NAN), "'bob'", "mass is nan", "finite", id="mass nan"),
    case(lambda: body(mass=INF), "'bob'", "mass is inf", "finite", id="mass inf"),
    case(lambda: body(mass=True), "'bob'", "mass is True", "one number", id="mass bool"),
    case(lambda: body(mass="1"), "'bob'", "mass is '1'", "one number", id="mass text"),
    case(lambda: body(mass=np.eye(3)), "'bob'", "mass is array(", "one number", id="mass matrix"),
    case(lambda: body(mass=10**400), "'bob'", "mass is 1000", "...", "one number", id="mass huge"),
    case(lambda: body(mass=1j), "'bob'", "mass is 1j", "one number", id="mass complex"),
    case(lambda: body(mass=None), "'bob'", "mass is missing", "fixed=True", id="mass missing"),
    case(
        lambda: body(inertia=None),
        "'bob'",
        "inertia is missing",
        "fixed=True",
        id="inertia missing",
    ),
    case(
        lambda: body(inertia=(1, 1, 0)),
        "'bob'",
        "principal moment 0",
        "positive",
        id="inertia singular",
    ),
    case(
        lambda: body(inertia=(1, 1, -1)),
        "'bob'",
        "principal moment -1",
        "positive",
        id="inertia negative",
    ),
    case(
        lambda: body(inertia=((1, 2, 0), (2, 1, 0), (0, 0, 1))),
        "'bob'",
        "principal moment -1",
        "thin rod",
        id="inertia not definite",
    ),
    case(
        lambda: body(inertia=(1, 1, 3)),
        "'bob'",
        "1, 1, 3",
        "unphysical_inertia=True",
        id="triangle",
    ),
    case(
        lambda: body(inertia=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))),
        "'bob'",
        "not symmetric",
        id="inertia asymmetric",
    ),
    case(
        lambda: body(inertia=(1, NAN, 1)), "'bob'", "inertia is", "nan", "finite", id="inertia nan"
    ),
    case(lambda: body(inertia=(1, 1)), "'bob'", "shape (2,)", "3x3", id="inertia of two"),
    case(
        lambda: body(inertia=2.0), "'bob'", "shape ()", "3 principal values", id="inertia a number"
    ),
    case(
        lambda: body(inertia=((1, 2), (3,))),
        "'bob'",
        "inertia is",
        "real numbers",
        id="inertia ragged",
    ),
    case(lambda: body(name=""), "Body", "name is ''", "not empty", id="name empty"),
    case(lambda: body(name=7), "Body", "name is 7", "text", id="name number"),
    case(lambda: body(name="a\nb"), "Body", "name is 'a\\nb'", "one line", id="name of two lines"),
    case(
        lambda: body(position=(1, 2)),
        "'bob'",
        "position has shape (2,)",
        "(3,)",
        id="position short",
    ),
    case(
        lambda: body(position=(1, 2, INF)), "'bob'", "position", "inf", "finite", id="position inf"
    ),
    case(
        lambda: body(position=("1", "2", "3")),
        "'bob'",
        "position is",
        "real numbers",
        id="position texts",
    ),
    case(
        lambda: body(position=(True, False, True)),
        "'bob'",
        "position is",
        "real numbers",
        id="position bools",
    ),
    case(lambda: body(position=None), "'bob'", "position", id="position none"),
    case(
        lambda: body(velocity=[[1, 2, 3]]),
        "'bob'",
        "velocity has shape (1, 3)",
        id="velocity shape",
    ),
    case(
        lambda: body(angular_velocity=(NAN, 0, 0)),
        "'bob'",
        "angular_velocity",
        "finite",
        id="omega nan",
    ),
    case(
        lambda: body(orientation=[1, 0, 0, 0]),
        "'bob'",
        "orientation is four bare numbers",
        "scalar comes first or last",
        "qp.rotation",
        "scipy",
        id="bare quaternion",
    ),
    case(lambda: body(orientation=np.eye(4)[0]), "'bob'", "four bare numbers", id="bare array"),
    case(
        lambda: body(orientation=np.eye(3)),
        "'bob'",
        "orientation is array(",
        "qp.rotation",
        id="matrix",
    ),
    case(
        lambda: body(orientation=Rotation.identity(2)),
        "'bob'",
        "orientation is",
        "one scipy Rotation",
        id="two rotations",
    ),
    case(
        lambda: body(orientation=qp.Quaternion(1.0, 0.1, 0, 0)),
        "'bob'",
        "length is not 1",
        "normalise",
        id="quaternion not unit",
    ),
    case(
        lambda: body(orientation=qp.Quaternion(NAN, 0, 0, 0)),
        "'bob'",
        "length is not 1",
        id="quaternion nan",
    ),
    case(lambda: body(shape="box"), "'bob'", "shape is 'box'", "Shape", id="shape a word"),
    case(lambda: body(color=(0, 1, 2)), "'bob'", "color", "between 0 and 1", id="colour"),
    case(lambda: body(color=""), "'bob'", "color is ''", id="colour empty"),
    case(lambda: body(fixed=1), "'bob'", "fixed is 1", "True or False", id="fixed a number"),
    case(
        lambda: body(fixed=True, velocity=(1, 0, 0)),
        "'bob'",
        "does not move",
        id="fixed and moving",
    ),
    case(
        lambda: qp.Body("bob", fixed=True).inertia_matrix,
        "'bob'",
        "no inertia",
        id="fixed without inertia",
    ),
]


def boom(**values: Any) -> qp.Beam:
    rest: dict[str, Any] = dict(EA=1.0, EI=1.0, GJ=1.0, mass_per_length=1.0)
    return qp.Beam("boom", start=(0, 0, 0), end=(1, 0, 0), **(rest | values))


def string(**values: Any) -> qp.String:
    end = qp.Body.sphere("end", 0.1, 1.0, position=(1, 0, 0))
    return qp.String("s", qp.GROUND, end, **values)


MADE = [
    case(lambda: boom(modes=(1, (1, 2), 1, 1)), "'boom'", "modes", "whole", id="beam modes"),
    case(lambda: boom(EI=(1, (2, 3))), "'boom'", "EI is", "real numbers", id="beam EI"),
    case(lambda: boom(damping=(1, (2, 3))), "'boom'", "damping", "number", id="beam damping"),
    case(lambda: string(stiffness=0.0, limit_load=1), "'s'", "limit_load", "above 0", id="soft"),
    case(lambda: string(stiffness=1.0, limit_load=0), "'s'", "limit_load", "positive", id="limit"),
    case(
        lambda: qp.Multibody(
            string(stiffness=1.0, limit_load=1, rest_length=0.0).second,
            string(stiffness=1.0, limit_load=1, rest_length=0.0),
        ),
        "'s'",
        "limit_load",
        "rest_length that is a number above 0",
        id="limit, no rest",
    ),
    case(lambda: box(mass=-1), "'bob'", "mass is -1.0", "positive", id="box mass"),
    case(lambda: box(mass=None), "'bob'", "mass is missing", "fixed=True", id="box without mass"),
    case(
        lambda: box(size=(1, 0, 1)), "'bob'", "size is (1.0, 0.0, 1.0)", "positive", id="box flat"
    ),
    case(lambda: box(size=1.0), "'bob'", "size has shape ()", id="box size a number"),
    case(lambda: qp.Body.sphere("bob", -1, 1), "'bob'", "radius is -1.0", id="sphere radius"),
    case(lambda: qp.Body.sphere("bob", 1, 0), "'bob'", "mass is 0.0", id="sphere mass"),
    case(lambda: qp.Body.cylinder("bob", 0, 1, 1), "'bob'", "radius is 0.0", id="cylinder radius"),
    case(
        lambda: qp.Body.cylinder("bob", 1, -2, 1), "'bob'", "length is -2.0", id="cylinder length"
    ),
    case(
        lambda: qp.Body.cylinder("bob", 1, 1, 1, axis="w"),
        "'bob'",
        "axis is 'w'",
        "'x', 'y', 'z'",
        id="cylinder axis",
    ),
    case(lambda: rod(end=(0, 0, 0)), "'bob'", "same point", id="rod of no length"),
    case(lambda: rod(mass=0), "'bob'", "mass is 0.0", id="rod mass"),
    case(lambda: rod(radius=-1), "'bob'", "radius is -1.0", id="rod radius"),
    case(lambda: rod(start=(0, 0)), "'bob'", "start has shape (2,)", id="rod start"),
    case(lambda: rod(end="up"), "'bob'", "end is 'up'", id="rod end"),
    case(
        lambda: rod(position=(0, 0, 1)), "'bob'", "follow from start and end", id="rod placed twice"
    ),
    case(lambda: qp.Box((1, 1, -1)), "Box", "size", "positive", id="box shape"),
    case(lambda: qp.Sphere(NAN), "Sphere", "radius is nan", "finite", id="sphere nan"),
    case(
        lambda: BAR.site("top", z=(0, 0, 0)),
        "'top' of body 'bar'",
        "z has zero length",
        id="site z zero",
    ),
    case(
        lambda: BAR.site("top", x=(0, 0, 0)),
        "'top' of body 'bar'",
        "x has zero length",
        id="site x zero",
    ),
    case(
        lambda: BAR.site("top", at=(0, NAN, 0)),
        "'top' of body 'bar'",
        "at is",
        "finite",
        id="site at nan",
    ),
    case(
        lambda: BAR.site("top", z=(0, 0, 1), x=(1, 0, 1)),
        "'top' of body 'bar'",
        "45 degrees",
        "perpendicular",
        id="site x askew",
    ),
    case(
        lambda: BAR.site("top", z=(1, 1, 1), x=(1, 1, 1)),
        "'top' of body 'bar'",
        "0 degrees",
        id="site x along z",
    ),
    case(
        lambda: qp.Site("bar", "top"),
        "'top'",
        "body is 'bar'",
        "must be a Body",
        id="site of a word",
    ),
]

JOINTS = [
    case(lambda: hinge(second=BAR), "'pin'", "both ends are on body 'bar'", id="joint with itself"),
    case(
        lambda: hinge(second=TIP, at=None, axis=None),
        "'pin'",
        "both ends are on body 'bar'",
        id="with its own site",
    ),
    case(lambda: hinge(at=None), "'pin'", "say where it is", "at=(x, y, z)", id="at missing"),
    case(
        lambda: hinge(axis=None), "'pin'", "along which axis", "axis=(x, y, z)", id="axis missing"
    ),
    case(lambda: hinge(first=TIP), "'pin'", "at and axis go with two bodies", id="at with sites"),
    case(
        lambda: hinge(first=TIP, at=None),
        "'pin'",
        "at and axis go with two bodies",
        id="axis with sites",
    ),
    case(lambda: hinge(axis=(0, 0, 0)), "'pin'", "axis has zero length", id="axis zero"),
    case(lambda: hinge(axis=(0, INF, 0)), "'pin'", "axis", "finite", id="axis inf"),
    case(lambda: hinge(at=(0, 0)), "'pin'", "at has shape (2,)", id="at short"),
    case(
        lambda: hinge(first="bar"), "'pin'", "first is 'bar'", "a Site or a Body", id="end a word"
    ),
    case(lambda: hinge(name=None), "Revolute", "name is None", id="joint without name"),
    case(
        lambda: qp.Fixed("pin", BAR, LID, axis=(0, 0, 1)), "'pin'", "no axis", id="lock with axis"
    ),
    case(lambda: qp.Spherical("pin", BAR, LID), "'pin'", "say where it is", id="ball without at"),
    case(
        lambda: qp.Distance("pin", BAR, LID, length=0),
        "'pin'",
        "length is 0.0",
        "positive",
        id="bar of no length",
    ),
    case(
        lambda: qp.Distance("pin", BAR, LID, at1=(0, 0, 0), at2=(0, 0, 0)),
        "'pin'",
        "coincide",
        "Spherical",
        id="bar between coinciding points",
    ),
    case(
        lambda: qp.Distance("pin", TIP, LID, at1=(0, 0, 0)),
        "'pin'",
        "at1 goes with a body",
        "'tip'",
        id="bar with a point beside a site",
    ),
    case(
        lambda: qp.OriginOnLine("w"),
        "OriginOnLine",
        "axis is 'w'",
        "'x', 'y', 'z'",
        id="primitive axis",
    ),
    case(
        lambda: qp.ParallelAxes(np.eye(3)),
        "ParallelAxes",
        "axis is array(",
        id="primitive axis an array",
    ),
    case(lambda: qp.FixedDistance(0), "FixedDistance", "length is 0.0", id="primitive length"),
    case(
        lambda: qp.OriginOnPlane("x", INF), "OriginOnPlane", "offset is inf", id="primitive offset"
    ),
]

FORCES = [
    case(
        lambda: qp.Gravity((0, 0)), "'gravity'", "acceleration has shape (2,)", id="gravity of two"
    ),
    case(lambda: qp.Gravity(9.81), "'gravity'", "acceleration has shape ()", id="gravity a number"),
    case(
        lambda: qp.Spring("s", BAR, LID, stiffness=-1),
        "'s'",
        "stiffness is -1.0",
        "negative",
        id="stiffness",
    ),
    case(
        lambda: qp.Spring("s", BAR, LID, stiffness=1, damping=-1),
        "'s'",
        "damping is -1.0",
        id="damping",
    ),
    case(
        lambda: qp.Spring("s", BAR, LID, stiffness=1, rest_length=-1),
        "'s'",
        "rest_length is -1.0",
        id="rest",
    ),
    case(
        lambda: qp.Spring("s", BAR, LID, stiffness=1, tension_only=1),
        "'s'",
        "tension_only is 1",
        id="flag",
    ),
    case(
        lambda: qp.Spring("s", TIP, LID, at1=(0, 0, 0), stiffness=1),
        "'s'",
        "at1 goes with a body",
        id="at1",
    ),
    case(
        lambda: qp.Spring("s", BAR, LID, at2=(0, 0), stiffness=1),
        "'s'",
        "at2 has shape (2,)",
        id="at2",
    ),
    case(
        lambda: qp.Damper("d", BAR, 3, damping=1),
        "'d'",
        "second is 3",
        "a Site or a Body",
        id="damper end",
    ),
    case(
        lambda: qp.PotentialWell("w", TIP, (0, 0, 0), 1),
        "'w'",
        "body is Site(<bar>",
        "a Body",
        id="well",
    ),
    case(
        lambda: qp.HingeSpring("t", qp.Fixed("lock", BAR, LID), stiffness=1),
        "'t'",
        "'lock' (Fixed) has no angle",
        "Revolute",
        id="hinge spring on a lock",
    ),
    case(
        lambda: qp.HingeSpring("t", BAR, stiffness=1),
        "'t'",
        "joint is",
        "must be a Joint",
        id="no joint",
    ),
    case(
        lambda: qp.Load("p", LID, frame="world"),
        "'p'",
        "frame is 'world'",
        "'inertial', 'body'",
        id="frame",
    ),
    case(lambda: qp.Load("p", LID, force=(1, 2)), "'p'", "force has shape (2,)", id="force of two"),
    case(lambda: qp.Load("p", LID, torque=NAN), "'p'", "torque has shape ()", id="torque a number"),
    case(
        lambda: qp.Load("p", LID, force=lambda t: (t, 0)),
        "'p'",
        "force at t = 0.0 has shape (2,)",
        id="function",
    ),
    case(
        lambda: qp.Load("p", LID, torque=lambda t: (NAN, t, t)),
        "'p'",
        "torque at t = 0.0",
        "nan",
        id="function nan",
    ),
    case(
        lambda: qp.Schedule((), ()), "Schedule", "times is ()", "at least one", id="schedule empty"
    ),
    case(
        lambda: qp.Schedule((1, 1), np.eye(3)[:2]), "Schedule", "rising", id="schedule not rising"
    ),
    case(lambda: qp.Schedule((0, INF), np.eye(3)[:2]), "Schedule", "finite", id="schedule inf"),
    case(lambda: qp.Schedule("ab", np.eye(3)), "Schedule", "times is 'ab'", id="schedule text"),
    case(
        lambda: qp.Schedule((0, 1), np.eye(3)),
        "Schedule",
        "2 times",
        "3 values",
        id="schedule counts",
    ),
    case(
        lambda: qp.Schedule((0, 1), np.eye(2)),
        "Schedule",
        "values has shape (2, 2)",
        "vectors",
        id="schedule pairs",
    ),
    case(
        lambda: qp.Load("p", BAR, force=qp.Schedule((0, 1), (1, 2))),
        "'p'",
        "force is a schedule of plain numbers",
        "three at each time",
        id="load of scalars",
    ),
    case(
        lambda: qp.JointSpring("s", ROD, stiffness=1),
        "'s'",
        "'rod' (Cylindrical) has several coordinates",
        "'angle', 'travel'",
        id="which coordinate",
    ),
    case(
        lambda: qp.JointDamper("s", ROD, damping=1, coordinate="way"),
        "'s'",
        "coordinate is 'way'",
        "'angle', 'travel'",
        id="no such coordinate",
    ),
    case(
        lambda: qp.HingeSpring("s", SLIDE, stiffness=1),
        "'s'",
        "'slide' (Prismatic) has no angle",
        "Revolute",
        id="hinge spring on a slide",
    ),
    case(
        lambda: qp.JointFriction("f", ROD, coordinate="angle", coefficient=0.1, preload=1),
        "'f'",
        "acts on an angle",
        "radius=",
        id="friction without a radius",
    ),
    case(
        lambda: qp.JointFriction("f", SLIDE, coefficient=0.1, preload=1, radius=0.1),
        "'f'",
        "radius is 0.1",
        "leave radius out",
        id="friction of a slide with a radius",
    ),
    case(
        lambda: qp.JointFriction("f", SLIDE, coefficient=0.1, preload=-1),
        "'f'",
        "preload is -1",
        id="preload",
    ),
    case(
        lambda: qp.JointStop("s", ROD, coordinate="angle"),
        "'s'",
        "no bound",
        "lower, upper",
        id="stop unbound",
    ),
    case(
        lambda: qp.Screw("s", BAR, LID, at=(0, 0, 0), axis=(0, 0, 1), pitch=0),
        "'s'",
        "pitch is 0",
        "Revolute",
        id="screw without a pitch",
    ),
    case(
        lambda: qp.Screw("s", BAR, LID, at=(0, 0, 0), axis=(0, 0, 1), pitch=INF),
        "'s'",
        "pitch is inf",
        id="pitch",
    ),
    case(
        lambda: qp.Universal("u", BAR, LID, at=(0, 0, 0)),
        "'u'",
        "axis=(x, y, z)",
        id="universal without axis",
    ),
    case(
        lambda: qp.Rope("r", BAR, BAR), "'r'", "both ends are on body 'bar'", id="rope on one body"
    ),
    case(lambda: qp.Rope("r", BAR, LID, length=-1), "'r'", "length is -1", id="rope length"),
    case(
        lambda: qp.Rope("r", BAR, LID, length=9, restitution=2),
        "'r'",
        "restitution is 2",
        id="rope restitution",
    ),
    case(
        lambda: qp.Gear("g", BAR, SLIDE, ratio=1),
        "'g'",
        "first is",
        "must be a Joint",
        id="gear of a body",
    ),
    case(
        lambda: qp.Gear("g", SLIDE, qp.Fixed("lock", BAR, LID), ratio=1),
        "'g'",
        "'lock' (Fixed) has no coordinate",
        id="gear of a lock",
    ),
    case(
        lambda: qp.Gear("g", SLIDE, SLIDE, ratio=1),
        "'g'",
        "both its coordinates are 'travel'",
        id="gear of one",
    ),
    case(
        lambda: qp.Prescribed("d", SLIDE, 3.0),
        "'d'",
        "motion is 3.0",
        "Schedule",
        id="drive by a number",
    ),
    case(
        lambda: qp.Prescribed("d", SLIDE, qp.Schedule((0, 1), (1, 2), "linear")),
        "'d'",
        "'smooth'",
        "function",
        id="drive with kinks",
    ),
    case(
        lambda: qp.Prescribed("d", SLIDE, lambda t: t),
        "'d'",
        "motion at t = 0.0 has shape ()",
        "value, rate and acceleration",
        id="drive without derivatives",
    ),
    case(
        lambda: qp.Schedule((0,), 5.0), "Schedule", "values has shape ()", id="schedule one value"
    ),
    case(
        lambda: qp.Schedule((0,), ((0, 0, NAN),)), "Schedule", "values", "finite", id="schedule nan"
    ),
    case(
        lambda: qp.Schedule((0,), ((0, 0, 0),), "cubic"),
        "Schedule",
        "'cubic'",
        "'hold', 'linear'",
        id="cubic",
    ),
    case(lambda: qp.Sensor("eye", BAR), "'eye'", "site is", "Site", id="sensor on a body"),
    case(
        lambda: qp.Sensor("eye", TIP, accepts="face"),
        "'eye'",
        "accepts is 'face'",
        "tuple of kinds",
        id="accepts",
    ),
    case(lambda: qp.Sensor("eye", TIP, accepts=()), "'eye'", "accepts is ()", id="accepts nothing"),
    case(
        lambda: qp.Sensor("eye", TIP, accepts=("a", 3)),
        "'eye'",
        "accepts is 3",
        id="accepts a number",
    ),
    case(lambda: qp.Sensor("eye", TIP, reach=0), "'eye'", "reach is 0.0", id="reach"),
    case(lambda: qp.Sensor("eye", TIP, roll=-1), "'eye'", "roll is -1.0", id="roll"),
]


@pytest.mark.parametrize(("make", "name", "words"), [*BODIES, *MADE, *JOINTS, *FORCES])
def test_refused(make: Any, name: str, words: tuple[str, ...]) -> None:
    check_refused(make, name, words)


def test_unphysical_inertia_is_accepted_when_asked_for() -> None:
    assert (
        body(inertia=(1, 1, 3), unphysical_inertia=True).inertia_matrix.tolist()
        == np.diag([1, 1, 3]).tolist()
    )
    with pytest.raises(qp.PartError, match="positive"):
        body(inertia=(1, 1, -3), unphysical_inertia=True)


def test_flat_body_and_rounding_are_accepted() -> None:
    body(inertia=(1, 1, 2))
    body(inertia=(1, 1, 2 + 1e-10))
    body(inertia=((1, 1e-12, 0), (0, 1, 0), (0, 0, 1)))
    body(orientation=qp.Quaternion(1.0 + 1e-7, 0, 0, 0))


@pytest.mark.parametrize("axis", [(0, 0, 0), (0, 0, INF), (NAN, 0, 0), (1, 0), 3.0])
def test_rotation_refuses_what_is_no_axis(axis: Any) -> None:
    with pytest.raises(ValueError, match=r"^rotation: axis .*\.$"):
        qp.rotation(axis, 1.0)


def test_rotation_refuses_what_is_no_angle() -> None:
    with pytest.raises(ValueError, match="angle inf"):
        qp.rotation((0, 0, 1), INF)
