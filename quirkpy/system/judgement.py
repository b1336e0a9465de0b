"""Probable mistakes in a valid model: degrees for radians, masses wrong by a factor of a thousand,
joints far from their bodies, and parts without effect."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Sequence

from quirkpy.maths.warnings import PartWarning
from quirkpy.mechanics.system import System
from quirkpy.parts.body import Body
from quirkpy.parts.controller import Controller
from quirkpy.parts.couplings import Coupling
from quirkpy.parts.force import KINDS, Element, Force
from quirkpy.parts.forces import Load
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import Part
from quirkpy.parts.sensor import Sensor
from quirkpy.parts.shapes import Box, Cylinder, Mesh, Shape, Sphere
from quirkpy.system.findings import Finding, Findings

#: Bounds of the density of real bodies: lighter than a balloon, heavier than gold [kg/m3].
LIGHTEST, HEAVIEST = 1.0, 2.5e4
#: A joint this many times as far away as the size of either body is probably a mistake.
FAR_AWAY = 10.0
#: Kinds of elements without effect if all their strengths are zero; drives wait for commands.
PLAIN_KINDS = ("push", "pair", "uniform", "coordinate", "charges", "bushing")


def judge(system: System) -> tuple[Finding, ...]:
    """Probable mistakes in a system, the most serious first."""
    found = Findings()
    parts = (*system.parts, *system.candidates)
    driven = {
        name.rpartition(".")[0] for p in parts if isinstance(p, Controller) for name in p.drives
    }
    for part in parts:
        _doubt(part, found)
        if isinstance(part, Body):
            _weigh(part, found)
        elif isinstance(part, BaseJoint):
            _look_for(part, found)
        elif isinstance(part, Force) and part.name not in driven:
            _ask_what_it_does(part, found)
    judge_sensors([part for part in parts if isinstance(part, Sensor)], found)
    _hold(system, found)
    return found.all()


def _doubt(part: Part, found: Findings) -> None:
    """Repeat the warnings given when a part was constructed, such as degrees for radians."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PartWarning)
        dataclasses.replace(part)  # type: ignore[type-var]
    for one in told:
        found.tell("degrees" if "qp.deg" in str(one.message) else "doubt", str(one.message),
                   _name(part))  # fmt: skip


def _name(part: Part) -> str:
    return str(getattr(part, "name", ""))


# --- bodies ---------------------------------------------------------------------------------------
def _weigh(body: Body, found: Findings) -> None:
    volume = 0.0 if body.shape is None else volume_of(body.shape)
    if body.mass is None or not volume > 0.0:
        return
    density = body.mass / volume
    if not LIGHTEST <= density <= HEAVIEST:
        word = "lighter than a balloon" if density < LIGHTEST else "heavier than gold"
        found.tell(
            "density",
            f"Body {body.name!r}: {body.mass:g} kg in {volume:.3g} m3 are {density:.3g} kg/m3, "
            f"{word}; sizes are in metres, masses in kilograms.",
            body.name,
        )


def volume_of(shape: Shape) -> float:
    """The volume of a shape [m3]; zero for an unknown one."""
    if isinstance(shape, Box):
        return math.prod(shape.size)
    if isinstance(shape, Sphere):
        return 4.0 / 3.0 * math.pi * shape.radius**3
    if isinstance(shape, Cylinder):
        return math.pi * shape.radius**2 * shape.length
    return shape.volume if isinstance(shape, Mesh) else 0.0


def reach_of(shape: Shape) -> float:
    """The largest distance of a shape from the mass centre [m]; infinite for an unknown one."""
    if isinstance(shape, Box):
        return 0.5 * math.hypot(*shape.size)
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Cylinder):
        return math.hypot(shape.radius, 0.5 * shape.length)
    return shape.reach if isinstance(shape, Mesh) else math.inf


# --- joints ---------------------------------------------------------------------------------------
def _look_for(joint: BaseJoint, found: Findings) -> None:
    """Report a joint far outside of both its bodies."""
    if isinstance(joint, Coupling):
        return
    arms = []
    for site in joint.sites:
        shape = site.body.shape
        if shape is None:
            return
        arms.append(math.hypot(*site.at) / reach_of(shape))
    if min(arms) > FAR_AWAY:
        found.tell(
            "far",
            f"{type(joint).__name__} {joint.name!r}: it lies {min(arms):.3g} times as far away as "
            f"its bodies {joint.bodies[0].name!r} and {joint.bodies[1].name!r} reach; places are "
            "in metres, in N unless a site is given.",
            joint.name,
        )


def _hold(system: System, found: Findings) -> None:
    """Report joints with redundant constraints."""
    if not len(system.bodies) or not len(system.selection.joints):
        return
    for name in system.mobility().redundant:
        found.tell(
            "redundant",
            "{}: some of what they hold is held by other joints already; motion is the same, but "
            "how loads share out between them is not determined.",
            name,
        )


# --- forces and sensors ---------------------------------------------------------------------------
def _ask_what_it_does(force: Force, found: Findings) -> None:
    elements = force.elements() if force.gives("elements") else ()
    if elements and all(_is_idle(element) for element in elements):
        what = "force or torque" if isinstance(force, Load) else "strength"
        found.tell("idle", f"{type(force).__name__} {{}}: it has no {what}, so it does nothing; "
                   "give it some, or leave it out.", force.name)  # fmt: skip
    elif elements and all(_stands(element) for element in elements):
        found.tell("nothing", f"{type(force).__name__} {{}}: it acts on nothing that moves; name "
                   "another body, or leave it out.", force.name)  # fmt: skip


def judge_forces(forces: Iterable[Part], found: Findings) -> None:
    """Tell of forces that a study brings along what is told of those of a system."""
    for force in forces:
        _doubt(force, found)
        if isinstance(force, Force):
            _ask_what_it_does(force, found)


def _is_idle(element: Element) -> bool:
    """Whether all its loads are multiplied by zero."""
    strengths = KINDS[element.kind].strength
    if (
        element.kind not in PLAIN_KINDS
        or strengths is None
        or any(one is not None for one in element.schedules)
    ):
        return False
    return not any(element.numbers[k] for k in strengths if k < len(element.numbers))


def _stands(element: Element) -> bool:
    """Whether all bodies on which an element acts are fixed."""
    return bool(_bodies(element)) and all(body.fixed for body in _bodies(element))


def _bodies(element: Element) -> Sequence[Body]:
    if element.joint is not None:
        return element.joint.bodies
    sites = (element.site1, element.site2, element.site3)
    return [site.body for site in sites if site is not None]


def judge_sensors(sensors: Sequence[Sensor], found: Findings) -> None:
    """Report sensors that no other can meet."""
    for one in sensors:
        if not any(_notice(one, other) for other in sensors):
            found.tell(
                "sensor",
                "Sensor {}: no sensor of another body accepts its kind and is accepted; see kind "
                "and accepts.",
                one.name,
            )


def _notice(one: Sensor, other: Sensor) -> bool:
    apart = one.site.body.name != other.site.body.name
    return apart and one.kind in other.accepts and other.kind in one.accepts
