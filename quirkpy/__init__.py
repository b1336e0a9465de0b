"""quirkpy: by switching joints and force fields alone, into which shapes can a modular spacecraft fall?"""

from quirkpy.analysis import Energy, Mobility, Reaction, Residual
from quirkpy.course import Stop
from quirkpy.equation import Matrices
from quirkpy.formats import from_json, to_json
from quirkpy.multibody import Multibody
from quirkpy.parts.actuators import ReactionWheel, Thruster
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.bushing import Bushing
from quirkpy.parts.checks import Vector
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, When
from quirkpy.parts.fields import Charge, Coulomb, GravityGradient, HillFrame, Orbit, PointGravity, Potential
from quirkpy.parts.force import Element, Force
from quirkpy.parts.forces import Damper, Gravity, HingeSpring, JointStop, Load, PotentialWell, Spring
from quirkpy.parts.joint import Freedom, GeneralJoint, Joint
from quirkpy.parts.joints import Distance, Fixed, Prismatic, Revolute, Spherical
from quirkpy.parts.magnets import Dipoles, Electromagnet, Magnet, PlanetField
from quirkpy.parts.motion import FrameMotion, MotionView, Wrench
from quirkpy.parts.part import Part, PartError, checked
from quirkpy.parts.pinning import FluxPinning, Superconductor
from quirkpy.parts.primitives import (
    CoincidentPoints,
    FixedDistance,
    Gap,
    ParallelAxes,
    PerpendicularAxes,
    PointOnLine,
    PointOnPlane,
    Primitive,
    SameOrientation,
)
from quirkpy.parts.schedule import Schedule
from quirkpy.parts.sensor import QUARTER_TURNS, Sensor
from quirkpy.parts.shapes import Box, Cylinder, Shape, Sphere
from quirkpy.quat import Quaternion, rotation
from quirkpy.state import BodyState, JointState, State
from quirkpy.trajectory import Trajectory

__version__ = "0.1.0.dev0"

__all__ = [
    "AtRest",
    "Body",
    "BodyState",
    "Box",
    "Bushing",
    "Charge",
    "CoincidentPoints",
    "Coulomb",
    "Cylinder",
    "Damper",
    "Dipoles",
    "Distance",
    "Electromagnet",
    "Element",
    "Energy",
    "EnergyBelow",
    "Event",
    "Fixed",
    "FixedDistance",
    "FluxPinning",
    "Force",
    "FrameMotion",
    "Freedom",
    "GravityGradient",
    "GROUND",
    "Gap",
    "GeneralJoint",
    "Gravity",
    "HillFrame",
    "HingeSpring",
    "JointStop",
    "Joint",
    "JointState",
    "Load",
    "Magnet",
    "Matrices",
    "Mobility",
    "MotionView",
    "Multibody",
    "Orbit",
    "ParallelAxes",
    "Part",
    "PartError",
    "PerpendicularAxes",
    "PlanetField",
    "PointGravity",
    "PointOnLine",
    "PointOnPlane",
    "Potential",
    "PotentialWell",
    "Primitive",
    "Prismatic",
    "QUARTER_TURNS",
    "Quaternion",
    "Reaction",
    "ReactionWheel",
    "Residual",
    "Revolute",
    "SameOrientation",
    "Schedule",
    "Sensor",
    "SensorsMeet",
    "Shape",
    "Site",
    "Sphere",
    "Spherical",
    "Spring",
    "State",
    "Stop",
    "Superconductor",
    "Thruster",
    "Trajectory",
    "Vector",
    "When",
    "Wrench",
    "__version__",
    "checked",
    "from_json",
    "rotation",
    "to_json",
]
