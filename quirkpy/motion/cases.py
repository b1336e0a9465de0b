"""`Cases`: the requested runs, each with its start, its parameters, and its active parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from quirkpy.kernels.base.states import attitudes_of
from quirkpy.maths import quat
from quirkpy.maths.types import Ints
from quirkpy.mechanics.meeting import surely_meet
from quirkpy.mechanics.state import State
from quirkpy.mechanics.system import System
from quirkpy.motion.batch import Starts
from quirkpy.parts.checks import show
from quirkpy.parts.part import PartError

#: The active parts of a run: names of joints, and of forces.
Chosen: TypeAlias = tuple[Sequence[str], Sequence[str]]


class Cases:
    """The requested runs: for each the start, the parameters that differ, and the active parts;
    None: those of the system."""

    def __init__(
        self, system: System, states: Sequence[State] | None,
        parameters: Mapping[str, Any] | None, selections: Sequence[Chosen] | None,
    ) -> None:  # fmt: skip
        self.system, self.states = system, _list_of("states", states)
        self.selections = _list_of("selections", selections)
        self.parameters = {name: _values(name, some) for name, some in _by_name(parameters).items()}
        self.count = self._count()
        self._systems: dict[Any, System] = {}

    def _count(self) -> int:
        """The number of runs; all lists of values must agree."""
        given = {"states": self.states, "selections": self.selections}
        given |= {f"parameters {name!r}": some for name, some in self.parameters.items()}
        lengths = {name: len(some) for name, some in given.items() if some is not None}
        if not lengths:
            raise PartError(
                "simulate_many: nothing differs from run to run; give states, parameters or "
                "selections, or use simulate."
            )
        (name, count), *others = lengths.items()
        for other, length in others:
            if length != count:
                raise PartError(
                    f"simulate_many: {name} are {count}, but {other} are {length}; give as many "
                    "of each."
                )
        return count

    # --- one of them ------------------------------------------------------------------------------
    def base(self, k: int) -> System:
        """The system with the selection of run k, made once for each selection."""
        if self.selections is None:
            return self.system
        joints, forces = self._chosen(k)
        made = self._systems.get((joints, forces))
        if made is None:
            made = self._systems[joints, forces] = self.system.choosing(joints, forces)
        return made

    def _chosen(self, k: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the active parts in run k."""
        assert self.selections is not None
        given = self.selections[k]
        pair = isinstance(given, (tuple, list)) and len(given) == 2
        if not pair or any(isinstance(names, str) for names in given):
            raise PartError(
                f"simulate_many: selection {k} is {show(given)}, but must be two lists of names: "
                "the joints and the forces that act."
            )
        joints, forces = given
        return tuple(joints), tuple(forces)

    def changes(self, k: int) -> dict[str, dict[str, Any]]:
        """The parameters of run k, by part and field."""
        out: dict[str, dict[str, Any]] = {}
        for name, values in self.parameters.items():
            part, _, field = name.rpartition(".")
            out.setdefault(part, {})[field] = values[k]
        return out

    def of(self, k: int) -> System:
        """The system of run k in its start, as for `simulate`."""
        base = self.base(k)
        begun = base if self.states is None else base.at(self.states[k])
        if not self.parameters:
            return begun
        return begun.on_tables(begun.tables.with_parameters(self.changes(k)), begun.initial)

    # --- all of them ------------------------------------------------------------------------------
    def groups(self, some: range) -> Iterator[tuple[System, Ints]]:
        """Systems, each with the runs that use it."""
        found: dict[int, tuple[System, list[int]]] = {}
        if self.selections is None:
            yield self.system, np.array(some)
            return
        for k in some:
            base = self.base(k)
            found.setdefault(id(base), (base, []))[1].append(k)
        for base, which in found.values():
            yield base, np.array(which)

    def starts(self, base: System, which: Ints) -> Starts:
        """The starts of runs of one selection, checked."""
        if self.states is None:
            return self._without_steps(Starts.of([base.initial]).repeated(len(which)))
        given = [self.states[k] for k in which.tolist()]
        own = {id(s): self._entered(base, s) for s in {id(s): s for s in given}.values()}
        starts = Starts.of([own[id(s)] for s in given])
        acting = np.isin(np.arange(starts.windings.shape[1]), base.selection.coordinates)
        starts = starts._replace(windings=starts.windings * acting)
        self._check(base, starts, which)
        return self._without_steps(starts)

    def _without_steps(self, starts: Starts) -> Starts:
        """Starts without step lengths, which do not apply after a change of parameters."""
        return starts._replace(step=np.zeros_like(starts.step)) if self.parameters else starts

    def _entered(self, base: System, state: State) -> State:
        """A state converted to one of a system."""
        if isinstance(state, State) and state.selection is base.selection:
            t = base.tables
            if state.bodies == t.body_names and state.joints == t.coordinate_names:
                return state
        base.check_state("simulate_many", state)
        return state.on(base.selection)

    def _check(self, base: System, starts: Starts, which: Ints) -> None:
        """Refuse invalid starts, as `System.at` does; most pass a quick test."""
        q = attitudes_of(starts.rows)
        square = (q * q).sum(axis=-1)
        doubtful = ~(abs(square - 1.0) <= quat.UNIT_TOLERANCE).all(axis=1)
        doubtful |= ~surely_meet(base.selection, starts.rows)
        for k in which[doubtful].tolist():
            try:
                base.at(self.states[k])
            except PartError as error:
                error.add_note(f"the start of run {k}")
                raise


def _list_of(name: str, given: Any) -> Any:
    """The values given for each run, as a list."""
    if given is None:
        return None
    if isinstance(given, (str, State)) or not hasattr(given, "__iter__"):
        raise PartError(f"simulate_many: {name} is {show(given)}, but must be a list, one a run.")
    return list(given)


def _by_name(parameters: Any) -> Mapping[str, Any]:
    """Parameters by name."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise PartError(
            f"simulate_many: parameters is {show(parameters)}, but must be a dict, such as "
            "{'spring.stiffness': values}."
        )
    for name in parameters:
        if not (isinstance(name, str) and "." in name.strip(".")):
            raise PartError(
                f"simulate_many: {show(name)} names no number of a part; write it as "
                "'spring.stiffness'.",
                code="name",
            )
    return parameters


def _values(name: str, given: Any) -> list[Any]:
    """The values of a parameter, one for each run, converted as by the part."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    values = _list_of(f"parameters {name!r}", given)
    return [tuple(value) if isinstance(value, list) else value for value in values]
