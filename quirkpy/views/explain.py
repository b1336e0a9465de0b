"""A system in words, and the reason why it is at rest."""

from __future__ import annotations

from typing import NamedTuple

from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.parts.body import Body
from quirkpy.parts.checks import how_many
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.rest.wording import different
from quirkpy.views.curves import SHOWN_ROUNDING


def text(system: System, state: State | None = None) -> str:
    """Bodies, joints, forces and mobility, a line each."""
    lines = [*part_lines(system), *mobility_lines(system, state)]
    energy = system.energy(state)
    lines.append(f"energy: kinetic {energy.kinetic:.6g} J, potential {energy.potential:.6g} J")
    return "\n".join(lines)


def part_lines(system: System) -> list[str]:
    """The number of parts, and a line for each."""
    bodies = [p for p in system.parts if isinstance(p, Body)]
    joints = [p for p in system.parts if isinstance(p, BaseJoint)]
    forces = [p for p in system.parts if isinstance(p, Force)]
    lines = [
        f"{how_many(len(system.bodies), 'moving body', 'moving bodies')}, "
        f"{how_many(len(joints), 'joint')}, {how_many(len(forces), 'force')}"
    ]
    lines += [f"  body   {_body(body)}" for body in bodies]
    lines += [f"  joint  {_joint(joint)}" for joint in joints]
    lines += [
        f"  later  {_joint(p) if isinstance(p, BaseJoint) else repr(p)}" for p in system.candidates
    ]
    return lines + [f"  force  {force!r}" for force in forces]


def mobility_lines(system: System, state: State | None) -> list[str]:
    """The number of freedoms of a system, and redundant constraints."""
    mobility = system.mobility(state)
    freedoms = how_many(mobility.degrees_of_freedom, "degree of freedom", "degrees of freedom")
    lines = [
        f"{freedoms}: 6 x {len(system.bodies)} less {mobility.rank} independent of {mobility.rows} "
        "constraint rows"
    ]
    if mobility.redundant:
        lines.append(
            "redundant here (accelerations are unique all the same): "
            f"{', '.join(mobility.redundant)}"
        )
    return lines


def rest(e: Equilibrium) -> str:
    """The reason why a system is at rest: verdict, motions, and the forces on each body."""
    lines = [f"{e.verdict}: {e.reason}", f"t = {e.state.t:.6g} s, energy {e.energy:.6g} J"]
    if e.nudge is not None:
        way = "blocked by a stop" if e.nudge.blocked else "left"
        lines.append(
            f"the start was unstable, {way}: nudged by {e.nudge.size:.3g} (seed {e.nudge.seed})"
        )
    lines += motion_lines(e)
    if e.system is not None and e.verdict != "never settles":
        lines += force_table(e)
    return "\n".join(lines)


def motion_lines(e: Equilibrium) -> list[str]:
    """The motions around a state of rest, neutral ones last."""
    lines, told = [], different([m.words for m in (*e.modes, *e.neutral)])
    if e.modes:
        lines.append(f"{'motion':40} {'rad/s':>12} {'period [s]':>12} {'damping':>9}")
        lines += [
            f"  {words:38} {m.frequency:12.6g} {m.period:12.6g} {m.damping:9.3g}"
            for m, words in zip(e.modes, told, strict=False)
        ]
    return lines + [f"  {words:38} {'free':>12}" for words in told[len(e.modes) :]]


def force_table(e: Equilibrium) -> list[str]:
    """The table of forces on each body, with its head."""
    head = (
        f"{'on':12} {'from':20} {'force in N [N]':^38} {'torque about its mass centre [N m]':^38}"
    )
    rows = force_lines(e)
    nothing = SHOWN_ROUNDING * max((abs(x) for row in rows for x in row.load), default=0.0)
    return [head, *(_wrench(row, nothing) for row in rows)]


class ForceLine(NamedTuple):
    """A line of the table of forces: the body, the source, force and torque about its mass centre,
    in N [N], [N m] (6,), and a note."""

    body: str
    source: str
    load: tuple[float, ...]
    note: str


def force_lines(e: Equilibrium) -> list[ForceLine]:
    """The loads of forces, joints and stops on the bodies of a state of rest, about their mass
    centres."""
    notes = {}
    for name, load in e.reactions.items():
        press = f"  pressed with {load.press:.4g}" if load.press is not None else ""
        shared = "  (not unique)" if load.needed.any() else "  (not unique, and not needed)"
        notes[name] = ("" if load.unique else shared) + press
    return [
        ForceLine(body, p.source, (*p.force, *p.torque), notes.get(p.source, ""))
        for body, acting in e.balance.items()
        for p in acting
    ]


def _wrench(row: ForceLine, nothing: float) -> str:
    numbers = " ".join(f"{x if abs(x) > nothing else 0.0:12.5g}" for x in row.load)
    return f"{row.body:12} {row.source:20} {numbers}{row.note}"


def _body(body: Body) -> str:
    mass = "fixed" if body.fixed else f"{body.mass:.6g} kg"
    words = [mass, *([repr(body.shape)] if body.shape else []), *_modes(body)]
    return f"{body.name}: {', '.join(words)}"


def _modes(body: Body) -> list[str]:
    """In how many modes a body bends, and the lowest of them."""
    if body.modal is None or not body.modal.count:
        return []
    lowest, count = body.modal.frequencies.min(), body.modal.count
    return [f"{count} mode{'s' * (count > 1)} from {lowest:.4g} rad/s"]


def _joint(joint: BaseJoint) -> str:
    one, two = joint.bodies
    return f"{joint.name}: {type(joint).__name__} between {one.name} and {two.name}"
