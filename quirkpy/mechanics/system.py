"""`System`: parts compiled once, the active ones, the initial state, and mechanical quantities."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, Literal, NoReturn, Self, TypeAlias, get_args

from quirkpy.maths.cached import cached_property
from quirkpy.maths.types import Floats
from quirkpy.mechanics import analysis, bending, equation
from quirkpy.mechanics.analysis import Energy, Mobility, Pull, Reaction, ReactionAxes, Residual
from quirkpy.mechanics.clusters import Clusters
from quirkpy.mechanics.equation import Matrices, Solution, UndeterminedAcceleration
from quirkpy.mechanics.instant import Instant
from quirkpy.mechanics.kane import solve_kane
from quirkpy.mechanics.locks import hold_here
from quirkpy.mechanics.measures import measures_in
from quirkpy.mechanics.meeting import check_meeting
from quirkpy.mechanics.state import State
from quirkpy.parts.body import GROUND
from quirkpy.parts.checks import show
from quirkpy.parts.force import Force
from quirkpy.parts.joint import BaseJoint
from quirkpy.parts.part import Part, PartError, UnknownName
from quirkpy.tables import Selection, Tables, compile
from quirkpy.tables.vary import selection_on

Evaluator: TypeAlias = Literal["recursive", "dense", "literal", "kane"]


class System:
    """Parts and candidates on one set of tables, the active ones, and the initial state.

    This is the part of `Multibody`, the class for users, that motion and rest need. A system does
    not change; derived quantities are computed when first needed."""

    parts: tuple[Part, ...]
    candidates: tuple[Part, ...]
    start: State | None

    def __init__(
        self, parts: tuple[Part, ...], candidates: tuple[Part, ...], start: State | None, *,
        tables: Tables | None = None, selection: Selection | None = None,
        clusters: Clusters | None = None, initial: State | None = None,
    ) -> None:  # fmt: skip
        known = {"tables": tables, "selection": selection, "clusters": clusters, "initial": initial}
        vars(self).update(parts=parts, candidates=candidates, start=start)
        vars(self).update((name, value) for name, value in known.items() if value is not None)

    @classmethod
    def from_checked(
        cls, parts: tuple[Part, ...], candidates: tuple[Part, ...], start: State | None, *,
        tables: Tables, selection: Selection | None, clusters: Clusters | None,
        initial: State | None,
    ) -> Self:  # fmt: skip
        """A system of this class from parts that have been checked together, on their tables;
        arguments that are None are derived when first needed. Derived classes may check users'
        input in their `__init__`, which is not called here."""
        made = cls.__new__(cls)
        System.__init__(
            made, parts, candidates, start,
            tables=tables, selection=selection, clusters=clusters, initial=initial,
        )  # fmt: skip
        return made

    # --- what it is made of -----------------------------------------------------------------------
    @cached_property
    def tables(self) -> Tables:
        """All parts and candidates, compiled once."""
        return compile((*self.parts, *self.candidates))

    @cached_property
    def selection(self) -> Selection:
        """The active parts: everything but the candidates."""
        joints = [p.name for p in self.parts if isinstance(p, BaseJoint)]
        return self.tables.select(joints, [p.name for p in self.parts if isinstance(p, Force)])

    @cached_property
    def clusters(self) -> Clusters:
        """The active parts, prepared for runs: bodies that locks hold together move as one."""
        return Clusters(self.selection)

    @cached_property
    def initial(self) -> State:
        """The initial state."""
        return (
            State.written(self.selection) if self.start is None else self.start.on(self.selection)
        )

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies: the row order of every (n, ...) array."""
        return self.tables.body_names

    @property
    def measures(self) -> dict[str, str]:
        """All measurable quantities by name, with units: for `run.measure` and `run.table`, outputs
        of `linearize`, and events (`When.above`). A name with several numbers has components:
        "arm.position.z"."""
        return {name: found.unit for name, found in measures_in(self.tables).items()}

    def _ipython_key_completions_(self) -> list[str]:
        """The names that `system[...]` accepts."""
        return [str(getattr(p, "name", "")) for p in (*self.parts, *self.candidates)]

    def __getitem__(self, name: str) -> Part:
        for part in (*self.parts, *self.candidates, GROUND):
            if getattr(part, "name", None) == name:
                return part
        names = ", ".join(str(getattr(p, "name", "")) for p in (*self.parts, *self.candidates))
        raise UnknownName(f"no part is called {name!r}; there are: {names}.")

    # --- variants ---------------------------------------------------------------------------------
    def at(self, state: State) -> Self:
        """This system with another initial state; sites and joint zeros stay as they were
        defined."""
        made = self.begun_in(state, "at")
        check_meeting(made.instant())
        return made

    def begun_in(self, state: State, who: str = "begun_in") -> Self:
        """This system with another initial state, in which its joints' ends need not coincide; who:
        the caller, for errors."""
        self.check_state(who, state)
        made = self._variant(
            start=state, selection=self.selection, clusters=self.clusters
        )  # the engine keeps its compiled functions
        return made.holding_here()

    def holding_here(self) -> Self:
        """This system with locks that hold the relative poses of its initial state."""
        if not self.tables.joints_here:
            return self
        tables, initial = hold_here(self.tables, self.initial)
        if tables is self.tables:
            vars(self)["initial"] = initial
            return self
        return self.on_tables(tables, initial)

    def check_state(self, who: str, state: Any) -> None:
        """Raise an error for anything but a state of these bodies."""
        if not isinstance(state, State):
            ways = ("state", "final")
            held = [way for way in ways if isinstance(getattr(state, way, None), State)]
            way = f"; give its .{held[0]}" if held else ""
            raise PartError(f"{who}: {show(state)} is not a State, such as system.initial{way}.")
        if set(state.bodies) != set(self.bodies):
            raise PartError(
                f"{who}: the state has the bodies {', '.join(state.bodies)}, the system moves "
                f"{', '.join(self.bodies)}; "
                "give a state of this system.",
                code="together",
            )
        state.check_turns()

    def choosing(self, joints: Iterable[str], forces: Iterable[str]) -> Self:
        """This system with other joints and forces active, by name; all others are candidates.

        Nothing is compiled again, and it is not checked whether the joints' ends coincide (see
        `residual`); a run that would have to move a body by more than 1e-3 m or rad for that is
        refused."""
        active = {*joints, *forces}
        known = self.tables.joint_index.keys(), self.tables.force_index.keys()
        unknown = active - known[0] - known[1]
        if unknown:
            raise PartError(
                f"choosing: no joint or force is called {', '.join(map(repr, sorted(unknown)))}.",
                code="name",
            )
        every: tuple[Any, ...] = (*self.parts, *self.candidates)
        idle = (known[0] | known[1]) - active
        acts = [getattr(p, "name", "") not in idle for p in every]
        made = self._variant(
            selection=self.tables.select(known[0] & active, known[1] & active),
            parts=tuple(p for p, on in zip(every, acts, strict=True) if on),
            candidates=tuple(p for p, on in zip(every, acts, strict=True) if not on),
        )
        return made.holding_here()

    def on_tables(self, tables: Tables, start: State) -> Self:
        """This system on tables whose numbers differ from the definition, in another state.

        The parts keep their definitions; it is not checked whether the joints' ends coincide.
        """
        chosen = selection_on(tables, self.selection)
        initial = dataclasses.replace(start, selection=chosen, step=None)
        return self._variant(start=start, tables=tables, selection=chosen, initial=initial)

    def _variant(
        self, *, parts: tuple[Part, ...] | None = None, candidates: tuple[Part, ...] | None = None,
        start: State | None = None, tables: Tables | None = None,
        selection: Selection | None = None, clusters: Clusters | None = None,
        initial: State | None = None,
    ) -> Self:  # fmt: skip
        """A system of the same class with some fields replaced; nothing is checked or compiled
        again."""
        return self.from_checked(
            self.parts if parts is None else parts,
            self.candidates if candidates is None else candidates,
            self.start if start is None else start,
            tables=self.tables if tables is None else tables,
            selection=selection,
            clusters=clusters,
            initial=initial,
        )

    def instant(self, state: State | None = None) -> Instant:
        """A state, by default the initial one, with all terms of its equation of motion."""
        if state is None:
            return self.initial.instant(self.selection)
        self.check_state("state", state)
        same = state if state.bodies == self.bodies else state.on(self.selection)
        return same.instant(self.selection)

    # --- accelerations ----------------------------------------------------------------------------
    def acceleration(
        self, state: State | None = None, evaluator: Evaluator = "recursive"
    ) -> Floats:
        """Accelerations of the moving bodies (n, 6): of the mass centre in N [m/s2], omega-dot in
        body axes [rad/s2].

        "recursive": compiled, by articulated bodies; "dense": Gauss's principle by null space;
        "literal": the Udwadia-Phohomsiri equation as printed; "kane": Kane's equations in minimal
        form. All give the same result if poses and velocities satisfy the joints (see `residual`;
        otherwise no acceleration is correct). Where loops close among bodies with masses a million
        times apart, "recursive" is compared with "dense", with a warning where the two disagree."""
        if evaluator == "recursive":
            return self._recursive(self.instant(state))
        return self._solve(state, evaluator).acceleration

    def constraint_forces(
        self, state: State | None = None, evaluator: Evaluator = "recursive"
    ) -> Floats:
        """The total load of joints, and of stops that hold, on each moving body (n, 6): force in N
        [N], torque in body axes [N m]."""
        return self._solve(state, evaluator).constraint_wrench

    def matrices(self, state: State | None = None) -> Matrices:
        """A, b, M, F of A x'' = b, M x'' = F over x = (r, q) body by body, q in the order w x y
        z."""
        return equation.matrices(self.instant(state))

    # --- questions --------------------------------------------------------------------------------
    def energy(self, state: State | None = None) -> Energy:
        """Total energy [J], a number with `.kinetic` and `.potential`."""
        return analysis.energy(self.instant(state))

    def residual(self, state: State | None = None) -> Residual:
        """The residuals of the active joints, and of the stops that hold, in position and
        velocity."""
        return analysis.residual(self.instant(state))

    def mobility(self, state: State | None = None) -> Mobility:
        """Degrees of freedom, rank, redundant joints, distance from a singular pose; stops that
        hold count as rows."""
        return analysis.mobility(self.instant(state))

    def reactions(
        self, state: State | None = None, axes: ReactionAxes = "inertial"
    ) -> dict[str, Reaction]:
        """Force and torque of each active joint, and each stop that holds, on its second body.

        `unique` is False where joints are redundant; `press` of a stop is the force on it, not
        negative where the stop can hold it.

        axes: "inertial": in N; "joint": in the axes of the joint's first site, z along the axis of
        a hinge."""
        if axes not in get_args(ReactionAxes):
            raise PartError(f"reactions: axes is {axes!r}, but must be 'inertial' or 'joint'.")
        at = self.instant(state)
        return analysis.reactions(at, self._solve(state, "dense").multipliers, axes)

    def pulls(self, state: State | None = None) -> dict[str, tuple[Pull, ...]]:
        """The load of each active force on each moving body: force [N] and torque [N m] about its
        mass centre, in N."""
        return analysis.pulls(self.instant(state))

    def balance(self, state: State | None = None) -> dict[str, tuple[Pull, ...]]:
        """All loads on each moving body, about its mass centre, in N: forces, joints, stops that
        hold and, where it is accelerated, its inertia force; they add up to zero."""
        return analysis.balance(self.instant(state), self._solve(state, "dense"))

    def _solve(self, state: State | None, evaluator: Evaluator) -> Solution:
        solvers = {
            "recursive": self._solve_recursive,
            "dense": equation.solve_dense,
            "literal": equation.solve_literal,
            "kane": solve_kane,
        }
        if evaluator not in solvers:
            raise PartError(
                f"evaluator is {evaluator!r}, but must be one of {', '.join(map(repr, solvers))}."
            )
        at = self.instant(state)
        try:
            return solvers[evaluator](at)
        except UndeterminedAcceleration as error:
            names = list(dict.fromkeys(self.bodies[column // 7] for column in error.columns))
            raise PartError(
                f"mass and constraints leave the acceleration of {', '.join(names)} undetermined "
                "to working precision; "
                "give these bodies moments of inertia of more comparable size.",
                code="rounding",
            ) from error

    def _solve_recursive(self, at: Instant) -> Solution:
        if not bending.bends(at):
            return equation.with_forces(at, self._recursive(at))
        with self.clusters.lend() as engine:
            rates = engine.all_accelerations(at)
        made = engine.states
        return equation.with_forces(at, made.by_body(rates), further=made.further_in(rates))

    def _recursive(self, at: Instant) -> Floats:
        with self.clusters.lend() as engine:
            found, closing = engine.accelerations(at), len(engine.model.tree.loops)
        return analysis.choose_accelerations(at, found) if closing else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, System):
            return NotImplemented
        mine, theirs = ((s.parts, s.candidates, s.initial) for s in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.parts, self.candidates))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(
            f"a Multibody does not change ({name!r}); with_, without and at give another one."
        )
