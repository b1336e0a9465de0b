"""What switches ask of rest: whether a run has settled, and the way out of an unstable one."""

from __future__ import annotations

from typing import Any

from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.driver import Driver
from quirkpy.motion.settings import Settings
from quirkpy.motion.switching import Rests
from quirkpy.parts.switch import Settled, Switch
from quirkpy.rest.equilibrium import Equilibrium
from quirkpy.rest.leaving import leave
from quirkpy.rest.rest_detector import Watcher
from quirkpy.rest.settle import beginning, displace_from, standing


class LastingRest:
    """A `Watcher` for a switch: an unstable equilibrium is no rest unless a nudge leaves it, and
    where a motion never settles, it waits on. state: the equilibrium, once there is one."""

    def __init__(self, system: System, switch: Switch, settings: Settings) -> None:
        assert isinstance(switch.when, Settled)
        start = beginning(system)
        stood = standing(start)
        self.watcher = Watcher(system, start.whole, switch.when.rest, settings.atol)
        self.nudged = switch.nudge != 0.0
        self.state = None if stood is None else self._lasting(stood[1])

    def __call__(self, driver: Driver, filled: int) -> tuple[Any, ...] | None:
        row = self.watcher(driver, filled)
        if row is None:
            return None
        self.state = self._lasting(self.watcher.found)
        self.watcher.found = self.watcher.never = None
        return None if self.state is None else row

    def _lasting(self, found: Equilibrium | None) -> State | None:
        """The state of an equilibrium that counts."""
        if found is None or (found.verdict == "unstable" and not self.nudged):
            return None
        return found.state


def displace(system: System, nudge: float) -> State | None:
    """The state next to an unstable equilibrium in which a system begins, displaced by a nudge [m
    or rad] along its most unstable mode; None where it begins in none, or a stop is in the way."""
    stood = standing(beginning(system))
    if stood is None or stood[1].verdict != "unstable":
        return None
    return displace_from(*stood, nudge)[1]


RESTS = Rests(LastingRest, displace, leave)
