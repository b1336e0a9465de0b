"""`Trajectory`: the one result of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from quirkpy import doors
from quirkpy.kernels.act.wrenches import INTO, LOST, OUT, PROJECTED
from quirkpy.kernels.base.states import (
    attitudes_of,
    bodies_of,
    ledger_of,
    positions_of,
    spins_of,
    velocities_of,
)  # fmt: skip
from quirkpy.kernels.solid.solids import REACH
from quirkpy.maths import quat
from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Bools, Floats
from quirkpy.mechanics.bending import modes_of
from quirkpy.mechanics.courses import coordinates_along
from quirkpy.mechanics.impulses import Impact, Shock, shocks
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.measures import Measure, Portion, kinetic_of, measure_of, potential_of
from quirkpy.mechanics.readings import JointState, body_state
from quirkpy.mechanics.sections import Sections
from quirkpy.mechanics.sensing import SensorState, read_sensor
from quirkpy.mechanics.solids import solids_of
from quirkpy.mechanics.state import State, names_in
from quirkpy.mechanics.system import System
from quirkpy.motion import sampling
from quirkpy.motion.controllers import controls_at
from quirkpy.motion.course import Counts, Course, Happening, Stop, Waits
from quirkpy.motion.extrema import highest, no_higher, passing, summits
from quirkpy.motion.interpolation import ALLOWED, Between, CourseRows, before, rows_of, time_within
from quirkpy.motion.readings import (
    BodyGroup,
    ControllerCourse,
    ForceCourse,
    JointCourse,
    LatchCourse,
    columns_of,
    impacts_of,
    read_record,
    table_of,
)  # fmt: skip
from quirkpy.motion.resuming import Moment, Onward
from quirkpy.motion.settings import Settings
from quirkpy.motion.snapshot import state_at
from quirkpy.motion.stiff import by_one_method
from quirkpy.parts.latch import Latch
from quirkpy.parts.part import PartError, UnknownName

if TYPE_CHECKING:
    from quirkpy.doors import Chart, Drawing, Live


#: Measures that a run itself provides, also where it is made of several.
LEDGERS = "kinetic", "potential", "energy", "work", "dissipated", "lost", "projected"


class Trajectory:
    """Times, states, why it ended, located events, counts, drift, and the ledger of energy.

    ``run.t`` (k,); ``run["arm"].position`` (k, 3) and so on, ``run["hinge"].angle`` (k,);
    ``run.at(t)`` and ``run.final`` are states. energy = kinetic + potential changes by the work of
    loads (`work`) less the dissipation of dampers (`dissipated`): energy + dissipated - work is
    constant up to the error of the integration. With the energy lost as joints became active
    against the motion of a start (`lost`) it is the energy of that start."""

    def __init__(self, system: System, start: State, settings: Settings, course: Course) -> None:
        self.system, self.start, self.settings, self.course = system, start, settings, course
        self.t: Floats = course.t
        self.stop: Stop = course.stop
        self.events: tuple[Happening, ...] = course.events
        self.counts: Counts = course.counts

    # --- files ------------------------------------------------------------------------------------
    def save(
        self, path: str | os.PathLike[str], names: Sequence[str] | None = None,
        step: float | None = None,
    ) -> None:  # fmt: skip
        """Write the run and its system to a file, ``run.save("run.npz")``; an error where a part is
        a function of t.

        If the name ends with .csv, .h5 or .hdf5, the file contains the `table` of names (None:
        bodies, coordinates of joints and energies), for other programs; HDF5 needs h5py."""
        kind = str(path).lower().rpartition(".")[2]
        if kind == "csv":
            doors.csv.save_columns(path, self._columns(columns_of, names, step))
        elif kind in ("h5", "hdf5"):
            doors.hdf5.save_table(self, path, self._columns(table_of, names, step))
        elif names is not None or step is not None:
            raise PartError(
                f"save: names and step are for .csv and .h5; leave them out for {str(path)!r}."
            )
        else:
            doors.npz.save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], modules: Iterable[str] = ()) -> Trajectory:
        """The run that `save` wrote, bit for bit: ``qp.Trajectory.load("run.npz")``.

        modules: names of the modules whose own parts the system may use, as for `from_json`."""
        return doors.npz.load(path, modules)

    # --- pictures ---------------------------------------------------------------------------------
    def plot(self, *what: Chart, of: Sequence[str] | None = None, degrees: bool = False) -> Drawing:
        """Charts one below the other: ``run.plot("energy", "drift").save("run.svg")``.

        "joints", "energy" (the ledger), "power", "states", "momenta", "drift", "reactions" (in the
        axes of the joint), "impulses", "phase" or "commands"; by default the first two. of: names
        of the bodies, joints or controllers to be shown. degrees: angles in degrees."""
        return doors.charts.draw(doors.curves.sheet_of(self, what, of, degrees))

    def picture(
        self, path: str | os.PathLike[str] | None = None, *,
        eye: Sequence[float] = (0.45, -0.75, 0.8), ghosts: int = 4,
    ) -> Drawing:  # fmt: skip
        """A picture of the motion in space: the last pose, earlier ones as ghosts, and the paths of
        all mass centres."""
        return doors.poses.of_run(self, eye, ghosts).save_to(path)

    def landscape(self, body: str | None = None) -> Drawing:
        """The potential energy over the position of a body, and the path of the run across it.

        The map shows the potential with the centre of the body anywhere in the plane of its largest
        motion, and all else as at the start; the path has its true potential. body: None where only
        one moves."""
        return doors.landscape.draw(self, body)

    def movie(
        self, path: str | os.PathLike[str], *, fps: float = 25.0, speed: float | None = None,
        eye: Sequence[float] = (0.45, -0.75, 0.8), forces: bool = True, trace: bool = True,
        exaggerate: float = 1.0,
    ) -> None:  # fmt: skip
        """Write a film, without any window: ``run.movie("run.mp4")`` or ``"run.gif"``, with the
        energy beside it.

        speed: relative to real time; by default 1 where the run lasts no more than 20 s, and
        otherwise such that the film lasts 20 s. eye: the direction of view; trace: the paths of all
        mass centres; exaggerate: factor by which lines of bodies are drawn more bent."""
        doors.movie.save(self, path, fps, speed, eye, forces, trace, exaggerate)

    def report(self, path: str | os.PathLike[str], *, exaggerate: float = 1.0) -> None:
        """Write the run as a page for any browser, ``run.report("run.html")``, with animation and
        curves; exaggerate: factor by which lines of bodies are drawn more bent."""
        doors.report.save_run(path, self, exaggerate)

    @property
    def pieces(self) -> tuple[tuple[float, Trajectory], ...]:
        """The runs of which it is made, each with the time at which its own time begins [s]."""
        return ((0.0, self),)

    def over(self, change: Callable[[Trajectory], Trajectory]) -> Trajectory:
        """A run with a function applied to each piece of this one."""
        return change(self)

    @property
    def waits(self) -> Waits:
        """The times at which the motion waits for a disturbance to grow, and how long [s]; films
        leave these out."""
        return ()

    def __getstate__(self) -> dict[str, Any]:
        """The fields without the data for motion between rows, which are computed anew."""
        return {name: value for name, value in self.__dict__.items() if name != "_onward"}

    # --- states -----------------------------------------------------------------------------------
    @cached_property
    def states(self) -> tuple[State, ...]:
        """The state at every stored time."""
        return tuple(self._state(k) for k in range(len(self.t)))

    def _state(self, k: int, step: float | None = None, merged: Floats | None = None) -> State:
        c, t = self.course, float(self.t[k])
        held = self._holding(c.held[k]) if c.stops else ()
        controls = controls_at(c.records, t) if step is None else c.controls
        return state_at(
            self.start, t, c.states[k], c.angles[k], held, step, merged, c.tails()[k], controls
        )

    def _holding(self, held: Bools) -> tuple[str, ...]:
        """The labels of the stops that hold."""
        return tuple(label for label, holds in zip(self.course.stops, held, strict=True) if holds)

    @cached_property
    def final(self) -> State:
        """The last state, from which ``system.at(run.final)`` continues: with these very bits, but
        with other steps, so that two halves of a run agree with the whole run to its tolerance."""
        return self._state(len(self.t) - 1, self.course.step, self.course.merged)

    def at(self, t: float) -> State:
        """The state at any time of the run, to the accuracy of its steps; at a stored time the
        stored state exactly."""
        t = time_within(t, self.t)
        k = before(self.t, t)
        if self.t[k] == t:
            return self.final if k == len(self.t) - 1 else self._state(k)
        return self.ledger_at(t)[0]

    def rows_at(self, t: float) -> Floats:
        """The state at a time as rows (nb, STATE_WIDTH), without the other data of a state."""
        k = before(self.t, t)
        return (
            bodies_of(self.course.states)[k]
            if self.t[k] == t
            else bodies_of(self._expand(self._onward(self._rows, t)))
        )

    def ledger_at(self, t: float) -> tuple[State, float, float]:
        """The state at a time between two stored ones, with the work of loads and the energy
        dissipated [J]."""
        there = self._onward(self._rows, t)
        rows, held = self._expand(there), self._holding(there.held) if self.course.stops else ()
        controls = controls_at(self.course.records, t)
        state = state_at(
            self.start, t, rows, there.angles, held, further=there.tail, controls=controls
        )
        return state, float(ledger_of(rows)[INTO]), float(ledger_of(rows)[OUT])

    @cached_property
    def _onward(self) -> Onward:
        settings = by_one_method(self.settings, self.events)
        return Onward(
            self.system.clusters, self.start, settings, settings.keep == "all",
            self.course.departures,
        )  # fmt: skip

    @cached_property
    def _rows(self) -> CourseRows:
        """The stored states, as rows of the simulated bodies."""
        rows = rows_of(self.course)
        return rows._replace(states=self._onward.entry.contract(rows.states))

    def _expand(self, there: Moment) -> Floats:
        """A moment as rows of all bodies (nb + 1, STATE_WIDTH)."""
        return self._onward.entry.expand(there.state)

    def highest(self, measure: Callable[[Floats], Floats]) -> float:
        """The largest value of a function of states (k, nb, STATE_WIDTH) -> (k, m), smooth where
        the motion is: also between the stored ones, and just before velocities jump."""
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
            with suppress(PartError):  # a run cannot be resumed where branches meet
                most = highest(
                    summits(rows, values[:, k], jumps, most, True),
                    ask,
                    most,
                    self.settings.rtol,
                    known,
                )
        return most

    def passing(self, t: float, margin: Callable[[State], float]) -> float:
        """The time at which a margin is zero, near a zero on the curves of `between`; that time
        itself where there is none, as where the margin jumps or only touches zero."""
        k = before(self.t, t)
        if self.t[k] == t:
            return t
        low, high = float(self.t[k]), float(self.t[min(k + 1, len(self.t) - 1)])
        with suppress(PartError):
            return passing(lambda x: margin(self.at(x)), t, low, high, self.settings.rtol)
        return t

    @cached_property
    def between(self) -> Between:
        """The motion at any times, on curves with an error of at most `ALLOWED`."""
        solids = solids_of(self.system.tables)[1]
        return Between(
            self.course,
            self.system.clusters,
            self.at,
            solids,
            ALLOWED * float(solids.numbers[:, REACH].min(initial=1.0)),
        )

    def sampled(self, step: float) -> Trajectory:
        """This run with states at least every `step` [s]: the stored ones, and between them those
        of `at`, with the ledger of energy. `drift` between stored states is zero."""
        return self._with(sampling.evenly(sampling.check_step("sampled", step, self.t)))

    def with_rows_at(self, times: Floats) -> Trajectory:
        """This run with states at some times [s], in order, besides the stored ones."""
        return self._with(sampling.among(times))

    def _with(self, inner: sampling.Inner) -> Trajectory:
        course = sampling.sample(self.course, self._rows, self._onward, inner)
        return Trajectory(self.system, self.start, self.settings, course)

    # --- bodies and joints ------------------------------------------------------------------------
    def __getitem__(self, name: str) -> Any:
        """A body (`BodyState` of arrays), a joint (`JointCourse`), a force (`ForceCourse`), a latch
        (`LatchCourse`), a sensor (`SensorState` of arrays) or a controller (`ControllerCourse`)."""
        if name in self.start.bodies:
            rows = self.course.states[:, self.start.bodies.index(name)]
            turns = quat.from_array(attitudes_of(rows))
            k = self.start.bodies.index(name)
            bent = modes_of(self.system.tables, k, self.course.tail)
            inside = Sections.of(self.system.tables, k, self._instants)
            motion = positions_of(rows), turns, velocities_of(rows), spins_of(rows)
            return body_state(motion, bent, inside)
        if name in (known := {record.name: record for record in self.course.records}):
            return ControllerCourse.of(known[name])
        tables = self.system.tables
        if any(sensor.name == name for sensor in tables.sensors):
            k = [sensor.name for sensor in tables.sensors].index(name)
            found = (read_sensor(at, k) for at in self._portion.instants())
            return SensorState(*map(np.array, zip(*found, strict=True)))
        if any(isinstance(part, Latch) and part.name == name for part in tables.forces):
            return LatchCourse.of(name, self.course.stops, self.course.held, len(self.t))
        if name in tables.force_index:
            return ForceCourse(self, name)
        if name not in tables.joint_index:
            raise UnknownName(
                f"no moving body, joint, force, sensor or controller is called {name!r}; there "
                f"are: {', '.join(self._ipython_key_completions_())}."
            )
        j = tables.joint_index[name]
        which = np.arange(tables.joint_coordinate[j], tables.joint_coordinate[j + 1])
        both = coordinates_along(tables, which, self._portion.whole, self._angles)
        return JointCourse(
            *JointState.of(tables.joints[j].coordinates, np.moveaxis(both, 0, -1)), self, name
        )

    def _instants(self) -> Iterator[Instant]:
        """All rows, each with the joints, forces and stops that act there."""
        return chain.from_iterable(run._portion.holders.instants() for _, run in self.pieces)

    def _ipython_key_completions_(self) -> list[str]:
        """The names that `run[...]` accepts."""
        tables = self.system.tables
        fixed = {body.name for body in tables.fixed}
        known = (*names_in(tables), *tables.force_names, *(r.name for r in self.course.records))
        return [name for name in known if name not in fixed]

    # --- anything measured ------------------------------------------------------------------------
    def measure(self, name: str) -> Floats:
        """The measure of `system.measures` with a given name, at each stored time (k, ...):
        ``run.measure("spring.tension")``, ``run.measure("arm.position.z")``.

        Values that depend on the active joints and forces are those of each piece of the run, and
        zero for inactive parts. "pd.wheel.torque" is the last command of a controller."""
        if (told := read_record(self.course.records, name, self.t)) is not None:
            return told
        found = measure_of("measure", self.system.tables, name)
        if name in LEDGERS:
            return np.asarray(getattr(self, name))
        if not found.acts:
            return found.along(self._portion)
        return np.concatenate([run._measured(name, found) for _, run in self.pieces])

    def _measured(self, name: str, like: Measure) -> Floats:
        """A measure of the joints and forces that act in this piece of a run."""
        try:
            found = measure_of("measure", self.system.tables, name)
        except PartError:  # not a part of this piece
            return np.zeros((len(self.t), *like.shape))
        return found.along(self._portion)

    @cached_property
    def _portion(self) -> Portion:
        c = self.course
        return Portion(
            self.system.selection, self.t, c.states, self._angles, c.held if c.stops else None,
            c.stops, c.tail,
        )  # fmt: skip

    def table(
        self, names: Sequence[str] | None = None, *, step: float | None = None, frame: bool = False
    ) -> Any:
        """Measures at each stored time, as arrays by name, and the time under "t":
        ``run.table(["hinge.angle", "arm.position"], step=0.1)``.

        names: of `system.measures`; None: bodies, coordinates of joints and energies. step: at
        regular times instead, from the beginning every `step` [s], and at the end. frame=True: as a
        pandas DataFrame, with a column for each number."""
        found = self._columns(columns_of if frame else table_of, names, step)
        return doors.csv.data_frame(found) if frame else found

    def _columns(
        self, tell: Callable[..., dict[str, Floats]], names: Sequence[str] | None,
        step: float | None,
    ) -> dict[str, Floats]:  # fmt: skip
        """The values of a function of names, at the stored times, or at regular ones."""
        if step is None:
            return tell(self, names)
        step = sampling.check_step("table", step, self.t)
        times = sampling.regular_times(self.t, step)
        run = self.with_rows_at(times)
        k = sampling.rows_at(run.t, times, step)
        return {name: values[k] for name, values in tell(run, names).items()} | {"t": times}

    def group(self, *names: str) -> BodyGroup:
        """Some bodies taken together: ``run.group("left", "right").centre_of_mass``; without names
        all moving bodies."""
        return BodyGroup.of(self._portion, names)

    @property
    def centre_of_mass(self) -> Floats:
        """Mass centre of all moving bodies, in N [m] (k, 3)."""
        return self.group().centre_of_mass

    @property
    def inertia(self) -> Floats:
        """Inertia of all moving bodies about their mass centre, in N [kg m2] (k, 3, 3)."""
        return self.group().inertia

    # --- ledger -----------------------------------------------------------------------------------
    @cached_property
    def _angles(self) -> Floats:
        """The reference angles of the system's coordinates [rad] (k, nc)."""
        own, names = self.start.joints, self.system.tables.coordinate_names
        if own == names:
            return self.course.angles
        known = dict(zip(own, self.course.angles.T, strict=True))
        columns = [known.get(name, np.zeros(len(self.t))) for name in names]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.t), 0))

    @cached_property
    def kinetic(self) -> Floats:
        """Kinetic energy [J] (k,)."""
        return kinetic_of(self._portion)

    @cached_property
    def potential(self) -> Floats:
        """Potential energy of all forces that have one [J] (k,)."""
        return potential_of(self._portion)

    @property
    def energy(self) -> Floats:
        """Kinetic and potential [J] (k,)."""
        return self.kinetic + self.potential

    @property
    def work(self) -> Floats:
        """Work of loads without a potential since the run began [J] (k,)."""
        return ledger_of(self.course.states)[:, INTO]

    @property
    def dissipated(self) -> Floats:
        """Energy dissipated by dampers since the run began [J] (k,)."""
        return ledger_of(self.course.states)[:, OUT]

    @property
    def lost(self) -> Floats:
        """Kinetic energy lost as joints became active against the motion of a start [J] (k,)."""
        return ledger_of(self.course.states)[:, LOST]

    @property
    def projected(self) -> Floats:
        """Energy removed since the run began by projecting states onto the joints [J] (k,): kinetic
        energy, and the work of loads along the way; negative where it was added. It is part of the
        error of the integration."""
        return ledger_of(self.course.states)[:, PROJECTED]

    @cached_property
    def impacts(self) -> tuple[Impact, ...]:
        """The contribution of each joint and stop to each jump of the velocities, when joints
        become active, stops are hit and latches close: impulses on each body, and the energy
        lost."""
        return impacts_of(self.course.jumps, self.system.selection, self.start.near)

    @property
    def shocks(self) -> dict[str, Shock]:
        """The largest force impulse [N s] and couple impulse [N m s] of each joint and stop on any
        body."""
        return shocks(self.impacts)

    @cached_property
    def momentum(self) -> Floats:
        """Sum of m v over the moving bodies, in N [kg m/s] (k, 3)."""
        return self.group().momentum

    @cached_property
    def angular_momentum(self) -> Floats:
        """Angular momentum of the moving bodies about the origin of N [kg m2/s] (k, 3)."""
        return self.group().angular_momentum

    @property
    def drift(self) -> Floats:
        """The size of the projection at each stored step: largest displacement [m or rad], change
        of velocity (k, 2). Bodies that locks hold together count as one, except at the start."""
        return self.course.drift

    def show(
        self, *, browser: bool = True, port: int | None = None, patience: float = 60.0,
        wait: bool | None = None,
    ) -> Live:  # fmt: skip
        """Show the page of the run in the browser; options are those of `Multibody.show`."""
        return doors.server.show(lambda: doors.live.RunPage(self), browser, port, patience, wait)

    def animate(
        self, *, speed: float | None = None, forces: bool = True, browser: bool = True,
        port: int | None = None, patience: float = 60.0, keep_open: bool = True,
    ) -> None:  # fmt: skip
        """Play it in a window of VPython, with buttons and the energy below; return when the window
        is closed.

        speed: relative to real time; by default as in `movie`. browser=False opens no browser and
        prints the address, port: its number; patience: how long to wait for a browser [s].
        keep_open=False: the window closes with the run."""
        _, faster = doors.movie.pace(self, doors.film.RATE, speed, doors.film.MOST)
        doors.window.show(
            lambda: doors.film.film_of(self, faster, forces), browser, port, patience, keep_open
        )

    def __str__(self) -> str:
        return doors.listings.of_run(self).text()

    def _repr_html_(self) -> str:
        return doors.notebook.of_run(self)

    def __repr__(self) -> str:
        span = f"{self.t[0]:.6g} to {self.t[-1]:.6g} s"
        return f"Trajectory({span}, {len(self.t)} states: {self.stop})"
