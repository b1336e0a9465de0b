"""What one acceleration costs with each of our own evaluators, from Python."""

from __future__ import annotations

from collections.abc import Callable

import quirkpy as qp
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.tables import Measured, Sheet
from benchmarks.timing import race

#: name -> one evaluation of a system's acceleration.  A new evaluator is a line here.
EVALUATORS: dict[str, Callable[[qp.Multibody], object]] = {
    "recursive": lambda system: system.acceleration(),
    "dense": lambda system: system.acceleration(evaluator="dense"),
    "literal": lambda system: system.acceleration(evaluator="literal"),
}
#: The evaluator that the ratios refer to.
REFERENCE = "dense"


def row(problem: Problem, size: int) -> list[object]:
    """Size, bodies, rows, milliseconds to build, microseconds of each evaluator, ratios to the
    reference."""
    system = problem.build(size)
    works = {name: (lambda run=run: run(system)) for name, run in EVALUATORS.items()}
    costs = race({"build": lambda: qp.Multibody(*system.parts).tables, **works})
    numbers = [1e3 * costs["build"].wall, *(1e6 * costs[name].wall for name in EVALUATORS)]
    ratios = [costs[name].wall / costs[REFERENCE].wall for name in EVALUATORS if name != REFERENCE]
    return [size, len(system.bodies), len(system.initial.instant().rows.phi), *numbers, *ratios]


def measure(quick: bool) -> Measured:
    """A sheet for each problem."""
    heads = ["bodies", "rows", "build ms", *(f"{name} us" for name in EVALUATORS)]
    heads += [f"{name} / {REFERENCE}" for name in EVALUATORS if name != REFERENCE]
    sheets = []
    for problem in PROBLEMS:
        rows = [row(problem, size) for size in (problem.sizes[:2] if quick else problem.sizes)]
        sheets.append(Sheet(f"Our evaluators: {problem.name}", [problem.unit, *heads], rows))
    return Measured(sheets, {})
