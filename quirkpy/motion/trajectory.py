"""`Trajectory`: the one result of a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quirkpy import doors
from quirkpy.kernels.act.wrenches import INTO, LOST, OUT, PROJECTED
from quirkpy.kernels.base.states import (
    attitudes_of,
    bodies_of,
    ledger_of,
    positions_of,
    quantities_of,
    spins_of,
    velocities_of,
    zero_vectors,
)
from quirkpy.kernels.solid.solids import REACH
from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.analysis import ReactionAxes
from quirkpy.mechanics.courses import (
    coordinates_along,
    instants,
    kinetic_along,
    potential_along,
)
from quirkpy.mechanics.impulses import Impact, Shock, impacts, shocks
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.solids import solids_of
from quirkpy.mechanics.state import (
    BodyState,
    JointState,
    SensorState,
    State,
    names_in,
    read_sensor,
)
from quirkpy.mechanics.system import System
from quirkpy.motion.course import Counts, Course, Happening, Jump, Stop, Waits
from quirkpy.motion.driver import state_at
from quirkpy.motion.extrema import highest, no_higher, passing, summits
from quirkpy.motion.interpolation import ALLOWED, Between, CourseRows, before, rows_of
from quirkpy.motion.resuming import Moment, Onward
from quirkpy.motion.settings import Settings
from quirkpy.parts.checks import number, positive
from quirkpy.parts.latch import Latch
from quirkpy.parts.part import PartError

if TYPE_CHECKING:
    from quirkpy.doors import Chart, Drawing


@dataclass(frozen=True, eq=False)
class JointCourse:
    """A joint through a run: its angle [rad], its travel or length [m] and rate at each stored time
    (k,); None where it has none, (k, n) where it has several (see `JointState`). reaction: force
    [N] and torque [N m] on its second body, at its site, in N (k, 6); load: the same in the axes of
    its first site; neither is a number while the joint does not act."""

    angle: Any
    travel: Any
    rate: Any
    run: Trajectory
    name: str

    @cached_property
    def reaction(self) -> Floats:
        """Computed when asked for, at every stored time."""
        return self._reactions("inertial")

    @cached_property
    def load(self) -> Floats:
        """Force [N] and torque [N m] of the joint at each row, in its own axes (k, 6)."""
        return self._reactions("joint")

    def _reactions(self, axes: ReactionAxes) -> Floats:
        return np.concatenate([self._reactions_in(run, axes) for _, run in self.run.pieces])

    def _reactions_in(self, run: Trajectory, axes: ReactionAxes) -> Floats:
        """Of a piece (k, 6): not numbers where the joint does not act in it."""
        if self.name not in run.system.selection.joint_names:
            return zero_vectors(len(run.t)) + np.nan
        loads = [run.system.reactions(state, axes=axes)[self.name] for state in run.states]
        return np.array([np.concatenate([load.force, load.torque]) for load in loads])


@dataclass(frozen=True, eq=False)
class LatchCourse:
    """A latch through a run: whether it holds at each stored time (k,)."""

    held: Bools


#: A run is sampled at so many times at most: more take hours, and more than memory.
MOST_ROWS = 1e7


class Trajectory:
    """Times, states, why it ended, located events, counts, drift, and the ledger of energy.

    ``run.t`` (k,); ``run["arm"].position`` (k, 3) and so on, ``run["hinge"].angle`` (k,);
    ``run.at(t)`` and ``run.final`` are states.  energy = kinetic + potential changes by what loads
    put in (`work`) less what dampers take out (`dissipated`): energy + dissipated - work is
    constant but for the error of the integration.  With what joints took as they took hold of a
    start that moved against them (`lost`) it is the energy of that start."""

    def __init__(self, system: System, start: State, settings: Settings, course: Course) -> None:
        self.system, self.start, self.settings, self.course = system, start, settings, course
        self.t: Floats = course.t
        self.stop: Stop = course.stop
        self.events: tuple[Happening, ...] = course.events
        self.counts: Counts = course.counts

    # --- files ------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the run and its system to a file, ``run.save("run.npz")``; refused where a part is
        a function of t."""
        doors.npz.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], modules: Iterable[str] = ()) -> Trajectory:
        """The run that `save` wrote, bit for bit: ``qp.Trajectory.load("run.npz")``.

        modules: names of the modules whose own parts the system may use, as for `from_json`.
        """
        return doors.npz.load(path, modules)

    # --- pictures ---------------------------------------------------------------------------------
    def plot(self, *what: Chart, of: Sequence[str] | None = None) -> Drawing:
        """Charts below each other: ``run.plot("energy", "drift").save("run.svg")``.

        "joints", "energy" (the ledger), "power", "states", "momenta", "drift", "reactions" (in the
        axes of the joint) or "phase"; without words the first two.  of: names of the bodies or
        joints to be shown."""
        return doors.charts.draw(doors.curves.sheet_of(self, what, of))

    def picture(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        eye: Sequence[float] = (0.45, -0.75, 0.8),
        ghosts: int = 4,
    ) -> Drawing:
        """A picture of the motion in space: the last pose, earlier ones as ghosts, and the ways
        of all mass centres."""
        return doors.poses.of_run(self, eye, ghosts).save_to(path)

    def landscape(self, body: str | None = None) -> Drawing:
        """The potential energy over the place of a body, and the way that the run took across it.

        The map shows the potential with the centre of the body anywhere in the plane in which it
        went farthest, and all else as at the start; the way has the potential that it really had.
        body: None where only one moves."""
        return doors.landscape.draw(self, body)

    def movie(
        self, path: str | os.PathLike[str], *, fps: float = 25.0, speed: float | None = None,
        eye: Sequence[float] = (0.45, -0.75, 0.8), forces: bool = True, trace: bool = True,
    ) -> None:  # fmt: skip
        """Write a film, without any window: ``run.movie("run.mp4")`` or ``"run.gif"``, with the
        energy beside it.

        speed: how much faster than the clock; by itself it is 1 where the run lasts no more than 20
        s, and else what brings it to 20 s.  eye: the direction from which one looks; trace: the
        ways of all mass centres."""
        doors.movie.save(self, path, fps, speed, eye, forces, trace)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the run as a page to open in any browser, ``run.report("run.html")``: it plays,
        with its curves."""
        doors.report.save_run(path, self)

    @property
    def pieces(self) -> tuple[tuple[float, Trajectory], ...]:
        """The runs of which it is made, each with the time at which its own begins [s]."""
        return ((0.0, self),)

    def over(self, change: Callable[[Trajectory], Trajectory]) -> Trajectory:
        """A run with each of the pieces of this one changed."""
        return change(self)

    @property
    def waits(self) -> Waits:
        """The times at which the motion waits for a disturbance to grow, and how long [s]: films
        leave that out."""
        return ()

    def __getstate__(self) -> dict[str, Any]:
        """Without what goes on between its rows, which is made anew."""
        return {name: value for name, value in self.__dict__.items() if name != "_onward"}

    # --- states -----------------------------------------------------------------------------------
    @cached_property
    def states(self) -> tuple[State, ...]:
        """The state at every stored time."""
        return tuple(self._state(k) for k in range(len(self.t)))

    def _state(self, k: int, step: float | None = None, merged: Floats | None = None) -> State:
        c = self.course
        held = self._holding(c.held[k]) if c.stops else ()
        return state_at(
            self.start, float(self.t[k]), c.states[k], c.angles[k], held, step, merged,
            c.tails()[k],
        )  # fmt: skip

    def _holding(self, held: Bools) -> tuple[str, ...]:
        """The stops that hold."""
        return tuple(label for label, holds in zip(self.course.stops, held, strict=True) if holds)

    @cached_property
    def final(self) -> State:
        """The last state, from which ``system.at(run.final)`` goes on: with these very bits, but
        with steps of its own, so that two halves of a run agree with the whole to its tolerance."""
        return self._state(len(self.t) - 1, self.course.step, self.course.merged)

    def at(self, t: float) -> State:
        """The state at any time of the run, to the accuracy of its steps; at a stored time the
        stored state exactly."""
        t = self._checked_time(t)
        k = before(self.t, t)
        if self.t[k] == t:
            return self.final if k == len(self.t) - 1 else self._state(k)
        return self.ledger_at(t)[0]

    def _checked_time(self, t: Any) -> float:
        """A time of the run [s]."""
        try:
            t = number(t)
        except (TypeError, ValueError) as error:
            raise PartError(f"at: t {error}; give a time of the run [s].") from None
        if not self.t[0] <= t <= self.t[-1]:
            raise PartError(
                f"at: t = {t} lies outside the run, which covers {self.t[0]} to {self.t[-1]} s."
            )
        return t

    def rows_at(self, t: float) -> Floats:
        """The state at a time as rows (nb, STATE_WIDTH), without what else a state knows."""
        k = before(self.t, t)
        return (
            bodies_of(self.course.states)[k]
            if self.t[k] == t
            else bodies_of(self._expand(self._onward(self._rows, t)))
        )

    def ledger_at(self, t: float) -> tuple[State, float, float]:
        """The state at a time between two stored ones, with what loads have put in and dampers have
        taken out [J]."""
        there = self._onward(self._rows, t)
        rows, held = self._expand(there), self._holding(there.held) if self.course.stops else ()
        return (
            state_at(self.start, t, rows, there.angles, held, further=there.tail),
            float(ledger_of(rows)[INTO]),
            float(ledger_of(rows)[OUT]),
        )

    @cached_property
    def _onward(self) -> Onward:
        return Onward(self.system.clusters, self.start, self.settings, self.settings.keep == "all")

    @cached_property
    def _rows(self) -> CourseRows:
        """The stored states as the run moves them."""
        rows = rows_of(self.course)
        return rows._replace(states=self._onward.entry.contract(rows.states))

    def _expand(self, there: Moment) -> Floats:
        """What is known at a moment as rows of all bodies (nb + 1, STATE_WIDTH)."""
        return self._onward.entry.expand(there.state)

    def highest(self, measure: Callable[[Floats], Floats]) -> float:
        """The largest of anything that states (k, nb, STATE_WIDTH) have (k, m), smooth where the
        motion is: between the stored ones as well, and before velocities jump."""
        c, most = self.course, 0.0
        rows, jumps = rows_of(c), np.isin(c.t, [event.t for event in c.events])
        values = measure(bodies_of(c.states))
        asked: list[tuple[float, Floats]] = []
        reach = no_higher(values)
        for k in np.argsort(-values.max(axis=0, initial=0.0), kind="stable").tolist():
            if reach[k] <= most:
                continue

            def ask(_: CourseRows, t: float, k: int = k) -> tuple[float, Moment]:
                there = self._onward(self._rows, t)
                asked.append((t, measure(bodies_of(self._expand(there))[None])[0]))
                return float(asked[-1][1][k]), there

            most = max(most, float(values[:, k].max()))
            known = [(t, float(found[k])) for t, found in asked]
            with suppress(PartError):  # where branches of a loop meet no run can be taken up
                most = highest(
                    summits(rows, values[:, k], jumps, most, True),
                    ask,
                    most,
                    self.settings.rtol,
                    known,
                )
        return most

    def passing(self, t: float, margin: Callable[[State], float]) -> float:
        """When a margin passes zero, near a time at which the curves of `between` have it so; that
        time where it does not, as where it jumps, or only touches zero."""
        k = before(self.t, t)
        if self.t[k] == t:
            return t
        low, high = float(self.t[k]), float(self.t[min(k + 1, len(self.t) - 1)])
        with suppress(PartError):
            return passing(lambda x: margin(self.at(x)), t, low, high, self.settings.rtol)
        return t

    @cached_property
    def between(self) -> Between:
        """The motion at any times at once, on curves that miss it by no more than `ALLOWED`."""
        solids = solids_of(self.system.tables)[1]
        return Between(
            self.course,
            self.system.clusters,
            self.at,
            solids,
            ALLOWED * float(solids.numbers[:, REACH].min(initial=1.0)),
        )

    def sampled(self, step: float) -> Trajectory:
        """This run with states at least every `step` [s]: the stored ones, and between them what
        `at` gives, with the ledger of energy.  `drift` between stored states is zero."""
        try:
            checked = positive(step)
        except (TypeError, ValueError) as error:
            raise PartError(f"sampled: step {error}.") from None
        rows = float(self.t[-1] - self.t[0]) / checked
        if rows > MOST_ROWS:
            raise PartError(
                f"sampled: step is {checked:g} s, of which the run takes {rows:.2g}; give one of "
                f"{float(self.t[-1] - self.t[0]) / MOST_ROWS:.2g} s or more."
            )
        return Trajectory(self.system, self.start, self.settings, self._sample(checked))

    def _sample(self, step: float) -> Course:
        c = self.course
        rows: list[tuple[Any, ...]] = []
        for k, begun in enumerate(c.t.tolist()):
            rows.append((begun, c.states[k], c.angles[k], c.drift[k], c.tails()[k]))
            gap = float(c.t[k + 1]) - begun if k + 1 < len(c.t) else 0.0
            here, next_step = self._rows.select(slice(k, k + 1)), 0.0
            parts = math.ceil(gap / step)
            for t in (begun + gap * i / parts for i in range(1, parts)):  # each from the one before
                there = self._onward(here, t, next_step)
                here, next_step = there.rows, there.step
                none = np.zeros_like(c.drift[k])
                rows.append((t, self._expand(there), there.angles, none, there.tail))
        t, states, angles, drift, tail = (np.array(column) for column in zip(*rows, strict=True))
        held = c.held[np.searchsorted(c.t, t, side="right") - 1] if c.stops else c.held
        tail = tail if tail.size else c.tail
        return c._replace(t=t, states=states, angles=angles, drift=drift, held=held, tail=tail)

    # --- bodies and joints ------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        """A body (`BodyState` of arrays), a joint (`JointCourse`), a sensor (`SensorState` of
        arrays) or a latch (`LatchCourse`)."""
        if name in self.start.bodies:
            rows = self.course.states[:, self.start.bodies.index(name)]
            turns = quat.from_array(attitudes_of(rows))
            return BodyState(positions_of(rows), turns, velocities_of(rows), spins_of(rows))
        tables = self.system.tables
        if any(sensor.name == name for sensor in tables.sensors):
            k = [sensor.name for sensor in tables.sensors].index(name)
            found = (read_sensor(at, k) for at in self._instants())
            return SensorState(*map(np.array, zip(*found, strict=True)))
        if any(isinstance(part, Latch) and part.name == name for part in tables.forces):
            return LatchCourse(self._held_by(name))
        if name not in tables.joint_index:
            known = ", ".join(
                known
                for known in names_in(tables)
                if all(body.name != known for body in tables.fixed)
            )
            raise KeyError(
                f"no moving body, joint or sensor is called {name!r}; there are: {known}"
            )
        j = tables.joint_index[name]
        which = np.arange(tables.joint_coordinate[j], tables.joint_coordinate[j + 1])
        both = coordinates_along(tables, which, self.course.states, self._angles)
        return JointCourse(
            *JointState.of(tables.joints[j].coordinates, np.moveaxis(both, 0, -1)), self, name
        )

    def _held_by(self, latch: str) -> Bools:
        """Whether a latch holds, on either side of it, at each row (k,)."""
        mine = [label.rsplit(" ", 1)[0] == latch for label in self.course.stops]
        if not any(mine):
            return np.zeros(len(self.t), dtype=bool)
        return np.asarray(self.course.held[:, mine].any(axis=1))

    # --- ledger -----------------------------------------------------------------------------------
    @cached_property
    def _angles(self) -> Floats:
        """The angles next to which those of the system's coordinates are taken [rad] (k, nc)."""
        own, names = self.start.joints, self.system.tables.coordinate_names
        if own == names:
            return self.course.angles
        known = dict(zip(own, self.course.angles.T, strict=True))
        columns = [known.get(name, np.zeros(len(self.t))) for name in names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.t), 0))

    def _instants(self) -> Iterator[Instant]:
        """Each stored row, for questions that only Python answers."""
        return instants(self.system.selection, self.t, self.course.states, self._angles)

    @cached_property
    def kinetic(self) -> Floats:
        """Kinetic energy [J] (k,)."""
        return kinetic_along(self.system.tables, self.course.states)

    @cached_property
    def potential(self) -> Floats:
        """Potential energy of all forces that have one [J] (k,)."""
        return potential_along(self.system.selection, self.t, self.course.states, self._angles)

    @property
    def energy(self) -> Floats:
        """Kinetic and potential [J] (k,)."""
        return self.kinetic + self.potential

    @property
    def work(self) -> Floats:
        """What loads without a potential have put in since the run began [J] (k,)."""
        return ledger_of(self.course.states)[:, INTO]

    @property
    def dissipated(self) -> Floats:
        """What dampers have taken out since the run began [J] (k,)."""
        return ledger_of(self.course.states)[:, OUT]

    @property
    def lost(self) -> Floats:
        """What joints have taken as they took hold of a start that moved against them: kinetic
        energy [J] (k,)."""
        return ledger_of(self.course.states)[:, LOST]

    @property
    def projected(self) -> Floats:
        """What putting states back onto the joints has taken since the run began [J] (k,): kinetic
        energy, and what loads do along the way; below zero where it has put some in.  It is part of
        the error of the integration."""
        return ledger_of(self.course.states)[:, PROJECTED]

    @cached_property
    def impacts(self) -> tuple[Impact, ...]:
        """The part of each joint and stop in each jump of the velocities, as joints take hold,
        stops are hit and latches catch: impulses on each body, and the energy taken."""
        return tuple(impact for jump in self.course.jumps for impact in self._impacts(jump))

    def _impacts(self, jump: Jump) -> tuple[Impact, ...]:
        motion = quantities_of(jump.after)
        at = Instant(self.system.selection, jump.t, *motion, self.start.near, jump.held)
        return impacts(at, velocities_of(jump.before), spins_of(jump.before))

    @property
    def shocks(self) -> dict[str, Shock]:
        """The largest force impulse [N s] and couple impulse [N m s] of each joint and stop on any
        body."""
        return shocks(self.impacts)

    @cached_property
    def momentum(self) -> Floats:
        """Sum of m v over the moving bodies, in N [kg m/s] (k, 3)."""
        mass = self.system.tables.body_mass[:, None]
        return np.asarray((velocities_of(bodies_of(self.course.states)) * mass).sum(axis=1))

    @cached_property
    def angular_momentum(self) -> Floats:
        """About the origin of N, of the moving bodies [kg m2/s] (k, 3)."""
        tables, rows = self.system.tables, bodies_of(self.course.states)
        spin = np.einsum("nij,knj->kni", tables.body_inertia, spins_of(rows))
        turn = attitudes_of(rows)
        w, q = turn[..., :1], turn[..., 1:]
        turned = spin + 2.0 * np.cross(q, np.cross(q, spin) + w * spin)
        orbital = np.cross(positions_of(rows), velocities_of(rows)) * tables.body_mass[:, None]
        return np.asarray((turned + orbital).sum(axis=1))

    @property
    def drift(self) -> Floats:
        """What projection took away at each stored step: largest displacement [m or rad], change of
        velocity (k, 2).

        Bodies that locks hold together count as one, except at the start.
        """
        return self.course.drift

    def animate(
        self, *, speed: float | None = None, forces: bool = True, browser: bool = True,
        port: int | None = None, patience: float = 60.0, keep_open: bool = True,
    ) -> None:  # fmt: skip
        """Play it in a window of VPython, with buttons and the energy below; come back when the
        window is closed.

        speed: how much faster than the clock; by itself as in `movie`.  browser=False opens none
        and prints the address, port: its number; patience: how long a browser is waited for [s].
        keep_open=False: the window ends with the run."""
        _, faster = doors.movie.pace(self, doors.film.RATE, speed, doors.film.MOST)
        doors.window.show(
            lambda: doors.film.film_of(self, faster, forces), browser, port, patience, keep_open
        )

    def _repr_html_(self) -> str:
        return doors.notebook.of_run(self)

    def __repr__(self) -> str:
        return (
            f"Trajectory({self.t[0]:.6g} to {self.t[-1]:.6g} s, {len(self.t)} states: {self.stop})"
        )
