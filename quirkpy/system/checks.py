"""Checks of a set of parts: kinds, names, and references among them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quirkpy.mechanics.measures import WXYZ, measure_of
from quirkpy.parts.actuators import ReactionWheel
from quirkpy.parts.body import GROUND, Body
from quirkpy.parts.checks import show
from quirkpy.parts.controller import Controller
from quirkpy.parts.fields import HillFrame
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint, GeneralJoint
from quirkpy.parts.part import Part, PartError, field_values
from quirkpy.parts.sensor import Sensor
from quirkpy.parts.strings import String
from quirkpy.tables import Tables

KINDS = (Body, Force, Sensor, BaseJoint, Controller)


def check_parts(parts: tuple[Part, ...], candidates: tuple[Part, ...]) -> None:
    """Check kinds and names, and that every part refers only to parts that are here."""
    named: dict[str, Part] = {"ground": GROUND}
    for part in (*parts, *candidates):
        if not isinstance(part, KINDS):
            some = isinstance(part, list | tuple | set)
            way = "give its items, *parts" if some else "leave it out"
            raise PartError(
                f"Multibody: {show(part)} is neither a body nor a joint, a force, a sensor or a "
                f"controller; {way}."
            )
        if type(part) is String and part.mass:
            raise part.refuse("it has a mass, and so consists of parts; give these, *string.")
        if part.name in named:
            raise PartError(
                f"Multibody: two parts are called {part.name!r}; give each a name of its own.",
                code="name",
            )
        named[part.name] = part
    for part in candidates:
        if not isinstance(part, (BaseJoint, Force)):
            raise part.refuse("only joints and forces can be candidates; give it as a part.")
    if not any(isinstance(part, Body) for part in parts):
        raise PartError("Multibody: there is no body; give at least one.")
    for part in (*parts, *candidates):
        for other in _references(part):
            _check_reference(part, other, named)
    _check_bending((*parts, *candidates))


def _check_bending(parts: tuple[Part, ...]) -> None:
    """Refuse what acts on bodies as wholes where one of these bends."""
    bent = [p for p in parts if isinstance(p, Body) and p.modal is not None and p.modal.count]
    for part in parts if bent else ():
        if isinstance(part, HillFrame):
            raise part.refuse(
                f"body {bent[0].name!r} bends, and a turning frame is known for rigid ones alone; "
                "use GravityGradient with its orbit, or make the body rigid.",
                code="together",
            )
        if isinstance(part, (GeneralJoint, ReactionWheel)):
            ends = [body for body in _references(part) if body in bent]
            if ends:
                raise part.refuse(
                    f"its body {ends[0].name!r} bends, and it acts on a body as a whole; fix a "
                    "rigid body to that one, and let it act there.",
                    code="together",
                )


def check_controllers(tables: Tables) -> None:
    """Check that the quantities read by controllers can be measured; their drives are checked by
    the tables."""
    for controller in tables.controllers:
        for name in controller.reads:
            try:
                measure_of("reads", tables, name)
            except PartError as error:
                raise controller.refuse(str(error)) from None
        _check_wheels(controller, tables)
        for name, _ in controller.quantum:
            if measure_of("quantum", tables, name).parts == WXYZ:
                raise controller.refuse(
                    f"quantum names {name!r}, but orientations have no whole multiples; leave it "
                    "out."
                )


def _check_wheels(controller: Controller, tables: Tables) -> None:
    """Refuse drives of wheels where their momentum would have to rotate with N."""
    frames = [force for force in tables.forces if isinstance(force, HillFrame)]
    wheels = [force.name for force in tables.forces if isinstance(force, ReactionWheel)]
    for name in controller.drives:
        if frames and name.rpartition(".")[0] in wheels:
            raise controller.refuse(
                f"it drives {name!r}, whose momentum would have to turn with HillFrame "
                f"{frames[0].name!r}, which it is not known to do; let GravityGradient act on an "
                "Orbit instead.",
                code="together",
            )


def _check_reference(part: Part, other: Body | BaseJoint, named: dict[str, Part]) -> None:
    here = named.get(other.name)
    if here is other or here == other:
        return
    noun = "body" if isinstance(other, Body) else "joint"
    if isinstance(here, type(other)):
        raise part.refuse(
            f"the {noun} {other.name!r} that it refers to differs from the one in the system; use "
            "the same object.",
            code="name",
        )
    raise part.refuse(
        f"it refers to the {noun} {other.name!r}, which is not in the system; give that {noun} as "
        "well.",
        code="name",
    )


def _references(part: Part) -> list[Body | BaseJoint]:
    """The bodies and joints that a part names in its fields, at any depth; found once."""
    known = vars(part)
    if "references" not in known:
        known["references"] = _references_among(field_values(part))
    found: list[Body | BaseJoint] = known["references"]
    return found


def _references_among(values: Iterable[Any]) -> list[Body | BaseJoint]:
    found: list[Body | BaseJoint] = []
    for value in values:
        if type(value) in (float, str, bool):  # most are
            continue
        if isinstance(value, tuple):
            found += _references_among(value)
        elif isinstance(value, Part):
            found += [value] if isinstance(value, (Body, BaseJoint)) else _references(value)
    return found
