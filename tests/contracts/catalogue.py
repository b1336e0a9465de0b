"""One example of every class of parts.  A new class goes into these lists: every contract test then
runs over it.

`test_catalogue.py` fails when a class is missing here.
"""

from __future__ import annotations

import numpy as np

import quirkpy as qp
from quirkpy.parts.forces import BetweenPoints, OnCoordinate

#: Two bodies with nothing special about them: full inertia, turned, off the origin.
HUB = qp.Body(
    "hub", mass=3.0, inertia=((0.4, 0.02, -0.03), (0.02, 0.5, 0.01), (-0.03, 0.01, 0.6)),
    position=(0.3, -0.2, 0.1), orientation=qp.rotation((1.0, 2.0, -1.0), 0.8),
)  # fmt: skip
ARM = qp.Body(
    "arm",
    mass=2.0,
    inertia=(0.2, 0.3, 0.4),
    position=(-0.4, 0.5, 0.7),
    orientation=qp.rotation((0.2, -1.0, 0.5), 2.1),
    velocity=(0.1, 0.2, -0.3),
    angular_velocity=(0.3, -0.2, 0.5),
    shape=qp.Box((0.2, 0.3, 0.4)),
    color="#4477aa",
    label="the arm",
)
EAST = HUB.site("east", at=(0.1, 0.2, -0.1), z=(1.0, 0.5, 0.2))
WEST = ARM.site("west", at=(-0.2, 0.1, 0.3), z=(0.0, 1.0, 0.0), x=(0.0, 0.0, 2.0))
RAMP = qp.Schedule((0.0, 1.0, 2.5), ((0.0, 0.0, 0.0), (1.0, -2.0, 0.5), (0.3, 0.1, 0.0)), "linear")

#: Numbers that never jump, and vectors.
SWELL = qp.Sine(0.5, 3.0, mean=2.0)
LEAD = qp.Schedule((0.0, 2.0, 4.0), (0.3, 1.1, 0.6), "smooth")
SHAKE = qp.Sine((0.3, -0.2, 0.1), 4.0, 0.2) + qp.Ramp((0.1, 0.0, 0.2), (0.0, 0.5, 0.0))
BURST = LEAD * SWELL * (0.1, 0.3, -0.2)

HINGE = qp.Revolute("hinge", HUB, ARM, at=(0.1, 0.1, 0.2), axis=(1.0, 1.0, 0.3))

SLEEVE = qp.Cylindrical("sleeve", HUB, ARM, at=(0.1, 0.1, 0.0), axis=(1.0, 0.0, 0.3))
CROSS = qp.Universal("cross", HUB, ARM, at=(0.1, 0.1, 0.4), axis=(1.0, 0.4, 0.3))

JOINTS: tuple[qp.Joint, ...] = (
    qp.Spherical("ball", HUB, ARM, at=(0.1, 0.2, 0.3)),
    HINGE,
    qp.Fixed("lock", HUB, ARM),
    qp.Prismatic("slide", HUB, ARM, at=(0.1, 0.2, 0.0), axis=(0.0, 1.0, 2.0)),
    qp.Distance("bar", HUB, ARM, at1=(0.1, 0.0, 0.2), at2=(-0.3, 0.4, 0.5)),
    SLEEVE,
    qp.Planar("plate", HUB, ARM, at=(0.1, 0.2, 0.0), axis=(0.3, 1.0, -1.0)),
    CROSS,
    qp.PointOnLine("groove", HUB, ARM, at=(0.1, 0.2, 0.0), axis=(0.0, -1.0, 2.0)),
    qp.PointOnPlane("table", HUB, ARM, at=(0.3, 0.1, 0.0), axis=(1.0, 1.0, 2.0)),
    qp.Parallel("parallel", HUB, ARM, axis=(1.0, 0.2, 2.0)),
    qp.Perpendicular("square", HUB, ARM, axis=(1.0, 0.2, -2.0)),
    qp.Screw("bolt", HUB, ARM, at=(0.1, 0.1, 0.2), axis=(1.0, 0.5, 0.3), pitch=0.05),
)

#: Joints without rows of their own kind, which the contracts of rows pass by: ropes, and what acts
#: on other joints.
ROPE = qp.Rope("tether", HUB, ARM, at1=(0.1, 0.0, 0.2), length=2.0, restitution=0.2)
COUPLINGS: tuple[qp.Part, ...] = (
    ROPE,
    qp.Gear("gear", SLEEVE, HINGE, ratio=-0.5, first_coordinate="angle", offset=0.1),
    qp.Prescribed("drive", HINGE, qp.Schedule((0.0, 2.0, 5.0), (0.0, 1.5, -0.3), "smooth")),
)

SWING = qp.Schedule((0.0, 2.0), ((900.0, 0.0, -500.0), (0.0, 400.0, 800.0)), "linear")
#: An ellipse on a scale on which bodies feel all of it.
ORBIT = qp.Orbit(5.0, (4.0, 1.0, -2.0), (0.1, 0.9, 0.3))
MAGNETS = (
    qp.Magnet("north", EAST, 900.0),
    qp.Magnet("south", WEST, -700.0),
    qp.Magnet("side", ARM.site("rim", x=(0, 1, 0)), 500.0),
)
COIL = qp.Electromagnet("coil", HUB.site("coil", z=(1.0, 0.0, 1.0)), SWING, holding_power=2.0)
CHARGES = (
    qp.Charge("plus", EAST, 2e-5),
    qp.Charge("minus", WEST, -3e-5),
    qp.Charge("more", HUB.site("tip"), 1e-5),
)
SWINGING = qp.Charge("swinging", HUB.site("rod"), qp.Schedule((0.0, 2.0), (2e-5, -1e-5), "linear"))
#: Its faces look away from the arm, or at it.
COLD = qp.Superconductor("cold", HUB.site("face", z=HUB.matrix.T @ (-0.7, 0.7, 0.6)))
SUPERCONDUCTORS = (
    COLD,
    qp.Superconductor("tin", HUB.site("back", z=HUB.matrix.T @ (0.7, -0.7, -0.6))),
)
COUPLED = np.diag([30.0, 20.0, 10.0, 2.0, 1.0, 3.0]) + np.array(
    [[0.1 * (j + k) for j in range(6)] for k in range(6)]
)
FAR = (2.0, -3.0, 4.0)

FORCES: tuple[qp.Force, ...] = (
    qp.Gravity((0.3, 0.1, -9.81)),
    qp.Spring(
        "spring", HUB, ARM, at1=(0.1, 0.0, 0.0), at2=(-0.2, 0.4, 0.5), stiffness=7.0, damping=0.4
    ),
    qp.Spring("rope", EAST, WEST, stiffness=7.0, rest_length=0.2, damping=0.4, tension_only=True),
    qp.String("string", EAST, WEST, EA=1.4, rest_length=0.2, damping=0.4),
    qp.String(
        "wound", HUB, ARM, at1=(0.1, 0, 0), stiffness=7.0, rest_length=qp.Sine(0.1, 2.0, mean=0.2)
    ),
    qp.String(
        "tackle",
        EAST,
        HUB.site("tip", at=(-0.2, 0.3, 0.1)),
        stiffness=7.0,
        rest_length=0.2,
        over=WEST,
    ),
    qp.Damper("dashpot", EAST, WEST, damping=0.6),
    qp.HingeSpring("torsion", HINGE, stiffness=2.0, rest_angle=0.4, damping=0.3),
    qp.JointSpring("coil", SLEEVE, coordinate="travel", stiffness=3.0, rest=0.1, damping=0.2),
    qp.JointSpring("bend", CROSS, coordinate="angle_y", stiffness=2.0, rest=-0.1, damping=0.3),
    qp.JointDamper("oil", SLEEVE, coordinate="angle", damping=0.4),
    qp.HingeSpring("swell", HINGE, stiffness=SWELL, rest_angle=qp.Sine(0.4, 2.0, 0.3, 0.1)),
    qp.JointSpring("crank", SLEEVE, coordinate="travel", stiffness=3.0, rest=qp.Ramp(0.2, 0.1)),
    qp.Servo("hold", HINGE, target=0.3, stiffness=3.0, damping=0.4),
    qp.Servo("lead", HINGE, target=LEAD, stiffness=3.0, damping=0.4, limit=1.5),
    qp.TapeSpring("tape", HINGE, stiffness=4.0, peak=(1.0, 0.5), plateau=(0.4, 0.5), damping=0.1),
    qp.Motor("motor", HINGE, torque=0.7),
    qp.Motor("winder", SLEEVE, coordinate="travel", force=qp.Sine(0.4, 2.0, 0.3, 0.1)),
    qp.ViscousHinges(0.3),
    qp.SprungHinges(1.5, rest=0.7),
    qp.JointFriction("rub", HINGE, coefficient=0.3, preload=20.0, radius=0.02, slip=0.5),
    qp.JointStop("limit", HINGE, lower=-0.5, upper=2.0, restitution=0.3),
    qp.Latch("flat", HINGE, at=1.2, sense=+1),
    qp.PotentialWell("well", ARM, (0.2, 0.1, -0.3), 5.0),
    qp.PotentialWell("tide", ARM, (0.2, 0.1, -0.3), SWELL),
    qp.Spring("winch", EAST, WEST, stiffness=7.0, rest_length=LEAD, damping=0.2),
    qp.Load(
        "push",
        ARM,
        force=(1.0, -2.0, 0.5),
        torque=(0.1, 0.0, 0.2),
        at=(-0.3, 0.4, 0.6),
        frame="body",
    ),
    qp.Load("ramp", HUB, force=RAMP),
    qp.Load("shake", HUB, force=SHAKE, torque=BURST),
    qp.Thruster("jet", WEST, (0.1, 0.2, 3.0)),
    qp.Thruster("puffs", EAST, RAMP),
    qp.Thruster("flutter", WEST, SHAKE),
    qp.ReactionWheel("wheel", EAST, 0.4),
    qp.ReactionWheel("wheels", WEST, RAMP),
    qp.Bushing("bushing", EAST, WEST, stiffness=COUPLED, damping=0.1 * COUPLED),
    qp.PointGravity(5.0, FAR),
    qp.GravityGradient(ORBIT),
    qp.HillFrame(0.4),
    qp.Coulomb(CHARGES, debye_length=0.8),
    qp.Coulomb((CHARGES[1], SWINGING), name="spark"),
    qp.Dipoles(MAGNETS),
    qp.Dipoles((MAGNETS[1], COIL), name="coils"),
    qp.PlanetField((*MAGNETS, qp.Electromagnet("rod", WEST, 3.0)), (1e5, 2e5, -3e5), centre=FAR),
    qp.PlanetField((MAGNETS[0], COIL), (1e5, 2e5, -3e5), orbit=ORBIT, name="field on the way"),
    qp.FluxPinning(SUPERCONDUCTORS, MAGNETS, warm=("tin",)),
)

SENSORS: tuple[qp.Sensor, ...] = (
    qp.Sensor(
        "eye",
        EAST,
        kind="face",
        accepts=("face", "edge"),
        reach=2e-3,
        alignment=0.02,
        roll=qp.QUARTER_TURNS,
    ),
)

PRIMITIVES: tuple[qp.Primitive, ...] = (
    qp.CoincidentPoints(),
    qp.OriginOnLine("z"),
    qp.OriginOnLine("x"),
    qp.OriginOnPlane("y", offset=0.3),
    qp.ParallelAxes("z"),
    qp.ParallelAxes("y"),
    qp.PerpendicularAxes("x", "y"),
    qp.PerpendicularAxes("z", "z"),
    qp.SameOrientation(),
    qp.FixedDistance(0.7),
    qp.DistanceAtMost(3.0),
)

OTHERS: tuple[qp.Part, ...] = (
    HUB,
    ARM,
    qp.GROUND,
    EAST,
    WEST,
    RAMP,
    SWELL,
    qp.Ramp(0.3, 0.1),
    SHAKE,
    BURST,
    ORBIT,
    COIL,
    *MAGNETS,
    *CHARGES,
    SWINGING,
    *SUPERCONDUCTORS,
    qp.Beam(
        "boom",
        start=(0.1, 0.2, 0.3),
        end=(0.5, -0.4, 0.9),
        EA=1e4,
        EI=(2.0, 3.0),
        GJ=1.5,
        mass_per_length=0.4,
        modes=(1, 2, 1, 1),
        damping=0.01,
        clamped="free",
        y=(0.0, 1.0, 2.0),
        tip_masses=(0.1, 0.1),
        velocity=(0.1, 0.2, 0.3),
    ),
    qp.ModalBody(
        "panel",
        mass=4.0,
        inertia=(8.0, 8.0, 8.0),
        frequencies=(3.0,),
        damping=0.02,
        nodes=((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)),
        shapes=[[(0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 0, 5)]],
    ),
    qp.Switch(1.5, joints=("hinge",), forces=(), parameters={"spring": {"stiffness": 2.0}}),
    qp.Settled(rest=1e-2),
    qp.Box((0.1, 0.2, 0.3)),
    qp.Sphere(0.4),
    qp.Cylinder(0.1, 2.0, "y"),
    qp.Mesh(
        ((0.0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1)),
        ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)),
    ),
)

EVENTS: tuple[qp.Event, ...] = (
    qp.AtRest(name="still", speed=1e-5, terminal=False), qp.EnergyBelow(1e-8, name="spent"),
    qp.SensorsMeet(name="face to face", terminal=False),
    qp.When.above("hinge.angle", 1.5), qp.Threshold("arm.position.z", 0.2, "both", name="plane"),
)  # fmt: skip

PARTS: tuple[qp.Part, ...] = (*JOINTS, *COUPLINGS, *FORCES, *SENSORS, *PRIMITIVES, *EVENTS, *OTHERS)

#: Parts that hold a Python function and so cannot be written to JSON.
BOWL = qp.Potential("bowl", lambda at: float(at[HUB].position @ at[ARM].position))
UNWRITTEN: tuple[qp.Part, ...] = (qp.When("level", abs), BOWL)

#: Classes that nobody makes an object of.
BASES = (
    qp.Part,
    qp.Controller,
    qp.Joint,
    qp.GeneralJoint,
    qp.Force,
    BetweenPoints,
    OnCoordinate,
    qp.CompiledForce,
    qp.Primitive,
    qp.Shape,
    qp.Event,
    qp.TimeFunction,
    qp.CompiledFunction,
    qp.JointLaw,
    qp.CompiledJointLaw,
    OnCoordinate,
)


def label(part: qp.Part) -> str:
    """How a test of this part is called."""
    name = getattr(part, "name", "")
    return f"{type(part).__name__} {name}".strip()
