"""`Multibody`: an immutable set of parts, and the questions one may ask of it.  No arithmetic of its own."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

from quirkpy import analysis, equation, search
from quirkpy.analysis import Energy, Mobility, Pull, Reaction, ReactionAxes, Residual
from quirkpy.cached import cached_property
from quirkpy.catching import Catch, catch
from quirkpy.clusters import Clusters
from quirkpy.course import Keep
from quirkpy.equation import Matrices, Solution, UndeterminedAcceleration
from quirkpy.equilibrium import Equilibrium
from quirkpy.kernels.instant import Instant
from quirkpy.kernels.methods import Method
from quirkpy.kernels.users import unchecked
from quirkpy.linear import Linear, Measure, linearize
from quirkpy.parts.body import GROUND, Body
from quirkpy.parts.checks import Floats, shown
from quirkpy.parts.event import Event
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import Part, PartError
from quirkpy.references import check_parts
from quirkpy.search import Equilibria, Saddle
from quirkpy.settle import Rule, check_rule, settle
from quirkpy.simulate import Drift, EnergyControl, Look, Settings, StiffMethod, check_settings
from quirkpy.state import State, check_meeting
from quirkpy.stiff import driver_for
from quirkpy.tables import Selection, Tables, compile
from quirkpy.tables.vary import selection_on
from quirkpy.trajectory import Trajectory

if TYPE_CHECKING:
    from quirkpy.views.drawing import Drawing

Evaluator: TypeAlias = Literal["recursive", "dense", "literal"]
#: A function of the time that a run has reached; False for silence; None for a bar, where there is a terminal.
Progress: TypeAlias = Callable[[float], None] | Literal[False] | None


class Multibody:
    """Bodies, the joints and forces that act on them, and sensors: ``Multibody(hub, arm, hinge, gravity)``.

    candidates: joints and forces that may act later; they are compiled along, but their ends need not meet now.
    start: the state in which the system begins (default: the poses with which the bodies were written).
    The ground belongs to every system.
    """

    parts: tuple[Part, ...]
    candidates: tuple[Part, ...]
    _start: State | None

    def __init__(self, *parts: Part, candidates: Iterable[Part] = (), start: State | None = None) -> None:
        if isinstance(candidates, (Part, str)):
            raise PartError(f"Multibody: candidates is {shown(candidates)}, but must be a list of joints and forces.")
        if not (start is None or isinstance(start, State)):
            raise PartError(f"Multibody: start is {shown(start)}, but must be a State.")
        listed = tuple(p for p in parts if not (isinstance(p, Body) and p == GROUND))
        later = tuple(candidates)
        check_parts(listed, later)
        if start is not None:
            start.check_turns()
        vars(self).update(parts=listed, candidates=later, _start=start)
        at = self._instant(None)
        check_meeting(at)
        if unchecked(self.selection):
            at.users.check_potentials()

    # --- what it is made of -------------------------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        """All parts and candidates, compiled once."""
        return compile((*self.parts, *self.candidates))

    @cached_property
    def selection(self) -> Selection:
        """What acts: everything but the candidates."""
        joints = [p.name for p in self.parts if isinstance(p, BaseJoint)]
        return self.tables.select(joints, [p.name for p in self.parts if isinstance(p, Force)])

    @cached_property
    def clusters(self) -> Clusters:
        """What acts, made ready for runs: bodies that locks hold together move as one."""
        return Clusters(self.selection)

    @cached_property
    def initial(self) -> State:
        """The state in which the system begins."""
        return State.written(self.selection) if self._start is None else self._start.on(self.selection)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies: the row order of every (n, ...) array."""
        return self.tables.body_names

    def __getitem__(self, name: str) -> Part:
        for part in (*self.parts, *self.candidates, GROUND):
            if getattr(part, "name", None) == name:
                return part
        names = ", ".join(str(getattr(p, "name", "")) for p in (*self.parts, *self.candidates))
        raise KeyError(f"no part is called {name!r}; there are: {names}")

    # --- variants -----------------------------------------------------------------------------------------------
    def with_(self, *parts: Part) -> Multibody:
        """The same system and state with more parts; a candidate becomes active."""
        later = tuple(p for p in self.candidates if p not in parts)
        return Multibody(*self.parts, *parts, candidates=later, start=self._start)

    def without(self, *names: str) -> Multibody:
        """The same system and state without some parts."""
        gone = {id(self[name]) for name in names}
        keep, later = ([p for p in some if id(p) not in gone] for some in (self.parts, self.candidates))
        return Multibody(*keep, candidates=later, start=self._start)

    def at(self, state: State) -> Multibody:
        """The same system beginning in another state; sites and joint zeros stay where they were written."""
        if not isinstance(state, State):
            raise PartError(f"at: {shown(state)} is not a State, such as system.initial.")
        if set(state.bodies) != set(self.bodies):
            raise PartError(
                f"at: the state has the bodies {', '.join(state.bodies)}, the system moves {', '.join(self.bodies)}; "
                "give a state of this system."
            )
        state.check_turns()
        return self._starting(state)

    def _starting(self, state: State) -> Multibody:
        """The same tables with another start, which is checked; what acts is the same, and its engine warm."""
        out = object.__new__(Multibody)
        vars(out).update(
            parts=self.parts, candidates=self.candidates, _start=state, tables=self.tables, selection=self.selection,
            clusters=self.clusters,
        )  # fmt: skip
        check_meeting(out._instant(None))
        return out

    def choosing(self, joints: Iterable[str], forces: Iterable[str]) -> Multibody:
        """The same parts and state with other joints and forces active, by name; all others are candidates.

        Nothing is compiled again, and whether the joints' ends meet is not checked: `residual` tells.
        """
        active = {*joints, *forces}
        unknown = active - set(self.tables.joint_names) - set(self.tables.force_names)
        if unknown:
            raise PartError(f"choosing: no joint or force is called {', '.join(map(repr, sorted(unknown)))}.")
        every = (*self.parts, *self.candidates)
        acts = [not isinstance(p, (BaseJoint, Force)) or p.name in active for p in every]
        out = object.__new__(Multibody)
        vars(out).update(
            parts=tuple(p for p, on in zip(every, acts, strict=True) if on),
            candidates=tuple(p for p, on in zip(every, acts, strict=True) if not on),
            _start=self._start,
            tables=self.tables,
        )
        return out

    def on_tables(self, tables: Tables, start: State) -> Multibody:
        """The same parts and selection on tables of which numbers differ from what was written, in another state.

        The parts still say what was written; whether the joints' ends meet is not checked.
        """
        chosen = selection_on(tables, self.selection)
        out = object.__new__(Multibody)
        vars(out).update(
            parts=self.parts, candidates=self.candidates, _start=start, tables=tables, selection=chosen,
            initial=dataclasses.replace(start, selection=chosen, step=None),
        )  # fmt: skip
        return out

    # --- accelerations ------------------------------------------------------------------------------------------
    def acceleration(self, state: State | None = None, evaluator: Evaluator = "recursive") -> Floats:
        """Accelerations of the moving bodies (n, 6): of the mass centre in N [m/s2], omega-dot in body axes [rad/s2].

        "recursive": compiled, by articulated bodies; "dense": Gauss's principle by null space; "literal": the
        Udwadia-Phohomsiri equation as printed.  Same answer, as long as poses and velocities satisfy the joints
        (`residual` tells; where they do not, no acceleration is right).  Where loops close among bodies whose masses
        are a million times apart, "recursive" asks "dense" as well, and warns where the two disagree.
        """
        if evaluator == "recursive":
            return self._recursive(self._instant(state))
        return self._solve(state, evaluator).acceleration

    def constraint_forces(self, state: State | None = None, evaluator: Evaluator = "recursive") -> Floats:
        """What joints and stops that hold do to each moving body (n, 6): force in N [N], torque in body axes [N m]."""
        return self._solve(state, evaluator).constraint_wrench

    def matrices(self, state: State | None = None) -> Matrices:
        """A, b, M, F of A x'' = b, M x'' = F over x = (r, q) body by body, q in the order w x y z."""
        return equation.matrices(self._instant(state))

    # --- motion -------------------------------------------------------------------------------------------------
    def simulate(
        self, duration: float, *, rtol: float = 1e-8, atol: float = 1e-10, stop: Sequence[Event] = (),
        drift: Drift = "project", energy: EnergyControl = "free", method: Method | StiffMethod = "dop853",
        step: float | None = None, keep: Keep | int = "all", max_steps: int | None = None, progress: Progress = None,
        gains: tuple[float, float] = (10.0, 10.0),
    ) -> Trajectory:  # fmt: skip
        """Move for `duration` [s] from the initial state.

        rtol, atol: relative and absolute tolerance of a step; the error at the end is larger, on long or unstable
        motion a thousandfold: choose them from the end error that you want.  stop: events; terminal ones end the run.
        drift: "project" puts poses and velocities back onto the joints after each step; "baumgarte" adds to what joints
        ask of the accelerations -2 alpha rate - beta^2 gap, gains = (alpha, beta) [1/s]; "none" does nothing.
        energy: "conserve" scales the motion within each island after each step so that energy + dissipated - work stays
        what it was; momenta are left alone.  method: "dop853", or "rk45" for loose tolerances; "radau", "bdf" or
        "lsoda" for stiff systems.  step: a fixed step [s] instead of error control.  keep: "all" steps, every k-th, or
        "ends".  max_steps bounds the effort.  progress: called with the time reached, now and then; None: on a
        terminal, a run of more than two seconds shows how far it has come; False: nothing is shown.
        """
        settings = Settings(rtol, atol, drift, energy, method, step, keep, max_steps, gains)
        return self._moved(duration, settings, stop, progress)

    def _moved(
        self, duration: float, settings: Settings, stop: Sequence[Event], progress: Progress, look: Look | None = None
    ) -> Trajectory:
        """The run itself; look: called after each compiled call, ends the run where it returns True."""
        from quirkpy.views.progress import told

        span, begun = check_settings(duration, settings), self.initial.t
        driver = driver_for(settings)(self.clusters, self.initial, span, stop, settings)
        driver.look = look
        try:
            with told(progress, begun, begun + span) as tell:
                course = driver.run(tell)
        except Exception as error:
            if hasattr(error, "course"):
                error.trajectory = Trajectory(self, self.initial, settings, error.course)  # type: ignore[attr-defined]
            raise
        return Trajectory(self, self.initial, settings, course)

    def settle(
        self, state: State | None = None, *, nudge: float = 1e-6, seed: int = 0, rest: float = 1e-3,
        duration: float = 1e9, evaluations: int = 4_000_000, stop: Sequence[Event] = (), rtol: float = 1e-8,
        atol: float = 1e-10, method: Method | StiffMethod = "dop853", keep: Keep | int = "all",
        progress: Progress = None,
    ) -> Equilibrium:  # fmt: skip
        """Move until everything rests, polish that to rounding, and certify whether it lasts (see `Equilibrium`).

        A start that rests in an unstable equilibrium is left along its most unstable motion: displaced by `nudge` [m or
        rad] of the body that moves most, in a sense that `seed` decides (a negative nudge takes the other); 0: it
        stays.  rest: the run is over when what is left of its motion is this share of the fastest that it has had, and
        cannot leave the well of a stable, damped equilibrium any more; the state is that equilibrium.  duration [s],
        evaluations: bounds of the effort; steps that are refused come on top of the second.  stop: events that end the
        motion before.  Rest is that of the bodies beside the drift or the turning of the whole, where nothing outside
        keeps it.
        """
        begun = self if state is None else self.at(state)
        most = max(1, evaluations // 12) if isinstance(evaluations, int) else None
        rule = Rule(
            nudge,
            seed,
            rest,
            duration,
            Settings(rtol, atol, "project", "free", method, None, keep, most),
            stop,
            progress,
        )
        check_rule(rule, evaluations)
        return settle(begun, rule)

    def equilibria(
        self, state: State | None = None, *, seeds: int = 30, seed: int = 0, spread: float = 3.0
    ) -> Equilibria:
        """Equilibria found without moving, from many places, each certified.

        Every seed wanders from the state along the joints, up to `spread` [m] or [rad] of the body that moves most,
        and goes to a corner of the ranges of all joint coordinates; from there it goes downhill to a minimum, and by
        Newton's method to an equilibrium of any kind.  With each seed some equilibria found before are left along their
        modes, both ways, and by half a turn of a hinge.  The search may miss some: `unseen` of the result says which
        share at most, in nine of ten searches.
        """
        return search.equilibria(self, self.initial if state is None else state, seeds, seed, spread)

    def saddle(self, equilibrium: Equilibrium, *, directions: int = 3) -> Saddle | None:
        """The lowest pass found out of the well of a stable equilibrium: an upper bound of its barrier.

        directions: so many of its softest modes are climbed, both ways, and four times as many places around are
        searched for passes from which a way leads down to the bottom (see `equilibria`).
        """
        return search.saddle(self, equilibrium, directions)

    def linearize(
        self,
        state: State | None = None,
        inputs: Sequence[str] = (),
        outputs: Sequence[str | Measure] | None = None,
        *,
        rigid: bool = True,
    ) -> Linear:
        """The motion near a state of rest, in minimal coordinates: A, B, C, D for scipy.signal or python-control.

        inputs: names of forces (the input is a factor on that force, as much again at 1), "body.force" [N] and
        "body.torque" [N m] in N (three each), coordinates of joints (a load along them); outputs: coordinates,
        "coordinate.rate", "body.position" and ".velocity" in N, ".rotation" and ".angular_velocity" in body axes
        (three each), or functions of a state; None: all of x. There are two states for each freedom; rigid=False
        leaves out those of a system that floats which only drift, or turn as a whole that does not turn yet.
        """
        return linearize(self, self.initial if state is None else state, inputs, outputs, rigid)

    def caught(self, state: State | None = None) -> Catch:
        """The state just after the active joints have taken hold of one that moves against them, and what is lost."""
        return catch(self.clusters, self.initial if state is None else state)

    # --- questions ----------------------------------------------------------------------------------------------
    def energy(self, state: State | None = None) -> Energy:
        """Total energy [J], a number with `.kinetic` and `.potential`."""
        return analysis.energy(self._instant(state))

    def residual(self, state: State | None = None) -> Residual:
        """How far the active joints, and the stops that hold, are from being satisfied, in position and velocity."""
        return analysis.residual(self._instant(state))

    def mobility(self, state: State | None = None) -> Mobility:
        """Degrees of freedom, rank, redundant joints, nearness of a singular pose; stops that hold count as rows."""
        return analysis.mobility(self._instant(state))

    def reactions(self, state: State | None = None, axes: ReactionAxes = "inertial") -> dict[str, Reaction]:
        """Force and torque of each active joint, and each stop that holds, on its second body.

        `unique` is False where they are not; `press` of a stop tells how hard it is pressed on: not below zero, where
        it rightly holds.

        axes: "inertial": in N; "joint": in the axes of the joint's first site, z along the axis of a hinge.
        """
        if axes not in get_args(ReactionAxes):
            raise PartError(f"reactions: axes is {axes!r}, but must be 'inertial' or 'joint'.")
        at = self._instant(state)
        return analysis.reactions(at, self._solve(state, "dense").multipliers, axes)

    def pulls(self, state: State | None = None) -> dict[str, tuple[Pull, ...]]:
        """What each active force does to each moving body: force [N] and torque [N m] about its mass centre, in N."""
        return analysis.pulls(self._instant(state))

    def balance(self, state: State | None = None) -> dict[str, tuple[Pull, ...]]:
        """All that acts on each moving body, about its mass centre, in N: forces, joints, stops that hold and, where it
        is accelerated, its inertia; they add up to zero."""
        return analysis.balance(self._instant(state), self._solve(state, "dense"))

    def explain(self, state: State | None = None) -> str:
        """The system in words: bodies, joints, freedoms, forces, what is redundant."""
        from quirkpy.views import explain

        return explain.text(self, state)

    # --- pictures -----------------------------------------------------------------------------------------------
    def picture(
        self, path: str | os.PathLike[str] | None = None, state: State | None = None, *,
        eye: Sequence[float] = (0.45, -0.75, 0.8), forces: bool = True,
    ) -> Drawing:  # fmt: skip
        """What it looks like: bodies, axes of joints, sensors, springs and forces; ``system.picture("x.png")``.

        path: where it is saved as .png, .svg or .pdf, if anywhere.  eye: the direction from which one looks; rays are
        parallel.  Arrows of forces have lengths in proportion; the longest is named below.
        """
        from quirkpy.views import stills

        return stills.picture(self, state, eye, forces).saved(path)

    def show(
        self, state: State | None = None, *, forces: bool = True, browser: bool = True, port: int | None = None,
        patience: float = 60.0, keep_open: bool = True,
    ) -> None:  # fmt: skip
        """What it looks like in a window of VPython that can be turned; see `Trajectory.animate`."""
        from quirkpy.views import film, window

        at = self.initial if state is None else state
        window.show(lambda: film.still_of(self, at, forces), browser, port, patience, keep_open)

    def _repr_html_(self) -> str:
        from quirkpy.views import notebook

        return notebook.of_system(self)

    # --- inside -------------------------------------------------------------------------------------------------
    def _instant(self, state: State | None) -> Instant:
        return (self.initial if state is None else state).instant(self.selection)

    def _solve(self, state: State | None, evaluator: Evaluator) -> Solution:
        solvers = {
            "recursive": self._solve_recursive,
            "dense": equation.solve_dense,
            "literal": equation.solve_literal,
        }
        if evaluator not in solvers:
            raise PartError(f"evaluator is {evaluator!r}, but must be one of {', '.join(map(repr, solvers))}.")
        at = self._instant(state)
        try:
            return solvers[evaluator](at)
        except UndeterminedAcceleration as error:
            names = list(dict.fromkeys(self.bodies[column // 7] for column in error.columns))
            raise PartError(
                f"mass and constraints leave the acceleration of {', '.join(names)} undetermined to working precision; "
                "give these bodies moments of inertia of more comparable size."
            ) from error

    def _solve_recursive(self, at: Instant) -> Solution:
        return equation.with_forces(at, self._recursive(at))

    def _recursive(self, at: Instant) -> Floats:
        with self.clusters.lend() as engine:
            found, closing = engine.accelerations(at), len(engine.model.tree.loops)
        return analysis.judged(at, found) if closing else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Multibody):
            return NotImplemented
        mine, theirs = ((s.parts, s.candidates, s.initial) for s in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.parts, self.candidates))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.parts, self.candidates, self._start)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Multibody does not change ({name!r}); with_, without and at give another one.")

    def __repr__(self) -> str:
        chosen = self.selection
        return (
            f"Multibody(moving bodies: {len(self.bodies)}, joints: {len(chosen.joints)}, forces: {len(chosen.forces)})"
        )


def _restored(parts: tuple[Part, ...], candidates: tuple[Part, ...], start: State | None) -> Multibody:
    return Multibody(*parts, candidates=candidates, start=start)
