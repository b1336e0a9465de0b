"""What a run watches: the events that it is asked for and the stops that act, as lines of the
kernels' table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from quirkpy.kernels.step.watch import ENERGY, MEETING, PYTHON, REST, STOP
from quirkpy.kernels.tree.stops import STOP_JOINT
from quirkpy.maths.types import Floats
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.engine import Layout
from quirkpy.mechanics.state import State
from quirkpy.parts.checks import number
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, When
from quirkpy.parts.part import PartError
from quirkpy.tables import Selection

#: The name of the `When` that is being asked, or none: its function may begin runs of its own.
ASKING: ContextVar[str | None] = ContextVar("the When that is asked", default=None)


class StopReached(NamedTuple):
    """A joint at its stop, or leaving it."""

    name: str
    joint: str
    terminal: bool = False


class Watched(NamedTuple):
    """One watched function: the event that it belongs to, its line in the kernels' table, its
    sensors."""

    event: Event | StopReached
    line: tuple[int, int, int, int, int]
    numbers: tuple[float, float, float]
    sensors: tuple[str, ...] = ()


def watched_function(
    event: Event, kind: int, numbers: tuple[float, float, float], direction: int = -1,
    sites: tuple[int, int] = (0, 0), sensors: tuple[str, ...] = (),
) -> Watched:  # fmt: skip
    """One line of the kernels' table."""
    return Watched(event, (kind, *sites, direction, int(event.terminal)), numbers, sensors)


def watched_functions(entry: Entry, events: Sequence[Event]) -> list[Watched]:
    """What the events of a run ask for, in their order; mass and energy of bodies that stand on the
    ground count."""
    if not isinstance(events, (list, tuple)):
        raise PartError(
            f"simulate: stop is {events!r}, but must be a list of events, such as [qp.AtRest()]."
        )
    out = []
    for event in events:
        if isinstance(event, AtRest):
            share = math.sqrt(entry.mass_ratio)
            out.append(
                watched_function(
                    event, REST, (event.speed * share, event.acceleration * share, 0.0)
                )
            )
        elif isinstance(event, EnergyBelow):
            out.append(
                watched_function(event, ENERGY, (event.energy - entry.standing_energy, 0.0, 0.0))
            )
        elif isinstance(event, SensorsMeet):
            out += meetings(entry.layout.selection, event)
        elif isinstance(event, When):
            direction = {"falling": -1, "rising": 1, "both": 0}[event.direction]
            out.append(watched_function(event, PYTHON, (0.0, 0.0, 0.0), direction))
        else:
            raise PartError(
                f"simulate: {event!r} in stop= is no event; give AtRest, EnergyBelow, SensorsMeet "
                "or When."
            )
    return out


def watched_stops(layout: Layout) -> list[Watched]:
    """One function for each bound of the stops that act; reaching it ends no run."""
    joints = layout.selection.tables.joint_names
    out = []
    for k, label in enumerate(layout.labels):
        event = StopReached(label.rsplit(" ", 1)[0], joints[layout.stops.what[k, STOP_JOINT]])
        out.append(Watched(event, (STOP, k, 0, -1, 0), (0.0, 0.0, 0.0)))
    return out


def meetings(selection: Selection, event: SensorsMeet) -> list[Watched]:
    """One function for each pair of sensors that may notice each other."""
    t = selection.tables
    names, sites = [sensor.name for sensor in t.sensors], t.sensor_site.tolist()
    body = t.site_body[t.sensor_site]
    later, sooner = np.nonzero(np.tril(t.sensor_accepts & (body != body[:, None])))
    ranges = (
        (np.minimum, t.sensor_reach),
        (np.minimum, t.sensor_alignment),
        (np.maximum, t.sensor_roll),
    )
    numbers = np.stack([least(array[sooner], array[later]) for least, array in ranges], axis=1)
    terminal = int(event.terminal)
    return [
        Watched(event, (MEETING, sites[j], sites[i], -1, terminal), (a, b, c), (names[j], names[i]))
        for i, j, (a, b, c) in zip(later.tolist(), sooner.tolist(), numbers.tolist(), strict=True)
    ]


def knots_of(selection: Selection) -> Floats:
    """Times at which schedules of what acts have knots [s], rising; after the last nothing drives
    any more."""
    tables = selection.tables
    if not len(tables.schedule_kind):
        return np.zeros(0)
    acting = np.concatenate(
        [tables.element_schedule[selection.elements].ravel(), tables.row_schedule[selection.rows]]
    )
    ranges = [slice(*tables.schedule_knot[s : s + 2]) for s in acting[acting >= 0]]
    return (
        np.unique(np.concatenate([tables.knot_time[knots] for knots in ranges]))
        if ranges
        else np.zeros(0)
    )


def ask(event: When, state: State) -> float:
    """The value of a user's event function."""
    token = ASKING.set(event.name)
    try:
        value = event.function(state)
    except Exception as error:
        error.add_note(f"in the function of When {event.name!r}")
        raise
    finally:
        ASKING.reset(token)
    try:
        return number(value)
    except (TypeError, ValueError) as error:
        raise event.refuse(f"its function at t = {state.t} {error}.") from None


def way_back() -> str:
    """What to do about a start beyond a stop; a `When` is asked about states that are none."""
    asked = ASKING.get()
    if asked is None:
        return "start within the bounds, or leave the stop out"
    return (
        f"When {asked!r} is asked within steps, where a joint may be a little beyond a stop that "
        "it is about to reach: leave the stop out of the run within its function, or begin that "
        "run from a row of this one"
    )
