"""The functions that a run watches, for requested events and active stops, as lines of the kernels'
table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import NamedTuple, TypeAlias

import numpy as np

from quirkpy.kernels.act.measures import SITE_NUMBER, STATE_NUMBER
from quirkpy.kernels.base.states import zero_rows
from quirkpy.kernels.step.watch import (
    ENERGY,
    MEASURE,
    MEETING,
    PYTHON,
    REST,
    ROPE,
    STOP,
    VALUES_WIDTH,
    WHAT_WIDTH,
    Watch,
)
from quirkpy.kernels.tree.stops import STOP_JOINT
from quirkpy.maths.warnings import doubt_degrees
from quirkpy.mechanics.clusters import Entry
from quirkpy.mechanics.engine import Layout
from quirkpy.mechanics.measures import (
    NO_MEASURES,
    Line,
    Measure,
    has_part_acting,
    kernel_measures,
    measure_of,
    value_at,
)
from quirkpy.mechanics.state import State
from quirkpy.parts.checks import number
from quirkpy.parts.event import AtRest, EnergyBelow, Event, SensorsMeet, Threshold, When
from quirkpy.parts.part import PartError
from quirkpy.tables import Selection

#: Directions of crossings, as numbers for kernels.
DIRECTIONS = {"falling": -1, "rising": 1, "both": 0}
#: The name of the `When` that is being evaluated, or None: its function may start other runs.
ASKING: ContextVar[str | None] = ContextVar("the When that is asked", default=None)


class StopReached(NamedTuple):
    """A joint at its stop, or leaving it."""

    name: str
    joint: str
    terminal: bool = False


class RopeTurned(NamedTuple):
    """A rope or string that becomes taut or slack, or yields."""

    name: str
    terminal: bool = False


#: Key of a watched function: the number of its event in a run, and the sensors, if it concerns a
#: pair.
WatchedKey: TypeAlias = tuple[int, tuple[str, ...]]


class Watched(NamedTuple):
    """A watched function: its event, its line in the kernels' table, its sensors, and the
    quantities that compiled code measures for it."""

    event: Event | StopReached | RopeTurned
    line: tuple[int, int, int, int, int]
    numbers: tuple[float, float, float]
    sensors: tuple[str, ...] = ()
    measure: Line | None = None


def watched_function(
    event: Event, kind: int, numbers: tuple[float, float, float], direction: int = -1,
    sites: tuple[int, int] = (0, 0), sensors: tuple[str, ...] = (),
) -> Watched:  # fmt: skip
    """One line of the kernels' table."""
    return Watched(event, (kind, *sites, direction, int(event.terminal)), numbers, sensors)


def watched_in(
    entry: Entry, selection: Selection, events: Sequence[Event], lengths: Mapping[int, float]
) -> list[Watched]:
    """All functions that a run watches: for its events, and for the active stops and ropes;
    lengths: of elements whose rest lengths are kept one more than their fields."""
    own = [*watched_stops(entry.layout), *watched_ropes(entry.layout, lengths)]
    return [*watched_functions(entry, selection, events), *own]


def watched_functions(entry: Entry, selection: Selection, events: Sequence[Event]) -> list[Watched]:
    """The functions for the events of a run, in their order; mass and energy include bodies
    attached to the ground."""
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
            direction = DIRECTIONS[event.direction]
            out.append(watched_function(event, PYTHON, (0.0, 0.0, 0.0), direction))
        elif isinstance(event, Threshold):
            out.append(watched_crossing(entry, selection, event, measured_lines(out)))
        else:
            raise PartError(
                f"simulate: {event!r} in stop= is no event; give AtRest, EnergyBelow, "
                "SensorsMeet, When or Threshold."
            )
    return out


def watched_keys(watched: Sequence[Watched], events: Sequence[Event]) -> dict[WatchedKey, int]:
    """The line of each function watched for the events of a run."""
    numbers = {id(event): k for k, event in enumerate(events)}
    return {
        (numbers[id(w.event)], w.sensors): line
        for line, w in enumerate(watched)
        if id(w.event) in numbers
    }


def measured_lines(watched: Sequence[Watched]) -> list[Line]:
    """The quantities that compiled code measures for watched functions, in their order in the
    table."""
    return [w.measure for w in watched if w.measure is not None]


def watched_crossing(
    entry: Entry, selection: Selection, event: Threshold, before: Sequence[Line]
) -> Watched:
    """The function for a measured number; if bodies are merged, only coordinates and quantities
    between two sites are compiled."""
    measure, direction = number_measured(selection, event), DIRECTIONS[event.direction]
    if measure.unit == "rad":
        doubt_degrees(f"{type(event).__name__} {event.name!r}: level", event.level)
    line = measure.lines[0] if measure.lines else None
    apart = entry.merger is None or (
        line is not None and line[0] not in (STATE_NUMBER, SITE_NUMBER)
    )
    acts = not measure.acts or has_part_acting(selection, event.measure)
    if line is None or not apart or not acts:
        return watched_function(event, PYTHON, (0.0, 0.0, 0.0), direction)
    made = watched_function(event, MEASURE, (event.level, 0.0, 0.0), direction, (len(before), 0))
    return made._replace(measure=line)


def number_measured(selection: Selection, event: Threshold) -> Measure:
    """The measure of an event; an error unless it is a single number."""
    who = f"{type(event).__name__} {event.name!r}"
    found = measure_of(who, selection.tables, event.measure)
    if found.parts:
        raise PartError(
            f"{who}: {event.measure!r} has several numbers; name one of them, such as "
            f"{event.measure + '.' + found.parts[0]!r}."
        )
    return found


def watch_of(layout: Layout, watched: Sequence[Watched]) -> Watch:
    """Watched functions in the form of the kernels."""
    if not watched:
        return NOTHING_WATCHED
    lines, numbers = [w.line for w in watched], [w.numbers for w in watched]
    return Watch(
        np.array(lines, dtype=np.int64), np.array(numbers), np.zeros((len(watched), VALUES_WIDTH)),
        zero_rows(layout.states.line_rows),
        kernel_measures(layout.selection.tables, measured_lines(watched)),
    )  # fmt: skip


#: The table of all runs that watch nothing.
NOTHING_WATCHED = Watch(
    np.zeros((0, WHAT_WIDTH), dtype=np.int64), np.zeros((0, 3)), np.zeros((0, VALUES_WIDTH)),
    zero_rows(0), NO_MEASURES,
)  # fmt: skip


def ask_measure(event: Threshold, selection: Selection, state: State) -> float:
    """A measured number minus its level, computed in Python."""
    at = state.instant(selection)
    return float(value_at(number_measured(selection, event), at)) - event.level


def watched_stops(layout: Layout) -> list[Watched]:
    """A function for each bound of the active stops; reaching it ends no run."""
    joints = layout.selection.tables.joint_names
    out = []
    for k, label in enumerate(layout.labels):
        event = StopReached(label.rsplit(" ", 1)[0], joints[layout.stops.what[k, STOP_JOINT]])
        out.append(Watched(event, (STOP, k, 0, -1, 0), (0.0, 0.0, 0.0)))
    return out


def watched_ropes(layout: Layout, lengths: Mapping[int, float]) -> list[Watched]:
    """A function for each active rope; its force changes where the function crosses zero."""
    t = layout.selection.tables
    return [
        Watched(
            RopeTurned(t.force_names[t.element_force[e]]),
            (ROPE, e, 0, -1, 0),
            (lengths.get(e, 0.0), 0.0, 0.0),
        )
        for e in layout.ropes
    ]


def meetings(selection: Selection, event: SensorsMeet) -> list[Watched]:
    """A function for each pair of compatible sensors."""
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
        raise event.refuse(f"its function at t = {state.t} {error}.", code="yours") from None


def way_back() -> str:
    """Advice for a start beyond a stop; a `When` may be evaluated at unphysical states."""
    asked = ASKING.get()
    if asked is None:
        return "start within the bounds, or leave the stop out"
    return (
        f"When {asked!r} is asked within steps, where a joint may be a little beyond a stop that "
        "it is about to reach: leave the stop out of the run within its function, or begin that "
        "run from a row of this one"
    )
