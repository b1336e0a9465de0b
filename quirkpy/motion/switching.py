"""Runs with active parts that are switched on the way: at a time, or where an event is located."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from quirkpy import doors
from quirkpy.kernels.act.wrenches import LOST
from quirkpy.kernels.base.states import ledger_of
from quirkpy.kernels.step.integrator import START_TOLERANCE
from quirkpy.maths.types import Floats
from quirkpy.mechanics.analysis import Energy, energy, slipping
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.meeting import gaps
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.beforehand import watched_values
from quirkpy.motion.capture import catch
from quirkpy.motion.controllers import hold_commands
from quirkpy.motion.course import Course, Happening, Jump, Stop
from quirkpy.motion.departure import Leave
from quirkpy.motion.driver import TAKES, Driver
from quirkpy.motion.events import WatchedKey
from quirkpy.motion.joined import JoinedTrajectory, Pieces
from quirkpy.motion.move import Progress, move_to, stand
from quirkpy.motion.notes import TOOK_HOLD
from quirkpy.motion.settings import Settings, check_end, check_settings
from quirkpy.motion.trajectory import Trajectory
from quirkpy.parts.actuators import ReactionWheel
from quirkpy.parts.checks import show
from quirkpy.parts.event import Event
from quirkpy.parts.part import PartError
from quirkpy.parts.switch import Settled, Switch


class SwitchedTrajectory(JoinedTrajectory):
    """A run with switches: a `Trajectory` with the `switches` that have occurred, each of which
    begins another of its `pieces`.

    `events` names each switch and the energy lost as joints became active there, which is included
    in `lost`; `switched` is the change of energy caused by it otherwise: of potential energy, and
    of kinetic energy where it changes masses, at the velocities that the bodies have."""

    def __init__(
        self, pieces: Pieces, switchings: Sequence[float], switches: tuple[Switch, ...]
    ) -> None:
        super().__init__(pieces[0][1].system, pieces, switchings)
        self.switches = switches

    def over(self, change: Callable[[Trajectory], Trajectory]) -> Self:
        """A run with a function applied to each piece of this one."""
        pieces = tuple((begins, change(run)) for begins, run in self.pieces)
        return type(self)(pieces, self.switchings.tolist(), self.switches)


class Handover(NamedTuple):
    """The result of a switch: the system with its new selection, beginning in the state on its
    joints; the work of switching [J]; the energy lost as joints became active [J]; the event; the
    jump of velocities, if there was one."""

    system: System
    work: float
    lost: float
    events: tuple[Happening, ...]
    jumps: tuple[Jump, ...] = ()

    def note(self, course: Course) -> Course:
        """The course after the switch, with the energy lost and the event at its start."""
        states = course.states.copy()
        ledger_of(states)[:, LOST] += self.lost
        events, jumps = (*self.events, *course.events), (*self.jumps, *course.jumps)
        return course._replace(states=states, events=events, jumps=jumps)


def simulate_switching(
    system: System, duration: float, settings: Settings, stop: Sequence[Event],
    switches: Sequence[Switch], progress: Progress, rests: Rests,
) -> SwitchedTrajectory:  # fmt: skip
    """Simulate a system for `duration` [s], with switches on the way; rests: for those that begin
    at rest."""
    span, begun = check_settings(duration, settings), system.initial.t
    check_end(begun, span)
    check_switches(system, switches, stop, begun, begun + span)
    with doors.progress.show_run(progress, begun, begun + span) as tell:
        flight = Flight(system, begun + span, settings, tuple(stop), tuple(switches), rests)
        return flight.fly(tell)


class RestWatch(Protocol):
    """What looks at a run until it has settled. state: the equilibrium, None before; that of a
    start at rest is known at once."""

    state: State | None

    def __call__(self, driver: Driver, filled: int) -> tuple[Any, ...] | None: ...


class Rests(NamedTuple):
    """What switches ask the room of equilibria, which stands above this one.

    watch: looks at a run of a system, with its settings, for a switch that waits until it has
    settled; displace: the state next to an unstable equilibrium in which a system begins, at a
    distance [m or rad]; None if it begins in none. leave: as for `move`."""

    watch: Callable[[System, Switch, Settings], RestWatch]
    displace: Callable[[System, float], State | None]
    leave: Leave | None


class Flight:
    """A run with switches while it is computed."""

    def __init__(
        self, system: System, end: float, settings: Settings, stop: tuple[Event, ...],
        switches: tuple[Switch, ...], rests: Rests,
    ) -> None:  # fmt: skip
        self.system, self.end, self.settings = system, end, settings
        self.stop, self.switches, self.rests = stop, switches, rests
        self.rest: RestWatch | None = (
            None  # that of the last piece, if the next switch waits for one
        )
        self.handover = Handover(system, 0.0, 0.0, ())
        self.runs: list[Trajectory] = []
        self.works: list[float] = []

    def fly(self, tell: Callable[[float], None] | None) -> SwitchedTrajectory:
        """Simulate piece after piece, until the end; what is computed is attached to any error."""
        self.add_piece(tell)
        for switch in self.switches:
            if not self.has_come(switch):
                break
            self.handover = self._handed_over(switch)
            self.add_piece(tell)
        return self.joined()

    def add_piece(self, tell: Callable[[float], None] | None) -> None:
        """Simulate until the next switch, or the end."""
        try:
            self._keep(self._moved(tell))
        except Exception as error:
            if hasattr(error, "trajectory"):
                self._keep(error.trajectory)
                error.trajectory = self.joined()
            raise

    def _moved(self, tell: Callable[[float], None] | None) -> Trajectory:
        """The next piece."""
        system, until, events = self.handover.system, self.end, self.stop
        switch = self.switches[len(self.runs)] if len(self.runs) < len(self.switches) else None
        when = self.end if switch is None else switch.when
        if isinstance(when, Event):
            events = (*events, dataclasses.replace(when, terminal=True))
        elif not isinstance(when, Settled):
            until = min(until, when)
        self.rest, left = None, self._steps_left()
        if switch is not None and isinstance(when, Settled):
            self.rest = self.rests.watch(system, switch, self.settings)
        if system.initial.t >= until or left == 0 or self._rested() is not None:
            return stand(system)
        settings = dataclasses.replace(self.settings, max_steps=left)
        known = self._values_before(events), self.rest, self.rests.leave
        return move_to(system, until, settings, events, tell, *known)

    def _handed_over(self, switch: Switch) -> Handover:
        """The result of a switch, with its nudge."""
        made = take_hold(self.handover.system, self.runs[-1], switch, self._rested())
        state = self.rests.displace(made.system, switch.nudge) if switch.nudge else None
        if state is None:
            return made
        system = made.system.at(state)
        more = energy(system.instant()) - energy(made.system.instant())
        return made._replace(system=system, work=made.work + float(more))

    def _rested(self) -> State | None:
        """The equilibrium in which the last piece has settled."""
        return None if self.rest is None else self.rest.state

    def _values_before(self, events: Sequence[Event]) -> dict[WatchedKey, float] | None:
        """The values of watched functions at the end of the last piece; None before the first."""
        if not self.runs:
            return None
        last = self.runs[-1]
        return watched_values(last.system.clusters, last.final, events)

    def _steps_left(self) -> int | None:
        """The number of steps that may still be taken; None: any number."""
        most = self.settings.max_steps
        return None if most is None else most - sum(run.counts.steps for run in self.runs)

    def _keep(self, run: Trajectory) -> None:
        """Append a piece, with the change at its start."""
        course = self.handover.note(run.course)
        if self._steps_left() == 0 and run.counts.steps == 0:
            course = course._replace(stop=Stop.STEPS)
        self.runs.append(Trajectory(run.system, run.start, self.settings, course))
        self.works.append(self.handover.work)

    def has_come(self, switch: Switch) -> bool:
        """Whether the last piece has ended with a switch, and not with the run."""
        run, when = self.runs[-1], switch.when
        if isinstance(when, Settled):
            return self._rested() is not None
        if not isinstance(when, Event):
            return run.stop is Stop.END and float(run.t[-1]) >= when
        last = {event.name for event in run.events if event.t == run.t[-1]}
        over = {event.name for event in self.stop if event.terminal}
        return run.stop is Stop.EVENT and when.name in last and over.isdisjoint(last)

    def joined(self) -> SwitchedTrajectory:
        """The pieces so far as one run."""
        pieces = tuple((0.0, run) for run in self.runs)
        return SwitchedTrajectory(pieces, self.works, self.switches[: len(pieces) - 1])


# --- the switch -----------------------------------------------------------------------------------
def take_hold(
    system: System, run: Trajectory, switch: Switch, rest: State | None = None
) -> Handover:
    """A switch at the end of a run of a system: new joints become active, with momenta conserved.
    rest: the equilibrium in which the run has settled, from which on it goes."""
    new = apply_switch(system, switch)
    new = new.begun_in(run.final if rest is None else rest)
    state, held = new.initial, hold_commands(new)
    at = held.instant()
    check_reach(switch, at)
    before, caught = energy(at), catch(new.clusters, state)
    there, left = Energy(float(run.kinetic[-1]), float(run.potential[-1])), 0.0
    if rest is not None:
        there = energy(rest.instant(system.selection))
        left = float(run.energy[-1]) - there
    work = before.potential - there.potential
    if switch.parameters:
        work += before.kinetic - there.kinetic
    told = [Happening(state.t, switch.name, joints=name_changes(system, new))]
    told += tell_wheels(run.system, held)
    if caught.moved.max() <= START_TOLERANCE:
        return Handover(new.at(state), work, left, tuple(told))
    if caught.moved[0] > switch.reach:
        raise switch.refuse(
            f"at t = {state.t:.9g} s taking hold would move a body by {caught.moved[0]:.3g} m or "
            f"rad (reach {switch.reach:g}); {WAY_OUT}.",
            code="pose",
        )
    lost = before - energy(caught.state.instant(held.selection))
    if abs(lost) > TAKES * before.kinetic:
        told.append(Happening(state.t, TOOK_HOLD, joints=slipping(at), lost=lost))
    assert caught.jump is not None
    return Handover(new.at(caught.state), work, lost + left, tuple(told), (caught.jump,))


#: Advice where a switch is not possible.
WAY_OUT = "switch where the ends meet, or give the switch a larger reach"


def apply_switch(system: System, switch: Switch) -> System:
    """The system with the selection after a switch, not yet in its state."""
    joints, forces = system.selection.joint_names, force_names(system)
    if switch.joints is not None:
        joints = known_names(switch, "joint", switch.joints, system.tables.joint_names)
    if switch.forces is not None:
        forces = known_names(switch, "force", switch.forces, system.tables.force_names)
    new = system.choosing(joints, forces)
    if not switch.parameters:
        return new
    tables = system.tables.with_parameters({name: dict(some) for name, some in switch.parameters})
    return new.on_tables(tables, new.initial)


def begin_as(system: System, start: State) -> System:
    """The system beginning in the first state of a piece of a run, to the bit."""
    there = start.on(system.selection)
    return system.at(dataclasses.replace(there, step=start.step, held=start.held))


def force_names(system: System) -> tuple[str, ...]:
    """Names of the active forces."""
    return tuple(system.tables.force_names[k] for k in system.selection.forces)


def known_names(
    switch: Switch, noun: str, names: tuple[str, ...], known: tuple[str, ...]
) -> tuple[str, ...]:
    """Names, if the system has all of them; otherwise an error."""
    for name in names:
        if name not in known:
            raise switch.refuse(
                f"there is no {noun} {name!r}; the {noun}s here are: {', '.join(known) or 'none'}; "
                "list what is to act later under candidates=.",
                code="name",
            )
    return names


def name_changes(old: System, new: System) -> tuple[str, ...]:
    """The joints that are active in one of two systems, but not in the other."""
    before, after = old.selection.joint_names, new.selection.joint_names
    return (*(n for n in after if n not in before), *(n for n in before if n not in after))


def check_reach(switch: Switch, at: Instant) -> None:
    """Refuse joints whose ends are further apart than the reach of a switch."""
    for k in at.selection.joints:
        joint = at.selection.tables.joints[k]
        worst = max(gaps(at, joint), key=lambda gap: gap.size)
        if not worst.size <= switch.reach:
            raise switch.refuse(
                f"at t = {at.t:.9g} s the ends of joint {joint.name!r} are {worst} apart (reach "
                f"{switch.reach:g}); {WAY_OUT}.",
                code="pose",
            )


def tell_wheels(old: System, new: System) -> Iterator[Happening]:
    """An event for each wheel that appears or vanishes with its momentum, or whose momentum jumps:
    nothing takes that up."""
    t = new.initial.t
    before, after = (wheel_momenta(system, t) for system in (old, new))
    for name in {**before, **after}:
        one, two = (some.get(name, np.zeros(3)) for some in (before, after))
        if abs(two - one).max() > TAKES * max(abs(one).max(), abs(two).max()):
            yield Happening(t, f"momentum of {name} jumps")


def wheel_momenta(system: System, t: float) -> dict[str, Floats]:
    """The momentum of each active wheel at a time [s], in axes of its site [N m s]."""
    forces = (system.tables.forces[k] for k in system.selection.forces)
    return {force.name: force.in_site(t) for force in forces if isinstance(force, ReactionWheel)}


# --- what is asked for ----------------------------------------------------------------------------
def check_switches(
    system: System, switches: Sequence[Switch], stop: Sequence[Event], begun: float, end: float
) -> None:
    """Refuse switches that are impossible in a run from one time to another [s]."""
    if not isinstance(switches, (list, tuple)):
        raise PartError(
            f"simulate: switches is {show(switches)}, but must be a list of switches, such as "
            "[qp.Switch(10.0, joints=['lock'])]."
        )
    before = begun
    for switch in switches:
        if not isinstance(switch, Switch):
            raise PartError(f"simulate: {show(switch)} in switches= is no Switch.")
        if isinstance(switch.when, Event):
            check_event(switch, switch.when, stop)
        elif isinstance(switch.when, Settled):
            check_rest(switch, system)
        else:
            before = check_time(switch, switch.when, before, end)
        system = apply_switch(system, switch)


def check_event(switch: Switch, when: Event, stop: Sequence[Event]) -> None:
    """Refuse the event of a switch if another event of the run has its name."""
    if any(isinstance(event, Event) and event.name == when.name for event in stop):
        raise switch.refuse(
            f"its event and one in stop= are both called {when.name!r}; give one of them another "
            "name."
        )


def check_rest(switch: Switch, system: System) -> None:
    """Refuse to wait for rest while a controller acts."""
    for k in system.selection.controllers.tolist():
        name = system.tables.controllers[k].name
        raise switch.refuse(
            f"it waits until everything rests for good, which controller {name!r} may end at any "
            "sample; wait for an event, such as qp.AtRest(), or for a time.",
            code="together",
        )


def check_time(switch: Switch, when: float, before: float, end: float) -> float:
    """The time of a switch [s]; an error if it lies before the previous switch, or beyond the
    run."""
    if before < when < end:
        return when
    raise switch.refuse(
        f"when is {when:g} s, but must lie after {before:g} s, where the run or the switch before "
        f"begins, and before {end:g} s, where the run ends."
    )
