"""`Study`: a spacecraft with choices, explored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quirkpy import doors
from quirkpy.explore.explorer import explore
from quirkpy.explore.graph import ReconfigurationGraph
from quirkpy.explore.scope.choices import Exploring, Reduction
from quirkpy.explore.scope.judging import judge_scope
from quirkpy.explore.scope.scope import Scope
from quirkpy.system.findings import Finding

if TYPE_CHECKING:
    from quirkpy.doors import Live


class Study(Scope):
    """A system with sensors, the options of pairs of sensors, potentials to choose from, and the
    rules of judgement.

    options: for each pair of kinds of sensors, what a pair in range may become. choosing: rules
    that a selection must satisfy to be tried at all, such as `OneHinge()`. potentials: name ->
    forces that act together. always: forces that act whatever is chosen. safety: what a motion must
    not do. on_contact: when sensors meet, they lock and the motion continues ("lock"), or the
    motion ends ("stop"). same: when two poses are one shape. nudge [m or rad]: displacement by
    which an unstable start is left, in both senses. disturbance [m or rad]: displacement from an
    unstable rest that is assumed in flight; plans by time include the waiting time that follows
    from it. None: no waiting time is included, for it grows without bound as the disturbance
    becomes smaller."""

    def check(self) -> tuple[Finding, ...]:
        """Probable mistakes: those of the system (`Multibody.check`), a study without sensors, and
        options that no pair of sensors can use."""
        return judge_scope(self)

    def show(
        self, *, browser: bool = True, port: int | None = None, patience: float = 60.0,
        wait: bool | None = None,
    ) -> Live:  # fmt: skip
        """Open a page in the browser that begins at the start of the study: pick a choice at a
        shape, and watch what comes of it. Options are those of `Multibody.show`."""
        return doors.server.show(
            lambda: doors.live.StudyPage(self, None), browser, port, patience, wait
        )

    def explore(
        self, path: str | Path | None = None, *, workers: int | Executor = 1,
        budget: int | None = None, towards: Callable[[Any], float] | None = None,
        progress: Exploring = None, reductions: bool | Iterable[Reduction] = True,
    ) -> ReconfigurationGraph:  # fmt: skip
        """The graph of everything that can be reached.

        path: the journal, "pair.db"; where it exists, the exploration goes on from it; None:
        nothing is kept.  workers: 1, a number of processes, or any concurrent.futures Executor: the
        graph is the same, to the bit.  budget: at most so many runs now, in canonical order; the
        graph says what was not tried.  towards: a function of a node, such as its distance from a
        goal; nodes with low values come first.  progress: called with a `Count` now and then; None:
        a line on a terminal; False: nothing.

        reductions: which runs others may speak for, all by default.  "clusters": choices that
        differ only in how a rigid cluster is held together; "rigid": those that leave nothing to
        move, or let parts come apart; "symmetry": those that exchange modules alike, in a pose that
        is the same then; "cache": those at other nodes whose pose is the same to all that acts.
        True, False, or some by name; figures agree to rounding."""
        found = explore(
            self,
            path,
            workers=workers,
            budget=budget,
            towards=towards,
            progress=progress,
            reductions=reductions,
        )
        return ReconfigurationGraph.of(found)
