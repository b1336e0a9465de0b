"""Drives of controllers: fields of forces that commands replace, as schedules of the tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.maths.types import Floats
from quirkpy.parts.actuators import ReactionWheel
from quirkpy.parts.controller import Controller
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import PartError
from quirkpy.parts.schedule import Interpolation, Schedule, TimeFunction

#: Number of knots of each command in the tables during a run: for constant interpolation the last
#: two, for linear interpolation the end points of the present line and the one before.
KNOTS: dict[Interpolation, int] = {"hold": 2, "linear": 3}


class Drive(NamedTuple):
    """A drive of a controller: its name, "push.force"; the force, and the field that is replaced;
    the interpolation between samples; whether a command is minus the rate of the field; the
    admissible shapes of a command, that of the field first; the positions of its schedules in the
    elements of the force, and the matrices that make knots of a command, (3, 3) or (3, 1); whether
    a command must be zero or above."""

    name: str
    force: str
    field: str
    interpolation: Interpolation
    rising: bool
    shapes: tuple[tuple[int, ...], ...]
    slots: tuple[tuple[int, int], ...]
    matrices: tuple[Any, ...]
    above_zero: bool = False

    @property
    def size(self) -> int:
        """The number of components of the field."""
        return 3 if self.shapes[0] else 1


def drive_forces(
    controllers: Sequence[Controller], forces: Sequence[Force], joints: Sequence[BaseJoint]
) -> tuple[dict[str, Force], tuple[tuple[Drive, ...], ...]]:
    """The forces with drives, by name, with schedules in the place of commands; and the drives of
    each controller."""
    known, made, taken = {force.name: force for force in forces}, [], dict[tuple[str, str], str]()
    for controller in controllers:
        drives = tuple(_drive(controller, name, known, joints) for name in controller.drives)
        for drive in drives:
            other = taken.setdefault((drive.force, drive.field), f"{controller.name} {drive.name}")
            if other != f"{controller.name} {drive.name}":
                raise controller.refuse(
                    f"{drive.name!r} stands in the place of {drive.field} of {drive.force!r}, as "
                    f"{other!r} does; drive it once.",
                    code="together",
                )
        made.append(drives)
    out: dict[str, Force] = {}
    for drive in (drive for some in made for drive in some):
        part = out.get(drive.force, known[drive.force])
        value = known[drive.force].value_of(drive.field)
        out[drive.force] = with_knots(part, drive, np.zeros(1), np.array([value]), fill=True)
    return out, tuple(made)


def with_knots(
    force: Force, drive: Drive, times: Floats, values: Floats, fill: bool = False
) -> Force:
    """A force with a schedule in the place of a driven field; fill: with the number of knots that
    commands have in the tables."""
    if fill:
        count = KNOTS[drive.interpolation]
        times, values = np.arange(1.0 - count, 1.0), np.repeat(values, count, axis=0)
    made = Schedule(times, values, drive.interpolation)  # type: ignore[arg-type]
    field: dict[str, Any] = {drive.field: made}
    return dataclasses.replace(force, **field)


def _drive(
    controller: Controller, name: str, forces: Mapping[str, Force], joints: Sequence[BaseJoint]
) -> Drive:
    """The drive with a given name of a controller; errors name the controller."""
    owner, _, field = name.rpartition(".")
    force = forces.get(owner)
    if force is None:
        raise controller.refuse(_unknown(name, owner, forces, joints), code="name")
    rising = driven_field(force, field) != field
    field = driven_field(force, field)
    linear = rising or controller.hold == "first"
    found = find_drive(force, field, "linear" if linear else "hold", joints)
    if found is None:
        raise controller.refuse(_undrivable(controller, force, name, field, joints), code="name")
    if rising and controller.hold == "first":
        raise controller.refuse(
            f"{name!r} would not rise along lines; give hold='zero', or drive '{owner}.momentum'.",
            code="together",
        )
    value = getattr(force, field)
    if isinstance(value, TimeFunction) or callable(value):
        raise controller.refuse(
            f"{name!r} is driven, but {field} of {owner!r} is a function of time; give it the "
            "number that holds until the first command.",
            code="together",
        )
    return found._replace(name=name, rising=rising)


def driven_field(force: Force, word: str) -> str:
    """The field that a command replaces; torques of wheels are minus the rate of their momentum."""
    wheel = isinstance(force, ReactionWheel) and word == "torque"
    return "momentum" if wheel else word


def find_drive(
    force: Force, field: str, interpolation: Interpolation, joints: Sequence[BaseJoint]
) -> Drive | None:
    """The matrices from schedules of a field to those of the elements; None: there are none."""
    if field not in {one.name for one in dataclasses.fields(force)}:
        return None
    made = [(shape, _maps(force, field, interpolation, joints, shape)) for shape in ((3,), ())]
    kept = [(shape, maps) for shape, maps in made if maps]
    if not kept:
        return None
    shapes, maps = tuple(shape for shape, _ in kept), kept[0][1]
    slots, matrices = tuple(maps), tuple(maps.values())
    above = shapes[0] == () and not takes(force, field, -1.0)
    return Drive("", force.name, field, interpolation, False, shapes, slots, matrices, above)


def takes(force: Force, field: str, value: float) -> bool:
    """Whether a field of a force may have a value."""
    given: dict[str, Any] = {field: value}
    try:
        dataclasses.replace(force, **given)
    except PartError:
        return False
    return True


def _maps(
    force: Force, field: str, interpolation: Interpolation, joints: Sequence[BaseJoint],
    shape: tuple[int, ...],
) -> dict[tuple[int, int], Floats]:  # fmt: skip
    """For each schedule of the elements that depends on a field the matrix of its knots; empty
    where the field admits no such schedule."""
    basis = np.eye(3) if shape else np.ones(1)
    try:
        zero, *columns = (
            _knots(force, field, interpolation, joints, value)
            for value in (np.zeros(shape), *basis)
        )
    except (PartError, TypeError, ValueError):
        return {}
    maps = {
        slot: np.array([one.get(slot, zero[slot]) - zero[slot] for one in columns]).T
        for slot in zero
    }
    return {slot: matrix for slot, matrix in maps.items() if matrix.any()}


def _knots(
    force: Force, field: str, interpolation: Interpolation, joints: Sequence[BaseJoint],
    value: Floats,
) -> dict[tuple[int, int], Floats]:  # fmt: skip
    """The knots of the schedules of the elements for a constant value of a field."""
    count = KNOTS[interpolation]
    same = Schedule(tuple(range(count)), [value.tolist()] * count, interpolation)
    driven: dict[str, Any] = {field: same}
    part = dataclasses.replace(force, **driven)
    return {
        (k, j): np.array(one.values[0] if not one.scalar else (one.values[0], 0.0, 0.0))
        for k, element in enumerate(part.elements_among(joints))
        for j, one in enumerate(element.schedules)
        if isinstance(one, Schedule)
    }


def renew_drives(
    drives: Sequence[Sequence[Drive]], forces: Sequence[Force], joints: Sequence[BaseJoint]
) -> tuple[tuple[Drive, ...], ...]:
    """The drives of each controller after a change of the numbers of forces, on which the
    conversion of commands to knots depends."""
    force_of = {force.name: force for force in forces}
    return tuple(
        tuple(renew_drive(drive, force_of[drive.force], joints) for drive in some)
        for some in drives
    )


def renew_drive(drive: Drive, force: Force, joints: Sequence[BaseJoint]) -> Drive:
    """A drive of a force after a change of its numbers."""
    found = find_drive(force, drive.field, drive.interpolation, joints)
    assert found is not None
    assert found.slots == drive.slots
    return drive._replace(matrices=found.matrices)


# --- what is refused ------------------------------------------------------------------------------
def drives_of(force: Force, joints: Sequence[BaseJoint]) -> Iterator[str]:
    """The names of the drives of a force."""
    if isinstance(force, ReactionWheel):
        yield f"{force.name}.torque"
    for field in dataclasses.fields(force):
        if find_drive(force, field.name, "linear", joints):
            yield f"{force.name}.{field.name}"


def _unknown(
    name: str, owner: str, forces: Mapping[str, Force], joints: Sequence[BaseJoint]
) -> str:
    """The error about a drive of an unknown force."""
    for joint in joints:
        if joint.name == owner:
            return (
                f"it drives {name!r}, but {owner!r} is a joint; give it a motor, "
                f"qp.Motor('motor', {owner}), and drive 'motor.torque' or 'motor.force'."
            )
    known = ", ".join(sorted(forces)) or "none"
    return f"it drives {name!r}, but no force is called {owner!r}; the forces here are: {known}."


def _undrivable(
    controller: Controller, force: Force, name: str, field: str, joints: Sequence[BaseJoint]
) -> str:
    """The error about an unknown drive of a force."""
    if controller.hold == "zero" and find_drive(force, field, "linear", joints):
        return f"{name!r} must not jump; give hold='first'."
    known = ", ".join(map(repr, drives_of(force, joints)))
    way = f"of {force.name!r} it can drive {known}" if known else f"{force.name!r} has no drives"
    return f"it drives {name!r}, which is nothing that changes with time; {way}."
