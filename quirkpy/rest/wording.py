"""Motions around a state of rest in words: which joints or bodies move, about or along which axis,
and which of them against the others."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.base.states import angular_of, halves_of, linear_of, zero_vectors
from quirkpy.kernels.users.modal import points_of, states_of
from quirkpy.maths import quat
from quirkpy.maths.types import Floats
from quirkpy.mechanics.state import State
from quirkpy.parts.joint import BaseJoint
from quirkpy.tables.tables import Tables

#: What moves by less than this share of what moves most takes no part in a motion [1].
SMALL_SHARE = 0.05
#: A direction has the name of an axis of N if no more than this is across [1].
OFF_AXIS = 0.05
#: Directions whose cosine is below this are across each other [1].
CROSSWISE = 0.1
#: Of two bodies at a joint the first is named first if it is faster by this factor [1].
AHEAD = 1.001
#: Largest number of names in a list.
MOST_NAMES = 4
AXES = "xyz"


class Participant(NamedTuple):
    """A body or a joint that takes part in a motion: its name; whether it turns, or moves along a
    line; the direction in which it does, in N (3,); its rate [rad/s] or [m/s]."""

    name: str
    turns: bool
    direction: Floats
    rate: float


def words_of(shape: Floats, bending: Floats, state: State) -> str:
    """A motion by the velocities of all bodies along it, in N and body axes (n, 6), and the rates
    of all modes (m,): told by its joints where these move, otherwise by its bodies; and by what
    bends."""
    state = dataclasses.replace(
        state, v=linear_of(shape.real).copy(), omega=angular_of(shape.real).copy(), step=None
    )
    bent, chosen = list[str](), state.selection
    if bending.size and chosen is not None:
        further, bent = state.further.copy(), bending_in(chosen.tables, bending)
        states_of(chosen.tables).speeds_in(further)[:] = bending.real
        state = state.changed(further=further)
    speeds = dict(zip(state.bodies, in_n(shape.real, state), strict=True))
    moving = joints_in(state, speeds)
    if len(moving) == 1:
        return "; ".join([of_one_joint(moving[0], state, speeds), *bent])
    said = of_joints(moving) if moving else of_bodies(bodies_in(speeds, least=bool(bent)))
    return "; ".join([*([said] if said else []), *bent])


def bending_in(tables: Tables, bending: Floats) -> list[str]:
    """Which bodies bend, and in which of their modes."""
    layout, found = states_of(tables), dict[str, list[str]]()
    roots = points_of(tables).roots
    for k, name in enumerate(tables.body_names):
        mine = slice(*layout.coordinates[k : k + 2].tolist())
        sizes = abs(bending[mine]) / roots[mine]
        if np.linalg.norm(sizes) > SMALL_SHARE:
            which = np.flatnonzero(sizes > SMALL_SHARE * sizes.max()).tolist()
            modes = f"mode{'s' if len(which) > 1 else ''} {in_words(map(str, which))}"
            found.setdefault(modes, []).append(name)
    return [
        f"{in_words(names)} bend{'' if len(names) > 1 else 's'} in {modes}"
        for modes, names in found.items()
    ]


def different(words: Sequence[str]) -> list[str]:
    """Descriptions, those that occur several times with numbers behind them."""
    often, seen, out = Counter(words), Counter[str](), []
    for said in words:
        seen[said] += 1
        out.append(f"{said} ({seen[said]})" if often[said] > 1 else said)
    return out


def in_n(shape: Floats, state: State) -> Floats:
    """Velocities of bodies with both halves in N (n, 6)."""
    out = np.array(shape)
    for row, q in zip(out, state.q, strict=True):
        angular_of(row)[:] = quat.matrix(quat.from_array(q)) @ angular_of(row)
    return out


# --- by joints ------------------------------------------------------------------------------------
def joints_in(state: State, speeds: dict[str, Floats]) -> list[Participant]:
    """The joints that take part; none where some of them have several coordinates, or none."""
    chosen = state.selection
    active = () if chosen is None else (chosen.tables.joints[k] for k in chosen.joints)
    rates = {joint: state[joint.name].rate for joint in active}
    moving = {
        joint: float(np.max(np.abs(rate))) for joint, rate in rates.items() if rate is not None
    }
    least = SMALL_SHARE * max(1.0, *moving.values()) if moving else 0.0
    taking = [joint for joint, size in moving.items() if size > least]
    if not all(joint.coordinate for joint in taking):
        return []
    return [mover_of(joint, float(rates[joint]), speeds) for joint in taking]


def mover_of(joint: BaseJoint, rate: float, speeds: dict[str, Floats]) -> Participant:
    """A joint of one coordinate as it takes part."""
    turns = joint.coordinate == "angle"
    one, two = (half_of(body.name, turns, speeds) for body in joint.bodies)
    return Participant(joint.name, turns, two - one, rate)


def half_of(body: str, turns: bool, speeds: dict[str, Floats]) -> Floats:
    """How a body turns, or moves, in N (3,); zero for what is fixed."""
    row = speeds.get(body, zero_vectors(1)[0])
    return angular_of(row) if turns else linear_of(row)


def of_one_joint(mover: Participant, state: State, speeds: dict[str, Floats]) -> str:
    """A motion of one joint: the body that moves more, and the other one if it moves against it."""
    chosen = state.selection
    joint = next(j for j in (chosen.tables.joints if chosen else ()) if j.name == mover.name)
    halves = {body.name: half_of(body.name, mover.turns, speeds) for body in joint.bodies}
    sizes = {name: float(np.linalg.norm(half)) for name, half in halves.items()}
    one, two = (body.name for body in joint.bodies)
    body, other = (one, two) if sizes[one] > AHEAD * sizes[two] else (two, one)
    words = f"{body} {'turns about' if mover.turns else 'moves along'} {mover.name}"
    small = sizes[other] <= SMALL_SHARE * sizes[body]
    against = not small and halves[other] @ halves[body] < 0.0
    return f"{words}, against {other}" if against else words


def of_joints(movers: Sequence[Participant]) -> str:
    """A motion of several joints: which go one way, and which the other."""
    verbs = {True: "turns about", False: "moves along"}
    ways = [(verb, [m for m in movers if m.turns == turns]) for turns, verb in verbs.items()]
    return "; ".join(f"{verb} {both_ways(found)}" for verb, found in ways if found)


def both_ways(movers: Sequence[Participant]) -> str:
    """Names of what moves as the first does, and of what moves against it."""
    alike = [goes_with(movers[0], mover) for mover in movers]
    names = [in_words(m.name for m, with_ in zip(movers, alike) if with_ is way) for way in (1, 0)]
    return f"{names[0]}, against {names[1]}" if names[1] else names[0]


def goes_with(first: Participant, mover: Participant) -> int:
    """1 if something moves as the first does, 0 if against it; by rates where directions lie across
    each other."""
    along = float(first.direction @ mover.direction)
    sizes = np.linalg.norm(first.direction) * np.linalg.norm(mover.direction)
    return int((along if abs(along) > CROSSWISE * sizes else first.rate * mover.rate) >= 0.0)


# --- by bodies ------------------------------------------------------------------------------------
def bodies_in(speeds: dict[str, Floats], least: bool = False) -> list[Participant]:
    """The bodies that take part, each by the larger of its two halves; least: beside something else
    of size one."""
    sizes = {name: np.linalg.norm(halves_of(row), axis=1) for name, row in speeds.items()}
    largest = max((float(size.max()) for size in sizes.values()), default=0.0)
    largest = max(largest, 1.0) if least else largest
    return [
        Participant(name, turns, half_of(name, turns, speeds), float(max(size)))
        for name, size in sizes.items()
        for turns in [bool(size[1] >= size[0])]
        if max(size) > SMALL_SHARE * largest
    ]


def of_bodies(movers: Sequence[Participant]) -> str:
    """A motion of bodies: those about one axis together."""
    found: dict[str, list[Participant]] = {}
    for mover in movers:
        way = f"{'about' if mover.turns else 'along'} {axis_of(mover.direction)}"
        found.setdefault(way, []).append(mover)
    return "; ".join(of_one_way(way, alike) for way, alike in found.items())


def of_one_way(way: str, movers: Sequence[Participant]) -> str:
    """Bodies that move about, or along, one axis."""
    names, _, against = both_ways(movers).partition(", against ")
    verb = "turn" if movers[0].turns else "move"
    words = f"{names} {verb}{'' if ' and ' in names else 's'} {way}"
    return f"{words}, against {against}" if against else words


def axis_of(vector: Floats) -> str:
    """A direction in N by the name of its axis, or by its three numbers."""
    unit = vector / np.linalg.norm(vector)
    k = int(np.argmax(abs(unit)))
    if np.linalg.norm(np.delete(unit, k)) <= OFF_AXIS:
        return AXES[k]
    x, y, z = (unit * np.sign(unit[k])).round(2) + 0.0
    return f"({x:g}, {y:g}, {z:g})"


def in_words(names: Iterable[str]) -> str:
    """Names as a list in words; of many the first."""
    every = list(names)
    more = [f"{len(every) - MOST_NAMES + 1} more"] if len(every) > MOST_NAMES else []
    shown = every[: MOST_NAMES - 1] + more if more else every
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
