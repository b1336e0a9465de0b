"""The compiled recursion against its references, and how wide the plateau of its pivot is.

``python -m benchmarks.closure [--quick]``, from the root of the repository: it draws its systems
from the tests.

Differences and errors are the largest of any acceleration, relative to the larger of the
constrained and the free accelerations, or to the truth where there is one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

import quirkpy as qp
from benchmarks import problems
from benchmarks.cutoffs import (
    Case,
    about_its_edge,
    eliminated,
    error,
    moved_off,
    one_rigid_body,
    parallelogram,
)
from benchmarks.tables import table
from benchmarks.variants import recompiled
from quirkpy.kernels.place.rows import LEFT
from quirkpy.kernels.tree import closure, evaluation
from quirkpy.kernels.tree.closure import PIVOT
from tests.crosscheck.test_evaluators_agree import drifted
from tests.random_systems import FAMILIES, free_acceleration, random_system

OFF = (0.0, 1e-9, 1e-7)


def compiled(system: qp.Multibody, state: qp.State, pivot: float = PIVOT) -> np.ndarray:
    """The recursion with another pivot."""
    return evaluated(system, state, pivot, evaluation.evaluate)[0]


def varied(
    system: qp.Multibody,
    state: qp.State,
    pivot: float,
    sweeps: int = closure.SWEEPS,
    scale: str = "free",
) -> np.ndarray:
    """The recursion with other sweeps, or with rows scaled otherwise: "none", or "own", to length
    one in A."""
    return evaluated(system, state, pivot, variant(sweeps, scale))[0]


@cache
def variant(sweeps: int, scale: str) -> Any:
    """`evaluate` compiled with another solution of the closing rows; the usual one is there
    already."""
    if sweeps == closure.SWEEPS and scale == "free":
        return evaluation.evaluate
    exchanged: dict[str, Any] = {"SWEEPS": sweeps}
    if scale != "free":
        exchanged["free_response"] = no_scale
    if scale == "own":
        exchanged = {**exchanged, "smallest_solution": of_length_one}
    return recompiled(evaluation.evaluate, **exchanged)


@njit
def no_scale(rows, k, first, a, b, bodies):  # in the place of closure.free_response
    return 1.0


usual_solution = recompiled(closure.smallest_solution)


@njit
def of_length_one(
    tree, bodies, work, A, spans, rows, mu, report
):  # in the place of closure.smallest_solution
    for k in range(rows.shape[0]):
        size = 0.0
        for j in range(A.shape[1]):
            size += A[k, j] ** 2
        size = math.sqrt(size)
        if size > 0.0:
            for j in range(A.shape[1]):
                A[k, j] /= size
            rows[k, LEFT] /= size
    usual_solution(tree, bodies, work, A, spans, rows, mu, report)


@njit
def no_correction(
    tree, bodies, work, A, spans, rows, mu, report
):  # in the place of closure.smallest_solution: A stays as it is
    A[rows.shape[0]] = 0.0


@cache
def keeping_innovations() -> Any:
    return recompiled(evaluation.evaluate, smallest_solution=no_correction)


def evaluated(
    system: qp.Multibody, state: qp.State, pivot: float, evaluate: Callable[..., object]
) -> tuple[np.ndarray, np.ndarray]:
    """The accelerations that a variant of `evaluate` gives, and the innovations that it leaves."""
    at, out = state.instant(), np.empty((len(state.bodies), 6))
    with system.clusters.lend() as e:
        e.turn_to(at.near)
        e.close_rows_by(pivot, 0.0, 0.0)
        evaluate(at.t, at.state, e.model, e.conditions, e.scratch, out)
        return out, e.scratch.innovations.copy()


# --- the families of the tests --------------------------------------------------------------------
class Sample(NamedTuple):
    """A random system in one of its states, with the accelerations of dense and what differences
    are relative to."""

    system: qp.Multibody
    state: qp.State
    dense: np.ndarray
    size: float

    def difference(self, other: np.ndarray) -> float:
        return float(abs(other - self.dense).max() / self.size)


def samples(family: str, seeds: int, off: float) -> list[Sample]:
    """Systems of a family, every pose off by up to `off`."""
    out = []
    for seed in range(seeds):
        system = random_system(family, seed)
        state = drifted(system.initial, off, seed) if off else system.initial
        dense = system.acceleration(state, evaluator="dense")
        out.append(
            Sample(
                system,
                state,
                dense,
                max(abs(dense).max(), abs(free_acceleration(system, state)).max()),
            )
        )
    return out


def agreement(drawn: dict[tuple[str, float], list[Sample]]) -> str:
    """Largest difference from dense of the recursion and of literal."""
    rows: list[list[object]] = []
    for family in FAMILIES:
        row: list[object] = [family]
        for off in OFF[:2]:
            some = drawn[family, off]
            row.append(max(s.difference(s.system.acceleration(s.state)) for s in some))
            row.append(
                max(s.difference(s.system.acceleration(s.state, evaluator="literal")) for s in some)
            )
        rows.append(row)
    heads = [
        "family",
        *(f"{form} {_off(off)}" for off in OFF[:2] for form in ("recursive", "literal")),
    ]
    return table("difference from dense, the worst of each family", heads, rows)


def families_over_pivots(drawn: dict[tuple[str, float], list[Sample]], pivots: np.ndarray) -> str:
    """The same difference with other pivots."""
    rows: list[list[object]] = []
    for pivot in pivots:
        row: list[object] = [f"{pivot:.0e}"]
        for some in drawn.values():
            row.append(max(s.difference(compiled(s.system, s.state, float(pivot))) for s in some))
        rows.append(row)
    return table(
        "difference from dense over the pivot",
        ["pivot", *(f"{f} {_off(off)}" for f, off in drawn)],
        rows,
    )


# --- systems with a truth -------------------------------------------------------------------------
def plateau(cases: list[Case], pivots: np.ndarray) -> str:
    """Errors over the pivot, on the manifold and off it."""
    rows = [
        [
            f"{pivot:.0e}",
            *(
                error(compiled(c.system, moved_off(c.system.initial, off), float(pivot)), c.truth)
                for c in cases
                for off in OFF
            ),
        ]
        for pivot in pivots
    ]
    return table(
        "error over the pivot",
        ["pivot", *(f"{c.name} {_off(off)}" for c in cases for off in OFF)],
        rows,
    )


def pivots_met(cases: list[Case]) -> str:
    """Independent parts, squared, of all closing rows, strongest first: the weakest true one, the
    largest other."""
    rows: list[list[object]] = []
    for case in cases:
        for off in OFF:
            d = independent_parts(case.system, moved_off(case.system.initial, off))
            rank = int((independent_parts(case.system, case.system.initial) > 1e-12).sum())
            weak = float(d[rank - 1]) if rank else "-"
            rows.append(
                [case.name, _off(off), len(d), rank, weak, float(d[rank]) if rank < len(d) else "-"]
            )
    heads = ["system", "manifold", "closing rows", "true", "weakest true", "largest redundant"]
    return table("pivots", heads, rows)


def independent_parts(system: qp.Multibody, state: qp.State) -> np.ndarray:
    """Squares of what each closing row adds to those before it, strongest first."""
    A, parts = evaluated(system, state, PIVOT, keeping_innovations())[1][:-1], []
    for _ in range(len(A)):
        size = (A**2).sum(axis=1)
        best = int(size.argmax())
        parts.append(size[best])
        q = A[best] / np.sqrt(size[best]) if size[best] > 0.0 else A[best]
        A = A - np.outer(A @ q, q)
        A[best] = 0.0
    return np.array(parts)


def scaling(light_and_heavy: list[Case], locked: list[Case], scales: tuple[str, ...]) -> str:
    """What the scale of a row is for: as it is; of length one among the innovations; by what free
    bodies would yield.

    Redundant rows of locked bodies yield nothing through the tree: length one blows their rounding
    up.  Under gravity alone a factor on all masses changes nothing."""
    rows: list[list[object]] = []
    for case, factor in [
        *((c, f) for c in light_and_heavy for f in (1e-8, 1.0, 1e8)),
        *((c, 1.0) for c in locked),
    ]:
        bodies = case.system.clusters.layout.packed.bodies
        bodies *= factor
        row: list[object] = [case.name, f"{factor:.0e}"]
        for off in OFF[:2]:
            state = moved_off(case.system.initial, off)
            row += [error(varied(case.system, state, PIVOT, scale=s), case.truth) for s in scales]
        bodies /= factor
        rows.append(row)
    heads = ["system", "masses times", *(f"{s} {_off(off)}" for off in OFF[:2] for s in scales)]
    return table("error by the scale of closing rows", heads, rows)


def sweeps(
    case: Callable[[float], Case],
    angles: tuple[float, ...],
    pivots: tuple[float, ...],
    counts: tuple[int, ...],
) -> str:
    """Towards a flat pose a true row weakens: what the smooth filter makes of it, with one sweep
    and with more."""
    rows: list[list[object]] = []
    for angle in angles:
        one = case(angle)
        row: list[object] = [f"{angle:.0e}", float(weakest(one.system))]
        for pivot in pivots:
            row += [
                error(varied(one.system, one.system.initial, pivot, n), one.truth) for n in counts
            ]
        rows.append(row)
    heads = ["angle [rad]", "weakest row", *(f"{p:.0e}, {n}" for p in pivots for n in counts)]
    return table("error near the flat pose: pivot, sweeps", heads, rows)


def weakest(system: qp.Multibody) -> float:
    """The weakest independent part, squared, that counts."""
    parts = independent_parts(system, system.initial)
    return float(parts[parts > 1e-14][-1])


def flat_bars(angle: float) -> Case:
    return _case("", problems.four_bars(2, angle), parallelogram)


SCALES = ("none", "own", "free")


def _case(name: str, system: qp.Multibody, truth: Callable[[qp.Multibody], np.ndarray]) -> Case:
    return Case(name, system, truth(system))


def _off(size: float) -> str:
    return "on" if size == 0.0 else f"{size:.0e} off"


def main(quick: bool = False) -> None:
    seeds = 2 if quick else 40
    door = _case("door 3x3", problems.door(2 if quick else 3), about_its_edge)
    block = _case("locked lattice 4x4", problems.lattice(2 if quick else 4), one_rigid_body)
    bars = _case("four-bars 4", problems.four_bars(1 if quick else 4), parallelogram)
    hinges = _case("hinge chain 100", problems.hinge_chain(3 if quick else 100), eliminated)
    balls = _case("ball chain 30", problems.ball_chain(3 if quick else 30), eliminated)
    uneven = _case("ball chain 10, masses 1e8:1", problems.ball_chain(10, (1e-4, 1e4)), eliminated)
    drawn = {(family, off): samples(family, seeds, off) for off in OFF[:2] for family in FAMILIES}
    print(agreement(drawn), end="\n\n")
    print(plateau([hinges, balls, uneven], np.array([PIVOT])), end="\n\n")
    pivots = 10.0 ** np.arange(-16.0, -3.5, 4.0 if quick else 1.0)
    print(families_over_pivots(drawn, pivots), end="\n\n")
    print(plateau([door, block, bars], pivots), end="\n\n")
    print(pivots_met([door, block, bars]), end="\n\n")
    print(scaling([bars], [door, block], SCALES[1:] if quick else SCALES), end="\n\n")
    counts = (
        (closure.SWEEPS,) if quick else (1, 2, 3, 5)
    )  # each but the usual one is compiled by itself
    print(sweeps(flat_bars, (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6), (1e-8, 1e-11), counts))


if __name__ == "__main__":
    main("--quick" in sys.argv)
