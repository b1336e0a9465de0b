"""All that a user needs, by name: `quirkpy` fetches it when it is first asked for any of these."""

from quirkpy.analysis import Energy, Mobility, Pull, Reaction, Residual
from quirkpy.continuation import Branch, continue_equilibrium
from quirkpy.course import Stop
from quirkpy.doubt import PartWarning, deg
from quirkpy.equation import Matrices
from quirkpy.equilibrium import Equilibrium, Mode
from quirkpy.explore.chances import Robustness, Spread
from quirkpy.explore.choices import Choice, SettleRule
from quirkpy.explore.choosing import Choosing, Chosen, OneHinge
from quirkpy.explore.graph import Edge, Node, Outcome, ReconfigurationGraph
from quirkpy.explore.identity import SameShape
from quirkpy.explore.options import Free, Hinge, Lock, Option, Pin
from quirkpy.explore.safety import KeepOut, Limit, NoCollision, Safety, StayTogether, Violation
from quirkpy.explore.study import Study
from quirkpy.formats import from_json, to_json
from quirkpy.linear import Linear
from quirkpy.multibody import Multibody
from quirkpy.parts import triples
from quirkpy.parts.actuators import ReactionWheel, Thruster
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.bushing import Bushing
from quirkpy.parts.checks import Vector
from quirkpy.parts.couplings import Gear, Prescribed
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, When
from quirkpy.parts.fields import Charge, Coulomb, GravityGradient, HillFrame, Orbit, PointGravity, Potential
from quirkpy.parts.force import Element, Force
from quirkpy.parts.forces import (
    Damper,
    Gravity,
    HingeSpring,
    JointDamper,
    JointFriction,
    JointSpring,
    JointStop,
    Load,
    PotentialWell,
    Spring,
    SprungHinges,
    ViscousHinges,
)
from quirkpy.parts.joint import Coordinate, Freedom, GeneralJoint, Joint, Relation
from quirkpy.parts.joints import (
    Cylindrical,
    Distance,
    Fixed,
    Parallel,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rope,
    Screw,
    Spherical,
    Universal,
)
from quirkpy.parts.law import CompiledForce
from quirkpy.parts.magnets import Dipoles, Electromagnet, Magnet, PlanetField
from quirkpy.parts.motion import FrameMotion, MotionView, PlaceMotion, Wrench
from quirkpy.parts.part import Part, PartError, checked
from quirkpy.parts.pinning import FluxPinning, Superconductor
from quirkpy.parts.primitives import (
    CoincidentPoints,
    DistanceAtMost,
    FixedDistance,
    Gap,
    OriginOnLine,
    OriginOnPlane,
    ParallelAxes,
    PerpendicularAxes,
    Primitive,
    SameOrientation,
)
from quirkpy.parts.schedule import Schedule
from quirkpy.parts.sensor import QUARTER_TURNS, Sensor
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.quat import Quaternion, rotation
from quirkpy.state import BodyState, JointState, SensorState, State
from quirkpy.trajectory import Trajectory

__all__ = [
    "GROUND",
    "QUARTER_TURNS",
    "AtRest",
    "Body",
    "BodyState",
    "Box",
    "Branch",
    "Bushing",
    "Charge",
    "Choice",
    "Choosing",
    "Chosen",
    "CoincidentPoints",
    "CompiledForce",
    "Coordinate",
    "Coulomb",
    "Cylinder",
    "Cylindrical",
    "Damper",
    "Dipoles",
    "Distance",
    "DistanceAtMost",
    "Edge",
    "Electromagnet",
    "Element",
    "Energy",
    "EnergyBelow",
    "Equilibrium",
    "Event",
    "Fixed",
    "FixedDistance",
    "FluxPinning",
    "Force",
    "FrameMotion",
    "Free",
    "Freedom",
    "Gap",
    "Gear",
    "GeneralJoint",
    "Gravity",
    "GravityGradient",
    "HillFrame",
    "Hinge",
    "HingeSpring",
    "Joint",
    "JointDamper",
    "JointFriction",
    "JointSpring",
    "JointState",
    "JointStop",
    "KeepOut",
    "Limit",
    "Linear",
    "Load",
    "Lock",
    "Magnet",
    "Matrices",
    "Mesh",
    "Mobility",
    "Mode",
    "MotionView",
    "Multibody",
    "NoCollision",
    "Node",
    "OneHinge",
    "Option",
    "Orbit",
    "OriginOnLine",
    "OriginOnPlane",
    "Outcome",
    "Parallel",
    "ParallelAxes",
    "Part",
    "PartError",
    "PartWarning",
    "Perpendicular",
    "PerpendicularAxes",
    "Pin",
    "PlaceMotion",
    "Planar",
    "PlanetField",
    "PointGravity",
    "PointOnLine",
    "PointOnPlane",
    "Potential",
    "PotentialWell",
    "Prescribed",
    "Primitive",
    "Prismatic",
    "Pull",
    "Quaternion",
    "Reaction",
    "ReactionWheel",
    "ReconfigurationGraph",
    "Relation",
    "Residual",
    "Revolute",
    "Robustness",
    "Rope",
    "Safety",
    "SameOrientation",
    "SameShape",
    "Schedule",
    "Screw",
    "Sensor",
    "SensorState",
    "SensorsMeet",
    "SettleRule",
    "Shape",
    "Site",
    "Sphere",
    "Spherical",
    "Spread",
    "Spring",
    "SprungHinges",
    "State",
    "StayTogether",
    "Stop",
    "Study",
    "Superconductor",
    "Thruster",
    "Trajectory",
    "Universal",
    "Vector",
    "Violation",
    "ViscousHinges",
    "When",
    "Wrench",
    "checked",
    "continue_equilibrium",
    "deg",
    "from_json",
    "rotation",
    "to_json",
    "triples",
]
