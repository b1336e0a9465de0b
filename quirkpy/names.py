"""All public names: `quirkpy` imports this module when one of them is first used."""

from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.model.chances import Robustness, Spread
from quirkpy.explore.model.graph import Edge, Node, Outcome
from quirkpy.explore.scope.choices import Choice, SettleRule
from quirkpy.explore.scope.choosing import Choosing, Chosen, OneHinge
from quirkpy.explore.scope.identity import SameShape
from quirkpy.explore.scope.options import Free, Hinge, Lock, Option, OptionTraits, Pin
from quirkpy.explore.scope.safety import (
    KeepOut,
    Limit,
    NoCollision,
    Safety,
    SafetyTraits,
    StayTogether,
    Violation,
)
from quirkpy.explore.study import Study
from quirkpy.explore.sweep import Sweep, sweep
from quirkpy.families import origami, tensegrities
from quirkpy.families.bars import CompressibleBar
from quirkpy.families.prestress import Prestress, form_find, prestress
from quirkpy.families.tensegrity import Tensegrity, tensegrity
from quirkpy.formats import from_json, to_json
from quirkpy.formats.models.imported import Imported
from quirkpy.formats.models.urdf import read_urdf
from quirkpy.formats.models.urdf_writing import write_urdf
from quirkpy.formats.mujoco.mjcf import read_mjcf
from quirkpy.formats.mujoco.mjcf_writing import write_mjcf
from quirkpy.maths import quat, triples
from quirkpy.maths.quat import Quaternion, rotation
from quirkpy.maths.types import Vector
from quirkpy.maths.warnings import PartWarning, deg
from quirkpy.mechanics.analysis import Energy, Mobility, Pull, Reaction, Residual
from quirkpy.mechanics.equation import Matrices
from quirkpy.mechanics.readings import BentState, BodyState, JointState, SectionLoad
from quirkpy.mechanics.sensing import SensorState
from quirkpy.mechanics.state import State
from quirkpy.motion.course import Stop
from quirkpy.motion.runs import Runs
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.actuators import ReactionWheel, Thruster
from quirkpy.parts.beam import Beam
from quirkpy.parts.body import GROUND, Body, Site
from quirkpy.parts.bushing import Bushing
from quirkpy.parts.controller import Controller
from quirkpy.parts.couplings import Gear, Prescribed
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, Threshold, When
from quirkpy.parts.fields import (
    Charge,
    Coulomb,
    GravityGradient,
    HillFrame,
    Orbit,
    PointGravity,
    Potential,
)
from quirkpy.parts.force import Element, Force, ForceTraits
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
from quirkpy.parts.formulas import CompiledFunction
from quirkpy.parts.joint import Coordinate, Freedom, GeneralJoint, Joint, Relation
from quirkpy.parts.joint_laws import CompiledJointLaw, JointLaw, Motor, Servo, TapeSpring
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
from quirkpy.parts.latch import Latch
from quirkpy.parts.law import CompiledForce
from quirkpy.parts.magnets import Dipoles, Electromagnet, Magnet, PlanetField
from quirkpy.parts.modal_body import ModalBody
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
from quirkpy.parts.schedule import Product, Ramp, Schedule, Sine, Sum, TimeFunction
from quirkpy.parts.sensor import QUARTER_TURNS, Sensor
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.parts.strings import String
from quirkpy.parts.switch import Settled, Switch
from quirkpy.rest.continuation import Branch, continue_equilibrium
from quirkpy.rest.equilibrium import Equilibrium, Mode
from quirkpy.rest.linear import Linear
from quirkpy.system.findings import Finding
from quirkpy.system.multibody import Multibody

__all__ = [
    "GROUND",
    "QUARTER_TURNS",
    "AtRest",
    "Beam",
    "BentState",
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
    "CompiledFunction",
    "CompiledJointLaw",
    "CompressibleBar",
    "Controller",
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
    "Finding",
    "Fixed",
    "FixedDistance",
    "FluxPinning",
    "Force",
    "ForceTraits",
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
    "Imported",
    "Joint",
    "JointDamper",
    "JointFriction",
    "JointLaw",
    "JointSpring",
    "JointState",
    "JointStop",
    "KeepOut",
    "Latch",
    "Limit",
    "Linear",
    "Load",
    "Lock",
    "Magnet",
    "Matrices",
    "Mesh",
    "Mobility",
    "ModalBody",
    "Mode",
    "MotionView",
    "Motor",
    "Multibody",
    "NoCollision",
    "Node",
    "OneHinge",
    "Option",
    "OptionTraits",
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
    "Prestress",
    "Primitive",
    "Prismatic",
    "Product",
    "Pull",
    "Quaternion",
    "Ramp",
    "Reaction",
    "ReactionWheel",
    "ReconfigurationGraph",
    "Relation",
    "Residual",
    "Revolute",
    "Robustness",
    "Rope",
    "Runs",
    "Safety",
    "SafetyTraits",
    "SameOrientation",
    "SameShape",
    "Schedule",
    "Screw",
    "SectionLoad",
    "Sensor",
    "SensorState",
    "SensorsMeet",
    "Servo",
    "SettleRule",
    "Settled",
    "Shape",
    "Sine",
    "Site",
    "Sphere",
    "Spherical",
    "Spread",
    "Spring",
    "SprungHinges",
    "State",
    "StayTogether",
    "Stop",
    "String",
    "Study",
    "Sum",
    "Superconductor",
    "Sweep",
    "Switch",
    "TapeSpring",
    "Tensegrity",
    "Threshold",
    "Thruster",
    "TimeFunction",
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
    "form_find",
    "from_json",
    "origami",
    "prestress",
    "quat",
    "read_mjcf",
    "read_urdf",
    "rotation",
    "sweep",
    "tensegrities",
    "tensegrity",
    "to_json",
    "triples",
    "write_mjcf",
    "write_urdf",
]
