"""`move`: the simulation of a system for a time, as a `Trajectory`; every run of the package uses
it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from quirkpy import doors
from quirkpy.mechanics.system import System
from quirkpy.motion.beforehand import begin_after, watched_values
from quirkpy.motion.controllers import with_commands
from quirkpy.motion.departure import Leave
from quirkpy.motion.driver import Driver, Look
from quirkpy.motion.events import WatchedKey
from quirkpy.motion.settings import Settings, check_end, check_settings
from quirkpy.motion.stiff import driver_for
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.event import Event

#: A function called with the time that a run has reached; False: no output; None: a progress bar,
#: on a terminal.
Progress: TypeAlias = Callable[[float], None] | Literal[False] | None


def move(
    system: System, duration: float, settings: Settings, stop: Sequence[Event], progress: Progress,
    look: Look | None = None, leave: Leave | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate a system for `duration` [s]; look: called after each compiled call, ends the run if
    it returns a row; leave: chooses a branch where several meet at rest."""
    span, begun = check_settings(duration, settings), system.initial.t
    check_end(begun, span)
    with doors.progress.show_run(progress, begun, begun + span) as tell:
        driver = driver_for(settings)(system.clusters, system.initial, span, stop, settings)
        driver.look, driver.leave = look, leave
        if stop and driver.entry.drift.any():  # locks have become active
            before = watched_values(system.clusters, system.initial, stop)
            begin_after(driver, stop, before)
        return drive(driver, system, settings, tell)


def move_to(
    system: System, end: float, settings: Settings, stop: Sequence[Event],
    tell: Callable[[float], None] | None, before: Mapping[WatchedKey, float] | None = None,
    look: Look | None = None, leave: Leave | None = None,
) -> Trajectory:  # fmt: skip
    """Simulate a system until a time [s], exactly; tell: called with the time reached, now and
    then; before: the values of watched functions just before the start; look, leave: as for
    `move`."""
    start = system.initial
    driver = driver_for(settings)(system.clusters, start, end - start.t, stop, settings)
    driver.head_for(end)
    driver.look, driver.leave = look, leave
    if before is not None:
        begin_after(driver, stop, before)
    return drive(driver, system, settings, tell)


def drive(
    driver: Driver, system: System, settings: Settings, tell: Callable[[float], None] | None
) -> Trajectory:
    """The run of a driver; what it has computed is attached to any error."""
    try:
        course = driver.run(tell)
    except Exception as error:
        if hasattr(error, "course"):
            error.trajectory = Trajectory(  # type: ignore[attr-defined]
                with_commands(system, error.course), system.initial, settings, error.course
            )
        raise
    return Trajectory(with_commands(system, course), system.initial, settings, course)


def stand(system: System) -> Trajectory:
    """A run of zero length: the start, with the stops on which it presses."""
    settings = Settings(max_steps=1)
    driver = driver_for(settings)(system.clusters, system.initial, 0.0, (), settings)
    course = driver.stand()
    return Trajectory(with_commands(system, course), system.initial, settings, course)
