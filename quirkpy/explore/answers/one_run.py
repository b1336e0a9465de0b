"""`OneRun`: a plan that has been flown, as the switches of one run."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from quirkpy.explore.answers.replay import Leg, Replay
from quirkpy.explore.scope.scope import Scope
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.course import Stop
from quirkpy.motion.switching import force_names
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.event import SensorsMeet
from quirkpy.parts.part import PartError
from quirkpy.parts.switch import Settled, Switch
from quirkpy.rest.lasting import displace
from quirkpy.rest.wells import well_around
from quirkpy.system.multibody import Multibody

#: What takes hold may move bodies so many times as far as it did, and by this much more [m], [rad].
AS_FAR, AND_MORE = 2.0, 1e-3
#: How long the run goes on, in durations of the flight, and this much more [s]: that a motion has
#: come to rest shows only some steps later.
AS_LONG, AFTER = 2.0, 1.0
#: A displacement is the one that was flown if they differ by no more than this share of it.
SAME_WAY = 0.1


class OneRun(NamedTuple):
    """A flown plan as one run: ``one.system.simulate(one.duration, switches=one.switches,
    **one.tolerances)``.

    system: the start, with all joints and forces that act on the way. switches: the selection of
    each step, made where the step before has settled; what locks where sensors meet; and the nudges
    by which unstable rests are left; the last, "arrived", changes nothing. duration [s]: more than
    twice that of the flight, so that its last rest is certain to show. tolerances: rtol and atol of
    the study, with which the plan was flown."""

    system: Multibody
    switches: tuple[Switch, ...]
    duration: float
    tolerances: dict[str, float]


class Succession(NamedTuple):
    """From one piece of a flight to the next; rests: whether the first has come to rest, or else
    sensors have met; nudged: whether the second begins beside an unstable rest."""

    one: Trajectory
    two: Trajectory
    rests: bool
    nudged: bool


def one_run(study: Scope, flown: Replay) -> OneRun:
    """A replay of a plan of a study as one run."""
    successions = list(_successions(flown.legs))
    systems = [flown.legs[0].runs[0].system, *(succession.two.system for succession in successions)]
    craft = _craft(systems)
    switches = [_switch(study, craft, one, k) for k, one in enumerate(successions, 1)]
    last = systems[-1]
    end = Switch(
        Settled(rest=study.settle.rest), joints=last.selection.joint_names,
        forces=force_names(last), name="arrived",
    )  # fmt: skip
    tolerances = {"rtol": study.settle.rtol, "atol": study.settle.atol}
    return OneRun(craft, (*switches, end), AS_LONG * float(flown.t[-1]) + AFTER, tolerances)


def _successions(legs: Sequence[Leg]) -> Iterator[Succession]:
    """All successions of a flight."""
    pieces = [(leg, run) for leg in legs for run in _motions(leg)]
    for (before, one), (leg, two) in itertools.pairwise(pieces):
        rests = leg is not before or one.stop is not Stop.EVENT
        yield Succession(one, two, rests, rests and any(at.t == two.t[0] for at in leg.leavings))


def _motions(leg: Leg) -> tuple[Trajectory, ...]:
    """The pieces of a leg; without the final rest, unless what has locked last begins with it."""
    return leg.runs if leg.runs[-2].stop is Stop.EVENT else leg.runs[:-1]


def _switch(study: Scope, craft: Multibody, succession: Succession, number: int) -> Switch:
    """The switch of a succession."""
    last, first, after = succession.one.final, succession.two.start, succession.two.system
    when: Any = SensorsMeet(name=f"meeting {number}")
    moved = max(float(abs(getattr(last, x) - getattr(first, x)).max(initial=0.0)) for x in "rq")
    made = Switch(
        Settled(rest=study.settle.rest) if succession.rests else when,
        joints=after.selection.joint_names, forces=force_names(after),
        reach=min(math.pi, AS_FAR * 2.0 * moved + AND_MORE), name=f"switch {number}",
    )  # fmt: skip
    if not succession.nudged:
        return made
    return dataclasses.replace(made, nudge=_nudge(craft, made, first, study.nudge))


def _nudge(craft: Multibody, switch: Switch, first: State, size: float) -> float:
    """The displacement along the most unstable mode that leads to the first state of a piece."""
    begun = craft.choosing(switch.joints or (), switch.forces or ()).at(first)
    well = well_around(begun, begun.initial)
    rest = None if well is None else begun.at(well.found.state)
    for way in (size, -size):
        there = None if rest is None else displace(rest, way)
        if there is not None and _distance(there, first) <= SAME_WAY * size:
            return way
    raise PartError(
        f"one_run: at t = {first.t:.6g} s of its step the plan leaves an unstable rest otherwise "
        "than along its most unstable mode, as a switch does; take a plan without such a step.",
        code="answer",
    )


def _distance(one: State, two: State) -> float:
    """How far two nearly equal states are apart [m], [rad]."""
    turns = abs(abs((one.q * two.q).sum(axis=1)) - 1.0)
    return max(float(abs(one.r - two.r).max()), float(2.0 * np.sqrt(2.0 * turns).max()))


def _craft(systems: Sequence[System]) -> Multibody:
    """The first of some systems, with what the others have besides as candidates."""
    first: Any = systems[0]
    known: dict[str, Any] = {part.name: part for part in first.parts}
    for part in (part for system in systems[1:] for part in system.parts):
        name = str(getattr(part, "name", ""))
        if known.setdefault(name, part) != part:
            raise PartError(
                f"one_run: {name!r} is made anew on the way, as it takes hold, and so is no single "
                "part of one system; take a plan on which it holds once.",
                code="answer",
            )
    later = [part for part in known.values() if part not in first.parts]
    return Multibody(*first.parts, candidates=later, start=first.initial)
