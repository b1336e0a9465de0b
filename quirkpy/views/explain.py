"""A system in words."""

from __future__ import annotations

from quirkpy.multibody import Multibody
from quirkpy.parts.body import Body
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.state import State


def text(system: Multibody, state: State | None = None) -> str:
    """Bodies, joints, forces and mobility, a line each."""
    bodies = [p for p in system.parts if isinstance(p, Body)]
    joints = [p for p in system.parts if isinstance(p, BaseJoint)]
    forces = [p for p in system.parts if isinstance(p, Force)]
    mobility = system.mobility(state)
    lines = [
        f"{_count(len(system.bodies), 'moving body', 'moving bodies')}, "
        f"{_count(len(joints), 'joint')}, {_count(len(forces), 'force')}"
    ]
    lines += [f"  body   {_body(body)}" for body in bodies]
    lines += [f"  joint  {_joint(joint)}" for joint in joints]
    lines += [f"  later  {_joint(p) if isinstance(p, BaseJoint) else repr(p)}" for p in system.candidates]
    lines += [f"  force  {force!r}" for force in forces]
    freedoms = _count(mobility.degrees_of_freedom, "degree of freedom", "degrees of freedom")
    lines.append(
        f"{freedoms}: 6 x {len(system.bodies)} less {mobility.rank} independent of {mobility.rows} constraint rows"
    )
    if mobility.redundant:
        lines.append(f"redundant here (accelerations are unique all the same): {', '.join(mobility.redundant)}")
    energy = system.energy(state)
    lines.append(f"energy: kinetic {energy.kinetic:.6g} J, potential {energy.potential:.6g} J")
    return "\n".join(lines)


def _body(body: Body) -> str:
    mass = "fixed" if body.fixed else f"{body.mass:.6g} kg"
    return f"{body.name}: {mass}, {body.shape!r}" if body.shape else f"{body.name}: {mass}"


def _joint(joint: BaseJoint) -> str:
    one, two = joint.bodies
    return f"{joint.name}: {type(joint).__name__} between {one.name} and {two.name}"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
