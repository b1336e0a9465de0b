"""Values of watched functions just before a run begins, so that events at its start are
recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quirkpy.kernels.step.sampling import DUE, NOTHING_DUE
from quirkpy.kernels.step.watch import BEFORE, KIND, PYTHON, REST, VALUE
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.state import State
from quirkpy.motion.driver import Driver
from quirkpy.motion.events import WatchedKey, watched_keys
from quirkpy.motion.settings import Settings
from quirkpy.parts.event import Event


def watched_values(
    clusters: Clusters, state: State, events: Sequence[Event]
) -> dict[WatchedKey, float]:
    """The values of watched functions at a state, before joints act on it."""
    apart = Clusters(clusters.selection, clusters.layout)
    driver = Driver(apart, state, 1.0, events, Settings(drift="none"))
    driver.make_room(1)
    if driver.controls.loops:  # commands are computed later
        driver.controls.board.desk[DUE] = NOTHING_DUE
    with driver.at_work() as e:
        if PYTHON in driver.kinds:
            e.python.open()
        e.turn_to(state.angles)
        e.hold(state.held)
        driver.first_steps(1)
        e.python.raise_pending()
    lines = watched_keys(driver.watched, events)
    return {key: float(driver.watch.values[line, VALUE]) for key, line in lines.items()}


def begin_after(
    driver: Driver, events: Sequence[Event], values: Mapping[WatchedKey, float]
) -> None:
    """Record the events that occur at the start of a run, given the values of watched functions
    just before. The event of rest is evaluated at the start itself."""
    for key, line in watched_keys(driver.watched, events).items():
        if driver.watch.what[line, KIND] != REST:
            driver.watch.values[line, BEFORE] = values.get(key, 0.0)
